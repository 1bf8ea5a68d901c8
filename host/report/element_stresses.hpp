// Membrane stress of elements: colours of the playback where the rows of the run have a law.
#pragma once

#include <array>
#include <vector>

#include "engine/model/membrane_stress.hpp"
#include "host/report/report.hpp"

namespace isocloth {

/// Elements of the first garments of a report, in warp and weft of their rest shapes.
class ElementStresses {
 public:
  ElementStresses(const ReportData& data, std::size_t garment_count);
  /// Whether any of these garments has a law.
  bool exist() const { return !pairs_.empty(); }

  /// Stress of every face, 0 where its garment has no law: that of its pair of triangles (MembraneRows), of a
  /// face all of whose nodes are pinned its own. positions [m], shape [node_count, 3].
  std::vector<MembraneStress> of(const double* positions) const;

 private:
  /// Derivatives of the positions along warp and weft in a triangle: those of its nodes times these [1/m].
  struct Triangle {
    std::array<Index, 3> nodes;  ///< nodes of the triangle, numbered as in a frame
    std::array<double, 3> warp, weft;
    MembraneLaw::Gradient gradient(const double* positions) const;
  };
  struct Pair {
    std::array<std::size_t, 2> faces;
    std::size_t law;
    std::array<Triangle, 2> triangles;
    double share;  ///< area of the first triangle over that of both
  };

  std::size_t face_count_ = 0;
  std::vector<MembraneLaw> laws_;
  std::vector<Pair> pairs_;
};

}  // namespace isocloth
