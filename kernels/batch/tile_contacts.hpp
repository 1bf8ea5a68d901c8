// What surrounds the cloths of a tile, lane by lane.
#pragma once

#include "kernels/batch/cloth_tile.hpp"
#include "kernels/contact/contact_terms.hpp"
#include "kernels/grasp/external_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// What of a step the contacts must know.
template <class S>
struct ContactStep {
  StepPart<S> part;
  S inertia{};  ///< of the metric [kg/m^2]
  S rate{};     ///< see IntegratorCoefficients
  int iteration = 0;
};

/// Where nothing surrounds the cloths, in the place of TileContacts.
template <class S, class T, class Block>
class NoContacts : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;

 public:
  using typename Tile::Mask;
  using InverseMass = T;
  ISOCLOTH_DEVICE explicit NoContacts(const Tile& tile) : Tile(tile) {}
  ISOCLOTH_DEVICE bool has_obstacles() const { return false; }
  ISOCLOTH_DEVICE bool has_external_forces() const { return false; }
  ISOCLOTH_DEVICE void grasp(const ContactStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE void place_held(const ContactStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE void act_without_contacts(const ContactStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE S find(const ContactStep<S>&, Mask) const { return {}; }
  ISOCLOTH_DEVICE void update(const ContactStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE SampleForces<S> forces() const { return {}; }
  ISOCLOTH_DEVICE ArrayView<const T> inverse_masses() const {
    return Tile::rest(Tile::a_.rest.inverse_masses, static_cast<std::size_t>(Tile::p_.node_count));
  }
  ISOCLOTH_DEVICE ContactStateLayout layout() const { return {}; }
  ISOCLOTH_DEVICE S* work() const { return nullptr; }
  ISOCLOTH_DEVICE S* state() const { return nullptr; }
};

template <class S, class T, class Block>
class TileContacts : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::work_, Tile::at_, Tile::parameters_;
  using Tile::nodes, Tile::free_nodes, Tile::largest, Tile::infinity, Tile::rest;
  using typename Tile::Mask;
  using typename Tile::Scalar;
  using Contacts = ContactTerms<Scalar>;
  using External = ExternalTerms<Scalar>;
  static constexpr int width = Lanes<S>::width;

 public:
  ISOCLOTH_DEVICE explicit TileContacts(const Tile& tile) : Tile(tile) {}

  using InverseMass = S;
  ISOCLOTH_DEVICE bool has_obstacles() const { return p_.samples.contacts_per_node > 0; }
  ISOCLOTH_DEVICE bool has_external_forces() const { return p_.hold_count > 0 || a_.forces.exist(); }

  /// Grippers let go and take hold at `start` in the cloths in `which`, whose step begins.
  ISOCLOTH_DEVICE void grasp(const ContactStep<S>& step, Mask which) const {
    for_each_lane(step, which, [&](const Contacts&, const External& external, int) {
      share(block_, static_cast<std::size_t>(p_.node_count), [&](Index node) { external.grasp(node); });
    });
    block_.sync();
  }
  /// Nodes of `iterate` that are held rigidly, where their grippers are.
  ISOCLOTH_DEVICE void place_held(const ContactStep<S>& step, Mask which) const {
    if (p_.hold_count == 0) return;
    for_each_lane(step, which, [&](const Contacts&, const External& external, int lane) {
      const Strided<Scalar> iterate = lane_array(at_.iterate, lane);
      share(block_, static_cast<std::size_t>(p_.node_count),
            [&](Index node) { external.place(node, iterate); });
    });
    block_.sync();
  }
  /// Grippers and NodeForces alone.
  ISOCLOTH_DEVICE void act_without_contacts(const ContactStep<S>& step, Mask which) const {
    for_each_lane(step, which, [&](const Contacts& terms, const External& external, int) {
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()), [&](Index sample) {
        terms.pass(sample);
        if (sample < p_.node_count) external.act(sample, true);
      });
    });
    block_.sync();
  }

  /// Contacts at `iterate` of the cloths in `which`; returns how deep each of them lies.
  ISOCLOTH_DEVICE S find(const ContactStep<S>& step, Mask which) {
    if (has_obstacles()) list_near(step, which);
    block_.sync();
    const bool pulls = a_.control.newton;
    for_each_lane(step, which, [&](const Contacts& terms, const External& external, int) {
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()), [&](Index sample) {
        terms.find(sample);
        if (sample < p_.node_count) external.act(sample, pulls);
      });
    });
    block_.sync();
    if (!has_obstacles()) return {};
    const S* depths = work_ + at_.contacts.depths;
    return largest(static_cast<std::size_t>(p_.samples.sample_count()), [&](Index s) { return depths[s]; });
  }

  /// Forces of the cloths in `which` after `correction`.
  ISOCLOTH_DEVICE void update(const ContactStep<S>& step, Mask which) {
    const Strided<Scalar> correction{reinterpret_cast<Scalar*>(work_ + at_.correction), width};
    for_each_lane(step, which, [&](const Contacts& terms, const External& external, int lane) {
      const Strided<Scalar> own{correction.data + lane, width};
      const auto move = [&](Index node) {
        const Index i = p_.free.number[node];
        return i < 0 ? Vec3<Scalar>{} : own.vector(static_cast<std::size_t>(i));
      };
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()), [&](Index sample) {
        terms.update(sample, move);
        if (sample < p_.node_count) external.update(sample, move(sample));
      });
    });
    block_.sync();
  }

  /// For the matrix and the right side of the system.
  ISOCLOTH_DEVICE SampleForces<S> forces() const {
    const std::size_t samples = static_cast<std::size_t>(p_.samples.sample_count());
    return {p_.block_slots,
            p_.node_slots,
            p_.slot_samples,
            {work_ + at_.contacts.weights, p_.samples.slot_nodes.size()},
            {work_ + at_.contacts.sample_stiffness, 6 * samples},
            {work_ + at_.contacts.sample_forces, 3 * samples}};
  }

  /// Of the cloths as grippers hold them now.
  ISOCLOTH_DEVICE ArrayView<const S> inverse_masses() const {
    return {work_ + at_.contacts.inverse_masses, static_cast<std::size_t>(p_.node_count)};
  }

  // What is kept from step to step: how, where while a step lasts, and in the state.
  ISOCLOTH_DEVICE ContactStateLayout layout() const { return p_.contact_state(); }
  ISOCLOTH_DEVICE S* work() const { return work_ + at_.contact_state; }
  ISOCLOTH_DEVICE S* state() const {
    return reinterpret_cast<S*>(a_.states.contacts.data()) +
           static_cast<std::size_t>(tile_) * layout().size();
  }

 private:
  static ISOCLOTH_DEVICE bool lane_of(bool mask, int) { return mask; }
