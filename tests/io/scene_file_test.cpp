#include "host/scene/scene_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/material/fabric_presets.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/files/json_text.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/results/scene_digest.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

/// A scene of one garment with these keys.
Scene read_garment(const std::string& keys, std::uint64_t seed = 0) {
  const TemporaryFolder folder;
  return read_scene(folder.write("scene.json", R"({"step": 0.01, "duration": 1, "seed": )" +
                                                   std::to_string(seed) + R"(, "garments": [{)" + keys +
                                                   "}]}"));
}

const std::string grid = R"("mesh": {"generator": "quad_grid", "nodes": [3, 4], "size": [1, 2]})";

double distance(const Vec3d& a, const Vec3d& b) { return norm(a - b); }

TEST(SceneFile, ReadsEveryMember) {
  const TemporaryFolder folder;
  const Scene scene = read_scene(folder.write("all.json", R"({
    "$schema": "scene.schema.json", "name": "all", "recipe": "inextensible_edges", "gravity": 1.5, "step": 0.02,
    "duration": 2, "frame_interval": 0.1, "seed": 9007199254740991,
    "projection": {"method": "fast_projection", "metric": "mass", "tolerance": 1e-4, "max_iterations": 7, "eps": 1e-6,
                   "max_substeps": 8, "on_violation": "continue"},
    "garments": [{"name": "a", "mesh": {"generator": "quad_grid", "nodes": [2, 3], "size": [1, 2]},
      "fabric": {"density": 2, "gravity_density": 3, "bending_stiffness": 4, "mass_damping": 5, "stiffness_damping": 6},
      "initial_velocity": [1, 2, 3],
      "pins": [{"name": "p", "select": {"nodes": [4, 0]},
                "motion": {"type": "oscillation", "amplitude": [1, 2, 3], "frequency": 4, "start": 5, "duration": 6}},
               {"select": {"nodes": [1]},
                "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [1, 2, 3]],
                           "rotations_degrees": [[0, 0, 0], [0, 180, 0]], "center": [7, 8, 9]}}]}]})"));
  EXPECT_EQ(scene.name, "all");
  EXPECT_EQ(scene.recipe, "inextensible_edges");
  EXPECT_EQ(scene.gravity, 1.5);
  EXPECT_EQ(scene.step, 0.02);
  EXPECT_EQ(scene.duration, 2);
  EXPECT_EQ(scene.frame_interval, 0.1);
  EXPECT_EQ(scene.seed, 9007199254740991u);
  EXPECT_EQ(scene.projection.method, ProjectionMethod::fast_projection);
  EXPECT_EQ(scene.projection.metric, Metric::mass);
  EXPECT_EQ(scene.projection.tolerance, 1e-4);
  EXPECT_EQ(scene.projection.max_iterations, 7);
  EXPECT_EQ(scene.projection.eps, 1e-6);
  EXPECT_EQ(scene.projection.max_substeps, 8);
  EXPECT_EQ(scene.projection.on_violation, OnViolation::go_on);
  const Garment& garment = scene.garments.at(0);
  EXPECT_EQ(garment.name, "a");
  EXPECT_EQ(garment.mesh.node_count(), 6);
  EXPECT_EQ(garment.initial_velocities, std::vector<Vec3d>(6, {1, 2, 3}));
  EXPECT_EQ(garment.fabric.density, 2);
  EXPECT_EQ(garment.fabric.gravity_density, 3);
  EXPECT_EQ(garment.fabric.bending_stiffness, 4);
  EXPECT_EQ(garment.fabric.mass_damping, 5);
  EXPECT_EQ(garment.fabric.stiffness_damping, 6);
  EXPECT_EQ(garment.pins.at(0).nodes, (std::vector<Index>{4, 0}));
  const auto& oscillation = std::get<OscillationMotion>(garment.pins[0].motion);
  EXPECT_EQ(oscillation.amplitude, (Vec3d{1, 2, 3}));
  EXPECT_EQ(oscillation.frequency, 4);
  EXPECT_EQ(oscillation.start, 5);
  EXPECT_EQ(oscillation.duration, 6);
  EXPECT_EQ(garment.pins.at(1).name, "pin 1");
  const auto& keyframes = std::get<KeyframeMotion>(garment.pins[1].motion);
  EXPECT_EQ(keyframes.times, (std::vector<double>{0, 1}));
  EXPECT_EQ(keyframes.translations.at(1), (Vec3d{1, 2, 3}));
  EXPECT_DOUBLE_EQ(keyframes.rotations.at(1).y, std::numbers::pi);
  EXPECT_EQ(keyframes.center, (Vec3d{7, 8, 9}));
}

