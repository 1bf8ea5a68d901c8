// Which pairs of features may touch on the displacements of a step.
#pragma once

#include <optional>

#include "host/cloth_collision/candidates.hpp"
#include "host/cloth_collision/device_pair_search.hpp"

namespace isocloth {

/// Finds candidates where kernels run, and again, perhaps many steps later, where nodes leave the motion
/// bounds that were searched: on a CPU around these, where they are few. No result depends on when.
class BroadPhase {
 public:
  /// A search among the features of `geometry`, for nobody else; all must outlive it.
  BroadPhase(const Device& device, const CollisionGeometry& geometry, PairSearch& search);

  void begin_step() { is_fast_ = false; }
  /// A part of a step begins with all nodes at `from` [m].
  void begin_substep(const std::vector<Vec3d>& from);
  /// Makes candidates() hold all pairs within reach on straight displacements, or at the end of them; false:
  /// these are so wild that everything is near everything. from: of the last begin_substep().
  bool update(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to);
  /// Whether candidates() are those of motion bounds.
  bool knows_pairs() const { return searched_ != nullptr; }
  /// Finds all pairs; false: there are too many. downloads: asked for what of candidates() the host has not
  /// got yet.
  bool search(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, Downloads& downloads);
  /// Launches a count of the nodes that leave their motion bounds on the way to `to` [m]; shape [1].
  void count_strays(ArrayView<const Vec3d> to, ArrayView<Index> count);
  void forget_pairs() { searched_ = nullptr; }
  Candidates& candidates() { return candidates_; }
  const Candidates& candidates() const { return candidates_; }

  /// Pairs within reach on displacements that are looked at once; false: too many. Where nodes leave their
  /// motion bounds the next update() searches for all.
  bool find_once(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, PairSearch::Times times,
                 std::vector<FeaturePair>& pairs);
  std::size_t memory_bytes() const;

 private:
  /// How pairs are sought: within reach of each other, has_spare: or a thickness of their own beyond on each
  /// side, the room for nodes to move without another search.
  struct Search {
    PairSearch::Times times = PairSearch::Times::own;
    double ahead = 0;  ///< how far beyond the iterate ways are searched, in displacements of the part
    bool has_spare = false;
    std::size_t most_per_node = 0, always = 0;  ///< more pairs than either are too many
  };

  std::size_t most_pairs(const Search& how) const;
  bool find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, const Search& how,
                  std::vector<FeaturePair>& pairs);
  /// Nodes that are out of their motion bounds for the begin or the end of a way, ascending.
  std::vector<Index> nodes_outside_bounds(const std::vector<Vec3d>& positions,
                                          BoundingBox MovingBox::*bounds) const;
  void set_motion_bounds(std::size_t node, const Vec3d& from, const Vec3d& to, const Search& how);
  /// By how much the boxes of each garment's features are larger than the motion bounds of their nodes [m].
  std::vector<double> margins(bool has_spare) const;
  /// Finds again the pairs of nodes that left their motion bounds, which get others; false: all pairs must be
  /// searched again.
  bool update_incremental(const std::vector<Index>& nodes, const std::vector<Vec3d>& from,
                          const std::vector<Vec3d>& to);
  PairSearch::Workers workers() const;

  const Device& device_;
  const CollisionGeometry& geometry_;
  PairSearch& search_;
  Candidates candidates_;
  /// For every node, the bounds within which the pairs found are all that may touch.
  std::vector<MovingBox> motion_bounds_;
  Buffer<MovingBox> device_bounds_;   ///< the same, where the host asks a device for strays
  const Search* searched_ = nullptr;  ///< how pairs were found; null: they must be
  bool has_boxes_ = false;            ///< boxes of search_ are still those of that search
  bool is_fast_ = false;              ///< this step: displacements are too long to look ahead of it
  std::optional<DevicePairSearch> device_search_;  ///< search on the device, where the host does not search
};

}  // namespace isocloth
