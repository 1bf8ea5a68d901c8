// The energy of elements by the polar decomposition of their deformation gradient, from its singular values.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/fabric.hpp"

namespace isocloth {

/// Derivatives along warp and weft at a point of an element.
struct ElementPoint {
  std::vector<Index> nodes;
  Eigen::VectorXd warp, weft;
};

/// Warp lies along x and weft along y; two points of half of the quad each, on the diagonal of corners 0, 2.
inline std::vector<ElementPoint> membrane_points(const Mesh& mesh, double a, double b) {
  std::vector<ElementPoint> all;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const std::vector<Index> nodes(mesh.face(f).begin(), mesh.face(f).end());
    Vec3d middle;
    for (const Index node : nodes) middle += 0.25 * mesh.positions[static_cast<std::size_t>(node)];
    for (const double at : {-1 / std::sqrt(3.0), 1 / std::sqrt(3.0)}) {
      Eigen::VectorXd warp(4), weft(4);
      for (int i = 0; i < 4; ++i) {
        const Vec3d r = mesh.positions[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)])] - middle;
        const double x = r.x > 0 ? 1 : -1, y = r.y > 0 ? 1 : -1;
        warp[i] = x * (1 + y * at) / (2 * a);
        weft[i] = y * (1 + x * at) / (2 * b);
      }
      all.push_back({nodes, warp, weft});
    }
  }
  return all;
}

using Gradient = Eigen::Matrix<double, 3, 2>;  // F, and energies by it

/// dW/dF = 2 F M, S M + M S = T = dW/dS, from singular values F = U s V^T: S = V s V^T, M_ij = T_ij / (s_i +
/// s_j) in the basis V. W of S - I per area is the orthotropic plate's with the mean nu of both ratios.
inline Gradient stretch_force(const Fabric& fabric, const Gradient& f) {
  const double nu = fabric.poisson_ratio, k_u = fabric.stretch_stiffness, k_v = fabric.weft_stretch_stiffness,
               unit = 1 / (1 - nu * nu), mixed = nu * std::sqrt(k_u * k_v);
  const Eigen::JacobiSVD<Gradient> svd(f, Eigen::ComputeFullV);
  const Eigen::Vector2d s = svd.singularValues();
  const Eigen::Matrix2d v = svd.matrixV(),
                        strain = v * s.asDiagonal() * v.transpose() - Eigen::Matrix2d::Identity();
  Eigen::Matrix2d t;
  t(0, 0) = unit * (k_u * strain(0, 0) + mixed * strain(1, 1));
  t(1, 1) = unit * (k_v * strain(1, 1) + mixed * strain(0, 0));
  t(0, 1) = t(1, 0) = 2 * fabric.shear_stiffness * strain(0, 1);
  t = v.transpose() * t * v;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) t(i, j) /= s[i] + s[j];
  return 2 * f * v * t * v.transpose();
}

/// Adds what add_derivatives() does of elements by the polar decomposition; second derivatives are
/// differences.
inline void add_stretch_derivatives(const Eigen::VectorXd& x, const std::vector<ElementPoint>& points,
                                    double area, const Fabric& fabric, Eigen::VectorXd& gradient,
                                    Eigen::MatrixXd& hessian) {
  for (const auto& [nodes, warp, weft] : points) {
    Gradient f = Gradient::Zero();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      f += x.segment<3>(3 * nodes[i]) * Eigen::RowVector2d(warp[at], weft[at]);
    }
    const Gradient force = area * stretch_force(fabric, f);
    Eigen::MatrixXd stiffness(6, 6);
    for (int k = 0; k < 6; ++k) {
      constexpr double d = 1e-5;
      Gradient ahead = f, behind = f;
      ahead.data()[k] += d;
      behind.data()[k] -= d;
      const Gradient change =
          (stretch_force(fabric, ahead) - stretch_force(fabric, behind)) * (area / (2 * d));
      stiffness.col(k) = Eigen::Map<const Eigen::VectorXd>(change.data(), 6);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto a = static_cast<Eigen::Index>(i);
      gradient.segment<3>(3 * nodes[i]) += force * Eigen::Vector2d(warp[a], weft[a]);
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        const auto b = static_cast<Eigen::Index>(j);
        hessian.block<3, 3>(3 * nodes[i], 3 * nodes[j]) +=
            warp[a] * (warp[b] * stiffness.block<3, 3>(0, 0) + weft[b] * stiffness.block<3, 3>(0, 3)) +
            weft[a] * (warp[b] * stiffness.block<3, 3>(3, 0) + weft[b] * stiffness.block<3, 3>(3, 3));
      }
    }
  }
}

}  // namespace isocloth
