// Fits to a specimen between two clips, at rest.
#pragma once

#include "tests/run/fit_case.hpp"

namespace isocloth {

class RestFitTest : public FitTest {
 protected:
  /// A specimen between two clips that is pulled along warp, pulled along weft, or sheared, of a fabric.
  Json rig(const std::string& kind, const Json& fabric, const std::string& recipe) const {
    const bool is_weft = kind == "weft";
    Json scene = Json::parse(R"({
      "gravity": 0, "step": 0.1, "duration": 1, "frame_interval": 0.1, "seed": 3,
      "garments": [{
        "name": "specimen", "mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.1, 0.1]},
        "rest_noise": {"normal_deviation": 2e-4},
        "fabric": {"density": 0.25, "gravity_density": 0.25, "bending_stiffness": 2e-5},
        "grippers": [
          {"name": "fixed", "region": {"type": "box", "size": [0.01, 0.12, 0.01]}, "position": [0, 0.05, 0],
           "holds": [{"from": 0, "to": 2}]},
          {"name": "clip", "region": {"type": "box", "size": [0.01, 0.12, 0.01]}, "position": [0.1, 0.05, 0],
           "holds": [{"from": 0, "to": 2}]}]}]})");
    Json& garment = scene["garments"][0];
    scene["recipe"] = recipe;
    garment["fabric"].update(fabric);
    if (is_weft) {
      garment["grippers"][0].update({{"position", {0.05, 0, 0}}});
      garment["grippers"][1].update({{"position", {0.05, 0.1, 0}}});
      for (Json& gripper : garment["grippers"]) gripper["region"]["size"] = {0.12, 0.01, 0.01};
    }
    const Json way = kind == "warp"   ? Json{0.004, 0, 0}
                     : kind == "weft" ? Json{0, 0.006, 0}
                                      : Json{0.002, 0.01, 0};
    garment["grippers"][1]["motion"] = {
        {"type", "keyframes"}, {"times", {0, 1}}, {"translations", {{0, 0, 0}, way}}};
    return scene;
  }
  /// Forces of the clip and all nodes at ten displacements, of three rigs; stages of the paper's order.
  Json plan(const Json& parameters) const {
    Json experiments = Json::array();
    int stage = 0;
    for (const char* kind : {"warp", "weft", "shear"})
      experiments.push_back(
          {{"name", kind},
           {"scene", std::string(kind) + ".json"},
           {"at_rest", true},
           {"positions", {{"file", std::string(kind) + ".csv"}, {"noise", 2e-4}}},
           {"forces", {{{"gripper", "clip"}, {"file", std::string(kind) + "_force.csv"}, {"noise", 0.01}}}},
           {"train", {0.1, 1}},
           {"stages", {++stage, 4}}});
    return {{"parameters", parameters},
            {"experiments", experiments},
            {"search", "gauss_newton"},
            {"starts", 4},
            {"scans", false}};
  }
  static Json stiffness(const std::string& name, double from, double to, double truth, int stage) {
    return {{"number", "fabric." + name}, {"from", from}, {"to", to}, {"scale", "log"}, {"value", truth},
            {"stages", {stage, 4}}};
  }
  void write_rigs(const Json& fabric, const std::string& recipe) const {
    for (const char* kind : {"warp", "weft", "shear"})
      write_scene(std::string(kind) + ".json", rig(kind, fabric, recipe));
  }
};

}  // namespace isocloth
