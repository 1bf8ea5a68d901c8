#include "host/fit/experiment.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/triangle_tree.hpp"
#include "engine/mesh/topology.hpp"
#include "host/files/text_file.hpp"
#include "host/fit/find_named.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/measures.hpp"

namespace isocloth {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double same_time = 1e-9;  ///< times are the same up to so much [s]

Eigen::Vector3d as_eigen(const Vec3d& v) { return {v.x, v.y, v.z}; }

Eigen::Map<const Eigen::Matrix3Xd> columns(const std::vector<Eigen::Vector3d>& all) {
  return {all[0].data(), 3, static_cast<Eigen::Index>(all.size())};
}

}  // namespace

/// Steps the trials and takes down what is to be seen at the times of the samples.
class Experiment::Run {
 public:
  Run(Experiment& experiment, std::vector<Trial> trials, double until, const ExecutionOptions& options)
      : experiment_(experiment),
        trials_(std::move(trials)),
        until_(until),
        simulation_(experiment.scene_of(trials_, until), options),
        seen_(trials_.size()) {
    for (Seen& seen : seen_) {
      seen.positions.assign(experiment.positions_.values.size(), {nan, nan, nan});
      for (const Recording& force : experiment.forces_)
        seen.forces.emplace_back(force.times.size(), Vec3d{nan, nan, nan});
      seen.next_forces.assign(experiment.forces_.size(), 0);
    }
    for (const Trial& trial : trials_)
      if (experiment.is_cloud_) placed_.push_back(experiment.placed_positions(trial));
  }

  std::int64_t steps() const { return step_count(simulation_.scene()); }

