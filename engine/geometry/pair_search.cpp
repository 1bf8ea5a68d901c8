#include "engine/geometry/pair_search.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <type_traits>
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

/// Box of a node on its straight way, `margin` [m] larger on all sides.
template <class Box>
Box box_on_way(const Vec3d& from, const Vec3d& to, double margin) {
  const Vec3d beyond{margin, margin, margin};
  const BoundingBox begin{from - beyond, from + beyond}, end{to - beyond, to + beyond};
  if constexpr (std::is_same_v<Box, MovingBox>)
    return {begin, end};
  else
    return joined(begin, end);
}

}  // namespace

PairSearch::PairSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds,
                       const std::vector<bool>& is_kinematic) {
  SurfaceFeatures& f = features_;
  f.node_begin = f.triangle_begin = f.edge_begin = {0};
  for (std::size_t s = 0; s < meshes.size(); ++s) {
    surfaces_.push_back({FaceTree(*meshes[s]), worlds.empty() ? every_world : worlds[s],
                         !is_kinematic.empty() && is_kinematic[s]});
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
    f.edge_begin.push_back(static_cast<Index>(f.edges.size()));
    f.node_surfaces.resize(static_cast<std::size_t>(f.node_begin.back()), static_cast<Index>(s));
  }
  node_triangle_begin_.assign(static_cast<std::size_t>(f.node_count()) + 1, 0);
  for (const auto& nodes : f.triangles)
    for (const Index node : nodes) ++node_triangle_begin_[node + 1];
  std::partial_sum(node_triangle_begin_.begin(), node_triangle_begin_.end(), node_triangle_begin_.begin());
  node_triangles_.resize(3 * f.triangles.size());
  std::vector<Index> next(node_triangle_begin_.begin(), node_triangle_begin_.end() - 1);
  for (std::size_t t = 0; t < f.triangles.size(); ++t)
    for (const Index node : f.triangles[t]) node_triangles_[next[node]++] = static_cast<Index>(t);
  constexpr int levels = 3;  // 23 pieces for a surface
  for (std::size_t s = 0; s < surfaces_.size(); ++s) split(s, surfaces_[s].tree.root(), levels);
}

void PairSearch::split(std::size_t surface, const FaceTree::Branch& branch, int levels) {
  using enum Piece::With;
  const bool meets_itself = meets(surface, surface);
  if (levels == 0 || branch.count == 1) {
    if (meets_itself) pieces_.push_back({surface, branch, {}, itself, {}, {}});
    if (surface + 1 < surfaces_.size()) pieces_.push_back({surface, branch, {}, other_surfaces, {}, {}});
    return;
  }
  split(surface, branch.left(), levels - 1);
  split(surface, branch.right(), levels - 1);
  if (meets_itself) pieces_.push_back({surface, branch.left(), branch.right(), sibling, {}, {}});
}

template <class Box>
void PairSearch::fit(std::size_t s, ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin,
                     Boxes<Box>& boxes) const {
  const SurfaceFeatures& f = features_;
  const std::size_t first = f.node_begin[s], end = f.node_begin[s + 1];
  surfaces_[s].tree.fit(slice(from, first, end), slice(to, first, end), margin, boxes.surfaces[s]);
  for (std::size_t i = first; i < end; ++i) boxes.nodes[i] = box_on_way<Box>(from[i], to[i], margin);
  for (Index e = f.edge_begin[s]; e < f.edge_begin[s + 1]; ++e)
    boxes.edges[e] = joined(boxes.nodes[f.edges[e][0]], boxes.nodes[f.edges[e][1]]);
}

