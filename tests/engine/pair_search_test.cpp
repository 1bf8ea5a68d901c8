#include "engine/geometry/pair_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

std::vector<Vec3d> shaken(const std::vector<Vec3d>& from, double size, Random& random) {
  std::vector<Vec3d> positions = from;
  for (Vec3d& p : positions)
    p += size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  return positions;
}

/// The box of some nodes on their way.
template <class Nodes>
BoundingBox swept(const Nodes& nodes, const std::vector<Vec3d>& from, const std::vector<Vec3d>& to,
                  const std::vector<double>& margins, const SurfaceFeatures& features) {
  BoundingBox box;
  for (const Index node : nodes)
    for (const Vec3d& p : {from[node], to[node]}) {
      const double margin = margins[features.node_surfaces[node]];
      const Vec3d beyond{margin, margin, margin};
      box = joined(box, {p - beyond, p + beyond});
    }
  return box;
}

TEST(PairSearch, FindsAllPairsOfFeaturesWhoseBoxesOverlapOnce) {
  const Mesh sheet = quad_grid(6, 5, 1, 1), round = disc(3, 9, 0.5, FaceKind::triangles);
  PairSearch search({&sheet, &round});
  const SurfaceFeatures& f = search.features();
  ASSERT_EQ(f.node_count(), sheet.node_count() + round.node_count());
  Random random(3);
  std::vector<Vec3d> rest = sheet.positions;
  rest.insert(rest.end(), round.positions.begin(), round.positions.end());
  const std::vector<double> margins{0.01, 0.03};
  for (int round_number = 0; round_number < 5; ++round_number) {
    const std::vector<Vec3d> from = shaken(rest, 0.2, random), to = shaken(from, 0.1, random);
    std::set<std::tuple<Index, Index, Index>> expected, found;
    for (std::size_t t = 0; t < f.triangles.size(); ++t)
      for (Index node = 0; node < f.node_count(); ++node) {
        const auto& face = f.triangles[t];
        if (node == face[0] || node == face[1] || node == face[2]) continue;
        if (overlap(swept(face, from, to, margins, f),
                    swept(std::array<Index, 1>{node}, from, to, margins, f)))
          expected.emplace(0, node, static_cast<Index>(t));
      }
    for (std::size_t a = 0; a < f.edges.size(); ++a)
      for (std::size_t b = a + 1; b < f.edges.size(); ++b) {
        const std::set<Index> nodes{f.edges[a][0], f.edges[a][1], f.edges[b][0], f.edges[b][1]};
        if (nodes.size() == 4 &&
            overlap(swept(f.edges[a], from, to, margins, f), swept(f.edges[b], from, to, margins, f)))
          expected.emplace(1, static_cast<Index>(a), static_cast<Index>(b));
      }
    std::vector<FeaturePair> pairs;
    EXPECT_FALSE(search.find(from, to, margins, expected.size() - 1, pairs));
    EXPECT_TRUE(pairs.empty());
    EXPECT_TRUE(search.find(from, to, margins, expected.size(), pairs));
    for (const FeaturePair& p : pairs)
      EXPECT_TRUE(found.emplace(p.is_edges, p.first, p.second).second) << p.first << " " << p.second;
    EXPECT_GT(found.size(), 100u);
    EXPECT_EQ(found, expected);
    // Whoever does the pieces, and in whatever order.
    PairSearch::Workers backwards = PairSearch::alone();
    backwards.for_each = [](std::size_t count, const PairSearch::Workers::Piece& piece) {
      while (count > 0) piece(--count);
    };
    std::vector<FeaturePair> again;
    EXPECT_TRUE(search.find(from, to, margins, expected.size(), again, backwards));
    EXPECT_EQ(again, pairs);
  }
}

