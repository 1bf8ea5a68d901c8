// Strain of cloths where a user measures it: on every edge and in every element, against the rest shape.
#pragma once

#include "engine/rows/surface_element.hpp"
#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// Strain of one cloth, or of a tile of them.
template <class S>
struct StrainReport {
  S edge_max, edge_p95, edge_mean;              ///< |l / l0 - 1| over all edges
  S stretch_max, stretch_p95, compression_max;  ///< s1 - 1, max(|s1 - 1|, |s2 - 1|), 1 - s2 over all points
  /// max(|s_u - 1|, |s_v - 1|) over all pairs of triangles, s^2 the mean of |F|^2 over both.
  S thread_max, thread_p95;
  S shear_max, shear_p95;  ///< |F_u . F_v| / (|F_u| |F_v|) over all points
  S pinned_max;            ///< |l^2 / l0^2 - 1| over edges between two pinned nodes
};

/// Tiles of `width` cloths, lane by lane innermost, as in StepCloths.
template <class Real>
struct MeasureStrains {
  int width = 1;
  Index tile_count = 0;
  Index node_count = 0;
  bool shared = true;            ///< all cloths have one rest shape
  ArrayView<const Index> edges;  ///< node pairs, those of two pinned nodes first, shape [edge_count, 2]
  Index pinned_edge_count = 0;   ///< number of `edges` between two pinned nodes
  ArrayView<const Index> face_begin, face_nodes;
  ArrayView<const Index> face_points;  ///< number of each face's first point, shape [face_count + 1]
  ArrayView<const Real> rest_edges;    ///< 1 / l0^2 [1/m^2], shape [tile or 1, edge_count, width or 1]
  /// d(xi, eta) / d(u, v) of each point: xi_u, eta_u, xi_v, eta_v [1/m], u along warp and v along weft of the
  /// rest shape; shape [tile or 1, point_count, 4, width or 1].
  ArrayView<const Real> rest_points;
  ArrayView<const Index> pairs;  ///< nodes of triangles (0, 1, 2) and (0, 2, 3), shape [pair_count, 4]
  /// xi_u, eta_u, xi_v, eta_v [1/m] of both triangles of each pair, as in rest_points, and the share of the
  /// first in the area of both; shape [tile or 1, pair_count, 9, width or 1].
  ArrayView<const Real> rest_pairs;
  ArrayView<const Real> positions;  ///< [m], shape [tile, node_count, 3, width]
  ArrayView<Real> values;           ///< work, shape [tile, edge_count + 2 point_count + pair_count, width]
  ArrayView<Real> reports;          ///< StrainReport, shape [tile, 11, width]
};

namespace ISOCLOTH_BACKEND {
/// Principal stretches s1 >= s2 are the singular values of the deformation gradient F = [F_u F_v]: sqrt(1 +
/// c) of the eigenvalues c of twice the Green strain. A 95th percentile is the least bound that at most 5 %
/// of the values exceed, rounded up by at most the largest value / 4096. One block per tile; a report depends
/// neither on the block nor on the other cloths.
template <class Real>
void measure_strains(const Queue& queue, const MeasureStrains<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
