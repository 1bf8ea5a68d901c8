// PairSearch::find() where kernels run, for backends with a memory of their own.
#pragma once

#include "engine/geometry/pair_search.hpp"
#include "host/cloth_collision/selections.hpp"
#include "host/memory/recording.hpp"
#include "host/memory/transfers.hpp"
#include "kernels/cloth_contact/search_pairs.hpp"

namespace isocloth {

class DevicePairSearch {
 public:
  /// A search among the surfaces of `pairs`. The device must outlive it.
  DevicePairSearch(const Device& device, const PairSearch& pairs);

  /// What of the state and the ways to another a search looks at: see PairSearch::find().
  struct Ways {
    const std::vector<Vec3d>&from, &to;  ///< where nodes begin and end their ways [m], shape [node_count]
    /// Margins by which boxes of each surface's features are enlarged [m], shape [surface].
    const std::vector<double>& margins;
    PairSearch::Times times = PairSearch::Times::own;
  };
  /// Finds the pairs that PairSearch::find() finds, those of nodes and triangles before those of edges, in
  /// the order of their triangles; on the device with packet_padding of room behind them. features: of
  /// `pairs`, on the device. Returns whether they are at most `most`; else both arrays are as they were. Cost
  /// O(n log n) for n triangles of which few are near others, and waits for the device.
  /// uploads: what else is to be there when it is done; downloads: asked for on_host, which has its size.
  bool find(const ClothFeatures& features, const Ways& ways, std::size_t most, Buffer<FeaturePair>& pairs,
            std::vector<FeaturePair>& on_host, Uploads& uploads, Downloads& downloads);
  std::size_t memory_bytes() const;

 private:
  FaceTreesView trees() const;

  const Device& device_;
  const ClothContactKernels& kernels_;
  std::vector<Index> level_begin_;  ///< first box of each level in the boxes, and the end of the last level
  Buffer<Index> children_, last_, leaves_, roots_begin_, roots_, sewn_, counts_, begin_;
  Buffer<std::uint8_t> owned_;
  Buffer<Vec3d> from_, to_;
  Buffer<double> margins_;
  Buffer<MovingBox> boxes_;
  Buffer<std::uint64_t> sum_;
  Selections selections_;
  Recording fit_own_, fit_common_;  ///< launches that fit the boxes, for each of PairSearch::Times
};

}  // namespace isocloth
