// What the states of cloths are worth: rows, areas, energies, momenta. Strain has a file of its own.
#pragma once

#include "engine/material/stress_curve.hpp"
#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/tensors/row_memory.hpp"

namespace isocloth {

/// Items of each kind (stencils, faces, nodes) that one block sums up.
constexpr Index measures_chunk = 4096;

/// Measures of a chunk of one cloth, or of a tile of them; a cloth is worth the sums and maxima over its
/// chunks.
template <class S>
struct ClothMeasures {
  S row_stretch, row_compression;  ///< largest C and -C, not below 0; infinite where a row is not finite
  S area, rest_area;               ///< [m^2]
  /// Sum, sum of squares and largest of |a - a0| / a0 over faces, Coltraro 2022, (22).
  S error_sum, error_squares, error_max;
  S kinetic, weight;  ///< [J], 1/2 rho m v^2 and delta g m z
  S bending;          ///< [J], 1/2 kappa phi.K phi
  S elastic;          ///< [J], K times the integral of p of compliant rows, see apply_law()
  S hourglass;        ///< part of `elastic` in differences of triangles (MembraneRows) [J]
  S opening;  ///< largest distance of two nodes that are sewn or buttoned together, less that of a button [m]
  Vec3<S> momentum, angular_momentum;  ///< rho m v [kg m/s], rho m x x v [kg m^2/s]
};

template <class S>
struct ClothPhysics {
  S rho, weight, kappa;  ///< [kg/m^2], delta g [N/m^2], [N m]
  S coupling;            ///< coupling of warp and weft, see RowLaws
};

/// What rows of cloths are worth; see RowLaws.
template <class Real>
struct RowEnergies {
  ArrayView<const Real>
      stiffness;                 ///< [J], 0: rigid, no energy; shape [tile, row_count, width]; empty: all are
  ArrayView<const Real> bounds;  ///< more than 0: a limit, no energy; same shape; empty: none is
  ArrayView<const Real>
      curves;               ///< shape [tile, RowLaw::count, pieces, 5, width]; empty: all are linear in C
  Index curve_numbers = 0;  ///< count of the numbers of the curves of a cloth
  StrainMeasure measure = StrainMeasure::green;  ///< law of membranes
  /// See RowMemory; shapes [tile, RowLaw::count, memory_numbers, width], [tile, row_count, memory_elements,
  /// width].
  RowMemory<Real> memory{};
};

/// Tiles of `width` cloths, lane by lane innermost, as in StepCloths.
template <class Real>
struct MeasureCloths {
  int width = 1;
  Index first_tile = 0, tile_count = 0;  ///< tiles that are measured
  Index node_count = 0;
  RowsView rows;
  ArrayView<const Index> face_begin, face_nodes;
  NodeMatrixView bending;                  ///< pattern of K, empty: no bending
  ArrayView<const Index> stitches;         ///< nodes, shape [stitch_count, 2]
  ArrayView<const Real> stitch_distances;  ///< see StitchLaws [m]
  ArrayView<const Real> stitch_strengths;  ///< see StitchLaws [N]; what may let go is no seam
  RestShapesView<Real> rest;
  RowEnergies<Real> energies;
  ArrayView<const Real> physics;     ///< ClothPhysics, shape [tile_count, 4, width]
  ArrayView<const Real> positions;   ///< [m], shape [tile, node_count, 3, width]
  ArrayView<const Real> velocities;  ///< [m/s], same shape
  ArrayView<Real> reports;           ///< ClothMeasures, shape [tile_count, measure_chunks(), 19, width]
};

/// Blocks per tile.
template <class Real>
ISOCLOTH_HD Index measure_chunks(const MeasureCloths<Real>& a) {
  const auto larger = [](Index x, Index y) { return x > y ? x : y; };
  const Index faces = static_cast<Index>(a.face_begin.size()) - 1;
  const Index of_rows = larger(larger(a.rows.triples.stencil_count(), a.rows.membranes.stencil_count()),
                               larger(a.rows.limits.stencil_count(), a.rows.singles.stencil_count()));
  const Index stitches = static_cast<Index>(a.stitches.size() / 2);
  const Index most = larger(larger(of_rows, stitches), larger(faces, a.node_count));
  return (most + measures_chunk - 1) / measures_chunk;
}

namespace ISOCLOTH_BACKEND {
/// One block per chunk of a tile: 32 interleaved partial sums, added in order, so that a report depends
/// neither on the block nor on the other cloths.
template <class Real>
void measure_cloths(const Queue& queue, const MeasureCloths<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
