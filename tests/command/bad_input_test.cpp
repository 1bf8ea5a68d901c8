// Scenes, arguments, folders and checkpoints that are refused: one line, exit code 2, nothing left behind.
#include <sys/stat.h>

#include <tuple>

#include "engine/core/text.hpp"
#include "tests/command/command_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

class BadInput : public CommandTest {
 protected:
  /// Refused, and the folder is as it was.
  void expect_refused_without_trace(const std::vector<std::string>& arguments, const std::string& expected,
                                    const ProcessOptions& options = {}) const {
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    SCOPED_TRACE(line);
    const auto before = contents(folder_.path());
    const auto entries = names(folder_.path());
    expect_refused(isocloth(arguments, options), expected);
    EXPECT_EQ(names(folder_.path()), entries);
    EXPECT_TRUE(contents(folder_.path()) == before);
  }
};

/// What `path` (a JSON pointer) of a good scene is replaced with, and what is said about it.
struct BadValue {
  const char* path;
  const char* value;
  const char* expected;
};

const BadValue bad_values[] = {
    {"/duratoin", "1", "scene.json: unknown key \"duratoin\""},
    {"/step", "0", "scene.json: step: found 0, expected a number > 0"},
    {"/step", "\"0.01\"", "scene.json: step: found \"0.01\", expected a number"},
    {"/duration", "0.015", "scene.json: duration: found 0.015, expected a whole number of steps"},
    {"/frame_interval", "0.015", "scene.json: frame_interval: found 0.015"},
    {"/recipe", "\"coltraro\"", "scene.json: recipe: found \"coltraro\""},
    {"/seed", "-1", "scene.json: seed: found -1"},
    {"/name", "\"two\\nlines\"", "scene.json: name: found \"two"},
    {"/projection/tolerance", "-1", "projection.tolerance: found -1"},
    {"/projection/on_violation", "\"panic\"",
     "projection.on_violation: found \"panic\", expected stop or continue"},
    {"/garments", "[]", "garments: found a list of 0, expected at least 1"},
    {"/garments/0/fabric/density", "null", "garments[0].fabric.density: found null"},
    {"/garments/0/mesh/nodes", "[5]", "garments[0].mesh.nodes: found a list of 1, expected a list of 2"},
    {"/garments/0/mesh/nodes", "[100000, 100000]", "garments[0].mesh"},
    {"/garments/0/mesh", R"({"file": "missing.obj"})", "missing.obj: cannot read: No such file or directory"},
    {"/garments/0/mesh", R"({"file": "empty.obj"})", "empty.obj"},
    {"/garments/0/mesh", R"({"file": "three_faces.obj"})", "three_faces.obj"},
    {"/garments/0/mesh", R"({"file": "word.obj"})", "word.obj:2: v: found \"x\""},
    {"/garments/0/mesh", R"({"file": "beyond.obj"})", "beyond.obj:4"},
    {"/garments/0/mesh", R"({"file": "folder"})", "folder"},
    {"/garments/0/mesh", R"({"file": "image.png"})", "image.png"},
    {"/garments/0/pins/0/select", R"({"nodes": [30]})",
     "pins[0].nodes[0]: found 30, expected a node from 0 to 29"},
    {"/garments/0/pins/0/select", R"({"nodes": [3, 3]})",
     "pins[0].nodes[1]: found node 3, already in pins[0]"},
    {"/garments/0/pins/1", R"({"select": {"nearest": [[0, 0, 0.42]]}})", "pins[1].nodes[0]: found node"},
    {"/garments/0/pins/0/motion", R"({"type": "recorded", "file": "short.csv"})",
     "short.csv:1: found 4 columns"},
    {"/garments/0/pins/0/motion", R"({"type": "recorded", "file": "word.csv"})",
     "word.csv:1: column 3: found no number"},
    {"/garments/0/pins/0/motion", R"({"type": "recorded", "file": "none.csv"})", "none.csv: cannot read"},
    {"/garments/0/pins/0/motion/frequency", "[1]", "motion.frequency: found a list of 1"},
};

