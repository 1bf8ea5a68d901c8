#include "engine/shapes/obstacle.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Obstacle obstacle(ObstacleShape shape, ObstacleMotion motion = FixedMotion{}) {
  return {.name = "thing",
          .shape = std::move(shape),
          .position = {1, 2, 3},
          .rotation = {0, 0, std::numbers::pi / 2},
          .motion = std::move(motion),
          .friction = {}};
}

void expect_near(const Vec3d& found, const Vec3d& expected, double tolerance) {
  EXPECT_LE(norm(found - expected), tolerance) << found.x << " " << found.y << " " << found.z << ", expected "
                                               << expected.x << " " << expected.y << " " << expected.z;
}

/// Unit vectors at right angles, right-handed: each rotation costs a few roundings of its nine products.
void expect_orthonormal(const Pose& pose) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(norm(pose.axes[i]), 1, 16 * eps);
    expect_near(cross(pose.axes[i], pose.axes[(i + 1) % 3]), pose.axes[(i + 2) % 3], 32 * eps);
  }
}

TEST(ObstaclePose, IsThatOfTheStartWhereNothingMoves) {
  const Pose pose = obstacle_pose(obstacle(PlaneShape{}), 17.5);
  EXPECT_EQ(pose.center, (Vec3d{1, 2, 3}));
  expect_near(pose.axes[0], {0, 1, 0}, 2 * eps);
  expect_near(pose.axes[1], {-1, 0, 0}, 2 * eps);
  EXPECT_EQ(pose.axes[2], (Vec3d{0, 0, 1}));
  expect_orthonormal(pose);
}

TEST(ObstaclePose, SwingsWithoutTurning) {
  const OscillationMotion swing{.amplitude = {0.5, 0, 0}, .frequency = 2, .start = 1, .duration = 10};
  const Obstacle thing = obstacle(PlaneShape{}, swing);
  EXPECT_EQ(obstacle_pose(thing, 0.5).center, thing.position);
  expect_near(obstacle_pose(thing, 1.25).center, {0, 2, 3}, 8 * eps);
  EXPECT_EQ(obstacle_pose(thing, 1.25).axes, obstacle_pose(thing, 0).axes);
}

TEST(ObstaclePose, TurnsAboutTheCentreOfItsKeys) {
  // A quarter turn about x through (1, 0, 0), and up by 4, in one second.
  const KeyframeMotion keys{.times = {0, 1},
                            .translations = {{0, 0, 0}, {0, 0, 4}},
                            .rotations = {{0, 0, 0}, {std::numbers::pi / 2, 0, 0}},
                            .center = {1, 0, 0}};
  const Obstacle thing = obstacle(PlaneShape{}, keys);
  EXPECT_EQ(obstacle_pose(thing, 0).center, thing.position);
  const Pose end = obstacle_pose(thing, 1);
  expect_near(end.center, {1, -3, 2 + 4}, 16 * eps);
  // Its x axis began along y, its z axis along z.
  expect_near(end.axes[0], {0, 0, 1}, 4 * eps);
  expect_near(end.axes[2], {0, -1, 0}, 4 * eps);
  for (const double t : {0.1, 0.37, 0.999, 5.0}) expect_orthonormal(obstacle_pose(thing, t));
}

TEST(ObstaclePose, MovesEveryPointAsThePinsOfThatMotion) {
  const KeyframeMotion keys{.times = {-1, 0.25, 2},
                            .translations = {{0, 0.2, 0}, {0, 0, 0}, {3, -1, 4}},
                            .rotations = {{0, 0, 0}, {0.3, -2, 0.7}, {2.5, 0.1, -1}},
                            .center = {0.2, -0.4, 1.5}};
  const Obstacle thing = obstacle(PlaneShape{}, keys);
  const Pose start = {thing.position, obstacle_pose(obstacle(PlaneShape{}), 0).axes};
  const Vec3d local{0.3, -0.8, 0.6};
  const auto place = [&](const Pose& pose) {
    return pose.center + local.x * pose.axes[0] + local.y * pose.axes[1] + local.z * pose.axes[2];
  };
  for (const double t : {-2., -0.4, 0.25, 1.1, 3.})
    expect_near(place(obstacle_pose(thing, t)), evaluate_motion(Motion(keys), place(start), 0, t), 64 * eps);
}

