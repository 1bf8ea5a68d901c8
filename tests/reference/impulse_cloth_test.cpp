#include "host/reference/impulse_cloth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/reference/impulse_cases.hpp"
#include "tests/support/known_recipes.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth::reference {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
const std::vector<const char*> every_recipe =
    known_recipes({"bender_iterative", "bender_sle", "isometric_impulse"});
const MatrixX3d nothing_pinned = MatrixX3d(0, 3);

Fabric full_fabric() {
  return {.density = 0.8,
          .gravity_density = 0.5,
          .bending_stiffness = 1e-4,
          .mass_damping = 0.7,
          .stiffness_damping = 1e-6,
          .shear_spring = {.stiffness = 5, .damping = 1e-3},
          .bend_spring = {.stiffness = 1, .damping = 1e-3},
          .shear_diagonals = 2};
}

/// sum rho m v [kg m/s].
Eigen::RowVector3d momentum(const ImpulseCloth& cloth, double rho) {
  return rho * cloth.masses().transpose() * cloth.velocities();
}

/// sum m x cross v [m^4/s].
Eigen::RowVector3d angular_momentum(const VectorXd& masses, const MatrixX3d& positions,
                                    const MatrixX3d& velocities) {
  Eigen::RowVector3d sum = Eigen::RowVector3d::Zero();
  for (Eigen::Index i = 0; i < masses.size(); ++i)
    sum += masses[i] * Eigen::RowVector3d(positions.row(i)).cross(Eigen::RowVector3d(velocities.row(i)));
  return sum;
}

// v_{n+1} = (v_n - h g delta/rho) / (1 + h alpha/rho), x_{n+1} = x_n + h v_{n+1}. Rounding of x is corrected
// as if it were strain and enters v divided by h: after n steps some n^2 eps of x.
TEST(ImpulseCloth, FreeFallIsExact) {
  const double g = 9.81, step = 0.01;
  for (const char* recipe : every_recipe) {
    for (const ImpulseSettings& settings : {sweeping(4, 2), converging(1e-6)}) {
      Garment garment = garment_of(quad_grid(4, 3, 0.6, 0.5));
      garment.fabric = full_fabric();
      ImpulseCloth cloth = impulse_cloth(garment, settings, g, recipe);
      const MatrixX3d start = cloth.positions();
      MatrixX3d velocities = MatrixX3d::Zero(start.rows(), 3);
      Eigen::RowVector3d velocity(0.3, -0.2, 1.5), moved(0, 0, 0);
      velocities.rowwise() += velocity;
      cloth.set_velocities(velocities);
      const int steps = 10, parts = steps * settings.substeps;
      const double h = step / settings.substeps;
      for (int n = 0; n < steps; ++n) EXPECT_TRUE(cloth.step(step, nothing_pinned).converged) << recipe;
      for (int n = 0; n < parts; ++n) {
        velocity[2] -= h * g * garment.fabric.gravity_density / garment.fabric.density;
        velocity /= 1 + h * garment.fabric.mass_damping / garment.fabric.density;
        moved += h * velocity;
      }
      const double bound = 10.0 * parts * parts * eps;
      EXPECT_LE((cloth.positions() - start).rowwise().operator-(moved).cwiseAbs().maxCoeff(), bound)
          << recipe;
      EXPECT_LE(cloth.velocities().rowwise().operator-(velocity).cwiseAbs().maxCoeff(),
                10.0 * parts * eps / h)
          << recipe;
    }
  }
}

