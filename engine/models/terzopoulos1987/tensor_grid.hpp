// Metric and curvature energies of a sheet that is a grid of nodes (Terzopoulos, Platt, Barr, Fleischer 1987,
// Elastically deformable models).
//
// With r(a_1, a_2) the place of material coordinates, the metric tensor is G_ij = r_i . r_j and the curvature
// tensor B_ij = n . r_ij, where r_i, r_ij are derivatives along a_i, a_j and n is the unit normal. The energy
// is
//   E = int sum_ij w1_ij (G_ij - G0_ij)^2 + w2_ij (B_ij - B0_ij)^2 da_1 da_2
// with G0, B0 those of the rest shape. Here a_1 runs along warp and a_2 along weft in metres of the rest
// shape, so that G0 is the identity and B0 zero, and the weights are stiffnesses of a fabric: strain along a
// thread is (G_ii - 1) / 2, shear is G_12, bending is that of a plate without Poisson's effect:
//   w1_11 = k_u / 8, w1_22 = k_v / 8, w1_12 = w1_21 = k_s / 4, w2_11 = kappa_u / 2, w2_22 = kappa_v / 2,
//   w2_12 = w2_21 = sqrt(kappa_u kappa_v) / 2.
//
// Differences are those of the paper: forward ones in G, of G_12 from each cell's first corner; central
// second ones in B_11 and B_22, that over a cell in B_12. The normal is that of central differences (of a
// cell in B_12), at the rim of those there are. A term of the rim has half a cell.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// One term of the energy, 1/2 K C^2, C = D_1 r . D_2 r - C0 (metric) or n . D_12 r - C0 with n along D_1 r x
/// D_2 r (curvature). Differences are sums over nodes.
struct TensorStencil {
  static constexpr int most_nodes = 5;
  enum Component { warp, weft, shear, bend_warp, bend_weft, twist };
  static constexpr int component_count = 6;

  Component component = warp;
  int node_count = 0;
  std::array<Index, most_nodes> nodes{};
  std::array<double, most_nodes> d1{}, d2{};  ///< [1/m]
  std::array<double, most_nodes> d12{};       ///< [1/m^2], of curvature
  double weight = 0;                          ///< K over the stiffness of the component [m^2]
  bool is_metric() const { return component <= shear; }
};

/// C - C0 of a stencil, and its gradients by the places of the stencil's nodes.
struct TensorValue {
  double value = 0;
  std::array<Vec3d, TensorStencil::most_nodes> gradients{};
};

class TensorGrid {
 public:
  /// Throws SceneError beginning with `key` for a mesh that is not quad_grid() of equal rectangles (to 1e-3,
  /// for noise) with three nodes at least along each side.
  TensorGrid(const Mesh& mesh, const std::string& key);

  const std::vector<TensorStencil>& stencils() const { return stencils_; }
  /// Value of a stencil and its gradients in the sheet x [m]. Where D_1 r and D_2 r are parallel there is no
  /// normal: curvature is then 0.
  TensorValue value(const TensorStencil& stencil, const std::vector<Vec3d>& x) const;
  /// K of each component [N/m] or [N m].
  static std::array<double, TensorStencil::component_count> stiffness(const Fabric& fabric);
  /// E [J].
  double energy(const Fabric& fabric, const std::vector<Vec3d>& x) const;
  /// -dE/dx [N], shape [node_count].
  std::vector<Vec3d> forces(const Fabric& fabric, const std::vector<Vec3d>& x) const;
  /// Gershgorin's bound on the stiffness of the metric terms of the flat sheet, sum over the entries of a row
  /// of the matrix of second derivatives, per stiffness of the component (warp, weft, shear): shape
  /// [component][2 node_count], rows of a node along a_1 and a_2.
  std::array<std::vector<double>, 3> metric_rows() const;

 private:
  Index columns_ = 0, rows_ = 0;
  double spacing_[2] = {};  ///< spacing along a_1 and a_2 [m]
  std::vector<TensorStencil> stencils_;
};

}  // namespace isocloth
