// Derivatives of a step that has been taken.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "host/projection/projection_solver.hpp"
#include "kernels/linear/conjugate_gradients.hpp"
#include "kernels/projection/nodal_terms.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

/// What conjugate_gradients() asks for, on vectors of the host: multiply(p) is A p, inverse(r) about P^-1 r.
template <class Multiply, class Precondition>
struct HostSystem {
  const Multiply& multiply;
  const Precondition& inverse;
  Nodes residual, solution{}, start{}, direction{}, product{};
  bool is_convex = true;

  static double dot_of(const Nodes& a, const Nodes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
  }
  void precondition() { start = inverse(residual); }
  double energy() const { return dot_of(residual, start); }
  void begin() {
    solution = start;
    for (Vec3d& s : solution) s -= s;
    direction = start;
  }
  double curvature() {
    product = multiply(direction);
    const double found = dot_of(direction, product);
    is_convex = is_convex && found > 0;
    return found;
  }
  void descend(double alpha) {
    for (std::size_t i = 0; i < residual.size(); ++i) {
      solution[i] += alpha * direction[i];
      residual[i] -= alpha * product[i];
    }
  }
  void turn(double beta) {
    for (std::size_t i = 0; i < residual.size(); ++i) direction[i] = start[i] + beta * direction[i];
  }
};

}  // namespace

template <class Real>
void ProjectionSolver<Real>::go_to_end(const FinishedStep& step) {
  check(0, step.before);
  set_state(0, step.before);
  surroundings_.set({{.offset = step.time, .steps = 0}}, step.step, 1);
  set_targets(step.time + step.step);
  copy(state_, work_);
  if (!begin_substep({.number = 0, .h = step.step, .done = 0, .parts = 1}))
    throw NumericalError("garment \"" + garment_.name + "\": the metric of a step cannot be factorised");
  iterate_.upload(as_vectors(step.after.positions));
  work_.multipliers.upload(step.after.multipliers);
  // Stress of positions; where a curve is read at the strain of the multipliers it is approached.
  constexpr int most_passes = 20;
  for (int pass = 0; pass < most_passes; ++pass) {
    evaluate_rows(0);
    double change = 0, largest = 0;
    const ArrayView<const double> stiffness = row_stiffness_.view(), scales = rows_.scales.view(),
                                  values = rows_.residuals.view();
    const ArrayView<double> multipliers = work_.multipliers.view();
    for (std::size_t row = 0; row < stiffness.size(); ++row) {
      if (!(stiffness[row] > 0)) continue;
      const double stress = scales[row] * scales[row] * values[row];
      change = std::max(change, std::abs(stress - multipliers[row]));
      largest = std::max(largest, std::abs(stress));
      multipliers[row] = stress;
    }
    if (change <= 1e-14 * largest) break;
  }
  find_contacts(0);
}

template <class Real>
std::vector<Vec3d> ProjectionSolver<Real>::balance(const FinishedStep& step) {
  go_to_end(step);
  assemble_right_side(projection_metric(), true, contacts_.forces());
  Nodes result(arrays_.pattern.free_number.size());
  const ArrayView<const Vec3d> found = std::as_const(right_side_).view();
  for (std::size_t i = 0; i < found.size(); ++i)
    result[static_cast<std::size_t>(arrays_.pattern.free_nodes[i])] = found[i];
  return result;
}

template <class Real>
std::vector<double> ProjectionSolver<Real>::pushing_pairs() {
  const GeometricStiffness<double> geometric{.rows = arrays_.rows_view(),
                                             .tensors = arrays_.tensors.view(),
                                             .multipliers = quadratic_multipliers(),
                                             .coupling = laws().coupling,
                                             .stiffness = {},
                                             .at_limit = rows_.at_limit.view()};
  std::vector<double> pushing(arrays_.pattern.pairs.size());
  for (std::size_t p = 0; p < pushing.size(); ++p)
    pushing[p] = std::max(-cpu::pair_weight(geometric, static_cast<Index>(p)), 0.0);
  return pushing;
}

