// Contacts of the cloths of a tile with obstacles, a cloth in each lane, with the bits of
// kernels/samples/contact_terms.hpp.
//
// Nodes that touch one obstacle and that keep no other contact are done here, in all lanes at once; what is
// rarer is `asked` of the terms, sample by sample and lane by lane: nodes between two obstacles, points that
// could have passed through, elements that may touch. Most elements cannot: all their corners lie beyond the
// same side of the obstacle's box, or straight over the same face of it. While no element of the tile
// touches anything, nothing is kept of elements, nor looked at.
#pragma once

#include "kernels/batch/cloth_tile.hpp"
#include "kernels/contact/lane_distance.hpp"
#include "kernels/samples/contact_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// What of a step the terms must know.
template <class S>
struct SampleStep {
  Substep<S> part;
  S inertia{};  ///< inertia of the metric [kg/m^2]
  S unit{};     ///< factor of the forces that contacts keep, see ContactControl [s^2]
  S rate{};     ///< see IntegratorCoefficients
  int iteration = 0;
};

#if !defined(__CUDACC__)

template <class S, class T, class Block>
class LaneContacts : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::at_, Tile::parameters_;
  using Tile::nodes, Tile::free_nodes, Tile::largest, Tile::number, Tile::infinity, Tile::rest;
  using typename Tile::Mask;
  using typename Tile::Scalar;
  using Law = CompressionLaw<S>;
  using Bits = decltype(Mask::bits);
  static constexpr int width = Lanes<S>::width;
  /// Obstacles that the cloths of a tile may be near to; where there are more, all is asked of the terms.
  static constexpr int most_obstacles = 6;

 public:
  explicit LaneContacts(const Tile& tile) : Tile(tile) {}

  /// Whether any element of the tile touched anything since the part began: only then do its samples have
  /// weights, stiffness, forces, depths and errors.
  bool has_elements() const { return has_elements_; }
  /// Whether what elements keep is in the work arrays, too: where the state has nothing of them it may lack.
  bool keeps_elements() const { return keeps_elements_; }
  Index sample_count() const { return has_elements_ ? p_.samples.sample_count() : p_.node_count; }

  void begin_step(S* state) {
    state_ = state;
    const S* const obstacles = state + layout().obstacles() + first_contact();
    const S most = largest(static_cast<std::size_t>(element_contacts()),
                           [&](Index i) { return obstacles[i] + number(1); });
    keeps_elements_ = any(most > S{});
    has_elements_ = false;
  }
  /// A part of a step begins for the lanes `fresh`; of those in `begins` a whole step.
  void begin(Mask fresh, Mask begins, Mask under_way) {
    const SamplePattern& samples = p_.samples;
    if (!any(under_way)) has_elements_ = false;
    if (has_elements_) clear_elements(!under_way);
    if (!a_.inspection.empty()) require_elements();
    // Elements that touched when the step began take area from their nodes.
    const Index first = samples.node_count, count = samples.sample_count() - first;
    const S* const obstacles = kept(layout().obstacles()) + first_contact();
    S* const shared_with = work(at_.contacts.shared_with);
    const bool knew = shares_ && any(!begins);
    const S touching = largest(static_cast<std::size_t>(keeps_elements_ ? count : 0),
                               [&](Index i) { return select(begins, obstacles[i] + number(1), S{}); });
    shares_ = knew || any(touching > S{});
    share(block_, count, [&](Index i) {
      const S before = knew ? shared_with[first + i] : number(-1);
      shared_with[first + i] = shares_ ? select(begins, obstacles[i], before) : number(-1);
    });
    share(block_, samples.element_count(), [&](Index i) {
      S& touches = work(at_.contacts.touching)[i];
      touches = select(fresh, S{}, touches);
    });
    block_.sync();
  }
  /// Whether areas of this sample, an edge's or a face's, are to be asked of its terms when a step begins.
  bool shares_area(Index sample, int lane) const {
    return shares_ && lane_value(work(at_.contacts.shared_with)[sample], lane) >= 0;
  }
  bool shares() const { return shares_; }

  /// Contacts at the iterate of the lanes `which`, which know what they are near to. Returns the lanes in
  /// which some are asked of the terms.
  Mask act(const SampleStep<S>& step, Mask which) {
    const bool all_known = list_obstacles(step, which);
    S* const asked = work(at_.contacts.asked);
    if (!all_known) require_elements();
    look_at_elements(step, which, all_known);
    const Law law = law_of(step);
    share(block_, p_.node_count, [&](Index node) {
      const Mask asks = all_known ? act_at_node(step, law, node, which) : which;
      asked[node] = select(asks, number(1), S{});
    });
    block_.sync();
    return any_asked(p_.node_count + p_.samples.element_count());
  }

  /// Forces after a correction; returns as act() does.
  Mask update(const SampleStep<S>& step, Mask which) {
    const SamplePattern& samples = p_.samples;
    const Law law = law_of(step);
    const S* const modes = kept(layout().modes());
    S* const asked = work(at_.contacts.asked);
    share(block_, p_.node_count,
          [&](Index node) { asked[node] = select(update_node(step, law, node, which), number(1), S{}); });
    if (has_elements_)
      share(block_, samples.sample_count() - samples.node_count, [&](Index i) {
        const Index sample = samples.node_count + i;
        const Mask acts = modes[samples.first_contact(sample)] > S{};
        asked[sample] = select(which & acts, number(1), S{});
      });
    block_.sync();
    return any_asked(sample_count());
  }
  bool is_asked(Index sample, int lane) const {
    return lane_value(work(at_.contacts.asked)[sample], lane) > 0;
  }

 private:
  /// An obstacle as it is for each lane.
  struct Obstacle {
    Index number = -1;
    const ShapeView<Scalar>* shape = nullptr;
    bool moves = false;
    Mask is_near{false};
    PoseView<S> begin, end;
    Vec3<S> least, most;  ///< box around its motion [m]
    FrictionView<S> friction;
  };
  /// A node at an obstacle, see Hit.
  struct LaneHit {
    S gap;
    Vec3<S> normal, from, to;
    Mask is_far{false};  ///< it moved so far that it may have passed through
  };

  ContactStateLayout layout() const { return p_.contact_state(); }
  Index first_contact() const { return p_.samples.first_contact(p_.node_count); }  ///< of elements
  Index element_contacts() const { return p_.samples.sample_count() - p_.node_count; }
  S* work(std::size_t offset) const { return Tile::work(offset); }
  S* kept(std::size_t field) const { return Tile::work(at_.contact_state + field); }
  static Vec3<S> vector(const S* values, Index i) {
    const auto at = 3 * static_cast<std::size_t>(i);
    return {values[at], values[at + 1], values[at + 2]};
  }
  static void put(S* values, Index i, Mask which, Vec3<S> v) {
    const auto at = 3 * static_cast<std::size_t>(i);
    values[at] = select(which, v.x, values[at]);
    values[at + 1] = select(which, v.y, values[at + 1]);
    values[at + 2] = select(which, v.z, values[at + 2]);
  }
  static void put(S& value, Mask which, S x) { value = select(which, x, value); }
  static void put_lane(Vec3<S>& v, int lane, Vec3<Scalar> x) {
    v.x.v[lane] = x.x;
    v.y.v[lane] = x.y;
    v.z.v[lane] = x.z;
  }
  static Vec3<Scalar> lane_vector(const Vec3<S>& v, int lane) {
    return {lane_value(v.x, lane), lane_value(v.y, lane), lane_value(v.z, lane)};
  }

  Mask any_asked(Index count) const {
    const S* const asked = work(at_.contacts.asked);
    return largest(static_cast<std::size_t>(count), [&](Index i) { return asked[i]; }) > S{};
  }

  void require_elements() {
    if (!keeps_elements_) {
      const ContactStateLayout own = layout();
      const auto take = [&](std::size_t field, Index size) {
        const std::size_t first = field + static_cast<std::size_t>(size * first_contact());
        share(block_, size * element_contacts(), [&](Index i) {
          const std::size_t at = first + static_cast<std::size_t>(i);
          kept(0)[at] = state_[at];
        });
      };
      take(own.forces(), 3);
      take(own.obstacles(), 1);
      take(own.modes(), 1);
      take(own.slips(), 1);
      take(own.points(), 2);
      keeps_elements_ = true;
    }
    if (has_elements_) return;
    clear_elements(Mask(true));
    has_elements_ = true;
    block_.sync();
  }
  /// Samples of elements that touch nothing.
  void clear_elements(Mask which) const {
    const SamplePattern& samples = p_.samples;
    const Index first = samples.node_count, count = samples.sample_count() - first;
    const auto clear = [&](std::size_t offset, Index from, Index size) {
      S* const values = work(offset) + from;
      share(block_, size, [&](Index i) { values[i] = select(which, S{}, values[i]); });
    };
    const Index first_slot = samples.sample_begin[first];
    clear(at_.contacts.weights, first_slot, static_cast<Index>(samples.slot_nodes.size()) - first_slot);
    clear(at_.contacts.sample_stiffness, 6 * first, 6 * count);
    clear(at_.contacts.sample_forces, 3 * first, 3 * count);
    clear(at_.contacts.depths, first, count);
    clear(at_.contacts.errors, first, count);
  }

  Law law_of(const SampleStep<S>& step) const {
    const S mean_mass = parameters_.element_size * parameters_.element_size;
    return {.curve = parameters_.curve,
            .step = step.part.h,
            .unit = step.unit,
            .firmness = number(contact_stiffening(step.iteration, true)),
            .slight = number(accepted_weights(step.iteration) * standard_gravity) * step.part.h *
                      step.part.h * step.inertia * mean_mass};
  }

  /// Obstacles near any cloth of the tile; false: too many.
  bool list_obstacles(const SampleStep<S>& step, Mask which) {
    const S from = step.part.from(), to = step.part.to(number(1));
    const S* const near = work(at_.contacts.near);
    count_ = 0;
    for (int lane = 0; lane < width; ++lane) {
      if (!which[lane]) continue;
      const ObstaclesView<Scalar> all = a_.obstacles.of(
          static_cast<std::size_t>(tile_) * width + static_cast<std::size_t>(lane), step.part.number);
      const Index listed = static_cast<Index>(lane_value(near[0], lane));
      if (listed > most_near) return false;
      for (Index i = 0; i < listed; ++i) {
        const Index o = static_cast<Index>(lane_value(near[1 + i], lane));
        int k = 0;
        while (k < count_ && obstacles_[k].number != o) ++k;
        if (k == most_obstacles) return false;
        Obstacle& own = obstacles_[k];
        if (k == count_) {
          own = Obstacle();
          own.number = o;
          own.shape = &all.shapes[o];
          own.moves = all.moving[o] >= 0;
          ++count_;
        }
        own.is_near.bits[lane] = -1;
        const Placement<Scalar>& motion = all.placement(o);
        put_pose(own.begin, lane,
                 own.moves ? pose_between(motion.begin, motion.end, lane_value(from, lane)) : motion.begin);
        put_pose(own.end, lane,
                 own.moves ? pose_between(motion.begin, motion.end, lane_value(to, lane)) : motion.begin);
        put_lane(own.least, lane, motion.least);
        put_lane(own.most, lane, motion.most);
        own.friction.static_.v[lane] = all.friction[o].static_;
        own.friction.dynamic.v[lane] = all.friction[o].dynamic;
      }
    }
    return true;
  }
  static void put_pose(PoseView<S>& all, int lane, const PoseView<Scalar>& pose) {
    put_lane(all.center, lane, pose.center);
    for (int k = 0; k < 3; ++k) put_lane(all.axes[k], lane, pose.axes[k]);
  }

  // Elements.

  /// Which elements are asked of the terms: those that have contacts, or may get one.
  void look_at_elements(const SampleStep<S>&, Mask which, bool all_known) {
    const SamplePattern& samples = p_.samples;
    const Index first = samples.node_count, count = samples.element_count();
    S* const asked = work(at_.contacts.asked) + first;
    const S* const obstacles = kept(layout().obstacles());
    share(block_, count, [&](Index i) {
      Mask holds(!all_known);
      for (Index k = 0; keeps_elements_ && k < samples.contacts_per_element; ++k)
        holds = holds | (obstacles[samples.first_contact(first + i + k * count)] >= S{});
      asked[i] = select(which & holds, number(1), S{});
    });
    for (int k = 0; k < count_ && all_known; ++k)
      if (obstacles_[k].shape->kind != ShapeKind::plane) look_at(obstacles_[k], which, asked);
    block_.sync();
    const S any_element = largest(static_cast<std::size_t>(count), [&](Index i) { return asked[i]; });
    if (any(any_element > S{})) require_elements();
    if (!has_elements_) return;
    S* const touching = work(at_.contacts.touching);
    share(block_, count, [&](Index i) {
      const Mask leaves = which & (touching[i] > S{}) & !(asked[i] > S{});
      touching[i] = select(which, asked[i], touching[i]);
      if (any(leaves)) leave(i, leaves);
    });
    block_.sync();
  }
  /// An element that touches nothing any more, as its terms leave it.
  void leave(Index element, Mask which) const {
    const SamplePattern& samples = p_.samples;
    for (Index k = 0; k < samples.contacts_per_element; ++k) {
      const Index at = samples.node_count + element + k * samples.element_count();
      put(work(at_.contacts.depths)[at], which, S{});
      put(work(at_.contacts.errors)[at], which, S{});
      for (Index slot = samples.sample_begin[at]; slot < samples.sample_begin[at + 1]; ++slot)
        put(work(at_.contacts.weights)[slot], which, S{});
    }
  }
  /// Asks for the elements that may touch an obstacle.
  void look_at(const Obstacle& obstacle, Mask which, S* asked) const {
    const SamplePattern& samples = p_.samples;
    Bits* const places = reinterpret_cast<Bits*>(work(at_.contacts.places));
    block_.sync();
    share(block_, p_.node_count, [&](Index node) { places[node] = place_of(obstacle, node); });
    block_.sync();
    share(block_, samples.element_count(), [&](Index i) {
      const Index sample = samples.node_count + i;
      Bits all = Bits{} - 1;
      for (Index slot = samples.sample_begin[sample]; slot < samples.sample_begin[sample + 1]; ++slot)
        all &= places[samples.slot_nodes[slot]];
      const Mask is_beyond((all & beyond) != 0), is_over(((all & faces) != 0) & ((all & slow) != 0));
      const Mask may_touch = which & obstacle.is_near & !(is_beyond | is_over);
      asked[i] = select(may_touch, number(1), asked[i]);
    });
    block_.sync();
  }
  // Where a node is, as bits: beyond the sides of the box around an obstacle's motion, over the faces of its
  // core; and whether it moves so little that nothing can have passed through.
  static constexpr int beyond = 0x3f, faces = 0xfc0, slow = 0x1000;
  Bits place_of(const Obstacle& obstacle, Index node) const {
    const Vec3<S> start = nodes(at_.start)[node], iterate = nodes(at_.iterate)[node];
    Bits place{};
    const auto note = [&place](Mask is_there, int bit) { place |= is_there.bits & bit; };
    if (!obstacle.moves) {
      const S room = parameters_.offset + ContactLaw<Scalar>::release_distance +
                     static_cast<Scalar>(a_.control.contact_tolerance);
      const auto along = [&](S a, S b, S least, S most, int bit) {
        note((a - room >= most) & (b - room >= most), bit);
        note((a + room <= least) & (b + room <= least), 2 * bit);
      };
      along(start.x, iterate.x, obstacle.least.x, obstacle.most.x, 0x01);
      along(start.y, iterate.y, obstacle.least.y, obstacle.most.y, 0x04);
      along(start.z, iterate.z, obstacle.least.z, obstacle.most.z, 0x10);
    }
    const bool is_box = obstacle.shape->kind == ShapeKind::box;
    if (!is_box && obstacle.shape->kind != ShapeKind::cylinder) return place;
    // As lies_over_one_face() has it.
    const Vec3<S> from = to_local(obstacle.begin, start), p = to_local(obstacle.end, iterate), way = p - from;
    const S slowly(Scalar(0.49) * obstacle.shape->reach);
    note(dot(way, way) < slowly * slowly, slow);
    const Vec3<S> half{obstacle.shape->half.x, obstacle.shape->half.y, obstacle.shape->half.z};
    const S x = magnitude(p.x), y = magnitude(p.y), z = magnitude(p.z);
    const Mask on_top = z >= half.z, in_x = x <= half.x, in_y = y <= half.y;
    const auto over = [&](Mask is_over, S side, int bit) {
      note(is_over & !(side < S{}), bit);
      note(is_over & (side < S{}), 2 * bit);
    };
    if (!is_box) {
      over(on_top & (x * x + y * y <= half.x * half.x), p.z, 0x40);
      return place;
    }
    const Mask beside = (!on_top) & (z <= half.z);
    over(on_top & in_x & in_y, p.z, 0x40);
    over(beside & in_y & (x >= half.x), p.x, 0x100);
    over(beside & !in_y & in_x, p.y, 0x400);
    return place;
  }

  // Nodes.

  LaneHit measure(const Obstacle& obstacle, Index node) const {
    LaneHit hit;
    hit.from = to_local(obstacle.begin, nodes(at_.start)[node]);
    hit.to = to_local(obstacle.end, nodes(at_.iterate)[node]);
    const Distance<S> here = lane_distance(*obstacle.shape, hit.to);
    hit.gap = here.value - parameters_.offset;
    hit.normal = here.normal;
    hit.is_far = length(hit.to - hit.from) > S(Scalar(0.5) * obstacle.shape->reach);
    return hit;
  }

  /// Contacts of a node; returns the lanes in which they are asked of the terms.
  Mask act_at_node(const SampleStep<S>& step, const Law& law, Index node, Mask which) const {
    const Index contact = p_.samples.first_contact(node), count = p_.samples.contacts_per_node;
    const S *const obstacles = kept(layout().obstacles()), *const modes = kept(layout().modes());
    const S kept_on = obstacles[contact];
    const Mask is_free = kept_on < S{};
    Mask asks = is_free & (modes[contact] > S{}), is_known = is_free;
    for (Index k = 1; k < count; ++k)
      asks = asks | (obstacles[contact + k] >= S{}) | (modes[contact + k] > S{});
    const Obstacle* touched = nullptr;
    LaneHit hit;
    Mask touches(false), holds(false);
    for (int k = 0; k < count_; ++k) {
      const Obstacle& obstacle = obstacles_[k];
      const LaneHit own = measure(obstacle, node);
      const Mask near = which & obstacle.is_near,
                 own_holds = near & (kept_on == static_cast<Scalar>(obstacle.number)),
                 own_touches = own_holds | (near & (own.gap < S{}));
      asks = asks | (near & (own.is_far | !(own.gap < infinity())));
      is_known = is_known | own_holds;
      if (!any(own_touches)) continue;
      if (touched != nullptr) {
        asks = asks | own_touches;
        continue;
      }
      touched = &obstacle;
      hit = own;
      touches = own_touches;
      holds = own_holds;
    }
    asks = which & (asks | !is_known);
    clear_node(node, which & !asks);
    if (touched != nullptr) push(step, law, node, *touched, hit, touches & !asks, holds);
    return asks;
  }
  void clear_node(Index node, Mask which) const {
    const auto at = static_cast<std::size_t>(node);
    for (std::size_t i = 0; i < 6; ++i) put(work(at_.contacts.sample_stiffness)[6 * at + i], which, S{});
    put(work(at_.contacts.sample_forces), node, which, {});
    put(work(at_.contacts.depths)[at], which, S{});
    put(work(at_.contacts.errors)[at], which, S{});
    put(work(at_.contacts.weights)[p_.samples.sample_begin[node]], which, number(1));
  }

  /// Stiffness and force of the contacts of a node that touches an obstacle in the lanes `which`; where it
  /// `holds` it has the contact.
  void push(const SampleStep<S>& step, const Law& law, Index node, const Obstacle& obstacle,
            const LaneHit& hit, Mask which, Mask holds) const {
    if (!any(which)) return;
    const auto at = static_cast<std::size_t>(node);
    const Index contact = p_.samples.first_contact(node);
    const auto c = static_cast<std::size_t>(contact);
    const ContactStateLayout own = layout();
    S *const forces = kept(own.forces()), *const slips = kept(own.slips()), *const modes = kept(own.modes()),
             *const began = work(at_.contacts.began) + 4 * c, &mismatch = work(at_.contacts.mismatches)[c];
    put(work(at_.contacts.depths)[at], which & (hit.gap < S{}), -hit.gap);
    begin_contact(contact, which & !holds);
    const Vec3<S> moved = hit.to - hit.from;
    if (step.iteration == 0) {
      const S slip = length(moved - dot(moved, hit.normal) * hit.normal);
      const Vec3<S> force = vector(forces, contact);
      const Mask slips_on = slip > Law::rest_speed * step.part.h;
      put(began[0], which, force.x);
      put(began[1], which, force.y);
      put(began[2], which, force.z);
      put(began[3], which, slips[c] + select(slips_on, slip, S{}));
      put(mismatch, which, S{});
    }
    S error{};
    if (step.iteration > 0) error = select(mismatch > error, mismatch, error);
    // The area that the node stands for; where it is held there is none.
    const S inverse_mass = work(at_.contacts.inverse_masses)[at];
    const S rest_inverse = S(rest(a_.rest.inverse_masses, static_cast<std::size_t>(p_.node_count))[node]);
    const Mask is_movable = which & (inverse_mass > S{});
    S area = select(rest_inverse > S{}, 1 / rest_inverse, S{});
    if (shares_) area = less_shared(node, obstacle.number, area);
    const Mask acts = is_movable & (area > S{});
    const S one = number(1);
    const Vec3<S> began_force{began[0], began[1], began[2]};
    const ContactPoint<S> point{.normal = turned(obstacle.end, hit.normal),
                                .displacement = turned(obstacle.end, moved),
                                .gap = hit.gap,
                                .gap_before = gap_before(*obstacle.shape, hit, acts),
                                .area = select(acts, area, one),
                                .inertia = select(acts, step.inertia / select(acts, inverse_mass, one), one),
                                .force = select(acts, vector(forces, contact), Vec3<S>{}),
                                .began = select(acts, began_force, Vec3<S>{}),
                                .slip = began[3],
                                .mode = modes[c]};
    const typename Law::Squeeze now = law.squeeze(point);
    const S of_thickness = law.error(point, now) / parameters_.accuracy;
    error = select(acts & (of_thickness > error), of_thickness, error);
    put(work(at_.contacts.errors)[at], which, error);
    const ContactResponse<S> r = law.response(point, now, obstacle.friction);
    const Mask pushes = acts & (r.mode > S{}), rests = which & !pushes;
    if (any(rests)) rest_contact(contact, began_force, rests);
    put(kept(own.obstacles())[c], pushes, number(obstacle.number));
    put(modes[c], pushes, r.mode);
    put(work(at_.contacts.normals), contact, pushes, r.normal);
    put(work(at_.contacts.pulls), contact, pushes, r.pull);
    put(work(at_.contacts.stiffness), contact, pushes, {r.along, r.across, r.grip});
    put(work(at_.contacts.sample_forces), node, pushes, Vec3<S>{} + r.pull);
    const S slides_free = select(r.mode == as_mode<S>(ContactMode::slide_on), r.across, S{}),
            normal = r.along - r.across;
    const S n[3] = {r.normal.x, r.normal.y, r.normal.z},
            s[3] = {r.slip_direction.x, r.slip_direction.y, r.slip_direction.z};
    S* const stiffness = work(at_.contacts.sample_stiffness) + 6 * at;
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        put(stiffness[entry], pushes,
            S{} + (normal * n[i] * n[j] + (i == j ? r.across : S{}) - slides_free * s[i] * s[j]));
  }
  /// A node's area without what the points of its edges and faces take of it at an obstacle.
  S less_shared(Index node, Index obstacle, S own) const {
    const Index i = p_.free.number[node];
    if (i < 0) return own;
    S sum{};
    for (Index e = p_.node_slots.begin[i]; e < p_.node_slots.begin[i + 1]; ++e) {
      const Index other = p_.node_slots.second[e];
      if (other < p_.node_count) continue;
      const Mask takes = work(at_.contacts.shared_with)[other] == static_cast<Scalar>(obstacle);
      sum = select(takes, sum + work(at_.contacts.shared_areas)[p_.node_slots.first[e]], sum);
    }
    return larger(own - sum, Scalar(ContactTerms<Scalar>::least_area) * own);
  }
  S gap_before(const ShapeView<Scalar>& shape, const LaneHit& hit, Mask which) const {
    const Scalar tolerance = static_cast<Scalar>(a_.control.contact_tolerance);
    const S along = hit.gap - dot(hit.to - hit.from, hit.normal);
    S before = select(along < S{}, along, S{});
    const Mask is_deep = which & (hit.gap < S{}) & (before < hit.gap) & (before < S(-tolerance));
    for (int lane = 0; any(is_deep) && lane < width; ++lane) {
      if (!is_deep[lane]) continue;
      const SweptDistance<Scalar> now{lane_value(hit.gap, lane), lane_vector(hit.normal, lane)};
      const Scalar offset = lane_value(parameters_.offset, lane);
      before.v[lane] = ISOCLOTH_BACKEND::gap_before<Scalar>(
          shape, {offset, offset}, tolerance, now, lane_vector(hit.from, lane), lane_vector(hit.to, lane));
    }
    return select(hit.gap < S{}, before, S{});
  }
  void begin_contact(Index contact, Mask which) const {
    if (!any(which)) return;
    const ContactStateLayout own = layout();
    const auto c = static_cast<std::size_t>(contact);
    put(kept(own.forces()), contact, which, {});
    put(kept(own.modes())[c], which, S{});
    put(kept(own.slips())[c], which, S{});
    for (std::size_t i = 0; i < 4; ++i) put(work(at_.contacts.began)[4 * c + i], which, S{});
    put(work(at_.contacts.mismatches)[c], which, S{});
  }
  /// It exerts nothing, and is let go where it bore nothing when the step began.
  void rest_contact(Index contact, Vec3<S> began, Mask which) const {
    const ContactStateLayout own = layout();
    const auto c = static_cast<std::size_t>(contact);
    const Mask goes = which & !(dot(began, began) > S{});
    put(kept(own.modes())[c], which, S{});
    put(kept(own.forces()), contact, which, {});
    put(work(at_.contacts.mismatches)[c], which, S{});
    begin_contact(contact, goes);
    put(kept(own.obstacles())[c], goes, number(-1));
  }

  /// Forces of a node's contact after `correction`; returns the lanes in which they are asked of the terms.
  Mask update_node(const SampleStep<S>& step, const Law& law, Index node, Mask which) const {
    const ContactStateLayout own = layout();
    const Index contact = p_.samples.first_contact(node), count = p_.samples.contacts_per_node;
    const auto c = static_cast<std::size_t>(contact);
    S *const forces = kept(own.forces()), *const modes = kept(own.modes());
    const S kept_on = kept(own.obstacles())[c];
    Mask asks(false), is_known(false);
    for (Index k = 1; k < count; ++k) asks = asks | (modes[contact + k] > S{});
    const Mask acts = which & (modes[c] > S{});
    if (!any(acts | (which & asks))) return Mask(false);
    FrictionView<S> friction;
    for (int k = 0; k < count_; ++k) {
      const Mask is_it = obstacles_[k].is_near & (kept_on == static_cast<Scalar>(obstacles_[k].number));
      friction.static_ = select(is_it, obstacles_[k].friction.static_, friction.static_);
      friction.dynamic = select(is_it, obstacles_[k].friction.dynamic, friction.dynamic);
      is_known = is_known | is_it;
    }
    asks = which & (asks | (acts & !is_known));
    const Mask updates = acts & !asks;
    ContactResponse<S> r{.mode = modes[c],
                         .normal = vector(work(at_.contacts.normals), contact),
                         .pull = vector(work(at_.contacts.pulls), contact)};
    const Vec3<S> stiffness = vector(work(at_.contacts.stiffness), contact);
    r.along = stiffness.x;
    r.across = stiffness.y;
    r.grip = stiffness.z;
    const Vec3<S> tangential = r.pull - dot(r.pull, r.normal) * r.normal;
    const S size = length(tangential);
    r.slip_direction = select(size > S{}, (number(1) / size) * tangential, Vec3<S>{});
    const Index i = p_.free.number[node];
    const Vec3<S> d = work(at_.contacts.weights)[p_.samples.sample_begin[node]] *
                      (i < 0 ? Vec3<S>{} : free_nodes(at_.correction)[i]);
    const ContactForce<S> next =
        law.after(r, (Vec3<S>{} + d) - Vec3<S>{}, work(at_.contacts.began)[4 * c + 3], friction);
    Vec3<S> force = next.force;
    // What goes to and fro meets in the middle; what is let go stays so.
    if (step.iteration >= 2 * patience)
      force = select(dot(force, force) > S{}, number(0.5) * (vector(forces, contact) + force), force);
    put(forces, contact, updates, force);
    put(modes[c], updates, next.mode);
    put(kept(own.slips())[c], updates, next.slip);
    put(work(at_.contacts.mismatches)[c], updates, next.mismatch);
    return asks;
  }

  Obstacle obstacles_[most_obstacles];
  int count_ = 0;  ///< obstacles near the tile
  S* state_ = nullptr;
  bool keeps_elements_ = false, has_elements_ = false;
  bool shares_ = false;  ///< elements share areas of nodes in this step
};

#endif

}  // namespace isocloth::ISOCLOTH_BACKEND
