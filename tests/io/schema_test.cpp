// The printed schema and the reader must accept and refuse the same files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/core/errors.hpp"
#include "host/files/json_text.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number() && value.get<double>() == std::floor(value.get<double>());
  ADD_FAILURE() << "the schema uses the type " << type;
  return false;
}

/// The part of JSON Schema that the scene schema uses.
bool accepts(const Json& schema, const Json& value) {
  for (const auto& [keyword, rule] : schema.items()) {
    bool good = true;
    if (keyword == "type")
      good = has_type(value, rule.get<std::string>());
    else if (keyword == "enum")
      good = std::find(rule.begin(), rule.end(), value) != rule.end();
    else if (keyword == "const")
      good = value == rule;
    else if (keyword == "minimum")
      good = !value.is_number() || value >= rule;
    else if (keyword == "exclusiveMinimum")
      good = !value.is_number() || value > rule;
    else if (keyword == "maximum")
      good = !value.is_number() || value <= rule;
    else if (keyword == "minItems")
      good = !value.is_array() || value.size() >= rule.get<std::size_t>();
    else if (keyword == "maxItems")
      good = !value.is_array() || value.size() <= rule.get<std::size_t>();
    else if (keyword == "items")
      good = !value.is_array() ||
             std::all_of(value.begin(), value.end(), [&](const Json& item) { return accepts(rule, item); });
    else if (keyword == "required")
      good = !value.is_object() || std::all_of(rule.begin(), rule.end(), [&](const Json& key) {
        return value.contains(key.get<std::string>());
      });
    else if (keyword == "oneOf")
      good = std::count_if(rule.begin(), rule.end(),
                           [&](const Json& form) { return accepts(form, value); }) == 1;
    else if (keyword == "properties" && value.is_object()) {
      for (const auto& [key, member] : value.items())
        good = good && (!rule.contains(key) || accepts(rule[key], member));
    } else if (keyword == "additionalProperties" && value.is_object()) {
      const Json named = schema.value("properties", Json::object());
      for (const auto& [key, member] : value.items())
        good = good && (named.contains(key) || (rule.is_object() && accepts(rule, member)));
    }
    if (!good) return false;
  }
  return true;
}

/// Calls visit(container, key) for every value below `node`; key is a member's name or an index.
void visit_all(const Json& node, const Json::json_pointer& at,
               const std::function<void(const Json::json_pointer&)>& visit) {
  if (!node.is_structured()) return;
  for (const auto& [key, member] : node.items()) {
    const Json::json_pointer child = node.is_array() ? at / std::stoul(key) : at / key;
    visit(child);
    visit_all(member, child, visit);
  }
}

bool reads(const TemporaryFolder& folder, const Json& scene) {
  try {
    read_scene(folder.write("scene.json", scene.dump()));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(SceneSchema, IsAnObjectWithEveryKeyDocumented) {
  const Json schema = parse_json(scene_schema(), "schema");
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  std::size_t keys = 0;
  visit_all(schema, Json::json_pointer(), [&](const Json::json_pointer& at) {
    if (at.parent_pointer().empty() || at.parent_pointer().back() != "properties") return;
    const Json& key = schema[at];
    ++keys;
    EXPECT_TRUE(key.contains("description") || key.contains("const")) << at.to_string();
  });
  EXPECT_GT(keys, 80);
}

TEST(SceneSchema, AcceptsTheScenesOfTheBenchmarks) {
  const Json schema = parse_json(scene_schema(), "schema");
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ISOCLOTH_SOURCE_DIR) / "bench/scenes")) {
    if (entry.path().extension() != ".json" || !is_known_scene(read_whole_file(entry.path()))) continue;
    ++count;
    EXPECT_TRUE(accepts(schema, parse_json(read_whole_file(entry.path()), entry.path().string())))
        << entry.path();
    EXPECT_NO_THROW(read_scene(entry.path())) << entry.path();
  }
  EXPECT_GE(count, 20);
}

