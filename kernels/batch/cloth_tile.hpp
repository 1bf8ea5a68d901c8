// What the threads of a block hold in common about a tile of cloths: its arrays, and loops over them.
#pragma once

#include "kernels/batch/step_cloths.hpp"
#include "kernels/launch/launch.hpp"
#include "kernels/projection/nodal_terms.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// S: lane value of the state; T: of the rest shapes, a scalar where they are shared.
template <class S, class T, class Block>
class ClothTile {
 protected:
  using Scalar = typename Lanes<S>::Scalar;
  using Mask = typename Lanes<S>::Mask;

  ISOCLOTH_DEVICE ClothTile(const StepCloths<Scalar>& args, const Block& block, Index tile)
      : a_(args),
        p_(args.pattern),
        block_(block),
        tile_(tile),
        at_(step_scratch(args.pattern)),
        parameters_(reinterpret_cast<const ClothParameters<S>*>(args.parameters.data())[tile]) {}

  static ISOCLOTH_DEVICE S number(double x) { return S(static_cast<Scalar>(x)); }
  ISOCLOTH_DEVICE S infinity() const { return S(static_cast<Scalar>(HUGE_VAL)); }

  // Work arrays of this tile, see StepScratch.
  ISOCLOTH_DEVICE S* in_shared(std::size_t offset) const { return block_.template shared<S>() + offset; }
  ISOCLOTH_DEVICE S* work(std::size_t offset) const {
    return in_device_memory(block_.template workspace<S>()) + (offset - at_.shared);
  }
  ISOCLOTH_DEVICE BlockFactor<S> factor() const {
    return {in_shared(at_.blocks), in_shared(at_.diagonals), work(at_.pivots)};
  }
  ISOCLOTH_DEVICE Vec3<S>* vectors(std::size_t offset) const {
    return reinterpret_cast<Vec3<S>*>(work(offset));
  }
  ISOCLOTH_DEVICE ArrayView<Vec3<S>> nodes(std::size_t offset) const {
    return {vectors(offset), static_cast<std::size_t>(p_.node_count)};
  }
  ISOCLOTH_DEVICE ArrayView<Vec3<S>> free_nodes(std::size_t offset) const {
    return {vectors(offset), p_.free.nodes.size()};
  }
  ISOCLOTH_DEVICE ArrayView<S> rows(std::size_t offset) const {
    return {work(offset), static_cast<std::size_t>(p_.row_count)};
  }
  ISOCLOTH_DEVICE ArrayView<Vec3<S>> jacobian() const {
    return {vectors(at_.jacobian), p_.rows.jacobian_count()};
  }
  ISOCLOTH_DEVICE ArrayView<S> at_limit() const {
    return {work(at_.at_limit), p_.rows.limits.stencils.slot_nodes.size()};
  }
  // Arrays of this tile in device memory.
  ISOCLOTH_DEVICE Vec3<S>* tile_nodes(ArrayView<Scalar> all) const {
    return in_device_memory(reinterpret_cast<Vec3<S>*>(all.data())) +
           static_cast<std::size_t>(tile_) * p_.node_count;
  }
  ISOCLOTH_DEVICE S* tile_rows(ArrayView<Scalar> all) const {
    return reinterpret_cast<S*>(all.data()) + static_cast<std::size_t>(tile_) * p_.row_count;
  }
  ISOCLOTH_DEVICE ArrayView<const T> rest(ArrayView<const Scalar> all, std::size_t count) const {
    return {reinterpret_cast<const T*>(all.data()) + (a_.rest.shared ? 0 : tile_ * count), count};
  }

  /// Solves in place, by way of shared memory. Ends with a sync.
  ISOCLOTH_DEVICE void solve(const BlockCholesky<S>& cholesky, ArrayView<Vec3<S>> x) const {
    if constexpr (Block::is_solo) {
      cholesky.solve(block_, x.data());
    } else {
      Vec3<S>* const solution = reinterpret_cast<Vec3<S>*>(in_shared(at_.solution));
      share(block_, x.size(), [&](Index i) { solution[i] = x[i]; });
      block_.sync();
      cholesky.solve(block_, solution);
      share(block_, x.size(), [&](Index i) { x[i] = solution[i]; });
      block_.sync();
    }
  }

