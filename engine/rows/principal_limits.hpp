// Limits of principal strain: no element is stretched by more than s, along its threads or across them.
//
// The larger principal stretch s1 of an element is at most 1 + s where d . F^T F d <= (1 + s)^2 for every
// unit vector d of the rest shape: a matrix inequality that is linear in the metric F^T F. These rows are
// those of evenly spread d, an outer approximation: between two of them, an angle a = pi / (2 directions)
// from both,
//   s1^2 = ((1 + s)^2 - s2^2 sin^2 a) / cos^2 a
// is let through, s2 the smaller stretch. With a = 15 degrees and s = 0.05 that is 5.3 % where s2 = 1, 6.0 %
// where the element has narrowed by 10 % across.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/rows/membrane.hpp"

namespace isocloth {

/// C = |F d|^2 - 1 <= c at the strain points of elements (engine/rows/surface_element.hpp). K = A k / 4 of a
/// point of area A, as of a thread: the measure of a row's penalty and of its compliance where the limit
/// cannot be met; kernels/tensors/row_laws.hpp.
struct PrincipalLimitRows {
  static constexpr int width = stretch_directions;
  static constexpr const char* key = "principal_strain_limit";
  static constexpr LimitNumber limit = &Fabric::principal_strain_limit;
  static constexpr bool is_of_edges = false;
  static bool are_asked(const AskedRows& by) { return by.fabric.principal_strain_limit > 0; }
  /// A stencil is a point of an element; its place is most_points face + point.
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const Index face = a.places[i] / most_points;
    const FaceCorners f = face_corners(a.mesh, face);
    set_gradients(a, i, f, strain_point<double>(f.size, a.places[i] % most_points), a.face_warps[face]);
  }
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
  static double bound(const Fabric& fabric) {
    return fabric.principal_strain_limit * (2 + fabric.principal_strain_limit);
  }

 private:
  static constexpr int most_points = strain_point_count(4);
};

}  // namespace isocloth
