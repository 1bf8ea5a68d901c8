#include "engine/geometry/distance_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/core/random.hpp"
#include "engine/geometry/closed_surface.hpp"
#include "engine/geometry/height_field.hpp"
#include "engine/mesh/weld.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

using testing::append;
using testing::bent_mesh;
using testing::box_mesh;
using testing::octasphere;
using testing::torus_mesh;
using testing::wedge_mesh;

DistanceGrid grid_of(const Mesh& mesh, double cell = 0, double thicken = 0) {
  return build_distance_grid(MeshShape{mesh, cell, thicken}, "body");
}

template <class Shape>
std::string refusal(const Shape& shape) {
  return testing::refusal_of([&] { build_distance_grid(shape, "body"); });
}

std::string refusal(const Mesh& mesh, double cell, double thicken) {
  return refusal(MeshShape{mesh, cell, thicken});
}

/// The number after some words of a message.
double number_after(const std::string& message, const std::string& words) {
  const auto at = message.find(words);
  EXPECT_NE(at, std::string::npos) << words << ": " << message;
  return at == std::string::npos ? 0 : std::stod(message.substr(at + words.size()));
}

Vec3d node_place(const DistanceGrid& grid, Index i, Index j, Index k) {
  return grid.origin + grid.cell * Vec3d{double(i), double(j), double(k)};
}

double node_distance(const DistanceGrid& grid, Index i, Index j, Index k) {
  return grid.distances[(static_cast<std::size_t>(k) * grid.nodes[1] + j) * grid.nodes[0] + i];
}

/// Anywhere in the grid, `beyond` cells more on all sides.
Vec3d random_place(const DistanceGrid& grid, Random& random, double beyond = 0) {
  const auto along = [&](double origin, Index nodes) {
    return origin + grid.cell * random.uniform(-beyond, nodes - 1 + beyond);
  };
  const double x = along(grid.origin.x, grid.nodes[0]), y = along(grid.origin.y, grid.nodes[1]);
  return {x, y, along(grid.origin.z, grid.nodes[2])};
}

TEST(DistanceGrid, HasDocumentedSizeAndOrder) {
  const DistanceGrid grid = grid_of(box_mesh({1, 0.5, 0.25}, 2));
  EXPECT_DOUBLE_EQ(grid.cell, 1.0 / 64);
  EXPECT_EQ(grid.nodes, (std::array<Index, 3>{64 + 9, 32 + 9, 16 + 9}));
  EXPECT_EQ(grid.distances.size(), 73u * 41 * 25);
  EXPECT_NEAR(norm(grid.origin + Vec3d{0.5 + 4.0 / 64, 0.25 + 4.0 / 64, 0.125 + 4.0 / 64}), 0, 1e-15);
  EXPECT_FLOAT_EQ(static_cast<float>(node_distance(grid, 0, 20, 12)), 4.0f / 64);  // before the side x = -1/2
  const DistanceGrid thick = grid_of(box_mesh({1, 0.5, 0.25}, 2), 0.05, 0.12);
  EXPECT_EQ(thick.nodes, (std::array<Index, 3>{20 + 9 + 6, 10 + 9 + 6, 5 + 9 + 6}));
}

/// Checks every node: exact in the band, not too small and hardly too large elsewhere, right signs.
void expect_distances(const Mesh& mesh, const DistanceGrid& grid, double thicken, const char* name) {
  const ClosedSurface solid(mesh);
  Random random(17);
  double largest = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const Index i = static_cast<Index>(random.uniform(0, grid.nodes[0]));
    const Index j = static_cast<Index>(random.uniform(0, grid.nodes[1]));
    const Index k = static_cast<Index>(random.uniform(0, grid.nodes[2]));
    const double exact = solid.signed_distance(node_place(grid, i, j, k));
    const double found = node_distance(grid, i, j, k) + thicken;
    const double rounding = 0x1p-23 * (std::abs(exact) + 2 * thicken) + 1e-14;  // to float
    ASSERT_TRUE(std::abs(exact) <= rounding || (found > 0) == (exact > 0))
        << name << " " << exact / grid.cell;
    const double excess = std::abs(found) - std::abs(exact);
    ASSERT_GE(excess, -rounding) << name;
    const bool is_exact = std::abs(exact - thicken) <= 3.5 * grid.cell || std::abs(exact) <= grid.cell;
    ASSERT_LE(excess, is_exact ? rounding : 0.25 * grid.cell) << name;
    largest = std::max(largest, excess / grid.cell);
  }
  ::testing::Test::RecordProperty(std::string(name) + "_excess_cells", std::to_string(largest));
}