  std::vector<Seen> run(const TrialProgress& progress) {
    const std::int64_t steps = this->steps();
    const auto count = static_cast<std::int64_t>(trials_.size());
    look(0);
    for (std::int64_t step = 1; step <= steps; ++step) {
      const std::vector<StepReport> reports = simulation_.step();
      for (std::size_t i = 0; i < seen_.size(); ++i)
        if (reports[i].status == StepStatus::stalled) ++seen_[i].missed;
      look(step);
      progress(step * count, steps * count);
    }
    for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i].has_failed = simulation_.frozen(i);
    return std::move(seen_);
  }

 private:
  /// Samples between the last step and this one, linearly in between.
  void look(std::int64_t step) {
    const double h = simulation_.scene().step, now = experiment_.begin_ + static_cast<double>(step) * h;
    positions_before_ = std::move(positions_now_);
    positions_now_ = simulation_.positions();
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const auto share_at = [&](double t) {
        return step == 0 ? 1 : std::clamp(1 - (now - t - trials_[i].delay) / h, 0.0, 1.0);
      };
      look_at_positions(i, now, step, share_at);
      look_at_forces(i, now, step, share_at);
      look_at_figures(i, now, step);
    }
  }

  void look_at_figures(std::size_t i, double now, std::int64_t step) {
    if (!experiment_.instruments_ || !seen_[i].figure_positions.empty() || step == 0) return;
    const double h = simulation_.scene().step, late = (now - experiment_.instruments_->time()) / h;
    if (late < -1e-6) return;
    const double share = std::clamp(1 - late, 0.0, 1.0);
    for (std::size_t n = 0; n < positions_now_[i].size(); ++n) {
      const Vec3d &before = positions_before_[i][n], &after = positions_now_[i][n];
      seen_[i].figure_positions.push_back((1 - share) * before + share * after);
      seen_[i].speed = std::max(seen_[i].speed, norm(after - before) / h);
    }
  }

  /// Calls take(sample) for every sample up to now; those before the scene begins are passed over.
  template <class Take>
  void pass(const std::vector<double>& times, std::size_t& next, std::size_t i, double now, std::int64_t step,
            const Take& take) {
    for (; next < times.size(); ++next) {
      const double t = times[next] + trials_[i].delay;
      if (t > now + same_time || times[next] > until_ + same_time) return;
      if (step > 0 || t >= now - same_time) take(next);
    }
  }

  void look_at_positions(std::size_t i, double now, std::int64_t step, const auto& share_at) {
    const Recording& recorded = experiment_.positions_;
    pass(recorded.times, seen_[i].next_position, i, now, step, [&](std::size_t sample) {
      const double share = share_at(recorded.times[sample]);
      if (experiment_.is_cloud_) {
        look_at_surface(i, sample, share);
        return;
      }
      for (std::size_t point = 0; point < recorded.point_count; ++point) {
        const auto node = static_cast<std::size_t>(experiment_.nodes_[point]);
        Vec3d& seen = seen_[i].positions[sample * recorded.point_count + point];
        seen = positions_now_[i][node];
        if (share < 1) seen = (1 - share) * positions_before_[i][node] + share * seen;
      }
    });
  }

  /// The point of the cloth nearest to each point of the sample.
  void look_at_surface(std::size_t i, std::size_t sample, double share) {
    const Mesh& mesh = simulation_.scene().garments[i].mesh;
    const auto at = [&](Index node) {
      const auto n = static_cast<std::size_t>(node);
      return share < 1 ? (1 - share) * positions_before_[i][n] + share * positions_now_[i][n]
                       : positions_now_[i][n];
    };
    std::vector<TriangleCorners> triangles;
    for (Index f = 0; f < mesh.face_count(); ++f)
      for (std::size_t k = 2; k < mesh.face(f).size(); ++k)
        triangles.push_back({at(mesh.face(f)[0]), at(mesh.face(f)[k - 1]), at(mesh.face(f)[k])});
    const TriangleTree tree(std::move(triangles));
    const Recording& placed = placed_[i];
    NearestPoint nearest;
    for (std::size_t point = 0; point < placed.point_count; ++point) {
      const Vec3d& p = placed.at(sample, point);
      if (!is_seen(p)) continue;
      // Neighbours in the file are neighbours in space, mostly: a bound that makes the search short.
      if (nearest.triangle >= 0)
        nearest = nearest_on_triangle(p, tree.triangle(nearest.triangle), nearest.triangle);
      nearest = tree.nearest(p, nearest);
      seen_[i].positions[sample * placed.point_count + point] = nearest.position;
    }
  }

  void look_at_forces(std::size_t i, double now, std::int64_t step, const auto& share_at) {
    if (experiment_.forces_.empty() || step == 0) return;
    const HoldMeasures holds = simulation_.holds(i);
    // Before the first step nothing is held.
    if (holds_before_.size() <= i) holds_before_.push_back(holds.forces);
    for (std::size_t f = 0; f < experiment_.forces_.size(); ++f) {
      const std::vector<double>& times = experiment_.forces_[f].times;
      const std::size_t gripper = experiment_.grippers_[f];
      pass(times, seen_[i].next_forces[f], i, now, step, [&](std::size_t sample) {
        const double share = share_at(times[sample]);
        seen_[i].forces[f][sample] = (1 - share) * holds_before_[i][gripper] + share * holds.forces[gripper];
      });
    }
    holds_before_[i] = holds.forces;
  }

  Experiment& experiment_;
  const std::vector<Trial> trials_;
  const double until_;
  Simulation simulation_;
  std::vector<Seen> seen_;
  std::vector<Recording> placed_;  ///< recording as each trial has it placed, where clouds are compared
  std::vector<std::vector<Vec3d>> positions_before_, positions_now_, holds_before_;
};

Experiment::Experiment(const ExperimentSpec& spec, const FitSpec& fit, Source source)
    : spec_(spec), scene_(fit.folder / spec.scene, fit.access) {
  find_grippers();
  if (spec_.figures)
    instruments_.emplace(spec_, fit, scene_.base().garments[0].mesh, source == Source::frames);
  is_cloud_ = spec_.positions && spec_.positions->match == Match::surface && source == Source::recordings;
  if (!is_cloud_) find_nodes();
  if (source == Source::frames) {
    spec_.follow.clear();
    make_samples();
    return;
  }
  if (spec_.positions) read_positions(fit);
  for (const ForceData& data : spec_.forces)
    forces_.push_back(read_recording(fit.folder / data.file, 1, "t, Fx, Fy, Fz"));
  check_pins();
  check_windows();
  if (spec_.positions && !is_cloud_) check_lengths();
  double first = std::numeric_limits<double>::infinity();
  if (spec_.positions) first = positions_.times[0];
  for (const Recording& force : forces_) first = std::min(first, force.times[0]);
  begin_ = spec_.has_motion() && (spec_.lead_in > 0 || !spec_.follow.empty())
               ? first - spec_.lead_in
               : scene_.base().garments[0].time_offset;
}

