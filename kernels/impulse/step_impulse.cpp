#include "kernels/impulse/step_impulse.hpp"

#include "kernels/impulse/impulse_contact_terms.hpp"
#include "kernels/impulse/impulse_outer_terms.hpp"
#include "kernels/impulse/relaxation.hpp"
#include "kernels/impulse/row_families.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// What a cloth may meet: code for more costs registers where there is less.
enum class Meets { nothing, obstacles, all };

/// The steps of one cloth by the threads of a block; `What`: it meets this at most.
template <class Real, class Block, Meets What>
class ClothSteps {
  static constexpr bool may_touch = What != Meets::nothing;  ///< obstacles
  static constexpr bool has_outer = What == Meets::all;      ///< grippers or the air
  using Terms = ImpulseTerms<Real>;
  using Contacts = ImpulseContactTerms<Real>;
  using Outer = ImpulseOuterTerms<Real>;
  using S = PairLanes<Real>;
  using Mask = typename Lanes<S>::Mask;

 public:
  ISOCLOTH_DEVICE ClothSteps(const StepImpulse<Real>& args, const Block& block, Index cloth)
      : a_(args), p_(args.cloths.pattern), block_(block), cloth_(cloth) {
    const std::size_t nodes = static_cast<std::size_t>(p_.node_count) + 1;
    work_.places = block.template shared<Vec4<Real>>();
    work_.moves = work_.places + nodes;
    Vec4<Real>* const end = work_.moves + nodes * (p_.has_forces() ? 2 : 1);
    work_.forces = p_.has_forces() ? work_.moves + nodes : nullptr;
    work_.positions = reinterpret_cast<Vec3<double>*>(end);
    partials_ = reinterpret_cast<double*>(end);
    if constexpr (!Terms::keeps_places) partials_ = reinterpret_cast<double*>(work_.positions + nodes);
    work_.loads = nullptr;
    if constexpr (has_outer)
      if (args.cloths.holds.exist())
        work_.loads = args.cloths.holds.loads.data() + static_cast<std::size_t>(cloth) * nodes;
  }

  ISOCLOTH_DEVICE void run() {
    ImpulseReport report{};
    bool alive = a_.alive[cloth_] > Real(0);
    for (Index n = 0; n < a_.steps && alive && !stops(); ++n) alive = step(n, report);
    block_.sync();
    if (block_.rank() != 0) return;
    a_.monitor.count(untold_);
    a_.reports[cloth_] = report;
    a_.alive[cloth_] = alive ? Real(1) : Real(0);
  }

 private:
  /// Whether the work is to end. The threads of a larger block might not agree, and go on.
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

  /// False: the cloth is lost.
  ISOCLOTH_DEVICE bool step(Index n, ImpulseReport& report) {
    const ImpulseControl& control = a_.cloths.control;
    block_.sync();
    const Terms terms(a_.cloths, cloth_, work_);
    share(block_, p_.node_count + 1, [&](Index i) { terms.begin(i); });
    grasp(n);
    const int parts = a_.cloths.parameters[cloth_].parts;
    double depth = 0;
    for (int part = 0; part < parts && !stops(); ++part) {
      block_.sync();
      preview(terms, n, part);
      block_.sync();
      begin_contacts(n, part);
      report.sweeps +=
          sweep<true>([](const auto& rows, Index packet, Real factor, Real threshold, Mask& own) {
            return rows.correct_positions(packet, factor, threshold, own);
          });
      if (touches() && part + 1 == parts) depth = deepest();
      share(block_, p_.node_count, [&](Index i) { terms.advance(i); });
      block_.sync();
      if (control.velocity_pass)
        sweep<false>([](const auto& rows, Index packet, Real factor, Real threshold, Mask& own) {
          return rows.correct_velocities(packet, factor, threshold, own);
        });
      end_contacts();
      end_holds(n);
    }
    double error = 0, bad = 0;
    for_each_row_family<false>(p_, work_, a_.cloths.row_sets(cloth_),
                               [&](const auto& rows, const auto& packets) {
                                 share(block_, packets.packet_count(), [&](Index packet) {
                                   const S residuals = rows.residuals(packet);
                                   for (int lane = 0; lane < Lanes<S>::width; ++lane) {
                                     const double own = static_cast<double>(at(residuals, lane));
                                     error = own > error ? own : error;
                                     if (!(own < HUGE_VAL)) bad = 1;
                                   }
                                 });
                               });
    error = largest(error);
    const bool finite = !(largest(bad) > 0);
    const bool misses = error > control.tolerance || depth > double(a_.cloths.contacts.tolerance);
    const double status = !finite ? 2 : !misses ? 0 : has_diverged(terms, error) ? 3 : 1;
    const double residual = finite ? error : HUGE_VAL;
    report.status = status > report.status ? status : report.status;
    report.residual = residual > report.residual ? residual : report.residual;
    if (status > 1) return false;
    share(block_, p_.node_count, [&](Index i) { terms.end(i); });
    report.steps += 1;
    report.penetration = depth > report.penetration ? depth : report.penetration;
    return true;
  }

