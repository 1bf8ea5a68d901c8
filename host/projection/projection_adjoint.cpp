#include "host/projection/projection_adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "host/linear/gmres.hpp"
#include "kernels/linear/conjugate_gradients.hpp"
#include "kernels/projection/nodal_terms.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

double dot_of(const Nodes& a, const Nodes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// What conjugate_gradients() asks for, on vectors of the host: multiply(p) is A p, inverse(r) about P^-1 r.
template <class Multiply, class Precondition>
struct HostSystem {
  const Multiply& multiply;
  const Precondition& inverse;
  Nodes residual, solution{}, start{}, direction{}, product{};
  bool is_convex = true;

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

StepAdjoint::StepAdjoint(ProjectionSystem<double>& system, const FinishedStep& step)
    : system_(system), arrays_(system.arrays()), rows_(system.rows()), cloth_(system.cloth()), step_(step) {
  const GarmentContacts<double>& contacts = system.contacts();
  if (!contacts.exist() || !step.with_contacts) return;
  contacts_ = ContactAdjoint(contacts.sample_arguments(), contacts.first_iterate());
  contacts_.settle_samples();
}

StepAdjoint::Nodes StepAdjoint::on_all_nodes(const Nodes& free) const {
  Nodes all(arrays_.pattern.free_number.size());
  for (std::size_t i = 0; i < free.size(); ++i)
    all[static_cast<std::size_t>(arrays_.pattern.free_nodes[i])] = free[i];
  return all;
}

Index StepAdjoint::holder(std::size_t node) const {
  return step_.after.holds.empty() ? -1 : step_.after.holds[node].gripper;
}

bool StepAdjoint::is_told(std::size_t node) const {
  const Index gripper = holder(node);
  return arrays_.pattern.free_number[node] < 0 ||
         (gripper >= 0 && !(system_.garment().grippers[static_cast<std::size_t>(gripper)].stiffness > 0));
}

std::vector<Vec3d> StepAdjoint::balance() {
  system_.assemble_right_side(step_.with_contacts);
  Nodes result(arrays_.pattern.free_number.size());
  const ArrayView<const Vec3d> found = std::as_const(system_.right_side()).view();
  for (std::size_t i = 0; i < found.size(); ++i)
    result[static_cast<std::size_t>(arrays_.pattern.free_nodes[i])] = found[i];
  return result;
}

std::vector<double> StepAdjoint::pushing_pairs() {
  const GeometricStiffness<double> geometric{.rows = arrays_.rows_view(),
                                             .tensors = arrays_.tensors.view(),
                                             .multipliers = rows_.quadratic_multipliers(),
                                             .coupling = rows_.laws().coupling,
                                             .stiffness = {},
                                             .at_limit = rows_.values().at_limit.view()};
  std::vector<double> pushing(arrays_.pattern.pairs.size());
  for (std::size_t p = 0; p < pushing.size(); ++p)
    pushing[p] = std::max(-cpu::pair_weight(geometric, static_cast<Index>(p)), 0.0);
  return pushing;
}

void StepAdjoint::add_stretch_curvature(const Nodes& w, Nodes& sum) {
  if (rows_.are_quadratic()) return;
  const MembraneGroup group = arrays_.rows_view().membranes;
  const ArrayView<const Vec3d> positions = std::as_const(cloth_.iterate).view();
  const double* const tensors = arrays_.tensors.view().data() + group.first_tensor;
  const double* const multipliers = std::as_const(cloth_.work.multipliers).view().data() + group.first_row;
  const double coupling = rows_.laws().coupling;
  const StrainMeasure measure = system_.resolved().recipe.strain;
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

StepAdjoint::Nodes StepAdjoint::multiply_symmetric(const Nodes& x) {
  if (x.empty()) return {};
  const Device& device = system_.device();
  const NodalPattern& pattern = arrays_.pattern;
  const CoupledMember<double> own = system_.member();
  const Couplings<double>& couplings = own.couplings;
  Nodes y(x.size());
  step_kernels<double>(device.backend())
      .block_product(device.queue(),
                     {.matrix = own.matrix, .x = {x.data(), x.size()}, .y = {y.data(), y.size()}});
  if (couplings.exist())
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] += cpu::coupled(couplings, ArrayView<const Vec3d>(x.data(), x.size()), static_cast<Index>(i));
  const std::vector<double>& pushing = solution_.pushing;
  for (std::size_t p = 0; p < pushing.size(); ++p) {
    if (pushing[p] == 0) continue;
    const Index a = pattern.free_number[static_cast<std::size_t>(pattern.pairs[p][0])],
                b = pattern.free_number[static_cast<std::size_t>(pattern.pairs[p][1])];
    const Vec3d between = (a < 0 ? Vec3d{} : x[static_cast<std::size_t>(a)]) -
                          (b < 0 ? Vec3d{} : x[static_cast<std::size_t>(b)]);
    if (a >= 0) y[static_cast<std::size_t>(a)] -= pushing[p] * between;
    if (b >= 0) y[static_cast<std::size_t>(b)] += pushing[p] * between;
  }
  if (rows_.are_quadratic()) return y;
  Nodes curved(pattern.free_number.size());
  add_stretch_curvature(on_all_nodes(x), curved);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += curved[static_cast<std::size_t>(pattern.free_nodes[i])];
  return y;
}

StepAdjoint::Nodes StepAdjoint::multiply(const Nodes& x, bool& is_convex) {
  Nodes y = multiply_symmetric(x);
  is_convex = is_convex && !(dot_of(x, y) < 0);
  if (!contacts_.exist()) return y;
  const Nodes of_all = on_all_nodes(x);
  Nodes beyond(of_all.size());
  contacts_.add_beyond(of_all, beyond);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] += beyond[static_cast<std::size_t>(arrays_.pattern.free_nodes[i])];
  return y;
}

void StepAdjoint::refuse_factor() const {
  throw NumericalError("garment \"" + system_.garment().name +
                       "\": the system of a step cannot be factorised");
}

void StepAdjoint::refuse_solution(double rtol, int iterations) const {
  throw NumericalError(text("garment \"", system_.garment().name,
                            "\": the gradient of a step: found no solution to ", rtol, " in ", iterations,
                            " iterations; set projection.factorization to \"whole\""));
}

std::vector<Vec3d> StepAdjoint::solve_whole(const Nodes& right_side, bool& is_convex) {
  const auto multiply_one = [&](const Nodes& x) { return multiply_symmetric(x); };
  bool is_finite = true;
  const auto inverse = [&](const Nodes& r) {
    system_.right_side().upload(r);
    is_finite =
        system_.nodal_solver().solve_block(system_.right_side(), system_.correction(), r.size(), {0}) &&
        is_finite;
    return system_.correction().download();
  };
  constexpr double rtol = 1e-10;
  Nodes solution;
  int iterations = 0;
  bool is_met = true;
  if (contacts_.exist()) {
    constexpr int most = 300;
    const auto whole = [&](const std::vector<double>& flat) {
      const Nodes y = multiply(as_vectors(flat), is_convex);
      return as_numbers(y.data(), y.size());
    };
    const auto flat_inverse = [&](const std::vector<double>& flat) {
      const Nodes found = inverse(as_vectors(flat));
      return as_numbers(found.data(), found.size());
    };
    const GmresSolution found =
        gmres(whole, flat_inverse, as_numbers(right_side.data(), right_side.size()), rtol, most);
    solution = as_vectors(found.x);
    iterations = found.iterations;
    is_met = found.is_met || !is_convex;
  } else {
    HostSystem<decltype(multiply_one), decltype(inverse)> system{multiply_one, inverse, right_side};
    iterations = cpu::conjugate_gradients<double>(system, rtol);
    solution = std::move(system.solution);
    is_met = iterations < most_cg_iterations;
    is_convex = is_convex && system.is_convex;
  }
  if (!is_finite || !std::isfinite(dot_of(solution, solution)))
    throw NumericalError("garment \"" + system_.garment().name +
                         "\": the gradient of a step is not finite, expected one of finite losses");
  if (!is_met) refuse_solution(rtol, iterations);
  return solution;
}

template <class Visit>
void StepAdjoint::each_slot(const Visit& visit) const {
  arrays_.rows_view().for_each_group([&](const auto& group) {
    for (Index s = 0; s < group.stencil_count(); ++s)
      for (Index slot = group.stencils.stencil_begin[s]; slot < group.stencils.stencil_begin[s + 1]; ++slot)
        for (int k = 0; k < group.width; ++k)
          visit(group.first_row + static_cast<std::size_t>(s * group.width + k),
                group.first_jacobian + static_cast<std::size_t>(slot * group.width + k),
                static_cast<std::size_t>(group.stencils.slot_nodes[slot]));
  });
}

StepAdjoint::Nodes StepAdjoint::right_side() const {
  const NodalPattern& pattern = arrays_.pattern;
  const ArrayView<const Vec3d> jacobian = std::as_const(rows_).values().jacobian.view();
  Nodes side(pattern.free_nodes.size());
  for (std::size_t i = 0; i < side.size(); ++i) {
    const std::size_t node = static_cast<std::size_t>(pattern.free_nodes[i]);
    if (!is_told(node)) side[i] = after_[node];
  }
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    const Index i = pattern.free_number[node];
    if (i >= 0 && is_rigid(row) && !is_told(node))
      side[static_cast<std::size_t>(i)] -= solution_.nu[row] * jacobian[place];
  });
  return side;
}

