// What moves as a robot does: poses in, wrenches out. Names and shapes of arrays are _bodies.py's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/choices.hpp"
#include "host/python/src/runner.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

Vec3d vector_at(const double* x) { return {x[0], x[1], x[2]}; }

/// x, y, z and a quaternion w, x, y, z.
Pose to_pose(const double* x) { return {.center = vector_at(x), .axes = axes_of(x[3], x[4], x[5], x[6])}; }
void append(const Pose& pose, std::vector<double>& to) {
  const auto [w, x, y, z] = quaternion_of(pose.axes);
  to.insert(to.end(), {pose.center.x, pose.center.y, pose.center.z, w, x, y, z});
}
void append(const Wrench& wrench, std::vector<double>& to) {
  const Vec3d &f = wrench.force, &t = wrench.torque;
  to.insert(to.end(), {f.x, f.y, f.z, t.x, t.y, t.z});
}

template <class Thing>
std::vector<std::string> names_of(const std::vector<Thing>& things) {
  std::vector<std::string> names;
  for (const Thing& thing : things) names.push_back(thing.name);
  return names;
}

void move_frames(Runner& r, const std::vector<std::array<std::int64_t, 4>>& frames, nb::handle poses,
                 nb::handle velocities, double duration) {
  const auto at = to_doubles(poses, {frames.size(), 7}, "poses");
  const auto speeds = to_doubles(velocities, {frames.size(), 6}, "velocities");
  std::vector<FrameTarget> targets;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto [obstacle, garment, gripper, world] = frames[i];
    const double* const speed = speeds.data() + 6 * i;
    targets.push_back({.obstacle = obstacle < 0 ? FrameTarget::none : static_cast<std::size_t>(obstacle),
                       .garment = static_cast<std::size_t>(garment),
                       .gripper = static_cast<std::size_t>(gripper),
                       .world = static_cast<Index>(world),
                       .pose = to_pose(at.data() + 7 * i),
                       .velocity = vector_at(speed),
                       .angular_velocity = vector_at(speed + 3)});
  }
  r.idle().move_frames(targets, duration);
}

nb::dict contact_points(Runner& r, const std::vector<std::size_t>& garments) {
  std::vector<std::int32_t> garment, body;
  std::vector<Vec3d> positions, normals, forces;
  std::vector<double> slips, pressures;
  std::vector<std::uint8_t> sticking;
  for (const std::size_t g : garments)
    for (const ContactPoint& point : r.idle().contact_points(g)) {
      garment.push_back(static_cast<std::int32_t>(g));
      body.push_back(point.body);
      positions.push_back(point.position);
      normals.push_back(point.normal);
      forces.push_back(point.force);
      slips.push_back(point.slip);
      pressures.push_back(point.pressure);
      sticking.push_back(point.is_sticking);
    }
  const std::size_t count = garment.size();
  nb::dict found;
  found["garment"] = to_array<std::int32_t>(std::move(garment), {count});
  found["body"] = to_array<std::int32_t>(std::move(body), {count});
  found["position"] = to_array(std::move(positions));
  found["normal"] = to_array(std::move(normals));
  found["force"] = to_array(std::move(forces));
  found["slip"] = to_array<double>(std::move(slips), {count});
  found["pressure"] = to_array<double>(std::move(pressures), {count});
  found["is_sticking"] = to_array<std::uint8_t>(std::move(sticking), {count});
  return found;
}

}  // namespace

