// Fasteners that somebody works: zippers and drawstrings.
#pragma once

#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// A number over time: straight between points, constant before the first and after the last.
struct DrivenNumber {
  std::vector<double> times{};  ///< ascending [s], at least one
  std::vector<double> values{};
  double at(double t) const;
  bool operator==(const DrivenNumber&) const = default;
};

/// A seam that is closed from its beginning to its slider.
struct Zipper {
  std::string name;             ///< of its seam
  std::vector<Index> stitches;  ///< numbers of the mesh's
  std::vector<double> shares;   ///< where each is along the seam, from 0 to 1
  DrivenNumber closed;  ///< share up to which it is closed; 0: open, but for what is sewn by another seam
  bool operator==(const Zipper&) const = default;
};

/// A band that somebody draws in or lets out.
struct Drawstring {
  std::string name;             ///< of its edge
  std::vector<Index> bands;     ///< numbers of the mesh's
  std::vector<double> lengths;  ///< of the edge of the cloth along each [m], > 0
  DrivenNumber share;           ///< of these lengths that the band has when nothing pulls it, > 0
  bool operator==(const Drawstring&) const = default;
};

/// Opens and closes stitches, and sets lengths of bands, as they are at a time [s]; returns whether any is
/// other than before.
bool set_fasteners(const std::vector<Zipper>& zippers, const std::vector<Drawstring>& drawstrings,
                   double time, Mesh& mesh);

}  // namespace isocloth
