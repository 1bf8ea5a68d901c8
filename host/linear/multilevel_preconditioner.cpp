#include "host/linear/multilevel_preconditioner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {

template <class Real>
MultilevelPreconditioner<Real>::MultilevelPreconditioner(const SymmetricRows& rows,
                                                         const MultilevelOptions& options) {
  if (options.cell_size < 1)
    throw ShapeError("multilevel preconditioner: cell_size is " + std::to_string(options.cell_size) +
                     ", expected >= 1");
  if (options.overlap < 0)
    throw ShapeError("multilevel preconditioner: overlap is " + std::to_string(options.overlap) +
                     ", expected >= 0");
  cells_ = bisect_into_cells(rows, options.cell_size);
  subdomains_ = overlapping_subdomains(rows, cells_, options.overlap);
  for (Index i = 0; i < rows.size(); ++i)
    for (Index e = rows.begin[i]; e < rows.begin[i + 1]; ++e)
      if (rows.columns[e] == i) diagonals_.push_back(rows.blocks[e]);
  scales_.resize(rows.size());
  factor_.resize(subdomains_.factor_begin.back());
  local_.resize(3 * subdomains_.nodes.size());
  failed_.resize(cells_.count());
  has_coarse_space_ = options.coarse_space && cells_.count() > 1;  // one cell: its subdomain is the system
  if (has_coarse_space_) analyze_coarse_space(rows);
}

template <class Real>
void MultilevelPreconditioner<Real>::analyze_coarse_space(const SymmetricRows& rows) {
  product_begin_.push_back(0);
  std::vector<std::vector<Index>> coarse_columns(cells_.count());
  cell_product_begin_.assign(cells_.count() + 1, 0);
  for (Index i = 0; i < rows.size(); ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(product_cells_.size());
    for (Index e = rows.begin[i]; e < rows.begin[i + 1]; ++e)
      product_cells_.push_back(cells_.cell_of[rows.columns[e]]);
    std::sort(product_cells_.begin() + begin, product_cells_.end());
    product_cells_.erase(std::unique(product_cells_.begin() + begin, product_cells_.end()),
                         product_cells_.end());
    for (Index e = rows.begin[i]; e < rows.begin[i + 1]; ++e)
      product_entries_.push_back(
          static_cast<Index>(std::lower_bound(product_cells_.begin() + begin, product_cells_.end(),
                                              cells_.cell_of[rows.columns[e]]) -
                             product_cells_.begin()));
    product_begin_.push_back(static_cast<Index>(product_cells_.size()));
    auto& columns = coarse_columns[cells_.cell_of[i]];
    for (auto it = product_cells_.begin() + begin; it != product_cells_.end(); ++it) {
      ++cell_product_begin_[*it + 1];
      if (std::find(columns.begin(), columns.end(), *it) == columns.end()) columns.push_back(*it);
    }
  }
  std::partial_sum(cell_product_begin_.begin(), cell_product_begin_.end(), cell_product_begin_.begin());
  cell_product_rows_.resize(product_cells_.size());
  cell_product_entries_.resize(product_cells_.size());
  std::vector<Index> next(cell_product_begin_.begin(), cell_product_begin_.end() - 1);
  for (Index i = 0; i < rows.size(); ++i)
    for (Index e = product_begin_[i]; e < product_begin_[i + 1]; ++e) {
      const Index at = next[product_cells_[e]]++;
      cell_product_rows_[at] = i;
      cell_product_entries_[at] = e;
    }
  product_.resize(9 * product_cells_.size());

  coarse_pattern_ = {.size = cells_.count(), .block = 3, .rows = {}, .columns = {}};
  for (Index column = 0; column < cells_.count(); ++column) {  // the pattern is symmetric
    auto& list = coarse_columns[column];
    std::sort(list.begin(), list.end());
    for (const Index row : list)
      if (row >= column) {
        coarse_pattern_.rows.push_back(row);
        coarse_pattern_.columns.push_back(column);
      }
  }
  coarse_values_.resize(9 * coarse_pattern_.rows.size());
  coarse_vector_.resize(3 * static_cast<std::size_t>(cells_.count()));
  coarse_solver_ = make_direct_solver<double>(coarse_pattern_);
  before_.resize(cells_.count());
  after_.resize(cells_.count());
  deflated_.resize(rows.size());
}

template <class Real>
SubdomainsView MultilevelPreconditioner<Real>::subdomains_view() const {
  return {.begin = subdomains_.begin,
          .nodes = subdomains_.nodes,
          .first = subdomains_.first,
          .reach = subdomains_.reach,
          .factor_begin = subdomains_.factor_begin,
          .entry_begin = subdomains_.entry_begin,
          .entry_columns = subdomains_.entry_columns,
          .entry_blocks = subdomains_.entry_blocks};
}

template <class Real>
CellProductView<Real> MultilevelPreconditioner<Real>::product_view() const {
  return {.row_begin = product_begin_,
          .cells = product_cells_,
          .values = product_,
          .cell_begin = cell_product_begin_,
          .cell_rows = cell_product_rows_,
          .cell_entries = cell_product_entries_};
}

