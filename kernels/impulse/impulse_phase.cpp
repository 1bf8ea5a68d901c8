#include "kernels/impulse/impulse_phase.hpp"

#include "kernels/impulse/impulse_contact_terms.hpp"
#include "kernels/impulse/impulse_outer_terms.hpp"
#include "kernels/impulse/row_families.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
ISOCLOTH_DEVICE ImpulseWork<Real> work_of(const RunImpulsePhase<Real>& a) {
  return {.places = a.places.data(),
          .moves = a.moves.data(),
          .forces = a.forces.data(),
          .positions = a.work_positions.data(),
          .loads = a.cloths.holds.loads.data()};
}

template <class Real, ImpulsePhase Phase>
struct NodePhase {
  RunImpulsePhase<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const ImpulseTerms<Real> terms(a.cloths, 0, work_of(a));
    const Index i = a.first + item;
    if constexpr (Phase == ImpulsePhase::begin) terms.begin(i);
    if constexpr (Phase == ImpulsePhase::bend) terms.bend(i);
    if constexpr (Phase == ImpulsePhase::pull_shear) terms.pull_shear(i);
    if constexpr (Phase == ImpulsePhase::pull_bend) terms.pull_bend(i);
    if constexpr (Phase == ImpulsePhase::preview) terms.preview(i);
    if constexpr (Phase == ImpulsePhase::preview_pinned) terms.preview_pinned(i, a.step, a.part);
    if constexpr (Phase == ImpulsePhase::advance) terms.advance(i);
    if constexpr (Phase == ImpulsePhase::measure_ways)
      a.of_nodes[i] = terms.excess_way(i) > 0 ? Real(1) : Real(0);
    if constexpr (Phase == ImpulsePhase::end) terms.end(i);
  }
};

template <class Real, ImpulsePhase Phase>
struct OuterPhase {
  RunImpulsePhase<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const ImpulseWork<Real> work = work_of(a);
    const ImpulseOuterTerms<Real> terms(a.cloths, 0, a.step, work);
    const Index i = a.first + item;
    if constexpr (Phase == ImpulsePhase::grasp) terms.grasp(i);
    if constexpr (Phase == ImpulsePhase::preview_outer) terms.preview(i, a.part);
    if constexpr (Phase == ImpulsePhase::end_holds) terms.end_part(i);
    if constexpr (Phase == ImpulsePhase::weigh) {
      const ImpulseHolds<Real>& holds = a.cloths.holds;
      if (a.rows == ImpulseRows::edges) terms.weigh_edges(i);
      if (a.rows == ImpulseRows::metric_stencils)
        terms.weigh_stencils(a.cloths.pattern.metric_stencils, holds.metric_stencils, i);
      if (a.rows == ImpulseRows::scalar_stencils)
        terms.weigh_stencils(a.cloths.pattern.scalar_stencils, holds.scalar_stencils, i);
    }
  }
};

template <class Real, ImpulsePhase Phase, ImpulseRows Rows, bool Holds>
struct RowPhase {
  using S = PairLanes<Real>;
  RunImpulsePhase<Real> a;

  ISOCLOTH_DEVICE void operator()(Index item) const {
    const ImpulseWork<Real> work = work_of(a);
    const RowSets sets = a.cloths.row_sets(0);
    if constexpr (Rows == ImpulseRows::edges)
      run(EdgeTerms<Real, Holds>(a.cloths.pattern.edges, work, sets), a.first + item);
    else if constexpr (Rows == ImpulseRows::metric_stencils)
      run(StencilTerms<Real, 3, Holds>(a.cloths.pattern.metric_stencils, work, sets), a.first + item);
    else
      run(StencilTerms<Real, 1, Holds>(a.cloths.pattern.scalar_stencils, work, sets), a.first + item);
  }