template <class Real>
void ProjectionSolver<Real>::add_stretch_curvature(const std::vector<Vec3d>& w, std::vector<Vec3d>& sum) {
  if (quadratic_multipliers_.size() == 0) return;
  const MembraneGroup group = arrays_.rows_view().membranes;
  const ArrayView<const Vec3d> positions = std::as_const(iterate_).view();
  const double* const tensors = arrays_.tensors.view().data() + group.first_tensor;
  const double* const multipliers = std::as_const(work_.multipliers).view().data() + group.first_row;
  const double coupling = laws().coupling;
  const StrainMeasure measure = resolved_.recipe.strain;
  for (Index stencil = 0; stencil < group.stencil_count(); ++stencil) {
    const auto f = cpu::deformation_gradients(group, tensors, positions.data(), stencil),
               way = cpu::deformation_gradients(group, tensors, w.data(), stencil);
    const auto lambda =
        cpu::triangle_multipliers(multipliers + membrane_width * stencil, tensors[group.share(stencil)]);
    for (int t = 0; t < 2; ++t) {
      const auto& [u, v] = f.of[t];
      const auto m = cpu::metric_multipliers(measure, f.of[t], lambda.of[t], coupling);
      const auto dm = cpu::visit_membrane_law(measure, [&](auto law) -> cpu::SymmetricTensor<double> {
        if constexpr (law.is_quadratic)
          return {};
        else
          return law.metric_stress_change(f.of[t], m, way.of[t]);
      });
      const Vec3d along_warp = 2.0 * (dm.uu * u + dm.uv * v), along_weft = 2.0 * (dm.uv * u + dm.vv * v);
      for (Index slot = group.stencils.stencil_begin[stencil];
           slot < group.stencils.stencil_begin[stencil + 1]; ++slot) {
        const double* const g = tensors + 4 * slot + 2 * t;
        sum[static_cast<std::size_t>(group.stencils.slot_nodes[slot])] +=
            g[0] * along_warp + g[1] * along_weft;
      }
    }
  }
}

template <class Real>
std::vector<Vec3d> ProjectionSolver<Real>::solve_whole(const std::vector<Vec3d>& right_side,
                                                       const std::vector<double>& pushing, bool& is_convex) {
  const NodalPattern& pattern = arrays_.pattern;
  const CoupledMember<Real> own = coupled_member();
  const Couplings<double>& couplings = own.couplings;
  const auto multiply = [&](const Nodes& x) {
    Nodes y(x.size());
    kernels_.block_product(device_.queue(),
                           {.matrix = own.matrix, .x = {x.data(), x.size()}, .y = {y.data(), y.size()}});
    if (couplings.exist())
      for (std::size_t i = 0; i < x.size(); ++i)
        y[i] += cpu::coupled(couplings, ArrayView<const Vec3d>(x.data(), x.size()), static_cast<Index>(i));
    for (std::size_t p = 0; p < pushing.size(); ++p) {
      if (pushing[p] == 0) continue;
      const Index a = pattern.free_number[static_cast<std::size_t>(pattern.pairs[p][0])],
                  b = pattern.free_number[static_cast<std::size_t>(pattern.pairs[p][1])];
      const Vec3d between = (a < 0 ? Vec3d{} : x[static_cast<std::size_t>(a)]) -
                            (b < 0 ? Vec3d{} : x[static_cast<std::size_t>(b)]);
      if (a >= 0) y[static_cast<std::size_t>(a)] -= pushing[p] * between;
      if (b >= 0) y[static_cast<std::size_t>(b)] += pushing[p] * between;
    }
    if (quadratic_multipliers_.size() == 0) return y;
    Nodes of_all(pattern.free_number.size()), curved(of_all.size());
    for (std::size_t i = 0; i < x.size(); ++i) of_all[static_cast<std::size_t>(pattern.free_nodes[i])] = x[i];
    add_stretch_curvature(of_all, curved);
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] += curved[static_cast<std::size_t>(pattern.free_nodes[i])];
    return y;
  };
  bool is_finite = true;
  const auto inverse = [&](const Nodes& r) {
    right_side_.upload(r);
    is_finite = nodal_solver_->solve_block(right_side_, correction_, r.size(), {0}) && is_finite;
    return correction_.download();
  };
  HostSystem<decltype(multiply), decltype(inverse)> system{multiply, inverse, right_side};
  const int iterations = cpu::conjugate_gradients<double>(system, 1e-10);
  if (!is_finite || !std::isfinite(system.dot_of(system.solution, system.solution)))
    throw NumericalError("garment \"" + garment_.name +
                         "\": the gradient of a step is not finite, expected one of finite losses");
  if (iterations == most_cg_iterations)
    throw NumericalError(text("garment \"", garment_.name,
                              "\": the gradient of a step: found no solution to 1e-10 in ", iterations,
                              " conjugate gradient iterations; set projection.factorization to \"whole\""));
  is_convex = is_convex && system.is_convex;
  return system.solution;
}

