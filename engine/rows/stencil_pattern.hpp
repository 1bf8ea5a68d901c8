// Sparsity of quadratic rows, fixed by the mesh.
#pragma once

#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Directions in which a limit of stretch is asked for; see engine/rows/principal_limits.hpp.
constexpr int stretch_directions = 6;
/// Rows of a pair of triangles: three of its mean strain, three of the difference; see
/// engine/rows/membrane.hpp.
constexpr int membrane_width = 6;

/// Rows of the form C = sum_ij T_ij p_i . p_j - c0, `width` of them (E, F, G; or one) on each stencil of
/// nodes. A slot is a node of a stencil; an entry is a pair (slot, node) where T_ij is not zero by structure.
/// A stencil's positions are taken relative to its first node. Stencils of elements and of pairs of triangles
/// have no entries: see MembraneGroup (kernels/core/views.hpp).
struct StencilPattern {
  int width = 1;                        ///< rows per stencil
  std::vector<Index> stencil_begin{0};  ///< first slot of each stencil, shape [stencil_count + 1]
  std::vector<Index> slot_nodes{};      ///< shape [slot_count]
  std::vector<Index> entry_begin{0};    ///< first entry of each slot, shape [slot_count + 1]
  std::vector<Index> entry_nodes{};  ///< node j of each entry, ascending within a slot, shape [entry_count]

  Index stencil_count() const { return static_cast<Index>(stencil_begin.size()) - 1; }
  Index slot_count() const { return static_cast<Index>(slot_nodes.size()); }
  Index entry_count() const { return static_cast<Index>(entry_nodes.size()); }
  Index row_count() const { return width * stencil_count(); }

  /// A node of the stencil that end_stencil() ends, and the nodes (ascending) that T couples it with.
  void add_slot(Index node, const std::vector<Index>& coupled = {}) {
    slot_nodes.push_back(node);
    entry_nodes.insert(entry_nodes.end(), coupled.begin(), coupled.end());
    entry_begin.push_back(entry_count());
  }
  void end_stencil() { stencil_begin.push_back(slot_count()); }

  bool operator==(const StencilPattern&) const = default;
};

/// A StencilPattern in the memory of whoever computes with it.
struct StencilView {
  ArrayView<const Index> stencil_begin;  ///< shape [stencil_count + 1]
  ArrayView<const Index> slot_nodes;     ///< shape [slot_count]
  ArrayView<const Index> entry_begin;    ///< shape [slot_count + 1]
  ArrayView<const Index> entry_nodes;    ///< shape [entry_count]

  ISOCLOTH_HD Index stencil_count() const { return static_cast<Index>(stencil_begin.size()) - 1; }
  /// Entry of the nodes i and j in a stencil that holds both.
  ISOCLOTH_HD Index entry(Index stencil, Index i, Index j) const {
    Index slot = stencil_begin[stencil];
    while (slot_nodes[slot] != i) ++slot;
    Index e = entry_begin[slot];
    while (entry_nodes[e] != j) ++e;
    return e;
  }
};

}  // namespace isocloth
