// One large cloth held by impulses, kernel by kernel.
#pragma once

#include "host/solver/impulse_garments.hpp"

namespace isocloth {

/// The steps of ImpulseGroup with the same bits, one launch per colour, so that a cloth fills all threads of
/// a machine.
template <class Real>
class ImpulseSolver : public ImpulseGarments<Real> {
 public:
  /// See ImpulseGarments.
  ImpulseSolver(const Device& device, const Garment& garment, const Scene& scene);

  /// Takes note: the host decides between the launches, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, bool alone) override;
  std::vector<AdvanceReport> finish() override;

 protected:
  using Base = ImpulseGarments<Real>;
  using Base::device_, Base::kernels_, Base::parameters_, Base::frozen_;

  /// What the impulses of one part did.
  struct Outcome {
    int sweeps = 0;
    bool finite = true;
  };
  /// Impulses on positions and on velocities of one part.
  virtual Outcome correct_lengths();
  virtual void correct_velocities();

  RunImpulsePhase<Real> phase(ImpulsePhase phase, Index first, Index count);
  void run(ImpulsePhase phase, std::size_t count);
  /// Largest value of an array that the last phases wrote, infinite where one is not finite.
  double largest(const Buffer<Real>& values);

  std::size_t work_bytes() const override;
  std::string solver_name() const override;

  ImpulseCloths<Real> cloths_;                                      ///< of this finish()
  std::vector<Index> edge_colours_, shear_colours_, bend_colours_;  ///< first packets
  Buffer<Vec4<Real>> places_, moves_, forces_;
  Buffer<Vec3d> work_positions_;
  Buffer<Real> changes_, last_sweeps_;

 private:
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
  };
  /// The step to targets number `step`.
  StepReport step_once(Index step);
  void run_by_colour(RunImpulsePhase<Real> args, const std::vector<Index>& colour_begin);

  Request request_;
  Buffer<Reduction<Real>> partials_;
  std::vector<Reduction<Real>> staging_;
};

}  // namespace isocloth
