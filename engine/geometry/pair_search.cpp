#include "engine/geometry/pair_search.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// sewn: see SurfaceFeatures.
bool share_node(const std::vector<Index>& sewn, const std::array<Index, 2>& a,
                const std::array<Index, 2>& b) {
  const auto is = [&](Index one, Index other) {
    return sewn[static_cast<std::size_t>(one)] == sewn[static_cast<std::size_t>(other)];
  };
  return is(a[0], b[0]) || is(a[0], b[1]) || is(a[1], b[0]) || is(a[1], b[1]);
}

}  // namespace

PairSearch::PairSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds,
                       const std::vector<bool>& is_driven) {
  SurfaceFeatures& f = features_;
  f.node_begin = f.triangle_begin = edge_begin_ = {0};
  for (std::size_t s = 0; s < meshes.size(); ++s) {
    surfaces_.push_back(
        {FaceTree(*meshes[s]), worlds.empty() ? every_world : worlds[s], !is_driven.empty() && is_driven[s]});
    const Index first_node = f.node_begin.back();
    std::map<std::array<Index, 2>, Index> known;
    for (const FaceTree::Triangle& t : surfaces_.back().tree.triangles()) {
      std::array<Index, 3>& nodes = f.triangles.emplace_back();
      std::array<Index, 3>& sides = f.sides.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) nodes[k] = first_node + t.nodes[k];
      for (std::size_t k = 0; k < 3; ++k) {
        const auto [low, high] = std::minmax(nodes[k], nodes[(k + 1) % 3]);
        const std::array<Index, 2> edge{low, high};
        const auto [place, is_new] = known.emplace(edge, static_cast<Index>(f.edges.size()));
        if (is_new) f.edges.push_back(edge);
        sides[k] = place->second;
      }
      owned_nodes_.push_back(t.owned_nodes);
      owned_sides_.push_back(t.owned_sides);
    }
    for (const Index node : sewn_nodes(*meshes[s])) f.sewn.push_back(first_node + node);
    f.node_begin.push_back(first_node + meshes[s]->node_count());
    f.triangle_begin.push_back(static_cast<Index>(f.triangles.size()));
    edge_begin_.push_back(static_cast<Index>(f.edges.size()));
    f.node_surfaces.resize(static_cast<std::size_t>(f.node_begin.back()), static_cast<Index>(s));
  }
  node_boxes_.resize(static_cast<std::size_t>(f.node_count()));
  edge_boxes_.resize(f.edges.size());
  constexpr int levels = 3;  // 23 pieces for a surface
  for (std::size_t s = 0; s < surfaces_.size(); ++s) split(s, surfaces_[s].tree.root(), levels);
}

void PairSearch::split(std::size_t surface, const FaceTree::Branch& branch, int levels) {
  using enum Piece::With;
  const bool meets_itself = !surfaces_[surface].is_driven;
  if (levels == 0 || branch.count == 1) {
    if (meets_itself) pieces_.push_back({surface, branch, {}, itself, {}});
    if (surface + 1 < surfaces_.size()) pieces_.push_back({surface, branch, {}, other_surfaces, {}});
    return;
  }
  split(surface, branch.left(), levels - 1);
  split(surface, branch.right(), levels - 1);
  if (meets_itself) pieces_.push_back({surface, branch.left(), branch.right(), sibling, {}});
}

void PairSearch::fit(std::size_t s, ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin) {
  const SurfaceFeatures& f = features_;
  const std::size_t first = f.node_begin[s], end = f.node_begin[s + 1];
  surfaces_[s].tree.fit(slice(from, first, end), slice(to, first, end), margin, surfaces_[s].boxes);
  const Vec3d beyond{margin, margin, margin};
  for (std::size_t i = first; i < end; ++i) {
    node_boxes_[i] = joined({from[i], from[i]}, {to[i], to[i]});
    node_boxes_[i].low -= beyond;
    node_boxes_[i].high += beyond;
  }
  for (Index e = edge_begin_[s]; e < edge_begin_[s + 1]; ++e)
    edge_boxes_[e] = joined(node_boxes_[f.edges[e][0]], node_boxes_[f.edges[e][1]]);
}

