// Sheets thrown at random obstacles.
#pragma once

#include "tests/host/contact_case.hpp"

namespace isocloth {

enum class Solid { sphere, capsule, cylinder, box, plane };

struct Drop {
  Solid solid;
  Scene scene;
  double thinnest = 0;  ///< least half thickness of the solid [m]
};

/// A sheet of 0.3 to 1 m, thrown down at 0.5 to 10 m/s from above anything that the obstacle may reach; every
/// third obstacle moves.
inline Drop random_drop(int number) {
  Random random(1000 + static_cast<std::uint64_t>(number));
  Drop drop{.solid = static_cast<Solid>(number % 5), .scene = {}, .thinnest = 1};
  drop.scene.recipe = "coltraro2022";
  const double size = random.uniform(0.3, 1);
  Garment sheet = square_sheet(number % 2 ? 6 : 9, size, random.uniform(0, 3));
  const auto length = [&] { return random.uniform(0.05, 0.4); };
  const bool is_sharp = number % 3 != 0;
  ObstacleShape shape;
  double reach = 0.6 * size;  // a tilted plane rises under the sheet
  if (drop.solid == Solid::sphere) {
    const double radius = length();
    shape = SphereShape{radius};
    drop.thinnest = reach = radius;
  } else if (drop.solid == Solid::capsule) {
    const double radius = length(), straight = length();
    shape = CapsuleShape{radius, straight};
    drop.thinnest = radius;
    reach = radius + straight / 2;
  } else if (drop.solid == Solid::cylinder) {
    const double radius = length(), height = length();
    drop.thinnest = std::min(radius, height / 2);
    shape = CylinderShape{radius, height, is_sharp ? 0 : 0.3 * drop.thinnest};
    reach = std::hypot(radius, height / 2);
  } else if (drop.solid == Solid::box) {
    Vec3d sides;
    for (double* side : {&sides.x, &sides.y, &sides.z}) *side = length();
    drop.thinnest = std::min({sides.x, sides.y, sides.z}) / 2;
    shape = BoxShape{sides, is_sharp ? 0 : 0.3 * drop.thinnest};
    reach = norm(sides) / 2;
  } else {
    shape = PlaneShape{};
  }
  const double mu = number % 4 == 0 ? 0 : random.uniform(0, 1), tilt = drop.solid == Solid::plane ? 0.4 : 3;
  Vec3d position, rotation, amplitude;
  for (double* x : {&position.x, &position.y}) *x = random.uniform(-0.2, 0.2) * size;
  for (double* x : {&rotation.x, &rotation.y, &rotation.z}) *x = random.uniform(-tilt, tilt);
  for (double* x : {&amplitude.x, &amplitude.y, &amplitude.z}) *x = random.uniform(-0.05, 0.05);
  Obstacle solid = obstacle(shape, position, mu, rotation);
  const double frequency = random.uniform(0.3, 2), speed = random.uniform(0.5, 10);
  if (number % 3 == 1) {
    solid.motion =
        OscillationMotion{.amplitude = amplitude, .frequency = frequency, .start = 0, .duration = 100};
    reach += 0.2;
  }
  for (Vec3d& p : sheet.initial_positions) p.z += reach + 0.01 + 1e-3 * random.uniform(-1, 1);
  sheet.initial_velocities.assign(sheet.initial_positions.size(), Vec3d{0, 0, -speed});
  drop.scene = contact_scene(sheet, solid, 0.01);
  return drop;
}

}  // namespace isocloth
