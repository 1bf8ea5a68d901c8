#include "engine/mesh/cut_quads.hpp"

#include <utility>

namespace isocloth {
namespace {

constexpr signed char no_colour = -1, odd = 2;

/// 0 or 1, so that the ends of every edge of a quad differ, the lowest node of what hangs together 0; `odd`
/// where that cannot be, no_colour of nodes of triangles alone; shape [node_count].
std::vector<signed char> two_colours(const Mesh& mesh) {
  const auto at = [](Index node) { return static_cast<std::size_t>(node); };
  std::vector<std::vector<Index>> neighbours(at(mesh.node_count()));
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; nodes.size() == 4 && i < 4; ++i) {
      neighbours[at(nodes[i])].push_back(nodes[(i + 1) % 4]);
      neighbours[at(nodes[(i + 1) % 4])].push_back(nodes[i]);
    }
  }
  std::vector<signed char> colours(neighbours.size(), no_colour);
  for (Index start = 0; start < mesh.node_count(); ++start) {
    if (colours[at(start)] != no_colour || neighbours[at(start)].empty()) continue;
    std::vector<Index> queue{start};
    colours[at(start)] = 0;
    bool works = true;
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (const Index node : neighbours[at(queue[next])]) {
        const auto other = static_cast<signed char>(1 - colours[at(queue[next])]);
        if (colours[at(node)] == no_colour) queue.push_back(node);
        works = works && (colours[at(node)] == no_colour || colours[at(node)] == other);
        if (colours[at(node)] == no_colour) colours[at(node)] = other;
      }
    if (!works)
      for (const Index node : queue) colours[at(node)] = odd;
  }
  return colours;
}

}  // namespace

std::vector<std::size_t> cut_corners(const Mesh& mesh) {
  constexpr double rounding = 1e-9;
  const std::vector<signed char> colours = two_colours(mesh);
  std::vector<std::size_t> corners(static_cast<std::size_t>(mesh.face_count()));
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    if (nodes.size() != 4) continue;
    const auto diagonal = [&](std::size_t k) {
      return norm(mesh.positions[static_cast<std::size_t>(nodes[k + 2])] -
                  mesh.positions[static_cast<std::size_t>(nodes[k])]);
    };
    const double first = diagonal(0), second = diagonal(1);
    std::size_t& corner = corners[static_cast<std::size_t>(f)];
    if (first > (1 + rounding) * second)
      corner = 1;
    else if (second <= (1 + rounding) * first)
      corner = colours[static_cast<std::size_t>(nodes[0])] == 1 ? 1 : 0;
  }
  return corners;
}

std::vector<CutTriangle> cut_quads(const Mesh& mesh) {
  const std::vector<std::size_t> corners = cut_corners(mesh);
  std::vector<CutTriangle> found;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    if (nodes.size() == 3) {
      found.push_back({{nodes[0], nodes[1], nodes[2]}, f});
      continue;
    }
    const std::size_t k = corners[static_cast<std::size_t>(f)];
    found.push_back({{nodes[k], nodes[k + 1], nodes[k + 2]}, f});
    found.push_back({{nodes[k], nodes[k + 2], nodes[(k + 3) % 4]}, f});
  }
  return found;
}

}  // namespace isocloth
