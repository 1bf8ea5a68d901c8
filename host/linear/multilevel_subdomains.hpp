// Cuts the graph of a matrix into disjoint cells and overlapping subdomains.
#pragma once

#include "host/linear/pcg_rows.hpp"

namespace isocloth {

/// Disjoint cells that cover all block rows.
struct Cells {
  std::vector<Index> cell_of;  ///< cell of each block row, shape [size]
  std::vector<Index> begin;    ///< where the rows of each cell begin, shape [cell_count + 1]
  std::vector<Index> rows;     ///< block rows of each cell, ascending, shape [size]
  Index count() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Cells of about `cell_size` block rows: each connected component is halved in turn between two distant
/// nodes (level structure bisection, George and Liu 1981, chapter 8). Deterministic; cost O(block_count log).
Cells bisect_into_cells(const SymmetricRows& rows, Index cell_size);

/// Cells with `overlap` layers of neighbours in the graph, each in an order with a small envelope: the better
/// of reverse Cuthill-McKee and the order of distances between two distant nodes. See SubdomainsView.
struct Subdomains {
  std::vector<Index> begin, nodes, first, reach;
  std::vector<std::size_t> factor_begin;
  std::vector<Index> entry_begin, entry_columns, entry_blocks;
  std::vector<Index> copy_begin, copies;  ///< local rows of each block row, ascending
  std::size_t memory_bytes() const;
};

/// Throws ShapeError when local rows outgrow the index type.
Subdomains overlapping_subdomains(const SymmetricRows& rows, const Cells& cells, int overlap);

}  // namespace isocloth
