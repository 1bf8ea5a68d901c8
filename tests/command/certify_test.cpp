// Cloth against cloth: what run --certify and check say.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

/// One end of a strip is held flat while the other is led around and down through it.
Json strip_through_itself() {
  return Json::parse(R"({
    "name": "strip", "step": 0.01, "duration": 0.4, "gravity": 0, "projection": {"max_substeps": 8},
    "garments": [{
      "name": "strip",
      "mesh": {"generator": "quad_grid", "nodes": [17, 5], "size": [0.4, 0.1]},
      "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 1e-5, "mass_damping": 2},
      "pins": [{"select": {"box": {"min": [-1, -1, -1], "max": [0.151, 1, 1]}}},
               {"select": {"box": {"min": [0.399, -1, -1], "max": [1, 1, 1]}},
                "motion": {"type": "keyframes", "times": [0, 0.2, 0.4],
                           "translations": [[0, 0, 0], [-0.2, 0.007, 0.15], [-0.29, 0.007, -0.05]]}}]}]})");
}

/// A lying sheet, and one that stands in it, `lift` m higher than half in.
Json crossed_sheets(double lift) {
  Json scene = Json::parse(R"({
    "name": "cross", "step": 0.01, "duration": 0.02, "gravity": 0,
    "garments": [
      {"name": "lying", "mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.5, 0.5]}},
      {"name": "standing", "mesh": {"generator": "quad_grid", "nodes": [4, 4], "size": [0.2, 0.2]},
       "transform": {"rotation": [90, 0, 0]}}]})");
  scene["garments"][1]["transform"]["translation"] = {0.13, 0.24, lift - 0.1};
  return scene;
}

class CertifyCommand : public CommandTest {};

TEST_F(CertifyCommand, SaysWhereAStripPassesThroughItself) {
  write_scene("scene.json", strip_through_itself());
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  EXPECT_EQ(run.code, 0) << run.errors;  // a measure, not a fault of the run
  EXPECT_EQ(run.errors, "");
  const Json s = summary("out");
  EXPECT_EQ(s["steps_certified"], 40);
  const std::string line = "CLOTH PASSES THROUGH CLOTH at the end of " + s["steps_intersecting"].dump() +
                           " of 40 certified steps, first at t = ";
  EXPECT_NE(run.output.find(line), std::string::npos) << run.output;
  EXPECT_GE(s["steps_intersecting"], 5);  // the end is below the plate from 0.36 s on
  EXPECT_LT(s["steps_intersecting"], 30);
  const Json& pairs = s["first_intersections"];
  ASSERT_GE(pairs.size(), 1U);
  EXPECT_LE(pairs.size(), 10U);
  EXPECT_GE(s["intersections_max"].get<std::size_t>(), pairs.size());
  for (const Json& pair : pairs) {
    EXPECT_EQ(pair["time"], pairs[0]["time"]);
    EXPECT_GT(pair["time"], 0.1);
    EXPECT_EQ(pair["edge_garment"], "strip");
    EXPECT_EQ(pair["face_garment"], "strip");
    EXPECT_LT(pair["edge"][0], pair["edge"][1]);
    EXPECT_LT(pair["edge"][1], 85);
    EXPECT_LT(pair["face"], 64);
    EXPECT_EQ(pair["place"].size(), 3U);
  }
  // `report` reads the summary back.
  EXPECT_EQ(isocloth({"report", "out"}).code, 0);
  EXPECT_EQ(summary("out"), s);
}

/// What a motion leads through cloth stops before it.
TEST_F(CertifyCommand, FindsNothingWhereClothMeetsCloth) {
  Json scene = strip_through_itself();
  scene["contact"] = {{"cloth", true}, {"tolerance", 0.00025}};
  scene["garments"][0]["fabric"]["thickness"] = 0.001;
  scene["projection"]["on_violation"] = "continue";
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  const Json s = summary("out");
  EXPECT_EQ(s["steps_certified"], 40);
  EXPECT_EQ(s["steps_intersecting"], 0);
  EXPECT_EQ(s["steps_touching"], 0);
  EXPECT_EQ(s["steps_certified_within"], 40);
  EXPECT_EQ(s["steps_passing_within"], 0);
  EXPECT_GT(s["cloth_contacts_max"], 0);
  EXPECT_GT(s["blocked"], 0);
  EXPECT_GE(s["held_back"], s["blocked"]);
  EXPECT_LE(s["iterations_per_step_max"], 100);
  const auto message = s["message"].get<std::string>();
  EXPECT_NE(message.find("pins, grippers or driven garments were stopped"), std::string::npos) << message;
}

