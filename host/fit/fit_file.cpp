#include "host/fit/fit_file.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/key_reader.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr Range any_nodes = whole(0, 2147483647);

void describe_parameter(Keys& keys, FitParameter& parameter) {
  keys.word("number", parameter.number,
            "path of a number of the garment, as for isocloth sweep: fabric.alpha", required);
  keys.number("from", parameter.from, any_number, "lower bound", required);
  keys.number("to", parameter.to, any_number, "upper bound", required);
  keys.number(
      "value", parameter.value, any_number,
      "where the search begins, and what --simulate takes for the truth; default: the best of the starts");
  keys.choice("scale", parameter.scale, {"linear", "log"}, "searched by differences or by ratios");
  keys.flag("own", parameter.is_own, "each experiment has one of its own; else they share it");
}

void describe_positions(Keys& keys, PositionData& data) {
  keys.word("file", data.file,
            "rows t [s], x1, y1, z1, x2, ... [m] (.csv; nan or nothing where a point was not seen), a result "
            "folder, a trajectory.h5, or an HDF5 file with datasets times (frames) and positions (frames, "
            "points, 3)",
            required);
  keys.choice("match", data.match, {"nodes", "surface"},
              "each recorded point is a node, or some point of the cloth, as in a cloud of points: its "
              "distance is then "
              "that to the nearest point of the surface");
  keys.list("nodes", data.nodes, any_nodes, "node that each recorded point is; default: point i is node i",
            Need::optional);
  describe_transform(keys, "transform", "from the recording's coordinates to those of the scene",
                     data.transform);
  keys.number("noise", data.noise, positive, "standard deviation of a coordinate [m]");
}

void describe_experiment(Keys& keys, ExperimentSpec& experiment) {
  keys.word("name", experiment.name, "name in results, distinct", required);
  keys.word("scene", experiment.scene, "scene file with one garment", required);
  keys.object("positions", "where nodes were seen", Need::optional, [&](Keys& k) {
    experiment.positions.emplace();
    describe_positions(k, *experiment.positions);
  });
  keys.objects("forces", "what grippers were seen to pull with", 0, [&](Keys& k, std::size_t i) {
    experiment.forces.resize(i + 1);
    ForceData& data = experiment.forces[i];
    k.word("gripper", data.gripper, "name of a gripper of the scene", required);
    k.word("file", data.file, "rows t [s], Fx, Fy, Fz [N], of the gripper on the garment (.csv)", required);
    k.number("noise", data.noise, positive, "standard deviation of a component [N]");
  });
  keys.list("train", experiment.train, any_number, "[from, to]: samples that the fit sees [s]",
            Need::optional);
  keys.list("test", experiment.test, any_number,
            "[from, to]: samples that it does not see, and whose error is measured at the end [s]",
            Need::optional);
  keys.choice(
      "alignment", experiment.alignment, {"none", "translation", "rigid"},
      "displacement or rigid motion, best for all training samples together, by which the recording is "
      "brought onto the cloth before they are compared");
  keys.number(
      "most_tilt", experiment.most_tilt, {.least = 0, .most = 45},
      "of the recording's vertical, to be found along with the parameters [degrees]; 0: it is upright");
  keys.number("most_delay", experiment.most_delay, not_negative,
              "of the recording's clock against the scene's, either way, to be found, too [s]; 0: none");
  keys.objects(
      "follow", "pins that go where the recording saw their nodes, in place of their motions", 0,
      [&](Keys& k, std::size_t i) {
        experiment.follow.resize(i + 1);
        k.word("pin", experiment.follow[i].pin, "name of a pin of the scene", required);
        k.flag("rigid", experiment.follow[i].is_rigid,
               "its nodes keep the distances that they start with: the nearest rigid motion, which noise "
               "cannot stretch");
      });
  keys.number("smoothing", experiment.smoothing, not_negative,
              "pins that follow take the value of the parabola nearest to the samples within this time "
              "before and after "
              "(Cleveland 1979) [s]: noise shakes the cloth, and pulls at it where it is taut between them");
  keys.number("lead_in", experiment.lead_in, not_negative,
              "time for which the cloth comes to rest before the first sample; pins that follow reach their "
              "places in its first half [s]");
  keys.number("weight", experiment.weight, positive, "factor on its squares");
}