TEST(SceneFile, ReadsImpulsesAndSprings) {
  if (!has_recipe("bender_sle")) GTEST_SKIP() << "bender_sle is not in this build";
  const TemporaryFolder folder;
  const Scene scene = read_scene(folder.write("impulse.json", R"({
    "recipe": "bender_sle", "step": 0.02, "duration": 2,
    "impulse": {"mode": "converge", "tolerance": 1e-4, "substeps": 3, "max_sweeps": 77, "relaxation": 1.25,
                "velocity_pass": "off", "max_solves": 5, "on_violation": "stop"},
    "garments": [{"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
      "fabric": {"shear_spring": {"stiffness": 2, "damping": 3}, "bend_spring": {"stiffness": 4, "damping": 5},
                 "shear_diagonals": 1}}]})"));
  const ImpulseSettings& impulse = scene.impulse;
  EXPECT_EQ(scene.recipe, "bender_sle");
  EXPECT_EQ(impulse.mode, ImpulseMode::converge);
  EXPECT_EQ(impulse.tolerance, 1e-4);
  EXPECT_EQ(impulse.substeps, 3);
  EXPECT_EQ(impulse.max_sweeps, 77);
  EXPECT_EQ(impulse.relaxation, 1.25);
  EXPECT_EQ(impulse.velocity_pass, VelocityPass::off);
  EXPECT_EQ(impulse.max_solves, 5);
  EXPECT_EQ(impulse.on_violation, OnViolation::stop);
  const Fabric& fabric = scene.garments[0].fabric;
  EXPECT_EQ(fabric.shear_spring.stiffness, 2);
  EXPECT_EQ(fabric.shear_spring.damping, 3);
  EXPECT_EQ(fabric.bend_spring.stiffness, 4);
  EXPECT_EQ(fabric.bend_spring.damping, 5);
  EXPECT_EQ(fabric.shear_diagonals, 1);
  EXPECT_EQ(ResolvedScene(scene).tolerance, 1e-4);
}

// Keys beside a preset say otherwise, wherever they stand.
TEST(SceneFile, FabricsMayBePresets) {
  const auto fabric = [](const std::string& keys) {
    const TemporaryFolder folder;
    return read_scene(folder.write("preset.json",
                                   R"({"recipe": "membrane", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "fabric": {)" +
                                       keys + "}}]}"))
        .garments[0]
        .fabric;
  };
  for (const FabricPreset& preset : fabric_presets()) {
    const Fabric found = fabric("\"preset\": \"" + std::string(preset.name) + '"');
    EXPECT_EQ(found.density, preset.fabric.density) << preset.name;
    EXPECT_EQ(found.gravity_density, found.density);
    EXPECT_GT(found.bending_stiffness, 0);
    EXPECT_EQ(found.stretch_stiffness, preset.fabric.stretch_stiffness);
    EXPECT_EQ(found.weft_stretch_stiffness, preset.fabric.weft_stretch_stiffness);
    EXPECT_LE(found.weft_stretch_stiffness, found.stretch_stiffness);
    EXPECT_FALSE(preset.source.empty());
  }
  const Fabric heavy = fabric(R"("density": 0.5, "preset": "wool", "strain_limit": 0.02)");
  EXPECT_EQ(heavy.density, 0.5);
  EXPECT_EQ(heavy.gravity_density, 0.5);  // that of rho, unless it is given
  EXPECT_EQ(fabric(R"("density": 0.5, "gravity_density": 0.1)").gravity_density, 0.1);
  EXPECT_EQ(fabric(R"("density": 0.5)").gravity_density, 0.5);
  EXPECT_EQ(heavy.poisson_ratio, 0.277);
  EXPECT_EQ(heavy.strain_limit, 0.02);
}

// Preset alone, in a scene of the recipe.
TEST(SceneFile, PresetsGoWithRecipesThatHaveNoPoissonRatio) {
  const TemporaryFolder folder;
  const auto poisson = [&](const std::string& recipe, const std::string& beside) {
    return read_scene(folder.write("preset.json", R"({"recipe": ")" + recipe +
                                                      R"(", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "fabric": {"preset": "cotton")" +
                                                      beside + "}}]}"))
        .garments[0]
        .fabric.poisson_ratio;
  };
  EXPECT_GT(poisson("membrane", ""), 0);
  for (const char* recipe : {"springs", "soft_constraints"}) {
    EXPECT_EQ(poisson(recipe, ""), 0) << recipe;
    EXPECT_THROW(poisson(recipe, R"(, "poisson_ratio": 0.3)"), SceneError) << recipe;
  }
}

