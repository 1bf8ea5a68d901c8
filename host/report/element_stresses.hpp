// Membrane stress of elements: colours of the playback where the rows of the run have a law.
#pragma once

#include <array>
#include <vector>

#include "engine/rows/membrane_stress.hpp"
#include "host/report/report.hpp"

namespace isocloth {

/// Elements of the first garments of a report, in warp and weft of their rest shapes.
class ElementStresses {
 public:
  ElementStresses(const ReportData& data, std::size_t garment_count);
  /// Whether any of these garments has a law.
  bool exist() const { return !points_.empty(); }

  /// Stress of every face, 0 where its garment has no law: of the deformation gradient at the points of
  /// MembraneRows, the mean of two by their areas on quads. positions [m], shape [node_count, 3].
  std::vector<MembraneStress> of(const double* positions) const;

 private:
  /// F = sum p_i (dN_i/du, dN_i/dv) at a point of an element.
  struct Point {
    std::size_t face, garment;
    int size;
    std::array<Index, 4> nodes;        ///< of a frame
    std::array<double, 4> warp, weft;  ///< [1/m]
    double part;                       ///< of the element's area
  };

  std::size_t face_count_ = 0;
  std::vector<MembraneLaw> laws_;
  std::vector<Point> points_;
};

}  // namespace isocloth
