// A folder for results, a scene to run into it, and what must hold of two results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/files/text_file.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// A sheet hung from two corners that move to and fro, in steps of 0.01 s.
inline Json shaken_sheet(std::int64_t step_count) {
  Json scene = Json::parse(R"({
    "name": "shaken sheet", "recipe": "coltraro2022", "step": 0.01, "seed": 7, "projection": {"max_substeps": 4},
    "garments": [{
      "name": "sheet",
      "mesh": {"generator": "quad_grid", "nodes": [5, 6], "size": [0.297, 0.42]},
      "transform": {"rotation": [90, 0, 0]},
      "fabric": {"density": 1, "gravity_density": 0.52, "bending_stiffness": 1e-5, "mass_damping": 2.69},
      "pins": [{"select": {"nearest": [[0, 0, 0.42], [0.297, 0, 0.42]]},
                "motion": {"type": "oscillation", "amplitude": [0, 0.075, 0], "frequency": 0.6}}]}]})");
  scene["duration"] = 0.01 * static_cast<double>(step_count);
  return scene;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Every file below a folder with its content.
inline std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      all[fs::relative(entry.path(), folder).string()] = read_whole_file(entry.path());
  return all;
}

/// The names in a folder, sorted.
inline std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename().string());
  std::sort(all.begin(), all.end());
  return all;
}

inline std::size_t line_count(const std::string& content) {
  return static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n'));
}

class ResultTest : public ::testing::Test {
 protected:
  void write_scene(const std::string& name, const Json& scene) const { folder_.write(name, scene.dump()); }
  Json summary(const std::string& output) const {
    return Json::parse(read_whole_file(folder_ / output / "summary.json"));
  }
  Checkpoint checkpoint(const std::string& output, Precision precision = Precision::float64) const {
    const Scene scene = read_scene(folder_ / output / "scene.json");
    return read_checkpoint(folder_ / output / "checkpoint.h5", scene, precision);
  }

  void expect_same_trajectory(const std::string& a, const std::string& b) const {
    const TrajectoryFile first(folder_ / a / "trajectory.h5"), second(folder_ / b / "trajectory.h5");
    EXPECT_EQ(first.steps(), second.steps());
    EXPECT_TRUE(same_bits(first.times(), second.times()));
    ASSERT_EQ(first.frame_count(), second.frame_count());
    for (std::size_t f = 0; f < first.frame_count(); ++f) {
      ASSERT_TRUE(same_bits(first.positions(f), second.positions(f))) << "frame " << f;
      ASSERT_TRUE(same_bits(first.contact_loads(f), second.contact_loads(f))) << "frame " << f;
    }
    // Every metric of every frame, in digits that give its bits back.
    EXPECT_EQ(read_whole_file(folder_ / a / "metrics.csv"), read_whole_file(folder_ / b / "metrics.csv"));
  }

  void expect_same_checkpoint(const std::string& a, const std::string& b, Precision precision) const {
    const Checkpoint first = checkpoint(a, precision), second = checkpoint(b, precision);
    EXPECT_EQ(first.step_index, second.step_index);
    ASSERT_EQ(first.garments.size(), second.garments.size());
    for (std::size_t g = 0; g < first.garments.size(); ++g) {
      EXPECT_TRUE(same_bits(first.garments[g].positions, second.garments[g].positions));
      EXPECT_TRUE(same_bits(first.garments[g].velocities, second.garments[g].velocities));
      EXPECT_TRUE(same_bits(first.garments[g].multipliers, second.garments[g].multipliers));
      EXPECT_TRUE(same_bits(first.garments[g].contacts, second.garments[g].contacts));
      EXPECT_TRUE(same_bits(first.garments[g].holds, second.garments[g].holds));
      EXPECT_EQ(first.garments[g].step_index, second.garments[g].step_index);
      EXPECT_EQ(first.garments[g].frozen, second.garments[g].frozen);
    }
  }

  /// Everything but the times on the clock, and the memory: arrays that grow have other sizes where a run
  /// goes on than where it came to.
  void expect_same_summary(const std::string& a, const std::string& b) const {
    Json first = summary(a), second = summary(b);
    for (const char* own : {"wall_seconds", "setup_seconds", "realtime_factor", "memory_bytes"}) {
      first.erase(own);
      second.erase(own);
    }
    EXPECT_EQ(first.dump(1), second.dump(1));
  }

  TemporaryFolder folder_;
};

}  // namespace isocloth
