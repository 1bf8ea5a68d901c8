#include "tests/kernels/kernel_results.hpp"

#include "engine/mesh/topology.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/memory/buffer.hpp"

namespace isocloth {
namespace {

template <class T>
void append(std::vector<double>& flat, T value) {
  flat.push_back(static_cast<double>(value));
}
template <class Real>
void append(std::vector<double>& flat, const Vec3<Real>& v) {
  flat.insert(flat.end(), {v.x, v.y, v.z});
}

template <class T>
std::vector<double> widened(const Buffer<T>& buffer) {
  std::vector<double> flat;
  for (const T& value : buffer.download()) append(flat, value);
  return flat;
}

/// Buffers of one run. Outputs start as 77, so that what a kernel leaves out shows.
template <class Real>
class Run {
 public:
  Run(const KernelCase& at, const ExecutionOptions& options)
      : at_(at),
        pattern_(kernel_pattern(at)),
        device_(options),
        queue_(device_.queue()),
        kernels_(step_kernels<Real>(device_.backend())),
        arrays_(device_, at.garment, find_recipe(at.recipe)),
        positions_(vectors(at.positions)),
        velocities_(vectors(at.velocities)),
        predicted_(vectors(at.predicted)),
        multipliers_(numbers(at.multipliers)),
        stiffness_(numbers(
            row_stiffness(at.garment.mesh, arrays_.rows, at.garment.fabric, pinned_nodes(at.garment)))),
        bounds_(numbers(row_bounds(arrays_.rows, at.garment.fabric))),
        growth_(numbers(std::vector<double>(bounds_.size(), 1))),
        curves_(numbers(flat(stress_laws(find_recipe(at.recipe), at.garment.fabric)))),
        viscosity_(numbers(flat(viscosity_laws(at.garment.fabric)))),
        strains_(numbers(strains(at))) {}

  KernelResults all() {
    setup();
    rows();
    unconstrained_step();
    nodal_system();
    correction();
    measures();
    return results_;
  }

 private:
  using Vector = Vec3<Real>;
  static constexpr Real unset = 77;
  /// C when the step began, which is where it is.
  static std::vector<double> strains(const KernelCase& at) {
    if (viscosity_laws(at.garment.fabric).empty()) return {};
    const auto cloth = at.reference();
    const reference::VectorXd found = cloth.row_strains(cloth.positions());
    return {found.data(), found.data() + found.size()};
  }

  Buffer<Vector> vectors(const std::vector<Vec3d>& values) const { return {device_, narrowed<Real>(values)}; }
  Buffer<Real> numbers(const std::vector<double>& values) const {
    return {device_, std::vector<Real>(values.begin(), values.end())};
  }
  template <class T>
  Buffer<T> output(std::size_t size) const {
    return {device_, std::vector<T>(size, filled(T{}))};
  }
  static Vector filled(Vector) { return {unset, unset, unset}; }
  template <class T>
  static T filled(T) {
    return T(unset);
  }
  template <class T>
  static ArrayView<const T> read(const Buffer<T>& buffer) {
    return buffer.view();
  }
  std::vector<Vec3d> of_free(const std::vector<Vec3d>& values) const {
    std::vector<Vec3d> result;
    for (const Index node : arrays_.pattern.free_nodes) result.push_back(values[node]);
    return result;
  }
  Real coupling() const { return static_cast<Real>(at_.garment.fabric.poisson_coupling()); }
  RowLaws<Real> laws() {
    RowLaws<Real> result{read(stiffness_), static_cast<Real>(at_.step), coupling(), read(multipliers_)};
    result.curves = read(curves_);
    result.measure = find_recipe(at_.recipe).strain;
    if (strains_.size() > 0) {
      result.viscosity = read(viscosity_);
      result.before = read(strains_);
    }
    if (bounds_.size() > 0) result.bounds = {read(bounds_), growth_.view(), 1, Real(0.01), 1};
    return result;
  }
  MetricView<Real> metric() const {
    const Fabric& f = at_.garment.fabric;
    return {.inertia = static_cast<Real>(f.density + at_.step * f.mass_damping),
            .stiffness =
                static_cast<Real>(at_.step * f.stiffness_damping + at_.step * at_.step * f.bending_stiffness),
            .masses = arrays_.masses.view(),
            .pattern = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
            .bending = arrays_.bending.view(),
            .factored = arrays_.factored.view()};
  }

