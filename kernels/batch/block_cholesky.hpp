// Cholesky factorisation of many systems that share one sparse pattern of 3x3 blocks.
//
// One lane value holds one system, or several side by side; the pattern was analysed on the host. A thread
// alone is left-looking: column after column in postorder takes its updates from the columns before. The
// threads of a block are right-looking, level by level of the elimination tree: the columns of a level are
// finished, then all that they allow is taken from the columns above. Updates that one entry takes follow one
// order, so that every entry is computed by the same operations either way; a run is a stretch of them that a
// level allows at once.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// Where everything lies in L, the lower triangle by columns.
struct CholeskyPlanView {
  ArrayView<const Index>
      column_begin;                   ///< blocks of each column, the diagonal first; shape [column_count + 1]
  ArrayView<const Index> block_rows;  ///< shape [block_count]
  ArrayView<const Index> block_columns;  ///< shape [block_count]
  ArrayView<const Index> pair_begin;     ///< updates of each block, shape [block_count + 1]
  ArrayView<const Index> pairs;          ///< blocks p, q of each update L -= L_p L_q^T; shape [pair_count, 2]
  ArrayView<const Index> is_twin;        ///< 1: the next column has this one's rows but the diagonal's
  ArrayView<const Index> twin_updates;   ///< leading updates of a block with the same p as its twin's
  ArrayView<const Index> row_begin;      ///< off-diagonal blocks of each row, shape [column_count + 1]
  ArrayView<const Index> row_blocks;     ///< shape [block_count - column_count]
  ArrayView<const Index> level_begin;    ///< columns of each level, leaves first; shape [level_count + 1]
  ArrayView<const Index> level_columns;  ///< shape [column_count]
  ArrayView<const Index> level_block_begin;  ///< off-diagonal blocks of each level, shape [level_count + 1]
  ArrayView<const Index> level_blocks;       ///< shape [block_count - column_count]
  /// Runs of updates that each level allows, longest first; shape [level_count + 1].
  ArrayView<const Index> update_begin;
  ArrayView<const Index> update_runs;  ///< block, its first and its end in `pairs`; shape [run_count, 3]
  /// Runs of blocks of one row that each level allows to subtract in forward substitution.
  ArrayView<const Index> forward_begin;
  ArrayView<const Index> forward_runs;  ///< row, its first and its end in `row_blocks`; shape [run_count, 3]
  ArrayView<const Index> backward_begin;   ///< blocks in the rows of each level; shape [level_count + 1]
  ArrayView<const Index> backward_blocks;  ///< shape [block_count - column_count]

  ISOCLOTH_HD Index column_count() const { return static_cast<Index>(column_begin.size()) - 1; }
  ISOCLOTH_HD Index block_count() const { return static_cast<Index>(block_rows.size()); }
  ISOCLOTH_HD Index level_count() const { return static_cast<Index>(level_begin.size()) - 1; }
};

namespace ISOCLOTH_BACKEND {

/// Values of one lane value's systems.
template <class S>
struct BlockFactor {
  S* blocks;     ///< L off the diagonal; row-major, shape [block_count, 9]
  S* diagonals;  ///< 1/l00, l10, 1/l11, l20, l21, 1/l22 of the diagonal blocks of L; shape [column_count, 6]
  S* pivots;     ///< smallest pivot of each column, shape [column_count]
};

template <class S>
struct BlockCholesky {
  using Scalar = typename Lanes<S>::Scalar;
  const CholeskyPlanView& plan;
  const BlockFactor<S>& factor;

  /// m += L_p L_q^T for rows [r, r + Rows) of p and the updates [begin, end).
  template <int Rows>
  ISOCLOTH_HD void add_updates(Index begin, Index end, int r, S* m) const {
    for (Index k = begin; k < end; ++k) {
      const S* p = factor.blocks + plan.pairs[2 * k] * 9 + 3 * r;
      const S* q = factor.blocks + plan.pairs[2 * k + 1] * 9;
      for (int t = 0; t < 3; ++t)
        for (int i = 0; i < Rows; ++i)
          for (int c = 0; c < 3; ++c) m[3 * i + c] = multiply_add(p[3 * i + t], q[3 * c + t], m[3 * i + c]);
    }
  }
  /// Takes the updates of block b from m.
  ISOCLOTH_HD void update(Index b, S* m) const {
    for (int e = 0; e < 9; ++e) m[e] = -m[e];  // the sum is taken with the sign turned
    add_updates<3>(plan.pair_begin[b], plan.pair_begin[b + 1], 0, m);
    for (int e = 0; e < 9; ++e) m[e] = -m[e];
  }

