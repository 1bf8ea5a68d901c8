// What pictures of a running scene need: rest shapes, threads, stresses, loads, obstacles and bodies where
// they are.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <limits>

#include "engine/core/checks.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/model/membrane_stress.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/choices.hpp"
#include "host/python/src/runner.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/results/obstacle_surface.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

const Garment& garment_of(Runner& runner, const Which& which) {
  const std::vector<Garment>& garments = runner.idle().scene().garments;
  return garments[number_of(which, "garment", garments)];
}

/// Of the corners of faces, not a number in the fourth place of a triangle.
nb::object corner_uvs(const Mesh& mesh) {
  if (mesh.corner_uvs.empty()) return nb::none();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<Vec2d> uvs;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index c = 0; c < 4; ++c)
      uvs.push_back(c < mesh.face_size(f) ? mesh.corner_uvs[static_cast<std::size_t>(mesh.face_begin[f] + c)]
                                          : Vec2d{none, none});
  return nb::cast(to_array<double>(std::move(uvs), {static_cast<std::size_t>(mesh.face_count()), 4, 2}));
}

Array<double> stresses(Simulation& simulation, const Garment& garment, const ArrayLike& along_warp,
                       const ArrayLike& along_weft, const std::vector<Index>& faces) {
  const Recipe& recipe = find_recipe(simulation.scene().recipe);
  if (!MembraneLaw::exists(recipe))
    throw SceneError(text("membrane_stress: found the recipe ", recipe.name,
                          ", whose elements have no law of stress: use membrane"));
  const std::vector<Vec3d> u = to_rows(along_warp, "along_warp");
  const std::vector<Vec3d> v = to_rows(along_weft, "along_weft", u.size());
  const MembraneLaw law(recipe, garment.fabric);
  const std::vector<FabricFactors>& factors = garment.mesh.face_factors;
  if (!faces.empty()) require_size("faces", faces.size(), u.size(), "row of along_warp");
  for (const Index face : faces)
    if (face < 0 || face >= garment.mesh.face_count())
      refuse("faces", face, text("numbers from 0 to ", garment.mesh.face_count() - 1));
  std::vector<Vec3d> all;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const bool is_other = !factors.empty() && !faces.empty();
    const MembraneStress stress =
        is_other ? law.with(factors[static_cast<std::size_t>(faces[i])]).stress(u[i], v[i])
                 : law.stress(u[i], v[i]);
    all.push_back({stress.warp, stress.weft, stress.shear});
  }
  return to_array(std::move(all));
}

std::vector<std::string> acting_terms(const Recipe& recipe, const Fabric& fabric) {
  const bool has_tensors = recipe.solver == SolverFamily::semi_implicit;
  const bool has_shear = has_tensors || recipe.has_springs() || recipe.rows.front() == RowFamily::membrane;
  std::vector<std::string> terms;
  // Curves of the fabric take the place of its stiffnesses.
  if (!fabric.curves.exist() && (has_tensors || recipe.is_elastic())) terms.emplace_back("stretch_stiffness");
  if (!fabric.curves.exist() && has_shear) terms.emplace_back("shear_stiffness");
  if (fabric.bending_stiffness > 0) terms.emplace_back("bending_stiffness");
  terms.emplace_back("mass_damping");
  return terms;
}

nb::tuple surface(const std::string& name, const ObstacleShape& shape) {
  ObstacleSurface made = obstacle_surface(shape);
  const std::size_t count = made.triangles.size();
  static_assert(sizeof(std::array<Index, 3>) == 3 * sizeof(std::int32_t));
  return nb::make_tuple(name, to_array(std::move(made.vertices)),
                        to_array<std::int32_t>(std::move(made.triangles), {count, 3}));
}

}  // namespace

