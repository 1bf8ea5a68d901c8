#include "engine/geometry/intersection_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <tuple>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/support/exact_counts.hpp"

namespace isocloth {
namespace {

using Positions = std::vector<Vec3d>;

/// Coordinates are rounded to this, so that nodes meet edges and faces to the last bit.
constexpr double lattice = 0x1p-24;

Positions on_lattice(Positions positions) {
  const auto round = [](double x) { return lattice * std::round(x / lattice); };
  for (Vec3d& p : positions) p = {round(p.x), round(p.y), round(p.z)};
  return positions;
}

Intersections search(const Mesh& mesh, const Positions& positions) {
  return IntersectionSearch({&mesh}).find({positions});
}

ExactCounts counts_of(const Intersections& found) {
  return {found.crossing.count, found.touching.count, found.overlapping.count};
}

/// What brute force finds, too.
ExactCounts expect_as_counted(const std::vector<const Mesh*>& meshes,
                              const std::vector<Positions>& positions) {
  const Intersections found = IntersectionSearch(meshes).find(positions);
  const ExactCounts counts = counts_of(found), expected = count_exactly(meshes, positions);
  EXPECT_EQ(counts.crossing, expected.crossing);
  EXPECT_EQ(counts.touching, expected.touching);
  EXPECT_EQ(counts.overlapping, expected.overlapping);
  EXPECT_EQ(found.surfaces.empty(), counts.crossing == 0);
  EXPECT_EQ(found.unknown_triangles, 0);
  for (const Crossings& list : {found.crossing, found.touching}) {
    EXPECT_EQ(list.first.size(),
              std::min<std::size_t>(Crossings::most_named, static_cast<std::size_t>(list.count)));
    for (const Crossing& c : list.first) {
      const Vec3d &p = positions[c.edge_surface][c.edge[0]], &q = positions[c.edge_surface][c.edge[1]];
      EXPECT_LT(c.edge[0], c.edge[1]);
      EXPECT_NEAR(norm(c.position - p) + norm(q - c.position), norm(q - p), 1e-12);
      EXPECT_LT(c.face, meshes[c.face_surface]->face_count());
    }
  }
  return counts;
}

Mesh two_triangles() {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {3, 0, 0}, {2, 1, 0}};
  mesh.add_face({0, 1, 2});
  mesh.add_face({3, 4, 5});
  return mesh;
}

const Positions base{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
Positions with_base(const Positions& other) {
  Positions all = base;
  all.insert(all.end(), other.begin(), other.end());
  return all;
}

TEST(IntersectionSearch, CountsEdgesOfTwoTriangles) {
  const Mesh mesh = two_triangles();
  // A corner through the other: two of its edges. Side by side: one edge of each.
  const auto found = search(mesh, with_base({{0.2, 0.2, -1}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}));
  EXPECT_EQ(found.crossing.count, 2);
  EXPECT_EQ(found.touching.count, 0);
  ASSERT_EQ(found.crossing.first.size(), 2U);
  std::set<std::array<Index, 2>> edges;
  for (const Crossing& c : found.crossing.first) {
    EXPECT_EQ(c.face, 0);
    EXPECT_EQ(c.edge_surface + c.face_surface, 0U);
    EXPECT_NEAR(c.position.z, 0, 1e-15);
    edges.insert(c.edge);
  }
  EXPECT_EQ(edges, (std::set<std::array<Index, 2>>{{3, 4}, {3, 5}}));
  EXPECT_EQ(found.surfaces, std::vector<std::size_t>{0});
  EXPECT_EQ(search(mesh, with_base({{0.2, 0.2, -1}, {0.2, 0.2, 1}, {2, 2, 0.5}})).crossing.count, 2);
}

TEST(IntersectionSearch, TellsTouchingFromCrossing) {
  const Mesh mesh = two_triangles();
  const std::vector<std::pair<Positions, std::int64_t>> cases{
      {{{0.2, 0.2, 0}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}, 2},  // a corner in the inside
      {{{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.2, 1}}, 2},  // a side in the inside
      {{{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.3, 0}}, 0},  // in the plane
      {{{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}}, 0},          // around it in the plane
      {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, 0},              // the same
      {{{0.2, 0.2, 0x1p-53}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 0},
      {{{0.2, 0.2, 5e-324}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 0},
  };
  for (const auto& [other, touching] : cases) {
    const Intersections found = search(mesh, with_base(other));
    EXPECT_EQ(found.crossing.count, 0);
    EXPECT_EQ(found.touching.count, touching);
    EXPECT_TRUE(found.surfaces.empty());
  }
  // One step of rounding further they meet, and one of the least number.
  for (const double below : {0x1p-53, 1e-300, 5e-324}) {
    const Intersections found = search(mesh, with_base({{0.2, 0.2, -below}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}));
    EXPECT_EQ(found.crossing.count, 2) << below;
    EXPECT_EQ(found.touching.count, 0) << below;
    for (const Crossing& c : found.crossing.first) {
      EXPECT_LE(std::fabs(c.position.z), below);
      EXPECT_NEAR(c.position.x, 0.2, 1e-12);
    }
  }
}

#if defined(__x86_64__)
/// A triangle whose corner goes through another by the least number, where processors flush such to zero.
TEST(IntersectionSearch, DoesNotDependOnWhatHappensToDenormalNumbers) {
  const Mesh mesh = two_triangles();
  const Positions above = with_base({{0.2, 0.2, 5e-324}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}),
                  below = with_base({{0.2, 0.2, -5e-324}, {0.2, 0.3, 1}, {0.3, 0.2, 1}});
  const unsigned before = _mm_getcsr();
  for (const unsigned bits : {0x8000U, 0x0040U, 0x8040U}) {  // results are flushed, operands are, both
    _mm_setcsr(before | bits);
    const ExactCounts apart = counts_of(search(mesh, above)), through = counts_of(search(mesh, below));
    _mm_setcsr(before);
    EXPECT_EQ(apart, ExactCounts{}) << bits;
    EXPECT_EQ(through, (ExactCounts{2, 0, 0})) << bits;
  }
}
#endif

TEST(IntersectionSearch, CountsWhatOverlapsInOnePlaneByItself) {
  const Mesh mesh = two_triangles();
  const std::vector<std::pair<Positions, std::int64_t>> cases{
      {{{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.3, 0}}, 1},              // inside
      {{{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}}, 1},                      // around it
      {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, 1},                          // the same
      {{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}}, 1},                          // the same from behind
      {{{-0.1, 0.3, 0}, {0.9, 0.3, 0}, {0.3, -0.2, 0}}, 1},            // as a star
      {{{0.2, 0.2, 0}, {0.3, 0.2, 5e-324}, {0.2, 0.3, 0}}, 0},         // out of the plane
      {{{1, 1, 0}, {1, 0, 0}, {0, 1, 0}}, 0},                          // beside it, with a side in common
      {{{-1, 0, 0}, {0.3, 0, 0}, {0.1, -1, 0}}, 0},                    // with part of a side in common
      {{{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}}, 0},                        // with a corner in common
      {{{-1, 0.2, 0}, {0.5, 0.2, 0}, {1, 0.2, 0}}, 0},                 // without area
      {{{-1, -1, 0}, {2, 5e-324, 0}, {-1, 1e-323, 0}}, 1},             // just over its side
      {{{2, 2, 0}, {3, 2, 0}, {2, 3, 0}}, 0},                          // apart
      {{{0.5, 0.5, 0}, {1, 0.5, 0}, {0.5, 1, 0}}, 0},                  // on its side
      {{{0.49999999999999994, 0.5, 0}, {1, 0.5, 0}, {0.5, 1, 0}}, 1},  // just over it
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Positions x = with_base(cases[i].first);
    const Intersections found = search(mesh, x);
    ASSERT_EQ(found.overlapping.first.size(), static_cast<std::size_t>(cases[i].second));
    const ExactCounts expected{0, i == 5 ? 2 : 0, cases[i].second};
    EXPECT_EQ(expect_as_counted({&mesh}, {x}), expected);
    // The plane x + 2 y + 3 z = 0 of a lattice that has no place for the least steps, and one across an axis.
    const int on_lattice = i == 5 ? 1 : i == 10 || i == 13 ? 0 : static_cast<int>(cases[i].second);
    for (const auto& [u, v] :
         {std::pair(Vec3d{3, 0, -1}, Vec3d{0, 3, -2}), {Vec3d{0, 0, 1}, Vec3d{0, 1, 0}}}) {
      Positions turned;
      for (const Vec3d& p : x) turned.push_back(std::round(100 * p.x) * u + std::round(100 * p.y) * v);
      EXPECT_EQ(expect_as_counted({&mesh}, {turned}).overlapping, on_lattice);
    }
    for (const Overlap& pair : found.overlapping.first) {
      EXPECT_EQ(pair.surfaces[0] + pair.surfaces[1], 0U);
      EXPECT_EQ(pair.faces[0] + pair.faces[1], 1);
    }
  }
}

/// Two sheets of one plane, a pair of panels that coincide, and a strip that is folded flat onto itself.
TEST(IntersectionSearch, CountsSheetsThatLieInOnePlane) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  EXPECT_EQ(search(mesh, mesh.positions).overlapping.count, 0);
  Positions beside, slanted, folded;
  for (const Vec3d& p : mesh.positions) {
    beside.push_back(p + Vec3d{1, 0, 0});
    slanted.push_back(p + Vec3d{0.0625, 0.03125, 0});
    folded.push_back({std::min(p.x, 1 - p.x), p.y, 0});  // along the middle column of nodes
  }
  EXPECT_EQ(IntersectionSearch({&mesh, &mesh}).find({mesh.positions, beside}).overlapping.count, 0);
  // On the same lattice each of the 32 triangles lies on its like alone.
  const Intersections found = IntersectionSearch({&mesh, &mesh}).find({mesh.positions, mesh.positions});
  EXPECT_EQ(found.overlapping.count, 32);
  EXPECT_EQ(found.crossing.count + found.touching.count, 0);
  ASSERT_EQ(found.overlapping.first.size(), Crossings::most_named);
  for (const Overlap& pair : found.overlapping.first) EXPECT_EQ(pair.faces[0], pair.faces[1]);
  EXPECT_GT(expect_as_counted({&mesh, &mesh}, {mesh.positions, slanted}).overlapping, 32);
  EXPECT_EQ(expect_as_counted({&mesh}, {folded}).overlapping, 32);  // 8 quads on 8, whose diagonals cross
  Mesh hinge;
  hinge.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, -1, 0}};
  hinge.add_face({0, 1, 2});
  hinge.add_face({1, 0, 3});
  EXPECT_EQ(search(hinge, hinge.positions).overlapping.count, 0);
  EXPECT_EQ(search(hinge, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}).overlapping.count, 1);
  EXPECT_EQ(search(hinge, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 5e-324}}).overlapping.count, 0);
  Mesh quad;  // its halves lie on each other
  quad.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 0, 0}};
  quad.add_face({0, 1, 2, 3});
  const Intersections halves = search(quad, quad.positions);
  ASSERT_EQ(halves.overlapping.count, 1);
  EXPECT_EQ(halves.overlapping.first[0].faces, (std::array<Index, 2>{0, 0}));
}

