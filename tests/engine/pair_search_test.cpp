#include "engine/geometry/pair_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
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

using PairSet = std::set<std::tuple<Index, Index, Index>>;
PairSet set_of(const std::vector<FeaturePair>& pairs) {
  PairSet all;
  for (const FeaturePair& p : pairs) all.emplace(p.is_edges, p.first, p.second);
  return all;
}

/// Looked for around those nodes alone that go elsewhere, time and again, nothing is missing that a search of
/// all finds; what is there too is what some of them were near before.
TEST(PairSearch, FindsMoreAroundDetours) {
  const Mesh sheet = quad_grid(12, 11, 1, 1), round = disc(4, 11, 0.5, FaceKind::triangles),
             other = quad_grid(9, 9, 0.8, 0.8);
  PairSearch search({&sheet, &round, &other}, {0, PairSearch::every_world, 1}, {false, true, false}),
      whole = search, other_way = search;
  const auto backwards = [] {
    PairSearch::Workers workers = PairSearch::alone();
    workers.for_each = [](std::size_t count, const PairSearch::Workers::Piece& piece) {
      while (count > 0) piece(--count);
    };
    return workers;
  };
  const SurfaceFeatures& f = search.features();
  Random random(17);
  std::vector<Vec3d> from;
  for (const Mesh* mesh : {&sheet, &round, &other})
    from.insert(from.end(), mesh->positions.begin(), mesh->positions.end());
  from = shaken(from, 0.1, random);
  std::vector<Vec3d> to = shaken(from, 0.05, random);
  const std::vector<double> margins{0.01, 0.02, 0.015};
  constexpr std::size_t most = 1'000'000;
  std::vector<FeaturePair> pairs, all;
  ASSERT_TRUE(search.find(from, to, margins, most, pairs));
  ASSERT_TRUE(other_way.find(from, to, margins, most, all, backwards()));
  std::vector<FeaturePair> same = all;
  PairSet had = set_of(pairs);
  int fresh = 0;
  for (int time = 0; time < 20; ++time) {
    std::vector<PairSearch::UpdatedTrajectory> updated_trajectories;
    for (Index node = 0; node < f.node_count(); ++node) {
      if (random.uniform(0, 1) > 0.03) continue;
      from[node] += 0.3 * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      to[node] = from[node] + 0.1 * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), 0};
      updated_trajectories.push_back({node, from[node], to[node]});
    }
    const std::size_t before = pairs.size();
    ASSERT_TRUE(search.update(updated_trajectories, margins, most, pairs));
    ASSERT_TRUE(other_way.update(updated_trajectories, margins, most, same, backwards()));
    EXPECT_EQ(pairs, same);  // whoever does the pieces, and when
    EXPECT_TRUE(std::ranges::is_sorted(pairs.begin() + static_cast<std::ptrdiff_t>(before), pairs.end(), {},
                                       &FeaturePair::is_edges));
    ASSERT_TRUE(whole.find(from, to, margins, most, all));
    PairSet more;
    for (std::size_t p = before; p < pairs.size(); ++p) {
      const auto nodes = f.nodes_of(pairs[p]);
      EXPECT_TRUE(std::ranges::any_of(updated_trajectories, [&](const auto& d) {
        return std::ranges::find(nodes, d.node) != nodes.end();
      })) << p;
      EXPECT_TRUE(more.emplace(pairs[p].is_edges, pairs[p].first, pairs[p].second).second) << p;
    }
    for (const auto& pair : set_of(all)) {
      fresh += !had.contains(pair);
      EXPECT_TRUE(had.contains(pair) || more.contains(pair)) << std::get<1>(pair) << " " << std::get<2>(pair);
      if (had.contains(pair)) continue;
      had.insert(pair);
    }
    had.merge(more);
  }
  EXPECT_GT(fresh, 200);
  const std::size_t before = pairs.size();
  EXPECT_FALSE(search.update({{0, from[0], from[0] + Vec3d{1, 1, 0}}}, margins, before, pairs));
}

BoundingBox box_at(const BoundingBox& a, const BoundingBox& b, double t) {
  return {a.low + t * (b.low - a.low), a.high + t * (b.high - a.high)};
}

