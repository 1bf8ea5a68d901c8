#include "engine/geometry/intersection_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <tuple>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

__extension__ using Wide = __int128;
using Positions = std::vector<Vec3d>;

/// Coordinates are rounded to this, so that integers can decide.
constexpr double lattice = 0x1p-24;

Positions on_lattice(Positions positions) {
  const auto round = [](double x) { return lattice * std::round(x / lattice); };
  for (Vec3d& p : positions) p = {round(p.x), round(p.y), round(p.z)};
  return positions;
}

/// Sign of a tetrahedron's volume by integers below 2^40.
int side(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const auto whole = [](double x) { return static_cast<Wide>(x / lattice); };
  const auto seen = [&](const Vec3d& p) {
    return std::array<Wide, 3>{whole(p.x) - whole(a.x), whole(p.y) - whole(a.y), whole(p.z) - whole(a.z)};
  };
  const auto u = seen(b), v = seen(c), w = seen(d);
  const Wide volume = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
                      u[2] * (v[0] * w[1] - v[1] * w[0]);
  return (volume > 0) - (volume < 0);
}

using Triangle = std::array<Index, 3>;
std::vector<Triangle> triangles_of(const Mesh& mesh) {
  std::vector<Triangle> all;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (std::size_t k = 2; k < mesh.face(f).size(); ++k)
      all.push_back({mesh.face(f)[0], mesh.face(f)[k - 1], mesh.face(f)[k]});
  return all;
}

struct Counts {
  std::int64_t crossing = 0, touching = 0;
  bool operator==(const Counts&) const = default;
};

/// Every edge against every triangle.
Counts count_all(const std::vector<const Mesh*>& meshes, const std::vector<Positions>& positions) {
  Counts count;
  for (std::size_t s = 0; s < meshes.size(); ++s) {
    std::set<std::array<Index, 2>> edges;
    for (const Triangle& t : triangles_of(*meshes[s]))
      for (std::size_t k = 0; k < 3; ++k)
        edges.insert({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
    for (std::size_t r = 0; r < meshes.size(); ++r)
      for (const auto& [i, j] : edges)
        for (const Triangle& t : triangles_of(*meshes[r])) {
          if (s == r && (std::count(t.begin(), t.end(), i) + std::count(t.begin(), t.end(), j)) > 0) continue;
          const Vec3d &p = positions[s][i], &q = positions[s][j], &a = positions[r][t[0]],
                      &b = positions[r][t[1]], &c = positions[r][t[2]];
          const int at_p = side(a, b, c, p), at_q = side(a, b, c, q);
          if (at_p == at_q) continue;
          const auto [least, most] = std::minmax({side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)});
          if (least * most > 0 && at_p * at_q < 0)
            ++count.crossing;
          else if (least * most > 0 || (least <= 0 && most <= 0) || (least >= 0 && most >= 0))
            ++count.touching;
        }
  }
  return count;
}

Intersections search(const Mesh& mesh, const Positions& positions) {
  return IntersectionSearch({&mesh}).find({positions});
}

/// What integers find, too.
Counts expect_as_counted(const std::vector<const Mesh*>& meshes, const std::vector<Positions>& positions) {
  const Intersections found = IntersectionSearch(meshes).find(positions);
  const Counts counts{found.crossing.count, found.touching.count}, expected = count_all(meshes, positions);
  EXPECT_EQ(counts.crossing, expected.crossing);
  EXPECT_EQ(counts.touching, expected.touching);
  EXPECT_EQ(found.surfaces.empty(), counts.crossing == 0);
  EXPECT_EQ(found.unknown_triangles, 0);
  for (const Crossings& list : {found.crossing, found.touching}) {
    EXPECT_EQ(list.first.size(),
              std::min<std::size_t>(Crossings::most_named, static_cast<std::size_t>(list.count)));
    for (const Crossing& c : list.first) {
      const Vec3d &p = positions[c.edge_surface][c.edge[0]], &q = positions[c.edge_surface][c.edge[1]];
      EXPECT_LT(c.edge[0], c.edge[1]);
      EXPECT_NEAR(norm(c.place - p) + norm(q - c.place), norm(q - p), 1e-12);
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
    EXPECT_NEAR(c.place.z, 0, 1e-15);
    edges.insert(c.edge);
  }
  EXPECT_EQ(edges, (std::set<std::array<Index, 2>>{{3, 4}, {3, 5}}));
  EXPECT_EQ(found.surfaces, std::vector<std::size_t>{0});
  EXPECT_EQ(search(mesh, with_base({{0.2, 0.2, -1}, {0.2, 0.2, 1}, {2, 2, 0.5}})).crossing.count, 2);
}

TEST(IntersectionSearch, TellsTouchingFromCrossing) {
  const Mesh mesh = two_triangles();
  const std::vector<std::pair<Positions, std::int64_t>> cases{
      {{{0.2, 0.2, 0}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}, 2},       // a corner in the inside
      {{{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.2, 1}}, 2},       // a side in the inside
      {{{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.3, 0}}, 0},       // in the plane
      {{{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}}, 0},               // around it in the plane
      {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, 0},                   // the same
      {{{0.2, 0.2, 1e-300}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 2},  // least_exact_coordinate is above that
      {{{0.2, 0.2, 0x1p-53}, {0.3, 0.2, 1}, {0.2, 0.3, 1}}, 0},
  };
  for (const auto& [other, touching] : cases) {
    const Intersections found = search(mesh, with_base(other));
    EXPECT_EQ(found.crossing.count, 0);
    EXPECT_EQ(found.touching.count, touching);
    EXPECT_TRUE(found.surfaces.empty());
  }
  // One step of rounding further they meet.
  const Intersections found = search(mesh, with_base({{0.2, 0.2, -0x1p-53}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}));
  EXPECT_EQ(found.crossing.count, 2);
  EXPECT_EQ(found.touching.count, 0);
}

/// Sheets of one grid in a cross: every edge ends in a node of the other or passes through its edges.
TEST(IntersectionSearch, FindsACrossThatIsTrueToTheGrid) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  for (const double shift : {0., 0.125}) {
    Positions standing;
    for (const Vec3d& p : mesh.positions) standing.push_back({p.x, 0.5, p.y - 0.5 + shift});
    const Counts counts = expect_as_counted({&mesh, &mesh}, {mesh.positions, standing});
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
    EXPECT_NEAR(c.place.z, 0, 1e-15);
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
    const Counts alike = expect_as_counted({&mesh}, {looped(mesh, 0)});
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
    const Counts counts = expect_as_counted({&soup}, {soup.positions});
    EXPECT_GT(counts.crossing, 0);
    EXPECT_TRUE(counts.touching > 0 || step == lattice);
  }
  const Mesh sheet = quad_grid(9, 11, 1, 1), other = triangle_grid(8, 8, 1, 1, Diagonals::parallel);
  std::vector<Positions> crumpled{sheet.positions, other.positions};
  for (Positions& x : crumpled) {
    for (Vec3d& p : x) p += 0.3 * any(lattice);
    x = on_lattice(x);
  }
  EXPECT_GT(expect_as_counted({&sheet, &other}, crumpled).crossing, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSoup, ::testing::Range(1, 11));

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
       {Vec3d{nan, 0, 0}, Vec3d{0, infinity, 0}, Vec3d{0, 0, -infinity}, Vec3d{1e200, 0, 0}}) {
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
    EXPECT_EQ(again.crossing.first[i].place, first.crossing.first[i].place);
  }
}

Nearness near(const std::vector<const Mesh*>& meshes, const std::vector<Positions>& positions,
              double thickness, bool counts_open_seams = true) {
  IntersectionSearch::Spacing spacing;
  spacing.counts_open_seams = counts_open_seams;
  for (const Mesh* mesh : meshes) {
    spacing.thicknesses.push_back(thickness);
    spacing.rests.push_back(&mesh->positions);
  }
  return IntersectionSearch(meshes).find_near(positions, spacing);
}

Positions lifted(Positions positions, const Vec3d& way) {
  for (Vec3d& p : positions) p += way;
  return positions;
}

TEST(IntersectionSearch, FindsWhatLiesInOnePlane) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  const std::vector<const Mesh*> two{&mesh, &mesh};
  const auto at = [&](const Vec3d& way) {
    return std::vector<Positions>{mesh.positions, lifted(mesh.positions, way)};
  };
  for (const double thickness : {0.0, 0.01}) {
    EXPECT_GT(near(two, at({0, 0, 0}), thickness).coincident_count, 0);
    const Nearness shifted = near(two, at({0.113, 0.071, 0}), thickness);
    EXPECT_GT(shifted.coincident_count, 0);
    ASSERT_EQ(shifted.coincident.size(), Crossings::most_named);
    for (const NearFeatures& pair : shifted.coincident) EXPECT_NE(pair.surfaces[0], pair.surfaces[1]);
    EXPECT_EQ(near(two, at({0, 0, 0.011}), thickness).coincident_count, 0);
    EXPECT_EQ(near({&mesh}, {mesh.positions}, thickness).coincident_count, 0);
  }
  // No node of either in the other.
  Mesh star;
  star.positions = {{0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}};
  star.add_face({0, 1, 2});
  Positions turned;
  for (const Vec3d& p : star.positions) turned.push_back({1 - p.x, 0.7 - p.y, 0});
  EXPECT_EQ(near({&star, &star}, {star.positions, turned}, 0).coincident_count, 6);
  const auto world_apart = IntersectionSearch({&mesh, &mesh}, {0, 1})
                               .find_near(at({0, 0, 0}), {{0.01, 0.01}, {&mesh.positions, &mesh.positions}});
  EXPECT_EQ(world_apart.coincident_count + world_apart.near_count, 0);
}

