// Threads of a mesh's stitches in a step (kernels/forces/stitches.hpp).
#pragma once

#include "engine/mesh/mesh.hpp"
#include "engine/model/sewing.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Threads of seams and buttons; their force times h^2 is of_rests - laplacian phi.
struct Threads {
  SparseMatrix laplacian;  ///< Laplacian of the threads' stiffness [kg], shape [node_count, node_count]
  MatrixX3d of_rests;      ///< pulls of the threads' lengths [kg m], shape [node_count, 3]
};

/// Threads in a step of `step` [s] from these positions [m].
Threads threads_of(const Mesh& mesh, const Sewing& sewing, const MatrixX3d& positions, double step);

}  // namespace isocloth::reference
