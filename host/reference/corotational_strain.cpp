#include "host/reference/corotational_strain.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace isocloth::reference {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Principal stretches and axes of a point whose rows of F^T F - I are `green`.
struct PrincipalStretches {
  Eigen::Vector2d values;
  Matrix2d axes;
  explicit PrincipalStretches(const Vector3d& green) {
    Matrix2d squared;
    squared << 1 + green[0], green[1], green[1], 1 + green[2];
    const Eigen::SelfAdjointEigenSolver<Matrix2d> found(squared);
    values = found.eigenvalues().cwiseMax(1e-12).cwiseSqrt();
    axes = found.eigenvectors();
  }
};

Vector3d rows_of(const Matrix2d& symmetric) {
  return {2 * symmetric(0, 0), 2 * symmetric(0, 1), 2 * symmetric(1, 1)};
}

/// Adds a times the third row to the first.
Matrix3d coupling_of(double a) {
  Matrix3d matrix = Matrix3d::Identity();
  matrix(0, 2) = a;
  return matrix;
}

/// Strains of both triangles of a pair, one after the other, of its means and differences; and back.
using Matrix6d = Eigen::Matrix<double, 6, 6>;
Matrix6d of_triangles(double share) {
  Matrix6d matrix;
  matrix << Matrix3d::Identity(), (1 - share) * Matrix3d::Identity(), Matrix3d::Identity(),
      -share * Matrix3d::Identity();
  return matrix;
}
Matrix6d of_pair(double share) {
  Matrix6d matrix;
  matrix << share * Matrix3d::Identity(), (1 - share) * Matrix3d::Identity(), Matrix3d::Identity(),
      -Matrix3d::Identity();
  return matrix;
}

}  // namespace

VectorXd CorotationalStrain::of(const VectorXd& quadratic) const {
  VectorXd strains = quadratic;
  for (std::size_t pair = 0; pair < shares_.size(); ++pair) {
    const auto row = static_cast<Eigen::Index>(6 * pair);
    Eigen::Matrix<double, 6, 1> own = of_triangles(shares_[pair]) * quadratic.segment<6>(row);
    for (int t = 0; t < 2; ++t) {
      const PrincipalStretches s(coupling_of(-coupling_) * own.segment<3>(3 * t));
      const Matrix2d strain = s.axes * (s.values.array() - 1).matrix().asDiagonal() * s.axes.transpose();
      own.segment<3>(3 * t) = coupling_of(coupling_) * rows_of(strain);
    }
    strains.segment<6>(row) = of_pair(shares_[pair]) * own;
  }
  return strains;
}

SparseMatrix CorotationalStrain::derivative(const VectorXd& quadratic) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t pair = 0; pair < shares_.size(); ++pair) {
    const auto row = static_cast<Eigen::Index>(6 * pair);
    const Eigen::Matrix<double, 6, 1> own = of_triangles(shares_[pair]) * quadratic.segment<6>(row);
    Matrix6d both = Matrix6d::Zero();
    for (int t = 0; t < 2; ++t) {
      const PrincipalStretches s(coupling_of(-coupling_) * own.segment<3>(3 * t));
      Matrix3d block;
      for (int w = 0; w < 3; ++w) {
        Matrix2d change = Matrix2d::Zero();
        change(w / 2, (w + 1) / 2) = change((w + 1) / 2, w / 2) = 1;
        change = s.axes.transpose() * change * s.axes;
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j) change(i, j) /= s.values[i] + s.values[j];
        block.col(w) = rows_of(s.axes * change * s.axes.transpose());
      }
      both.block<3, 3>(3 * t, 3 * t) = coupling_of(coupling_) * block * coupling_of(-coupling_);
    }
    both = of_pair(shares_[pair]) * both * of_triangles(shares_[pair]);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        entries.emplace_back(static_cast<int>(row + i), static_cast<int>(row + j), both(i, j));
  }
  for (auto row = static_cast<Eigen::Index>(6 * shares_.size()); row < quadratic.size(); ++row)
    entries.emplace_back(static_cast<int>(row), static_cast<int>(row), 1.0);
  SparseMatrix result(quadratic.size(), quadratic.size());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace isocloth::reference
