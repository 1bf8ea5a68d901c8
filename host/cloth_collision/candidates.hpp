// Pairs of features that may touch.
#pragma once

#include "host/cloth_collision/collision_geometry.hpp"

namespace isocloth {

/// Pairs that a broad phase has found, for the host and in a device's memory, with what kernels look up of
/// each (PairReferences). The geometry and the device must outlive it.
class Candidates {
 public:
  Candidates(const Device& device, const CollisionGeometry& geometry)
      : device_(device), geometry_(geometry), measured_at_(device, geometry.node_count()) {}

  /// Whoever searches writes pairs here, in device_pairs, too, where it searches there, and then says which
  /// are new.
  std::vector<FeaturePair> pairs;
  Buffer<FeaturePair> device_pairs;
  /// All pairs are new, of a part of a step that begins at `from` [m]; are_on_device: device_pairs has
  /// them, and measured_at() the positions.
  void measure_all(const std::vector<Vec3d>& from, bool are_on_device = false);
  /// Pairs from this number on are new, and have room beside the others.
  void measure_added(std::size_t first_pair);
  /// Number of pairs for which there is room without another measure_all().
  std::size_t capacity() const { return rooms_.size() - packet_padding; }

  std::size_t count() const { return pairs.size(); }
  ArrayView<const FeaturePair> on_device() const { return slice(device_pairs.view(), 0, count()); }
  /// What a sift of the candidates reads and keeps up to date.
  PairReferences references() { return {thicknesses_.view(), rooms_.view(), nodes_.view()}; }
  ArrayView<Vec3d> measured_at() { return measured_at_.view(); }               ///< see CullCandidates
  ArrayView<const double> thicknesses() const { return thicknesses_.view(); }  ///< see PairReferences
  std::size_t memory_bytes() const;

 private:
  void measure(std::size_t first_pair);

  const Device& device_;
  const CollisionGeometry& geometry_;
  Buffer<double> thicknesses_, rooms_;
  Buffer<Index> nodes_;
  Buffer<Vec3d> measured_at_;
};

}  // namespace isocloth
