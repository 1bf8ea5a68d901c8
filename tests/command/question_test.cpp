// What the command says without running anything.
#include "tests/command/command_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

class QuestionCommand : public CommandTest {};

TEST_F(QuestionCommand, SchemaIsJson) {
  const Finished schema = isocloth({"schema"});
  EXPECT_EQ(schema.code, 0);
  const Json root = Json::parse(schema.output);
  EXPECT_TRUE(root.contains("$schema"));
  EXPECT_TRUE(root["properties"].contains("garments"));
}

TEST_F(QuestionCommand, CheckTakesEveryBenchScene) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(ISOCLOTH_SOURCE_DIR "/bench/scenes")) {
    if (entry.path().extension() != ".json" || !is_known_scene(read_whole_file(entry.path()))) continue;
    ++count;
    const Finished check = isocloth({"check", entry.path().string(), "--json"});
    EXPECT_EQ(check.code, 0) << check.errors;
    const Json root = Json::parse(check.output);
    EXPECT_GE(root["step_count"], 1);
    EXPECT_GT(root["garments"][0]["node_count"], 0);
  }
  EXPECT_GE(count, 10U);
}

TEST_F(QuestionCommand, CheckCounts) {
  Json scene = shaken_sheet(20);
  scene["frame_interval"] = 0.05;
  write_scene("scene.json", scene);
  const Json root = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
  EXPECT_EQ(root["recipe"], "coltraro2022");
  EXPECT_EQ(root["step_count"], 20);
  EXPECT_EQ(root["frame_count"], 5);
  EXPECT_EQ(root["garments"][0]["node_count"], 30);
  EXPECT_EQ(root["garments"][0]["pinned_count"], 2);
  const Finished plain = isocloth({"check", "scene.json"});
  EXPECT_EQ(plain.code, 0);
  EXPECT_NE(plain.output.find("garment sheet: 30 nodes, 20 elements, 2 pinned"), std::string::npos);
  EXPECT_EQ(names(folder_.path()), std::vector<std::string>{"scene.json"});
}

TEST_F(QuestionCommand, CheckCountsTheFramesThatARunWrites) {
  Json scene = shaken_sheet(20);
  scene["frame_interval"] = 0.06;
  write_scene("scene.json", scene);
  const Json root = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
  complete("scene.json", "out");
  EXPECT_EQ(root["frame_count"], summary("out")["frame_count"]);
}

/// A scene that `run` refuses after it has read the file: what is put where, and what is said.
struct Refused {
  const char* path;
  const char* value;
  const char* expected;
};

