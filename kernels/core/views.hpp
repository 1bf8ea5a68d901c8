// Meshes and sparsity patterns as kernels see them: views of arrays that the host owns.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"
#include "engine/mesh/mesh_view.hpp"
#include "engine/rows/stencil_pattern.hpp"

namespace isocloth {

/// Lists of places that add up in one place, in a fixed order: sums do not depend on threads.
struct GatherView {
  ArrayView<const Index> begin;   ///< shape [target_count + 1]
  ArrayView<const Index> first;   ///< shape [contribution_count]
  ArrayView<const Index> second;  ///< shape [contribution_count]
};

/// Rows on stencils that hold `Width` each, and where they go in the nodal system.
template <int Width>
struct RowGroup {
  static constexpr int width = Width;
  StencilView stencils;
  GatherView pair_terms;   ///< per pair of nodes: (entry of T, first row of its stencil)
  GatherView block_terms;  ///< per block: (slot of row node, slot of column node) of one stencil
  GatherView node_terms;   ///< per free node: (slot, first row of its stencil)
  /// Number of each stencil's law (RowLaw), -1: one that has none; empty: none has.
  ArrayView<const Index> laws;
  // Where the group begins among all rows, and in the arrays of tensors and Jacobians.
  std::size_t first_row = 0, first_tensor = 0, first_jacobian = 0;

  ISOCLOTH_HD Index stencil_count() const { return stencils.stencil_count(); }
};

/// Six rows per stencil that are the strains of a pair of triangles, whose nodes are its slots, at most 4;
/// see MembraneRows. With the gradients g_i, h_i of the shape functions of a triangle along its warp and
/// weft, 0 at the node that it has not, F_u = sum g_i p_i and F_v = sum h_i p_i, its strain is
///   C = (F_u . F_u, F_u . F_v, F_v . F_v),  T = (g g^T, (g h^T + h g^T) / 2, h h^T):
/// two numbers per slot and triangle stand for T, and J follows from F_u and F_v. With the share s of the
/// first triangle in the area of both, rows are the mean s C_1 + (1 - s) C_2 - c0, then the difference C_1 -
/// C_2 - c0. What couples threads (RowLaws::coupling) adds as many times the third row of each kind to the
/// first.
struct MembraneGroup : RowGroup<membrane_width> {
  // Of pair_terms: (4 slot of one node + place of the other in the stencil, stencil).
  // At first_tensor: g, h of the first triangle, g, h of the second of each slot [1/m], shape [slot_count,
  // 4]; then s of each stencil, shape [stencil_count].

  /// Place of s in the group's tensors.
  ISOCLOTH_HD std::size_t share(Index stencil) const {
    return 4 * stencils.slot_nodes.size() + static_cast<std::size_t>(stencil);
  }
};

/// A row per stencil for each direction d = (u, v) of stretch at a point of an element, evenly spread over
/// half a turn, all bounded from above: C = |u F_u + v F_v|^2 - c0. Terms are as those of MembraneGroup, and
/// two gradients per slot. Most points are far from their limit, and no kernel looks further at them:
/// `at_limit`, shape [slot_count], is more than 0 at the slots of stencils of which a row pulls, and J is
/// known there alone.
struct LimitGroup : RowGroup<stretch_directions> {};

/// d of a row of LimitGroup.
struct StretchDirection {
  double u, v;
};
ISOCLOTH_HD StretchDirection stretch_direction(int row) {
  constexpr double half = 0.5, long_side = 0.866025403784438646763723170752936183;  // sqrt(3) / 2
  constexpr StretchDirection all[stretch_directions] = {{1, 0}, {long_side, half},  {half, long_side},
                                                        {0, 1}, {-half, long_side}, {-long_side, half}};
  return all[row];
}

/// All rows of a cloth; see RowPattern.
struct RowsView {
  RowGroup<3> triples;
  MembraneGroup membranes;
  LimitGroup limits;
  RowGroup<1> singles;

