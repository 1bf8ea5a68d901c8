#include "host/validation/impulse_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "host/impulse/impulse_garments.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/validation/comparison.hpp"

namespace isocloth {
namespace {

using reference::ImpulseCloth;
using reference::MatrixX3d;
using reference::VectorXd;

/// The rounded step is one sample of what rounding does.
constexpr double amplification = 10;

std::vector<Index> sweep_order(const GarmentSolver& solver) {
  if (const auto* in_double = dynamic_cast<const ImpulseGarments<double>*>(&solver))
    return in_double->sweep_order();
  return dynamic_cast<const ImpulseGarments<float>&>(solver).sweep_order();
}

VectorXd vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

VectorXd one(double value) { return VectorXd::Constant(1, value); }

}  // namespace

ImpulseComparison::ImpulseComparison(const Device& device, const ExecutionOptions& options,
                                     const ResolvedScene& resolved, const Garment& garment)
    : resolved_(resolved),
      scene_(resolved.scene),
      garment_(garment),
      precision_(options.precision),
      u_(unit_rounding(options.precision)),
      solver_(make_garment_solver(device, options.precision, garment, resolved, options.solver)),
      order_(sweep_order(*solver_)) {
  length_ = diagonal(garment);
  shortest_ = length_;
  for (const auto& [a, b] : build_topology(garment.mesh).edges)
    shortest_ = std::min(shortest_, norm(garment.mesh.positions[b] - garment.mesh.positions[a]));
  sums_ = tolerance_of_sums(precision_, garment.mesh.node_count());
  result_.garment = garment.name;
  force_rate_ = make_cloth(1).force_rate();
}

ImpulseCloth ImpulseComparison::make_cloth(int substeps) const {
  ImpulseSettings settings = resolved_.impulse(0);
  settings.substeps = substeps;
  ImpulseCloth cloth(garment_, resolved_.recipe, settings, garment_.gravity.value_or(scene_.gravity));
  cloth.set_order(order_);
  cloth.set_unit_rounding(u_);
  return cloth;
}

// The quotient of step and rate is rounded up: where it lies within rounding of a whole number either is
// right.
void ImpulseComparison::compare_parts(int parts) {
  const int least = resolved_.impulse(force_rate_ * (1 - sums_)).substeps;
  const int most = resolved_.impulse(force_rate_ * (1 + sums_)).substeps;
  compare("parts of a step", one(parts - std::clamp(parts, least, most)).cwiseAbs(), 1, 0);
}

MatrixX3d ImpulseComparison::rounding(const MatrixX3d& sizes) {
  return sizes.unaryExpr([this](double size) {
    return u_ * size * (2 * (static_cast<double>(generator_()) / 4294967295.0) - 1);
  });
}

ImpulseComparison::Run ImpulseComparison::exact_step(const GarmentState& before, double t) {
  whole_->set_positions(as_matrix(before.positions));
  whole_->set_velocities(as_matrix(before.velocities));
  whole_->set_plastic_strains(before.plastic_strains);
  auto result =
      whole_->step(scene_.step, prescribed_positions(garment_, whole_->pinned_nodes(), t + scene_.step));
  return {std::move(result), whole_->positions(), whole_->velocities(), vector(whole_->plastic_strains())};
}

ImpulseComparison::Run ImpulseComparison::rounded_step(const GarmentState& before, double t, int parts) {
  Run run{{}, as_matrix(before.positions), as_matrix(before.velocities), {}};
  part_->set_plastic_strains(before.plastic_strains);
  const std::vector<Index>& nodes = part_->pinned_nodes();
  const MatrixX3d target = prescribed_positions(garment_, nodes, t + scene_.step);
  MatrixX3d start(target.rows(), 3);
  for (Eigen::Index i = 0; i < start.rows(); ++i) start.row(i) = run.positions.row(nodes[i]);
  // Single precision takes places relative to the first node's at the beginning of the step.
  Eigen::RowVector3d origin = Eigen::RowVector3d::Zero();
  if (precision_ == Precision::float32) origin = run.positions.row(0);
  for (int s = 1; s <= parts; ++s) {
    part_->set_positions(run.positions + rounding(run.positions.rowwise() - origin));
    part_->set_velocities(run.velocities + rounding(run.velocities));
    const auto result = part_->step(scene_.step / parts, start + (target - start) * (double(s) / parts));
    run.result.sweeps += result.sweeps;
    run.result.velocity_sweeps += result.velocity_sweeps;
    const auto append = [](auto& all, const auto& own) { all.insert(all.end(), own.begin(), own.end()); };
    append(run.result.strain_trace, result.strain_trace);
    append(run.result.choices, result.choices);
    append(run.result.pivots, result.pivots);
    run.positions = part_->positions();
    run.velocities = part_->velocities();
  }
  run.plastic_strains = vector(part_->plastic_strains());
  return run;
}

double ImpulseComparison::error_change(const Run& exact, const Run& rounded, double part) const {
  if (exact.result.sweeps != rounded.result.sweeps ||
      exact.result.velocity_sweeps != rounded.result.velocity_sweeps)
    return std::numeric_limits<double>::infinity();
  double change = 2 * u_ * length_ / shortest_;
  for (std::size_t i = 0; i < exact.result.strain_trace.size(); ++i)
    change = std::max(change, std::abs(exact.result.strain_trace[i] - rounded.result.strain_trace[i]));
  const double of_positions = distances(exact.positions, rounded.positions).maxCoeff(),
               of_velocities = distances(exact.velocities, rounded.velocities).maxCoeff();
  return std::max({change, 2 * of_positions / shortest_, 2 * part * of_velocities / shortest_});
}

bool ImpulseComparison::solves_are_decided(const Run& exact, const Run& rounded) const {
  const auto &choices = exact.result.choices, &of_rounded = rounded.result.choices;
  if (choices.size() != of_rounded.size() || exact.result.pivots.size() != rounded.result.pivots.size())
    return false;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto [value, threshold] = choices[i];
    const double least = 2 * u_ * length_ / shortest_;
    const double change = amplification * std::max(least, std::abs(value - of_rounded[i].value));
    if (!(std::abs(value - threshold) > change)) return false;
  }
  for (std::size_t i = 0; i < exact.result.pivots.size(); ++i) {
    const auto [value, threshold] = exact.result.pivots[i];
    const double other = rounded.result.pivots[i].value;
    // Pivots of no order are smaller than the eigenvalue, but for rounding; the least of them is hardly ever
    // far larger, and a course that differs all the same is found to deviate.
    const bool is_regular = std::min(value, other) > 2 * threshold;
    const bool is_singular = amplification * std::max(value, other) <= threshold;
    if (!is_regular && !is_singular) return false;
  }
  return true;
}

