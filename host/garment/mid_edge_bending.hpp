// Bending by slopes at the middle of edges.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/recipe.hpp"
#include "host/garment/nodal_pattern.hpp"

namespace isocloth {

/// K [1/m^2] of the energy kappa / 2 x^T K x, constant as that of a plate (kernels/forces/build_bending.hpp)
/// and nearly exact on any mesh of triangles; quads are cut along their shorter diagonal.
///
/// The second derivatives H of a triangle of area A are constant (Morley 1968; normals at the middle of
/// edges: Grinspun, Gingold, Reisman, Zorin 2006),
///   A H = sum over its edges of l n n^T (phi - n . g),
/// l, n: length and outward normal of an edge, g the triangle's gradient, phi the slope along n of the sheet
/// at the middle of the edge; the energy is A / 2 H : D : H with D / kappa = diag(1, r, sqrt(r)) on (uu, vv,
/// sqrt(2) uv) along warp and weft. Slopes are sums over nodes about an edge: the mean of the gradients of
/// both triangles, each weighted by the other's area, and the least change of it for which the slope of every
/// quadratic polynomial is exact. Since both triangles have one slope, forces of constant moments cancel;
/// since slopes are exact, so are energies.
///
/// Nodes about an edge: of the two triangles beside it and of their neighbours; where these have fewer than
/// seven, at rims, of all triangles at those. On a surface that is not flat at rest they lie in the plane
/// into which these triangles unfold one by one.
///
/// Rims: no moment acts across an edge of one triangle; its slope is that for which the energy is least. At
/// an edge whose other triangle has no free node, a clamp, the slope is that of the other. Triangles without
/// a free node have no energy.
class MidEdgeBending {
 public:
  /// is_pinned: shape [node_count].
  MidEdgeBending(const Mesh& mesh, const std::vector<char>& is_pinned);
  /// Nodes that some triangle couples.
  const NodeMatrixPattern& pattern() const { return pattern_; }
  /// K, shape [entries of pattern()]; ratio: r, stiffness along weft over that along warp.
  std::vector<double> values(double ratio) const;

 private:
  /// Curvature H over a triangle times its area [m], by the nodes that it comes from.
  struct Element {
    double area = 0, factor = 1;  ///< factor on its bending stiffness
    std::vector<Index> nodes;
    std::array<bool, 3> is_rim{};
    std::array<std::array<double, 3>, 3> squares{};  ///< n n^T of each edge as (uu, vv, sqrt(2) uv)
    std::vector<std::array<double, 3>> turns;        ///< l (phi - n . g) of each edge, shape [nodes]
  };
  std::vector<Element> elements_;
  NodeMatrixPattern pattern_;
};

}  // namespace isocloth
