#include "host/reference/hinge_rows.hpp"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/mesh/cut_quads.hpp"
#include "engine/mesh/material_frame.hpp"

namespace isocloth::reference {
namespace {

using Eigen::Vector3d;

double large(double angle) {
  const double end = 2 * std::atan(2.0), size = std::min(std::fabs(angle), end);
  return 2 * std::tan(size / 2) * std::sin(size / 2) +
         std::max(0.0, std::fabs(angle) - end) * 12 / std::sqrt(5.0);
}
double large_slope(double angle) {
  const double half = std::min(std::fabs(angle) / 2, std::atan(2.0));
  return std::copysign(std::sin(half) * (1 + 1 / std::pow(std::cos(half), 2)), angle);
}

struct Sides {
  /// Unit vector along the edge, and those across the edge in the two triangles.
  Vector3d edge, first, second;
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
  std::map<std::array<Index, 2>, Index> beyond, faces;  // of directed edges: the node across, the face
  for (const auto& [nodes, face] : cut_quads(mesh))
    for (std::size_t k = 0; k < 3; ++k) {
      const std::array<Index, 2> edge{nodes[k], nodes[(k + 1) % 3]};
      beyond[edge] = nodes[(k + 2) % 3];
      faces[edge] = face;
    }
  std::set<std::array<Index, 2>> folded;
  for (const Fold& fold : mesh.folds) {
    folded.insert({fold.nodes[0], fold.nodes[1]});
    folded.insert({fold.nodes[1], fold.nodes[0]});
  }
  for (const auto& [edge, c] : beyond) {
    const auto [a, b] = edge;
    if (a > b || !beyond.contains({b, a}) || folded.contains(edge)) continue;
    const Index d = beyond.at({b, a});
    const auto free = [&](Index node) { return is_free[static_cast<std::size_t>(node)] != 0; };
    if (free(a) || free(b) || free(c) || free(d)) hinges_.push_back({a, b, c, d});
  }
  const MatrixX3d rest = to_matrix(mesh.positions);
  kinds_.assign(hinges_.size(), Kind::from_rest);
  rest_ = stiffness_ = curvature_ = VectorXd::Zero(count());
  rest_ = angles(rest);
  for (Eigen::Index i = 0; i < count(); ++i) {
    const std::array<Index, 4>& hinge = hinges_[static_cast<std::size_t>(i)];
    const Sides s = sides_of(hinge, rest);
    // A triangle that is held as a whole bends nothing.
    const auto bends = [&](std::size_t apex) {
      return std::ranges::any_of(std::array{hinge[0], hinge[1], hinge[apex]},
                                 [&](Index node) { return is_free[static_cast<std::size_t>(node)] != 0; });
    };
    curvature_[i] = 2 / ((bends(2) ? s.height_first : 0) + (bends(3) ? s.height_second : 0));
    stiffness_[i] = s.length * curvature_[i];
    if (mesh.face_factors.empty()) continue;
    const auto factor = [&](Index from, Index to) {
      return mesh.face_factors[static_cast<std::size_t>(faces.at({from, to}))].bending;
    };
    const double one = bends(2) ? s.height_first : 0, other = bends(3) ? s.height_second : 0;
    stiffness_[i] *= (one * factor(hinge[0], hinge[1]) + other * factor(hinge[1], hinge[0])) / (one + other);
  }
}

HingeRows::HingeRows(const Mesh& mesh, const std::vector<char>& is_free, const Topology& topology,
                     double ratio)
    : HingeRows(mesh, is_free) {
  std::ranges::fill(kinds_, Kind::large);
  const MatrixX3d rest = to_matrix(mesh.positions), warps = to_matrix(face_warp_directions(mesh, topology));
  std::map<std::array<Index, 2>, Index> faces;  // of directed edges
  for (const auto& [nodes, face] : cut_quads(mesh))
    for (std::size_t k = 0; k < 3; ++k) faces[{nodes[k], nodes[(k + 1) % 3]}] = face;
  for (Eigen::Index i = 0; i < count(); ++i) {
    const std::array<Index, 4>& hinge = hinges_[static_cast<std::size_t>(i)];
    const Sides s = sides_of(hinge, rest);
    const Vector3d warp = warps.row(faces.at({hinge[0], hinge[1]}));
    const double sine = Eigen::Vector2d(warp.dot(s.edge), warp.dot(s.first)).normalized()[0];
    stiffness_[i] *= 2.0 / 3 * std::pow(1 - sine * sine + std::sqrt(ratio) * sine * sine, 2);
  }
}

HingeRows HingeRows::of_folds(const Mesh& mesh, const std::vector<char>& is_free, double kappa) {
  HingeRows found;
  std::vector<double> rest, stiffness;
  for (const Fold& fold : mesh.folds) {
    const double k = fold.stiffness + fold.factor * kappa;
    const auto free = [&](Index node) { return is_free[static_cast<std::size_t>(node)] != 0; };
    if (fold.stiffness + fold.factor == 0 || std::ranges::none_of(fold.nodes, free)) continue;
    found.hinges_.push_back(fold.nodes);
    rest.push_back(fold.angle);
    stiffness.push_back(kappa > 0 ? k / kappa : k);
  }
  found.kinds_.assign(rest.size(), Kind::fold);
  found.rest_ = Eigen::Map<const VectorXd>(rest.data(), std::ssize(rest));
  found.stiffness_ = Eigen::Map<const VectorXd>(stiffness.data(), std::ssize(stiffness));
  found.curvature_ = VectorXd::Zero(std::ssize(rest));
  return found;
}

void HingeRows::append(const HingeRows& more) {
  kinds_.insert(kinds_.end(), more.kinds_.begin(), more.kinds_.end());
  hinges_.insert(hinges_.end(), more.hinges_.begin(), more.hinges_.end());
  const auto join = [](VectorXd& own, const VectorXd& other) {
    VectorXd both(own.size() + other.size());
    both << own, other;
    own = both;
  };
  join(rest_, more.rest_);
  join(stiffness_, more.stiffness_);
  join(curvature_, more.curvature_);
}

VectorXd HingeRows::values(const MatrixX3d& positions) const {
  VectorXd found = angles(positions);
  for (Eigen::Index i = 0; i < count(); ++i) {
    const Kind kind = kinds_[static_cast<std::size_t>(i)];
    if (kind == Kind::large)
      found[i] = large(found[i]);
    else
      found[i] -= rest_[i];
    if (kind == Kind::fold && std::fabs(found[i]) > 1.5 * M_PI) found[i] -= std::copysign(2 * M_PI, found[i]);
  }
  return found;
}

VectorXd HingeRows::angles(const MatrixX3d& positions) const {
  VectorXd found(count());
  for (Eigen::Index i = 0; i < count(); ++i) {
    const Sides s = sides_of(hinges_[static_cast<std::size_t>(i)], positions);
    // The second triangle goes on straight where it lies along -first.
    found[i] = std::atan2(s.second.dot(s.edge.cross(s.first)), -s.second.dot(s.first));
  }
  return found;
}

SparseMatrix HingeRows::jacobian(const MatrixX3d& positions, Eigen::Index row_count) const {
  std::vector<Eigen::Triplet<double>> entries;
  VectorXd slopes = angles(positions);
  for (Eigen::Index i = 0; i < count(); ++i)
    slopes[i] = kinds_[static_cast<std::size_t>(i)] == Kind::large ? large_slope(slopes[i]) : 1;
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
                             slopes[i] * by_node[k][axis]);
  }
  SparseMatrix found(row_count, 3 * positions.rows());
  found.setFromTriplets(entries.begin(), entries.end());
  return found;
}

}  // namespace isocloth::reference