// Every figure of a sheet may be given; those of hysteresis change nothing.
TEST(SceneFile, KesSheetsAreReadWhole) {
  const TemporaryFolder folder;
  const auto fabric = [&](const std::string& thread, const std::string& sheet) {
    return read_scene(
               folder.write("kes.json", R"({"recipe": "membrane", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "fabric": {"kes": {"W": 21, "G": 0.6,
      "warp": {"EMT": 5, "LT": 0.62, "B": 0.09)" +
                                            thread + R"(}, "weft": {"EMT": 9, "LT": 0.58, "B": 0.06)" +
                                            std::string(thread.empty() ? "" : R"(, "WT": 13.3)") + "}" +
                                            sheet + "}}}]}"))
        .garments[0]
        .fabric;
  };
  const Fabric plain = fabric("", ""),
               whole = fabric(R"(, "WT": 7.8, "RT": 61, "2HB": 0.04)", R"(, "2HG": 0.9, "2HG5": 2.1)");
  EXPECT_EQ(whole.curves, plain.curves);
  EXPECT_EQ(whole.bending_stiffness, plain.bending_stiffness);
  EXPECT_EQ(whole.shear_stiffness, plain.shear_stiffness);
}

TEST(SceneFile, CurvesAreOfPointsFilesAndPolynomials) {
  const TemporaryFolder folder;
  folder.write("shear.csv", "0,0\n0.1,2\n0.5,40\n");
  std::vector<std::string> warnings;
  const Scene scene = read_scene(
      folder.write("curves.json", R"({"recipe": "membrane", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "fabric": {
       "curves": {"warp": {"polynomial": [60, -200, 3e4], "up_to": 0.3},
                  "weft": {"strain": [0.02, 0.1], "force": [2, 50], "between": "linear"},
                  "shear": {"file": "shear.csv", "between": "linear"}},
       "stretch_viscosity": 3,
       "viscosity_curves": {"warp": {"polynomial": [5, 0, 3], "up_to": 4},
                            "shear": {"rate": [0.5, 2], "force": [4, 34]}}}}]})"),
      warnings, {});
  const Fabric& fabric = scene.garments[0].fabric;
  EXPECT_EQ(fabric.curves.warp.polynomial, (std::vector<double>{60, -200, 3e4}));
  EXPECT_EQ(fabric.curves.warp.up_to, 0.3);
  EXPECT_EQ(fabric.curves.weft.points, (std::vector<std::array<double, 2>>{{0.02, 2}, {0.1, 50}}));
  EXPECT_EQ(fabric.curves.weft.between, CurveBetween::linear);
  EXPECT_EQ(fabric.curves.shear.points, (std::vector<std::array<double, 2>>{{0.1, 2}, {0.5, 40}}));
  EXPECT_EQ(fabric.curves.shear.between, CurveBetween::linear);
  const ViscosityCurves& viscosity = fabric.viscosity.curves;
  EXPECT_EQ(viscosity.warp.polynomial, (std::vector<double>{5, 0, 3}));
  EXPECT_EQ(viscosity.shear.points, (std::vector<std::array<double, 2>>{{0.5, 4}, {2, 34}}));
  EXPECT_FALSE(viscosity.weft.exists());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(
      warnings[0].find("stretch_viscosity: found 3 N s/m, in whose place viscosity_curves.warp answers"),
      std::string::npos)
      << warnings[0];
}

TEST(SceneFile, StiffnessesBesideCurvesAreWarnedOf) {
  const TemporaryFolder folder;
  const auto warnings = [&](const std::string& keys) {
    std::vector<std::string> found;
    read_scene(
        folder.write("curves.json", R"({"recipe": "membrane", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "replicas": 2, "fabric": {)" +
                                        keys + "}}]}"),
        found, {});
    return found;
  };
  const std::string warp = R"("curves": {"warp": {"strain": [0.01], "force": [5]}})",
                    shear = R"("curves": {"shear": {"strain": [0.01], "force": [5]}})",
                    kes = R"("kes": {"W": 21, "G": 0.6, "warp": {"EMT": 5, "LT": 0.6, "B": 0.1},
                            "weft": {"EMT": 9, "LT": 0.6, "B": 0.1}})";
  const std::pair<std::string, std::string> all[] = {{warp, "stretch_stiffness"},
                                                     {warp, "weft_stretch_stiffness"},
                                                     {shear, "shear_stiffness"},
                                                     {kes, "stretch_stiffness"},
                                                     {kes, "weft_stretch_stiffness"}};
  for (const auto& [curve, key] : all) {
    EXPECT_EQ(warnings(curve).size(), 0U);
    const auto found = warnings(curve + ", \"" + key + "\": 4321");
    ASSERT_EQ(found.size(), 1U) << curve << key;
    EXPECT_EQ(found[0].rfind("garments[0].fabric." + key + ": found 4321 N/m, in whose place", 0), 0U)
        << found[0];
  }
  EXPECT_EQ(warnings(kes + R"(, "shear_stiffness": 40)").size(), 0U) << "answers in the place of G";
}