#if !defined(__CUDACC__)
  static bool lane_of(PackMask<Scalar> mask, int lane) { return mask[lane]; }
#endif
  ISOCLOTH_DEVICE Strided<Scalar> lane_array(std::size_t offset, int lane) const {
    return {reinterpret_cast<Scalar*>(work_ + offset) + lane, width};
  }
  static ISOCLOTH_DEVICE Scalar lane_value(const S& value, int lane) {
    return reinterpret_cast<const Scalar*>(&value)[lane];
  }

  static ISOCLOTH_DEVICE S along(const Vec3<S>& v, int k) {
    const S component = k % 3 == 0 ? v.x : k % 3 == 1 ? v.y : v.z;
    return k < 3 ? component : -component;
  }

  /// visit(terms of contacts, terms of what else acts, lane) of the cloths in `which`.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_lane(const ContactStep<S>& step, Mask which, const Visit& visit) const {
    const ArrayView<const T> masses = rest(a_.rest.inverse_masses, static_cast<std::size_t>(p_.node_count));
    const ContactScratch& at = at_.contacts;
    const ContactStateLayout own = layout();
    const S from = step.part.from(), to = step.part.to(S(Scalar(1)));
    const double stiffening = contact_stiffening(step.iteration, a_.control.newton);
    for (int lane = 0; lane < width; ++lane) {
      if (!lane_of(which, lane)) continue;
      const std::size_t cloth = static_cast<std::size_t>(tile_) * width + static_cast<std::size_t>(lane);
      const ObstaclesView<Scalar> obstacles =
          has_obstacles() ? a_.obstacles.of(cloth, step.part.number) : ObstaclesView<Scalar>{};
      const Scalar size = lane_value(parameters_.element_size, lane);
      const ContactControl<Scalar> control{lane_value(parameters_.offset, lane),
                                           static_cast<Scalar>(a_.control.contact_tolerance),
                                           lane_value(step.inertia, lane),
                                           lane_value(step.part.h, lane),
                                           lane_value(step.rate, lane),
                                           size * size,
                                           lane_value(from, lane),
                                           lane_value(to, lane),
                                           a_.control.newton,
                                           static_cast<Scalar>(stiffening)};
      const bool shared = Lanes<T>::width == 1;
      const Strided<Scalar> start = lane_array(at_.start, lane), base = lane_array(at_.base, lane),
                            iterate = lane_array(at_.iterate, lane);
      const Strided<Scalar> held_masses = lane_array(at.inverse_masses, lane);
      const ContactPlaces<Scalar> places{
          {start.data, width},
          {base.data, width},
          {iterate.data, width},
          {held_masses.data, width},
          {reinterpret_cast<const Scalar*>(masses.data()) + (shared ? 0 : lane), shared ? 1 : width}};
      const auto kept = [&](std::size_t field) { return lane_array(at_.contact_state + field, lane); };
      const ContactArrays<Scalar> arrays{kept(own.forces()),
                                         kept(own.obstacles()),
                                         kept(own.modes()),
                                         kept(own.points()),
                                         lane_array(at.normals, lane),
                                         lane_array(at.pulls, lane),
                                         lane_array(at.stiffness, lane),
                                         lane_array(at.weights, lane),
                                         lane_array(at.depths, lane),
                                         lane_array(at.sample_stiffness, lane),
                                         lane_array(at.sample_forces, lane)};
      const ExternalForces<Scalar> external{
          p_.hold_count > 0 ? a_.grippers.of(cloth, step.part.number) : GrippersView<Scalar>{},
          {kept(own.hold_forces()), kept(own.holders()), kept(own.places()), held_masses},
          p_.faces,
          a_.forces.of(cloth, step.part.number)};
      visit(Contacts(p_.samples, obstacles, control, places, {lane_array(at.near, lane)}, arrays),
            External(external, control, places, arrays), lane);
    }
  }

  /// Boxes of the cloths over the step so far, and the obstacles that they meet.
  ISOCLOTH_DEVICE void list_near(const ContactStep<S>& step, Mask which) {
    const ArrayView<Vec3<S>> start = nodes(at_.start), iterate = nodes(at_.iterate);
    const std::size_t count = static_cast<std::size_t>(p_.node_count);
    // Relative to a node, because `largest` begins at 0.
    const Vec3<S> origin = start[0];
    S reach[6];  // along x, y, z, -x, -y, -z
    for (int k = 0; k < 6; ++k)
      reach[k] = largest(
          count, [&](Index i) { return larger(along(start[i] - origin, k), along(iterate[i] - origin, k)); });
    if (block_.rank() != 0) return;
    for_each_lane(step, which, [&](const Contacts& terms, const External&, int lane) {
      const auto corner = [&](int first, Scalar sign) {
        return Vec3<Scalar>{lane_value(origin.x, lane) + sign * lane_value(reach[first], lane),
                            lane_value(origin.y, lane) + sign * lane_value(reach[first + 1], lane),
                            lane_value(origin.z, lane) + sign * lane_value(reach[first + 2], lane)};
      };
      terms.list_near(corner(3, Scalar(-1)), corner(0, Scalar(1)));
    });
  }
};

}  // namespace isocloth::ISOCLOTH_BACKEND
