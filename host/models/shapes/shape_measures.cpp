#include "host/models/shapes/shape_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/mesh/topology.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {
namespace {

struct Spread {
  double mean = 0, p95 = 0, max = 0;
};

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  Spread spread{.max = values.back()};
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  spread.p95 = values[(values.size() * 95 + 99) / 100 - 1];
  return spread;
}

}  // namespace

ShapeMeasures measure_shape(const Mesh& mesh, const std::vector<Vec3d>& positions,
                            const std::vector<Index>& hanging) {
  std::vector<double> edge_errors, area_errors;
  for (const auto& [a, b] : build_topology(mesh).edges)
    edge_errors.push_back(
        std::fabs(norm(positions[b] - positions[a]) / norm(mesh.positions[b] - mesh.positions[a]) - 1));
  ShapeMeasures found;
  double area = 0, rest_area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    Vec3d corners[4], rest_corners[4], center;
    int count = 0;
    for (const Index node : mesh.face(f)) {
      corners[count] = positions[node];
      rest_corners[count++] = mesh.positions[node];
      center += (1.0 / mesh.face_size(f)) * positions[node];
    }
    const double now = element_area(corners, count), rest = element_area(rest_corners, count);
    area_errors.push_back(std::fabs(now / rest - 1));
    area += now;
    rest_area += rest;
    found.center_height += rest * center.z;
  }
  found.center_height /= rest_area;
  const auto [edge_mean, edge_p95, edge_max] = spread_of(std::move(edge_errors));
  const auto [area_mean, area_p95, area_max] = spread_of(std::move(area_errors));
  found.edge_error_mean = edge_mean, found.edge_error_p95 = edge_p95, found.edge_error_max = edge_max;
  found.area_error_mean = area_mean, found.area_error_p95 = area_p95, found.area_error_max = area_max;
  found.area_error_total = std::fabs(area / rest_area - 1);
  double lowest_point = std::numeric_limits<double>::infinity();
  for (const Index node : hanging) lowest_point = std::min(lowest_point, positions[node].z);
  found.sag = std::max(0.0, lowest_point - std::ranges::min(positions, {}, &Vec3d::z).z);
  return found;
}

}  // namespace isocloth