TEST(SceneFile, KeysWithoutEffectAreWarnedOf) {
  const TemporaryFolder folder;
  const auto warnings = [&](const std::string& recipe, const std::string& keys,
                            const std::string& more = "") {
    std::vector<std::string> found;
    read_scene(folder.write("idle.json", "{\"recipe\": \"" + recipe +
                                             R"(", "step": 0.01, "duration": 1, "garments": [
      {"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, )" +
                                             keys + "}]" + more + "}"),
               found, {});
    return found;
  };
  const std::string all = R"("fabric": {"preset": "cotton", "stretch_stiffness": 5e3, "shear_stiffness": 9})";
  EXPECT_EQ(warnings("membrane", all).size(), 0U);
  EXPECT_EQ(warnings("springs", all).size(), 0U);
  EXPECT_EQ(warnings("coltraro2022", R"("fabric": {"preset": "cotton"})").size(), 0U);
  ASSERT_EQ(warnings("coltraro2022", all).size(), 2U);
  EXPECT_EQ(warnings("coltraro2022", all)[0],
            "garments[0].fabric.stretch_stiffness: no effect with the recipe coltraro2022, whose rows do not "
            "stretch; use membrane");
  ASSERT_EQ(warnings("elastic_edges", all).size(), 1U);
  EXPECT_EQ(warnings("elastic_edges", all)[0].rfind("garments[0].fabric.shear_stiffness: no effect", 0), 0U);
  const std::string plain = R"("fabric": {"density": 0.2})", sewing = R"("sewing": {"speed": 2})",
                    impulse = R"(, "impulse": {"substeps": 2})",
                    projection = R"(, "projection": {"tolerance": 0.001})";
  EXPECT_EQ(
      warnings("bender_iterative", plain, impulse).size() + warnings("membrane", plain, projection).size(),
      0U);
  EXPECT_EQ(warnings("membrane", plain, impulse),
            std::vector<std::string>{"impulse: no effect with the recipe membrane; see projection"});
  EXPECT_EQ(warnings("bender_iterative", plain, projection),
            std::vector<std::string>{"projection: no effect with the recipe bender_iterative; see impulse"});
  ASSERT_EQ(warnings("membrane", sewing).size(), 1U);
  EXPECT_EQ(warnings("membrane", sewing)[0].rfind("garments[0].sewing: no effect on a mesh without seams", 0),
            0U);
}

TEST(SceneFile, DefaultsAreThoseOfTheStructs) {
  const Scene scene = read_garment(grid);
  const Scene expected;
  EXPECT_EQ(scene.name, "scene");
  EXPECT_EQ(scene.recipe, expected.recipe);
  EXPECT_EQ(scene.gravity, expected.gravity);
  EXPECT_EQ(scene.projection.method, expected.projection.method);
  EXPECT_EQ(scene.projection.metric, expected.projection.metric);
  EXPECT_EQ(scene.projection.tolerance, expected.projection.tolerance);
  EXPECT_EQ(scene.projection.max_iterations, expected.projection.max_iterations);
  EXPECT_EQ(scene.projection.on_violation, expected.projection.on_violation);
  EXPECT_EQ(scene.garments[0].name, "garment 0");
  EXPECT_EQ(scene.garments[0].fabric.density, Fabric().density);
  EXPECT_TRUE(scene.garments[0].initial_velocities.empty());
}

TEST(SceneFile, GeneratorsGetTheirNumbers) {
  const auto mesh_of = [](const std::string& keys) {
    return read_garment(R"("mesh": {)" + keys + "}").garments[0].mesh;
  };
  const auto expect_same = [](const Mesh& a, const Mesh& b) {
    EXPECT_EQ(a.positions, b.positions);
    EXPECT_EQ(a.face_nodes, b.face_nodes);
  };
  expect_same(
      mesh_of(R"("generator": "triangle_grid", "nodes": [4, 3], "size": [2, 1], "diagonals": "alternating")"),
      triangle_grid(4, 3, 2, 1, Diagonals::alternating));
  expect_same(
      mesh_of(
          R"("generator": "irregular_triangles", "boundary_segments": 5, "interior_nodes": 9, "size": [2, 1], "seed": 4)"),
      irregular_triangles(5, 9, 2, 1, 4));
  expect_same(
      mesh_of(
          R"("generator": "ring", "radial": 3, "around": 8, "inner_radius": 1, "outer_radius": 2, "faces": "triangles", "phase": 0.3)"),
      ring(3, 8, 1, 2, FaceKind::triangles, 0.3));
  expect_same(mesh_of(R"("generator": "disc", "radial": 3, "around": 8, "radius": 2)"),
              disc(3, 8, 2, FaceKind::quads));
  expect_same(
      mesh_of(R"("generator": "tube", "along": 3, "around": 8, "radius": 2, "height": 5, "faces": "quads")"),
      tube(3, 8, 2, 5, FaceKind::quads));
  expect_same(mesh_of(R"("generator": "tank_top", "triangles": 900)"), tank_top(900));
}

TEST(SceneFile, SelectorsFindTheirNodes) {
  const auto nodes_of = [](const std::string& select) {
    return read_garment(grid + R"(, "transform": {"translation": [10, 0, 0]}, "pins": [{"select": )" +
                        select + "}]")
        .garments[0]
        .pins[0]
        .nodes;
  };
  using Nodes = std::vector<Index>;
  EXPECT_EQ(nodes_of(R"({"nodes": [5, 2]})"), (Nodes{5, 2}));
  EXPECT_EQ(nodes_of(R"({"nearest": [[11.1, 2.1, 0], [9, -1, 0]]})"), (Nodes{11, 0}));
  EXPECT_EQ(nodes_of(R"({"box": {"min": [9.9, -0.1, 0], "max": [10.5, 0.1, 0]}})"), (Nodes{0, 1}));
  EXPECT_EQ(nodes_of(R"({"sphere": {"center": [10, 0, 0], "radius": 0.6}})"), (Nodes{0, 1}));
  EXPECT_EQ(nodes_of(R"({"boundary_loop": 0})"), build_topology(quad_grid(3, 4, 1, 2)).boundary_loops[0]);
}

TEST(SceneFile, TransformScalesTurnsAndMoves) {
  const Scene scene =
      read_garment(grid + R"(, "transform": {"scale": 2, "rotation": [0, 0, 90], "translation": [1, 2, 3]})");
  const Mesh flat = quad_grid(3, 4, 1, 2);
  for (std::size_t i = 0; i < flat.positions.size(); ++i) {
    const Vec3d& p = flat.positions[i];
    EXPECT_LT(distance(scene.garments[0].mesh.positions[i], {1 - 2 * p.y, 2 + 2 * p.x, 3}), 1e-14);
  }
  EXPECT_EQ(scene.garments[0].mesh.corner_uvs.at(1).x, 2 * flat.corner_uvs.at(1).x);
}

TEST(SceneFile, InitialVelocityTurnsAboutTheCentroid) {
  const Scene scene =
      read_garment(grid + R"(, "initial_velocity": [0, 0, 5], "initial_angular_velocity": [0, 0, 2])");
  const Garment& garment = scene.garments[0];
  for (std::size_t i = 0; i < garment.mesh.positions.size(); ++i) {
    const Vec3d r = garment.mesh.positions[i] - Vec3d{0.5, 1, 0};
    EXPECT_LT(distance(garment.initial_velocities[i], {-2 * r.y, 2 * r.x, 5}), 1e-14);
  }
}

TEST(SceneFile, NoiseIsSeededNormalAndOfItsDeviation) {
  const std::string big =
      R"("mesh": {"generator": "quad_grid", "nodes": [60, 60], "size": [1, 1]}, "rest_noise": {"normal_deviation": 0.002)";
  const std::vector<Vec3d> noisy = read_garment(big + "}").garments[0].mesh.positions;
  const std::vector<Vec3d> flat = quad_grid(60, 60, 1, 1).positions;
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    EXPECT_EQ(noisy[i].x, flat[i].x);
    EXPECT_EQ(noisy[i].y, flat[i].y);
    sum += noisy[i].z;
    square += noisy[i].z * noisy[i].z;
  }
  const auto n = static_cast<double>(flat.size());
  // Four standard errors of the mean and of the variance.
  EXPECT_NEAR(sum / n, 0, 4 * 0.002 / std::sqrt(n));
  EXPECT_NEAR(square / n / (0.002 * 0.002), 1, 4 * std::sqrt(2 / n));
  EXPECT_EQ(read_garment(big + "}").garments[0].mesh.positions, noisy);
  EXPECT_EQ(read_garment(big + R"(, "seed": 5})").garments[0].mesh.positions,
            read_garment(big + "}", 5).garments[0].mesh.positions);
  EXPECT_NE(read_garment(big + "}", 5).garments[0].mesh.positions, noisy);
}

TEST(SceneFile, RecordedMotionAndMeshFilesLieBesideTheScene) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  const Mesh mesh = quad_grid(2, 2, 1, 1);
  write_ply(folder / "sub/cloth.ply", mesh, mesh.positions);
  folder.write("sub/path.csv", "t, x, y, z\r\n# recorded by hand\n0, 0, 0, 0\r\n\n1.5, 1, -2, 3e-1\n");
  const std::string content =
      R"({"step": 0.01, "duration": 1, "garments": [{"mesh": {"file": "sub/cloth.ply"},
    "pins": [{"select": {"nodes": [0]}, "motion": {"type": "recorded", "file": "sub/path.csv"}}]}]})";
  const Scene scene = read_scene(folder.write("scene.json", content));
  EXPECT_EQ(scene.garments[0].mesh.positions, mesh.positions);
  const auto& motion = std::get<RecordedMotion>(scene.garments[0].pins[0].motion);
  EXPECT_EQ(motion.times, (std::vector<double>{0, 1.5}));
  EXPECT_EQ(motion.positions, (std::vector<Vec3d>{{0, 0, 0}, {1, -2, 0.3}}));

  const TemporaryFolder elsewhere;
  const Scene copy = read_scene(elsewhere.write("scene.json", portable_scene_text(folder / "scene.json")),
                                {{folder.path()}});
  EXPECT_EQ(scene_digest(copy), scene_digest(scene));
}

template <class Number>
void append(std::string& bytes, Number number, std::endian order) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  if (order != std::endian::native) std::reverse(std::begin(raw), std::end(raw));
  bytes.append(raw, sizeof number);
}
constexpr float cached_frames[2][4][3] = {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}},
                                          {{0, 0, 2}, {1, 0, 2}, {0, 1, 3}, {1, 1, 4}}};
void append_frames(std::string& bytes, std::endian order) {
  for (const auto& frame : cached_frames)
    for (const auto& point : frame)
      for (const float x : point) append(bytes, x, order);
}
std::string pc2(std::int32_t points = 4, std::int32_t frames = 2, std::int32_t version = 1, float rate = 1) {
  std::string bytes("POINTCACHE2\0", 12);
  const auto little = std::endian::little;
  append(bytes, version, little);
  append(bytes, points, little);
  append(bytes, 6.f, little);
  append(bytes, rate, little);
  append(bytes, frames, little);
  append_frames(bytes, little);
  return bytes;
}
std::string mdd(float second_time = 0.5) {
  std::string bytes;
  const auto big = std::endian::big;
  append(bytes, std::int32_t{2}, big);
  append(bytes, std::int32_t{4}, big);
  append(bytes, 0.25f, big);
  append(bytes, second_time, big);
  append_frames(bytes, big);
  return bytes;
}
std::string body_scene(const std::string& motion, const std::string& select = R"({"all": true})") {
  return R"({"step": 0.01, "duration": 1, "garments": [{"mesh": {"generator": "quad_grid", "nodes": [2, 2],
    "size": [1, 1]}, "transform": {"scale": 2, "translation": [0, 0, 5]}, "time_offset": 0.25,
    "pins": [{"select": )" +
         select + R"(, "motion": {"type": "recorded", )" + motion + "}}]}]}";
}

TEST(SceneFile, PointCachesDriveBodies) {
  const TemporaryFolder folder;
  folder.write("body.pc2", pc2());
  folder.write("body.mdd", mdd());
  const Scene counted =
      read_scene(folder.write("a.json", body_scene(R"("file": "body.pc2", "frames_per_second": 24)")));
  const Scene timed = read_scene(folder.write("b.json", body_scene(R"("file": "body.mdd")")));
  std::vector<Vec3d> expected;
  for (const auto& frame : cached_frames)
    for (const auto& p : frame) expected.push_back({2 * p[0], 2 * p[1], 2 * p[2] + 5});
  for (const Scene* scene : {&counted, &timed}) {
    const Garment& body = scene->garments[0];
    EXPECT_TRUE(is_kinematic(body));
    const auto& motion = std::get<RecordedMotion>(body.pins[0].motion);
    EXPECT_EQ(motion.positions, expected);
    // It starts where the recording has it at its time offset, here at the first frame.
    EXPECT_EQ(start_positions(body), (std::vector<Vec3d>(expected.begin(), expected.begin() + 4)));
  }
  EXPECT_EQ(std::get<RecordedMotion>(counted.garments[0].pins[0].motion).times,
            (std::vector<double>{6 / 24.0, 7 / 24.0}));
  EXPECT_EQ(std::get<RecordedMotion>(timed.garments[0].pins[0].motion).times,
            (std::vector<double>{0.25, 0.5}));
  // Some nodes of the cache.
  const Scene part = read_scene(
      folder.write("c.json", body_scene(R"("file": "body.mdd")", R"({"nodes": [3]}, "ramp": 0.5)")));
  EXPECT_EQ(std::get<RecordedMotion>(part.garments[0].pins[0].motion).positions,
            (std::vector<Vec3d>{expected[3], expected[7]}));
}

