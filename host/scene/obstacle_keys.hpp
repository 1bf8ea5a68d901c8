// What a scene file says of obstacles, before their files are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

struct ObstacleSpec {
  std::string name;
  ObstacleShape shape;    ///< of a mesh without its surface, of a height field from a file only the spacing
  Vec3d shift;            ///< of the shape's origin from the frame's, along the frame's axes [m]
  std::string file;       ///< of the mesh or the heights
  double scale = 1;       ///< factor on the coordinates of the mesh
  double weld = 0;        ///< of the mesh, after scale [m]
  Vec3d position;         ///< [m]
  Vec3d rotation;         ///< rotation vector [rad]
  ObstacleMotion motion;  ///< unless recorded
  std::string poses_file;
  Friction friction;
};

/// Friction of two of the file by name: a garment or a batch, an obstacle, bodies. Empty: not of the pair.
struct PairSpec {
  std::string garment, other_garment, obstacle, body, other_body;
  Friction friction;
};

void describe_obstacle(Keys& keys, ObstacleSpec& obstacle);

/// What it says of a rigid body.
struct BodySpec {
  ObstacleSpec solid;                   ///< at rest
  std::optional<double> mass, density;  ///< one of them [kg], [kg/m^3]
  Vec3d velocity, angular_velocity;     ///< [m/s], [rad/s]
};
void describe_body(Keys& keys, BodySpec& body);

/// The keys of the object "contact"; pairs go into `pairs`, not into the settings.
void describe_contact(Keys& keys, ContactSettings& settings, std::vector<PairSpec>& pairs);

}  // namespace isocloth