/// Sheets of one grid in a cross: every edge ends in a node of the other or passes through its edges.
TEST(IntersectionSearch, FindsACrossThatIsTrueToTheGrid) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  for (const double shift : {0., 0.125}) {
    Positions standing;
    for (const Vec3d& p : mesh.positions) standing.push_back({p.x, 0.5, p.y - 0.5 + shift});
    const ExactCounts counts = expect_as_counted({&mesh, &mesh}, {mesh.positions, standing});
    EXPECT_GT(counts.touching, 0);
  }
}

TEST(IntersectionSearch, SeesTrianglesWithACommonNode) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  mesh.add_face({0, 1, 2});
  mesh.add_face({0, 3, 4});
  EXPECT_EQ(search(mesh, mesh.positions).crossing.count, 0);
  // The side opposite of the common node goes through the other triangle; the sides at it count nowhere.
  EXPECT_EQ(search(mesh, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.2, -1}, {0.2, 0.2, 1}}).crossing.count, 1);
  // A common side: folded flat or nearly so.
  Mesh hinge = mesh;
  hinge.face_nodes = {0, 1, 2, 1, 0, 3};
  EXPECT_EQ(search(hinge, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {5, 5, 5}}).crossing.count, 0);
  EXPECT_EQ(search(hinge, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 1, 1e-17}, {5, 5, 5}}).crossing.count, 0);
}