void describe_fit(Keys& keys, FitSpec& spec) {
  keys.word("name", spec.name, "title of the result");
  keys.objects("parameters", "what is looked for", 1, [&](Keys& k, std::size_t i) {
    spec.parameters.resize(i + 1);
    describe_parameter(k, spec.parameters[i]);
  });
  keys.objects("experiments", "recordings and the scenes that are to move like them", 1,
               [&](Keys& k, std::size_t i) {
                 spec.experiments.resize(i + 1);
                 describe_experiment(k, spec.experiments[i]);
               });
  keys.choice(
      "loss", spec.loss, {"squares", "huber", "cauchy"},
      "what becomes of the squared distance over noise beyond outlier: it stays, grows as the distance "
      "(Huber), or as its logarithm (Cauchy)");
  keys.number("outlier", spec.outlier, positive, "distance where the last two begin to differ [noise]");
  keys.integer(
      "starts", spec.starts, whole(1, 100'000),
      "random points within the bounds, the best of which begins the search; 1: the values themselves");
  keys.integer("seed", spec.seed, whole(0, 0x1p53), "of these points and of the noise of --simulate");
  keys.integer(
      "levels", spec.levels, whole(1, 100),
      "parts in which the training windows grow to their whole length, each begun where the last ended: "
      "against local minima");
  keys.integer("most_iterations", spec.most_iterations, whole(1, 10'000), "of each level");
  keys.number("difference", spec.difference, {.least = 1e-6, .most = 0.05},
              "of central differences, as a part of the way between the bounds; the search begins with five "
              "times as much");
}

/// What the keys alone cannot say.
class FitChecks {
 public:
  explicit FitChecks(const FitSpec& spec) : spec_(spec) {}

  void check() const {
    for (std::size_t p = 0; p < spec_.parameters.size(); ++p) check_parameter(p);
    bool has_training = false;
    for (std::size_t e = 0; e < spec_.experiments.size(); ++e) {
      check_experiment(e);
      has_training = has_training || !spec_.experiments[e].train.empty();
    }
    if (!has_training)
      throw SceneError("experiments: found no train, expected at least one window of samples to fit to");
  }

 private:
  void check_parameter(std::size_t p) const {
    const FitParameter& parameter = spec_.parameters[p];
    const std::string key = text("parameters[", p, "]");
    if (!(parameter.from < parameter.to))
      throw SceneError(text(key, ".to: found ", parameter.to, ", expected more than from, ", parameter.from));
    if (parameter.scale == Scale::log && !(parameter.from > 0))
      throw SceneError(text(key, ".from: found ", parameter.from, ", expected a number > 0 on a log scale"));
    if (parameter.value && !(*parameter.value > parameter.from && *parameter.value < parameter.to))
      throw SceneError(text(key, ".value: found ", *parameter.value, ", expected it between the bounds ",
                            parameter.from, " and ", parameter.to));
    for (std::size_t q = 0; q < p; ++q)
      if (spec_.parameters[q].number == parameter.number)
        throw SceneError(text(key, ".number: found \"", printable(parameter.number),
                              "\" a second time, expected each number once"));
  }

  void check_experiment(std::size_t e) const {
    const ExperimentSpec& experiment = spec_.experiments[e];
    const std::string key = text("experiments[", e, "]");
    for (const auto& [name, window] : {std::pair{"train", &experiment.train}, {"test", &experiment.test}})
      if (!window->empty() && !(window->size() == 2 && (*window)[0] < (*window)[1]))
        throw SceneError(text(key, ".", name, ": found ", window->size(),
                              " numbers, expected two times of which the second is later"));
    if (experiment.train.empty() && experiment.test.empty())
      throw SceneError(text(key, ".train: found none and no test, expected a window of one or both"));
    if (!experiment.positions && experiment.forces.empty())
      throw SceneError(text(key, ".positions: found none and no forces, expected a recording"));
    const auto needs_positions = [&](bool wanted, const char* name) {
      if (wanted && !experiment.positions)
        throw SceneError(text(key, ".", name, ": found it without positions, expected recorded positions"));
    };
    needs_positions(experiment.alignment != Alignment::none, "alignment");
    needs_positions(experiment.most_tilt > 0, "most_tilt");
    needs_positions(!experiment.follow.empty(), "follow");
    const bool is_cloud = experiment.positions && experiment.positions->match == Match::surface;
    for (const auto& [is_there, name] : {std::pair{experiment.alignment != Alignment::none, "alignment"},
                                         std::pair{!experiment.follow.empty(), "follow"}})
      if (is_cloud && is_there)
        throw SceneError(text(key, ".", name,
                              ": found it with positions.match \"surface\", expected none: it needs nodes"));
    if (experiment.most_delay > 0 && !experiment.follow.empty())
      throw SceneError(text(key, ".most_delay: found ", experiment.most_delay,
                            " where pins follow the recording and have its clock, expected 0"));
    if (experiment.most_tilt > 0 && experiment.alignment == Alignment::rigid)
      throw SceneError(
          text(key, ".most_tilt: found ", experiment.most_tilt,
               " beside a rigid alignment, which turns the recording already, expected one of both"));
    for (std::size_t f = 0; f < e; ++f)
      if (spec_.experiments[f].name == experiment.name)
        throw SceneError(text(key, ".name: found \"", printable(experiment.name),
                              "\" a second time, expected distinct names"));
    if (experiment.name.empty() || experiment.name.find_first_of("/\\") != std::string::npos ||
        experiment.name[0] == '.')
      throw SceneError(text(key, ".name: found \"", printable(experiment.name),
                            "\", expected a name that can be that of a folder"));
  }

  const FitSpec& spec_;
};

}  // namespace

FitSpec read_fit(const std::filesystem::path& path) {
  FitSpec spec;
  spec.text = read_json(path);
  read_root_keys(spec.text, path.string(), [&spec](Keys& keys) { describe_fit(keys, spec); });
  spec.folder = path.parent_path();
  if (spec.name.empty()) spec.name = path.stem().string();
  try {
    FitChecks(spec).check();
  } catch (const SceneError& error) {
    throw SceneError(text(path.string(), ": ", error.what()));
  }
  return spec;
}

std::string fit_schema() {
  FitSpec spec;
  return schema_of("isocloth fit", [&spec](Keys& keys) { describe_fit(keys, spec); });
}

}  // namespace isocloth
