#include "kernels/cloth_contact/cloth_contact.hpp"

#include "kernels/cloth_contact/pair_geometry.hpp"
#include "kernels/contact/contact_law.hpp"
#include "kernels/launch/launch.hpp"
#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// Nodes of a pair, the first side's before the second's.
struct PairNodes {
  Index nodes[4];
  int first_count;

  ISOCLOTH_DEVICE PairNodes(const ClothFeatures& features, const FeaturePair& pair)
      : first_count(pair.is_edges != 0 ? 2 : 1) {
    if (pair.is_edges != 0) {
      for (int i = 0; i < 2; ++i) {
        nodes[i] = features.edges[2 * static_cast<std::size_t>(pair.first) + i];
        nodes[2 + i] = features.edges[2 * static_cast<std::size_t>(pair.second) + i];
      }
    } else {
      nodes[0] = pair.first;
      for (int i = 0; i < 3; ++i)
        nodes[1 + i] = features.triangles[3 * static_cast<std::size_t>(pair.second) + i];
    }
  }
  ISOCLOTH_DEVICE PointPair at(ArrayView<const Vec3d> positions) const {
    PointPair points;
    points.first_count = first_count;
    for (int i = 0; i < 4; ++i) points.points[i] = positions[nodes[i]];
    return points;
  }
};

ISOCLOTH_DEVICE PairNodes nodes_of(const ClothContactList& list, Index contact) {
  return {list.features, list.pairs[list.chosen[contact]]};
}
ISOCLOTH_DEVICE const FoundContact& found_of(const ClothContactList& list, Index contact) {
  return list.found[list.chosen[contact]];
}

/// The edge between two places of a pair on one side.
ISOCLOTH_DEVICE Index side_of(const ClothFeatures& features, const FeaturePair& pair, int a, int b) {
  if (pair.is_edges != 0) return a < 2 ? pair.first : pair.second;
  const int low = a < b ? a : b, high = a < b ? b : a;
  const int side = low == 1 ? (high == 2 ? 0 : 2) : 1;
  return features.sides[3 * static_cast<std::size_t>(pair.second) + side];
}

ISOCLOTH_DEVICE double square(double x) { return x * x; }
ISOCLOTH_DEVICE Vec3d product(const double* k, const Vec3d& v) {
  return {k[0] * v.x + k[1] * v.y + k[2] * v.z, k[1] * v.x + k[3] * v.y + k[4] * v.z,
          k[2] * v.x + k[4] * v.y + k[5] * v.z};
}
template <class Real>
ISOCLOTH_DEVICE Vec3d widened(const Vec3<Real>& v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}
template <class Real>
ISOCLOTH_DEVICE void add(const Vec3d& v, Vec3<Real>& to) {
  to = {static_cast<Real>(static_cast<double>(to.x) + v.x),
        static_cast<Real>(static_cast<double>(to.y) + v.y),
        static_cast<Real>(static_cast<double>(to.z) + v.z)};
}

constexpr int pair_width = Lanes<PairLanes<double>>::width;

struct MeasureBody {
  MeasurePairs a;
  ISOCLOTH_DEVICE void operator()(Index p) const {
    const bool fills_up = p >= static_cast<Index>(a.pairs.size());
    const PairNodes nodes(a.features, fills_up ? a.pairs[0] : a.pairs[p]);
    const Index packet = p / pair_width, lane = p % pair_width;
    for (int i = 0; i < 4; ++i)
      a.references.nodes[(4 * static_cast<std::size_t>(packet) + i) * pair_width + lane] = nodes.nodes[i];
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

struct WaysBody {
  FindClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Vec3d before = a.from[i] - a.sought_at[i], after = a.to[i] - a.sought_at[i];
    a.ways[i] = {before.x, before.y, before.z, 0};
    a.ways[a.from.size() + i] = {after.x, after.y, after.z, 0};
  }
};

struct FindBody {
  FindClothContacts a;
  /// What ways keep apart, in parts of the thickness, or of the distance at first where that is less.
  static constexpr double least_share = 0.1;
  /// And in any case so many thicknesses, or where they began nearer most of that: steps of a jam that each
  /// leave a tenth would soon leave nothing but rounding.
  static constexpr double least_distance = 0.01, most_of_distance = 0.9;
  /// What began nearer than so many thicknesses and passed is pushed back the way it came: where points first
  /// meet they are so near that the direction between them is poor.
  static constexpr double near_start = 1.5;