void Experiment::make_samples() {
  const Scene& scene = scene_.base();
  const double first = std::min(spec_.train.empty() ? spec_.test[0] : spec_.train[0],
                                spec_.test.empty() ? spec_.train[0] : spec_.test[0]);
  begin_ = spec_.lead_in > 0 ? first - spec_.lead_in : scene.garments[0].time_offset;
  std::vector<double> times;
  const double interval = static_cast<double>(steps_per_frame(scene)) * scene.step;
  // Of as many digits as a person would write.
  for (double k = std::ceil((first - begin_) / interval - 1e-6); begin_ + k * interval <= end() + same_time;
       ++k)
    times.push_back(std::round((begin_ + k * interval) * 1e9) / 1e9);
  if (spec_.positions) {
    positions_ = {.file = spec_.positions->file, .point_count = nodes_.size(), .times = times, .values = {}};
    positions_.values.resize(times.size() * nodes_.size());
  }
  for (const ForceData& data : spec_.forces)
    forces_.push_back(
        {.file = data.file, .point_count = 1, .times = times, .values = std::vector<Vec3d>(times.size())});
}

void Experiment::find_nodes() {
  if (!spec_.positions) return;
  const std::size_t node_count = scene_.base().garments[0].mesh.positions.size();
  const std::vector<double>& asked = spec_.positions->nodes;
  for (std::size_t i = 0; i < (asked.empty() ? node_count : asked.size()); ++i) {
    const auto node = asked.empty() ? static_cast<Index>(i) : static_cast<Index>(asked[i]);
    const std::string key =
        text(spec_.scene, ": experiment \"", spec_.name, "\": positions.nodes[", i, "]: found ", node);
    if (static_cast<std::size_t>(node) >= node_count)
      throw SceneError(text(key, ", expected a node of the mesh, from 0 to ", node_count - 1));
    if (std::ranges::find(nodes_, node) != nodes_.end())
      throw SceneError(text(key, " a second time, expected distinct nodes"));
    nodes_.push_back(node);
  }
}

void Experiment::find_grippers() {
  for (std::size_t f = 0; f < spec_.forces.size(); ++f)
    grippers_.push_back(
        find_named(scene_.base().garments[0].grippers, spec_.forces[f].gripper,
                   text(spec_.scene, ": experiment \"", spec_.name, "\": forces[", f, "].gripper")));
}

void Experiment::check_windows() const {
  if (!spec_.has_motion()) return;  // figures have their time
  for (const auto& [name, window] : {std::pair{"train", &spec_.train}, {"test", &spec_.test}}) {
    if (window->empty()) continue;
    std::size_t count = 0;
    std::vector<const Recording*> all;
    if (spec_.positions) all.push_back(&positions_);
    for (const Recording& force : forces_) all.push_back(&force);
    for (const Recording* recording : all)
      for (std::size_t sample = 0; sample < recording->times.size(); ++sample)
        if (is_inside(*recording, sample, *window))
          for (std::size_t point = 0; point < recording->point_count; ++point)
            count += is_seen(recording->at(sample, point));
    if (count == 0)
      throw SceneError(text(spec_.scene, ": experiment \"", spec_.name, "\": ", name,
                            ": found no sample from ", (*window)[0], " to ", (*window)[1],
                            " s, expected some; the recording goes from ", all[0]->times.front(), " to ",
                            all[0]->times.back(), " s"));
  }
}

