#include "host/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/errors.hpp"
#include "host/memory/device.hpp"
#include "host/reference/reference_cloth.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/validation/rounding.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;
using reference::ReferenceCloth;
using reference::SparseMatrix;
using reference::VectorXd;

MatrixX3d as_matrix(const std::vector<double>& flat) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>(
      flat.data(), static_cast<Eigen::Index>(flat.size() / 3), 3);
}

VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

double largest(const VectorXd& values) { return values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff(); }

/// Distance of two rows, node by node.
VectorXd distances(const MatrixX3d& a, const MatrixX3d& b) { return (a - b).rowwise().norm(); }

/// Entries of |a - b|, in the order of the columns.
VectorXd entry_differences(const SparseMatrix& a, const SparseMatrix& b) {
  const SparseMatrix difference = a - b;
  return Eigen::Map<const VectorXd>(difference.valuePtr(), difference.nonZeros()).cwiseAbs();
}

double largest(const SparseMatrix& matrix) {
  return largest(VectorXd(Eigen::Map<const VectorXd>(matrix.valuePtr(), matrix.nonZeros())));
}

SparseMatrix bending_matrix(const Inspection& found) {
  const auto nodes = static_cast<Index>(found.masses.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (Index row = 0; row < nodes; ++row)
    for (Index e = found.bending_begin[row]; e < found.bending_begin[row + 1]; ++e)
      entries.emplace_back(row, found.bending_columns[e], found.bending[e]);
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

SparseMatrix geometric_stiffness(const Inspection& found) {
  const auto nodes = static_cast<Index>(found.masses.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < found.pairs.size(); ++i) {
    const auto [a, b] = found.pairs[i];
    const double weight = found.stiffness[i];
    for (const auto& [row, column, value] :
         {std::tuple(a, b, -weight), {b, a, -weight}, {a, a, weight}, {b, b, weight}})
      entries.emplace_back(row, column, value);
  }
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// One garment on both sides.
class Comparison {
 public:
  Comparison(const Device& device, Precision precision, const Scene& scene, const Garment& garment)
      : scene_(scene),
        garment_(garment),
        u_(precision == Precision::float32 ? std::numeric_limits<float>::epsilon() : 0),
        cloth_(garment, find_recipe(scene.recipe), scene.projection, scene.gravity),
        solver_(make_garment_solver(device, precision, garment, scene)) {
    const MatrixX3d rest = reference::to_matrix(garment.mesh.positions);
    length_ = (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
    sums_ = u_ > 0 ? 10 * u_ * std::sqrt(garment.mesh.node_count()) : 1e-9;
    result_.garment = garment.name;
    const auto expected = cloth_.rows().row_count();
    if (solver_->info().row_count != expected)
      throw ShapeError("garment \"" + garment.name + "\": rows of the kernels: found " +
                       std::to_string(solver_->info().row_count) + ", expected " + std::to_string(expected) +
                       " as in the reference");
  }

  void step(std::int64_t step_index) {
    step_ = step_index;
    const double t = static_cast<double>(step_index) * scene_.step;
    take_state();
    compare_iteration(t);
    compare_step(t);
  }

  GarmentValidation result() const { return result_; }

 private:
  void take_state() {
    const GarmentState state = solver_->state();
    cloth_.set_positions(as_matrix(state.positions));
    cloth_.set_velocities(as_matrix(state.velocities));
    cloth_.set_multipliers(as_vector(state.multipliers));
  }

  MatrixX3d prescribed(double t) const {
    MatrixX3d positions = cloth_.positions();
    const auto& start =
        garment_.initial_positions.empty() ? garment_.mesh.positions : garment_.initial_positions;
    for (const Pin& pin : garment_.pins)
      for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
        const Vec3d p = evaluate_motion(pin.motion, start[pin.nodes[i]], i, t);
        positions.row(pin.nodes[i]) << p.x, p.y, p.z;
      }
    MatrixX3d chosen(static_cast<Eigen::Index>(cloth_.pinned_nodes().size()), 3);
    for (Eigen::Index i = 0; i < chosen.rows(); ++i) chosen.row(i) = positions.row(cloth_.pinned_nodes()[i]);
    return chosen;
  }

  /// Keeps the entry that is worst in its tolerance.
  void compare(const char* quantity, const VectorXd& difference, double scale, double tolerance) {
    auto it = std::find_if(result_.differences.begin(), result_.differences.end(),
                           [&](const Difference& d) { return d.quantity == quantity; });
    if (it == result_.differences.end())
      it = result_.differences.insert(it, {.quantity = quantity, .worst = -1, .tolerance = tolerance});
    if (difference.size() == 0) return;
    Eigen::Index index = 0;
    double worst = difference.maxCoeff<Eigen::PropagateNaN>(&index);
    if (worst > 0) worst /= scale;
    if (it->worst * tolerance < worst * it->tolerance || it->step < 0 || !(worst == worst))
      *it = {.quantity = quantity, .worst = worst, .tolerance = tolerance, .step = step_, .index = index};
  }

  void compare_iteration(double t) {
    const double h = scene_.step;
    const Inspection found = solver_->inspect(t, h);
    const bool bends = !found.bending.empty(), newton = !found.stiffness.empty();
    if (step_ == 0) {
      const VectorXd masses = as_vector(found.masses);
      compare("masses", (masses - cloth_.masses()).cwiseAbs().cwiseQuotient(cloth_.masses()), 1, sums_);
      if (bends)
        compare("bending matrix", entry_differences(bending_matrix(found), cloth_.bending_matrix()),
                largest(cloth_.bending_matrix()), sums_);
    }
    const MatrixX3d predicted = as_matrix(found.predicted);
    const MatrixX3d unconstrained = cloth_.unconstrained_step(h, prescribed(t + h));
    double of_prediction = sums_;
    if (u_ > 0 && bends)
      of_prediction += amplified(rounded_prediction(cloth_, garment_.fabric, unconstrained, h, u_)) / length_;
    compare("predicted positions", distances(predicted, unconstrained), length_, of_prediction);

    // From here on at the kernels' own phi~ and phi_0, so that each quantity answers for itself.
    const MatrixX3d start = as_matrix(found.start);
    compare("first iterate",
            distances(start, newton ? cloth_.inertial_step(h, prescribed(t + h)) : predicted), length_,
            sums_);
    const VectorXd values = cloth_.row_values(start), d = cloth_.row_scale_d(start, h);
    compare("row values", (as_vector(found.row_values) - values).cwiseAbs(), 1, sums_);
    const VectorXd alive_d = (d.array() > 0).select(d, d.maxCoeff());
    compare("row scales D", (as_vector(found.row_d) - d).cwiseAbs().cwiseQuotient(alive_d), 1, sums_);
    if (newton) {
      const SparseMatrix stiffness = cloth_.geometric_stiffness(cloth_.multipliers());
      compare("geometric stiffness", entry_differences(geometric_stiffness(found), stiffness),
              largest(stiffness), sums_);
    }
    const reference::Iteration iteration = cloth_.single_iteration(start, predicted, cloth_.multipliers(), h);
    MatrixX3d correction = MatrixX3d::Zero(predicted.rows(), 3);
    const MatrixX3d of_free = as_matrix(found.correction);
    for (std::size_t i = 0; i < found.free_nodes.size(); ++i)
      correction.row(found.free_nodes[i]) = of_free.row(static_cast<Eigen::Index>(i));
    const double least_move = scene_.projection.tolerance * length_;
    const double least_multiplier = scene_.projection.tolerance / alive_d.minCoeff();
    const double move_scale = std::max(iteration.displacement.rowwise().norm().maxCoeff(), least_move);
    multiplier_scale_ = std::max(largest(iteration.multipliers), least_multiplier);
    multiplier_rounding_ = 10 * std::sqrt(garment_.mesh.node_count()) *
                           std::numeric_limits<double>::epsilon() / alive_d.minCoeff();
    double of_correction = sums_,
           of_multipliers = sums_ + multiplier_rounding_ / cloth_.settings().eps / multiplier_scale_;
    if (u_ > 0) {
      const RoundingChange change =
          rounded_iteration(cloth_, {start, predicted, cloth_.multipliers(), iteration.displacement}, h, u_);
      move_bound_ = amplified(change.displacement);
      row_bound_ = amplified(change.row);
      multiplier_bound_ = amplified(change.multiplier);
      of_correction = move_bound_ / move_scale;
      of_multipliers = multiplier_bound_ / multiplier_scale_;
    }
    compare("first correction", distances(correction, cloth_.clamped(iteration.displacement)), move_scale,
            of_correction);
    if (newton)
      compare("first multipliers", (as_vector(found.multipliers) - iteration.multipliers).cwiseAbs(),
              multiplier_scale_, of_multipliers);
    ++result_.steps;
  }

  void compare_step(double t) {
    const StepReport report = solver_->step(t, scene_.step);
    if (report.status == StepStatus::non_finite)
      throw NumericalError(
          "garment \"" + garment_.name + "\": step " + std::to_string(step_) +
          ": found a state that is not finite, expected finite positions; shorten scene.step");
    // The reference takes the parts that the kernels needed; multipliers carry h^2.
    const double parts = report.substeps, h = scene_.step / parts;
    reference::StepResult total;
    total.eps = total.margin = std::numeric_limits<double>::infinity();
    if (parts > 1) cloth_.set_multipliers(cloth_.multipliers() / (parts * parts));
    for (int i = 0; i < report.substeps; ++i) {
      const auto part = cloth_.step(h, prescribed(t + scene_.step * (i + 1) / parts), u_ > 0 ? 1e-6 : 1e-9);
      total.iterations += part.iterations;
      total.converged = total.converged && part.converged;
      total.eps = std::min(total.eps, part.eps);
      total.margin = std::min(total.margin, part.margin);
    }
    if (parts > 1) cloth_.set_multipliers(cloth_.multipliers() * (parts * parts));

    const bool converged = report.status == StepStatus::converged;
    if (!converged && !total.converged) {
      ++result_.stalled_steps;
      return;
    }
    const double iterations = std::max(report.iterations, 1), l = length_;
    const double rows = u_ > 0 ? iterations * row_bound_ : 1e-9;
    if (total.margin <= rows) {
      ++result_.undecided_steps;
      return;
    }
    if (converged != total.converged || report.iterations != total.iterations) {
      ++result_.deviating_steps;
      return;
    }
    ++result_.whole_steps;
    result_.kernel_iterations += report.iterations;
    result_.reference_iterations += total.iterations;
    const GarmentState state = solver_->state();
    double of_positions = sums_, of_velocities = sums_;
    const double speed =
        std::max(cloth_.velocities().rowwise().norm().maxCoeff(), scene_.projection.tolerance * l / h);
    const double scale = std::max(largest(cloth_.multipliers()), multiplier_scale_);
    double of_multipliers = sums_ + multiplier_rounding_ / total.eps / scale;
    if (u_ > 0) {
      of_positions += iterations * move_bound_ / l;
      of_velocities = of_positions * l / h / speed;
      of_multipliers = iterations * multiplier_bound_ / scale;
    }
    compare("positions", distances(as_matrix(state.positions), cloth_.positions()), l, of_positions);
    compare("velocities", distances(as_matrix(state.velocities), cloth_.velocities()), speed, of_velocities);
    compare("multipliers", (as_vector(state.multipliers) - cloth_.multipliers()).cwiseAbs(), scale,
            of_multipliers);
  }

  static double amplified(double change) { return 10 * change; }

  const Scene& scene_;
  const Garment& garment_;
  const double u_;  ///< of the kernels, 0: double
  ReferenceCloth cloth_;
  std::unique_ptr<GarmentSolver> solver_;
  double length_ = 0, sums_ = 0;
  double move_bound_ = 0, row_bound_ = 0, multiplier_bound_ = 0, multiplier_scale_ = 0,
         multiplier_rounding_ = 0;
  std::int64_t step_ = 0;
  GarmentValidation result_;
};

}  // namespace

bool GarmentValidation::passed() const {
  return deviating_steps == 0 &&
         std::all_of(differences.begin(), differences.end(), [](const Difference& d) { return d.passed(); });
}

bool ValidationReport::passed() const {
  return std::all_of(garments.begin(), garments.end(), [](const GarmentValidation& g) { return g.passed(); });
}

ValidationReport validate(const Scene& scene, const ExecutionOptions& options, std::int64_t steps,
                          const ValidationProgress& progress) {
  validate_scene(scene);
  const Device device(options);
  ValidationReport report{.precision = options.precision, .garments = {}};
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Comparison comparison(device, options.precision, scene, scene.garments[g]);
    for (std::int64_t step = 0; step < steps; ++step) {
      if (progress) progress(g, step);
      comparison.step(step);
    }
    report.garments.push_back(comparison.result());
  }
  return report;
}

}  // namespace isocloth
