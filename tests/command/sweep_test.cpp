// Sweeps from a scene to their table: what they compute, how they are interrupted, what they refuse.
#include <cmath>

#include "engine/model/variation.hpp"
#include "kernels/kernel_table.hpp"
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

using Strings = std::vector<std::string>;
using Cells = std::vector<Strings>;

class SweepCommand : public CommandTest {
 protected:
  Finished sweep(const std::string& output, Strings options) const {
    options.insert(options.begin(), {"sweep", "scene.json", "-o", output, "--quiet"});
    return isocloth(options);
  }
  void sweep_to_the_end(const std::string& output, const Strings& options) const {
    const Finished run = sweep(output, options);
    ASSERT_EQ(run.code, 0) << run.errors;
    EXPECT_EQ(run.errors, "");
  }
  std::string csv(const std::string& output) const { return read_whole_file(folder_ / output / "sweep.csv"); }
  Json record(const std::string& output) const {
    return Json::parse(read_whole_file(folder_ / output / "sweep.json"));
  }
  /// Lines of sweep.csv, each cut at its commas.
  Cells cells(const std::string& output) const {
    Cells rows(1, Strings(1));
    for (const char c : csv(output)) {
      if (c == '\n')
        rows.emplace_back(1);
      else if (c == ',')
        rows.back().emplace_back();
      else
        rows.back().back() += c;
    }
    rows.pop_back();
    return rows;
  }
};

