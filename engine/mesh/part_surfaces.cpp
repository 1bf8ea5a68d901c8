#include "engine/mesh/part_surfaces.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/mesh/disjoint_sets.hpp"

namespace isocloth {
namespace {

constexpr double drawn_in = 0.01;  ///< of the way from a parted node to the middle of its faces

constexpr double least_move = 1e-5;  ///< of the diagonal of the bounding box

/// Side k of face f, from its corner k to the next.
struct Side {
  Index low, high, face, k;
  bool ascending;
};

class Parting {
 public:
  explicit Parting(LooseMesh& mesh) : mesh_(mesh) {
    first_corner_.push_back(0);
    for (const LooseMesh::Face& face : mesh.faces)
      first_corner_.push_back(first_corner_.back() + static_cast<Index>(face.nodes.size()));
  }

  PartedSurfaces run() {
    find_sides();
    links_.assign(static_cast<std::size_t>(first_corner_.back()), -1);
    std::set<Index> of_edges;  // nodes
    for_each_edge([&](std::size_t first, std::size_t last) {
      link(first, last);
      if (last - first <= 2) return;
      if (found_.edge_count++ == 0)
        found_.edge = {mesh_.numbers[sides_[first].low], mesh_.numbers[sides_[first].high]};
      of_edges.insert({sides_[first].low, sides_[first].high});
    });
    join_corners();
    note_bow_ties(of_edges);
    part();
    while (cut_loose()) {
      join_corners();
      part();
    }
    draw_in();
    return found_;
  }

 private:
  void find_sides() {
    sides_.clear();
    for (Index f = 0; f < static_cast<Index>(mesh_.faces.size()); ++f) {
      const LooseMesh::Face& face = mesh_.faces[f];
      for (std::size_t k = 0; k < face.nodes.size(); ++k) {
        const Index from = face.nodes[k], to = face.following(k);
        sides_.push_back({std::min(from, to), std::max(from, to), f, static_cast<Index>(k), from < to});
      }
    }
    std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) {
      if (a.low != b.low) return a.low < b.low;
      if (a.high != b.high) return a.high < b.high;
      return a.face != b.face ? a.face < b.face : a.k < b.k;
    });
  }
  template <class Visit>
  void for_each_edge(const Visit& visit) {
    for (std::size_t first = 0, last; first < sides_.size(); first = last) {
      last = first + 1;
      while (last < sides_.size() && sides_[last].low == sides_[first].low &&
             sides_[last].high == sides_[first].high)
        ++last;
      visit(first, last);
    }
  }
  Index corner(const Side& side) const { return first_corner_[side.face] + side.k; }