  /// See kernels/divergence.hpp.
  ISOCLOTH_DEVICE bool has_diverged(const Terms& terms, double residual) const {
    double excess = 0;
    share(block_, p_.node_count, [&](Index i) { excess = larger(terms.excess_way(i), excess); });
    excess = largest(excess);
    return residual > a_.cloths.control.largest_residual || excess > 0;
  }

  ISOCLOTH_DEVICE void preview(const Terms& terms, Index n, int part) const {
    if (p_.has_forces()) {
      share(block_, p_.node_count + 1, [&](Index i) { terms.bend(i); });
      by_colour(p_.shear_springs, [&](Index packet) { terms.pull_shear(packet); });
      by_colour(p_.bend_springs, [&](Index packet) { terms.pull_bend(packet); });
      block_.sync();
    }
    preview_nodes(terms, n, part);
    share(block_, p_.pinned_nodes.size(), [&](Index i) { terms.preview_pinned(i, n, part); });
  }

  ISOCLOTH_DEVICE void preview_nodes(const Terms& terms, Index n, int part) const {
    if constexpr (has_outer) {
      if (a_.cloths.has_outer_forces()) {
        const Outer outer(a_.cloths, cloth_, n, work_);
        share(block_, p_.node_count, [&](Index i) { outer.preview(i, part); });
        return;
      }
    }
    share(block_, p_.node_count, [&](Index i) { terms.preview(i); });
  }

  /// Grippers let go and take hold, when a step begins.
  ISOCLOTH_DEVICE void grasp(Index n) const {
    if constexpr (has_outer) {
      if (!a_.cloths.holds.exist()) return;
      const Outer outer(a_.cloths, cloth_, n, work_);
      const ImpulseHolds<Real>& holds = a_.cloths.holds;
      block_.sync();
      share(block_, p_.node_count, [&](Index i) { outer.grasp(i); });
      if (block_.rank() == 0) work_.loads[p_.node_count] = {};
      block_.sync();
      share(block_, p_.edges.packet_count(), [&](Index i) { outer.weigh_edges(i); });
      share(block_, p_.metric_stencils.packet_count(),
            [&](Index i) { outer.weigh_stencils(p_.metric_stencils, holds.metric_stencils, i); });
      share(block_, p_.scalar_stencils.packet_count(),
            [&](Index i) { outer.weigh_stencils(p_.scalar_stencils, holds.scalar_stencils, i); });
    }
  }
  ISOCLOTH_DEVICE void end_holds(Index n) const {
    if constexpr (has_outer) {
      if (!a_.cloths.holds.exist()) return;
      block_.sync();
      const Outer outer(a_.cloths, cloth_, n, work_);
      share(block_, p_.node_count, [&](Index i) { outer.end_part(i); });
    }
  }

  ISOCLOTH_DEVICE bool touches() const {
    if constexpr (has_outer) return a_.cloths.contacts.exist();
    return may_touch;
  }