TEST(SceneFile, BrokenPointCachesAreRefused) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name, const std::string& bytes, const std::string& more = "") {
    folder.write(name, bytes);
    try {
      read_scene(folder.write("scene.json", body_scene(R"("file": ")" + name + "\"" + more)));
    } catch (const Error& error) {
      const std::string message = error.what();
      return message.substr(message.find(name.substr(0, 1) == "x" ? "garments" : name));
    }
    return std::string("accepted");
  };
  const std::string rate = R"(, "frames_per_second": 24)";
  EXPECT_EQ(refusal("a.pc2", pc2(5), rate), "a.pc2: found 5 points, expected 4, the nodes of the mesh");
  EXPECT_EQ(refusal("a.pc2", pc2(4, 3), rate),
            "a.pc2: found 128 bytes, expected 176 for 3 frames of 4 points");
  EXPECT_EQ(refusal("a.pc2", pc2(4, 2, 2), rate), "a.pc2: found version 2, expected 1");
  EXPECT_EQ(refusal("a.pc2", pc2(4, 2, 1, 0), rate),
            "a.pc2: found 0 frames from sample to sample, expected more than 0");
  EXPECT_EQ(refusal("a.pc2", "POINTS", rate), "a.pc2: is no PC2 file: it does not begin with POINTCACHE2");
  EXPECT_EQ(refusal("a.mdd", mdd(0.125f)),
            "a.mdd: frame 1: found time 0.125 s, expected finite times that ascend");
  EXPECT_EQ(refusal("a.mdd", "xyz"), "a.mdd: found 3 bytes, expected an MDD file");
  std::string not_finite = mdd();
  std::fill(not_finite.end() - 4, not_finite.end(), '\xff');
  EXPECT_EQ(refusal("a.mdd", not_finite), "a.mdd: frame 1: found a position of node 3 that is not finite");
  EXPECT_EQ(refusal("x.pc2", pc2()),
            "garments[0].pins[0].motion.frames_per_second: found none or 0, expected the rate of x.pc2, "
            "which counts "
            "frames");
  EXPECT_EQ(
      refusal("x.mdd", mdd(), rate),
      "garments[0].pins[0].motion.frames_per_second: found 24, expected none: x.mdd has times of its own");
}

TEST(SceneFile, FrictionOfTwoCloths) {
  const TemporaryFolder folder;
  const auto pairs = [&](const std::string& content) {
    const std::string mesh = R"("mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
      "fabric": {"thickness": 0.001})";
    return read_scene(folder.write("scene.json", R"({"step": 0.01, "duration": 1, "recipe": "elastic_edges",
      "contact": {"cloth": true, "pairs": )" + content +
                                                     R"(},
      "garments": [{"name": "shirt", )" + mesh + R"(}, {"name": "towel", "replicas": 2, )" +
                                                     mesh + "}]}"))
        .contact.cloth_pairs;
  };
  const auto numbers = [](const std::vector<ClothFrictionPair>& all) {
    std::vector<std::array<double, 3>> found;
    for (const ClothFrictionPair& pair : all)
      found.push_back({double(pair.garment), double(pair.other), pair.friction.static_});
    return found;
  };
  using Numbers = std::vector<std::array<double, 3>>;
  EXPECT_EQ(numbers(pairs(R"([{"garment": "towel", "other_garment": "shirt", "static": 0.5}])")),
            (Numbers{{1, 0, 0.5}, {2, 0, 0.5}}));
  EXPECT_EQ(numbers(pairs(R"([{"garment": "towel", "other_garment": "towel", "static": 0.2}])")),
            (Numbers{{1, 1, 0.2}, {2, 2, 0.2}}));  // replicas do not meet
  const auto refusal = [&](const std::string& content) {
    try {
      pairs(content);
    } catch (const SceneError& error) {
      return std::string(error.what()).substr(std::string(error.what()).find("contact"));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(
      refusal(R"([{"garment": "shirt", "other_garment": "towel", "static": 0.5},
                        {"garment": "towel", "other_garment": "shirt", "static": 0.1}])"),
      "contact.pairs[1]: found \"towel[0]\" with \"shirt\", already in pairs[0], expected each two of them "
      "once");
  EXPECT_EQ(refusal(R"([{"other_garment": "shirt", "static": 0.1}])").substr(0, 40),
            "contact.pairs[0]: found other_garment of");
}

TEST(SceneFile, APlainSceneIsCopiedByteForByte) {
  const std::filesystem::path path =
      std::filesystem::path(ISOCLOTH_SOURCE_DIR) / "bench/scenes/shake_fast_9x9.json";
  EXPECT_EQ(portable_scene_text(path), read_whole_file(path));
}

TEST(SceneFile, DigestSeesEveryChange) {
  const Scene scene = read_garment(grid + R"(, "pins": [{"select": {"nodes": [0]}}])");
  const auto changed = [&](auto change) {
    Scene other = scene;
    change(other);
    return scene_digest(other) != scene_digest(scene);
  };
  EXPECT_TRUE(changed([](Scene& s) { s.gravity = std::nextafter(s.gravity, 10); }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].gravity = 0; }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].gravity = s.gravity; }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].time_offset = 1e-300; }));
  EXPECT_TRUE(changed([](Scene& s) { s.step *= 2; }));
  EXPECT_TRUE(changed([](Scene& s) { s.recipe = "inextensible_edges"; }));
  EXPECT_TRUE(changed([](Scene& s) { s.projection.eps = 1e-5; }));
  EXPECT_TRUE(changed([](Scene& s) { s.projection.metric = Metric::mass; }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].fabric.stiffness_damping = 1; }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].mesh.positions[7].z = 1e-300; }));
  EXPECT_TRUE(changed(
      [](Scene& s) { std::swap(s.garments[0].mesh.face_nodes[0], s.garments[0].mesh.face_nodes[1]); }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].pins[0].nodes[0] = 1; }));
  EXPECT_TRUE(changed([](Scene& s) { s.garments[0].pins[0].motion = OscillationMotion{}; }));
  EXPECT_FALSE(changed([](Scene& s) { s.duration = 99; }));
  EXPECT_FALSE(changed([](Scene& s) { s.name = s.garments[0].pins[0].name = "another"; }));
  EXPECT_FALSE(changed([](Scene& s) { s.projection.on_violation = OnViolation::go_on; }));
}

