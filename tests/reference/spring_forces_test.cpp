#include "host/reference/spring_forces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/reference/impulse_cases.hpp"

namespace isocloth::reference {
namespace {

Garment springy(const Mesh& mesh, const Fabric& fabric, const std::vector<Index>& pinned = {}) {
  Garment garment = garment_of(mesh, pinned);
  garment.fabric = fabric;
  return garment;
}

// f = -dE/dx by central differences of step s: truncation s^2 |E'''| / 6, with E''' of the order k / l, and
// rounding eps E / s.
TEST(SpringForces, AreTheGradientOfTheirEnergy) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    const double stiffness = 30;
    const Garment garment = springy(mesh, {.density = 1,
                                           .gravity_density = 1,
                                           .bending_stiffness = 0,
                                           .mass_damping = 0,
                                           .stiffness_damping = 0,
                                           .shear_spring = {.stiffness = stiffness, .damping = 0},
                                           .bend_spring = {.stiffness = stiffness, .damping = 0},
                                           .shear_diagonals = 2});
    const std::vector<Spring> springs = garment_springs(garment, build_topology(mesh));
    ASSERT_FALSE(springs.empty()) << name;
    const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), 0.02, 3);
    const MatrixX3d forces = spring_forces(springs, at, noise(mesh.node_count(), 1, 4));
    double shortest = std::numeric_limits<double>::infinity();
    std::vector<int> degree(static_cast<std::size_t>(mesh.node_count()), 0);
    for (const Spring& spring : springs) {
      shortest = std::min(shortest, spring.length);
      ++degree[spring.a];
      ++degree[spring.b];
    }
    const double s = 1e-5, energy = spring_energy(springs, at);
    const double bound = *std::max_element(degree.begin(), degree.end()) * stiffness / shortest * s * s +
                         100 * std::numeric_limits<double>::epsilon() * energy / s;
    for (Eigen::Index node = 0; node < at.rows(); ++node) {
      for (int c = 0; c < 3; ++c) {
        MatrixX3d plus = at, minus = at;
        plus(node, c) += s;
        minus(node, c) -= s;
        const double slope = (spring_energy(springs, plus) - spring_energy(springs, minus)) / (2 * s);
        EXPECT_NEAR(forces(node, c), -slope, bound) << name << ", node " << node;
      }
    }
  }
}

// Two nodes that recede at speed 3 with c = 2 along (3, 4, 0)/5; what is across the spring is not braked.
TEST(SpringForces, DampersBrakeAlongTheSpring) {
  const std::vector<Spring> springs{{0, 1, 5, 0, 2}};
  MatrixX3d at(2, 3), velocities(2, 3);
  at << 0, 0, 0, 3, 4, 0;
  velocities << 0, 0, 0, 1.8 - 4, 2.4 + 3, 7;
  const MatrixX3d forces = spring_forces(springs, at, velocities);
  EXPECT_LE((forces.row(0) - Eigen::RowVector3d(3.6, 4.8, 0)).norm(), 1e-14);
  EXPECT_EQ(forces.row(0), -forces.row(1));
}

TEST(SpringForces, ASpringWithoutLengthHasNoForce) {
  const std::vector<Spring> springs{{0, 1, 1, 5, 2}};
  EXPECT_EQ(spring_forces(springs, MatrixX3d::Ones(2, 3), noise(2, 1, 1)), MatrixX3d(MatrixX3d::Zero(2, 3)));
}

// |x - rest| after explicit steps of forces alone from a disturbance of 1e-6, in units of it.
double growth(const ImpulseCloth& cloth, const MatrixX3d& rest, double step, int count) {
  const double amplitude = 1e-6;
  MatrixX3d at = rest + noise(rest.rows(), amplitude, 21), velocities = MatrixX3d::Zero(rest.rows(), 3);
  for (int n = 0; n < count; ++n) {
    velocities += step * (cloth.inverse_masses().asDiagonal() * cloth.forces(at, velocities));
    at += step * velocities;
    if (!((at - rest).cwiseAbs().maxCoeff() < 1)) return std::numeric_limits<double>::infinity();
  }
  return (at - rest).cwiseAbs().maxCoeff() / amplitude;
}

