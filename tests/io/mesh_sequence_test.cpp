// Motions recorded as one mesh file per frame.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>

#include "engine/core/errors.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

/// A quad that has come up by `height` m, with its corners from `first` on.
std::string quad(double height, const std::string& face = "1 2 4 3") {
  const std::string z = std::to_string(height) + "\n";
  return "v 0 0 " + z + "v 1 0 " + z + "v 0 1 " + z + "v 1 1 " + z + "f " + face + "\n";
}

std::string scene(const std::string& motion) {
  return R"({"step": 0.01, "duration": 1, "garments": [{"mesh": {"generator": "quad_grid", "nodes": [2, 2],
    "size": [1, 1]}, "transform": {"translation": [0, 0, 5]},
    "pins": [{"select": {"all": true}, "motion": {"type": "recorded", )" +
         motion + "}}]}]}";
}

constexpr auto counted = R"("file": "walk_%04d.obj", "frames_per_second": 10)";

TEST(MeshSequence, FramesAreNumberedUpwardsFromTheFirst) {
  const TemporaryFolder folder;
  for (const int number : {8, 9, 10, 11})
    folder.write("walk_00" + std::string(number < 10 ? "0" : "") + std::to_string(number) + ".obj",
                 quad(0.1 * (number - 8)));
  folder.write("walk_7.obj", "of no width");
  folder.write("walk_0007.ply", "of another kind");
  const Scene read = read_scene(folder.write("a.json", scene(counted)));
  const auto& motion = std::get<RecordedMotion>(read.garments[0].pins[0].motion);
  EXPECT_EQ(motion.times, (std::vector<double>{0, 0.1, 0.2, 0.3}));
  ASSERT_EQ(motion.positions.size(), 16u);
  EXPECT_NEAR(motion.positions[15].z, 5.3, 1e-12);  // where the garment's transform places it
  EXPECT_EQ(motion.file, "walk_%04d.obj");
}

TEST(MeshSequence, FacesMayBeginAnywhere) {
  const TemporaryFolder folder;
  folder.write("walk_0000.obj", quad(0, "4 3 1 2"));
  folder.write("walk_0001.obj", quad(1, "1 3 4 2"));
  EXPECT_EQ(
      std::get<RecordedMotion>(read_scene(folder.write("a.json", scene(counted))).garments[0].pins[0].motion)
          .times.size(),
      2u);
}

TEST(MeshSequence, PolygonsMayBeCutOtherwiseInEveryFrame) {
  const TemporaryFolder folder;
  const auto polygon = [](double x) {
    return "v 9 9 9\nv 0 0 0\nv 1 0 0\nv " + std::to_string(1 + x) + " 1 0\nv 0.5 " +
           std::to_string(1.2 + 3 * x) + " 0\nv 0 1 0\nv 2 0 0\nf 2 3 4 5 6\nf 3 7 4\n";
  };
  folder.write("a.obj", polygon(0));
  for (int frame = 0; frame < 4; ++frame)
    folder.write("walk_000" + std::to_string(frame) + ".obj", polygon(0.2 * frame));
  const std::string garment =
      R"({"step": 0.01, "duration": 1, "garments": [{"mesh": {"file": "a.obj"}, "pins":
      [{"select": {"all": true}, "motion": {"type": "recorded", )" +
      std::string(counted) + "}}]}]}";
  const Scene read = read_scene(folder.write("a.json", garment));
  EXPECT_EQ(std::get<RecordedMotion>(read.garments[0].pins[0].motion).positions.size(), 24u);
  folder.write("walk_0003.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 2 0\nv 0 1 0\nv 2 0 0\nf 1 2 3 5 4\nf 2 6 4\n");
  EXPECT_THROW(read_scene(folder / "a.json"), FileError);
}

TEST(MeshSequence, PlyFilesAreReadWithoutZeros) {
  const TemporaryFolder folder;
  const Mesh mesh = parse_obj(quad(0), "quad");
  for (const int number : {9, 10}) {
    std::vector<Vec3d> positions = mesh.positions;
    for (Vec3d& p : positions) p.z += number;
    write_ply(folder / ("f" + std::to_string(number) + ".ply"), mesh, positions);
  }
  const Scene read =
      read_scene(folder.write("a.json", scene(R"("file": "f%d.ply", "frames_per_second": 24)")));
  EXPECT_EQ(std::get<RecordedMotion>(read.garments[0].pins[0].motion).positions.back().z, 15);
}

TEST(MeshSequence, WhatIsWrongIsNamed) {
  const auto refusal = [](const std::string& motion, const std::string& second, int number = 1) {
    const TemporaryFolder folder;
    folder.write("walk_0000.obj", quad(0));
    folder.write("walk_000" + std::to_string(number) + ".obj", second);
    try {
      read_scene(folder.write("scene.json", scene(motion)));
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::size_t file = message.rfind('/');
      return message.substr(file + 1);
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(counted, quad(1)), "accepted");
  EXPECT_EQ(refusal(counted, quad(1), 3), "walk_0001.obj: missing, expected every number from 0 to 3");
  EXPECT_EQ(refusal(R"("file": "run_%04d.obj", "frames_per_second": 10)", quad(1)),
            "run_%04d.obj: found none of these files, expected at least one");
  EXPECT_EQ(refusal(counted, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
            "walk_0001.obj: found 3 nodes, expected 4, the nodes of the mesh");
  EXPECT_EQ(refusal(counted, quad(1, "1 2 4")),  // without vertex 3, which is of no face then
            "walk_0001.obj: found 3 nodes, expected 4, the nodes of the mesh");
  EXPECT_EQ(refusal(counted, quad(1, "1 2 4\nf 1 4 3")),
            "walk_0001.obj: found other faces than those of the mesh, expected the same in every file");
  EXPECT_EQ(refusal(counted, quad(1) + "v 0 0 nan\n").substr(0, 25), "walk_0001.obj:6: v: found");
  const auto of_scene = [&](const std::string& motion) {
    const std::string message = refusal(motion, quad(1));
    return message.substr(message.find("garments"));
  };
  EXPECT_EQ(
      of_scene(R"("file": "walk_%04d.obj")"),
      "garments[0].pins[0].motion.frames_per_second: found none or 0, expected the rate of walk_%04d.obj");
  for (const char* name : {"walk_%s.obj", "walk_%4d.obj", "%04d_%04d.obj"})
    EXPECT_EQ(of_scene(R"("frames_per_second": 10, "file": ")" + std::string(name) + "\""),
              "garments[0].pins[0].motion.file: found \"" + std::string(name) +
                  "\", expected one number in it, %d or %04d");
}

TEST(MeshSequence, LinksOutOfTheFolderAreRefused) {
  const TemporaryFolder folder, elsewhere;
  folder.write("walk_0000.obj", quad(0));
  std::filesystem::create_symlink(elsewhere.write("other.obj", quad(1)), folder / "walk_0001.obj");
  EXPECT_THROW(read_scene(folder.write("a.json", scene(counted))), FileError);
}

}  // namespace
}  // namespace isocloth
