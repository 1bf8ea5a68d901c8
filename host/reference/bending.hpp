// Quadratic isometric bending.
#pragma once

#include "engine/mesh/topology.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// S_ij = int grad N_i . grad N_j dA over the rest surface, shape [node_count, node_count]: cotangent weights
/// on triangles, bilinear elements on quads.
SparseMatrix laplace_stiffness(const Mesh& mesh);

/// K = L^T M L [1/m^2] with L = M^-1 S on interior nodes and zero rows on the boundary, M lumped (Bergou et
/// al. 2006; Coltraro 2022, section 6); energy 1/2 kappa phi^T K phi. A flat sheet has K phi = 0. Shape
/// [node_count, node_count].
SparseMatrix bending_matrix(const Mesh& mesh, const Topology& topology);

}  // namespace isocloth::reference
