#include "engine/mesh/cut_quads.hpp"

namespace isocloth {

std::size_t shorter_diagonal(const Mesh& mesh, Index face) {
  const auto nodes = mesh.face(face);
  const auto diagonal = [&](std::size_t k) {
    return norm(mesh.positions[static_cast<std::size_t>(nodes[k + 2])] -
                mesh.positions[static_cast<std::size_t>(nodes[k])]);
  };
  return diagonal(0) <= (1 + 1e-9) * diagonal(1) ? 0 : 1;
}

std::vector<CutTriangle> cut_quads(const Mesh& mesh) {
  std::vector<CutTriangle> found;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    if (nodes.size() == 3) {
      found.push_back({{nodes[0], nodes[1], nodes[2]}, f});
      continue;
    }
    const std::size_t k = shorter_diagonal(mesh, f);
    found.push_back({{nodes[k], nodes[k + 1], nodes[k + 2]}, f});
    found.push_back({{nodes[k], nodes[k + 2], nodes[(k + 3) % 4]}, f});
  }
  return found;
}

}  // namespace isocloth