TEST_F(QuestionCommand, CheckRefusesWhatRunRefuses) {
  folder_.write("sliver.obj", "v 0 0 0\nv 1 0 0\nv 0.5 1e-09 0\nv 0.5 1 0\nf 1 2 3\nf 2 4 3\n");
  folder_.write("thin.obj",
                "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv 0 0 1.001\nv 1 0 1.001\nv 1 1 1.001\nv 0 1 1.001\n"
                "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  folder_.write("away.csv", "0,0,0.2,0.42,0.297,0.2,0.42\n1,0,0.2,0.42,0.297,0.2,0.42\n");
  const Refused all[] = {
      {"/obstacles", R"([{"shape": {"type": "sphere", "radius": 0.1}, "position": [0.15, 0, 0.2]}])",
       "m inside of obstacle \"obstacle 0\" at the start, the deepest of "},
      {"/garments/0/mesh", R"({"file": "sliver.obj"})",
       "face 1 (line 5) is a sliver: found a height of 1e-09 m"},
      {"/obstacles", R"([{"shape": {"type": "mesh", "file": "thin.obj", "cell": 0.0001}}])",
       ".cell: a cell of 0.0001 m makes too large a grid"},
      {"/obstacles", R"([{"shape": {"type": "sphere", "radius": 1}, "position": [0, 0, 1e308]}])",
       "obstacles[0].position: found 1e+308, expected at most 1e+09 m from the origin"},
      {"/obstacles",
       R"([{"shape": {"type": "height_field", "spacing": 1e100, "heights": {"samples": [2, 2], "values": [0, 0, 0, 0]}}}])",
       "obstacles[0].shape.spacing: found 1e+100, expected at most 1e+09 m"},
      {"/garments/0/pins/0/motion", R"({"type": "recorded", "file": "away.csv"})",
       "found node 25 at (0 0.2 0.42) at the start (0 s), 0.2 m from where it starts"},
      {"/garments/0/replicas", "10000000", "garments[0].replicas: found 1e+07 garments of "},
      {"/garments/0/mesh/nodes", "[10000000, 10000000]", "mesh.nodes: found a mesh of 1e+14 nodes"},
  };
  for (const Refused& one : all) {
    Json scene = shaken_sheet(2);
    scene[Json::json_pointer(one.path)] = Json::parse(one.value);
    write_scene("scene.json", scene);
    const Finished check = isocloth({"check", "scene.json"}),
                   run = isocloth({"run", "scene.json", "-o", "out"});
    expect_refused(check, one.expected);
    EXPECT_EQ(check.errors.rfind("isocloth: scene.json: ", 0), 0u) << check.errors;
    EXPECT_EQ(run.errors, check.errors);
    EXPECT_EQ(run.code, 2);
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(QuestionCommand, WarningsAreSaidByCheckRunAndSummary) {
  folder_.write("short.csv", "0,0,0,0.42,0.297,0,0.42\n0.01,0,0.001,0.42,0.297,0.001,0.42\n");
  folder_.write("two.obj",
                "v 0 0 0.42\nv 0.1 0 0.42\nv 0 0 0.32\nv 0.1 0 0.32\nv 0.1000001 0 0.42\nv 0.2 0 0.42\n"
                "v 0.1000001 0 0.32\nv 0.2 0 0.32\nf 1 2 4 3\nf 5 6 8 7\n");
  const char* gripper = R"([{"region": {"type": "sphere", "radius": 0.01}, "position": [0, 0, 1],
                             "holds": [{"from": 0, "to": 1}]}])";
  const char* apart =
      R"([{"select": {"nodes": [0]}}, {"select": {"nodes": [4]}, "motion": {"type": "keyframes",
                           "times": [0, 0.01], "translations": [[0, 0, 0], [0.1, 0, 0]]}}])";
  const Refused all[] = {
      {"/garments/0/pins/0/motion", R"({"type": "recorded", "file": "short.csv"})",
       "recorded from 0 to 0.01 s, but the run lasts from 0 to 0.03 s"},
      {"/garments/0/grippers", gripper,
       "gripper \"gripper 0\" closes at 0 s where no node starts: the nearest starts 0.57 m outside"},
      {"/garments/0/transform/scale", "1000", "is 420 m long; coordinates are metres"},
      {"/garments/0/pins/0/select", R"({"nearest": [[0, 1, 0.42], [0.297, 0, 0.42]]})",
       "pins[0].select.nearest[0]: the nearest node, 25, lies 1 m away"},
      {"/garments/0/fabric/density", "150", "fabric.density is 150 kg/m^2"},
      {"/wind", R"({"velocity": [3, 0, 0]})", "wind: no effect on garments without fabric.drag"},
      {"/garments/0/mesh", R"({"file": "two.obj"})",
       "consists of 2 parts that nothing connects: 2 nodes on open"},
      {"/garments/0/pins", apart,
       "pins 0 and 4 are taken 0.3016875 m apart, which the cloth between them, 0.297 m long"},
  };
  for (const Refused& one : all) {
    Json scene = shaken_sheet(3);
    scene[Json::json_pointer(one.path)] = Json::parse(one.value);
    if (one.path == std::string("/garments/0/transform/scale")) scene["garments"][0].erase("pins");
    if (one.path == std::string("/garments/0/mesh"))
      scene["garments"][0].erase("pins"), scene["garments"][0].erase("transform");
    write_scene("scene.json", scene);
    SCOPED_TRACE(one.expected);
    const Json check = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
    ASSERT_EQ(check["warnings"].size(), 1u) << check["warnings"];
    EXPECT_NE(check["warnings"][0].get<std::string>().find(one.expected), std::string::npos)
        << check["warnings"];
    EXPECT_NE(isocloth({"check", "scene.json"}).output.find(one.expected), std::string::npos);
    const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"});
    EXPECT_EQ(run.errors.rfind("isocloth: warning: ", 0), 0u) << run.errors;
    EXPECT_NE(run.errors.find(one.expected), std::string::npos) << run.errors;
    EXPECT_EQ(summary("out")["warnings"], check["warnings"]);
  }
}