std::string refusal(const Obstacle& thing) {
  try {
    validate_obstacle(thing, "obstacles[3]");
  } catch (const SceneError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValidateObstacle, NamesShapes) {
  const auto of = [](ObstacleShape shape) { return refusal(obstacle(std::move(shape))); };
  EXPECT_EQ(of(PlaneShape{}), "accepted");
  EXPECT_EQ(of(SphereShape{.radius = 1}), "accepted");
  EXPECT_EQ(of(SphereShape{.radius = 0}), "obstacles[3].shape.radius: found 0, expected a number > 0");
  EXPECT_EQ(of(SphereShape{.radius = nan}), "obstacles[3].shape.radius: found nan, expected a number > 0");
  EXPECT_EQ(of(CapsuleShape{.radius = -1, .length = 1}),
            "obstacles[3].shape.radius: found -1, expected a number > 0");
  EXPECT_EQ(of(CapsuleShape{.radius = 1, .length = 0}),
            "obstacles[3].shape.length: found 0, expected a number > 0");
  EXPECT_EQ(of(CylinderShape{.radius = 2, .height = 1, .rounding = 0.5}), "accepted");
  EXPECT_EQ(of(CylinderShape{.radius = 2, .height = 1, .rounding = 0.6}),
            "obstacles[3].shape.rounding: found 0.6, expected at most 0.5, the radius or half of the height");
  EXPECT_EQ(of(CylinderShape{.radius = 2, .height = 1, .rounding = -0.1}),
            "obstacles[3].shape.rounding: found -0.1, expected a number >= 0");
  EXPECT_EQ(of(CylinderShape{.radius = 2, .height = 0, .rounding = 0}),
            "obstacles[3].shape.height: found 0, expected a number > 0");
  EXPECT_EQ(of(BoxShape{.size = {2, 4, 1}, .rounding = 0.5}), "accepted");
  EXPECT_EQ(of(BoxShape{.size = {2, 0.4, 1}, .rounding = 0.25}),
            "obstacles[3].shape.rounding: found 0.25, expected at most 0.2, half of the shortest side");
  EXPECT_EQ(of(BoxShape{.size = {2, -4, 1}, .rounding = 0}),
            "obstacles[3].shape.size[1]: found -4, expected a number > 0");
}

TEST(ValidateObstacle, NamesHeights) {
  const HeightFieldShape good{.samples = {3, 2}, .spacing = 0.1, .heights = {0, 1, 2, 3, 4, 5}};
  const auto spoiled = [&](const std::function<void(HeightFieldShape&)>& spoil) {
    HeightFieldShape shape = good;
    spoil(shape);
    return refusal(obstacle(shape));
  };
  EXPECT_EQ(spoiled([](HeightFieldShape&) {}), "accepted");
  EXPECT_EQ(spoiled([](HeightFieldShape& s) { s.samples[1] = 1; }),
            "obstacles[3].shape.samples[1]: found 1, expected at least 2");
  EXPECT_EQ(spoiled([](HeightFieldShape& s) { s.spacing = 0; }),
            "obstacles[3].shape.spacing: found 0, expected a number > 0");
  EXPECT_EQ(spoiled([](HeightFieldShape& s) { s.heights.pop_back(); }),
            "obstacles[3].shape.heights: found 5 heights, expected 3 x 2 = 6, one per sample");
  EXPECT_EQ(spoiled([](HeightFieldShape& s) { s.heights[4] = nan; }),
            "obstacles[3].shape.heights[4]: found nan, expected a finite number");
}

TEST(ValidateObstacle, NamesFacesOfMeshes) {
  const MeshShape good{.surface = quad_grid(3, 3, 1, 1), .cell = 0, .thicken = 0};
  const auto spoiled = [&](const std::function<void(MeshShape&)>& spoil) {
    MeshShape shape = good;
    spoil(shape);
    return refusal(obstacle(shape));
  };
  EXPECT_EQ(spoiled([](MeshShape&) {}), "accepted");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.cell = -1; }),
            "obstacles[3].shape.cell: found -1, expected a number >= 0");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.thicken = nan; }),
            "obstacles[3].shape.thicken: found nan, expected a number >= 0");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.surface = {}; }),
            "obstacles[3].shape.surface: found no faces, expected a closed surface");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.surface.face_nodes[5] = 9; }),
            "obstacles[3].shape.surface face 1: found node 9, expected a node from 0 to 8");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.surface.face_begin[1] = 2; }),
            "obstacles[3].shape.surface face 0: found 2 nodes, expected 3 or more");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.surface.face_begin[2] = -7; }),
            "obstacles[3].shape.surface face 1: found -11 nodes, expected 3 or more");
  EXPECT_EQ(
      spoiled([](MeshShape& s) { s.surface.face_nodes.pop_back(); }),
      "obstacles[3].shape.surface.face_begin: found 0 to 16, expected 0 to 15, the number of face corners");
  EXPECT_EQ(spoiled([](MeshShape& s) { s.surface.positions[2].y = nan; }),
            "obstacles[3].shape.surface.positions[2]: found nan, expected three finite numbers");
}

