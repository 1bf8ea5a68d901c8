#include "host/reference/bending.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/mesh/material_frame.hpp"
#include "host/reference/mid_edge.hpp"

namespace isocloth::reference {

SparseMatrix laplace_stiffness(const Mesh& mesh) {
  const auto points = surface_points(mesh);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (const SurfacePoint& point : points[f]) {
      const Eigen::MatrixXd local = point.area * point.gradients * point.gradients.transpose();
      for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t j = 0; j < nodes.size(); ++j)
          entries.emplace_back(nodes[i], nodes[j],
                               local(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
  }
  SparseMatrix stiffness(mesh.node_count(), mesh.node_count());
  stiffness.setFromTriplets(entries.begin(), entries.end());
  return stiffness;
}

namespace {

/// Factor of the bending stiffness at each node, the mean of the faces there.
VectorXd bending_factors(const Mesh& mesh, const VectorXd& areas) {
  return lumped_areas(mesh, surface_points(mesh), &FabricFactors::bending).cwiseQuotient(areas);
}

SparseMatrix isometric_bending(const Mesh& mesh, const Topology& topology) {
  const VectorXd areas = lumped_areas(mesh, surface_points(mesh));
  // L^T M L = S^T M^-1 S with the inverse mass of boundary nodes set to zero.
  VectorXd interior_inverse = VectorXd::Zero(mesh.node_count());
  const VectorXd factors = bending_factors(mesh, areas);
  for (const Index node : topology.interior_nodes) interior_inverse[node] = factors[node] / areas[node];
  const SparseMatrix stiffness = laplace_stiffness(mesh);
  return SparseMatrix(stiffness.transpose()) * interior_inverse.asDiagonal() * stiffness;
}

/// A point of a face: where surface gradients are taken, and the vector that they are multiplied by.
struct PlatePoint {
  SurfacePoint surface;
  Eigen::Vector3d left;
};

/// What the integrals over a face add to m_i H_i of its corner `own`.
std::vector<PlatePoint> plate_points(const Mesh& mesh, const MatrixX3d& rest, const Topology& topology,
                                     Index face, Index own) {
  const auto nodes = mesh.face(face);
  const Index size = mesh.face_size(face);
  const MatrixX3d corners = corner_positions(mesh, face, rest);
  std::vector<PlatePoint> points;
  for (const ReferencePoint& point : reference_points(size)) {
    const SurfacePoint surface = surface_point(point, corners);
    points.push_back({surface, -surface.area * surface.gradients.row(own).transpose()});
  }
  for (const Index k : {own, (own + size - 1) % size}) {
    const Index next = (k + 1) % size;
    const std::array edge{std::min(nodes[k], nodes[next]), std::max(nodes[k], nodes[next])};
    if (!std::ranges::binary_search(topology.boundary_edges, edge)) continue;
    const Eigen::Vector3d along = corners.row(next) - corners.row(k);
    for (const double side : {-1.0, 1.0}) {
      const SurfacePoint surface = surface_point(edge_point(size, k, 0.5 + side / std::sqrt(12.0)), corners);
      points.push_back({surface, surface.values[own] / 2 * along.cross(surface.normal)});
    }
  }
  return points;
}

/// (uu, vv, sqrt(2) uv) of the symmetric part of a b^T.
Eigen::Vector3d symmetric_product(const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
  return {a[0] * b[0], a[1] * b[1], (a[0] * b[1] + a[1] * b[0]) / std::sqrt(2.0)};
}

SparseMatrix plate_bending(const Mesh& mesh, const Topology& topology, double ratio,
                           const std::vector<char>& is_free) {
  const MatrixX3d rest = to_matrix(mesh.positions);
  const auto all_points = surface_points(mesh);
  const VectorXd areas = lumped_areas(mesh, all_points), factors = bending_factors(mesh, areas);
  const std::vector<Index> faces = corner_faces(mesh);
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  const Eigen::Array3d stiff(1, std::sqrt(ratio), std::pow(ratio, 0.25));  // C^1/2
  std::vector<Eigen::Triplet<double>> entries;
  for (Index node = 0; node < mesh.node_count(); ++node) {
    std::vector<std::array<Index, 2>> around;  // faces, and the node's corner in each
    for (Index c = topology.node_corner_begin[node]; c < topology.node_corner_begin[node + 1]; ++c) {
      const Index face = faces[topology.node_corners[c]];
      around.push_back({face, topology.node_corners[c] - mesh.face_begin[face]});
    }
    Eigen::Vector3d normal = Eigen::Vector3d::Zero(), warp = normal;
    const auto centre_of = [&](Index face) {
      return surface_point(centre_point(mesh.face_size(face)), corner_positions(mesh, face, rest));
    };
    for (const auto& [face, own] : around) {
      const SurfacePoint centre = centre_of(face);
      normal += centre.area * centre.normal;
    }
    normal.normalize();
    const auto turn = [&normal](const Eigen::Vector3d& from, const Eigen::Vector3d& vector) {
      return Eigen::Vector3d(Eigen::Quaterniond::FromTwoVectors(from, normal) * vector);
    };
    for (const auto& [face, own] : around) {
      const SurfacePoint centre = centre_of(face);
      warp += centre.area * turn(centre.normal, to_matrix({warps[face]}).transpose());
    }
    Eigen::Matrix<double, 2, 3> frame;
    frame.row(0) = (warp - normal * normal.dot(warp)).normalized();
    frame.row(1) = normal.cross(Eigen::Vector3d(frame.row(0)));

    Eigen::Matrix3Xd h = Eigen::Matrix3Xd::Zero(3, mesh.node_count());
    Eigen::Matrix3d exact = Eigen::Matrix3d::Zero();
    double bending_area = areas[node];
    for (const auto& [face, own] : around) {
      const auto nodes = mesh.face(face);
      const auto is_free_node = [&](Index j) { return is_free.empty() || is_free[j]; };
      if (std::ranges::none_of(nodes, is_free_node))
        for (const SurfacePoint& point : all_points[face]) bending_area -= point.area * point.values[own];
      for (const PlatePoint& point : plate_points(mesh, rest, topology, face, own)) {
        const Eigen::Vector3d& from = point.surface.normal;
        const Eigen::Vector2d left = frame * turn(from, point.left) / areas[node];
        for (std::size_t j = 0; j < nodes.size(); ++j) {
          const Eigen::Vector2d right =
              frame * turn(from, point.surface.gradients.row(static_cast<Eigen::Index>(j)));
          const Eigen::Vector2d way = frame * turn(from, rest.row(nodes[j]) - rest.row(node));
          h.col(nodes[j]) += symmetric_product(left, right);
          exact += symmetric_product(left, right) * symmetric_product(way, way).transpose() / 2;
        }
      }
    }
    Eigen::Matrix3d scaled = stiff.matrix().asDiagonal() * exact * stiff.inverse().matrix().asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver((scaled + scaled.transpose()) / 2);
    const Eigen::Array3d values = solver.eigenvalues();
    const Eigen::Array3d inverse = (values > 0.25).select(values.inverse(), 0.0);
    const Eigen::Matrix3d weight = stiff.matrix().asDiagonal() * solver.eigenvectors() *
                                   inverse.matrix().asDiagonal() * solver.eigenvectors().transpose() *
                                   stiff.matrix().asDiagonal();
    if (bending_area < 1e-9 * areas[node]) continue;
    std::vector<Index> near;
    for (const auto& [face, own] : around)
      near.insert(near.end(), mesh.face(face).begin(), mesh.face(face).end());
    std::ranges::sort(near);
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (const Index a : near)
      for (const Index b : near)
        entries.emplace_back(
            a, b, factors[node] * areas[node] * areas[node] / bending_area * h.col(a).dot(weight * h.col(b)));
  }
  SparseMatrix matrix(mesh.node_count(), mesh.node_count());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace

namespace {

/// The matrix of a mesh that has its nodes along folds twice or more, which it is made of one by one: each
/// face goes to the part of its node's faces that it hangs together with by edges that are no folds.
SparseMatrix folded_bending(const Mesh& mesh, const Bending& bending, const std::vector<char>& is_free) {
  std::set<std::array<Index, 2>> folded;
  for (const Fold& fold : mesh.folds)
    folded.insert({std::min(fold.nodes[0], fold.nodes[1]), std::max(fold.nodes[0], fold.nodes[1])});
  std::vector<std::vector<Index>> at_node(static_cast<std::size_t>(mesh.node_count()));
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) at_node[static_cast<std::size_t>(node)].push_back(f);
  const auto share_edge = [&](Index f, Index g, Index node) {
    const auto of_f = mesh.face(f), of_g = mesh.face(g);
    return std::ranges::any_of(of_f, [&](Index other) {
      return other != node && std::ranges::find(of_g, other) != of_g.end() &&
             !folded.contains({std::min(node, other), std::max(node, other)});
    });
  };
  Mesh parted = mesh;
  parted.folds.clear();
  std::vector<Index> origin;
  std::vector<char> free;
  parted.positions.clear();
  std::map<std::array<Index, 2>, Index> number;  // of nodes in faces
  for (Index node = 0; node < mesh.node_count(); ++node) {
    std::vector<Index> left = at_node[static_cast<std::size_t>(node)];
    do {
      const auto own = static_cast<Index>(origin.size());
      origin.push_back(node);
      parted.positions.push_back(mesh.positions[static_cast<std::size_t>(node)]);
      if (!is_free.empty()) free.push_back(is_free[static_cast<std::size_t>(node)]);
      std::vector<Index> part;
      if (!left.empty()) part.push_back(left.front()), left.erase(left.begin());
      for (std::size_t i = 0; i < part.size(); ++i) {
        number[{part[i], node}] = own;
        for (std::size_t j = 0; j < left.size();)
          if (share_edge(part[i], left[j], node))
            part.push_back(left[j]), left.erase(left.begin() + static_cast<std::ptrdiff_t>(j));
          else
            ++j;
      }
    } while (!left.empty());
  }
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c)
      parted.face_nodes[c] = number.at({f, mesh.face_nodes[c]});
  const SparseMatrix own = bending_matrix(parted, build_topology(parted), bending, free);
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < origin.size(); ++i) entries.emplace_back(static_cast<int>(i), origin[i], 1);
  SparseMatrix places(static_cast<Eigen::Index>(origin.size()), mesh.node_count());
  places.setFromTriplets(entries.begin(), entries.end());
  return SparseMatrix(places.transpose()) * own * places;
}

}  // namespace

SparseMatrix bending_matrix(const Mesh& mesh, const Topology& topology, const Bending& bending,
                            const std::vector<char>& is_free) {
  if (!mesh.folds.empty() && bending.model != BendingModel::discrete_shells)
    return folded_bending(mesh, bending, is_free);
  if (bending.model == BendingModel::discrete_shells) return {mesh.node_count(), mesh.node_count()};
  if (bending.model == BendingModel::mid_edge)
    return mid_edge_bending(mesh, topology, bending.ratio, is_free);
  return bending.model == BendingModel::plate ? plate_bending(mesh, topology, bending.ratio, is_free)
                                              : isometric_bending(mesh, topology);
}

}  // namespace isocloth::reference
