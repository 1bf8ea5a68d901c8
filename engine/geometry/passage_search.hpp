// Where surfaces pass through themselves and through each other on their way from one state to another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/geometry/pair_search.hpp"

namespace isocloth {

/// A node that passes through a triangle, or an edge through an edge.
struct Passage {
  std::array<std::size_t, 2> surfaces{};
  bool is_edges = false;
  /// Nodes within their surfaces: of the edges two each, else the node and the triangle's three.
  std::array<Index, 4> nodes{};
  double time = 0;  ///< part of the way at which they meet, in (0, 1)
  Vec3d position;   ///< [m]
};

struct Passages {
  static constexpr std::size_t most_named = 10;
  std::int64_t count = 0;
  std::vector<Passage> first;  ///< at most most_named of them
  bool is_complete = true;     ///< false: not tested, coordinates are no numbers or too much is near
};

/// Tests straight ways on which all nodes go at constant speeds and at once: where the four nodes of a pair
/// lie in a plane, roots of a cubic that are found to rounding, the node must not lie in the triangle, nor
/// the edges cross. Pairs that share a node, or sewn ones, are left out, and what begins or ends in one plane
/// is not looked at. Unlike IntersectionSearch not exact: what passes within rounding of a rim may be missed
/// or found.
class PassageSearch {
 public:
  /// Meshes, worlds and is_kinematic as those of PairSearch.
  PassageSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds,
                const std::vector<bool>& is_kinematic);

  /// from, to [m]: shape [surface_count, node_count]. Cost as PairSearch::find and about 0.2 us per
  /// pair that is near.
  Passages find(const std::vector<std::vector<Vec3d>>& from, const std::vector<std::vector<Vec3d>>& to);

 private:
  PairSearch pairs_;
  std::vector<double> margins_;
  std::vector<FeaturePair> near_;
};

}  // namespace isocloth