TEST_F(CertifyCommand, ClothThatMeetsClothDoesNotBeginInIt) {
  Json scene = crossed_sheets(0.013);
  scene["contact"] = {{"cloth", true}, {"tolerance", 0.00025}};
  for (Json& garment : scene["garments"]) garment["fabric"]["thickness"] = 0.001;
  write_scene("scene.json", scene);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", "scene.json"}, {"run", "scene.json", "-o", "out", "--quiet"}}) {
    const Finished refused = isocloth(command);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.errors.find("scene.json: at the start cloth passes through cloth: "), std::string::npos)
        << refused.errors;
    EXPECT_NE(
        refused.errors.find(
            "expected none with contact.cloth, which does not untangle: move them apart in "
            "the file, by the mesh or its transform (contact.resolve_initial_penetration is for obstacles"),
        std::string::npos)
        << refused.errors;
  }
}

/// Two sheets in one plane that overlap, the second `height` m above it.
Json flat_sheets(double height, double offset = 0.013) {
  Json scene = crossed_sheets(0);
  scene["garments"][1]["transform"] = {{"translation", {offset, offset, height}}};
  for (Json& garment : scene["garments"]) garment["fabric"]["thickness"] = 0.001;
  scene["contact"] = {{"cloth", true}, {"tolerance", 0.00025}};
  return scene;
}

