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

/// |principal stretch - 1|: for each interior node of the rows the larger one of its metric
/// [[1 + C_E, C_F], [C_F, 1 + C_G]], then for each edge |sqrt(1 + C) - 1|. `row_values`: shape [row_count].
VectorXd principal_strains(const QuadraticRows& rows, const VectorXd& row_values);

}  // namespace isocloth::reference
