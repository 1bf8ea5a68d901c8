// Pieces of elastic band that are sewn to the cloth (Mesh::bands).
//
// Of the length l and the length l0 of a piece that nothing pulls, C = (l / l0)^2 - 1, and with the stretch
// s = l / l0 = sqrt(1 + C) the tension is that of Hooke's law, T = k (s - 1): energy k l0 (s - 1)^2 / 2 =
// K x^2 / 2 with x = 2 (s - 1) and K = k l0 / 4. What is shorter than l0 goes slack; apply_band() in
// kernels/tensors/row_laws.hpp.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/rows/edge_lengths.hpp"

namespace isocloth {

struct BandRows {
  static constexpr int width = 1;
  static constexpr Index law = RowLaw::band;
  static constexpr double rest_value = 1;  ///< bands have a length of their own
  static bool are_asked(const AskedRows& by) { return !by.mesh.bands.empty(); }
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    std::vector<std::array<Index, 2>> ends;
    for (const Band& band : setup.mesh.bands) ends.push_back({band.a, band.b});
    add_edges(setup, ends, pattern, places);
  }
  /// T of an edge whose rest length is l0.
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const double length = a.band_lengths[a.places[i]], t = 1 / (length * length);
    const Index entry = a.stencils.entry_begin[a.stencils.stencil_begin[a.first_stencil + i]];
    for (int e = 0; e < 4; ++e) a.tensors[entry + e] = e == 0 || e == 3 ? t : -t;
  }
  /// K of each row [J].
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric&) {
    std::vector<double> all;
    for (const Index place : places) {
      const Band& band = setup.mesh.bands[static_cast<std::size_t>(place)];
      all.push_back(band.stiffness * band.length / 4);
    }
    return all;
  }
};

}  // namespace isocloth
