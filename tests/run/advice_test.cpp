// Advice helps: each entry is a scene of which a message advises something; what it advises is done, and the
// scene is then read, checked and set up without that message.
#include <gtest/gtest.h>

#include <functional>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

/// The first number behind `words`.
double number_after(const std::string& message, const std::string& words) {
  const std::size_t at = message.find(words);
  return at == std::string::npos ? 0 : std::strtod(message.c_str() + at + words.size(), nullptr);
}

struct Advice {
  const char* name;
  const char* scene;   ///< merged into sheet()
  const char* said;    ///< what the message says
  const char* advice;  ///< and what to do
  /// Does it; the message may hold numbers.
  std::function<void(Json& scene, const std::string& message)> follow;
};

/// What is done is a JSON Merge Patch.
std::function<void(Json&, const std::string&)> patch(const char* change) {
  return [change](Json& scene, const std::string&) { scene.merge_patch(Json::parse(change)); };
}
/// The first garment's.
std::function<void(Json&, const std::string&)> garment(const char* change) {
  return [change](Json& scene, const std::string&) { scene["garments"][0].merge_patch(Json::parse(change)); };
}
/// A key of the first garment's `part` takes the number that the message has behind `words`.
std::function<void(Json&, const std::string&)> set_number(const char* part, const char* key,
                                                          const char* words) {
  return [=](Json& scene, const std::string& message) {
    scene["garments"][0][part][key] = number_after(message, words);
  };
}

std::ostream& operator<<(std::ostream& out, const Advice& advice) { return out << advice.name; }

Json sheet() {
  return Json::parse(R"({"name": "a", "step": 0.01, "duration": 0.1, "garments": [{"name": "sheet",
      "mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.25, 0.25]}, "fabric": {"preset": "cotton"}}]})");
}

