// Springs along edges and diagonals, as particle models of cloth have them (Provot 1995; Miguel et al. 2012,
// (1)).
//
// Each has the energy K x^2 / 2 of its doubled strain x = 2 (l / l0 - 1), or that of a stress-strain curve.
// On a grid they resist an even strain along warp, along weft and in shear as a membrane of the same
// stiffness does; diagonals resist stretch, too, which is what springs are blamed for. On irregular triangles
// edges within 22.5 degrees of the threads are springs of these and the others diagonals, and stiffness is
// uneven.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/mesh/spring_pairs.hpp"
#include "engine/rows/edge_lengths.hpp"

namespace isocloth {

/// Edges of the mesh, then both diagonals of each quad.
struct SpringRows : LengthRows {
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    add_edges(setup, pairs(setup), pattern, places);
  }
  /// RowLaw of each row: of the thread along which a spring runs, or of shear.
  static std::vector<Index> laws(const RowSetup& setup, const std::vector<Index>& places);
  /// K of each row [J]: A k / 4 along threads, with A the area of the faces beside it, each shared among its
  /// springs of that thread; of diagonals A G / sin^2(2 a), a their angle to the warp.
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);

 private:
  static NodePairs pairs(const RowSetup& setup);
};

/// Springs between structural neighbours at distance two, bend_pairs(); K = k l^2 / 4 of fabric.bend_spring.
struct FlexionSpringRows : LengthRows {
  static constexpr Index law = RowLaw::flexion;
  static bool are_asked(const AskedRows& by) { return by.are_springs && by.fabric.bend_spring.exists(); }
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    add_edges(setup, bend_pairs(setup.mesh, setup.topology), pattern, places);
  }
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth
