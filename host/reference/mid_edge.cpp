#include "host/reference/mid_edge.hpp"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "engine/mesh/cut_quads.hpp"
#include "engine/mesh/material_frame.hpp"

namespace isocloth::reference {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

using Corners = std::array<Index, 3>;
using Ends = std::array<Index, 2>;
using Weights = std::map<Index, double>;  // of nodes

Ends ends_of(Index a, Index b) { return {std::min(a, b), std::max(a, b)}; }

/// The triangles of a mesh, quads cut, and which of them are at each edge and node.
struct Triangles {
  MatrixX3d rest;
  std::vector<Corners> corners;
  std::vector<Index> faces;
  std::map<Ends, std::vector<std::size_t>> at_edge;
  std::map<Index, std::set<std::size_t>> at_node;

  explicit Triangles(const Mesh& mesh) : rest(to_matrix(mesh.positions)) {
    for (const CutTriangle& triangle : cut_quads(mesh)) add(triangle.face, triangle.nodes);
  }
  void add(Index face, const Corners& c) {
    for (std::size_t k = 0; k < 3; ++k) {
      at_edge[ends_of(c[k], c[(k + 1) % 3])].push_back(corners.size());
      at_node[c[k]].insert(corners.size());
    }
    corners.push_back(c);
    faces.push_back(face);
  }
  Vector3d at(Index node) const { return rest.row(node); }
  Vector3d normal(std::size_t t) const {
    const auto& [a, b, c] = corners[t];
    return (at(b) - at(a)).cross(at(c) - at(a)).normalized();
  }
  double area(std::size_t t) const {
    const auto& [a, b, c] = corners[t];
    return (at(b) - at(a)).cross(at(c) - at(a)).norm() / 2;
  }
  /// Unit vector in the triangle across its edge, away from it.
  Vector3d outward(std::size_t t, const Ends& edge) const {
    const Vector3d along = (at(edge[1]) - at(edge[0])).normalized();
    Vector3d way = at(edge[0]) - at(beyond(t, edge));
    way -= along * along.dot(way);
    return way.normalized();
  }
  Index beyond(std::size_t t, const Ends& edge) const {
    for (const Index node : corners[t])
      if (node != edge[0] && node != edge[1]) return node;
    return -1;
  }
  /// Adds `factor` times the derivative along a vector in the triangle.
  void add_derivative(std::size_t t, const Vector3d& along, double factor, Weights& sum) const {
    Eigen::Matrix3d way;
    way << at(corners[t][1]) - at(corners[t][0]), at(corners[t][2]) - at(corners[t][0]), normal(t);
    const Vector3d parts = factor * (way.inverse() * along);  // along = parts of both edges
    sum[corners[t][1]] += parts[0];
    sum[corners[t][2]] += parts[1];
    sum[corners[t][0]] -= parts[0] + parts[1];
  }
  /// Where the nodes about an edge are when all triangles there are turned, one by one, into the plane of the
  /// first beside it.
  std::map<Index, Vector3d> unfolded(const Ends& edge) const {
    using Motion = Eigen::Isometry3d;
    const std::size_t first = at_edge.at(edge)[0];
    std::map<Index, Vector3d> places;
    std::map<std::size_t, Motion> motions{{first, Motion::Identity()}};
    std::deque<std::size_t> open;
    const auto take = [&](std::size_t t) {
      for (const Index node : corners[t]) places.try_emplace(node, motions.at(t) * at(node));
    };
    const auto cross = [&](std::size_t t, const Ends& over, const std::set<std::size_t>* within) {
      for (const std::size_t other : at_edge.at(over)) {
        if (motions.contains(other) || (within != nullptr && !within->contains(other))) continue;
        const Vector3d axis = (at(over[1]) - at(over[0])).normalized(), from = outward(other, over),
                       to = -outward(t, over);
        const double turn = std::atan2(axis.dot(from.cross(to)), from.dot(to));
        motions[other] = motions.at(t) * (Eigen::Translation3d(at(over[0])) * Eigen::AngleAxisd(turn, axis) *
                                          Eigen::Translation3d(-at(over[0])));
        take(other);
        open.push_back(other);
      }
    };
    const auto cross_all = [&](std::size_t t, const std::set<std::size_t>* within) {
      for (std::size_t k = 0; k < 3; ++k) cross(t, ends_of(corners[t][k], corners[t][(k + 1) % 3]), within);
    };
    take(first);
    const std::array beside{first, at_edge.at(edge)[1]};
    cross(first, edge, nullptr);
    for (const std::size_t t : beside) cross_all(t, nullptr);
    if (places.size() < 7) {
      std::set<std::size_t> wide;
      for (const auto& [node, place] : places) wide.insert(at_node.at(node).begin(), at_node.at(node).end());
      for (open.push_front(beside[0]); !open.empty(); open.pop_front()) cross_all(open.front(), &wide);
    }
    return places;
  }
};

/// The slope at the middle of an edge along the normal from its first triangle to the second.
Weights slope_at(const Triangles& mesh, const Ends& edge) {
  const std::size_t s = mesh.at_edge.at(edge)[0], t = mesh.at_edge.at(edge)[1];
  const double area = mesh.area(s) + mesh.area(t);
  Weights slope;
  mesh.add_derivative(s, mesh.outward(s, edge), mesh.area(t) / area, slope);
  mesh.add_derivative(t, mesh.outward(t, edge), -mesh.area(s) / area, slope);
  const Vector3d across = mesh.outward(s, edge), along = (mesh.at(edge[1]) - mesh.at(edge[0])).normalized(),
                 middle = (mesh.at(edge[1]) + mesh.at(edge[0])) / 2;
  const double length = (mesh.at(edge[1]) - mesh.at(edge[0])).norm();
  const auto places = mesh.unfolded(edge);
  const auto count = static_cast<Eigen::Index>(places.size());
  MatrixXd polynomials(count, 6);
  VectorXd weights(count);
  Eigen::Index n = 0;
  for (const auto& [node, place] : places) {
    const double x = across.dot(place - middle) / length, y = along.dot(place - middle) / length;
    polynomials.row(n) << 1, x, y, x * x, y * y, x * y;
    weights[n++] = slope[node] * length;
  }
  // The least change d for which the slope is exact of all polynomials that tell something of their own.
  MatrixXd kept(count, 0);
  std::vector<double> goals;
  for (Eigen::Index k = 0; k < 6; ++k) {
    const VectorXd p = polynomials.col(k);
    VectorXd rest = p;
    if (kept.cols() > 0) rest -= kept * kept.colPivHouseholderQr().solve(p);
    if (rest.norm() <= 0.02 * p.norm()) continue;
    kept.conservativeResize(count, kept.cols() + 1);
    kept.rightCols(1) = p;
    goals.push_back((k == 1 ? 1 : 0) - p.dot(weights));
  }
  const MatrixXd conditions = kept.transpose();
  weights += conditions.completeOrthogonalDecomposition().solve(
      Eigen::Map<const VectorXd>(goals.data(), static_cast<Eigen::Index>(goals.size())));
  n = 0;
  for (const auto& [node, place] : places) slope[node] = weights[n++] / length;
  return slope;
}

}  // namespace

