#include "host/linear/single_factor.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

SingleFactor::SingleFactor(const BlockPattern& pattern, ThreadPool* pool, const DenseKernels<float>& single,
                           const DenseKernels<double>& whole, MonitorView monitor)
    : pattern_(pattern),
      pool_(pool),
      monitor_(monitor),
      whole_kernels_(whole),
      single_(pattern, pool, single, monitor),
      name_(std::string(single_.name()) + ", float32"),
      scales_(static_cast<std::size_t>(pattern.size) * pattern.block),
      scaled_(pattern.rows.size() * pattern.block * pattern.block) {}

Factorization SingleFactor::factorize(const double* values) {
  const std::size_t n = pattern_.block, blocks = pattern_.rows.size();
  for (std::size_t b = 0; b < blocks; ++b) {
    if (pattern_.rows[b] != pattern_.columns[b]) continue;
    for (std::size_t r = 0; r < n; ++r) {
      const double value = values[(b * n + r) * n + r];
      scales_[pattern_.rows[b] * n + r] =
          value > 0 && std::isfinite(value) ? std::ldexp(1.0, -std::ilogb(value) / 2) : 1;
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const double *const rows = &scales_[pattern_.rows[b] * n],
                        *const columns = &scales_[pattern_.columns[b] * n], *const from = values + b * n * n;
    float* const to = &scaled_[b * n * n];
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c)
        to[r * n + c] = static_cast<float>(from[r * n + c] * rows[r] * columns[c]);
  }
  is_whole_ = false;
  return single_.factorize(scaled_.data()).ok ? Factorization{} : factorize_whole(values);
}

Factorization SingleFactor::factorize_whole(const double* values) {
  if (!whole_)
    whole_ = std::make_unique<MultifrontalSolver<double>>(pattern_, pool_, whole_kernels_, monitor_);
  is_whole_ = true;
  return whole_->factorize(values);
}

void SingleFactor::solve(const double* right_side, double* solution, int count) {
  if (is_whole_) return whole_->solve(right_side, solution, count);
  // Each scaled right side is brought near 1: float reaches down to 1e-38 only.
  std::vector<double> units(static_cast<std::size_t>(count), 0.0);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    for (int k = 0; k < count; ++k)
      units[k] = std::max(units[k], std::abs(right_side[i * count + k] * scales_[i]));
  for (double& unit : units) unit = unit > 0 ? std::ldexp(1.0, std::ilogb(unit)) : 1;
  small_.resize(scales_.size() * count);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    for (int k = 0; k < count; ++k)
      small_[i * count + k] = static_cast<float>(right_side[i * count + k] * scales_[i] / units[k]);
  single_.solve(small_.data(), small_.data(), count);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    for (int k = 0; k < count; ++k)
      solution[i * count + k] = static_cast<double>(small_[i * count + k]) * units[k] * scales_[i];
}

std::size_t SingleFactor::memory_bytes() const {
  return single_.memory_bytes() + (whole_ ? whole_->memory_bytes() : 0) + scales_.size() * sizeof(double) +
         (scaled_.size() + small_.size()) * sizeof(float);
}

}  // namespace isocloth