  /// Largest value(i) over [0, count), the same for all threads of the block; 0 when there is none.
  template <class Value>
  ISOCLOTH_DEVICE S largest(std::size_t count, const Value& value) const {
    S most{};
    share(block_, count, [&](Index i) { most = larger(value(i), most); });
    if constexpr (Block::is_solo) {
      return most;
    } else if constexpr (Block::is_warp) {
      return block_.reduce(most, [](S a, S b) { return larger(a, b); });
    } else {
      S* partials = work(at_.partials);
      partials[block_.rank()] = most;
      block_.sync();
      for (int i = 0; i < block_.size(); ++i) most = larger(partials[i], most);
      block_.sync();
      return most;
    }
  }

  /// Sum of value(i) over [0, count), the same for all threads of the block and for any number of them.
  template <class Value>
  ISOCLOTH_DEVICE S sum(std::size_t count, const Value& value) const {
    constexpr int chains = 32;
    static_assert(chains <= max_block_threads);
    const auto sum_of_chain = [&](Index chain) {
      S own{};
      for (std::size_t i = static_cast<std::size_t>(chain); i < count; i += chains)
        own += value(static_cast<Index>(i));
      return own;
    };
    S total{};
    if constexpr (Block::is_warp) {
      static_assert(Block::size() == chains);
      const S own = sum_of_chain(block_.rank());
      for (int chain = 0; chain < chains; ++chain) total += block_.value_of(own, chain);
    } else {
      S* const partials = work(at_.partials);
      share(block_, chains, [&](Index chain) { partials[chain] = sum_of_chain(chain); });
      block_.sync();
      for (int chain = 0; chain < chains; ++chain) total += partials[chain];
      block_.sync();
    }
    return total;
  }

  ISOCLOTH_DEVICE MetricView<S, T> implicit_metric(S h, S rate) const {
    return {rate * multiply_add(h, parameters_.alpha, rate * parameters_.rho),
            h * multiply_add(h, parameters_.kappa, rate * parameters_.beta),
            rest(a_.rest.masses, p_.node_count),
            p_.bending,
            rest(a_.rest.bending, p_.bending.columns.size()),
            rest(a_.rest.factored, p_.block_rows.size()),
            rest(a_.rest.beyond, p_.couplings.columns.size())};
  }
  ISOCLOTH_DEVICE MetricView<S, T> projection_metric(S h, S rate) const {
    if (!a_.control.metric_is_mass) return implicit_metric(h, rate);
    return {number(1), S{}, rest(a_.rest.masses, p_.node_count), {}, {}, {}, {}};
  }

  ISOCLOTH_DEVICE Stitches<S> stitches() const {
    const auto count = static_cast<std::size_t>(p_.stitches.count());
    return {p_.stitches, {work(at_.stitch_stiffness), count}, {vectors(at_.stitch_rests), count}};
  }
  /// What threads are in a part of h that begins at `start`.
  ISOCLOTH_DEVICE void begin_stitches(S h) const {
    const auto count = static_cast<std::size_t>(p_.stitches.count());
    if (count == 0) return;
    const BeginStitches<S, Scalar> begin{p_.stitches,
                                         a_.stitch_laws,
                                         a_.stitch_speed,
                                         a_.stitch_hold,
                                         h,
                                         nodes(at_.start),
                                         {work(at_.stitch_stiffness), count},
                                         {vectors(at_.stitch_rests), count}};
    share(block_, count, [&](Index i) { begin_stitch(begin, i); });
    block_.sync();
  }

  /// Multipliers of the iterate, see QuadraticMultipliers; others than the step's lie where row_forces will.
  ISOCLOTH_DEVICE ArrayView<S> quadratic_multipliers() const {
    const bool are_quadratic = kind_of(p_.measure).is_quadratic;
    if (!are_quadratic) make_all_quadratic();
    return rows(are_quadratic ? at_.multipliers : at_.row_forces);
  }
  /// A function of its own, not to slow down the steps of other cloths.
  [[gnu::noinline]] ISOCLOTH_DEVICE void make_all_quadratic() const {
    const QuadraticMultipliers<S, T> quadratic{p_.rows,
                                               rest(a_.rest.tensors, p_.rows.tensor_count()),
                                               nodes(at_.iterate),
                                               rows(at_.multipliers),
                                               p_.measure,
                                               parameters_.coupling,
                                               rows(at_.row_forces)};
    p_.rows.for_each_group([&](const auto& group) {
      share(block_, group.stencil_count(), [&](Index i) { make_quadratic(quadratic, group, i); });
    });
    block_.sync();
  }

  /// Whether the work is to end. The threads of a larger block might not agree, and go on.
  ISOCLOTH_DEVICE bool stops() const {
    if constexpr (Block::is_solo) return a_.monitor.stops();
    return false;
  }

