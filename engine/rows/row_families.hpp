// The list of row families. A family is a file with its stencils, tensors and law, a name in row_family.hpp
// and a line below. One that has no stiffness() is rigid, one with a bound() is an inequality. Singles with a
// law, or laws() of each row, have that by number; a rest_value is c0 in the place of what is measured. One
// that no recipe names says by are_asked() who wants it.
#pragma once

#include <tuple>

#include "engine/rows/bands.hpp"
#include "engine/rows/edge_lengths.hpp"
#include "engine/rows/edge_limits.hpp"
#include "engine/rows/folds.hpp"
#include "engine/rows/hinges.hpp"
#include "engine/rows/isometry.hpp"
#include "engine/rows/large_angles.hpp"
#include "engine/rows/membrane.hpp"
#include "engine/rows/principal_limits.hpp"
#include "engine/rows/row_family.hpp"
#include "engine/rows/springs.hpp"

namespace isocloth {

/// Their types, in the order of RowFamily.
using RowFamilies = std::tuple<IsometryRows, CornerShearRows, BoundaryEdgeRows, EdgeRows, ElasticEdgeRows,
                               MembraneRows, SpringRows, FlexionSpringRows, EdgeLimitRows, PrincipalLimitRows,
                               BandRows, HingeRows, LargeAngleRows, FoldRows>;

/// visit(name, family) of all, with `family` of the family's own type.
template <class Visit>
void for_each_family(const Visit& visit) {
  std::apply([&, number = 0](auto... family) mutable { (visit(RowFamily(number++), family), ...); },
             RowFamilies{});
}

/// visit(family), with `family` of the family's own type.
template <class Visit>
auto visit_family(RowFamily family, const Visit& visit) {
  using Result = decltype(visit(EdgeRows{}));
  if constexpr (std::is_void_v<Result>) {
    for_each_family([&](RowFamily name, auto own) {
      if (name == family) visit(own);
    });
  } else {
    Result found{};
    for_each_family([&](RowFamily name, auto own) {
      if (name == family) found = visit(own);
    });
    return found;
  }
}

/// A limit of strain that a number of the fabric sets, 0: none.
struct StrainLimit {
  const char* key;  ///< in scene files
  LimitNumber number;
  bool is_of_edges;  ///< diagonals of quads are free
};
/// visit(limit) of each family that is one.
template <class Visit>
void for_each_limit(const Visit& visit) {
  for_each_family([&](RowFamily, auto family) {
    using Rows = decltype(family);
    if constexpr (requires { Rows::limit; }) visit(StrainLimit{Rows::key, Rows::limit, Rows::is_of_edges});
  });
}

}  // namespace isocloth