void bind_bodies(nb::class_<Runner>& type) {
  type.def("_move_frames", &move_frames, "frames"_a, "poses"_a, "velocities"_a, "duration"_a)
      .def(
          "_shape_poses",
          [](Runner& r, int world) {
            std::vector<double> all;
            for (const Pose& pose : r.idle().poses(world)) append(pose, all);
            const std::size_t count = all.size() / 7;
            return to_array<double>(std::move(all), {count, 7});
          },
          "world"_a)
      .def("_gripper_poses",
           [](Runner& r) {
             nb::list all;
             Simulation& s = r.idle();
             for (std::size_t g = 0; g < s.garment_count(); ++g) {
               std::vector<double> poses;
               for (const Gripper& gripper : s.scene().garments[g].grippers)
                 append(gripper_pose(gripper, s.time(g)), poses);
               const std::size_t count = poses.size() / 7;
               all.append(to_array<double>(std::move(poses), {count, 7}));
             }
             return all;
           })
      .def("_wrenches",
           [](Runner& r) {
             std::vector<double> all;
             const auto wrenches = r.idle().wrenches();
             for (const auto& own : wrenches)
               for (const Wrench& wrench : own) append(wrench, all);
             const std::size_t count = wrenches.size(), bodies = count > 0 ? wrenches.front().size() : 0;
             return to_array<double>(std::move(all), {count, bodies, 6});
           })
      .def("_body_wrenches",
           [](Runner& r) {
             std::vector<double> all;
             for (const Wrench& wrench : r.idle().body_wrenches()) append(wrench, all);
             const std::size_t count = all.size() / 6;
             return to_array<double>(std::move(all), {count, 6});
           })
      .def("_body_velocities",
           [](Runner& r) {
             const Scene& scene = r.idle().scene();
             std::vector<double> all;
             const std::vector<BodyState> states = r.idle().bodies();
             for (std::size_t b = 0; b < states.size(); ++b) {
               const RigidBody& body = scene.bodies[b];
               const MassProperties properties = mass_properties(body.shape);
               const Matrix3 inertia = turned_inertia(properties.inertia, states[b].pose.axes);
               append({.force = states[b].velocity,
                       .torque = (1 / body.mass) * product(inverse(inertia), states[b].angular_momentum)},
                      all);
             }
             return to_array<double>(std::move(all), {states.size(), 6});
           })
      .def("_contact_points", &contact_points, "garments"_a)
      .def(
          "_set_external_motion",
          [](Runner& r, const std::vector<std::size_t>& bodies, nb::handle begin, nb::handle free_end,
             nb::handle inverse_inertia) {
            const std::size_t count = bodies.size();
            ExternalMotion motion{.bodies = bodies, .begin = {}, .free_end = {}, .inverse_inertia = {}};
            const auto from = to_doubles(begin, {count, 7}, "poses"),
                       to = to_doubles(free_end, {count, 7}, "free_poses");
            const auto w = to_doubles(inverse_inertia, {6 * count, 6 * count}, "inverse_inertia");
            for (std::size_t i = 0; i < count; ++i) {
              motion.begin.push_back(to_pose(from.data() + 7 * i));
              motion.free_end.push_back(to_pose(to.data() + 7 * i));
            }
            motion.inverse_inertia.assign(w.data(), w.data() + w.size());
            r.idle().set_external_motion(motion);
          },
          "bodies"_a, "poses"_a, "free_poses"_a, "inverse_inertia"_a)
      .def(
          "_set_friction",
          [](Runner& r, std::size_t body, const std::vector<std::size_t>& garments, double static_,
             double dynamic) {
            r.idle().set_friction(body, garments, {.static_ = static_, .dynamic = dynamic});
          },
          "body"_a, "garments"_a, "static_"_a, "dynamic"_a)
      .def(
          "_set_cloth_friction",
          [](Runner& r, double static_, double dynamic) {
            r.idle().set_cloth_friction({.static_ = static_, .dynamic = dynamic});
          },
          "static_"_a, "dynamic"_a)
      .def_prop_ro("_worlds",
                   [](Runner& r) {
                     std::vector<int> worlds;
                     for (const Garment& garment : r.idle().scene().garments) worlds.push_back(garment.world);
                     return worlds;
                   })
      .def_prop_ro("_gripper_names",
                   [](Runner& r) {
                     std::vector<std::vector<std::string>> all;
                     for (const Garment& garment : r.idle().scene().garments)
                       all.push_back(names_of(garment.grippers));
                     return all;
                   })
      .def_prop_ro(
          "obstacle_names", [](Runner& r) { return names_of(r.idle().scene().obstacles); },
          "names of the obstacles")
      .def_prop_ro(
          "body_names", [](Runner& r) { return names_of(r.idle().scene().bodies); },
          "names of the rigid bodies");
}

}  // namespace isocloth::python