// A square whose first edge is pulled apart by 10 % while its neighbours turn by 1/20, which stretches them
// by 1/800 only: one impulse for that edge, one sweep that finds nothing more.
TEST(ImpulseCloth, OneEdgeIsPulledBackInOneStep) {
  const double h = 0.01;
  for (const bool pinned : {false, true}) {
    const std::vector<Index> pins = pinned ? std::vector<Index>{0} : std::vector<Index>{};
    ImpulseCloth cloth = impulse_cloth(garment_of(quad_grid(2, 2, 1, 1), pins), converging(1e-2), 0);
    MatrixX3d velocities = MatrixX3d::Zero(4, 3);
    velocities(0, 0) = pinned ? 0 : -0.05 / h;
    velocities(1, 0) = pinned ? 0.1 / h : 0.05 / h;
    cloth.set_velocities(velocities);
    const ImpulseStepResult result = cloth.step(h, pinned_positions(cloth));
    EXPECT_EQ(result.sweeps, 2);
    ASSERT_EQ(result.strain_trace.size(), 2u);
    EXPECT_NEAR(result.strain_trace[0], 0.1, 10 * eps);
    EXPECT_TRUE(result.converged);
    EXPECT_LE((cloth.positions() - to_matrix(quad_grid(2, 2, 1, 1).positions)).cwiseAbs().maxCoeff(),
              10 * eps);
    EXPECT_LE(cloth.velocities().cwiseAbs().maxCoeff(), 10 * eps / h);
  }
}

// Impulses come in pairs, forces of springs and bending too. Each rounds its two ends apart by eps |u|: there
// are sweeps x edges of them per step.
TEST(ImpulseCloth, KeepsMomentum) {
  for (const char* recipe : every_recipe) {
    Garment garment = garment_of(quad_grid(5, 4, 0.5, 0.4));
    garment.fabric = full_fabric();
    garment.fabric.mass_damping = 0;
    ImpulseSettings settings = sweeping(3, 2);
    settings.velocity_pass = VelocityPass::on;
    ImpulseCloth cloth = impulse_cloth(garment, settings, 0, recipe);
    cloth.set_positions(cloth.positions() + noise(20, 0.01, 8));
    cloth.set_velocities(noise(20, 1, 9));
    const Eigen::RowVector3d before = momentum(cloth, garment.fabric.density);
    double largest = 0;
    int updates = 0;
    for (int n = 0; n < 5; ++n) {
      const ImpulseStepResult result = cloth.step(5e-3, nothing_pinned);
      largest = std::max(largest, cloth.velocities().cwiseAbs().maxCoeff());
      updates += (result.sweeps + result.velocity_sweeps + result.solves + 10) * cloth.rows().count();
    }
    const double mass = garment.fabric.density * cloth.masses().sum();
    EXPECT_LE((momentum(cloth, garment.fabric.density) - before).norm(), 10 * eps * updates * mass * largest)
        << recipe;
  }
}

// The impulses of velocities act along the edges of the moment and keep x cross v; so do forces.
TEST(ImpulseCloth, VelocityImpulsesAndInnerForcesKeepAngularMomentum) {
  Garment garment = garment_of(quad_grid(5, 4, 0.5, 0.4));
  garment.fabric = full_fabric();
  garment.fabric.stiffness_damping = 0;  // K v is no central force
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"})) {
    const ImpulseCloth cloth = impulse_cloth(garment, converging(1e-2), 0, recipe);
    const MatrixX3d at = cloth.positions() + noise(20, 0.05, 8);
    const MatrixX3d start = noise(20, 1, 9);
    MatrixX3d velocities = start;
    for (Index i = 0; i < cloth.rows().count(); ++i)
      EXPECT_TRUE(cloth.rows().correct_velocity(i, at, 1, 0, velocities).corrected);
    EXPECT_GE((velocities - start).cwiseAbs().maxCoeff(), 0.1);
    const double scale = cloth.masses().sum() * at.cwiseAbs().maxCoeff();
    EXPECT_LE((angular_momentum(cloth.masses(), at, velocities) - angular_momentum(cloth.masses(), at, start))
                  .norm(),
              10 * eps * cloth.rows().count() * scale)
        << recipe;

    const MatrixX3d forces = cloth.forces(at, start);
    EXPECT_GE(forces.cwiseAbs().maxCoeff(), 0.01);
    EXPECT_LE(angular_momentum(VectorXd::Ones(20), at, forces).norm(),
              100 * eps * 20 * forces.cwiseAbs().maxCoeff())
        << recipe;
  }
}

