// The energy of pairs of triangles by the polar decomposition of their deformation gradients, from singular
// values.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Derivatives along warp and weft in both triangles of a quad, by its nodes.
struct QuadTriangles {
  std::vector<Index> nodes;
  std::array<Eigen::Vector4d, 2> warp, weft;
};

/// Of a grid of equal quads from the origin on, warp along x and weft along y: cut between corners whose
/// column and row are an even number together.
inline std::vector<QuadTriangles> quad_triangles(const Mesh& mesh) {
  std::vector<QuadTriangles> all;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    QuadTriangles quad{{mesh.face(f).begin(), mesh.face(f).end()}, {}, {}};
    const auto place = [&](std::size_t i) { return mesh.positions[static_cast<std::size_t>(quad.nodes[i])]; };
    const Vec3d across = place(2) - place(0);
    const long column = std::lround(place(0).x / std::fabs(across.x)),
               row = std::lround(place(0).y / std::fabs(across.y));
    if ((column + row) % 2 != 0) std::rotate(quad.nodes.begin(), quad.nodes.begin() + 1, quad.nodes.end());
    for (std::size_t t = 0; t < 2; ++t) {
      const std::size_t corners[3] = {0, t + 1, t + 2};
      Eigen::Matrix3d rest;  // 1, x, y of each corner
      for (int i = 0; i < 3; ++i) {
        const Vec3d& p = mesh.positions[static_cast<std::size_t>(quad.nodes[corners[i]])];
        rest.row(i) << 1, p.x, p.y;
      }
      const Eigen::Matrix3d inverse = rest.inverse();
      quad.warp[t].setZero();
      quad.weft[t].setZero();
      for (int i = 0; i < 3; ++i) {
        quad.warp[t][static_cast<Eigen::Index>(corners[i])] = inverse(1, i);
        quad.weft[t][static_cast<Eigen::Index>(corners[i])] = inverse(2, i);
      }
    }
    all.push_back(quad);
  }
  return all;
}

/// What is left of a thread's stiffness for differences of strain.
inline double weak_stiffness(double k) { return std::min(k, std::max(1.0, 5e-4 * k)); }
/// Strain at which that has doubled.
constexpr double stiffening = 0.025;

using Gradient = Eigen::Matrix<double, 3, 2>;  // F, and energies by it

/// Of F = U s V^T, S = V s V^T.
struct PolarParts {
  Eigen::Vector2d s;
  Eigen::Matrix2d v;
  explicit PolarParts(const Gradient& f) {
    const Eigen::JacobiSVD<Gradient> svd(f, Eigen::ComputeFullV);
    s = svd.singularValues();
    v = svd.matrixV();
  }
  Eigen::Matrix2d strain() const { return v * s.asDiagonal() * v.transpose() - Eigen::Matrix2d::Identity(); }
  /// dW/dF = 2 F M of dW/dS = T, S M + M S = T: M_ij = T_ij / (s_i + s_j) in the basis V.
  Gradient force(const Gradient& f, Eigen::Matrix2d t) const {
    t = v.transpose() * t * v;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) t(i, j) /= s[i] + s[j];
    return 2 * f * v * t * v.transpose();
  }
};

