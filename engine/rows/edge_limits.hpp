// Limits of strain: no edge of the mesh grows longer than (1 + s) l. The edges bound the strain along the
// threads at every point of a quad whose sides follow them: bilinear, it is largest there.
#pragma once

#include "engine/rows/elastic_edges.hpp"

namespace isocloth {

/// K of a row is that of a spring (ElasticEdgeRows): the measure of its penalty and of its compliance where
/// the limit cannot be met; kernels/tensors/row_laws.hpp.
struct EdgeLimitRows : ElasticEdgeRows {
  static constexpr const char* key = "strain_limit";
  static constexpr LimitNumber limit = &Fabric::strain_limit;
  static constexpr bool is_of_edges = true;
  static bool are_asked(const AskedRows& by) { return by.fabric.strain_limit > 0 && !by.limit_edges; }
  /// c of C = |p_a - p_b|^2 / l^2 - 1 <= c; without a limit more than any edge reaches.
  static double bound(const Fabric& fabric) {
    const double s = fabric.strain_limit;
    return s > 0 ? s * (2 + s) : 1e6;
  }
};

}  // namespace isocloth