TEST(IntersectionSearch, MeasuresWhatIsNearerThanItsThickness) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  const auto lifted_by = [&](double height) {
    return near({&mesh, &mesh}, {mesh.positions, lifted(mesh.positions, {0.1, 0.05, height})}, 0.01);
  };
  const Nearness found = lifted_by(0.004);
  EXPECT_EQ(found.coincident_count, 0);
  EXPECT_GT(found.near_count, 20);
  EXPECT_NEAR(found.nearest.distance, 0.004, 1e-15);
  EXPECT_EQ(found.nearest.thickness, 0.01);
  EXPECT_EQ(lifted_by(0.0101).near_count, 0);
  // What is near in the rest shape keeps half of its distance there.
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0.3).near_count, 0);
  Positions folded = mesh.positions;
  for (Vec3d& p : folded)
    if (p.x > 0.6) p = {1.2 - p.x, p.y, 0.003};
  const Nearness fold = near({&mesh}, {folded}, 0.01);
  EXPECT_LT(fold.nearest.distance, 0.003 + 1e-12);
  EXPECT_GT(fold.nearest.distance, 0.002);  // beside the crease, where it slopes
}

TEST(IntersectionSearch, KnowsSeams) {
  Mesh mesh;  // two squares side by side, whose nodes coincide there
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}};
  mesh.add_face({0, 1, 2, 3});
  mesh.add_face({4, 5, 6, 7});
  EXPECT_GT(near({&mesh}, {mesh.positions}, 0.01).coincident_count, 0);
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0, false).coincident_count, 0);
  mesh.stitches = {{1, 4, 0.5}, {2, 7, 0.5}};
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0.01).coincident_count, 0);
}

}  // namespace
}  // namespace isocloth
