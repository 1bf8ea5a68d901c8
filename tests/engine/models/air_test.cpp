// Vortices, lattices and Bernoulli's equation against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/models/air/panel_pressure.hpp"
#include "engine/models/air/vortex_segment.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;

TEST(VortexSegment, IsALineVortexBesideALongOne) {
  const Vec3d v = segment_velocity({0, 0.5, 0}, {-1e6, 0, 0}, {1e6, 0, 0}, 0);
  // Circulation along x by the right hand: towards +z at +y.
  EXPECT_NEAR(v.z, 1 / (2 * pi * 0.5), 1e-9);
  EXPECT_EQ(v.x, 0);
  EXPECT_EQ(v.y, 0);
  const double core = 0.1, d = 0.5;
  EXPECT_NEAR(segment_velocity({0, d, 0}, {-1e6, 0, 0}, {1e6, 0, 0}, core).z,
              d / (2 * pi * (d * d + 2 * core * core)), 1e-9);
}

TEST(VortexSegment, IsNothingOnTheVortexAndWithoutLength) {
  EXPECT_EQ(segment_velocity({0.5, 0, 0}, {0, 0, 0}, {1, 0, 0}, 0), Vec3d{});
  EXPECT_EQ(segment_velocity({0.5, 0, 0}, {0, 0, 0}, {1, 0, 0}, 0.1), Vec3d{});
  EXPECT_EQ(segment_velocity({2, 0, 0}, {0, 0, 0}, {1, 0, 0}, 0), Vec3d{});
  EXPECT_EQ(segment_velocity({0, 1, 0}, {1, 0, 0}, {1, 0, 0}, 0), Vec3d{});
  EXPECT_EQ(segment_velocity({0, 0, 0}, {0, 0, 0}, {1, 0, 0}, 0), Vec3d{});
}

TEST(RingVelocities, AreThatOfASquareLoopOnItsAxis) {
  const double a = 0.4;
  const std::vector<Vec3d> points{{0, 0, 0}, {0, a, 0}, {a, 0, 0}, {a, a, 0}};
  for (const double z : {-0.3, 0., 0.1, 5.}) {
    int count = 0;
    RingVelocities rings(1, 0);
    rings({a / 2, a / 2, z}, {points.data(), points.data() + 2}, [&](std::size_t, std::size_t, Vec3d u) {
      ++count;
      // From line to next line (x), then across (y): about +z.
      const double expected = a * a / (2 * pi * (z * z + a * a / 4) * std::sqrt(z * z + a * a / 2));
      EXPECT_NEAR(u.z, expected, 1e-14 * (1 + expected));
      EXPECT_NEAR(u.x, 0, 1e-14);
      EXPECT_NEAR(u.y, 0, 1e-14);
    });
    EXPECT_EQ(count, 1);
  }
}

TEST(RingVelocities, OfRingsSideBySideAddUpToTheirRim) {
  const Mesh mesh = quad_grid(4, 3, 1, 0.7);
  const Vec3d point{0.2, 0.9, 0.3};
  std::vector<const Vec3d*> lines;
  std::vector<Vec3d> points;  // lines along x
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j) points.push_back(mesh.positions[static_cast<std::size_t>(j * 4 + i)]);
  for (std::size_t i = 0; i < 4; ++i) lines.push_back(points.data() + 3 * i);
  Vec3d sum;
  RingVelocities rings(2, 0.01);
  rings(point, lines, [&](std::size_t, std::size_t, const Vec3d& u) { sum += u; });
  const Vec3d corners[] = {{0, 0, 0}, {1, 0, 0}, {1, 0.7, 0}, {0, 0.7, 0}};
  Vec3d rim;
  for (int k = 0; k < 4; ++k) rim += segment_velocity(point, corners[k], corners[(k + 1) % 4], 0);
  EXPECT_NEAR(norm(sum - rim), 0, 2e-3 * norm(rim));  // cores of 0.01 at distances of 0.4
}

TEST(PanelGrid, PutsTheTrailingEdgeWhereTheWindGoes) {
  const Mesh mesh = quad_grid(4, 3, 1, 0.5);
  const auto trailing = [&](const Vec3d& wind) {
    const PanelGrid grid = panel_grid(mesh, mesh.positions, wind, "garments[0].mesh");
    // The normal is that of the faces, +z, whichever way the wind blows.
    const VortexLattice lattice = vortex_lattice(grid, mesh.positions);
    EXPECT_EQ(lattice.panels.size(), 6u);
    for (const VortexPanel& panel : lattice.panels) {
      EXPECT_NEAR(panel.normal.z, 1, 1e-15);
      EXPECT_NEAR(panel.area, 0.5 / 6, 1e-15);
    }
    std::vector<Index> nodes;
    for (Index j = 0; j <= grid.columns; ++j) nodes.push_back(grid.node(grid.rows, j));
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  EXPECT_EQ(trailing({2, 0.5, 0}), (std::vector<Index>{3, 7, 11}));
  EXPECT_EQ(trailing({-2, 0.5, 3}), (std::vector<Index>{0, 4, 8}));
  EXPECT_EQ(trailing({0.5, 1, 0}), (std::vector<Index>{8, 9, 10, 11}));
  EXPECT_EQ(trailing({0, -1, 0}), (std::vector<Index>{0, 1, 2, 3}));
}

void expect_refused(const Mesh& mesh, const Vec3d& wind, const char* found) {
  try {
    panel_grid(mesh, mesh.positions, wind, "garments[3].mesh");
    ADD_FAILURE() << "took " << found;
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find(text("garments[3].mesh: found ", found)), std::string::npos)
        << error.what();
  }
}

