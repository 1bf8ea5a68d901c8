// Sweeps that are refused or fail: what they say, and that they leave everything as it was.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernels/kernel_table.hpp"
#include "tests/command/sweep_case.hpp"

namespace isocloth {
namespace {

TEST_F(SweepTest, RefusesBadInputWithoutATrace) {
  write_scene("scene.json", shaken_sheet(5));
  Json two = shaken_sheet(5);
  two["garments"].push_back(two["garments"][0]);
  two["garments"][1]["name"] = "other";
  write_scene("two.json", two);
  Json batch = shaken_sheet(5);
  batch["garments"][0]["replicas"] = 3;
  write_scene("batch.json", batch);
  Json elastic = shaken_sheet(5);
  elastic["recipe"] = "membrane";
  write_scene("elastic.json", elastic);
  folder_.write("file", "");
  folder_.write("short.csv", "0,1,2,3\n");
  std::string still = "0";
  for (int i = 0; i < 90; ++i) still += ",0";
  folder_.write("still.csv", still + "\n");
  Json sunk = shaken_sheet(5);
  sunk["obstacles"] = Json::parse(R"([{"name": "ball", "shape": {"type": "sphere", "radius": 10}}])");
  write_scene("sunk.json", sunk);
  const Strings good{"scene.json", "-o", "out", "--vary", "fabric.density=1:2:2"};
  const auto and_also = [&good](Strings more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  const auto sample = [](Strings more) {
    const Strings begin{"scene.json", "-o", "out", "--vary", "fabric.density=1:2", "--sample", "3"};
    more.insert(more.begin(), begin.begin(), begin.end());
    return more;
  };
  const auto vary = [](const std::string& argument) {
    return Strings{"scene.json", "-o", "out", "--vary", argument};
  };
  const std::pair<Strings, const char*> bad[] = {
      {{"scene.json", "-o", "out"}, "--vary is required"},
      {{"scene.json", "--vary", "fabric.density=1:2:2"}, "--output is required"},
      {{"two.json", "-o", "out", "--vary", "fabric.density=1:2:2"},
       "two.json: garments: found 2, expected one"},
      {{"batch.json", "-o", "out", "--vary", "fabric.density=1:2:2"},
       "garments[0].replicas: found it in a scene whose numbers are varied"},
      {{"none.json", "-o", "out", "--vary", "fabric.density=1:2:2"}, "none.json: cannot read"},
      {{"scene.json", "-o", "file", "--vary", "fabric.density=1:2:2"}, "file: found a file"},
      {{"scene.json", "-o", ".", "--vary", "fabric.density=1:2:2"},
       "found a folder that is not empty, expected a new one; name another\n"},
      {{"scene.json", "-o", "/proc/out", "--vary", "fabric.density=1:2:2"}, "/proc/out: cannot create"},
      {vary("fabric.densty=1:2:2"),
       "--vary: unknown number \"fabric.densty\", expected the path of a number; the nearest is "
       "\"fabric.density\""},
      {vary("fabric.density"), "--vary fabric.density: found no PATH="},
      {vary("fabric.density=1:2"),
       "found \"1:2\", expected PATH=FROM:TO:COUNT[:log] or PATH=VALUE,VALUE,..."},
      {vary("fabric.density=1:x:2"), "found \"x\", expected a finite number"},
      {vary("fabric.density=1:nan:2"), "found \"nan\", expected a finite number"},
      {vary("fabric.density=1:2:0"), "found the count 0, expected a whole number from 1 to 1e+07"},
      {vary("fabric.density=1:2:2.5"), "found the count 2.5"},
      {vary("fabric.density=1:2:2:lin"), "found \"1:2:2:lin\""},
      {vary("fabric.mass_damping=0:2:2:log"),
       "--vary fabric.mass_damping=0:2:2:log: found 0, expected a number > 0 on a log scale"},
      {{"elastic.json", "-o", "out", "--vary", "fabric.bending_stiffness=1e-4,500"},
       "elastic.json: garments[0].fabric.bending_stiffness: "},
      {{"sunk.json", "-o", "out", "--vary", "fabric.density=1,2"},
       "sunk.json: garments[0] \"sheet\": found node "},
      {vary("fabric.density=1,,2"), "found \"\", expected a finite number"},
      {vary("fabric.density=2:-1:3"),
       "scene.json: garments[0].fabric.density: found -1, expected a number > 0; with fabric.density = -1"},
      {vary("mesh.nodes[0]=3:6:3:log"), "garments[0].mesh.nodes[0]"},
      {vary("fabric.density=1:2:100000000"), "found the count 100000000"},
      {and_also({"--vary", "fabric.density=3:4:2"}), "found fabric.density a second time"},
      {and_also({"--vary", "fabric.mass_damping=3:4:10000000"}),
       "found 20000000 cases, expected at most 10000000"},
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
       "--measure: found \"node:2.5e1\", expected a node of every case; case 1 has 20 nodes; with "
       "fabric.density "
       "= 1, mesh.nodes[1] = 4"},
      {and_also({"--against", "none.h5"}), "none.h5"},
      {and_also({"--vary", "mesh.nodes[0]=5,9", "--against", "still.csv"}),
       "--against: found a CSV file of 30 nodes for a mesh of 54 nodes, expected as many in both; a result "
       "folder or a trajectory.h5 may have another number; in case 1; with fabric.density = 1, mesh.nodes[0] "
       "= "
       "9"},
      {and_also({"--vary", "transform.translation[0]=0,0.02", "--against", "base"}),
       "expected shared nodes; compare scenes with the same rest shape; in case 1; with fabric.density = 1, "
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

TEST_F(SweepTest, ResumesOnlyWhatItWas) {
  write_scene("scene.json", shaken_sheet(5));
  const Strings options{"--vary", "fabric.density=1:2:3", "--measure", "strain_max"};
  sweep_to_the_end("out", options);
  const Strings earlier = names(folder_ / "out");
  const std::string whole = csv("out");
  const auto refused = [&](const Strings& arguments, const char* expected) {
    Strings all = arguments;
    all.emplace_back("--resume");
    expect_refused(sweep("out", all), expected);
  };
  refused({"--vary", "fabric.density=1:2:4", "--measure", "strain_max"},
          "sweep.json: plan.case_count: found 3, expected 4");
  refused({"--vary", "fabric.density=1:3:3", "--measure", "strain_max"},
          "sweep.json: plan.parameters: found");
  refused({"--vary", "fabric.density=1:2:3", "--measure", "strain_mean"}, "sweep.json: plan.measures: found");
  refused({"--vary", "fabric.density=1:2:3", "--measure", "strain_max", "--precision", "float32"},
          "plan.precision");
  refused({"--vary", "fabric.density=1:2:3", "--measure", "strain_max", "--window", "0:0.02"}, "plan.window");
  refused({"--vary", "fabric.density=1:2:3", "--measure", "strain_max", "--solver", "direct"},
          "plan.solver: found \"automatic\", expected \"direct\"");
  if (widest_simd() != Simd::baseline)
    refused({"--vary", "fabric.density=1:2:3", "--measure", "strain_max", "--simd", "baseline"},
            "plan.simd: found");
  // The default is the widest by name.
  sweep_to_the_end("out", {"--vary", "fabric.density=1:2:3", "--measure", "strain_max", "--simd",
                           to_string(widest_simd()), "--resume"});
  EXPECT_EQ(csv("out"), whole);
  expect_refused(sweep("out", options),
                 "found a folder that is not empty, expected a new one; name another, or use --overwrite or "
                 "--resume\n");
  Json other = shaken_sheet(5);
  other["garments"][0]["fabric"]["mass_damping"] = 1;
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
  expect_refused(sweep("letters", {"--vary", "fabric.density=1:2:3", "--overwrite"}),
                 "found a folder of other files");
}

TEST_F(SweepTest, RefusesAFolderThatAnotherSweepWritesTo) {
  write_scene("scene.json", shaken_sheet(5));
  const Strings options{"--vary", "fabric.density=1:2:2"};
  fs::create_directory(folder_ / "out");
  const int held = ::open((folder_ / "out").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  expect_refused(sweep("out", options), "out: found another sweep that writes there now");
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
  ::close(held);
  sweep_to_the_end("out", options);
}

TEST_F(SweepTest, LeavesNothingBehindWhenItFails) {
  write_scene("scene.json", shaken_sheet(5));
  sweep_to_the_end("earlier", {"--vary", "fabric.density=1:2:2"});
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
  // A disk that is full at the first save; sweep.json is larger than sweep.csv, which is written before it.
  const std::string table = csv("earlier");
  for (const rlim_t size : {table.size() / 2, table.size() + 100}) {
    for (const char* output : {"new/folder", "empty", "earlier"}) {
      const Finished run = isocloth({"sweep", "scene.json", "-o", output, "--quiet", "--vary",
                                     "pins[0].motion.amplitude[1]=0.05,0.06", "--overwrite"},
                                    {.file_size = size});
      expect_refused(run, "cannot write");
      EXPECT_EQ(names(folder_.path()), entries);
      EXPECT_TRUE(contents(folder_.path()) == before) << output;
    }
  }
  // So the next attempt needs no other options.
  sweep_to_the_end("empty", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06"});
  sweep_to_the_end("earlier", {"--vary", "pins[0].motion.amplitude[1]=0.05,0.06", "--overwrite"});
  EXPECT_EQ(contents(folder_ / "earlier")["sweep.csv"], csv("empty"));
  EXPECT_EQ(names(folder_ / "earlier"), names(folder_ / "empty"));
}

}  // namespace
}  // namespace isocloth
