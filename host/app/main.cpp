// The command `isocloth`. Exit codes: 0 done; 1 a run that stopped or failed, or a validation that found a
// difference; 2 bad input or output (one line says which); 130 interrupted, a valid result is left.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/recipe.hpp"
#include "host/app/check_scene.hpp"
#include "host/app/exit_codes.hpp"
#include "host/app/fit_command.hpp"
#include "host/app/last_words.hpp"
#include "host/app/model_command.hpp"
#include "host/app/run_command.hpp"
#include "host/app/sweep_command.hpp"
#include "host/app/validate_scene.hpp"
#include "host/files/error_text.hpp"
#include "host/files/names.hpp"
#include "host/files/text_file.hpp"
#include "host/memory/device.hpp"
#include "host/report/from_trajectory.hpp"
#include "host/results/summary_file.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth {
namespace {

void add_execution_options(CLI::App& command, ExecutionOptions& options) {
  command.add_option("--backend", options.backend, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--device", options.device, "cuda: number of the GPU, as isocloth info lists them")
      ->check(CLI::Range(0, 1023))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--precision", [&options](const std::string& word) { options.precision = precision(word); },
          "float64 or float32")
      ->check(CLI::IsMember({"float64", "float32"}))
      ->default_str("float64");
  command
      .add_option_function<std::string>(
          "--solver", [&options](const std::string& word) { options.solver = step_solver(word); },
          "automatic: by the size of the mesh, of large elastic ones with a factor in single precision; "
          "batched: small meshes of one kind side by side; direct, mixed or iterative: one mesh at a time")
      ->check(CLI::IsMember({"automatic", "batched", "direct", "mixed", "iterative"}))
      ->default_str("automatic");
  command.add_option("--simd", options.simd, "CPU instructions; default: the widest that this machine has")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
  command.add_option("--threads", options.threads, "CPU threads, 0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

int run(const RunRequest& request, bool json, bool quiet) {
  const RunSummary s = run_scene_file(request, json, quiet);
  if (s.status == "completed") return s.steps_violated > 0 ? exit_violated : exit_done;
  std::fprintf(stderr, "isocloth: %s\n", s.message.c_str());
  return s.status == "interrupted" ? exit_interrupted : exit_violated;
}

int info(bool json) {
  const CudaStatus& cuda = cuda_status();
  auto devices = nlohmann::ordered_json::array();
  for (int device = 0; device < cuda.device_count; ++device) {
    const CudaStatus& status = cuda_status(device);
    devices.push_back({{"usable", status.backend != nullptr}, {"message", status.message}});
  }
  nlohmann::ordered_json result{{"version", version()},
                                {"machine", machine_name()},
                                {"backends",
                                 {{{"name", "cpu"},
                                   {"usable", true},
                                   {"threads", std::thread::hardware_concurrency()},
                                   {"simd", to_string(widest_simd())}},
                                  {{"name", "cuda"},
                                   {"usable", cuda.backend != nullptr},
                                   {"plugin", cuda.plugin},
                                   {"message", cuda.message},
                                   {"devices", devices}}}},
                                {"recipes", nlohmann::json::array()}};
  for (const Recipe& r : recipes()) result["recipes"].push_back({{"name", r.name}, {"source", r.source}});
  if (json) {
    std::puts(result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    return exit_done;
  }
  std::printf("isocloth %s\ncpu:  %s, %u threads, %s\ncuda: %s%s\n", version(), machine_name().c_str(),
              std::thread::hardware_concurrency(), to_string(widest_simd()),
              cuda.backend != nullptr ? "" : "not usable: ", cuda.message.c_str());
  for (int device = 1; device < cuda.device_count; ++device)
    std::printf(
        "cuda, device %d: %s%s\n", device,
        cuda_status(device).backend != nullptr ? "" : "not usable: ", cuda_status(device).message.c_str());
  for (const Recipe& r : recipes())
    std::printf("recipe %s: %s\n", std::string(r.name).c_str(), std::string(r.source).c_str());
  return exit_done;
}

int report(const std::filesystem::path& folder, const FileAccess& access, bool json) {
  write_folder_report(folder, read_scene(folder / "scene.json", access),
                      read_summary(folder / "summary.json"));
  const std::filesystem::path page = folder / "report.html";
  if (json)
    std::puts(nlohmann::ordered_json{{"report", page.string()}}
                  .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  .c_str());
  else
    std::printf("%s\n", page.c_str());
  return exit_done;
}

/// Arguments that the command does not know.
struct ArgumentError : Error {
  using Error::Error;
};

const char* kind_of(const std::exception& error) {
  const auto is = [&error]<class Kind>(const Kind*) { return dynamic_cast<const Kind*>(&error) != nullptr; };
  if (is(static_cast<ArgumentError*>(nullptr))) return "arguments";
  if (is(static_cast<SceneError*>(nullptr))) return "scene";
  if (is(static_cast<MeshError*>(nullptr))) return "mesh";
  if (is(static_cast<FileError*>(nullptr))) return "file";
  if (is(static_cast<DeviceError*>(nullptr))) return "device";
  if (is(static_cast<ShapeError*>(nullptr))) return "shape";
  if (is(static_cast<NumericalError*>(nullptr))) return "numerical";
  if (is_of_memory(error)) return "memory";
  if (is(static_cast<std::filesystem::filesystem_error*>(nullptr))) return "file";
  return "internal";
}

/// One line on standard error, and with --json an object on standard output.
void print_error(const std::exception& error, bool json) {
  const char* const kind = kind_of(error);
  const std::string message = error_sentence(error);
  std::fprintf(stderr, "isocloth: %s\n", message.c_str());
  if (!json) return;
  const nlohmann::ordered_json object{{"error", message}, {"kind", kind}, {"exit_code", exit_input}};
  std::puts(object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

int command_line(int argc, char** argv) {
  CLI::App app{"isocloth: cloth that does not stretch"};
  app.set_version_flag("--version", text("isocloth ", version()));
  app.require_subcommand(1);
  bool json = false, quiet = false, overwrite = false, resume = false;
  RunRequest request;
  std::string scene, folder;
  std::int64_t steps = 10;

  CLI::App* run_command = app.add_subcommand("run", "simulate a scene into a result folder");
  const CLI::Validator named([](const std::string& path) { return path.empty() ? "the name is empty" : ""; },
                             "PATH");
  run_command->add_option("scene", request.scene, "scene file (JSON; see isocloth schema)")
      ->required()
      ->check(named);
  run_command->add_option("-o,--output", request.output, "result folder")->required()->check(named);
  add_execution_options(*run_command, request.execution);
  auto* overwrite_flag = run_command->add_flag("--overwrite", overwrite, "replace an earlier result");
  run_command->add_flag("--resume", resume, "continue an interrupted result from its checkpoint")
      ->excludes(overwrite_flag);
  run_command->add_flag("--ply", request.result.ply_frames, "write every frame as frames/*.ply too");
  run_command
      ->add_option_function<std::size_t>(
          "--frames-of",
          [&request](const std::size_t& count) {
            request.result.frames_of = count == 0 ? std::numeric_limits<std::size_t>::max() : count;
          },
          "garments whose positions are kept, the first N, 0: all; default: as many as fit into 256 MiB")
      ->check(CLI::Range(std::size_t{0}, std::size_t{10'000'000}));
  run_command->add_flag("--certify", request.certify,
                        "test after every step whether cloth passes through cloth, and say where");
  run_command->add_flag("--energy-balance", request.result.has_energies,
                        "measure in every step where the energy of each garment comes from and goes to");
  run_command->add_flag("--quiet", quiet, "show no progress");
  run_command
      ->add_option("--checkpoint-every", request.checkpoint_every,
                   "most seconds of wall time between checkpoints")
      ->check(CLI::Range(0.001, 1e9))
      ->capture_default_str();

  EquilibriumSettings equilibrium;
  RunRequest rest_request;
  CLI::App* rest_command = app.add_subcommand("rest", "find where the cloth of a scene comes to rest");
  rest_command->add_option("scene", rest_request.scene, "scene file; nothing in it may move by itself")
      ->required()
      ->check(named);
  rest_command->add_option("-o,--output", rest_request.output, "result folder")->required()->check(named);
  rest_command
      ->add_option("--tolerance", equilibrium.tolerance,
                   "largest force on a node that is not balanced, over its weight")
      ->check(CLI::Range(1e-9, 1.0))
      ->capture_default_str();
  rest_command->add_option("--longest-step", equilibrium.longest_step, "[s]")
      ->check(CLI::Range(1e-4, 1e4))
      ->capture_default_str();
  rest_command->add_option("--most-steps", equilibrium.most_steps, "of the search")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_execution_options(*rest_command, rest_request.execution);
  const std::unique_ptr<ModelCommand> minimise = minimise_command();
  minimise->add_options(*rest_command);
  rest_command->add_flag("--overwrite", overwrite, "replace an earlier result");
  rest_command->add_flag("--quiet", quiet, "show no progress");

  SweepCommand sweep;
  CLI::App* sweep_command =
      app.add_subcommand("sweep", "simulate a scene for many values of its numbers, into a table");
  add_sweep_options(*sweep_command, sweep);
  add_execution_options(*sweep_command, sweep.request.execution);

  FitCommand fit;
  CLI::App* fit_command =
      app.add_subcommand("fit", "find the numbers with which scenes move as was recorded");
  add_fit_options(*fit_command, fit);
  add_execution_options(*fit_command, fit.request.execution);

  const std::unique_ptr<ModelCommand> drape = drape_command();
  CLI::App* hang_command =
      app.add_subcommand("drape", "hang the cloth of a scene by geometry alone, without a simulation");
  drape->add_options(*hang_command);
  hang_command->add_flag("--overwrite", overwrite, "replace an earlier result");

  CLI::App* check_command = app.add_subcommand("check", "say what run would do with a scene");
  check_command->add_option("scene", scene, "scene file")->required()->check(named);
  add_execution_options(*check_command, request.execution);
  CLI::App* validate_command =
      app.add_subcommand("validate", "compare the kernels with the reference, step by step");
  validate_command->add_option("scene", scene, "scene file")->required();
  validate_command->add_option("--steps", steps, "steps to compare, 0: the whole scene")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  validate_command->add_flag("--quiet", quiet, "show no progress");
  add_execution_options(*validate_command, request.execution);
  CLI::App* schema_command = app.add_subcommand("schema", "print the JSON Schema of scene files");
  CLI::App* info_command = app.add_subcommand("info", "list backends and recipes");
  CLI::App* report_command = app.add_subcommand("report", "write report.html of a result folder again");
  report_command->add_option("folder", folder, "result folder")->required()->check(named);
  FileAccess access;
  for (CLI::App* command : {run_command, rest_command, sweep_command, fit_command, hang_command,
                            check_command, validate_command, report_command})
    command
        ->add_option(
            "--allow", access.folders,
            "folders besides that of the scene in whose trees files that it names may lie; / for any")
        ->check(CLI::ExistingDirectory)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  for (CLI::App* command : {run_command, rest_command, sweep_command, fit_command, hang_command,
                            check_command, validate_command, schema_command, info_command, report_command})
    command->add_flag("--json", json, "print JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const auto chosen = app.get_subcommands();
    std::string reason = error.what(), command;
    if (!chosen.empty()) {
      command = " " + chosen.front()->get_name();
    } else if (const auto others = app.remaining(); !others.empty()) {
      reason = text("found \"", others.front(), "\", expected a command or an option");
    }
    throw ArgumentError(text(printable(reason, 300), "; see isocloth", command, " --help"));
  }
  if (overwrite) request.result.if_exists = IfExists::overwrite;
  if (resume) request.result.if_exists = IfExists::resume;
  request.access = rest_request.access = sweep.request.access = fit.request.access = access;
  SharedOptions shared{.access = access, .json = json, .quiet = quiet};
  if (overwrite) shared.if_exists = IfExists::overwrite;
  if (app.got_subcommand(run_command)) return run(request, json, quiet);
  if (app.got_subcommand(rest_command)) {
    if (minimise->is_chosen()) {
      shared.scene = rest_request.scene;
      shared.output = rest_request.output;
      shared.tolerance = equilibrium.tolerance;
      return minimise->run(shared);
    }
    if (overwrite) rest_request.result.if_exists = IfExists::overwrite;
    rest_request.equilibrium = equilibrium;
    return run(rest_request, json, quiet);
  }
  if (app.got_subcommand(sweep_command)) {
    const SweepOutcome outcome = run_sweep_command(sweep, json);
    if (!outcome.is_complete) return exit_interrupted;
    return outcome.table.count(CaseStatus::completed) > 0 ? exit_done : exit_violated;
  }
  if (app.got_subcommand(fit_command)) return run_fit_command(fit, json);
  if (app.got_subcommand(hang_command)) return drape->run(shared);
  if (app.got_subcommand(check_command)) {
    check_scene_file(scene, access, request.execution, json);
    return exit_done;
  }
  if (app.got_subcommand(validate_command))
    return validate_scene_file(scene, access, request.execution, steps, json, quiet) ? exit_done
                                                                                     : exit_violated;
  if (app.got_subcommand(info_command)) return info(json);
  if (app.got_subcommand(report_command)) return report(folder, access, json);
  std::puts(scene_schema().c_str());
  return exit_done;
}

}  // namespace
}  // namespace isocloth

int main(int argc, char** argv) {
  // A limit on the size of files is an error of the file that meets it, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const int code = isocloth::command_line(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    throw isocloth::FileError(std::string("standard output: cannot write: ") + std::strerror(errno));
  } catch (const isocloth::Interrupted& interrupted) {
    std::fprintf(stderr, "isocloth: %s\n", interrupted.what());
    return isocloth::exit_interrupted;
  } catch (const std::exception& error) {
    // The arguments may be what is wrong.
    const bool json = std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc;
    isocloth::print_error(error, json);
    return isocloth::exit_input;
  }
}
