// One large cloth held by impulses, kernel by kernel.
#pragma once

#include "host/garment/reducer.hpp"
#include "host/impulse/impulse_garments.hpp"

namespace isocloth {

/// The steps of ImpulseGroup with the same bits, one launch per colour, so that a cloth fills all threads of
/// a machine.
template <class Real>
class ImpulseSolver : public ImpulseGarments<Real> {
 public:
  /// See ImpulseGarments.
  ImpulseSolver(const Device& device, const Garment& garment, const Scene& scene,
                const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  /// Takes note: the host decides between the launches, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) override;
  std::vector<AdvanceReport> finish() override;

 protected:
  using Base = ImpulseGarments<Real>;
  using Base::device_, Base::kernels_, Base::parameters_, Base::lost_;

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
  /// Grippers let go and take hold, when a step begins.
  virtual void grasp();
  bool has_obstacles() const { return this->contacts().contact_count() > 0; }
  /// Lists the obstacles near the preview.
  void look_around();
  /// Impulses of all contacts: `which` is push_out (which lists obstacles anew) or push_back. Returns how far
  /// one moved its point [m], where a step converges; else nobody asks.
  double touch(ImpulsePhase which, bool seeks);
  /// Largest value of an array that the last phases wrote, infinite where one is not finite.
  double largest(const Buffer<Real>& values);

  std::size_t work_bytes() const override;
  std::string solver_name() const override;

  Queue queue_;                 ///< the device's
  ImpulseCloths<Real> cloths_;  ///< of this finish()
  Buffer<Vec4<Real>> places_, moves_, forces_;
  Buffer<Vec3d> work_positions_;
  Buffer<Real> errors_, last_sweeps_;  ///< of each packet of all rows
  bool touched_ = false;               ///< a contact moved its point in this part, where a step converges
  Buffer<Real> of_samples_;            ///< of contacts
  Buffer<Real> of_nodes_;

 private:
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
  };
  /// Packets of one family of rows.
  struct RowPackets {
    ImpulseRows rows;
    std::vector<Index> colour_begin;  ///< first packets
    std::size_t first = 0;            ///< place of the first packet among those of all rows
    std::size_t count = 0;
  };
  void add_rows(ImpulseRows rows, const Buffer<Index>& colour_begin);
  /// One phase of all rows; colour after colour where `by_colour`, else at once.
  void run_rows(RunImpulsePhase<Real> args, bool by_colour);

  /// Sweeps of `rows` and `contacts` until one corrects nothing, where a step converges; returns how many.
  /// See ClothSteps in kernels/impulse/step_impulse.cpp.
  int sweep(ImpulsePhase rows, ImpulsePhase contacts);
  /// The step to targets number `step`.
  StepReport step_once(Index step);
  /// Whether a step that ends in the work arrays has diverged (kernels/divergence.hpp).
  bool has_diverged(double residual);
  void run_by_colour(RunImpulsePhase<Real> args, const std::vector<Index>& colour_begin);

  std::vector<RowPackets> row_packets_;              ///< in the order of the sweeps
  std::vector<Index> shear_colours_, bend_colours_;  ///< first packets
  Request request_;
  Index step_ = 0;  ///< number among those of a request
  int part_ = 0;
  Reducer<Real> reducer_;
};

}  // namespace isocloth
