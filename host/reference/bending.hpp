// Quadratic bending: isometric, of a plate, and by slopes at the middle of edges (mid_edge.hpp).
#pragma once

#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// S_ij = int grad N_i . grad N_j dA over the rest surface, shape [node_count, node_count]: cotangent weights
/// on triangles, bilinear elements on quads.
SparseMatrix laplace_stiffness(const Mesh& mesh);

/// K [1/m^2] of a model; energy 1/2 kappa phi^T K phi. A flat sheet has K phi = 0. Shape [node_count,
/// node_count].
///
/// Isometric: K = L^T M L with L = M^-1 S on interior nodes and zero rows on the boundary, M lumped (Bergou
/// et al. 2006; Coltraro 2022, section 6).
///
/// Plate: K = sum_i m_i / (1 - p_i) H_i^T C^1/2 sym(C^1/2 A_i C^-1/2)^+ C^1/2 H_i with the second derivatives
/// (uu, vv, sqrt(2) uv) along warp and weft,
///   m_i H_i = -int grad N_i grad x^T dA + int over the boundary of N_i n grad x^T dl,
/// of which A_i is what the quadratic polynomials with unit derivatives have; C = diag(1, r, sqrt(r)), r the
/// stiffness along weft over that along warp; ^+: without eigenvalues up to 1/4. p_i: share of m_i on faces
/// without a free node; none of K where it is 1. Frames: the normal of a node is the mean of its faces', of
/// whose planes all is turned into the node's by the least rotation. is_free: shape [node_count], empty: all.
SparseMatrix bending_matrix(const Mesh& mesh, const Topology& topology, const Bending& bending = {},
                            const std::vector<char>& is_free = {});

}  // namespace isocloth::reference