  ISOCLOTH_DEVICE void operator()(Index packet) const {
    // Where motion since pairs were sought tells that the test below ends with `apart`: x^n is as near as the
    // first way allows, and the way from there to x is no longer than both.
    using S = PairLanes<double>;
    const std::size_t first = static_cast<std::size_t>(packet) * pair_width;
    const Index* const nodes = a.references.nodes.data() + 4 * first;
    S left{};
    if (a.is_measured)
      left = *reinterpret_cast<const S*>(a.references.rooms.data() + first) -
             (S(2.0) * relative_way_since(nodes, a.ways.data()) +
              relative_way_since(nodes, a.ways.data() + a.from.size()));
    for (int lane = 0; lane < pair_width; ++lane) {
      const Index p = static_cast<Index>(first) + lane;
      if (p >= static_cast<Index>(a.pairs.size())) return;
      a.statuses[p] = PairStatus::apart;
      if (!(lane_value(left, lane) > 0)) find(p);
    }
  }

 private:
  /// As relative_way(), at most longer: a difference within a side is among them.
  template <class S = PairLanes<double>>
  static ISOCLOTH_DEVICE S relative_way_since(const Index* nodes, const Vec4<double>* ways) {
    Vec3<S> way[4];
    for (int i = 0; i < 4; ++i) way[i] = Quads<S>::at(ways, nodes + i * pair_width).lanes();
    S longest(0.0);  // squared
    for (int i = 0; i < 2; ++i)
      for (int j = i + 1; j < 4; ++j) {
        const Vec3<S> relative = way[i] - way[j];
        longest = larger(dot(relative, relative), longest);
      }
    return square_root(longest);
  }

  ISOCLOTH_DEVICE void find(Index p) const {
    const FeaturePair pair = a.pairs[p];
    const PairNodes nodes(a.features, pair);
    const double thickness = a.references.thicknesses[p], near_by = thickness + a.reach;
    const PointPair from = nodes.at(a.from), to = nodes.at(a.to);
    const NearestPoints start = nearest_points(from);
    constexpr double rounding = 1e-3;
    if (!a.is_measured) a.references.rooms[p] = start.distance - (1 + rounding) * near_by;
    if (start.distance - relative_way(from, to) > near_by) return;
    const NearestPoints end = nearest_points(to);
    const double nearer = start.distance < thickness ? start.distance : thickness;
    const double most = most_of_distance * start.distance, floor = least_distance * thickness;
    const double least = larger(least_share * nearer, most < floor ? most : floor);
    FoundContact found;
    if (!is_separated(start.normal, end.normal, from, to, least)) {
      const double time = time_apart(from, to, least);
      if (time < 1) {
        const NearestPoints meeting =
            nearest_points(start.distance < near_start * thickness ? from : between(from, to, time));
        a.statuses[p] = PairStatus::passing;
        found.key = key_of(pair).packed();
        return note(p, meeting, to, thickness, found);
      }
    }
    if (!(end.distance <= near_by)) return;
    Index kept[4];
    int count = 0;
    for (int i = 0; i < 4; ++i)
      if (magnitude(end.weights[i]) >= 1e-9) kept[count++] = i;
    if (pair.is_edges != 0 && count < 4) return;  // a node with an edge or a node: that pair tells
    a.statuses[p] = PairStatus::near_by;
    if (count == 4) {
      found.key = key_of(pair).packed();
    } else if (count == 3) {
      const Index side = side_of(a.features, pair, kept[1], kept[2]);
      found.key = ContactKey{ContactKey::node_and_edge, pair.first, side}.packed();
    } else {
      const Index one = nodes.nodes[0], other = nodes.nodes[kept[1]];
      found.key = one < other ? ContactKey{ContactKey::two_nodes, one, other}.packed()
                              : ContactKey{ContactKey::two_nodes, other, one}.packed();
    }
    if (start.distance < thickness) found.before = start.distance - thickness;
    note(p, end, to, thickness, found);
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
    return false;
  }
  ISOCLOTH_DEVICE void note(Index p, const NearestPoints& at, const PointPair& to, double thickness,
                            FoundContact& found) const {
    for (int i = 0; i < 4; ++i) found.weights[i] = at.weights[i];
    found.normal = at.normal;
    found.gap = dot(at.normal, weighted(at.weights, to.points)) - thickness;
    a.found[p] = found;
  }
};

ISOCLOTH_DEVICE ContactLaw<double> law_of(const RespondClothContacts& a) {
  ContactLaw<double> law;
  law.tolerance = a.tolerance;
  law.stiffening = a.stiffening;
  return law;
}
ISOCLOTH_DEVICE FrictionView<double> friction_of(ArrayView<const FrictionView<double>> friction,
                                                 ArrayView<const Index> node_garments, const Index* nodes,
                                                 Index garments) {
  return friction[static_cast<std::size_t>(node_garments[nodes[0]]) * garments + node_garments[nodes[3]]];
}

struct ActivateBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const FoundContact& found = found_of(a.list, c);
    const PairNodes nodes = nodes_of(a.list, c);
    double inverse[4];
    for (int i = 0; i < 4; ++i) inverse[i] = a.inverse_inertia[nodes.nodes[i]];
    const ContactLaw<double> law = law_of(a);
    a.active[c] =
        points_can_part(found.weights, inverse) &&
        law.is_active(law.wanted_gap(found.gap, found.before), dot(a.forces[c], found.normal) > 0, a.reach);
  }
};

