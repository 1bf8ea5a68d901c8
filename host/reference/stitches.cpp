#include "host/reference/stitches.hpp"

#include <algorithm>

namespace isocloth::reference {

Threads threads_of(const Mesh& mesh, const Sewing& sewing, const MatrixX3d& positions, double step) {
  const Eigen::Index count = static_cast<Eigen::Index>(mesh.stitches.size());
  SparseMatrix ends(count, mesh.node_count());  // d of each thread
  VectorXd stiffness(count);
  MatrixX3d rests(count, 3);
  for (Eigen::Index s = 0; s < count; ++s) {
    const Stitch& stitch = mesh.stitches[static_cast<std::size_t>(s)];
    ends.insert(s, stitch.a) = 1;
    ends.insert(s, stitch.b) = -1;
    const Eigen::RowVector3d d = positions.row(stitch.a) - positions.row(stitch.b);
    const double drawn_in = sewing.speed * step, left = d.norm() - drawn_in;
    double w = sewing.stiffness * stitch.length;
    if (left > 0) w = std::min(w, sewing.force * stitch.length / drawn_in);
    rests.row(s) = left > 0 ? Eigen::RowVector3d(left * d.normalized()) : Eigen::RowVector3d::Zero();
    stiffness[s] = step * step * w;
  }
  const SparseMatrix forces = ends.transpose() * stiffness.asDiagonal();
  return {forces * ends, forces * rests};
}

}  // namespace isocloth::reference
