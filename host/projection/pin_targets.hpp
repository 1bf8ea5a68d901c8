// Where pins hold the nodes of garments that step together, in the steps to come.
#pragma once

#include "engine/model/scene.hpp"
#include "host/memory/locked_array.hpp"
#include "host/solver/garment_solver.hpp"
#include "kernels/projection/place_pins.hpp"

namespace isocloth {

/// Targets of StepCloths. The host evaluates the motions where the memory is its own; a device does it itself
/// (kernels/projection/place_pins.hpp), and is sent motions when they change and clocks for each request.
template <class Real>
class PinTargets {
 public:
  /// One garment for each lane, which must outlive this; `width` of them in a tile. All pins hold the same
  /// nodes.
  PinTargets(const Device& device, std::vector<const Garment*> garments, std::size_t width);

  /// Nodes that pins hold, ascending.
  const std::vector<Index>& nodes() const { return nodes_; }
  /// Makes room for the targets of so many steps, and sends a device what it has not yet of the motions.
  void reserve(int steps);
  /// Sets the targets of the next `steps` steps of h [s], on a device in the order of `queue`; one clock for
  /// each garment. The queue must have been waited for since the last call.
  void set(const Queue& queue, const std::vector<Clock>& clocks, double h, int steps);
  /// Takes note that motions have changed.
  void refresh() { is_sent_ = false; }
  /// Targets of the steps of set() from this one on, shape [step, tile, node, 3, width].
  ArrayView<const Real> from(int step) const;

  std::size_t memory_bytes() const;
  /// Memory of a device for the targets of so many steps, and for the motions [bytes].
  std::size_t bytes_needed(int steps) const;

 private:
  /// Arrays of motions, those of one pin after another's.
  struct Tables {
    std::vector<double> times;
    std::vector<Vec3d> points;
  };
  /// Views of all pins as if the tables lay at these places, null: to know their sizes.
  std::vector<PinView> collect(const double* times, const Vec3d* points, Tables& tables) const;
  void send();
  std::size_t values_per_step() const { return 3 * nodes_.size() * garments_.size(); }

  const Device* device_;
  std::vector<const Garment*> garments_;
  std::size_t width_;
  std::vector<Index> nodes_;
  Buffer<Real> targets_;
  bool is_sent_ = false;  ///< whether the device has the motions
  Buffer<double> times_;
  Buffer<Vec3d> points_;
  Buffer<PinView> pins_;
  Buffer<PinnedNode> pinned_;
  Buffer<StepClock> clocks_;
  LockedArray<StepClock> locked_clocks_;
};

}  // namespace isocloth
