// A run made by hand: two sheets that swing like a plate and ripple, with known positions at every time.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "host/report/report.hpp"

namespace isocloth::test {

/// Rest shape: the vertical rectangle [0, width] x {offset} x [-height, 0], `cells` x `cells` quads, or two
/// triangles in place of each quad.
inline ReportGarment make_sheet(const std::string& name, Index node_begin, Index cells, bool triangles) {
  ReportGarment garment;
  garment.name = name;
  garment.node_begin = node_begin;
  garment.node_count = (cells + 1) * (cells + 1);
  garment.face_begin = {0};
  const auto add = [&](std::vector<Index> face) {
    garment.face_nodes.insert(garment.face_nodes.end(), face.begin(), face.end());
    garment.face_begin.push_back(static_cast<Index>(garment.face_nodes.size()));
  };
  for (Index row = 0; row < cells; ++row)
    for (Index column = 0; column < cells; ++column) {
      const Index a = row * (cells + 1) + column, b = a + 1, d = a + cells + 1, c = d + 1;
      if (triangles) {
        add({a, b, c});
        add({a, c, d});
      } else {
        add({a, b, c, d});
      }
    }
  garment.pinned_nodes = {0, cells};
  return garment;
}

struct Point {
  double x, y, z;
};

/// Position at time t of the point (u, v) of the unit square, 0.297 m wide and 0.42 m high. The sheet hangs
/// from v = 0 in vertical folds, a cylinder over a curve that is followed by its arc length, and swings about
/// the x axis; to this isometry is added a stretch of about one per cent, so that there are errors to show.
inline Point swing(double u, double v, double t, double offset) {
  const double width = 0.297, height = 0.42, folds = 0.75 + 0.25 * std::sin(1.3 * t);
  double x = 0, y = 0;
  const int pieces = 64;
  for (int i = 0; i < pieces; ++i) {
    const double at = u * (i + 0.5) / pieces, angle = folds * std::sin(4 * M_PI * at);
    x += width * u / pieces * std::cos(angle);
    y += width * u / pieces * std::sin(angle);
  }
  const double stretch = 0.002 * std::sin(7 * u - 3 * t) * std::sin(5 * v + t);
  const double swing_angle = 0.45 * std::sin(2.2 * t), down = height * v + stretch;
  return {x, offset + y * std::cos(swing_angle) + down * std::sin(swing_angle),
          y * std::sin(swing_angle) - down * std::cos(swing_angle)};
}

/// A run of `frames` frames, 30 a second, of `sheets` sheets of cells x cells.
inline ReportData make_run(Index cells, std::size_t frames, std::size_t sheets) {
  ReportData data;
  const Index nodes = (cells + 1) * (cells + 1);
  for (std::size_t s = 0; s < sheets; ++s)
    data.garments.push_back(
        make_sheet("sheet " + std::to_string(s), static_cast<Index>(s) * nodes, cells, s % 2 == 1));
  const auto positions = [cells, sheets](double t, bool rest) {
    std::vector<double> result;
    for (std::size_t s = 0; s < sheets; ++s)
      for (Index row = 0; row <= cells; ++row)
        for (Index column = 0; column <= cells; ++column) {
          const double u = double(column) / cells, v = double(row) / cells, offset = 0.35 * double(s);
          const Point p = rest ? Point{0.297 * u, offset, -0.42 * v} : swing(u, v, t, offset);
          result.insert(result.end(), {p.x, p.y, p.z});
        }
    return result;
  };
  data.rest_positions = positions(0, true);
  data.frame_positions = [positions](std::size_t frame) {
    std::vector<double> p = positions(double(frame) / 30, false);
    for (double& x : p) x = static_cast<float>(x);  // as a trajectory keeps them
    return p;
  };
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const double t = double(frame) / 30;
    data.frame_times.push_back(t);
    for (std::size_t s = 0; s < sheets; ++s) {
      FrameMetrics m;
      m.steps.iterations = frame == 0 ? 0 : 3 + int(frame * 7 % 3) + int(s);
      m.steps.substeps = 3;
      m.steps.residual = frame == 0 ? 0 : 8e-4 * std::exp(-0.2 * t) * (1.1 + std::sin(5 * t));
      m.steps.status = m.steps.residual > 1e-3 ? StepStatus::stalled : StepStatus::converged;
      const double strain = 0.012 * (1.2 + std::sin(4.4 * t)) + 0.001 * double(s);
      const double area = 0.008 * (1.3 + std::sin(4.4 * t));
      m.steps.strain = {strain, strain / 2, strain / 5, 1.4 * strain, 0.7 * strain, 1.2 * strain};
      m.row_strain = m.steps.residual / 2;
      m.measures.area_error_total = 4e-4 * (1 + std::sin(3 * t));
      m.measures.area_error_mean = area;
      m.measures.area_error_dispersion = 3.1 * area;
      m.measures.area_error_element_max = 5 * area;
      m.measures.kinetic_energy = 0.05 * std::pow(std::sin(2.2 * t), 2) * std::exp(-0.1 * t);
      m.measures.potential_energy = -0.12 + 0.05 * std::pow(std::cos(2.2 * t), 2) * std::exp(-0.1 * t);
      data.metrics.push_back(m);
    }
  }
  RunSummary& s = data.summary;
  s.status = "completed";
  s.scene = "swinging sheet";
  s.recipe = "coltraro2022";
  s.method = "proximal_newton";
  s.metric = "implicit_b";
  s.backend = "cpu";
  s.precision = "float64";
  s.machine = "test machine";
  s.version = "0.1.0";
  s.garment_count = static_cast<std::int64_t>(sheets);
  s.node_count = static_cast<std::int64_t>(sheets) * nodes;
  s.element_count = static_cast<std::int64_t>(sheets) * cells * cells;
  s.row_count = 3 * s.node_count - 100;
  s.step_count = static_cast<std::int64_t>(3 * frames);
  s.frame_count = static_cast<std::int64_t>(frames);
  s.step = 1.0 / 90;
  s.tolerance = 1e-3;
  s.simulated_seconds = double(frames) / 30;
  s.wall_seconds = s.simulated_seconds / 12.4;
  s.setup_seconds = 0.0123;
  s.realtime_factor = 12.4;
  s.iterations_per_step_mean = 1.12;
  s.overall.iterations_max = 4;
  s.overall.steps.residual = 9.8e-4;
  s.overall.steps.strain = {0.0264, 0.0132, 0.0053, 0.037, 0.0185, 0.0317};
  s.overall.row_strain = 4.9e-4;
  s.overall.measures.area_error_total = 8e-4;
  s.overall.measures.area_error_mean = 0.0184;
  s.overall.measures.area_error_element_max = 0.092;
  s.memory_bytes = 7u << 20;
  return data;
}

/// Gives the sheets the law of a membrane.
inline void add_laws(ReportData& data) {
  for (ReportGarment& garment : data.garments) garment.law.emplace(find_recipe("membrane"), Fabric{});
}

/// A plane at rest and a tetrahedron that rises, higher by 1 m for the second of two clocks, which the sheets
/// take in turn.
inline void add_obstacles(ReportData& data) {
  data.obstacles = {
      {"ground", "plane", {-5, -5, 0, 5, -5, 0, 5, 5, 0}, {0, 1, 2}},
      {"</script>", "mesh", {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}}};
  data.clock_count = 2;
  for (std::size_t g = 0; g < data.garments.size(); ++g) data.garments[g].clock = static_cast<Index>(g % 2);
  data.obstacle_poses = [](std::size_t frame) {
    std::vector<float> poses;
    for (int clock = 0; clock < 2; ++clock) {
      poses.insert(poses.end(), {0, 0, -1, 0, 0, 0, 1});
      poses.insert(poses.end(),
                   {0, 0, static_cast<float>(clock) + 0.01f * static_cast<float>(frame), 0, 0.6f, 0, 0.8f});
    }
    return poses;
  };
}

}  // namespace isocloth::test
