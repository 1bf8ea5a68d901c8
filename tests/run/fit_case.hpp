// Fits to recordings of a shaken sheet that are simulated with known numbers.
#pragma once

#include <cmath>

#include "engine/core/errors.hpp"
#include "host/fit/run_fit.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {

class FitTest : public ResultTest {
 protected:
  /// The sheet of shaken_sheet for 2 s, its damping and virtual mass to be found; the truth is the sheet's
  /// own.
  static Json shaken_fit() {
    return Json::parse(R"({
      "name": "shaken", "starts": 6,
      "parameters": [
        {"number": "fabric.mass_damping", "from": 0.3, "to": 12, "scale": "log", "value": 2.69},
        {"number": "fabric.gravity_density", "from": 0.1, "to": 1, "value": 0.52}],
      "experiments": [{
        "name": "shake", "scene": "scene.json", "positions": {"file": "shake.csv", "noise": 0.002},
        "train": [0, 1.4], "test": [1.42, 2]}]})");
  }
  /// The same as a search sees it: without the truth.
  static Json blind(Json fit) {
    for (Json& parameter : fit["parameters"]) parameter.erase("value");
    return fit;
  }
  void write_shaken_scene() const {
    Json scene = shaken_sheet(200);
    scene["frame_interval"] = 0.02;
    write_scene("scene.json", scene);
  }
  std::vector<Vec3d> shaken_start() const {
    return read_scene(folder_ / "scene.json").garments[0].mesh.positions;
  }
  void simulate(const Json& fit) const {
    write_scene("truth.json", fit);
    simulate_recordings({.file = folder_ / "truth.json", .output = {}, .execution = {.threads = 1}});
  }
  FitRecord fit(const Json& plan, IfExists if_exists = IfExists::overwrite, FitObserver* observer = nullptr,
                Monitor* monitor = nullptr) const {
    write_scene("fit.json", plan);
    return run_fit({.file = folder_ / "fit.json",
                    .output = folder_ / "out",
                    .if_exists = if_exists,
                    .execution = {.threads = 1, .monitor = monitor}},
                   observer);
  }
  /// By a message of one line that says so, and without a folder.
  void expect_refused(const Json& plan, const std::string& expected) const {
    try {
      fit(plan);
      FAIL() << "expected " << expected;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what() << "\n"
                                                                             << expected;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }
  static const FittedNumber& number(const FitRecord& record, const std::string& label) {
    for (const FittedNumber& found : record.numbers)
      if (found.unknown.label == label) return found;
    throw std::out_of_range(label);
  }
  static void expect_found(const FitRecord& record, const std::string& label, double truth, double within) {
    const FittedNumber& found = number(record, label);
    EXPECT_NEAR(found.value, truth, within * std::fabs(truth)) << label;
    // Twice the 95 % interval holds it but once in ten thousand.
    EXPECT_NEAR(found.value, truth, found.high - found.low) << label;
    EXPECT_EQ(found.verdict, Verdict::found)
        << describe(found) << ", interval " << found.inflation << " times as wide; " << record.rejection;
  }
  /// Rows of a recording, changed number by number, and written back.
  void change_recording(const std::string& name, const std::function<void(Recording&)>& change) const {
    Recording recording = read_recording(folder_ / name, 0, "t, x, y, z");
    change(recording);
    write_whole_file(folder_ / name, recording_csv(recording, "# changed"));
  }
};

}  // namespace isocloth
