// Garments of a scene file that stand for many.
#include "host/scene/replicas.hpp"

#include <gtest/gtest.h>

#include <map>

#include "engine/core/random.hpp"
#include "host/results/scene_digest.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

const std::string sheet =
    R"("name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [3, 4], "size": [1, 2]},
       "pins": [{"select": {"nodes": [9, 11]}, "ramp": 0.5,
                 "motion": {"type": "oscillation", "amplitude": [1, 2, 3], "frequency": 4}}])";

std::string scene_of(const std::string& keys, int seed = 5) {
  return R"({"step": 0.01, "duration": 1, "seed": )" + std::to_string(seed) + R"(, "garments": [{)" + keys +
         "}]}";
}
Scene read(const std::string& keys, int seed = 5) {
  const TemporaryFolder folder;
  return read_scene(folder.write("scene.json", scene_of(keys, seed)));
}

TEST(Replicas, AreGarmentsOfTheirOwn) {
  const Scene scene = read(sheet + R"(, "replicas": 3)");
  ASSERT_EQ(scene.garments.size(), 3u);
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_EQ(scene.garments[g].name, "sheet[" + std::to_string(g) + "]");
    EXPECT_EQ(scene.garments[g].mesh.positions, scene.garments[0].mesh.positions);
  }
  EXPECT_EQ(read(sheet + R"(, "replicas": 1)").garments[0].name, "sheet[0]");
  EXPECT_EQ(read(sheet).garments[0].name, "sheet");
  EXPECT_EQ(read(sheet + R"(, "vary": {"gravity": {"from": 1, "to": 2}})").garments[0].gravity, 1);
}

TEST(Replicas, AreOfWorldsOfTheirOwn) {
  const TemporaryFolder folder;
  const auto named = [](const std::string& name, const std::string& keys) {
    return R"({"name": ")" + name +
           R"(", "mesh": {"generator": "quad_grid", "nodes": [3, 4], "size": [1, 2]})" + keys + "}";
  };
  const Scene scene = read_scene(folder.write(
      "scene.json", R"({"step": 0.01, "duration": 1, "garments": [)" + named("a", R"(, "replicas": 3)") +
                        "," + named("b", "") + "," + named("c", R"(, "replicas": 2)") + "," +
                        named("d", R"(, "vary": {"gravity": {"from": 1, "to": 2}})") + "]}"));
  std::vector<Index> worlds;
  for (const Garment& garment : scene.garments) worlds.push_back(garment.world);
  EXPECT_EQ(worlds, (std::vector<Index>{0, 1, 2, -1, 0, 1, 0}));
}

TEST(Replicas, AreWhatTheFileWouldSayOneByOne) {
  const Scene batch = read(sheet + R"(, "replicas": 3, "vary": {
    "fabric.density": {"from": 0.5, "to": 1.5}, "fabric.mass_damping": {"from": 1, "to": 100, "scale": "log"},
    "gravity": {"values": [9, 8, 7]}, "time_offset": {"values": [0, 0.25, 0.5]}, "mesh.size[1]": {"from": 1, "to": 3},
    "mesh.nodes[0]": {"from": 3, "to": 5}, "transform.translation[2]": {"from": 0, "to": 1},
    "initial_velocity[0]": {"from": 0, "to": 2},
    "pins[0].motion.frequency": {"from": 1, "to": 3}, "pins[0].motion.amplitude[1]": {"from": 4, "to": 6}})");
  const char* alphas[] = {"1", "10", "100"};
  ASSERT_EQ(batch.garments.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const auto number = [i](double from, double difference) { return std::to_string(from + difference * i); };
    const Scene single = read(
        R"("name": "sheet[)" + std::to_string(i) + R"(]", "mesh": {"generator": "quad_grid", "nodes": [)" +
        std::to_string(3 + i) + R"(, 4], "size": [1, )" + number(1, 1) + R"(]}, "fabric": {"density": )" +
        number(0.5, 0.5) + R"(, "mass_damping": )" + alphas[i] + R"(}, "gravity": )" + number(9, -1) +
        R"(, "time_offset": )" + number(0, 0.25) + R"(, "transform": {"translation": [0, 0, )" +
        number(0, 0.5) + R"(]}, "initial_velocity": [)" + number(0, 1) +
        R"(, 0, 0], "pins": [{"select": {"nodes": [9, 11]}, "ramp": 0.5,
        "motion": {"type": "oscillation", "frequency": )" +
        number(1, 1) + R"(, "amplitude": [1, )" + number(4, 1) + ", 3]}}]");
    Scene one = batch;
    one.garments = {batch.garments[static_cast<std::size_t>(i)]};
    one.garments[0].world = Garment::every_world;  // a replica is of its own
    EXPECT_EQ(scene_digest(one), scene_digest(single)) << i;
  }
}

