#include "kernels/cloth_contact/search_pairs.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

ISOCLOTH_DEVICE bool is_number(const Vec3d& p) { return p.x == p.x && p.y == p.y && p.z == p.z; }

ISOCLOTH_DEVICE MovingBox enlarged(const MovingBox& box, double margin) {
  const Vec3d beyond{margin, margin, margin};
  return {{box.begin.low - beyond, box.begin.high + beyond}, {box.end.low - beyond, box.end.high + beyond}};
}

/// What moves when it likes is everywhere on its way all the time.
ISOCLOTH_DEVICE MovingBox box_of_times(const NodeWays& ways, const MovingBox& box) {
  if (ways.are_common) return box;
  const BoundingBox all = joined(box.begin, box.end);
  return {all, all};
}
ISOCLOTH_DEVICE MovingBox box_of_node(const NodeWays& ways, Index node) {
  const Vec3d from = ways.from[node], to = ways.to[node];
  const double margin = ways.margins[ways.node_garments[node]];
  return box_of_times(ways, enlarged({{from, from}, {to, to}}, margin));
}

struct FitBody {
  FitBoxes a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Index box = a.first + item, child = a.trees.children[box];
    a.boxes[box] = child < 0 ? box_of_triangle(-1 - child) : joined(a.boxes[child], a.boxes[child + 1]);
  }

 private:
  /// Empty where a coordinate is no number.
  ISOCLOTH_DEVICE MovingBox box_of_triangle(Index triangle) const {
    const Index* const nodes = a.triangles.data() + 3 * static_cast<std::size_t>(triangle);
    MovingBox box;
    for (int k = 0; k < 3; ++k) {
      const Vec3d from = a.ways.from[nodes[k]], to = a.ways.to[nodes[k]];
      if (!is_number(from) || !is_number(to)) return {};
      box = joined(box, {{from, from}, {to, to}});
    }
    return box_of_times(a.ways, enlarged(box, a.ways.margins[a.ways.node_garments[nodes[0]]]));
  }
};

/// Calls found(pair) for what belongs to a triangle and may touch a later one, and the other way round; false
/// from it ends the walk.
struct TriangleSearch {
  CountPairs a;

  template <class Found>
  ISOCLOTH_DEVICE void operator()(Index triangle, const Found& found) const {
    constexpr int deepest = 40;  // a tree of 2^31 triangles is 31 levels deep; at most one box of each waits
    Index waiting[deepest];
    const Index garment = a.features.node_garments[nodes_of(triangle)[0]];
    const MovingBox own = a.boxes[a.trees.leaves[triangle]];
    for (Index r = a.trees.roots_begin[garment]; r < a.trees.roots_begin[garment + 1]; ++r) {
      int count = 0;
      waiting[count++] = a.trees.roots[r];
      while (count > 0) {
        const Index box = waiting[--count];
        if (a.trees.last[box] <= triangle || !overlap(own, a.boxes[box])) continue;
        const Index child = a.trees.children[box];
        if (child < 0) {
          if (!test(triangle, own, -1 - child, a.boxes[box], found)) return;
        } else {
          waiting[count++] = child + 1;
          waiting[count++] = child;
        }
      }
    }
  }

 private:
  ISOCLOTH_DEVICE const Index* nodes_of(Index triangle) const {
    return a.features.triangles.data() + 3 * static_cast<std::size_t>(triangle);
  }
  ISOCLOTH_DEVICE const Index* nodes_of_edge(Index edge) const {
    return a.features.edges.data() + 2 * static_cast<std::size_t>(edge);
  }
  ISOCLOTH_DEVICE bool is_own(Index triangle, int bit) const {
    return (a.trees.owned[triangle] >> bit & 1) != 0;
  }
  ISOCLOTH_DEVICE bool are_sewn(Index one, Index other) const {
    return a.trees.sewn[one] == a.trees.sewn[other];
  }
  ISOCLOTH_DEVICE MovingBox box_of_edge(Index edge) const {
    const Index* const nodes = nodes_of_edge(edge);
    return joined(box_of_node(a.ways, nodes[0]), box_of_node(a.ways, nodes[1]));
  }

