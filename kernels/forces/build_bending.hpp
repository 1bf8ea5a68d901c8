// The matrix of bending, built once in double: K of the energy kappa / 2 x^T K x. Constant, because a sheet
// that does not stretch bends by its second derivatives, whose part in the sheet is nothing (Bergou et al.
// 2006, A quadratic bending model for inextensible surfaces).
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

struct BuildCurvature {
  MeshView mesh;
  NodeMatrixView pattern;             ///< nodes that share a face, the node itself included
  ArrayView<const char> is_boundary;  ///< shape [node_count]
  ArrayView<const char> is_rim;  ///< edge from a corner to the next of its face is boundary; [corner_count]
  ArrayView<const char> is_pinned;  ///< whether each node is pinned, for plates alone; shape [node_count]
  /// Warp of each face, unit, in the face, for plates alone; shape [face_count].
  ArrayView<const Vec3d> warps;
  ArrayView<const double> masses;  ///< m_k [m^2], shape [node_count]
  bool is_plate = false;
  double ratio = 1;            ///< stiffness of a plate along weft over that along warp
  ArrayView<Vec3d> curvature;  ///< [1/m^2], shape [entries of pattern]
};

struct BuildBending {
  NodeMatrixView curvature_pattern;
  ArrayView<const Vec3d> curvature;  ///< shape [entries of curvature_pattern]
  ArrayView<const double> masses;    ///< shape [node_count]
  NodeMatrixView pattern;            ///< nodes with a common neighbour
  ArrayView<double> bending;         ///< K [1/m^2], shape [entries of pattern]
};

namespace ISOCLOTH_BACKEND {
/// Three numbers L_ij per entry, x^T K x = sum_i m_i |sum_j L_ij x_j|^2. One item per node.
///
/// Isometric: the first is the Laplacian M^-1 S, S_ij = int grad N_i . grad N_j dA (triangles: cotangents), 0
/// on the boundary: with such rows a flat sheet would feel forces.
///
/// A plate: second derivatives (uu, vv, sqrt(2) uv) along warp and weft, in the tangent plane of each node,
///   m_i H_i = -int grad N_i grad x^T dA + int over the boundary of N_i n grad x^T dl,
/// the mean around a node of what edges bend (Cohen-Steiner, Morvan 2003) and, on quads, elements. The mean
/// is right for smooth meshes alone: on others H_i of the quadratic polynomials is A_i H with A_i != 1, by
/// up to a half. The energy m_i / 2 H_i^T C^1/2 sym(C^1/2 A_i C^-1/2)^-1 C^1/2 H_i is right for them on any
/// mesh, and so are its forces up to the part of A_i that is not symmetric. Where an eigenvalue is below 1/4,
/// edges tell nothing of that curvature, as across a boundary, where there is no moment: it is left out.
/// Faces whose nodes are all pinned do not bend with the rest: a node with such faces on a share p of its
/// area has H_i / (1 - p) on the others, so that a clamp is where its last pinned nodes are.
/// C = diag(1, r, sqrt(r)): along a thread turned by t from the warp a strip has (cos^2 + sqrt(r) sin^2)^2.
void build_curvature(const Queue& queue, const BuildCurvature& args);
/// One item per node (row of K).
void build_bending(const Queue& queue, const BuildBending& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