const Advice all_advice[] = {
    {"weld_at_most",
     R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "parted.obj", "weld": 0.06}})",
     "mesh.weld: found 0.06 m", "expected at most", set_number("mesh", "weld", "expected at most ")},
    {"weld_a_seam", R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "parted.obj"}})",
     "lie on others", "set mesh.weld to", set_number("mesh", "weld", "set mesh.weld to ")},
    {"uv_scale",
     R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "uv.obj", "uv_scale": 3}})",
     "times as long in the pattern", "the same size has",
     set_number("mesh", "uv_scale", "the same size has ")},
    {"uv_scale_far",
     R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "uv.obj", "uv_scale": 30}})",
     "times as long in the pattern", "; use", set_number("mesh", "uv_scale", "; use ")},
    {"too_many_nodes", R"({"mesh": {"nodes": [1, 6]}})", "expected a whole number from 2",
     "whole number from 2", garment(R"({"mesh": {"nodes": [2, 6]}})")},
    {"millimetres", R"({"mesh": {"size": [250, 250]}})", "is 250 m long", "set transform.scale to 0.001",
     garment(R"({"transform": {"scale": 0.001}})")},
    {"grams", R"({"fabric": {"preset": null, "density": 150}})", "fabric.density is 150", "divide by 1000",
     garment(R"({"fabric": {"density": 0.15}})")},
    {"micro", R"({"fabric": {"preset": null, "density": 0.15, "bending_stiffness": 10}})",
     "fabric.bending_stiffness: found 10 N m", "multiply by 1e-6",
     garment(R"({"fabric": {"bending_stiffness": 1e-5}})")},
    {"precision",
     R"({"fabric": {"preset": null, "density": 0.15, "stretch_stiffness": 1e20, "shear_stiffness": 1e18}})",
     "holds no more in steps", "or coltraro2022", patch(R"({"recipe": "coltraro2022"})")},
    {"precision_at_most",
     R"({"fabric": {"preset": null, "density": 0.15, "stretch_stiffness": 1e20, "shear_stiffness": 1e15}})",
     "holds no more in steps", "expected at most",
     set_number("fabric", "stretch_stiffness", "expected at most ")},
    {"hidden_shear",
     R"({"fabric": {"preset": null, "density": 0.15, "stretch_stiffness": 1e6, "shear_stiffness": 0.1}})",
     "hide those of shear", "use a tolerance of",
     [](Json& scene, const std::string& message) {
       scene["projection"]["tolerance"] = number_after(message, "use a tolerance of ");
     }},
    {"pressure", R"({"pressure": 3e5})", "throws cloth", "a smaller step", patch(R"({"step": 1e-4})")},
    {"thickness", R"({"fabric": {"thickness": 0.05}})", "more than a tenth of its length", "it is in metres",
     garment(R"({"fabric": {"thickness": 0.0005}})")},
    {"gravity_mass", R"({"fabric": {"preset": null, "density": 0.1, "gravity_density": 0.2}})",
     "fabric.gravity_density", "set both", garment(R"({"fabric": {"density": 0.2}})")},
    {"ramp",
     R"({"pins": [{"select": {"nodes": [0]}, "motion": {"type": "keyframes", "times": [0, 1],
         "translations": [[0, 0, 0.1], [0, 0, 0.1]]}}]})",
     "at most 1 % of an element", "set ramp to the seconds",
     [](Json& scene, const std::string&) { scene["garments"][0]["pins"][0]["ramp"] = 0.05; }},
    {"torn_pins",
     R"({"pins": [{"select": {"nodes": [0]}}, {"select": {"nodes": [5]}, "motion": {"type": "keyframes",
         "times": [0, 0.1], "translations": [[0, 0, 0], [0.2, 0, 0]]}}], "_root": {"recipe": "coltraro2022"}})",
     "cannot follow", "change their motion",
     [](Json& scene, const std::string&) {
       scene["garments"][0]["pins"][1]["motion"]["translations"][1] = {-0.05, 0, 0};
     }},
    {"torn_limit",
     R"({"fabric": {"strain_limit": 0.05}, "pins": [{"select": {"nodes": [0]}}, {"select": {"nodes": [5]},
         "motion": {"type": "keyframes", "times": [0, 0.1], "translations": [[0, 0, 0], [0.2, 0, 0]]}}]})",
     "with its limit of strain, cannot follow", "change their motion",
     [](Json& scene, const std::string& message) {
       const double most = number_after(message, "0.25 m long and ");
       scene["garments"][0]["pins"][1]["motion"]["translations"][1] = {most - 0.25, 0, 0};
     }},
    {"steps_of_duration", R"({"_root": {"duration": 0.105}})", "duration: found 0.105",
     "a whole number of steps", patch(R"({"duration": 0.11})")},
    {"frames", R"({"mesh": {"nodes": [60, 60]}, "_root": {"duration": 10000}})", "frames of",
     "make it larger", patch(R"({"frame_interval": 1})")},
    {"drag", R"({"_root": {"wind": {"velocity": [1, 0, 0]}}})", "no effect on garments without fabric.drag",
     "fabric.drag", garment(R"({"fabric": {"drag": {"normal": 1, "tangential": 0.1}}})")},
    {"cloth_friction", R"({"_root": {"contact": {"cloth_friction": {"static": 0.3}}}})", "not used without",
     "contact.cloth", patch(R"({"contact": {"cloth": true, "tolerance": 5e-5}})")},
    {"contact_tolerance", R"({"_root": {"contact": {"cloth": true, "tolerance": 0.01}}})",
     "contact.tolerance: found", "expected at most",
     [](Json& scene, const std::string& message) {
       scene["contact"]["tolerance"] = number_after(message, "expected at most ");
     }},
    {"contact_thickness",
     R"({"fabric": {"thickness": 0.06}, "_root": {"contact": {"cloth": true, "tolerance": 5e-5}}})",
     "fabric.thickness: found 0.06", "expected at most",
     set_number("fabric", "thickness", "expected at most ")},
    {"contact_method",
     R"({"_root": {"recipe": "coltraro2022", "contact": {"cloth": true, "tolerance": 5e-5}, "projection": {"method": "fast_projection"}}})",
     "contact.cloth: found true", "use \"proximal_newton\"",
     patch(R"({"projection": {"method": "proximal_newton"}})")},
    {"contact_metric",
     R"({"_root": {"recipe": "coltraro2022", "contact": {"cloth": true, "tolerance": 5e-5}, "projection": {"metric": "mass"}}})",
     "contact.cloth: found true", "use \"implicit\"", patch(R"({"projection": {"metric": "implicit"}})")},
    {"contact_recipe",
     R"({"_root": {"recipe": "terzopoulos1987", "contact": {"cloth": true, "tolerance": 5e-5}}})",
     "know no contact between cloths", "use \"membrane\"", patch(R"({"recipe": "membrane"})")},
    {"open_seam_in_contact",
     R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "parted.obj"},
         "_root": {"contact": {"cloth": true, "tolerance": 5e-5}}})",
     "at one place", "set mesh.weld", garment(R"({"mesh": {"weld": 1e-6}})")},
    {"strain_limit", R"({"fabric": {"strain_limit": 0.05}, "_root": {"recipe": "coltraro2022"}})",
     "which has no elastic rows", "use membrane", patch(R"({"recipe": "membrane"})")},
    {"pressure_recipe", R"({"pressure": 1, "_root": {"recipe": "bender_iterative"}})", "pressure: found 1",
     "use membrane", patch(R"({"recipe": "membrane"})")},
    {"weft_bending_stiffness",
     R"({"fabric": {"preset": null, "density": 0.15, "bending_stiffness": 1e-6, "weft_bending_stiffness": 2e-6, "bending": "isometric"}})",
     "knows no directions", "set fabric.bending to \"plate\"",
     garment(R"({"fabric": {"bending": "plate"}})")},
    {"springs",
     R"({"fabric": {"preset": null, "density": 0.15, "structural_spring": {"stiffness": 100, "damping": 0}}})",
     "structural_spring: found", "use provot1995", patch(R"({"recipe": "provot1995"})")},
    {"no_springs", R"({"fabric": {"preset": null, "density": 0.15}, "_root": {"recipe": "provot1995"}})",
     "structural_spring.stiffness: found 0", "more than 0",
     garment(R"({"fabric": {"structural_spring": {"stiffness": 100}}})")},
    {"nearest_key", R"({"_root": {"duratoin": 1}})", "duratoin", "duration",
     [](Json& scene, const std::string&) { scene.erase("duratoin"); }},
    {"nearest_recipe", R"({"_root": {"recipe": "membrain"}})", "recipe: found \"membrain\"",
     "the nearest is \"membrane\"", patch(R"({"recipe": "membrane"})")},
    {"drape_laplace",
     R"({"mesh": {"generator": "disc", "nodes": null, "size": null, "radial": 4, "around": 12,
         "radius": 0.2}, "pins": [{"select": {"nodes": [0]}}], "initial": {"drape": "weil"}})",
     "found 1 pinned node", "pin more", garment(R"({"pins": [{"select": {"nodes": [40, 46]}}]})")},
    {"drape_all_pinned", R"({"pins": [{"select": {"all": true}}], "initial": {"drape": "weil"}})",
     "every node is pinned", "leave the drape out", garment(R"({"initial": null})")},
    {"inside_of_obstacle", R"({"_root": {"obstacles": [{"shape": {"type": "sphere", "radius": 0.2}}]}})",
     "inside of", "set contact.resolve_initial_penetration",
     patch(R"({"contact": {"resolve_initial_penetration": true}})")},
    {"friction",
     R"({"_root": {"obstacles": [{"position": [0, 0, -1], "shape": {"type": "sphere", "radius": 0.2},
         "friction": {"static": 0.3, "dynamic": 0.4}}]}})",
     "at most the static one", "at most the static one, 0.3",
     [](Json& scene, const std::string&) { scene["obstacles"][0]["friction"]["dynamic"] = 0.3; }},
    {"rounding", R"({"_root": {"obstacles": [{"position": [0, 0, -1], "shape": {"type": "box",
         "size": [0.1, 0.3, 0.7], "rounding": 0.06}}]}})",
     "rounding: found 0.06", "expected at most",
     [](Json& scene, const std::string& message) {
       scene["obstacles"][0]["shape"]["rounding"] = number_after(message, "expected at most ");
     }},
    {"obstacle_in_millimetres",
     R"({"_root": {"obstacles": [{"position": [0, 0, -2000], "shape": {"type": "mesh",
         "file": "one.obj", "scale": 1000}}]}})",
     "is 200 m long", "set shape.scale to 0.001",
     [](Json& scene, const std::string&) {
       scene["obstacles"][0]["shape"]["scale"] = 1;  // that of the file times 0.001
       scene["obstacles"][0]["position"] = {0, 0, -2};
     }},
    {"isolated_vertex", R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "unused.obj"}})",
     "vertex 5 (line 5) is isolated", "delete it", garment(R"({"mesh": {"file": "used.obj"}})")},
    {"pentagon", R"({"mesh": {"generator": null, "nodes": null, "size": null, "file": "pentagon.obj"}})",
     "more than 4 corners", "split the polygon", garment(R"({"mesh": {"file": "split.obj"}})")},
    {"gripper_without_holds", R"({"grippers": [{"region": {"type": "sphere", "radius": 0.05}}]})",
     "has no holds", "only commands close it",
     [](Json& scene, const std::string&) {
       scene["garments"][0]["grippers"][0]["holds"] = Json::parse(R"([{"from": 0, "to": 1}])");
     }},
    {"substeps", R"({"fabric": {"preset": null, "density": 0.15, "structural_spring": {"stiffness": 1e6}},
         "_root": {"recipe": "provot1995", "impulse": {"substeps": 2}}})",
     "parts of a step", "use 0", patch(R"({"impulse": {"substeps": 0}})")},
    {"substeps_at_least",
     R"({"fabric": {"preset": null, "density": 0.15, "structural_spring": {"stiffness": 1e6}},
         "_root": {"recipe": "provot1995", "impulse": {"substeps": 2}}})",
     "parts of a step", "expected at least",
     [](Json& scene, const std::string& message) {
       scene["impulse"]["substeps"] = static_cast<int>(number_after(message, "expected at least "));
     }},
};

