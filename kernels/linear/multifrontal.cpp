#include "kernels/linear/multifrontal.hpp"

#include <algorithm>

namespace isocloth {
namespace {

template <class Real>
Real* update_matrix(const FrontMemory<Real>& memory, const Front& front) {
  return (front.in_subtree ? memory.local : memory.shared) + front.update;
}

/// A tile of a front: strip pointers, and the rows and columns of the front that it covers.
template <class Real>
struct Tile {
  static constexpr Index height = strip_height<Real>;
  Index row_begin, row_end, column_begin, column_end;
  Real* strips[front_tile / height];  ///< row strips at column_begin

  Real& at(Index row, Index column) const {
    const Index r = row - row_begin;
    return strips[r / height][(column - column_begin) * height + r % height];
  }
};

struct Range {
  Index begin, end;
};

/// Padded rows of tile i.
Range tile_range(const Front& front, Index i) {
  const Index pivot_tiles = tile_count(front.padded_pivots);
  if (i < pivot_tiles) return {i * front_tile, std::min((i + 1) * front_tile, front.padded_pivots)};
  const Index begin = front.padded_pivots + (i - pivot_tiles) * front_tile;
  return {begin, std::min(begin + front_tile, front.padded_size())};
}

template <class Real>
Tile<Real> make_tile(const FrontMemory<Real>& memory, const Front& front, Index i, Index j) {
  constexpr Index height = strip_height<Real>;
  const Range rows = tile_range(front, i), columns = tile_range(front, j);
  Tile<Real> tile{.row_begin = rows.begin,
                  .row_end = rows.end,
                  .column_begin = columns.begin,
                  .column_end = columns.end,
                  .strips = {}};
  for (Index r = rows.begin; r < rows.end; r += height) {
    Real* strip =
        columns.begin < front.padded_pivots
            ? memory.factor + front.panel + static_cast<std::size_t>(r) * front.padded_pivots +
                  columns.begin * height
            : update_matrix(memory, front) +
                  update_strip(static_cast<std::size_t>((r - front.padded_pivots) / height), height) +
                  static_cast<std::size_t>(columns.begin - front.padded_pivots) * height;
    tile.strips[(r - rows.begin) / height] = strip;
    Index end = i == j ? std::min(columns.end, r + height) : columns.end;  // the diagonal ends a strip
    if (columns.begin < front.padded_pivots) end = std::min<Index>(end, kept_columns(front.pivots));
    std::fill(strip, strip + static_cast<std::size_t>(end - columns.begin) * height, Real(0));
  }
  return tile;
}

/// Puts the blocks of the matrix that meet the tile into it; before anything else is added there.
template <class Real, int N>
void place_entries(const MultifrontalPlan& plan, const Real* values, const Front& front,
                   const Tile<Real>& tile) {
  constexpr Index height = strip_height<Real>;
  const FrontEntry* end = plan.entries.data() + front.entry_end;
  const FrontEntry* entry =
      std::partition_point(plan.entries.data() + front.entry_begin, end,
                           [&](const FrontEntry& e) { return e.column + N <= tile.column_begin; });
  for (; entry != end && entry->column < tile.column_end; ++entry) {
    if (entry->row + N <= tile.row_begin || entry->row >= tile.row_end) continue;
    const Real* block = values + static_cast<std::size_t>(entry->block) * N * N;
    const int row_step = entry->transposed ? 1 : N, column_step = entry->transposed ? N : 1;
    const bool whole = entry->row > entry->column && entry->row >= tile.row_begin &&
                       entry->row + N <= tile.row_end && entry->column >= tile.column_begin &&
                       entry->column + N <= tile.column_end;
    for (int r = 0; r < N; ++r) {
      const Index row = entry->row + r;
      if (whole) {
        Real* to = &tile.at(row, entry->column);
        for (int c = 0; c < N; ++c) to[c * height] = block[r * row_step + c * column_step];
        continue;
      }
      for (int c = 0; c < N; ++c)
        if (const Index column = entry->column + c; row >= column && row >= tile.row_begin &&
                                                    row < tile.row_end && column >= tile.column_begin &&
                                                    column < tile.column_end)
          tile.at(row, column) = block[r * row_step + c * column_step];
    }
  }
}

/// Extend-add: the part of a child's update matrix that meets the tile.
template <class Real>
void add_update(const MultifrontalPlan& plan, const FrontMemory<Real>& memory,
                const DenseKernels<Real>& dense, const Front& child, const Tile<Real>& tile) {
  constexpr Index height = strip_height<Real>;
  const Index* relative = plan.relative.data() + child.relative;
  const Index* relative_end = relative + child.rows;
  const auto place = [&](Index row) {
    return static_cast<Index>(std::lower_bound(relative, relative_end, row) - relative);
  };
  const Index i_begin = place(tile.row_begin), i_end = place(tile.row_end);
  const Index j_begin = place(tile.column_begin), j_end = place(tile.column_end);
  if (i_begin == i_end || j_begin == j_end) return;
  const Real* matrix = update_matrix(memory, child);
  for (Index strip = i_begin / height; strip * height < i_end; ++strip) {
    const Index first = strip * height;
    const Index lane_begin = std::max(i_begin, first) - first,
                lane_end = std::min(i_end, first + height) - first;
    Real* rows[height];
    for (Index lane = lane_begin; lane < lane_end; ++lane)
      rows[lane] = &tile.at(relative[first + lane], tile.column_begin);
    const Real* source = matrix + update_strip(static_cast<std::size_t>(strip), height);
    Index j = j_begin;
    // Below its diagonal square each run of rows that stay together in one strip moves as a vector.
    const Index below = std::min(j_end, first);
    for (Index lane = lane_begin, end; j < below && lane < lane_end; lane = end) {
      const Index row = relative[first + lane], target = row % height;
      for (end = lane + 1;
           end < lane_end && relative[first + end] == row + end - lane && target + end - lane < height;)
        ++end;
      dense.add_columns({.source = source + static_cast<std::ptrdiff_t>(j) * height + lane - target,
                         .target = rows[lane] - target,
                         .begin = target,
                         .end = target + end - lane,
                         .columns = relative + j,
                         .first_column = tile.column_begin,
                         .count = below - j});
    }
    j = std::max(j, below);
    for (; j < std::min(j_end, first + lane_end); ++j) {
      const Real* column = source + static_cast<std::size_t>(j) * height;
      const std::size_t offset = static_cast<std::size_t>(relative[j] - tile.column_begin) * height;
      for (Index lane = std::max(lane_begin, j - first); lane < lane_end; ++lane)
        rows[lane][offset] += column[lane];
    }
  }
}

}  // namespace

template <class Real>
Index process_tile(const MultifrontalPlan& plan, const FrontMemory<Real>& memory,
                   const DenseKernels<Real>& dense, Index f, Index i, Index j) {
  constexpr Index height = strip_height<Real>;
  const Front& front = plan.fronts[f];
  const Tile<Real> tile = make_tile(memory, front, i, j);
  const bool pivot_columns = tile.column_begin < front.padded_pivots;
  if (pivot_columns && plan.block == 3) place_entries<Real, 3>(plan, memory.values, front, tile);
  if (pivot_columns && plan.block == 1) place_entries<Real, 1>(plan, memory.values, front, tile);
  for (Index c = front.child_begin; c < front.child_end; ++c)
    add_update(plan, memory, dense, plan.fronts[plan.children[c]], tile);

  const Real* panel = memory.factor + front.panel;
  const std::ptrdiff_t stride = std::ptrdiff_t{front.padded_pivots} * height;
  const int row_strips = (tile.row_end - tile.row_begin) / height;
  const int column_strips = (tile.column_end - tile.column_begin) / height;
  const Real* column_rows = panel + static_cast<std::size_t>(tile.column_begin) * front.padded_pivots;
  dense.update({.c = tile.strips,
                .a = panel + static_cast<std::size_t>(tile.row_begin) * front.padded_pivots,
                .b = column_rows,
                .stride = stride,
                .rows = row_strips,
                .columns = column_strips,
                .depth = pivot_columns ? tile.column_begin : front.pivots,
                .lower = i == j});
  if (!pivot_columns) return -1;
  const int pivots = std::min(front.pivots, tile.column_end) - tile.column_begin;
  if (i == j) {
    const int failed = dense.factor(tile.strips[0], stride, column_strips, pivots);
    return failed < 0 ? -1 : tile.column_begin + failed;
  }
  dense.solve_rows(tile.strips[0], stride, row_strips,
                   column_rows + static_cast<std::size_t>(tile.column_begin) * height, pivots);
  return -1;
}

template <class Real>
Index process_front(const MultifrontalPlan& plan, const FrontMemory<Real>& memory,
                    const DenseKernels<Real>& dense, Index f) {
  const Front& front = plan.fronts[f];
  const Index tiles = tile_count(front.padded_pivots) + tile_count(front.padded_rows);
  for (Index j = 0; j < tiles; ++j)
    for (Index i = j; i < tiles; ++i) {
      const Index failed = process_tile(plan, memory, dense, f, i, j);
      if (failed >= 0) return failed;
    }
  return -1;
}

template <class Real>
void solve_front_forward(const MultifrontalPlan& plan, const Real* factor, const DenseKernels<Real>& dense,
                         const FrontVectors<Real>& vectors, Index f) {
  const Front& front = plan.fronts[f];
  const Index size = front.padded_size();
  const int count = vectors.count, n = plan.block;
  Real* x = vectors.work + front.vector * count;
  std::fill(x, x + static_cast<std::size_t>(size) * count, Real(0));
  for (Index p = 0; p < front.pivots / n; ++p) {
    const Real* b =
        vectors.right_side + static_cast<std::size_t>(plan.block_rows[front.first_pivot + p]) * n * count;
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < count; ++k) x[static_cast<std::size_t>(k) * size + p * n + r] = b[r * count + k];
  }
  for (Index c = front.child_begin; c < front.child_end; ++c) {
    const Front& child = plan.fronts[plan.children[c]];
    const Index* relative = plan.relative.data() + child.relative;
    for (int k = 0; k < count; ++k) {
      const Real* from = vectors.work + child.vector * count +
                         static_cast<std::size_t>(k) * child.padded_size() + child.padded_pivots;
      Real* to = x + static_cast<std::size_t>(k) * size;
      for (Index i = 0; i < child.rows; ++i) to[relative[i]] += from[i];
    }
  }
  constexpr Index height = strip_height<Real>;
  dense.forward(factor + front.panel, front.pivots, size / height, x, size, count);
}