/// A strip of n quads stands in a triangle: n + 1 edges and n diagonals pass through it.
TEST(IntersectionSearch, CountsTheEdgesOfAStrip) {
  const Mesh strip = quad_grid(8, 2, 0.5, 0.5), triangle = [] {
    Mesh mesh;
    mesh.positions = {{-5, -5, 0}, {5, -5, 0}, {0, 9, 0}};
    mesh.add_face({0, 1, 2});
    return mesh;
  }();
  Positions standing;
  for (const Vec3d& p : strip.positions) standing.push_back({p.x, 0.1 * p.x, p.y - 0.3});
  const Intersections found = IntersectionSearch({&strip, &triangle}).find({standing, triangle.positions});
  EXPECT_EQ(found.crossing.count, 8 + 7);
  EXPECT_EQ(found.touching.count, 0);
  EXPECT_EQ(found.surfaces, (std::vector<std::size_t>{0, 1}));
  for (const Crossing& c : found.crossing.first) {
    EXPECT_EQ(std::tuple(c.edge_surface, c.face_surface, c.face), std::tuple(0U, 1U, 0));
    EXPECT_NEAR(c.position.z, 0, 1e-15);
  }
}

/// A loop: the sheet passes through itself along a line.
Positions looped(const Mesh& mesh, double skew) {
  Positions positions;
  for (const Vec3d& p : mesh.positions) {
    const double s = 2.6 * p.x - 1.3;  // nodal cubic, meets itself at s = +-1
    positions.push_back({s * s * s - s + 0.03 * std::sin(5 * p.y), p.y + skew * s, s * s + 0.02 * p.y});
  }
  return on_lattice(positions);
}

