// What grippers hold of garments that impulses hold, in the memory of a device.
#pragma once

#include "engine/model/scene.hpp"
#include "host/state/garment_state.hpp"
#include "host/surroundings/gripper_table.hpp"
#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// Grippers of garments of one pattern, what they hold, and what rows then count of its masses.
template <class Real>
class ImpulseHoldBuffers {
 public:
  /// Buffers without grippers: everything below does nothing.
  ImpulseHoldBuffers() = default;
  /// `garments` in the order of their clocks; they must outlive the object, the pattern is looked at now.
  ImpulseHoldBuffers(const Device& device, const std::vector<const Garment*>& garments,
                     const ImpulsePattern<Real>& pattern, int lane_width);

  /// What every garment with so many grippers takes of a device's memory.
  static std::size_t bytes_each(const ImpulsePattern<Real>& pattern, int lane_width,
                                std::size_t gripper_count);

  bool exist() const { return grippers_.count() > 0; }
  /// Where the grippers are in the next `steps` steps of h [s].
  void set_motions(const std::vector<Clock>& clocks, double h, int steps) {
    grippers_.set_motions(clocks, h, steps);
  }
  ImpulseHolds<Real> view();
  /// Makes the rows of a pattern take their masses from here.
  void take_over(ImpulsePattern<Real>& pattern) const;

  std::size_t hold_count() const { return exist() ? node_count_ : 0; }
  /// Inverse masses of the nodes, see ImpulseHolds.
  const Buffer<Real>& inverse_masses() const { return inverse_masses_; }
  Buffer<Vec4<Real>>& loads() { return loads_; }  ///< loads of the grippers, see ImpulseHolds
  /// Forces of the grippers times h^2 [kg m], shape [member, node].
  Buffer<Vec3<Real>>& forces() { return forces_; }
  /// The holds of a member, see GarmentState::holds.
  std::vector<HoldState> state(std::size_t member) const;
  void set_state(std::size_t member, const std::vector<HoldState>& state);
  /// All that a step changes and the next one needs, of all garments.
  struct Copy {
    std::vector<Index> holders;
    std::vector<Vec3d> local_positions;
    std::vector<Vec3<Real>> forces;
  };
  void copy_to(Copy& copy) const;
  void put_back(const Copy& copy);
  std::size_t memory_bytes() const;

 private:
  struct RowBuffers {
    Buffer<Real> masses;
    Buffer<Index> is_held;
    HeldRows<Real> view() { return {masses.view(), is_held.view()}; }
  };

  std::size_t node_count_ = 0;
  GripperTable<double> grippers_;
  Buffer<Index> holders_;
  Buffer<Vec3d> local_positions_;
  Buffer<Vec3<Real>> forces_;
  Buffer<Vec4<Real>> loads_;
  Buffer<Real> inverse_masses_;
  RowBuffers edges_, metric_stencils_, scalar_stencils_;
};

}  // namespace isocloth
