#include "engine/mesh/spring_pairs.hpp"

#include <algorithm>
#include <map>

namespace isocloth {
namespace {

std::array<Index, 2> ordered(Index a, Index b) { return {std::min(a, b), std::max(a, b)}; }

void sort_once(NodePairs& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

/// Faces on both sides of each edge.
std::map<std::array<Index, 2>, std::vector<Index>> faces_of_edges(const Mesh& mesh) {
  std::map<std::array<Index, 2>, std::vector<Index>> faces;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t c = 0; c < nodes.size(); ++c)
      faces[ordered(nodes[c], nodes[(c + 1) % nodes.size()])].push_back(f);
  }
  return faces;
}

}  // namespace

NodePairs shear_pairs(const Mesh& mesh, int diagonals) {
  NodePairs pairs;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    if (nodes.size() < 4) continue;
    pairs.push_back(ordered(nodes[0], nodes[2]));
    if (diagonals == 2) pairs.push_back(ordered(nodes[1], nodes[3]));
  }
  sort_once(pairs);
  return pairs;
}

NodePairs bend_pairs(const Mesh& mesh, const Topology& topology) {
  NodePairs pairs;
  const auto edge_faces = faces_of_edges(mesh);
  std::vector<std::vector<Index>> neighbours(mesh.positions.size());
  for (const auto& [edge, faces] : edge_faces) {
    neighbours[edge[0]].push_back(edge[1]);
    neighbours[edge[1]].push_back(edge[0]);
    if (faces.size() != 2 || mesh.face_size(faces[0]) != 3 || mesh.face_size(faces[1]) != 3) continue;
    Index opposite[2] = {};
    for (int side = 0; side < 2; ++side)
      for (const Index node : mesh.face(faces[side]))
        if (node != edge[0] && node != edge[1]) opposite[side] = node;
    pairs.push_back(ordered(opposite[0], opposite[1]));
  }

  const std::vector<Index> face_of = corner_faces(mesh);
  std::vector<char> quads_alone(mesh.positions.size(), 1);
  for (Index c = 0; c < mesh.corner_count(); ++c)
    if (mesh.face_size(face_of[c]) != 4) quads_alone[mesh.face_nodes[c]] = 0;
  for (Index b = 0; b < mesh.node_count(); ++b) {
    if (quads_alone[b] == 0) continue;
    const auto share_face = [&](Index a, Index c) {
      const auto &first = edge_faces.at(ordered(a, b)), &second = edge_faces.at(ordered(b, c));
      return std::find_first_of(first.begin(), first.end(), second.begin(), second.end()) != first.end();
    };
    const auto continuation = [&](Index a) {
      Index only = -1;
      for (const Index c : neighbours[b])
        if (c != a && !share_face(a, c)) {
          if (only >= 0) return Index{-1};
          only = c;
        }
      return only;
    };
    for (const Index a : neighbours[b]) {
      const Index c = continuation(a);
      if (c > a && continuation(c) == a) pairs.push_back({a, c});
    }
  }
  sort_once(pairs);
  std::erase_if(pairs, [&](const auto& pair) {
    return pair[0] == pair[1] || std::binary_search(topology.edges.begin(), topology.edges.end(), pair);
  });
  return pairs;
}

}  // namespace isocloth