// Those of positions act along the edge at the end of the preview, on bodies that are still at its beginning:
// per step x cross v changes by the turn of the edge, h, times the impulse, h, and over a time by h.
TEST(ImpulseCloth, PositionImpulsesLoseAngularMomentumOfFirstOrder) {
  const Garment garment = garment_of(quad_grid(4, 3, 0.5, 0.4));
  const Eigen::RowVector3d spin(1, 2, 1.5);
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"})) {
    double losses[2] = {};
    for (int finer = 0; finer < 2; ++finer) {
      const double h = finer ? 2e-3 : 4e-3;
      ImpulseCloth cloth = impulse_cloth(garment, converging(1e-9), 0, recipe);
      MatrixX3d at = cloth.positions(), velocities(at.rows(), 3);
      at.rowwise() -= at.colwise().mean().eval();
      for (Eigen::Index i = 0; i < at.rows(); ++i)
        velocities.row(i) = spin.cross(Eigen::RowVector3d(at.row(i)));
      cloth.set_positions(at);
      cloth.set_velocities(velocities);
      for (int n = 0; n < std::lround(0.1 / h); ++n) EXPECT_TRUE(cloth.step(h, nothing_pinned).converged);
      const Eigen::RowVector3d before = angular_momentum(cloth.masses(), at, velocities);
      losses[finer] =
          (angular_momentum(cloth.masses(), cloth.positions(), cloth.velocities()) - before).norm() /
          before.norm();
    }
    EXPECT_NEAR(losses[0] / losses[1], 2, 0.1) << recipe;
    EXPECT_LE(losses[0], 0.01) << recipe;
  }
}

// The paper prints the direction c_b(t) - c_a(t); where an edge turns within the step such an impulse cannot
// give it its length back.
TEST(ImpulseCloth, ThePrintedDirectionDivergesAtThirtySteps) {
  const double h = 1.0 / 30, tolerance = 1e-2;
  const int steps = 30, max_sweeps = 1000;
  const SwingingSheet start = swinging_sheet("bender_iterative");
  ImpulseSettings settings = converging(tolerance);
  settings.relaxation = 1;
  settings.max_sweeps = max_sweeps;
  ImpulseCloth cloth = at_state(start, settings, "bender_iterative");
  const MatrixX3d pins = pinned_positions(cloth);
  for (int n = 0; n < steps; ++n) {
    EXPECT_TRUE(cloth.step(h, pins).converged) << "step " << n;
    // Nothing falls deeper than the sheet is long, and there is no other energy than the start's.
    EXPECT_LE(cloth.velocities().rowwise().norm().maxCoeff(), 10);
  }

  MatrixX3d at = start.positions, velocities = start.velocities;
  double fastest = 0;
  for (int n = 0; n < steps && fastest < 1e6; ++n) {
    MatrixX3d u = h *
                  (velocities + h * (cloth.inverse_masses().asDiagonal() * cloth.forces(at, velocities))) /
                  (1 + h * start.garment.fabric.mass_damping / start.garment.fabric.density);
    bool corrected = true;
    for (int sweep = 0; corrected && sweep < max_sweeps; ++sweep) {
      corrected = false;
      for (const DistanceConstraint& pair : cloth.constraints()) {
        const Eigen::RowVector3d before = at.row(pair.b) - at.row(pair.a);
        const double error = (before + u.row(pair.b) - u.row(pair.a)).norm() - pair.length;
        if (std::abs(error) <= tolerance * pair.length) continue;
        corrected = true;
        u.row(pair.a) += pair.share_a * error * before.normalized();
        u.row(pair.b) -= pair.share_b * error * before.normalized();
      }
    }
    at += u;
    velocities = u / h;
    fastest = velocities.rowwise().norm().maxCoeff();
  }
  EXPECT_FALSE(fastest < 1e6) << fastest;  // or not a number
}

