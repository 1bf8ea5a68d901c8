// `isocloth fit` as a user has it: what it prints, its exit codes, Ctrl-C.
#include <csignal>

#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class FitCommandTest : public CommandTest {
 protected:
  /// A sheet that is shaken for `seconds`, and what is to be found of it; the truth is 2.69.
  void write_fit(double seconds, int levels) const {
    Json scene = shaken_sheet(std::llround(100 * seconds));
    scene["frame_interval"] = 0.05;
    write_scene("scene.json", scene);
    Json fit = Json::parse(R"({
      "parameters": [{"number": "fabric.mass_damping", "from": 0.5, "to": 10, "scale": "log", "value": 2.69}],
      "experiments": [{"name": "shake", "scene": "scene.json",
                       "positions": {"file": "shake.csv", "noise": 0.001}}]})");
    fit["experiments"][0]["train"] = {0, seconds};
    fit["levels"] = levels;
    write_scene("truth.json", fit);
    fit["parameters"][0].erase("value");
    write_scene("fit.json", fit);
    const Finished made = isocloth({"fit", "truth.json", "--simulate", "--quiet"});
    ASSERT_EQ(made.code, 0) << made.errors;
    EXPECT_EQ(made.output, "shake.csv\n");
  }
  Json found(const std::string& output) const {
    return Json::parse(read_whole_file(folder_ / output / "fit.json"));
  }
};

TEST_F(FitCommandTest, PrintsWhatItFound) {
  write_fit(1.5, 1);
  const Finished fit = isocloth({"fit", "fit.json", "-o", "out"});
  ASSERT_EQ(fit.code, 0) << fit.errors;
  EXPECT_NE(fit.errors.find("isocloth: best of 16 starts: "), std::string::npos) << fit.errors;
  EXPECT_NE(fit.output.find("\nfabric.mass_damping = 2."), std::string::npos) << fit.output;
  EXPECT_NE(fit.output.find(" kg/(m^2 s): found\n"), std::string::npos) << fit.output;
  EXPECT_NE(fit.output.find("shake, training: mean distance 1."), std::string::npos) << fit.output;
  EXPECT_NEAR(found("out")["parameters"][0]["value"].get<double>(), 2.69, 0.1);
  const Finished again = isocloth({"fit", "fit.json", "-o", "out", "--overwrite", "--quiet", "--json"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(again.errors, "");
  EXPECT_EQ(again.output, read_whole_file(folder_ / "out" / "fit.json"));
  // Its scene is one to run.
  complete("out/fitted/shake.json", "run");
}

TEST_F(FitCommandTest, EndsWithOneWhereTheModelIsRejected) {
  write_fit(1.5, 1);
  Json plan = Json::parse(read_whole_file(folder_ / "fit.json"));
  plan["experiments"][0]["positions"]["noise"] = 0.0005;  // half of what is in the recording
  write_scene("fit.json", plan);
  const Finished fit = isocloth({"fit", "fit.json", "-o", "out", "--quiet"});
  EXPECT_EQ(fit.code, 1) << fit.errors;
  EXPECT_NE(fit.output.find("shake, training of positions: "), std::string::npos) << fit.output;
  EXPECT_NE(fit.output.find(", rejects the model\n"), std::string::npos) << fit.output;
  EXPECT_NE(fit.output.find(" kg/(m^2 s): model rejected\n"), std::string::npos) << fit.output;
  EXPECT_NE(fit.output.find("note: model rejected: shake, positions: what is left is "), std::string::npos)
      << fit.output;
  EXPECT_NE(fit.output.find("\nmodel rejected: "), std::string::npos) << fit.output;
  EXPECT_EQ(found("out")["status"], "model rejected");
}

TEST_F(FitCommandTest, RefusesInOneLine) {
  write_fit(0.5, 1);
  expect_refused(isocloth({"fit", "-o", "out"}), "found no file, expected one");
  expect_refused(isocloth({"fit", "fit.json"}), "--output: found none");
  expect_refused(isocloth({"fit", "none.json", "-o", "out"}), "none.json");
  expect_refused(isocloth({"fit", "scene.json", "-o", "out", "--json"}), "scene.json: ");
  expect_refused(isocloth({"fit", "truth.json", "--simulate"}), "shake.csv: found a file, expected none");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  const Finished schema = isocloth({"fit", "--schema"});
  EXPECT_EQ(schema.code, 0);
  EXPECT_TRUE(Json::parse(schema.output)["properties"].contains("experiments"));
}

TEST_F(FitCommandTest, LeavesTheBestWhenInterrupted) {
  write_fit(12, 100);
  Process fit = start({"fit", "fit.json", "-o", "out", "--quiet"});
  const fs::path table = folder_ / "out" / "fit.csv";
  fit.wait_until([&] { return fs::exists(table) && line_count(read_whole_file(table)) >= 4; });
  fit.send(SIGINT);
  const Finished stopped = fit.wait();
  EXPECT_EQ(stopped.code, 130) << stopped.errors;
  EXPECT_EQ(found("out")["status"], "interrupted");
  EXPECT_GE(found("out")["history"].size(), 3U);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "fit.html"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "fitted" / "shake.json"));
}

}  // namespace
}  // namespace isocloth
