#include "host/linear/pcg_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// Relative to the right side. What is smaller the preconditioner, in float, may not hold with all digits.
constexpr double least_residual = std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon();

SymmetricRows checked_rows(const BlockPattern& pattern) {
  check_pattern(pattern);
  if (pattern.block != 3)
    throw ShapeError("conjugate gradients: block is " + std::to_string(pattern.block) +
                     ", expected 3; use the direct solver for blocks of one scalar");
  return symmetric_rows(pattern);
}

}  // namespace

const char* to_string(PcgStatus status) {
  switch (status) {
    case PcgStatus::converged:
      return "converged";
    case PcgStatus::truncated:
      return "truncated";
    case PcgStatus::stagnated:
      return "stagnated";
    case PcgStatus::indefinite:
      return "indefinite";
    case PcgStatus::non_finite:
      return "non_finite";
  }
  return "unknown";
}

template <class Real>
PcgSolver<Real>::PcgSolver(const BlockPattern& pattern, const PcgOptions& options, const Queue& queue)
    : options_(options),
      queue_(queue),
      kernels_(step_kernels<Real>(*cpu_backend(widest_simd()))),
      rows_(checked_rows(pattern)),
      values_(pattern.rows.size() * 9),
      preconditioner_(rows_, options.preconditioner),
      partials_(dot_count(pattern.size)) {
  set_limits(options.rtol, options.max_iterations);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    if (pattern.rows[b] == pattern.columns[b]) diagonals_.push_back(b);
  for (Vector* v : {&right_side_, &solution_, &residual_, &preconditioned_, &direction_, &product_})
    v->resize(pattern.size);
}

template <class Real>
void PcgSolver<Real>::set_limits(double rtol, int max_iterations) {
  if (!(rtol >= 0 && rtol < 1))
    throw ShapeError("conjugate gradients: rtol is " + std::to_string(rtol) + ", expected 0 <= rtol < 1");
  if (max_iterations < 0)
    throw ShapeError("conjugate gradients: max_iterations is " + std::to_string(max_iterations) +
                     ", expected >= 0");
  options_.rtol = rtol;
  options_.max_iterations = max_iterations;
}

template <class Real>
SymmetricBlocksView<Real> PcgSolver<Real>::matrix() const {
  return {.row_begin = rows_.begin, .columns = rows_.columns, .blocks = rows_.blocks, .values = values_};
}

template <class Real>
Factorization PcgSolver<Real>::factorize(const Real* values) {
  std::copy(values, values + values_.size(), values_.begin());
  for (const std::size_t b : diagonals_) {  // their lower triangle counts
    Real* block = values_.data() + 9 * b;
    block[1] = block[3];
    block[2] = block[6];
    block[5] = block[7];
  }
  const Index bad = preconditioner_.factorize(queue_, matrix());
  ready_ = bad < 0;
  return {.ok = ready_, .block_row = bad};
}

template <class Real>
double PcgSolver<Real>::dot(const Vector& a, const Vector& b) {
  kernels_.partial_dots(queue_,
                        {.a = a, .b = b, .size = static_cast<Index>(a.size()), .partials = partials_});
  double sum = 0;
  for (const double partial : partials_) sum += partial;
  return sum;
}

template <class Real>
void PcgSolver<Real>::multiply(const Vector& x, Vector& y) {
  kernels_.block_product(queue_, {.matrix = matrix(), .x = x, .y = y});
}

template <class Real>
double PcgSolver<Real>::compute_residual() {
  multiply(solution_, residual_);
  kernels_.update_direction(queue_, {.weight = -1, .start = right_side_, .direction = residual_});
  return std::sqrt(dot(residual_, residual_));
}