  /// Blocks a, b of one row in twin columns: the updates that both have read L_p once.
  template <class Matrix>
  ISOCLOTH_HD void factorize_twins(Index a, Index b, const S* da, const S* db, const Matrix& matrix) const {
    S m[9], n[9];
    matrix(a, m);
    matrix(b, n);
    for (int e = 0; e < 9; ++e) m[e] = -m[e], n[e] = -n[e];
    const Index shared = plan.twin_updates[a], first = plan.pair_begin[a], second = plan.pair_begin[b];
    for (Index k = 0; k < shared; ++k) {
      const S* p = factor.blocks + plan.pairs[2 * (first + k)] * 9;
      const S* q = factor.blocks + plan.pairs[2 * (first + k) + 1] * 9;
      const S* s = factor.blocks + plan.pairs[2 * (second + k) + 1] * 9;
      for (int t = 0; t < 3; ++t)
        for (int c = 0; c < 3; ++c)
          for (int i = 0; i < 3; ++i) {
            m[3 * i + c] = multiply_add(p[3 * i + t], q[3 * c + t], m[3 * i + c]);
            n[3 * i + c] = multiply_add(p[3 * i + t], s[3 * c + t], n[3 * i + c]);
          }
    }
    add_updates<3>(first + shared, plan.pair_begin[a + 1], 0, m);
    for (int e = 0; e < 9; ++e) m[e] = -m[e];
    for (int r = 0; r < 3; ++r) solve_row(da, m + 3 * r);
    for (int e = 0; e < 9; ++e) factor.blocks[a * 9 + e] = m[e];
    add_updates<3>(second + shared, plan.pair_begin[b + 1], 0, n);
    for (int e = 0; e < 9; ++e) n[e] = -n[e];
    for (int r = 0; r < 3; ++r) solve_row(db, n + 3 * r);
    for (int e = 0; e < 9; ++e) factor.blocks[b * 9 + e] = n[e];
  }

  /// Cholesky of a diagonal block; d as in BlockFactor::diagonals. Returns the smallest pivot.
  static ISOCLOTH_HD S factorize_diagonal(const S (&m)[9], S (&d)[6]) {
    const S one{Scalar(1)};
    const S p0 = m[0];
    d[0] = one / square_root(p0);
    d[1] = m[3] * d[0];
    d[3] = m[6] * d[0];
    const S p1 = multiply_add(-d[1], d[1], m[4]);
    d[2] = one / square_root(p1);
    d[4] = multiply_add(-d[3], d[1], m[7]) * d[2];
    const S p2 = multiply_add(-d[4], d[4], multiply_add(-d[3], d[3], m[8]));
    d[5] = one / square_root(p2);
    S least = select(p1 > p0, p0, p1);  // NaN comes through: no comparison with it holds
    return select(p2 > least, least, p2);
  }

  /// x L_jj^T = m for one row of a block below the diagonal.
  static ISOCLOTH_HD void solve_row(const S* d, S* x) {
    x[0] = x[0] * d[0];
    x[1] = multiply_add(-x[0], d[1], x[1]) * d[2];
    x[2] = multiply_add(-x[1], d[4], multiply_add(-x[0], d[3], x[2])) * d[5];
  }

  ISOCLOTH_HD void factorize_column_diagonal(Index column, const S (&m)[9]) const {
    S d[6];
    factor.pivots[column] = factorize_diagonal(m, d);
    for (int e = 0; e < 6; ++e) factor.diagonals[column * 6 + e] = d[e];
  }

