#include "engine/mesh/topology.hpp"

#include <cmath>
#include <numbers>

#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/no_index.hpp"

namespace isocloth {
namespace {

constexpr double corner_angle_limit = 143.0 / 180.0 * std::numbers::pi;

/// Follows next[node] around each closed curve, starting at its lowest node; consumes `next`.
std::vector<std::vector<Index>> closed_loops(std::vector<Index> next) {
  std::vector<std::vector<Index>> loops;
  for (std::size_t start = 0; start < next.size(); ++start) {
    if (next[start] == no_index) continue;
    loops.emplace_back();
    for (Index node = static_cast<Index>(start); next[node] != no_index;) {
      loops.back().push_back(node);
      const Index following = next[node];
      next[node] = no_index;
      node = following;
    }
  }
  return loops;
}

/// Sum over the faces at each node of the angle between the face's two edges there [rad], shape [node_count].
std::vector<double> rest_angle_sums(const Mesh& mesh) {
  std::vector<double> sums(mesh.positions.size(), 0.0);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const std::size_t size = nodes.size();
    for (std::size_t c = 0; c < size; ++c) {
      const Vec3d origin = mesh.positions[nodes[c]];
      const Vec3d a = mesh.positions[nodes[(c + 1) % size]] - origin;
      const Vec3d b = mesh.positions[nodes[(c + size - 1) % size]] - origin;
      sums[nodes[c]] += std::atan2(norm(cross(a, b)), dot(a, b));
    }
  }
  return sums;
}

void build_incidence(const Mesh& mesh, Topology& topology) {
  auto& begin = topology.node_corner_begin;
  begin.assign(mesh.positions.size() + 1, 0);
  for (const Index node : mesh.face_nodes) ++begin[node + 1];
  for (std::size_t k = 0; k < mesh.positions.size(); ++k) begin[k + 1] += begin[k];
  std::vector<Index> fill(begin.begin(), begin.end() - 1);
  topology.node_corners.resize(mesh.face_nodes.size());
  for (Index c = 0; c < mesh.corner_count(); ++c) topology.node_corners[fill[mesh.face_nodes[c]]++] = c;
}

}  // namespace

Topology build_topology(const Mesh& mesh) {
  Topology topology;
  const auto half_edges = sorted_half_edges(mesh);
  std::vector<Index> next(mesh.positions.size(), no_index);
  topology.is_boundary.assign(mesh.positions.size(), 0);
  for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
    const auto& edge = half_edges[first];
    last = end_of_edge(half_edges, first);
    topology.edges.push_back({edge.low, edge.high});
    if (last - first > 1) continue;
    topology.boundary_edges.push_back({edge.low, edge.high});
    next[edge.ascending ? edge.low : edge.high] = edge.ascending ? edge.high : edge.low;
    topology.is_boundary[edge.low] = topology.is_boundary[edge.high] = 1;
  }
  topology.boundary_loops = closed_loops(std::move(next));

  const auto angles = rest_angle_sums(mesh);
  for (Index k = 0; k < mesh.node_count(); ++k) {
    if (!topology.is_boundary[k]) {
      topology.interior_nodes.push_back(k);
    } else if (angles[k] < corner_angle_limit) {
      topology.corner_nodes.push_back(k);
    }
  }
  build_incidence(mesh, topology);
  return topology;
}

std::vector<Index> corner_faces(const Mesh& mesh) {
  std::vector<Index> faces(mesh.face_nodes.size());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c) faces[c] = f;
  }
  return faces;
}

}  // namespace isocloth
