#include "host/fit/fit_file.hpp"

#include <algorithm>
#include <array>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/in_file.hpp"
#include "host/files/key_reader.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/scene_json.hpp"

namespace isocloth {
namespace {

constexpr Range any_nodes = whole(0, 2147483647);

constexpr const char* stages_doc =
    "stages of the search, from 1, in which it takes part, one after another; default: all";

void describe_parameter(Keys& keys, FitParameter& parameter) {
  keys.string("number", parameter.number,
              "path of a number of the garment, as for isocloth sweep: fabric.mass_damping", required);
  keys.number("from", parameter.from, any_number, "lower bound", required);
  keys.number("to", parameter.to, any_number, "upper bound", required);
  keys.number(
      "value", parameter.value, any_number,
      "where the search begins, and what --simulate takes for the truth; default: the best of the starts");
  keys.choice("scale", parameter.scale, {"linear", "log"}, "searched by differences or by ratios");
  keys.flag("own", parameter.is_own, "each experiment has one of its own; else they share it");
  keys.integer(
      "points", parameter.points, whole(0, 5),
      "of fabric.curves.warp, weft or shear: most control points of a stiffness k(e) that depends on "
      "strain, stress k(e) e; from and to are then bounds of k [N/m]. It begins as a constant and has "
      "points added while that helps (Miguel et al. 2012, section 5.2)");
  keys.list("strain", parameter.strain, not_negative,
            "[least, most] strain of the control points; default: the 1 % and 99 % quantiles of the cloth's",
            Need::optional);
  keys.list("stages", parameter.stages, whole(1, 100), stages_doc, Need::optional);
}

void describe_positions(Keys& keys, PositionData& data) {
  keys.string(
      "file", data.file,
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

void describe_drape(Keys& keys, DrapeData& drape) {
  std::array<double, 2> center{};
  keys.tuple("center", center, any_number, "of the disc, from above [m]", Need::optional);
  drape.center = {center[0], center[1]};
  keys.number("disc", drape.disc, positive, "radius of the disc that the cloth hangs over [m]");
  keys.number("coefficient_noise", drape.coefficient_noise, positive,
              "standard deviation of the coefficient, a part of 1");
  keys.number("silhouette_noise", drape.silhouette_noise, positive,
              "standard deviation of a radius of the silhouette [m]");
  keys.number("fold_height", drape.fold_height, positive,
              "what a fold of the silhouette rises and falls by at least [m]");
  keys.number("wave", drape.wave, not_negative,
              "height of the waves with which the cloth starts at its rim, as many as folds were recorded "
              "[m]: a drape has several rests, and folds say which; 0: it starts as the scene says");
  keys.flag("turned", drape.is_turned,
            "how the silhouette lies to warp and weft is not known: it is turned onto that of the cloth");
}

void describe_figures(Keys& keys, FigureData& figures) {
  keys.string("file", figures.file,
              "object of what was read: coefficient (of drape, a part of 1), folds and silhouette ([x, y] of "
              "the shadow's edge in order [m]), each if it was, and a number for the name of each chord",
              required);
  keys.number("time", figures.time, positive, "when they are read, with the cloth at rest [s]", required);
  keys.object("drape", "a drape meter: the shadow of cloth over a disc (Cusick 1968)", Need::optional,
              [&](Keys& k) {
                figures.drape.emplace();
                describe_drape(k, *figures.drape);
              });
  keys.objects("chords", "straight lines from node to node", 0, [&](Keys& k, std::size_t i) {
    figures.chords.resize(i + 1);
    ChordData& chord = figures.chords[i];
    k.string("name", chord.name, "its name in the file, distinct", required);
    k.list("nodes", chord.nodes, any_nodes, "the two nodes", required);
    k.choice("measure", chord.measure, {"length", "angle"},
             "its length [m], or its angle below the horizontal, seen from the first node [degrees]");
    k.number("noise", chord.noise, positive, "standard deviation [m or degrees]");
  });
}

void describe_experiment(Keys& keys, ExperimentSpec& experiment) {
  keys.string("name", experiment.name, "name in results, distinct", required);
  keys.string("scene", experiment.scene, "scene file with one garment", required);
  keys.object("positions", "where nodes were seen", Need::optional, [&](Keys& k) {
    experiment.positions.emplace();
    describe_positions(k, *experiment.positions);
  });
  keys.objects("forces", "what grippers were seen to pull with", 0, [&](Keys& k, std::size_t i) {
    experiment.forces.resize(i + 1);
    ForceData& data = experiment.forces[i];
    k.string("gripper", data.gripper, "name of a gripper of the scene", required);
    k.string("file", data.file, "rows t [s], Fx, Fy, Fz [N], of the gripper on the garment (.csv)", required);
    k.number("noise", data.noise, positive, "standard deviation of a component [N]");
    k.vector("along", data.along, "direction of the component that is compared; default: all three");
  });
  keys.object("figures", "what instruments read off the cloth at one time", Need::optional, [&](Keys& k) {
    experiment.figures.emplace();
    describe_figures(k, *experiment.figures);
  });
  keys.list("train", experiment.train, any_number,
            "[from, to]: samples that the fit sees [s]; default where there are figures alone: up to them",
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
        k.string("pin", experiment.follow[i].pin, "name of a pin of the scene", required);
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
  keys.flag("at_rest", experiment.at_rest,
            "each sample is the cloth at rest, with pins and grippers where they are then: no motion is "
            "simulated, forces are balanced (Miguel et al. 2012, section 5)");
  keys.choice("start", experiment.start, {"previous", "recorded"},
              "of at_rest: the search for each rest begins where the one before ended, or at the recorded "
              "nodes, all of which must have been seen");
  keys.choice("objective", experiment.objective, {"all", "positions", "forces"},
              "of which recordings squares are summed (mu and lambda of Miguel et al. 2012, (6)); errors are "
              "measured of all of them");
  keys.list("stages", experiment.stages, whole(1, 100), stages_doc, Need::optional);
}

void describe_fit(Keys& keys, FitSpec& spec) {
  keys.string("name", spec.name, "title of the result");
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
  keys.choice("search", spec.search, {"levenberg_marquardt", "gauss_newton", "nelder_mead", "bobyqa"},
              "Levenberg and Marquardt's; Gauss and Newton's within bounds, as Miguel et al. 2012; Nelder "
              "and Mead's, "
              "as Coltraro 2022; Powell's BOBYQA. The last two know no derivatives");
  keys.flag("scans", spec.scans, "whether the loss is scanned along every number and over the first two");
  keys.flag(
      "leave_one_out", spec.leave_one_out,
      "where three recordings or more are trained on: whether each is left out in turn, and foretold by a "
      "fit to the others");
  keys.number(
      "regularisation", spec.regularisation, not_negative,
      "of gauss_newton: weight of the second differences of a stiffness with control points, over its "
      "mean, beside distances over noise");
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
    check_stages();
  }

 private:
  /// Every stage has something to look for, and something to look at.
  void check_stages() const {
    for (int stage = 1; stage <= spec_.stage_count(); ++stage) {
      if (std::ranges::none_of(spec_.parameters,
                               [&](const FitParameter& p) { return is_in_stage(p.stages, stage); }))
        throw SceneError(text("parameters: found none in stage ", stage,
                              ", expected one at least; stages go "
                              "from 1 without a gap"));
      if (std::ranges::none_of(spec_.experiments, [&](const ExperimentSpec& e) {
            return !e.train.empty() && is_in_stage(e.stages, stage);
          }))
        throw SceneError(
            text("experiments: found none with train in stage ", stage, ", expected one at least"));
    }
    const bool has_points =
        std::ranges::any_of(spec_.parameters, [](const FitParameter& p) { return p.points > 0; });
    if (spec_.levels > 1 &&
        (spec_.stage_count() > 1 || has_points || spec_.search != Search::levenberg_marquardt))
      throw SceneError(text("levels: found ", spec_.levels,
                            " beside stages, points or another search than levenberg_marquardt, expected 1"));
  }

  void check_spline(std::size_t p) const {
    const FitParameter& parameter = spec_.parameters[p];
    const std::string key = text("parameters[", p, "]");
    const bool is_curve = parameter.number == "fabric.curves.warp" ||
                          parameter.number == "fabric.curves.weft" ||
                          parameter.number == "fabric.curves.shear";
    if (parameter.points > 0 && !is_curve)
      throw SceneError(text(key, ".number: found \"", printable(parameter.number),
                            "\" with points, expected fabric.curves.warp, weft or shear"));
    if (parameter.points > 0 && !(parameter.from >= 0))
      throw SceneError(text(key, ".from: found ", parameter.from, ", expected a stiffness >= 0"));
    if (parameter.points > 0 && parameter.is_own)
      throw SceneError(text(key, ".own: found it with points, expected one curve for all experiments"));
    if (!parameter.strain.empty() && (parameter.points == 0 || parameter.strain.size() != 2 ||
                                      !(parameter.strain[0] < parameter.strain[1])))
      throw SceneError(text(key, ".strain: found ", parameter.strain.size(),
                            " numbers, expected two ascending ones, of a parameter with points"));
    if (parameter.points > 1 && parameter.strain.empty() &&
        std::ranges::none_of(spec_.experiments, [](const ExperimentSpec& e) { return e.at_rest; }))
      throw SceneError(text(key,
                            ".strain: found none and no experiment at_rest to measure it on, expected "
                            "[least, most]"));
  }

  void check_at_rest(std::size_t e) const {
    const ExperimentSpec& experiment = spec_.experiments[e];
    const std::string key = text("experiments[", e, "]");
    if ((experiment.objective == Objective::positions && !experiment.positions) ||
        (experiment.objective == Objective::forces && experiment.forces.empty()))
      throw SceneError(text(key, ".objective: found one without a recording of that kind, expected one"));
    if (!experiment.at_rest) {
      if (experiment.start == CaseStart::recorded)
        throw SceneError(text(key, ".start: found \"recorded\" without at_rest, expected at_rest true"));
      return;
    }
    const bool is_cloud = experiment.positions && experiment.positions->match == Match::surface;
    for (const auto& [is_there, name] : {std::pair{experiment.most_tilt > 0, "most_tilt"},
                                         {experiment.most_delay > 0, "most_delay"},
                                         {experiment.alignment != Alignment::none, "alignment"},
                                         {is_cloud, "positions.match"}})
      if (is_there)
        throw SceneError(text(key, ".", name,
                              ": found it beside at_rest, expected none: nodes are compared "
                              "where they are"));
    if (experiment.figures)
      throw SceneError(text(key, ".figures: found them beside at_rest, expected an experiment of their own"));
    if (experiment.start == CaseStart::recorded &&
        (!experiment.positions || !experiment.positions->nodes.empty()))
      throw SceneError(text(key, ".start: found \"recorded\", expected positions of all nodes beside it"));
    for (std::size_t p = 0; p < spec_.parameters.size(); ++p)
      if (!spec_.parameters[p].number.starts_with("fabric."))
        throw SceneError(text("parameters[", p, "].number: found \"", printable(spec_.parameters[p].number),
                              "\" beside an experiment at_rest, expected a number of the fabric"));
  }

  void check_parameter(std::size_t p) const {
    check_spline(p);
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
    check_at_rest(e);
    const ExperimentSpec& experiment = spec_.experiments[e];
    const std::string key = text("experiments[", e, "]");
    for (const auto& [name, window] : {std::pair{"train", &experiment.train}, {"test", &experiment.test}})
      if (!window->empty() && !(window->size() == 2 && (*window)[0] < (*window)[1]))
        throw SceneError(text(key, ".", name, ": found ", window->size(),
                              " numbers, expected two times of which the second is later"));
    if (experiment.train.empty() && experiment.test.empty())
      throw SceneError(text(key, ".train: found none and no test, expected a window of one or both"));
    if (!experiment.has_motion() && !experiment.figures)
      throw SceneError(text(key, ".positions: found none, no forces and no figures, expected a recording"));
    if (experiment.figures) check_figures(experiment, key);
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

  void check_figures(const ExperimentSpec& experiment, const std::string& key) const {
    const FigureData& figures = *experiment.figures;
    if (!figures.drape && figures.chords.empty())
      throw SceneError(text(key, ".figures.drape: found none and no chords, expected one of both"));
    for (std::size_t i = 0; i < figures.chords.size(); ++i) {
      const ChordData& chord = figures.chords[i];
      const std::string name = text(key, ".figures.chords[", i, "]");
      if (chord.nodes.size() != 2)
        throw SceneError(text(name, ".nodes: found ", chord.nodes.size(), " nodes, expected two"));
      if (chord.nodes[0] == chord.nodes[1])
        throw SceneError(
            text(name, ".nodes: found node ", chord.nodes[0], " twice, expected two different ones"));
      bool is_taken = chord.name == "coefficient" || chord.name == "folds" || chord.name == "silhouette";
      for (std::size_t k = 0; k < i; ++k) is_taken = is_taken || figures.chords[k].name == chord.name;
      if (is_taken || chord.name.empty())
        throw SceneError(text(name, ".name: found \"", printable(chord.name),
                              "\", expected a name that no other figure has"));
    }
    const auto holds = [&](const std::vector<double>& window) {
      return window.size() == 2 && figures.time >= window[0] && figures.time <= window[1];
    };
    if (!holds(experiment.train) && !holds(experiment.test))
      throw SceneError(
          text(key, ".figures.time: found ", figures.time, ", expected a time in the window train or test"));
    if (experiment.lead_in > 0 && !experiment.has_motion())
      throw SceneError(text(key, ".lead_in: found ", experiment.lead_in,
                            " without positions or forces, expected 0: figures.time is a time of the scene"));
  }

  const FitSpec& spec_;
};

/// Figures alone are there to be fitted.
void set_windows(FitSpec& spec) {
  for (ExperimentSpec& experiment : spec.experiments)
    if (experiment.figures && !experiment.has_motion() && experiment.train.empty() && experiment.test.empty())
      experiment.train = {0, experiment.figures->time};
}

}  // namespace

int FitSpec::stage_count() const {
  double last = 1;
  for (const FitParameter& parameter : parameters)
    for (const double stage : parameter.stages) last = std::max(last, stage);
  for (const ExperimentSpec& experiment : experiments)
    for (const double stage : experiment.stages) last = std::max(last, stage);
  return static_cast<int>(last);
}

bool is_in_stage(const std::vector<double>& stages, int stage) {
  return stages.empty() || std::ranges::find(stages, static_cast<double>(stage)) != stages.end();
}

FitSpec read_fit(const std::filesystem::path& path, const FileAccess& access) {
  FitSpec spec;
  spec.text = read_json(path);
  read_root_keys(spec.text, path.string(), [&spec](Keys& keys) { describe_fit(keys, spec); });
  spec.folder = path.parent_path();
  spec.access = access.with(spec.folder);
  require_access(spec.text, spec.folder, spec.access, path.string(), "");
  for (std::size_t e = 0; e < spec.experiments.size(); ++e)
    require_access(spec.experiments[e].scene, spec.folder, spec.access, path.string(),
                   text("experiments[", e, "].scene"));
  if (spec.name.empty()) spec.name = path.stem().string();
  set_windows(spec);
  in_file(path, [&] { FitChecks(spec).check(); });
  return spec;
}

std::string fit_schema() {
  FitSpec spec;
  return schema_of("isocloth fit", [&spec](Keys& keys) { describe_fit(keys, spec); });
}

}  // namespace isocloth
