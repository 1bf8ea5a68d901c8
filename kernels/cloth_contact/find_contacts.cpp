// Which pairs touch: see PairReferences, CullCandidates and FindClothContacts.
#include "kernels/cloth_contact/pair_nodes.hpp"
#include "kernels/cloth_contact/pair_packets.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr int pair_width = Lanes<PairLanes<double>>::width;

/// Whether the pairs of a packet are all of a node and a triangle, or all of edges.
template <class PairAt>
ISOCLOTH_DEVICE bool of_one_kind(const PairAt& pair_at, Index first, Index end) {
  for (Index p = first + 1; p < end; ++p)
    if (pair_at(p).is_edges != pair_at(first).is_edges) return false;
  return true;
}

struct MeasureBody {
  MeasurePairs a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Index p = a.first + item;
    const bool fills_up = p >= static_cast<Index>(a.pairs.size());
    const PairNodes nodes(a.features, fills_up ? a.pairs[0] : a.pairs[p]);
    const Index packet = p / pair_width, lane = p % pair_width;
    for (int i = 0; i < 4; ++i)
      a.references.nodes[(4 * static_cast<std::size_t>(packet) + i) * pair_width + lane] = nodes.nodes[i];
    a.references.rooms.data()[p] = -HUGE_VAL;
    if (fills_up) return;
    const Index one = a.features.node_garments[nodes.nodes[0]],
                other = a.features.node_garments[nodes.nodes[3]];
    double thickness = (a.thicknesses[one] + a.thicknesses[other]) / 2;
    if (one == other && may_be_nearer(nodes.at(a.rest), 2 * thickness)) {
      const double rest = nearest_points(nodes.at(a.rest)).distance / 2;
      thickness = rest < thickness ? rest : thickness;
    }
    a.references.thicknesses[p] = thickness;
  }

 private:
  /// False: the distance is certainly not less.
  static ISOCLOTH_DEVICE bool may_be_nearer(const PointPair& pair, double distance) {
    const Vec3d* const p = pair.points;
    const bool is_edges = pair.first_count == 2;
    const double between = norm(p[0] - p[is_edges ? 2 : 1]);
    const double sizes =
        is_edges ? norm(p[1] - p[0]) + norm(p[3] - p[2]) : larger(norm(p[2] - p[1]), norm(p[3] - p[1]));
    return !(between - sizes > distance);
  }
};

ISOCLOTH_DEVICE ContactKey key_of(const FeaturePair& pair) {
  return {pair.is_edges != 0 ? ContactKey::two_edges : ContactKey::node_and_face, pair.first, pair.second};
}

struct PlacesBody {
  CullCandidates a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Vec3d from = a.from[i], to = a.to[i];
    const Vec3d all[4] = {from, to, from - a.measured_at[i], to - from};
    a.measured_at[i] = from;
    for (std::size_t k = 0; k < 4; ++k)
      a.trajectories[k * a.from.size() + static_cast<std::size_t>(i)] = {all[k].x, all[k].y, all[k].z, 0};
  }
};

/// What ways keep apart, in parts of the thickness, or of the distance at first where that is less, and in
/// any case so many thicknesses, or where they began nearer most of that: steps of a jam that each leave a
/// tenth would soon leave nothing but rounding.
template <class S>
ISOCLOTH_DEVICE S least_distance(S at_start, S thickness) {
  const S least_share(0.1), least_part(0.01), most_of_distance(0.9);
  const S nearer = select(at_start < thickness, at_start, thickness);
  const S most = most_of_distance * at_start, floor = least_part * thickness;
  return larger(least_share * nearer, select(most < floor, most, floor));
}

struct SiftBody {
  CullCandidates a;
  /// Bounds of what any pair has moved since rooms were measured, 0: not at all, and moves on its way [m].
  double moved = HUGE_VAL, way = HUGE_VAL;
  using S = PairLanes<double>;
  using Packet = PointPacket<S>;
  static constexpr double rounding = 1e-3;  ///< much more than that of a distance, in parts of the thickness

