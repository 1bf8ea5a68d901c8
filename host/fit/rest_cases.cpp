#include "host/fit/rest_cases.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/methods.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {
namespace {

using Vector = StaticSheet::Vector;

constexpr double case_time = 1e-9;  ///< times of cases are the same up to so much [s]
constexpr int most_halvings = 8;

Vector as_vector(const std::vector<Vec3d>& all) {
  const std::vector<double> numbers = as_numbers(all.data(), all.size());
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

std::vector<Vec3d> as_points(const Vector& x) {
  return as_vectors(std::vector<double>(x.data(), x.data() + x.size()));
}

}  // namespace

RestCases::RestCases(const Scene& scene, std::vector<double> times, std::vector<std::vector<Vec3d>> measured,
                     const ExecutionOptions& options, const std::string& source)
    : garment_(scene.garments.at(0)), times_(std::move(times)), measured_(std::move(measured)) {
  try {
    require_known(methods::static_sheet, scene);
    for (std::size_t g = 0; g < garment_.grippers.size(); ++g) {
      const Gripper& gripper = garment_.grippers[g];
      const std::string key = text("garments[0].grippers[", g, "]");
      if (gripper.stiffness > 0)
        throw SceneError(text(key, ".stiffness: found ", gripper.stiffness,
                              ", expected 0: clips of cloth at_rest are rigid"));
      const double begin = garment_.time_offset + scene.step / 2;
      const double end = times_.empty() ? begin : std::max(begin, times_.back() - scene.step / 2);
      if (!std::ranges::any_of(gripper.holds, [&](const Hold& h) { return h.from <= begin && h.to > end; }))
        throw SceneError(text(key, ".holds: found none from ", garment_.time_offset, " s to ", end,
                              " s, expected one: clips of cloth at_rest hold all the time"));
    }
    Scene first = scene;
    first.duration = first.step;
    first.frame_interval = 0;
    if (!garment_.grippers.empty()) {
      ExecutionOptions quick = options;
      quick.measure_strain = false;
      Simulation simulation(first, quick);
      simulation.step();
      const GarmentState state = simulation.snapshot().garments.at(0);
      for (std::size_t i = 0; i < state.holds.size(); ++i)
        if (state.holds[i].gripper >= 0)
          held_.push_back({static_cast<Index>(i), static_cast<int>(state.holds[i].gripper), 0, 0,
                           state.holds[i].local_position});
    }
    for (std::size_t p = 0; p < garment_.pins.size(); ++p)
      for (std::size_t i = 0; i < garment_.pins[p].nodes.size(); ++i)
        held_.push_back({garment_.pins[p].nodes[i], -1, p, i, {}});
    if (held_.empty())
      throw SceneError(
          "garments[0].pins: found none, and no node in a gripper, expected cloth at_rest to be "
          "held somewhere");
    std::vector<char> is_held(static_cast<std::size_t>(garment_.mesh.node_count()));
    for (const Held& held : held_) is_held[static_cast<std::size_t>(held.node)] = 1;
    sheet_.emplace_back(garment_, find_recipe(scene.recipe), scene.gravity, std::move(is_held));
  } catch (const SceneError& error) {
    throw SceneError(text(source, ": ", error.what()));
  }
}

/// The cloth of one fabric on its way through the cases.
class RestCases::Path {
 public:
  Path(const RestCases& cases, const Fabric& fabric)
      : cases_(cases),
        sheet_(cases.sheet_[0], fabric),
        x_(as_vector(start_positions(cases.garment_))),
        time_(cases.garment_.time_offset) {
    place_held(time_, x_);
    sheet_.linearise(x_);
  }

  /// Whether a rest was found.
  bool go_to(std::size_t k) {
    const double t = cases_.times_[k];
    if (cases_.measured_.empty()) return go_to(t, 0);
    const Vector before = x_;
    const double from = time_;
    x_ = as_vector(cases_.measured_[k]);
    place_held(t, x_);
    time_ = t;
    if (settle(0.05)) return true;
    // A fabric far from the one that was seen may find no rest near it.
    x_ = before;
    time_ = from;
    sheet_.linearise(x_);
    return go_to(t, 0);
  }

  StaticSheet& sheet() { return sheet_; }
  const Vector& x() const { return x_; }
  std::int64_t factorisations = 0, unstable = 0;

