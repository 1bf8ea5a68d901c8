#include "engine/material/fabric_presets.hpp"

namespace isocloth {
namespace {

/// Figures of a fabric in the units in which tables have them.
struct Figures {
  double grams, millimetres;  ///< per m^2; thickness, taken for the one at 1 kPa
  double warp, weft, shear;   ///< [N/m], shear per radian
  double poisson;
  double bending;  ///< [uN m]
  struct {
    double low, high, linearity;
  } compressed;  ///< T0, Tm [mm], LC of KES-FB3
};

Fabric fabric(const Figures& f) {
  const double rho = 1e-3 * f.grams;
  return {.density = rho,
          .gravity_density = rho,
          .bending_stiffness = 1e-6 * f.bending,
          .stretch_stiffness = f.warp,
          .weft_stretch_stiffness = f.weft,
          .shear_stiffness = f.shear,
          .poisson_ratio = f.poisson,
          .thickness = 1e-3 * f.millimetres,
          .compression =
              fitted_compression(1e-3 * f.compressed.low, 1e-3 * f.compressed.high, f.compressed.linearity)};
}

// KES units: bending 1 gf cm^2/cm = 98.0665 uN m, shear 1 gf/(cm deg) = 56.188 N/m per radian.
constexpr std::string_view
    penava =
        "plain weave: Penava, Simic Penava, Knezic 2014, tensile tests in several directions (mass, "
        "thickness, moduli as moduli times thickness, shear from the one at 45 degrees); bending: "
        "Matsudaira, Masuda, Wada, Yokura 2015, another cloth of the kind; compression is an estimate",
    denim =
        "mass, thickness and stretch: Codimensional IPC 2021, materials after Clyde, Teran, Tamstorf 2017; "
        "shear, bending and compression (T0 - Tm and LC; T0 by the thickness): means of six denims, Kumari, "
        "Khurana 2016, Table 5; Poisson's ratio is an estimate",
    silk =
        "charmeuse; mass, thickness, stretch and shear: Codimensional IPC 2021, materials after Clyde, "
        "Teran, Tamstorf 2017; bending, Poisson's ratio and compression are estimates",
    wang =
        "an interlock knit of 60 % cotton: Wang, O'Brien, Ramamoorthi 2011, \"gray interlock\" at rest; "
        "bending is the mean of both directions; thickness: Santesteban, Otaduy, Casas 2022; compression is "
        "an estimate",
    wang_cloth =
        "one cloth at rest: Wang, O'Brien, Ramamoorthi 2011 (blanket: pink ribbon brown, polyester; lycra: "
        "white swim solid, nylon and 13 % elastane; ponte: camel ponte roma, polyester and rayon; rib_knit: "
        "ivory rib knit, cotton; stretch_denim: 11 oz black denim, cotton and 1 % elastane; "
        "tablecloth: white dots on black, polyester; tricot: tango red jet set, polyester; trousers: royal "
        "target, cotton and polyester), stress 2 c times strain, a quarter of the hinges' bending, their "
        "mean; thickness and compression are estimates: those of the jersey in the ratio of the masses",
    office = "modulus of 5 GPa, 0.1 mm, 80 g/m^2: bending E h^3 / 12; compression is an estimate";

}  // namespace

const std::vector<FabricPreset>& fabric_presets() {
  static const std::vector<FabricPreset> all = {
      {"blanket", wang_cloth, fabric({228, 0.573, 341, 211, 30.3, 0.551, 22.1, {0.755, 0.511, 0.33}})},
      {"cotton", penava, fabric({150.3, 0.318, 10354, 3955, 66.6, 0.243, 11.57, {0.398, 0.288, 0.35}})},
      {"denim", denim, fabric({400, 0.66, 5959, 3163, 110, 0.1, 17.1, {0.975, 0.568, 0.30}})},
      {"jersey", wang, fabric({187, 0.47, 69, 33.2, 36.9, 0, 4.7, {0.619, 0.419, 0.33}})},
      {"lycra", wang_cloth, fabric({204, 0.513, 207, 95, 60.8, 0.096, 13.9, {0.676, 0.457, 0.33}})},
      {"paper", office, fabric({80, 0.1, 5e5, 5e5, 2.5e5, 0, 416.7, {0.107, 0.097, 0.40}})},
      {"polyester", penava, fabric({164.6, 0.252, 2942, 1298, 30.9, 0.381, 7.55, {0.310, 0.230, 0.35}})},
      {"ponte", wang_cloth, fabric({284, 0.714, 88.1, 62.3, 31.9, 0, 9.19, {0.94, 0.637, 0.33}})},
      {"rib_knit", wang_cloth, fabric({276, 0.694, 130, 85.7, 83.2, 0, 9.81, {0.914, 0.619, 0.33}})},
      {"silk", silk, fabric({83, 0.18, 1790, 774, 51.3, 0.2, 1.5, {0.216, 0.166, 0.35}})},
      {"stretch_denim", wang_cloth, fabric({324, 0.814, 2030, 410, 53.4, 0.022, 20.1, {1.07, 0.726, 0.33}})},
      {"tablecloth", wang_cloth, fabric({128, 0.322, 4050, 4000, 19.2, 0, 10.4, {0.424, 0.287, 0.33}})},
      {"tricot", wang_cloth, fabric({113, 0.284, 206, 51.6, 14.3, 0.633, 4.33, {0.374, 0.253, 0.33}})},
      {"trousers", wang_cloth, fabric({220, 0.553, 4070, 4030, 105, 0.005, 31.4, {0.728, 0.493, 0.33}})},
      {"wool", penava, fabric({234.8, 0.568, 12416, 4629, 24.3, 0.277, 6.57, {0.702, 0.522, 0.33}})},
  };
  return all;
}

}  // namespace isocloth
