// Error measures of a cloth.
#pragma once

#include "host/reference/rows.hpp"

namespace isocloth::reference {

/// Area errors of Coltraro 2022, (19)-(22), dimensionless.
struct AreaErrors {
  double total = 0;       ///< |A - A0| / A0, (19)
  double mean = 0;        ///< mean over faces of |a - a0| / a0, (20)
  double dispersion = 0;  ///< mean plus two standard deviations of |a - a0| / a0, (21)
  VectorXd signed_faces;  ///< (a - a0) / a0, (22), shape [face_count]
};
AreaErrors area_errors(const Mesh& mesh, const MatrixX3d& positions);

/// |l / l0 - 1| of every edge, shape [edge_count] in the order of Topology::edges.
VectorXd edge_strains(const Mesh& mesh, const MatrixX3d& positions);

/// Singular values s1 >= s2 of the deformation gradient, 3 x 2 in an orthonormal frame of the rest shape's
/// tangent plane: at the 2 x 2 Gauss points of each quad (xi, then eta ascending), once for each triangle.
/// Shape [point_count, 2].
Eigen::MatrixX2d principal_stretches(const Mesh& mesh, const MatrixX3d& positions);

/// |F_u|, |F_v| and the sine of the angle of shear, F_u . F_v / (|F_u| |F_v|), at the same points: along warp
/// (see face_warp_directions()) and weft of the rest shape. Shape [point_count, 3].
Eigen::MatrixX3d thread_stretches(const Mesh& mesh, const MatrixX3d& positions);

}  // namespace isocloth::reference