TEST_F(QuestionCommand, WeldSewsAndRampLeads) {
  folder_.write("two.obj",
                "v 0 0 0.42\nv 0.1 0 0.42\nv 0 0 0.32\nv 0.1 0 0.32\nv 0.1000001 0 0.42\nv 0.2 0 0.42\n"
                "v 0.1000001 0 0.32\nv 0.2 0 0.32\nf 1 2 4 3\nf 5 6 8 7\n");
  Json scene = shaken_sheet(3);
  scene["garments"][0].erase("transform");
  scene["garments"][0]["mesh"] = Json::parse(R"({"file": "two.obj", "weld": 1e-6})");
  scene["garments"][0]["pins"] = Json::parse(R"([{"select": {"nodes": [0]}, "ramp": 0.03,
      "motion": {"type": "keyframes", "times": [0], "translations": [[0, 0.001, 0]]}}])");
  write_scene("scene.json", scene);
  const Json check = Json::parse(isocloth({"check", "scene.json", "--json"}).output);
  EXPECT_EQ(check["garments"][0]["node_count"], 6);
  EXPECT_EQ(check["warnings"].size(), 0u) << check["warnings"];
  complete("scene.json", "out");
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  EXPECT_NEAR(trajectory.positions(1)[1], 0.001 * (3 / 9.0 - 2 / 27.0), 1e-9);  // y of node 0 at a third
  EXPECT_NEAR(trajectory.positions(3)[1], 0.001, 1e-9);
  scene["garments"][0]["mesh"]["weld"] = 0.09;
  write_scene("scene.json", scene);
  expect_refused(
      isocloth({"check", "scene.json"}),
      "garments[0].mesh.weld: found 0.09 m, expected at most 0.0499999874 m, half of the mean element size");
}

TEST_F(QuestionCommand, InfoSaysWhyCudaIsAbsent) {
  const Finished info = isocloth({"info", "--json"});
  EXPECT_EQ(info.code, 0);
  const Json root = Json::parse(info.output);
  ASSERT_EQ(root["backends"].size(), 2U);
  EXPECT_EQ(root["backends"][0]["name"], "cpu");
  EXPECT_EQ(root["backends"][0]["usable"], true);
  EXPECT_EQ(root["backends"][1]["name"], "cuda");
  EXPECT_FALSE(root["backends"][1]["message"].get<std::string>().empty());
  EXPECT_TRUE(root["backends"][1]["devices"].is_array());
  EXPECT_EQ(root["recipes"][0]["name"], "coltraro2022");
  const Finished plain = isocloth({"info"});
  EXPECT_EQ(plain.code, 0);
  EXPECT_NE(plain.output.find(root["backends"][1]["message"].get<std::string>()), std::string::npos);
}

TEST_F(QuestionCommand, HelpAndVersionAreAnswers) {
  for (const char* option : {"--help", "--version"}) {
    const Finished answer = isocloth({option});
    EXPECT_EQ(answer.code, 0);
    EXPECT_EQ(answer.errors, "");
    EXPECT_NE(answer.output.find("isocloth"), std::string::npos);
  }
  EXPECT_NE(isocloth({"run", "--help"}).output.find("--resume"), std::string::npos);
}

TEST_F(QuestionCommand, AnAnswerThatCannotBeWrittenIsAnError) {
  for (const char* question : {"schema", "info"})
    expect_refused(isocloth({question}, {.output_file = "/dev/full"}),
                   "standard output: cannot write: No space");
}

}  // namespace
}  // namespace isocloth
