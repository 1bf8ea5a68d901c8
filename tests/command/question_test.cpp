// What the command says without running anything.
#include "tests/command/command_case.hpp"

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
    if (entry.path().extension() != ".json") continue;
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

TEST_F(QuestionCommand, InfoSaysWhyCudaIsAbsent) {
  const Finished info = isocloth({"info", "--json"});
  EXPECT_EQ(info.code, 0);
  const Json root = Json::parse(info.output);
  ASSERT_EQ(root["backends"].size(), 2U);
  EXPECT_EQ(root["backends"][0]["name"], "cpu");
  EXPECT_EQ(root["backends"][0]["usable"], true);
  EXPECT_EQ(root["backends"][1]["name"], "cuda");
  EXPECT_FALSE(root["backends"][1]["message"].get<std::string>().empty());
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