  /// Tensors, masses and bending are built by the setup kernels when arrays_ is.
  void setup() {
    results_["masses"] = widened(arrays_.masses);
    results_["inverse masses"] = widened(arrays_.inverse_masses);
    results_["tensors"] = widened(arrays_.tensors);
    results_["bending"] = widened(arrays_.bending);

    const Mesh& mesh = at_.garment.mesh;
    const Topology topology = build_topology(mesh);
    const Buffer<Vec3d> positions(device_, mesh.positions);
    const Buffer<Index> face_begin(device_, mesh.face_begin), face_nodes(device_, mesh.face_nodes);
    const Buffer<Index> faces(device_, corner_faces(mesh)), corner_begin(device_, topology.node_corner_begin);
    const Buffer<Index> corners(device_, topology.node_corners);
    const Buffer<Index> begin(device_, pattern_.laplacian.row_begin),
        columns(device_, pattern_.laplacian.columns);
    const Buffer<char> is_boundary(device_, topology.is_boundary);
    const MeshView view{positions.view(), face_begin.view(),   face_nodes.view(),
                        faces.view(),     corner_begin.view(), corners.view()};
    auto masses = output<double>(mesh.positions.size());
    Buffer<Vec3d> laplacian(device_,
                            std::vector<Vec3d>(pattern_.laplacian.columns.size(), {unset, unset, unset}));
    device_.backend().setup.lump_masses(queue_, {.mesh = view, .masses = masses.view()});
    device_.backend().setup.build_curvature(queue_, {.mesh = view,
                                                     .pattern = {begin.view(), columns.view()},
                                                     .is_boundary = is_boundary.view(),
                                                     .is_rim = {},
                                                     .is_pinned = {},
                                                     .warps = {},
                                                     .masses = read(masses),
                                                     .curvature = laplacian.view()});
    for (const Vec3d& value : laplacian.download()) results_["laplacian"].push_back(value.x);
  }

  void rows() {
    reference::VectorXd rest = at_.reference().rows().rest;
    const RowPattern& of = arrays_.rows;
    for (Index row = of.triples.row_count(); row < of.first_limit(); row += 3)  // coupled later
      rest[row] -= at_.garment.fabric.poisson_coupling() * rest[row + 2];
    const auto rests = numbers({rest.data(), rest.data() + rest.size()});
    const RowsView view = arrays_.rows_view();
    auto residuals = output<Real>(view.row_count()), scales = output<Real>(view.row_count());
    auto jacobian = output<Vector>(view.jacobian_count());
    auto at_limit = output<Real>(of.limits.slot_nodes.size());
    kernels_.evaluate_rows(queue_, {.rows = view,
                                    .tensors = arrays_.tensors.view(),
                                    .rest_values = read(rests),
                                    .positions = read(positions_),
                                    .inverse_masses = arrays_.inverse_masses.view(),
                                    .laws = laws(),
                                    .eps = static_cast<Real>(at_.eps),
                                    .residuals = residuals.view(),
                                    .scales = scales.view(),
                                    .jacobian = jacobian.view(),
                                    .at_limit = at_limit.view()});
    results_["residuals"] = widened(residuals);
    results_["scales"] = widened(scales);
    results_["jacobian"] = widened(jacobian);
    results_["at limit"] = widened(at_limit);
  }

  void unconstrained_step() {
    const Fabric& f = at_.garment.fabric;
    const auto targets = vectors(at_.targets), given = vectors(of_free(at_.momentum));
    const auto moves = vectors(of_free(at_.correction));
    auto momentum = output<Vector>(given.size());
    kernels_.assemble_momentum(queue_, {.metric = metric(),
                                        .free = arrays_.free_view(),
                                        .rho = static_cast<Real>(f.density),
                                        .kappa = static_cast<Real>(f.bending_stiffness),
                                        .weight = static_cast<Real>(f.gravity_density * at_.gravity),
                                        .step = static_cast<Real>(at_.step),
                                        .positions = read(positions_),
                                        .velocities = read(velocities_),
                                        .momentum = momentum.view()});
    results_["momentum"] = widened(momentum);
    for (const bool inertial : {false, true}) {
      auto iterate = output<Vector>(positions_.size());
      kernels_.start_iteration(queue_, {.free = arrays_.free_view(),
                                        .step = static_cast<Real>(inertial ? at_.step : 0),
                                        .positions = read(positions_),
                                        .velocities = read(velocities_),
                                        .from = read(positions_),
                                        .targets = read(targets),
                                        .share = 1,
                                        .iterate = iterate.view()});
      results_[inertial ? "inertial iterate" : "resting iterate"] = widened(iterate);
    }
    for (const bool diagonal : {false, true}) {
      auto predicted = output<Vector>(positions_.size());
      kernels_.predict_positions(queue_, {.metric = metric(),
                                          .free = arrays_.free_view(),
                                          .positions = read(positions_),
                                          .targets = read(targets),
                                          .momentum = read(given),
                                          .moves = diagonal ? ArrayView<const Vector>{} : read(moves),
                                          .predicted = predicted.view()});
      results_[diagonal ? "predicted by mass" : "predicted by moves"] = widened(predicted);
    }
  }

