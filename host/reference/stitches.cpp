#include "host/reference/stitches.hpp"

#include <algorithm>
#include <cmath>

#include "engine/model/sewing_forces.hpp"

namespace isocloth::reference {

Threads threads_of(const Mesh& mesh, const Sewing& sewing, const MatrixX3d& positions, double step) {
  const std::vector<std::array<Index, 2>> threads = mesh.threads();
  const std::size_t seams = mesh.stitches.size();
  const std::vector<double> most = sewing_forces(sewing, mesh);
  const auto count = static_cast<Eigen::Index>(threads.size());
  SparseMatrix ends(count, mesh.node_count());  // d of each thread
  VectorXd stiffness(count);
  MatrixX3d rests(count, 3);
  for (Eigen::Index s = 0; s < count; ++s) {
    const auto i = static_cast<std::size_t>(s);
    const auto& [a, b] = threads[i];
    ends.insert(s, a) = 1;
    ends.insert(s, b) = -1;
    Button thread;
    if (i < seams) {
      thread = {a, b, mesh.stitches[i].slack, sewing.stiffness * mesh.stitches[i].length, most[i], 0};
    } else {
      thread = mesh.buttons[i - seams];
    }
    const Eigen::RowVector3d d = positions.row(a) - positions.row(b);
    const double drawn_in = sewing.speed * step, opening = d.norm() - thread.distance;
    const bool is_open = opening > drawn_in;
    const double most_held = i < seams ? sewing.strength * mesh.stitches[i].length : HUGE_VAL;
    double w =
        std::min(thread.stiffness, is_open ? thread.force / drawn_in : most_held / std::max(opening, 0.0));
    const bool lets_go = thread.strength > 0 && thread.stiffness * opening > thread.strength;
    if (opening < 0 || lets_go) w = 0;
    const double rest = is_open ? d.norm() - drawn_in : std::min(thread.distance, d.norm());
    rests.row(s) = rest > 0 ? Eigen::RowVector3d(rest * d.normalized()) : Eigen::RowVector3d::Zero();
    stiffness[s] = step * step * w;
  }
  const SparseMatrix forces = ends.transpose() * stiffness.asDiagonal();
  return {forces * ends, forces * rests};
}

}  // namespace isocloth::reference