void StepAdjoint::buckle() {
  solution_.buckles = true;
  std::ranges::fill(solution_.pushing, 0.0);
}

bool StepAdjoint::take(const Nodes& found) {
  const NodalPattern& pattern = arrays_.pattern;
  const ArrayView<const Vec3d> jacobian = rows_.values().jacobian.view();
  Solution& own = solution_;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t node = static_cast<std::size_t>(pattern.free_nodes[i]);
    own.w[node] = is_told(node) ? Vec3d{} : found[i];
  }
  std::ranges::fill(own.along, 0.0);
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    own.along[row] += dot(jacobian[place], own.w[node]);
  });
  double change = 0, most = 0;
  for (std::size_t row = 0; row < own.nu.size(); ++row) {
    if (!is_rigid(row)) continue;
    change = std::max(change, std::abs(own.along[row]));
    own.nu[row] += own.along[row];
    most = std::max(most, std::abs(own.nu[row]));
  }
  return change <= 1e-9 * most;
}

StepAdjoint::Nodes StepAdjoint::pull(const Solution& found) {
  const NodalPattern& pattern = arrays_.pattern;
  const ArrayView<const Vec3d> jacobian = rows_.values().jacobian.view();
  const ArrayView<const double> geometric = system_.stiffness().view();
  Nodes pulled(pattern.free_number.size());
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    pulled[node] += (is_rigid(row) ? found.nu[row] : found.along[row]) * jacobian[place];
  });
  for (std::size_t p = 0; p < found.pushing.size(); ++p) {
    const auto a = static_cast<std::size_t>(pattern.pairs[p][0]),
               b = static_cast<std::size_t>(pattern.pairs[p][1]);
    const Vec3d between = (geometric[p] - found.pushing[p]) * (found.w[a] - found.w[b]);
    pulled[a] += between;
    pulled[b] -= between;
  }
  add_stretch_curvature(found.w, pulled);
  contacts_.add_whole(found.w, pulled);
  return pulled;
}