// `converge` stops with the first sweep that corrects nothing; `substeps` does what it is told.
TEST(ImpulseCloth, SweepsEndAsTheModeSays) {
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"})) {
    const SwingingSheet start = swinging_sheet(recipe);
    ImpulseSettings settings = converging(1e-4);
    settings.velocity_pass = VelocityPass::on;
    ImpulseCloth cloth = at_state(start, settings, recipe);
    const ImpulseStepResult result = cloth.step(5e-3, pinned_positions(cloth));
    EXPECT_TRUE(result.converged) << recipe;
    EXPECT_LE(result.residual, 1e-4);
    EXPECT_EQ(result.residual, cloth.rows().residual(cloth.positions()));
    EXPECT_EQ(static_cast<int>(result.strain_trace.size()), result.sweeps);
    EXPECT_GE(result.sweeps, 3);
    EXPECT_LE(result.strain_trace.back(), 1e-4);
    for (int s = 0; s + 1 < result.sweeps; ++s) EXPECT_GT(result.strain_trace[s], 1e-4);
    // No constraint's rate is left that would break the tolerance within the next step.
    MatrixX3d velocities = cloth.velocities();
    for (Index i = 0; i < cloth.rows().count(); ++i)
      EXPECT_FALSE(cloth.rows().correct_velocity(i, cloth.positions(), 1, 1e-4 / 5e-3, velocities).corrected);

    ImpulseSettings fixed = sweeping(7, 3);
    fixed.velocity_pass = VelocityPass::on;
    ImpulseCloth substepped = at_state(start, fixed, recipe);
    const ImpulseStepResult counted = substepped.step(5e-3, pinned_positions(substepped));
    EXPECT_EQ(counted.sweeps, 21);
    EXPECT_EQ(counted.velocity_sweeps, 21);

    ImpulseSettings capped = converging(1e-12);
    capped.max_sweeps = 4;
    ImpulseCloth stalled = at_state(start, capped, recipe);
    const ImpulseStepResult unmet = stalled.step(5e-3, pinned_positions(stalled));
    EXPECT_EQ(unmet.sweeps, 4);
    EXPECT_FALSE(unmet.converged);
    EXPECT_GT(unmet.residual, 1e-12);
  }
}

// Another order, another path to the same lengths: impulses, of first order in h, along directions that turn
// by the first order on the way.
TEST(ImpulseCloth, SweepsFollowTheOrderGiven) {
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"})) {
    if (is_sanitized && recipe == std::string("isometric_impulse")) continue;  // a long run
    const SwingingSheet start = swinging_sheet(recipe);
    double apart[2] = {};
    for (int finer = 0; finer < 2; ++finer) {
      std::vector<MatrixX3d> ends;
      for (const bool backwards : {false, true, false}) {
        ImpulseCloth cloth = at_state(start, converging(1e-9), recipe);
        if (backwards) {
          std::vector<Index> order(static_cast<std::size_t>(cloth.rows().count()));
          std::iota(order.rbegin(), order.rend(), 0);
          cloth.set_order(order);
        }
        EXPECT_TRUE(cloth.step(finer ? 1e-3 : 2e-3, pinned_positions(cloth)).converged);
        ends.push_back(cloth.positions());
      }
      EXPECT_EQ(ends[0], ends[2]);
      apart[finer] = (ends[0] - ends[1]).cwiseAbs().maxCoeff();
      EXPECT_GT(apart[finer], 0);
    }
    EXPECT_GE(apart[0] / apart[1], 3.5) << recipe;
  }
}

