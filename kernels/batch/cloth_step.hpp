// One step of a tile of cloths by the threads of a block.
#pragma once

#include "engine/core/standard_gravity.hpp"
#include "kernels/batch/cloth_rows.hpp"
#include "kernels/batch/tile_system.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// S: lane value of the state; T: of the rest shapes, a scalar where they are shared; Samples: TileSamples
/// or NoSamples, each a kernel of its own, so that cloths without obstacles pay nothing for them.
template <class S, class T, class Block, class Samples>
class ClothStep : ClothRows<S, T, Block, Samples> {
  using Tile = ClothTile<S, T, Block>;
  using Rows = ClothRows<S, T, Block, Samples>;
  using Rows::keep_memory, Rows::plastic;
  using Rows::laws, Rows::evaluate, Rows::differentiate, Rows::note_strains, Rows::mismatch_excess;
  using Rows::samples_, Rows::sample_step_, Rows::rate_, Rows::eps_;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::at_, Tile::parameters_;
  using Tile::begin_stitches, Tile::quadratic_multipliers, Tile::stitches, Tile::jacobian, Tile::at_limit;
  using Tile::factor, Tile::in_shared, Tile::work;
  using Tile::implicit_metric, Tile::projection_metric;
  using Tile::integrate, Tile::kept_history, Tile::kept_plastic, Tile::remember, Tile::take_over;
  using Tile::number, Tile::infinity, Tile::largest, Tile::rest;
  using Tile::vectors, Tile::nodes, Tile::free_nodes, Tile::rows, Tile::tile_nodes, Tile::tile_rows;
  using typename Tile::Mask;
  using typename Tile::Scalar;

 public:
  ISOCLOTH_DEVICE ClothStep(const StepCloths<Scalar>& args, const Block& block, Index tile)
      : Rows(args, block, tile) {}

  ISOCLOTH_DEVICE void run() {
    if (!a_.before.alive.empty()) take_over();
    ClothReport<S> report{};
    if (!a_.inspection.empty()) {
      inspect(report);
    } else {
      S& alive_lanes = reinterpret_cast<S*>(a_.states.alive.data())[tile_];
      Mask alive = alive_lanes > S{};
      StepController<S, ClothStep> controller(a_.control, *this);
      for (Index n = 0; n < a_.steps && !stops(); ++n) controller.step(n, alive, report);
      if (block_.rank() == 0) alive_lanes = select(alive, number(1), S{});
    }
    if (block_.rank() == 0) reinterpret_cast<ClothReport<S>*>(a_.reports.data())[tile_] = report;
  }

  // What StepController asks for.
  using Tile::has_diverged;
  using Tile::stops;