template <class Real>
void solve_front_backward(const MultifrontalPlan& plan, const Real* factor, const DenseKernels<Real>& dense,
                          const FrontVectors<Real>& vectors, Index f) {
  const Front& front = plan.fronts[f];
  const Index size = front.padded_size();
  const int count = vectors.count, n = plan.block;
  Real* x = vectors.work + front.vector * count;
  if (front.parent >= 0) {
    const Front& parent = plan.fronts[front.parent];
    const Index* relative = plan.relative.data() + front.relative;
    for (int k = 0; k < count; ++k) {
      const Real* from =
          vectors.work + parent.vector * count + static_cast<std::size_t>(k) * parent.padded_size();
      Real* to = x + static_cast<std::size_t>(k) * size + front.padded_pivots;
      for (Index i = 0; i < front.rows; ++i) to[i] = from[relative[i]];
    }
  }
  constexpr Index height = strip_height<Real>;
  dense.backward(factor + front.panel, front.pivots, size / height, x, size, count);
  for (Index p = 0; p < front.pivots / n; ++p) {
    Real* y = vectors.solution + static_cast<std::size_t>(plan.block_rows[front.first_pivot + p]) * n * count;
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < count; ++k) y[r * count + k] = x[static_cast<std::size_t>(k) * size + p * n + r];
  }
}

template Index process_tile(const MultifrontalPlan&, const FrontMemory<float>&, const DenseKernels<float>&,
                            Index, Index, Index);
template Index process_tile(const MultifrontalPlan&, const FrontMemory<double>&, const DenseKernels<double>&,
                            Index, Index, Index);
template Index process_front(const MultifrontalPlan&, const FrontMemory<float>&, const DenseKernels<float>&,
                             Index);
template Index process_front(const MultifrontalPlan&, const FrontMemory<double>&, const DenseKernels<double>&,
                             Index);
template void solve_front_forward(const MultifrontalPlan&, const float*, const DenseKernels<float>&,
                                  const FrontVectors<float>&, Index);
template void solve_front_forward(const MultifrontalPlan&, const double*, const DenseKernels<double>&,
                                  const FrontVectors<double>&, Index);
template void solve_front_backward(const MultifrontalPlan&, const float*, const DenseKernels<float>&,
                                   const FrontVectors<float>&, Index);
template void solve_front_backward(const MultifrontalPlan&, const double*, const DenseKernels<double>&,
                                   const FrontVectors<double>&, Index);

}  // namespace isocloth
