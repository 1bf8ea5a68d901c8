#include "host/reference/reference_cloth.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "engine/core/errors.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/reference/bending.hpp"
#include "host/reference/garment_nodes.hpp"
#include "host/reference/saddle_point.hpp"

namespace isocloth::reference {

namespace {

using CoordinateOrder = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

VectorXd flatten(const MatrixX3d& matrix) {
  const CoordinateOrder ordered = matrix;
  return Eigen::Map<const VectorXd>(ordered.data(), ordered.size());
}

MatrixX3d unflatten(const VectorXd& vector) {
  return Eigen::Map<const CoordinateOrder>(vector.data(), vector.size() / 3, 3);
}

/// The matrix that does to each of x, y, z what `matrix` does to one.
SparseMatrix on_coordinates(const SparseMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      for (int c = 0; c < 3; ++c)
        entries.emplace_back(3 * static_cast<int>(entry.row()) + c, 3 * column + c, entry.value());
  SparseMatrix expanded(3 * matrix.rows(), 3 * matrix.cols());
  expanded.setFromTriplets(entries.begin(), entries.end());
  return expanded;
}

SparseMatrix selection(const std::vector<Index>& nodes, Index node_count) {
  SparseMatrix select(static_cast<Eigen::Index>(nodes.size()), node_count);
  for (std::size_t i = 0; i < nodes.size(); ++i) select.insert(static_cast<Eigen::Index>(i), nodes[i]) = 1;
  return select;
}

SparseMatrix diagonal(const VectorXd& entries) {
  SparseMatrix matrix(entries.size(), entries.size());
  matrix.setIdentity();
  return entries.asDiagonal() * matrix;
}

double default_eps(ProjectionMethod method) {
  return method == ProjectionMethod::proximal_newton ? 1e-6 : 1e-7;
}

double largest(const VectorXd& values) { return values.size() == 0 ? 0 : values.lpNorm<Eigen::Infinity>(); }

/// eps of the proximal Newton from one iteration to the next, and how nearly it went another way.
class Softness {
 public:
  Softness(double start, double least)
      : start_(start), least_(std::min(least, start)), eps_(start), smallest_(start) {}

  double eps() const { return eps_; }
  double smallest() const { return smallest_; }
  double margin() const { return margin_; }
  bool exceeds(double residual, double limit) {
    margin_ = std::min(margin_, std::abs(residual - limit));
    return residual > limit;
  }
  void follow(double previous, double residual) {
    if (exceeds(residual, previous)) {
      eps_ = std::min(start_, 10 * eps_);
    } else {
      const bool slow = exceeds(residual, 0.1 * previous), near = !exceeds(residual, 3e-3);
      if (slow && near) eps_ = std::max(least_, eps_ / 10);
      smallest_ = std::min(smallest_, eps_);
    }
  }