  /// L of the matrix whose blocks, in the places of L's, matrix(b, block) gives; it must not read `factor`.
  /// Ends with a sync.
  template <class Block, class Matrix>
  ISOCLOTH_HD void factorize(const Block& block, const Matrix& matrix) const {
    if constexpr (Block::is_solo) {
      const auto diagonal = [&](Index column) {
        S m[9];
        matrix(plan.column_begin[column], m);
        update(plan.column_begin[column], m);
        factorize_column_diagonal(column, m);
      };
      const auto below = [&](Index column, Index b) {
        S m[9];
        matrix(b, m);
        update(b, m);
        for (int r = 0; r < 3; ++r) solve_row(factor.diagonals + column * 6, m + 3 * r);
        for (int e = 0; e < 9; ++e) factor.blocks[b * 9 + e] = m[e];
      };
      for (Index column = 0; column < plan.column_count(); ++column) {
        const Index first = plan.column_begin[column], end = plan.column_begin[column + 1];
        diagonal(column);
        if (plan.is_twin[column] == 0) {
          for (Index b = first + 1; b < end; ++b) below(column, b);
          continue;
        }
        below(column, first + 1);
        diagonal(column + 1);
        const S* d = factor.diagonals + column * 6;
        for (Index b = first + 2; b < end; ++b) factorize_twins(b, b + end - first - 1, d, d + 6, matrix);
        ++column;
      }
    } else {
      factorize_by_levels(block, matrix);
    }
  }

  /// See factorize(). Blocks that wait for updates hold the sum with the sign turned, as in update().
  template <class Block, class Matrix>
  ISOCLOTH_HD void factorize_by_levels(const Block& block, const Matrix& matrix) const {
    for (Index b = block.rank(); b < plan.block_count(); b += block.size()) {
      S m[9];
      matrix(b, m);
      for (int e = 0; e < 9; ++e) factor.blocks[b * 9 + e] = -m[e];
    }
    block.sync();
    for (Index level = 0; level < plan.level_count(); ++level) {
      for (Index i = plan.level_begin[level] + block.rank(); i < plan.level_begin[level + 1];
           i += block.size()) {
        const Index column = plan.level_columns[i];
        S m[9];
        for (int e = 0; e < 9; ++e) m[e] = -factor.blocks[plan.column_begin[column] * 9 + e];
        factorize_column_diagonal(column, m);
      }
      block.sync();
      const Index block0 = plan.level_block_begin[level];
      for (Index i = block.rank(); i < 3 * (plan.level_block_begin[level + 1] - block0); i += block.size()) {
        const Index b = plan.level_blocks[block0 + i / 3];
        S* const row = factor.blocks + b * 9 + 3 * (i % 3);
        for (int c = 0; c < 3; ++c) row[c] = -row[c];
        solve_row(factor.diagonals + plan.block_columns[b] * 6, row);
      }
      block.sync();
      // A thread that takes a whole block reads a third less than those of its rows, where there are enough.
      if (plan.update_begin[level + 1] - plan.update_begin[level] >= 2 * block.size())
        take_runs<3>(block, level);
      else
        take_runs<1>(block, level);
      block.sync();
    }
  }

  /// The updates that a level allows; a thread takes so many rows of a block.
  template <int Rows, class Block>
  ISOCLOTH_HD void take_runs(const Block& block, Index level) const {
    constexpr int parts = 3 / Rows;
    const Index run0 = plan.update_begin[level], count = plan.update_begin[level + 1] - run0;
    for (Index i = block.rank(); i < parts * count; i += block.size()) {
      const Index run = 3 * (run0 + i / parts);
      const int r = Rows * (i % parts);
      S* const rows = factor.blocks + plan.update_runs[run] * 9 + 3 * r;
      S m[3 * Rows];
      for (int e = 0; e < 3 * Rows; ++e) m[e] = rows[e];
      add_updates<Rows>(plan.update_runs[run + 1], plan.update_runs[run + 2], r, m);
      for (int e = 0; e < 3 * Rows; ++e) rows[e] = m[e];
    }
  }

  /// x_j = L_jj^-1 y, y = b_j - sum_k L_jk x_k.
  ISOCLOTH_HD void forward_diagonal(Index column, Vec3<S>& y) const {
    const S* d = factor.diagonals + column * 6;
    y.x = y.x * d[0];
    y.y = multiply_add(-d[1], y.x, y.y) * d[2];
    y.z = multiply_add(-d[4], y.y, multiply_add(-d[3], y.x, y.z)) * d[5];
  }
  /// x_j = L_jj^-T y, y = y_j - sum_i L_ij^T x_i, the last row first.
  ISOCLOTH_HD void backward_diagonal(Index column, Vec3<S>& y) const {
    const S* d = factor.diagonals + column * 6;
    y.z = y.z * d[5];
    y.y = multiply_add(-d[4], y.z, y.y) * d[2];
    y.x = multiply_add(-d[3], y.z, multiply_add(-d[1], y.y, y.x)) * d[0];
  }