TEST(PanelGrid, RefusesWhatHasNoRows) {
  expect_refused(triangle_grid(3, 3, 1, 1, Diagonals::parallel), {1, 0, 0}, "another mesh");
  expect_refused(tube(3, 8, 0.3, 1, FaceKind::quads), {1, 0, 0}, "another mesh");
  expect_refused(quad_grid(3, 3, 1, 1), {0, 0, 0}, "still air");
  expect_refused(quad_grid(3, 3, 1, 1), {0, 0, 2}, "wind square to the cloth");
  EXPECT_EQ(panel_grid(quad_grid(2, 2, 1, 1), quad_grid(2, 2, 1, 1).positions, {1, 0, 0}, "").panel_count(),
            1);
}

TEST(VortexLattice, RefusesAPanelWithoutArea) {
  Mesh mesh = quad_grid(3, 3, 1, 1);
  const PanelGrid grid = panel_grid(mesh, mesh.positions, {1, 0, 0}, "");
  for (Vec3d& x : mesh.positions) x.y = 0;
  EXPECT_THROW(vortex_lattice(grid, mesh.positions), NumericalError);
}

TEST(VortexLattice, HasTheSlopeOfAParabolaWhereNoAirPasses) {
  Mesh mesh = quad_grid(7, 4, 1, 1);
  const auto height = [](double x) { return 0.1 * x * x; };
  for (Vec3d& x : mesh.positions) x.z = height(x.x);
  const VortexLattice lattice =
      vortex_lattice(panel_grid(mesh, mesh.positions, {1, 0, 0}, ""), mesh.positions);
  for (const VortexPanel& panel : lattice.panels) {
    const double slope = -panel.wash_normal.x / panel.wash_normal.z;
    // Slopes of a parabola are linear; unit normals turn by up to 0.2 / 6, which is what interpolation bends.
    EXPECT_NEAR(slope, 0.2 * panel.collocation.x, 2e-4);
    EXPECT_NEAR(dot(panel.down, panel.normal), 0, 1e-15);
  }
}

TEST(PanelPressure, IsBernoullisOfALinearCirculation) {
  const Index m = 4, n = 5;
  const Mesh mesh = quad_grid(m + 1, n + 1, 0.8, 1);
  const PanelGrid grid = panel_grid(mesh, mesh.positions, {1, 0, 0}, "");
  const VortexLattice lattice = vortex_lattice(grid, mesh.positions);
  const double gx = 3, gy = -2, rho = 1.2, rate = 10;
  const Vec3d velocity{4, 1.5, 7};  // the part across the cloth does nothing
  std::vector<double> now, before(static_cast<std::size_t>(m * n), 1.);
  for (Index p = 0; p < m * n; ++p) {
    const Vec3d& x = lattice.panels[static_cast<std::size_t>(p)].collocation;
    const double y = (p % n + 0.5) / n;  // rings, not the shifted points of the outermost
    now.push_back(2 + gx * x.x + gy * y);
  }
  for (Index i = 1; i < m; ++i)
    for (Index j = 1; j + 1 < n; ++j) {
      const Index p = i * n + j;
      const PanelPressure pressure = panel_pressure(grid, lattice, p, velocity, rho, rate, before);
      EXPECT_NEAR(pressure.quarter.value(now), -rho * velocity.x * gx, 1e-12);
      const double mean =
          0.75 * now[static_cast<std::size_t>(p)] + 0.25 * now[static_cast<std::size_t>(p - n)];
      EXPECT_NEAR(pressure.middle.value(now), -rho * (velocity.y * gy + rate * (mean - 1)), 1e-12);
    }
}

TEST(PanelPressure, OfAllPanelsIsThatOfTheTrailingVortices) {
  // The jumps from no circulation to none across each row add up to nothing.
  const Mesh mesh = quad_grid(3, 6, 1, 1);
  const PanelGrid grid = panel_grid(mesh, mesh.positions, {1, 0, 0}, "");
  const VortexLattice lattice = vortex_lattice(grid, mesh.positions);
  std::vector<double> now;
  for (int p = 0; p < grid.panel_count(); ++p) now.push_back(1 + 0.3 * p * p);
  double sum = 0;
  for (Index p = 0; p < grid.panel_count(); ++p)
    sum += panel_pressure(grid, lattice, p, {0, 1, 0}, 1, 0, now).middle.value(now);
  EXPECT_NEAR(sum, 0, 1e-11);
}

}  // namespace
}  // namespace isocloth
