// Derivatives of runs among obstacles and grippers against central differences of runs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/core/errors.hpp"
#include "tests/host/touching.hpp"

namespace isocloth {
namespace {

constexpr double of_runs = 1e-6;
constexpr Friction rough{0.5, 0.5};

Mesh sheet_mesh() { return quad_grid(6, 5, 0.3, 0.25); }

const Vec3d above{0, 0, 0.0025};

// Where friction holds what is at rest, it does by springs that are about to soften, or not: without it.
TEST(ContactGradients, OfASheetAtRestOnATable) {
  Touching t;
  t.settling = 6;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  t.add_obstacle(PlaneShape{}, {}, {}).motion = t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

Touching on_slope(Friction friction) {
  Touching t;
  t.settling = 20;
  const double angle = 0.6;
  t.add_sheet(sheet_mesh(), [&](Vec3d p) {
    return rotated({0, angle, 0}, p) + 0.0025 * Vec3d{std::sin(angle), 0, std::cos(angle)};
  });
  t.add_obstacle(PlaneShape{}, {}, friction, {0, angle, 0}).motion = t.keys({}, [](int) { return Vec3d{}; });
  return t;
}

TEST(ContactGradients, OfASheetThatSlidesDownASlope) {
  expect_gradient_of_differences(on_slope({0.3, 0.3}), of_runs);
}

// Friction falls while it slides the first tenth of a millimetre.
TEST(ContactGradients, OfASheetThatBeginsToSlide) {
  Touching t = on_slope({0.66, 0.64});
  t.settling = 6;
  t.steps = 5;
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatDrapesOverASphere) {
  Touching t;
  t.settling = 60;
  t.add_sheet(quad_grid(9, 9, 0.3, 0.3), [](Vec3d p) { return p + Vec3d{-0.14, -0.16, 0.103}; });
  t.add_obstacle(SphereShape{0.1}, {}, rough).motion = t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatIsSqueezed) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  t.add_obstacle(PlaneShape{}, {}, rough);
  const Vec3d center{0.15, 0.12, 0.0305};
  t.add_obstacle(BoxShape{{0.2, 0.2, 0.05}, 0.005}, center, rough).motion = t.keys(center, [](int n) {
    return Vec3d{0, 0, -1e-5 * n};
  });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatIsDraggedOverATable) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  t.add_obstacle(PlaneShape{}, {}, rough);
  t.sheet().pins.push_back(
      {"edge",
       {0, 6, 12, 18, 24},
       KeyframeMotion{.times = {0, 1}, .translations = {{}, {-0.1, 0, 0}}, .rotations = {}, .center = {}}});
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfATableThatTurns) {
  Touching t;
  t.settling = 15;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  const Vec3d center{0.1, 0.1, -0.05};
  t.add_obstacle(BoxShape{{0.8, 0.8, 0.1}, 0.01}, center, rough).motion = t.keys(
      center,
      [](int n) {
        return Vec3d{1e-5 * n * n, 0, 2e-6 * n * n};
      },
      [](int n) {
        return Vec3d{0, 0, 1e-4 * n * n};
      });
  expect_gradient_of_differences(t, of_runs);
}

Touching pushed() {
  Touching t;
  t.settling = 25;
  t.add_sheet(quad_grid(8, 7, 0.3, 0.25), [](Vec3d p) { return Vec3d{p.x, 0, p.y}; });
  t.sheet().pins.push_back({"edge", {48, 49, 50, 51, 52, 53, 54, 55}, FixedMotion{}});
  const Vec3d center{0.15, 0.0235, 0.1};
  t.add_obstacle(CapsuleShape{0.02, 0.5}, center, rough, {0, std::acos(-1.0) / 2, 0}).motion =
      t.keys(center, [](int n) {
        return Vec3d{0, -5e-4 * n, 0};
      });
  return t;
}

TEST(ContactGradients, OfACapsuleThatPushesAHangingSheet) {
  expect_gradient_of_differences(pushed(), of_runs);
}

TEST(ContactGradients, OfWrenches) { expect_gradient_of_differences(pushed(), of_runs, true); }

TEST(ContactGradients, OfAHeightField) {
  Touching t;
  t.settling = 40;
  t.scene.projection.force_tolerance = 1e-10;
  t.scene.contact.tolerance = 1e-12;
  HeightFieldShape field{.samples = {9, 9}, .spacing = 0.06, .heights = {}};
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 9; ++i) field.heights.push_back(0.02 * std::cos(0.7 * i) * std::sin(0.6 * j + 1));
  t.add_sheet(quad_grid(8, 7, 0.3, 0.25), [](Vec3d p) { return p + Vec3d{0.08, 0.09, 0.03}; });
  t.add_obstacle(field, {}, {}).motion = t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfBackwardEuler) {
  Touching t = on_slope({0.3, 0.3});
  t.scene.projection.integrator = Integrator::backward_euler;
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfInextensibleCloth) {
  Touching t = on_slope({0.3, 0.3});
  t.scene.recipe = "coltraro2022";
  t.sheet().fabric.thickness = 1e-3;
  t.scene.projection.tolerance = 1e-9;
  t.scene.projection.force_tolerance = 1e-9;
  constexpr double of_rigid_rows = 2e-4;  // of the rows' own tolerance
  expect_gradient_of_differences(t, of_rigid_rows);
}

