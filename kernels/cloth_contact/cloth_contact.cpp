#include "kernels/cloth_contact/cloth_contact.hpp"

#include "kernels/cloth_contact/pair_geometry.hpp"
#include "kernels/contact/contact_law.hpp"
#include "kernels/launch/launch.hpp"

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
  ISOCLOTH_DEVICE int side(int i) const { return i < first_count ? 0 : 1; }
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

struct MeasureBody {
  MeasurePairs a;
  ISOCLOTH_DEVICE void operator()(Index p) const {
    const PairNodes nodes(a.features, a.pairs[p]);
    const NearestPoints near = nearest_points(nodes.at(a.positions));
    const Index one = a.features.node_garments[nodes.nodes[0]],
                other = a.features.node_garments[nodes.nodes[3]];
    double thickness = (a.thicknesses[one] + a.thicknesses[other]) / 2;
    if (one == other && may_be_nearer(nodes.at(a.rest), 2 * thickness)) {
      const double rest = nearest_points(nodes.at(a.rest)).distance / 2;
      thickness = rest < thickness ? rest : thickness;
    }
    a.starts[p] = {near.distance, thickness, near.normal};
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

constexpr std::uint64_t number_bits = 31;
/// Kinds of keys; a node and a face are 0, two edges 1.
constexpr std::uint64_t node_and_edge = 2, two_nodes = 3;
ISOCLOTH_DEVICE std::uint64_t key_of(std::uint64_t kind, Index first, Index second) {
  return kind << (2 * number_bits) | static_cast<std::uint64_t>(first) << number_bits |
         static_cast<std::uint64_t>(second);
}

struct FindBody {
  FindClothContacts a;
  /// What ways keep apart, in parts of the thickness, or of the distance at first where that is less.
  static constexpr double least_share = 0.1;
  /// What began nearer than so many thicknesses and passed is pushed back the way it came: where points first
  /// meet they are so near that the direction between them is poor.
  static constexpr double near_start = 1.5;

  ISOCLOTH_DEVICE void operator()(Index p) const {
    a.statuses[p] = PairStatus::apart;
    const FeaturePair pair = a.pairs[p];
    const PairNodes nodes(a.features, pair);
    const PairStart start = a.starts[p];
    double longest[2] = {0, 0};
    for (int i = 0; i < 4; ++i) {
      double& most = longest[nodes.side(i)];
      most = larger(most, a.ways[nodes.nodes[i]]);
    }
    const double near_by = start.thickness + a.reach;
    if (start.distance - longest[0] - longest[1] > near_by) return;
    const PointPair from = nodes.at(a.from), to = nodes.at(a.to);
    const NearestPoints end = nearest_points(to);
    const double least = least_share * (start.distance < start.thickness ? start.distance : start.thickness);
    FoundContact found;
    if (!is_separated(start.normal, end.normal, from, to, least)) {
      const double time = time_apart(from, to, least);
      if (time < 1) {
        const NearestPoints meeting =
            nearest_points(start.distance < near_start * start.thickness ? from : between(from, to, time));
        a.statuses[p] = PairStatus::passing;
        found.key = key_of(static_cast<std::uint64_t>(pair.is_edges), pair.first, pair.second);
        return note(p, start, meeting, to, found, true);
      }
    }
    if (!(end.distance <= near_by)) return;
    Index kept[4];
    int count = 0;
    for (int i = 0; i < 4; ++i)
      if (magnitude(end.weights[i]) >= 1e-9) kept[count++] = i;
    if (pair.is_edges != 0 && count < 4) return;  // a node with an edge or a node: that pair tells
    a.statuses[p] = PairStatus::near_by;
    if (count == 4)
      found.key = key_of(static_cast<std::uint64_t>(pair.is_edges), pair.first, pair.second);
    else if (count == 3)
      found.key = key_of(node_and_edge, pair.first, side_of(a.features, pair, kept[1], kept[2]));
    else
      found.key =
          key_of(two_nodes, nodes.nodes[0] < nodes.nodes[kept[1]] ? nodes.nodes[0] : nodes.nodes[kept[1]],
                 nodes.nodes[0] < nodes.nodes[kept[1]] ? nodes.nodes[kept[1]] : nodes.nodes[0]);
    note(p, start, end, to, found, false);
  }

 private:
  /// Whether one direction tells that the sides keep more than `least` apart all the time.
  static ISOCLOTH_DEVICE bool is_separated(const Vec3d& at_start, const Vec3d& at_end, const PointPair& from,
                                           const PointPair& to, double least) {
    const Vec3d sum = at_start + at_end;
    const double length = norm(sum);
    const auto separates = [&](const Vec3d& n) {
      return separation(from, n) > least && separation(to, n) > least;
    };
    return separates(at_start) || separates(at_end) || (length > 0 && separates((1 / length) * sum));
  }
  ISOCLOTH_DEVICE void note(Index p, const PairStart& start, const NearestPoints& at, const PointPair& to,
                            FoundContact& found, bool passed) const {
    for (int i = 0; i < 4; ++i) found.weights[i] = at.weights[i];
    found.normal = at.normal;
    found.gap = dot(at.normal, weighted(at.weights, to.points)) - start.thickness;
    if (!passed && start.distance < start.thickness) found.before = start.distance - start.thickness;
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
    double inverse = 0;
    for (int i = 0; i < 4; ++i) inverse += square(found.weights[i]) * a.inverse_inertia[nodes.nodes[i]];
    const ContactLaw<double> law = law_of(a);
    a.active[c] = inverse > 0 && law.is_active(law.wanted_gap(found.gap, found.before),
                                               dot(a.forces[c], found.normal) > 0, a.reach);
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
      inverse += square(found.weights[i]) * a.inverse_inertia[node] * active_at(node);
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

 private:
  ISOCLOTH_DEVICE double active_at(Index node) const {
    Index count = 0;
    for (Index e = a.list.node_begin[node]; e < a.list.node_begin[node + 1]; ++e)
      count += a.active[a.list.node_entries[e] / 4];
    return static_cast<double>(count);
  }
};

template <class Real>
struct GatherBody {
  GatherClothNodes<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Vec3d x = widened(a.positions[i]);
    a.gathered[i] = x;
    if (a.from.empty()) {
      a.inverse_inertia[i] = static_cast<double>(a.inverse_masses[i]) / static_cast<double>(a.inertia);
      return;
    }
    a.ways[i] = norm(x - a.from[i]);
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
    Vec3d sides[2] = {};
    for (int i = 0; i < 4; ++i) {
      const Index number = a.free_number[r.nodes[i]];
      if (number >= 0) sides[r.side(i)] += r.weights[i] * widened(a.direction[number]);
    }
    a.pulls[2 * static_cast<std::size_t>(c)] = product(r.stiffness, sides[1]);
    a.pulls[2 * static_cast<std::size_t>(c) + 1] = product(r.stiffness, sides[0]);
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

}  // namespace

void measure_pairs(const Queue& queue, const MeasurePairs& args) {
  parallel_for(queue, static_cast<Index>(args.pairs.size()), MeasureBody{args});
}
void find_cloth_contacts(const Queue& queue, const FindClothContacts& args) {
  parallel_for(queue, static_cast<Index>(args.pairs.size()), FindBody{args});
}
void respond_cloth_contacts(const Queue& queue, const RespondClothContacts& args) {
  parallel_for(queue, args.list.count(), ActivateBody{args});
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
