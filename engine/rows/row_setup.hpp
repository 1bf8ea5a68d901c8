// What a family of rows is made from.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_view.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/rows/stencil_pattern.hpp"

namespace isocloth {

/// The number of a fabric that sets a limit.
using LimitNumber = double Fabric::*;

/// For the stencils of a family: where its rows lie.
struct RowSetup {
  const Mesh& mesh;
  const Topology& topology;
  const std::vector<char>& is_pinned;      ///< shape [node_count]
  const std::vector<Index>& corner_faces;  ///< face of each corner

  bool is_free(Index node) const { return !is_pinned[static_cast<std::size_t>(node)]; }
};

/// What asks for families that a recipe does not name: the mesh, the fabric, and what the recipe is.
struct AskedRows {
  const Mesh& mesh;
  const Fabric& fabric;
  bool are_springs = false;  ///< SpringRows
  bool limit_edges = false;  ///< Recipe::limits_edges
  bool bend_by_hinges = false;
};

/// For the tensors of a family: the rest shape, and the stencils of all families of its width.
struct TensorSetup {
  MeshView mesh;
  ArrayView<const Vec3d> corner_warps;  ///< unit warp directions, shape [corner_count]
  ArrayView<const Vec3d> face_warps;    ///< unit warp directions of whole faces, shape [face_count]
  ArrayView<const double> masses;       ///< lumped, per unit density [m^2], shape [node_count]
  ArrayView<const char> is_pinned;      ///< shape [node_count]
  StencilView stencils;
  Index first_stencil = 0;               ///< first stencil of the family
  ArrayView<const double> band_lengths;  ///< lengths of Mesh::bands [m], shape [band_count]
  ArrayView<const Index> places;  ///< what its add_stencils() noted of each stencil, shape [of the family]
  ArrayView<double> tensors;      ///< T, shape [entry_count, width]; of elements gradients, [slot_count, 2]
};

}  // namespace isocloth
