#include "host/reference/measures.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth::reference {

namespace {

using Matrix32 = Eigen::Matrix<double, 3, 2>;

/// Tangents x_xi, x_eta of a face: of a bilinear quad at (xi, eta) in [-1, 1]^2, of a linear triangle
/// anywhere.
Matrix32 tangents(const Mesh& mesh, Index face, const MatrixX3d& positions, double xi, double eta) {
  Eigen::Matrix<double, Eigen::Dynamic, 2> derivatives(mesh.face_size(face), 2);
  if (mesh.face_size(face) == 3)
    derivatives << -1, -1, 1, 0, 0, 1;
  else
    derivatives << eta - 1, xi - 1, 1 - eta, -1 - xi, 1 + eta, 1 + xi, -1 - eta, 1 - xi;
  Matrix32 sum = Matrix32::Zero();
  for (Index i = 0; i < mesh.face_size(face); ++i)
    sum += (positions.row(mesh.face(face)[i]) - positions.row(mesh.face(face)[0])).transpose() *
           derivatives.row(i);
  return mesh.face_size(face) == 3 ? sum : Matrix32(sum / 4);
}

Eigen::RowVector2d principal_stretches(const Matrix32& rest, const Matrix32& now) {
  const Eigen::HouseholderQR<Matrix32> frame(rest);
  const Eigen::Matrix2d in_frame = frame.matrixQR().topRows<2>().triangularView<Eigen::Upper>();
  return Eigen::JacobiSVD<Eigen::MatrixXd>(now * in_frame.inverse()).singularValues().transpose();
}

/// measure(face, tangents at rest, tangents now) at the 2 x 2 Gauss points of quads, once for each triangle.
template <class Row, class Measure>
std::vector<Row> at_points(const Mesh& mesh, const MatrixX3d& positions, const Measure& measure) {
  const MatrixX3d rest = to_matrix(mesh.positions);
  const double g = 1 / std::sqrt(3.0);
  std::vector<Row> found;
  for (Index face = 0; face < mesh.face_count(); ++face) {
    for (const auto& [xi, eta] : {std::pair{-g, -g}, {-g, g}, {g, -g}, {g, g}}) {
      found.push_back(
          measure(face, tangents(mesh, face, rest, xi, eta), tangents(mesh, face, positions, xi, eta)));
      if (mesh.face_size(face) == 3) break;
    }
  }
  return found;
}

}  // namespace

AreaErrors area_errors(const Mesh& mesh, const MatrixX3d& positions) {
  const VectorXd rest = face_areas(mesh, to_matrix(mesh.positions));
  const VectorXd now = face_areas(mesh, positions);
  AreaErrors errors;
  errors.total = std::abs(now.sum() - rest.sum()) / rest.sum();
  errors.signed_faces = (now - rest).cwiseQuotient(rest);
  const VectorXd magnitudes = errors.signed_faces.cwiseAbs();
  errors.mean = magnitudes.mean();
  const double variance = (magnitudes.array() - errors.mean).square().mean();
  errors.dispersion = errors.mean + 2 * std::sqrt(variance);
  return errors;
}

VectorXd edge_strains(const Mesh& mesh, const MatrixX3d& positions) {
  const auto edges = build_topology(mesh).edges;
  const MatrixX3d rest = to_matrix(mesh.positions);
  VectorXd strains(static_cast<Eigen::Index>(edges.size()));
  for (Eigen::Index e = 0; e < strains.size(); ++e) {
    const auto [a, b] = edges[static_cast<std::size_t>(e)];
    strains[e] =
        std::abs((positions.row(b) - positions.row(a)).norm() / (rest.row(b) - rest.row(a)).norm() - 1);
  }
  return strains;
}

Eigen::MatrixX2d principal_stretches(const Mesh& mesh, const MatrixX3d& positions) {
  const std::vector<Eigen::RowVector2d> found = at_points<Eigen::RowVector2d>(
      mesh, positions,
      [](Index, const Matrix32& rest, const Matrix32& now) { return principal_stretches(rest, now); });
  Eigen::MatrixX2d stretches(static_cast<Eigen::Index>(found.size()), 2);
  for (std::size_t i = 0; i < found.size(); ++i) stretches.row(static_cast<Eigen::Index>(i)) = found[i];
  return stretches;
}

Eigen::MatrixX3d thread_stretches(const Mesh& mesh, const MatrixX3d& positions) {
  const std::vector<Vec3d> warps = face_warp_directions(mesh, build_topology(mesh));
  const std::vector<Eigen::RowVector3d> found = at_points<Eigen::RowVector3d>(
      mesh, positions, [&](Index face, const Matrix32& rest, const Matrix32& now) {
        const Vec3d& warp = warps[static_cast<std::size_t>(face)];
        const Eigen::Vector3d normal = rest.col(0).cross(rest.col(1)).normalized();
        Matrix32 threads;
        threads.col(0) = Eigen::Vector3d(warp.x, warp.y, warp.z);
        threads.col(0) = (threads.col(0) - normal * normal.dot(threads.col(0))).normalized();
        threads.col(1) = normal.cross(threads.col(0));
        const Matrix32 moved = now * rest.colPivHouseholderQr().solve(threads);
        const double warp_stretch = moved.col(0).norm(), weft_stretch = moved.col(1).norm();
        return Eigen::RowVector3d(warp_stretch, weft_stretch,
                                  moved.col(0).dot(moved.col(1)) / (warp_stretch * weft_stretch));
      });
  Eigen::MatrixX3d stretches(static_cast<Eigen::Index>(found.size()), 3);
  for (std::size_t i = 0; i < found.size(); ++i) stretches.row(static_cast<Eigen::Index>(i)) = found[i];
  return stretches;
}

}  // namespace isocloth::reference
