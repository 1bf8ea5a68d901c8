// Comparing what a kernel found with what Eigen expects.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/SparseCore>
#include <limits>
#include <string>
#include <vector>

#include "host/memory/device.hpp"
#include "tests/kernels/kernel_results.hpp"

namespace isocloth {

using Eigen::VectorXd;
using reference::MatrixX3d;
using reference::SparseMatrix;

/// 10 u sqrt(n): rounding of a sum of n terms.
template <class Real>
double rounding(std::size_t terms) {
  return 10.0 * std::numeric_limits<Real>::epsilon() * std::sqrt(static_cast<double>(terms));
}

/// The CPU, and the GPU where there is one.
inline std::vector<std::string> backends() {
  if (cuda_status().backend == nullptr) return {"cpu"};
  return {"cpu", "cuda"};
}

/// Results of a case, computed once.
template <class Real>
const KernelResults& results_of(const KernelCase& at, const std::string& backend) {
  static std::map<std::string, KernelResults> known;
  const std::string key = backend + ": " + at.name;
  const auto it = known.find(key);
  if (it != known.end()) return it->second;
  return known[key] = run_kernels<Real>(at, {.backend = backend, .precision = {}, .threads = 1});
}

/// Every entry within `tolerance`; names the worst one.
inline void expect_near(const std::vector<double>& found, const VectorXd& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(static_cast<Eigen::Index>(found.size()), expected.size()) << what;
  if (found.empty()) return;
  Eigen::Index worst = 0;
  const VectorXd difference =
      (Eigen::Map<const VectorXd>(found.data(), expected.size()) - expected).cwiseAbs();
  const double largest = difference.maxCoeff<Eigen::PropagateNaN>(&worst);
  EXPECT_LE(largest, tolerance) << what << ": entry " << worst << ": found " << found[worst] << ", expected "
                                << expected[worst];
}

inline double largest(const VectorXd& values) {
  return values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff();
}
inline double largest(const SparseMatrix& matrix) {
  return largest(VectorXd(Eigen::Map<const VectorXd>(matrix.valuePtr(), matrix.nonZeros())));
}

/// Every entry of the difference of two matrices within `tolerance`.
inline void expect_near(const SparseMatrix& found, const SparseMatrix& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  const SparseMatrix difference = found - expected;
  EXPECT_LE(largest(difference), tolerance) << what;
}

/// x, y, z of each row, one after the other.
inline VectorXd flat(const MatrixX3d& matrix) {
  VectorXd vector(matrix.size());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) vector.segment<3>(3 * i) = matrix.row(i).transpose();
  return vector;
}

inline VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// Rows of the free nodes.
inline MatrixX3d free_rows(const reference::ReferenceCloth& cloth, const MatrixX3d& matrix) {
  MatrixX3d result(static_cast<Eigen::Index>(cloth.free_nodes().size()), 3);
  for (Eigen::Index i = 0; i < result.rows(); ++i) result.row(i) = matrix.row(cloth.free_nodes()[i]);
  return result;
}

/// The rows of a case by the equations.
struct ExpectedRows {
  VectorXd values, scales;  ///< C; s = 1 / sqrt(eps D), 0 where D is 0
  SparseMatrix jacobian;    ///< s J
  VectorXd proximal;        ///< multipliers of rigid rows, 0 of compliant ones, less of bounded ones
  VectorXd stiffest;        ///< 1 / a of bounded rows, 0 of others
  double steepness;         ///< rounding of scales over that of C
  explicit ExpectedRows(const KernelCase& at) {
    const auto cloth = at.reference(Metric::mass);
    values = cloth.row_values(cloth.positions(), at.step, as_vector(at.multipliers));
    steepness = 1 + cloth.bend_of_curves(at.step);
    const VectorXd lambda = as_vector(at.multipliers),
                   is_beyond = (values.array() > 0.1 * cloth.row_bounds().array()).cast<double>(),
                   growth = VectorXd::Ones(lambda.size()) + 2 * is_beyond,
                   d = cloth.row_scale_d(cloth.positions(), at.step, lambda, growth);
    const Eigen::Array<bool, Eigen::Dynamic, 1> is_bounded = cloth.row_bounds().array() > 0;
    stiffest = is_bounded.select(1000 * at.step * at.step * cloth.row_stiffness(), 0);
    scales = (d.array() > 0).select(1 / (at.eps * d.array()).sqrt(), 0);
    jacobian = scales.asDiagonal() * cloth.row_jacobian(cloth.positions());
    proximal = lambda;
    if (find_recipe(at.recipe).is_elastic())
      proximal = is_bounded.select((1 - scales.array().square() / stiffest.array()) * lambda.array(), 0);
  }
};

/// Calls check(results, case, what) for every case and backend.
template <class Real, class Check>
void for_each_case(const Check& check) {
  for (const std::string& backend : backends())
    for (const KernelCase& at : kernel_cases())
      check(results_of<Real>(at, backend), at, at.name + " on " + backend);
}

using Precisions = testing::Types<float, double>;

}  // namespace isocloth