TEST_F(BadInput, IsFoundInScenes) {
  folder_.write("empty.obj", "");
  folder_.write("three_faces.obj",
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n");
  folder_.write("word.obj", "v 0 0 0\nv 1 x 0\n");
  folder_.write("beyond.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
  folder_.write("image.png", "\x89PNG");
  fs::create_directory(folder_ / "folder");
  folder_.write("short.csv", "0,1,2,3\n1,1,2,3\n");
  folder_.write("word.csv", "0,1,x,3,4,5,6\n");
  write_scene("scene.json", shaken_sheet(5));
  ASSERT_EQ(isocloth({"check", "scene.json"}).code, 0);
  for (const BadValue& bad : bad_values) {
    Json scene = shaken_sheet(5);
    scene[Json::json_pointer(bad.path)] = Json::parse(bad.value);
    write_scene("scene.json", scene);
    expect_refused_without_trace({"run", "scene.json", "-o", "out"}, bad.expected);
    expect_refused_without_trace({"check", "scene.json"}, bad.expected);
  }
}

TEST_F(BadInput, IsFoundInText) {
  const std::string good = shaken_sheet(5).dump();
  const std::pair<std::string, const char*> bad_texts[] = {
      {"", "scene.json:1:1: syntax error"},
      {good.substr(0, good.size() / 2), "scene.json:1:"},
      {good + good, "syntax error"},
      {"[]", "scene.json: found a list of 0 at the top"},
      {"{\"step\": NaN}", "scene.json:1:10: found NaN, expected a finite number, at step"},
      {"{\"step\": 1, \"step\": 1}", "found the key step twice"},
      {std::string("\0\xff\n\x1b[2J", 7), "found a text of UTF-16 or UTF-32, expected UTF-8"},
  };
  for (const auto& [content, expected] : bad_texts) {
    folder_.write("scene.json", content);
    expect_refused_without_trace({"run", "scene.json", "-o", "out"}, expected);
  }
}

/// Whether a build without the models beside the core lacks the command.
bool is_of_a_model(const std::vector<std::string>& arguments) {
  return arguments.front() == "drape" || std::ranges::find(arguments, "--recipe") != arguments.end();
}

TEST_F(BadInput, IsOutsideOfTheScene) {
  std::filesystem::create_directory(folder_ / "scenes");
  folder_.write("sheet.obj", "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n");
  Json scene = shaken_sheet(5);
  scene["garments"][0] = {{"mesh", {{"file", "../sheet.obj"}}}};
  write_scene("scenes/scene.json", scene);
  const std::string expected = "scene.json: garments[0].mesh.file: found \"../sheet.obj\", which is ";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "scenes/scene.json", "-o", "out"},
        {"check", "scenes/scene.json"},
        {"validate", "scenes/scene.json"},
        {"rest", "scenes/scene.json", "-o", "out"},
        {"rest", "scenes/scene.json", "-o", "out", "--recipe", "breen1994"},
        {"drape", "scenes/scene.json", "-o", "out", "--method", "weil"},
        {"sweep", "scenes/scene.json", "-o", "out", "--vary", "fabric.bending_stiffness=0:1:2"}})
    if (models().missing.empty() || !is_of_a_model(arguments))
      expect_refused_without_trace(arguments, expected);
  expect_refused_without_trace({"check", "scenes/scene.json", "--allow", "nowhere"}, "--allow: ");
  EXPECT_EQ(isocloth({"check", "scenes/scene.json", "--allow", "."}).code, 0);
  // The result's own scene names the file, too.
  complete("scenes/scene.json", "out", {"--allow", "."});
  expect_refused(isocloth({"report", "out"}), "garments[0].mesh.file: found ");
  EXPECT_EQ(isocloth({"report", "out", "--allow", "/tmp", "--allow", "."}).code, 0);
}

TEST_F(BadInput, IsNoFileAtAll) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  folder_.write("foreign.txt", "1 2 3\nuser secret\n");
  folder_.write("secret.txt", "title\nuser secret\n");
  const auto with_terrain = [&](const char* file) {
    Json scene = shaken_sheet(5);
    scene["obstacles"] =
        Json::parse(R"([{"shape": {"type": "height_field", "spacing": 0.1, "heights": {}}}])");
    scene["obstacles"][0]["shape"]["heights"]["file"] = file;
    write_scene("scene.json", scene);
  };
  with_terrain("pipe");
  expect_refused_without_trace({"check", "scene.json"}, "pipe: found a pipe, expected a file");
  with_terrain("/dev/zero");
  expect_refused_without_trace({"run", "scene.json", "-o", "out"},
                               "found \"/dev/zero\", which is /dev/zero, ");
  expect_refused_without_trace({"run", "scene.json", "-o", "out", "--allow", "/"},
                               "/dev/zero: found a device");
  expect_refused_without_trace({"run", "pipe", "-o", "out"}, "pipe: found a pipe, expected a file");
  for (const char* file : {"foreign.txt", "secret.txt"}) {
    with_terrain(file);
    const Finished check = isocloth({"check", "scene.json"});
    expect_refused(check, text(file, ":2: "));
    EXPECT_EQ(check.errors.find("secret", check.errors.find(file) + 11), std::string::npos) << check.errors;
  }
}

