// Seams that did not close are named, the widest first.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class OpenSeams : public CommandTest {
 protected:
  /// Two squares that face each other, 0.3 m apart at one side, and sewn along it and another.
  static Json apart() {
    return Json::parse(R"({"step": 0.01, "duration": 0.02, "gravity": 0, "garments": [{"name": "bag",
        "mesh": {"edge_length": 0.05, "panels": [
            {"name": "front", "outline": [[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]]},
            {"name": "back", "outline": [[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]], "translation": [0, 0.3, 0]}],
          "seams": [{"panel": "front", "edge": 1, "other_panel": "back", "other_edge": 1},
                    {"panel": "front", "edge": 3, "other_panel": "back", "other_edge": 3}]},
        "fabric": {"preset": "cotton"}}]})");
  }
};

TEST_F(OpenSeams, AreNamedByPanelsAndEdges) {
  write_scene("scene.json", apart());
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.errors;
  const std::string message = summary("out")["message"];
  EXPECT_EQ(message.rfind("1 garments have seams that did not close: bag, by up to 0.", 0), 0U) << message;
  const std::size_t first = message.find("front.1 with back.1 by 0."),
                    second = message.find("front.3 with back.3 by 0.");
  EXPECT_NE(first, std::string::npos) << message;
  EXPECT_NE(second, std::string::npos) << message;
  EXPECT_NE(message.find(" m); a larger sewing.force draws harder, a longer run longer"), std::string::npos)
      << message;
}

// The advice: drawn harder and longer, they close.
TEST_F(OpenSeams, CloseWhereTheAdviceIsFollowed) {
  Json scene = apart();
  scene["duration"] = 1.5;
  scene["garments"][0]["sewing"] = {{"force", 100}, {"speed", 2}};
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(summary("out")["message"], "");
}

}  // namespace
}  // namespace isocloth