struct ShareBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    Index count = 0;
    for (Index e = a.list.node_begin[node]; e < a.list.node_begin[node + 1]; ++e)
      count += a.active[a.list.node_entries[e] / 4];
    a.sharing[node] = static_cast<double>(count);
  }
};

struct RespondBody {
  RespondClothContacts a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    a.responses[c] = {};
    if (a.active[c] == 0) {
      a.forces[c] = {};
      return;
    }
    const FoundContact& found = found_of(a.list, c);
    const PairNodes nodes = nodes_of(a.list, c);
    double inverse = 0;
    Vec3d displacement{};
    for (int i = 0; i < 4; ++i) {
      const Index node = nodes.nodes[i];
      inverse += square(found.weights[i]) * a.inverse_inertia[node] * a.sharing[node];
      displacement += found.weights[i] * (a.to[node] - a.from[node]);
    }
    const ContactLaw<double> law = law_of(a);
    const ContactResponse<double> r = law.response(
        a.forces[c], found.normal, law.wanted_gap(found.gap, found.before), displacement, 1 / inverse,
        friction_of(a.friction, a.list.features.node_garments, nodes.nodes, a.garment_count));
    ClothResponse response;
    response.along = r.along;
    response.across = r.across;
    response.first_count = nodes.first_count;
    response.mode = r.mode;
    response.pull = r.pull;
    response.normal = r.normal;
    for (int i = 0; i < 4; ++i) {
      response.weights[i] = found.weights[i];
      response.nodes[i] = nodes.nodes[i];
    }
    const double n[3] = {r.normal.x, r.normal.y, r.normal.z},
                 s[3] = {r.slip_direction.x, r.slip_direction.y, r.slip_direction.z},
                 free = r.mode == ContactMode::slide_on ? r.across : 0;
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        response.stiffness[entry] =
            (r.along - r.across) * n[i] * n[j] + (i == j ? r.across : 0) - free * s[i] * s[j];
    a.responses[c] = response;
  }
};

template <class Real>
struct GatherBody {
  GatherClothNodes<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    a.gathered[i] = widened(a.positions[i]);
    a.inverse_inertia[i] = static_cast<double>(a.inverse_masses[i]) / static_cast<double>(a.inertia);
  }
};

template <class Real>
struct AddBody {
  AddClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index number) const {
    const Index own = a.free.nodes[number], node = a.first_node + own;
    Vec3d force{};
    for (Index e = a.list.node_begin[node]; e < a.list.node_begin[node + 1]; ++e) {
      const Index contact = a.list.node_entries[e] / 4;
      const int place = a.list.node_entries[e] % 4;
      const ClothResponse& r = a.responses[contact];
      if (!r.acts() || r.weights[place] == 0) continue;
      force += r.weights[place] * r.pull;
      add_block(a.node_blocks[number], square(r.weights[place]), r.stiffness);
      for (int other = 0; other < 4; ++other) {
        if (other == place || r.side(other) != r.side(place) || r.weights[other] == 0) continue;
        const Index column = a.free.number[r.nodes[other] - a.first_node];
        if (column < 0 || column > number) continue;  // the other node adds it
        const FeaturePair& pair = a.list.pairs[a.list.chosen[contact]];
        add_block(a.edge_blocks[side_of(a.list.features, pair, place, other)],
                  r.weights[place] * r.weights[other], r.stiffness);
      }
    }
    add(force, a.right_side[number]);
  }

 private:
  ISOCLOTH_DEVICE void add_block(Index block, double weight, const double* k) const {
    Real* const to = a.blocks.data() + static_cast<std::size_t>(block) * 9;
    const int entries[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < 9; ++i)
      to[i] = static_cast<Real>(static_cast<double>(to[i]) + weight * k[entries[i]]);
  }
};

