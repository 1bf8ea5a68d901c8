// Frames: quaternions, turns between axes, motions along poses.
#include "engine/shapes/pose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/rotation.hpp"
#include "engine/shapes/obstacle.hpp"

namespace isocloth {
namespace {

using Axes = std::array<Vec3d, 3>;
constexpr Axes world{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};

double distance(const Axes& a, const Axes& b) {
  double most = 0;
  for (std::size_t k = 0; k < 3; ++k) most = std::max(most, norm(a[k] - b[k]));
  return most;
}

TEST(Pose, QuaternionsAndAxesAreTheSame) {
  for (const Vec3d& r : {Vec3d{}, Vec3d{0.3, -0.2, 0.9}, Vec3d{3.1, 0.2, 0}, Vec3d{0, std::numbers::pi, 0},
                         Vec3d{1e-9, 0, 0}, Vec3d{-2, 2, 1}}) {
    const Axes axes = turned_axes(r, world);
    const auto [w, x, y, z] = quaternion_of(axes);
    EXPECT_NEAR(w * w + x * x + y * y + z * z, 1, 1e-15);
    EXPECT_GE(w, 0);
    EXPECT_LT(distance(axes_of(w, x, y, z), axes), 1e-15);
    EXPECT_LT(distance(axes_of(-3 * w, -3 * x, -3 * y, -3 * z), axes), 1e-15);
    EXPECT_LT(orthonormality_error(axes), 1e-15);
  }
  EXPECT_EQ(orthonormality_error({Vec3d{std::nan(""), 0, 0}, world[1], world[2]}), HUGE_VAL);
  EXPECT_NEAR(orthonormality_error({world[0], world[2], world[1]}), 2, 1e-15);  // left-handed
}

TEST(Pose, TurnsBetweenAxesLeadFromOneToTheOther) {
  const Axes from = turned_axes({0.4, -1, 0.3}, world);
  for (const Vec3d& r : {Vec3d{0.3, -0.2, 0.9}, Vec3d{0, 3.1415, 0}, Vec3d{1e-12, 2e-12, 0}, Vec3d{}}) {
    const Axes to = turned_axes(r, from);
    EXPECT_LT(norm(turn_between(from, to) - r), 1e-14 + 1e-14 * norm(r));
    EXPECT_LT(distance(turned_axes(turn_between(from, to), from), to), 1e-14);
  }
  // Of more than a half turn the shorter way, the other way round.
  const Vec3d back = turn_between(world, turned_axes({0, 0, 4}, world));
  EXPECT_NEAR(back.z, 4 - 2 * std::numbers::pi, 1e-14);
}

Obstacle along(const PoseMotion& motion) {
  Obstacle thing{.name = "thing",
                 .shape = PlaneShape{},
                 .position = {7, 7, 7},
                 .rotation = {1, 1, 1},
                 .motion = motion,
                 .friction = {}};
  validate_obstacle(thing, "thing");
  return thing;
}

TEST(PoseMotion, TurnsEvenlyAndGoesOnWithItsVelocities) {
  const Axes last = turned_axes({0, 0, 1.2}, world);
  const Obstacle thing = along({.times = {1, 3},
                                .poses = {{{0, 0, 0}, world}, {{4, 0, 2}, last}},
                                .velocity = {1, 0, 0},
                                .angular_velocity = {0, 2, 0}});
  EXPECT_EQ(obstacle_pose(thing, 0).center, (Vec3d{0, 0, 0}));
  const Pose middle = obstacle_pose(thing, 1.5);
  EXPECT_LT(norm(middle.center - Vec3d{1, 0, 0.5}), 1e-15);
  EXPECT_LT(distance(middle.axes, turned_axes({0, 0, 0.3}, world)), 1e-15);
  EXPECT_EQ(obstacle_pose(thing, 3).center, (Vec3d{4, 0, 2}));
  const Pose after = obstacle_pose(thing, 3.5);
  EXPECT_LT(norm(after.center - Vec3d{4.5, 0, 2}), 1e-15);
  EXPECT_LT(distance(after.axes, turned_axes({0, 1, 0}, last)), 1e-15);
}

TEST(PoseMotion, RefusesWhatIsNoPose) {
  const auto refusal = [](const PoseMotion& motion) -> std::string {
    try {
      along(motion);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({.times = {0}, .poses = {{{}, world}}, .velocity = {}, .angular_velocity = {}}),
            "accepted");
  EXPECT_NE(refusal({.times = {0, 1}, .poses = {{{}, world}}, .velocity = {}, .angular_velocity = {}})
                .find("poses"),
            std::string::npos);
  EXPECT_NE(
      refusal({.times = {0}, .poses = {{{}, {}}}, .velocity = {}, .angular_velocity = {}}).find("axes off"),
      std::string::npos);
  EXPECT_NE(refusal({.times = {0}, .poses = {{{1e15, 0, 0}, world}}, .velocity = {}, .angular_velocity = {}}),
            "accepted");
}

TEST(Motion, IsTheSameLater) {
  for (const ObstacleMotion& motion :
       {ObstacleMotion(FixedMotion{}), ObstacleMotion(OscillationMotion{{0, 0, 1}, 0.5, 0.25, 3}),
        ObstacleMotion(
            KeyframeMotion{.times = {0, 2}, .translations = {{}, {1, 2, 3}}, .rotations = {}, .center = {}}),
        ObstacleMotion(PoseMotion{.times = {0, 2},
        .poses = {{{}, world}, {{1, 2, 3}, world}},
        .velocity = {0, 1, 0},
        .angular_velocity = {}})})
    for (const double t : {-1.0, 0.5, 1.0, 4.0}) {
      const Pose now = frame_pose({1, 1, 1}, {}, motion, t),
                 later = frame_pose({1, 1, 1}, {}, delayed(motion, 0.5), t + 0.5);
      EXPECT_LT(norm(now.center - later.center), 1e-15);
    }
}

}  // namespace
}  // namespace isocloth