TEST_F(BadInput, IsAnObjectToScripts) {
  write_scene("scene.json", shaken_sheet(5));
  folder_.write("bad.json", "{\"name\": \"caf\xe9\"}");
  Json flow = shaken_sheet(5);
  flow["wind"] = {{"model", "panels"}, {"velocity", {5, 0, 0}}};
  write_scene("flow.json", flow);
  const std::tuple<std::vector<std::string>, const char*, const char*> cases[] = {
      {{"check", "none.json"}, "file", "none.json: cannot read"},
      {{"check", "bad.json"}, "scene", "bad.json:1:"},
      {{"run", "none\xff.json", "-o", "out"}, "file", "cannot read"},
      {{"run", "scene.json", "-o", "out", "--resume"}, "file", "found no result folder"},
      {{"sweep", "scene.json", "-o", "out", "--vary", "nothing=1,2"}, "scene", "unknown number"},
      {{"validate", "none.json"}, "file", "none.json: cannot read"},
      {{"validate", "flow.json"},
       "scene",
       models().missing.empty() ? "flow.json: wind.model: found \"panels\""
                                : "wind.model \"panels\": not in this build"},
      {{"report", "none"}, "file", "none/"},
      {{"info", "more"}, "arguments", "not expected: more"},
      {{"fly"}, "arguments", "found \"fly\""},
  };
  for (const auto& [arguments, kind, expected] : cases) {
    std::vector<std::string> all = arguments;
    all.push_back("--json");
    const Finished run = isocloth(all);
    SCOPED_TRACE(arguments[0]);
    EXPECT_EQ(run.code, 2);
    const Json object = Json::parse(run.output);
    EXPECT_EQ(object["kind"], kind) << run.output;
    EXPECT_EQ(object["exit_code"], 2);
    EXPECT_NE(object["error"].get<std::string>().find(expected), std::string::npos) << run.output;
    EXPECT_EQ(line_count(run.errors), 1u) << run.errors;
  }
}

TEST_F(BadInput, IsFoundInArguments) {
  write_scene("scene.json", shaken_sheet(5));
  folder_.write("file", "");
  const std::pair<std::vector<std::string>, const char*> bad_arguments[] = {
      {{}, "A subcommand is required; see isocloth --help"},
      {{"fly"}, "found \"fly\""},
      {{"run"}, "scene is required; see isocloth run --help"},
      {{"run", "scene.json"}, "--output is required"},
      {{"run", "scene.json", "-o"}, "--output"},
      {{"run", "scene.json", "-o", ""}, "--output: the name is empty"},
      {{"run", "", "-o", "out"}, "scene: the name is empty"},
      {{"run", "scene.json", "-o", "out", "--fast"}, "not expected: --fast"},
      {{"run", "scene.json", "scene.json", "-o", "out"}, "not expected: scene.json"},
      {{"run", "scene.json", "-o", "out", "--backend", "gpu"}, "--backend: gpu not in {cpu,cuda}"},
      {{"run", "scene.json", "-o", "out", "--precision", "1"}, "--precision: 1 not in {float64,float32}"},
      {{"run", "scene.json", "-o", "out", "--solver", "magic"}, "--solver: magic not in {automatic,batched,"},
      {{"run", "scene.json", "-o", "out", "--solver", "mixed", "--precision", "float32"},
       "solver: found \"mixed\" with precision float32, expected float64; or use \"direct\""},
      {{"run", "scene.json", "-o", "out", "--simd", "neon"}, "--simd: neon not in {baseline,avx2,avx512}"},
      {{"run", "scene.json", "-o", "out", "--threads", "-1"}, "--threads: Value -1 not in range 0 to 1024"},
      {{"run", "scene.json", "-o", "out", "--threads", "all"}, "--threads"},
      {{"run", "scene.json", "-o", "out", "--checkpoint-every", "0"},
       "--checkpoint-every: Value 0 not in range"},
      {{"run", "scene.json", "-o", "out", "--overwrite", "--resume"}, "--overwrite excludes --resume"},
      {{"run", "none.json", "-o", "out"}, "none.json: cannot read: No such file or directory"},
      {{"run", ".", "-o", "out"}, "Is a directory"},
      {{"run", "scene.json", "-o", "file"}, "file: found a file, expected a folder"},
      {{"run", "scene.json", "-o", "file/out"}, "file/out: "},
      {{"run", "scene.json", "-o", "/proc/out"}, "/proc/out: cannot create"},
      {{"run", "scene.json", "-o", "/proc/a/b/out"}, "/proc/a/b/out: cannot create /proc/a: "},
      {{"run", "scene.json", "-o", "file/a/out"}, "file/a/out: "},
      {{"run", "scene.json", "-o", "out", "--frames-of", "-1"}, "--frames-of"},
      {{"run", "scene.json", "-o", "."}, "found a folder that is not empty"},
      {{"run", "scene.json", "-o", "out", "--resume"}, "out: found no result folder, expected one to resume"},
      {{"check"}, "scene is required; see isocloth check --help"},
      {{"check", "none.json"}, "none.json: cannot read"},
      {{"check", "scene.json", "--overwrite"}, "not expected: --overwrite"},
      {{"info", "more"}, "not expected: more"},
      {{"report"}, "folder is required"},
      {{"report", "none"}, "none/"},
      {{"report", "file"}, "file/"},
  };
  for (const auto& [arguments, expected] : bad_arguments) expect_refused_without_trace(arguments, expected);
}

