#include "host/orchestrator/separate_cloths.hpp"

#include <algorithm>
#include <cmath>

#include "engine/geometry/pair_search.hpp"
#include "engine/model/surfaces.hpp"
#include "host/cloth_collision/max_step_fractions.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {
namespace {

class Starts {
 public:
  explicit Starts(const Scene& scene) : Starts(scene, garments_of(scene)) {}
  Starts(const Scene& scene, const std::vector<const Garment*>& garments)
      : allowance_(scene.contact.tolerance / 2),
        search_(meshes_of(garments), worlds_of(garments), driven_of(garments)) {
    for (const Garment& garment : scene.garments) {
      thicknesses_.push_back(garment.fabric.thickness);
      thickest_ = std::max(thickest_, garment.fabric.thickness);
      const std::vector<Vec3d>& start = start_positions(garment);
      positions_.insert(positions_.end(), start.begin(), start.end());
      rest_.insert(rest_.end(), garment.mesh.positions.begin(), garment.mesh.positions.end());
      const auto first = static_cast<std::ptrdiff_t>(is_free_.size());
      is_free_.resize(positions_.size(), 1);
      for (const Pin& pin : garment.pins)
        for (const Index node : pin.nodes)
          is_free_[static_cast<std::size_t>(first) + static_cast<std::size_t>(node)] = 0;
    }
  }

  /// Parts what is near; returns how many pairs stay so.
  Index part() {
    constexpr int most_rounds = 500;
    for (int round = 0;; ++round) {
      // Nodes go by at most half a thickness in a round: whatever they may meet is among these.
      search_.find(positions_, positions_, thicknesses_, most_pairs, pairs_);
      const Index near = add_up();
      if (near == 0 || round == most_rounds) return near;
      move();
    }
  }

  const std::vector<Vec3d>& positions() const { return positions_; }
  Index first_node(std::size_t garment) const { return search_.features().node_begin[garment]; }

 private:
  static constexpr std::size_t most_pairs = 100'000'000;

  static cpu::PointPair points(const FeaturePair& pair, const std::array<Index, 4>& nodes,
                               const std::vector<Vec3d>& positions) {
    cpu::PointPair found;
    found.first_count = pair.is_edges != 0 ? 2 : 1;
    for (std::size_t i = 0; i < 4; ++i) found.points[i] = positions[static_cast<std::size_t>(nodes[i])];
    return found;
  }
  double thickness(const FeaturePair& pair, const std::array<Index, 4>& nodes) const {
    const auto surface = [&](Index node) {
      return static_cast<std::size_t>(search_.features().node_surfaces[static_cast<std::size_t>(node)]);
    };
    const std::size_t one = surface(nodes.front()), other = surface(nodes.back());
    const double mean = (thicknesses_[one] + thicknesses_[other]) / 2;
    return one == other ? std::min(mean, cpu::nearest_points(points(pair, nodes, rest_)).distance / 2) : mean;
  }

  /// The moves of the nodes, summed over the pairs that are near and can part.
  Index add_up() {
    moves_.assign(positions_.size(), {});
    counts_.assign(positions_.size(), 0);
    Index near = 0;
    for (const FeaturePair& pair : pairs_) {
      const std::array<Index, 4> nodes = search_.features().nodes_of(pair);
      const cpu::NearestPoints at = cpu::nearest_points(points(pair, nodes, positions_));
      if (at.distance >= thickest_) continue;
      const double depth = thickness(pair, nodes) - at.distance;
      if (depth <= allowance_) continue;
      double mobility = 0;
      for (std::size_t i = 0; i < 4; ++i)
        mobility += at.weights[i] * at.weights[i] * is_free_[static_cast<std::size_t>(nodes[i])];
      ++near;
      if (!(mobility > 0)) continue;
      for (std::size_t i = 0; i < 4; ++i) {
        const auto node = static_cast<std::size_t>(nodes[i]);
        if (is_free_[node] == 0 || at.weights[i] == 0) continue;
        moves_[node] += (at.weights[i] * depth / mobility) * at.normal;
        ++counts_[node];
      }
    }
    return near;
  }

  void move() {
    std::vector<Vec3d> to = positions_;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (counts_[i] == 0) continue;
      const Vec3d way = (1 / static_cast<double>(counts_[i])) * moves_[i];
      const auto surface = static_cast<std::size_t>(search_.features().node_surfaces[i]);
      const double length = norm(way), most = thicknesses_[surface] / 2;
      to[i] += (length > most ? most / length : 1) * way;
    }
    const std::vector<double> shares =
        max_step_fractions(search_.features(), pairs_, positions_, to, thicknesses_);
    for (std::size_t i = 0; i < to.size(); ++i) positions_[i] += shares[i] * (to[i] - positions_[i]);
  }

  const double allowance_;  ///< by which pairs may stay nearer than their thickness [m]
  PairSearch search_;
  std::vector<double> thicknesses_;  ///< thickness of each surface [m]
  double thickest_ = 0;
  std::vector<Vec3d> positions_, rest_, moves_;
  std::vector<Index> counts_;  ///< pairs that move a node
  std::vector<char> is_free_;
  std::vector<FeaturePair> pairs_;
};

}  // namespace

Separation separate_cloths(Scene& scene) {
  if (!scene.contact.cloth || scene.contact.initial != ClothStart::separate) return {};
  Starts starts(scene);
  Separation found{.pairs_left = starts.part()};
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Garment& garment = scene.garments[g];
    std::vector<Vec3d> start = start_positions(garment);
    Index moved = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Vec3d& to = starts.positions()[static_cast<std::size_t>(starts.first_node(g)) + i];
      const double way = norm(to - start[i]);
      if (!(way > 0)) continue;
      ++moved;
      found.farthest = std::max(found.farthest, way);
      start[i] = to;
    }
    if (moved > 0) garment.initial_positions = std::move(start);
    found.nodes += moved;
  }
  return found;
}

}  // namespace isocloth
