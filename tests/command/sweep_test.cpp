// Sweeps from a scene to their table: what they compute, how they are interrupted.
#include <cmath>

#include "engine/model/variation.hpp"
#include "tests/command/sweep_case.hpp"

namespace isocloth {
namespace {

TEST_F(SweepTest, RunsEveryCombinationAsIfAlone) {
  Json scene = shaken_sheet(20);
  scene["frame_interval"] = 0.04;
  write_scene("scene.json", scene);
  sweep_to_the_end("out", {"--vary", "fabric.mass_damping=1:4:3:log", "--vary", "mesh.size[1]=0.42,0.4",
                           "--measure", "kinetic_energy_end", "--measure", "strain_max", "--measure",
                           "node:3", "--measure", "iterations_mean"});
  const Cells rows = cells("out");
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0], (Strings{"case", "fabric.mass_damping", "mesh.size[1]", "status", "kinetic_energy_end",
                              "strain_max", "node3_x", "node3_y", "node3_z", "iterations_mean"}));
  const double alphas[] = {1, 1, 2, 2, 4, 4};
  for (std::size_t i = 0; i < 6; ++i) {
    const Strings& row = rows[i + 1];
    EXPECT_EQ(row[0], std::to_string(i));
    EXPECT_NEAR(std::stod(row[1]), alphas[i], 1e-15);
    EXPECT_EQ(row[2], i % 2 == 0 ? "0.42" : "0.4");
    EXPECT_EQ(row[3], "completed");
    // The same from a run of that scene alone.
    Json single = scene;
    single["garments"][0]["fabric"]["mass_damping"] = std::stod(row[1]);
    single["garments"][0]["mesh"]["size"][1] = std::stod(row[2]);
    write_scene("single.json", single);
    complete("single.json", "single", {"--overwrite"});
    const TrajectoryFile trajectory(folder_ / "single" / "trajectory.h5");
    double strain_max = 0;
    for (std::size_t f = 0; f < trajectory.frame_count(); ++f)
      strain_max = std::max(strain_max, trajectory.metrics(f, 0).steps.strain.max);
    const std::size_t last = trajectory.frame_count() - 1;
    EXPECT_EQ(std::stod(row[4]), trajectory.metrics(last, 0).measures.kinetic_energy);
    EXPECT_EQ(std::stod(row[5]), strain_max);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(std::stod(row[6 + k]), checkpoint("single").garments[0].positions[9 + k]);
    EXPECT_EQ(std::stod(row[9]), summary("single")["iterations_per_step_mean"].get<double>());
  }
  const Json found = record("out");
  EXPECT_EQ(found["status"], "completed");
  EXPECT_EQ(found["case_counts"]["completed"], 6);
  EXPECT_EQ(found["case_status"].size(), 6u);
  EXPECT_EQ(found["plan"]["parameters"][0]["unit"], "kg/(m^2 s)");
  EXPECT_EQ(found["plan"]["measures"][0]["unit"], "J");
  EXPECT_EQ(found["plan"]["scene_digest"].get<std::string>().size(), 16u);
  EXPECT_EQ(names(folder_ / "out"),
            (Strings{"scene.json", "sweep.csv", "sweep.html", "sweep.json", "sweep.svg"}));
  const std::string page = read_whole_file(folder_ / "out" / "sweep.html");
  for (const char* reference : {"<script src", "src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
}

TEST_F(SweepTest, DoesNotDependOnTheBatch) {
  write_scene("scene.json", shaken_sheet(15));
  const Strings options{"--vary",    "fabric.mass_damping=0:4:5",
                        "--vary",    "mesh.nodes[1]=6,8",
                        "--against", "base",
                        "--measure", "distance_mean",
                        "--measure", "potential_energy_mean",
                        "--measure", "strain_mean"};
  // Another number of nodes shares two of its rows; pins are found by place.
  const std::string few =
      "isocloth: warning: distances of case 1 are of 10 nodes, of 40 there are: those that lie where the "
      "reference has one; with fabric.mass_damping = 0, mesh.nodes[1] = 8; as few in 4 other cases\n";
  for (const char* batch : {"0", "1", "3", "100"}) {
    Strings all = options;
    all.insert(all.end(), {"--batch", batch});
    sweep_to_the_end(std::string("out") + batch, all, few);
    EXPECT_EQ(csv(std::string("out") + batch), csv("out0")) << batch;
  }
  EXPECT_EQ(record("out3")["batches"].size(), 4u);
  EXPECT_EQ(record("out3")["batches"][3]["count"], 1);
}

TEST_F(SweepTest, SaysWhichSeamsStayedOpen) {
  Json panels = Json::array();
  for (const char* name : {"front", "back"})
    panels.push_back({{"name", name},
                      {"outline", {{0, 0}, {0.2, 0}, {0.2, 0.2}, {0, 0.2}}},
                      {"translation", {0, panels.empty() ? 0 : 9, 0}}});
  const Json mesh = {
      {"edge_length", 0.1},
      {"panels", panels},
      {"seams", {{{"panel", "front"}, {"edge", 0}, {"other_panel", "back"}, {"other_edge", 0}}}}};
  write_scene("scene.json",
              {{"step", 0.01}, {"duration", 0.02}, {"garments", {{{"name", "bag"}, {"mesh", mesh}}}}});
  const Finished run = sweep("out", {"--vary", "fabric.density=0.2,0.3", "--measure", "seam_opening"});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.errors.find("case 1: seams did not close, by up to 8.9"), std::string::npos) << run.errors;
  EXPECT_NEAR(std::stod(cells("out")[2].back()), 9, 0.1);
}

TEST_F(SweepTest, DrawsSamplesFromItsSeed) {
  write_scene("scene.json", shaken_sheet(5));
  const Strings options{
      "--vary", "fabric.mass_damping=1:8:log", "--vary", "gravity=3:9", "--sample", "6", "--seed", "11"};
  sweep_to_the_end("a", options);
  const Cells rows = cells("a");
  ASSERT_EQ(rows.size(), 7u);
  const Variation gravity{.is_list = false, .values = {}, .from = 3, .to = 9, .sampling = Sampling::uniform};
  const std::vector<double> expected =
      variation_values(gravity, 6, derived_seed(11, 0, "gravity"), "gravity");
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(std::stod(rows[i + 1][2]), expected[i]);
  Strings other = options;
  other.back() = "12";
  sweep_to_the_end("b", other);
  EXPECT_NE(csv("a"), csv("b"));
  EXPECT_EQ(record("a")["plan"]["seed"], 11);
  EXPECT_EQ(record("a")["plan"]["kind"], "samples");
}

TEST_F(SweepTest, MeasuresDistancesToAReference) {
  Json scene = shaken_sheet(30);
  scene["frame_interval"] = 0.03;
  write_scene("scene.json", scene);
  const Strings distances{"--measure", "distance_mean", "--measure", "distance_max",
                          "--measure", "distance_rms",  "--measure", "distance_norm"};
  const auto with = [&](Strings options) {
    options.insert(options.end(), distances.begin(), distances.end());
    return options;
  };
  // The scene itself is no distance from itself; a sheet 1 cm aside is 1 cm away at every node and time.
  sweep_to_the_end("base", with({"--vary", "fabric.gravity_density=0.52,0.6", "--against", "base"}));
  Cells rows = cells("base");
  for (std::size_t c = 3; c < 7; ++c) {
    EXPECT_EQ(std::stod(rows[1][c]), 0);
    EXPECT_GT(std::stod(rows[2][c]), 1e-4);
  }
  EXPECT_GE(std::stod(rows[2][4]), std::stod(rows[2][5]));  // max >= rms >= mean on a uniform mesh
  EXPECT_GE(std::stod(rows[2][5]), 0.999 * std::stod(rows[2][3]));

  complete("scene.json", "run");
  for (const char* reference : {"run", "run/trajectory.h5"}) {
    sweep_to_the_end(
        "file", with({"--vary", "fabric.gravity_density=0.52,0.6", "--against", reference, "--overwrite"}));
    rows = cells("file");
    // Frames hold positions in single precision: sqrt(3) 2^-24 times coordinates below 0.5 m.
    EXPECT_LE(std::stod(rows[1][4]), std::sqrt(3.) * 0.5 * std::ldexp(1., -24));
    EXPECT_NEAR(std::stod(rows[2][3]), std::stod(cells("base")[2][3]), 1e-7);
  }

  // Recorded places of all 30 nodes, each 1 cm above where the sheet starts: by hand, in the first frame.
  const Scene read = read_scene(folder_ / "scene.json");
  std::string recorded = "0";
  for (const Vec3d& p : read.garments[0].mesh.positions)
    recorded += "," + shortest(p.x) + "," + shortest(p.y) + "," + shortest(p.z + 0.01);
  folder_.write("camera.csv", recorded + "\n");
  sweep_to_the_end("camera", with({"--vary", "fabric.gravity_density=0.52", "--against", "camera.csv",
                                   "--window", "0:0"}));
  rows = cells("camera");
  for (std::size_t c = 3; c < 6; ++c) EXPECT_NEAR(std::stod(rows[1][c]), 0.01, 1e-15);
  // sqrt(sum of areas) times 1 cm: the sheet's area.
  EXPECT_NEAR(std::stod(rows[1][6]), 0.01 * std::sqrt(0.297 * 0.42), 1e-15);
}

TEST_F(SweepTest, OneBadCaseIsOneRow) {
  write_scene("scene.json", shaken_sheet(10));
  const Finished run = sweep("out", {"--vary", "pins[0].motion.amplitude[1]=0.05,1e200,0.08"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_NE(run.output.find("3 of 3 cases: 2 completed, 0 missed the tolerance, 1 failed\n"),
            std::string::npos)
      << run.output;
  EXPECT_NE(run.errors.find("warning: case 1: the step to t = "), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("; with pins[0].motion.amplitude[1] = 1e+200\n"), std::string::npos)
      << run.errors;
  const Cells rows = cells("out");
  EXPECT_EQ(rows[1][2], "completed");
  EXPECT_EQ(rows[2], (Strings{"1", "1e+200", "failed", "", "", "", "", ""}));
  EXPECT_EQ(rows[3][2], "completed");
  sweep_to_the_end("good", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06,0.08"});
  EXPECT_EQ(cells("good")[3], rows[3]);
  EXPECT_EQ(csv("out").find("nan"), std::string::npos);
  const Finished none = sweep("none", {"--vary", "pins[0].motion.amplitude[1]=1e200,2e200"});
  EXPECT_EQ(none.code, 1) << none.output << none.errors;
}

TEST_F(SweepTest, ContinuesByteForByte) {
  write_scene("scene.json", shaken_sheet(1500));
  const Strings options{"--vary",    "fabric.mass_damping=0:5:4",
                        "--vary",    "fabric.gravity_density=0.1:1:10",
                        "--against", "base",
                        "--batch",   "2"};
  sweep_to_the_end("straight", options);

  Strings arguments{"sweep", "scene.json", "-o", "out", "--quiet"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::size_t rows = 1;
  for (int part = 0; part < 3; ++part) {
    Process run = start(arguments);
    const fs::path table = folder_ / "out" / "sweep.csv";
    run.wait_until([&] { return fs::exists(table) && line_count(read_whole_file(table)) > rows; });
    run.send(part == 1 ? SIGKILL : part == 2 ? SIGTERM : SIGINT);
    const Finished end = run.wait();
    rows = line_count(csv("out"));
    ASSERT_LT(rows, 41u) << "the sweep was faster than its interruption";
    // Whole rows, as in the table of the uninterrupted sweep, whichever way it ended.
    EXPECT_EQ(csv("straight").rfind(csv("out"), 0), 0u);
    EXPECT_EQ(rows % 2, 1u);
    if (part == 1) {
      EXPECT_EQ(end.code, -SIGKILL);
    } else {
      EXPECT_EQ(end.code, 130) << end.errors;
      EXPECT_EQ(end.errors, "isocloth: interrupted after " + std::to_string(rows - 1) +
                                " of 40 cases; continue with --resume\n");
      EXPECT_EQ(record("out")["status"], "interrupted");
      EXPECT_EQ(record("out")["cases_done"], rows - 1);
      EXPECT_TRUE(fs::exists(folder_ / "out" / "sweep.svg"));
      EXPECT_NE(read_whole_file(folder_ / "out" / "sweep.html").find("of 40 cases: "), std::string::npos);
    }
    if (part == 0) arguments.emplace_back("--resume");
  }
  Strings resumed = options;
  resumed.back() = "7";  // batches are no part of a sweep's result
  resumed.emplace_back("--resume");
  sweep_to_the_end("out", resumed);
  EXPECT_EQ(csv("out"), csv("straight"));
  for (const char* picture : {"sweep.svg", "sweep.html"})
    EXPECT_EQ(read_whole_file(folder_ / "out" / picture), read_whole_file(folder_ / "straight" / picture));
  EXPECT_EQ(record("out")["status"], "completed");
  EXPECT_EQ(record("out")["plan"], record("straight")["plan"]);
}

TEST_F(SweepTest, SizesBatchesByTheLargestCase) {
  Json scene = shaken_sheet(1);
  scene["garments"][0]["mesh"]["nodes"][1] = 65;
  write_scene("scene.json", scene);
  // 30 sheets of 325 nodes and one of 4225, which asks for some 70 MB: 1 GiB holds fewer than 30 of these.
  std::string columns = "mesh.nodes[0]=";
  for (int i = 0; i < 30; ++i) columns += "5,";
  sweep_to_the_end("out", {"--vary", columns + "65"});
  const Json batches = record("out")["batches"];
  EXPECT_GT(batches.size(), 1u);
  EXPECT_LT(batches[0]["count"], 30);
  std::size_t done = 0;
  for (const Json& batch : batches) {
    EXPECT_EQ(batch["first"], done);
    done += batch["count"].get<std::size_t>();
  }
  EXPECT_EQ(done, 31u);
}

}  // namespace
}  // namespace isocloth