  ISOCLOTH_DEVICE void operator()(Index packet) const {
    const std::size_t first = static_cast<std::size_t>(packet) * pair_width;
    const std::size_t left = a.pairs.size() - first, end = first + (left < pair_width ? left : pair_width);
    const auto may = may_touch(first, end);
    for (std::size_t p = first; p < end; ++p)
      a.may_touch[p] = lane_value(may, static_cast<int>(p - first)) > 0 ? 1 : 0;
  }

 private:
  /// 1 or 0.
  ISOCLOTH_DEVICE S may_touch(std::size_t first, std::size_t end) const {
    const S yes(1.0), no(0.0), lowest(-1e300);
    S& room = *reinterpret_cast<S*>(a.references.rooms.data() + first);
    auto far = room > S((1 + rounding) * (moved + way));
    if (!any(!far)) {
      room = room - S(moved);
      return no;
    }
    if (moved > 0) room = room - longest_way(packet_of(first, 2));
    far = room - longest_way(packet_of(first, 3)) > no;
    if (!any(!far)) return no;
    const bool is_alike =
        of_one_kind([&](Index p) { return a.pairs[p]; }, static_cast<Index>(first), static_cast<Index>(end));
    // What is near at x^n is so in all iterations: nothing is saved by asking more than once.
    if (!is_alike || !(moved > 0 || any(room < lowest) || any((!far) & (room > no))))
      return select(far, no, yes);
    const int first_count = a.pairs[first].is_edges != 0 ? 2 : 1;
    const S thickness = *reinterpret_cast<const S*>(a.references.thicknesses.data() + first),
            near_by = S(1 + rounding) * (thickness + S(a.reach));
    const Packet from = packet_of(first, 0), to = packet_of(first, 1);
    const NearestOfPacket<S> start = nearest_points(from, first_count);
    room = start.distance - near_by;
    far = far | (start.distance - relative_ways(from, to, first_count) > near_by);
    if (!any((!far) & (start.distance > near_by)))
      return select(far, no, yes);  // what is near mostly stays so
    const NearestOfPacket<S> at_end = nearest_points(to, first_count);
    const S least = least_distance(start.distance, thickness) + S(rounding) * thickness;
    const auto separates = [&](const Vec3<S>& n) {
      return (separations(from, first_count, n) > least) & (separations(to, first_count, n) > least);
    };
    far = far | ((at_end.distance > near_by) & (separates(start.normal) | separates(at_end.normal)));
    return select(far, no, yes);
  }
  /// kind: which of `trajectories`.
  ISOCLOTH_DEVICE Packet packet_of(std::size_t first, std::size_t kind) const {
    Packet packet;
    const Index* const nodes = a.references.nodes.data() + 4 * first;
    for (int i = 0; i < 4; ++i)
      packet.points[i] =
          Quads<S>::at(a.trajectories.data() + kind * a.from.size(), nodes + i * pair_width).lanes();
    return packet;
  }
  /// Longest difference of ways, relative_way() or more: a difference within a side is among them.
  static ISOCLOTH_DEVICE S longest_way(const Packet& ways) {
    S longest(0.0);  // squared
    for (int i = 0; i < 2; ++i)
      for (int j = i + 1; j < 4; ++j) {
        const Vec3<S> relative = ways.points[i] - ways.points[j];
        longest = larger(dot(relative, relative), longest);
      }
    return square_root(longest);
  }
};

/// A packet of those that may touch: what can be told of all lanes alike is, the rest of each by itself.
struct FindBody {
  FindClothContacts a;
  using S = PairLanes<double>;
  /// What began nearer than so many thicknesses and passed is pushed back the way it came: where points first
  /// meet they are so near that the direction between them is poor.
  static constexpr double near_start = 1.5;
  static constexpr double least_weight = 1e-9;  ///< least weight of a node that takes part

  ISOCLOTH_DEVICE void operator()(Index packet) const {
    const Index first = packet * pair_width, room = static_cast<Index>(a.sifted.size()),
                count = a.sifted_count.empty() ? room : a.sifted_count[0],
                end = first + pair_width < count ? first + pair_width : count;
    for (Index index = first > count ? first : count; index < first + pair_width && index < room; ++index)
      a.contacts[index].status = PairStatus::apart;
    if (first >= count) return;
    if (of_one_kind([&](Index index) { return a.pairs[a.sifted[index]]; }, first, end))
      return find(first, end);
    for (Index index = first; index < end; ++index) {
      FoundContact found;
      found.pair = a.sifted[index];
      find_alone(found);
      a.contacts[index] = found;
    }
  }