/// Of every surface with itself and with each other.
TEST(PairSearch, LeavesOutOtherWorldsAndDrivenSurfaces) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  const auto meetings = [&](const std::vector<Index>& worlds, const std::vector<bool>& driven) {
    PairSearch search(std::vector<const Mesh*>(4, &mesh), worlds, driven);
    const SurfaceFeatures& f = search.features();
    std::vector<Vec3d> places;
    for (int s = 0; s < 4; ++s) places.insert(places.end(), mesh.positions.begin(), mesh.positions.end());
    std::vector<FeaturePair> pairs;
    EXPECT_TRUE(search.find(places, places, std::vector<double>(4, 0.01), 1'000'000, pairs));
    std::set<std::pair<Index, Index>> surfaces;
    for (const FeaturePair& p : pairs) {
      const Index a = p.is_edges != 0 ? f.edges[p.first][0] : p.first,
                  b = p.is_edges != 0 ? f.edges[p.second][0] : f.triangles[p.second][0];
      surfaces.insert(std::minmax(f.node_surfaces[a], f.node_surfaces[b]));
    }
    return surfaces;
  };
  using Pairs = std::set<std::pair<Index, Index>>;
  const Pairs all{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
  EXPECT_EQ(meetings({}, {}), all);
  EXPECT_EQ(meetings({PairSearch::every_world, 3, 3, 7}, {}),
            (Pairs{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 2}, {2, 2}, {3, 3}}));
  EXPECT_EQ(meetings({}, {true, false, true, false}),
            (Pairs{{0, 1}, {0, 3}, {1, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 3}}));
}

TEST(PairSearch, LeavesOutWhatIsSewnTogether) {
  // Two squares side by side, a node's width apart; sewn, only what is not at the seam meets.
  Mesh mesh = quad_grid(2, 2, 1, 1);
  for (const Vec3d& p : quad_grid(2, 2, 1, 1).positions) mesh.positions.push_back(p + Vec3d{1.01, 0, 0});
  mesh.add_face({4, 5, 7, 6});
  mesh.corner_uvs.clear();
  /// Pairs, and how many of them have nodes that are one or sewn together.
  const auto count = [&] {
    const std::vector<double> margins{0.02};
    std::vector<FeaturePair> pairs;
    PairSearch search({&mesh});
    search.find(mesh.positions, mesh.positions, margins, 1000, pairs);
    const SurfaceFeatures& f = search.features();
    std::size_t joined = 0;
    for (const FeaturePair& pair : pairs) {
      std::set<Index> nodes, others;
      const auto add = [&](std::set<Index>& to, const auto& of) {
        for (const Index node : of) to.insert(f.sewn[node]);
      };
      if (pair.is_edges) {
        add(nodes, f.edges[pair.first]);
        add(others, f.edges[pair.second]);
      } else {
        nodes.insert(f.sewn[pair.first]);
        add(others, f.triangles[pair.second]);
      }
      joined += std::ranges::any_of(nodes, [&](Index node) { return others.contains(node); });
    }
    return std::pair(pairs.size(), joined);
  };
  const auto open = count();
  EXPECT_GT(open.first, 0u);
  mesh.stitches = {{.a = 1, .b = 4, .length = 0.5}};
  const auto half = count();
  mesh.stitches.push_back({.a = 3, .b = 6, .length = 0.5});
  const auto closed = count();
  EXPECT_LT(half.first, open.first);
  EXPECT_LT(closed.first, half.first);
  EXPECT_EQ(open.second + half.second + closed.second, 0u);
}

TEST(PairSearch, SidesOfTrianglesAreTheEdgesOfTheirNodes) {
  const Mesh mesh = quad_grid(4, 4, 1, 1);
  const PairSearch search({&mesh});
  const SurfaceFeatures& f = search.features();
  EXPECT_EQ(f.edges.size(), 2 * 4 * 3 + 9u);  // and a diagonal in every quad
  for (std::size_t t = 0; t < f.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::array<Index, 2>& edge = f.edges[f.sides[t][k]];
      EXPECT_EQ((std::set<Index>{edge[0], edge[1]}),
                (std::set<Index>{f.triangles[t][k], f.triangles[t][(k + 1) % 3]}));
      EXPECT_LT(edge[0], edge[1]);
    }
}

}  // namespace
}  // namespace isocloth