  /// Sweeps until one corrects nothing, where a step converges; else as many as there may be. Returns their
  /// number. The factor of what is not watched never fails: the velocities' system is linear. Contacts come
  /// last where sweeps are counted, so that nothing pushes the cloth back into an obstacle; first where they
  /// converge, so that a last one finds all rows right.
  template <bool Watched, class Correct>
  ISOCLOTH_DEVICE int sweep(const Correct& correct) {
    const ImpulseControl& control = a_.cloths.control;
    Relaxation relaxation{.fixed = control.relaxation};
    bool settles = false;
    for (int count = 1;; ++count) {
      // One place for all contacts' impulses, or their code is here three times.
      const int turn = control.converge ? count : count - 1;
      const bool is_over = count > control.max_sweeps;
      const bool looks = turn % Relaxation::window == 1 || settles || (control.converge && is_over);
      bool corrected = turn > 0 && touches() && touch<Watched>(looks, turn == 1);
      if (is_over || stops()) return control.max_sweeps;
      tell_sweep();
      S worst{};
      corrected = sweep_once(relaxation.factor(count), worst, correct) || corrected;
      if (!control.converge) continue;
      settles = !corrected;
      if (settles && (looks || !touches())) return count;
      if constexpr (Watched)
        if (count % Relaxation::window == 0) relaxation.watch(count, largest(worst));
    }
  }

  /// correct(rows, packet, factor, threshold, where) of all packets, colour after colour. Returns whether
  /// there was an impulse, where a step converges; else nobody asks.
  template <class Correct>
  ISOCLOTH_DEVICE bool sweep_once(double factor, S& worst, const Correct& correct) const {
    const ImpulseControl& control = a_.cloths.control;
    const auto own_factor = static_cast<Real>(factor);
    const auto threshold =
        static_cast<Real>(control.converge ? a_.cloths.parameters[cloth_].sweep_tolerance : 0);
    Mask corrected(false);
    for_each_row_family<has_outer>(p_, work_, a_.cloths.row_sets(cloth_),
                                   [&](const auto& rows, const auto& packets) {
                                     by_colour(packets, [&](Index packet) {
                                       Mask own(false);
                                       const S error = correct(rows, packet, own_factor, threshold, own);
                                       if (!control.converge) return;
                                       worst = larger(error, worst);
                                       corrected = corrected | own;
                                     });
                                   });
    block_.sync();
    return control.converge && largest(any(corrected) ? 1.0 : 0.0) > 0;
  }

  /// Takes a step's or a part's contacts over.
  ISOCLOTH_DEVICE void begin_contacts(Index n, int part) {
    if constexpr (may_touch) {
      if (!touches()) return;
      step_ = n;
      part_ = part;
      met_ = false;
      if (part > 0) return;
      const Contacts contacts = this->contacts();
      share(block_, a_.cloths.contacts.samples.contact_count(), [&](Index c) { contacts.begin(c); });
      block_.sync();
    }
  }
  ISOCLOTH_DEVICE void end_contacts() {
    if constexpr (may_touch) {
      if (!touches()) return;
      block_.sync();
      if (!met_) return;
      const Contacts contacts = this->contacts();
      share(block_, a_.cloths.contacts.samples.contact_count(), [&](Index c) { contacts.end_part(c); });
    }
  }
  ISOCLOTH_DEVICE Contacts contacts() const { return {a_.cloths, cloth_, step_, part_, work_}; }

  /// Lists the obstacles near the cloth. Returns whether there are any.
  ISOCLOTH_DEVICE bool look_around(const Contacts& contacts) {
    typename Contacts::Box box = contacts.way_of(0);
    block_.sync();
    for (Index i = block_.rank(); i < p_.node_count; i += block_.size()) box.add(contacts.way_of(i));
    for (Real* const least : {&box.least.x, &box.least.y, &box.least.z})
      *least = static_cast<Real>(-largest(-static_cast<double>(*least)));
    for (Real* const most : {&box.most.x, &box.most.y, &box.most.z})
      *most = static_cast<Real>(largest(static_cast<double>(*most)));
    if (block_.rank() == 0) contacts.list(box);
    block_.sync();
    const bool are_near = contacts.are_near();
    met_ = met_ || are_near;
    return are_near;
  }

