// The nodes of a pair of features, and its edges.
#pragma once

#include "kernels/cloth_contact/cloth_contact.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Nodes of a pair, the first side's before the second's.
struct PairNodes {
  Index nodes[4];
  int first_count;

  ISOCLOTH_DEVICE PairNodes(const ClothFeatures& features, const FeaturePair& pair)
      : first_count(pair.is_edges != 0 ? 2 : 1) {
    if (pair.is_edges != 0) {
      for (int i = 0; i < 2; ++i) {
        nodes[i] = features.edges[2 * static_cast<std::size_t>(pair.first) + i];
        nodes[2 + i] = features.edges[2 * static_cast<std::size_t>(pair.second) + i];
      }
    } else {
      nodes[0] = pair.first;
      for (int i = 0; i < 3; ++i)
        nodes[1 + i] = features.triangles[3 * static_cast<std::size_t>(pair.second) + i];
    }
  }
  ISOCLOTH_DEVICE PointPair at(ArrayView<const Vec3d> positions) const {
    PointPair points;
    points.first_count = first_count;
    for (int i = 0; i < 4; ++i) points.points[i] = positions[nodes[i]];
    return points;
  }
};

/// The edge between two places of a pair on one side.
ISOCLOTH_DEVICE inline Index side_of(const ClothFeatures& features, const FeaturePair& pair, int a, int b) {
  if (pair.is_edges != 0) return a < 2 ? pair.first : pair.second;
  const int low = a < b ? a : b, high = a < b ? b : a;
  const int side = low == 1 ? (high == 2 ? 0 : 2) : 1;
  return features.sides[3 * static_cast<std::size_t>(pair.second) + side];
}

}  // namespace isocloth::ISOCLOTH_BACKEND