 private:
  double start_, least_, eps_, smallest_, margin_ = std::numeric_limits<double>::infinity();
};

}  // namespace

ReferenceCloth::ReferenceCloth(const Garment& garment, const Recipe& recipe,
                               const ProjectionSettings& settings, double gravity)
    : mesh_(garment.mesh),
      fabric_(garment.fabric),
      sewing_(garment.sewing),
      settings_(settings),
      gravity_(gravity) {
  settings_.integrator = integrator_of(recipe, settings);
  if (settings_.eps == 0) settings_.eps = default_eps(settings_.method);
  const NodeKinds nodes = node_kinds(garment);
  free_nodes_ = nodes.free;
  pinned_nodes_ = nodes.pinned;
  select_free_ = selection(free_nodes_, mesh_.node_count());
  select_pinned_ = selection(pinned_nodes_, mesh_.node_count());
  select_free_coordinates_ = on_coordinates(select_free_);
  const Topology topology = build_topology(mesh_);
  GarmentRows rows = garment_rows(recipe, mesh_, topology, fabric_, nodes.is_free);
  laws_ = RowResponse(recipe, fabric_, rows);
  is_elastic_ = settings_.method == ProjectionMethod::proximal_newton && recipe.is_elastic() &&
                !recipe.holds_edges() && !recipe.has_springs();
  stiffness_ = std::move(rows.stiffness);
  bounds_ = std::move(rows.bounds);
  rows_ = std::move(rows);
  masses_ = lumped_areas(mesh_, surface_points(mesh_), &FabricFactors::density);
  bending_ = reference::bending_matrix(mesh_, topology, bending_of(recipe, fabric_), nodes.is_free);
  positions_ = initial_positions(garment);
  velocities_ = initial_velocities(garment);
  set_previous(positions_, velocities_, 0);
  multipliers_ = VectorXd::Zero(rows_.rows.row_count());
}

void ReferenceCloth::set_positions(const MatrixX3d& positions) {
  check_rows("positions", positions.rows(), positions_.rows());
  positions_ = positions;
}

void ReferenceCloth::set_velocities(const MatrixX3d& velocities) {
  check_rows("velocities", velocities.rows(), velocities_.rows());
  velocities_ = velocities;
}

void ReferenceCloth::set_multipliers(const VectorXd& multipliers) {
  check_rows("multipliers", multipliers.size(), multipliers_.size());
  multipliers_ = multipliers;
}

void ReferenceCloth::set_previous(const MatrixX3d& positions, const MatrixX3d& velocities, double step) {
  check_rows("previous positions", positions.rows(), positions_.rows());
  check_rows("previous velocities", velocities.rows(), velocities_.rows());
  previous_positions_ = positions;
  previous_velocities_ = velocities;
  previous_step_ = step;
}

double ReferenceCloth::euler_time(double step) const {
  return step / IntegratorFormula(settings_.integrator, step, previous_step_).rate;
}

ReferenceCloth::EulerStep ReferenceCloth::euler_step(double step) const {
  const IntegratorFormula formula(settings_.integrator, step, previous_step_);
  if (formula.memory == 0) return {step, positions_, velocities_};
  return {step / formula.rate, positions_ + formula.memory * (positions_ - previous_positions_),
          velocities_ + formula.memory * (velocities_ - previous_velocities_)};
}

VectorXd ReferenceCloth::row_values(const MatrixX3d& positions, double step,
                                    const VectorXd& multipliers) const {
  VectorXd values = row_strains(positions);
  const VectorXd before = row_strains(positions_);
  for (Eigen::Index row = 0; row < values.size(); ++row) {
    const Response found = laws_.at(row, values[row], before[row], step, multipliers[row]);
    values[row] = found.stress / found.slope;
  }
  return values;
}

VectorXd ReferenceCloth::row_scale_d(const MatrixX3d& positions, double step, const VectorXd& multipliers,
                                     const VectorXd& growth) const {
  const double time = euler_time(step), square = step * step / (time * time);
  const double density =
      settings_.metric == Metric::mass ? 1 : square * (fabric_.density + time * fabric_.mass_damping);
  VectorXd inverse_masses = VectorXd::Zero(3 * masses_.size());
  for (const Index node : free_nodes_)
    inverse_masses.segment<3>(3 * node).setConstant(1 / (density * masses_[node]));
  const SparseMatrix squares = row_jacobian(positions).cwiseAbs2();
  VectorXd d = squares * inverse_masses;
  const VectorXd of_all = squares * VectorXd::Ones(squares.cols());
  const VectorXd of_free = squares * VectorXd((inverse_masses.array() > 0).cast<double>());
  const VectorXd values = row_strains(positions), before = row_strains(positions_);
  for (Eigen::Index row = 0; row < d.size(); ++row) {
    const bool is_dead = std::sqrt(of_free[row]) <= 1e-12 * std::sqrt(of_all[row]);
    const double spring = step * step * stiffness_[row];
    if (bounds_[row] > 0) {
      const double k = 10 * std::max(growth[row], 1.0) * (spring + 1 / d[row]);
      const bool is_at_bound =
          (values[row] > 0 && growth[row] > 0) || (multipliers[row] > 0 && values[row] > -bounds_[row] / 10);
      d[row] = is_at_bound && !is_dead ? (1 / k + 1 / (1000 * spring)) / settings_.eps : 0;
    } else if (spring > 0) {
      d[row] = 1 / (settings_.eps * spring *
                    laws_.at(row, values[row], before[row], step, multipliers[row]).slope);
    } else if (is_dead) {
      d[row] = 0;
    }
  }
  return d;
}

SparseMatrix ReferenceCloth::implicit_matrix(double step) const {
  const double time = euler_time(step), square = step * step / (time * time);
  const double of_bending = time * fabric_.stiffness_damping + time * time * fabric_.bending_stiffness;
  return diagonal(square * (fabric_.density + time * fabric_.mass_damping) * masses_) +
         square * of_bending * bending_;
}

SparseMatrix ReferenceCloth::metric_matrix(double step) const {
  return settings_.metric == Metric::mass ? diagonal(masses_) : implicit_matrix(step);
}

MatrixX3d ReferenceCloth::unconstrained_step(double step, const MatrixX3d& prescribed) const {
  check_rows("prescribed", prescribed.rows(), static_cast<Eigen::Index>(pinned_nodes_.size()));
  const EulerStep euler = euler_step(step);
  MatrixX3d momentum = fabric_.density * (masses_.asDiagonal() * euler.velocities);
  momentum.col(2) -= euler.step * fabric_.gravity_density * gravity_ * masses_;
  momentum -= euler.step * fabric_.bending_stiffness * (bending_ * euler.positions);

  const SparseMatrix implicit = (euler.step * euler.step / (step * step)) * implicit_matrix(step);
  const MatrixX3d pinned_velocities = (prescribed - select_pinned_ * euler.positions) / euler.step;
  MatrixX3d next = euler.positions;
  if (!free_nodes_.empty()) {
    const SparseMatrix free_rows = select_free_ * implicit;
    const SparseMatrix free_block = free_rows * select_free_.transpose();
    const SparseMatrix coupling = free_rows * select_pinned_.transpose();
    const MatrixX3d side = select_free_ * momentum - coupling * pinned_velocities;
    const Eigen::SimplicialLDLT<SparseMatrix> factor(free_block);
    if (factor.info() != Eigen::Success)
      throw NumericalError(
          "unconstrained step: matrix B is not positive definite; check fabric.density and step");
    const MatrixX3d free_velocities = factor.solve(side);
    next += euler.step * (select_free_.transpose() * free_velocities);
  }
  for (std::size_t i = 0; i < pinned_nodes_.size(); ++i)
    next.row(pinned_nodes_[i]) = prescribed.row(static_cast<Eigen::Index>(i));
  return next;
}

VectorXd ReferenceCloth::quadratic_multipliers(const VectorXd& multipliers,
                                               const MatrixX3d& positions) const {
  if (!rows_.strain.exists()) return multipliers;
  return rows_.strain.derivative(rows_.rows.values(positions)).transpose() * multipliers;
}

SparseMatrix ReferenceCloth::geometric_stiffness(const VectorXd& multipliers,
                                                 const MatrixX3d& positions) const {
  const SparseMatrix hessian = rows_.rows.hessian(quadratic_multipliers(multipliers, positions));
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < hessian.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(hessian, column); entry; ++entry) {
      if (entry.row() == column || entry.value() >= 0) continue;
      entries.emplace_back(entry.row(), column, entry.value());
      entries.emplace_back(column, column, -entry.value());
    }
  }
  SparseMatrix stiffness(hessian.rows(), hessian.cols());
  stiffness.setFromTriplets(entries.begin(), entries.end());
  return stiffness;
}