TEST(IntersectionSearch, FindsASheetThatPassesThroughItself) {
  for (const Mesh& mesh : {quad_grid(21, 9, 1, 1), triangle_grid(21, 9, 1, 1, Diagonals::alternating),
                           irregular_triangles(8, 60, 1, 1, 3)}) {
    EXPECT_GT(expect_as_counted({&mesh}, {looped(mesh, 0.11)}).crossing, 20);
    // Both halves alike: edges may meet edges.
    const ExactCounts alike = expect_as_counted({&mesh}, {looped(mesh, 0)});
    EXPECT_GT(alike.crossing + alike.touching, 20);
  }
}

TEST(IntersectionSearch, FindsNothingInASheetThatDoesNot) {
  const Mesh mesh = quad_grid(21, 17, 1, 1);
  Positions wave, roll, tilted;
  for (const Vec3d& p : mesh.positions) {
    wave.push_back({p.x, p.y, 0.1 * std::sin(20 * p.x) * std::cos(13 * p.y)});
    const double angle = 4 * std::numbers::pi * p.x, radius = 0.1 + 0.02 * angle;
    roll.push_back({radius * std::cos(angle), p.y, radius * std::sin(angle)});
    tilted.push_back({0.36 * p.x - 0.8 * p.y, 0.48 * p.x + 0.6 * p.y, 0.8 * p.x + 7});
  }
  EXPECT_EQ(search(mesh, mesh.positions).crossing.count, 0);  // exactly in a plane
  EXPECT_EQ(search(mesh, tilted).crossing.count, 0);          // to within rounding
  EXPECT_EQ(search(mesh, wave).crossing.count, 0);
  EXPECT_EQ(search(mesh, roll).crossing.count, 0);
}

