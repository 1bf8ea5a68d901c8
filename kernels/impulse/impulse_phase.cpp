#include "kernels/impulse/impulse_phase.hpp"

#include "kernels/impulse/impulse_terms.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real, ImpulsePhase Phase>
struct PhaseBody {
  using Terms = ImpulseTerms<Real>;
  using S = typename Terms::S;
  RunImpulsePhase<Real> a;

  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Terms terms(a.cloths, 0,
                      {.places = a.places.data(),
                       .moves = a.moves.data(),
                       .forces = a.forces.data(),
                       .positions = a.work_positions.data()});
    const Index i = a.first + item;
    if constexpr (Phase == ImpulsePhase::begin) terms.begin(i);
    if constexpr (Phase == ImpulsePhase::bend) terms.bend(i);
    if constexpr (Phase == ImpulsePhase::pull_shear) terms.pull_shear(i);
    if constexpr (Phase == ImpulsePhase::pull_bend) terms.pull_bend(i);
    if constexpr (Phase == ImpulsePhase::preview) terms.preview(i);
    if constexpr (Phase == ImpulsePhase::preview_pinned) terms.preview_pinned(i, a.step, a.part);
    if constexpr (Phase == ImpulsePhase::advance) terms.advance(i);
    if constexpr (Phase == ImpulsePhase::end) terms.end(i);
    if constexpr (Phase == ImpulsePhase::correct_lengths) {
      typename Terms::Mask corrected(false);
      const S changes =
          terms.correct_lengths(i, static_cast<Real>(a.factor), static_cast<Real>(a.threshold), corrected);
      a.changes[i] = largest(changes);
      if (any(corrected)) a.last_sweeps[i] = static_cast<Real>(a.sweep);
    }
    if constexpr (Phase == ImpulsePhase::correct_velocities)
      if (any(terms.correct_velocities(i, static_cast<Real>(a.factor), static_cast<Real>(a.threshold))))
        a.last_sweeps[i] = static_cast<Real>(a.sweep);
    if constexpr (Phase == ImpulsePhase::measure) a.changes[i] = largest(terms.strains(i));
  }

  /// Infinite where a lane is not finite.
  static ISOCLOTH_DEVICE Real largest(S lanes) {
    Real value = 0;
    for (int lane = 0; lane < Terms::width; ++lane) {
#if defined(__CUDACC__)
      const Real own = lanes;
#else
      const Real own = lanes.v[lane];
#endif
      if (!(own <= value)) value = own < static_cast<Real>(HUGE_VAL) ? own : static_cast<Real>(HUGE_VAL);
    }
    return value;
  }
};

template <class Real, ImpulsePhase Phase>
void launch(const Queue& queue, const RunImpulsePhase<Real>& args) {
  parallel_for(queue, args.count, PhaseBody<Real, Phase>{args});
}

}  // namespace

template <class Real>
void run_impulse_phase(const Queue& queue, const RunImpulsePhase<Real>& args) {
  switch (args.phase) {
    case ImpulsePhase::begin:
      return launch<Real, ImpulsePhase::begin>(queue, args);
    case ImpulsePhase::bend:
      return launch<Real, ImpulsePhase::bend>(queue, args);
    case ImpulsePhase::pull_shear:
      return launch<Real, ImpulsePhase::pull_shear>(queue, args);
    case ImpulsePhase::pull_bend:
      return launch<Real, ImpulsePhase::pull_bend>(queue, args);
    case ImpulsePhase::preview:
      return launch<Real, ImpulsePhase::preview>(queue, args);
    case ImpulsePhase::preview_pinned:
      return launch<Real, ImpulsePhase::preview_pinned>(queue, args);
    case ImpulsePhase::correct_lengths:
      return launch<Real, ImpulsePhase::correct_lengths>(queue, args);
    case ImpulsePhase::correct_velocities:
      return launch<Real, ImpulsePhase::correct_velocities>(queue, args);
    case ImpulsePhase::advance:
      return launch<Real, ImpulsePhase::advance>(queue, args);
    case ImpulsePhase::measure:
      return launch<Real, ImpulsePhase::measure>(queue, args);
    case ImpulsePhase::end:
      return launch<Real, ImpulsePhase::end>(queue, args);
  }
}

template void run_impulse_phase<float>(const Queue&, const RunImpulsePhase<float>&);
template void run_impulse_phase<double>(const Queue&, const RunImpulsePhase<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