Iteration ReferenceCloth::single_iteration(const MatrixX3d& positions, const MatrixX3d& unconstrained,
                                           const VectorXd& multipliers, double step, double eps,
                                           const VectorXd& growth) const {
  const VectorXd d = row_scale_d(positions, step, multipliers, growth);
  const VectorXd is_alive = (d.array() > 0).cast<double>();
  const SparseMatrix jacobian =
      is_alive.asDiagonal() * row_jacobian(positions) * select_free_coordinates_.transpose();
  VectorXd compliance = eps * d, proximal = compliance;
  for (Eigen::Index row = 0; row < d.size(); ++row) {
    if (!(stiffness_[row] > 0)) continue;
    compliance[row] = settings_.eps * d[row];
    proximal[row] = bounds_[row] > 0 ? compliance[row] - 1 / (1000 * step * step * stiffness_[row]) : 0;
  }
  VectorXd primal_side = VectorXd::Zero(jacobian.cols());
  VectorXd dual_side = -row_values(positions, step, multipliers);
  SparseMatrix block = select_free_ * metric_matrix(step) * select_free_.transpose();
  if (settings_.method == ProjectionMethod::proximal_newton) {
    primal_side = -flatten(block * (select_free_ * (positions - unconstrained)));
    dual_side -= proximal.cwiseProduct(multipliers);
    block +=
        SparseMatrix(select_free_ * geometric_stiffness(multipliers, positions) * select_free_.transpose());
    const auto [laplacian, of_rests] = threads(step);
    block += SparseMatrix(select_free_ * laplacian * select_free_.transpose());
    primal_side += flatten(select_free_ * MatrixX3d(of_rests - laplacian * positions));
  }
  // A row that no free node moves keeps its multiplier.
  for (Eigen::Index row = 0; row < d.size(); ++row) {
    if (is_alive[row] > 0) continue;
    compliance[row] = 1;
    dual_side[row] = -multipliers[row];
  }
  const SaddlePointSolution solution =
      solve_saddle_point(on_coordinates(block), jacobian, compliance, primal_side, dual_side);
  VectorXd found = solution.dual;
  for (Eigen::Index row = 0; row < d.size(); ++row)
    if (bounds_[row] > 0) found[row] = is_alive[row] > 0 ? std::max(found[row], 0.0) : 0;
  return {select_free_.transpose() * unflatten(solution.primal), found, on_coordinates(block), jacobian,
          compliance};
}