  template <class Terms>
  ISOCLOTH_DEVICE void run(const Terms& terms, Index packet) const {
    if constexpr (Phase == ImpulsePhase::measure) {
      a.errors[packet] = largest(terms.residuals(packet));
    } else {
      const auto factor = static_cast<Real>(a.factor), threshold = static_cast<Real>(a.threshold);
      typename Lanes<S>::Mask corrected(false);
      const S errors = Phase == ImpulsePhase::correct_positions
                           ? terms.correct_positions(packet, factor, threshold, corrected)
                           : terms.correct_velocities(packet, factor, threshold, corrected);
      if (!a.is_watched) return;
      a.errors[packet] = largest(errors);
      if (any(corrected)) a.last_sweeps[packet] = static_cast<Real>(a.sweep);
    }
  }

  /// Infinite where a lane is not finite.
  static ISOCLOTH_DEVICE Real largest(S lanes) {
    Real value = 0;
    for (int lane = 0; lane < Lanes<S>::width; ++lane) {
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

template <class Real>
ISOCLOTH_DEVICE ImpulseContactTerms<Real> contacts_of(const RunImpulsePhase<Real>& a) {
  return {a.cloths, 0, a.step, a.part, work_of(a)};
}

template <class Real, ImpulsePhase Phase>
struct ContactPhase {
  RunImpulsePhase<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const ImpulseContactTerms<Real> contacts = contacts_of(a);
    const Index i = a.first + item;
    if constexpr (Phase == ImpulsePhase::begin_contacts) contacts.begin(i);
    if constexpr (Phase == ImpulsePhase::end_contacts) contacts.end_part(i);
    if constexpr (Phase == ImpulsePhase::push_out) {
      const Index sample = a.cloths.contacts.order[i];
      a.of_samples[sample] = contacts.are_near() ? contacts.correct_positions(sample, a.seeks) : Real(0);
    }
    if constexpr (Phase == ImpulsePhase::push_back) {
      const Index sample = a.cloths.contacts.order[i];
      a.of_samples[sample] = contacts.correct_velocities(sample, a.seeks);
    }
    if constexpr (Phase == ImpulsePhase::measure_contacts)
      a.of_samples[i] = contacts.are_near() ? contacts.depth(i) : Real(0);
  }
};

/// One block lists what is near the box of all nodes.
template <class Real>
struct NearBody {
  static constexpr int most_block_threads = 128;
  using Box = typename ImpulseContactTerms<Real>::Box;
  RunImpulsePhase<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    const ImpulseContactTerms<Real> contacts = contacts_of(a);
    Box* const boxes = block.template shared<Box>();
    Box box = contacts.way_of(0);
    for (Index i = block.rank(); i < a.cloths.pattern.node_count; i += block.size())
      box.add(contacts.way_of(i));
    boxes[block.rank()] = box;
    block.sync();
    if (block.rank() != 0) return;
    for (int i = 1; i < block.size(); ++i) box.add(boxes[i]);
    contacts.list(box);
  }
};

template <class Real, ImpulsePhase Phase>
void launch_contacts(const Queue& queue, const RunImpulsePhase<Real>& args) {
  parallel_for(queue, args.count, ContactPhase<Real, Phase>{args});
}

template <class Real, ImpulsePhase Phase>
void launch_nodes(const Queue& queue, const RunImpulsePhase<Real>& args) {
  parallel_for(queue, args.count, NodePhase<Real, Phase>{args});
}

template <class Real, ImpulsePhase Phase>
void launch_outer(const Queue& queue, const RunImpulsePhase<Real>& args) {
  parallel_for(queue, args.count, OuterPhase<Real, Phase>{args});
}

template <class Real, ImpulsePhase Phase, bool Holds>
void launch_family(const Queue& queue, const RunImpulsePhase<Real>& args) {
  constexpr auto metric = ImpulseRows::metric_stencils, scalar = ImpulseRows::scalar_stencils,
                 edges = ImpulseRows::edges;
  switch (args.rows) {
    case metric:
      return parallel_for(queue, args.count, RowPhase<Real, Phase, metric, Holds>{args});
    case scalar:
      return parallel_for(queue, args.count, RowPhase<Real, Phase, scalar, Holds>{args});
    case edges:
      return parallel_for(queue, args.count, RowPhase<Real, Phase, edges, Holds>{args});
  }
}

template <class Real, ImpulsePhase Phase>
void launch_rows(const Queue& queue, const RunImpulsePhase<Real>& args) {
  if constexpr (Phase != ImpulsePhase::measure)
    if (args.cloths.holds.exist()) return launch_family<Real, Phase, true>(queue, args);
  launch_family<Real, Phase, false>(queue, args);
}

}  // namespace