 private:
  /// Contacts of a packet whose pairs are of one kind.
  ISOCLOTH_DEVICE void find(Index first, Index end) const {
    Index pairs[pair_width], nodes[4][pair_width];
    int first_count = 1;
    for (int lane = 0; lane < pair_width; ++lane) {  // the last one fills up
      pairs[lane] = a.sifted[first + lane < end ? first + lane : end - 1];
      const PairNodes own(a.features, a.pairs[pairs[lane]]);
      for (int i = 0; i < 4; ++i) nodes[i][lane] = own.nodes[i];
      first_count = own.first_count;
    }
    const auto packet_at = [&](ArrayView<const Vec3d> positions) {
      PointPacket<S> packet;
      for (int i = 0; i < 4; ++i)
        packet.points[i] = {lanes_of<S>([&](int lane) { return positions[nodes[i][lane]].x; }),
                            lanes_of<S>([&](int lane) { return positions[nodes[i][lane]].y; }),
                            lanes_of<S>([&](int lane) { return positions[nodes[i][lane]].z; })};
      return packet;
    };
    const PointPacket<S> from = packet_at(a.from), to = packet_at(a.to);
    const S thickness = lanes_of<S>([&](int lane) { return a.thicknesses[pairs[lane]]; }),
            near_by = thickness + S(a.reach);
    const NearestOfPacket<S> start = nearest_points(from, first_count),
                             at_end = nearest_points(to, first_count);
    const S least = least_distance(start.distance, thickness), none(0.0), once(1.0), alone(2.0);
    const auto separates = [&](const Vec3<S>& n) {
      return (separations(from, first_count, n) > least) & (separations(to, first_count, n) > least);
    };
    auto counts = at_end.distance <= near_by;
    if (first_count == 2)  // a node with an edge or a node: that pair tells
      for (const S& weight : at_end.weights) counts = counts & (magnitude(weight) >= S(least_weight));
    S what = select(separates(start.normal) | separates(at_end.normal), select(counts, once, none), alone);
    what = select(start.distance - relative_ways(from, to, first_count) > near_by, none, what);
    const S gap = dot(at_end.normal, at_end.way) - thickness,
            before = select(start.distance < thickness, start.distance - thickness, none);
    for (int lane = 0; lane < end - first; ++lane) {
      FoundContact& to_write = a.contacts[first + lane];
      to_write.pair = pairs[lane];
      to_write.status = PairStatus::apart;
      if (!(lane_value(what, lane) > 0)) continue;
      FoundContact found;
      found.pair = pairs[lane];
      if (lane_value(what, lane) > 1) {
        find_alone(found);
      } else {
        for (int i = 0; i < 4; ++i) found.weights[i] = lane_value(at_end.weights[i], lane);
        found.normal = {lane_value(at_end.normal.x, lane), lane_value(at_end.normal.y, lane),
                        lane_value(at_end.normal.z, lane)};
        found.thickness = lane_value(thickness, lane);
        found.gap = lane_value(gap, lane);
        found.before = lane_value(before, lane);
        set_near(found);
      }
      to_write = found;
    }
  }

  ISOCLOTH_DEVICE void find_alone(FoundContact& found) const {
    const FeaturePair pair = a.pairs[found.pair];
    const PairNodes nodes(a.features, pair);
    const double thickness = a.thicknesses[found.pair], near_by = thickness + a.reach;
    const PointPair from = nodes.at(a.from), to = nodes.at(a.to);
    const NearestPoints start = nearest_points(from);
    if (start.distance - relative_way(from, to) > near_by) return;
    const NearestPoints end = nearest_points(to);
    const double least = least_distance(start.distance, thickness);
    if (!is_separated(start.normal, end.normal, from, to, least)) {
      const double time = time_apart(from, to, least);
      if (time < 1) {
        const NearestPoints meeting =
            nearest_points(start.distance < near_start * thickness ? from : between(from, to, time));
        found.status = PairStatus::passing;
        found.key = key_of(pair).packed();
        return note(meeting, to, thickness, found);
      }
    }
    if (!(end.distance <= near_by)) return;
    if (start.distance < thickness) found.before = start.distance - thickness;
    note(end, to, thickness, found);
    set_near(found);
  }

