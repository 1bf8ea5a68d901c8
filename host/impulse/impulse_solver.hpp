// One large cloth held by impulses, kernel by kernel.
#pragma once

#include "host/garment/reducer.hpp"
#include "host/impulse/impulse_garments.hpp"
#include "kernels/impulse/impulse_step.hpp"
#include "kernels/launch/side_by_side.hpp"

namespace isocloth {

/// The steps of ImpulseGroup with the same bits, a launch for each phase and colour, so that a cloth fills
/// all threads of a machine.
template <class Real>
class ImpulseSolver : public ImpulseGarments<Real> {
 public:
  /// See ImpulseGarments.
  ImpulseSolver(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  /// Takes note: the host decides between the launches, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::size_t threads() const override { return threads_for(this->garments_.front()->mesh.positions.size()); }
  std::vector<AdvanceReport> finish() override;

 protected:
  using Base = ImpulseGarments<Real>;
  using Base::device_, Base::kernels_, Base::parameters_, Base::lost_;
  using Step = ISOCLOTH_BACKEND::ImpulseStep<Real, ImpulseSolver>;
  friend Step;

  // The machine of an ImpulseStep.

  static constexpr bool may_touch = true, meets_external = true;
  static constexpr bool knows_at_once = false;  ///< it costs a reduction, and a wait for the device
  /// Items that have told.
  struct Told {
    std::size_t count = 0;
  };
  struct Corrections : Told {
    explicit Corrections(bool /*is_watched*/) {}
  };
  virtual void enter(Index step, int part);
  /// Throws Interrupted where the work is to end.
  bool stops() const;
  void tell_sweep() const { device_.monitor().count(1); }
  template <class Phase, class Counted = Told>
  void each(const Phase& phase, Counted&& told = {}) {
    const Index all[] = {0, item_count(here_, Phase::items)};
    launch(phase, {all, 2}, told);
  }
  template <class Phase, class Counted = Told>
  void by_colour(const Phase& phase, Counted&& told = {}) {
    launch(phase, colours_of(here_, Phase::items), told);
  }
  bool list_near();
  double largest(const Told& told) { return largest(told_, told.count); }
  double worst(const Corrections& told) { return largest(told); }
  int last_sweep(const Corrections& told, int /*sweep*/) {
    return static_cast<int>(largest(last_sweeps_, told.count));
  }
  virtual void grasped() {}
  virtual int hold_lengths(Step& step);
  virtual void hold_rates(Step& step);

  typename Step::Sweeps sweep(Step& step, bool of_positions, const ImpulseControl& control);
  /// The largest of the first values, infinite where one is not finite.
  double largest(const Buffer<Real>& values, std::size_t count);

  std::size_t work_bytes() const override;
  std::string solver_name() const override;

  Queue queue_;                 ///< the device's
  ImpulseCloths<Real> here_;    ///< of this finish(); the host can read what an ImpulseStep asks for
  ImpulseLaunch<Real> launch_;  ///< the same on the device
  Buffer<Vec4<Real>> places_, moves_, forces_;

 private:
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
  };
  /// A launch for each of some colours.
  template <class Phase>
  void launch(const Phase& phase, const ArrayView<const Index>& begin, Told& told);
  /// Takes over what cloths() gives now.
  void view_cloths();

  std::vector<std::pair<Items, std::vector<Index>>> colours_;  ///< see colours_of()
  Buffer<Vec3d> positions_;
  Buffer<Real> told_, last_sweeps_;  ///< see ImpulseLaunch
  Request request_;
  Reducer<Real> reducer_;
};

}  // namespace isocloth
