// Contacts of the cloths of a tile, lane by lane.
#pragma once

#include "kernels/batch/cloth_tile.hpp"
#include "kernels/contact/contact_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// What of a step the contacts must know.
template <class S>
struct ContactStep {
  Index number = 0;  ///< of the launch
  S inertia{};       ///< of the metric [kg/m^2]
  S from{}, to{};    ///< part of the step that is taken
};

/// Where there are no obstacles, in the place of TileContacts.
template <class S, class T, class Block>
struct NoContacts {
  using Mask = typename Lanes<S>::Mask;
  ISOCLOTH_DEVICE explicit NoContacts(const ClothTile<S, T, Block>&) {}
  static constexpr bool exist = false;
  ISOCLOTH_DEVICE S find(const ContactStep<S>&, Mask) const { return {}; }
  ISOCLOTH_DEVICE void update(const ContactStep<S>&, Mask) const {}
  ISOCLOTH_DEVICE SampleForces<S> forces() const { return {}; }
  ISOCLOTH_DEVICE std::size_t kept_forces() const { return 0; }
  ISOCLOTH_DEVICE std::size_t kept() const { return 0; }
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
  static constexpr int width = Lanes<S>::width;

 public:
  ISOCLOTH_DEVICE explicit TileContacts(const Tile& tile) : Tile(tile) {}

  static constexpr bool exist = true;

  /// Contacts at `iterate` of the cloths in `which`; returns how deep each of them lies.
  ISOCLOTH_DEVICE S find(const ContactStep<S>& step, Mask which) {
    list_near(step, which);
    block_.sync();
    for_each_lane(step, which, [&](const ContactTerms<Scalar>& terms, int) {
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()),
            [&](Index sample) { terms.find(sample); });
    });
    block_.sync();
    const S* depths = work_ + at_.contacts.depths;
    return largest(static_cast<std::size_t>(p_.samples.sample_count()), [&](Index s) { return depths[s]; });
  }

  /// Forces of the cloths in `which` after `correction`.
  ISOCLOTH_DEVICE void update(const ContactStep<S>& step, Mask which) {
    const Strided<Scalar> correction{reinterpret_cast<Scalar*>(work_ + at_.correction), width};
    for_each_lane(step, which, [&](const ContactTerms<Scalar>& terms, int lane) {
      const Strided<Scalar> own{correction.data + lane, width};
      share(block_, static_cast<std::size_t>(p_.samples.sample_count()), [&](Index sample) {
        terms.update(sample, [&](Index node) {
          const Index i = p_.free.number[node];
          return i < 0 ? Vec3<Scalar>{} : own.vector(static_cast<std::size_t>(i));
        });
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

  // What is kept from step to step: in the state 3 numbers of p, then the obstacle, contact by contact group.
  ISOCLOTH_DEVICE std::size_t kept_forces() const {
    return 3 * static_cast<std::size_t>(p_.samples.contact_count());
  }
  ISOCLOTH_DEVICE std::size_t kept() const { return kept_forces() / 3 * 4; }
  /// Work array of what is kept: forces, then obstacles.
  ISOCLOTH_DEVICE S* work() const { return work_ + at_.contacts.forces; }
  /// The same in the state.
  ISOCLOTH_DEVICE S* state() const {
    return reinterpret_cast<S*>(a_.contacts.data()) + static_cast<std::size_t>(tile_) * kept();
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

  /// visit(terms, lane) of the cloths in `which`.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_lane(const ContactStep<S>& step, Mask which, const Visit& visit) const {
    const ArrayView<const T> masses = rest(a_.rest.inverse_masses, static_cast<std::size_t>(p_.node_count));
    const ContactScratch& at = at_.contacts;
    for (int lane = 0; lane < width; ++lane) {
      if (!lane_of(which, lane)) continue;
      const ObstaclesView<Scalar> obstacles = a_.obstacles.of(
          static_cast<std::size_t>(tile_) * width + static_cast<std::size_t>(lane), step.number);
      const ContactControl<Scalar> control{lane_value(parameters_.offset, lane),
                                           static_cast<Scalar>(a_.control.contact_tolerance),
                                           lane_value(step.inertia, lane),
                                           lane_value(step.from, lane),
                                           lane_value(step.to, lane),
                                           a_.control.newton};
      const bool shared = Lanes<T>::width == 1;
      const Strided<Scalar> start = lane_array(at_.start, lane), iterate = lane_array(at_.iterate, lane);
      const ContactPlaces<Scalar> places{
          {start.data, width},
          {iterate.data, width},
          {reinterpret_cast<const Scalar*>(masses.data()) + (shared ? 0 : lane), shared ? 1 : width}};
      const ContactArrays<Scalar> arrays{
          lane_array(at.forces, lane),           lane_array(at.obstacles, lane),
          lane_array(at.normals, lane),          lane_array(at.pulls, lane),
          lane_array(at.stiffness, lane),        lane_array(at.modes, lane),
          lane_array(at.weights, lane),          lane_array(at.depths, lane),
          lane_array(at.sample_stiffness, lane), lane_array(at.sample_forces, lane)};
      visit(ContactTerms<Scalar>(p_.samples, obstacles, control, places, {lane_array(at.near, lane)}, arrays),
            lane);
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
    for_each_lane(step, which, [&](const ContactTerms<Scalar>& terms, int lane) {
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
