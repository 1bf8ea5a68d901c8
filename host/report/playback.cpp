#include "host/report/playback.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/core/errors.hpp"
#include "host/report/element_stresses.hpp"
#include "host/report/shape_errors.hpp"

namespace isocloth {
namespace {

/// Fewer frames than this are not a motion: garments are left out before frames fall below it.
constexpr std::size_t frames_worth_playing = 48;

std::size_t face_count(const ReportGarment& garment) { return garment.face_begin.size() - 1; }

bool has_stresses(const ReportData& data, std::size_t garment_count) {
  const auto first = data.garments.begin();
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(garment_count),
                     [](const ReportGarment& garment) { return garment.law.has_value(); });
}

/// Base64 length of everything that one frame of the first garments stores, with all obstacles moving.
double frame_bytes(const ReportData& data, std::size_t garment_count) {
  double bytes = 28.0 * static_cast<double>(data.clock_count * data.obstacles.size());
  for (std::size_t g = 0; g < garment_count; ++g)
    bytes +=
        (data.contact_loads ? 8.0 : 7.0) * data.garments[g].node_count +
        (has_stresses(data, garment_count) ? 5.0 : 2.0) * static_cast<double>(face_count(data.garments[g]));
  return bytes * 4 / 3;
}

/// Base64 length of the faces, their material coordinates and the obstacles, stored once.
double topology_bytes(const ReportData& data, std::size_t garment_count) {
  double bytes = 0;
  for (const ReportObstacle& obstacle : data.obstacles)
    bytes += 4.0 * static_cast<double>(obstacle.vertices.size() + obstacle.triangles.size());
  // Cloth is what the page is about: it keeps half of the room, whatever the obstacles take.
  bytes = std::min(bytes, 3.0 / 8 * static_cast<double>(data.playback_limit_bytes));
  for (std::size_t g = 0; g < garment_count; ++g)
    bytes += 8.0 * static_cast<double>(data.garments[g].face_nodes.size()) +
             static_cast<double>(face_count(data.garments[g]));
  return bytes * 4 / 3;
}

double largest_magnitude(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest > 0 ? largest : 1e-6;
}

std::vector<std::int8_t> quantise_signed(const std::vector<float>& values, double scale) {
  std::vector<std::int8_t> result;
  result.reserve(values.size());
  for (const double value : values)
    result.push_back(static_cast<std::int8_t>(
        std::lround(std::copysign(127 * std::sqrt(std::min(1.0, std::abs(value) / scale)), value))));
  return result;
}

}  // namespace

PlaybackSelection select_playback(const ReportData& data) {
  const std::size_t frame_count = data.frame_times.size();
  const double limit = static_cast<double>(data.playback_limit_bytes);
  const double wanted = static_cast<double>(std::min(frame_count, frames_worth_playing));
  PlaybackSelection selection;
  for (const ReportGarment& garment : data.garments)
    selection.garment_count += garment.node_count > 0 ? 1 : 0;
  const auto fits = [&](std::size_t garments) {
    return topology_bytes(data, garments) + wanted * frame_bytes(data, garments) <= limit;
  };
  while (selection.garment_count > 1 && !fits(selection.garment_count)) --selection.garment_count;

  const double room = limit - topology_bytes(data, selection.garment_count);
  const double affordable = std::max(1.0, room / frame_bytes(data, selection.garment_count));
  const std::size_t kept =
      affordable >= static_cast<double>(frame_count) ? frame_count : static_cast<std::size_t>(affordable);
  for (std::size_t i = 0; i < kept; ++i)
    selection.frames.push_back(
        static_cast<std::uint32_t>(kept == 1 ? 0 : (i * (frame_count - 1) + (kept - 1) / 2) / (kept - 1)));
  return selection;
}

