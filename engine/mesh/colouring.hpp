// Colours of items that share nodes: those of one colour can be treated in any order, or at once.
#pragma once

#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Sets of nodes, e.g. the two ends of a constraint.
struct NodeSets {
  std::vector<Index> begin{0};  ///< shape [set_count + 1]
  std::vector<Index> nodes;     ///< distinct within a set, shape [begin[set_count]]
  Index count() const { return static_cast<Index>(begin.size()) - 1; }
  void add(std::initializer_list<Index> set) {
    nodes.insert(nodes.end(), set);
    begin.push_back(static_cast<Index>(nodes.size()));
  }
};

/// Items sorted by colour.
struct Colouring {
  std::vector<Index> begin;  ///< first place of each colour in `items`, shape [colour_count + 1]
  std::vector<Index> items;  ///< ascending within a colour, shape [set count]
  Index count() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Greedy colouring: each set in turn takes the lowest colour that no earlier one with a common node has. The
/// edges of a grid in the order of build_topology get four. Cost O(sum over nodes of the square of its sets).
Colouring colour_greedily(const NodeSets& sets, Index node_count);

}  // namespace isocloth
