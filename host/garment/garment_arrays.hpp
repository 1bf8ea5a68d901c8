// Topology, rest shape and rows of a garment in the memory of a device.
#pragma once

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/garment/nodal_pattern.hpp"
#include "host/memory/buffer.hpp"
#include "kernels/forces/stitches.hpp"
#include "kernels/linear/couplings.hpp"

namespace isocloth {

/// Vectors as their components, one after another.
template <class Real>
ArrayView<const Real> flat(ArrayView<const Vec3<Real>> vectors) {
  return {&vectors.data()->x, 3 * vectors.size()};
}

template <class Real>
ArrayView<Real> flat(ArrayView<Vec3<Real>> vectors) {
  return {&vectors.data()->x, 3 * vectors.size()};
}

template <class Real>
std::vector<Vec3<Real>> narrowed(const std::vector<Vec3d>& values) {
  std::vector<Vec3<Real>> result;
  for (const Vec3d& v : values)
    result.push_back({static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)});
  return result;
}

/// Whether some pin holds a node, shape [node_count].
std::vector<char> pinned_nodes(const Garment& garment);

struct GatherBuffers {
  Buffer<Index> begin, first, second;
  GatherView view() const { return {begin.view(), first.view(), second.view()}; }
};

GatherBuffers gather_buffers(const Device& device, const GatherLists& lists);

struct RowGroupBuffers {
  Buffer<Index> stencil_begin, slot_nodes, entry_begin, entry_nodes, laws;
  GatherBuffers pair_terms, block_terms, node_terms;
  /// Group: RowGroup or MembraneGroup.
  template <class Group>
  Group view() const {
    Group group;
    group.stencils = {stencil_begin.view(), slot_nodes.view(), entry_begin.view(), entry_nodes.view()};
    group.pair_terms = pair_terms.view();
    group.block_terms = block_terms.view();
    group.node_terms = node_terms.view();
    group.laws = laws.view();
    return group;
  }
};

/// Topology, tensors, bending and gather lists of one garment.
template <class Real>
struct GarmentArrays {
  /// Free numbers ascend with the nodes, or follow an order of elimination with little fill. couples_faces:
  /// the matrix has a block for any two nodes of a face, whatever the rows.
  GarmentArrays(const Device& device, const Garment& garment, const Recipe& recipe,
                bool elimination_order = false, bool couples_faces = false,
                FactorPattern factor = FactorPattern::whole);

  RowPattern rows;       ///< host copy: counts
  NodalPattern pattern;  ///< host copy: counts, blocks
  bool has_bending = false;
  double element_size = 0;  ///< sqrt of the mean lumped mass [m]
  double rest_area = 0;     ///< area of the rest shape [m^2]

  Buffer<Index> face_begin, face_nodes;
  Buffer<Real> masses;          ///< m_i [m^2]
  Buffer<Real> inverse_masses;  ///< 1 / m_i, 0: pinned
  Buffer<Real> rest_areas;      ///< area of each face at rest [m^2], shape [face_count]
  RowGroupBuffers triples, membranes, limits, singles;
  Buffer<Real> tensors;      ///< T of all rows, gradients of membranes, see RowsView
  Buffer<Real> rest_values;  ///< c0, shape [row_count]
  Buffer<Index> bending_begin, bending_columns;
  Buffer<Real> bending;           ///< K, empty: no bending
  Buffer<Real> factored, beyond;  ///< see FactoredBending
  Buffer<Index> free_nodes, free_number;
  Buffer<Index> node_pair_begin, node_pairs;
  Buffer<Index> block_rows, block_columns, block_pairs;
  Buffer<Index> coupling_begin, coupling_columns;
  Buffer<Index> stitch_nodes, pair_stitches;
  GatherBuffers stitches;
  Buffer<Real> stitch_forces, stitch_stiffness;  ///< f [N], k [N/m] of each stitch, then of each button
  /// Distances l [m] and strengths [N] of each stitch, then of each button; see StitchLaws.
  Buffer<Real> stitch_distances, stitch_strengths;

  Index node_count() const { return static_cast<Index>(masses.size()); }
  Index face_count() const { return static_cast<Index>(face_begin.size()) - 1; }
  FreeNodesView free_view() const { return {free_nodes.view(), free_number.view()}; }
  RowsView rows_view() const;
  /// Takes over which stitches are open, how hard they are drawn and hold, and how long bands are.
  void set_fasteners(const Garment& garment);
  CouplingPattern couplings() const { return {coupling_begin.view(), coupling_columns.view()}; }
  StitchPattern stitch_pattern() const {
    return {stitch_nodes.view(), pair_stitches.view(), stitches.view()};
  }
  StitchLaws<Real> stitch_laws() const {
    return {stitch_forces.view(), stitch_stiffness.view(), stitch_distances.view(), stitch_strengths.view()};
  }
  std::size_t memory_bytes() const;
};

}  // namespace isocloth
