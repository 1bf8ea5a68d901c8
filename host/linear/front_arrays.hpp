// What the pattern decides about fronts, whoever factors them: sizes, places and maps.
#pragma once

#include "host/linear/front_tree.hpp"
#include "kernels/linear/fronts.hpp"

namespace isocloth {

/// Arrays behind a MultifrontalPlan. Where the update matrices lie is left to who factors.
struct FrontArrays {
  int block = 3;
  std::vector<Front> fronts;
  std::vector<Index> children;
  std::vector<FrontEntry> entries;
  std::vector<Index> relative, block_rows;
  std::size_t factor_size = 0;  ///< scalars of all panels, padding counted
  std::size_t vector_size = 0;  ///< scalars of a work vector
  /// Numbers of scalars and of operations of the panels and updates, without padding, merged zeros counted.
  double nonzeros = 0, flops = 0;

  MultifrontalPlan view() const { return {block, fronts, children, entries, relative, block_rows}; }
  std::size_t memory_bytes() const;
};

/// strip: rows per strip of the kernels. Cost O(rows of all fronts + block_count log).
FrontArrays build_front_arrays(const BlockPattern& pattern, const FrontTree& tree, Index strip);

/// Scalars of a front's update matrix: a triangle of squares.
std::size_t update_size(const Front& front, Index strip);
/// Sum over pivot columns of (their length)^2.
double front_flops(const Front& front);

}  // namespace isocloth
