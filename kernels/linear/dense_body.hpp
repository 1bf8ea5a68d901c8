// The source of every build of the dense kernels. The including file defines ISOCLOTH_SIMD_BYTES, the width
// of its vectors. No standard library here: an inline function shared with files of other flags could be
// linked from the wrong one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/dense_kernels.hpp"

#ifndef ISOCLOTH_SIMD_BYTES
#define ISOCLOTH_SIMD_BYTES 16
#endif
#if ISOCLOTH_SIMD_BYTES == 64
#define ISOCLOTH_SIMD simd_avx512
#define ISOCLOTH_SIMD_NAME "avx512"
#elif ISOCLOTH_SIMD_BYTES == 32
#define ISOCLOTH_SIMD simd_avx2
#define ISOCLOTH_SIMD_NAME "avx2"
#else
#define ISOCLOTH_SIMD simd_sse2
#define ISOCLOTH_SIMD_NAME "sse2"
#endif

namespace isocloth::ISOCLOTH_SIMD {
namespace {

constexpr bool wide = ISOCLOTH_SIMD_BYTES == 64;  // 32 registers instead of 16

template <class Real>
struct Vector;
template <>
struct Vector<float> {
  typedef float type __attribute__((vector_size(ISOCLOTH_SIMD_BYTES), may_alias));
};
template <>
struct Vector<double> {
  typedef double type __attribute__((vector_size(ISOCLOTH_SIMD_BYTES), may_alias));
};

/// Integers as wide as a scalar: masks.
template <class Real>
struct Bits;
template <>
struct Bits<float> {
  using type = std::int32_t;
};
template <>
struct Bits<double> {
  using type = std::int64_t;
};

template <class Real>
struct Strip {
  using V = typename Vector<Real>::type;
  static constexpr int height = strip_height<Real>;
  static constexpr int lanes = ISOCLOTH_SIMD_BYTES / static_cast<int>(sizeof(Real));
  static constexpr int vectors = height / lanes;  ///< per column
  static V& at(Real* p) { return *reinterpret_cast<V*>(p); }
  static const V& at(const Real* p) { return *reinterpret_cast<const V*>(p); }
};

constexpr int depth_chunk = 128;           ///< columns whose strips stay in the first cache
constexpr int most_strips = wide ? 3 : 1;  ///< row strips per register tile
constexpr int tile_columns = wide ? 8 : ISOCLOTH_SIMD_BYTES == 32 ? 4 : 2;

/// Register tile: S row strips by `tile_columns` columns.
template <class Real, int S>
inline __attribute__((always_inline)) void update_register_tile(Real* const* c, std::ptrdiff_t offset,
                                                                const Real* a, const Real* b,
                                                                std::ptrdiff_t stride, int depth) {
  using T = Strip<Real>;
  using V = typename T::V;
  constexpr int rows = S * T::vectors;
  V sum[tile_columns][rows] = {};
  for (int k = 0; k < depth; ++k) {
    V left[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
      left[r] = T::at(a + (r / T::vectors) * stride + k * T::height + (r % T::vectors) * T::lanes);
#pragma GCC unroll 16
    for (int n = 0; n < tile_columns; ++n) {
      const Real right = b[k * T::height + n];
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) sum[n][r] += left[r] * right;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    Real* column = c[r / T::vectors] + offset + (r % T::vectors) * T::lanes;
#pragma GCC unroll 16
    for (int n = 0; n < tile_columns; ++n) T::at(column + n * T::height) -= sum[n][r];
  }
}

/// The columns of one column strip for S row strips.
template <class Real, int S>
void update_strips(Real* const* c, std::ptrdiff_t offset, const Real* a, const Real* b, std::ptrdiff_t stride,
                   int depth) {
  constexpr int height = strip_height<Real>;
  for (int n = 0; n < height; n += tile_columns)
    update_register_tile<Real, S>(c, offset + n * height, a, b + n, stride, depth);
}

template <class Real>
void update_strips(int rows, Real* const* c, std::ptrdiff_t offset, const Real* a, const Real* b,
                   std::ptrdiff_t stride, int depth) {
  if constexpr (most_strips > 2)
    if (rows == 3) return update_strips<Real, 3>(c, offset, a, b, stride, depth);
  if constexpr (most_strips > 1)
    if (rows == 2) return update_strips<Real, 2>(c, offset, a, b, stride, depth);
  update_strips<Real, 1>(c, offset, a, b, stride, depth);
}

template <class Real>
void update(const StripUpdate<Real>& u) {
  constexpr int height = strip_height<Real>;
  for (int begin = 0; begin < u.depth; begin += depth_chunk) {
    const int depth = u.depth - begin < depth_chunk ? u.depth - begin : depth_chunk;
    const Real *a = u.a + begin * height, *b = u.b + begin * height;
    for (int i = 0; i < u.rows; i += most_strips) {
      const int rows = u.rows - i < most_strips ? u.rows - i : most_strips;
      const int columns = u.lower && i + rows < u.columns ? i + rows : u.columns;
      for (int j = 0; j < columns; ++j) {
        const int skip = u.lower && j > i ? j - i : 0;  // strips above the diagonal
        update_strips<Real>(rows - skip, u.c + i + skip, std::ptrdiff_t{j} * height * height,
                            a + (i + skip) * u.stride, b + j * u.stride, u.stride, depth);
      }
    }
  }
}

/// Cholesky of one strip's diagonal square, `pivots` columns; reciprocals on the diagonal.
template <class Real>
int factor_square(Real* square, int pivots) {
  using T = Strip<Real>;
  constexpr int height = T::height;
  constexpr Real largest =
      sizeof(Real) == sizeof(float) ? static_cast<Real>(__FLT_MAX__) : static_cast<Real>(__DBL_MAX__);
  for (int c = 0; c < pivots; ++c) {
    Real* column = square + c * height;
    const Real pivot = column[c];
    if (!(pivot > 0 && pivot <= largest)) return c;
    Real root;
    if constexpr (sizeof(Real) == sizeof(float))
      root = __builtin_sqrtf(pivot);
    else
      root = __builtin_sqrt(pivot);
    const Real reciprocal = 1 / root;
    for (int v = 0; v < height; v += T::lanes) T::at(column + v) *= reciprocal;
    for (int e = c + 1; e < pivots; ++e)
      for (int v = 0; v < height; v += T::lanes)
        T::at(square + e * height + v) -= T::at(column + v) * column[e];
    column[c] = reciprocal;
  }
  for (int c = pivots; c < height; ++c)
    for (int r = 0; r < height; ++r) square[c * height + r] = 0;
  return -1;
}

/// X := X L^-T for a vector of rows against `pivots` columns of one strip's diagonal square.
template <class Real>
inline __attribute__((always_inline)) void solve_square(Real* x, const Real* square, int pivots) {
  using T = Strip<Real>;
  constexpr int height = T::height;
  typename T::V columns[height];
#pragma GCC unroll 16
  for (int c = 0; c < height; ++c) columns[c] = T::at(x + c * height);
#pragma GCC unroll 16
  for (int c = 0; c < height; ++c) {
    if (c >= pivots) break;
    columns[c] *= square[c * height + c];
    T::at(x + c * height) = columns[c];
#pragma GCC unroll 16
    for (int d = c + 1; d < height; ++d) columns[d] -= columns[c] * square[c * height + d];
  }
}

/// Column strip j of `rows` row strips: less what columns [0, j) give, then solved with square j of the tile,
/// of which so many columns are pivots; 0: not solved.
template <class Real>
void finish_column_strip(Real* x, std::ptrdiff_t stride, int rows, const Real* tile, int j, int pivots) {
  using T = Strip<Real>;
  constexpr int height = T::height;
  const std::ptrdiff_t offset = std::ptrdiff_t{j} * height * height;
  for (int i = 0; i < rows; i += most_strips) {
    const int count = rows - i < most_strips ? rows - i : most_strips;
    Real* c[most_strips];
    for (int s = 0; s < count; ++s) c[s] = x + (i + s) * stride;
    if (j > 0) update_strips<Real>(count, c, offset, x + i * stride, tile + j * stride, stride, j * height);
    if (pivots == 0) continue;
    const Real* square = tile + j * stride + offset;
    for (int s = 0; s < count; ++s)
      for (int v = 0; v < height; v += T::lanes) solve_square<Real>(c[s] + offset + v, square, pivots);
  }
}

/// Number of pivots in square j of a tile of so many pivots.
template <class Real>
constexpr int square_pivots(int pivots, int j) {
  constexpr int height = strip_height<Real>;
  return pivots - j * height < height ? pivots - j * height : height;
}
template <class Real>
constexpr int strips_of(int pivots) {
  return (pivots + strip_height<Real> - 1) / strip_height<Real>;
}

template <class Real>
int factor(Real* tile, std::ptrdiff_t stride, int strips, int pivots) {
  constexpr int height = strip_height<Real>;
  for (int j = 0; j < strips; ++j) {
    Real* strip = tile + j * stride;
    finish_column_strip<Real>(strip, stride, 1, tile, j, 0);
    const int count = square_pivots<Real>(pivots, j);
    const int failed = factor_square<Real>(strip + std::ptrdiff_t{j} * height * height, count);
    if (failed >= 0) return j * height + failed;
    finish_column_strip<Real>(strip + stride, stride, strips - j - 1, tile, j, count);
  }
  return -1;
}

template <class Real>
void solve_rows(Real* x, std::ptrdiff_t stride, int rows, const Real* tile, int pivots) {
  for (int j = 0; j < strips_of<Real>(pivots); ++j)
    finish_column_strip<Real>(x, stride, rows, tile, j, square_pivots<Real>(pivots, j));
}

/// x_i -= L_i x for one row strip and R vectors, columns [0, depth); depth is one of kept_columns(). Each
/// vector's sums are those of any other R.
template <class Real, int R>
void subtract_product(const Real* strip, int depth, const Real* x, Real* xi, std::ptrdiff_t x_stride) {
  using T = Strip<Real>;
  using V = typename T::V;
  constexpr int chains = 4;  // sums in flight: one waits for itself
  for (int v = 0; v < T::height; v += T::lanes) {
    V sum[chains][R] = {};
    for (int c = 0; c < depth; c += chains)
#pragma GCC unroll 4
      for (int h = 0; h < chains; ++h) {
        const V column = T::at(strip + (c + h) * T::height + v);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[h][r] += column * x[r * x_stride + c + h];
      }
    for (int r = 0; r < R; ++r) {
      V total = sum[0][r];
      for (int h = 1; h < chains; ++h) total += sum[h][r];
      T::at(xi + r * x_stride + v) -= total;
    }
  }
}

template <class Real, int R>
void forward_vectors(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride) {
  using T = Strip<Real>;
  constexpr int height = T::height;
  const int pivot_strips = strips_of<Real>(pivots);
  const std::ptrdiff_t stride = std::ptrdiff_t{pivot_strips} * height * height;
  for (int i = 0; i < total; ++i) {
    const Real* strip = panel + i * stride;
    Real* xi = x + i * height;
    subtract_product<Real, R>(strip, i < pivot_strips ? i * height : kept_columns(pivots), x, xi, x_stride);
    if (i >= pivot_strips) continue;
    const Real* square = strip + std::ptrdiff_t{i} * height * height;
    const int count = square_pivots<Real>(pivots, i);
    Real y[R][height];
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < height; ++c) y[r][c] = xi[r * x_stride + c];
#pragma GCC unroll 16
    for (int c = 0; c < height; ++c) {
      if (c >= count) break;
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        y[r][c] *= square[c * height + c];
        xi[r * x_stride + c] = y[r][c];
#pragma GCC unroll 16
        for (int d = c + 1; d < height; ++d) y[r][d] -= y[r][c] * square[c * height + d];
      }
    }
  }
}

/// sums[c] += L_i(:, c) x_i for S row strips of a front and the columns of a chunk; lane l of a sum takes the
/// products of the strips' rows l.
template <class Real, int R, int S>
void add_transposed_products(const Real* strip, std::ptrdiff_t stride, int columns, const Real* x,
                             std::ptrdiff_t x_stride, typename Vector<Real>::type (*sums)[R]) {
  using T = Strip<Real>;
  using V = typename T::V;
  constexpr int rows = S * T::vectors;
  V xi[rows][R];
  for (int i = 0; i < rows; ++i)
    for (int r = 0; r < R; ++r) xi[i][r] = T::at(x + r * x_stride + i * T::lanes);
  for (int c = 0; c < columns; ++c) {
    V sum[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r] = sums[c][r];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const V column = T::at(strip + (i / T::vectors) * stride + c * T::height + (i % T::vectors) * T::lanes);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r] += column * xi[i][r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sums[c][r] = sum[r];
  }
}

template <class Real, int R>
void backward_vectors(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride) {
  using T = Strip<Real>;
  using V = typename T::V;
  constexpr int height = T::height;
  constexpr int chunk = 64 / height;  // column strips whose sums stay in the first cache
  constexpr int together = wide ? 4 : 2;
  const int pivot_strips = strips_of<Real>(pivots);
  const std::ptrdiff_t stride = std::ptrdiff_t{pivot_strips} * height * height;
  for (int end = pivot_strips; end > 0; end -= chunk) {
    const int begin = end > chunk ? end - chunk : 0;
    const int all = (end - begin) * height, kept = kept_columns(pivots) - begin * height;
    const int count = all < kept ? all : kept;
    V sums[chunk * height][R];
    for (int c = 0; c < count; ++c)
      for (int r = 0; r < R; ++r) sums[c][r] = V{};
    const Real* columns = panel + std::ptrdiff_t{begin} * height * height;
    int i = end;
    for (; i + together <= total; i += together)
      add_transposed_products<Real, R, together>(columns + i * stride, stride, count, x + i * height,
                                                 x_stride, sums);
    for (; i < total; ++i)
      add_transposed_products<Real, R, 1>(columns + i * stride, stride, count, x + i * height, x_stride,
                                          sums);
    for (int j = end - 1; j >= begin; --j) {
      const Real* square = panel + j * stride + std::ptrdiff_t{j} * height * height;
      const int own = square_pivots<Real>(pivots, j);
      for (int r = 0; r < R; ++r) {
        Real* const y = x + r * x_stride + j * height;
        for (int c = 0; c < own; ++c)
          for (int l = 0; l < T::lanes; ++l) y[c] -= sums[(j - begin) * height + c][r][l];
        // A solved unknown leaves those before it at once: they need not wait for each other.
        for (int c = own - 1; c >= 0; --c) {
          const Real solved = y[c] * square[c * height + c];
          y[c] = solved;
          for (int b = 0; b < c; ++b) y[b] -= square[b * height + c] * solved;
        }
      }
      add_transposed_products<Real, R, 1>(columns + j * stride, stride, (j - begin) * height, x + j * height,
                                          x_stride, sums);
    }
  }
}

template <class Real>
void add_columns(const StripAdd<Real>& add) {
  using T = Strip<Real>;
  using V = typename T::V;
  typedef typename Bits<Real>::type Mask __attribute__((vector_size(ISOCLOTH_SIMD_BYTES), may_alias));
  typedef typename Vector<Real>::type Unaligned __attribute__((aligned(sizeof(Real)), may_alias));
  constexpr int height = T::height, vectors = T::vectors, lanes = T::lanes;
  Mask keep[vectors];
  for (int v = 0; v < vectors; ++v)
    for (int l = 0; l < lanes; ++l)
      keep[v][l] = v * lanes + l >= add.begin && v * lanes + l < add.end ? -1 : 0;
  for (int j = 0; j < add.count; ++j) {
    const Real* from = add.source + j * height;
    Real* to = add.target + std::ptrdiff_t{add.columns[j] - add.first_column} * height;
    for (int v = 0; v < vectors; ++v) {
      const V column = *reinterpret_cast<const Unaligned*>(from + v * lanes);
      T::at(to + v * lanes) += reinterpret_cast<V>(reinterpret_cast<Mask>(column) & keep[v]);
    }
  }
}

/// solve(x, R) for as many vectors at once as fit into registers, their sums included.
template <class Real, class Solve>
void in_groups(Real* x, std::ptrdiff_t x_stride, int count, const Solve& solve) {
  for (; count >= 3; count -= 3, x += 3 * x_stride) solve.template operator()<3>(x);
  if (count == 2) solve.template operator()<2>(x);
  if (count == 1) solve.template operator()<1>(x);
}

template <class Real>
void forward(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride, int count) {
  in_groups(x, x_stride, count,
            [=]<int R>(Real* vectors) { forward_vectors<Real, R>(panel, pivots, total, vectors, x_stride); });
}

template <class Real>
void backward(const Real* panel, int pivots, int total, Real* x, std::ptrdiff_t x_stride, int count) {
  in_groups(x, x_stride, count, [=]<int R>(Real* vectors) {
    backward_vectors<Real, R>(panel, pivots, total, vectors, x_stride);
  });
}

template <class Real>
constexpr DenseKernels<Real> kernels_of(const char* name) {
  return {.name = name,
          .update = update<Real>,
          .factor = factor<Real>,
          .solve_rows = solve_rows<Real>,
          .add_columns = add_columns<Real>,
          .forward = forward<Real>,
          .backward = backward<Real>};
}

}  // namespace

extern const DenseKernels<float> float32;
extern const DenseKernels<double> float64;
const DenseKernels<float> float32 = kernels_of<float>(ISOCLOTH_SIMD_NAME);
const DenseKernels<double> float64 = kernels_of<double>(ISOCLOTH_SIMD_NAME);

}  // namespace isocloth::ISOCLOTH_SIMD