TEST(DistanceGrid, AgreesWithExactDistances) {
  Mesh hollow = box_mesh({2.5, 2.5, 2.5}, 3);
  append(hollow, testing::turned(octasphere(2)), {0.05, 0, 0.02});
  for (Vec3d& x : hollow.positions) x = 0.7 * x + Vec3d{10, -3, 5};
  const struct {
    const char* name;
    Mesh mesh;
    double cell, thicken;
  } cases[] = {{"sphere", octasphere(4), 0.05, 0},          {"coarse_sphere", octasphere(1), 0.04, 0},
               {"fine_sphere", octasphere(6), 0.15, 0},     {"thick_sphere", octasphere(3), 0.06, 0.3},
               {"torus", torus_mesh(48, 24, 1, 0.4), 0, 0}, {"bent", bent_mesh(60, 24), 0.04, 0.02},
               {"box", box_mesh({1, 0.3, 0.7}, 1), 0, 0},   {"hollow", hollow, 0.025, 0},
               {"wedge", wedge_mesh(0.45, 0.6), 0, 0},      {"plate", box_mesh({1, 1, 1e-3}, 2), 0.02, 0.03}};
  for (const auto& c : cases) expect_distances(c.mesh, grid_of(c.mesh, c.cell, c.thicken), c.thicken, c.name);
}

// Between nodes the trilinear interpolant misses a function by at most cell^2 / 8 times the sum over the axes
// of its largest second derivatives; of a distance from a surface these sum to twice the mean curvature of
// its offset.
TEST(DistanceGrid, InterpolatesSphereToSecondOrder) {
  for (const double cell : {0.1, 0.05, 0.025}) {
    const Mesh mesh = octasphere(5);
    double sagitta = 0;  // by which faces lie inside of the sphere
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const auto n = mesh.face(f);
      const Vec3d a = mesh.positions[n[0]], b = mesh.positions[n[1]], c = mesh.positions[n[2]];
      sagitta = std::max(sagitta, 1 - std::abs(dot(normalized(cross(b - a, c - a)), a)));
    }
    const DistanceGrid grid = grid_of(mesh, cell);
    Random random(2);
    for (int trial = 0; trial < 4000; ++trial) {
      const double radius = 1 + random.uniform(-2, 2) * cell;
      const Vec3d p =
          radius * normalized(Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
      const double least_radius = radius - std::sqrt(3) * cell;
      const double bound = cell * cell / 8 * 2 / least_radius + sagitta + 1e-7;
      const double error = interpolate(grid, p) - (radius - 1);
      ASSERT_LE(error, bound);
      ASSERT_GE(error,
                -1e-7);  // convex outside and inside: chords lie above; so does an inscribed solid's distance
    }
  }
}

TEST(DistanceGrid, InterpolatesTorusToSecondOrder) {
  const double ring = 1, tube = 0.4, cell = 0.05;
  const Mesh mesh = torus_mesh(240, 120, ring, tube);
  // Cords of 1/240 and 1/120 of the circles, the outermost one largest; and quads cut in two.
  const double pi = std::numbers::pi;
  const double miss = 2 * ((ring + tube) * (1 - std::cos(pi / 240)) + tube * (1 - std::cos(pi / 120)));
  const DistanceGrid grid = grid_of(mesh, cell);
  Random random(3);
  for (int trial = 0; trial < 4000; ++trial) {
    const double u = random.uniform(0, 2 * pi), v = random.uniform(0, 2 * pi),
                 d = random.uniform(-1.5, 1.5) * cell;
    const double radius = ring + (tube + d) * std::cos(v);
    const Vec3d p{radius * std::cos(u), radius * std::sin(u), (tube + d) * std::sin(v)};
    // Within a cell, of radii a cell's diagonal smaller: 1 / tube radius, and |cos v| / distance from the
    // axis.
    const double diagonal = std::sqrt(3) * cell;
    const double curvature = 1 / (tube + d - diagonal) + 1 / (radius - diagonal);
    EXPECT_NEAR(interpolate(grid, p), d, cell * cell / 8 * curvature + miss + 1e-7);
  }
}