void Experiment::check_lengths() const {
  const Mesh& mesh = scene_.base().garments[0].mesh;
  std::vector<std::ptrdiff_t> point_of(mesh.positions.size(), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    point_of[static_cast<std::size_t>(nodes_[i])] = static_cast<std::ptrdiff_t>(i);
  // Of each edge between recorded nodes, the median over all samples: noise and folds come and go.
  std::vector<double> ratios;
  std::vector<std::size_t> edges(nodes_.size()), far(nodes_.size());
  for (const auto& [a, b] : build_topology(mesh).edges) {
    const std::ptrdiff_t p = point_of[static_cast<std::size_t>(a)], q = point_of[static_cast<std::size_t>(b)];
    if (p < 0 || q < 0) continue;
    std::vector<double> of_edge;
    for (std::size_t sample = 0; sample < positions_.times.size(); ++sample) {
      const double length = norm(positions_.at(sample, static_cast<std::size_t>(p)) -
                                 positions_.at(sample, static_cast<std::size_t>(q)));
      if (std::isfinite(length)) of_edge.push_back(length / norm(mesh.positions[a] - mesh.positions[b]));
    }
    if (of_edge.empty()) continue;
    std::ranges::nth_element(of_edge, of_edge.begin() + static_cast<std::ptrdiff_t>(of_edge.size() / 2));
    const double ratio = of_edge[of_edge.size() / 2];
    ratios.push_back(ratio);
    for (const std::ptrdiff_t end : {p, q}) {
      ++edges[static_cast<std::size_t>(end)];
      far[static_cast<std::size_t>(end)] += ratio > 1.5;
    }
  }
  if (ratios.size() < 3) return;
  std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
  const double median = ratios[ratios.size() / 2];
  if (!(median < 1.5 && median > 0.3))
    throw FileError(
        text(positions_.file, ": found edges that are ", median,
             " times as long as those of the mesh (median), expected about as long; set "
             "positions.transform.scale if the recording has another unit, or give positions.nodes"));
  std::string strangers;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (edges[i] >= 2 && far[i] == edges[i]) strangers += text(strangers.empty() ? "" : ", ", nodes_[i]);
  if (!strangers.empty())
    throw FileError(
        text(positions_.file, ": found node ", printable(strangers, 80),
             " farther than 1.5 edges from every neighbour in most samples, expected the lengths of "
             "the mesh; are nodes swapped, or is positions.nodes in another order?"));
}

void Experiment::check_pins() const {
  const std::vector<Pin>& pins = scene_.base().garments[0].pins;
  for (std::size_t i = 0; i < spec_.follow.size(); ++i) {
    const std::string key = text(spec_.scene, ": experiment \"", spec_.name, "\": follow[", i, "].pin");
    const Pin& pin = pins[find_named(pins, spec_.follow[i].pin, key)];
    for (const Index node : pin.nodes) {
      const auto at = std::ranges::find(nodes_, node);
      if (at == nodes_.end())
        throw SceneError(
            text(key, ": found node ", node, " of it not among positions.nodes, expected all recorded"));
      positions_.at_time(static_cast<std::size_t>(at - nodes_.begin()), 0);  // seen at all
    }
  }
}

void Experiment::read_positions(const FitSpec& fit) {
  const PositionData& data = *spec_.positions;
  const std::string meaning =
      is_cloud_ ? std::string("t, and x, y, z of points")
                : text("t, and x, y, z of ", nodes_.size(),
                       data.nodes.empty() ? " nodes of the mesh" : " nodes of positions.nodes");
  positions_ = read_recording(fit.folder / data.file, nodes_.size(), meaning);
  for (Vec3d& p : positions_.values) p = placed(p, data.transform);
}

Recording Experiment::placed_positions(const Trial& trial) const {
  if (trial.tilt == Vec2d{}) return positions_;
  Recording turned = positions_;
  Vec3d middle;
  double count = 0;
  for (std::size_t point = 0; point < turned.point_count; ++point) {
    if (!is_seen(turned.at(0, point))) continue;
    middle += turned.at(0, point);
    ++count;
  }
  if (count > 0) middle = (1 / count) * middle;
  const Vec3d turn = std::numbers::pi / 180 * Vec3d{trial.tilt.x, trial.tilt.y, 0};
  for (Vec3d& p : turned.values) p = middle + rotated(turn, p - middle);
  return turned;
}

RecordedMotion Experiment::followed(const Garment& garment, const Pin& pin, bool is_rigid,
                                    const Recording& placed) const {
  RecordedMotion motion{.file = placed.file, .times = placed.times, .positions = {}};
  for (std::size_t sample = 0; sample < placed.times.size(); ++sample) {
    std::vector<Eigen::Vector3d> start, seen;
    for (const Index node : pin.nodes) {
      const auto point = static_cast<std::size_t>(std::ranges::find(nodes_, node) - nodes_.begin());
      seen.push_back(as_eigen(smoothed(placed, point, sample)));
      start.push_back(as_eigen(start_positions(garment)[static_cast<std::size_t>(node)]));
    }
    const Eigen::Matrix4d rigid = Eigen::umeyama(columns(start), columns(seen), false);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Eigen::Vector3d p = is_rigid ? (rigid * start[i].homogeneous()).head<3>().eval() : seen[i];
      motion.positions.push_back({p.x(), p.y(), p.z()});
    }
  }
  return motion;
}