  /// Impulses of all contacts, colour after colour, on positions or velocities. Returns whether one moved its
  /// point by more than a part of the tolerance.
  template <bool OfPositions>
  ISOCLOTH_DEVICE bool touch(bool looks, bool is_first) {
    const ImpulseContacts<Real>& all = a_.cloths.contacts;
    const Contacts contacts = this->contacts();
    if (OfPositions ? !look_around(contacts) : !met_) return false;
    Real moved = 0;
    for (std::size_t colour = 0; colour + 1 < all.colour_begin.size(); ++colour) {
      block_.sync();
      for (Index i = all.colour_begin[colour] + block_.rank(); i < all.colour_begin[colour + 1];
           i += block_.size()) {
        const Real own = OfPositions ? contacts.correct_positions(all.order[i], looks)
                                     : contacts.correct_velocities(all.order[i], is_first);
        moved = larger(own, moved);
      }
    }
    block_.sync();
    return largest(static_cast<double>(moved)) > settled_contact * static_cast<double>(all.tolerance);
  }

  /// Of all samples at the preview.
  ISOCLOTH_DEVICE double deepest() {
    const Contacts contacts = this->contacts();
    if (!look_around(contacts)) return 0;
    Real depth = 0;
    share(block_, a_.cloths.contacts.samples.sample_count(),
          [&](Index sample) { depth = larger(contacts.depth(sample), depth); });
    const double all = largest(static_cast<double>(depth));
    block_.sync();
    return all;
  }

  /// body(packet) for every packet, colour after colour.
  template <class Packets, class Body>
  ISOCLOTH_DEVICE void by_colour(const Packets& packets, const Body& body) const {
    for (Index colour = 0; colour < packets.colour_count(); ++colour) {
      block_.sync();
      for (Index i = packets.colour_begin[colour] + block_.rank(); i < packets.colour_begin[colour + 1];
           i += block_.size())
        body(i);
    }
  }

  /// The largest of the values of all threads, which all of them get.
  ISOCLOTH_DEVICE double largest(double value) const {
    if constexpr (!Block::is_solo) {
      block_.sync();
      partials_[block_.rank()] = value;
      block_.sync();
      for (int i = 0; i < block_.size(); ++i) value = partials_[i] > value ? partials_[i] : value;
    }
    return value;
  }
#if !defined(__CUDACC__)
  double largest(S lanes) const {
    double value = 0;
    for (int lane = 0; lane < Lanes<S>::width; ++lane)
      value = static_cast<double>(at(lanes, lane)) > value ? static_cast<double>(at(lanes, lane)) : value;
    return largest(value);
  }
  static Real at(S lanes, int lane) { return lanes.v[lane]; }
#else
  static ISOCLOTH_DEVICE Real at(S lanes, int) { return lanes; }
#endif

  const StepImpulse<Real>& a_;
  const ImpulsePattern<Real>& p_;
  const Block& block_;
  const Index cloth_;
  ImpulseWork<Real> work_;
  double* partials_;  ///< shape [max_impulse_threads]
  Index step_ = 0;    ///< of the launch
  int part_ = 0;
  bool met_ = false;  ///< obstacles in this part
  int untold_ = 0;    ///< sweeps
};

template <class Real, Meets What>
struct ClothBody {
  static constexpr int most_block_threads = max_impulse_threads;
  StepImpulse<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index cloth) const {
    ClothSteps<Real, Block, What>(a, block, cloth).run();
  }
};

}  // namespace

template <class Real>
void step_impulse(const Queue& queue, const StepImpulse<Real>& given) {
  StepImpulse<Real> args = given;
  args.monitor = queue.monitor;
  const Index count = args.cloths.cloth_count;
  const std::size_t scratch = impulse_scratch(args.cloths.pattern);
  if (args.cloths.has_outer_forces())
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::all>{args});
  else if (args.cloths.contacts.exist())
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::obstacles>{args});
  else
    for_each_block(queue, count, scratch, ClothBody<Real, Meets::nothing>{args});
}

template void step_impulse<float>(const Queue&, const StepImpulse<float>&);
template void step_impulse<double>(const Queue&, const StepImpulse<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
