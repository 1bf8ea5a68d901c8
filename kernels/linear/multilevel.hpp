// Two-level overlapping Schwarz preconditioner: subdomains solved by envelope Cholesky, and translations of
// disjoint cells as the coarse space.
#pragma once

#include "kernels/linear/pcg.hpp"

namespace isocloth {

/// Overlapping subdomains. Local rows of all subdomains lie behind each other; a local row's part of the
/// factor reaches from its first local column to its diagonal block, as three rows of scalars.
struct SubdomainsView {
  ArrayView<const Index> begin;               ///< local rows of each subdomain, shape [subdomain_count + 1]
  ArrayView<const Index> nodes;               ///< block row of each local row, shape [local_count]
  ArrayView<const Index> first;               ///< local row of the first column, shape [local_count]
  ArrayView<const Index> reach;               ///< last local row whose envelope holds this column
  ArrayView<const std::size_t> factor_begin;  ///< shape [local_count + 1]
  ArrayView<const Index> entry_begin;         ///< matrix blocks of each local row, shape [local_count + 1]
  ArrayView<const Index> entry_columns;       ///< local row of the column
  ArrayView<const Index> entry_blocks;        ///< stored block, to be transposed where the row's node is less
};

template <class Real>
struct FactorizeSubdomains {
  SubdomainsView subdomains;
  ArrayView<const Real> values;        ///< shape [block_count, 9]
  ArrayView<const Vec3<Real>> scales;  ///< diag(A)^-1/2, shape [size]
  float shift = 0;  ///< added to the scaled matrix, whose diagonal is 1; > 0: only where `failed` says so
  ArrayView<float> factor;  ///< shape [factor_begin[local_count]]
  ArrayView<Index> failed;  ///< first local row with a bad pivot, -1: none; [subdomain_count]
};

template <class Real>
struct SolveSubdomains {
  SubdomainsView subdomains;
  ArrayView<const float> factor;
  ArrayView<const Vec3<Real>> scales;    ///< shape [size]
  ArrayView<const Vec3<Real>> residual;  ///< shape [size]
  ArrayView<float> local;                ///< scaled solutions, shape [local_count, 3]
};

template <class Real>
struct SumSubdomains {
  ArrayView<const Index> copy_begin, copies;  ///< local rows of each block row, shape [size + 1]
  ArrayView<const float> local;               ///< shape [local_count, 3]
  ArrayView<const Vec3<Real>> scales;         ///< shape [size]
  ArrayView<Vec3<Real>> sum;                  ///< sum_s R_s^T A_s^-1 R_s r, shape [size]
};

/// W = A P, where P copies a cell's vector to its nodes.
template <class Real>
struct CellProductView {
  ArrayView<const Index> row_begin;   ///< shape [size + 1]
  ArrayView<const Index> cells;       ///< shape [row_begin[size]]
  ArrayView<const Real> values;       ///< row-major, shape [row_begin[size], 9]
  ArrayView<const Index> cell_begin;  ///< entries of each cell, shape [cell_count + 1]
  ArrayView<const Index> cell_rows, cell_entries;
};

template <class Real>
struct AssembleCellProduct {
  SymmetricBlocksView<Real> matrix;
  ArrayView<const Index> row_begin;  ///< first entry of each row of W, shape [size + 1]
  ArrayView<const Index> entries;    ///< entry of W for each entry of a whole row of A
  ArrayView<Real> values;            ///< W
};

template <class Real>
struct RestrictToCells {
  ArrayView<const Index> cell_begin, cell_rows;  ///< block rows of each cell
  CellProductView<Real> product;                 ///< empty: P^T, else W^T
  ArrayView<const Vec3<Real>> x;                 ///< shape [size]
  ArrayView<Vec3<Real>> y;                       ///< shape [cell_count]
};

template <class Real>
struct SubtractCellProduct {
  CellProductView<Real> product;
  ArrayView<const Vec3<Real>> coarse;    ///< y, shape [cell_count]
  ArrayView<const Vec3<Real>> residual;  ///< r, shape [size]
  ArrayView<Vec3<Real>> result;          ///< r - W y, shape [size]
};

template <class Real>
struct AddCells {
  ArrayView<const Index> cell_of;             ///< shape [size]
  ArrayView<const Vec3<Real>> before, after;  ///< Q r and Q A s, shape [cell_count]
  ArrayView<Vec3<Real>> result;               ///< s + P (before - after), shape [size]
};

namespace ISOCLOTH_BACKEND {
/// Envelope (skyline) Cholesky of every S (R A R^T) S + shift I in single precision, S = scales: left-looking
/// by block columns (George and Liu 1981, chapter 4). A bad pivot is noted and replaced by 1. One block per
/// subdomain, O(rows envelope^2).
template <class Real>
void factorize_subdomains(const Queue& queue, const FactorizeSubdomains<Real>& args);
/// Forward and backward substitution. One block per subdomain, O(factor).
template <class Real>
void solve_subdomains(const Queue& queue, const SolveSubdomains<Real>& args);
/// One item per block row.
template <class Real>
void sum_subdomains(const Queue& queue, const SumSubdomains<Real>& args);
/// One item per block row.
template <class Real>
void assemble_cell_product(const Queue& queue, const AssembleCellProduct<Real>& args);
/// P^T x or W^T x. One block per cell; 32 interleaved sums, added in order.
template <class Real>
void restrict_to_cells(const Queue& queue, const RestrictToCells<Real>& args);
/// One item per block row.
template <class Real>
void subtract_cell_product(const Queue& queue, const SubtractCellProduct<Real>& args);
/// One item per block row.
template <class Real>
void add_cells(const Queue& queue, const AddCells<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