 private:
  bool go_to(double t, int halvings) {
    const Vector before = x_;
    const double from = time_;
    Vector way = Vector::Zero(x_.size()), there = x_;
    place_held(t, there);
    way = there - x_;
    const Vector tangent = sheet_.solve(-sheet_.times_stiffness(way));
    const double most = tangent.size() > 0 ? tangent.cwiseAbs().maxCoeff() : 0;
    x_ = there;
    if (most <= 2 * way.cwiseAbs().maxCoeff()) x_ += tangent;
    time_ = t;
    if (settle()) return true;
    x_ = before;
    time_ = from;
    sheet_.linearise(x_);
    return halvings < most_halvings && go_to((from + t) / 2, halvings + 1) && go_to(t, halvings + 1);
  }

  /// Finds the rest that is near, of the many that buckled cloth has, by small steps from where the cloth was
  /// seen.
  bool settle(double longest_step = BalanceSettings{}.longest_step) {
    BalanceSettings settings;
    settings.longest_step = longest_step;
    const Balance found = sheet_.settle(x_, settings);
    factorisations += found.iterations + 1;
    unstable += found.is_at_rest && !found.is_stable;
    return found.is_at_rest;
  }

  void place_held(double t, Vector& x) const {
    const Garment& garment = cases_.garment_;
    std::vector<Pose> poses;
    for (const Gripper& gripper : garment.grippers) poses.push_back(gripper_pose(gripper, t));
    for (const Held& held : cases_.held_) {
      Vec3d p;
      if (held.gripper >= 0) {
        const Pose& pose = poses[static_cast<std::size_t>(held.gripper)];
        p = pose.center + held.local_position.x * pose.axes[0] + held.local_position.y * pose.axes[1] +
            held.local_position.z * pose.axes[2];
      } else {
        p = pin_position(garment, garment.pins[held.pin], held.i, t);
      }
      x.segment<3>(3 * held.node) = Eigen::Vector3d(p.x, p.y, p.z);
    }
  }

  const RestCases& cases_;
  StaticSheet sheet_;
  Vector x_;
  double time_ = 0;
};

RestCases::Result RestCases::solve(const Fabric& fabric, const std::vector<Side>& sides, double until,
                                   Monitor* monitor) const {
  Result result;
  Path path(*this, fabric);
  const auto seen = [&](const Vector& x, const Vector& forces) {
    Case found{as_points(x), std::vector<Vec3d>(garment_.grippers.size())};
    for (const Held& held : held_)
      if (held.gripper >= 0)
        found.forces[static_cast<std::size_t>(held.gripper)] +=
            vector_at(forces.data(), static_cast<std::size_t>(held.node));
    return found;
  };
  std::vector<std::array<StaticSheet, 2>> others;
  for (const Side& side : sides)
    others.push_back({StaticSheet(sheet_[0], side.below), StaticSheet(sheet_[0], side.above)});
  result.derivatives.resize(sides.size());
  for (std::size_t k = 0; k < times_.size() && times_[k] <= until + case_time; ++k) {
    MonitorView(monitor).check();
    if (!path.go_to(k)) {
      result.has_failed = true;
      break;
    }
    const Vector& x = path.x();
    result.cases.push_back(seen(x, path.sheet().gradient(x)));
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const Vector change = (others[s][1].gradient(x) - others[s][0].gradient(x)) / sides[s].width;
      const Vector dx = path.sheet().solve(-change);
      result.derivatives[s].push_back(seen(dx, path.sheet().times_stiffness(dx) + change));
    }
  }
  result.factorisations = path.factorisations;
  result.unstable = path.unstable;
  return result;
}

std::array<double, 2> RestCases::strain_range(const Fabric& fabric, Index law, double until) const {
  Path path(*this, fabric);
  std::vector<double> all;
  for (std::size_t k = 0; k < times_.size() && times_[k] <= until + case_time && path.go_to(k); ++k)
    for (const double strain : path.sheet().strains(path.x(), law)) all.push_back(std::fabs(strain));
  if (all.empty()) return {0, 0};
  std::ranges::sort(all);
  const auto quantile = [&](double q) {
    return all[static_cast<std::size_t>(q * static_cast<double>(all.size() - 1))];
  };
  return {quantile(0.01), quantile(0.99)};
}

}  // namespace isocloth
