#include "host/fit/instruments.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/files/key_reader.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr double degree = std::numbers::pi / 180;
/// Directions of the silhouette that are compared, each the mean of so many rays.
constexpr std::size_t compared = 72, rays_of_each = 10;
static_assert(compared * rays_of_each == DrapeMeter{}.directions);

std::vector<double> means(const std::vector<double>& radii) {
  std::vector<double> result(compared);
  for (std::size_t k = 0; k < radii.size(); ++k) result[k / rays_of_each] += radii[k] / rays_of_each;
  return result;
}

}  // namespace

Instruments::Instruments(const ExperimentSpec& experiment, const FitSpec& fit, const Mesh& rest,
                         bool is_simulated)
    : data_(*experiment.figures),
      where_(text(experiment.scene, ": experiment \"", experiment.name, "\": figures")) {
  for (std::size_t i = 0; i < data_.chords.size(); ++i)
    for (const double node : data_.chords[i].nodes)
      if (node >= static_cast<double>(rest.positions.size()))
        throw SceneError(text(where_, ".chords[", i, "].nodes: found ", node,
                              ", expected a node of the mesh, from 0 to ", rest.positions.size() - 1));
  if (data_.drape) {
    meter_.center = data_.drape->center;
    meter_.disc = data_.drape->disc;
    flat_area_ = drape_shadow(rest, rest.positions, meter_).area;
    for (const Vec3d& p : rest.positions)
      rim_ = std::max(rim_, std::hypot(p.x - meter_.center.x, p.y - meter_.center.y));
    if (!(flat_area_ > 0))
      throw SceneError(text(where_, ".drape.disc: found ", meter_.disc,
                            ", expected a radius beyond which the rest shape reaches, seen from above: its "
                            "farthest node is at ",
                            rim_, " m from the center"));
  }
  if (!is_simulated) read_file(fit);
}

void Instruments::read_file(const FitSpec& fit) {
  const std::filesystem::path path = fit.folder / data_.file;
  const Json root = read_json(path);
  std::optional<double> coefficient, folds;
  std::vector<Vec2d> outline;
  std::vector<double> chords(data_.chords.size());
  read_root_keys(root, path.string(), [&](Keys& keys) {
    if (data_.drape) {
      keys.number("coefficient", coefficient, {.least = 0, .most = 1}, "of drape, a part of 1");
      keys.number("folds", folds, whole(0, 100), "of the shadow");
      keys.points("silhouette", outline, "edge of the shadow [m]", Need::optional);
    }
    for (std::size_t i = 0; i < chords.size(); ++i)
      keys.number(
          data_.chords[i].name, chords[i],
          data_.chords[i].measure == ChordData::Measure::length ? positive : Range{.least = -90, .most = 90},
          "of the chord", required);
  });
  if (data_.drape && !coefficient && outline.empty())
    throw FileError(text(path.string(), ": coefficient: found none and no silhouette, expected one of both"));
  has_coefficient_ = coefficient.has_value();
  if (coefficient)
    figures_.push_back({"drape coefficient", "", *coefficient, data_.drape->coefficient_noise});
  for (std::size_t i = 0; i < chords.size(); ++i) {
    const bool is_angle = data_.chords[i].measure == ChordData::Measure::angle;
    figures_.push_back({data_.chords[i].name, is_angle ? "degrees" : "m", chords[i], data_.chords[i].noise});
  }
  folds_ = static_cast<int>(folds.value_or(0));
  if (outline.empty()) return;
  check_silhouette(outline, path.string());
  silhouette_ = drape_shadow(outline, meter_).radii;
  for (const double radius : means(silhouette_))
    figures_.push_back({"silhouette", "m", radius, data_.drape->silhouette_noise});
}