void PairSearch::search(Piece& piece, std::size_t most, const Workers& workers) const {
  constexpr std::size_t portion = 4096;  // pairs between two looks at what all pieces have found
  const Surface& own = surfaces_[piece.surface];
  const Index first = features_.triangle_begin[piece.surface];
  std::size_t told = 0;
  bool is_full = workers.add(0) > most;
  piece.pairs.clear();
  const auto visit = [&](Index other_first) {
    return [&, other_first](const FaceTree::Leaf& a, const FaceTree::Leaf& b) {
      if (is_full) return;
      test(a, first, b, other_first, piece.pairs);
      if (piece.pairs.size() - told < portion) return;
      const std::size_t more = piece.pairs.size() - std::exchange(told, piece.pairs.size());
      is_full = workers.add(more) > most;
    };
  };
  switch (piece.with) {
    case Piece::With::itself:
      return FaceTree::within(own.boxes, piece.branch, visit(first));
    case Piece::With::sibling:
      return FaceTree::between(own.boxes, piece.branch, own.boxes, piece.sibling, visit(first));
    case Piece::With::other_surfaces:
      for (std::size_t t = piece.surface + 1; t < surfaces_.size(); ++t)
        if (own.meets(surfaces_[t]))
          FaceTree::between(own.boxes, piece.branch, surfaces_[t].boxes, surfaces_[t].tree.root(),
                            visit(features_.triangle_begin[t]));
  }
}

PairSearch::Workers PairSearch::alone() {
  return {.for_each =
              [](std::size_t count, const Workers::Piece& piece) {
                for (std::size_t i = 0; i < count; ++i) piece(i);
              },
          .add = [sum = std::size_t{0}](std::size_t more) mutable { return sum += more; }};
}

bool PairSearch::find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
                      std::size_t most, std::vector<FeaturePair>& pairs, const Workers& workers) {
  pairs.clear();
  workers.for_each(surfaces_.size(), [&](std::size_t s) { fit(s, from, to, margins[s]); });
  workers.for_each(pieces_.size(), [&](std::size_t p) { search(pieces_[p], most, workers); });
  std::size_t count = 0;
  for (const Piece& piece : pieces_) count += piece.pairs.size();
  if (count > most) {
    for (Piece& piece : pieces_) piece.pairs = {};
    pairs = {};
    return false;
  }
  pairs.reserve(count);
  for (const Piece& piece : pieces_) pairs.insert(pairs.end(), piece.pairs.begin(), piece.pairs.end());
  return true;
}

void PairSearch::test(const FaceTree::Leaf& one, Index first_triangle, const FaceTree::Leaf& other,
                      Index other_first_triangle, std::vector<FeaturePair>& pairs) const {
  const Index a = first_triangle + one.triangle, b = other_first_triangle + other.triangle;
  test_nodes(a, other, b, pairs);
  test_nodes(b, one, a, pairs);
  for (unsigned k = 0; k < 3; ++k) {
    if ((owned_sides_[a] >> k & 1U) == 0) continue;
    const Index edge = features_.sides[a][k];
    if (!overlap(edge_boxes_[edge], other.box)) continue;
    for (unsigned l = 0; l < 3; ++l) {
      if ((owned_sides_[b] >> l & 1U) == 0) continue;
      const Index with = features_.sides[b][l];
      if (!overlap(edge_boxes_[edge], edge_boxes_[with]) ||
          share_node(features_.sewn, features_.edges[edge], features_.edges[with]))
        continue;
      pairs.push_back({1, std::min(edge, with), std::max(edge, with)});
    }
  }
}

void PairSearch::test_nodes(Index triangle, const FaceTree::Leaf& with, Index other,
                            std::vector<FeaturePair>& pairs) const {
  const std::array<Index, 3>& face = features_.triangles[other];
  for (unsigned k = 0; k < 3; ++k) {
    if ((owned_nodes_[triangle] >> k & 1U) == 0) continue;
    const Index node = features_.triangles[triangle][k];
    if (!overlap(node_boxes_[node], with.box)) continue;
    const std::vector<Index>& sewn = features_.sewn;
    if (sewn[node] == sewn[face[0]] || sewn[node] == sewn[face[1]] || sewn[node] == sewn[face[2]]) continue;
    pairs.push_back({0, node, other});
  }
}

}  // namespace isocloth
