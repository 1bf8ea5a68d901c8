// Grippers of garments in the memory of a device, and where they are in the steps to come.
#pragma once

#include "engine/model/scene.hpp"
#include "host/memory/buffer.hpp"
#include "host/solver/garment_solver.hpp"
#include "kernels/grippers/grippers.hpp"

namespace isocloth {

template <class Real>
class GripperTable {
 public:
  /// A table without grippers.
  GripperTable() = default;
  /// `garments` in the order of their clocks; they must outlive the table.
  GripperTable(const Device& device, const std::vector<const Garment*>& garments);

  /// Largest number of grippers of any garment.
  std::size_t count() const { return count_; }
  /// Sets where grippers are and what they do in the next `steps` steps of h [s].
  void set_motions(const std::vector<Clock>& clocks, double h, int steps);
  /// Sets where the grippers are when the one step of set_motions() begins and ends, of the one member, and
  /// that they keep what they hold, whatever the garment says; shape [gripper].
  void set_poses(ArrayView<const std::array<Pose, 2>> poses);
  /// Grippers of a member in one of the steps of set_motions().
  GrippersView<Real> view(std::size_t member, int step) const;
  GripperSets<Real> sets() const;
  std::size_t memory_bytes() const { return grippers_.bytes() + poses_.bytes() + grips_.bytes(); }

 private:
  const Device* device_ = nullptr;
  std::vector<const Garment*> garments_;
  std::size_t count_ = 0;
  int steps_ = 0;
  Buffer<GripperView<Real>> grippers_;  ///< grippers of the members, shape [member, count]
  Buffer<PoseView<Real>> poses_;        ///< poses of the grippers, shape [member, step + 1, count]
  Buffer<Real> grips_;                  ///< Grip of the grippers, shape [member, step, count]
  std::vector<PoseView<Real>> staging_poses_;
  std::vector<Real> staging_grips_;
};

}  // namespace isocloth
