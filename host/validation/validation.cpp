#include "host/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/model/methods.hpp"
#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/reference/reference_cloth.hpp"
#include "host/validation/comparison.hpp"
#include "host/validation/impulse_comparison.hpp"
#include "host/validation/rounding.hpp"
#include "host/validation/surroundings_check.hpp"
#include "kernels/projection/step_rules.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;
using reference::ReferenceCloth;
using reference::SparseMatrix;
using reference::VectorXd;

VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

double largest(const VectorXd& values) { return values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff(); }

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

/// The reference knows no single precision: its start is that of the kernels.
ProjectionSettings with_start_eps(const ResolvedScene& resolved, Precision precision) {
  ProjectionSettings settings = resolved.scene.projection;
  settings.integrator = resolved.integrator;
  settings.eps = resolved.start_eps(precision == Precision::float32);
  return settings;
}

/// One garment on both sides.
class Comparison {
 public:
  Comparison(const Device& device, const ExecutionOptions& options, const ResolvedScene& resolved,
             const Garment& garment)
      : scene_(resolved.scene),
        garment_(garment),
        u_(unit_rounding(options.precision)),
        least_eps_(least_eps(options.precision == Precision::float32)),
        cloth_(garment, resolved.recipe, with_start_eps(resolved, options.precision),
               garment.gravity.value_or(scene_.gravity)),
        solver_(make_garment_solver(device, options.precision, garment, resolved, options.solver)) {
    cloth_.set_mismatches(scene_.bodies.empty() && !scene_.contact.cloth,
                          options.precision == Precision::float32 ? 1e-5 : 1e-10);
    length_ = diagonal(garment);
    sums_ = tolerance_of_sums(options.precision, garment.mesh.node_count());
    result_.garment = garment.name;
    const auto expected = cloth_.rows().row_count();
    if (solver_->info(0).row_count != expected)
      throw ShapeError("garment \"" + garment.name + "\": rows of the kernels: found " +
                       std::to_string(solver_->info(0).row_count) + ", expected " + std::to_string(expected) +
                       " as in the reference");
  }

  void step(std::int64_t step_index) {
    step_ = step_index;
    const double t = garment_.time_offset + static_cast<double>(step_index) * scene_.step;
    take(solver_->state(0));
    compare_iteration(t);
    compare_step(t);
  }

  GarmentValidation result() const { return result_; }

 private:
  void take(const GarmentState& state) {
    cloth_.set_positions(as_matrix(state.positions));
    cloth_.set_velocities(as_matrix(state.velocities));
    cloth_.set_multipliers(as_vector(state.multipliers));
    cloth_.set_plastic_strains(state.plastic_strains);
    const bool remembers = state.previous_step > 0;
    cloth_.set_previous(as_matrix(remembers ? state.previous_positions : state.positions),
                        as_matrix(remembers ? state.previous_velocities : state.velocities),
                        state.previous_step);
  }

  MatrixX3d prescribed(double t) const { return prescribed_positions(garment_, cloth_.pinned_nodes(), t); }
  MatrixX3d pinned(const MatrixX3d& positions) const {
    MatrixX3d chosen(static_cast<Eigen::Index>(cloth_.pinned_nodes().size()), 3);
    for (Eigen::Index i = 0; i < chosen.rows(); ++i) chosen.row(i) = positions.row(cloth_.pinned_nodes()[i]);
    return chosen;
  }

  void compare(const char* quantity, const VectorXd& difference, double scale, double tolerance) {
    keep_worst(result_, quantity, difference, scale, tolerance, step_);
  }