SparseMatrix mid_edge_bending(const Mesh& mesh, const Topology& topology, double ratio,
                              const std::vector<char>& is_free) {
  const Triangles triangles(mesh);
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  const auto is_held = [&](std::size_t t) {
    return !is_free.empty() && std::ranges::none_of(triangles.corners[t], [&](Index node) {
      return is_free[static_cast<std::size_t>(node)] != 0;
    });
  };
  std::map<Ends, Weights> slopes;  // from the first triangle to the second
  for (const auto& [edge, beside] : triangles.at_edge) {
    if (beside.size() < 2) continue;
    if (is_held(beside[0]))
      triangles.add_derivative(beside[0], triangles.outward(beside[0], edge), 1, slopes[edge]);
    else if (is_held(beside[1]))
      triangles.add_derivative(beside[1], triangles.outward(beside[1], edge), -1, slopes[edge]);
    else
      slopes[edge] = slope_at(triangles, edge);
  }
  const Vector3d stiff(1, ratio, std::sqrt(ratio));
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t t = 0; t < triangles.corners.size(); ++t) {
    if (is_held(t)) continue;
    const Vector3d normal = triangles.normal(t),
                   of_face = to_matrix({warps[static_cast<std::size_t>(triangles.faces[t])]}).transpose(),
                   u = (of_face - normal * normal.dot(of_face)).normalized(), v = normal.cross(u);
    const double factor = mesh.face_factors.empty()
                              ? 1
                              : mesh.face_factors[static_cast<std::size_t>(triangles.faces[t])].bending;
    Eigen::Matrix3d squares;
    std::vector<Weights> turns;
    std::vector<Eigen::Index> live;
    std::set<Index> near;
    for (std::size_t k = 0; k < 3; ++k) {
      const Ends edge = ends_of(triangles.corners[t][k], triangles.corners[t][(k + 1) % 3]);
      const Vector3d out = triangles.outward(t, edge);
      squares.row(static_cast<Eigen::Index>(k)) << std::pow(out.dot(u), 2), std::pow(out.dot(v), 2),
          std::sqrt(2.0) * out.dot(u) * out.dot(v);
      const auto slope = slopes.find(edge);
      if (slope == slopes.end()) continue;
      const double length = (triangles.at(edge[1]) - triangles.at(edge[0])).norm(),
                   sign = triangles.at_edge.at(edge)[0] == t ? 1 : -1;
      Weights turn;
      for (const auto& [node, weight] : slope->second) turn[node] += length * sign * weight;
      triangles.add_derivative(t, out, -length, turn);
      for (const auto& [node, weight] : turn) near.insert(node);
      turns.push_back(std::move(turn));
      live.push_back(static_cast<Eigen::Index>(k));
    }
    if (live.empty()) continue;
    const Eigen::Matrix3d dual = squares.inverse().transpose();
    const Eigen::Matrix3d compliance =
        triangles.area(t) * dual * stiff.cwiseInverse().asDiagonal() * dual.transpose();
    const MatrixXd inverse = MatrixXd(compliance(live, live)).inverse();
    const auto at_node = [&](Index node) {
      VectorXd found(static_cast<Eigen::Index>(turns.size()));
      for (std::size_t i = 0; i < turns.size(); ++i)
        found[static_cast<Eigen::Index>(i)] = turns[i].contains(node) ? turns[i].at(node) : 0;
      return found;
    };
    for (const Index a : near)
      for (const Index b : near) entries.emplace_back(a, b, factor * at_node(a).dot(inverse * at_node(b)));
  }
  SparseMatrix matrix(mesh.node_count(), mesh.node_count());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace isocloth::reference
