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

#include <cmath>

#include "engine/model/fabric.hpp"
#include "engine/rows/membrane.hpp"

namespace isocloth {

/// C = |F d|^2 - 1 <= c at the points where strain is measured (kernels/measures/strains.hpp): 2 x 2 Gauss
/// points of a quad, the centre of a triangle. K = A k / 4 of a point of area A, as of a thread: the measure
/// of a row's penalty and of its compliance where the limit cannot be met; kernels/tensors/row_laws.hpp.
struct PrincipalLimitRows {
  static constexpr int width = 1;
  static constexpr int directions = 6;
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const Row row(a.places[i]);
    const FaceCorners f = face_corners(a.mesh, row.face);
    const GaussPoint<double> g = row.gauss_point(f.size);
    const auto gradient = material_gradient(g, surface_point(g, f.p, f.size), a.face_warps[row.face], f.size);
    const double pi = 3.14159265358979323846, angle = row.direction * pi / directions;
    const double u = std::cos(angle), v = std::sin(angle);
    for (int m = 0; m < f.size; ++m)
      for (int n = 0; n < f.size; ++n)
        a.tensors[a.stencils.entry(a.first_stencil + i, a.mesh.face_nodes[f.first + m],
                                   a.mesh.face_nodes[f.first + n])] =
            (u * gradient.warp[m] + v * gradient.weft[m]) * (u * gradient.warp[n] + v * gradient.weft[n]);
  }
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
  static double bound(const Fabric& fabric) {
    return fabric.principal_strain_limit * (2 + fabric.principal_strain_limit);
  }

 private:
  static constexpr int most_points = 4;
  /// What a row's place says.
  struct Row {
    Index face;
    int point, direction;
    ISOCLOTH_HD explicit Row(Index place)
        : face(place / (most_points * directions)),
          point(place / directions % most_points),
          direction(place % directions) {}
    ISOCLOTH_HD GaussPoint<double> gauss_point(int corner_count) const {
      if (corner_count == 3) return membrane_point<double>(3, 0);
      const double node = 0.577350269189625764509148780502;  // 1 / sqrt(3)
      return quad_point(point / 2 == 0 ? -node : node, point % 2 == 0 ? -node : node, 1.0);
    }
  };
};

}  // namespace isocloth
