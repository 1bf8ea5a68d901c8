#include "kernels/linear/front_solve.hpp"

#include "kernels/launch/lanes.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr Index narrow = 8;  ///< rows that are solved for at once
constexpr Index parts = 16;  ///< threads that share a scalar product

/// The threads of a block at the right side of one front.
template <class Real, class Block>
class FrontSolve {
  static constexpr Index height = strip_height<Real>;

 public:
  ISOCLOTH_DEVICE FrontSolve(const SolveFronts<Real>& args, const Block& block, Index f, Index column)
      : a_(args),
        block_(block),
        front_(args.plan.fronts[f]),
        panel_(args.factor.data() + front_.panel),
        work_(args.work.data() + static_cast<std::size_t>(column) * args.work_size),
        x_(work_ + front_.vector),
        first_(static_cast<std::size_t>(args.columns.begin[column]) * args.plan.block),
        partial_(block.template shared<Real>()) {}

  /// Part 0 of forward.
  ISOCLOTH_DEVICE void forward_pivots() const {
    const Index pivots = front_.padded_pivots;
    gather({0, pivots});
    for (Index s = 0; s < pivots; s += narrow) {
      subtract_products({s, s + narrow}, {0, s}, [&](Index row, Index column) {
        return panel_row<Real>(panel_, front_, row)[static_cast<std::size_t>(column) * height];
      });
      if (block_.rank() == 0)
        for (Index r = s; r < s + narrow; ++r) {
          const Real* l = panel_row<Real>(panel_, front_, r);
          Real value = x_[r];
          for (Index k = s; k < r; ++k) value = multiply_add(-l[k * height], x_[k], value);
          x_[r] = value * l[r * height];
        }
      block_.sync();
    }
  }
  /// Part 1 + t of forward.
  ISOCLOTH_DEVICE void forward_rows(Index t) const {
    const FrontRange rows = tile_range(front_, launch_tiles(front_.padded_pivots) + t);
    gather(rows);
    subtract_products(rows, {0, front_.pivots}, [&](Index row, Index column) {
      return panel_row<Real>(panel_, front_, row)[static_cast<std::size_t>(column) * height];
    });
  }
  /// Part 1 + t of backward; `rows_of_parent`: the parent's solution, read at the rows of this front.
  ISOCLOTH_DEVICE void backward_rows(Index t) const {
    const Index* relative = a_.plan.relative.data() + front_.relative;
    const Real* above = front_.parent < 0 ? nullptr : parent_solution();
    if (t == 0) {
      share(block_, front_.rows, [&](Index i) { x_[front_.padded_pivots + i] = above[relative[i]]; });
      block_.sync();
    }
    const FrontRange columns = tile_range(front_, t);
    const Index pivots = front_.padded_pivots;
    subtract_sums(columns, front_.rows, [&](Index column, Index row) {
      return panel_row<Real>(panel_, front_, pivots + row)[static_cast<std::size_t>(column) * height] *
             above[relative[row]];
    });
  }
  /// Part 0 of backward.
  ISOCLOTH_DEVICE void backward_pivots() const {
    const Index pivots = front_.padded_pivots;
    for (Index s = pivots - narrow; s >= 0; s -= narrow) {
      const Index below = s + narrow;
      subtract_sums({s, below}, pivots - below, [&](Index column, Index row) {
        return panel_row<Real>(panel_, front_, below + row)[static_cast<std::size_t>(column) * height] *
               x_[below + row];
      });
      if (block_.rank() == 0)
        for (Index c = s + narrow - 1; c >= s; --c) {
          Real value = x_[c];
          for (Index r = c + 1; r < s + narrow; ++r)
            value = multiply_add(-panel_row<Real>(panel_, front_, r)[c * height], x_[r], value);
          x_[c] = value * panel_row<Real>(panel_, front_, c)[c * height];
        }
      block_.sync();
    }
    const int n = a_.plan.block;
    share(block_, front_.pivots, [&](Index p) {
      a_.solution[first_ + static_cast<std::size_t>(a_.plan.block_rows[front_.first_pivot + p / n]) * n +
                  p % n] = x_[p];
    });
    block_.sync();
  }

 private:
  ISOCLOTH_DEVICE const Real* parent_solution() const { return work_ + a_.plan.fronts[front_.parent].vector; }