TEST(MovingBox, OverlapsWhereItDoesAtSomeTime) {
  Random random(8);
  const auto any_box = [&] {
    const Vec3d p{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    const Vec3d size{random.uniform(0, 0.5), random.uniform(0, 0.5), random.uniform(0, 0.5)};
    return BoundingBox{p, p + size};
  };
  int meetings = 0, partings = 0, only_on_whole_ways = 0;
  for (int n = 0; n < 500; ++n) {
    const MovingBox a{any_box(), any_box()}, b{any_box(), any_box()};
    bool meets = false;
    constexpr int times = 2000;
    for (int k = 0; k <= times && !meets; ++k) {
      const double t = static_cast<double>(k) / times;
      meets = overlap(box_at(a.begin, a.end, t), box_at(b.begin, b.end, t));
    }
    if (meets) {
      EXPECT_TRUE(overlap(a, b)) << n;
    }
    // Where it says so of boxes that no sample shows to meet, they do when they are a little larger.
    if (overlap(a, b) && !meets) {
      MovingBox larger = a;
      for (BoundingBox* const box : {&larger.begin, &larger.end}) {
        box->low -= Vec3d{2e-3, 2e-3, 2e-3};
        box->high += Vec3d{2e-3, 2e-3, 2e-3};
      }
      for (int k = 0; k <= times && !meets; ++k) {
        const double t = static_cast<double>(k) / times;
        meets = overlap(box_at(larger.begin, larger.end, t), box_at(b.begin, b.end, t));
      }
      EXPECT_TRUE(meets) << n;
    }
    (meets ? meetings : partings) += 1;
    only_on_whole_ways += !overlap(a, b) && overlap(joined(a.begin, a.end), joined(b.begin, b.end));
  }
  EXPECT_GT(meetings, 50);
  EXPECT_GT(partings, 50);
  EXPECT_GT(only_on_whole_ways, 20);
  EXPECT_FALSE(overlap(MovingBox{}, MovingBox{any_box(), any_box()}));  // of what is no number
}

/// Two sheets that fly past each other askew: on whole ways all is near all, at no time anything of one near
/// the other.
TEST(PairSearch, LeavesOutWhatIsElsewhereAtTheTime) {
  const Mesh sheet = quad_grid(9, 9, 0.2, 0.2);
  PairSearch search({&sheet, &sheet});
  const SurfaceFeatures& f = search.features();
  std::vector<Vec3d> from, to;
  for (const Vec3d& p : sheet.positions) {
    from.push_back(p);
    to.push_back(p + Vec3d{1, 1, 1});
  }
  for (const Vec3d& p : sheet.positions) {
    from.push_back(p + Vec3d{0.03, 0.02, 0.1});
    to.push_back(p + Vec3d{1.03, 1.02, 1.02});  // nearer, and not through
  }
  const std::vector<double> margins{1e-3, 1e-3};
  std::vector<FeaturePair> on_whole_ways, at_once;
  ASSERT_TRUE(search.find(from, to, margins, 10'000'000, on_whole_ways));
  ASSERT_TRUE(
      search.find(from, to, margins, 10'000'000, at_once, PairSearch::alone(), PairSearch::Times::common));
  EXPECT_GT(on_whole_ways.size(), 20'000u);
  EXPECT_LT(at_once.size(), 4'000u);  // those of each sheet, as of one that rests
  for (const FeaturePair& pair : at_once) {
    const auto nodes = f.nodes_of(pair);
    EXPECT_EQ(f.node_surfaces[nodes.front()], f.node_surfaces[nodes.back()]);
  }
  // Through each other: every pair whose nodes come near at one time is there.
  for (std::size_t i = sheet.positions.size(); i < to.size(); ++i) to[i] += Vec3d{0.1, -0.05, -0.05};
  ASSERT_TRUE(
      search.find(from, to, margins, 10'000'000, at_once, PairSearch::alone(), PairSearch::Times::common));
  std::set<std::tuple<Index, Index, Index>> found;
  for (const FeaturePair& p : at_once) EXPECT_TRUE(found.emplace(p.is_edges, p.first, p.second).second);
  const auto at = [&](Index node, double t) {
    return from[static_cast<std::size_t>(node)] +
           t * (to[static_cast<std::size_t>(node)] - from[static_cast<std::size_t>(node)]);
  };
  int met = 0;
  for (std::size_t t = 0; t < f.triangles.size(); ++t)
    for (Index node = 0; node < f.node_count(); ++node) {
      if (f.node_surfaces[node] == f.node_surfaces[f.triangles[t][0]]) continue;
      for (int k = 0; k <= 100; ++k) {
        const Vec3d p = at(node, k / 100.0), beyond{1.9e-3, 1.9e-3, 1.9e-3};  // both margins, nearly
        BoundingBox box;
        for (const Index corner : f.triangles[t])
          box = joined(box, {at(corner, k / 100.0), at(corner, k / 100.0)});
        if (!overlap(box, {p - beyond, p + beyond})) continue;
        EXPECT_TRUE(found.contains({0, node, static_cast<Index>(t)})) << node << " " << t;
        ++met;
        break;
      }
    }
  EXPECT_GT(met, 20);
}

/// Whatever a piece throws, on whichever thread, is heard when all are done, and the next search is whole.
TEST(PairSearch, ThrowsWhatPiecesThrow) {
  const Mesh sheet = quad_grid(40, 40, 1, 1);
  std::vector<Vec3d> flat = sheet.positions;
  for (Vec3d& p : flat) p.x *= 0.1;  // much that is near
  PairSearch search({&sheet});
  const std::vector<double> margins{0.05};
  std::vector<FeaturePair> pairs, again;
  ASSERT_TRUE(search.find(flat, flat, margins, 100'000'000, pairs));
  ASSERT_GT(pairs.size(), 100'000u);
  int pieces = 0;
  PairSearch::Workers failing{.for_each =
                                  [&](std::size_t count, const PairSearch::Workers::Piece& piece) {
                                    for (std::size_t i = 0; i < count; ++i) {
                                      EXPECT_NO_THROW(piece(i));  // as on a thread of a pool
                                      ++pieces;
                                    }
                                  },
                              .add = [](std::size_t more) -> std::size_t {
                                if (more > 0) throw std::bad_alloc();
                                return 0;
                              }};
  EXPECT_THROW(search.find(flat, flat, margins, 100'000'000, again, failing), std::bad_alloc);
  EXPECT_GT(pieces, 10);
  EXPECT_TRUE(again.empty());
  ASSERT_TRUE(search.find(flat, flat, margins, 100'000'000, again));
  EXPECT_EQ(again, pairs);
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
