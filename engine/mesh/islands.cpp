// Garments whose texture coordinates are the pattern that they are sewn of.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/panels.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// Moves the pieces of a flat mesh side by side along x.
void lay_out(Mesh& mesh) {
  Mesh joined;  // whose stitches are the edges
  joined.positions.resize(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) joined.stitches.push_back({mesh.face(f)[0], node, 1});
  const std::vector<Index> piece = sewn_nodes(joined);  // of each node the lowest of its piece
  struct Extent {
    double left = 1e300, right = -1e300;
  };
  std::map<Index, Extent> extents;
  for (Index node = 0; node < mesh.node_count(); ++node) {
    Extent& extent = extents[piece[node]];
    extent.left = std::min(extent.left, mesh.positions[node].x);
    extent.right = std::max(extent.right, mesh.positions[node].x);
  }
  const double gap = 10 * mean_element_size(mesh);
  double next = 0;
  for (auto& [lowest, extent] : extents) {
    const double move = next - extent.left;
    next += extent.right - extent.left + gap;
    extent.left = move;
  }
  for (Index node = 0; node < mesh.node_count(); ++node) mesh.positions[node].x += extents[piece[node]].left;
}

}  // namespace

SewnPanels sew_islands(const Mesh& mesh, double scale, const std::string& key) {
  if (mesh.corner_uvs.empty())
    throw MeshError(text(key, ": found a mesh without texture coordinates, expected a pattern in them"));
  SewnPanels result;
  std::map<std::tuple<Index, double, double>, Index> numbers;
  std::vector<Index> node_of(mesh.face_nodes.size());  // of each corner
  for (Index c = 0; c < mesh.corner_count(); ++c) {
    const Vec2d uv = scale * mesh.corner_uvs[c];
    const auto [place, is_new] =
        numbers.emplace(std::tuple{mesh.face_nodes[c], uv.x, uv.y}, result.mesh.node_count());
    node_of[c] = place->second;
    result.mesh.corner_uvs.push_back(uv);
    if (!is_new) continue;
    result.mesh.positions.push_back({uv.x, uv.y, 0});
    result.placed.push_back(mesh.positions[mesh.face_nodes[c]]);
  }
  result.mesh.face_begin = mesh.face_begin;
  result.mesh.face_nodes = node_of;

  const std::vector<Index> faces = corner_faces(mesh);
  const auto next = [&](Index c) {
    return c + 1 == mesh.face_begin[faces[c] + 1] ? mesh.face_begin[faces[c]] : c + 1;
  };
  double in_pattern = 0, in_space = 0;
  std::map<std::array<Index, 2>, double> stitches;
  const auto half_edges = sorted_half_edges(mesh);
  for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
    last = end_of_edge(half_edges, first);
    const auto ends = [&](std::size_t i) {  // the lower node of the mesh first
      const Index c = half_edges[i].corner, d = next(c);
      return mesh.face_nodes[c] < mesh.face_nodes[d] ? std::array{node_of[c], node_of[d]}
                                                     : std::array{node_of[d], node_of[c]};
    };
    const auto length = [&](const std::array<Index, 2>& edge, const std::vector<Vec3d>& positions) {
      return norm(positions[edge[0]] - positions[edge[1]]);
    };
    const std::array<Index, 2> own = ends(first);
    in_pattern += length(own, result.mesh.positions);
    in_space += length(own, result.placed);
    if (last - first != 2) continue;
    const std::array<Index, 2> other = ends(first + 1);
    const double half = (length(own, result.mesh.positions) + length(other, result.mesh.positions)) / 4;
    for (std::size_t end = 0; end < 2; ++end)
      if (own[end] != other[end])
        stitches[{std::min(own[end], other[end]), std::max(own[end], other[end])}] += half;
  }
  if (!(in_pattern > 0.1 * in_space && in_pattern < 10 * in_space))
    throw MeshError(text(key, ": found edges ", in_pattern / in_space,
                         " times as long in the pattern as in space on average, expected about as long; use ",
                         scale * in_space / in_pattern));
  for (const auto& [nodes, length] : stitches) result.mesh.stitches.push_back({nodes[0], nodes[1], length});
  lay_out(result.mesh);
  return result;
}

}  // namespace isocloth