/// dW/dF of both triangles of a quad of this area, each half of it. W of the mean strain is the orthotropic
/// plate's with the mean nu of both ratios. Of the difference D it is, over a quarter of the area,
///   w(k_u) / (1 - nu^2) (x^2 / 2 + x^4 / c^2) + w(k_v) (y^2 / 2 + y^4 / c^2) + 0.03 G (2 D_uv)^2 / 2
/// with x = D_uu + nu sqrt(k_v / k_u) D_vv, y = D_vv and w the weak stiffness, c that of doubled strain.
inline std::array<Gradient, 2> pair_forces(const Fabric& fabric, double area,
                                           const std::array<Gradient, 2>& f) {
  const double nu = fabric.poisson_ratio, k_u = fabric.stretch_stiffness, k_v = fabric.weft_stretch_stiffness,
               unit = 1 / (1 - nu * nu), mixed = nu * std::sqrt(k_u * k_v), a = nu * std::sqrt(k_v / k_u);
  const std::array<PolarParts, 2> parts{PolarParts(f[0]), PolarParts(f[1])};
  const Eigen::Matrix2d mean = (parts[0].strain() + parts[1].strain()) / 2,
                        difference = parts[0].strain() - parts[1].strain();
  Eigen::Matrix2d of_mean, of_difference;
  of_mean(0, 0) = unit * (k_u * mean(0, 0) + mixed * mean(1, 1));
  of_mean(1, 1) = unit * (k_v * mean(1, 1) + mixed * mean(0, 0));
  of_mean(0, 1) = of_mean(1, 0) = 2 * fabric.shear_stiffness * mean(0, 1);
  const auto cubic = [](double x) { return x + 4 * x * x * x / (stiffening * stiffening); };
  const double by_x = unit * weak_stiffness(k_u) * cubic(difference(0, 0) + a * difference(1, 1));
  of_difference(0, 0) = by_x;
  of_difference(1, 1) = a * by_x + weak_stiffness(k_v) * cubic(difference(1, 1));
  of_difference(0, 1) = of_difference(1, 0) = 0.03 * 2 * fabric.shear_stiffness * difference(0, 1);
  return {parts[0].force(f[0], area / 2 * of_mean + area / 4 * of_difference),
          parts[1].force(f[1], area / 2 * of_mean - area / 4 * of_difference)};
}

/// Adds what add_derivatives() does of quads of this area by the polar decomposition; second derivatives are
/// differences.
inline void add_stretch_derivatives(const Eigen::VectorXd& x, const std::vector<QuadTriangles>& quads,
                                    double area, const Fabric& fabric, Eigen::VectorXd& gradient,
                                    Eigen::MatrixXd& hessian) {
  for (const auto& [nodes, warp, weft] : quads) {
    std::array<Gradient, 2> f{Gradient::Zero(), Gradient::Zero()};
    Eigen::Matrix<double, 12, 12> by_nodes = Eigen::Matrix<double, 12, 12>::Zero();  // dF of both
    for (std::size_t t = 0; t < 2; ++t)
      for (std::size_t i = 0; i < 4; ++i) {
        const auto at = static_cast<Eigen::Index>(i), row = static_cast<Eigen::Index>(6 * t);
        f[t] += x.segment<3>(3 * nodes[i]) * Eigen::RowVector2d(warp[t][at], weft[t][at]);
        by_nodes.block<3, 3>(row, 3 * at) = warp[t][at] * Eigen::Matrix3d::Identity();
        by_nodes.block<3, 3>(row + 3, 3 * at) = weft[t][at] * Eigen::Matrix3d::Identity();
      }
    const auto forces_at = [&](const std::array<Gradient, 2>& at) {
      const auto found = pair_forces(fabric, area, at);
      Eigen::Matrix<double, 12, 1> both;
      both << Eigen::Map<const Eigen::Matrix<double, 6, 1>>(found[0].data()),
          Eigen::Map<const Eigen::Matrix<double, 6, 1>>(found[1].data());
      return both;
    };
    Eigen::Matrix<double, 12, 12> stiffness;
    for (int k = 0; k < 12; ++k) {
      constexpr double d = 1e-5;
      auto ahead = f, behind = f;
      ahead[static_cast<std::size_t>(k / 6)].data()[k % 6] += d;
      behind[static_cast<std::size_t>(k / 6)].data()[k % 6] -= d;
      stiffness.col(k) = (forces_at(ahead) - forces_at(behind)) / (2 * d);
    }
    const Eigen::Matrix<double, 12, 1> force = by_nodes.transpose() * forces_at(f);
    const Eigen::Matrix<double, 12, 12> block = by_nodes.transpose() * stiffness * by_nodes;
    for (Eigen::Index i = 0; i < 4; ++i) {
      gradient.segment<3>(3 * nodes[static_cast<std::size_t>(i)]) += force.segment<3>(3 * i);
      for (Eigen::Index j = 0; j < 4; ++j)
        hessian.block<3, 3>(3 * nodes[static_cast<std::size_t>(i)], 3 * nodes[static_cast<std::size_t>(j)]) +=
            block.block<3, 3>(3 * i, 3 * j);
    }
  }
}

}  // namespace isocloth