template <class Real>
StepGradient ProjectionSolver<Real>::gradient(const FinishedStep& step, const StateGradient& loss) {
  go_to_end(step);
  assemble();
  if (!factor())
    throw NumericalError("garment \"" + garment_.name + "\": the system of a step cannot be factorised");
  const double h = step.step, to_velocity = rate_ / h;
  const NodalPattern& pattern = arrays_.pattern;
  const std::size_t nodes = pattern.free_number.size(), free = pattern.free_nodes.size();
  const RowsView rows = arrays_.rows_view();
  const ArrayView<const double> scales = rows_.scales.view(), stiffness = row_stiffness_.view();
  std::vector<double> pushing = pushing_pairs();
  bool buckles = false;

  Nodes after = loss.positions;
  for (std::size_t i = 0; i < nodes; ++i) after[i] += to_velocity * loss.velocities[i];
  Nodes w(nodes);
  // visit(row, place in the Jacobian, node) of every node of every row.
  const auto each_slot = [&rows](const auto& visit) {
    rows.for_each_group([&](const auto& group) {
      for (Index s = 0; s < group.stencil_count(); ++s)
        for (Index slot = group.stencils.stencil_begin[s]; slot < group.stencils.stencil_begin[s + 1]; ++slot)
          for (int k = 0; k < group.width; ++k)
            visit(group.first_row + static_cast<std::size_t>(s * group.width + k),
                  group.first_jacobian + static_cast<std::size_t>(slot * group.width + k),
                  static_cast<std::size_t>(group.stencils.slot_nodes[slot]));
    });
  };
  const ArrayView<const Vec3d> jacobian = std::as_const(rows_.jacobian).view();
  const auto is_rigid = [&](std::size_t row) { return stiffness.empty() || stiffness[row] == 0; };
  // Rigid rows are held by multipliers nu: A w + J^T nu = dL, J w = 0, nu from one solve to the next.
  std::vector<double> nu(rows.row_count(), 0.0), along(rows.row_count());  // s^-1 nu; s J w
  constexpr int most_rounds = 12;
  for (int round = 0; round < most_rounds; ++round) {
    Nodes side(free);
    for (std::size_t i = 0; i < free; ++i) side[i] = after[static_cast<std::size_t>(pattern.free_nodes[i])];
    each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
      const Index i = pattern.free_number[node];
      if (i >= 0 && is_rigid(row)) side[static_cast<std::size_t>(i)] -= nu[row] * jacobian[place];
    });
    bool is_convex = true;
    Nodes found = solve_whole(side, pushing, is_convex);
    if (!is_convex) {
      buckles = true;
      std::ranges::fill(pushing, 0.0);
      found = solve_whole(side, pushing, is_convex);
    }
    for (std::size_t i = 0; i < free; ++i) w[static_cast<std::size_t>(pattern.free_nodes[i])] = found[i];
    std::ranges::fill(along, 0.0);
    each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
      along[row] += dot(jacobian[place], w[node]);
    });
    double change = 0, most = 0;
    for (std::size_t row = 0; row < nu.size(); ++row) {
      if (!is_rigid(row)) continue;
      change = std::max(change, std::abs(along[row]));
      nu[row] += along[row];
      most = std::max(most, std::abs(nu[row]));
    }
    if (change <= 1e-9 * most) break;
  }

  const MetricView<double> metric = implicit_metric();
  Nodes bent(nodes);  // K w
  if (metric.has_bending())
    for (std::size_t i = 0; i < nodes; ++i)
      for (Index e = metric.pattern.row_begin[i]; e < metric.pattern.row_begin[i + 1]; ++e)
        bent[i] += metric.bending[e] * w[static_cast<std::size_t>(metric.pattern.columns[e])];

  StepGradient result{.before = {Nodes(nodes), Nodes(nodes)},
                      .previous = {},
                      .targets = Nodes(nodes),
                      .buckles = buckles,
                      .adjoint = w};
  // A w at pinned nodes, whose places the step was told.
  Nodes pulled(nodes);
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    pulled[node] += (is_rigid(row) ? nu[row] : along[row]) * jacobian[place];
  });
  const ArrayView<const double> geometric = std::as_const(stiffness_).view();
  for (std::size_t p = 0; p < pushing.size(); ++p) {
    const auto a = static_cast<std::size_t>(pattern.pairs[p][0]),
               b = static_cast<std::size_t>(pattern.pairs[p][1]);
    const Vec3d pull = (geometric[p] - pushing[p]) * (w[a] - w[b]);
    pulled[a] += pull;
    pulled[b] -= pull;
  }
  add_stretch_curvature(w, pulled);
  for (std::size_t i = 0; i < nodes; ++i)
    if (pattern.free_number[i] < 0) result.targets[i] = after[i] - (pulled[i] + metric.stiffness * bent[i]);

  // x^ and v^, from which the step began.
  const Fabric& f = garment_.fabric;
  Nodes by_start(nodes), by_speed(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const double mass = metric.masses[i];
    by_start[i] = (metric.inertia * mass) * w[i] +
                  (metric.stiffness - h * h * f.bending_stiffness) * bent[i] -
                  to_velocity * loss.velocities[i];
    by_speed[i] = (h * rate_ * f.density * mass) * w[i];
  }
  const ArrayView<const Vec3d> start = base().view(), speed = base_velocity().view(),
                               end = std::as_const(iterate_).view();
  for (std::size_t i = 0; i < nodes; ++i) {
    const double mass = metric.masses[i];
    const Vec3d moved = end[i] - start[i];
    result.rho += rate_ * mass * dot(w[i], h * speed[i] - rate_ * moved);
    result.alpha -= h * rate_ * mass * dot(w[i], moved);
    result.weight -= h * h * mass * w[i].z;
    result.kappa -= h * h * dot(bent[i], end[i]);
    result.beta -= h * rate_ * dot(bent[i], moved);
  }
  const double memory =
      has_history() ? cpu::coefficients(resolved_.integrator, h, step.before.previous_step).memory : 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    result.before.positions[i] = (1 + memory) * by_start[i];
    result.before.velocities[i] = (1 + memory) * by_speed[i];
  }
  if (memory > 0) {
    result.previous = {Nodes(nodes), Nodes(nodes)};
    for (std::size_t i = 0; i < nodes; ++i) {
      result.previous.positions[i] = -memory * by_start[i];
      result.previous.velocities[i] = -memory * by_speed[i];
    }
  }
  if (strains_.size() == 0) return result;
  // Viscous rows pull by how their strain has changed since x_n: h^2 K p_v' / h of it.
  std::vector<double> rates(rows.row_count(), 0.0);
  std::vector<Index> laws_of(rows.row_count(), -1);
  rows.for_each_group([&](const auto& group) {
    constexpr bool is_membrane = std::is_same_v<std::decay_t<decltype(group)>, MembraneGroup>;
    for (Index s = 0; s < group.stencil_count(); ++s)
      for (int k = 0; k < group.width; ++k)
        laws_of[group.first_row + static_cast<std::size_t>(s * group.width + k)] =
            is_membrane          ? (k < 3 ? Index{k} : Index{-1})
            : group.laws.empty() ? Index{-1}
                                 : group.laws[s];
  });
  const RowLaws<double> own = laws();
  std::vector<double> by_change(rates.size());
  for (std::size_t row = 0; row < rates.size(); ++row)
    if (laws_of[row] >= 0 && scales[row] > 0) by_change[row] = h * stiffness[row] * along[row] / scales[row];
  const ArrayView<const double> strains = std::as_const(rows_.residuals).view();
  rows_.evaluate(iterate_, eps_, arrays_.inverse_masses.view(), own.of_strain());
  for (std::size_t row = 0; row < rates.size(); ++row) {
    if (by_change[row] == 0) continue;
    const double rate = (strains[row] - own.before[row]) / h;
    rates[row] = by_change[row] * cpu::response_at(own.viscosity, static_cast<int>(laws_of[row]), rate).slope;
  }
  rows_.evaluate(work_.positions, eps_, arrays_.inverse_masses.view(), own.of_strain());
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    if (scales[row] > 0) result.before.positions[node] += (rates[row] / scales[row]) * jacobian[place];
  });
  return result;
}

// Differences of rounded steps say nothing of gradients in single precision.
template std::vector<Vec3d> ProjectionSolver<double>::balance(const FinishedStep&);
template StepGradient ProjectionSolver<double>::gradient(const FinishedStep&, const StateGradient&);

}  // namespace isocloth