template <class Real>
Index MultilevelPreconditioner<Real>::factorize(const Queue& queue, const SymmetricBlocksView<Real>& matrix) {
  const auto good = [](Real v) { return v > 0 && std::isfinite(v); };
  for (std::size_t i = 0; i < diagonals_.size(); ++i) {
    const Real* block = matrix.values.data() + static_cast<std::size_t>(diagonals_[i]) * 9;
    if (!good(block[0]) || !good(block[4]) || !good(block[8])) return static_cast<Index>(i);
    scales_[i] = {1 / std::sqrt(block[0]), 1 / std::sqrt(block[4]), 1 / std::sqrt(block[8])};
  }
  // Single precision may lose a small pivot of a definite matrix: a shift of the unit diagonal replaces it.
  for (const float shift : {0.0F, 1e-5F, 1e-4F, 1e-3F, 1e-2F}) {
    ISOCLOTH_BACKEND::factorize_subdomains<Real>(queue, {.subdomains = subdomains_view(),
                                                         .values = matrix.values,
                                                         .scales = scales_,
                                                         .shift = shift,
                                                         .factor = factor_,
                                                         .failed = failed_});
    if (std::all_of(failed_.begin(), failed_.end(), [](Index f) { return f < 0; })) break;
  }
  for (const Index local : failed_)
    if (local >= 0) return subdomains_.nodes[local];
  return has_coarse_space_ ? factorize_coarse_space(queue, matrix) : -1;
}

template <class Real>
Index MultilevelPreconditioner<Real>::factorize_coarse_space(const Queue& queue,
                                                             const SymmetricBlocksView<Real>& matrix) {
  ISOCLOTH_BACKEND::assemble_cell_product<Real>(
      queue,
      {.matrix = matrix, .row_begin = product_begin_, .entries = product_entries_, .values = product_});
  std::vector<Index> column_begin(cells_.count() + 1, 0);
  for (const Index column : coarse_pattern_.columns) ++column_begin[column + 1];
  std::partial_sum(column_begin.begin(), column_begin.end(), column_begin.begin());
  std::fill(coarse_values_.begin(), coarse_values_.end(), 0.0);
  for (Index i = 0; i < static_cast<Index>(scales_.size()); ++i)
    for (Index e = product_begin_[i]; e < product_begin_[i + 1]; ++e) {
      const Index row = cells_.cell_of[i], column = product_cells_[e];
      if (row < column) continue;
      const auto begin = coarse_pattern_.rows.begin() + column_begin[column];
      const auto place =
          std::lower_bound(begin, coarse_pattern_.rows.begin() + column_begin[column + 1], row) -
          coarse_pattern_.rows.begin();
      for (int k = 0; k < 9; ++k)
        coarse_values_[9 * place + k] += product_[9 * static_cast<std::size_t>(e) + k];
    }
  const Factorization found = coarse_solver_->factorize(coarse_values_.data());
  return found.ok ? -1 : cells_.rows[cells_.begin[found.block_row]];
}

template <class Real>
void MultilevelPreconditioner<Real>::solve_coarse_system(std::vector<Vec3<Real>>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    coarse_vector_[3 * i] = values[i].x;
    coarse_vector_[3 * i + 1] = values[i].y;
    coarse_vector_[3 * i + 2] = values[i].z;
  }
  coarse_solver_->solve(coarse_vector_.data(), coarse_vector_.data(), 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = {static_cast<Real>(coarse_vector_[3 * i]), static_cast<Real>(coarse_vector_[3 * i + 1]),
                 static_cast<Real>(coarse_vector_[3 * i + 2])};
}

template <class Real>
void MultilevelPreconditioner<Real>::apply(const Queue& queue, ArrayView<const Vec3<Real>> r,
                                           ArrayView<Vec3<Real>> z) {
  const auto restrict_to_cells = [&](const CellProductView<Real>& product, ArrayView<const Vec3<Real>> x,
                                     std::vector<Vec3<Real>>& y) {
    ISOCLOTH_BACKEND::restrict_to_cells<Real>(
        queue, {.cell_begin = cells_.begin, .cell_rows = cells_.rows, .product = product, .x = x, .y = y});
    solve_coarse_system(y);
  };
  ArrayView<const Vec3<Real>> residual = r;
  if (has_coarse_space_) {
    restrict_to_cells({}, r, before_);
    ISOCLOTH_BACKEND::subtract_cell_product<Real>(
        queue, {.product = product_view(), .coarse = before_, .residual = r, .result = deflated_});
    residual = deflated_;
  }
  ISOCLOTH_BACKEND::solve_subdomains<Real>(queue, {.subdomains = subdomains_view(),
                                                   .factor = factor_,
                                                   .scales = scales_,
                                                   .residual = residual,
                                                   .local = local_});
  ISOCLOTH_BACKEND::sum_subdomains<Real>(queue, {.copy_begin = subdomains_.copy_begin,
                                                 .copies = subdomains_.copies,
                                                 .local = local_,
                                                 .scales = scales_,
                                                 .sum = z});
  if (!has_coarse_space_) return;
  restrict_to_cells(product_view(), z, after_);
  ISOCLOTH_BACKEND::add_cells<Real>(
      queue, {.cell_of = cells_.cell_of, .before = before_, .after = after_, .result = z});
}

template <class Real>
std::size_t MultilevelPreconditioner<Real>::memory_bytes() const {
  return subdomains_.memory_bytes() + (factor_.size() + local_.size()) * sizeof(float) +
         (cells_.cell_of.size() + cells_.begin.size() + cells_.rows.size() + diagonals_.size() +
          failed_.size() + product_begin_.size() + product_cells_.size() + product_entries_.size() +
          cell_product_begin_.size() + cell_product_rows_.size() + cell_product_entries_.size()) *
             sizeof(Index) +
         product_.size() * sizeof(Real) +
         (scales_.size() + before_.size() + after_.size() + deflated_.size()) * sizeof(Vec3<Real>) +
         (coarse_values_.size() + coarse_vector_.size()) * sizeof(double) +
         (coarse_solver_ ? coarse_solver_->memory_bytes() : 0);
}

template class MultilevelPreconditioner<float>;
template class MultilevelPreconditioner<double>;

}  // namespace isocloth
