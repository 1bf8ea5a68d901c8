#include "engine/mesh/stitches.hpp"

#include <algorithm>
#include <numeric>

namespace isocloth {

std::vector<Index> sewn_nodes(const Mesh& mesh) {
  std::vector<Index> lowest(mesh.positions.size());
  std::iota(lowest.begin(), lowest.end(), Index{0});
  const auto find = [&](Index node) {
    while (lowest[static_cast<std::size_t>(node)] != node) {
      Index& above = lowest[static_cast<std::size_t>(node)];
      above = lowest[static_cast<std::size_t>(above)];
      node = above;
    }
    return node;
  };
  for (const Stitch& stitch : mesh.stitches) {
    const auto [low, high] = std::minmax({find(stitch.a), find(stitch.b)});
    lowest[static_cast<std::size_t>(high)] = low;
  }
  for (Index node = 0; node < mesh.node_count(); ++node) lowest[static_cast<std::size_t>(node)] = find(node);
  return lowest;
}

}  // namespace isocloth
