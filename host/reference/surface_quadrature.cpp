#include "host/reference/surface_quadrature.hpp"

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth::reference {

namespace {

std::vector<ReferencePoint> triangle_points() {
  std::vector<ReferencePoint> points;
  for (int heavy = 0; heavy < 3; ++heavy) {
    ReferencePoint point{1.0 / 6, VectorXd::Constant(3, 1.0 / 6), Eigen::MatrixX2d(3, 2)};
    point.values[heavy] = 2.0 / 3;
    point.derivatives << -1, -1, 1, 0, 0, 1;
    points.push_back(point);
  }
  return points;
}

ReferencePoint middle_of_triangle() {
  ReferencePoint point{1.0 / 2, VectorXd::Constant(3, 1.0 / 3), Eigen::MatrixX2d(3, 2)};
  point.derivatives << -1, -1, 1, 0, 0, 1;
  return point;
}

ReferencePoint quad_point(double xi, double eta, double weight) {
  const std::array<double, 4> corner_xi{-1, 1, 1, -1}, corner_eta{-1, -1, 1, 1};
  ReferencePoint point{weight, VectorXd(4), Eigen::MatrixX2d(4, 2)};
  for (std::size_t i = 0; i < 4; ++i) {
    const double along_xi = 1 + corner_xi[i] * xi, along_eta = 1 + corner_eta[i] * eta;
    const auto corner = static_cast<Eigen::Index>(i);
    point.values[corner] = along_xi * along_eta / 4;
    point.derivatives(corner, 0) = corner_xi[i] * along_eta / 4;
    point.derivatives(corner, 1) = corner_eta[i] * along_xi / 4;
  }
  return point;
}

std::vector<ReferencePoint> quad_points(Quadrature rule) {
  const double outer = std::sqrt(0.6), near = std::sqrt(1.0 / 3);
  if (rule == Quadrature::strain)
    return {quad_point(-near, -near, 1), quad_point(-near, near, 1), quad_point(near, -near, 1),
            quad_point(near, near, 1)};
  const std::array<double, 3> abscissas{-outer, 0, outer}, weights{5.0 / 9, 8.0 / 9, 5.0 / 9};
  std::vector<ReferencePoint> points;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      points.push_back(quad_point(abscissas[a], abscissas[b], weights[a] * weights[b]));
  return points;
}

}  // namespace

MatrixX3d corner_positions(const Mesh& mesh, Index face, const MatrixX3d& positions) {
  const auto nodes = mesh.face(face);
  MatrixX3d corners(static_cast<Eigen::Index>(nodes.size()), 3);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    corners.row(static_cast<Eigen::Index>(i)) = positions.row(nodes[i]);
  return corners;
}

MatrixX3d to_matrix(const std::vector<Vec3d>& vectors) {
  MatrixX3d matrix(static_cast<Eigen::Index>(vectors.size()), 3);
  for (std::size_t i = 0; i < vectors.size(); ++i)
    matrix.row(static_cast<Eigen::Index>(i)) << vectors[i].x, vectors[i].y, vectors[i].z;
  return matrix;
}

std::vector<ReferencePoint> reference_points(Index face_size, Quadrature rule) {
  if (face_size == 3) {
    if (rule == Quadrature::full) return triangle_points();
    return {middle_of_triangle()};
  }
  if (face_size == 4) return quad_points(rule);
  throw MeshError("face with " + std::to_string(face_size) + " corners: expected 3 or 4; split it");
}

ReferencePoint centre_point(Index face_size) {
  return face_size == 3 ? middle_of_triangle() : quad_point(0, 0, 4);
}

ReferencePoint edge_point(Index face_size, Index corner, double t) {
  const Index next = (corner + 1) % face_size;
  if (face_size == 3) {
    ReferencePoint point = middle_of_triangle();
    point.values.setZero();
    point.values[corner] = 1 - t;
    point.values[next] = t;
    return point;
  }
  const std::array<double, 4> xi{-1, 1, 1, -1}, eta{-1, -1, 1, 1};
  const auto between = [&](const auto& at) { return (1 - t) * at[corner] + t * at[next]; };
  return quad_point(between(xi), between(eta), 0);
}

SurfacePoint surface_point(const ReferencePoint& at, const MatrixX3d& corners) {
  const Eigen::Matrix<double, 3, 2> tangents = corners.transpose() * at.derivatives;
  const Eigen::Vector3d normal = tangents.col(0).cross(tangents.col(1));
  const Eigen::Matrix2d metric = tangents.transpose() * tangents;
  return {at.weight * normal.norm(), normal.normalized(), at.values,
          MatrixX3d(at.derivatives * metric.inverse() * tangents.transpose())};
}

std::vector<std::vector<SurfacePoint>> surface_points(const Mesh& mesh, Quadrature rule) {
  const MatrixX3d positions = to_matrix(mesh.positions);
  std::vector<std::vector<SurfacePoint>> points(static_cast<std::size_t>(mesh.face_count()));
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const MatrixX3d corners = corner_positions(mesh, f, positions);
    for (const ReferencePoint& at : reference_points(mesh.face_size(f), rule))
      points[static_cast<std::size_t>(f)].push_back(surface_point(at, corners));
  }
  return points;
}

VectorXd lumped_areas(const Mesh& mesh, const std::vector<std::vector<SurfacePoint>>& points) {
  return lumped_areas(mesh, points, nullptr);
}

VectorXd lumped_areas(const Mesh& mesh, const std::vector<std::vector<SurfacePoint>>& points,
                      double FabricFactors::*factor) {
  VectorXd areas = VectorXd::Zero(mesh.node_count());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const bool is_even = mesh.face_factors.empty() || factor == nullptr;
    const double own = is_even ? 1 : mesh.face_factors[static_cast<std::size_t>(f)].*factor;
    for (const SurfacePoint& point : points[static_cast<std::size_t>(f)])
      for (std::size_t i = 0; i < nodes.size(); ++i)
        areas[nodes[i]] += own * (point.values[static_cast<Eigen::Index>(i)] * point.area);
  }
  return areas;
}

VectorXd face_areas(const Mesh& mesh, const MatrixX3d& positions) {
  VectorXd areas = VectorXd::Zero(mesh.face_count());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const MatrixX3d corners = corner_positions(mesh, f, positions);
    for (const ReferencePoint& at : reference_points(mesh.face_size(f))) {
      const Eigen::Matrix<double, 3, 2> tangents = corners.transpose() * at.derivatives;
      areas[f] += at.weight * tangents.col(0).cross(tangents.col(1)).norm();
    }
  }
  return areas;
}

}  // namespace isocloth::reference
