// What is wrong with fits and recordings is said before anything is simulated.
#include "tests/run/fit_case.hpp"

namespace isocloth {
namespace {

class FitRefusal : public FitTest {
 protected:
  void SetUp() override {
    FitTest::SetUp();
    write_shaken_scene();
    simulate(shaken_fit());
  }
  static Json with(const std::string& pointer, const Json& value) {
    Json plan = shaken_fit();
    plan[Json::json_pointer(pointer)] = value;
    return plan;
  }
};

TEST_F(FitRefusal, OfWhatTheFileSays) {
  const std::string a = "/parameters/0/", e = "/experiments/0/";
  expect_refused(with(a + "to", 0.2), "fit.json: parameters[0].to: found 0.2, expected more than from, 0.3");
  expect_refused(with(a + "from", 0), "parameters[0].from: found 0, expected a number > 0 on a log scale");
  expect_refused(with(a + "value", 20),
                 "parameters[0].value: found 20, expected it between the bounds 0.3 and 12");
  expect_refused(with(a + "number", "fabric.mass_dampign"), "the nearest is \"fabric.mass_damping\"");
  expect_refused(with("/parameters/1/number", "fabric.mass_damping"),
                 "a second time, expected each number once");
  expect_refused(with("/parameters/1/from", -1), "fabric.gravity_density");  // which no scene takes
  expect_refused(with("/lost", "huber"), "the nearest is \"loss\"");
  expect_refused(with(e + "train", {1.4, 0}), "experiments[0].train: found 2 numbers, expected two times");
  expect_refused(with(e + "train", {7, 9}), "train: found no sample from 7 to 9 s");
  expect_refused(with(e + "scene", "other.json"), "other.json");
  expect_refused(with(e + "positions/nodes", {0, 30}),
                 "positions.nodes[1]: found 30, expected a node of the mesh");
  expect_refused(with(e + "positions/nodes", {0, 0}), "positions.nodes[1]: found 0 a second time");
  expect_refused(with(e + "positions/nodes", {0, 1}), "columns, expected 7: t, and x, y, z of 2 nodes");
  expect_refused(with(e + "forces", {{{"gripper", "clip"}, {"file", "f.csv"}}}),
                 "forces[0].gripper: found \"clip\", expected none");
  expect_refused(with(e + "follow", {{{"pin", "corner"}}}), "the nearest is \"pin 0\"");
  expect_refused(with(e + "name", "../shake"), "expected a name that can be that of a folder");
  Json plan = with(e + "most_tilt", 5);
  plan["experiments"][0]["alignment"] = "rigid";
  expect_refused(plan, "most_tilt: found 5 beside a rigid alignment");
  plan = shaken_fit();
  plan["experiments"][0].erase("train");
  expect_refused(plan, "found no train");
  plan = shaken_fit();
  plan["experiments"][0]["train"] = {0, 0.001};
  plan["experiments"][0]["positions"]["nodes"] = {3};
  fs::remove(folder_ / "shake.csv");
  simulate(plan);
  plan["parameters"].push_back(
      {{"number", "fabric.bending_stiffness"}, {"from", 1e-6}, {"to", 1e-4}, {"value", 2e-6}});
  expect_refused(plan, "found 3 numbers in the training windows for 3 unknowns");
}

TEST_F(FitRefusal, OfRecordingsThatCannotBe) {
  const std::string good = read_whole_file(folder_ / "shake.csv");
  const auto changed = [&](const std::function<void(Recording&)>& change, const std::string& expected) {
    write_whole_file(folder_ / "shake.csv", good);
    change_recording("shake.csv", change);
    expect_refused(shaken_fit(), expected);
  };
  changed(
      [](Recording& r) {
        for (Vec3d& p : r.values) p = 1000.0 * p;
      },
      "set positions.transform.scale");
  changed(
      [](Recording& r) {
        for (std::size_t k = 0; k < r.times.size(); ++k)
          std::swap(r.values[30 * k + 7], r.values[30 * k + 28]);
      },
      "found node 7, 28 farther than 1.5 edges from every neighbour");
  changed([](Recording& r) { std::swap(r.times[4], r.times[5]); }, "shake.csv:7: found the time");
  changed([](Recording& r) { r.values[3].y = std::nan(""); }, "found a number beside nan");
  changed(
      [](Recording& r) {
        r.values.assign(r.values.size(), {NAN, NAN, NAN});
      },
      "found no point that was seen");
  write_whole_file(folder_ / "shake.csv", "0,1,2\n");
  expect_refused(shaken_fit(), "found 3 columns");
  fs::remove(folder_ / "shake.csv");
  expect_refused(shaken_fit(), "shake.csv");
}

TEST_F(FitRefusal, OfWhatIsNotToBeSimulated) {
  EXPECT_THROW(simulate(shaken_fit()), FileError);  // there already
  fs::remove(folder_ / "shake.csv");
  EXPECT_THROW(simulate(blind(shaken_fit())), SceneError);
  EXPECT_FALSE(fs::exists(folder_ / "shake.csv"));
  Json twice = shaken_fit();
  twice["experiments"].push_back(twice["experiments"][0]);
  twice["experiments"][1]["name"] = "again";
  EXPECT_THROW(simulate(twice), SceneError);  // both in one file
  EXPECT_FALSE(fs::exists(folder_ / "shake.csv"));
  // A scale of 1000 and a recording in millimetres are one.
  simulate(shaken_fit());
  change_recording("shake.csv", [](Recording& r) {
    for (Vec3d& p : r.values) p = 1000.0 * p;
  });
  Json plan = blind(shaken_fit());
  plan["experiments"][0]["positions"]["transform"] = {{"scale", 0.001}};
  expect_found(fit(plan), "fabric.mass_damping", 2.69, 0.03);
}

TEST_F(FitRefusal, OfFabricsThatAreNone) {
  Json scene = shaken_sheet(10);
  scene["garments"][0]["fabric"] = {{"file", "fabric.json"}};
  write_scene("with_file.json", scene);
  const auto refused = [&](const Json& fabric) -> std::string {
    write_scene("fabric.json", fabric);
    try {
      read_scene(folder_ / "with_file.json");
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused({{"alhpa", 2}}).find("fabric.json: unknown key \"alhpa\""), std::string::npos)
      << refused({{"alhpa", 2}});
  EXPECT_NE(refused({{"file", "fabric.json"}}).find("without a file of its own"), std::string::npos);
  EXPECT_NE(refused({1, 2}).find("found no object"), std::string::npos);
  EXPECT_EQ(refused({{"mass_damping", 2}}), "");
  fs::remove(folder_ / "fabric.json");
  EXPECT_THROW(read_scene(folder_ / "with_file.json"), FileError);
}

}  // namespace
}  // namespace isocloth
