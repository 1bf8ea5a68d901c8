#include "kernels/linear/front_factor.hpp"

#include "kernels/launch/lanes.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr Index micro = 4;   ///< rows and columns of a product that a thread keeps in registers
constexpr Index narrow = 8;  ///< columns that are factored or solved at once

template <class Real>
struct alignas(micro * sizeof(Real)) Quad {
  Real v[micro];
};

/// The threads of a block at one tile of a front.
template <class Real, class Block>
class TileWork {
  static constexpr Index height = strip_height<Real>;

 public:
  ISOCLOTH_DEVICE TileWork(const FactorFronts<Real>& args, const Block& block, Index f, Index i, Index j)
      : a_(args),
        block_(block),
        front_(args.plan.fronts[f]),
        f_(f),
        rows_(tile_range(front_, i)),
        columns_(tile_range(front_, j)),
        diagonal_(i == j),
        panel_(args.factor.data() + front_.panel) {}

  ISOCLOTH_DEVICE void run() const {
    const bool pivot_columns = columns_.begin < front_.padded_pivots;
    clear();
    if (pivot_columns) place_entries();
    for (Index c = front_.child_begin; c < front_.child_end; ++c)
      add_update(a_.plan.fronts[a_.plan.children[c]]);
    subtract_product(pivot_columns ? columns_.begin : front_.pivots);
    if (pivot_columns) eliminate();
  }

 private:
  /// First scalar of a row at the tile's first column.
  ISOCLOTH_DEVICE Real* row_at(Index row) const {
    if (columns_.begin < front_.padded_pivots)
      return panel_row<Real>(panel_, front_, row) + static_cast<std::size_t>(columns_.begin) * height;
    const Index below = row - front_.padded_pivots;
    return a_.updates.data() + front_.update +
           update_strip(static_cast<std::size_t>(below / height), height) +
           static_cast<std::size_t>(columns_.begin - front_.padded_pivots) * height + below % height;
  }
  ISOCLOTH_DEVICE Real& at(Index row, Index column) const {
    return row_at(row)[(column - columns_.begin) * height];
  }
  ISOCLOTH_DEVICE void clear() const {
    const Index columns = columns_.count();
    share(block_, rows_.count() * columns, [&](Index e) {
      const Index lane = e % height, column = e / height % columns, first = e / height / columns * height;
      // The squares of an update matrix end with the diagonal one.
      if (!diagonal_ || column < first + height) at(rows_.begin + first + lane, columns_.begin + column) = 0;
    });
    block_.sync();
  }