// On a grid, waves from node to node reach half of Gershgorin's bound: stable up to 1/rate, unstable from
// sqrt(2)/rate on. Stable steps keep the noise within the square root of the mass ratio, 2, and of the
// bound's margin, 2.
TEST(ForceRate, BoundsTheStableStep) {
  const Mesh mesh = quad_grid(6, 6, 0.5, 0.5);
  const Fabric plain{.density = 0.2,
                     .gravity_density = 0,
                     .bending_stiffness = 0,
                     .mass_damping = 0,
                     .stiffness_damping = 0,
                     .shear_spring = {.stiffness = 0, .damping = 0},
                     .bend_spring = {.stiffness = 0, .damping = 0},
                     .shear_diagonals = 2};
  Fabric springs = plain, bending = plain, damped = plain;
  springs.shear_spring = {.stiffness = 20, .damping = 0};
  springs.bend_spring = {.stiffness = 5, .damping = 0};
  bending.bending_stiffness = 1e-3;
  damped.bending_stiffness = 1e-3;
  damped.stiffness_damping = 1e-6;
  damped.shear_spring = {.stiffness = 20, .damping = 1e-3};
  for (const Fabric& fabric : {springs, bending, damped}) {
    const ImpulseCloth cloth = impulse_cloth(springy(mesh, fabric), converging(1e-2), 0);
    const double rate = cloth.force_rate();
    EXPECT_LE(growth(cloth, to_matrix(mesh.positions), 1 / rate, 1000), 4);
    EXPECT_GE(growth(cloth, to_matrix(mesh.positions), 2 / rate, 1000), 1e3);
  }
}

// Dampers alone: the part's step at most turns the fastest motion round, at no more than its speed.
TEST(ForceRate, BoundsTheStepOfDampers) {
  const Mesh mesh = quad_grid(6, 5, 0.5, 0.4);
  const ImpulseCloth cloth = impulse_cloth(springy(mesh, {.density = 0.2,
                                                          .gravity_density = 0,
                                                          .bending_stiffness = 0,
                                                          .mass_damping = 0,
                                                          .stiffness_damping = 1e-5,
                                                          .shear_spring = {.stiffness = 0, .damping = 0.1},
                                                          .bend_spring = {.stiffness = 0, .damping = 0.2},
                                                          .shear_diagonals = 1}),
                                           converging(1e-2), 0);
  const MatrixX3d rest = to_matrix(mesh.positions);
  MatrixX3d velocities = noise(rest.rows(), 1e-3, 5);
  const auto energy = [&] { return velocities.cwiseProduct(cloth.masses().asDiagonal() * velocities).sum(); };
  const double step = 1 / cloth.force_rate();
  for (int n = 0; n < 100; ++n) {
    const double before = energy();
    velocities += step * (cloth.inverse_masses().asDiagonal() * cloth.forces(rest, velocities));
    EXPECT_LE(energy(), before * (1 + 1e-14));
  }
}

// One node between pins: its springs by hand. Interior node of a 3 x 3 grid of spacing l = 0.2: four shear
// springs, two of them with shear_diagonals = 1; m = l^2.
TEST(ForceRate, IsTheFormulaOfOneNode) {
  const std::vector<Index> rim{0, 1, 2, 3, 5, 6, 7, 8};
  const double rho = 0.3, k = 20, c = 0.01, mass = rho * 0.04;
  for (const int diagonals : {1, 2}) {
    const ImpulseCloth cloth = impulse_cloth(springy(quad_grid(3, 3, 0.4, 0.4),
                                                     {.density = rho,
                                                      .gravity_density = 0,
                                                      .bending_stiffness = 0,
                                                      .mass_damping = 0,
                                                      .stiffness_damping = 0,
                                                      .shear_spring = {.stiffness = k, .damping = c},
                                                      .bend_spring = {.stiffness = 7, .damping = 7},
                                                      .shear_diagonals = diagonals},
                                                     rim),
                                             converging(1e-2));
    const double stiffness = 4 * diagonals * k / mass, damping = 4 * diagonals * c / mass;
    const double expected = damping / 4 + std::sqrt(damping * damping / 16 + stiffness / 4);
    EXPECT_NEAR(cloth.force_rate(), expected, 1e-13 * expected);
  }
  EXPECT_EQ(impulse_cloth(garment_of(quad_grid(3, 3, 1, 1)), converging(1e-2)).force_rate(), 0);
}

}  // namespace
}  // namespace isocloth::reference
