// The pieces of the conjugate gradient method on 3x3-block vectors.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/linear/columns.hpp"

namespace isocloth {

/// A symmetric matrix stored as its lower triangle, with an index of whole rows.
template <class Real>
struct SymmetricBlocksView {
  ArrayView<const Index> row_begin;  ///< shape [size + 1]
  ArrayView<const Index> columns;    ///< ascending within a row, shape [row_begin[size]]
  ArrayView<const Index> blocks;     ///< stored block, to be transposed where column > row; same shape
  ArrayView<const Real> values;      ///< row-major, shape [block_count, 9]
};

template <class Real>
struct BlockProduct {
  SymmetricBlocksView<Real> matrix;
  ArrayView<const Vec3<Real>> x;  ///< columns of shape [size]
  ArrayView<Vec3<Real>> y;        ///< A x, the same
  Columns columns{};
};

template <class Real>
struct PartialDots {
  ArrayView<const Vec3<Real>> a, b;  ///< columns of shape [size]
  Index size = 0;
  ArrayView<double> partials;  ///< shape [columns.count, dot_count(size)]
  Columns columns{};
};
/// Block rows that one partial dot product covers.
constexpr Index dot_chunk = 1024;
constexpr Index dot_count(Index size) { return (size + dot_chunk - 1) / dot_chunk; }

template <class Real>
struct DescendAlong {
  Real length = 0;                           ///< alpha
  ArrayView<const Vec3<Real>> direction;     ///< p, shape [size]
  ArrayView<const Vec3<Real>> product;       ///< A p, shape [size]
  ArrayView<Vec3<Real>> solution, residual;  ///< x += alpha p, r -= alpha A p; shape [size]
};

template <class Real>
struct TurnDirection {
  Real weight = 0;                    ///< beta
  ArrayView<const Vec3<Real>> start;  ///< z, shape [size]
  ArrayView<Vec3<Real>> direction;    ///< p = z + beta p, shape [size]
};

namespace ISOCLOTH_BACKEND {
/// y = A x, each row gathered in the order of its columns: read once for six vectors. One item per block row,
/// O(blocks in the row).
template <class Real>
void block_product(const Queue& queue, const BlockProduct<Real>& args);
/// a.b of each column chunk by chunk, summed in double in an order that depends on nothing but the size: 32
/// interleaved sums per chunk, added in order. One block per chunk.
template <class Real>
void partial_dots(const Queue& queue, const PartialDots<Real>& args);
/// x += alpha p, r -= alpha A p. One item per block row.
template <class Real>
void update_solution(const Queue& queue, const DescendAlong<Real>& args);
/// p = z + beta p. One item per block row.
template <class Real>
void update_direction(const Queue& queue, const TurnDirection<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
