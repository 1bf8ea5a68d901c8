// Pairs of nodes in the order in which the impulse kernels take them.
#pragma once

#include "engine/mesh/spring_pairs.hpp"
#include "host/memory/buffer.hpp"
#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// Pairs by colour, in packets; see PairPackets.
struct PacketPlan {
  std::vector<Index> colour_begin;  ///< first packet of each colour, shape [colour_count + 1]
  std::vector<Index> nodes;         ///< nodes of the pair in each slot, shape [packet, width, 2]
  std::vector<Index> pairs;         ///< number of the pair in each slot, -1: spare; shape [packet, width]
};
/// Greedy colours in the order of `pairs`; no pairs: nothing at all.
PacketPlan plan_packets(const NodePairs& pairs, Index node_count, int width);

/// A PacketPlan with lengths and shares of its pairs in the memory of a device.
template <class Real>
struct PacketBuffers {
  Buffer<Index> colour_begin, nodes;
  Buffer<Real> lengths, shares;
  Index packets = 0;  ///< number of packets

  PacketBuffers() = default;
  /// Lengths of `rest`, one array of positions per shape. inverse_masses: shape [shape][node_count], empty
  /// for springs, which need no shares.
  PacketBuffers(const Device& device, const PacketPlan& plan,
                const std::vector<const std::vector<Vec3d>*>& rest,
                const std::vector<std::vector<Real>>& inverse_masses);

  PairPackets<Real> view() const {
    return {colour_begin.view(), nodes.view(), lengths.view(), shares.view(), {}, packets};
  }
  std::size_t memory_bytes() const {
    return colour_begin.bytes() + nodes.bytes() + lengths.bytes() + shares.bytes();
  }
};

}  // namespace isocloth
