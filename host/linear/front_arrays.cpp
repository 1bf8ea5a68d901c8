#include "host/linear/front_arrays.hpp"

#include <algorithm>

namespace isocloth {
namespace {

constexpr Index padded(Index scalars, Index strip) { return (scalars + strip - 1) / strip * strip; }

void size_fronts(const FrontTree& tree, Index strip, FrontArrays& plan) {
  const Index n = tree.block;
  std::size_t relative = 0;
  for (Index f = 0; f < tree.front_count(); ++f) {
    const Index pivots = (tree.first_pivot[f + 1] - tree.first_pivot[f]) * n;
    const Index rows = static_cast<Index>(tree.rows[f].size()) * n;
    Front front{.pivots = pivots,
                .padded_pivots = padded(pivots, strip),
                .rows = rows,
                .padded_rows = padded(rows, strip),
                .parent = tree.parent[f],
                .first_pivot = tree.first_pivot[f],
                .entry_begin = 0,
                .entry_end = 0,
                .child_begin = tree.children.begin[f],
                .child_end = tree.children.begin[f + 1],
                .in_subtree = false,
                .panel = plan.factor_size,
                .update = 0,
                .relative = relative,
                .vector = plan.vector_size};
    relative += rows;
    plan.factor_size += static_cast<std::size_t>(front.padded_size()) * front.padded_pivots;
    plan.vector_size += front.padded_size();
    plan.nonzeros += static_cast<double>(pivots) * (pivots + 1) / 2 + static_cast<double>(pivots) * rows;
    plan.flops += front_flops(front);
    plan.fronts.push_back(front);
  }
}

/// Row of the front, padding counted, where the block row at `place` begins.
Index front_row(const FrontTree& tree, const Front& front, Index f, Index place) {
  if (place < tree.first_pivot[f + 1]) return (place - front.first_pivot) * tree.block;
  const auto rows = tree.rows[f];
  return front.padded_pivots +
         static_cast<Index>(std::lower_bound(rows.begin(), rows.end(), place) - rows.begin()) * tree.block;
}

void map_updates(const FrontTree& tree, FrontArrays& plan) {
  for (Index f = 0; f < tree.front_count(); ++f) {
    const Index p = tree.parent[f];
    for (const Index place : tree.rows[f])
      for (int k = 0, row = p < 0 ? 0 : front_row(tree, plan.fronts[p], p, place); k < tree.block; ++k)
        plan.relative.push_back(row + k);
  }
}

void map_entries(const BlockPattern& pattern, const FrontTree& tree, FrontArrays& plan) {
  std::vector<Index> front_of(pattern.size);
  for (Index f = 0; f < tree.front_count(); ++f)
    for (Index place = tree.first_pivot[f]; place < tree.first_pivot[f + 1]; ++place) front_of[place] = f;
  const auto pivot_place = [&](std::size_t b) {
    return std::min(tree.position[pattern.rows[b]], tree.position[pattern.columns[b]]);
  };
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) ++plan.fronts[front_of[pivot_place(b)]].entry_end;
  Index sum = 0;
  for (Front& front : plan.fronts) {
    front.entry_begin = sum;
    sum += front.entry_end;
    front.entry_end = front.entry_begin;
  }
  plan.entries.resize(pattern.rows.size());
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    const Index i = tree.position[pattern.rows[b]], j = tree.position[pattern.columns[b]];
    const Index f = front_of[std::min(i, j)];
    Front& front = plan.fronts[f];
    plan.entries[front.entry_end++] = {.block = static_cast<Index>(b),
                                       .row = front_row(tree, front, f, std::max(i, j)),
                                       .column = front_row(tree, front, f, std::min(i, j)),
                                       .transposed = i < j};
  }
  for (const Front& front : plan.fronts)
    std::sort(plan.entries.begin() + front.entry_begin, plan.entries.begin() + front.entry_end,
              [](const FrontEntry& a, const FrontEntry& b) {
                return a.column != b.column ? a.column < b.column : a.row < b.row;
              });
}

}  // namespace

/// Scalars of a triangle of squares.
std::size_t update_size(const Front& front, Index strip) {
  const auto strips = static_cast<std::size_t>(front.padded_rows / strip);
  return strips * (strips + 1) / 2 * strip * strip;
}

/// Sum over pivot columns of (their length)^2.
double front_flops(const Front& front) {
  double flops = 0;
  for (Index k = 0; k < front.pivots; ++k) {
    const double length = front.pivots + front.rows - k;
    flops += length * length;
  }
  return flops;
}

FrontArrays build_front_arrays(const BlockPattern& pattern, const FrontTree& tree, Index strip) {
  FrontArrays plan;
  plan.block = pattern.block;
  plan.children = tree.children.items;
  plan.block_rows.resize(pattern.size);
  for (Index i = 0; i < pattern.size; ++i) plan.block_rows[tree.position[i]] = i;
  size_fronts(tree, strip, plan);
  map_updates(tree, plan);
  map_entries(pattern, tree, plan);
  return plan;
}

std::size_t FrontArrays::memory_bytes() const {
  return fronts.size() * sizeof(Front) + entries.size() * sizeof(FrontEntry) +
         (children.size() + relative.size() + block_rows.size()) * sizeof(Index);
}

}  // namespace isocloth