TEST_F(CertifyCommand, ClothThatMeetsClothDoesNotBeginInItsPlane) {
  for (const double offset : {0.0, 0.013}) {
    Json scene = flat_sheets(0, offset);
    write_scene("scene.json", scene);
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"check", "scene.json"},
          {"run", "scene.json", "-o", "out", "--quiet", "--overwrite"}}) {
      const Finished refused = isocloth(command);
      EXPECT_EQ(refused.code, 2);
      for (const char* const part :
           {"scene.json: at the start cloth lies in cloth, with no distance between: ", " of lying", " at (0",
            "of standing", "move them apart in the file by their thickness, 0.001 m"})
        EXPECT_NE(refused.errors.find(part), std::string::npos) << refused.errors;
    }
    scene["contact"] = Json::object();
    write_scene("scene.json", scene);
    const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"});
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.errors.find("warning: at the start cloth lies in cloth"), std::string::npos) << run.errors;
  }
  // Panels that are sewn along one edge, and lie on each other beside it.
  write_scene("panels.json", Json::parse(R"({
    "step": 0.01, "duration": 0.1, "contact": {"cloth": true}, "garments": [{"name": "bag", "fabric": {"thickness": 0.001}, "mesh": {
      "edge_length": 0.02, "seams": [{"panel": "front", "edge": 0, "other_panel": "back", "other_edge": 0}],
      "panels": [{"name": "front", "outline": [[-0.1, 0], [0.1, 0], [0.1, 0.2], [-0.1, 0.2]]},
                 {"name": "back", "outline": [[-0.1, 0], [0.1, 0], [0.1, 0.2], [-0.1, 0.2]],
                  "translation": [0.013, 0, 0.007]}]}}]})"));
  const Finished refused = isocloth({"check", "panels.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("at the start cloth lies in cloth"), std::string::npos) << refused.errors;
}

/// What neither crosses nor touches, as all of it lies in one plane.
TEST_F(CertifyCommand, CountsWhatOverlapsInOnePlane) {
  Json scene = flat_sheets(0);
  scene["contact"] = Json::object();
  write_scene("scene.json", scene);
  const Json start = Json::parse(isocloth({"check", "scene.json", "--json"}).output)["intersections"];
  EXPECT_EQ(start["crossing"], 0);
  EXPECT_EQ(start["touching"], 0);
  EXPECT_GT(start["overlapping"], 18);  // more than the triangles of the smaller sheet
  ASSERT_EQ(start["overlaps"].size(), 10U);
  EXPECT_EQ(start["overlaps"][0]["garments"], Json({"lying", "standing"}));
  EXPECT_EQ(start["overlaps"][0]["faces"].size(), 2U);
  EXPECT_EQ(start["overlaps"][0]["place"][2], 0);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  EXPECT_EQ(run.code, 0) << run.errors;
  const Json s = summary("out");
  EXPECT_EQ(s["steps_certified"], 2);
  EXPECT_EQ(s["steps_intersecting"], 0);
  EXPECT_EQ(s["steps_touching"], 0);
  EXPECT_EQ(s["steps_overlapping"], 2);
  // Those that share no more than a border at the start may overlap by a rounding after a step.
  EXPECT_GE(s["overlaps_max"], start["overlapping"]);
  EXPECT_LT(s["overlaps_max"], 2 * start["overlapping"].get<int>());
  EXPECT_EQ(s["first_overlaps"].size(), 10U);
  const std::string line =
      "CLOTH LIES IN CLOTH, in one plane to the last bit, at the end of 2 of 2 certified steps; up to " +
      s["overlaps_max"].dump() + " pairs of triangles that overlap (contact.cloth keeps them apart)\n  face ";
  EXPECT_NE(run.output.find(line), std::string::npos) << run.output;
  // `report` reads the summary back.
  EXPECT_EQ(isocloth({"report", "out"}).code, 0);
  EXPECT_EQ(summary("out"), s);
}

TEST_F(CertifyCommand, TellsOfClothThatStartsNearerThanItIsThick) {
  const auto warnings = [&](double height) {
    write_scene("scene.json", flat_sheets(height));
    return Json::parse(isocloth({"check", "scene.json", "--json"}).output)["warnings"];
  };
  const Json near = warnings(1e-4);
  ASSERT_EQ(near.size(), 1U);
  EXPECT_NE(
      near[0].get<std::string>().find(" pairs of cloth start nearer than their thickness, least 0.0001"),
      std::string::npos)
      << near;
  EXPECT_EQ(warnings(9e-4).size(), 0U);  // to within contact.tolerance
  EXPECT_EQ(warnings(2e-3).size(), 0U);
}

TEST_F(CertifyCommand, TellsOfClothInsideOfADrivenBody) {
  folder_.write("box.obj",
                "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  Json scene = flat_sheets(0.3, 0.3);
  scene["garments"][0] =
      Json::parse(R"({"name": "body", "mesh": {"file": "box.obj"}, "fabric": {"thickness": 0.001},
    "pins": [{"select": {"all": true}, "motion": {"type": "fixed"}}]})");
  const auto warnings = [&] {
    write_scene("scene.json", scene);
    return Json::parse(isocloth({"check", "scene.json", "--json"}).output)["warnings"];
  };
  const Json inside = warnings();
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_NE(
      inside[0].get<std::string>().find(
          "garments[1] \"standing\": 16 of 16 nodes start inside of the closed garment \"body\", whose nodes "
          "are all pinned, the deepest, "),
      std::string::npos)
      << inside;
  scene["garments"][1]["transform"]["translation"][2] = 1.1;
  EXPECT_EQ(warnings().size(), 0U);
}

/// A sheet at 50 m/s is above another before a step, and below it after.
TEST_F(CertifyCommand, FindsWhatPassesWithinAStep) {
  Json scene = flat_sheets(0.1);
  scene["contact"] = Json::object();
  scene["step"] = 0.005;
  scene["garments"][1]["initial_velocity"] = {0, 0, -50};
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  EXPECT_EQ(run.code, 0) << run.errors;
  const Json s = summary("out");
  EXPECT_EQ(s["steps_certified"], 4);
  EXPECT_EQ(s["steps_intersecting"], 0);
  EXPECT_EQ(s["steps_certified_within"], 4);
  EXPECT_EQ(s["steps_passing_within"], 1);
  EXPECT_EQ(s["first_passages"].size(), 10U);
  EXPECT_NE(s["first_passages"][0].get<std::string>().find(" m, t = 0.002 s"), std::string::npos)
      << s["first_passages"][0];
  EXPECT_NE(run.output.find("CLOTH PASSES THROUGH CLOTH within 1 step at whose end it does not, of 4 tested "
                            "within (contact.cloth keeps them apart)\n  "),
            std::string::npos)
      << run.output;
}

/// The same with contact, which takes the step in parts.
TEST_F(CertifyCommand, TestsEveryPartOfAStep) {
  Json scene = flat_sheets(0.1);
  scene["step"] = 0.005;
  scene["projection"]["on_violation"] = "continue";
  scene["garments"][1]["initial_velocity"] = {0, 0, -200};
  write_scene("scene.json", scene);
  isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  const Json s = summary("out");
  EXPECT_GT(s["substeps_max"], 1);
  EXPECT_EQ(s["steps_certified_within"], 4);
  EXPECT_EQ(s["steps_passing_within"], 0);
}

TEST_F(CertifyCommand, TellsOfFrictionWithoutContact) {
  Json scene = flat_sheets(0.1);
  scene["contact"] = {{"cloth_friction", {{"static", 0.3}}},
                      {"pairs", {{{"garment", "lying"}, {"other_garment", "standing"}, {"static", 0.5}}}}};
  write_scene("scene.json", scene);
  const Json found = Json::parse(isocloth({"check", "scene.json", "--json"}).output)["warnings"];
  ASSERT_EQ(found.size(), 2U);
  for (const Json& line : found)
    EXPECT_NE(line.get<std::string>().find("not used without contact.cloth"), std::string::npos) << line;
}

TEST_F(CertifyCommand, ChangesNoBitOfTheRun) {
  write_scene("scene.json", strip_through_itself());
  complete("scene.json", "plain");
  complete("scene.json", "certified", {"--certify"});
  expect_same_trajectory("plain", "certified");
  expect_same_checkpoint("plain", "certified", Precision::float64);
  EXPECT_EQ(summary("plain")["steps_certified"], 0);
  EXPECT_EQ(summary("plain")["first_intersections"].size(), 0U);
}

TEST_F(CertifyCommand, FindsNothingInAShakenSheet) {
  write_scene("scene.json", shaken_sheet(20));
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_NE(run.output.find("no intersection at the end of any of 20 certified steps\n"), std::string::npos)
      << run.output;
  const Json s = summary("out");
  EXPECT_EQ(s["steps_certified"], 20);
  EXPECT_EQ(s["steps_certified_within"], 20);
  EXPECT_EQ(s["steps_passing_within"], 0);
  EXPECT_NE(run.output.find("  within steps: none passes through on the straight ways of 20 of them\n"),
            std::string::npos)
      << run.output;
  EXPECT_EQ(s["steps_intersecting"], 0);
  EXPECT_EQ(s["steps_touching"], 0);
  EXPECT_EQ(s["steps_overlapping"], 0);
  EXPECT_EQ(s["intersections_max"], 0);
}

TEST_F(CertifyCommand, CheckNamesWhatIntersectsAtTheStart) {
  write_scene("scene.json", crossed_sheets(0.013));
  const Finished plain = isocloth({"check", "scene.json"});
  EXPECT_EQ(plain.code, 0) << plain.errors;
  const Json check = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
  // Seven edges of the standing sheet pass through the plane of the other: four along z and three diagonals.
  EXPECT_GE(check["intersections"]["crossing"], 7);
  EXPECT_EQ(check["intersections"]["touching"], 0);
  EXPECT_EQ(check["intersections"]["pairs"].size(), 10U);
  EXPECT_NEAR(check["intersections"]["pairs"][0]["place"][2].get<double>(), 0, 1e-12);
  ASSERT_EQ(check["warnings"].size(), 1U);
  const std::string warning = check["warnings"][0];
  for (const std::string& part :
       {"at the start cloth passes through cloth: " + check["intersections"]["crossing"].dump() +
            " pairs of an edge and a face in 2 garments, edge ",
        std::string(" of standing through face "), std::string(" of lying at (0."),
        std::string("move them apart")})
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  EXPECT_NE(plain.output.find("  warning: " + warning), std::string::npos) << plain.output;
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.errors, "isocloth: warning: " + warning + "\n");

  write_scene("scene.json", crossed_sheets(0.1));  // stands on it, to the last bit
  const Json on_it = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
  EXPECT_EQ(on_it["intersections"]["crossing"], 0);
  EXPECT_GT(on_it["intersections"]["touching"], 0);
  ASSERT_EQ(on_it["warnings"].size(), 1U);
  EXPECT_NE(on_it["warnings"][0].get<std::string>().find("touches cloth to the last bit"), std::string::npos);

  write_scene("scene.json", crossed_sheets(0.101));
  EXPECT_EQ(Json::parse(isocloth({"check", "scene.json", "--json"}).output)["warnings"].size(), 0U);
}

