#include "host/reference/hinge_rows.hpp"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <cmath>

#include "engine/mesh/topology.hpp"

namespace isocloth::reference {
namespace {

using Eigen::Vector3d;

/// The node of a triangle that has the edge from a to b in its direction, -1: none has.
Index beyond(const Mesh& mesh, Index a, Index b) {
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; i < 3; ++i)
      if (nodes[i] == a && nodes[(i + 1) % 3] == b) return nodes[(i + 2) % 3];
  }
  return -1;
}

struct Sides {
  Vector3d edge, first, second;  ///< unit vector along the edge, and those across it in the triangles
  double length, height_first, height_second, foot_first, foot_second;
};
/// Heights of the triangles over their edge, and the shares of the edge at which they stand.
Sides sides_of(const std::array<Index, 4>& hinge, const MatrixX3d& x) {
  const Vector3d a = x.row(hinge[0]), b = x.row(hinge[1]), c = x.row(hinge[2]), d = x.row(hinge[3]);
  Sides s;
  s.length = (b - a).norm();
  s.edge = (b - a) / s.length;
  const double first = (c - a).dot(s.edge), second = (d - a).dot(s.edge);
  s.first = c - a - first * s.edge;
  s.second = d - a - second * s.edge;
  s.height_first = s.first.norm();
  s.height_second = s.second.norm();
  s.first /= s.height_first;
  s.second /= s.height_second;
  s.foot_first = first / s.length;
  s.foot_second = second / s.length;
  return s;
}

}  // namespace

HingeRows::HingeRows(const Mesh& mesh, const std::vector<char>& is_free) {
  for (const auto& [a, b] : build_topology(mesh).edges) {
    const Index c = beyond(mesh, a, b), d = beyond(mesh, b, a);
    if (c < 0 || d < 0) continue;
    const auto free = [&](Index node) { return is_free[static_cast<std::size_t>(node)] != 0; };
    if (free(a) || free(b) || free(c) || free(d)) hinges_.push_back({a, b, c, d});
  }
  const MatrixX3d rest = to_matrix(mesh.positions);
  rest_ = stiffness_ = curvature_ = VectorXd::Zero(count());
  rest_ = values(rest);
  for (Eigen::Index i = 0; i < count(); ++i) {
    const Sides s = sides_of(hinges_[static_cast<std::size_t>(i)], rest);
    curvature_[i] = 2 / (s.height_first + s.height_second);
    stiffness_[i] = s.length * curvature_[i];
  }
}

VectorXd HingeRows::values(const MatrixX3d& positions) const {
  VectorXd found(count());
  for (Eigen::Index i = 0; i < count(); ++i) {
    const Sides s = sides_of(hinges_[static_cast<std::size_t>(i)], positions);
    // The second triangle goes on straight where it lies along -first.
    found[i] = std::atan2(s.second.dot(s.edge.cross(s.first)), -s.second.dot(s.first)) - rest_[i];
  }
  return found;
}

SparseMatrix HingeRows::jacobian(const MatrixX3d& positions, Eigen::Index row_count) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index i = 0; i < count(); ++i) {
    const std::array<Index, 4>& hinge = hinges_[static_cast<std::size_t>(i)];
    const Sides s = sides_of(hinge, positions);
    // A triangle turns about the edge by what moves its node along its normal over its height.
    const Vector3d first = s.edge.cross(s.first) / s.height_first,
                   second = s.second.cross(s.edge) / s.height_second;
    const Vector3d by_node[] = {-(1 - s.foot_first) * first - (1 - s.foot_second) * second,
                                -s.foot_first * first - s.foot_second * second, first, second};
    for (std::size_t k = 0; k < 4; ++k)
      for (int axis = 0; axis < 3; ++axis)
        entries.emplace_back(static_cast<int>(row_count - count() + i), 3 * hinge[k] + axis,
                             by_node[k][axis]);
  }
  SparseMatrix found(row_count, 3 * positions.rows());
  found.setFromTriplets(entries.begin(), entries.end());
  return found;
}

}  // namespace isocloth::reference