  ISOCLOTH_DEVICE void begin_step() {
    const Vec3<S>*positions = tile_nodes(a_.states.positions), *velocities = tile_nodes(a_.states.velocities);
    const S* multipliers = tile_rows(a_.states.multipliers);
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity);
    const ArrayView<S> lambda = rows(at_.multipliers);
    S *const history = work(at_.history), *const remembered = kept_history();
    block_.sync();
    samples_.begin_step();
    S *const contacts = samples_.work(), *const before = samples_.state();
    share(block_, p_.history().size(), [&](Index i) { history[i] = remembered[i]; });
    share(block_, p_.node_count, [&](Index i) { start[i] = positions[i], velocity[i] = velocities[i]; });
    share(block_, p_.row_count, [&](Index i) { lambda[i] = multipliers[i]; });
    const S* const plastic_before = kept_plastic();
    share(block_, p_.memory_count, [&](Index i) { plastic()[i] = plastic_before[i]; });
    samples_.each_kept([&](std::size_t i) { contacts[i] = before[i]; });
    block_.sync();
  }

  ISOCLOTH_DEVICE bool begin_substep(const Substep<S>& part, Mask which, S& bad_pivot) {
    rate_ = integrate(part.h);
    sample_step_ = sample_step(part, rate_, projection_metric(part.h, rate_).inertia,
                               implicit_metric(part.h, rate_).inertia);
    eps_ = number(a_.control.eps);
    block_.sync();
    if (!a_.control.newton)  // the step starts without them
      share(block_, samples_.layout().force_count(),
            [&](Index i) { samples_.work()[i] = select(which, S{}, samples_.work()[i]); });
    block_.sync();
    samples_.begin(sample_step_, which);
    if (p_.viscosity_numbers > 0) note_strains();
    begin_stitches(part.h);
    return predict(part, which, bad_pivot);
  }

  ISOCLOTH_DEVICE Mask forget(Mask which) {
    forgets_ = forgets_ | which;
    return Tile::forget(which);
  }

  ISOCLOTH_DEVICE Assessment<S> assess(const Substep<S>&, int iteration, Mask which) {
    Assessment<S> found;
    sample_step_.iteration = iteration;
    found.residual = evaluate();
    const ContactFit<S> contacts = samples_.act(sample_step_, which);
    found.squeeze = contacts.depth;
    found.contact_error = contacts.error * parameters_.accuracy;
    found.penetration = larger(contacts.depth - number(0.5) * parameters_.curve.give, S{});
    found.met = (found.residual <= number(a_.control.tolerance)) & (contacts.error <= number(1));
    // Of the first iterate nobody asks: no step ends with it.
    if (a_.control.balance > 0 && iteration > 0 && any(found.met & which))
      found.met = found.met & (imbalance() <= number(a_.control.balance));
    found.near = found.done = found.met;
    if (iteration > 0 && any(found.met & which)) {
      const S excess = mismatch_excess();
      found.near = found.met & (excess <= number(mismatch_before_projection));
      if (projects_again())
        found.near = found.near & is_near(found.residual, sample_step_.part.h, parameters_.mismatch_rate,
                                          parameters_.mismatch_rounding,
                                          strain_rounding(sizeof(Scalar) == sizeof(float)));
      found.done = found.met & (excess <= number(1));
    }
    return found;
  }

  ISOCLOTH_DEVICE void follow(S before, S after, Mask which) {
    if (!a_.row_stiffness.empty()) return;  // no row is rigid
    const S adapted = adapted_eps(eps_, before, after, a_.control.least_eps, a_.control.eps);
    const Mask changed = which & (adapted != eps_);
    eps_ = select(which, adapted, eps_);
    if (any(changed)) evaluate();  // the rows' scales must follow
  }

  ISOCLOTH_DEVICE bool solve(const Substep<S>& part, S& bad_pivot) {
    if (block_.rank() == 0) a_.monitor.count(1);
    differentiate();
    if (a_.control.newton) {
      const GeometricStiffness<S, T> stiffness{p_.rows,
                                               rest(a_.rest.tensors, p_.rows.tensor_count()),
                                               quadratic_multipliers(),
                                               parameters_.coupling,
                                               {work(at_.stiffness), static_cast<std::size_t>(p_.pair_count)},
                                               stitches(),
                                               at_limit()};
      share(block_, p_.pair_count,
            [&](Index pair) { stiffness.stiffness[pair] = pair_stiffness(stiffness, pair); });
      block_.sync();
    }
    return solve_system(projection_metric(part.h, rate_), true, samples_.forces(), bad_pivot);
  }

  ISOCLOTH_DEVICE_CALL void correct(Mask which) {
    block_.sync();
    const ArrayView<Vec3<S>> d = free_nodes(at_.correction), iterate = nodes(at_.iterate);
    if (a_.control.newton) {
      const ArrayView<S> lambda = rows(at_.multipliers);
      const UpdateMultipliers<S> update{p_.rows,          laws(), p_.free, jacobian(), rows(at_.residuals),
                                        rows(at_.scales), d,      {},      at_limit()};
      share(block_, p_.row_count, [&](Index row) {
        lambda[row] = select(which, next_multiplier(update, row, lambda[row]), lambda[row]);
      });
      block_.sync();
    }
    samples_.update(sample_step_, which);
    share(block_, d.size(), [&](Index i) {
      d[i] = select(which, of_finite_length(d[i]), Vec3<S>{});
      iterate[p_.free.nodes[i]] += d[i];
    });
    block_.sync();
  }

  ISOCLOTH_DEVICE bool projects_again() const { return a_.control.projects_again && p_.rows.are_membranes(); }
  /// J is that of the last system: no membrane is differentiated before solve().
  ISOCLOTH_DEVICE void project_again(Mask which) {
    const MetricView<S, T> metric = projection_metric(sample_step_.part.h, rate_);
    AssembleGradient<S, T> gradients = right_side(metric, true, {});
    gradients.momentum = {};
    gradients.stitches = {};
    gradients.pull = RowPull::mismatch;
    find_right_side(gradients);
    back_substitute(metric, true);
    correct(which);
  }

  ISOCLOTH_DEVICE void end_part(const PartEnd<S, Mask>& end) {
    const Vec3<S>*positions = tile_nodes(a_.states.positions), *velocities = tile_nodes(a_.states.velocities);
    const S* multipliers = tile_rows(a_.states.multipliers);
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity),
                             iterate = nodes(at_.iterate);
    const ArrayView<S> lambda = rows(at_.multipliers);
    const ArrayView<Vec3<S>> base = nodes(at_.base);
    const S one = number(1), inverse_step = rate_ / end.part.h, parts = end.part.parts, more = parts + parts;
    if (p_.memory_count > 0) {
      keep_memory(end.accept);
      const S* const plastic_before = kept_plastic();
      share(block_, p_.memory_count,
            [&](Index i) { plastic()[i] = select(end.retry, plastic_before[i], plastic()[i]); });
    }
    if (p_.has_history) remember(end, forgets_);
    forgets_ = forgets_ & !(end.retry | end.accept);
    samples_.end_part();
    share(block_, p_.node_count, [&](Index i) {
      const Vec3<S> v = inverse_step * (iterate[i] - base[i]);
      velocity[i] = select(end.retry, velocities[i], select(end.accept, v, velocity[i]));
      start[i] = select(end.retry, positions[i], select(end.accept, iterate[i], start[i]));
    });
    const S warm = select(starts_warm(end.residual, end.bad_pivot), one, S{});
    // lambda carries h^2.
    const auto scaled = [&](S now, S before) {
      return select(end.retry, warm * before / (more * more),
                    select(end.step_done, now * (parts * parts), now));
    };
    share(block_, p_.row_count, [&](Index i) { lambda[i] = scaled(lambda[i], multipliers[i]); });
    S *const contacts = samples_.work(), *const before = samples_.state();
    const std::size_t forces = samples_.layout().force_count();
    samples_.each_kept([&](std::size_t i) {
      contacts[i] = i < forces ? scaled(contacts[i], before[i]) : select(end.retry, before[i], contacts[i]);
    });
    block_.sync();
  }

  ISOCLOTH_DEVICE S depenetration_depth() const { return samples_.depenetration_depth(sample_step_); }
  ISOCLOTH_DEVICE void end_step(Mask kept, S residual) {
    Vec3<S>*positions = tile_nodes(a_.states.positions), *velocities = tile_nodes(a_.states.velocities);
    S* multipliers = tile_rows(a_.states.multipliers);
    const ArrayView<Vec3<S>> start = nodes(at_.start), velocity = nodes(at_.velocity);
    const ArrayView<S> lambda = rows(at_.multipliers);
    share(block_, p_.node_count, [&](Index i) {
      positions[i] = select(kept, start[i], positions[i]);
      velocities[i] = select(kept, velocity[i], velocities[i]);
    });
    const Mask met = kept & keeps_multipliers(residual, a_.control.tolerance);
    share(block_, p_.row_count, [&](Index i) { multipliers[i] = select(met, lambda[i], multipliers[i]); });
    S *const contacts = samples_.work(), *const before = samples_.state();
    samples_.each_kept([&](std::size_t i) { before[i] = select(kept, contacts[i], before[i]); });
    const S* const history = work(at_.history);
    S* const remembered = kept_history();
    share(block_, p_.history().size(),
          [&](Index i) { remembered[i] = select(kept, history[i], remembered[i]); });
    S* const kept_strains = kept_plastic();
    share(block_, p_.memory_count,
          [&](Index i) { kept_strains[i] = select(kept, plastic()[i], kept_strains[i]); });
  }

 private:
  /// One iteration of one step with every quantity kept; the state stays as it was.
  ISOCLOTH_DEVICE void inspect(ClothReport<S>& report) {
    const Substep<S> part{0, number(a_.control.step), S{}, number(1)};
    begin_step();
    bool works = begin_substep(part, Mask(true), report.bad_pivot);
    assess(part, 0, Mask(true));
    S bad_pivot{};
    works = solve(part, bad_pivot) && works;
    report.bad_pivot = larger(report.bad_pivot, bad_pivot);
    report.status = select(report.bad_pivot > S{}, number(2), number(1));
    block_.sync();
    share(block_, p_.node_count, [&](Index i) { nodes(at_.velocity)[i] = nodes(at_.iterate)[i]; });
    correct(!(report.bad_pivot > S{}));
    S* copy = reinterpret_cast<S*>(a_.inspection.data()) + tile_ * at_.size;
    for (std::size_t i = block_.rank(); i < at_.partials; i += block_.size())
      copy[i] = i < at_.shared ? *in_shared(i) : *work(i);
  }

  /// phi_0, and phi~ where the method needs it. False: some cloth's B has a pivot that is not positive.
  ISOCLOTH_DEVICE bool predict(const Substep<S>& part, Mask which, S& bad_pivot) {
    const S h = part.h, share_of_way = part.to(number(1));
    const ArrayView<Vec3<S>> start = nodes(at_.start), base = nodes(at_.base), iterate = nodes(at_.iterate);
    const ArrayView<Vec3<S>> base_velocity = nodes(at_.base_velocity);
    const ArrayView<Vec3<S>> predicted = nodes(at_.predicted), momenta = free_nodes(at_.momentum);
    share(block_, p_.pinned_nodes.size(),
          [&](Index i) { iterate[p_.pinned_nodes[i]] = start[p_.pinned_nodes[i]]; });
    block_.sync();
    const Vec3<S>* targets =
        reinterpret_cast<const Vec3<S>*>(a_.targets.data()) +
        (static_cast<std::size_t>(part.number) * a_.tile_count + tile_) * p_.driven_nodes.size();
    const Vec3<S>* begin = tile_nodes(a_.states.positions);
    share(block_, p_.driven_nodes.size(), [&](Index i) {
      iterate[p_.driven_nodes[i]] = driven_position(begin[p_.driven_nodes[i]], targets[i], share_of_way);
    });
    const MetricView<S, T> metric = implicit_metric(h, rate_);
    const AssembleMomentum<S, T> assemble{
        metric,        p_.free, rate_ * parameters_.rho, parameters_.kappa, parameters_.weight, h, base,
        base_velocity, momenta};
    share(block_, momenta.size(), [&](Index i) { momenta[i] = momentum(assemble, i); });
    bool worked = true;
    if (!a_.control.newton || a_.control.metric_is_mass || !a_.inspection.empty()) {
      share(block_, momenta.size(), [&](Index i) { iterate[p_.free.nodes[i]] = base[p_.free.nodes[i]]; });
      block_.sync();
      const ArrayView<Vec3<S>> moves = free_nodes(at_.correction), none;
      // In proximal Newton what acts from outside acts in the iterations.
      const bool is_pulled = !a_.control.newton && samples_.has_external_forces(),
                 is_solved = metric.has_bending() || is_pulled;
      if (is_pulled) samples_.act_without_contacts(sample_step_, which);
      if (is_solved)
        worked = solve_system(metric, false, is_pulled ? samples_.forces() : SampleForces<S>{}, bad_pivot);
      if (is_pulled) samples_.update(sample_step_, which);
      const PredictPositions<S, T> predict{
          metric, p_.free, base, iterate, momenta, is_solved ? moves : none, predicted};
      share(block_, p_.node_count,
            [&](Index i) { predicted[i] = isocloth::ISOCLOTH_BACKEND::predicted(predict, i); });
      block_.sync();
      share(block_, moves.size(), [&](Index i) {
        const Index node = p_.free.nodes[i];
        if (a_.control.metric_is_mass) momenta[i] = S(metric.masses[node]) * (predicted[node] - base[node]);
        if (!a_.control.newton) iterate[node] = predicted[node];
      });
    }
    block_.sync();
    if (a_.control.newton) {
      const S duration = h / rate_;
      share(block_, p_.free.nodes.size(), [&](Index i) {
        const Index node = p_.free.nodes[i];
        iterate[node] = inertial_position(base[node], base_velocity[node], duration);
      });
      block_.sync();
    }
    samples_.place_held(sample_step_, which);
    return worked;
  }

  ISOCLOTH_DEVICE AssembleGradient<S, T> right_side(const MetricView<S, T>& metric, bool with_rows,
                                                    const SampleForces<S>& samples) const {
    const bool newton = a_.control.newton;
    return {metric,
            p_.free,
            p_.rows,
            jacobian(),
            rows(at_.residuals),
            rows(at_.scales),
            newton ? rows(at_.multipliers) : ArrayView<S>{},
            laws(),
            nodes(at_.iterate),
            nodes(at_.base),
            newton || !with_rows ? free_nodes(at_.momentum) : ArrayView<Vec3<S>>{},
            samples,
            with_rows,
            {},
            stitches(),
            at_limit()};
  }

  /// See FindImbalances. A function of its own, as solve_coupled().
  [[gnu::noinline]] ISOCLOTH_DEVICE S imbalance() {
    const S h = sample_step_.part.h;
    differentiate();
    FindImbalances<S, T, typename Samples::InverseMass> find{
        right_side(projection_metric(h, rate_), true, samples_.forces()),
        samples_.kept_forces(),
        {},
        samples_.inverse_masses(),
        {},
        {}};
    const S own = magnitude(parameters_.weight), standard = parameters_.rho * number(standard_gravity);
    find.weight = h * h * select(own > S{}, own, standard);
    find.balance.pull = RowPull::multipliers;
    return largest(p_.free.nodes.size(),
                   [&](Index i) { return isocloth::ISOCLOTH_BACKEND::imbalance(find, i); });
  }

  /// Into `correction`.
  ISOCLOTH_DEVICE_CALL void find_right_side(AssembleGradient<S, T>& gradients) const {
    if (gradients.with_rows) {
      const ArrayView<S> forces = rows(at_.row_forces);
      share(block_, p_.row_count, [&](Index row) { forces[row] = row_force(gradients, row); });
      block_.sync();
      gradients.row_forces = forces;
    }
    const ArrayView<Vec3<S>> x = free_nodes(at_.correction);
    share(block_, x.size(), [&](Index i) { x[i] = gradient(gradients, i); });
    block_.sync();
  }
  /// Solution of the right side in `correction`, in its place, with the matrix that is factorised.
  ISOCLOTH_DEVICE void back_substitute(const MetricView<S, T>& metric, bool with_rows) {
    const BlockCholesky<S> cholesky{p_.plan, factor()};
    if (const Couplings<S, T> beyond{p_.couplings, metric.stiffness, metric.beyond}; beyond.exist())
      solve_coupled(metric, beyond, cholesky, with_rows);
    else
      Tile::solve(cholesky, free_nodes(at_.correction));
  }

  /// Assembles H and the right side, both of B alone without rows, with what `samples` add, factorises and
  /// solves into `correction`; false: some pivot is not positive.
  ISOCLOTH_DEVICE_CALL bool solve_system(const MetricView<S, T>& metric, bool with_rows,
                                         const SampleForces<S>& samples, S& bad_pivot) {
    const bool newton = a_.control.newton;
    const AssembleSystem<S, T> matrix{
        metric,
        p_.free,
        p_.block_rows,
        p_.block_columns,
        p_.block_pairs,
        p_.rows,
        jacobian(),
        p_.node_pair_begin,
        p_.node_pairs,
        {work(at_.stiffness), newton ? static_cast<std::size_t>(p_.pair_count) : 0},
        samples,
        with_rows,
        {},
        at_limit()};
    AssembleGradient<S, T> gradients = right_side(metric, with_rows, samples);
    find_right_side(gradients);
    const BlockFactor<S> values = factor();
    const ArrayView<Vec3<S>> x = free_nodes(at_.correction);
    BlockCholesky<S>{p_.plan, values}.factorize(block_, [&](Index b, S(&block)[9]) {
      if (p_.system_blocks[b] >= 0) {
        system_block(matrix, p_.system_blocks[b], block);
      } else {
        for (S& entry : block) entry = S{};
      }
    });
    back_substitute(metric, with_rows);
    // The first column whose pivot is not positive, counted from the last.
    const S count = number(static_cast<double>(x.size()));
    const S from_last =
        largest(x.size(), [&](Index i) { return select(values.pivots[i] > S{}, S{}, count - number(i)); });
    bad_pivot = select(from_last > S{}, count - from_last + number(1), S{});
    return !any(bad_pivot > S{});
  }

  /// A function of its own: copied into steps of cloths without couplings it would slow them down.
  [[gnu::noinline]] ISOCLOTH_DEVICE void solve_coupled(const MetricView<S, T>& metric,
                                                       const Couplings<S, T>& beyond,
                                                       const BlockCholesky<S>& cholesky, bool with_rows) {
    TileSystem<S, T, Block> system(*this, metric, beyond, cholesky);
    const bool is_exact = !with_rows || !a_.inspection.empty();
    conjugate_gradients<S>(system, is_exact ? exact_rtol<Scalar>() : a_.control.cg_tolerance);
  }

  Mask forgets_{false};  ///< see StepController
};

}  // namespace isocloth::ISOCLOTH_BACKEND
