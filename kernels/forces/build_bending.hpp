// Isometric quadratic bending (Bergou et al. 2006), built once in double.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/views.hpp"

namespace isocloth {

struct BuildLaplacian {
  MeshView mesh;
  NodeMatrixView pattern;             ///< nodes that share a face, the node itself included
  ArrayView<const char> is_boundary;  ///< shape [node_count]
  ArrayView<const double> masses;     ///< m_k [m^2], shape [node_count]
  ArrayView<double> laplacian;        ///< L = M^-1 S [1/m^2], zero on boundary rows, shape [entry_count]
};

struct BuildBending {
  NodeMatrixView laplacian_pattern;
  ArrayView<const double> laplacian;  ///< shape [entries of laplacian_pattern]
  ArrayView<const double> masses;     ///< shape [node_count]
  NodeMatrixView pattern;             ///< nodes with a common neighbour
  ArrayView<double> bending;          ///< K = L^T M L [1/m^2], shape [entries of pattern]
};

namespace ISOCLOTH_BACKEND {
/// S_ij = int grad N_i . grad N_j dA (triangles: cotangents). Boundary rows of L are zero: with them a flat
/// sheet would feel forces. One item per node.
void build_laplacian(const Queue& queue, const BuildLaplacian& args);
/// One item per node (row of K).
void build_bending(const Queue& queue, const BuildBending& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