TEST(ValidateObstacle, NamesPlaceMotionAndFriction) {
  const auto spoiled = [](const std::function<void(Obstacle&)>& spoil) {
    Obstacle thing = obstacle(PlaneShape{});
    spoil(thing);
    return refusal(thing);
  };
  EXPECT_EQ(spoiled([](Obstacle& o) { o.name.clear(); }),
            "obstacles[3].name: found an empty text, expected a name");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.position.z = nan; }),
            "obstacles[3].position: found nan, expected three finite numbers");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.rotation.x = nan; }),
            "obstacles[3].rotation: found nan, expected three finite numbers");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.motion = OscillationMotion{.amplitude = {}, .frequency = -1}; }),
            "obstacles[3].motion.frequency: found -1, expected a number > 0");
  EXPECT_EQ(spoiled([](Obstacle& o) {
              o.motion = KeyframeMotion{.times = {1, 1}, .translations = {}, .rotations = {}, .center = {}};
            }),
            "obstacles[3].motion.times[1]: found 1, expected more than the time before it, 1");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.friction = {.static_ = 0.5, .dynamic = 0.5}; }), "accepted");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.friction = {.static_ = -0.5, .dynamic = 0}; }),
            "obstacles[3].friction.static: found -0.5, expected a number >= 0");
  EXPECT_EQ(spoiled([](Obstacle& o) { o.friction = {.static_ = 0.3, .dynamic = 0.4}; }),
            "obstacles[3].friction.dynamic: found 0.4, expected at most the static one, 0.3");
}

std::string scene_refusal(const std::function<void(Scene&)>& spoil) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments.resize(2);
  for (Garment& garment : scene.garments) garment.mesh = quad_grid(3, 3, 1, 1);
  scene.obstacles = {obstacle(PlaneShape{}), obstacle(SphereShape{.radius = 1})};
  scene.obstacles[1].name = "ball";
  scene.contact.pairs = {{.garment = 1, .obstacle = 0, .friction = {.static_ = 0.5, .dynamic = 0.4}}};
  spoil(scene);
  try {
    validate_scene(scene);
  } catch (const SceneError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValidateScene, NamesObstaclesAndContact) {
  EXPECT_EQ(scene_refusal([](Scene&) {}), "accepted");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.recipe = "inextensible_edges"; }), "accepted");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.obstacles[1].shape = SphereShape{.radius = -1}; }),
            "obstacles[1].shape.radius: found -1, expected a number > 0");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.obstacles[1].name = "thing"; }),
            "obstacles[1].name: found \"thing\", already the name of obstacles[0], expected another");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.contact.tolerance = 0; }),
            "contact.tolerance: found 0, expected a number > 0");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.contact.margin = -1; }),
            "contact.margin: found -1, expected a number >= 0");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.garments[1].fabric.thickness = nan; }),
            "garments[1].fabric.thickness: found nan, expected a number >= 0");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.contact.pairs[0].garment = 2; }),
            "contact.pairs[0].garment: found 2, expected less than 2, the number of garments");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.contact.pairs[0].obstacle = 7; }),
            "contact.pairs[0].obstacle: found 7, expected less than 2, the number of obstacles");
  EXPECT_EQ(scene_refusal([](Scene& s) { s.contact.pairs[0].friction.dynamic = 0.6; }),
            "contact.pairs[0].dynamic: found 0.6, expected at most the static one, 0.5");
  EXPECT_EQ(
      scene_refusal([](Scene& s) { s.contact.pairs.push_back(s.contact.pairs[0]); }),
      "contact.pairs[1]: found garment 1 with obstacle 0, already in pairs[0], expected each two of them "
      "once");
}

TEST(ValidateScene, AcceptsObstaclesWithEveryRecipe) {
  for (const Recipe& recipe : recipes())
    EXPECT_EQ(scene_refusal([&](Scene& s) {
                s.recipe = recipe.name;
                if (!recipe.has_edge_springs()) return;
                for (Garment& garment : s.garments) garment.fabric.structural_spring.stiffness = 1;
              }),
              "accepted")
        << recipe.name;
}

}  // namespace
}  // namespace isocloth
