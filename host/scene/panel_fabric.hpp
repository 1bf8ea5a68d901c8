// Fabrics of single panels, and what is fused onto them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

/// A layer that is fused onto a panel.
struct Interfacing {
  double density = 0;                            ///< [kg/m^2]
  double thickness = 0;                          ///< [m]
  double stretch_stiffness = 0;                  ///< along the panel's warp [N/m]
  std::optional<double> weft_stretch_stiffness;  ///< as along warp if nothing is said [N/m]
  double shear_stiffness = 0;                    ///< [N/m]
  double bending_stiffness = 0;                  ///< of the layer by itself [N m]
  double bond = 0;  ///< from 0, layers that slide, to 1, layers that are one, see factors_of()
  bool operator==(const Interfacing&) const = default;
};

/// Numbers of a panel's fabric, [kg/m^2], [N/m] and [N m]; what none is given of is as in the garment's.
struct PanelFabric {
  std::optional<double> density, stretch_stiffness, weft_stretch_stiffness, shear_stiffness,
      bending_stiffness;
  std::vector<Interfacing> interfacing;
  bool exists() const { return *this != PanelFabric{}; }
  bool operator==(const PanelFabric&) const = default;
};

/// Describes `fabric` and `interfacing` of a panel.
void describe_panel_fabric(Keys& keys, PanelFabric& fabric);

/// The factors of a panel's faces. Density and stiffness in the plane of fused layers are sums, and the
/// bending stiffness of layers i at the distance e_i from the panel's middle, half of both thicknesses, is
/// that of a laminate (Timoshenko 1925, for layers that share each length):
///   B = sum B_i + sum k_i z_i^2 - (sum k_i z_i)^2 / sum k_i,  z_i = sqrt(bond_i) e_i,
/// k_i: stiffness along warp; of a panel with one layer B_1 + B_2 + bond e^2 k_1 k_2 / (k_1 + k_2). Its ratio
/// of weft to warp is that of the garment. Throws SceneError, beginning with `key` of the panel: stiffness
/// that the garment says by curves, bending of a garment that has none, threads that Poisson's ratio couples
/// too much.
FabricFactors factors_of(const PanelFabric& panel, const Fabric& garment, const std::string& key);

}  // namespace isocloth
