// Cases of a sweep end as a run of them would, or when they take too long.
#include "host/sweep/run_sweep.hpp"
#include "tests/command/sweep_case.hpp"

namespace isocloth {
namespace {

class SweepRules : public SweepTest {
 protected:
  /// Shaken so fast that steps miss their tolerance.
  static Json violent(const char* on_violation) {
    Json scene = shaken_sheet(30);
    scene["garments"][0]["pins"][0]["motion"] = {
        {"type", "oscillation"}, {"amplitude", {0, 0.2, 0}}, {"frequency", 3}};
    scene["projection"] = {{"max_iterations", 5}, {"max_substeps", 1}, {"on_violation", on_violation}};
    return scene;
  }
  static Strings column(const Cells& rows, std::size_t number) {
    Strings all;
    for (std::size_t i = 1; i < rows.size(); ++i) all.push_back(rows[i][number]);
    return all;
  }
  Finished vary(const std::string& output, const Strings& more = {}) const {
    Strings options{"--vary",    "pins[0].motion.frequency=0.3,3",
                    "--vary",    "fabric.mass_damping=2,3",
                    "--measure", "strain_max"};
    options.insert(options.end(), more.begin(), more.end());
    return sweep(output, options);
  }
};

TEST_F(SweepRules, ACaseStopsWhereARunStops) {
  write_scene("scene.json", violent("stop"));
  ASSERT_EQ(vary("out").code, 0);
  const Cells rows = cells("out");
  ASSERT_EQ(rows.size(), 5U);
  std::size_t stopped = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Json single = violent("stop");
    single["garments"][0]["pins"][0]["motion"]["frequency"] = std::stod(rows[i][1]);
    single["garments"][0]["fabric"]["mass_damping"] = std::stod(rows[i][2]);
    write_scene("single.json", single);
    const Finished run = isocloth({"run", "single.json", "-o", "single", "--quiet", "--overwrite"});
    EXPECT_EQ(rows[i][3], run.code == 0 ? "completed" : "stopped") << i << run.errors;
    EXPECT_EQ(rows[i][4].empty(), run.code != 0) << i;
    stopped += run.code != 0;
  }
  EXPECT_GT(stopped, 0U);
  EXPECT_LT(stopped, 4U);
  EXPECT_EQ(record("out")["case_counts"]["stopped"], stopped);
  // The table does not depend on the batch, and an interrupted sweep reads it.
  ASSERT_EQ(vary("alone", {"--batch", "1"}).code, 0);
  EXPECT_EQ(csv("alone"), csv("out"));
  EXPECT_EQ(vary("out", {"--resume"}).code, 0);
  // Told to go on, it has measures of all.
  write_scene("scene.json", violent("continue"));
  ASSERT_EQ(vary("on").code, 0);
  for (const Strings& row : cells("on")) EXPECT_FALSE(row[4].empty());
  EXPECT_EQ(record("on")["case_counts"]["stalled"], stopped);
  EXPECT_EQ(record("on")["case_counts"]["stopped"], 0);
}

TEST_F(SweepRules, ACaseThatTakesTooLongIsListedAndTheOthersGoOn) {
  // A mesh whose steps take a tenth of a second, between small ones.
  Json scene = shaken_sheet(150);
  scene["garments"][0]["mesh"]["nodes"] = {4, 50};
  write_scene("scene.json", scene);
  const Strings options{"--vary",     "mesh.nodes[0]=4,150,5", "--measure",
                        "strain_max", "--case-seconds",        "1.5"};
  const Finished run = sweep("out", options);
  ASSERT_EQ(run.code, 0) << run.errors;
  const Cells rows = cells("out");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(column(rows, 2), (Strings{"completed", "timed_out", "completed"}));
  EXPECT_EQ(column(rows, 3)[1], "");
  EXPECT_NE(run.errors.find("case 1: took longer than 1.5 s (--case-seconds)"), std::string::npos)
      << run.errors;
  EXPECT_NE(run.errors.find("mesh.nodes[0] = 150"), std::string::npos) << run.errors;
  EXPECT_EQ(record("out")["case_counts"]["timed_out"], 1);
  EXPECT_EQ(record("out")["execution"]["case_seconds"], 1.5);
  EXPECT_EQ(sweep("out", {"--vary", "fabric.mass_damping=1", "--case-seconds", "-1"}).code, 2);
}

}  // namespace
}  // namespace isocloth