TEST_F(SweepCommand, RunsEveryCombinationAsIfAlone) {
  Json scene = shaken_sheet(20);
  scene["frame_interval"] = 0.04;
  write_scene("scene.json", scene);
  sweep_to_the_end("out", {"--vary", "fabric.alpha=1:4:3:log", "--vary", "mesh.size[1]=0.42,0.4", "--measure",
                           "kinetic_energy_end", "--measure", "strain_max", "--measure", "node:3",
                           "--measure", "iterations_mean"});
  const Cells rows = cells("out");
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0], (Strings{"case", "fabric.alpha", "mesh.size[1]", "status", "kinetic_energy_end",
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
    single["garments"][0]["fabric"]["alpha"] = std::stod(row[1]);
    single["garments"][0]["mesh"]["size"][1] = std::stod(row[2]);
    write_scene("single.json", single);
    complete("single.json", "single", {"--overwrite"});
    const TrajectoryFile trajectory(folder_ / "single" / "trajectory.h5");
    double strain_max = 0;
    for (std::size_t f = 0; f < trajectory.frame_count(); ++f)
      strain_max = std::max(strain_max, trajectory.metrics(f, 0).measures.strain_max);
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

TEST_F(SweepCommand, DoesNotDependOnTheBatch) {
  write_scene("scene.json", shaken_sheet(15));
  const Strings options{
      "--vary",    "fabric.alpha=0:4:5", "--vary",    "mesh.nodes[1]=6,8",     "--against", "base",
      "--measure", "distance_mean",      "--measure", "potential_energy_mean", "--measure", "strain_mean"};
  // Another number of nodes shares none, but the corners; pins are found by place.
  for (const char* batch : {"0", "1", "3", "100"}) {
    Strings all = options;
    all.insert(all.end(), {"--batch", batch});
    sweep_to_the_end(std::string("out") + batch, all);
    EXPECT_EQ(csv(std::string("out") + batch), csv("out0")) << batch;
  }
  EXPECT_EQ(record("out3")["batches"].size(), 4u);
  EXPECT_EQ(record("out3")["batches"][3]["count"], 1);
}

TEST_F(SweepCommand, DrawsSamplesFromItsSeed) {
  write_scene("scene.json", shaken_sheet(5));
  const Strings options{"--vary", "fabric.alpha=1:8:log", "--vary", "gravity=3:9", "--sample", "6", "--seed",
                        "11"};
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

TEST_F(SweepCommand, MeasuresDistancesToAReference) {
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
  sweep_to_the_end("base", with({"--vary", "fabric.delta=0.52,0.6", "--against", "base"}));
  Cells rows = cells("base");
  for (std::size_t c = 3; c < 7; ++c) {
    EXPECT_EQ(std::stod(rows[1][c]), 0);
    EXPECT_GT(std::stod(rows[2][c]), 1e-4);
  }
  EXPECT_GE(std::stod(rows[2][4]), std::stod(rows[2][5]));  // max >= rms >= mean on a uniform mesh
  EXPECT_GE(std::stod(rows[2][5]), 0.999 * std::stod(rows[2][3]));

  complete("scene.json", "run");
  for (const char* reference : {"run", "run/trajectory.h5"}) {
    sweep_to_the_end("file",
                     with({"--vary", "fabric.delta=0.52,0.6", "--against", reference, "--overwrite"}));
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
  sweep_to_the_end("camera",
                   with({"--vary", "fabric.delta=0.52", "--against", "camera.csv", "--window", "0:0"}));
  rows = cells("camera");
  for (std::size_t c = 3; c < 6; ++c) EXPECT_NEAR(std::stod(rows[1][c]), 0.01, 1e-15);
  // sqrt(sum of areas) times 1 cm: the sheet's area.
  EXPECT_NEAR(std::stod(rows[1][6]), 0.01 * std::sqrt(0.297 * 0.42), 1e-15);
}

TEST_F(SweepCommand, OneBadCaseIsOneRow) {
  write_scene("scene.json", shaken_sheet(10));
  const Finished run = sweep("out", {"--vary", "pins[0].motion.amplitude[1]=0.05,1e200,0.08"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_NE(run.output.find("3 of 3 cases: 2 completed, 0 missed the tolerance, 1 failed\n"),
            std::string::npos)
      << run.output;
  const Cells rows = cells("out");
  EXPECT_EQ(rows[1][2], "completed");
  EXPECT_EQ(rows[2], (Strings{"1", "1e+200", "failed", "", "", "", "", ""}));
  EXPECT_EQ(rows[3][2], "completed");
  sweep_to_the_end("good", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06,0.08"});
  EXPECT_EQ(cells("good")[3], rows[3]);
  EXPECT_EQ(csv("out").find("nan"), std::string::npos);
}

TEST_F(SweepCommand, ContinuesByteForByte) {
  write_scene("scene.json", shaken_sheet(1500));
  const Strings options{
      "--vary", "fabric.alpha=0:5:4", "--vary", "fabric.delta=0.1:1:10", "--against", "base", "--batch", "2"};
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

TEST_F(SweepCommand, RefusesBadInputWithoutATrace) {
  write_scene("scene.json", shaken_sheet(5));
  Json two = shaken_sheet(5);
  two["garments"].push_back(two["garments"][0]);
  two["garments"][1]["name"] = "other";
  write_scene("two.json", two);
  Json batch = shaken_sheet(5);
  batch["garments"][0]["replicas"] = 3;
  write_scene("batch.json", batch);
  folder_.write("file", "");
  folder_.write("short.csv", "0,1,2,3\n");
  std::string still = "0";
  for (int i = 0; i < 90; ++i) still += ",0";
  folder_.write("still.csv", still + "\n");
  const Strings good{"scene.json", "-o", "out", "--vary", "fabric.rho=1:2:2"};
  const auto and_also = [&good](Strings more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  const auto sample = [](Strings more) {
    const Strings begin{"scene.json", "-o", "out", "--vary", "fabric.rho=1:2", "--sample", "3"};
    more.insert(more.begin(), begin.begin(), begin.end());
    return more;
  };
  const auto vary = [](const std::string& argument) {
    return Strings{"scene.json", "-o", "out", "--vary", argument};
  };
  const std::pair<Strings, const char*> bad[] = {
      {{"scene.json", "-o", "out"}, "--vary is required"},
      {{"scene.json", "--vary", "fabric.rho=1:2:2"}, "--output is required"},
      {{"two.json", "-o", "out", "--vary", "fabric.rho=1:2:2"}, "two.json: garments: found 2, expected one"},
      {{"batch.json", "-o", "out", "--vary", "fabric.rho=1:2:2"},
       "garments[0].replicas: found it in the scene of a sweep"},
      {{"none.json", "-o", "out", "--vary", "fabric.rho=1:2:2"}, "none.json: cannot read"},
      {{"scene.json", "-o", "file", "--vary", "fabric.rho=1:2:2"}, "file: found a file"},
      {{"scene.json", "-o", ".", "--vary", "fabric.rho=1:2:2"},
       "found a folder that is not empty, expected a new one; name another\n"},
      {{"scene.json", "-o", "/proc/out", "--vary", "fabric.rho=1:2:2"}, "/proc/out: cannot create"},
      {vary("fabric.rh=1:2:2"),
       "--vary: unknown number \"fabric.rh\", expected the path of a number; the nearest is \"fabric.rho\""},
      {vary("fabric.rho"), "--vary fabric.rho: found no PATH="},
      {vary("fabric.rho=1:2"), "found \"1:2\", expected PATH=FROM:TO:COUNT[:log] or PATH=VALUE,VALUE,..."},
      {vary("fabric.rho=1:x:2"), "found \"x\", expected a finite number"},
      {vary("fabric.rho=1:nan:2"), "found \"nan\", expected a finite number"},
      {vary("fabric.rho=1:2:0"), "found the count 0, expected a whole number >= 1"},
      {vary("fabric.rho=1:2:2.5"), "found the count 2.5"},
      {vary("fabric.rho=1:2:2:lin"), "found \"1:2:2:lin\""},
      {vary("fabric.alpha=0:2:2:log"),
       "--vary fabric.alpha=0:2:2:log: found 0, expected a number > 0 on a log scale"},
      {vary("fabric.rho=1,,2"), "found \"\", expected a finite number"},
      {vary("fabric.rho=2:-1:3"),
       "scene.json: garments[0].fabric.rho: found -1, expected a number > 0; with fabric.rho = -1"},
      {vary("mesh.nodes[0]=3:6:3:log"), "garments[0].mesh.nodes[0]"},
      {vary("fabric.rho=1:2:100000000"), "found the count 100000000"},
      {and_also({"--vary", "fabric.rho=3:4:2"}), "found fabric.rho a second time"},
      {and_also({"--vary", "fabric.alpha=3:4:10000000"}), "found 20000000 cases, expected at most 10000000"},
      {and_also({"--sample", "5"}), "expected PATH=FROM:TO[:log] with --sample"},
      {and_also({"--sample", "0"}), "--sample"},
      {and_also({"--measure", "strain"}),
       "--measure: found \"strain\", expected a measure; the nearest is \"strain_max\""},
      {and_also({"--measure", "distance_mean"}),
       "--measure: found \"distance_mean\", expected --against with it"},
      {and_also({"--measure", "strain_max", "--measure", "strain_max"}), "expected each measure once"},
      {and_also({"--measure", "node:30"}),
       "--measure: found \"node:30\", expected node:N with N from 0 to 29"},
      {and_also({"--measure", "node:1e1", "--measure", "node:10"}),
       "--measure: found \"node:10\", expected each measure once"},
      {and_also({"--vary", "mesh.nodes[1]=6,4", "--measure", "node:2.5e1"}),
       "--measure: found \"node:2.5e1\", expected a node of every case; case 1 has 20 nodes; with fabric.rho "
       "= 1, mesh.nodes[1] = 4"},
      {and_also({"--against", "none.h5"}), "none.h5"},
      {and_also({"--vary", "mesh.nodes[0]=5,9", "--against", "still.csv"}),
       "--against: found a CSV file of 30 nodes for a mesh of 54 nodes, expected as many in both; a result "
       "folder or a trajectory.h5 may have another number; in case 1; with fabric.rho = 1, mesh.nodes[0] = "
       "9"},
      {and_also({"--vary", "transform.translation[0]=0,0.02", "--against", "base"}),
       "expected shared nodes; compare scenes with the same rest shape; in case 1; with fabric.rho = 1, "
       "transform.translation[0] = 0.02"},
      {and_also({"--against", "short.csv"}), "short.csv:1: found 4 columns, expected 91"},
      {and_also({"--window", "3"}), "--window: found \"3\", expected FROM:TO in seconds"},
      {and_also({"--window", "5:4"}), "--window: found \"5:4\", expected FROM <= TO"},
      {and_also({"--seed", "3"}), "--seed requires --sample"},
      {sample({"--seed", "-1"}), "--seed: found \"-1\", expected a whole number from 0"},
      {sample({"--seed", "18446744073709551616"}), "--seed: found \"18446744073709551616\", expected"},
      {sample({"--seed", "1.5"}), "--seed: found \"1.5\", expected a whole number"},
      {and_also({"--window", "7:9"}), "--window: found 7 to 9 s, expected a time with at least one frame"},
      {and_also({"--batch", "-1"}), "--batch"},
      {and_also({"--resume"}), "out: found no sweep, expected one that --resume can go on with"},
      {and_also({"--resume", "--overwrite"}), "excludes"},
  };
  const auto before = contents(folder_.path());
  const auto entries = names(folder_.path());
  for (const auto& [arguments, expected] : bad) {
    Strings all{"sweep"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::string line;
    for (const std::string& argument : all) line += argument + " ";
    SCOPED_TRACE(line);
    expect_refused(isocloth(all), expected);
    EXPECT_EQ(names(folder_.path()), entries);
    EXPECT_TRUE(contents(folder_.path()) == before);
  }
}

TEST_F(SweepCommand, ResumesOnlyWhatItWas) {
  write_scene("scene.json", shaken_sheet(5));
  const Strings options{"--vary", "fabric.rho=1:2:3", "--measure", "strain_max"};
  sweep_to_the_end("out", options);
  const Strings earlier = names(folder_ / "out");
  const std::string whole = csv("out");
  const auto refused = [&](const Strings& arguments, const char* expected) {
    Strings all = arguments;
    all.emplace_back("--resume");
    expect_refused(sweep("out", all), expected);
  };
  refused({"--vary", "fabric.rho=1:2:4", "--measure", "strain_max"},
          "sweep.json: plan.case_count: found 3, expected 4");
  refused({"--vary", "fabric.rho=1:3:3", "--measure", "strain_max"}, "sweep.json: plan.parameters: found");
  refused({"--vary", "fabric.rho=1:2:3", "--measure", "strain_mean"}, "sweep.json: plan.measures: found");
  refused({"--vary", "fabric.rho=1:2:3", "--measure", "strain_max", "--precision", "float32"},
          "plan.precision");
  refused({"--vary", "fabric.rho=1:2:3", "--measure", "strain_max", "--window", "0:0.02"}, "plan.window");
  refused({"--vary", "fabric.rho=1:2:3", "--measure", "strain_max", "--solver", "direct"},
          "plan.solver: found \"automatic\", expected \"direct\"");
  if (widest_simd() != Simd::baseline)
    refused({"--vary", "fabric.rho=1:2:3", "--measure", "strain_max", "--simd", "baseline"},
            "plan.simd: found");
  // The default is the widest by name.
  sweep_to_the_end("out", {"--vary", "fabric.rho=1:2:3", "--measure", "strain_max", "--simd",
                           to_string(widest_simd()), "--resume"});
  EXPECT_EQ(csv("out"), whole);
  expect_refused(sweep("out", options),
                 "found a folder that is not empty, expected a new one; name another, or use --overwrite or "
                 "--resume\n");
  Json other = shaken_sheet(5);
  other["garments"][0]["fabric"]["alpha"] = 1;
  write_scene("scene.json", other);
  refused(options, "plan.scene_digest: found");
  write_scene("scene.json", shaken_sheet(5));
  EXPECT_EQ(csv("out"), whole);
  EXPECT_EQ(names(folder_ / "out"), earlier);

  for (const std::string& damaged : {whole.substr(0, whole.size() - 1), "x" + whole,
                                     whole + "3,2.5,completed,0.1\n", std::string("0,1\n")}) {
    folder_.write("out/sweep.csv", damaged);
    refused(options, "the table is damaged or of another sweep");
  }
  folder_.write("out/sweep.csv", whole);
  folder_.write("out/sweep.json", "{}");
  refused(options, "sweep.json: found no plan of a sweep");
  folder_.write("out/sweep.json", "{");
  refused(options, "sweep.json:1:2: syntax error");

  // A folder of others is left alone.
  fs::create_directory(folder_ / "letters");
  folder_.write("letters/letter.txt", "dear");
  expect_refused(sweep("letters", {"--vary", "fabric.rho=1:2:3", "--overwrite"}),
                 "found a folder of other files");
}

TEST_F(SweepCommand, LeavesNothingBehindWhenItFails) {
  write_scene("scene.json", shaken_sheet(5));
  sweep_to_the_end("earlier", {"--vary", "fabric.rho=1:2:2"});
  fs::create_directory(folder_ / "empty");
  // The scene as it stands leaves the finite numbers, its cases do not.
  Json wild = shaken_sheet(5);
  wild["garments"][0]["pins"][0]["motion"]["amplitude"][1] = 1e200;
  write_scene("scene.json", wild);
  const auto before = contents(folder_.path());
  const auto entries = names(folder_.path());
  const auto fails = [&](const std::string& output, Strings more) {
    more.insert(more.begin(), {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06", "--against", "base"});
    expect_refused(sweep(output, more), "--against base: the scene as it stands missed its tolerance");
    EXPECT_EQ(names(folder_.path()), entries);
    EXPECT_TRUE(contents(folder_.path()) == before) << output;
  };
  fails("new/folder", {});
  fails("empty", {});
  EXPECT_TRUE(fs::is_empty(folder_ / "empty"));
  fails("earlier", {"--overwrite"});
  // So the next attempt needs no other options.
  sweep_to_the_end("empty", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06"});
  sweep_to_the_end("earlier", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06", "--overwrite"});
  EXPECT_EQ(contents(folder_ / "earlier")["sweep.csv"], csv("empty"));
  EXPECT_EQ(names(folder_ / "earlier"), names(folder_ / "empty"));
}

TEST_F(SweepCommand, SizesBatchesByTheLargestCase) {
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
