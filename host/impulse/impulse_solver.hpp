// One large cloth held by impulses, kernel by kernel.
#pragma once

#include <optional>
#include <utility>

#include "engine/model/scene.hpp"
#include "host/garment/reducer.hpp"
#include "host/impulse/impulse_garments.hpp"
#include "host/state/step_report.hpp"
#include "kernels/impulse/impulse_step.hpp"
#include "kernels/launch/side_by_side.hpp"

namespace isocloth {

/// The steps of ImpulseGroup with the same bits, a launch for each phase and colour, so that a cloth fills
/// all threads of a machine.
template <class Real>
class ImpulseSolver : public ImpulseGarments<Real> {
 public:
  /// A solver of one garment; arguments as ImpulseGarments takes them.
  ImpulseSolver(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                const std::shared_ptr<const ObstacleShapes<Real>>& obstacles, OwnForceRate own_rate = {});

  /// Takes note: the host decides between the launches, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::size_t threads() const override { return threads_for(this->garments_.front()->mesh.positions.size()); }
  std::vector<AdvanceReport> finish() override;
  /// Keeps the parts of steps with other garments, and of these parts only where the nodes are when they end.
  void keep_parts(bool are_kept) override { keeps_parts_ = are_kept; }
  std::vector<SubstepRecord> take_parts(std::size_t) override { return std::exchange(kept_parts_, {}); }

  // A step with other garments, after start(): begin_request(), then for each step the pieces of ImpulseStep.

  bool frozen() const { return has_failed(lost_.front()); }
  /// Number of parts of a step.
  int parts() const { return static_cast<int>(parameters_.front().parts); }
  double part() const { return parameters_.front().part; }
  double fall() const { return static_cast<double>(parameters_.front().gravity); }  ///< gravity [m/s^2]
  /// Whether rows are swept until they are held; else a given number of times.
  virtual bool converges() const { return here_.control.converge; }
  virtual int fallbacks() const { return 0; }  ///< number of fallbacks in the request, see StepReport

  AdvanceReport begin_request();
  void begin_step(Index step);
  void preview(Index step, int part);
  void hold_rows();
  /// Impulses on rows and obstacles again, where moves were changed: as many sweeps as a part has, or where
  /// they converge at most so many. Returns whether rows are held as far as they will be.
  virtual bool hold_rows_again(int most_sweeps);
  void advance(int part);
  void end_part();
  bool judge();
  void lose_step();  ///< marks the step as lost, in the place of judge(): it went astray
  /// Report of a step that is lost, or as it is judged.
  AdvanceReport end_step();
  /// Takes the state back to what it was before begin_step(); the step's sweeps count among those of the
  /// next.
  void undo_step();

  /// Reads where nodes are when the part begins [m], or where those of a frozen garment are; shape
  /// [node_count].
  void read_positions(Vec3d* positions) const;
  /// Reads the moves of the nodes in the part [m], shape [node_count]; those of a frozen garment are zero.
  void read_moves(Vec3d* moves) const;
  void write_moves(const Vec3d* moves);
  /// Adds impulses on nodes [kg m], whose moves have been written, to the loads of grippers.
  void add_to_loads(const Vec3d* impulses);
  /// Reads inverse masses of the nodes, shape [node_count]; 0: pinned, held or frozen [1/kg].
  void read_inverse_inertia(double* inverse) const;

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

  Queue queue_;  ///< queue of the device
  /// Cloths of this finish(), as the host sees them; the host can read what an ImpulseStep asks for.
  ImpulseCloths<Real> here_;
  ImpulseLaunch<Real> launch_;  ///< the cloths of this finish() as the device sees them
  Buffer<Vec4<Real>> relative_positions_, moves_, forces_;

 private:
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
  };
  std::optional<Step> step_;  ///< the step that begin_step() began
  std::vector<SubstepRecord> kept_parts_;
  bool keeps_parts_ = false;
  ImpulseReport found_{};  ///< report of the step that begin_step() began
  double spent_ = 0;       ///< sweeps of steps that were undone
  typename Base::State step_before_;

  /// Launches a phase once for each of some colours.
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