void bind_pictures(nb::class_<Runner>& type) {
  type.def(
          "rest_positions",
          [](Runner& r, const Which& g) {
            return to_array(std::vector<Vec3d>(garment_of(r, g).mesh.positions));
          },
          "garment"_a = 0, "Of the rest shape [m], shape (nodes, 3).")
      .def(
          "corner_uvs", [](Runner& r, const Which& g) { return corner_uvs(garment_of(r, g).mesh); },
          "garment"_a = 0,
          "Warp and weft coordinates of the corners of the faces, shape (faces, 4, 2), not a number in the "
          "fourth place of a triangle; ``None`` where the mesh has none.")
      .def(
          "warp_directions",
          [](Runner& r, const Which& g) {
            const Mesh& mesh = garment_of(r, g).mesh;
            return to_array(face_warp_directions(mesh, build_topology(mesh)));
          },
          "garment"_a = 0, "Unit vector along the warp threads of each face at rest, shape (faces, 3).")
      .def(
          "membrane_stress",
          [](Runner& r, const Which& g, const ArrayLike& u, const ArrayLike& v,
             const std::vector<Index>& faces) { return stresses(r.idle(), garment_of(r, g), u, v, faces); },
          "garment"_a, "along_warp"_a, "along_weft"_a, "faces"_a = std::vector<Index>{},
          "Second Piola and Kirchhoff stress S_uu, S_vv, S_uv [N/m] that the garment's fabric answers to "
          "deformation gradients with these columns, shape (n, 3) each; that of panels and maps at "
          "``faces``, "
          "n numbers of faces of the garment. Raises :class:`isocloth.SceneError` where the recipe has no "
          "elastic elements.")
      .def(
          "gravity",
          [](Runner& r, const Which& g) {
            return garment_of(r, g).gravity.value_or(r.idle().scene().gravity);
          },
          "garment"_a = 0, "[m/s^2], along -z")
      .def_prop_ro(
          "wind_velocity", [](Runner& r) { return to_array(r.idle().scene().wind.velocity); },
          nb::rv_policy::automatic, "mean velocity of the wind [m/s], shape (3,)")
      .def(
          "feels_wind", [](Runner& r, const Which& g) { return garment_of(r, g).fabric.drag.exists(); },
          "garment"_a = 0, "Whether the fabric has drag.")
      .def(
          "fabric_terms",
          [](Runner& r, const Which& g) {
            const Garment& garment = garment_of(r, g);
            return acting_terms(find_recipe(r.idle().scene().recipe), garment.fabric);
          },
          "garment"_a = 0,
          "Which of ``stretch_stiffness``, ``shear_stiffness``, ``bending_stiffness`` and ``mass_damping`` "
          "act with the recipe "
          "of "
          "the scene and may be changed while it runs.")
      .def_prop_ro(
          "meets_cloth", [](Runner& r) { return r.idle().scene().contact.cloth; },
          "whether cloth meets cloth in the scene")
      .def(
          "cloth_loads",
          [](Runner& r) {
            nb::list all;
            for (ClothLoads& loads : r.idle().cloth_loads()) {
              const std::size_t count = loads.loads.size();
              all.append(to_array<double>(std::move(loads.loads), {count}));
            }
            return all;
          },
          "Of every garment: sums of the sizes of the forces of cloth on cloth at each node at the end of "
          "the last "
          "step [N], shape (nodes,).")
      .def(
          "obstacle_surfaces",
          [](Runner& r) {
            nb::list all;
            for (const Obstacle& obstacle : r.idle().scene().obstacles)
              all.append(surface(obstacle.name, obstacle.shape));
            for (const RigidBody& body : r.idle().scene().bodies) all.append(surface(body.name, body.shape));
            return all;
          },
          "Obstacles, then bodies, as triangles in their own frames: name, vertices [m], shape (n, 3), and "
          "triangles, shape (m, 3).")
      .def(
          "obstacle_poses",
          [](Runner& r) {
            const Simulation& s = r.idle();
            std::vector<float> poses = obstacle_poses(s.scene(), {0.0}, s.time(), s.bodies());
            const std::size_t count = poses.size() / 7;
            return to_array<float>(std::move(poses), {count, 7});
          },
          "Where they are now: centre x, y, z [m] and the unit quaternion x, y, z, w, shape (obstacles and "
          "bodies, "
          "7); by the clock of the simulation.");
}

}  // namespace isocloth::python
