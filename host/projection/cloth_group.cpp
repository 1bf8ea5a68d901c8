#include "host/projection/cloth_group.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"
#include "host/garment/contact_state.hpp"
#include "host/garment/reach.hpp"
#include "host/projection/projection_step.hpp"
#include "host/surroundings/compression_curve.hpp"

namespace isocloth {
namespace {

/// A tile pays as soon as a third of its lanes is taken: vectors are about three times faster than so many
/// single cloths. The bits are the same either way.
std::size_t tile_width(std::size_t garments, std::size_t lanes) { return 3 * garments > lanes ? lanes : 1; }

/// What is around the cloths in the steps from this one on.
template <class Real>
ObstacleSets<Real> from_step(ObstacleSets<Real> sets, int step) {
  const std::size_t n = static_cast<std::size_t>(step),
                    moved = n * static_cast<std::size_t>(sets.moving_count);
  sets.motions = slice(sets.motions, moved, sets.motions.size());
  if (!sets.eases.empty()) sets.eases = slice(sets.eases, n, sets.eases.size());
  return sets;
}
template <class Real>
GripperSets<Real> from_step(GripperSets<Real> sets, int step) {
  const std::size_t first = static_cast<std::size_t>(step) * static_cast<std::size_t>(sets.count);
  sets.poses = slice(sets.poses, first, sets.poses.size());
  sets.grips = slice(sets.grips, first, sets.grips.size());
  return sets;
}
template <class View>
StepSets<View> from_step(StepSets<View> sets, int step) {
  if (sets.exist()) sets.views = slice(sets.views, static_cast<std::size_t>(step), sets.views.size());
  return sets;
}

/// Garments of so many lanes: spare ones repeat the last.
std::vector<const Garment*> of_lanes(std::vector<const Garment*> garments, std::size_t lanes) {
  garments.resize(lanes, garments.back());
  return garments;
}

template <class Real>
void add_up(const ClothReport<Real>& step, ClothReport<Real>& sum) {
  sum.status = std::max(sum.status, step.status);
  sum.steps += step.steps;
  sum.iterations += step.iterations;
  sum.substeps += step.substeps;
  sum.residual = std::max(sum.residual, step.residual);
  sum.penetration = std::max(sum.penetration, step.penetration);
  sum.squeeze = std::max(sum.squeeze, step.squeeze);
  sum.depenetration_depth = step.depenetration_depth;
  if (step.bad_pivot > 0) sum.bad_pivot = step.bad_pivot;
}

template <class Real>
void keep_worst(const StrainReport<Real>& other, StrainReport<Real>& worst) {
  const auto* from = reinterpret_cast<const Real*>(&other);
  auto* to = reinterpret_cast<Real*>(&worst);
  for (std::size_t i = 0; i < sizeof other / sizeof(Real); ++i) to[i] = std::max(to[i], from[i]);
}

/// The report of a lane of a tile at `first`, `width` lanes side by side.
template <class Report, class Real>
Report read_report(const Real* first, std::size_t width) {
  Report report;
  for (std::size_t i = 0; i < sizeof report / sizeof(Real); ++i)
    reinterpret_cast<Real*>(&report)[i] = first[i * width];
  return report;
}

}  // namespace

template <class Real>
ClothGroup<Real>::ClothGroup(const Device& device, std::vector<const Garment*> garments,
                             const ResolvedScene& resolved,
                             const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garments_(std::move(garments)),
      settings_(resolved.scene.projection),
      resolved_(resolved),
      scene_(resolved.scene),
      width_(tile_width(garments_.size(), kernels_.lane_width())),
      tiles_((garments_.size() + width_ - 1) / width_),
      arrays_(device, *garments_.front(), resolved.recipe, true, obstacles != nullptr,
              resolved.factor(*garments_.front())),
      shapes_(device, garments_, resolved.recipe, arrays_),
      row_count_(arrays_.rows.row_count()),
      pins_(device, of_lanes(garments_, tiles_ * width_), width_),
      queue_(device) {
  if (has_surroundings(scene_)) build_surroundings(obstacles);
  build_plan();
  build_rest_shapes();
  build_parameters();

  const std::size_t lanes = tiles_ * width_, nodes = arrays_.node_count();
  states_.lost.assign(garments_.size(), StepStatus::converged);
  states_.positions = {device, 3 * nodes * lanes};
  states_.velocities = {device, 3 * nodes * lanes};
  states_.multipliers = {device, row_count_ * lanes};
  const std::vector<double> none = no_contacts(contact_layout());
  std::vector<Real> contacts(none.size() * lanes);
  reports_ = {device, std::max(report_numbers(false),
                               static_cast<std::size_t>(most_measured_steps()) * report_numbers(true))};
  std::vector<Real> positions(3 * nodes * lanes), velocities(3 * nodes * lanes), alive(lanes);
  for (std::size_t c = 0; c < lanes; ++c) {
    const Garment& garment = *garments_[std::min(c, garments_.size() - 1)];  // spare lanes repeat the last
    alive[c] = c < garments_.size() ? Real(1) : Real(0);
    for (std::size_t i = 0; i < none.size(); ++i)
      contacts[slot(c, i, none.size())] = static_cast<Real>(none[i]);
    for (std::size_t i = 0; i < nodes; ++i) {
      const Vec3d p = start_positions(garment)[i];
      const Vec3d v = garment.initial_velocities.empty() ? Vec3d{} : garment.initial_velocities[i];
      const double ps[3] = {p.x, p.y, p.z}, vs[3] = {v.x, v.y, v.z};
      for (std::size_t k = 0; k < 3; ++k) {
        positions[slot(c, 3 * i + k, 3 * nodes)] = static_cast<Real>(ps[k]);
        velocities[slot(c, 3 * i + k, 3 * nodes)] = static_cast<Real>(vs[k]);
      }
    }
  }
  states_.positions.upload(positions);
  states_.velocities.upload(velocities);
  states_.contacts = {device, contacts};
  states_.history = {device, std::vector<Real>(pattern().history().size() * lanes)};
  states_.plastic = {device, std::vector<Real>(memory_count() * lanes)};
  states_.alive = {device, alive};
  // In a device's memory once for all, so that no step waits for an allocation.
  if (!device.backend().memory.host_accessible) {
    pins_.reserve(largest_start);
    locked_reports_ = {device, reports_.size()};
  }
  queue_.reserve(work_memory(), tiles_);
}

template <class Real>
void ClothGroup<Real>::build_surroundings(const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  samples_ = SampleArrays(device_, garments_.front()->mesh, arrays_.pattern, scene_);
  surroundings_ = {device_, scene_, obstacles, of_lanes(garments_, tiles_ * width_)};
}

template <class Real>
void ClothGroup<Real>::refresh() {
  // Forces may be the first that surrounds the garments; obstacles have been there from the start.
  if (samples_.node_count == 0 && has_surroundings(scene_)) {
    build_surroundings(nullptr);
    queue_.reserve(work_memory(), tiles_);
  }
  build_parameters();
}

template <class Real>
BlockMemory ClothGroup<Real>::work_memory() const {
  const BlockMemory of_lane = step_memory<Real>(pattern());
  return {of_lane.shared * width_, of_lane.workspace * width_};
}

template <class Real>
void ClothGroup<Real>::build_plan() {
  const NodalPattern& p = arrays_.pattern;
  plan_ = {
      device_,
      plan_cholesky({.size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns})};
  std::vector<Index> pinned;
  for (Index node = 0; node < arrays_.node_count(); ++node)
    if (p.free_number[node] < 0) pinned.push_back(node);
  pinned_indices_ = {device_, pinned};
  driven_indices_ = {device_, pins_.nodes()};
}

template <class Real>
void ClothGroup<Real>::build_rest_shapes() {
  require_memory();
  if (shapes_.shapes.size() == 1) return;
  auto tiled = [this](std::vector<Real> RestShape<Real>::*field) {
    const std::size_t count = (shapes_.shapes.front().*field).size();
    std::vector<Real> values(tiles_ * width_ * count);
    for (std::size_t c = 0; c < tiles_ * width_; ++c) {
      const std::vector<Real>& own = shapes_.shapes[shapes_.of[std::min(c, size() - 1)]].*field;
      for (std::size_t i = 0; i < count; ++i) values[slot(c, i, count)] = own[i];
    }
    return Buffer<Real>(device_, values);
  };
  tensors_ = tiled(&RestShape<Real>::tensors);
  rest_values_ = tiled(&RestShape<Real>::rest_values);
  masses_ = tiled(&RestShape<Real>::masses);
  inverse_masses_ = tiled(&RestShape<Real>::inverse_masses);
  bending_ = tiled(&RestShape<Real>::bending);
  factored_ = tiled(&RestShape<Real>::factored);
  beyond_ = tiled(&RestShape<Real>::beyond);
  rest_areas_ = tiled(&RestShape<Real>::rest_areas);
}

template <class Real>
void ClothGroup<Real>::require_memory() const {
  const RestShape<Real>& shape = shapes_.shapes.front();
  const std::size_t own_shape = shape.tensors.size() + shape.rest_values.size() + shape.masses.size() +
                                shape.inverse_masses.size() + shape.bending.size() + shape.factored.size() +
                                shape.beyond.size() + shape.rest_areas.size();
  const std::size_t lanes = tiles_ * width_;
  const std::size_t reports =
      std::max(report_numbers(false),
               static_cast<std::size_t>(most_measured_steps()) * report_numbers(true)) /
      lanes;
  const bool has_limit = garments_.front()->fabric.has_limit();
  const std::size_t laws =
      (resolved_.recipe.is_elastic() ? (has_limit ? 2 : 1) * row_count_ : 0) + pattern().curve_numbers;
  const std::size_t each = 6 * static_cast<std::size_t>(arrays_.node_count()) + row_count_ + laws +
                           contact_layout().size() + pattern().history().size() + reports + 1 +
                           sizeof(ClothParameters<Real>) / sizeof(Real) +
                           (shapes_.shapes.size() > 1 ? own_shape : 0);
  const Mesh& mesh = garments_.front()->mesh;
  const std::size_t strains = StrainMeter<Real>::bytes_each(mesh, shapes_.shapes.size() > 1);
  const bool is_host = device_.backend().memory.host_accessible;
  const std::size_t pins = is_host ? 0 : (pins_.bytes_needed(largest_start) + lanes - 1) / lanes;
  const std::size_t fixed = 24 * Arena::alignment + StrainMeter<Real>::bytes_fixed(mesh);  // with roundings
  device_.require({.kind = "a garment like \"" + garments_.front()->name + '"',
                   .count = garments_.size(),
                   .bytes_each = each * sizeof(Real) + strains + pins,
                   .bytes_fixed = fixed + workspace_piece(queue_.get(), work_memory()),
                   .together = width_});
}

template <class Real>
ClothParameters<double> ClothGroup<Real>::parameters_of(std::size_t member) const {
  const Garment& garment = *garments_[member];
  const Fabric& f = garment.fabric;
  const MismatchEnergy mismatches = resolved_.mismatch_energy(garment, sizeof(Real) == sizeof(float));
  return {f.density,
          f.mass_damping,
          f.stiffness_damping,
          f.bending_stiffness,
          f.gravity_density * garment.gravity.value_or(scene_.gravity),
          shapes_.shapes[shapes_.of[member]].element_size,
          contact_offset(garment, scene_),
          compression_curve(garment, scene_),
          contact_accuracy(garment, scene_),
          reach(garment, scene_),
          f.poisson_coupling(),
          mismatches.rate,
          mismatches.rounding};
}

template <class Real>
std::vector<double> ClothGroup<Real>::row_stiffness_of(const Garment& garment) const {
  return row_stiffness(garment.mesh, arrays_.rows, garment.fabric, pinned_nodes(garment));
}

template <class Real>
bool ClothGroup<Real>::is_like_before(std::size_t member) const {
  return member > 0 && shapes_.of[member] == shapes_.of[member - 1] &&
         garments_[member]->gravity == garments_[member - 1]->gravity &&
         alike(garments_[member]->fabric, garments_[member - 1]->fabric);
}

template <class Real>
void ClothGroup<Real>::put(std::size_t member, const std::vector<double>& values, Buffer<Real>& tiled) const {
  const std::size_t tile = member / width_, end = member + 1 == size() ? tiles_ * width_ : member + 1;
  tiled.edit(tile * values.size() * width_, values.size() * width_, [&](Real* lanes) {
    for (std::size_t c = member - tile * width_; c < end - tile * width_; ++c)
      for (std::size_t i = 0; i < values.size(); ++i) lanes[i * width_ + c] = static_cast<Real>(values[i]);
  });
}

template <class Real>
void ClothGroup<Real>::refresh_members(const std::vector<std::size_t>& members) {
  // Pieces of curves are as many as the garment with the most of them has.
  if (row_curves_.size() > 0 || row_viscosity_.size() > 0 || row_memory_.size() > 0) return refresh();
  for (const std::size_t member : members) {
    const ClothParameters<double> own = parameters_of(member);
    const auto* numbers = reinterpret_cast<const double*>(&own);
    put(member, {numbers, numbers + sizeof own / sizeof(double)}, parameters_);
    if (!resolved_.recipe.is_elastic()) continue;
    put(member, row_stiffness_of(*garments_[member]), row_stiffness_);
    put(member, row_bounds(arrays_.rows, garments_[member]->fabric), row_bounds_);
  }
}

template <class Real>
void ClothGroup<Real>::build_parameters() {
  constexpr std::size_t fields = sizeof(ClothParameters<Real>) / sizeof(Real);
  std::vector<Real> values(fields * tiles_ * width_);
  ClothParameters<double> found{};
  for (std::size_t c = 0; c < tiles_ * width_; ++c) {
    if (c < size() && !is_like_before(c)) found = parameters_of(c);
    const auto* numbers = reinterpret_cast<const double*>(&found);
    for (std::size_t i = 0; i < fields; ++i) values[slot(c, i, fields)] = Real(numbers[i]);
  }
  parameters_ = {device_, values};
  if (!resolved_.recipe.is_elastic()) return;
  std::vector<Real> stiffness(row_count_ * tiles_ * width_), bounds;
  std::vector<double> own_stiffness, own_bounds;
  for (std::size_t c = 0; c < tiles_ * width_; ++c) {
    if (c < size() && !is_like_before(c)) {
      own_stiffness = row_stiffness_of(*garments_[c]);
      own_bounds = row_bounds(arrays_.rows, garments_[c]->fabric);
    }
    for (std::size_t i = 0; i < own_stiffness.size(); ++i)
      stiffness[slot(c, i, row_count_)] = Real(own_stiffness[i]);
    if (!own_bounds.empty()) bounds.resize(stiffness.size());
    for (std::size_t i = 0; i < own_bounds.size(); ++i) bounds[slot(c, i, row_count_)] = Real(own_bounds[i]);
  }
  row_stiffness_ = {device_, stiffness};
  row_bounds_ = {device_, bounds};
  const auto curves_of = [&](const auto& laws_of) {
    std::size_t pieces = 0;
    for (const Garment* garment : garments_)
      pieces = std::max(pieces, laws_of(garment->fabric, 0).size() / RowLaw::count);
    std::vector<Real> curves(5 * RowLaw::count * pieces * tiles_ * width_);
    for (std::size_t c = 0; pieces > 0 && c < tiles_ * width_; ++c) {
      const std::vector<double> own =
          flat(laws_of(garments_[std::min(c, garments_.size() - 1)]->fabric, pieces));
      for (std::size_t i = 0; i < own.size(); ++i) curves[slot(c, i, own.size())] = Real(own[i]);
    }
    return Buffer<Real>{device_, curves};
  };
  row_curves_ = curves_of(
      [&](const Fabric& fabric, std::size_t count) { return stress_laws(resolved_.recipe, fabric, count); });
  row_viscosity_ = curves_of(viscosity_laws);
  const bool remember =
      std::ranges::any_of(garments_, [](const Garment* garment) { return garment->fabric.memory.exists(); });
  std::vector<Real> memory(remember ? RowLaw::count * memory_numbers * tiles_ * width_ : 0);
  for (std::size_t c = 0; remember && c < tiles_ * width_; ++c) {
    const std::vector<double> own = memory_laws(garments_[std::min(c, garments_.size() - 1)]->fabric, true);
    for (std::size_t i = 0; i < own.size(); ++i) memory[slot(c, i, own.size())] = Real(own[i]);
  }
  row_memory_ = {device_, memory};
}

template <class Real>
ClothPatternView ClothGroup<Real>::pattern() const {
  const auto& a = arrays_;
  return {.node_count = a.node_count(),
          .row_count = static_cast<Index>(row_count_),
          .pair_count = static_cast<Index>(a.pattern.pairs.size()),
          .rows = a.rows_view(),
          .free = a.free_view(),
          .pinned_nodes = pinned_indices_.view(),
          .driven_nodes = driven_indices_.view(),
          .bending = {a.bending_begin.view(), a.bending_columns.view()},
          .node_pair_begin = a.node_pair_begin.view(),
          .node_pairs = a.node_pairs.view(),
          .block_rows = a.block_rows.view(),
          .block_columns = a.block_columns.view(),
          .block_pairs = a.block_pairs.view(),
          .couplings = a.couplings(),
          .system_blocks = plan_.system_blocks(),
          .plan = plan_.view(),
          .samples = samples_.view(),
          .hold_count = surroundings_.grippers.count() > 0 ? a.node_count() : 0,
          .has_bounds = row_bounds_.size() > 0,
          .curve_numbers = static_cast<Index>(row_curves_.size() / (tiles_ * width_)),
          .viscosity_numbers = static_cast<Index>(row_viscosity_.size() / (tiles_ * width_)),
          .memory_count = static_cast<Index>(memory_count()),
          .measure = resolved_.recipe.strain,
          .has_history = remembers_step(resolved_.integrator),
          .faces = surroundings_.forces.faces(arrays_),
          .stitches = a.stitch_pattern(),
          .block_slots = samples_.block_slots.view(),
          .node_slots = samples_.node_slots.view(),
          .slot_samples = samples_.slot_samples.view()};
}

template <class Real>
RestShapesView<Real> ClothGroup<Real>::rest_shapes() const {
  if (shapes_.shapes.size() == 1) return rest_view(arrays_);
  return {.shared = false,
          .tensors = tensors_.view(),
          .rest_values = rest_values_.view(),
          .masses = masses_.view(),
          .inverse_masses = inverse_masses_.view(),
          .bending = bending_.view(),
          .factored = factored_.view(),
          .beyond = beyond_.view(),
          .areas = rest_areas_.view()};
}

template <class Real>
StepCloths<Real> ClothGroup<Real>::arguments(double h, int steps) {
  constexpr bool is_float = sizeof(Real) == sizeof(float);
  return {.pattern = pattern(),
          .rest = rest_shapes(),
          .control = step_control(resolved_, is_float ? Precision::float32 : Precision::float64, h),
          .width = static_cast<int>(width_),
          .tile_count = static_cast<Index>(tiles_),
          .steps = steps,
          .obstacles = surroundings_.obstacles.sets(),
          .grippers = surroundings_.grippers.sets(),
          .forces = surroundings_.forces.sets(),
          .parameters = parameters_.view(),
          .row_stiffness = row_stiffness_.view(),
          .row_bounds = row_bounds_.view(),
          .row_curves = row_curves_.view(),
          .row_viscosity = row_viscosity_.view(),
          .row_memory = row_memory_.view(),
          .stitch_laws = arrays_.stitch_laws(),
          .stitch_speed = static_cast<Real>(garments_.front()->sewing.speed),
          .stitch_hold = static_cast<Real>(garments_.front()->sewing.hold()),
          .targets = pins_.from(0),
          .states = {.positions = states_.positions.view(),
                     .velocities = states_.velocities.view(),
                     .multipliers = states_.multipliers.view(),
                     .contacts = states_.contacts.view(),
                     .history = states_.history.view(),
                     .plastic = states_.plastic.view(),
                     .alive = states_.alive.view()},
          .before = {},
          .reports = reports_.view(),
          .inspection = {},
          .monitor = {}};
}

template <class Real>
void ClothGroup<Real>::set_motions(const std::vector<Clock>& clocks, double h, int steps) {
  std::vector<Clock> of_lanes = clocks;
  of_lanes.resize(tiles_ * width_, clocks.back());
  surroundings_.set(of_lanes, h, steps);
  pins_.set(queue_.get(), of_lanes, h, steps);
}

template <class Real>
void ClothGroup<Real>::keep_before() {
  const auto reserve = [&](Buffer<Real>& before, const Buffer<Real>& now) {
    if (before.size() < now.size()) before = {device_, now.size()};
  };
  reserve(before_.positions, states_.positions);
  reserve(before_.velocities, states_.velocities);
  reserve(before_.multipliers, states_.multipliers);
  reserve(before_.contacts, states_.contacts);
  reserve(before_.history, states_.history);
  reserve(before_.plastic, states_.plastic);
  reserve(before_.alive, states_.alive);
  before_.lost = states_.lost;
  std::swap(before_, states_);
  is_undoable_ = true;
}

template <class Real>
void ClothGroup<Real>::undo() {
  if (std::exchange(is_undoable_, false)) std::swap(before_, states_);
}

template <class Real>
void ClothGroup<Real>::set_alive(const std::vector<char>& alive) {
  states_.alive.write(staging_, [&](Real* lanes) {
    for (std::size_t c = 0; c < tiles_ * width_; ++c)
      lanes[c] = c < size() && alive[c] != 0 ? Real(1) : Real(0);
  });
}

template <class Real>
void ClothGroup<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  const auto begin = std::chrono::steady_clock::now();
  is_undoable_ = false;
  measured_steps_ = 0;
  set_motions(clocks, h, steps);
  if (undoable) keep_before();
  StepCloths<Real> args = arguments(h, steps);
  if (undoable) {
    const States& before = before_;
    args.before = {.positions = before.positions.view(),
                   .velocities = before.velocities.view(),
                   .multipliers = before.multipliers.view(),
                   .contacts = before.contacts.view(),
                   .history = before.history.view(),
                   .plastic = before.plastic.view(),
                   .alive = before.alive.view()};
  }
  kernels_.step_cloths(queue_.get(), args);
  begin_to_read(report_numbers(false));
  start_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Real>
void ClothGroup<Real>::start_measured(const std::vector<Clock>& clocks, double h, int steps,
                                      const std::vector<Tearing>& tearing) {
  const auto begin = std::chrono::steady_clock::now();
  is_undoable_ = false;
  measured_steps_ = steps;
  tearing_ = tearing;
  set_motions(clocks, h, steps);
  const StepCloths<Real> all = arguments(h, 1);
  for (int n = 0; n < steps; ++n) {
    StepCloths<Real> step = all;
    step.targets = pins_.from(n);
    step.obstacles = from_step(all.obstacles, n);
    step.grippers = from_step(all.grippers, n);
    step.forces = from_step(all.forces, n);
    const std::size_t first = static_cast<std::size_t>(n) * report_numbers(true),
                      strains = first + report_numbers(false), end = first + report_numbers(true);
    step.reports = slice(all.reports, first, strains);
    kernels_.step_cloths(queue_.get(), step);
    strain_meter().begin(queue_.get(), all.states.positions, slice(all.reports, strains, end));
  }
  begin_to_read(static_cast<std::size_t>(steps) * report_numbers(true));
  start_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Real>
std::size_t ClothGroup<Real>::report_numbers(bool has_strain) const {
  const std::size_t each = sizeof(ClothReport<Real>) / sizeof(Real);
  return tiles_ * width_ * (has_strain ? each + StrainMeter<Real>::report_size : each);
}

template <class Real>
void ClothGroup<Real>::begin_to_read(std::size_t count) {
  if (!device_.backend().memory.host_accessible)
    begin_download(device_, queue_.get(), reports_, count, locked_reports_);
}

template <class Real>
const Real* ClothGroup<Real>::reports() const {
  return device_.backend().memory.host_accessible ? reports_.view().data() : locked_reports_.data();
}

template <class Real>
StepReport ClothGroup<Real>::take_report(std::size_t member, const ClothReport<Real>& found) {
  StepStatus& lost = states_.lost[member];
  StepReport report;
  report.status = has_failed(lost) ? lost : status_of(static_cast<int>(found.status));
  report.iterations = static_cast<int>(found.iterations);
  report.substeps = static_cast<int>(found.substeps);
  report.residual = static_cast<double>(found.residual);
  report.penetration = static_cast<double>(found.penetration);
  report.compression = compression_of(*garments_[member], scene_).share(static_cast<double>(found.squeeze));
  report.eased_depth = static_cast<double>(found.depenetration_depth);
  if (found.bad_pivot > 0)
    report.bad_node = arrays_.pattern.free_nodes[static_cast<std::size_t>(found.bad_pivot) - 1];
  if (has_failed(report.status)) lost = report.status;
  return report;
}

template <class Real>
std::vector<AdvanceReport> ClothGroup<Real>::finish() {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::size_t fields = sizeof(ClothReport<Real>) / sizeof(Real);
  queue_.wait();
  const auto seconds = [&] {
    return start_seconds_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  if (measured_steps_ > 0) return take_measured_reports(seconds());
  std::vector<AdvanceReport> result(size());
  for (std::size_t c = 0; c < size(); ++c) {
    const auto found = read_report<ClothReport<Real>>(reports() + slot(c, 0, fields), width_);
    result[c].total = take_report(c, found);
    result[c].steps = static_cast<int>(found.steps);
  }
  for (AdvanceReport& report : result) report.total.wall_seconds = seconds() / static_cast<double>(size());
  return result;
}

template <class Real>
std::vector<AdvanceReport> ClothGroup<Real>::take_measured_reports(double seconds) {
  struct Sum {
    ClothReport<Real> steps{};
    StrainReport<Real> strain{};
    Real iterations_max{}, substeps_max{};
    bool has_converged = true;
  };
  constexpr std::size_t fields = sizeof(ClothReport<Real>) / sizeof(Real);
  const auto step_of = [&](int n, std::size_t tile, std::size_t lane) {
    const Real* const first = reports() + static_cast<std::size_t>(n) * report_numbers(true);
    return read_report<ClothReport<Real>>(first + tile * fields * width_ + lane, width_);
  };
  const auto strain_of = [&](int n, std::size_t tile, std::size_t lane) {
    const Real* const first =
        reports() + static_cast<std::size_t>(n) * report_numbers(true) + report_numbers(false);
    return read_report<StrainReport<Real>>(first + tile * StrainMeter<Real>::report_size * width_ + lane,
                                           width_);
  };
  const auto has_torn = [&](std::size_t c, const StrainReport<Real>& strain) {
    return tearing_[c].has_torn(static_cast<double>(strain.pinned_max),
                                static_cast<double>(strain.stretch_max));
  };
  std::vector<Sum> sums(size());
  for (int n = 0; n < measured_steps_; ++n)
    for (std::size_t c = 0, tile = 0; tile < tiles_; ++tile)
      for (std::size_t lane = 0; lane < width_ && c < size(); ++lane, ++c) {
        const ClothReport<Real> step = step_of(n, tile, lane);
        const StrainReport<Real> strain = strain_of(n, tile, lane);
        Sum& sum = sums[c];
        add_up(step, sum.steps);
        keep_worst(strain, sum.strain);
        sum.iterations_max = std::max(sum.iterations_max, step.iterations);
        sum.substeps_max = std::max(sum.substeps_max, step.substeps);
        sum.has_converged &= !(step.status > 0) && !has_torn(c, strain);
      }
  std::vector<AdvanceReport> result(size());
  for (std::size_t c = 0; c < size(); ++c) {
    const Sum& sum = sums[c];
    AdvanceReport& report = result[c];
    report.steps = static_cast<int>(sum.steps.steps);
    report.iterations_max = static_cast<int>(sum.iterations_max);
    report.substeps_max = static_cast<int>(sum.substeps_max);
    if (sum.has_converged && !has_failed(states_.lost[c])) {
      report.total = take_report(c, sum.steps);
      report.total.strain = StrainMeter<Real>::widened(sum.strain);
    } else {
      report.total.substeps = 0;
      for (int n = 0; n < measured_steps_; ++n) {
        const StrainReport<Real> strain = strain_of(n, c / width_, c % width_);
        StepReport& step = report.each.emplace_back(take_report(c, step_of(n, c / width_, c % width_)));
        step.strain = StrainMeter<Real>::widened(strain);
        if (has_torn(c, strain)) step.status = std::max(step.status, StepStatus::stalled);
        step.wall_seconds = seconds / static_cast<double>(size()) / measured_steps_;
        add_up(step, report.total);
      }
    }
    report.total.wall_seconds = seconds / static_cast<double>(size());
  }
  return result;
}

template class ClothGroup<float>;
template class ClothGroup<double>;

}  // namespace isocloth