  /// s J, C and s of the case's positions, as evaluated above.
  struct Rows {
    Buffer<Vector> jacobian;
    Buffer<Real> residuals, scales, at_limit;
  };
  Rows evaluated_rows() const {
    const std::vector<double>& flat = results_.at("jacobian");
    std::vector<Vec3d> jacobian;
    for (std::size_t i = 0; i < flat.size(); i += 3) jacobian.push_back({flat[i], flat[i + 1], flat[i + 2]});
    return {vectors(jacobian), numbers(results_.at("residuals")), numbers(results_.at("scales")),
            numbers(results_.at("at limit"))};
  }

  void nodal_system() {
    const Rows rows = evaluated_rows();
    const NodalPattern& p = arrays_.pattern;
    auto stiffness = output<Real>(p.pairs.size());
    auto quadratic = numbers(at_.multipliers);
    if (!kind_of(laws().measure).is_quadratic) {
      quadratic = output<Real>(at_.multipliers.size());
      kernels_.quadratic_multipliers(queue_, {.rows = arrays_.rows_view(),
                                              .tensors = arrays_.tensors.view(),
                                              .positions = read(positions_),
                                              .multipliers = read(multipliers_),
                                              .measure = laws().measure,
                                              .coupling = coupling(),
                                              .found = quadratic.view()});
    }
    results_["quadratic multipliers"] = widened(quadratic);
    kernels_.geometric_stiffness(queue_, {.rows = arrays_.rows_view(),
                                          .tensors = arrays_.tensors.view(),
                                          .multipliers = read(quadratic),
                                          .coupling = coupling(),
                                          .stiffness = stiffness.view(),
                                          .at_limit = rows.at_limit.view()});
    results_["stiffness"] = widened(stiffness);
    const auto momentum = vectors(of_free(at_.momentum));
    for (const std::string part : {"newton", "fast", "alone"}) {
      const bool newton = part == "newton", with_rows = part != "alone";
      auto blocks = output<Real>(p.block_rows.size() * 9);
      kernels_.assemble_system(queue_,
                               {.metric = metric(),
                                .free = arrays_.free_view(),
                                .block_rows = arrays_.block_rows.view(),
                                .block_columns = arrays_.block_columns.view(),
                                .block_pairs = arrays_.block_pairs.view(),
                                .rows = arrays_.rows_view(),
                                .jacobian = rows.jacobian.view(),
                                .node_pair_begin = arrays_.node_pair_begin.view(),
                                .node_pairs = arrays_.node_pairs.view(),
                                .stiffness = part != "fast" ? read(stiffness) : ArrayView<const Real>{},
                                .samples = {},
                                .with_rows = with_rows,
                                .blocks = blocks.view(),
                                .at_limit = rows.at_limit.view()});
      auto right_side = output<Vector>(p.free_nodes.size());
      AssembleGradient<Real> balance{.metric = metric(),
                                     .free = arrays_.free_view(),
                                     .rows = arrays_.rows_view(),
                                     .jacobian = rows.jacobian.view(),
                                     .residuals = rows.residuals.view(),
                                     .scales = rows.scales.view(),
                                     .multipliers = newton ? read(multipliers_) : ArrayView<const Real>{},
                                     .laws = laws(),
                                     .positions = read(positions_),
                                     .start = read(predicted_),
                                     .momentum = part != "fast" ? read(momentum) : ArrayView<const Vector>{},
                                     .samples = {},
                                     .with_rows = with_rows,
                                     .right_side = right_side.view(),
                                     .at_limit = rows.at_limit.view()};
      kernels_.assemble_gradient(queue_, balance);
      if (newton) {
        balance.pull = RowPull::multipliers;
        auto imbalances = output<Real>(p.free_nodes.size());
        kernels_.find_imbalances(queue_, {.balance = balance,
                                          .contacts = {},
                                          .from_cloth = {},
                                          .inverse_masses = arrays_.inverse_masses.view(),
                                          .weight = 2,
                                          .imbalances = imbalances.view()});
        results_["imbalances"] = widened(imbalances);
      }
      results_["blocks " + part] = widened(blocks);
      results_["gradient " + part] = widened(right_side);
    }
  }