void ImpulseComparison::compare(const char* quantity, const VectorXd& difference, double scale,
                                double tolerance) {
  keep_worst(result_, quantity, difference, scale, tolerance, step_);
}

void ImpulseComparison::step(std::int64_t step_index) {
  step_ = step_index;
  const double t = garment_.time_offset + static_cast<double>(step_index) * scene_.step;
  const GarmentState before = solver_->state(0);
  const StepReport report = solver_->step(t, scene_.step);
  if (has_failed(report.status))
    throw NumericalError(
        "garment \"" + garment_.name + "\": step " + std::to_string(step_) +
        ": found a step that is not finite or diverges, expected one that can be kept; shorten scene.step");
  if (!whole_) {
    compare_parts(report.substeps);
    whole_.emplace(make_cloth(report.substeps));
    part_.emplace(make_cloth(1));
  }
  ++result_.steps;
  const GarmentState after = solver_->state(0);
  const MatrixX3d positions = as_matrix(after.positions), velocities = as_matrix(after.velocities);
  const double strain_rounding = sums_ * length_ / shortest_;
  compare("residual", one(std::abs(report.residual - whole_->rows().residual(positions))), 1,
          strain_rounding);

  const Run exact = exact_step(before, t), rounded = rounded_step(before, t, report.substeps);
  const double part = scene_.step / report.substeps;
  const double change = amplification * error_change(exact, rounded, part);
  const bool converged = report.status == StepStatus::converged;
  const double of_status = std::abs(exact.result.residual - whole_->settings().tolerance);
  const bool status_is_decided = of_status > change;
  if (!solves_are_decided(exact, rounded) || exact.result.margin <= change || !(change < 1) ||
      (converged != exact.result.converged && !status_is_decided)) {
    ++result_.undecided_steps;
    return;
  }
  const int iterations = exact.result.solves + exact.result.sweeps;
  if (report.iterations != iterations || report.fallbacks != exact.result.fallbacks ||
      converged != exact.result.converged) {
    ++result_.deviating_steps;
    return;
  }
  ++result_.whole_steps;
  result_.iterations += iterations;
  const double speed = std::max(exact.velocities.rowwise().norm().maxCoeff(),
                                whole_->settings().tolerance * length_ / scene_.step);
  const auto bound = [&](const MatrixX3d& a, const MatrixX3d& b, double scale) {
    return sums_ + amplification * distances(a, b).maxCoeff() / scale;
  };
  compare("positions", distances(positions, exact.positions), length_,
          bound(rounded.positions, exact.positions, length_));
  compare("velocities", distances(velocities, exact.velocities), speed,
          bound(rounded.velocities, exact.velocities, speed));
  if (exact.plastic_strains.size() == 0) return;
  const VectorXd of_rounding = (rounded.plastic_strains - exact.plastic_strains).cwiseAbs();
  compare("plastic strains", (vector(after.plastic_strains) - exact.plastic_strains).cwiseAbs(), 1,
          strain_rounding + amplification * of_rounding.maxCoeff());
}

}  // namespace isocloth