TEST(Replicas, DrawRandomNumbersByScenePathAndGarment) {
  const std::string uniform = R"("fabric.density": {"from": 1, "to": 2, "sample": "uniform"})";
  const auto rhos = [](const Scene& scene) {
    std::vector<double> all;
    for (const Garment& garment : scene.garments) all.push_back(garment.fabric.density);
    return all;
  };
  const std::vector<double> found = rhos(read(sheet + R"(, "replicas": 4, "vary": {)" + uniform + "}"));
  Random random(derived_seed(5, 0, "fabric.density"));
  // (1 - u) 1 + u 2 in doubles.
  for (const double rho : found) {
    const double u = random.uniform();
    EXPECT_EQ(rho, (1 - u) * 1 + u * 2);
  }
  // Other numbers that vary, and more replicas, leave them alone; another seed does not.
  EXPECT_EQ(rhos(read(sheet +
                      R"(, "replicas": 4, "vary": {"gravity": {"from": 1, "to": 2, "sample": "uniform"}, )" +
                      uniform + "}")),
            found);
  std::vector<double> longer = rhos(read(sheet + R"(, "replicas": 9, "vary": {)" + uniform + "}"));
  longer.resize(4);
  EXPECT_EQ(longer, found);
  EXPECT_NE(rhos(read(sheet + R"(, "replicas": 4, "vary": {)" + uniform + "}", 6)), found);
}

TEST(Replicas, ShareTheNoiseOfTheirGarmentUnlessItsSeedVaries) {
  const std::string noisy = sheet + R"(, "rest_noise": {"normal_deviation": 0.001}, "replicas": 2)";
  const Scene same = read(noisy);
  EXPECT_EQ(same.garments[0].mesh.positions, same.garments[1].mesh.positions);
  const Scene different = read(noisy + R"(, "vary": {"rest_noise.seed": {"from": 1, "to": 2}})");
  EXPECT_NE(different.garments[0].mesh.positions, different.garments[1].mesh.positions);
}

TEST(Replicas, ReadTheirFilesOnceAndAlike) {
  const TemporaryFolder folder;
  folder.write("square.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  folder.write("path.csv", "0,0,0,0\n1,0,0,1\n");
  const Scene scene = read_scene(folder.write(
      "scene.json",
      scene_of(R"("mesh": {"file": "square.obj"}, "replicas": 50, "pins": [{"select": {"nodes": [0]},
      "motion": {"type": "recorded", "file": "path.csv"}}], "vary": {"transform.scale": {"from": 1, "to": 2}})")));
  ASSERT_EQ(scene.garments.size(), 50u);
  EXPECT_EQ(scene.garments[49].mesh.positions[2], (Vec3d{2, 2, 0}));
  EXPECT_EQ(std::get<RecordedMotion>(scene.garments[49].pins[0].motion).positions.size(), 2u);
}

TEST(Replicas, KnowEveryNumberOfTheirGarment) {
  const Json garment = parse_json("{" + sheet + "}", "garment");
  const GarmentTemplate base(garment, "g");
  std::map<std::string, std::string> units;
  for (const NumberPath& number : base.numbers()) EXPECT_TRUE(units.emplace(number.path, number.unit).second);
  for (const char* path : {"mesh.nodes[1]", "mesh.size[0]", "transform.scale", "rest_noise.seed",
                           "fabric.bending_stiffness", "gravity", "time_offset",
                           "initial_angular_velocity[2]", "pins[0].select.nodes[1]", "pins[0].motion.start"})
    EXPECT_TRUE(units.contains(path)) << path;
  for (const char* path :
       {"name", "mesh.radius", "replicas", "pins[1].motion.start", "pins[0].motion.times[0]"})
    EXPECT_FALSE(units.contains(path)) << path;
  EXPECT_EQ(units["fabric.density"], "kg/m^2");
  EXPECT_EQ(units["transform.scale"], "");
}

}  // namespace
}  // namespace isocloth
