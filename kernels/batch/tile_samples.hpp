// The terms on samples of the cloths of a tile, lane by lane.
#pragma once

#include "kernels/batch/lane_contacts.hpp"
#include "kernels/samples/sample_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// A part of a step begins, with the inertia of the metric that projects, and the implicit one [kg/m^2].
template <class S>
ISOCLOTH_DEVICE SampleStep<S> sample_step(const Substep<S>& part, S rate, S projected, S implicit) {
  return {part, projected, part.h * part.h * projected / implicit, rate, 0};
}

/// Largest of all samples, see ContactArrays.
template <class S>
struct ContactFit {
  S depth{};  ///< [m]
  S error{};  ///< error of a contact over the largest that is accepted
};

/// TileSamples where nothing surrounds the cloths.
template <class S, class T, class Block>
class NoSamples : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;

 public:
  using typename Tile::Mask;
  using InverseMass = T;
  ISOCLOTH_DEVICE explicit NoSamples(const Tile& tile) : Tile(tile) {}
  ISOCLOTH_DEVICE bool has_obstacles() const { return false; }
  ISOCLOTH_DEVICE bool has_external_forces() const { return false; }
  ISOCLOTH_DEVICE void begin(const SampleStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE void end_part() const {}
  ISOCLOTH_DEVICE void place_held(const SampleStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE void act_without_contacts(const SampleStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE ContactFit<S> act(const SampleStep<S>&, Mask) const { return {}; }
  ISOCLOTH_DEVICE S depenetration_depth(const SampleStep<S>&) const { return {}; }
  ISOCLOTH_DEVICE void update(const SampleStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE SampleForces<S> forces() const { return {}; }
  ISOCLOTH_DEVICE KeptForces<S> kept_forces() const { return {}; }
  ISOCLOTH_DEVICE ArrayView<const T> inverse_masses() const {
    return Tile::rest(Tile::a_.rest.inverse_masses, static_cast<std::size_t>(Tile::p_.node_count));
  }
  ISOCLOTH_DEVICE ContactStateLayout layout() const { return {}; }
  ISOCLOTH_DEVICE S* work() const { return nullptr; }
  ISOCLOTH_DEVICE S* state() const { return nullptr; }
  ISOCLOTH_DEVICE void begin_step() const {}
  template <class Each>
  ISOCLOTH_DEVICE void each_kept(const Each&) const {}
};

template <class S, class T, class Block>
class TileSamples : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::at_, Tile::parameters_;
  using Tile::nodes, Tile::free_nodes, Tile::largest, Tile::infinity, Tile::rest;
  using typename Tile::Mask;
  using typename Tile::Scalar;
  using Terms = SampleTerms<Scalar>;
  static constexpr int width = Lanes<S>::width;
  struct NoLanes {
    ISOCLOTH_DEVICE explicit NoLanes(const Tile&) {}
  };

 public:
  ISOCLOTH_DEVICE explicit TileSamples(const Tile& tile) : Tile(tile), lanes_(tile) {}

  using InverseMass = S;
  ISOCLOTH_DEVICE bool has_obstacles() const { return p_.samples.contacts_per_node > 0; }
  ISOCLOTH_DEVICE bool has_external_forces() const { return p_.hold_count > 0 || a_.forces.exist(); }

  // The hooks of SampleTerms, for the cloths in `which`.

  ISOCLOTH_DEVICE void begin(const SampleStep<S>& step, Mask which) {
    // What is done keeps its contacts while others take more parts; what is lost has none worth keeping.
    // Others of a part under way may begin it anew.
    const Mask begins = step.part.done == S{}, under_way = in_part_ & !which,
               fresh = which | (begins & (step.part.parts == S(Scalar(1))) & !under_way);
    in_part_ = in_part_ | fresh;
    if constexpr (width > 1)
      if (finds_in_lanes()) return begin_in_lanes(step, fresh, begins & fresh, under_way);
    // Finite where elements touch nothing, see ContactArrays.
    const std::size_t samples = static_cast<std::size_t>(p_.samples.sample_count());
    const auto clear = [&](std::size_t offset, std::size_t count) {
      share(block_, count, [&](Index i) {
        S& value = *Tile::work(offset + static_cast<std::size_t>(i));
        value = select(under_way, value, S{});
      });
    };
    clear(at_.contacts.sample_stiffness, 6 * samples);
    clear(at_.contacts.sample_forces, 3 * samples);
    block_.sync();
    const Index count = p_.samples.element_count() > 0 ? p_.samples.sample_count() : p_.node_count;
    for_each_lane(step, begins & fresh, false, [&](const Terms& terms, int) {
      share(block_, static_cast<std::size_t>(count), [&](Index sample) { terms.begin(sample); });
    });
    block_.sync();
  }
  ISOCLOTH_DEVICE void end_part() { in_part_ = Mask{}; }
  /// How deep what started inside may still be when the step ends [m].
  ISOCLOTH_DEVICE S depenetration_depth(const SampleStep<S>& step) const {
    if (!p_.samples.eases) return {};
    S left{};
    for (int lane = 0; lane < width; ++lane)
      reinterpret_cast<Scalar*>(&left)[lane] =
          a_.obstacles
              .of(static_cast<std::size_t>(tile_) * width + static_cast<std::size_t>(lane), step.part.number)
              .ease_end;
    const S* depths = work() + layout().eased_depths();
    return left * largest(layout().eased, [&](Index i) { return depths[i]; });
  }
  /// Nodes of `iterate`, which is begun anew for all: also of cloths whose part is under way.
  ISOCLOTH_DEVICE void place_held(const SampleStep<S>& step, Mask which) const {
    if (p_.hold_count == 0) return;
    for_each_lane(step, which | in_part_, false, [&](const Terms& terms, int lane) {
      const Strided<Scalar> iterate = lane_array(at_.iterate, lane);
      share(block_, static_cast<std::size_t>(p_.node_count), [&](Index node) { terms.place(node, iterate); });
    });
    block_.sync();
  }
  ISOCLOTH_DEVICE void act_without_contacts(const SampleStep<S>& step, Mask which) const {
    act(step, which, true);
  }
  /// How each cloth lies at `iterate`.
  ISOCLOTH_DEVICE ContactFit<S> act(const SampleStep<S>& step, Mask which) {
    which = which & in_part_;
    if (has_obstacles()) list_near(step, which);
    block_.sync();
    if (finds_in_lanes()) {
      if constexpr (width > 1) act_in_lanes(step, which);
    } else {
      act(step, which, false);
    }
    if (!has_obstacles()) return {};
    const auto most = [&](std::size_t offset) {
      const S* values = Tile::work(offset);
      return largest(static_cast<std::size_t>(sample_count()), [&](Index s) { return values[s]; });
    };
    return {most(at_.contacts.depths), most(at_.contacts.errors)};
  }
  /// Updates what samples keep after `correction`.
  ISOCLOTH_DEVICE void update(const SampleStep<S>& step, Mask which) {
    if constexpr (width > 1)
      if (finds_in_lanes()) return update_in_lanes(step, which);
    for_each_lane(step, which, false, [&](const Terms& terms, int lane) {
      const auto correction = correction_of(lane);
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()),
            [&](Index sample) { terms.update(sample, correction, resting); });
    });
    block_.sync();
  }

  /// What samples add to the matrix and the right side of the system.
  ISOCLOTH_DEVICE SampleForces<S> forces() const {
    const std::size_t samples = static_cast<std::size_t>(p_.samples.sample_count());
    return {p_.block_slots,
            p_.node_slots,
            p_.slot_samples,
            {Tile::work(at_.contacts.weights), p_.samples.slot_nodes.size()},
            {Tile::work(at_.contacts.sample_stiffness), 6 * samples},
            {Tile::work(at_.contacts.sample_forces), 3 * samples},
            sample_count() == p_.samples.sample_count() ? SampleForces<S>::all_slots : p_.node_count};
  }

  ISOCLOTH_DEVICE KeptForces<S> kept_forces() const {
    const ContactStateLayout own = layout();
    return {p_.samples,
            {work() + own.forces(), 3 * own.contacts},
            {Tile::work(at_.contacts.pulls), 3 * own.contacts},
            {work() + own.modes(), own.contacts}};
  }

  /// 1 / m_i [1/m^2] of the cloths as grippers hold them now, 0: pinned or held rigidly; shape [node_count].
  ISOCLOTH_DEVICE ArrayView<const S> inverse_masses() const {
    return {Tile::work(at_.contacts.inverse_masses), static_cast<std::size_t>(p_.node_count)};
  }

  // What is kept from step to step: how, where while a step lasts, and in the state.
  ISOCLOTH_DEVICE ContactStateLayout layout() const { return p_.contact_state(); }
  ISOCLOTH_DEVICE S* work() const { return Tile::work(at_.contact_state); }
  ISOCLOTH_DEVICE S* state() const {
    return reinterpret_cast<S*>(a_.states.contacts.data()) +
           static_cast<std::size_t>(tile_) * layout().size();
  }
  /// A step begins, with the state.
  ISOCLOTH_DEVICE void begin_step() {
    if constexpr (width > 1)
      if (finds_in_lanes()) lanes_.begin_step(state());
  }
  /// each(i) of all numbers of the layout that may be others in the state than while the step lasts.
  template <class Each>
  ISOCLOTH_DEVICE void each_kept(const Each& each) const {
    const ContactStateLayout own = layout();
    const auto range = [&](std::size_t begin, std::size_t count) {
      share(block_, count, [&](Index i) { each(begin + static_cast<std::size_t>(i)); });
    };
    if constexpr (width > 1)
      if (finds_in_lanes() && !lanes_.keeps_elements()) {
        const auto count = static_cast<std::size_t>(p_.samples.first_contact(p_.node_count));
        range(own.forces(), 3 * count);
        range(own.hold_forces(), 3 * own.holds);
        for (const std::size_t field : {own.obstacles(), own.modes(), own.slips()}) range(field, count);
        range(own.points(), 2 * count);
        return range(own.holders(), 4 * own.holds);
      }
    range(0, own.size());
  }

 private:
  static ISOCLOTH_DEVICE bool lane_of(bool mask, int) { return mask; }
#if !defined(__CUDACC__)
  static bool lane_of(PackMask<Scalar> mask, int lane) { return mask[lane]; }
#endif
  ISOCLOTH_DEVICE Strided<Scalar> lane_array(std::size_t offset, int lane) const {
    return {reinterpret_cast<Scalar*>(Tile::work(offset)) + lane, width};
  }
  static ISOCLOTH_DEVICE Scalar lane_value(const S& value, int lane) {
    return reinterpret_cast<const Scalar*>(&value)[lane];
  }

  /// Samples that may have weight.
  ISOCLOTH_DEVICE Index sample_count() const {
    if constexpr (width > 1)
      if (finds_in_lanes()) return lanes_.sample_count();
    return p_.samples.sample_count();
  }
  /// Of a lane.
  ISOCLOTH_DEVICE auto correction_of(int lane) const {
    return [own = lane_array(at_.correction, lane), &free = p_.free](Index node) {
      const Index i = free.number[node];
      return i < 0 ? Vec3<Scalar>{} : own.vector(static_cast<std::size_t>(i));
    };
  }
  static ISOCLOTH_DEVICE Vec3<Scalar> resting(Index, Index) { return {}; }

  // The hooks where LaneContacts finds contacts: what is left goes lane by lane.

  ISOCLOTH_DEVICE bool finds_in_lanes() const {
    return width > 1 && has_obstacles() && a_.control.newton && !p_.samples.eases;
  }
  ISOCLOTH_DEVICE void begin_in_lanes(const SampleStep<S>& step, Mask fresh, Mask begins, Mask under_way) {
    lanes_.begin(fresh, begins, under_way);
    if (p_.hold_count > 0 || lanes_.shares())
      for_each_lane(step, begins, false, [&](const Terms& terms, int lane) {
        if (p_.hold_count > 0) share(block_, p_.node_count, [&](Index node) { terms.begin(node); });
        if (lanes_.shares())
          share(block_, p_.samples.sample_count() - p_.node_count, [&](Index i) {
            if (lanes_.shares_area(p_.node_count + i, lane)) terms.begin(p_.node_count + i);
          });
      });
    if (p_.hold_count == 0) {
      const ArrayView<const T> masses = rest(a_.rest.inverse_masses, static_cast<std::size_t>(p_.node_count));
      S* const inverse_masses = Tile::work(at_.contacts.inverse_masses);
      share(block_, p_.node_count, [&](Index node) {
        inverse_masses[node] = select(begins, S(masses[node]), inverse_masses[node]);
      });
    }
    block_.sync();
  }
  ISOCLOTH_DEVICE void act_in_lanes(const SampleStep<S>& step, Mask which) {
    const Mask asked = lanes_.act(step, which) & which;
    const Index elements = lanes_.has_elements() ? p_.samples.element_count() : 0;
    for_each_lane(step, has_external_forces() ? which : asked, false, [&](const Terms& terms, int lane) {
      share(block_, p_.node_count + elements, [&](Index sample) {
        if (lanes_.is_asked(sample, lane))
          terms.act(sample);
        else if (has_external_forces() && sample < p_.node_count)
          terms.act_beside_contacts(sample);
      });
    });
    block_.sync();
  }
  ISOCLOTH_DEVICE void update_in_lanes(const SampleStep<S>& step, Mask which) {
    const Mask asked = lanes_.update(step, which) & which;
    for_each_lane(step, has_external_forces() ? which : asked, false, [&](const Terms& terms, int lane) {
      const auto correction = correction_of(lane);
      share(block_, sample_count(), [&](Index sample) {
        if (lanes_.is_asked(sample, lane))
          terms.update(sample, correction, resting);
        else if (has_external_forces() && sample < p_.node_count)
          terms.update_beside_contacts(sample, correction, resting);
      });
    });
    block_.sync();
  }

  static ISOCLOTH_DEVICE S along(const Vec3<S>& v, int k) {
    const S component = k % 3 == 0 ? v.x : k % 3 == 1 ? v.y : v.z;
    return k < 3 ? component : -component;
  }

  ISOCLOTH_DEVICE void act(const SampleStep<S>& step, Mask which, bool without_contacts) const {
    for_each_lane(step, which, without_contacts, [&](const Terms& terms, int) {
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()),
            [&](Index sample) { terms.act(sample); });
    });
    block_.sync();
  }

  /// visit(terms, lane) of the cloths in `which`.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_lane(const SampleStep<S>& step, Mask which, bool without_contacts,
                                     const Visit& visit) const {
    const ArrayView<const T> masses = rest(a_.rest.inverse_masses, static_cast<std::size_t>(p_.node_count));
    const ContactScratch& at = at_.contacts;
    const ContactStateLayout own = layout();
    const S from = step.part.from(), to = step.part.to(S(Scalar(1)));
    for (int lane = 0; lane < width; ++lane) {
      if (!lane_of(which, lane)) continue;
      const std::size_t cloth = static_cast<std::size_t>(tile_) * width + static_cast<std::size_t>(lane);
      const Scalar size = lane_value(parameters_.element_size, lane);
      const bool shared = Lanes<T>::width == 1;
      const auto place = [&](std::size_t offset) {
        return Strided<const Scalar>{lane_array(offset, lane).data, width};
      };
      const auto kept = [&](std::size_t field) { return lane_array(at_.contact_state + field, lane); };
      const Strided<Scalar> held_masses = lane_array(at.inverse_masses, lane);
      const ActOnSamples<Scalar> args{
          .pattern = p_.samples,
          .control = {.offset = lane_value(parameters_.offset, lane),
                      .tolerance = static_cast<Scalar>(a_.control.contact_tolerance),
                      .accuracy = lane_value(parameters_.accuracy, lane),
                      .curve = {lane_value(parameters_.curve.give, lane),
                                lane_value(parameters_.curve.offset, lane),
                                lane_value(parameters_.curve.linear_from, lane),
                                lane_value(parameters_.curve.largest_slope, lane)},
                      .inertia = lane_value(step.inertia, lane),
                      .step = lane_value(step.part.h, lane),
                      .unit = lane_value(step.unit, lane),
                      .rate = lane_value(step.rate, lane),
                      .mean_mass = size * size,
                      .from = lane_value(from, lane),
                      .to = lane_value(to, lane),
                      .keeps_forces = a_.control.newton,
                      .iteration = step.iteration},
          .positions = {place(at_.start),
                        place(at_.base),
                        place(at_.iterate),
                        place(at.inverse_masses),
                        {reinterpret_cast<const Scalar*>(masses.data()) + (shared ? 0 : lane),
                         shared ? 1 : width}},
          .obstacles = has_obstacles() ? a_.obstacles.of(cloth, step.part.number) : ObstaclesView<Scalar>{},
          .near = {lane_array(at.near, lane)},
          .contacts = {kept(own.forces()),
                       kept(own.obstacles()),
                       kept(own.modes()),
                       kept(own.slips()),
                       kept(own.points()),
                       lane_array(at.normals, lane),
                       lane_array(at.pulls, lane),
                       lane_array(at.stiffness, lane),
                       lane_array(at.began, lane),
                       lane_array(at.mismatches, lane),
                       lane_array(at.weights, lane),
                       lane_array(at.depths, lane),
                       lane_array(at.errors, lane),
                       lane_array(at.shared_with, lane),
                       lane_array(at.shared_areas, lane),
                       lane_array(at.sample_stiffness, lane),
                       lane_array(at.sample_forces, lane),
                       {kept(own.eased_obstacles()), kept(own.eased_depths())}},
          .grippers = p_.hold_count > 0 ? a_.grippers.of(cloth, step.part.number) : GrippersView<Scalar>{},
          .holds = {kept(own.hold_forces()), kept(own.holders()), kept(own.hold_positions()), held_masses},
          .free = p_.free,
          .node_slots = p_.node_slots,
          .faces = p_.faces,
          .forces = a_.forces.of(cloth, step.part.number),
          .without_contacts = without_contacts};
      visit(Terms(args), lane);
    }
  }

  /// Boxes of the cloths over the step so far, and the obstacles that they meet.
  ISOCLOTH_DEVICE void list_near(const SampleStep<S>& step, Mask which) {
    const ArrayView<Vec3<S>> start = nodes(at_.start), iterate = nodes(at_.iterate);
    const std::size_t count = static_cast<std::size_t>(p_.node_count);
    // Relative to a node, because `largest` begins at 0.
    const Vec3<S> origin = start[0];
    S reach[6];  // along x, y, z, -x, -y, -z
    for (int k = 0; k < 6; ++k)
      reach[k] = largest(
          count, [&](Index i) { return larger(along(start[i] - origin, k), along(iterate[i] - origin, k)); });
    if (block_.rank() != 0) return;
    for_each_lane(step, which, false, [&](const Terms& terms, int lane) {
      const auto corner = [&](int first, Scalar sign) {
        return Vec3<Scalar>{lane_value(origin.x, lane) + sign * lane_value(reach[first], lane),
                            lane_value(origin.y, lane) + sign * lane_value(reach[first + 1], lane),
                            lane_value(origin.z, lane) + sign * lane_value(reach[first + 2], lane)};
      };
      terms.list_near(corner(3, Scalar(-1)), corner(0, Scalar(1)));
    });
  }

  Mask in_part_{};  ///< cloths that the part under way is of
#if defined(__CUDACC__)
  NoLanes lanes_;
#else
  std::conditional_t<(width > 1), LaneContacts<S, T, Block>, NoLanes> lanes_;
#endif
};

}  // namespace isocloth::ISOCLOTH_BACKEND
