#include "host/scene/panel_fabric.hpp"

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/material/fabric_presets.hpp"

namespace isocloth {
namespace {

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw SceneError(text(parts...));
}

void describe_layer(Keys& keys, Interfacing& layer) {
  keys.number("density", layer.density, not_negative, "mass per area that it adds [kg/m^2]");
  keys.number("thickness", layer.thickness, not_negative,
              "how thick it is, by which it bends the more with `bond` [m]");
  keys.number("stretch_stiffness", layer.stretch_stiffness, not_negative,
              "that it adds along the panel's warp [N/m]");
  keys.number("weft_stretch_stiffness", layer.weft_stretch_stiffness, not_negative,
              "that it adds along weft; default: as along warp [N/m]");
  keys.number("shear_stiffness", layer.shear_stiffness, not_negative, "that it adds [N/m]");
  keys.number("bending_stiffness", layer.bending_stiffness, not_negative,
              "of the layer by itself, which it adds [N m]");
  keys.number(
      "bond", layer.bond, {.least = 0, .most = 1},
      "0: both slide over each other where they bend, 1: they are one plate; a part of it for glue in "
      "dots");
}

}  // namespace

void describe_panel_fabric(Keys& keys, PanelFabric& fabric) {
  keys.object("fabric", "numbers of this panel that are others than in the garment's fabric", Need::optional,
              [&](Keys& k) {
                std::vector<std::string> names{"none"};
                for (const FabricPreset& preset : fabric_presets()) names.emplace_back(preset.name);
                std::size_t index = 0;
                k.string_index("preset", index, names,
                               "mass and stiffness of a kind of cloth, where keys beside it do not say "
                               "otherwise");
                if (index > 0) {
                  const Fabric& of = fabric_presets()[index - 1].fabric;
                  fabric.density = of.density;
                  fabric.stretch_stiffness = of.stretch_stiffness;
                  fabric.weft_stretch_stiffness = of.weft_stiffness();
                  fabric.shear_stiffness = of.shear_stiffness;
                  fabric.bending_stiffness = of.bending_stiffness;
                }
                k.number("density", fabric.density, positive, "mass per area [kg/m^2]");
                k.number("stretch_stiffness", fabric.stretch_stiffness, positive, "along warp [N/m]");
                k.number("weft_stretch_stiffness", fabric.weft_stretch_stiffness, positive,
                         "along weft [N/m]; of a membrane");
                k.number("shear_stiffness", fabric.shear_stiffness, positive,
                         "force per width and angle between warp and weft [N/m]; of a membrane");
                k.number("bending_stiffness", fabric.bending_stiffness, positive,
                         "along warp; along weft in the same ratio as in the garment's fabric [N m]");
              });
  keys.objects("interfacing", "layers that are fused onto this panel", 0, [&](Keys& k, std::size_t i) {
    fabric.interfacing.resize(i + 1);
    describe_layer(k, fabric.interfacing[i]);
  });
}

FabricFactors factors_of(const PanelFabric& panel, const Fabric& garment, const std::string& key) {
  const StressCurves& curves = garment.curves;
  const auto factor = [&](const char* name, const std::optional<double>& own, double of_garment,
                          bool has_curve) {
    if (!own) return 1.0;
    if (has_curve)
      fail(key, ".fabric.", name, ": found ", *own,
           ", expected none where the garment's fabric has a curve; use maps, which have factors");
    if (!(of_garment > 0))
      fail(key, ".fabric.", name, ": found ", *own,
           ", expected none where that of the garment's fabric is 0");
    return *own / of_garment;
  };
  const bool has_weft = curves.weft.exists() || curves.warp.exists();
  FabricFactors f{.density = factor("density", panel.density, garment.density, false),
                  .stretch = factor("stretch_stiffness", panel.stretch_stiffness, garment.stretch_stiffness,
                                    curves.warp.exists()),
                  .weft_stretch = factor("weft_stretch_stiffness", panel.weft_stretch_stiffness,
                                         garment.weft_stiffness(), has_weft),
                  .shear = factor("shear_stiffness", panel.shear_stiffness, garment.shear_stiffness,
                                  curves.shear.exists()),
                  .bending = factor("bending_stiffness", panel.bending_stiffness, garment.hinge_stiffness(),
                                    curves.bend.exists())};

  const double warp = f.stretch * garment.stretch_stiffness, weft = f.weft_stretch * garment.weft_stiffness();
  double density = f.density * garment.density, shear = f.shear * garment.shear_stiffness,
         bending = f.bending * garment.hinge_stiffness(), along_warp = warp, along_weft = weft, moments = 0,
         second_moments = 0;
  for (std::size_t i = 0; i < panel.interfacing.size(); ++i) {
    const Interfacing& layer = panel.interfacing[i];
    const double k = layer.stretch_stiffness,
                 z = std::sqrt(layer.bond) * (garment.thickness + layer.thickness) / 2;
    if (!(bending > 0) && (layer.bending_stiffness > 0 || layer.bond > 0))
      fail(key, ".interfacing[", i, "]: found a layer that bends, expected a garment with bending_stiffness");
    density += layer.density;
    along_warp += k;
    along_weft += layer.weft_stretch_stiffness.value_or(k);
    shear += layer.shear_stiffness;
    bending += layer.bending_stiffness;
    moments += k * z;
    second_moments += k * z * z;
  }
  if (!panel.interfacing.empty()) {
    if (bending > 0) bending += second_moments - moments * moments / along_warp;
    f = {.density = density / garment.density,
         .stretch = along_warp / garment.stretch_stiffness,
         .weft_stretch = along_weft / garment.weft_stiffness(),
         .shear = shear / garment.shear_stiffness,
         .bending = bending > 0 ? bending / garment.hinge_stiffness() : 1};
  }
  constexpr double most = 0.99;
  if (const double nu = garment.poisson_ratio * std::sqrt(f.stretch / f.weft_stretch); !(nu <= most))
    fail(key, ".fabric: found a Poisson's ratio of ", nu,
         " by that of the garment's fabric, whose warp and weft it couples alike, expected at most ", most,
         "; lessen fabric.poisson_ratio of the garment");
  return f;
}

}  // namespace isocloth
