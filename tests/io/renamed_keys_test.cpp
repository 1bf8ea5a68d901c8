// Older names of keys: what they read as, and what is said of them.
#include "host/files/renamed_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/model/fabric_numbers.hpp"
#include "host/results/scene_digest.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

std::string scene_text(const std::string& fabric, const std::string& rest = "") {
  return R"({"recipe": "coltraro2022", "step": 0.01, "duration": 1, "garments": [{"mesh":
    {"generator": "quad_grid", "nodes": [3, 4], "size": [1, 2]}, "fabric": {)" +
         fabric + "}" + rest + "}]";
}

class RenamedKeys : public ::testing::Test {
 protected:
  Scene read(const std::string& text) {
    notes_.clear();
    return read_scene(folder_.write("scene.json", text), notes_, {});
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  }
  int notes_with(const std::string& words) const {
    return static_cast<int>(std::ranges::count_if(
        notes_, [&](const std::string& note) { return note.find(words) != std::string::npos; }));
  }

  TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(RenamedKeys, ReadAsThePresentOnes) {
  const std::string old = scene_text(R"("rho": 0.5, "delta": 0.4, "kappa": 1e-5, "alpha": 2, "beta": 1e-6)") +
                          R"(, "projection": {"balance": 0.01, "factor": "rows", "metric": "B"},
                             "contact": {"push_out": true, "push_out_time": 0.25}})";
  const std::string now =
      scene_text(R"("density": 0.5, "gravity_density": 0.4, "bending_stiffness": 1e-5, "mass_damping": 2,
                    "stiffness_damping": 1e-6)") +
      R"(, "projection": {"force_tolerance": 0.01, "factorization": "rows", "metric": "implicit"},
         "contact": {"resolve_initial_penetration": true, "initial_penetration_time": 0.25}})";
  const std::uint64_t of_old = scene_digest(read(old));
  for (const char* note :
       {"rho: found an old name, read until version 1.0; write density",
        "alpha: found an old name, read until version 1.0; write mass_damping",
        "projection.balance: found an old name", "contact.push_out_time: found an old name",
        "projection.metric: found an old word, B, read until version 1.0; write implicit"})
    EXPECT_EQ(notes_with(note), 1) << note;
  EXPECT_EQ(scene_digest(read(now)), of_old);
  EXPECT_EQ(notes_with("found an old"), 0);
  EXPECT_NE(scene_digest(read(scene_text(R"("density": 0.5)") + "}")), of_old);
}

TEST_F(RenamedKeys, EachIsNotedOnce) {
  read(scene_text(R"("rho": 0.5)", R"(, "replicas": 3, "vary": {"fabric.alpha": {"from": 1, "to": 3}})") +
       "}");
  EXPECT_EQ(notes_with("found an old"), 1);
}

TEST_F(RenamedKeys, OfReplicasAndFilesOfFabricsAreRead) {
  const Scene scene = read(scene_text(R"("mass_damping": 7)",
                                      R"(, "replicas": 3, "vary": {"fabric.alpha": {"from": 1, "to": 3}})") +
                           "}");
  ASSERT_EQ(scene.garments.size(), 3u);
  EXPECT_EQ(scene.garments[1].fabric.mass_damping, 2);
  folder_.write("cloth.json", R"({"rho": 0.3, "kappa": 2e-5})");
  const Fabric fabric = read(scene_text(R"("file": "cloth.json")") + "}").garments[0].fabric;
  EXPECT_EQ(fabric.density, 0.3);
  EXPECT_EQ(fabric.gravity_density, 0.3);
  EXPECT_EQ(fabric.bending_stiffness, 2e-5);
  EXPECT_EQ(notes_with("cloth.json.rho: found an old name"), 1);
}

TEST_F(RenamedKeys, BothAtOnceAreRefused) {
  EXPECT_NE(
      refusal(scene_text(R"("rho": 0.5, "density": 0.5)") + "}")
          .find("garments[0].fabric: found both rho and density, which is its present name; leave rho out"),
      std::string::npos);
}

TEST_F(RenamedKeys, PathsAndNumbersOfFabricsKnowThem) {
  EXPECT_EQ(present_path("fabric.kappa"), "fabric.bending_stiffness");
  EXPECT_EQ(present_path("garments[0].fabric.kappa"), "garments[0].fabric.bending_stiffness");
  EXPECT_EQ(present_path("projection.balance"), "projection.force_tolerance");
  EXPECT_EQ(present_path("kappa"), "kappa");
  EXPECT_EQ(present_path("wind.alpha"), "wind.alpha");
  EXPECT_EQ(&find_fabric_number("rho", "set_fabric"), &find_fabric_number("density", "set_fabric"));
  EXPECT_EQ(&find_fabric_number("drag_normal", "set_fabric"),
            &find_fabric_number("drag.normal", "set_fabric"));
  for (const FabricNumber& number : fabric_numbers()) {
    EXPECT_EQ(&find_fabric_number(number.name, ""), &number);
    if (number.old_name) {
      EXPECT_EQ(&find_fabric_number(number.old_name, ""), &number);
    }
  }
}

}  // namespace
}  // namespace isocloth
