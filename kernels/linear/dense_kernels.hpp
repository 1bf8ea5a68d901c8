// Dense Cholesky on strips: the arithmetic of a front, built for each instruction set from one source.
//
// A strip is strip_height rows, one cache line high, stored column after column: a column of a strip is a
// whole vector, and eight of its rows are the operands that a product broadcasts. Nothing is ever packed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isocloth {

/// Rows per strip: 64 bytes.
template <class Real>
constexpr int strip_height = 64 / static_cast<int>(sizeof(Real));

/// Columns of a panel that are kept: those of its pivots, then zeros up to a whole group of four. Strips have
/// room for more; what is there is not read.
constexpr int kept_columns(int pivots) { return (pivots + 3) / 4 * 4; }

/// c_i(:, j) -= a_i b_j^T for row strips i and column strips j.
template <class Real>
struct StripUpdate {
  Real* const* c;         ///< first scalar of the first column of each row strip, shape [rows]
  const Real* a;          ///< row strips `stride` apart, columns [0, depth)
  const Real* b;          ///< column strips `stride` apart, columns [0, depth)
  std::ptrdiff_t stride;  ///< scalars from strip to strip in a and in b
  int rows;               ///< row strips
  int columns;            ///< column strips
  int depth;              ///< columns of a and b
  bool lower;             ///< only strips j <= i: rows and columns are the same strips
};

/// Adds lanes [begin, end) of columns of one strip to the same lanes of columns of another. All lanes of the
/// source are read: where its rows begin at another lane, `source` points that much off its column.
template <class Real>
struct StripAdd {
  const Real* source;           ///< columns one after another
  Real* target;                 ///< column `first_column` of the strip
  int begin, end;               ///< lanes
  const std::int32_t* columns;  ///< where each column goes, shape [count]
  std::int32_t first_column;
  int count;
};

/// Functions of one instruction set. Strips begin on 64 bytes. L's diagonal holds reciprocals.
template <class Real>
struct DenseKernels {
  const char* name;
  void (*update)(const StripUpdate<Real>&);
  /// Factors a diagonal tile of `strips` row strips, `pivots` columns; those past them in its last square
  /// become zero. Returns the first column whose pivot is not a positive finite number, or -1.
  int (*factor)(Real* tile, std::ptrdiff_t stride, int strips, int pivots);
  /// X := X L^-T for `rows` row strips against a factored tile of `pivots` columns.
  void (*solve_rows)(Real* x, std::ptrdiff_t stride, int rows, const Real* tile, int pivots);
  void (*add_columns)(const StripAdd<Real>&);
  /// Forward substitution with a front's [pivots; rows] panel of the strips of `pivots` and then further
  /// ones, `total` in all: x_1 := L_11^-1 x_1, x_2 := x_2 - L_21 x_1. x: `count` vectors, `x_stride` apart, 0
  /// between the parts.
  void (*forward)(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride, int count);
  /// Backward substitution with the panel of `forward`: x_1 := L_11^-T (x_1 - L_21^T x_2).
  void (*backward)(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride, int count);
};

enum class InstructionSet { sse2, avx2, avx512 };

/// Kernels of an instruction set; null when the machine or the build lacks it. `sse2` is always there (on
/// other processors: the compiler's vectors of 16 bytes).
template <class Real>
const DenseKernels<Real>* find_dense_kernels(InstructionSet set);

/// The fastest that the machine has.
template <class Real>
const DenseKernels<Real>& dense_kernels();

}  // namespace isocloth
