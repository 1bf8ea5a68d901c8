#include "engine/shapes/motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace isocloth {
namespace {

const Vec3d place{0.1, -0.7, 0.3};

void expect_near(Vec3d found, Vec3d expected) { EXPECT_NEAR(norm(found - expected), 0, 1e-15); }

TEST(FixedMotion, Stays) { EXPECT_EQ(evaluate_motion(FixedMotion{}, place, 0, 17.3), place); }

TEST(OscillationMotion, FollowsThePaper) {
  // Coltraro 2022, (23): 0.075 cos(2 pi 0.6 t), from rest.
  const OscillationMotion motion{{0.075, 0, 0}, 0.6, 2, 10};
  EXPECT_EQ(evaluate_motion(motion, place, 0, 0), place);
  EXPECT_EQ(evaluate_motion(motion, place, 0, 2), place);
  const double t = 3.7;
  expect_near(evaluate_motion(motion, place, 0, t),
              place + Vec3d{0.075 * (std::cos(2 * std::numbers::pi * 0.6 * (t - 2)) - 1), 0, 0});
  expect_near(evaluate_motion(motion, place, 0, 2 + 0.5 / 0.6), place + Vec3d{-0.15, 0, 0});
}

TEST(OscillationMotion, KeepsItsLastPlace) {
  const OscillationMotion motion{{0, 0.2, 0}, 1, 0, 0.25};
  expect_near(evaluate_motion(motion, place, 0, 0.25), place + Vec3d{0, -0.2, 0});
  EXPECT_EQ(evaluate_motion(motion, place, 0, 0.25), evaluate_motion(motion, place, 0, 9));
}

TEST(KeyframeMotion, TranslatesLinearlyAndConstantOutside) {
  KeyframeMotion motion;
  motion.times = {1, 2, 4};
  motion.translations = {{0, 0, 0}, {1, 0, 0}, {1, 4, 0}};
  EXPECT_EQ(evaluate_motion(motion, place, 0, 0), place);
  expect_near(evaluate_motion(motion, place, 0, 1.25), place + Vec3d{0.25, 0, 0});
  expect_near(evaluate_motion(motion, place, 0, 2), place + Vec3d{1, 0, 0});
  expect_near(evaluate_motion(motion, place, 0, 3.5), place + Vec3d{1, 3, 0});
  expect_near(evaluate_motion(motion, place, 0, 4), place + Vec3d{1, 4, 0});
  expect_near(evaluate_motion(motion, place, 0, 40), place + Vec3d{1, 4, 0});
}

TEST(KeyframeMotion, RotatesAboutItsCentreThenTranslates) {
  KeyframeMotion motion;
  motion.times = {0, 1};
  motion.rotations = {{0, 0, 0}, {0, 0, std::numbers::pi}};
  motion.center = {1, 1, 0};
  expect_near(evaluate_motion(motion, {2, 1, 5}, 0, 0.5), {1, 2, 5});
  expect_near(evaluate_motion(motion, {2, 1, 5}, 0, 1), {0, 1, 5});
  motion.translations = {{0, 0, 0}, {0, 0, 2}};
  expect_near(evaluate_motion(motion, {2, 1, 5}, 0, 0.5), {1, 2, 6});
}

TEST(KeyframeMotion, RotationIsRigidAboutAnyAxis) {
  KeyframeMotion motion;
  motion.times = {0};
  const double angle = 1.1;
  const Vec3d axis = normalized(Vec3d{1, 2, -2});
  motion.rotations = {angle * axis};
  const Vec3d a{0.3, 0.2, 0.9}, b{-0.5, 0.4, 0.1};
  const Vec3d ra = evaluate_motion(motion, a, 0, 0), rb = evaluate_motion(motion, b, 0, 0);
  EXPECT_NEAR(norm(ra - rb), norm(a - b), 1e-15);
  EXPECT_NEAR(dot(ra, axis), dot(a, axis), 1e-15);
  const Vec3d arm = a - dot(a, axis) * axis, turned = ra - dot(a, axis) * axis;
  EXPECT_NEAR(std::atan2(dot(cross(arm, turned), axis), dot(arm, turned)), angle, 1e-14);
}

TEST(KeyframeMotion, StandsStillExactly) {
  KeyframeMotion motion;
  motion.times = {0, 0.3, 0.7};
  motion.translations = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  motion.rotations = motion.translations;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(evaluate_motion(motion, place, 0, 0.05 * i), place);
}

TEST(RecordedMotion, InterpolatesEachNode) {
  const RecordedMotion motion{
      "run.csv", {0, 1, 3}, {{0, 0, 0}, {5, 5, 5}, {1, 0, 0}, {5, 6, 5}, {1, 2, 0}, {5, 6, 9}}};
  expect_near(evaluate_motion(motion, place, 0, -1), {0, 0, 0});
  expect_near(evaluate_motion(motion, place, 1, 0.5), {5, 5.5, 5});
  expect_near(evaluate_motion(motion, place, 0, 2), {1, 1, 0});
  expect_near(evaluate_motion(motion, place, 1, 2.5), {5, 6, 8});
  expect_near(evaluate_motion(motion, place, 1, 99), {5, 6, 9});
}

}  // namespace
}  // namespace isocloth