Vec3d Experiment::smoothed(const Recording& placed, std::size_t point, std::size_t sample) const {
  // A parabola through the samples around, in the least squares with weights (1 - |dt / s|^3)^3.
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Matrix3d right = Eigen::Matrix3d::Zero();
  int count = 0;
  for (std::size_t k = 0; k < placed.times.size(); ++k) {
    const double at = (placed.times[k] - placed.times[sample]) / spec_.smoothing;
    if (!(std::fabs(at) < 1) || !is_seen(placed.at(k, point))) continue;
    const double weight = std::pow(1 - std::pow(std::fabs(at), 3), 3);
    const Eigen::Vector3d powers(1, at, at * at);
    normal += weight * powers * powers.transpose();
    right += weight * powers * as_eigen(placed.at(k, point)).transpose();
    ++count;
  }
  if (count < 4) return placed.at_time(point, placed.times[sample]);
  const Eigen::Vector3d value = normal.ldlt().solve(right).row(0).transpose();
  return {value.x(), value.y(), value.z()};
}

Garment Experiment::garment(const Trial& trial) {
  Garment garment = scene_.garment(trial.numbers);
  for (const CurveValue& value : trial.curves) {
    const bool is_shear = value.law == RowLaw::shear;
    StressCurves& curves = garment.fabric.curves;
    (is_shear                    ? curves.shear
     : value.law == RowLaw::weft ? curves.weft
                                 : curves.warp) =
        stress_curve(value.spline, is_shear, find_recipe(scene_.base().recipe).strain);
  }
  garment.time_offset = begin_;
  if (instruments_) instruments_->add_waves(garment);
  if (spec_.follow.empty()) return garment;
  const Recording placed = placed_positions(trial);
  for (const FollowSpec& follow : spec_.follow) {
    Pin& pin = garment.pins[find_named(garment.pins, follow.pin, "follow")];
    pin.motion = followed(garment, pin, follow.is_rigid, placed);
    pin.ramp = spec_.lead_in / 2;
  }
  return garment;
}

Scene Experiment::scene_of(const std::vector<Trial>& trials, double until) {
  std::vector<Garment> garments;
  double last = until;
  for (const Trial& trial : trials) {
    garments.push_back(garment(trial));
    garments.back().name = text("trial ", garments.size() - 1);
    last = std::max(last, until + trial.delay);
  }
  Scene scene = scene_.side_by_side(std::move(garments));
  const double steps = std::max(1.0, std::ceil((last - begin_) / scene.step - 1e-6));
  scene.duration = steps * scene.step;
  scene.frame_interval = 0;
  return scene;
}

std::vector<Comparison> Experiment::compare(const std::vector<Trial>& trials, double until,
                                            const ExecutionOptions& options, const TrialProgress& progress) {
  ExecutionOptions quick = options;
  quick.measure_strain = false;
  const std::vector<bool> accepted = accepted_trials(trials);
  std::vector<Trial> sound;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (accepted[i]) sound.push_back(trials[i]);
  std::vector<Seen> seen;
  std::int64_t steps = 0;
  if (!sound.empty() && spec_.at_rest) {
    seen = seen_at_rest(sound, until, options, progress);
    steps = static_cast<std::int64_t>(rest_cases().times().size());
  } else if (!sound.empty()) {
    Run run(*this, sound, until, quick);
    steps = run.steps();
    seen = run.run(progress);
  }
  std::vector<Comparison> all;
  auto next = seen.begin();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (accepted[i]) {
      all.push_back(compared(trials[i], std::move(*next++)));
      all.back().steps = steps;
      continue;
    }
    Comparison& lost = all.emplace_back();
    lost.has_failed = true;
    lost.positions.assign(positions_.values.size(), {nan, nan, nan});
    for (const Recording& force : forces_) lost.forces.emplace_back(force.times.size(), Vec3d{nan, nan, nan});
    if (instruments_) lost.figures.assign(instruments_->figures().size(), nan);
  }
  return all;
}