std::vector<double> StepAdjoint::inverse_inertia() const {
  const ArrayView<const double> inverse_masses = system_.inverse_masses();
  std::vector<double> all;
  for (std::size_t i = 0; i < inverse_masses.size(); ++i)
    all.push_back(is_told(i) ? 0 : inverse_masses[i] / system_.projection_metric().inertia);
  return all;
}

void StepAdjoint::begin(const StateGradient& loss) {
  system_.assemble();
  const std::size_t nodes = arrays_.pattern.free_number.size(), row_count = rows_.values().row_count();
  loss_ = loss;
  after_ = loss.positions;
  for (std::size_t i = 0; i < nodes; ++i) after_[i] += (cloth_.rate() / step_.step) * loss.velocities[i];
  kept_ = loss.contacts;
  result_ = {};
  contacts_.add_wrenches(loss.wrenches, step_.step, kept_, after_, result_);
  contacts_.add_loss(kept_, after_);
  solution_ = {.w = Nodes(nodes),
               .nu = std::vector<double>(row_count),
               .along = std::vector<double>(row_count),
               .pushing = pushing_pairs()};
}

StepGradient StepAdjoint::gradient(const StateGradient& loss) {
  begin(loss);
  if (pattern().free_count() == 0) return end();
  if (!system_.factor()) refuse_factor();
  // Rigid rows are held by multipliers nu: A w + J^T nu = dL, J w = 0, nu from one solve to the next.
  for (int round = 0; round < most_rounds; ++round) {
    const Nodes side = right_side();
    bool is_convex = true;
    Nodes found = solve_whole(side, is_convex);
    if (!is_convex) {
      buckle();
      found = solve_whole(side, is_convex);
    }
    if (take(found)) break;
  }
  return end();
}