  /// Right side and what the children pass on, at some rows of the front.
  ISOCLOTH_DEVICE void gather(FrontRange rows) const {
    const int n = a_.plan.block;
    share(block_, rows.count(), [&](Index i) {
      const Index row = rows.begin + i;
      x_[row] =
          row < front_.pivots
              ? a_.right_side[first_ +
                              static_cast<std::size_t>(a_.plan.block_rows[front_.first_pivot + row / n]) * n +
                              row % n]
              : Real(0);
    });
    block_.sync();
    for (Index c = front_.child_begin; c < front_.child_end; ++c) {
      const Front& child = a_.plan.fronts[a_.plan.children[c]];
      const Index* relative = a_.plan.relative.data() + child.relative;
      const Real* from = work_ + child.vector + child.padded_pivots;
      const Index begin = lower_index(relative, child.rows, rows.begin),
                  end = lower_index(relative, child.rows, rows.end);
      share(block_, end - begin, [&](Index i) { x_[relative[begin + i]] += from[begin + i]; });
      block_.sync();
    }
  }

  /// x[row] -= sum over columns of l(row, column) x[column], for at most launch_tile rows.
  template <class Entry>
  ISOCLOTH_DEVICE void subtract_products(FrontRange rows, FrontRange columns, const Entry& l) const {
    if (columns.count() == 0) return;
    const Index count = rows.count();
    share(block_, count * parts, [&](Index e) {
      const Index row = rows.begin + e % count;
      Real sum = 0;
      for (Index c = columns.begin + e / count; c < columns.end; c += parts)
        sum = multiply_add(l(row, c), x_[c], sum);
      partial_[e] = sum;
    });
    block_.sync();
    share(block_, count, [&](Index r) {
      Real sum = 0;
      for (Index p = 0; p < parts; ++p) sum += partial_[p * count + r];
      x_[rows.begin + r] -= sum;
    });
    block_.sync();
  }
  /// x[column] -= sum of term(column, 0 .. count - 1), for at most launch_tile columns.
  template <class Term>
  ISOCLOTH_DEVICE void subtract_sums(FrontRange columns, Index count, const Term& term) const {
    if (count == 0) return;
    share(block_, columns.count() * parts, [&](Index e) {
      const Index column = columns.begin + e / parts;
      Real sum = 0;
      for (Index i = e % parts; i < count; i += parts) sum += term(column, i);
      partial_[e] = sum;
    });
    block_.sync();
    share(block_, columns.count(), [&](Index c) {
      Real sum = 0;
      for (Index p = 0; p < parts; ++p) sum += partial_[c * parts + p];
      x_[columns.begin + c] -= sum;
    });
    block_.sync();
  }

  const SolveFronts<Real>& a_;
  const Block& block_;
  const Front& front_;
  const Real* const panel_;
  Real* const work_;         ///< of the column
  Real* const x_;            ///< of the front
  const std::size_t first_;  ///< first scalar of the column in right sides and solutions
  Real* const partial_;
};

template <class Real>
struct ForwardBody {
  static constexpr int most_block_threads = tile_threads;
  SolveFronts<Real> a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index item) const {
    const Index tiles = static_cast<Index>(a.tiles.size());
    const FrontTile tile = a.tiles[item % tiles];
    const FrontSolve<Real, Block> solve(a, block, tile.front, item / tiles);
    if (tile.i <= 0) solve.forward_pivots();
    if (tile.i > 0) solve.forward_rows(tile.i - 1);
    if (tile.i < 0)
      for (Index t = 0; t < launch_tiles(a.plan.fronts[tile.front].padded_rows); ++t) solve.forward_rows(t);
  }
};

template <class Real>
struct BackwardBody {
  static constexpr int most_block_threads = tile_threads;
  SolveFronts<Real> a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index item) const {
    const Index tiles = static_cast<Index>(a.tiles.size());
    const FrontTile tile = a.tiles[item % tiles];
    const FrontSolve<Real, Block> solve(a, block, tile.front, item / tiles);
    if (tile.i < 0)
      for (Index t = 0; t < launch_tiles(a.plan.fronts[tile.front].padded_pivots); ++t)
        solve.backward_rows(t);
    if (tile.i > 0) solve.backward_rows(tile.i - 1);
    if (tile.i <= 0) solve.backward_pivots();
  }
};

}  // namespace

template <class Real>
void forward_fronts(const Queue& queue, const SolveFronts<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.tiles.size()) * args.columns.count,
                 launch_tile * parts * sizeof(Real), ForwardBody<Real>{args});
}

template <class Real>
void backward_fronts(const Queue& queue, const SolveFronts<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.tiles.size()) * args.columns.count,
                 launch_tile * parts * sizeof(Real), BackwardBody<Real>{args});
}

template void forward_fronts<float>(const Queue&, const SolveFronts<float>&);
template void forward_fronts<double>(const Queue&, const SolveFronts<double>&);
template void backward_fronts<float>(const Queue&, const SolveFronts<float>&);
template void backward_fronts<double>(const Queue&, const SolveFronts<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
