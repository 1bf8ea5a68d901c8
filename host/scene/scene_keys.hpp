// What a scene file says, before meshes are made and selectors are resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/mesh/generators.hpp"
#include "engine/model/scene.hpp"
#include "engine/model/variation.hpp"
#include "host/files/keys.hpp"
#include "host/scene/drape_keys.hpp"
#include "host/scene/fabric_maps.hpp"
#include "host/scene/gripper_keys.hpp"
#include "host/scene/obstacle_keys.hpp"
#include "host/scene/panel_keys.hpp"

namespace isocloth {

struct MeshSpec {
  std::string generator;  ///< name of the generator; empty: `file`
  std::string file;
  std::array<double, 2> nodes{}, size{};
  Diagonals diagonals = Diagonals::parallel;
  FaceKind faces = FaceKind::quads;
  Index boundary_segments = 0, interior_nodes = 0;
  Index radial = 0, around = 0, along = 0, triangles = 1700;
  double inner_radius = 0, outer_radius = 0, radius = 0, height = 0, phase = 0;
  std::optional<double> seed;
  std::string garment;  ///< garment of a file of sewn ones; empty: its only one
  double weld = 0;      ///< distance within which nodes on open edges of a file are united [m]
  bool repair = false;  ///< whether faults of a file are mended, see repair_mesh()
  double uv_scale = 0;  ///< units of a file per unit of texture coordinates that are a pattern; 0: none
  double grain = 0;     ///< direction of the warp of the pattern of uv_scale, from u [degrees]
  PanelSpec sewn;  ///< panels that are sewn; where there are any, they are in the place of the other members

  bool operator==(const MeshSpec&) const = default;
};

struct SelectSpec {
  enum class Kind { nodes, nearest, box, boundary_loop, sphere, all, weights } kind = Kind::nodes;
  std::vector<double> nodes;
  std::vector<Vec3d> nearest;  ///< points whose nearest nodes are selected [m]
  Vec3d min, max, center;      ///< corners of the box, and centre of the sphere [m]
  double radius = 0;           ///< radius of the sphere [m]
  std::size_t boundary_loop = 0;
  bool all = true;
  std::string weights_file;  ///< of a weight of each node
  double above = 0;          ///< nodes with more are selected
};

struct PinSpec {
  std::string name;
  SelectSpec select;
  Motion motion;         ///< motion of the pin, of a RecordedMotion only the file and its rate
  double ramp = 0;       ///< time in which the nodes are brought to the motion [s]
  double stiffness = 0;  ///< of a spring at each node in the place of a rigid hold [N/m]; 0: rigid
  double strength = 0;   ///< pull of such a spring at which it lets go [N]; 0: never
};

struct NoiseSpec {
  double normal_deviation = 0;  ///< standard deviation of nodes along the normals [m]
  std::optional<double> seed;
};

struct TransformSpec {
  double scale = 1;
  Vec3d rotation;     ///< rotation vector [degrees]
  Vec3d translation;  ///< translation after scale and rotation [m]
};
/// A point p transformed: R (scale p) + translation.
Vec3d placed(const Vec3d& p, const TransformSpec& transform);

/// A curve of force against strain or its rate, or of moment against curvature, by its points, by a file of
/// them, or by a polynomial.
struct CurveSpec {
  std::string file;
  std::vector<double> strain, force, polynomial;
  double up_to = 0;
  CurveBetween between = CurveBetween::cubic;
  bool is_given = false;  ///< whether the curve is given, with points or without
};
struct GarmentSpec {
  std::string name;
  MeshSpec mesh;
  TransformSpec transform;
  NoiseSpec rest_noise;
  InitialSpec initial;
  Vec3d initial_velocity;          ///< velocity when the scene begins [m/s]
  Vec3d initial_angular_velocity;  ///< angular velocity when the scene begins [rad/s]
  std::string fabric_file;         ///< file of the fabric, which read_scene_json replaces by what it has
  Fabric fabric;                   ///< the fabric but for its curves
  CurveSpec warp_curve, weft_curve, shear_curve, bend_curve, weft_bend_curve;
  CurveSpec warp_viscosity, weft_viscosity, shear_viscosity;
  bool has_preset_poisson = false;  ///< Poisson's ratio is that of a preset
  std::string fabric_fault;         ///< a key of the fabric and what is wrong with it; empty: nothing
  std::vector<std::string>
      unused_keys;  ///< keys of the fabric that something else takes the place of, and what
  Garment given;    ///< its numbers, as they are: gravity, time_offset, sewing, pressure
  Index layer = 0;  ///< its layer where the scene is sewn before time begins
  std::vector<FabricMap> maps;
  std::vector<PinSpec> pins;
  std::vector<GripperSpec> grippers;
  std::optional<double> replicas;
  std::vector<std::pair<std::string, Variation>> vary;  ///< paths of numbers and what they become

  bool is_batch() const { return replicas || !vary.empty(); }
};

/// A number of the scene over time, of what it names.
struct KeyframesSpec {
  std::string garment, obstacle;  ///< names; empty: none
  std::string number;
  DrivenNumber values;
};

struct SceneSpec {
  Scene scene;  ///< everything but garments, obstacles, bodies and pairs
  std::vector<GarmentSpec> garments;
  std::vector<ObstacleSpec> obstacles;
  std::vector<BodySpec> bodies;
  std::vector<PairSpec> pairs;              ///< friction in contacts of pairs
  std::optional<double> contact_tolerance;  ///< contact.tolerance [m]; none: default_contact_tolerance()
  std::optional<SewingStage> sewing;
  std::vector<KeyframesSpec> keyframes;
};

/// Describes an object `name` with scale, rotation and translation.
void describe_transform(Keys& keys, const std::string& name, const std::string& doc,
                        TransformSpec& transform);

/// Describes the keys of a garment but replicas and vary.
void describe_garment(Keys& keys, GarmentSpec& garment);

/// Describes all keys of a scene file.
void describe_scene(Keys& keys, SceneSpec& spec);

}  // namespace isocloth
