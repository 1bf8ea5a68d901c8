// Cholesky factorisation of many systems that share one sparse pattern of 3x3 blocks.
//
// Left-looking, block column by block column; the pattern was analysed on the host. One lane value holds one
// system, or several side by side. The threads of a block share a level of the elimination tree; a block of
// one goes through the columns in postorder. Every entry is computed by the same operations either way.
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
  /// Takes the updates of block b from its rows [r, r + Rows).
  template <int Rows>
  ISOCLOTH_HD void update(Index b, int r, S* m) const {
    for (int e = 0; e < 3 * Rows; ++e) m[e] = -m[e];  // the sum is taken with the sign turned
    add_updates<Rows>(plan.pair_begin[b], plan.pair_begin[b + 1], r, m);
    for (int e = 0; e < 3 * Rows; ++e) m[e] = -m[e];
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

  ISOCLOTH_HD void factorize_column_diagonal(Index column, S (&m)[9]) const {
    S d[6];
    update<3>(plan.column_begin[column], 0, m);
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
        factorize_column_diagonal(column, m);
      };
      const auto below = [&](Index column, Index b) {
        S m[9];
        matrix(b, m);
        update<3>(b, 0, m);
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
      // All threads have work in the assembly, few in the first and last levels: it comes first.
      for (Index b = block.rank(); b < plan.block_count(); b += block.size()) {
        S m[9];
        matrix(b, m);
        for (int e = 0; e < 9; ++e) factor.blocks[b * 9 + e] = m[e];
      }
      block.sync();
      for (Index level = 0; level < plan.level_count(); ++level) {
        const Index column0 = plan.level_begin[level], columns = plan.level_begin[level + 1] - column0;
        const Index block0 = plan.level_block_begin[level],
                    rows = 3 * (plan.level_block_begin[level + 1] - block0);
        // Rows of blocks first, one per thread; the last threads, which have fewer, take the diagonals.
        for (Index i = block.rank(); i < rows; i += block.size()) {
          const Index b = plan.level_blocks[block0 + i / 3];
          S* row = factor.blocks + b * 9 + 3 * (i % 3);
          S m[3] = {row[0], row[1], row[2]};
          update<1>(b, i % 3, m);
          for (int c = 0; c < 3; ++c) row[c] = m[c];
        }
        for (Index i = block.size() - 1 - block.rank(); i < columns; i += block.size()) {
          const Index column = plan.level_columns[column0 + i];
          S m[9];
          for (int e = 0; e < 9; ++e) m[e] = factor.blocks[plan.column_begin[column] * 9 + e];
          factorize_column_diagonal(column, m);
        }
        block.sync();
        for (Index i = block.rank(); i < rows; i += block.size()) {
          const Index b = plan.level_blocks[block0 + i / 3];
          solve_row(factor.diagonals + plan.block_columns[b] * 6, factor.blocks + b * 9 + 3 * (i % 3));
        }
        block.sync();
      }
    }
  }

  /// y_j = L_jj^-1 (b_j - sum_k L_jk y_k).
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
    const S* d = factor.diagonals + column * 6;
    y.x = y.x * d[0];
    y.y = multiply_add(-d[1], y.x, y.y) * d[2];
    y.z = multiply_add(-d[4], y.y, multiply_add(-d[3], y.x, y.z)) * d[5];
    x[column] = y;
  }

  /// x_j = L_jj^-T (y_j - sum_i L_ij^T x_i).
  ISOCLOTH_HD void backward(Index column, Vec3<S>* x) const {
    Vec3<S> y = x[column];
    for (Index b = plan.column_begin[column] + 1; b < plan.column_begin[column + 1]; ++b) {
      const S* m = factor.blocks + b * 9;
      const Vec3<S> v = -x[plan.block_rows[b]];
      y.x = dot_add({m[0], m[3], m[6]}, v, y.x);
      y.y = dot_add({m[1], m[4], m[7]}, v, y.y);
      y.z = dot_add({m[2], m[5], m[8]}, v, y.z);
    }
    const S* d = factor.diagonals + column * 6;
    y.z = y.z * d[5];
    y.y = multiply_add(-d[4], y.z, y.y) * d[2];
    y.x = multiply_add(-d[3], y.z, multiply_add(-d[1], y.y, y.x)) * d[0];
    x[column] = y;
  }

  /// Solves in place; x in the order of the columns. Ends with a sync.
  template <class Block>
  ISOCLOTH_HD void solve(const Block& block, Vec3<S>* x) const {
    if constexpr (Block::is_solo) {
      for (Index column = 0; column < plan.column_count(); ++column) forward(column, x);
      for (Index column = plan.column_count() - 1; column >= 0; --column) backward(column, x);
    } else {
      const Index levels = plan.level_count();
      for (Index turn = 0; turn < 2 * levels; ++turn) {
        const Index level = turn < levels ? turn : 2 * levels - 1 - turn;
        const Index column0 = plan.level_begin[level], columns = plan.level_begin[level + 1] - column0;
        for (Index i = block.rank(); i < columns; i += block.size()) {
          const Index column = plan.level_columns[column0 + i];
          turn < levels ? forward(column, x) : backward(column, x);
        }
        block.sync();
      }
    }
  }
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
