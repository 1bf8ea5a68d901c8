#include "host/report/playback.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/core/vec3.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {
namespace {

/// Fewer frames than this are not a motion: garments are left out before frames fall below it.
constexpr std::size_t frames_worth_playing = 48;

std::size_t face_count(const ReportGarment& garment) { return garment.face_begin.size() - 1; }

/// Base64 length of everything that one frame of the first garments stores, with all obstacles moving.
double frame_bytes(const ReportData& data, std::size_t garment_count) {
  double bytes = 28.0 * static_cast<double>(data.clock_count * data.obstacles.size());
  for (std::size_t g = 0; g < garment_count; ++g)
    bytes += 7.0 * data.garments[g].node_count + static_cast<double>(face_count(data.garments[g]));
  return bytes * 4 / 3;
}

/// Base64 length of the faces and obstacles, stored once.
double topology_bytes(const ReportData& data, std::size_t garment_count) {
  double bytes = 0;
  for (const ReportObstacle& obstacle : data.obstacles)
    bytes += 4.0 * static_cast<double>(obstacle.vertices.size() + obstacle.triangles.size());
  // Cloth is what the page is about: it keeps half of the room, whatever the obstacles take.
  bytes = std::min(bytes, 3.0 / 8 * static_cast<double>(data.playback_limit_bytes));
  for (std::size_t g = 0; g < garment_count; ++g)
    bytes += 4.0 * static_cast<double>(data.garments[g].face_nodes.size() + face_count(data.garments[g]) / 4);
  return bytes * 4 / 3;
}

Vec3d point(const double* positions, std::size_t node) {
  return {positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]};
}

/// Faces and edges of the kept garments with frame-wide node numbers, and their rest sizes.
class RestShape {
 public:
  RestShape(const ReportData& data, std::size_t garment_count) {
    for (std::size_t g = 0; g < garment_count; ++g) {
      const ReportGarment& garment = data.garments[g];
      for (std::size_t f = 0; f < face_count(garment); ++f) {
        const std::size_t begin = garment.face_begin[f], size = garment.face_begin[f + 1] - begin;
        for (std::size_t c = 0; c < size; ++c)
          x_corners.push_back(garment.node_begin + garment.face_nodes[begin + c]);
        x_sizes.push_back(static_cast<int>(size));
      }
    }
    x_rest_areas = areas(data.rest_positions.data());
    std::size_t corner = 0;
    for (const int size : x_sizes) {
      for (int c = 0; c < size; ++c) {
        const Index a = x_corners[corner + c], b = x_corners[corner + (c + 1) % size];
        x_edges.push_back({std::min(a, b), std::max(a, b)});
      }
      corner += size;
    }
    std::sort(x_edges.begin(), x_edges.end());
    x_edges.erase(std::unique(x_edges.begin(), x_edges.end()), x_edges.end());
    for (const auto& [a, b] : x_edges)
      x_rest_lengths.push_back(
          norm(point(data.rest_positions.data(), b) - point(data.rest_positions.data(), a)));
  }

  /// Coltraro 2022, (22), of every face.
  void append_area_errors(const double* positions, std::vector<float>& errors) const {
    const std::vector<double> now = areas(positions);
    for (std::size_t f = 0; f < now.size(); ++f)
      errors.push_back(x_rest_areas[f] > 0 ? static_cast<float>(now[f] / x_rest_areas[f] - 1) : 0.f);
  }

  /// l / l0 - 1 of the incident edge with the largest |l / l0 - 1|, of every node.
  void append_edge_strains(const double* positions, std::size_t node_count,
                           std::vector<float>& strains) const {
    const std::size_t first = strains.size();
    strains.resize(first + node_count, 0.f);
    for (std::size_t e = 0; e < x_edges.size(); ++e) {
      if (!(x_rest_lengths[e] > 0)) continue;
      const auto [a, b] = x_edges[e];
      const float strain =
          static_cast<float>(norm(point(positions, b) - point(positions, a)) / x_rest_lengths[e] - 1);
      for (const Index node : {a, b}) {
        float& worst = strains[first + node];
        if (std::abs(strain) > std::abs(worst)) worst = strain;
      }
    }
  }

 private:
  std::vector<double> areas(const double* positions) const {
    std::vector<double> result;
    std::size_t corner = 0;
    for (const int size : x_sizes) {
      Vec3d corners[4];
      for (int c = 0; c < size; ++c) corners[c] = point(positions, x_corners[corner + c]);
      result.push_back(element_area(corners, size));
      corner += size;
    }
    return result;
  }

  std::vector<Index> x_corners;
  std::vector<int> x_sizes;
  std::vector<std::array<Index, 2>> x_edges;
  std::vector<double> x_rest_areas, x_rest_lengths;
};

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
  const RestShape rest(data, selection.garment_count);
  std::vector<float> positions, area_errors, edge_strains;
  for (const std::uint32_t frame : selection.frames) {
    const std::vector<float> all = data.frame_positions(frame);
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
    rest.append_area_errors(kept.data(), area_errors);
    rest.append_edge_strains(kept.data(), value_count / 3, edge_strains);
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
  playback.area_errors = quantise_signed(area_errors, playback.area_scale);
  playback.edge_strains = quantise_signed(edge_strains, playback.strain_scale);
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
