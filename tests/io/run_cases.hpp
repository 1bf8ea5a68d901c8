// A small scene of two garments and frames of made-up numbers, all different.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/mesh/generators.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/run_record.hpp"

namespace isocloth {

inline Scene two_garments() {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.name = "two";
  scene.step = 0.01;
  scene.garments.resize(2);
  scene.garments[0].name = "sheet, \"left\"";
  scene.garments[0].mesh = quad_grid(3, 4, 1, 2);
  scene.garments[0].pins.push_back({"corner", {0}, OscillationMotion{{1, 0, 0}, 2}});
  scene.garments[1].name = "triangles";
  scene.garments[1].mesh = triangle_grid(3, 3, 1, 1, Diagonals::parallel);
  return scene;
}

/// The same beside a ball at rest and a box that swings; the second garment's clock is ahead.
inline Scene two_garments_and_obstacles() {
  Scene scene = two_garments();
  scene.garments[1].time_offset = 0.25;
  scene.obstacles.push_back({.name = "ball",
                             .shape = SphereShape{.radius = 0.3},
                             .position = {1, 2, 3},
                             .rotation = {},
                             .motion = FixedMotion{},
                             .friction = {}});
  scene.obstacles.push_back({.name = "box",
                             .shape = BoxShape{.size = {1, 2, 3}, .rounding = 0},
                             .position = {0, 0, 1},
                             .rotation = {0.1, -0.2, 3},
                             .motion = OscillationMotion{.amplitude = {0, 1, 0}, .frequency = 2},
                             .friction = {}});
  return scene;
}

/// Positions of both garments at a step.
inline std::vector<std::vector<Vec3d>> positions_at(const Scene& scene, std::int64_t step) {
  std::vector<std::vector<Vec3d>> all;
  for (const Garment& garment : scene.garments) {
    all.push_back(garment.mesh.positions);
    for (Vec3d& p : all.back()) p += Vec3d{0.01 * static_cast<double>(step), 1. / 3, -1e-7};
  }
  return all;
}

inline std::vector<FrameMetrics> metrics_at(const Scene& scene, std::int64_t step,
                                            bool has_energies = false) {
  std::vector<FrameMetrics> all(scene.garments.size());
  double number = 100 * static_cast<double>(step);
  for (FrameMetrics& metrics : all) {
    metrics.steps.status = step % 3 == 0 ? StepStatus::stalled : StepStatus::converged;
    for (const MetricColumn& column : metric_columns(has_energies)) {
      number += 1;
      column.set(metrics, column.is_integer ? number : number / 3);
    }
  }
  return all;
}

inline bool same(const FrameMetrics& a, const FrameMetrics& b) {
  bool equal = a.steps.status == b.steps.status;
  for (const MetricColumn& column : metric_columns()) equal = equal && column.get(a) == column.get(b);
  return equal;
}

inline bool same(const std::vector<FrameMetrics>& a, const std::vector<FrameMetrics>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace isocloth