TEST(IntersectionSearch, DoesNotDependOnTheFrame) {
  const Mesh mesh = quad_grid(17, 17, 1, 1);
  const Positions positions = looped(mesh, 0.1);
  const std::int64_t expected = search(mesh, positions).crossing.count;
  EXPECT_GT(expected, 50);
  // Quarter turns and steps of the lattice are exact; other motions change nodes by rounding alone.
  Positions turned, moved;
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (const Vec3d& p : positions) {
    turned.push_back({p.z + 3, -p.x - 17, -p.y + 0.5});
    moved.push_back({c * p.x - s * p.y + 2.3, 0.6 * (s * p.x + c * p.y) - 0.8 * p.z - 1.7,
                     0.8 * (s * p.x + c * p.y) + 0.6 * p.z + 0.1});
  }
  EXPECT_EQ(search(mesh, turned).crossing.count, expected);
  EXPECT_EQ(search(mesh, moved).crossing.count, expected);
}

class RandomSoup : public ::testing::TestWithParam<int> {};

/// Triangles and quads of small coordinates, where points coincide and lie in one plane often, and generic
/// ones; sheets with noise as large as an element.
TEST_P(RandomSoup, HasWhatEveryEdgeAndTriangleHave) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const auto any = [&random](double step) {
    const auto number = [&] { return step * std::floor(random.uniform(0, 1) / step); };
    return Vec3d{number(), number(), number()};
  };
  for (const double step : {0x1p-2, 0x1p-3, lattice}) {
    Mesh soup;
    for (int n = 0; n < 40; ++n) soup.positions.push_back(any(step));
    for (Index f = 0; f < 60; ++f) {
      std::set<Index> nodes;
      while (nodes.size() < (f % 2 == 0 ? 3U : 4U)) nodes.insert(static_cast<Index>(random.uniform(0, 40)));
      soup.add_face({nodes.begin(), nodes.end()});
    }
    const ExactCounts counts = expect_as_counted({&soup}, {soup.positions});
    EXPECT_GT(counts.crossing, 0);
    EXPECT_TRUE(counts.touching > 0 || step == lattice);
    EXPECT_TRUE(counts.overlapping > 0 || step < 0x1p-2);
    // As small and as large as doubles go.
    for (const double unit : {0x1p-1074 / step, 0x1p-600, 0x1p1023}) {
      Positions scaled;
      for (const Vec3d& p : soup.positions) scaled.push_back(unit * p);
      EXPECT_EQ(counts_of(IntersectionSearch({&soup}).find({scaled})), counts) << unit;
    }
  }
  const Mesh sheet = quad_grid(9, 11, 1, 1), other = triangle_grid(8, 8, 1, 1, Diagonals::parallel);
  std::vector<Positions> crumpled{sheet.positions, other.positions};
  for (Positions& x : crumpled) {
    for (Vec3d& p : x) p += 0.3 * any(lattice);
    x = on_lattice(x);
  }
  EXPECT_GT(expect_as_counted({&sheet, &other}, crumpled).crossing, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSoup, ::testing::Range(1, 6));

TEST(IntersectionSearch, TestsSurfacesOfOneWorld) {
  const Mesh mesh = quad_grid(6, 6, 1, 1);
  Positions standing;
  for (const Vec3d& p : mesh.positions) standing.push_back({p.x, 0.5 + 0.03 * p.x, p.y - 0.52});
  const std::vector<Positions> positions{mesh.positions, standing, mesh.positions, standing};
  const std::vector<const Mesh*> meshes(4, &mesh);
  const auto count = [&](const std::vector<Index>& worlds) {
    const Intersections found = IntersectionSearch(meshes, worlds).find(positions);
    return std::pair(found.crossing.count, found.surfaces);
  };
  const auto [pair, both] = count({0, 0, 1, 2});
  const std::vector<std::size_t> first_two{0, 1};
  EXPECT_GT(pair, 0);
  EXPECT_EQ(both, first_two);
  using Surfaces = std::vector<std::size_t>;
  EXPECT_EQ(count({0, 1, 2, 3}), std::pair(std::int64_t{0}, Surfaces{}));
  EXPECT_EQ(count({0, 0, 1, 1}), std::pair(2 * pair, Surfaces{0, 1, 2, 3}));
  EXPECT_EQ(count({}), std::pair(4 * pair, Surfaces{0, 1, 2, 3}));
  EXPECT_EQ(count({IntersectionSearch::every_world, 3, 4, 7}), std::pair(2 * pair, Surfaces{0, 1, 3}));
  EXPECT_EQ(count({0, 0, 1, IntersectionSearch::every_world}), std::pair(3 * pair, Surfaces{0, 1, 2, 3}));
}

