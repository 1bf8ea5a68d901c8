// Strain as a user measures it, from the frames of a trajectory alone: edges and principal stretches of
// elements. Shares no formula with kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "host/results/trajectory_file.hpp"

namespace isocloth {

struct MeasuredStrain {
  double edge_max = 0, edge_p95 = 0, edge_mean = 0;  ///< |length / rest length - 1|, largest of all frames
  double stretch_max = 0;      ///< largest principal stretch - 1 of any element, may be < 0
  double compression_max = 0;  ///< 1 - least principal stretch of any element
  double edge_rounding = 0,
         element_rounding = 0;  ///< bounds on what single precision and warped quads change in these
  bool is_finite = true;
};

class StrainMeter {
 public:
  explicit StrainMeter(const TrajectoryLayout& layout, std::size_t garment) {
    const TrajectoryGarment& g = layout.garments[garment];
    std::set<std::pair<Index, Index>> edges;
    for (Index f = g.face_begin; f < g.face_begin + g.face_count; ++f) {
      const std::array<Index, 4>& face = layout.faces[static_cast<std::size_t>(f)];
      const std::size_t corners = face[3] < 0 ? 3 : 4;
      for (std::size_t k = 0; k < corners; ++k) edges.insert(std::minmax(face[k], face[(k + 1) % corners]));
      add_element(layout.rest_positions, face, corners);
    }
    for (const auto& [a, b] : edges) edges_.push_back({a, b, norm(difference(layout.rest_positions, a, b))});
    for (const Edge& edge : edges_) shortest_ = std::min(shortest_, edge.rest);
    // A quad that is not flat at rest is measured in one plane of several: it seems strained from the start.
    for (const GaussPoint& point : points_) add_stretches(point, layout.rest_positions);
    warped_ = 2 * std::max(measured_.stretch_max, measured_.compression_max);
    measured_ = {};
  }

  /// Adds a frame's positions, shape [node, 3].
  void add(const std::vector<double>& frame) {
    std::vector<Vec3d> x(frame.size() / 3);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = {frame[3 * i], frame[3 * i + 1], frame[3 * i + 2]};
    std::vector<double> strains;
    double sum = 0;
    for (const Edge& edge : edges_) {
      const double strain = std::abs(norm(difference(x, edge.a, edge.b)) / edge.rest - 1);
      measured_.is_finite = measured_.is_finite && std::isfinite(strain);
      strains.push_back(strain);
      sum += strain;
      raise(measured_.edge_max, strain);
      raise(measured_.edge_rounding, (rounding(x, edge.a) + rounding(x, edge.b)) / edge.rest);
    }
    raise(measured_.edge_mean, sum / static_cast<double>(strains.size()));
    std::sort(strains.begin(), strains.end());
    raise(measured_.edge_p95,
          strains[static_cast<std::size_t>(0.95 * static_cast<double>(strains.size() - 1))]);
    for (const GaussPoint& point : points_) add_stretches(point, x);
  }

  const MeasuredStrain& measured() const { return measured_; }

 private:
  struct Edge {
    Index a, b;
    double rest;
  };
  /// Derivatives of shape functions along two orthonormal directions of the element's rest plane.
  struct GaussPoint {
    std::array<Index, 4> nodes;
    std::size_t corners;
    std::array<std::array<double, 2>, 4> gradient;
  };

  static Vec3d difference(const std::vector<Vec3d>& x, Index a, Index b) {
    return x[static_cast<std::size_t>(b)] - x[static_cast<std::size_t>(a)];
  }
  static void raise(double& most, double value) { most = std::max(most, value); }
  /// Of a stored position: that of single precision, and never more than a small part of the shortest edge
  /// [m].
  double rounding(const std::vector<Vec3d>& x, Index node) const {
    return std::min(0x1p-24 * norm(x[static_cast<std::size_t>(node)]), 2e-5 * shortest_);
  }

