// Orders of elimination that keep the factor sparse.
#pragma once

#include <string_view>

#include "host/linear/elimination.hpp"

namespace isocloth {

enum class Ordering { nested_dissection, minimum_degree, minimum_fill };
std::string_view name(Ordering ordering);

/// Place of each block row, shape [size]. nested_dissection: METIS (Karypis and Kumar 1998) with a fixed
/// seed; minimum_degree: AMD (Amestoy, Davis and Duff 1996); minimum_fill: the block row whose elimination
/// adds fewest blocks comes next (Tinney and Walker 1967, scheme 3), the best of several ways to break ties,
/// O(size^3 / 64) each. All deterministic. Throws NumericalError when
/// METIS fails; without memory, of which it takes 15 bytes per block of both triangles on meshes, it ends the
/// program.
std::vector<Index> fill_reducing_order(const BlockPattern& pattern, Ordering ordering);

/// The elimination with fewest flops. Minimum fill is tried up to 512 block rows, where it often saves a
/// tenth of them; past `both_up_to` nested dissection alone.
struct OrderedElimination {
  Ordering ordering = Ordering::nested_dissection;
  Elimination elimination;
};
OrderedElimination analyze_best_order(const BlockPattern& pattern, Index both_up_to = 20000);

}  // namespace isocloth