TEST(IntersectionSearch, MeetsSurfacesInAnyOrderAlongX) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  std::vector<Positions> positions;
  std::vector<const Mesh*> meshes;
  for (const double x : {4.5, 0., 8., 3.6, 1.2, 0.7, 7.2}) {
    positions.emplace_back();
    meshes.push_back(&mesh);
    for (const Vec3d& p : mesh.positions) {
      const double slope = std::sin(9 * x);
      positions.back().push_back({p.x + x, p.y + 0.013 * x, slope * (p.x - 0.5) + 0.1 * p.y});
    }
    positions.back() = on_lattice(positions.back());
  }
  EXPECT_GT(expect_as_counted(meshes, positions).crossing, 0);
}

TEST(IntersectionSearch, DrivenSurfacesMeetOnlyOthers) {
  Mesh crossed = quad_grid(2, 2, 1, 1);  // two faces through each other
  Mesh upright;
  upright.positions = {{0.5, -1, -1}, {0.5, 2, -1}, {0.5, 2, 1}, {0.5, -1, 1}};
  upright.add_face({0, 1, 2, 3});
  for (const Vec3d& p : upright.positions) crossed.positions.push_back(p);
  crossed.add_face({4, 5, 6, 7});
  const auto count = [&](const std::vector<bool>& driven) {
    return IntersectionSearch({&crossed, &upright}, {}, driven)
        .find({crossed.positions, upright.positions})
        .crossing.count;
  };
  const std::int64_t all = count({}), other = count({true, false});
  EXPECT_GT(other, 0);
  EXPECT_GT(all, other);
  EXPECT_EQ(count({true, true}), 0);
}

TEST(IntersectionSearch, LeavesOutWhatIsNoNumber) {
  const Mesh mesh = quad_grid(17, 17, 1, 1);
  const Positions positions = looped(mesh, 0.1);
  const std::int64_t expected = search(mesh, positions).crossing.count;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  for (const Vec3d& bad :
       {Vec3d{nan, 0, 0}, Vec3d{0, infinity, 0}, Vec3d{0, 0, -infinity}, Vec3d{infinity, -infinity, 0}}) {
    Positions broken = positions;
    broken[0] = bad;  // a corner, where the diagonal of its quad begins
    const Intersections found = search(mesh, broken);
    EXPECT_EQ(found.unknown_triangles, 2);
    EXPECT_EQ(found.crossing.count, expected);  // the loop is elsewhere
  }
  const Intersections none = search(mesh, Positions(positions.size(), {nan, nan, nan}));
  EXPECT_EQ(none.crossing.count + none.touching.count, 0);
  EXPECT_EQ(none.unknown_triangles, 2 * mesh.face_count());
  EXPECT_EQ(search(mesh, Positions(positions.size())).crossing.count, 0);  // all in one point
}

TEST(IntersectionSearch, FindsTheSameAgain) {
  const Mesh mesh = quad_grid(17, 17, 1, 1);
  IntersectionSearch search_again({&mesh});
  const Intersections first = search_again.find({looped(mesh, 0.1)});
  EXPECT_EQ(search_again.find({mesh.positions}).crossing.count, 0);
  const Intersections again = search_again.find({looped(mesh, 0.1)});
  ASSERT_EQ(again.crossing.first.size(), Crossings::most_named);
  for (std::size_t i = 0; i < again.crossing.first.size(); ++i) {
    EXPECT_EQ(again.crossing.first[i].edge, first.crossing.first[i].edge);
    EXPECT_EQ(again.crossing.first[i].face, first.crossing.first[i].face);
    EXPECT_EQ(again.crossing.first[i].position, first.crossing.first[i].position);
  }
}

}  // namespace
}  // namespace isocloth