TEST(DistanceGrid, ShowsBoxUpToItsEdges) {
  const Vec3d half{0.5, 0.3, 0.4};
  const DistanceGrid grid = grid_of(box_mesh({1, 0.6, 0.8}, 6), 0.03);
  Random random(4);
  int flat = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Vec3d p = random_place(grid, random);
    const Vec3d q{std::abs(p.x) - half.x, std::abs(p.y) - half.y, std::abs(p.z) - half.z};
    const double exact = testing::box_distance({1, 0.6, 0.8}, p);
    const double most = std::max({q.x, q.y, q.z}), least = std::min({q.x, q.y, q.z});
    const double middle = q.x + q.y + q.z - most - least;
    const double found = interpolate(grid, p);
    if (most - middle > 2 * grid.cell &&
        middle < -grid.cell) {  // all nodes around see one side only, and straight on
      ASSERT_NEAR(found, exact, 1e-7);
      ++flat;
    } else {  // a distance differs from node to node by no more than they are apart
      ASSERT_NEAR(found, exact, (std::sqrt(3) + 0.25) * grid.cell);
      ASSERT_TRUE(std::abs(exact) > grid.cell || std::abs(found - exact) <= std::sqrt(3) * grid.cell);
    }
  }
  EXPECT_GT(flat, 2000);
}

TEST(Interpolate, GivesNodesAndTheirGradients) {
  const DistanceGrid grid = grid_of(bent_mesh(40, 16), 0.05);
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const Index i = static_cast<Index>(random.uniform(0, grid.nodes[0]));
    const Index j = static_cast<Index>(random.uniform(0, grid.nodes[1]));
    const Index k = static_cast<Index>(random.uniform(0, grid.nodes[2]));
    EXPECT_NEAR(interpolate(grid, node_place(grid, i, j, k)), node_distance(grid, i, j, k), 1e-13);
  }
  const double step = 1e-6 * grid.cell;
  int inside = 0, outside = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Vec3d p = random_place(grid, random, 8);
    bool is_smooth = true;  // no side of a cell between the places of the difference
    const double at[] = {p.x - grid.origin.x, p.y - grid.origin.y, p.z - grid.origin.z};
    for (const double x : at)
      is_smooth = is_smooth && std::abs(x / grid.cell - std::round(x / grid.cell)) > 1e-5;
    if (!is_smooth) continue;
    Vec3d gradient;
    const double value = interpolate(grid, p, &gradient);
    EXPECT_EQ(value, interpolate(grid, p));
    const auto slope = [&](Vec3d e) {
      return (interpolate(grid, p + step * e) - interpolate(grid, p - step * e)) / (2 * step);
    };
    // Rounding: values of about 1 over 2 step; second derivatives of at most 4 per cell, one sided no less.
    const double tolerance = 4e-16 * 4 / (2 * step) + 4 / grid.cell * step;
    EXPECT_NEAR(gradient.x, slope({1, 0, 0}), tolerance);
    EXPECT_NEAR(gradient.y, slope({0, 1, 0}), tolerance);
    EXPECT_NEAR(gradient.z, slope({0, 0, 1}), tolerance);
    bool is_inside = true;
    for (std::size_t k = 0; k < 3; ++k)
      is_inside = is_inside && at[k] >= 0 && at[k] <= (grid.nodes[k] - 1) * grid.cell;
    ++(is_inside ? inside : outside);
  }
  EXPECT_GT(inside, 500);
  EXPECT_GT(outside, 500);
}

TEST(Interpolate, ContinuesBeyondTheGridFromBelow) {
  const Mesh mesh = bent_mesh(40, 16);
  const double thicken = 0.03;
  const DistanceGrid grid = grid_of(mesh, 0.05, thicken);
  const ClosedSurface solid(mesh);
  Random random(7);
  for (int trial = 0; trial < 1000; ++trial) {
    Vec3d p = random_place(grid, random, 40);
    const double found = interpolate(grid, p);
    // Nodes on the sides may be too far by a quarter of a cell, and between them a distance bends by less
    // than that.
    EXPECT_LE(found, solid.signed_distance(p) - thicken + grid.cell);
    (trial % 3 == 0   ? p.x
     : trial % 3 == 1 ? p.y
                      : p.z) = trial % 3 == 0   ? grid.origin.x
                               : trial % 3 == 1 ? grid.origin.y
                                                : grid.origin.z;
    const Vec3d out{trial % 3 == 0 ? -1e-9 : 0, trial % 3 == 1 ? -1e-9 : 0, trial % 3 == 2 ? -1e-9 : 0};
    EXPECT_NEAR(interpolate(grid, p), interpolate(grid, p + out), 1e-8);
  }
  EXPECT_TRUE(std::isfinite(interpolate(grid, {1e9, -1e9, 1e9})));
}

