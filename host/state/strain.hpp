// What a user measures of cloth from positions alone.
#pragma once

#include "engine/core/fields.hpp"

namespace isocloth {

/// How far a cloth is stretched against its rest shape, on every edge and in every element: what a user
/// measures from positions, whatever the rows of the recipe bound. Principal stretches s1 >= s2, the singular
/// values of the deformation gradient, are those of the 2 x 2 Gauss points of quads and the centres of
/// triangles.
struct Strain {
  double max = 0;  ///< largest |l / l0 - 1| over all edges, those between pinned nodes included
  /// 95th percentile of |l / l0 - 1| over all edges, rounded up by at most max / 4096.
  double p95 = 0;
  double mean = 0;         ///< mean of |l / l0 - 1| over all edges
  double stretch_max = 0;  ///< largest s1 - 1, 0 where nothing is stretched
  /// 95th percentile of max(|s1 - 1|, |s2 - 1|), rounded up by at most 1/4096 of the largest.
  double stretch_p95 = 0;
  double compression_max = 0;  ///< largest 1 - s2, 0 where nothing is compressed
  /// Largest | s - 1 | along warp and weft of the cloth, s^2 the mean of |F_u|^2 or |F_v|^2 over a pair of
  /// triangles (engine/rows/membrane.hpp).
  double thread_max = 0;
  /// 95th percentile of the larger | s - 1 | along warp and weft, rounded up by at most 1/4096 of the
  /// largest.
  double thread_p95 = 0;
  double shear_max = 0;  ///< largest sine of the angle by which warp and weft are off a right one
  /// 95th percentile of the sine of the angle by which warp and weft are off a right one, rounded up by at
  /// most 1/4096 of the largest.
  double shear_p95 = 0;
  double pinned_max =
      0;  ///< largest |l^2 / l0^2 - 1| of edges between two pinned nodes, which no step can change
  static constexpr auto fields() {
    return std::tuple{Field{"max", &Strain::max},
                      Field{"p95", &Strain::p95},
                      Field{"mean", &Strain::mean},
                      Field{"stretch_max", &Strain::stretch_max},
                      Field{"stretch_p95", &Strain::stretch_p95},
                      Field{"compression_max", &Strain::compression_max},
                      Field{"thread_max", &Strain::thread_max},
                      Field{"thread_p95", &Strain::thread_p95},
                      Field{"shear_max", &Strain::shear_max},
                      Field{"shear_p95", &Strain::shear_p95},
                      Field{"pinned_max", &Strain::pinned_max}};
  }
};
/// Takes the worse of both, number by number.
void keep_worst(const Strain& other, Strain& worst);

}  // namespace isocloth
