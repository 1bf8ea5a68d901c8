// Bending by slopes at the middle of edges.
#pragma once

#include "engine/mesh/topology.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// K [1/m^2] of the energy kappa / 2 x^T K x, shape [node_count, node_count]: the sum over triangles of
/// v^T S^-1 v, v_e = l_e (phi_e - g . n_e) of the edges that are not free, S_ef = A Z_e : D^-1 Z_f, Z_e dual
/// to n_e n_e^T, D = diag(1, r, sqrt(r)) on (uu, vv, sqrt(2) uv) along warp and weft. phi_e: the slope at the
/// middle of the edge, from the nodes about it; at an edge whose other triangle is held, that of the other.
/// Quads are cut along their shorter diagonal. is_free: shape [node_count], empty: all.
SparseMatrix mid_edge_bending(const Mesh& mesh, const Topology& topology, double ratio,
                              const std::vector<char>& is_free);

}  // namespace isocloth::reference
