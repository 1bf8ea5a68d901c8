// Cloths held by impulses that step together, a block each.
#pragma once

#include "engine/model/scene.hpp"
#include "host/impulse/impulse_garments.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// Whole steps by one kernel (kernels/impulse/step_impulse.hpp).
template <class Real>
class ImpulseGroup final : public ImpulseGarments<Real> {
 public:
  /// A group of garments; arguments as ImpulseGarments takes them.
  ImpulseGroup(const Device& device, std::vector<const Garment*> garments, const ResolvedScene& resolved,
               const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  /// One upload of targets and one launch; finish() waits for it and downloads the reports.
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  /// Number of threads that fill the steps: one per cloth.
  std::size_t threads() const override { return this->size(); }
  std::vector<AdvanceReport> finish() override;
  void set_state(std::size_t member, const GarmentState& state) override;
  void undo() override;
  /// A launch on a device runs to its end.
  bool can_stop() const override { return device_.backend().memory.host_accessible; }

 private:
  using Base = ImpulseGarments<Real>;
  using Base::device_, Base::kernels_, Base::garments_, Base::parameters_, Base::lost_;

  std::size_t work_bytes() const override;
  std::string solver_name() const override;

  std::size_t scratch_bytes_ = 0;  ///< scratch memory of a block [bytes]
  Buffer<Real> alive_;
  Buffer<ImpulseReport> reports_;
  std::vector<ImpulseReport> staging_;
  double start_seconds_ = 0;  ///< time taken by start() [s]
  WorkQueue queue_;           ///< waits before the buffers go
};

}  // namespace isocloth
