#include "host/reference/measures.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace isocloth::reference {

namespace {

// A metric that rounding made slightly negative has stretch zero.
double strain(double squared_stretch) { return std::abs(std::sqrt(std::max(0.0, squared_stretch)) - 1); }

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

VectorXd principal_strains(const QuadraticRows& rows, const VectorXd& row_values) {
  const auto node_count = static_cast<Eigen::Index>(rows.interior_nodes.size());
  const auto edge_count = static_cast<Eigen::Index>(rows.edges.size());
  VectorXd strains(node_count + edge_count);
  for (Eigen::Index q = 0; q < node_count; ++q) {
    Eigen::Matrix2d metric;
    metric << 1 + row_values[3 * q], row_values[3 * q + 1], row_values[3 * q + 1], 1 + row_values[3 * q + 2];
    const Eigen::Vector2d squared =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(metric, Eigen::EigenvaluesOnly).eigenvalues();
    strains[q] = std::max(strain(squared[0]), strain(squared[1]));
  }
  const VectorXd edge_values = row_values.tail(edge_count);
  for (Eigen::Index e = 0; e < edge_count; ++e) strains[node_count + e] = strain(1 + edge_values[e]);
  return strains;
}

}  // namespace isocloth::reference