class AdviceTest : public ::testing::TestWithParam<Advice> {
 protected:
  AdviceTest() {
    folder_.write("parted.obj",  // two squares whose common side has vertices of its own
                  "v 0 0 0\nv .1 0 0\nv .1 .1 0\nv 0 .1 0\nv .1 0 0\nv .2 0 0\nv .2 .1 0\nv .1 .1 0\n"
                  "f 1 2 3 4\nf 5 6 7 8\n");
    folder_.write("uv.obj",
                  "v 0 0 0\nv .1 0 0\nv .1 .1 0\nv 0 .1 0\nvt 0 0\nvt .1 0\nvt .1 .1\nvt 0 .1\n"
                  "f 1/1 2/2 3/3 4/4\n");
    const std::string square = "v 0 0 0\nv .1 0 0\nv .1 .1 0\nv 0 .1 0\n";
    folder_.write("used.obj", square + "f 1 2 3 4\n");
    folder_.write("unused.obj", square + "v 9 9 9\nf 1 2 3 4\n");
    folder_.write("pentagon.obj", square + "v -.05 .05 0\nf 1 2 3 4 5\n");
    folder_.write("split.obj", square + "v -.05 .05 0\nf 1 2 3 4\nf 1 4 5\n");
    folder_.write("one.obj", octahedron());
  }

