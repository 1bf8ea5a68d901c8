#include "bench/sheets.hpp"

#include <cmath>

#include "bench/runner.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth::bench {

Mesh sheet_mesh(const std::string& name) {
  const double width = 0.297, height = 0.42;
  const auto bar = name.find('_');
  const std::string kind = name.substr(0, bar);
  const Index n = bar == std::string::npos ? 0 : std::atoi(name.c_str() + bar + 1);
  if (n >= 3 && kind == "quads") return quad_grid(n, n, width, height);
  if (n >= 3 && kind == "alternating") return triangle_grid(n, n, width, height, Diagonals::alternating);
  if (n >= 3 && kind == "irregular") return irregular_triangles(n - 1, (n - 2) * (n - 2), width, height, 1);
  throw SceneError("--mesh: found \"" + name +
                   "\", expected quads_N, alternating_N or irregular_N with N >= 3, as quads_17");
}

Scene shaken_sheet(const Mesh& mesh) {
  Scene scene = bench_scene("shake_fast_9x9");
  Garment& sheet = scene.garments[0];
  sheet.mesh = mesh;
  for (Vec3d& p : sheet.mesh.positions) p = {0, p.x, p.y};
  sheet.initial_positions.clear();
  sheet.pins[0].nodes = {nearest_node(sheet.mesh.positions, {0, 0, 0.42}),
                         nearest_node(sheet.mesh.positions, {0, 0.297, 0.42})};
  scene.frame_interval = 0;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

Scene shaken_sheet_at_once(const Mesh& mesh) {
  Scene scene = shaken_sheet(mesh);
  scene.garments[0].time_offset = 1;
  return scene;
}

void take_recipe(Scene& scene, const std::string& recipe) {
  scene.recipe = recipe;
  if (recipe != "coltraro2022") scene.garments[0].fabric = bench_scene("membrane_batch").garments[0].fabric;
}

void repeat_garment(Scene& scene, std::size_t count,
                    const std::function<void(Fabric& fabric, double part)>& vary) {
  constexpr double golden = 0.6180339887498949;
  const Garment sheet = scene.garments.at(0);
  scene.garments.assign(count, sheet);
  for (std::size_t i = 0; i < count; ++i) {
    scene.garments[i].name = text(sheet.name, '[', i, ']');
    if (vary) vary(scene.garments[i].fabric, std::fmod(golden * static_cast<double>(i), 1.0) - 0.5);
  }
}

}  // namespace isocloth::bench
