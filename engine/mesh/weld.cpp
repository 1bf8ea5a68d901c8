#include "engine/mesh/weld.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/mesh/disjoint_sets.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/half_edges.hpp"

namespace isocloth {
namespace {

struct Rim {
  std::vector<Index> nodes;                 ///< ascending
  std::vector<std::array<Index, 2>> edges;  ///< edges of one face only, lower node first, sorted
};

Rim find_rim(const Mesh& mesh) {
  Rim rim;
  const auto half_edges = sorted_half_edges(mesh);
  for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
    last = end_of_edge(half_edges, first);
    if (last - first > 1) continue;
    rim.edges.push_back({half_edges[first].low, half_edges[first].high});
    rim.nodes.insert(rim.nodes.end(), {half_edges[first].low, half_edges[first].high});
  }
  std::sort(rim.nodes.begin(), rim.nodes.end());
  rim.nodes.erase(std::unique(rim.nodes.begin(), rim.nodes.end()), rim.nodes.end());
  return rim;
}

/// Calls visit(a, b, distance) for nodes a < b of the rim within `distance` of each other.
template <class Visit>
void for_each_near(const Mesh& mesh, const std::vector<Index>& rim, double distance, const Visit& visit) {
  using Cell = std::array<double, 3>;
  std::map<Cell, std::vector<Index>> cells;
  for (const Index node : rim) {
    const Vec3d p = mesh.positions[node];
    const int reach = distance > 0 ? 1 : 0;
    const Cell at =
        reach == 0 ? Cell{p.x, p.y, p.z}
                   : Cell{std::floor(p.x / distance), std::floor(p.y / distance), std::floor(p.z / distance)};
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j)
        for (int k = -reach; k <= reach; ++k) {
          const auto found = cells.find({at[0] + i, at[1] + j, at[2] + k});
          if (found == cells.end()) continue;
          for (const Index other : found->second) {
            const double apart = norm(mesh.positions[other] - p);
            if (apart <= distance) visit(other, node, apart);
          }
        }
    cells[at].push_back(node);
  }
}

}  // namespace

OpenSeam find_open_seam(const Mesh& mesh, double within) {
  const Rim rim = find_rim(mesh);
  std::map<Index, std::pair<double, Index>> nearest;
  for_each_near(mesh, rim.nodes, within, [&](Index a, Index b, double apart) {
    if (std::binary_search(rim.edges.begin(), rim.edges.end(), std::array{a, b})) return;
    const auto [at, is_new] = nearest.emplace(b, std::pair{apart, a});
    if (!is_new) at->second = std::min(at->second, std::pair{apart, a});
  });
  OpenSeam seam;
  for (const auto& [b, found] : nearest) {
    if (seam.pair_count++ == 0) {
      seam.a = found.second;
      seam.b = b;
    }
    seam.gap = std::max(seam.gap, found.first);
  }
  return seam;
}

std::vector<Index> weld(Mesh& mesh, double distance) {
  DisjointSets sets(mesh.positions.size());
  for_each_near(mesh, find_rim(mesh).nodes, distance, [&](Index a, Index b, double) { sets.join(a, b); });
  std::vector<Index> numbers(mesh.positions.size());
  Mesh welded;
  for (Index node = 0; node < mesh.node_count(); ++node) {
    const Index stays = sets.lowest(node);
    numbers[node] = stays == node ? welded.node_count() : numbers[stays];
    if (stays == node) welded.positions.push_back(mesh.positions[node]);
  }
  std::vector<Index> nodes;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    nodes.clear();
    const std::size_t first_uv = welded.corner_uvs.size();
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c) {
      const Index node = numbers[mesh.face_nodes[c]];
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) continue;
      nodes.push_back(node);
      if (!mesh.corner_uvs.empty()) welded.corner_uvs.push_back(mesh.corner_uvs[c]);
    }
    if (nodes.size() >= 3)
      welded.add_face(nodes);
    else
      welded.corner_uvs.resize(first_uv);
  }
  mesh = std::move(welded);
  return numbers;
}

std::vector<Index> sewn_nodes(const Mesh& mesh) {
  DisjointSets sets(mesh.positions.size());
  for (const Stitch& stitch : mesh.stitches) sets.join(stitch.a, stitch.b);
  std::vector<Index> lowest;
  for (Index node = 0; node < mesh.node_count(); ++node) lowest.push_back(sets.lowest(node));
  return lowest;
}

Index piece_count(const Mesh& mesh) {
  DisjointSets sets(mesh.positions.size());
  for (const auto& [a, b] : mesh.threads()) sets.join(a, b);
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) sets.join(mesh.face(f)[0], node);
  Index count = 0;
  for (Index node = 0; node < mesh.node_count(); ++node) count += sets.lowest(node) == node;
  return count;
}

double mean_element_size(const Mesh& mesh) {
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) area += norm(area_vector(mesh, f));
  return mesh.face_count() == 0 ? 0 : std::sqrt(area / mesh.face_count());
}

SewnOpenings sewn_openings(const Mesh& mesh, const std::vector<Vec3d>& positions) {
  SewnOpenings openings;
  for (const Stitch& stitch : mesh.stitches)
    openings.seam = std::max(openings.seam, norm(positions[stitch.a] - positions[stitch.b]) - stitch.slack);
  for (const Button& button : mesh.buttons)
    if (button.strength == 0)
      openings.button =
          std::max(openings.button, norm(positions[button.a] - positions[button.b]) - button.distance);
  return openings;
}

double closed_opening(const Mesh& mesh) { return mean_element_size(mesh) / 20; }

}  // namespace isocloth