TEST(DistanceGrid, IsTheSameTwice) {
  const DistanceGrid a = grid_of(bent_mesh(40, 16), 0.05), b = grid_of(bent_mesh(40, 16), 0.05);
  EXPECT_EQ(a.origin, b.origin);
  EXPECT_EQ(a.distances, b.distances);
}

TEST(DistanceGrid, RefusesThinPlateUntilAdviceIsTaken) {
  const Mesh plate = box_mesh({1, 0.8, 0.01}, 4);
  const std::string found = refusal(plate, 0, 0);
  EXPECT_EQ(found.find("body: walls are too thin for the grid: found 0.01 m at face "), 0u) << found;
  EXPECT_NE(found.find("expected at least 3 cells, 0.046875 m; set thicken to at least "), std::string::npos)
      << found;
  const double thicken = number_after(found, "set thicken to at least "),
               cell = number_after(found, "or cell to at most ");
  EXPECT_NEAR(thicken, (3.0 / 64 - 0.01) / 2, 1e-4);
  EXPECT_NEAR(cell, 0.01 / 3, 1e-4);
  EXPECT_EQ(refusal(plate, 0, thicken), "accepted");
  EXPECT_EQ(refusal(plate, cell, 0), "accepted");
  EXPECT_NE(refusal(plate, 0, 0.9 * thicken), "accepted");
  EXPECT_NE(refusal(plate, 1.1 * cell, 0), "accepted");
  // As thick as asked, the grid holds the plate back on the right side everywhere: in the middle it is
  // inside.
  const DistanceGrid grid = grid_of(plate, 0, thicken);
  Random random(8);
  for (int trial = 0; trial < 1000; ++trial) {
    const Vec3d p{random.uniform(-0.45, 0.45), random.uniform(-0.35, 0.35), random.uniform(-0.005, 0.005)};
    EXPECT_LT(interpolate(grid, p), -grid.cell / 2);
  }
}

TEST(DistanceGrid, OffersNumbersThatServeAtOnce) {
  // The smaller plate is a sliver for cells of 1/64, but not for those that the larger one asks for.
  Mesh mesh = box_mesh({1, 1, 1}, 1);
  append(mesh, box_mesh({0.3, 0.3, 0.02}, 1), {1, 0, 0});
  append(mesh, box_mesh({0.04, 0.04, 0.014}, 1), {1, 0.5, 0});
  const std::string thin = refusal(mesh, 0, 0);
  EXPECT_EQ(refusal(mesh, 0, number_after(thin, "set thicken to at least ")), "accepted") << thin;
  EXPECT_EQ(refusal(mesh, number_after(thin, "or cell to at most "), 0), "accepted") << thin;
  // A grid too large of walls too thin: both numbers in one message.
  const Mesh plate = box_mesh({1, 1, 0.004}, 1);
  const std::string both = refusal(plate, 1e-4, 0);
  EXPECT_EQ(both.find("body.cell: a cell of 0.0001 m makes too large a grid"), 0u) << both;
  EXPECT_EQ(refusal(plate, number_after(both, "set cell to at least "),
                    number_after(both, " and thicken to at least ")),
            "accepted")
      << both;
}

TEST(DistanceGrid, SaysOfAnOpenSeamWhatElseIsWrong) {
  Mesh plate = box_mesh({1, 0.8, 0.01}, 1);
  plate.positions.push_back(plate.positions[0] + Vec3d{1e-9, 0, 0});
  plate.face_nodes[0] = plate.node_count() - 1;
  const std::string found = refusal(plate, 0, 0);
  EXPECT_NE(found.find("the surface is open"), std::string::npos) << found;
  EXPECT_NE(found.find("set weld to "), std::string::npos) << found;
  EXPECT_NE(found.find("when it is closed body: walls are too thin"), std::string::npos) << found;
  const double thicken = number_after(found, "set thicken to at least ");
  weld(plate, number_after(found, "set weld to "));
  EXPECT_EQ(refusal(plate, 0, thicken), "accepted");
}

