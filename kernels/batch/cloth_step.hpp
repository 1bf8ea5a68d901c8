// One step of a tile of cloths by the threads of a block.
#pragma once

#include "kernels/batch/tile_contacts.hpp"
#include "kernels/projection/step_rules.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// S: lane value of the state; T: of the rest shapes, a scalar where they are shared; Contacts: TileContacts
/// or NoContacts, each a kernel of its own, so that cloths without obstacles pay nothing for them.
template <class S, class T, class Block, class Contacts>
class ClothStep : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::work_, Tile::at_, Tile::parameters_;
  using Tile::implicit_metric, Tile::projection_metric;
  using Tile::number, Tile::infinity, Tile::largest, Tile::rest;
  using Tile::stops, Tile::take_over, Tile::has_diverged;
  using Tile::vectors, Tile::nodes, Tile::free_nodes, Tile::rows, Tile::tile_nodes, Tile::tile_rows;
  using typename Tile::Mask;
  using typename Tile::Scalar;

 public:
  ISOCLOTH_DEVICE ClothStep(const StepCloths<Scalar>& args, const Block& block, Index tile)
      : Tile(args, block, tile), contacts_(*this) {}

  ISOCLOTH_DEVICE void run() {
    if (!a_.before.alive.empty()) take_over(contacts_.kept());
    S& alive_lanes = reinterpret_cast<S*>(a_.states.alive.data())[tile_];
    Mask alive = alive_lanes > S{};
    ClothReport<S> report{};
    for (Index n = 0; n < a_.steps && !stops(); ++n) step(n, alive, report);
    block_.sync();
    if (!a_.inspection.empty()) {
      S* copy = reinterpret_cast<S*>(a_.inspection.data()) + tile_ * at_.size;
      for (std::size_t i = block_.rank(); i < at_.partials; i += block_.size()) copy[i] = work_[i];
    }
    if (block_.rank() == 0) {
      reinterpret_cast<ClothReport<S>*>(a_.reports.data())[tile_] = report;
      if (a_.inspection.empty()) alive_lanes = select(alive, number(1), S{});
    }
  }

 private:
  struct Outcome {
    S status{}, residual{}, penetration{}, bad_pivot{};
    S iterations{};
  };

  ISOCLOTH_DEVICE void step(Index n, Mask& alive, ClothReport<S>& report) {
    const bool inspecting = !a_.inspection.empty();
    Vec3<S>*positions = tile_nodes(a_.states.positions), *velocities = tile_nodes(a_.states.velocities);
    S* multipliers = tile_rows(a_.states.multipliers);
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity);
    const ArrayView<S> lambda = rows(at_.multipliers);
    block_.sync();
    share(block_, p_.node_count, [&](Index i) { start[i] = positions[i], velocity[i] = velocities[i]; });
    share(block_, p_.row_count, [&](Index i) { lambda[i] = multipliers[i]; });
    S *const contacts = contacts_.work(), *const kept_contacts = contacts_.state();
    share(block_, contacts_.kept(), [&](Index i) { contacts[i] = kept_contacts[i]; });
    block_.sync();

    const S one = number(1), most_parts = number(a_.control.max_substeps);
    S parts = one, done_parts{}, status{}, residual{}, penetration{}, substeps{}, bad_pivot{};
    Mask todo = inspecting ? Mask(true) : alive;
    while (any(todo)) {
      const S h = number(a_.control.step) / parts;
      const Outcome found = substep(n, todo, h, done_parts + one, parts);
      if (stops()) return;
      if (inspecting) {
        report.status = found.status;
        report.bad_pivot = found.bad_pivot;
        return;
      }
      const Mask failed = todo & (found.status > one), stalled = todo & (found.status == one);
      const Mask again = (failed | stalled) & (parts + parts <= most_parts);
      const Mask over = failed & !again, onward = todo & !again & !over;
      report.iterations += select(todo, found.iterations, S{});
      bad_pivot = select(over, found.bad_pivot, bad_pivot);
      status = select(onward & stalled, one, status);
      residual = select(onward, larger(found.residual, residual), residual);
      residual = select(over, infinity(), residual);
      penetration = select(onward, larger(found.penetration, penetration), penetration);
      status = select(over, number(2), status);
      done_parts = select(onward, done_parts + one, done_parts);
      const Mask finished = onward & (done_parts >= parts);
      substeps = select(finished | over, parts, substeps);

      const ArrayView<Vec3<S>> iterate = nodes(at_.iterate);
      const S inverse_step = one / h, more = parts + parts;
      share(block_, p_.node_count, [&](Index i) {
        const Vec3<S> v = inverse_step * (iterate[i] - start[i]);
        velocity[i] = select(again, velocities[i], select(onward, v, velocity[i]));
        start[i] = select(again, positions[i], select(onward, iterate[i], start[i]));
      });
      const S warm = select(starts_warm(found.residual) | (found.bad_pivot > S{}), one, S{});
      // lambda carries h^2.
      share(block_, p_.row_count, [&](Index i) {
        const S back = warm * multipliers[i] / (more * more);
        lambda[i] = select(again, back, select(finished, lambda[i] * (parts * parts), lambda[i]));
      });
      const std::size_t forces = contacts_.kept_forces();
      share(block_, forces, [&](Index i) {
        const S back = warm * kept_contacts[i] / (more * more);
        contacts[i] = select(again, back, select(finished, contacts[i] * (parts * parts), contacts[i]));
      });
      share(block_, contacts_.kept() - forces, [&](Index i) {
        S& obstacle = contacts[forces + static_cast<std::size_t>(i)];
        obstacle = select(again, kept_contacts[forces + static_cast<std::size_t>(i)], obstacle);
      });
      parts = select(again, more, parts);
      done_parts = select(again, S{}, done_parts);
      status = select(again, S{}, status);
      residual = select(again, S{}, residual);
      penetration = select(again, S{}, penetration);
      todo = todo & !finished & !over;
      block_.sync();
    }
    const Mask missed = alive & (status == one);
    if (any(missed)) status = select(missed & has_diverged(residual), number(3), status);
    const Mask kept = alive & (status < number(2));
    report.status = select(alive, larger(status, report.status), report.status);
    report.residual = select(alive, larger(residual, report.residual), report.residual);
    report.penetration = select(kept, larger(penetration, report.penetration), report.penetration);
    report.substeps += select(alive, substeps, S{});
    report.bad_pivot = select(alive & (status == number(2)), bad_pivot, report.bad_pivot);
    report.steps += select(kept, one, S{});
    share(block_, p_.node_count, [&](Index i) {
      positions[i] = select(kept, start[i], positions[i]);
      velocities[i] = select(kept, velocity[i], velocities[i]);
    });
    const Mask met = kept & keeps_multipliers(residual, a_.control.tolerance);
    share(block_, p_.row_count, [&](Index i) { multipliers[i] = select(met, lambda[i], multipliers[i]); });
    share(block_, contacts_.kept(),
          [&](Index i) { kept_contacts[i] = select(kept, contacts[i], kept_contacts[i]); });
    alive = kept;
  }

  /// From `start` to `iterate` in a time h that ends done_parts / parts of the step.
  ISOCLOTH_DEVICE Outcome substep(Index n, Mask todo, S h, S done_parts, S parts) {
    const StepControl& control = a_.control;
    const bool inspecting = !a_.inspection.empty();
    const S one = number(1), start_eps = number(control.eps),
            projection_inertia = projection_metric(h).inertia;
    Outcome result;
    Mask running = todo;
    ContactStep<S> contact_step{n, h, projection_inertia, (done_parts - one) / parts, done_parts / parts};
    const S deepest = number(control.contact_tolerance);
    block_.sync();
    if (!control.newton)  // the step starts without them
      share(block_, contacts_.kept_forces(), [&](Index i) { contacts_.work()[i] = S{}; });
    block_.sync();
    contacts_.grasp(contact_step, done_parts == one);
    if (!predict(contact_step, h, done_parts, parts, todo, result.bad_pivot)) {
      const Mask bad = running & (result.bad_pivot > S{});
      result.status = select(bad, number(2), result.status);
      result.residual = select(bad, infinity(), result.residual);
      running = running & !bad;
    }
    S eps = start_eps;
    for (int iteration = 0;; ++iteration) {
      if (stops() || (inspecting && iteration == 1)) return result;
      const S before = result.residual;
      const S residual = evaluate(eps / projection_inertia);
      result.residual = select(running, residual, result.residual);
      contact_step.iteration = iteration;
      const S depth = contacts_.find(contact_step, running | Mask(iteration == 0));
      result.penetration = select(running, depth, result.penetration);
      const Mask finite = residual < infinity();
      // The first iterate has not felt this step's forces yet: the rows alone do not tell that it is done.
      const bool may_stop = (iteration > 0 || !control.newton) && !inspecting;
      const Mask held = depth <= deepest;
      const Mask converged =
          running & finite & (residual <= number(control.tolerance)) & held & Mask(may_stop);
      result.status = select(running & !finite, number(2), result.status);
      running = running & finite & !converged;
      if (iteration == control.max_iterations) {
        result.status = select(running, one, result.status);
        running = Mask(false);
      }
      if (!any(running)) return result;
      if (control.newton && iteration > 0) {
        const S adapted = adapted_eps(eps, before, residual, control.least_eps, control.eps);
        const Mask changed = running & (adapted != eps);
        eps = select(running, adapted, eps);
        if (any(changed)) evaluate(eps / projection_inertia);  // the rows' scales must follow
      }
      result.iterations += select(running, one, S{});
      if (block_.rank() == 0) a_.monitor.count(1);
      S bad_pivot{};
      if (!solve(h, bad_pivot)) {
        const Mask bad = running & (bad_pivot > S{});
        result.status = select(bad, number(2), result.status);
        result.bad_pivot = select(bad, bad_pivot, result.bad_pivot);
        running = running & !bad;
      }
      if (inspecting)
        share(block_, p_.node_count, [&](Index i) { nodes(at_.velocity)[i] = nodes(at_.iterate)[i]; });
      block_.sync();
      correct(running);
      contacts_.update(contact_step, running);
      move(running, iteration);
    }
  }

  /// phi_0, and phi~ where the method needs it. False: some cloth's B has a pivot that is not positive.
  ISOCLOTH_DEVICE bool predict(const ContactStep<S>& step, S h, S done_parts, S parts, Mask todo,
                               S& bad_pivot) {
    const ArrayView<Vec3<S>> start = nodes(at_.start), iterate = nodes(at_.iterate);
    const ArrayView<Vec3<S>> predicted = nodes(at_.predicted), momenta = free_nodes(at_.momentum);
    const bool inspecting = !a_.inspection.empty();
    share(block_, p_.pinned_nodes.size(),
          [&](Index i) { iterate[p_.pinned_nodes[i]] = start[p_.pinned_nodes[i]]; });
    block_.sync();
    const Vec3<S>* targets =
        reinterpret_cast<const Vec3<S>*>(a_.targets.data()) +
        (static_cast<std::size_t>(step.number) * a_.tile_count + tile_) * p_.driven_nodes.size();
    const Vec3<S>* begin = tile_nodes(a_.states.positions);
    share(block_, p_.driven_nodes.size(), [&](Index i) {
      const Vec3<S> from = begin[p_.driven_nodes[i]];
      const Vec3<S> between = multiply_add(done_parts / parts, targets[i] - from, from);
      iterate[p_.driven_nodes[i]] = select(done_parts >= parts, targets[i], between);
    });
    const MetricView<S, T> metric = implicit_metric(h);
    const AssembleMomentum<S, T> assemble{metric,
                                          p_.free,
                                          parameters_.rho,
                                          parameters_.kappa,
                                          parameters_.weight,
                                          h,
                                          start,
                                          nodes(at_.velocity),
                                          momenta};
    share(block_, momenta.size(), [&](Index i) { momenta[i] = momentum(assemble, i); });
    bool worked = true;
    if (!a_.control.newton || a_.control.metric_is_mass || inspecting) {
      share(block_, momenta.size(), [&](Index i) { iterate[p_.free.nodes[i]] = start[p_.free.nodes[i]]; });
      block_.sync();
      const ArrayView<Vec3<S>> moves = free_nodes(at_.correction), none;
      // In proximal Newton what acts from outside acts in the iterations.
      const bool is_pulled = !a_.control.newton && contacts_.has_outer_forces(),
                 is_solved = metric.has_bending() || is_pulled;
      if (is_pulled) contacts_.act_without_contacts(step, todo);
      if (is_solved) worked = solve_unconstrained(metric, is_pulled, bad_pivot);
      if (is_pulled) contacts_.update(step, todo);
      const PredictPositions<S, T> predict{
          metric, p_.free, start, iterate, momenta, is_solved ? moves : none, predicted};
      share(block_, p_.node_count,
            [&](Index i) { predicted[i] = isocloth::ISOCLOTH_BACKEND::predicted(predict, i); });
      block_.sync();
      share(block_, moves.size(), [&](Index i) {
        const Index node = p_.free.nodes[i];
        if (a_.control.metric_is_mass) momenta[i] = S(metric.masses[node]) * (predicted[node] - start[node]);
        if (!a_.control.newton) iterate[node] = predicted[node];
      });
    }
    block_.sync();
    if (a_.control.newton) {
      const StartIteration<S> first{p_.free, h, start, nodes(at_.velocity), iterate, iterate};
      share(block_, p_.free.nodes.size(),
            [&](Index i) { iterate[p_.free.nodes[i]] = first_iterate(first, p_.free.nodes[i]); });
      block_.sync();
    }
    contacts_.place_held(step, todo);
    return worked;
  }

  template <int Width>
  ISOCLOTH_DEVICE EvaluateRows<S, Width, T, typename Contacts::InverseMass> rows_of(
      const StencilView& stencils, ArrayView<const Scalar> tensors, std::size_t first_row,
      std::size_t jacobian, S eps) const {
    const std::size_t count = static_cast<std::size_t>(stencils.stencil_count()) * Width;
    return {stencils,
            rest(tensors, stencils.entry_nodes.size() * Width),
            part(rest(a_.rest.rest_values, p_.row_count), first_row, first_row + count),
            nodes(at_.iterate),
            contacts_.inverse_masses(),
            eps,
            part(rows(at_.residuals), first_row, first_row + count),
            part(rows(at_.scales), first_row, first_row + count),
            {vectors(jacobian), stencils.slot_nodes.size() * Width}};
  }
  ISOCLOTH_DEVICE std::size_t metric_rows() const {
    return static_cast<std::size_t>(p_.metric_stencils.stencil_count()) * 3;
  }

  /// Rows at `iterate`; returns max |C|, infinite where any is not finite.
  ISOCLOTH_DEVICE S evaluate(S eps) {
    const auto metric = rows_of<3>(p_.metric_stencils, a_.rest.metric_tensors, 0, at_.metric_jacobian, eps);
    const auto scalar =
        rows_of<1>(p_.scalar_stencils, a_.rest.scalar_tensors, metric_rows(), at_.scalar_jacobian, eps);
    share(block_, metric.stencils.slot_nodes.size(), [&](Index slot) { evaluate_slot(metric, slot); });
    share(block_, scalar.stencils.slot_nodes.size(), [&](Index slot) { evaluate_slot(scalar, slot); });
    block_.sync();
    const Index count = static_cast<Index>(metric_rows());
    share(block_, p_.row_count, [&](Index row) {
      if (row < count)
        evaluate_row(metric, row / 3, row % 3);
      else
        evaluate_row(scalar, row - count, 0);
    });
    const ArrayView<S> residuals = rows(at_.residuals);
    const S most = largest(p_.row_count, [&](Index row) {
      const S c = magnitude(residuals[row]);
      return select(c < infinity(), c, infinity());
    });
    block_.sync();
    return most;
  }

  ISOCLOTH_DEVICE AssembleSystem<S, T> system(const MetricView<S, T>& metric, bool with_rows,
                                              const SampleForces<S>& samples) const {
    return {metric,
            p_.free,
            p_.block_rows,
            p_.block_columns,
            p_.block_pairs,
            p_.block_bending,
            p_.block_metric,
            p_.block_scalar,
            {vectors(at_.metric_jacobian), p_.metric_stencils.slot_nodes.size() * 3},
            {vectors(at_.scalar_jacobian), p_.scalar_stencils.slot_nodes.size()},
            p_.node_pair_begin,
            p_.node_pairs,
            {work_ + at_.stiffness, a_.control.newton ? static_cast<std::size_t>(p_.pair_count) : 0},
            samples,
            with_rows,
            {}};
  }
  ISOCLOTH_DEVICE AssembleGradient<S, T> right_side(const MetricView<S, T>& metric, bool with_rows,
                                                    const SampleForces<S>& samples) const {
    const ArrayView<S> none;
    const bool pulled = a_.control.newton || !with_rows;
    return {metric,
            p_.free,
            p_.node_metric,
            p_.node_scalar,
            {vectors(at_.metric_jacobian), p_.metric_stencils.slot_nodes.size() * 3},
            {vectors(at_.scalar_jacobian), p_.scalar_stencils.slot_nodes.size()},
            rows(at_.residuals),
            rows(at_.scales),
            a_.control.newton ? rows(at_.multipliers) : none,
            nodes(at_.iterate),
            nodes(at_.start),
            pulled ? free_nodes(at_.momentum) : ArrayView<Vec3<S>>{},
            samples,
            with_rows,
            {}};
  }

  /// Assembles, factorises and solves into `correction`; false: some pivot is not positive.
  ISOCLOTH_DEVICE bool solve_system(const AssembleSystem<S, T>& matrix,
                                    const AssembleGradient<S, T>& gradients, S& bad_pivot) {
    const BlockFactor<S> factor{work_ + at_.blocks, work_ + at_.diagonals, work_ + at_.pivots};
    const ArrayView<Vec3<S>> x = free_nodes(at_.correction);
    share(block_, x.size(), [&](Index i) { x[i] = gradient(gradients, i); });
    block_.sync();
    const BlockCholesky<S> cholesky{p_.plan, factor};
    cholesky.factorize(block_, [&](Index b, S(&block)[9]) {
      if (p_.system_blocks[b] >= 0) {
        system_block(matrix, p_.system_blocks[b], block);
      } else {
        for (S& entry : block) entry = S{};
      }
    });
    cholesky.solve(block_, x.data());
    // The first column whose pivot is not positive, counted from the last.
    const S count = number(static_cast<double>(x.size()));
    const S from_last =
        largest(x.size(), [&](Index i) { return select(factor.pivots[i] > S{}, S{}, count - number(i)); });
    bad_pivot = select(from_last > S{}, count - from_last + number(1), S{});
    return !any(bad_pivot > S{});
  }

  ISOCLOTH_DEVICE bool solve_unconstrained(const MetricView<S, T>& metric, bool is_pulled, S& bad_pivot) {
    const SampleForces<S> samples = is_pulled ? contacts_.forces() : SampleForces<S>{};
    return solve_system(system(metric, false, samples), right_side(metric, false, samples), bad_pivot);
  }

  ISOCLOTH_DEVICE bool solve(S h, S& bad_pivot) {
    if (a_.control.newton) {
      const GeometricStiffness<S, T> stiffness{
          p_.pair_metric,
          p_.pair_scalar,
          rest(a_.rest.metric_tensors, p_.metric_stencils.entry_nodes.size() * 3),
          rest(a_.rest.scalar_tensors, p_.scalar_stencils.entry_nodes.size()),
          rows(at_.multipliers),
          {work_ + at_.stiffness, static_cast<std::size_t>(p_.pair_count)}};
      share(block_, p_.pair_count,
            [&](Index pair) { stiffness.stiffness[pair] = pair_stiffness(stiffness, pair); });
      block_.sync();
    }
    const MetricView<S, T> metric = projection_metric(h);
    const SampleForces<S> samples = contacts_.forces();
    return solve_system(system(metric, true, samples), right_side(metric, true, samples), bad_pivot);
  }

  /// lambda_{j+1} of the cloths in `running`.
  ISOCLOTH_DEVICE void correct(Mask running) {
    const ArrayView<Vec3<S>> d = free_nodes(at_.correction);
    const ArrayView<S> lambda = rows(at_.multipliers);
    // Before the clamp: multipliers belong to the whole correction, which alone balances C.
    if (a_.control.newton) {
      const std::size_t count = metric_rows(), all = static_cast<std::size_t>(p_.row_count);
      const UpdateMultipliers<S, 3> metric{
          p_.metric_stencils,
          p_.free,
          {vectors(at_.metric_jacobian), p_.metric_stencils.slot_nodes.size() * 3},
          part(rows(at_.residuals), 0, count),
          part(rows(at_.scales), 0, count),
          d,
          {}};
      const UpdateMultipliers<S, 1> scalar{
          p_.scalar_stencils,
          p_.free,
          {vectors(at_.scalar_jacobian), p_.scalar_stencils.slot_nodes.size()},
          part(rows(at_.residuals), count, all),
          part(rows(at_.scales), count, all),
          d,
          {}};
      share(block_, all, [&](Index row) {
        const Index first = static_cast<Index>(count);
        const S change = row < first ? multiplier_change(metric, row / 3, row % 3)
                                     : multiplier_change(scalar, row - first, 0);
        lambda[row] = select(running, lambda[row] + change, lambda[row]);
      });
      block_.sync();
    }
  }

  /// phi_{j+1} of the cloths in `running`.
  ISOCLOTH_DEVICE void move(Mask running, int iteration) {
    S clamp = parameters_.clamp;
    if (const double own = contacts_.has_obstacles() ? contact_clamp(iteration) : 0; own > 0)
      clamp = select((clamp > S{}) & (clamp < number(own)), clamp, number(own));
    clamp = clamp * parameters_.element_size;
    const ArrayView<Vec3<S>> d = free_nodes(at_.correction), iterate = nodes(at_.iterate);
    share(block_, d.size(), [&](Index i) {
      d[i] = select(running, clamped(clamp, d[i]), Vec3<S>{});
      iterate[p_.free.nodes[i]] += d[i];
    });
    block_.sync();
  }

  Contacts contacts_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