  template <class Found>
  ISOCLOTH_DEVICE bool test(Index one, const MovingBox& box, Index other, const MovingBox& other_box,
                            const Found& found) const {
    if (!test_nodes(one, other, other_box, found) || !test_nodes(other, one, box, found)) return false;
    for (int k = 0; k < 3; ++k) {
      if (!is_own(one, 3 + k)) continue;
      const Index edge = a.features.sides[3 * static_cast<std::size_t>(one) + k];
      const MovingBox edge_box = box_of_edge(edge);
      if (!overlap(edge_box, other_box)) continue;
      const Index* const ends = nodes_of_edge(edge);
      for (int l = 0; l < 3; ++l) {
        if (!is_own(other, 3 + l)) continue;
        const Index with = a.features.sides[3 * static_cast<std::size_t>(other) + l];
        const Index* const with_ends = nodes_of_edge(with);
        if (!overlap(edge_box, box_of_edge(with)) || are_sewn(ends[0], with_ends[0]) ||
            are_sewn(ends[0], with_ends[1]) || are_sewn(ends[1], with_ends[0]) ||
            are_sewn(ends[1], with_ends[1]))
          continue;
        if (!found(FeaturePair{1, edge < with ? edge : with, edge < with ? with : edge})) return false;
      }
    }
    return true;
  }
  /// The nodes of a triangle with another one.
  template <class Found>
  ISOCLOTH_DEVICE bool test_nodes(Index triangle, Index other, const MovingBox& other_box,
                                  const Found& found) const {
    const Index *const nodes = nodes_of(triangle), *const face = nodes_of(other);
    for (int k = 0; k < 3; ++k) {
      const Index node = nodes[k];
      if (!is_own(triangle, k) || !overlap(box_of_node(a.ways, node), other_box) || are_sewn(node, face[0]) ||
          are_sewn(node, face[1]) || are_sewn(node, face[2]))
        continue;
      if (!found(FeaturePair{0, node, other})) return false;
    }
    return true;
  }
};

struct CountBody {
  CountPairs a;
  ISOCLOTH_DEVICE void operator()(Index triangle) const {
    constexpr Index portion = 256;  // pairs between two looks at what all have found
    Index counts[2] = {0, 0}, told = 0;
    const auto add = [&](Index more) { return add_to_shared(static_cast<std::uint64_t>(more), a.sum[0]); };
    if (add(0) > a.most) return;
    TriangleSearch{a}(triangle, [&](const FeaturePair& pair) {
      ++counts[pair.is_edges];
      if (counts[0] + counts[1] - told < portion) return true;
      told += portion;
      return add(portion) <= a.most;
    });
    if (const Index rest = counts[0] + counts[1] - told; rest > 0) add(rest);
    const std::size_t of_kind = a.counts.size() / 2;
    a.counts[triangle] = counts[0];
    a.counts[of_kind + static_cast<std::size_t>(triangle)] = counts[1];
  }
};

struct WriteBody {
  WritePairs a;
  ISOCLOTH_DEVICE void operator()(Index triangle) const {
    const std::size_t of_kind = a.begin.size() / 2;
    Index next[2] = {a.begin[triangle], a.begin[of_kind + static_cast<std::size_t>(triangle)]};
    TriangleSearch{a.counted}(triangle, [&](const FeaturePair& pair) {
      a.pairs[next[pair.is_edges]++] = pair;
      return true;
    });
  }
};

struct StraysBody {
  static constexpr Index lanes = 128;
  CountStrays a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    auto* const sums = block.template shared<Vec3d>();
    const Index nodes = static_cast<Index>(a.positions.size());
    share(block, lanes, [&](Index lane) {
      Vec3d sum{};
      for (Index i = lane; i < nodes; i += lanes) sum += a.positions[i];
      sums[lane] = sum;
    });
    block.sync();
    Vec3d middle{};
    for (Index lane = 0; lane < lanes; ++lane) middle += sums[lane];
    middle = (1 / static_cast<double>(nodes)) * middle;
    const double length = norm(middle);
    if (!(length - length == 0)) middle = {};
    block.sync();
    auto* const counts = block.template shared<Index>();
    share(block, lanes, [&](Index lane) {
      counts[lane] = 0;
      for (Index i = lane; i < nodes; i += lanes) {
        const Vec3d x = a.positions[i] - middle;
        counts[lane] += overlap(a.at_end ? a.bounds[i].end : a.bounds[i].begin, BoundingBox{x, x}) ? 0 : 1;
      }
    });
    block.sync();
    if (block.rank() != 0) return;
    Index sum = 0;
    for (Index lane = 0; lane < lanes; ++lane) sum += counts[lane];
    a.count[0] = sum;
  }
};

}  // namespace

void count_strays(const Queue& queue, const CountStrays& args) {
  for_each_block(queue, 1, StraysBody::lanes * sizeof(Vec3d), StraysBody{args});
}
void fit_boxes(const Queue& queue, const FitBoxes& args) { parallel_for(queue, args.count, FitBody{args}); }
void count_pairs(const Queue& queue, const CountPairs& args) {
  parallel_for(queue, static_cast<Index>(args.counts.size() / 2), CountBody{args});
}
void write_pairs(const Queue& queue, const WritePairs& args) {
  parallel_for(queue, static_cast<Index>(args.begin.size() / 2), WriteBody{args});
}

}  // namespace isocloth::ISOCLOTH_BACKEND