/// Of each contact K times the displacement of each side, for the nodes of the other.
template <class Real>
struct PullBody {
  MultiplyClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const ClothResponse& r = a.responses[c];
    if (!r.acts()) return;
    const Vec3d inner = moved(r, 1), one = moved(r, 0) + (r.first_count == 2 ? inner : Vec3d{}),
                other = (r.first_count == 2 ? Vec3d{} : inner) + moved(r, 2) + moved(r, 3);
    a.pulls[2 * static_cast<std::size_t>(c)] = product(r.stiffness, other);
    a.pulls[2 * static_cast<std::size_t>(c) + 1] = product(r.stiffness, one);
  }

 private:
  ISOCLOTH_DEVICE Vec3d moved(const ClothResponse& r, int i) const {
    const Index number = a.free_number[r.nodes[i]];
    return number < 0 ? Vec3d{} : r.weights[i] * widened(a.direction[number]);
  }
};
template <class Real>
struct GatherPullsBody {
  MultiplyClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index number) const {
    const Index node = a.free_nodes[number];
    Vec3d sum{};
    for (Index e = a.node_begin[node]; e < a.node_begin[node + 1]; ++e) {
      const Index contact = a.node_entries[e] / 4;
      const int place = a.node_entries[e] % 4;
      const ClothResponse& r = a.responses[contact];
      if (r.acts()) sum += r.weights[place] * a.pulls[2 * static_cast<std::size_t>(contact) + r.side(place)];
    }
    add(sum, a.product[number]);
  }
};

template <class Real>
struct UpdateBody {
  UpdateClothContacts<Real> a;
  ISOCLOTH_DEVICE void operator()(Index c) const {
    const ClothResponse& response = a.responses[c];
    if (!response.acts()) return;
    Vec3d d{};
    for (int i = 0; i < 4; ++i) {
      const Index number = a.free_number[response.nodes[i]];
      if (number >= 0) d += response.weights[i] * widened(a.correction[number]);
    }
    const ContactResponse<double> r{response.mode,  response.normal, response.pull, {},
                                    response.along, response.across};
    a.forces[c] = ContactLaw<double>::force(
        r, d, friction_of(a.friction, a.node_garments, response.nodes, a.garment_count));
  }
};

Index packet_count(ArrayView<const FeaturePair> pairs) {
  return (static_cast<Index>(pairs.size()) + pair_width - 1) / pair_width;
}

}  // namespace

void measure_pairs(const Queue& queue, const MeasurePairs& args) {
  parallel_for(queue, packet_count(args.pairs) * pair_width, MeasureBody{args});
}
void find_cloth_contacts(const Queue& queue, const FindClothContacts& args) {
  parallel_for(queue, static_cast<Index>(args.from.size()), WaysBody{args});
  parallel_for(queue, packet_count(args.pairs), FindBody{args});
}
void respond_cloth_contacts(const Queue& queue, const RespondClothContacts& args) {
  parallel_for(queue, args.list.count(), ActivateBody{args});
  parallel_for(queue, static_cast<Index>(args.sharing.size()), ShareBody{args});
  parallel_for(queue, args.list.count(), RespondBody{args});
}
template <class Real>
void gather_cloth_nodes(const Queue& queue, const GatherClothNodes<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.gathered.size()), GatherBody<Real>{args});
}
template <class Real>
void add_cloth_contacts(const Queue& queue, const AddClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.right_side.size()), AddBody<Real>{args});
}
template <class Real>
void multiply_cloth_contacts(const Queue& queue, const MultiplyClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.responses.size()), PullBody<Real>{args});
  parallel_for(queue, static_cast<Index>(args.product.size()), GatherPullsBody<Real>{args});
}
template <class Real>
void update_cloth_contacts(const Queue& queue, const UpdateClothContacts<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.responses.size()), UpdateBody<Real>{args});
}

template void gather_cloth_nodes<float>(const Queue&, const GatherClothNodes<float>&);
template void gather_cloth_nodes<double>(const Queue&, const GatherClothNodes<double>&);
template void add_cloth_contacts<float>(const Queue&, const AddClothContacts<float>&);
template void add_cloth_contacts<double>(const Queue&, const AddClothContacts<double>&);
template void multiply_cloth_contacts<float>(const Queue&, const MultiplyClothContacts<float>&);
template void multiply_cloth_contacts<double>(const Queue&, const MultiplyClothContacts<double>&);
template void update_cloth_contacts<float>(const Queue&, const UpdateClothContacts<float>&);
template void update_cloth_contacts<double>(const Queue&, const UpdateClothContacts<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
