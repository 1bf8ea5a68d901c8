// Strain of the garments of one solver, on every edge and in every element.
#pragma once

#include <vector>

#include "engine/model/scene.hpp"
#include "host/memory/buffer.hpp"
#include "host/memory/field_view.hpp"
#include "host/memory/transfers.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/strain.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

template <class Real>
class StrainMeter {
 public:
  StrainMeter() = default;
  /// Garments of one topology whose pins hold the same nodes; `width` of them lie side by side in a tile of
  /// positions (kernels/batch/step_cloths.hpp), 1: one after another.
  StrainMeter(const Device& device, const std::vector<const Garment*>& garments, std::size_t width);
  /// What it keeps for each garment of that mesh, but for what they share.
  static std::size_t bytes_each(const Mesh& mesh, bool own_rest_shapes);
  /// What they share, with the roundings of all arrays.
  static std::size_t bytes_fixed(const Mesh& mesh);
  /// One for each garment; positions [m]: shape [tile, node_count, 3, width].
  std::vector<Strain> measure(ArrayView<const Real> positions);
  /// measure() in two steps, so that one wait serves several meters: end() once the downloads are there.
  void begin(ArrayView<const Real> positions, Downloads& downloads);
  std::vector<Strain> end() const;
  /// Begins to measure in the order of `queue`; reports: StrainReport, shape [tile, report_size, width].
  void begin(const Queue& queue, ArrayView<const Real> positions, ArrayView<Real> reports) const;
  static constexpr std::size_t report_size = sizeof(StrainReport<Real>) / sizeof(Real);
  /// What the last of measure() found.
  FieldView view();
  std::size_t memory_bytes() const;
  static Strain widened(const StrainReport<Real>& report);

 private:
  const Device* device_ = nullptr;
  std::size_t garment_count_ = 0;
  MeasureStrains<Real> arguments_;
  Buffer<Index> edges_, face_begin_, face_nodes_, face_points_, pairs_;
  Buffer<Real> rest_edges_, rest_points_, rest_pairs_, values_, reports_;
  std::vector<Real> staging_;
  const Real* at_ = nullptr;  ///< reports where the host can read them
};

}  // namespace isocloth
