// Long runs, for memory that grows and for what only large cloth does: nothing here is a test of minutes.
//
//   soak steps SCENE [--count N]     N steps of a scene (100,000)
//   soak cycles SCENE [--count N]    N times a simulation is made, steps once and is destroyed (10,000)
//   soak large SCENES [--nodes N] [--count N] [--only NAME]   steps (3) of twelve scenes of a folder, whose
//                                    meshes are made as fine as N nodes (3,000) take, with the certificate
//
// The first two print the memory that is resident after each tenth, and end with 1 where the second half took
// more. The third is for a build with sanitizers, where it ends at the first thing that they find:
//
//   cmake --preset asan && cmake --build --preset asan --target soak && build/asan/bin/soak large
//   bench/scenes
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/run/certificate.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  std::string path, only;
  long count = 0, nodes = 3000;
};

/// Resident memory of this process [bytes].
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Does `once` so often and looks at the memory ten times. Returns 1 where it grew in the second half.
template <class Action>
int watch_memory(long count, const Action& once) {
  const Clock clock;
  std::size_t at_half = 0, at_end = 0;
  for (long tenth = 1; tenth <= 10; ++tenth) {
    for (long i = (tenth - 1) * count / 10; i < tenth * count / 10; ++i) once();
    at_end = resident_bytes();
    if (tenth == 5) at_half = at_end;
    std::printf("%9ld  %8.1f s  %10.2f MiB\n", tenth * count / 10, clock.seconds(),
                static_cast<double>(at_end) / (1 << 20));
    std::fflush(stdout);
  }
  // What an allocator keeps for itself comes and goes by some pages.
  constexpr std::size_t pages = std::size_t{256} << 10;
  if (at_end <= at_half + pages) return 0;
  std::printf("GREW by %.2f MiB in the second half\n", static_cast<double>(at_end - at_half) / (1 << 20));
  return 1;
}

int steps(const Options& options) {
  Simulation simulation(read_scene(options.path));
  return watch_memory(options.count > 0 ? options.count : 100'000, [&] { simulation.step(); });
}

int cycles(const Options& options) {
  const Scene scene = read_scene(options.path);
  return watch_memory(options.count > 0 ? options.count : 10'000, [&] { Simulation(scene).step(); });
}

constexpr const char* large_scenes[] = {"folded_towel",     "twist",        "t_shirt",
                                        "sheet_on_sheet",   "bag",          "cushion",
                                        "bodies_on_towel",  "two_grippers", "flag",
                                        "shake_provot1995", "table_cloth",  "impulse_gripper_in_wind"};

std::size_t node_count(const Scene& scene) {
  std::size_t count = 0;
  for (const Garment& garment : scene.garments) count += garment.mesh.positions.size();
  return count;
}

/// Every mesh of a generator or of panels, finer by a factor along each side.
void refine(Json& scene, double factor) {
  for (Json& garment : scene["garments"]) {
    Json& mesh = garment["mesh"];
    const auto finer = [&](Json& number, double by) { number = std::lround(number.get<double>() * by); };
    if (mesh.contains("nodes"))
      for (Json& number : mesh["nodes"]) finer(number, factor);
    for (const char* const key : {"along", "around"})
      if (mesh.contains(key)) finer(mesh[key], factor);
    if (mesh.contains("triangles")) finer(mesh["triangles"], factor * factor);
    if (mesh.contains("edge_length")) mesh["edge_length"] = mesh["edge_length"].get<double>() / factor;
  }
}

int large(const Options& options) {
  const TemporaryFolder folder;
  fs::copy(options.path, folder.path(), fs::copy_options::recursive);
  for (const std::string name : large_scenes) {
    if (!options.only.empty() && name != options.only) continue;
    const Clock clock;
    const fs::path path = folder / (name + ".json");
    Json json = Json::parse(read_whole_file(path));
    refine(json,
           std::sqrt(static_cast<double>(options.nodes) / static_cast<double>(node_count(read_scene(path)))));
    write_whole_file(path, json.dump());
    const Scene scene = read_scene(path);
    Simulation simulation(scene);
    Certificate certificate(scene);
    std::int64_t crossing = 0;
    const long count = options.count > 0 ? options.count : 3;
    for (long n = 0; n < count; ++n) {
      simulation.step();
      crossing += certificate.of(simulation).crossing;
    }
    std::printf("%-24s %6zu nodes, %ld steps, %lld crossings, %.1f s\n", name.c_str(), node_count(scene),
                count, static_cast<long long>(crossing), clock.seconds());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace isocloth

int main(int argument_count, char** arguments) {
  using namespace isocloth;
  CLI::App app("Long runs and large cloth");
  app.require_subcommand(1);
  Options options;
  int (*chosen)(const Options&) = nullptr;
  const auto add = [&](const char* name, const char* about, const char* path, int (*run)(const Options&)) {
    CLI::App* const command = app.add_subcommand(name, about);
    command->add_option(path, options.path)->required();
    command->add_option("--count", options.count);
    command->add_option("--nodes", options.nodes);
    command->add_option("--only", options.only);
    command->callback([&chosen, run] { chosen = run; });
  };
  add("steps", "steps of a scene", "scene", steps);
  add("cycles", "simulations that are made, step once and are destroyed", "scene", cycles);
  add("large", "steps of scenes of a folder with finer meshes", "scenes", large);
  CLI11_PARSE(app, argument_count, arguments);
  try {
    return chosen(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 2;
  }
}