TEST_F(CertifyCommand, KeepsReplicasApart) {
  Json scene = crossed_sheets(0.5);
  const auto crossing = [&] {
    write_scene("scene.json", scene);
    const Json check = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
    return std::pair(check["intersections"]["crossing"].get<int>(), check["warnings"].dump());
  };
  // Each next one stands deeper: the second and third of them in the lying sheet, and all in each other.
  scene["garments"][1]["replicas"] = 3;
  scene["garments"][1]["vary"]["transform.translation[2]"]["values"] = {0.01, -0.083, -0.093};
  scene["garments"][1]["vary"]["transform.rotation[2]"]["values"] = {0, 3, 7};
  const auto [apart, warning] = crossing();
  EXPECT_GT(apart, 0);
  EXPECT_NE(warning.find(" in 3 garments"), std::string::npos) << warning;
  EXPECT_NE(warning.find("of standing[1] through face "), std::string::npos) << warning;
  // Alone they are worlds of their own; a rigid body joins them.
  scene["garments"].erase(0);
  EXPECT_EQ(crossing().first, 0);
  scene["bodies"] = Json::parse(
      R"([{"name": "ball", "shape": {"type": "sphere", "radius": 0.05}, "position": [9, 9, 9], "mass": 1}])");
  EXPECT_GT(crossing().first, 0);
}

}  // namespace
}  // namespace isocloth