template <class Real>
void run_impulse_phase(const Queue& queue, const RunImpulsePhase<Real>& args) {
  switch (args.phase) {
    case ImpulsePhase::begin:
      return launch_nodes<Real, ImpulsePhase::begin>(queue, args);
    case ImpulsePhase::bend:
      return launch_nodes<Real, ImpulsePhase::bend>(queue, args);
    case ImpulsePhase::pull_shear:
      return launch_nodes<Real, ImpulsePhase::pull_shear>(queue, args);
    case ImpulsePhase::pull_bend:
      return launch_nodes<Real, ImpulsePhase::pull_bend>(queue, args);
    case ImpulsePhase::preview:
      return launch_nodes<Real, ImpulsePhase::preview>(queue, args);
    case ImpulsePhase::preview_pinned:
      return launch_nodes<Real, ImpulsePhase::preview_pinned>(queue, args);
    case ImpulsePhase::correct_positions:
      return launch_rows<Real, ImpulsePhase::correct_positions>(queue, args);
    case ImpulsePhase::correct_velocities:
      return launch_rows<Real, ImpulsePhase::correct_velocities>(queue, args);
    case ImpulsePhase::advance:
      return launch_nodes<Real, ImpulsePhase::advance>(queue, args);
    case ImpulsePhase::measure:
      return launch_rows<Real, ImpulsePhase::measure>(queue, args);
    case ImpulsePhase::measure_ways:
      return launch_nodes<Real, ImpulsePhase::measure_ways>(queue, args);
    case ImpulsePhase::end:
      return launch_nodes<Real, ImpulsePhase::end>(queue, args);
    case ImpulsePhase::begin_contacts:
      return launch_contacts<Real, ImpulsePhase::begin_contacts>(queue, args);
    case ImpulsePhase::list_near:
      return for_each_block(queue, 1,
                            NearBody<Real>::most_block_threads * sizeof(typename NearBody<Real>::Box),
                            NearBody<Real>{args});
    case ImpulsePhase::push_out:
      return launch_contacts<Real, ImpulsePhase::push_out>(queue, args);
    case ImpulsePhase::push_back:
      return launch_contacts<Real, ImpulsePhase::push_back>(queue, args);
    case ImpulsePhase::measure_contacts:
      return launch_contacts<Real, ImpulsePhase::measure_contacts>(queue, args);
    case ImpulsePhase::end_contacts:
      return launch_contacts<Real, ImpulsePhase::end_contacts>(queue, args);
    case ImpulsePhase::grasp:
      return launch_outer<Real, ImpulsePhase::grasp>(queue, args);
    case ImpulsePhase::weigh:
      return launch_outer<Real, ImpulsePhase::weigh>(queue, args);
    case ImpulsePhase::preview_outer:
      return launch_outer<Real, ImpulsePhase::preview_outer>(queue, args);
    case ImpulsePhase::end_holds:
      return launch_outer<Real, ImpulsePhase::end_holds>(queue, args);
  }
}

template void run_impulse_phase<float>(const Queue&, const RunImpulsePhase<float>&);
template void run_impulse_phase<double>(const Queue&, const RunImpulsePhase<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
