// A term that acts on samples of a cloth, weighted points of nodes, edges and faces: by a force, times h^2,
// and a 3x3 stiffness at each, which the matrix takes through the samples' weights. Rows
// (engine/rows/row_families.hpp) are the other kind of term.
#pragma once

#include "kernels/contact/contact_arrays.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// The hooks; a term has its own of those that it needs.
template <class Real>
struct SampleTerm {
  /// A step begins; doing it again changes nothing.
  ISOCLOTH_DEVICE void begin(Index /*sample*/) const {}
  /// Puts the node where the term wants it when the part of the step ends.
  ISOCLOTH_DEVICE void place(Index /*node*/, Strided<Real> /*positions*/) const {}
  /// Adds force and stiffness at the iterate to those of the sample.
  ISOCLOTH_DEVICE void act(Index /*sample*/) const {}
  /// What the term keeps, after the correction d of the nodes: correction(node), and where obstacles are
  /// moved, too, at the sample's point: move(obstacle, sample).
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index /*sample*/, const Correction& /*d*/, const Move& /*move*/) const {}
};

}  // namespace isocloth::ISOCLOTH_BACKEND