std::vector<bool> Experiment::accepted_trials(const std::vector<Trial>& trials) {
  std::vector<bool> accepted;
  for (const Trial& trial : trials) {
    try {
      validate_garment(garment(trial), "garments[0]");
      accepted.push_back(true);
    } catch (const SceneError& error) {
      accepted.push_back(false);
      refusal_ = error.what();
    } catch (const MeshError& error) {
      accepted.push_back(false);
      refusal_ = error.what();
    }
  }
  return accepted;
}

Comparison Experiment::compared(const Trial& trial, Seen seen) const {
  Comparison comparison{.positions = std::move(seen.positions),
                        .forces = std::move(seen.forces),
                        .figures = {},
                        .reading = {},
                        .speed = seen.speed,
                        .has_failed = seen.has_failed,
                        .steps = 0,
                        .missed_steps = seen.missed};
  const Recording recorded = placed_positions(trial);
  for (std::size_t k = 0; k < comparison.positions.size(); ++k) comparison.positions[k] -= recorded.values[k];
  for (std::size_t f = 0; f < forces_.size(); ++f)
    for (std::size_t k = 0; k < forces_[f].times.size(); ++k) comparison.forces[f][k] -= forces_[f].values[k];
  if (instruments_) {
    const std::vector<Figure>& figures = instruments_->figures();
    comparison.figures.assign(figures.size(), nan);
    if (!seen.figure_positions.empty() && !seen.has_failed) {
      comparison.reading = instruments_->read(scene_.base().garments[0].mesh, seen.figure_positions);
      for (std::size_t k = 0; k < figures.size(); ++k)
        comparison.figures[k] = comparison.reading.values[k] - figures[k].recorded;
    }
  }
  align(recorded, spec_.alignment, spec_.train.empty() ? spec_.test : spec_.train, comparison);
  return comparison;
}

Experiment::Simulated Experiment::simulate(const Trial& trial, const ExecutionOptions& options,
                                           const TrialProgress& progress) {
  Seen seen = spec_.at_rest ? std::move(seen_at_rest({trial}, end(), options, progress)[0])
                            : std::move(Run(*this, {trial}, end(), options).run(progress)[0]);
  Simulated all{.recordings = {}, .figure_positions = std::move(seen.figure_positions)};
  if (spec_.positions) {
    all.recordings.push_back(positions_);
    all.recordings.back().values = std::move(seen.positions);
  }
  for (std::size_t f = 0; f < forces_.size(); ++f) {
    all.recordings.push_back(forces_[f]);
    all.recordings.back().values = std::move(seen.forces[f]);
  }
  return all;
}

double align(const Recording& recorded, Alignment alignment, const std::vector<double>& window,
             Comparison& comparison) {
  if (alignment == Alignment::none) return 0;
  std::vector<Eigen::Vector3d> seen, simulated;
  for (std::size_t sample = 0; sample < recorded.times.size(); ++sample) {
    if (!Experiment::is_inside(recorded, sample, window)) continue;
    for (std::size_t point = 0; point < recorded.point_count; ++point) {
      const Vec3d& error = comparison.positions[sample * recorded.point_count + point];
      if (!is_seen(error)) continue;
      seen.push_back(as_eigen(recorded.at(sample, point)));
      simulated.push_back(as_eigen(recorded.at(sample, point) + error));
    }
  }
  if (seen.empty()) return 0;
  Eigen::Matrix4d motion = Eigen::Matrix4d::Identity();
  if (alignment == Alignment::rigid)
    motion = Eigen::umeyama(columns(seen), columns(simulated), false);
  else
    motion.topRightCorner<3, 1>() = (columns(simulated) - columns(seen)).rowwise().mean();
  double moved = 0;
  for (std::size_t k = 0; k < comparison.positions.size(); ++k) {
    const Eigen::Vector3d p = as_eigen(recorded.values[k]);
    const Eigen::Vector3d step = motion.topLeftCorner<3, 3>() * p + motion.topRightCorner<3, 1>() - p;
    comparison.positions[k] -= Vec3d{step.x(), step.y(), step.z()};
    if (step.allFinite()) moved += step.norm();
  }
  return moved / static_cast<double>(seen.size());
}

}  // namespace isocloth