TEST(DistanceGrid, OffersOnlyCellsThatItTakes) {
  const std::string found = refusal(box_mesh({1, 1, 1e-4}, 1), 0, 0);
  EXPECT_NE(found.find("; set thicken to at least 0.0234 m"), std::string::npos) << found;
  EXPECT_EQ(found.find("or cell"), std::string::npos) << found;
}

TEST(DistanceGrid, RefusesThinPartsOfThickSolids) {
  Mesh mesh = box_mesh({1, 1, 1}, 1);
  append(mesh, box_mesh({0.3, 0.3, 0.01}, 1), {1, 0, 0});
  EXPECT_NE(refusal(mesh, 0, 0).find("found 0.01 m at face "), std::string::npos) << refusal(mesh, 0, 0);
  mesh = box_mesh({1, 1, 1}, 1);
  append(mesh, box_mesh({0.02, 0.02, 0.01}, 1), {1, 0, 0});  // a sliver: 2.6 cells^2 or so
  EXPECT_EQ(refusal(mesh, 0, 0), "accepted");
  Mesh tube = torus_mesh(80, 24, 0.5, 0.02);  // round
  EXPECT_NE(refusal(tube, 0, 0).find("walls are too thin"), std::string::npos);
  EXPECT_NE(refusal(torus_mesh(40, 3, 0.5, 0.02), 0, 0).find("walls are too thin"),
            std::string::npos);  // three-sided
}

// A wedge ends where its middle plane rises above zero in the grid; sharper ones end the earlier.
TEST(DistanceGrid, AcceptsSharpEdgesThatItShows) {
  const auto lost_cells = [](double degrees) {
    const Mesh mesh = wedge_mesh(degrees * std::numbers::pi / 180, 0.5);
    double lost = 0;
    for (const double cells : {50.0, 51.3, 52.4, 53.7, 54.5}) {  // the edge lies differently among the nodes
      const DistanceGrid grid = grid_of(mesh, 1 / cells);
      for (int i = 0; i < 50; ++i) {
        double x = 0;
        while (interpolate(grid, {x, 0.2 + 0.002 * i, 0}) > 0) x += 0.01 * grid.cell;
        lost = std::max(lost, x / grid.cell);
      }
    }
    ::testing::Test::RecordProperty("lost_cells_at_" + std::to_string(static_cast<int>(degrees)),
                                    std::to_string(lost));
    return lost;
  };
  // Half a cell's diagonal above the middle plane lies the node next to it, at worst: it is inside from the
  // place on where the wedge is as high.
  for (const double degrees : {22.0, 30.0, 45.0, 90.0}) {
    const double half = degrees * std::numbers::pi / 360;
    EXPECT_LE(lost_cells(degrees), std::sqrt(3) / 2 / std::sin(half)) << degrees;
  }
  EXPECT_EQ(refusal(octasphere(0), 0, 0), "accepted");
  EXPECT_EQ(refusal(box_mesh({1, 1, 1}, 64), 0, 0), "accepted");
  EXPECT_NE(refusal(wedge_mesh(10 * std::numbers::pi / 180, 1), 0, 0), "accepted");
}

TEST(DistanceGrid, RefusesGridsThatAreTooLarge) {
  const std::string found = refusal(box_mesh({1, 1, 1}, 1), 0.001, 0);
  EXPECT_EQ(found.find("body.cell: a cell of 0.001 m makes too large a grid: found 1.02"), 0u) << found;
  const double cell = number_after(found, "set cell to at least ");
  EXPECT_LE(std::pow(std::ceil(1 / cell) + 9, 3), 0x1p24);
  EXPECT_GT(std::pow(std::ceil(1 / (0.99 * cell)) + 9, 3), 0x1p24);
  EXPECT_NE(refusal(box_mesh({1, 1, 1}, 1), -1, 0).find("body: found cell -1 and thicken 0"),
            std::string::npos);
  EXPECT_NE(refusal(box_mesh({1, 1, 1}, 1), std::nan(""), 0).find("body: found cell nan"), std::string::npos);
  EXPECT_NE(refusal(box_mesh({1, 1, 1}, 1), 0, 1e6), "accepted");
}

TEST(DistanceGrid, RefusesOpenSurfaces) {
  Mesh mesh = box_mesh({1, 1, 1}, 1);
  mesh.face_begin.pop_back();
  mesh.face_nodes.resize(20);
  EXPECT_EQ(refusal(mesh, 0, 0).find("body.surface: the surface is open: found 4 edges"), 0u);
}