  void compare_iteration(double t) {
    const double h = scene_.step;
    const Inspection found = solver_->inspect(0, t, h);
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
    if (bends)
      of_prediction += amplified(rounded_prediction(cloth_, garment_.fabric, unconstrained, h, u_)) / length_;
    compare("predicted positions", distances(predicted, unconstrained), length_, of_prediction);

    // From here on at the kernels' own phi~ and phi_0, so that each quantity answers for itself.
    const MatrixX3d start = as_matrix(found.start);
    compare("first iterate",
            distances(start, newton ? cloth_.inertial_step(h, prescribed(t + h)) : predicted), length_,
            sums_);
    const VectorXd values = cloth_.row_values(start, h), d = cloth_.row_scale_d(start, h);
    compare("row values", (as_vector(found.row_values) - values).cwiseAbs(), 1, sums_);
    const VectorXd alive_d = (d.array() > 0).select(d, d.maxCoeff());
    compare("row scales D", (as_vector(found.row_d) - d).cwiseAbs().cwiseQuotient(alive_d), 1,
            sums_ * (1 + cloth_.bend_of_curves(h)));
    if (newton) {
      const SparseMatrix stiffness =
          cloth_.geometric_stiffness(cloth_.multipliers(), start) + cloth_.threads(h).laplacian;
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
    const RoundingChange change =
        rounded_iteration(cloth_, {start, predicted, cloth_.multipliers(), iteration.displacement}, h, u_);
    rounding_ = change.displacement;
    move_bound_ = sums_ * move_scale + amplified(rounding_.rowwise().norm().maxCoeff());
    row_bound_ = sums_ + amplified(change.row);
    multiplier_rounding_ = change.multiplier;
    compare("first correction", distances(correction, iteration.displacement), move_scale,
            move_bound_ / move_scale);
    if (newton)
      compare("first multipliers", (as_vector(found.multipliers) - iteration.multipliers).cwiseAbs(),
              multiplier_scale_, sums_ + amplified(change.multiplier) / multiplier_scale_);
    ++result_.steps;
  }

  /// The reference's step from the kernels' state moved by `shift`, in `parts`; multipliers carry h^2.
  reference::StepResult reference_step(double t, const GarmentState& before, int parts,
                                       const MatrixX3d& shift) {
    take(before);
    const double squared = static_cast<double>(parts) * parts;
    cloth_.set_positions(cloth_.positions() + shift);
    cloth_.set_multipliers(cloth_.multipliers() / squared);
    reference::StepResult total{.eps = std::numeric_limits<double>::infinity(),
                                .margin = std::numeric_limits<double>::infinity()};
    // Within a step pinned nodes move evenly.
    const MatrixX3d from = pinned(as_matrix(before.positions)), to = prescribed(t + scene_.step);
    for (int i = 1; i <= parts; ++i) {
      const auto part =
          cloth_.step(scene_.step / parts,
                      i == parts ? to : MatrixX3d(from + (to - from) * (double(i) / parts)), least_eps_);
      total.iterations += part.iterations;
      total.converged = total.converged && part.converged;
      total.eps = std::min(total.eps, part.eps);
      total.margin = std::min(total.margin, part.margin);
    }
    cloth_.set_multipliers(cloth_.multipliers() * squared);
    return total;
  }

  void compare_step(double t) {
    const GarmentState before = solver_->state(0);
    const StepReport report = solver_->step(t, scene_.step);
    if (has_failed(report.status))
      throw NumericalError(
          "garment \"" + garment_.name + "\": step " + std::to_string(step_) +
          ": found a step that is not finite or diverges, expected one that can be kept; shorten scene.step");
    // What rounding does to one iteration, done to the state before the step: how far does it carry?
    const auto shifted = reference_step(t, before, report.substeps, rounding_);
    const MatrixX3d shifted_positions = cloth_.positions(), shifted_velocities = cloth_.velocities();
    const VectorXd shifted_multipliers = cloth_.multipliers(),
                   shifted_plastic = as_vector(cloth_.plastic_strains());
    const auto exact = reference_step(t, before, report.substeps, MatrixX3d::Zero(rounding_.rows(), 3));

    const bool converged = report.status == StepStatus::converged;
    if (!converged && !exact.converged) {
      ++result_.stalled_steps;
      return;
    }
    // Iterations of attempts with fewer parts are in the report, too.
    const bool same =
        converged == exact.converged && (report.substeps > 1 || report.iterations == exact.iterations);
    const int iterations = std::max(exact.iterations, 1);
    if (exact.margin <= iterations * row_bound_ || shifted.iterations != exact.iterations) {
      ++result_.undecided_steps;
      return;
    }
    if (!same) {
      ++result_.deviating_steps;
      return;
    }
    ++result_.whole_steps;
    result_.iterations += exact.iterations;
    const GarmentState state = solver_->state(0);
    const double h = scene_.step / report.substeps;
    const double speed =
        std::max(cloth_.velocities().rowwise().norm().maxCoeff(), scene_.projection.tolerance * length_ / h);
    const double scale = std::max(largest(cloth_.multipliers()), multiplier_scale_);
    // Multipliers are divided by eps, which may have shrunk since the first iteration.
    auto bound = [&](double carried, double once) {
      // Every iteration rounds, and what each leaves is carried on to the end.
      return sums_ + iterations * (amplified(carried) + amplified(once));
    };
    const double once = rounding_.rowwise().norm().maxCoeff();
    compare("positions", distances(as_matrix(state.positions), cloth_.positions()), length_,
            bound(largest(distances(shifted_positions, cloth_.positions())) / length_, once / length_));
    compare("velocities", distances(as_matrix(state.velocities), cloth_.velocities()), speed,
            bound(largest(distances(shifted_velocities, cloth_.velocities())) / speed, once / h / speed));
    compare("multipliers", (as_vector(state.multipliers) - cloth_.multipliers()).cwiseAbs(), scale,
            bound(largest(shifted_multipliers - cloth_.multipliers()) / scale,
                  multiplier_rounding_ * cloth_.settings().eps / exact.eps / scale));
    if (state.plastic_strains.empty()) return;
    const VectorXd plastic = as_vector(cloth_.plastic_strains());
    const double most = std::max(largest(plastic), 1e-3);
    compare("plastic strains", (as_vector(state.plastic_strains) - plastic).cwiseAbs(), most,
            bound(largest(shifted_plastic - plastic) / most, once / length_));
  }

  static double amplified(double change) { return 10 * change; }

  const Scene& scene_;
  const Garment& garment_;
  const double u_;          ///< unit rounding of the kernels' precision
  const double least_eps_;  ///< least eps of the rows in the kernels' precision
  ReferenceCloth cloth_;
  std::unique_ptr<GarmentSolver> solver_;
  double length_ = 0;  ///< diagonal of the rest shape's bounding box [m]
  double sums_ = 0;    ///< tolerance of sums over stencils
  /// Bounds on what rounding changes, and the scale of the multipliers, in this step.
  double move_bound_ = 0, row_bound_ = 0, multiplier_rounding_ = 0, multiplier_scale_ = 0;
  MatrixX3d rounding_;  ///< what rounding does to the first correction of this step [m]
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

ValidationReport validate(const Scene& given, const ExecutionOptions& options, std::int64_t steps,
                          const ValidationProgress& progress) {
  validate_scene(given);
  Scene scene = given;
  scene.projection.cg_tolerance = options.precision == Precision::float32 ? 1e-5 : 1e-12;
  if (options.solver == StepSolver::iterative || options.solver == StepSolver::mixed)
    throw DeviceError(
        std::string("solver: found \"") + to_string(options.solver) +
        "\", expected \"automatic\", \"batched\" or \"direct\": the comparison is to rounding, and "
        "an iterated solve ends at its tolerance");
  require_known(methods::validation, scene);
  const Device device(options);
  ValidationReport report{.precision = options.precision, .garments = {}};
  const ResolvedScene resolved(scene);
  const auto run = [&](auto comparison, std::size_t garment) {
    for (std::int64_t step = 0; step < steps; ++step) {
      if (progress) progress(garment, step);
      comparison.step(step);
    }
    report.garments.push_back(comparison.result());
  };
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    if (is_kinematic(garment))  // nothing of it is solved for
      report.garments.push_back({.garment = garment.name, .differences = {}});
    else if (has_surroundings(scene))
      run(SurroundingsCheck(device, options, resolved, garment), g);
    else if (resolved.projects)
      run(Comparison(device, options, resolved, garment), g);
    else
      run(ImpulseComparison(device, options, resolved, garment), g);
  }
  return report;
}

}  // namespace isocloth
