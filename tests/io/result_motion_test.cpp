// Bodies driven by how a garment of a result moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "engine/core/errors.hpp"
#include "host/results/trajectory_writer.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

std::string garment(const std::string& name, const std::string& more = "", int nodes = 3) {
  const std::string n = std::to_string(nodes);
  return R"({"name": ")" + name + R"(", "mesh": {"generator": "quad_grid", "nodes": [)" + n + ", " + n +
         R"(], "size": [1, 1]})" + more + "}";
}
std::string scene(const std::string& garments) {
  return R"({"step": 0.01, "duration": 1, "garments": [)" + garments + "]}";
}
std::string driven(const std::string& motion, int nodes = 3) {
  return scene(
      garment("body",
              R"(, "transform": {"translation": [0, 0, 5]}, "pins": [{"select": {"all": true}, "motion":
    {"type": "recorded", )" +
                  motion + "}}]",
              nodes));
}

/// Garments of 9 nodes of which the g-th is g + 10 t high; positions of the first `kept` are.
struct Result : TemporaryFolder {
  explicit Result(const std::string& garments, int frames = 3, std::size_t kept = 100) {
    const Scene of = read_scene(write("of.json", scene(garments)));
    TrajectoryWriter writer(*this / "trajectory.h5", trajectory_layout(of, kept));
    for (int f = 0; f < frames; ++f) {
      TrajectoryFrame frame{f, 0.1 * f, {}, std::vector<FrameMetrics>(of.garments.size())};
      for (std::size_t g = 0; g < std::min(kept, of.garments.size()); ++g)
        for (const Vec3d& p : of.garments[g].mesh.positions)
          frame.positions.insert(frame.positions.end(), {p.x, p.y, static_cast<double>(g) + f});
      writer.append(frame);
    }
    writer.close();
  }
  RecordedMotion read(const std::string& motion, int nodes = 3) const {
    return std::get<RecordedMotion>(
        read_scene(write("scene.json", driven(motion, nodes))).garments[0].pins[0].motion);
  }
  std::string refusal(const std::string& motion, int nodes = 3) const {
    try {
      read(motion, nodes);
    } catch (const Error& error) {
      const std::string message = error.what(), folder = (*this / "").string();
      std::string without;
      for (std::size_t at = 0; at < message.size();)
        if (message.compare(at, folder.size(), folder) == 0)
          at += folder.size();
        else
          without += message[at++];
      return without;
    }
    return "accepted";
  }
};

constexpr auto file = R"("file": "trajectory.h5")";

TEST(ResultMotion, IsWhereTheGarmentWasInTheWorld) {
  const RecordedMotion only = Result(garment("a")).read(file);
  EXPECT_EQ(only.times, (std::vector<double>{0, 0.1, 0.2}));
  ASSERT_EQ(only.positions.size(), 27u);
  EXPECT_EQ(only.positions[13].z, 1);  // the transform is not applied again
  const Result two(garment("a") + ", " + garment("b"));
  const RecordedMotion second = two.read(std::string(file) + R"(, "garment": "b")");
  ASSERT_EQ(second.positions.size(), 27u);
  EXPECT_EQ(second.positions[26].z, 3);
  EXPECT_EQ(second.positions[26].x, only.positions[26].x);
}

TEST(ResultMotion, ResultsMayKeepPositionsOfTheFirstGarmentsAlone) {
  const Result two(garment("a") + ", " + garment("b") + ", " + garment("c"), 3, 2);
  EXPECT_EQ(two.read(std::string(file) + R"(, "garment": "b")").positions[26].z, 3);
  EXPECT_NE(two.refusal(std::string(file) + R"(, "garment": "c")").find("has no positions of \"c\""),
            std::string::npos);
}

TEST(ResultMotion, WhatIsWrongIsNamed) {
  const Result two(garment("a") + ", " + garment("b"));
  const std::string motion = "scene.json: garments[0].pins[0].motion";
  EXPECT_EQ(two.refusal(file),
            motion + ".garment: missing, expected the name of one of the 2 garments of trajectory.h5");
  EXPECT_EQ(two.refusal(std::string(file) + R"(, "garment": "c")"),
            motion + ".garment: found \"c\", expected one of trajectory.h5: the first is \"a\"");
  const Result one(garment("a"));
  EXPECT_EQ(one.refusal(std::string(file) + R"(, "frames_per_second": 24)"),
            motion + ".frames_per_second: found 24, expected none: trajectory.h5 has times of its own");
  EXPECT_EQ(one.refusal(R"("file": "walk.pc2", "frames_per_second": 24, "garment": "a")"),
            motion + ".garment: found \"a\", expected none: walk.pc2 is no result");
  EXPECT_EQ(one.refusal(file, 4),
            "scene.json: trajectory.h5: found 9 nodes, expected 16, the nodes of the mesh");
  EXPECT_EQ(Result(garment("a"), 0).refusal(file),
            "scene.json: trajectory.h5: found no frame, expected at least one");
  one.write("trajectory.h5", "no HDF5 file");
  EXPECT_NE(one.refusal(file).find("trajectory.h5"), std::string::npos);
}

}  // namespace
}  // namespace isocloth
