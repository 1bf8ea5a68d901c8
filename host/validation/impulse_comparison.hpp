// Whole steps of the impulse kernels beside those of their reference.
#pragma once

#include <memory>
#include <optional>
#include <random>

#include "engine/model/scene.hpp"
#include "host/reference/impulse_cloth.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_state.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {

/// One garment on both sides; the reference sweeps in the order of the kernels. What rounding may do is what
/// it does to the reference: the same step once more with the places and velocities of every part moved by
/// up to u of their size.
class ImpulseComparison {
 public:
  /// The arguments must outlive the object.
  ImpulseComparison(const Device& device, const ExecutionOptions& options, const ResolvedScene& resolved,
                    const Garment& garment);
  /// Throws NumericalError where a step of the kernels is lost.
  void step(std::int64_t step_index);
  GarmentValidation result() const { return result_; }

 private:
  /// The reference's step and where it ended.
  struct Run {
    reference::ImpulseStepResult result;
    reference::MatrixX3d positions, velocities;
    reference::VectorXd plastic_strains;
  };
  reference::ImpulseCloth make_cloth(int substeps) const;
  void compare_parts(int parts);
  Run exact_step(const GarmentState& before, double t);
  /// The reference's step part by part, rounded before each.
  Run rounded_step(const GarmentState& before, double t, int parts);
  reference::MatrixX3d rounding(const reference::MatrixX3d& sizes);
  /// Bound on what rounding changes of the relative errors that the sweeps came upon.
  double error_change(const Run& exact, const Run& rounded, double part) const;
  /// Whether rounding leaves every choice of the linear solves as it is.
  bool solves_are_decided(const Run& exact, const Run& rounded) const;
  void compare(const char* quantity, const reference::VectorXd& difference, double scale, double tolerance);

  const ResolvedScene resolved_;
  const Scene& scene_;
  const Garment& garment_;
  const Precision precision_;
  const double u_;  ///< unit rounding of the kernels' precision
  std::unique_ptr<GarmentSolver> solver_;
  std::vector<Index> order_;
  double force_rate_ = 0;                                ///< rate of explicit forces of the reference [1/s]
  std::optional<reference::ImpulseCloth> whole_, part_;  ///< reference with all parts of a step, and with one
  double length_ = 0, shortest_ = 0;  ///< diagonal of the rest shape's bounding box, shortest edge [m]
  double sums_ = 0;                   ///< tolerance of sums over stencils
  std::int64_t step_ = 0;
  std::mt19937 generator_{7};
  GarmentValidation result_;
};

}  // namespace isocloth
