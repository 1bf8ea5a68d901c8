// Fabrics of the trade, for recipes with elastic rows.
#pragma once

#include <string_view>
#include <vector>

#include "engine/material/fabric.hpp"

namespace isocloth {

struct FabricPreset {
  std::string_view name;
  std::string_view source;  ///< where its figures come from
  Fabric fabric;            ///< without damping; gravity as its mass, delta = rho
};

/// blanket, cotton, denim, jersey, lycra, paper, polyester, ponte, rib_knit, silk, stretch_denim, tablecloth,
/// tricot, trousers, wool. Mass and bending of denim are of different cloths, those of stretch_denim of one.
/// Single cloths of one kind differ by factors: stretch
/// by three, shear of denim by seven. Stress is linear, with the stiffness of small strains.
const std::vector<FabricPreset>& fabric_presets();

}  // namespace isocloth