TEST(SceneSchema, RefusesWhatTheReaderRefuses) {
  const Json schema = parse_json(scene_schema(), "schema");
  const TemporaryFolder folder;
  const Json good =
      parse_json(R"({"name": "n", "recipe": "coltraro2022", "gravity": 1, "step": 0.25, "duration": 1,
    "frame_interval": 0.5, "seed": 3, "projection": {"method": "proximal_newton", "metric": "implicit", "tolerance": 0.001,
    "max_iterations": 9, "eps": 0.001, "max_substeps": 2, "on_violation": "stop"},
    "impulse": {"mode": "converge", "tolerance": 0.01, "substeps": 2, "max_sweeps": 3, "relaxation": 1,
    "velocity_pass": "on", "max_solves": 4, "on_violation": "continue"},
    "obstacles": [{"name": "o", "shape": {"type": "box", "size": [1, 1, 1], "rounding": 0.3}, "position": [1, 2, 3],
    "rotation_degrees": [1, 2, 3], "motion": {"type": "oscillation", "amplitude": [1, 0, 0], "frequency": 1},
    "friction": {"static": 0.5, "dynamic": 0.3}}, {"shape": {"type": "height_field", "spacing": 1,
    "heights": {"samples": [2, 2], "values": [0, 1, 2, 3]}}, "motion": {"type": "keyframes", "times": [1, 2]}}, {"shape":
    {"type": "table", "size": [1, 1], "thickness": 1, "rounding": 0.3}}, {"shape": {"type": "plane"}, "motion":
    {"type": "fixed"}}], "contact": {"tolerance": 1, "margin": 1, "resolve_initial_penetration": true},
    "garments": [{"name": "g", "mesh": {"generator": "ring", "radial": 3, "around": 8, "inner_radius": 1,
    "outer_radius": 2, "faces": "quads", "phase": 1}, "transform": {"scale": 1, "rotation": [1, 2, 3],
    "translation": [0, 0, 0]}, "rest_noise": {"normal_deviation": 0.001, "seed": 2}, "initial_velocity": [1, 2, 3],
    "initial_angular_velocity": [1, 2, 3], "gravity": 2, "time_offset": 0.5, "replicas": 1, "vary": {"fabric.density":
    {"from": 1, "to": 2, "scale": "log", "sample": "uniform"}, "time_offset": {"values": [1]}}, "fabric": {"density": 1, "gravity_density": 1, "bending_stiffness": 1, "mass_damping": 1, "stiffness_damping": 1,
    "shear_spring": {"stiffness": 0, "damping": 0}, "bend_spring": {"stiffness": 0, "damping": 0}, "shear_diagonals": 1},
    "pins": [{"name": "p", "select": {"nodes": [1, 2]}, "motion": {"type": "oscillation", "amplitude": [1, 0, 0],
    "frequency": 1, "start": 1, "duration": 2}, "ramp": 0.5}, {"select": {"boundary_loop": 1}, "motion": {"type": "keyframes",
    "times": [1, 2], "translations": [[0, 0, 0], [0, 0, 0]], "rotations_degrees": [[0, 0, 0], [0, 0, 0]],
    "center": [0, 0, 0]}}]}, {"fabric": {"thickness": 1}, "mesh": {"generator": "quad_grid", "nodes": [2, 2],
    "size": [1, 1]}}]})",
                 "good");
  ASSERT_TRUE(accepts(schema, good));
  ASSERT_TRUE(reads(folder, good));
  Json paired = good;
  paired["contact"]["pairs"] = parse_json(
      R"([{"garment": "garment 1", "obstacle": "obstacle 1", "static": 0.5, "dynamic": 0.3}])", "pairs");
  EXPECT_TRUE(accepts(schema, paired));
  EXPECT_TRUE(reads(folder, paired));
  paired["contact"]["pairs"][0].erase("static");
  EXPECT_FALSE(accepts(schema, paired));
  EXPECT_FALSE(reads(folder, paired));
  std::size_t refused = 0;
  visit_all(good, Json::json_pointer(), [&](const Json::json_pointer& at) {
    for (const Json& wrong : {Json("word"), Json(nullptr), Json(-1), Json(0.3), Json::array(), Json::object(),
                              Json{{"extra", 1}}}) {
      Json changed = good;
      changed[at] = wrong;
      const bool by_schema = accepts(schema, changed);
      refused += by_schema ? 0 : 1;
      // The schema knows shapes and ranges; the reader checks also what keys mean together.
      EXPECT_TRUE(by_schema || !reads(folder, changed)) << at.to_string() << " = " << wrong;
    }
    if (good[at.parent_pointer()].is_object()) {
      Json changed = good;
      changed[at.parent_pointer()].erase(at.back());
      EXPECT_EQ(accepts(schema, changed), reads(folder, changed)) << "without " << at.to_string();
      changed = good;
      changed[at.parent_pointer()]["extra"] = 1;
      EXPECT_FALSE(accepts(schema, changed)) << at.to_string();
      EXPECT_FALSE(reads(folder, changed)) << at.to_string();
    }
  });
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace isocloth
