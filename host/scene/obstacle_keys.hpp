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
  /// Shape, of a mesh without its surface, of a height field from a file only the spacing.
  ObstacleShape shape;
  Vec3d shift;            ///< shift of the shape's origin from the frame's, along the frame's axes [m]
  std::string file;       ///< file of the mesh or the heights
  double scale = 1;       ///< factor on the coordinates of the mesh
  double weld = 0;        ///< distance within which nodes on open edges of the scaled mesh are united [m]
  bool repair = false;    ///< whether faults of the file are mended, see repair_mesh()
  Vec3d position;         ///< position of the frame [m]
  Vec3d rotation;         ///< rotation vector of the frame [rad]
  ObstacleMotion motion;  ///< motion of the frame unless recorded
  std::string poses_file;
  Friction friction;
};

/// Friction between two things of the file by name: a garment or a batch, an obstacle, bodies; a name that is
/// empty is not of the pair.
struct PairSpec {
  std::string garment, other_garment, obstacle, body, other_body;
  Friction friction;
};

void describe_obstacle(Keys& keys, ObstacleSpec& obstacle);

/// What the file says of a rigid body.
struct BodySpec {
  ObstacleSpec solid;                   ///< the body as an obstacle at rest
  std::optional<double> mass, density;  ///< mass [kg] or density [kg/m^3], one of them
  Vec3d velocity, angular_velocity;     ///< velocity [m/s] and angular velocity [rad/s]
  bool is_external = false;
};
void describe_body(Keys& keys, BodySpec& body);

/// The keys of the object "contact"; pairs and the tolerance, if it is given, do not go into the settings.
void describe_contact(Keys& keys, ContactSettings& settings, std::optional<double>& tolerance,
                      std::vector<PairSpec>& pairs);

}  // namespace isocloth