  void unite(const Side& a, const Side& b) {
    links_[corner(a)] = corner(b);
    links_[corner(b)] = corner(a);
  }
  /// Which sides of one edge go on in each other.
  void link(std::size_t first, std::size_t last) {
    if (last - first == 2) unite(sides_[first], sides_[first + 1]);
    if (last - first <= 2) return;
    constexpr std::size_t most = 64;  // of a damaged file; the others stay alone
    last = std::min(last, first + most);
    struct Pair {
      bool is_turned;
      double bend;  ///< cosine between the ways into the faces; -1: straight on
      std::size_t a, b;
    };
    std::vector<Pair> pairs;
    for (std::size_t a = first; a < last; ++a)
      for (std::size_t b = a + 1; b < last; ++b)
        pairs.push_back(
            {sides_[a].ascending == sides_[b].ascending, dot(inward(sides_[a]), inward(sides_[b])), a, b});
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& one, const Pair& other) {
      return one.is_turned != other.is_turned ? other.is_turned : one.bend < other.bend;
    });
    for (const Pair& pair : pairs)
      if (links_[corner(sides_[pair.a])] < 0 && links_[corner(sides_[pair.b])] < 0)
        unite(sides_[pair.a], sides_[pair.b]);
  }
  /// Unit vector from an edge into the face, across the edge; 0: it has no area.
  Vec3d inward(const Side& side) const {
    const LooseMesh::Face& face = mesh_.faces[side.face];
    Vec3d middle{};
    for (const Index node : face.nodes)
      middle += (1.0 / static_cast<double>(face.nodes.size())) * mesh_.positions[node];
    const Vec3d along = mesh_.positions[side.high] - mesh_.positions[side.low],
                way = middle - mesh_.positions[side.low];
    const double square = dot(along, along);
    const Vec3d across = square > 0 ? way - (dot(way, along) / square) * along : way;
    const double size = norm(across);
    return size > 0 ? (1 / size) * across : Vec3d{};
  }

  /// The corners of one fan are one.
  void join_corners() {
    joined_ = DisjointSets(links_.size());
    for (Index f = 0; f < static_cast<Index>(mesh_.faces.size()); ++f) {
      const auto size = static_cast<Index>(mesh_.faces[f].nodes.size());
      for (Index k = 0; k < size; ++k) {
        const Index other = links_[first_corner_[f] + k];
        if (other < 0) continue;
        const auto after = std::upper_bound(first_corner_.begin(), first_corner_.end(), other);
        const auto g = static_cast<Index>(after - first_corner_.begin()) - 1;
        const Index other_size = static_cast<Index>(mesh_.faces[g].nodes.size());
        const Index begin = first_corner_[f] + k, end = first_corner_[f] + (k + 1) % size;
        const Index other_end = first_corner_[g] + (other - first_corner_[g] + 1) % other_size;
        const bool is_turned = node_at(f, begin) == node_at(g, other);
        joined_.join(begin, is_turned ? other : other_end);
        joined_.join(end, is_turned ? other_end : other);
      }
    }
  }
  Index node_at(Index face, Index corner) const {
    return mesh_.faces[face].nodes[static_cast<std::size_t>(corner - first_corner_[face])];
  }

  void note_bow_ties(const std::set<Index>& of_edges) {
    std::map<Index, std::set<Index>> fans;
    for_each_corner([&](Index& node, Index corner) { fans[node].insert(joined_.lowest(corner)); });
    for (const auto& [node, corners] : fans) {
      if (corners.size() < 2 || of_edges.contains(node)) continue;
      if (found_.node_count++ == 0) found_.node = mesh_.numbers[node];
    }
  }
  template <class Visit>
  void for_each_corner(const Visit& visit) {
    for (Index f = 0; f < static_cast<Index>(mesh_.faces.size()); ++f)
      for (std::size_t k = 0; k < mesh_.faces[f].nodes.size(); ++k)
        visit(mesh_.faces[f].nodes[k], first_corner_[f] + static_cast<Index>(k));
  }

  /// The first fan of a node keeps it.
  void part() {
    std::vector<Index> first_fan(mesh_.positions.size(), -1);
    std::map<Index, Index> own;  // node of each other fan
    for_each_corner([&](Index& node, Index corner) {
      const Index fan = joined_.lowest(corner);
      if (first_fan[node] < 0) first_fan[node] = fan;
      if (first_fan[node] == fan) return;
      const auto [at, is_new] = own.emplace(fan, static_cast<Index>(mesh_.positions.size()));
      if (is_new) {
        mesh_.positions.push_back(Vec3d(mesh_.positions[node]));
        mesh_.numbers.push_back(Index(mesh_.numbers[node]));
        parted_.push_back(at->second);
      }
      node = at->second;
    });
  }
  /// Faces that share an edge with two others all the same, since their fans meet elsewhere, let go of
  /// everything. Returns whether there are any.
  bool cut_loose() {
    find_sides();
    bool found = false;
    for_each_edge([&](std::size_t first, std::size_t last) {
      if (last - first <= 2) return;
      found = true;
      std::size_t kept = first;  // the first pair that goes on in each other
      for (std::size_t i = first; i < last && kept == first; ++i)
        if (links_[corner(sides_[i])] >= 0) kept = i;
      const Index partner = links_[corner(sides_[kept])];
      for (std::size_t i = first; i < last; ++i) {
        if (i == kept || corner(sides_[i]) == partner) continue;
        const Index face = sides_[i].face;
        for (Index c = first_corner_[face]; c < first_corner_[face + 1]; ++c)
          if (const Index other = std::exchange(links_[c], -1); other >= 0) links_[other] = -1;
      }
    });
    return found;
  }

  void draw_in() {
    if (parted_.empty()) return;
    Vec3d low = mesh_.positions.front(), high = low;
    for (const Vec3d& x : mesh_.positions) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    const double diagonal = norm(high - low);
    struct Middle {
      Vec3d sum;
      int count = 0;
    };
    std::map<Index, Middle> middles;
    for (const Index node : parted_) middles[node];
    for (const LooseMesh::Face& face : mesh_.faces)
      for (const Index node : face.nodes)
        if (const auto at = middles.find(node); at != middles.end())
          for (const Index other : face.nodes) {
            at->second.sum += mesh_.positions[other];
            ++at->second.count;
          }
    std::vector<std::pair<Index, Vec3d>> places;
    for (const auto& [node, middle] : middles)
      if (middle.count > 0) {
        const Vec3d& p = mesh_.positions[node];
        const Vec3d way = (1.0 / middle.count) * middle.sum - p;
        // Of tiny faces by more than what counts as one place (RepairSettings::weld), but no further than
        // half.
        const double length = norm(way), part = length > 0 ? least_move * diagonal / length : 0;
        places.emplace_back(node, p + std::min(std::max(drawn_in, part), 0.5) * way);
      }
    for (const auto& [node, place] : places) mesh_.positions[node] = place;
  }

  LooseMesh& mesh_;
  std::vector<Index> first_corner_;  ///< of each face, shape [face + 1]
  std::vector<Side> sides_;          ///< those of one edge together
  std::vector<Index> links_;         ///< corner whose side goes on in that of each corner; -1: none
  DisjointSets joined_;              ///< corners of one fan
  std::vector<Index> parted_;        ///< nodes that are new
  PartedSurfaces found_;
};

}  // namespace

PartedSurfaces part_surfaces(LooseMesh& mesh) { return Parting(mesh).run(); }

}  // namespace isocloth