  /// The states that the steps begin with, from the copy of before.
  ISOCLOTH_DEVICE void take_over() const {
    const std::size_t coordinates = 3 * static_cast<std::size_t>(p_.node_count);
    const auto copy = [&](ArrayView<const Scalar> from, ArrayView<Scalar> to, std::size_t count) {
      const S* const begin = reinterpret_cast<const S*>(from.data()) + tile_ * count;
      S* const end = reinterpret_cast<S*>(to.data()) + tile_ * count;
      share(block_, count, [&](Index i) { end[i] = begin[i]; });
    };
    copy(a_.before.positions, a_.states.positions, coordinates);
    copy(a_.before.velocities, a_.states.velocities, coordinates);
    copy(a_.before.multipliers, a_.states.multipliers, p_.row_count);
    copy(a_.before.contacts, a_.states.contacts, p_.contact_state().size());
    copy(a_.before.history, a_.states.history, p_.history().size());
    copy(a_.before.plastic, a_.states.plastic, static_cast<std::size_t>(p_.memory_count));
    copy(a_.before.alive, a_.states.alive, 1);
    block_.sync();
  }

  ISOCLOTH_DEVICE S* kept_history() const {
    return reinterpret_cast<S*>(a_.states.history.data()) + tile_ * p_.history().size();
  }

  ISOCLOTH_DEVICE S* kept_plastic() const {
    return reinterpret_cast<S*>(a_.states.plastic.data()) +
           static_cast<std::size_t>(tile_) * static_cast<std::size_t>(p_.memory_count);
  }

  /// x^ and v^ of a part of h that begins at `start`; returns the rate of IntegratorCoefficients.
  ISOCLOTH_DEVICE S integrate(S h) const {
    if (!p_.has_history) return number(1);
    const StepHistoryLayout history = p_.history();
    block_.sync();
    const IntegratorCoefficients<S> now =
        coefficients(a_.control.integrator, h, *work(at_.history + history.step()));
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity), base = nodes(at_.base),
                             base_velocity = nodes(at_.base_velocity);
    const Vec3<S>*x = vectors(at_.history), *v = vectors(at_.history + history.velocities());
    share(block_, p_.node_count, [&](Index i) {
      base[i] = extrapolated(now.memory, start[i], x[i]);
      base_velocity[i] = extrapolated(now.memory, velocity[i], v[i]);
    });
    block_.sync();
    return now.rate;
  }

  /// Lets cloths forget the step before; returns those that knew of one.
  ISOCLOTH_DEVICE Mask forget(Mask which) const {
    if (!p_.has_history) return Mask(false);
    S& before = *work(at_.history + p_.history().step());
    const Mask knew = which & (before > S{});
    block_.sync();
    if (block_.rank() == 0) before = select(which, S{}, before);
    block_.sync();
    return knew;
  }

  /// What the next part will know of this one, before `start` and `velocity` move on; of those that `forget`
  /// nothing.
  ISOCLOTH_DEVICE void remember(const PartEnd<S, Mask>& end, Mask forget) const {
    const StepHistoryLayout history = p_.history();
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity);
    S* const now = work(at_.history);
    const S* const kept = kept_history();
    const auto visit = [&](const ArrayView<Vec3<S>>& values, std::size_t first) {
      Vec3<S>* const to = vectors(at_.history + first);
      const Vec3<S>* const from = reinterpret_cast<const Vec3<S>*>(kept + first);
      share(block_, p_.node_count,
            [&](Index i) { to[i] = select(end.retry, from[i], select(end.accept, values[i], to[i])); });
    };
    visit(start, 0);
    visit(velocity, history.velocities());
    if (block_.rank() == 0)
      now[history.step()] = select(end.retry, kept[history.step()],
                                   select(end.accept, select(forget, S{}, end.part.h), now[history.step()]));
    block_.sync();
  }

  /// See kernels/core/divergence.hpp; of a step that ends at `start`.
  ISOCLOTH_DEVICE Mask has_diverged(S residual) const {
    const Vec3<S>*positions = tile_nodes(a_.states.positions), *velocities = tile_nodes(a_.states.velocities);
    const ArrayView<Vec3<S>> end = nodes(at_.start);
    const S h = number(a_.control.step);
    const S excess = largest(p_.node_count, [&](Index i) {
      return excess_displacement(end[i] - positions[i], h * velocities[i], parameters_.reach);
    });
    return (residual > number(largest_residual(false))) | (excess > S{});
  }

  const StepCloths<Scalar>& a_;
  const ClothPatternView& p_;
  const Block& block_;
  const Index tile_;
  const StepScratch at_;
  const ClothParameters<S> parameters_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