HeightFieldShape field(Index nx, Index ny, double spacing, double (*height)(double, double)) {
  HeightFieldShape shape{{nx, ny}, spacing, {}};
  for (Index j = 0; j < ny; ++j) {
    for (Index i = 0; i < nx; ++i) shape.heights.push_back(height(i * spacing, j * spacing));
  }
  return shape;
}

double hills(double x, double y) { return 0.1 * std::sin(5 * x + 1) * std::cos(4 * y) + 0.2 * x; }

TEST(HeightFieldGrid, MeasuresSlopesExactly) {
  const HeightFieldShape shape = field(5, 9, 0.1, [](double x, double y) { return 0.5 * x - 0.25 * y; });
  const DistanceGrid grid = build_distance_grid(shape, "ground");
  EXPECT_NEAR(grid.cell, 0.1 / 8, 1e-15);  // 1/64 of 0.8
  const double cosine = 1 / std::sqrt(1 + 0.25 + 0.0625);
  Random random(9);
  for (int trial = 0; trial < 2000; ++trial) {
    const double x = random.uniform(0.1, 0.3), y = random.uniform(0.1, 0.7),
                 gap = random.uniform(-0.04, 0.04);
    EXPECT_NEAR(interpolate(grid, {x, y, 0.5 * x - 0.25 * y + gap}), cosine * gap, 1e-7);
  }
}

TEST(HeightFieldGrid, IsSolidBelowAndNothingBeside) {
  const HeightFieldShape shape = field(33, 17, 0.05, hills);
  const DistanceGrid grid = build_distance_grid(shape, "ground");
  const double low = *std::min_element(shape.heights.begin(), shape.heights.end());
  const auto height = [&](double x, double y) {  // bilinear, in other words
    const Index i = std::min(static_cast<Index>(x / 0.05), 31),
                j = std::min(static_cast<Index>(y / 0.05), 15);
    const double u = x / 0.05 - i, v = y / 0.05 - j;
    const double* z = &shape.heights[j * 33 + i];
    return z[0] + u * (z[1] - z[0]) + v * (z[33] - z[0]) + u * v * (z[0] - z[1] - z[33] + z[34]);
  };
  Random random(10);
  int below = 0, above = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Vec3d p = random_place(grid, random, 3);
    const double found = interpolate(grid, p);
    if (std::abs(found) < grid.cell) continue;  // near edges of the solid a grid may miss by that
    const bool beside = p.x < 0 || p.x > 1.6 || p.y < 0 || p.y > 0.8;
    const bool expected = !beside && p.z < height(p.x, p.y) && p.z > low - 16 * grid.cell;
    ASSERT_EQ(found < 0, expected) << p.x << " " << p.y << " " << p.z << " " << found;
    ++(expected ? below : above);
  }
  EXPECT_GT(below, 2000);
  EXPECT_GT(above, 2000);
}

TEST(HeightFieldGrid, FollowsBilinearPatches) {
  // z = c x y over one patch, 1 x 1 m: 64 parts; second derivatives c, of the distance no more than that.
  const HeightFieldShape shape = field(2, 2, 1, [](double x, double y) { return 0.8 * x * y; });
  const DistanceGrid grid = build_distance_grid(shape, "ground");
  const double bound =
      grid.cell * grid.cell * 0.8 * (1.0 / 16 + 2.0 / 8) + 1e-7;  // of triangles and interpolation
  Random random(11);
  for (int trial = 0; trial < 4000; ++trial) {
    const double x = random.uniform(0.1, 0.9), y = random.uniform(0.1, 0.9);
    EXPECT_NEAR(interpolate(grid, {x, y, 0.8 * x * y}), 0, bound);
  }
}

TEST(HeightFieldGrid, IsMadeFromClosedSurface) {
  for (const int parts : {1, 2, 3}) {
    EXPECT_NO_THROW(check_closed_surface(height_field_surface(field(6, 4, 0.1, hills), parts, -1), "ground"));
  }
}

TEST(HeightFieldGrid, RefusesTooManySamples) {
  HeightFieldShape shape{{1000, 1000}, 0.01, std::vector<double>(1000000, 0.0)};
  EXPECT_EQ(refusal(shape),
            "body.heights: 1000 x 1000 samples from 0 to 0 m make too large a grid: found 25401600 nodes of "
            "0.01 m, "
            "expected at most 16777216; take fewer samples at a larger spacing");
}

}  // namespace
}  // namespace isocloth