StepGradient StepAdjoint::end(const Nodes& more_pulled, const Nodes& more_by_start) {
  const StateGradient& loss = loss_;
  const double h = step_.step, rate = cloth_.rate(), to_velocity = rate / h;
  const NodalPattern& pattern = arrays_.pattern;
  const std::size_t nodes = pattern.free_number.size();
  const Solution& found = solution_;
  const Nodes& w = found.w;
  StepGradient result = std::move(result_);

  const MetricView<double> metric = system_.implicit_metric();
  Nodes bent(nodes);  // K w
  if (metric.has_bending())
    for (std::size_t i = 0; i < nodes; ++i)
      for (Index e = metric.pattern.row_begin[i]; e < metric.pattern.row_begin[i + 1]; ++e)
        bent[i] += metric.bending[e] * w[static_cast<std::size_t>(metric.pattern.columns[e])];

  result.before.positions = result.before.velocities = result.targets = Nodes(nodes);
  result.buckles = found.buckles;
  result.adjoint = w;
  Nodes by_first(nodes), by_told(nodes);
  contacts_.add_derivatives(w, kept_, rate, h, result, by_first);
  // A w at nodes whose places the step was told: pins and grippers hold them.
  Nodes pulled = pull(found);
  for (std::size_t i = 0; i < more_pulled.size(); ++i) pulled[i] += more_pulled[i];
  for (std::size_t i = 0; i < nodes; ++i)
    if (is_told(i)) by_told[i] = after_[i] + by_first[i] - (pulled[i] + metric.stiffness * bent[i]);
  for (std::size_t i = 0; i < nodes; ++i)
    if (pattern.free_number[i] < 0) result.targets[i] = by_told[i];

  // x^ and v^, from which the step began.
  const Fabric& f = system_.garment().fabric;
  Nodes by_start(nodes), by_speed(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const double mass = metric.masses[i];
    by_start[i] = (metric.inertia * mass) * w[i] +
                  (metric.stiffness - h * h * f.bending_stiffness) * bent[i] -
                  to_velocity * loss.velocities[i];
    by_speed[i] = (h * rate * f.density * mass) * w[i];
    if (is_told(i)) continue;
    by_start[i] += by_first[i];
    by_speed[i] += (h / rate) * by_first[i];
  }
  const ArrayView<const Vec3d> start = cloth_.base().view(), speed = cloth_.base_velocity().view(),
                               end = std::as_const(cloth_.iterate).view();
  for (std::size_t i = 0; i < nodes; ++i) {
    const double mass = metric.masses[i];
    const Vec3d moved = end[i] - start[i];
    result.rho += rate * mass * dot(w[i], h * speed[i] - rate * moved);
    result.alpha -= h * rate * mass * dot(w[i], moved);
    result.weight -= h * h * mass * w[i].z;
    result.kappa -= h * h * dot(bent[i], end[i]);
    result.beta -= h * rate * dot(bent[i], moved);
  }
  const double memory = cloth_.memory(step_.before.previous_step);
  for (std::size_t i = 0; i < nodes; ++i) {
    result.before.positions[i] += (1 + memory) * by_start[i];
    result.before.velocities[i] += (1 + memory) * by_speed[i];
  }
  if (memory > 0) {
    result.previous.positions = result.previous.velocities = Nodes(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      result.previous.positions[i] = -memory * by_start[i];
      result.previous.velocities[i] = -memory * by_speed[i];
    }
  }
  for (std::size_t i = 0; i < more_by_start.size(); ++i) result.before.positions[i] += more_by_start[i];
  if (rows_.are_viscous()) add_viscosity(found.along, result.before.positions);
  add_holds(by_told, loss.holds, result);
  return result;
}