  void add_element(const std::vector<Vec3d>& rest, const std::array<Index, 4>& nodes, std::size_t corners) {
    // An orthonormal frame from the first edge and the last.
    Vec3d u = difference(rest, nodes[0], nodes[1]), v = difference(rest, nodes[0], nodes[corners - 1]);
    u = 1 / norm(u) * u;
    v -= dot(u, v) * u;
    v = 1 / norm(v) * v;
    std::array<std::array<double, 2>, 4> flat{};
    for (std::size_t k = 0; k < corners; ++k) {
      const Vec3d d = difference(rest, nodes[0], nodes[k]);
      flat[k] = {dot(d, u), dot(d, v)};
    }
    if (corners == 3) {
      add_point(nodes, 3, flat, {{{-1, -1}, {1, 0}, {0, 1}, {0, 0}}});
      return;
    }
    const double g = 1 / std::sqrt(3.0);
    for (const double a : {-g, g})
      for (const double b : {-g, g})
        add_point(nodes, 4, flat,
                  {{{-(1 - b) / 4, -(1 - a) / 4},
                    {(1 - b) / 4, -(1 + a) / 4},
                    {(1 + b) / 4, (1 + a) / 4},
                    {-(1 + b) / 4, (1 - a) / 4}}});
  }

  void add_point(const std::array<Index, 4>& nodes, std::size_t corners,
                 const std::array<std::array<double, 2>, 4>& flat,
                 const std::array<std::array<double, 2>, 4>& d) {
    double j[2][2] = {};
    for (std::size_t k = 0; k < corners; ++k)
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 2; ++c)
          j[r][c] += d[k][static_cast<std::size_t>(r)] * flat[k][static_cast<std::size_t>(c)];
    const double determinant = j[0][0] * j[1][1] - j[0][1] * j[1][0];
    GaussPoint point{nodes, corners, {}};
    for (std::size_t k = 0; k < corners; ++k)
      point.gradient[k] = {(j[1][1] * d[k][0] - j[0][1] * d[k][1]) / determinant,
                           (j[0][0] * d[k][1] - j[1][0] * d[k][0]) / determinant};
    points_.push_back(point);
  }

  /// Singular values of the 3 x 2 deformation gradient.
  void add_stretches(const GaussPoint& point, const std::vector<Vec3d>& x) {
    Vec3d f[2] = {};
    double slack = 0;
    for (std::size_t k = 0; k < point.corners; ++k) {
      const Vec3d p = x[static_cast<std::size_t>(point.nodes[k])];
      for (std::size_t c = 0; c < 2; ++c) {
        const double g = point.gradient[k][c];
        f[c] += g * p;
        slack += std::abs(g) * rounding(x, point.nodes[k]);
      }
    }
    const double a = dot(f[0], f[0]), b = dot(f[0], f[1]), c = dot(f[1], f[1]);
    const double middle = (a + c) / 2, half = std::hypot((a - c) / 2, b);
    const double most = std::sqrt(middle + half),
                 least = std::sqrt(std::max(0.0, a * c - b * b)) / std::max(most, 1e-300);
    measured_.is_finite = measured_.is_finite && std::isfinite(most);
    raise(measured_.stretch_max, most - 1);
    raise(measured_.compression_max, 1 - least);
    raise(measured_.element_rounding, warped_ + slack);
  }

  std::vector<Edge> edges_;
  std::vector<GaussPoint> points_;
  double shortest_ = std::numeric_limits<double>::infinity(), warped_ = 0;
  MeasuredStrain measured_;
};

/// Of all garments whose positions a trajectory keeps, the worst of each; of long ones some of the frames.
inline MeasuredStrain measured_strain(const TrajectoryFile& trajectory) {
  MeasuredStrain worst;
  const std::size_t stride = 1 + trajectory.frame_count() / 1000;
  for (std::size_t g = 0; g < trajectory.layout().frames_of(); ++g) {
    StrainMeter meter(trajectory.layout(), g);
    for (std::size_t f = 0; f < trajectory.frame_count(); f += stride) meter.add(trajectory.positions(f));
    const MeasuredStrain& m = meter.measured();
    for (const auto member :
         {&MeasuredStrain::edge_max, &MeasuredStrain::edge_p95, &MeasuredStrain::edge_mean,
          &MeasuredStrain::stretch_max, &MeasuredStrain::compression_max, &MeasuredStrain::edge_rounding,
          &MeasuredStrain::element_rounding})
      worst.*member = std::max(worst.*member, m.*member);
    worst.is_finite = worst.is_finite && m.is_finite;
  }
  return worst;
}

}  // namespace isocloth
