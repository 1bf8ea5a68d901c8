#include "host/scene/gripper_keys.hpp"

#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/scene/motion_keys.hpp"
#include "host/scene/recorded_poses.hpp"
#include "host/scene/shape_keys.hpp"

namespace isocloth {
namespace {

void describe_region(Keys& keys, GripRegion& region) {
  const auto form = [&region](const char* type, const char* doc, auto shape, auto describe) {
    return Keys::Alternative{"type", type, doc, [&region, shape, describe](Keys& k) {
                               auto own = shape;
                               describe(k, own);
                               region = own;
                             }};
  };
  keys.one_of(
      "region", "what it reaches, in its own frame: nodes inside when it closes are held", required,
      {form("sphere", "around the origin", SphereShape{}, describe_sphere),
       form("cylinder", "about the z axis, centred at the origin", CylinderShape{}, describe_cylinder),
       form("box", "centred at the origin", BoxShape{}, describe_box)});
}

}  // namespace

void describe_gripper(Keys& keys, GripperSpec& spec) {
  Gripper& gripper = spec.gripper;
  keys.string("name", gripper.name,
              "name in messages and results, distinct; default: gripper and its number");
  describe_region(keys, gripper.region);
  keys.vector("position", gripper.position, "of the region's origin at time 0 [m]");
  Vec3d degrees;
  keys.vector("rotation_degrees", degrees, "of its axes at time 0, a rotation vector [degrees]");
  gripper.rotation = std::numbers::pi / 180 * degrees;
  describe_motion(keys, gripper.motion, spec.poses_file);
  keys.objects("holds",
               "when it is closed: ascending time spans that do not meet; none: commands alone close it", 0,
               [&gripper](Keys& k, std::size_t i) {
                 gripper.holds.resize(i + 1);
                 k.number("from", gripper.holds[i].from, any_number, "when it closes [s]", required);
                 k.number("to", gripper.holds[i].to, any_number, "when it opens [s]", required);
               });
  keys.number("stiffness", gripper.stiffness, not_negative,
              "force per area of held cloth and distance from its place in the gripper [N/m^3]; 0: rigid");
}

Gripper make_gripper(const GripperSpec& spec, const std::string& key, std::size_t number,
                     const std::filesystem::path& folder) {
  Gripper gripper = spec.gripper;
  if (gripper.name.empty()) gripper.name = text("gripper ", number);
  if (spec.poses_file.empty()) return gripper;
  RecordedPoses poses = read_only_poses(folder / spec.poses_file, key, gripper.position, gripper.rotation);
  gripper.position = poses.position;
  gripper.rotation = poses.rotation;
  gripper.motion = std::move(poses.motion);
  return gripper;
}

void describe_wind(Keys& keys, Wind& wind) {
  keys.vector("velocity", wind.velocity, "mean velocity of the air [m/s]");
  keys.number("gusts", wind.gusts, not_negative, "root mean square of the gusts in parts of the mean");
  keys.number("gust_period", wind.gust_period, positive, "about which the periods of the gusts lie [s]");
  keys.choice(
      "model", wind.model, {"drag", "panels"},
      "what the air does: drag on each element by fabric.drag, or potential flow around each garment, a "
      "quad_grid, as around panels of vortices, whose wake leaves one side");
  keys.number("density", wind.density, positive, "of the air: of quadratic drag, and around panels [kg/m^3]");
  keys.number("permeability", wind.permeability, not_negative,
              "of cloth that is panels: velocity through it per pressure [m/(s Pa)]; 0: tight");
  keys.integer("wake_rows", wind.wake_rows, whole(0, most_wake_rows),
               "of the wake of panels, one a step, that are kept; 0: quasi-steady flow");
}

}  // namespace isocloth