void StepAdjoint::add_holds(const Nodes& by_told, const Nodes& loss, StepGradient& found) const {
  if (step_.after.holds.empty()) return;
  const ActOnSamples<double>& all = system_.contacts().sample_arguments();
  found.grippers.resize(static_cast<std::size_t>(all.grippers.size()));
  found.before.holds.resize(by_told.size());
  for (std::size_t i = 0; i < by_told.size(); ++i) {
    const Index gripper = holder(i);
    if (gripper < 0) continue;
    const std::size_t g = static_cast<std::size_t>(gripper);
    const double k = all.grippers.grippers[g].stiffness;
    // A spring pulls the node to its place, or it is there.
    const Vec3d by_place =
        k > 0 ? (all.control.step * all.control.step * k / all.holds.inverse_masses[i]) * found.adjoint[i]
              : by_told[i];
    const Vec3d local = step_.after.holds[i].local_position;
    const auto add = [](const PoseView<double>& pose, const Vec3d& arm, const Vec3d& by, PoseGradient& sum) {
      sum.translation += by;
      sum.rotation += cross(cpu::turned(pose, arm), by);
    };
    const PoseView<double>&begin = all.grippers.begin[g], &end = all.grippers.end[g];
    add(end, local, by_place, found.grippers[g][1]);
    Vec3d by_local = cpu::to_local({{}, {end.axes[0], end.axes[1], end.axes[2]}}, by_place);
    if (!loss.empty()) by_local += loss[i];
    if (step_.before.holds[i].gripper == gripper) {
      found.before.holds[i] = by_local;
      continue;
    }
    // Taken when the step began, where it was.
    const Vec3d by_start = cpu::turned(begin, by_local);
    found.before.positions[i] += by_start;
    add(begin, local, -by_start, found.grippers[g][0]);
  }
}

void StepAdjoint::add_viscosity(const std::vector<double>& along, Nodes& by_start) {
  const double h = step_.step;
  const RowsView rows = arrays_.rows_view();
  const ArrayView<const double> scales = rows_.values().scales.view(),
                                strains = rows_.values().residuals.view();
  // Derivatives by dC of what viscous rows pull with, h^2 K p_v' / h.
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
  const RowLaws<double> own = rows_.laws();
  std::vector<double> by_change(rates.size());
  for (std::size_t row = 0; row < rates.size(); ++row)
    if (laws_of[row] >= 0 && scales[row] > 0)
      by_change[row] = h * stiffness()[row] * along[row] / scales[row];
  rows_.evaluate_strains(cloth_.iterate);
  for (std::size_t row = 0; row < rates.size(); ++row) {
    if (by_change[row] == 0) continue;
    const double rate = (strains[row] - own.before[row]) / h;
    rates[row] = by_change[row] * cpu::response_at(own.viscosity, static_cast<int>(laws_of[row]), rate).slope;
  }
  rows_.evaluate_strains(cloth_.work.positions);
  const ArrayView<const Vec3d> jacobian = rows_.values().jacobian.view();
  each_slot([&](std::size_t row, std::size_t place, std::size_t node) {
    if (scales[row] > 0) by_start[node] += (rates[row] / scales[row]) * jacobian[place];
  });
}

}  // namespace isocloth
