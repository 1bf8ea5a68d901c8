#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/fit/run_fit.hpp"
#include "host/results/output_folder.hpp"

namespace isocloth {
namespace {

using Eigen::VectorXd;

}  // namespace

std::vector<std::filesystem::path> simulate_recordings(const FitRequest& request, FitObserver* observer) {
  FitObserver nobody;
  FitObserver& watch = observer ? *observer : nobody;
  const FitSpec spec = read_fit(request.file, request.access);
  const std::string source = request.file.string();
  std::vector<std::filesystem::path> paths;
  const auto add_path = [&](const std::string& key, const std::string& file, const char* type = ".csv") {
    const std::filesystem::path path = spec.folder / file;
    if (path.extension() != type)
      throw SceneError(
          text(source, ": ", key, ": found \"", printable(file), "\", expected a ", type, " to write"));
    if (std::filesystem::exists(path))
      throw FileError(
          text(path.string(),
               ": found a file, expected none where a recording is to be simulated; remove it first"));
    if (std::find(paths.begin(), paths.end(), path) != paths.end())
      throw SceneError(text(source, ": ", key, ": found \"", printable(file),
                            "\" again, expected a file of its own for each recording to simulate"));
    paths.push_back(path);
  };
  for (std::size_t p = 0; p < spec.parameters.size(); ++p)
    if (!spec.parameters[p].value)
      throw SceneError(text(source, ": parameters[", p,
                            "].value: found none, expected the truth of the simulated recordings"));
  for (std::size_t e = 0; e < spec.experiments.size(); ++e) {
    const ExperimentSpec& experiment = spec.experiments[e];
    const std::string key = text("experiments[", e, "]");
    if (experiment.positions) {
      const TransformSpec& transform = experiment.positions->transform;
      if (transform.scale != 1 || !(transform.rotation == Vec3d{}) || !(transform.translation == Vec3d{}))
        throw SceneError(
            text(source, ": ", key,
                 ".positions.transform: found one, expected none where the recording is simulated"));
      add_path(key + ".positions.file", experiment.positions->file);
    }
    for (std::size_t f = 0; f < experiment.forces.size(); ++f)
      add_path(text(key, ".forces[", f, "].file"), experiment.forces[f].file);
    if (experiment.figures) add_path(key + ".figures.file", experiment.figures->file, ".json");
  }
  FitProblem problem(
      spec, request.execution, Experiment::Source::frames,
      [&](std::int64_t done, std::int64_t total) { watch.on_work("simulated recordings", done, total); });
  watch.on_set_up(problem);
  VectorXd truth(static_cast<Eigen::Index>(problem.unknowns().size()));
  for (std::size_t u = 0; u < problem.unknowns().size(); ++u)
    truth[static_cast<Eigen::Index>(u)] =
        problem.unknowns()[u].part_of(problem.unknowns()[u].value.value_or(0));
  Gaussian noise(spec.seed);
  Random random(spec.seed);
  std::vector<FileContent> files;
  for (std::size_t e = 0; e < spec.experiments.size(); ++e) {
    const ExperimentSpec& experiment = spec.experiments[e];
    Experiment::Simulated simulated = problem.experiments()[e].simulate(
        problem.trial(e, truth), request.execution,
        [&](std::int64_t done, std::int64_t total) { watch.on_work(experiment.name, done, total); });
    std::vector<Recording>& recordings = simulated.recordings;
    for (std::size_t i = 0; i < recordings.size(); ++i) {
      const bool is_positions = experiment.positions && i == 0;
      const std::size_t force = i - (experiment.positions ? 1 : 0);
      const double deviation = is_positions ? experiment.positions->noise : experiment.forces[force].noise;
      for (Vec3d& value : recordings[i].values) {
        value += deviation * Vec3d{noise(), noise(), noise()};
        // Of as many digits as an instrument has.
        for (double* const x : {&value.x, &value.y, &value.z}) *x = std::round(*x * 1e6) / 1e6;
      }
      // A cloud does not know which point is which.
      if (is_positions && experiment.positions->match == Match::surface) {
        Recording& cloud = recordings[i];
        for (std::size_t sample = 0; sample < cloud.times.size(); ++sample)
          for (std::size_t k = cloud.point_count - 1; k > 0; --k)
            std::swap(cloud.values[sample * cloud.point_count + k],
                      cloud.values[sample * cloud.point_count +
                                   static_cast<std::size_t>(random.uniform() * static_cast<double>(k + 1))]);
      }
      files.push_back({paths[files.size()],
                       recording_csv(recordings[i], is_positions ? "# t [s], x, y, z of each point [m]"
                                                                 : "# t [s], Fx, Fy, Fz [N]")});
    }
    if (const auto& instruments = problem.experiments()[e].instruments())
      files.push_back({paths[files.size()],
                       instruments->file_text(problem.experiments()[e].scene().base().garments[0].mesh,
                                              simulated.figure_positions, noise)});
  }
  replace_files(files);
  return paths;
}

}  // namespace isocloth