TEST(SceneFile, ContactToleranceFollowsTheThinnestFabric) {
  const TemporaryFolder folder;
  const auto tolerance = [&](const std::string& contact, const std::string& preset) {
    return read_scene(
               folder.write("a.json", R"({"step": 0.01, "duration": 0.1, "contact": {)" + contact +
                                          R"(}, "garments": [{"mesh": {"generator": "quad_grid", "nodes":
        [3, 3], "size": [1, 1]}, "fabric": {"preset": "denim"}}, {"mesh": {"generator": "quad_grid", "nodes": [3, 3],
        "size": [1, 1]}, "transform": {"translation": [0, 0, 1]}, "fabric": {"preset": ")" +
                                          preset + R"("}}]})"))
        .contact.tolerance;
  };
  for (const char* preset : {"cotton", "paper", "polyester", "silk"}) {
    const double found = tolerance(R"("cloth": true)", preset);
    EXPECT_GT(found, 1e-5) << preset;
    EXPECT_LT(found, 1e-4) << preset;
    EXPECT_EQ(tolerance("", preset), 1e-4) << preset;
  }
  EXPECT_EQ(tolerance(R"("cloth": true)", "denim"), 1e-4);
  EXPECT_EQ(tolerance(R"("cloth": true, "tolerance": 5e-5)", "cotton"), 5e-5);
}

TEST(SceneFile, ReadsKeyframesOfWhatTheyName) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& keyframes) {
    return read_scene(folder.write("a.json", R"({"step": 0.01, "duration": 0.1, "keyframes": [)" + keyframes +
                                                 R"(], "garments": [
        {"name": "one", "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "replicas": 3},
        {"name": "other", "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}}],
        "obstacles": [{"name": "floor", "shape": {"type": "plane"}, "position": [0, 0, -1]}]})"));
  };
  const std::string
      of_scene = R"({"number": "wind.velocity[2]", "times": [0, 1, 1], "values": [1, 2, 0]})",
      of_batch = R"({"garment": "one", "number": "fabric.density", "times": [0], "values": [0.3]})",
      of_replica = R"({"garment": "one[1]", "number": "gravity", "times": [0], "values": [0]})",
      of_obstacle = R"({"obstacle": "floor", "number": "friction.static", "times": [0], "values": [0.5]})";
  const Scene scene = read(of_scene + "," + of_batch + "," + of_replica + "," + of_obstacle);
  ASSERT_EQ(scene.keyframes.size(), 4u);
  EXPECT_EQ(scene.keyframes[0], (Keyframes{"wind.velocity[2]", {}, Keyframes::none, {{0, 1, 1}, {1, 2, 0}}}));
  EXPECT_EQ(scene.keyframes[1].garments, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(scene.keyframes[2].garments, (std::vector<std::size_t>{1}));
  EXPECT_EQ(scene.keyframes[3].obstacle, 0);
  EXPECT_NE(scene_digest(scene), scene_digest(read(of_scene)));
  const auto says = [&](const std::string& keyframes, const std::string& expected) {
    try {
      read(keyframes);
      ADD_FAILURE() << keyframes;
    } catch (const SceneError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  };
  says(R"({"garment": "ones", "number": "gravity", "times": [0], "values": [0]})",
       "keyframes[0].garment: found \"ones\", expected a known name; the nearest is \"one\"");
  says(of_scene + R"(, {"number": "wind.velocity", "times": [0], "values": [0]})",
       "keyframes[1].number: found \"wind.velocity\"");
  says(of_batch + R"(, {"garment": "one[2]", "number": "fabric.density", "times": [0], "values": [1]})",
       "keyframes[1].number: found \"fabric.density\", which keyframes[0] has");
}

}  // namespace
}  // namespace isocloth