Playback read_playback(const ReportData& data, const PlaybackSelection& selection) {
  const ReportGarment& last = data.garments[selection.garment_count - 1];
  const std::size_t value_count = 3 * static_cast<std::size_t>(last.node_begin + last.node_count);
  const ShapeErrors errors(data, selection.garment_count);
  const ElementStresses stresses(data, selection.garment_count);
  std::vector<double> positions;
  std::vector<float> area_errors, edge_strains, element_strains, pressures, components[3];
  const std::vector<double> node_areas = errors.node_areas(value_count / 3);
  for (const std::uint32_t frame : selection.frames) {
    const std::vector<double> all = data.frame_positions(frame);
    if (all.size() != data.rest_positions.size())
      throw ShapeError("report: frame " + std::to_string(frame) + " has " + std::to_string(all.size()) +
                       " coordinates, the rest shape has " + std::to_string(data.rest_positions.size()) +
                       "; give three per node of every garment");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!std::isfinite(all[i]))
        throw NumericalError("report: position of node " + std::to_string(i / 3) + " in frame " +
                             std::to_string(frame) +
                             " is not finite; write the report from the frames before the run failed");
    const std::vector<double> kept(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(value_count));
    positions.insert(positions.end(), kept.begin(), kept.end());
    errors.append_area_errors(kept.data(), area_errors);
    errors.append_edge_strains(kept.data(), value_count / 3, edge_strains);
    errors.append_element_strains(kept.data(), element_strains);
    if (data.contact_loads) {
      const std::vector<float> loads = data.contact_loads(frame);
      if (3 * loads.size() != all.size())
        throw ShapeError("report: frame " + std::to_string(frame) + " has " + std::to_string(loads.size()) +
                         " loads of contacts, expected " + std::to_string(all.size() / 3) +
                         "; give one per node of every garment");
      for (std::size_t i = 0; i < value_count / 3; ++i)
        pressures.push_back(node_areas[i] > 0 ? static_cast<float>(loads[i] / node_areas[i]) : 0.0F);
    }
    if (!stresses.exist()) continue;
    for (const MembraneStress& stress : stresses.of(kept.data())) {
      components[0].push_back(static_cast<float>(stress.warp));
      components[1].push_back(static_cast<float>(stress.weft));
      components[2].push_back(static_cast<float>(stress.shear));
    }
  }

  Playback playback;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = positions[axis], high = positions[axis];
    for (std::size_t i = axis; i < positions.size(); i += 3) {
      low = std::min<double>(low, positions[i]);
      high = std::max<double>(high, positions[i]);
    }
    playback.box_min[axis] = low;
    playback.box_size[axis] = high - low;
  }
  playback.positions.reserve(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double size = playback.box_size[i % 3];
    const double unit = size > 0 ? (positions[i] - playback.box_min[i % 3]) / size : 0;
    playback.positions.push_back(static_cast<std::uint16_t>(std::lround(65535 * unit)));
  }
  playback.area_scale = largest_magnitude(area_errors);
  playback.strain_scale = largest_magnitude(edge_strains);
  playback.element_scale = largest_magnitude(element_strains);
  playback.area_errors = quantise_signed(area_errors, playback.area_scale);
  playback.edge_strains = quantise_signed(edge_strains, playback.strain_scale);
  playback.element_strains = quantise_signed(element_strains, playback.element_scale);
  playback.contact_scale = largest_magnitude(pressures);
  playback.contact_pressures = quantise_signed(pressures, playback.contact_scale);
  for (std::size_t k = 0; k < 3; ++k) {
    playback.stress_scales[k] = largest_magnitude(components[k]);
    playback.stresses[k] = quantise_signed(components[k], playback.stress_scales[k]);
  }
  return playback;
}

std::vector<ObstacleWay> read_obstacle_ways(const ReportData& data, const PlaybackSelection& selection) {
  const std::size_t count = data.obstacles.size(), clocks = data.clock_count;
  std::vector<ObstacleWay> ways(count);
  if (count == 0) return ways;
  for (const std::uint32_t frame : selection.frames) {
    const std::vector<float> all = data.obstacle_poses(frame);
    if (all.size() != 7 * clocks * count)
      throw ShapeError("report: frame " + std::to_string(frame) + " has " + std::to_string(all.size()) +
                       " numbers of obstacle poses, expected " + std::to_string(7 * clocks * count) +
                       "; give seven per clock and obstacle");
    for (std::size_t i = 0; i < all.size(); ++i) {
      ObstacleWay& way = ways[i / 7 % count];
      if (!std::isfinite(all[i]))
        throw NumericalError("report: pose of obstacle " + std::to_string(i / 7 % count) + " in frame " +
                             std::to_string(frame) + " is not finite; give the poses of the run");
      way.poses.push_back(all[i]);
    }
  }
  for (ObstacleWay& way : ways) {
    for (std::size_t i = 7; i < way.poses.size(); ++i)
      way.is_moving = way.is_moving || way.poses[i] != way.poses[i - 7];
    if (!way.is_moving) way.poses.resize(7);
  }
  return ways;
}

}  // namespace isocloth
