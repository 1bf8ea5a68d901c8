#include "kernels/impulse/step_impulse.hpp"

#include "kernels/impulse/cloth_part.hpp"
#include "kernels/impulse/impulse_step.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// The machine of an ImpulseStep that is a block. `What`: its cloth meets this at most; code for more costs
/// registers.
template <class Real, class Block, Meets What>
class BlockMachine {
  using S = PairLanes<Real>;
  using Mask = typename Lanes<S>::Mask;

 public:
  static constexpr bool may_touch = What != Meets::nothing, meets_external = What == Meets::all;
  static constexpr bool knows_at_once = true;

  /// The largest value that a phase told one thread.
  struct Told {
    double most = 0;
    ISOCLOTH_DEVICE void add(double value) { most = value > most ? value : most; }
  };
  struct Corrections {
    bool is_watched;
    S worst{};
    Mask corrected{false};
    ISOCLOTH_DEVICE explicit Corrections(bool watched) : is_watched(watched) {}
    ISOCLOTH_DEVICE void add(const Correction<S>& own) {
      if (!is_watched) return;
      worst = larger(own.error, worst);
      corrected = corrected | own.corrected;
    }
  };

  ISOCLOTH_DEVICE BlockMachine(const StepImpulse<Real>& args, const Block& block, Index cloth)
      : a_(args), block_(block), cloth_(cloth) {
    const ImpulsePattern<Real>& pattern = args.cloths.pattern;
    const std::size_t nodes = static_cast<std::size_t>(pattern.node_count) + 1;
    work_.relative_positions = block.template shared<Vec4<Real>>();
    work_.moves = work_.relative_positions + nodes;
    Vec4<Real>* const end = work_.moves + nodes * (pattern.has_forces() ? 2 : 1);
    work_.forces = pattern.has_forces() ? work_.moves + nodes : nullptr;
    work_.positions = reinterpret_cast<Vec3<double>*>(end);
    values_ = reinterpret_cast<double*>(end);
    if constexpr (!ImpulseTerms<Real>::origin_is_zero)
      values_ = reinterpret_cast<double*>(work_.positions + nodes);
    work_.loads = nullptr;
    if constexpr (meets_external)
      if (args.cloths.holds.exist())
        work_.loads = args.cloths.holds.loads.data() + static_cast<std::size_t>(cloth) * nodes;
  }

  ISOCLOTH_DEVICE void run() {
    ImpulseReport report{};
    ImpulseStep<Real, BlockMachine> step(a_.cloths, cloth_, *this);
    const bool was_alive = a_.alive[cloth_] > Real(0);
    const bool alive = was_alive && step.run(a_.steps, report);
    block_.sync();
    if (block_.rank() != 0) return;
    a_.monitor.count(untold_);
    a_.reports[cloth_] = report;
    a_.alive[cloth_] = alive ? Real(1) : Real(0);
  }

  // Of an ImpulseStep.

  ISOCLOTH_DEVICE void enter(Index step, int part) {
    step_ = step;
    part_ = part;
  }
  /// The threads of a larger block might not agree, and go on.
  ISOCLOTH_DEVICE bool stops() const {
    if constexpr (Block::is_solo) return a_.monitor.stops();
    return false;
  }
  /// Many at once: all threads tell the same monitor.
  ISOCLOTH_DEVICE void tell_sweep() {
    if (block_.rank() != 0 || ++untold_ < Relaxation::window) return;
    a_.monitor.count(untold_);
    untold_ = 0;
  }

  template <class Phase, class... Sink>
  ISOCLOTH_DEVICE void each(const Phase& phase, Sink&... told) const {
    if constexpr (Phase::needs <= What)
      run(part().terms_of(phase), phase, 0, item_count(a_.cloths, Phase::items), told...);
  }
  template <class Phase, class... Sink>
  ISOCLOTH_DEVICE void by_colour(const Phase& phase, Sink&... told) const {
    if constexpr (Phase::needs <= What) {
      const auto terms = part().terms_of(phase);
      const ArrayView<const Index>& begin = colours_of(a_.cloths, Phase::items);
      for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour)
        run(terms, phase, begin[colour], begin[colour + 1], told...);
    }
  }
  ISOCLOTH_DEVICE bool list_near() const {
    if constexpr (may_touch) {
      block_.sync();
      return list_near_cloth(block_, part().contacts(), a_.cloths.pattern.node_count, values_);
    }
    return false;
  }
  ISOCLOTH_DEVICE double largest(const Told& told) const { return largest(told.most); }
  /// Asked after every sweep: where this one corrected nothing, the one before did, or there was none.
  ISOCLOTH_DEVICE int last_sweep(const Corrections& told, int sweep) const {
    return static_cast<int>(largest(any(told.corrected) ? sweep : sweep - 1));
  }
  ISOCLOTH_DEVICE double worst(const Corrections& told) const { return largest(largest_lane(told.worst)); }

  ISOCLOTH_DEVICE void grasped() const {}
  template <class Step>
  ISOCLOTH_DEVICE int hold_lengths(Step& step) const {
    return step.template sweep<true>(step.control()).count;
  }
  template <class Step>
  ISOCLOTH_DEVICE void hold_rates(Step& step) const {
    step.template sweep<false>(step.control());
  }

 private:
  ISOCLOTH_DEVICE ClothPart<Real, meets_external> part() const {
    return {a_.cloths, cloth_, work_, step_, part_};
  }
  template <class Terms, class Phase, class... Sink>
  ISOCLOTH_DEVICE void run(const Terms& terms, const Phase& phase, Index begin, Index end,
                           Sink&... told) const {
    block_.sync();
    for (Index i = begin + block_.rank(); i < end; i += block_.size()) {
      if constexpr (sizeof...(told) > 0)
        (told.add(terms(phase, i)), ...);
      else
        terms(phase, i);
    }
  }
  ISOCLOTH_DEVICE double largest(double own) const { return largest_in_block(block_, values_, own); }

  const StepImpulse<Real>& a_;
  const Block& block_;
  const Index cloth_;
  ImpulseWork<Real> work_;
  double* values_;  ///< shape [max_impulse_threads]
  Index step_ = 0;  ///< number of the step in the launch
  int part_ = 0;
  int untold_ = 0;  ///< sweeps that were not counted by the monitor yet
};

template <class Real, Meets What>
struct ClothBody {
  static constexpr int most_block_threads = max_impulse_threads;
  StepImpulse<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index cloth) const {
    BlockMachine<Real, Block, What>(a, block, cloth).run();
  }
};

}  // namespace

template <class Real>
void step_impulse(const Queue& queue, const StepImpulse<Real>& given) {
  StepImpulse<Real> args = given;
  args.monitor = queue.monitor;
  const Index count = args.cloths.cloth_count;
  const std::size_t scratch = impulse_scratch(args.cloths.pattern);
  if (args.cloths.has_external_forces())
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::all>{args});
  else if (args.cloths.contacts.exist())
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::obstacles>{args});
  else
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::nothing>{args});
}

template void step_impulse<float>(const Queue&, const StepImpulse<float>&);
template void step_impulse<double>(const Queue&, const StepImpulse<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