TEST_F(BadInput, IsABackendThatIsNotThere) {
  const Json info = Json::parse(isocloth({"info", "--json"}).output);
  if (info["backends"][1]["usable"]) GTEST_SKIP() << "CUDA is there";
  write_scene("scene.json", shaken_sheet(5));
  expect_refused_without_trace(
      {"run", "scene.json", "-o", "out", "--backend", "cuda"},
      "backend: found \"cuda\", but it cannot be used: " + info["backends"][1]["message"].get<std::string>());
}

TEST_F(BadInput, IsADeviceOfTheCpu) {
  write_scene("scene.json", shaken_sheet(5));
  expect_refused_without_trace({"run", "scene.json", "-o", "out", "--device", "1"},
                               "device: found 1, expected 0 where the backend is \"cpu\"");
}

TEST_F(BadInput, IsACheckpointThatDoesNotFit) {
  write_scene("scene.json", shaken_sheet(5));
  Json other = shaken_sheet(5);
  other["garments"][0]["fabric"]["mass_damping"] = 1;
  write_scene("other.json", other);
  complete("scene.json", "out");
  const std::vector<std::string> resume{"run", "scene.json", "-o", "out", "--resume"};
  expect_refused_without_trace({"run", "other.json", "-o", "out", "--resume"},
                               "checkpoint.h5: found the state of another scene (\"shaken sheet\")");
  expect_refused_without_trace({"run", "scene.json", "-o", "out", "--resume", "--precision", "float32"},
                               "checkpoint.h5: found a state in float64, expected float32");

  const std::string whole = read_whole_file(folder_ / "out" / "checkpoint.h5");
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), std::string("no HDF5"), std::string()}) {
    folder_.write("out/checkpoint.h5", damaged);
    expect_refused_without_trace(resume, "out/checkpoint.h5: cannot read as HDF5");
  }
  fs::remove(folder_ / "out" / "checkpoint.h5");
  expect_refused_without_trace(resume, "out/checkpoint.h5: not found");
  folder_.write("out/checkpoint.h5", whole);
  folder_.write("out/trajectory.h5", "no HDF5");
  expect_refused_without_trace(resume, "out/trajectory.h5: cannot read as HDF5");
}

TEST_F(BadInput, IsADamagedCheckpointWhereverTheDamageIs) {
  write_scene("scene.json", shaken_sheet(2));
  complete("scene.json", "out");
  const std::string whole = read_whole_file(folder_ / "out" / "checkpoint.h5");
  const auto before = contents(folder_ / "out");
  int refused = 0;
  for (std::size_t place = 0; place < whole.size(); place += whole.size() / 24) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
    fs::remove_all(folder_ / "copy");
    fs::copy(folder_ / "out", folder_ / "copy");
    folder_.write("copy/checkpoint.h5", damaged);
    const Finished run = isocloth({"run", "scene.json", "-o", "copy", "--resume", "--quiet", "--json"});
    SCOPED_TRACE(place);
    // Damage where the file holds nothing is none: then the run is what it was.
    if (run.code == 0) {
      expect_same_trajectory("copy", "out");
      expect_same_checkpoint("copy", "out", Precision::float64);
    } else {
      expect_refused(run, "checkpoint.h5: ");
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(contents(folder_ / "out") == before);
}

TEST_F(BadInput, IsADiskThatIsFullAtTheStart) {
  write_scene("scene.json", shaken_sheet(300));
  complete("scene.json", "out");
  for (const std::size_t size : {std::size_t{100}, std::size_t{50000}}) {
    const std::vector<std::string> run{"run", "scene.json", "--quiet", "-o"};
    for (const std::vector<std::string>& target : {std::vector<std::string>{"new"}, {"out", "--overwrite"}}) {
      std::vector<std::string> arguments = run;
      arguments.insert(arguments.end(), target.begin(), target.end());
      expect_refused_without_trace(arguments, "cannot write", {.file_size = size});
    }
  }
}

}  // namespace
}  // namespace isocloth