  void correction() {
    const Rows rows = evaluated_rows();
    auto correction = vectors(of_free(at_.correction));
    auto multipliers = numbers(at_.multipliers);
    auto mismatches = output<Real>(at_.multipliers.size());
    auto scaled = output<Real>(at_.multipliers.size());
    kernels_.find_mismatches(queue_, {.laws = laws(),
                                      .residuals = rows.residuals.view(),
                                      .scales = rows.scales.view(),
                                      .multipliers = read(multipliers_),
                                      .mismatches = mismatches.view(),
                                      .scaled = scaled.view()});
    results_["mismatches"] = widened(mismatches);
    results_["scaled mismatches"] = widened(scaled);
    kernels_.update_multipliers(queue_, {.rows = arrays_.rows_view(),
                                         .laws = laws(),
                                         .free = arrays_.free_view(),
                                         .jacobian = rows.jacobian.view(),
                                         .residuals = rows.residuals.view(),
                                         .scales = rows.scales.view(),
                                         .correction = read(correction),
                                         .multipliers = multipliers.view(),
                                         .at_limit = rows.at_limit.view()});
    results_["multipliers"] = widened(multipliers);
    auto moved = vectors(at_.positions);
    kernels_.apply_correction(
        queue_, {.free = arrays_.free_view(), .correction = read(correction), .positions = moved.view()});
    results_["moved"] = widened(moved);
    auto velocities = output<Vector>(positions_.size());
    kernels_.update_velocities(queue_, {.inverse_step = static_cast<Real>(1 / at_.step),
                                        .from = read(positions_),
                                        .to = read(predicted_),
                                        .velocities = velocities.view()});
    results_["velocities"] = widened(velocities);
  }

  void measures() {
    const auto rest = vectors(at_.garment.mesh.positions);
    for (const auto& [name, positions] : {std::pair{"rest areas", &rest}, {"areas", &positions_}}) {
      auto areas = output<Real>(at_.garment.mesh.face_count());
      kernels_.measure_areas(queue_, {.face_begin = arrays_.face_begin.view(),
                                      .face_nodes = arrays_.face_nodes.view(),
                                      .positions = read(*positions),
                                      .areas = areas.view()});
      results_[name] = widened(areas);
    }
    GarmentMeasures<Real> meter(device_, arrays_);
    const Measures m = meter
                           .measure(rest_view(arrays_), flat(read(positions_)), flat(read(velocities_)), {},
                                    {&at_.garment}, 0, 1, at_.gravity)
                           .front();
    results_["measures"] = {m.residual,
                            m.area_error_total,
                            m.area_error_mean,
                            m.area_error_dispersion,
                            m.area_error_element_max,
                            m.kinetic_energy,
                            m.potential_energy,
                            m.linear_momentum.x,
                            m.linear_momentum.y,
                            m.linear_momentum.z,
                            m.angular_momentum.x,
                            m.angular_momentum.y,
                            m.angular_momentum.z};
  }

  const KernelCase& at_;
  KernelPattern pattern_;
  Device device_;
  const Queue& queue_;
  const StepKernels<Real>& kernels_;
  GarmentArrays<Real> arrays_;
  Buffer<Vector> positions_, velocities_, predicted_;
  Buffer<Real> multipliers_, stiffness_, bounds_, growth_, curves_, viscosity_, strains_;
  KernelResults results_;
};

}  // namespace

template <class Real>
KernelResults run_kernels(const KernelCase& at, const ExecutionOptions& options) {
  return Run<Real>(at, options).all();
}
template KernelResults run_kernels<float>(const KernelCase&, const ExecutionOptions&);
template KernelResults run_kernels<double>(const KernelCase&, const ExecutionOptions&);

KernelPattern kernel_pattern(const KernelCase& at) {
  const Mesh& mesh = at.garment.mesh;
  std::vector<char> is_pinned(mesh.positions.size(), 0);
  for (const Pin& pin : at.garment.pins)
    for (const Index node : pin.nodes) is_pinned[node] = 1;
  KernelPattern result;
  result.rows =
      build_row_pattern(mesh, build_topology(mesh),
                        row_families(find_recipe(at.recipe), at.garment.mesh, at.garment.fabric), is_pinned);
  result.laplacian = neighbour_pattern(mesh);
  if (at.garment.fabric.bending_stiffness > 0) result.bending = squared_pattern(result.laplacian);
  result.nodal = build_nodal_pattern(result.rows, result.bending, is_pinned);
  return result;
}

}  // namespace isocloth
