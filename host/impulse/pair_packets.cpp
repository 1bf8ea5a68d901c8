#include "host/impulse/pair_packets.hpp"

#include "engine/mesh/colouring.hpp"

namespace isocloth {

PacketPlan plan_packets(const NodePairs& pairs, Index node_count, int width) {
  PacketPlan plan{.colour_begin = {0}, .nodes = {}, .pairs = {}};
  NodeSets sets;
  for (const auto& pair : pairs) sets.add({pair[0], pair[1]});
  const Colouring colours = colour_greedily(sets, node_count);
  for (Index colour = 0; colour < colours.count(); ++colour) {
    for (Index i = colours.begin[colour]; i < colours.begin[colour + 1]; ++i) {
      const Index pair = colours.items[i];
      plan.pairs.push_back(pair);
      plan.nodes.insert(plan.nodes.end(), {pairs[pair][0], pairs[pair][1]});
    }
    while (plan.pairs.size() % static_cast<std::size_t>(width) != 0) {
      plan.pairs.push_back(-1);
      plan.nodes.insert(plan.nodes.end(), {node_count, node_count});
    }
    plan.colour_begin.push_back(static_cast<Index>(plan.pairs.size()) / width);
  }
  return plan;
}

template <class Real>
PacketBuffers<Real>::PacketBuffers(const Device& device, const PacketPlan& plan,
                                   const std::vector<const std::vector<Vec3d>*>& rest,
                                   const std::vector<std::vector<Real>>& inverse_masses)
    : colour_begin(device, plan.colour_begin), nodes(device, plan.nodes), packets(plan.colour_begin.back()) {
  const std::size_t width = static_cast<std::size_t>(step_kernels<Real>(device.backend()).lane_width());
  const std::size_t slots = plan.pairs.size();
  std::vector<Real> all_lengths, all_shares;
  for (std::size_t s = 0; s < rest.size(); ++s) {
    std::vector<Real> own(inverse_masses.empty() ? 0 : 2 * slots);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const bool is_spare = plan.pairs[slot] < 0;
      const Index a = plan.nodes[2 * slot], b = plan.nodes[2 * slot + 1];
      all_lengths.push_back(is_spare ? Real(0) : static_cast<Real>(norm((*rest[s])[b] - (*rest[s])[a])));
      if (own.empty() || is_spare) continue;
      const double of_a = static_cast<double>(inverse_masses[s][a]),
                   of_b = static_cast<double>(inverse_masses[s][b]);
      const std::size_t first = slot / width * 2 * width + slot % width;
      own[first] = static_cast<Real>(of_a / (of_a + of_b));
      own[first + width] = static_cast<Real>(of_b / (of_a + of_b));
    }
    all_shares.insert(all_shares.end(), own.begin(), own.end());
  }
  lengths = {device, all_lengths};
  shares = {device, all_shares};
}

template struct PacketBuffers<float>;
template struct PacketBuffers<double>;

}  // namespace isocloth