  /// Whether all rows are strains of triangles.
  ISOCLOTH_HD bool are_membranes() const {
    return membranes.stencil_count() > 0 && membranes.stencil_count() == stencil_count();
  }
  ISOCLOTH_HD Index stencil_count() const {
    return triples.stencil_count() + membranes.stencil_count() + limits.stencil_count() +
           singles.stencil_count();
  }
  ISOCLOTH_HD std::size_t row_count() const {
    return singles.first_row + static_cast<std::size_t>(singles.stencil_count());
  }
  ISOCLOTH_HD std::size_t tensor_count() const {
    return singles.first_tensor + singles.stencils.entry_nodes.size();
  }
  ISOCLOTH_HD std::size_t jacobian_count() const {
    return singles.first_jacobian + singles.stencils.slot_nodes.size();
  }

  /// visit(group) of those that have rows.
  template <class Visit>
  ISOCLOTH_HD void for_each_group(const Visit& visit) const {
    if (triples.stencil_count() > 0) visit(triples);
    if (membranes.stencil_count() > 0) visit(membranes);
    if (limits.stencil_count() > 0) visit(limits);
    if (singles.stencil_count() > 0) visit(singles);
  }
  /// visit(group, stencil) of the stencil with that number among all.
  template <class Visit>
  ISOCLOTH_HD void visit_stencil(Index stencil, const Visit& visit) const {
    const Index first = triples.stencil_count(), second = first + membranes.stencil_count(),
                third = second + limits.stencil_count();
    if (stencil < first)
      visit(triples, stencil);
    else if (stencil < second)
      visit(membranes, stencil - first);
    else if (stencil < third)
      visit(limits, stencil - second);
    else
      visit(singles, stencil - third);
  }
  /// visit(group, stencil, number of the row in its stencil).
  template <class Visit>
  ISOCLOTH_HD void visit_row(Index row, const Visit& visit) const {
    const Index first = static_cast<Index>(membranes.first_row),
                second = static_cast<Index>(limits.first_row), third = static_cast<Index>(singles.first_row);
    if (row < first)
      visit(triples, row / 3, row % 3);
    else if (row < second)
      visit(membranes, (row - first) / membrane_width, (row - first) % membrane_width);
    else if (row < third)
      visit(limits, (row - second) / stretch_directions, (row - second) % stretch_directions);
    else
      visit(singles, row - third, 0);
  }
};

/// Sparse rows of scalars on nodes; columns ascending within a row.
struct NodeMatrixView {
  ArrayView<const Index> row_begin;  ///< shape [node_count + 1]
  ArrayView<const Index> columns;    ///< shape [entry_count]
};

/// Which nodes are unknowns.
struct FreeNodesView {
  ArrayView<const Index> nodes;   ///< node of each free number, shape [free_count]
  ArrayView<const Index> number;  ///< free number of each node, -1: pinned or driven, shape [node_count]
};

/// Rest shapes: one that all cloths share, or one per cloth with the cloths of a tile side by side.
template <class Real>
struct RestShapesView {
  bool shared = true;
  ArrayView<const Real> tensors;         ///< T [1/m^2], shape [tile or 1, tensor_count(), width or 1]
  ArrayView<const Real> rest_values;     ///< c0, shape [tile or 1, row_count, width or 1]
  ArrayView<const Real> masses;          ///< m_i [m^2], shape [tile or 1, node_count, width or 1]
  ArrayView<const Real> inverse_masses;  ///< 1 / m_i, 0: pinned; same shape
  ArrayView<const Real> bending;         ///< K [1/m^2], shape [tile or 1, entries of K, width or 1]
  ArrayView<const Real> factored;        ///< K_P [1/m^2], shape [tile or 1, block_count, width or 1]
  ArrayView<const Real> beyond;          ///< K_E [1/m^2], shape [tile or 1, coupling_count, width or 1]
  ArrayView<const Real> areas;           ///< a0 [m^2], shape [tile or 1, face_count, width or 1]
};

}  // namespace isocloth
