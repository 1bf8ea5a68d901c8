// Sparsity of the nodal system and the lists that gather it, analysed once per mesh.
#pragma once

#include <vector>

#include "engine/model/scene.hpp"
#include "engine/rows/row_pattern.hpp"

namespace isocloth {

/// For each target the places that add up in it, in a fixed order; see GatherView.
struct GatherLists {
  std::vector<Index> begin, first, second;
};

/// Sparse rows of scalars on nodes, columns ascending.
struct NodeMatrixPattern {
  std::vector<Index> row_begin, columns;
  /// Entry of (row, column), -1 if there is none.
  Index find(Index row, Index column) const;
  bool operator==(const NodeMatrixPattern&) const = default;
};
/// Columns of each row, in any order and as often as they like.
NodeMatrixPattern pattern_of_rows(const std::vector<std::vector<Index>>& rows);

/// Where the rows of a group go; see RowGroup.
struct RowGather {
  GatherLists pairs, blocks, nodes;
};

struct NodalPattern {
  std::vector<Index> free_nodes;   ///< node of each free number
  std::vector<Index> free_number;  ///< -1: pinned, shape [node_count]

  std::vector<std::array<Index, 2>> pairs;  ///< nodes that some T or stitch couples, lower first, sorted
  std::vector<Index> node_pair_begin, node_pairs;  ///< pairs at each node

  std::vector<Index> block_rows, block_columns;   ///< lower triangle of free numbers, by column, then row
  std::vector<Index> block_pairs, block_bending;  ///< -1: none
  RowGather triples, membranes, limits, singles;
  std::vector<Index> pair_stitches;  ///< stitch of each pair, -1: none; empty: there are no stitches
  GatherLists stitches;              ///< per free node: (stitch, which of its nodes this is)
  /// Entries of K between free nodes, where any has no block: column of each and place in K; see
  /// CouplingPattern.
  std::vector<Index> coupling_begin, coupling_columns, coupling_entries;

  Index free_count() const { return static_cast<Index>(free_nodes.size()); }
};

/// Nodes that share a face, with the node itself.
NodeMatrixPattern neighbour_pattern(const Mesh& mesh);
/// Nodes with a common neighbour: the pattern of L^T L.
NodeMatrixPattern squared_pattern(const NodeMatrixPattern& pattern);

/// Analyses the system of `rows`; `bending` is the pattern of K over all nodes, or empty; so is `coupled`,
/// nodes that something else couples; so are those of threads. Free numbers follow `free_order`, the free
/// nodes in some order; empty: ascending. Entries of K have blocks where rows or what is coupled have, or all
/// of them (factor whole). Cost O(sum of squared stencil sizes, times log).
NodalPattern build_nodal_pattern(const RowPattern& rows, const NodeMatrixPattern& bending,
                                 const std::vector<char>& is_pinned,
                                 const std::vector<Index>& free_order = {},
                                 const NodeMatrixPattern& coupled = {},
                                 FactorPattern factor = FactorPattern::whole,
                                 const std::vector<std::array<Index, 2>>& threads = {});

}  // namespace isocloth
