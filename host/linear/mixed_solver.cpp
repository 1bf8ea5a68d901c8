#include "host/linear/mixed_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

constexpr double target = 100 * std::numeric_limits<double>::epsilon();
constexpr int most_iterations = 40;  // each must halve the error: 2^-40 is past what float leaves to do
constexpr double least_progress = 0.5;

/// Largest |value| of column k of [size, count], NaN if one is not finite.
double largest(const double* values, std::size_t size, int count, int k) {
  double result = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double magnitude = std::abs(values[i * count + k]);
    if (!(magnitude <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::quiet_NaN();
    result = std::max(result, magnitude);
  }
  return result;
}

/// The larger one; NaN is the largest.
double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

}  // namespace

MixedSolver::MixedSolver(const BlockPattern& pattern, ThreadPool* pool, const DenseKernels<float>& single,
                         const DenseKernels<double>& whole, MonitorView monitor)
    : pattern_(pattern),
      factor_(pattern, pool, single, whole, monitor),
      name_("float32 factor refined to float64: " + std::string(factor_.single_name())) {}

Factorization MixedSolver::factorize(const double* values) {
  const int n = pattern_.block;
  values_.assign(values, values + pattern_.rows.size() * n * n);
  std::vector<double> sums(static_cast<std::size_t>(pattern_.size) * n, 0);
  for (std::size_t b = 0; b < pattern_.rows.size(); ++b)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const std::size_t i = static_cast<std::size_t>(pattern_.rows[b]) * n + r;
        const std::size_t j = static_cast<std::size_t>(pattern_.columns[b]) * n + c;
        if (i < j) {  // of a diagonal block the lower triangle counts
          values_[(b * n + r) * n + c] = values_[(b * n + c) * n + r];
          continue;
        }
        const double value = std::abs(values_[(b * n + r) * n + c]);
        sums[i] += value;
        if (i != j) sums[j] += value;
      }
  norm_ = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  last_ = {};
  const Factorization result = factor_.factorize(values_.data());
  has_factor_ = result.ok;
  return result;
}

void MixedSolver::subtract_product(const double* x, int count, double* residual) const {
  const int n = pattern_.block;
  for (std::size_t b = 0; b < pattern_.rows.size(); ++b) {
    const std::size_t row = static_cast<std::size_t>(pattern_.rows[b]) * n;
    const std::size_t column = static_cast<std::size_t>(pattern_.columns[b]) * n;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const double value = values_[(b * n + r) * n + c];
        for (int k = 0; k < count; ++k) {
          residual[(row + r) * count + k] -= value * x[(column + c) * count + k];
          if (row != column) residual[(column + c) * count + k] -= value * x[(row + r) * count + k];
        }
      }
  }
}

bool MixedSolver::refine(const double* right_side, const std::vector<double>& magnitudes, double* solution,
                         int count) {
  const std::size_t size = static_cast<std::size_t>(pattern_.size) * pattern_.block;
  const std::size_t total = size * count;
  std::vector<double> x(total, 0), correction(total), errors(count, 0.0),
      before(count, std::numeric_limits<double>::infinity());
  std::vector<char> done(count, 0);
  residual_.assign(right_side, right_side + total);
  while (last_.iterations < most_iterations) {
    factor_.solve(residual_.data(), correction.data(), count);
    ++last_.iterations;
    for (std::size_t i = 0; i < total; ++i)
      if (!done[i % count]) x[i] += correction[i];
    residual_.assign(right_side, right_side + total);
    subtract_product(x.data(), count, residual_.data());
    for (int k = 0; k < count; ++k) {
      if (done[k]) continue;
      const double left = largest(residual_.data(), size, count, k);
      const double whole = norm_ * largest(x.data(), size, count, k) + magnitudes[k];
      errors[k] = left == 0 ? 0 : std::isfinite(left / whole) ? left / whole : 1;
      done[k] = errors[k] <= target;
      if (!done[k] && errors[k] > least_progress * before[k]) return false;
      before[k] = errors[k];
    }
    last_.backward_error = *std::ranges::max_element(errors);
    if (std::ranges::find(done, 0) == done.end()) {
      std::copy(x.begin(), x.end(), solution);
      return true;
    }
  }
  return false;
}

void MixedSolver::solve(const double* right_side, double* solution, int count) {
  if (!has_factor_)
    throw NumericalError("solve: there is no factor; call factorize() and look at its result");
  const std::size_t size = static_cast<std::size_t>(pattern_.size) * pattern_.block;
  std::vector<double> magnitudes(count);
  for (int k = 0; k < count; ++k) {
    magnitudes[k] = largest(right_side, size, count, k);
    if (std::isnan(magnitudes[k]))
      throw NumericalError("solve: right side " + std::to_string(k) + " is not finite; nothing was solved");
  }
  last_ = {};
  if (!factor_.is_whole()) {
    if (refine(right_side, magnitudes, solution, count)) return;
    const Factorization result = factor_.factorize_whole(values_.data());
    has_factor_ = result.ok;
    if (!result.ok)
      throw NumericalError(
          "solve: refinement of a float factor stagnated, and in double the matrix is not "
          "positive definite at block row " +
          std::to_string(result.block_row));
  }
  std::vector<double> x(size * count);
  factor_.solve(right_side, x.data(), count);
  residual_.assign(right_side, right_side + x.size());
  subtract_product(x.data(), count, residual_.data());
  last_.fell_back = true;
  last_.backward_error = 0;
  for (int k = 0; k < count; ++k) {
    const double solved = largest(x.data(), size, count, k);
    if (std::isnan(solved))
      throw NumericalError("solve: the solution for right side " + std::to_string(k) +
                           " is past the range of double; give the system in other units");
    if (const double left = largest(residual_.data(), size, count, k); left != 0)
      last_.backward_error = worse(last_.backward_error, left / (norm_ * solved + magnitudes[k]));
  }
  std::copy(x.begin(), x.end(), solution);
}

std::size_t MixedSolver::memory_bytes() const {
  return factor_.memory_bytes() + (values_.size() + residual_.size()) * sizeof(double);
}

}  // namespace isocloth