template <class Box>
void PairSearch::search(const Boxes<Box>& boxes, std::size_t most, const Workers& workers,
                        const Detoured* detoured, Piece& piece) const {
  constexpr std::size_t portion = 4096;  // pairs between two looks at what all pieces have found
  const auto& own = boxes.surfaces[piece.surface];
  const Index first = features_.triangle_begin[piece.surface];
  std::size_t told = 0;
  bool is_full = workers.add(0) > most;
  const auto has_detour = [&](const FeaturePair& pair) {
    return std::ranges::any_of(features_.nodes_of(pair),
                               [&](Index node) { return detoured->nodes[node] != 0; });
  };
  const auto keep_detoured = [&](std::vector<FeaturePair>& pairs, std::size_t from) {
    pairs.erase(std::remove_if(pairs.begin() + static_cast<std::ptrdiff_t>(from), pairs.end(),
                               std::not_fn(has_detour)),
                pairs.end());
  };
  const auto visit = [&](Index other_first) {
    return [&, other_first](const FaceTree::LeafOf<Box>& a, const FaceTree::LeafOf<Box>& b) {
      if (is_full) return;
      const std::size_t of_nodes = piece.of_nodes.size(), of_edges = piece.of_edges.size();
      test(boxes, a, first, b, other_first, piece);
      if (detoured != nullptr) {
        keep_detoured(piece.of_nodes, of_nodes);
        keep_detoured(piece.of_edges, of_edges);
      }
      if (piece.count() - told < portion) return;
      const std::size_t more = piece.count() - std::exchange(told, piece.count());
      is_full = workers.add(more) > most;
    };
  };
  const auto look = [&](const auto& wants_with) {
    switch (piece.with) {
      case Piece::With::itself:
        return FaceTree::within(own, piece.branch, visit(first), wants_with(piece.surface));
      case Piece::With::sibling:
        return FaceTree::between(own, piece.branch, own, piece.sibling, visit(first),
                                 wants_with(piece.surface));
      case Piece::With::other_surfaces:
        for (std::size_t t = piece.surface + 1; t < surfaces_.size(); ++t)
          if (meets(piece.surface, t))
            FaceTree::between(own, piece.branch, boxes.surfaces[t], surfaces_[t].tree.root(),
                              visit(features_.triangle_begin[t]), wants_with(t));
    }
  };
  if (detoured == nullptr) return look([](std::size_t) { return FaceTree::Everywhere{}; });
  const std::vector<char>& of_own = detoured->tree[piece.surface];
  look([&](std::size_t other) {
    const std::vector<char>& of_other = detoured->tree[other];
    return [&](Index a, Index b) { return of_own[a] != 0 || of_other[b] != 0; };
  });
}

PairSearch::Workers PairSearch::alone() {
  return {.for_each =
              [](std::size_t count, const Workers::Piece& piece) {
                for (std::size_t i = 0; i < count; ++i) piece(i);
              },
          .add = [sum = std::size_t{0}](std::size_t more) mutable { return sum += more; }};
}

template <class Box>
void PairSearch::find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
                      std::size_t most, const Workers& workers, Boxes<Box>& boxes) {
  boxes.surfaces.resize(surfaces_.size());
  boxes.nodes.resize(static_cast<std::size_t>(features_.node_count()));
  boxes.edges.resize(features_.edges.size());
  for_each(workers, surfaces_.size(), [&](std::size_t s) { fit(s, from, to, margins[s], boxes); });
  for_each(workers, pieces_.size(),
           [&](std::size_t p) { search(boxes, most, workers, nullptr, pieces_[p]); });
}

template <class Work>
void PairSearch::for_each(const Workers& workers, std::size_t count, const Work& work) {
  // Memory may run out in any of them, on whichever thread.
  std::vector<std::exception_ptr> errors(count);
  workers.for_each(count, [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) {
      forget_pairs();
      std::rethrow_exception(error);
    }
}

std::size_t PairSearch::memory_bytes() const {
  std::size_t bytes = 0;
  const auto add = [&bytes](const auto& values) { bytes += values.capacity() * sizeof(values[0]); };
  const auto add_boxes = [&](const auto& boxes) {
    for (const auto& surface : boxes.surfaces) add(surface);
    add(boxes.nodes);
    add(boxes.edges);
  };
  add_boxes(resting_);
  add_boxes(moving_);
  for (const Piece& piece : pieces_) {
    add(piece.of_nodes);
    add(piece.of_edges);
  }
  add(detoured_.nodes);
  for (const auto& of_surface : detoured_.tree) add(of_surface);
  return bytes;
}

std::size_t PairSearch::found_count() const {
  std::size_t count = 0;
  for (const Piece& piece : pieces_) count += piece.count();
  return count;
}

void PairSearch::clear_pairs() {
  for (Piece& piece : pieces_) {
    piece.of_nodes.clear();
    piece.of_edges.clear();
  }
}

void PairSearch::append_pairs(std::vector<FeaturePair>& pairs) const {
  for (const auto of_kind : {&Piece::of_nodes, &Piece::of_edges})
    for (const Piece& piece : pieces_)
      pairs.insert(pairs.end(), (piece.*of_kind).begin(), (piece.*of_kind).end());
}

void PairSearch::forget_pairs() {
  for (Piece& piece : pieces_) piece.of_nodes = piece.of_edges = {};
}

bool PairSearch::find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
                      std::size_t most, std::vector<FeaturePair>& pairs, const Workers& workers,
                      Times times) {
  pairs.clear();
  clear_pairs();
  if (times == Times::own)
    find(from, to, margins, most, workers, resting_);
  else
    find(from, to, margins, most, workers, moving_);
  const std::size_t count = found_count();
  if (count > most) {
    forget_pairs();
    pairs = {};
    return false;
  }
  pairs.reserve(count);
  append_pairs(pairs);
  return true;
}