  static std::string octahedron() {
    return "v .1 0 0\nv -.1 0 0\nv 0 .1 0\nv 0 -.1 0\nv 0 0 .1\nv 0 0 -.1\n"
           "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
  }

  /// The error or the warnings of a scene; empty: nothing is wrong with it.
  std::string told(const Json& scene) const {
    const std::filesystem::path file = folder_.write("scene.json", scene.dump());
    try {
      std::vector<std::string> warnings;
      const Scene read = read_scene(file, warnings);
      const Simulation simulation = start_simulation(read, file, {.threads = 1});
      for (const std::string& line : start_warnings(read, start_intersections(read, simulation), file,
                                                    Precision::float64, simulation.separation()))
        warnings.push_back(line);
      std::string all;
      for (const std::string& line : warnings) all += line + "\n";
      return all;
    } catch (const Error& error) {
      return text("error: ", error.what());
    }
  }

  TemporaryFolder folder_;
};

TEST_P(AdviceTest, Helps) {
  const Advice& advice = GetParam();
  Json scene = sheet(), change = Json::parse(advice.scene);
  const Json root = change.value("_root", Json::object());
  change.erase("_root");
  scene["garments"][0].merge_patch(change);
  scene.merge_patch(root);
  const std::string before = told(scene);
  ASSERT_NE(before.find(advice.said), std::string::npos) << before;
  ASSERT_NE(before.find(advice.advice), std::string::npos) << before;
  advice.follow(scene, before);
  const std::string after = told(scene);
  EXPECT_EQ(after.find(advice.said), std::string::npos) << "followed: " << before << "\nand then: " << after;
  EXPECT_FALSE(after.starts_with("error: ")) << "followed: " << before << "\nand then: " << after;
}

/// Those on scenes that this build can read.
std::vector<Advice> known_advice() {
  std::vector<Advice> known;
  for (const Advice& advice : all_advice)
    if (is_known_scene(advice.scene) && (models().missing.empty() || advice.name != std::string("springs")))
      known.push_back(advice);
  return known;
}

INSTANTIATE_TEST_SUITE_P(All, AdviceTest, ::testing::ValuesIn(known_advice()),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace isocloth