  ISOCLOTH_HD void forward(Index column, Vec3<S>* x) const {
    Vec3<S> y = x[column];
    for (Index k = plan.row_begin[column]; k < plan.row_begin[column + 1]; ++k) {
      const Index b = plan.row_blocks[k];
      const S* m = factor.blocks + b * 9;
      const Vec3<S> v = -x[plan.block_columns[b]];
      y.x = dot_add({m[0], m[1], m[2]}, v, y.x);
      y.y = dot_add({m[3], m[4], m[5]}, v, y.y);
      y.z = dot_add({m[6], m[7], m[8]}, v, y.z);
    }
    forward_diagonal(column, y);
    x[column] = y;
  }
  ISOCLOTH_HD void backward(Index column, Vec3<S>* x) const {
    Vec3<S> y = x[column];
    for (Index b = plan.column_begin[column + 1] - 1; b > plan.column_begin[column]; --b) {
      const S* m = factor.blocks + b * 9;
      const Vec3<S> v = -x[plan.block_rows[b]];
      y.x = dot_add({m[0], m[3], m[6]}, v, y.x);
      y.y = dot_add({m[1], m[4], m[7]}, v, y.y);
      y.z = dot_add({m[2], m[5], m[8]}, v, y.z);
    }
    backward_diagonal(column, y);
    x[column] = y;
  }

  /// Solves in place; x in the order of the columns. Ends with a sync.
  template <class Block>
  ISOCLOTH_HD void solve(const Block& block, Vec3<S>* x) const {
    if constexpr (Block::is_solo) {
      for (Index column = 0; column < plan.column_count(); ++column) forward(column, x);
      for (Index column = plan.column_count() - 1; column >= 0; --column) backward(column, x);
    } else {
      solve_by_levels(block, x);
    }
  }

  /// See solve(). A thread takes one component of what a row or a column subtracts.
  template <class Block>
  ISOCLOTH_HD void solve_by_levels(const Block& block, Vec3<S>* x) const {
    S* const components = &x->x;
    for (Index level = 0; level < plan.level_count(); ++level) {
      for (Index i = plan.level_begin[level] + block.rank(); i < plan.level_begin[level + 1];
           i += block.size())
        forward_diagonal(plan.level_columns[i], x[plan.level_columns[i]]);
      block.sync();
      const Index run0 = plan.forward_begin[level];
      for (Index i = block.rank(); i < 3 * (plan.forward_begin[level + 1] - run0); i += block.size()) {
        const Index run = 3 * (run0 + i / 3), r = i % 3;
        S& y = components[3 * plan.forward_runs[run] + r];
        S sum = y;
        for (Index k = plan.forward_runs[run + 1]; k < plan.forward_runs[run + 2]; ++k) {
          const Index b = plan.row_blocks[k];
          const S* m = factor.blocks + b * 9 + 3 * r;
          sum = dot_add({m[0], m[1], m[2]}, -x[plan.block_columns[b]], sum);
        }
        y = sum;
      }
      block.sync();
    }
    for (Index level = plan.level_count() - 1; level >= 0; --level) {
      for (Index i = plan.level_begin[level] + block.rank(); i < plan.level_begin[level + 1];
           i += block.size())
        backward_diagonal(plan.level_columns[i], x[plan.level_columns[i]]);
      block.sync();
      const Index block0 = plan.backward_begin[level];
      for (Index i = block.rank(); i < 3 * (plan.backward_begin[level + 1] - block0); i += block.size()) {
        const Index b = plan.backward_blocks[block0 + i / 3], c = i % 3;
        const S* m = factor.blocks + b * 9 + c;
        S& y = components[3 * plan.block_columns[b] + c];
        y = dot_add({m[0], m[3], m[6]}, -x[plan.block_rows[b]], y);
      }
      block.sync();
    }
  }
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