bool PairSearch::update(const std::vector<UpdatedTrajectory>& updated_trajectories,
                        ArrayView<const double> margins, std::size_t most, std::vector<FeaturePair>& pairs,
                        const Workers& workers) {
  const SurfaceFeatures& f = features_;
  detoured_.nodes.assign(f.node_surfaces.size(), 0);
  detoured_.tree.resize(surfaces_.size());
  std::vector<Index> triangles;
  for (const UpdatedTrajectory& trajectory : updated_trajectories) {
    detoured_.nodes[trajectory.node] = 1;
    resting_.nodes[trajectory.node] =
        box_on_way<BoundingBox>(trajectory.from, trajectory.to, margins[f.node_surfaces[trajectory.node]]);
    triangles.insert(triangles.end(), node_triangles_.begin() + node_triangle_begin_[trajectory.node],
                     node_triangles_.begin() + node_triangle_begin_[trajectory.node + 1]);
  }
  std::sort(triangles.begin(), triangles.end());
  triangles.erase(std::unique(triangles.begin(), triangles.end()), triangles.end());
  for (const Index t : triangles)
    for (const Index edge : f.sides[t])
      resting_.edges[edge] = joined(resting_.nodes[f.edges[edge][0]], resting_.nodes[f.edges[edge][1]]);

  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    const Index first = f.triangle_begin[s];
    const auto begin = std::lower_bound(triangles.begin(), triangles.end(), first),
               end = std::lower_bound(begin, triangles.end(), f.triangle_begin[s + 1]);
    std::vector<Index> own(begin, end);
    for (Index& t : own) t -= first;
    detoured_.tree[s].assign(resting_.surfaces[s].size(), 0);
    surfaces_[s].tree.refit(
        own,
        [&](Index t) {
          const auto& [a, b, c] = f.triangles[first + t];
          return joined(joined(resting_.nodes[a], resting_.nodes[b]), resting_.nodes[c]);
        },
        resting_.surfaces[s], detoured_.tree[s]);
  }

  clear_pairs();
  workers.add(pairs.size());
  for_each(workers, pieces_.size(),
           [&](std::size_t p) { search(resting_, most, workers, &detoured_, pieces_[p]); });
  if (pairs.size() + found_count() > most) return false;
  append_pairs(pairs);
  return true;
}

template <class Box>
void PairSearch::test(const Boxes<Box>& boxes, const FaceTree::LeafOf<Box>& one, Index first_triangle,
                      const FaceTree::LeafOf<Box>& other, Index other_first_triangle, Piece& piece) const {
  const Index a = first_triangle + one.triangle, b = other_first_triangle + other.triangle;
  test_nodes(boxes, a, other, b, piece.of_nodes);
  test_nodes(boxes, b, one, a, piece.of_nodes);
  for (unsigned k = 0; k < 3; ++k) {
    if ((owned_sides_[a] >> k & 1U) == 0) continue;
    const Index edge = features_.sides[a][k];
    if (!overlap(boxes.edges[edge], other.box)) continue;
    for (unsigned l = 0; l < 3; ++l) {
      if ((owned_sides_[b] >> l & 1U) == 0) continue;
      const Index with = features_.sides[b][l];
      if (!overlap(boxes.edges[edge], boxes.edges[with]) ||
          share_node(features_.sewn, features_.edges[edge], features_.edges[with]))
        continue;
      piece.of_edges.push_back({1, std::min(edge, with), std::max(edge, with)});
    }
  }
}

template <class Box>
void PairSearch::test_nodes(const Boxes<Box>& boxes, Index triangle, const FaceTree::LeafOf<Box>& with,
                            Index other, std::vector<FeaturePair>& pairs) const {
  const std::array<Index, 3>& face = features_.triangles[other];
  for (unsigned k = 0; k < 3; ++k) {
    if ((owned_nodes_[triangle] >> k & 1U) == 0) continue;
    const Index node = features_.triangles[triangle][k];
    if (!overlap(boxes.nodes[node], with.box)) continue;
    const std::vector<Index>& sewn = features_.sewn;
    if (sewn[node] == sewn[face[0]] || sewn[node] == sewn[face[1]] || sewn[node] == sewn[face[2]]) continue;
    pairs.push_back({0, node, other});
  }
}

}  // namespace isocloth
