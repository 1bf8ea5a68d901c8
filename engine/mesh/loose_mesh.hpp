// A mesh while it is repaired: faces that lose corners, come and go.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct LooseMesh {
  struct Face {
    std::vector<Index> nodes;  ///< empty: it is gone
    std::vector<Vec2d> uvs;    ///< of its corners, or none
    Index number = 0;          ///< face of the mesh that it is, or a part of
    bool is_there() const { return !nodes.empty(); }
    Index following(std::size_t k) const { return nodes[k + 1 == nodes.size() ? 0 : k + 1]; }
    void remove() {
      nodes.clear();
      uvs.clear();
    }
    void remove_corner(std::size_t k) {
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k));
      if (!uvs.empty()) uvs.erase(uvs.begin() + static_cast<std::ptrdiff_t>(k));
    }
  };

  std::vector<Vec3d> positions;  ///< [m], shape [node]
  std::vector<Index> numbers;    ///< node of the mesh that each is, or a copy of; shape [node]
  std::vector<Face> faces;

  explicit LooseMesh(const Mesh& mesh) : positions(mesh.positions) {
    for (Index node = 0; node < mesh.node_count(); ++node) numbers.push_back(node);
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const auto begin = static_cast<std::ptrdiff_t>(mesh.face_begin[f]),
                 end = static_cast<std::ptrdiff_t>(mesh.face_begin[f + 1]);
      Face& face = faces.emplace_back();
      face.number = f;
      face.nodes.assign(mesh.face_nodes.begin() + begin, mesh.face_nodes.begin() + end);
      if (!mesh.corner_uvs.empty())
        face.uvs.assign(mesh.corner_uvs.begin() + begin, mesh.corner_uvs.begin() + end);
    }
  }

  /// The faces that are there and the nodes that they have, in their order; node_numbers, face_numbers: which
  /// of the mesh each is.
  Mesh tightened(std::vector<Index>& node_numbers, std::vector<Index>& face_numbers) const {
    std::vector<Index> new_of(positions.size(), -1);
    for (const Face& face : faces)
      for (const Index node : face.nodes) new_of[node] = 0;
    Mesh mesh;
    node_numbers.clear();
    face_numbers.clear();
    for (std::size_t node = 0; node < positions.size(); ++node) {
      if (new_of[node] < 0) continue;
      new_of[node] = mesh.node_count();
      mesh.positions.push_back(positions[node]);
      node_numbers.push_back(numbers[node]);
    }
    for (const Face& face : faces) {
      if (!face.is_there()) continue;
      std::vector<Index> nodes;
      for (const Index node : face.nodes) nodes.push_back(new_of[node]);
      mesh.add_face(nodes);
      mesh.corner_uvs.insert(mesh.corner_uvs.end(), face.uvs.begin(), face.uvs.end());
      face_numbers.push_back(face.number);
    }
    return mesh;
  }

  /// Area vector of a polygon of these nodes [m^2].
  Vec3d area_of(const std::vector<Index>& nodes) const {
    Vec3d twice{};
    for (std::size_t k = 1; k + 1 < nodes.size(); ++k)
      twice +=
          cross(positions[nodes[k]] - positions[nodes[0]], positions[nodes[k + 1]] - positions[nodes[0]]);
    return 0.5 * twice;
  }
  /// Length of the longest side [m].
  double longest_of(const std::vector<Index>& nodes) const {
    double longest = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      longest = std::max(longest, norm(positions[nodes[(k + 1) % nodes.size()]] - positions[nodes[k]]));
    return longest;
  }
  /// Least altitude of a triangle; of a quad its area over its longest side [m].
  double altitude_of(const std::vector<Index>& nodes) const {
    const double longest = longest_of(nodes);
    return longest > 0 ? (nodes.size() == 3 ? 2 : 1) * norm(area_of(nodes)) / longest : 0;
  }
};

}  // namespace isocloth
