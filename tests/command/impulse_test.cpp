// The recipes of impulses from the command line.
#include "tests/command/command_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

using ImpulseCommand = CommandTest;

Json impulse_sheet(const std::string& recipe, const std::string& mode, std::int64_t step_count) {
  Json scene = shaken_sheet(step_count);
  scene.erase("projection");
  scene["recipe"] = recipe;
  scene["impulse"] = {{"mode", mode}, {"tolerance", 0.02}};
  scene["garments"][0]["fabric"]["shear_spring"] = {{"stiffness", 5}, {"damping", 1e-3}};
  return scene;
}

TEST_F(ImpulseCommand, RunsAndValidates) {
  for (const std::string recipe : known_recipes({"bender_iterative", "isometric_impulse"}))
    for (const std::string mode : {"substeps", "converge"})
      for (const std::string precision : {"float64", "float32"}) {
        SCOPED_TRACE(recipe + ", " + mode + ", " + precision);
        write_scene("scene.json", impulse_sheet(recipe, mode, 20));
        const std::string out = recipe + mode + precision;
        complete("scene.json", out + "1", {"--threads", "1", "--precision", precision});
        complete("scene.json", out + "2", {"--threads", "2", "--solver", "direct", "--precision", precision});
        expect_same_checkpoint(out + "1", out + "2",
                               precision == "float64" ? Precision::float64 : Precision::float32);
        expect_same_trajectory(out + "1", out + "2");

        const Finished validation =
            isocloth({"validate", "scene.json", "--quiet", "--json", "--precision", precision});
        EXPECT_EQ(validation.code, 0) << validation.errors << validation.output;
        const Json garment = Json::parse(validation.output)["garments"][0];
        EXPECT_EQ(garment["steps"], 10);
        EXPECT_EQ(garment["deviating_steps"], 0);
        if (precision == "float64") {
          EXPECT_GE(garment["whole_steps"], 5);
          EXPECT_GT(garment["iterations"], 0);
        }
      }
}

TEST_F(ImpulseCommand, ValidatesLinearSystems) {
  if (!has_recipe("bender_sle")) GTEST_SKIP() << "bender_sle is not in this build";
  write_scene("system.json", impulse_sheet("bender_sle", "converge", 20));
  for (const std::string precision : {"float64", "float32"}) {
    const Finished validation =
        isocloth({"validate", "system.json", "--quiet", "--json", "--precision", precision});
    EXPECT_EQ(validation.code, 0) << validation.errors << validation.output;
    const Json garment = Json::parse(validation.output)["garments"][0];
    EXPECT_EQ(garment["steps"], 10) << precision;
    EXPECT_EQ(garment["deviating_steps"], 0) << precision;
    // The line between the pins is nearly taut: in float its system is within rounding of a singular one.
    if (precision == "float64") {
      EXPECT_GE(garment["whole_steps"], 5);
    }
    // At least one solve in each of ten parts of 1 ms.
    EXPECT_GE(garment["iterations"], 10 * garment["whole_steps"].get<int>()) << precision;
  }
}

TEST_F(ImpulseCommand, SaysWhatDoesNotFit) {
  Json scene = impulse_sheet("bender_iterative", "substeps", 5);
  write_scene("scene.json", scene);
  for (const std::string solver : {"mixed", "iterative"})
    expect_refused(isocloth({"run", "scene.json", "-o", "out", "--quiet", "--solver", solver}),
                   "impulses solve no nodal system");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  scene["garments"][0]["fabric"]["shear_spring"]["stiffness"] = 1e6;
  scene["impulse"]["substeps"] = 2;
  write_scene("stiff.json", scene);
  expect_refused(isocloth({"run", "stiff.json", "-o", "out", "--quiet"}),
                 "impulse.substeps: found 2 parts of a step of 0.01 s, expected at least");
}

}  // namespace
}  // namespace isocloth