  /// What touches, by the weights of the nearest points of a pair that is near.
  ISOCLOTH_DEVICE void set_near(FoundContact& found) const {
    const FeaturePair pair = a.pairs[found.pair];
    Index kept[4];
    int count = 0;
    for (int i = 0; i < 4; ++i)
      if (magnitude(found.weights[i]) >= least_weight) kept[count++] = i;
    if (pair.is_edges != 0 && count < 4) return;  // a node with an edge or a node: that pair tells
    found.status = PairStatus::near_by;
    if (count == 4) {
      found.key = key_of(pair).packed();
    } else if (count == 3) {
      const Index side = side_of(a.features, pair, kept[1], kept[2]);
      found.key = ContactKey{ContactKey::node_and_edge, pair.first, side}.packed();
    } else {
      const Index one = pair.first,
                  other = a.features.triangles[3 * static_cast<std::size_t>(pair.second) + kept[1] - 1];
      found.key = one < other ? ContactKey{ContactKey::two_nodes, one, other}.packed()
                              : ContactKey{ContactKey::two_nodes, other, one}.packed();
    }
  }

  /// Whether one direction tells that the sides keep more than `least` apart all the time.
  static ISOCLOTH_DEVICE bool is_separated(const Vec3d& at_start, const Vec3d& at_end, const PointPair& from,
                                           const PointPair& to, double least) {
    const Vec3d sum = at_start + at_end;
    const double length = norm(sum);
    const auto separates = [&](const Vec3d& n) {
      return separation(from, n) > least && separation(to, n) > least;
    };
    if (separates(at_start) || separates(at_end) || (length > 0 && separates((1 / length) * sum)))
      return true;
    // By these the search leaves pairs out.
    const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (const Vec3d& axis : axes)
      if (separates(axis) || separates(-1.0 * axis)) return true;
    return boxes_stay_apart(from, to, least);
  }
  static ISOCLOTH_DEVICE void note(const NearestPoints& at, const PointPair& to, double thickness,
                                   FoundContact& found) {
    for (int i = 0; i < 4; ++i) found.weights[i] = at.weights[i];
    found.normal = at.normal;
    found.thickness = thickness;
    found.gap = dot(at.normal, weighted(at.weights, to.points)) - thickness;
  }
};

/// So many packets are worth a thread.
struct FindGroups {
  FindBody body;
  Index packets;
  static constexpr Index size = 64;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index group) const {
    const Index first = group * size, left = packets - first;
    share(block, static_cast<std::size_t>(left < size ? left : size), [&](Index i) { body(first + i); });
  }
};

#if !defined(__CUDACC__)
/// Bound of how far any two nodes have gone against each other [m].
double spread(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to) {
  Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Vec3d way = to[i] - from[i];
    low = {way.x < low.x ? way.x : low.x, way.y < low.y ? way.y : low.y, way.z < low.z ? way.z : low.z};
    high = {larger(way.x, high.x), larger(way.y, high.y), larger(way.z, high.z)};
  }
  return norm(high - low);
}
#endif

Index packet_count(std::size_t pairs) { return (static_cast<Index>(pairs) + pair_width - 1) / pair_width; }

}  // namespace

void measure_pairs(const Queue& queue, const MeasurePairs& args) {
  parallel_for(queue, packet_count(args.pairs.size()) * pair_width - args.first, MeasureBody{args});
}
void cull_candidates(const Queue& queue, const CullCandidates& args) {
  SiftBody body{args};
#if !defined(__CUDACC__)
  // Where the host can read them, as no device has them: of cloth that hardly moves most pairs are done with.
  if (queue.stream == nullptr) {
    body.moved = spread(args.measured_at, args.from);
    body.way = spread(args.from, args.to);
  }
#endif
  parallel_for(queue, static_cast<Index>(args.from.size()), PlacesBody{args});
  parallel_for(queue, packet_count(args.pairs.size()), body);
}
void find_cloth_contacts(const Queue& queue, const FindClothContacts& args) {
  const FindGroups groups{{args}, packet_count(args.sifted.size())};
  for_each_block(queue, (groups.packets + FindGroups::size - 1) / FindGroups::size, 0, groups);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