double ReferenceCloth::weight() const {
  const double own = std::fabs(fabric_.gravity_density * gravity_);
  return own > 0 ? own : 9.81 * fabric_.density;
}

double ReferenceCloth::mismatch_excess(const MatrixX3d& positions, const VectorXd& multipliers,
                                       double step) const {
  const VectorXd values = row_values(positions, step, multipliers);
  const VectorXd d = row_scale_d(positions, step, multipliers, VectorXd::Zero(multipliers.size()));
  double energy = 0;  // times h^2
  for (Eigen::Index row = 0; row < values.size(); ++row) {
    if (!(stiffness_[row] > 0) || bounds_[row] > 0) continue;
    const double e = settings_.eps * d[row], c = values[row] - e * multipliers[row];
    energy += c * c / (2 * e);
  }
  return energy / (step * step * masses_.sum() * most_mismatch(step));
}

double ReferenceCloth::stiffest() const {
  return std::max({fabric_.stretch_stiffness, fabric_.weft_stiffness(), fabric_.shear_stiffness});
}

double ReferenceCloth::most_mismatch(double step) const {
  return 1e-4 * std::pow(weight() * step, 2) / (2 * fabric_.density) + stiffest() * rounding_ * rounding_ / 2;
}

void ReferenceCloth::reproject(const Iteration& before, MatrixX3d& positions, VectorXd& multipliers,
                               double step) const {
  const VectorXd values = row_values(positions, step, multipliers);
  const VectorXd e =
      settings_.eps * row_scale_d(positions, step, multipliers, VectorXd::Zero(multipliers.size()));
  const VectorXd misses = values - e.cwiseProduct(multipliers);
  const VectorXd scale = before.compliance.cwiseProduct(e).cwiseSqrt();
  const VectorXd pull = before.jacobian.transpose() * misses.cwiseQuotient(scale);
  const SaddlePointSolution solution = solve_saddle_point(before.block, before.jacobian, before.compliance,
                                                          -pull, VectorXd::Zero(values.size()));
  multipliers = values.cwiseQuotient(e) + (before.jacobian * solution.primal).cwiseQuotient(scale);
  positions += select_free_.transpose() * unflatten(solution.primal);
}

double ReferenceCloth::residual(VectorXd values, const VectorXd& multipliers, const VectorXd& d, double step,
                                int iteration) const {
  for (Eigen::Index row = 0; row < values.size(); ++row) {
    const double spring = step * step * stiffness_[row];
    if (bounds_[row] > 0) {
      const double beyond = values[row] - multipliers[row] / (1000 * spring);
      const bool counts = d[row] > 0 && iteration < 15;
      values[row] =
          counts ? std::max(beyond, 0.0) * std::max(1.0, 10 * settings_.tolerance / bounds_[row]) : 0;
    } else if (spring > 0) {
      values[row] -= multipliers[row] * settings_.eps * d[row];
      if (rows_.is_difference(row)) values[row] *= 0.1;
    }
  }
  return largest(values);
}

double ReferenceCloth::imbalance(const MatrixX3d& positions, const MatrixX3d& unconstrained,
                                 const VectorXd& multipliers, double step) const {
  const auto [laplacian, of_rests] = threads(step);
  const SparseMatrix block = select_free_ * metric_matrix(step) * select_free_.transpose();
  const MatrixX3d of_rows = unflatten(row_jacobian(positions).transpose() * multipliers);
  const MatrixX3d forces = select_free_ * MatrixX3d(of_rests - laplacian * positions - of_rows) -
                           block * (select_free_ * (positions - unconstrained));
  const VectorXd weights = step * step * weight() * (select_free_ * masses_);
  return largest(forces.rowwise().norm().cwiseQuotient(weights));
}

