// Losses of runs for comparisons with differences.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

using Nodes = std::vector<Vec3d>;

inline Nodes random_nodes(std::size_t count, std::uint64_t seed, double size = 1) {
  Random random(seed);
  Nodes nodes;
  for (std::size_t i = 0; i < count; ++i)
    nodes.push_back(size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
  return nodes;
}

inline double product(const Nodes& a, const Nodes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// A sum, and what its terms come to whatever their signs: they round with their sizes.
struct Loss {
  double value = 0, size = 0;
  void add(const Nodes& weights, const Nodes& nodes) {
    value += product(weights, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) size += norm(weights[i]) * norm(nodes[i]);
  }
};

}  // namespace isocloth
