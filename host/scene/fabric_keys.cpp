#include "host/scene/fabric_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "engine/core/text.hpp"
#include "engine/material/fabric_presets.hpp"
#include "engine/material/fast_sheet.hpp"
#include "engine/material/kes_sheet.hpp"
#include "engine/model/fabric_numbers.hpp"
#include "host/files/names.hpp"
#include "host/scene/motion_keys.hpp"

namespace isocloth {
namespace {

/// The other keys have what it says for defaults.
void describe_preset(Keys& keys, Fabric& fabric) {
  std::vector<std::string> names{"none"};
  for (const FabricPreset& preset : fabric_presets()) names.emplace_back(preset.name);
  std::size_t index = 0;
  keys.string_index(
      "preset", index, names,
      "mass, thickness and stiffness of a kind of cloth, where keys beside it do not say otherwise; "
      "sources: engine/material/fabric_presets.cpp");
  if (index > 0) fabric = fabric_presets()[index - 1].fabric;
}

/// Ranges are those in which cloth lies: g/m^2 and fractions are not. The keys that follow it have what it
/// says for defaults.
void describe_kes(Keys& keys, GarmentSpec& garment) {
  const std::string doc =
      "figures of Kawabata's evaluation system in the units of its sheets; a membrane's curves, bending and "
      "mass follow, and with `hysteresis` its memory";
  keys.object("kes", doc, Need::optional, [&garment](Keys& k) {
    KesSheet sheet;
    k.number("W", sheet.weight, {.least = 1, .most = 100}, "mass per area [mg/cm^2]", required);
    for (const auto& [name, thread] : {std::pair{"warp", &sheet.warp}, {"weft", &sheet.weft}})
      k.object(name, "along these threads", required, [name = name, thread = thread, &garment](Keys& t) {
        t.number("EMT", thread->extension, {.least = 0.25, .most = 200}, "extension at 500 gf/cm [%]",
                 required);
        t.number("LT", thread->linearity, {.least = 0.11, .most = 1},
                 "linearity: work of loading over that of a straight line", required);
        t.number("B", thread->bending, not_negative, "bending rigidity [gf cm^2/cm]", required);
        std::optional<double> work;
        t.number("WT", work, positive,
                 "work of loading [gf cm/cm^2]: 2.5 EMT LT, which it is held to within 15 %");
        std::optional<double> resilience;
        t.number("RT", resilience, not_negative,
                 "resilience: work of unloading over that of loading [%]; read and left out");
        t.number("2HB", thread->bending_hysteresis, not_negative, "hysteresis of bending [gf cm/cm]");
        if (const double expected = kes_work(*thread); work && std::abs(*work / expected - 1) > 0.15)
          garment.fabric_fault =
              text("kes.", name, ".WT: found ", *work, " gf cm/cm^2, expected about ", expected,
                   ", 2.5 EMT LT; check the units, and that EMT is that at 500 gf/cm (at 50 gf/cm WT is a "
                   "tenth)");
      });
    k.number("G", sheet.shear, positive, "shear rigidity [gf/(cm degree)]", required);
    k.number("2HG", sheet.shear_hysteresis, not_negative, "hysteresis of shear at 0.5 degrees [gf/cm]");
    k.number("2HG5", sheet.shear_hysteresis_at_5, not_negative, "hysteresis of shear at 5 degrees [gf/cm]");
    k.flag("hysteresis", sheet.remembers,
           "whether 2HB, 2HG and 2HG5 become fabric.memory; bending is then that of discrete_shells by the "
           "means of warp and weft; without it they are read and left out");
    if (sheet.weight > 0) garment.fabric = kes_fabric(sheet);  // not where the schema is described
  });
}

/// Ranges are those in which cloth lies: a fraction in the place of per cent, centimetres or kilograms are
/// not.
void describe_fast_thread(Keys& keys, const char* name, FastSheet::Thread& thread, const double& weight) {
  const auto extensions = [&thread](Keys& k) {
    k.number("E5", thread.at_5, {.least = 0, .most = 100}, "extension at 5 gf/cm [%]", required);
    k.number("E20", thread.at_20, {.least = thread.at_5, .most = 100, .above = true},
             "extension at 20 gf/cm, more than E5 [%]", required);
    k.number("E100", thread.at_100, {.least = std::max(0.25, thread.at_20 * (1 + 1e-9)), .most = 100},
             "extension at 100 gf/cm, more than E20 [%]", required);
  };
  keys.one_of(name, "along these threads", required,
              {{"C", "", "bending as its length",
                [&, extensions](Keys& k) {
                  extensions(k);
                  double length = 0;
                  k.number("C", length, {.least = 4, .most = 100},
                           "bending length [mm]; B = 9.81e-6 W C^3 [uN m]", required);
                  thread.bending = fast_bending(length, weight);
                }},
               {"B", "", "bending as its rigidity", [&, extensions](Keys& k) {
                  extensions(k);
                  k.number("B", thread.bending, {.least = 0.1, .most = 10000}, "bending rigidity [uN m]",
                           required);
                }}});
}

/// The keys that follow it have what it says for defaults.
void describe_fast(Keys& keys, Fabric& fabric) {
  const std::string doc =
      "figures of FAST (fabric assurance by simple testing) in the units of its control charts; a membrane's "
      "curves, shear, bending, mass and thickness follow";
  keys.object("fast", doc, Need::optional, [&fabric](Keys& k) {
    FastSheet sheet;
    k.number("W", sheet.weight, {.least = 10, .most = 5000}, "mass per area [g/m^2]", required);
    k.number("T2", sheet.thickness, {.least = 0, .most = 20}, "thickness at 2 gf/cm^2 [mm]");
    describe_fast_thread(k, "warp", sheet.warp, sheet.weight);
    describe_fast_thread(k, "weft", sheet.weft, sheet.weight);
    k.number("EB5", sheet.bias, {.least = 0.25, .most = 100},
             "extension at 45 degrees to the threads at 5 gf/cm [%]; G = 123 / EB5 [N/m]", required);
    if (sheet.weight > 0) fabric = fast_fabric(sheet);  // not where the schema is described
  });
}

/// What the points of a curve are, two numbers each: key and doc.
struct PointKeys {
  std::array<const char*, 2> along, up;
  bool is_law = true;  ///< smooth or straight between points; else straight
};
constexpr PointKeys of_stress{{"strain", "displacement over length"}, {"force", "per width at rest [N/m]"}};
constexpr PointKeys of_viscosity{{"rate", "of the strain [1/s]"}, {"force", "per width at rest [N/m]"}};
constexpr PointKeys of_bending{{"curvature", "[1/m]"}, {"moment", "per width [N]"}, false};

void describe_curve(Keys& keys, const std::string& name, const std::string& doc, CurveSpec& curve,
                    const PointKeys& point = of_stress) {
  const auto& [x, x_doc] = point.along;
  const auto& [y, y_doc] = point.up;
  const auto describe_between = [&curve, is_law = point.is_law](Keys& k) {
    if (is_law)
      k.choice("between", curve.between, {"cubic", "linear"},
               "how the curve goes from point to point: cubic, without kinks; linear, straight");
  };
  keys.one_of(name, doc + "; points from (0, 0) on, both numbers rising, or a polynomial", Need::optional,
              {{x, "", "points by their numbers",
                [&, describe_between](Keys& k) {
                  k.list(x, curve.strain, positive, x_doc, required);
                  k.list(y, curve.force, positive, text(y_doc, ", of each ", x), required);
                  describe_between(k);
                  curve.is_given = true;
                }},
               {"file", "", text("rows of ", x, " and ", y, ", ", y_doc),
                [&curve, describe_between](Keys& k) {
                  k.string("file", curve.file, "path, relative to the folder of the scene file", required);
                  describe_between(k);
                  curve.is_given = true;
                }},
               {"polynomial", "", text(y, " a_1 d + a_2 d^2 + ... of the ", x, " d"), [&](Keys& k) {
                  k.list("polynomial", curve.polynomial, any_number,
                         text("a_1, a_2, ..., at most 8: ", y, ' ', y_doc, ", which must rise"), required);
                  k.number("up_to", curve.up_to, positive,
                           text(x, ' ', x_doc, " up to which it holds; straight beyond"), required);
                  curve.is_given = true;
                }}});
}

/// What the objects hold in which some numbers of a fabric lie.
constexpr std::pair<std::string_view, const char*> object_docs[] = {
    {"drag", "of the air, beside mass_damping"},
    {"structural_spring", "springs along the edges of the mesh, of provot1995 and sakaguchi1991"},
    {"shear_spring", "springs across the diagonals of quads; impulse recipes only"},
    {"bend_spring",
     "springs between neighbours but one along a thread (quads), and across an edge (triangles); the "
     "recipe springs and those of impulses"},
    {"memory",
     "with the recipes membrane and soft_constraints: what cloth remembers of being bent, pulled and "
     "sheared, by friction between its threads and by plastic flow"},
};

/// Numbers whose names begin with `object`, "drag." or none.
void describe_numbers_of(Keys& keys, Fabric& fabric, std::string_view object) {
  const Fabric before = fabric;
  for (const FabricNumber& number : fabric_numbers()) {
    const std::string_view name = number.name;
    const std::size_t begin = name.find('.') + 1;  // 0: in no object
    if (name.substr(0, begin) != object) continue;
    double& value = number.of(fabric);
    if (number.follows) {
      const FabricNumber& followed = find_fabric_number(number.follows, "fabric");
      if (followed.value(fabric) != followed.value(before)) value = followed.value(fabric);
    }
    keys.number(std::string(name.substr(begin)), value, number.range, number.doc);
  }
}

void describe_numbers(Keys& keys, Fabric& fabric) {
  describe_numbers_of(keys, fabric, "");
  for (const auto& [name, doc] : object_docs)
    keys.object(std::string(name), doc, Need::optional,
                [&, object = text(name, ".")](Keys& k) { describe_numbers_of(k, fabric, object); });
}

/// Stiffnesses that were given beside a curve, which answers in their place.
void note_idle_keys(const Fabric& before, GarmentSpec& garment) {
  const Fabric& fabric = garment.fabric;
  const auto note = [&](const char* name, double Fabric::*stiffness, bool has_curve, const char* curve) {
    if (has_curve && fabric.*stiffness != before.*stiffness)
      garment.unused_keys.push_back(text(name, ": found ", fabric.*stiffness,
                                         " N/m, in whose place the curve of ", curve,
                                         " answers (fabric.kes, fast or curves); leave one of them out"));
  };
  const bool has_warp = garment.warp_curve.is_given || fabric.curves.warp.exists(),
             has_weft = garment.weft_curve.is_given || fabric.curves.weft.exists(),
             has_shear = garment.shear_curve.is_given || fabric.curves.shear.exists();
  note("stretch_stiffness", &Fabric::stretch_stiffness, has_warp, "warp");
  note("weft_stretch_stiffness", &Fabric::weft_stretch_stiffness, has_weft || has_warp,
       has_weft ? "weft" : "warp");
  note("shear_stiffness", &Fabric::shear_stiffness, has_shear, "shear");
}
void note_idle_viscosity(GarmentSpec& garment) {
  const auto note = [&](const char* name, double viscosity, const CurveSpec& curve, const char* of) {
    if (curve.is_given && viscosity > 0)
      garment.unused_keys.push_back(text(name, ": found ", viscosity,
                                         " N s/m, in whose place viscosity_curves.", of,
                                         " answers; leave one of them out"));
  };
  note("stretch_viscosity", garment.fabric.viscosity.stretch, garment.warp_viscosity, "warp");
  note("shear_viscosity", garment.fabric.viscosity.shear, garment.shear_viscosity, "shear");
}

/// A thickness other than `of_preset` is the end of the preset's compression.
void describe_compression(Keys& keys, GarmentSpec& garment, double of_preset) {
  Fabric& fabric = garment.fabric;
  if (fabric.thickness != of_preset) fabric.compression = {};
  double least = 0, most = 0, linearity = 0;
  keys.one_of(
      "compression",
      "thickness under pressure at obstacles and bodies; default: that of a woven cloth of this thickness",
      Need::optional,
      {{"T0", "", "by figures of KES-FB3",
        [&](Keys& k) {
          k.number("T0", least, positive, "thickness at 0.5 gf/cm^2 [m]", required);
          k.number("Tm", most, positive, "thickness at 50 gf/cm^2, less than T0 [m]", required);
          k.number("LC", linearity, {.least = 0.3, .most = 0.9}, "linearity of the work of compression",
                   required);
        }},
       {"T", "", "by the law p = a ((t - c)^-3 - (T - c)^-3) of the thickness t", [&](Keys& k) {
          fabric.compression = {};
          k.number("T", fabric.compression.thickness, positive, "thickness without load [m]", required);
          k.number("c", fabric.compression.core, positive, "core, less than T [m]", required);
          k.number("a", fabric.compression.stiffness, positive, "stiffness [Pa m^3]", required);
        }}});
  if (most > 0 && least > most) fabric.compression = fitted_compression(least, most, linearity);
  if (most > 0 && !(least > most))
    garment.fabric_fault = text("compression.T0: found ", least, " m, expected more than Tm, ", most, " m");
  if (fabric.compression.exists() && fabric.thickness == 0 &&
      fabric.compression.core < fabric.compression.thickness)
    fabric.thickness = fabric.compression.thickness_at(1000);
}

}  // namespace

void describe_fabric(Keys& keys, GarmentSpec& garment) {
  keys.string("file", garment.fabric_file,
              "file with an object of these keys, relative to the folder of the scene file; keys beside it "
              "come first");
  describe_preset(keys, garment.fabric);
  const double poisson_of_preset = garment.fabric.poisson_ratio;
  describe_kes(keys, garment);
  describe_fast(keys, garment.fabric);
  const Fabric before = garment.fabric;
  keys.choice(
      "bending", garment.fabric.bending, {"automatic", "isometric", "plate", "mid_edge", "discrete_shells"},
      "what bending costs: isometric, the Laplacian at interior nodes, as published with coltraro2022; "
      "plate, all second derivatives on the whole sheet, within some per cent on any mesh; mid_edge, the "
      "same "
      "by slopes at the middle of edges, within one per cent on any triangles, at twice the entries; "
      "discrete_shells, angles between triangles (Grinspun et al. 2003), with elastic rows, for creases and "
      "curves.bend: 10 to 40 per cent off, by the mesh; automatic: plate with elastic rows, else isometric");
  keys.flag("large_angles", garment.fabric.large_angles,
            "of plate and mid_edge, with elastic rows: whole angles between triangles count, not the 2 "
            "sin(t/2) of constant "
            "matrices, which is too soft where coarse meshes turn by more than some 20 degrees in an "
            "element; such steps take "
            "half as long again");
  keys.object(
      "curves",
      "what was measured, in the place of stiffnesses: force against strain, of a membrane; moment "
      "against curvature, of bending discrete_shells and of `isocloth rest --recipe breen1994`",
      Need::optional, [&](Keys& c) {
        describe_curve(c, "warp", "pulled along warp", garment.warp_curve);
        describe_curve(c, "weft", "pulled along weft; default: as along warp", garment.weft_curve);
        describe_curve(c, "shear", "displacement of parallel threads over their distance",
                       garment.shear_curve);
        describe_curve(
            c, "bend",
            "bent along warp, in the place of bending_stiffness: with bending discrete_shells without "
            "kinks, with breen1994 straight",
            garment.bend_curve, of_bending);
        describe_curve(c, "weft_bend", "bent along weft; default: as along warp", garment.weft_bend_curve,
                       of_bending);
      });
  // Poisson's ratio of a preset belongs to its stiffnesses.
  if (garment.warp_curve.is_given || garment.weft_curve.is_given || garment.shear_curve.is_given)
    garment.fabric.poisson_ratio = 0;
  keys.object(
      "viscosity_curves",
      "with the recipes membrane, soft_constraints, corotational and springs, in the place of "
      "stretch_viscosity and shear_viscosity: force against the rate of strain, of Green's along threads, "
      "beside the force of the strain itself (Volino et al. 2009)",
      Need::optional, [&](Keys& c) {
        describe_curve(c, "warp", "pulled along warp", garment.warp_viscosity, of_viscosity);
        describe_curve(c, "weft", "pulled along weft; default: as along warp", garment.weft_viscosity,
                       of_viscosity);
        describe_curve(c, "shear", "rate of the angle between warp and weft", garment.shear_viscosity,
                       of_viscosity);
      });
  describe_numbers(keys, garment.fabric);
  note_idle_keys(before, garment);
  note_idle_viscosity(garment);
  garment.has_preset_poisson = poisson_of_preset > 0 && garment.fabric.poisson_ratio == poisson_of_preset;
  describe_compression(keys, garment, before.thickness);
  keys.integer("shear_diagonals", garment.fabric.shear_diagonals, whole(1, 2), "shear springs per quad");
}

}  // namespace isocloth
