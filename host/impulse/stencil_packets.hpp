// Stencils of quadratic rows in the order in which the impulse kernels take them.
#pragma once

#include "engine/rows/stencil_pattern.hpp"
#include "host/garment/rest_shape.hpp"
#include "host/memory/buffer.hpp"
#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// Stencils by colour and local shape, in packets; see StencilPackets.
struct StencilPlan {
  std::vector<Index> colour_begin, shape_of, slot_begin, entry_begin, pairs, shape_slots, slot_entries,
      entry_slots;
  std::vector<Index> stencils;  ///< number of the stencil in each slot, -1: spare; shape [packet, width]
  std::vector<Index> source_entries;  ///< entry of the pattern in each slot, -1: spare; shape [entry, width]
};
/// Greedy colours in the order of the pattern. Slots whose neighbours form one ring about the first are put
/// in the order of that ring, so that stencils of triangles differ by their number of neighbours alone.
StencilPlan plan_stencils(const StencilPattern& pattern, Index node_count, int width);
/// Number of slots of the largest stencil.
Index most_slots(const StencilPlan& plan);

/// A StencilPlan with tensors, rest values and inverse masses in the memory of a device.
template <class Real, int Width>
struct StencilBuffers {
  Buffer<Index> colour_begin, shape_of, slot_begin, entry_begin, pairs, shape_slots, slot_entries,
      entry_slots;
  Buffer<Real> tensors, rest_values, inverse_masses;

  StencilBuffers() = default;
  /// Rows of the shapes with so many per stencil; first_row, first_tensor: where they begin (RowGroup). Where
  /// free nodes have no part in a row but rounding, their tensors are zero.
  StencilBuffers(const Device& device, const StencilPlan& plan, const std::vector<RestShape<Real>>& shapes,
                 std::size_t first_row, std::size_t first_tensor);

  StencilPackets<Real, Width> view() const {
    return {colour_begin.view(), shape_of.view(),    slot_begin.view(),     entry_begin.view(),
            pairs.view(),        shape_slots.view(), slot_entries.view(),   entry_slots.view(),
            tensors.view(),      rest_values.view(), inverse_masses.view(), {}};
  }
  std::size_t memory_bytes() const;
};

}  // namespace isocloth
