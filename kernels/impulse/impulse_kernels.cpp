#include "kernels/impulse/impulse_kernels.hpp"

#include "kernels/impulse/cloth_part.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real, class Phase, bool Holds>
struct PhaseBody {
  RunPhase<ImpulseLaunch<Real>, Phase> a;

  ISOCLOTH_DEVICE void operator()(Index item) const {
    const ImpulseLaunch<Real>& at = a.arrays;
    const ClothPart<Real, Holds> part{at.cloths, 0, at.work, at.step, at.part};
    const auto terms = part.terms_of(a.phase);
    const Index i = a.first + item;
    if constexpr (std::is_void_v<decltype(terms(a.phase, i))>)
      terms(a.phase, i);
    else
      tell(i, terms(a.phase, i));
  }

 private:
  ISOCLOTH_DEVICE void tell(Index i, double value) const { a.arrays.told[i] = static_cast<Real>(value); }
  template <class S>
  ISOCLOTH_DEVICE void tell(Index i, const Correction<S>& own) const {
    const bool is_corrected = any(own.corrected);
    a.arrays.told[i] = is_corrected ? largest_lane(own.error) : Real(0);
    if (is_corrected || a.phase.sweep == 1)  // what an earlier pass left there goes
      a.arrays.last_sweeps[i] = is_corrected ? static_cast<Real>(a.phase.sweep) : Real(0);
  }
};

/// ListNear by one block.
template <class Real>
struct ListBody {
  static constexpr int most_block_threads = 128;
  ImpulseLaunch<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    const ClothPart<Real, false> part{a.cloths, 0, a.work, a.step, a.part};
    list_near_cloth(block, part.contacts(), a.cloths.pattern.node_count, block.template shared<double>());
  }
};

template <class Real, class Phase>
void launch(const Queue& queue, const RunPhase<ImpulseLaunch<Real>, Phase>& args) {
  if constexpr (std::is_same_v<Phase, phases::ListNear>) {
    constexpr std::size_t scratch = ListBody<Real>::most_block_threads * sizeof(double);
    return for_each_block(queue, 1, scratch, ListBody<Real>{args.arrays});
  } else {
    if constexpr (requires { args.phase.factor; })  // CorrectRows
      if (args.arrays.cloths.holds.exist())
        return parallel_for(queue, args.count, PhaseBody<Real, Phase, true>{args});
    parallel_for(queue, args.count, PhaseBody<Real, Phase, false>{args});
  }
}

template <class Real, class... Phases>
PhaseKernels<ImpulseLaunch<Real>, Phases...> all(PhaseKernels<ImpulseLaunch<Real>, Phases...>*) {
  return {{launch<Real, Phases>}...};
}

}  // namespace

template <class Real>
ImpulseKernels<Real> impulse_kernels() {
  return all<Real>(static_cast<ImpulseKernels<Real>*>(nullptr));
}

template ImpulseKernels<float> impulse_kernels();
template ImpulseKernels<double> impulse_kernels();

}  // namespace isocloth::ISOCLOTH_BACKEND