template <class Real>
PcgReport PcgSolver<Real>::iterate() {
  std::fill(solution_.begin(), solution_.end(), Vec3<Real>{});
  const double size = std::sqrt(dot(right_side_, right_side_));
  if (size == 0) return {};
  if (!std::isfinite(size)) return {.status = PcgStatus::non_finite, .iterations = 0, .residual = 1};
  residual_ = right_side_;
  PcgReport report{.status = PcgStatus::truncated, .iterations = 0, .residual = 1};
  double at_restart = std::numeric_limits<double>::infinity();
  bool restart = true;
  double energy = 0;  // r^T z
  for (;;) {
    // It is that of the recurrence, which rounding parts from the true one.
    if (report.residual <= std::max(options_.rtol, least_residual)) {
      report.residual = compute_residual() / size;
      if (report.residual <= options_.rtol) {
        report.status = PcgStatus::converged;
        return report;
      }
      if (!(report.residual < 0.5 * at_restart)) {
        report.status = PcgStatus::stagnated;
        return report;
      }
      at_restart = report.residual;
      restart = true;
    }
    if (report.iterations == options_.max_iterations) break;
    queue_.monitor.check();
    preconditioner_.apply(queue_, residual_, preconditioned_);
    const double next = dot(residual_, preconditioned_);
    if (!(next > 0) || !std::isfinite(next)) {
      report.status = next == 0             ? PcgStatus::stagnated  // of a residual other than 0: underflow
                      : std::isfinite(next) ? PcgStatus::indefinite
                                            : PcgStatus::non_finite;
      break;
    }
    if (restart)
      direction_ = preconditioned_;
    else
      kernels_.update_direction(
          queue_,
          {.weight = static_cast<Real>(next / energy), .start = preconditioned_, .direction = direction_});
    restart = false;
    energy = next;
    multiply(direction_, product_);
    const double curvature = dot(direction_, product_);
    const double length = energy / curvature;
    if (!(curvature > 0) || !std::isfinite(length) || !std::isfinite(curvature)) {
      report.status = curvature <= 0 ? PcgStatus::indefinite : PcgStatus::non_finite;
      break;
    }
    kernels_.update_solution(queue_, {.length = static_cast<Real>(length),
                                      .direction = direction_,
                                      .product = product_,
                                      .solution = solution_,
                                      .residual = residual_});
    ++report.iterations;
    report.residual = std::sqrt(dot(residual_, residual_)) / size;
    if (!std::isfinite(report.residual)) {
      report.status = PcgStatus::non_finite;
      std::fill(solution_.begin(), solution_.end(), Vec3<Real>{});
      report.residual = 1;
      return report;
    }
  }
  report.residual = compute_residual() / size;
  if (report.status == PcgStatus::stagnated && report.residual <= options_.rtol)
    report.status = PcgStatus::converged;
  return report;
}

template <class Real>
void PcgSolver<Real>::solve(const Real* right_side, Real* solution, int count) {
  if (!ready_)
    throw NumericalError(
        "conjugate gradients: no preconditioner; solve() needs a factorize() that succeeded before it");
  report_ = {};
  const auto& scales = preconditioner_.scales();
  const std::size_t size = right_side_.size(), columns = static_cast<std::size_t>(count);
  for (std::size_t k = 0; k < columns; ++k) {
    // Scaled to a preconditioned norm near 1, which single precision holds whatever the units are.
    double norm2 = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Real* b = right_side + 3 * columns * i + k;
      const double x = static_cast<double>(b[0]) * scales[i].x,
                   y = static_cast<double>(b[columns]) * scales[i].y,
                   z = static_cast<double>(b[2 * columns]) * scales[i].z;
      norm2 += x * x + y * y + z * z;
    }
    const double norm = norm2 > 0 && std::isfinite(norm2) ? std::sqrt(norm2) : 1;
    for (std::size_t i = 0; i < size; ++i) {
      const Real* b = right_side + 3 * columns * i + k;
      right_side_[i] = {static_cast<Real>(b[0] / norm), static_cast<Real>(b[columns] / norm),
                        static_cast<Real>(b[2 * columns] / norm)};
    }
    PcgReport report = iterate();
    constexpr double most = std::numeric_limits<Real>::max();
    const bool fits = std::all_of(solution_.begin(), solution_.end(), [norm](const Vec3<Real>& x) {
      return std::abs(x.x * norm) <= most && std::abs(x.y * norm) <= most && std::abs(x.z * norm) <= most;
    });
    if (!fits) {
      std::fill(solution_.begin(), solution_.end(), Vec3<Real>{});
      report.status = PcgStatus::non_finite;
      report.residual = 1;
    }
    for (std::size_t i = 0; i < size; ++i) {
      Real* x = solution + 3 * columns * i + k;
      x[0] = static_cast<Real>(solution_[i].x * norm);
      x[columns] = static_cast<Real>(solution_[i].y * norm);
      x[2 * columns] = static_cast<Real>(solution_[i].z * norm);
    }
    report_.status = std::max(report_.status, report.status);
    report_.iterations += report.iterations;
    report_.residual = std::max(report_.residual, report.residual);
  }
}

template <class Real>
std::size_t PcgSolver<Real>::memory_bytes() const {
  return preconditioner_.memory_bytes() +
         (rows_.begin.size() + rows_.columns.size() + rows_.blocks.size()) * sizeof(Index) +
         values_.size() * sizeof(Real) + diagonals_.size() * sizeof(std::size_t) +
         6 * right_side_.size() * sizeof(Vec3<Real>) + partials_.size() * sizeof(double);
}

template <class Real>
std::string_view PcgSolver<Real>::name() const {
  return options_.preconditioner.cell_size > 1 ? "conjugate gradients, two-level Schwarz"
                                               : "conjugate gradients, block-Jacobi";
}

template class PcgSolver<float>;
template class PcgSolver<double>;

}  // namespace isocloth