void Instruments::check_silhouette(const std::vector<Vec2d>& outline, const std::string& where) const {
  double turn = 0, farthest = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2d p = outline[i] - meter_.center, q = outline[(i + 1) % outline.size()] - meter_.center;
    turn += std::remainder(std::atan2(q.y, q.x) - std::atan2(p.y, p.x), 2 * std::numbers::pi);
    farthest = std::max(farthest, std::hypot(p.x, p.y));
  }
  if (outline.size() < 8 || std::fabs(std::fabs(turn) - 2 * std::numbers::pi) > 0.1)
    throw FileError(
        text(where, ": silhouette: found ", outline.size(),
             " points that do not go once around the center of the disc, expected at least 8 that do"));
  if (farthest > 1.1 * rim_ || farthest < meter_.disc)
    throw FileError(text(where, ": silhouette: found a point at ", farthest,
                         " m from the center of the disc, expected them between ", meter_.disc,
                         ", the disc, and ", rim_, ", the rim of the cloth; are they in metres?"));
}

double Instruments::chord(const ChordData& chord, const std::vector<Vec3d>& positions) const {
  const Vec3d d = positions[static_cast<std::size_t>(chord.nodes[1])] -
                  positions[static_cast<std::size_t>(chord.nodes[0])];
  if (chord.measure == ChordData::Measure::length) return norm(d);
  return std::atan2(-d.z, std::hypot(d.x, d.y)) / degree;
}

Reading Instruments::read(const Mesh& mesh, const std::vector<Vec3d>& positions) const {
  Reading reading;
  DrapeShadow shadow;
  if (data_.drape) {
    shadow = drape_shadow(mesh, positions, meter_);
    reading.folds = count_folds(shadow.radii, data_.drape->fold_height);
    if (has_coefficient_) reading.values.push_back(shadow.area / flat_area_);
    reading.radii = shadow.radii;
    if (!silhouette_.empty() && data_.drape->is_turned)
      reading.radii = turned(shadow.radii, best_turn(shadow.radii, silhouette_));
  }
  for (const ChordData& data : data_.chords) reading.values.push_back(chord(data, positions));
  if (!silhouette_.empty()) {
    const std::vector<double> radii = means(reading.radii);
    reading.values.insert(reading.values.end(), radii.begin(), radii.end());
  }
  return reading;
}

void Instruments::add_waves(Garment& garment) const {
  if (folds_ == 0 || data_.drape->wave == 0) return;
  garment.initial_positions = start_positions(garment);
  for (Vec3d& p : garment.initial_positions) {
    const Vec2d d = Vec2d{p.x, p.y} - meter_.center;
    const double part = (std::hypot(d.x, d.y) - meter_.disc) / (rim_ - meter_.disc);
    if (part > 0) p.z += data_.drape->wave * part * std::cos(folds_ * std::atan2(d.y, d.x));
  }
}

std::string Instruments::file_text(const Mesh& mesh, const std::vector<Vec3d>& positions,
                                   Gaussian& noise) const {
  const auto rounded = [](double x) { return std::round(x * 1e6) / 1e6; };
  Json root = Json::object();
  if (data_.drape) {
    const DrapeShadow shadow = drape_shadow(mesh, positions, meter_);
    root["coefficient"] =
        rounded(std::clamp(shadow.area / flat_area_ + data_.drape->coefficient_noise * noise(), 0.0, 1.0));
    root["folds"] = count_folds(shadow.radii, data_.drape->fold_height);
    const double turn = data_.drape->is_turned ? 2 * std::numbers::pi * noise() : 0;
    Json outline = Json::array();
    for (std::size_t k = 0; k < shadow.radii.size(); k += rays_of_each) {
      const double angle =
          turn + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(shadow.radii.size());
      const double radius = shadow.radii[k] + data_.drape->silhouette_noise * noise();
      outline.push_back({rounded(meter_.center.x + radius * std::cos(angle)),
                         rounded(meter_.center.y + radius * std::sin(angle))});
    }
    root["silhouette"] = std::move(outline);
  }
  for (const ChordData& data : data_.chords)
    root[data.name] = rounded(chord(data, positions) + data.noise * noise());
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace isocloth