/// Grippers hold corners of a sheet and drag it over a table, and turn.
Touching gripped(double stiffness, double closes) {
  Touching t;
  t.settling = 12;
  t.scene.projection.force_tolerance = 3e-12;
  t.scene.contact.tolerance = 1e-14;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  t.add_obstacle(PlaneShape{}, {}, {0.2, 0.2});
  for (const double x : {0.0, 0.3}) {
    Gripper gripper;
    gripper.name = "gripper" + std::to_string(t.sheet().grippers.size());
    gripper.region = SphereShape{0.07};
    gripper.position = {x, 0, 0.01};
    gripper.stiffness = stiffness;
    gripper.holds = {{closes, 100}};
    gripper.motion = t.keys(
        gripper.position,
        [](int n) {
          return Vec3d{0, -5e-4 * n, 0};
        },
        [](int n) {
          return Vec3d{0, 0, 1e-4 * n};
        });
    t.sheet().grippers.push_back(gripper);
  }
  return t;
}

TEST(ContactGradients, OfASheetThatGrippersDrag) {
  for (const double stiffness : {0.0, 3e4}) expect_gradient_of_differences(gripped(stiffness, 0.01), of_runs);
}

// Where a node is taken, it was.
TEST(ContactGradients, OfASheetThatGrippersTake) {
  for (const double stiffness : {0.0, 3e4}) expect_gradient_of_differences(gripped(stiffness, 0.14), of_runs);
}

TEST(ContactGradients, OfASheetThatGrippersLift) {
  Touching t = gripped(0, 0.01);
  t.settling = 50;
  for (Gripper& gripper : t.sheet().grippers)
    gripper.motion = t.keys(
        gripper.position,
        [](int n) {
          return Vec3d{0, 0, 2e-4 * n * n};
        },
        [](int n) {
          return Vec3d{0.005 * n, 0, 0};
        });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, TellHowContactsChanged) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above + Vec3d{0, 0, 0.002}; });
  t.add_obstacle(PlaneShape{}, {}, rough);
  Simulation simulation(t.scene, {.threads = 1});
  Tape tape(simulation);
  for (int n = 0; n < 6; ++n) tape.step();
  int began = 0;
  for (const ContactChanges& own : tape.contact_changes(0)) {
    began += own.began - own.ended;
    EXPECT_EQ(own.stuck + own.slid, 0);
  }
  EXPECT_EQ(began, 30);
  EXPECT_EQ(tape.contact_changes(0).front(), ContactChanges{});
  EXPECT_THROW(tape.contact_changes(1), ShapeError);
}

// A motion that a command gave, and a pair's friction in place of the obstacle's.
TEST(ContactGradients, AreThoseOfWhatCommandsSaid) {
  Touching t;
  t.settling = 10;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + above; });
  Obstacle& table = t.add_obstacle(PlaneShape{}, {}, rough);
  const KeyframeMotion motion = t.keys({}, [](int n) { return Vec3d{2e-5 * n * n, 0, 0}; });
  Touching told = t;
  told.scene.obstacles[0].friction = {0.1, 0.1};
  told.scene.contact.pairs = {{.garment = 0, .obstacle = 0, .friction = table.friction}};
  table.motion = motion;
  const auto gradient = [](const Touching& scene, const auto& between) {
    Simulation simulation(scene.scene, {.threads = 1});
    Tape tape(simulation);
    for (int n = 0; n < 12; ++n) {
      between(simulation, n);
      tape.step();
    }
    for (int n = 0; n < 3; ++n) between(simulation, 0);
    std::vector<StateGradient> loss(13);
    loss.back().positions = random_nodes(30, 3);
    return tape.gradient(0, loss);
  };
  const RunGradient expected = gradient(t, [](Simulation&, int) {});
  const RunGradient found = gradient(told, [&](Simulation& simulation, int n) {
    simulation.set_obstacle_motion(0,
                                   n == 0 ? ObstacleMotion{motion} : simulation.scene().obstacles[0].motion);
  });
  for (std::size_t n = 0; n < expected.obstacles.size(); ++n)
    EXPECT_NEAR(norm(expected.obstacles[n][0].translation - found.obstacles[n][0].translation), 0, 1e-10);
  EXPECT_NEAR(expected.friction[0][1], found.friction[0][1], 1e-10);
}

}  // namespace
}  // namespace isocloth