MatrixX3d ReferenceCloth::inertial_step(double step, const MatrixX3d& prescribed) const {
  const EulerStep euler = euler_step(step);
  MatrixX3d next = euler.positions + euler.step * euler.velocities;
  for (std::size_t i = 0; i < pinned_nodes_.size(); ++i)
    next.row(pinned_nodes_[i]) = prescribed.row(static_cast<Eigen::Index>(i));
  return next;
}

StepResult ReferenceCloth::step(double step, const MatrixX3d& prescribed, double least_eps) {
  const MatrixX3d unconstrained = unconstrained_step(step, prescribed);
  const bool newton = settings_.method == ProjectionMethod::proximal_newton;
  MatrixX3d next = newton ? inertial_step(step, prescribed) : unconstrained;
  VectorXd multipliers = multipliers_, growth = VectorXd::Zero(multipliers_.size());
  Softness softness(settings_.eps, newton ? least_eps : settings_.eps);
  StepResult result;
  Iteration last;
  // What rows miss is projected again, once, by the last matrix, where all of them are of pairs of triangles.
  const bool asks = is_elastic_ && !(settings_.force_tolerance > 0),
             reprojects = asks && may_reproject_ && rows_.pair_row_count == rows_.rows.row_count();
  const auto assess = [&] {
    const VectorXd values = row_values(next, step, multipliers);
    for (Eigen::Index row = 0; row < values.size() && result.iterations > 0; ++row)
      growth[row] = std::max(growth[row], 1.0) * (values[row] > bounds_[row] / 10 ? 3 : 1);
    result.residual =
        residual(values, multipliers, row_scale_d(next, step, multipliers, growth), step, result.iterations);
    if (!std::isfinite(result.residual) || !next.allFinite())
      throw NumericalError("step: found a coordinate that is not finite in iteration " +
                           std::to_string(result.iterations) +
                           ", expected finite positions; shorten the step");
    result.converged =
        !softness.exceeds(result.residual, settings_.tolerance) && (result.iterations > 0 || !newton);
    if (result.converged && settings_.force_tolerance > 0) {
      const double share = imbalance(next, unconstrained, multipliers, step) / settings_.force_tolerance;
      result.converged = !softness.exceeds(settings_.tolerance * share, settings_.tolerance);
    }
    return result.converged && asks ? mismatch_excess(next, multipliers, step) : 0;
  };
  const auto exceeds = [&](double share, double most) {
    return asks && softness.exceeds(settings_.tolerance * share / most, settings_.tolerance);
  };
  for (bool is_reprojected = false;; ++result.iterations) {
    const double previous = result.residual;
    const double excess = assess(),
                 largest_one = result.residual * result.residual * stiffest() / 2 / most_mismatch(step);
    const bool is_near =
        result.converged && !exceeds(excess, 1000) && !(reprojects && exceeds(largest_one, 4e5));
    bool is_done = result.converged && !exceeds(excess, 1);
    const bool is_open = reprojects && is_near && !is_done && !is_reprojected;
    if (is_open) {
      reproject(last, next, multipliers, step);
      is_reprojected = true;
      is_done = !exceeds(assess(), 1) && result.converged;
    }
    constexpr int most = 50;  // where the settings leave it open
    if (result.iterations == (settings_.max_iterations > 0 ? settings_.max_iterations : most)) break;
    if (reprojects ? is_done : is_near) break;
    const bool swings = result.iterations < (reprojects && !is_near ? 12 : 4);
    if (result.converged && !is_open && !swings && softness.exceeds(result.residual, previous / 2)) break;
    if (newton && result.iterations > 0) softness.follow(previous, result.residual);
    last = single_iteration(next, unconstrained, multipliers, step, softness.eps(), growth);
    next += last.displacement;
    if (newton) multipliers = last.multipliers;
  }
  result.eps = softness.smallest();
  result.margin = softness.margin();
  const EulerStep euler = euler_step(step);
  set_previous(positions_, velocities_, step);
  velocities_ = (next - euler.positions) / euler.step;
  positions_ = next;
  laws_.keep(rows_.values(next), step);
  // Each sequential solve has multipliers of its own; none of them is the step's.
  if (!newton) multipliers.setZero();
  multipliers_ = multipliers;
  return result;
}

}  // namespace isocloth::reference