TEST(ImpulseCloth, PinnedNodesMoveEvenlyThroughTheParts) {
  Garment garment = garment_of(quad_grid(4, 4, 0.6, 0.6), {1, 9});
  ImpulseCloth cloth = impulse_cloth(garment, sweeping(5, 1));
  MatrixX3d target = pinned_positions(cloth);
  const Eigen::RowVector3d way(0.01, -0.02, 0.03);
  target.row(1) += way;
  cloth.step(0.02, target);
  EXPECT_LE((pinned_positions(cloth) - target).cwiseAbs().maxCoeff(), 4 * eps);
  // Each part's displacement is a difference of positions, rounded, over h = 0.02 / 5.
  EXPECT_LE((cloth.velocities().row(9) - way / 0.02).cwiseAbs().maxCoeff(), 4 * eps / 0.004);
  EXPECT_LE(cloth.velocities().row(1).cwiseAbs().maxCoeff(), 4 * eps / 0.004);
}

// 1, 6/5, 4/3, ... up to a bound; a watched error four times the least sets it back and halves what is left.
TEST(ImpulseRelaxation, RisesAndIsSetBack) {
  ImpulseRelaxation given(1.3);
  for (int sweep = 0; sweep < 40; ++sweep) {
    EXPECT_EQ(given.factor(), 1.3);
    given.end_sweep(sweep == 15 ? 1 : 1e9);
  }

  ImpulseRelaxation chosen(0);
  const auto rise = [&chosen](int sweeps, double last, double bound) {
    for (int k = 1; k <= sweeps; ++k) {
      EXPECT_NEAR(chosen.factor(), std::min(bound, 2 - 4.0 / (k + 3)), 4 * eps);
      chosen.end_sweep(k == sweeps ? last : 1e9);  // between the watched ones nobody looks
    }
  };
  rise(16, 1, 1.99);
  for (int k = 17; k <= 496; ++k) chosen.end_sweep(k % 16 == 0 ? 4 : 1e9);
  EXPECT_EQ(chosen.factor(), 1.99);
  for (int k = 497; k <= 512; ++k) chosen.end_sweep(4.01);
  for (const double bound : {1.98, 1.96, 1.92, 1.84, 1.68, 1.36, 1.0, 1.0}) {
    rise(16, 1, bound);
    for (int k = 17; k <= 32; ++k) chosen.end_sweep(4.01);
  }
}

TEST(ImpulseCloth, SaysWhatDoesNotFit) {
  const Garment garment = garment_of(quad_grid(3, 3, 1, 1), {0});
  ImpulseCloth cloth = impulse_cloth(garment, converging(1e-2));
  EXPECT_THROW(cloth.step(0.01, MatrixX3d::Zero(2, 3)), ShapeError);
  EXPECT_THROW(cloth.set_positions(MatrixX3d::Zero(8, 3)), ShapeError);
  EXPECT_THROW(cloth.set_velocities(MatrixX3d::Zero(10, 3)), ShapeError);
  EXPECT_THROW(cloth.set_order({0, 1, 2}), ShapeError);
  for (const Index bad : {-1, 0, 12}) {
    std::vector<Index> order(12);
    std::iota(order.begin(), order.end(), 0);
    order[5] = bad;
    EXPECT_THROW(cloth.set_order(order), ShapeError);
  }
  EXPECT_THROW(impulse_cloth(garment_of(garment.mesh, {9}), converging(1e-2)), ShapeError);
  EXPECT_THROW(impulse_cloth(garment, converging(1e-2), 9.8, "coltraro2022"), SceneError);
  EXPECT_THROW(impulse_cloth(garment, ImpulseSettings{}), SceneError);
}

TEST(ImpulseCloth, AStepThatIsNotFiniteLeavesTheState) {
  for (const char* recipe : every_recipe) {
    ImpulseCloth cloth = impulse_cloth(garment_of(quad_grid(3, 3, 1, 1)), converging(1e-2), 9.8, recipe);
    MatrixX3d velocities = noise(9, 1, 3);
    velocities(4, 1) = 1e308;
    cloth.set_velocities(velocities);
    const MatrixX3d before = cloth.positions();
    EXPECT_THROW(cloth.step(100, nothing_pinned), NumericalError) << recipe;
    EXPECT_EQ(cloth.positions(), before);
    EXPECT_EQ(cloth.velocities(), velocities);
  }
}

}  // namespace
}  // namespace isocloth::reference
