// Sparsity of quadratic rows, fixed by the mesh.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"

namespace isocloth {

/// Rows of the form C = sum_ij T_ij p_i . p_j - c0, `width` of them (E, F, G; or one) on each stencil of
/// nodes. A slot is a node of a stencil; an entry is a pair (slot, node) where T_ij is not zero by structure.
struct StencilPattern {
  int width = 1;                     ///< rows per stencil
  std::vector<Index> stencil_begin;  ///< first slot of each stencil, shape [stencil_count + 1]
  std::vector<Index> slot_nodes;     ///< shape [slot_count]
  std::vector<Index> entry_begin;    ///< first entry of each slot, shape [slot_count + 1]
  std::vector<Index> entry_nodes;    ///< node j of each entry, ascending within a slot, shape [entry_count]

  Index stencil_count() const { return static_cast<Index>(stencil_begin.size()) - 1; }
  Index slot_count() const { return static_cast<Index>(slot_nodes.size()); }
  Index entry_count() const { return static_cast<Index>(entry_nodes.size()); }
  Index row_count() const { return width * stencil_count(); }
};

/// The rows of one garment. Row numbers: the metric rows 3 q + {E, F, G}, then corner rows, then edge rows.
/// Stencils without a free node are left out.
struct RowPattern {
  StencilPattern metric;            ///< E, F, G at interior nodes, width 3
  std::vector<Index> metric_nodes;  ///< node k of each metric stencil
  StencilPattern scalar;            ///< F at corners, then edge lengths, width 1
  std::vector<Index> corner_nodes;  ///< node k of each corner row; these are the first stencils of `scalar`
  std::vector<std::array<Index, 2>> edges;  ///< nodes of each edge row; the stencils after the corners

  Index row_count() const { return metric.row_count() + scalar.row_count(); }
};

/// Pattern of the rows that a recipe asks for (Coltraro 2022, section 5.4: E, F, G inside, F at corners,
/// boundary edges; more would lock). is_pinned: shape [node_count].
RowPattern build_row_pattern(const Mesh& mesh, const Topology& topology, RowFamily family,
                             const std::vector<char>& is_pinned);

}  // namespace isocloth