  /// Blocks of the matrix that meet the tile: every scalar of it comes from one of them at most.
  ISOCLOTH_DEVICE void place_entries() const {
    const int n = a_.plan.block;
    const FrontEntry* entries = a_.plan.entries.data() + front_.entry_begin;
    const Index count = front_.entry_end - front_.entry_begin;
    share(block_, count, [&](Index e) {
      const FrontEntry entry = entries[e];
      if (entry.column + n <= columns_.begin || entry.column >= columns_.end ||
          entry.row + n <= rows_.begin || entry.row >= rows_.end)
        return;
      const Real* block = a_.values.data() + static_cast<std::size_t>(entry.block) * n * n;
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
          const Index row = entry.row + r, column = entry.column + c;
          if (row >= column && row >= rows_.begin && row < rows_.end && column >= columns_.begin &&
              column < columns_.end)
            at(row, column) = block[entry.transposed ? c * n + r : r * n + c];
        }
    });
    block_.sync();
  }

  /// Extend-add: the part of a child's update matrix that meets the tile.
  ISOCLOTH_DEVICE void add_update(const Front& child) const {
    const Index* relative = a_.plan.relative.data() + child.relative;
    const FrontRange i{lower_index(relative, child.rows, rows_.begin),
                       lower_index(relative, child.rows, rows_.end)};
    const FrontRange j{lower_index(relative, child.rows, columns_.begin),
                       lower_index(relative, child.rows, columns_.end)};
    if (i.count() == 0 || j.count() == 0) return;
    const Real* matrix = a_.updates.data() + child.update;
    share(block_, i.count() * j.count(), [&](Index e) {
      const Index row = i.begin + e % i.count(), column = j.begin + e / i.count();
      if (column > row) return;
      at(relative[row], relative[column]) +=
          matrix[update_strip(static_cast<std::size_t>(row / height), height) +
                 static_cast<std::size_t>(column) * height + row % height];
    });
    block_.sync();
  }

  /// Minus the product of the first `depth` columns of L at the tile's rows and at its columns.
  ISOCLOTH_DEVICE void subtract_product(Index depth) const {
    if (depth == 0) return;
    using Quads = Quad<Real>;
    const Index row_quads = rows_.count() / micro;
    share(block_, row_quads * (columns_.count() / micro), [&](Index e) {
      const Index row = e % row_quads * micro, column = e / row_quads * micro;
      if (diagonal_ && column > row) return;
      const Real* a = panel_row<Real>(panel_, front_, rows_.begin + row);
      const Real* b = panel_row<Real>(panel_, front_, columns_.begin + column);
      Real sum[micro][micro] = {};
      for (Index k = 0; k < depth; ++k, a += height, b += height) {
        const Quads x = *reinterpret_cast<const Quads*>(a), y = *reinterpret_cast<const Quads*>(b);
        for (Index c = 0; c < micro; ++c)
          for (Index r = 0; r < micro; ++r) sum[c][r] = multiply_add(x.v[r], y.v[c], sum[c][r]);
      }
      Real* target = row_at(rows_.begin + row) + static_cast<std::size_t>(column) * height;
      for (Index c = 0; c < micro; ++c, target += height)
        for (Index r = 0; r < micro; ++r) target[r] -= sum[c][r];
    });
    block_.sync();
  }

  /// The tile becomes X with X L_jj^T = tile, or L_jj itself where it is the diagonal one; a few columns at a
  /// time.
  ISOCLOTH_DEVICE void eliminate() const {
    const Index rows = rows_.count(), columns = columns_.count();
    if (diagonal_ && columns_.begin == 0 && block_.rank() == 0) a_.failed[f_] = -1;
    for (Index s = 0; s < columns; s += narrow) {
      if (s > 0) {
        share(block_, rows * narrow, [&](Index e) {
          const Index row = e % rows, column = s + e / rows;
          if (diagonal_ && row < column) return;
          Real* x = row_at(rows_.begin + row);
          const Real* l = diagonal_row(column);
          Real sum = 0;
          for (Index k = 0; k < s; ++k) sum = multiply_add(x[k * height], l[k * height], sum);
          x[column * height] -= sum;
        });
        block_.sync();
      }
      if (diagonal_) {
        for (Index c = s; c < s + narrow; ++c) factor_column(s, c);
      } else {
        share(block_, rows, [&](Index i) { solve_row(row_at(rows_.begin + i), s); });
        block_.sync();
      }
    }
  }

  /// Row of L_jj, counted within the tile.
  ISOCLOTH_DEVICE const Real* diagonal_row(Index row) const {
    return panel_row<Real>(panel_, front_, columns_.begin + row) +
           static_cast<std::size_t>(columns_.begin) * height;
  }

  ISOCLOTH_DEVICE void solve_row(Real* x, Index s) const {
    Real done[narrow];
    for (Index c = 0; c < narrow; ++c) {
      const Real* l = diagonal_row(s + c);
      Real value = x[(s + c) * height];
      for (Index k = 0; k < c; ++k) value = multiply_add(-done[k], l[(s + k) * height], value);
      done[c] = value * l[(s + c) * height];
      x[(s + c) * height] = done[c];
    }
  }

  /// Column c of L_jj from columns [s, c), what lies before is subtracted already. Without a pivot, or past
  /// the front's pivots, it becomes zero.
  ISOCLOTH_DEVICE void factor_column(Index s, Index c) const {
    Real* const pivot_row = row_at(rows_.begin + c);
    Real pivot = pivot_row[c * height];
    for (Index k = s; k < c; ++k) pivot = multiply_add(-pivot_row[k * height], pivot_row[k * height], pivot);
    const bool padding = columns_.begin + c >= front_.pivots;
    const bool positive = pivot > Real(0) && pivot < static_cast<Real>(HUGE_VAL);
    const Real reciprocal = padding || !positive ? Real(0) : Real(1) / square_root(pivot);
    share(block_, rows_.count() - c - 1, [&](Index i) {
      Real* row = row_at(rows_.begin + c + 1 + i);
      Real value = row[c * height];
      for (Index k = s; k < c; ++k) value = multiply_add(-row[k * height], pivot_row[k * height], value);
      row[c * height] = value * reciprocal;
    });
    block_.sync();
    // Nobody reads the diagonal again before the next sync().
    if (block_.rank() != 0) return;
    pivot_row[c * height] = reciprocal;
    Index& failed = a_.failed[f_];
    if (!padding && !positive && failed < 0)
      failed = front_.first_pivot + (columns_.begin + c) / a_.plan.block;
  }

  const FactorFronts<Real>& a_;
  const Block& block_;
  const Front& front_;
  const Index f_;
  const FrontRange rows_, columns_;
  const bool diagonal_;
  Real* const panel_;
};

template <class Real>
struct FactorBody {
  static constexpr int most_block_threads = tile_threads;
  FactorFronts<Real> a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index item) const {
    const FrontTile tile = a.tiles[item];
    if (tile.i >= 0) {
      TileWork<Real, Block>(a, block, tile.front, tile.i, tile.j).run();
      return;
    }
    const Front& front = a.plan.fronts[tile.front];
    const Index tiles = launch_tiles(front.padded_pivots) + launch_tiles(front.padded_rows);
    for (Index j = 0; j < tiles; ++j)
      for (Index i = j; i < tiles; ++i) TileWork<Real, Block>(a, block, tile.front, i, j).run();
  }
};

struct FindFailureBody {
  static constexpr Index none = 0x7fffffff;
  FindFailure a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    Index* const least = block.template shared<Index>();
    Index first = none;
    for (std::size_t f = static_cast<std::size_t>(block.rank()); f < a.failed.size();
         f += static_cast<std::size_t>(block.size()))
      if (a.failed[f] >= 0 && a.failed[f] < first) first = a.failed[f];
    least[block.rank()] = first;
    block.sync();
    if (block.rank() != 0) return;
    for (int i = 1; i < block.size(); ++i) first = least[i] < first ? least[i] : first;
    a.first[0] = first == none ? -1 : first;
  }
};

}  // namespace

template <class Real>
void factor_fronts(const Queue& queue, const FactorFronts<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.tiles.size()), 0, FactorBody<Real>{args});
}

void find_failure(const Queue& queue, const FindFailure& args) {
  for_each_block(queue, 1, tile_threads * sizeof(Index), FindFailureBody{args});
}

template void factor_fronts<float>(const Queue&, const FactorFronts<float>&);
template void factor_fronts<double>(const Queue&, const FactorFronts<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
