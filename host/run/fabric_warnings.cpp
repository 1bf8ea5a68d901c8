#include "host/run/fabric_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/bound_text.hpp"
#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"
#include "host/run/rounded.hpp"

namespace isocloth {
namespace {

/// Force per width and strain [N/m], of a curve where it is steepest from the origin.
double stiffness_of(const StressCurve& curve, double stiffness) {
  if (!curve.exists()) return stiffness;
  double most = 0;
  for (const auto& [strain, force] : sampled(curve)) most = std::max(most, force / strain);
  return most;
}
double along_warp(const Fabric& fabric) { return stiffness_of(fabric.curves.warp, fabric.stretch_stiffness); }
double along_weft(const Fabric& fabric) {
  const StressCurves& curves = fabric.curves;
  return stiffness_of(curves.weft.exists() ? curves.weft : curves.warp, fabric.weft_stiffness());
}

double mean_edge(const Mesh& mesh) {
  const auto edges = build_topology(mesh).edges;
  double sum = 0;
  for (const auto& [a, b] : edges) sum += norm(mesh.positions[b] - mesh.positions[a]);
  return edges.empty() ? 0 : sum / static_cast<double>(edges.size());
}

double length_of(const Mesh& mesh) {
  Vec3d low = mesh.positions.front(), high = low;
  for (const Vec3d& p : mesh.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return norm(high - low);
}

/// A plate by one of the fabric's bending stiffnesses.
struct Plate {
  const char* key;
  double bending, stretch;
  double thickness() const { return std::sqrt(12 * bending / stretch); }
  /// Thicker than `bound` [m].
  std::string as_thick(double bound) const {
    return text("with ", stretch, " N/m against stretch a plate that is ",
                told_apart(thickness(), bound, 3, true).found, " m thick");
  }
};
std::vector<Plate> plates(const Fabric& fabric) {
  return {{"bending_stiffness", fabric.bending_stiffness, along_warp(fabric)},
          {"weft_bending_stiffness", fabric.weft_bending_stiffness, along_weft(fabric)}};
}
constexpr const char* in_micro = "for uN m multiply by 1e-6";

/// Where it throws cloth farther than that in a step, iterations grow with the number of nodes.
std::string pressure_warning(const Garment& garment, double h, const std::string& what) {
  constexpr double most_elements = 2;
  const double way = h * h * std::fabs(garment.pressure) / garment.fabric.density,
               size = mean_element_size(garment.mesh);
  if (way <= most_elements * size) return "";
  return text(what, ": pressure: ", garment.pressure, " Pa throws cloth of ", garment.fabric.density,
              " kg/m^2 by ", rounded(way), " m in a step of ", h, " s, an element is ", rounded(size),
              " m long; a smaller step takes less time in all");
}

}  // namespace

void require_thin_plate(const Recipe& recipe, const Garment& garment, const std::string& key) {
  if (!recipe.is_elastic()) return;
  const double length = length_of(garment.mesh);
  for (const Plate& plate : plates(garment.fabric))
    if (plate.thickness() > length)
      refuse(text(key, ".fabric.", plate.key), text(plate.bending, " N m, ", plate.as_thick(length)),
             text("one thinner than the cloth is long, ",
                  told_apart(plate.thickness(), length, 3, true).bound, " m; ", in_micro));
}

std::vector<std::pair<std::string, std::string>> fabric_warnings(const ResolvedScene& resolved,
                                                                 const Garment& garment, Precision precision,
                                                                 const std::string& what) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (std::string line = pressure_warning(garment, resolved.scene.step, what); !line.empty())
    lines.emplace_back("pressure", std::move(line));
  if (!resolved.recipe.is_elastic()) return lines;
  const Fabric& fabric = garment.fabric;
  const Mesh& mesh = garment.mesh;
  const double edge = mean_edge(mesh);
  for (const Plate& plate : plates(fabric))
    if (plate.thickness() > edge)
      lines.emplace_back(plate.key,
                         text(what, ": fabric.", plate.key, ": found ", plate.bending, " N m, ",
                              plate.as_thick(edge), ", more than an edge, ",
                              told_apart(plate.thickness(), edge, 3, true).bound, " m; ", in_micro));

  constexpr double of_rounding = 0.2;
  const bool is_single = precision == Precision::float32;
  const double rounding =
      (is_single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon()) / 2;
  const double size = mean_element_size(mesh), h = resolved.scene.step,
               of_node = size * size * mesh.face_count() / mesh.node_count(),
               most = of_rounding / rounding * (fabric.density + h * fabric.mass_damping) * of_node / (h * h);
  const bool has_shear = !resolved.holds_edges, is_viscous = fabric.viscosity.exists();
  const double warp = along_warp(fabric), weft = along_weft(fabric), threads = std::max(warp, weft);
  const double shear = stiffness_of(fabric.curves.shear, fabric.shear_stiffness);
  const auto lost = [&](const char* key, double found, const char* unit, double limit) {
    if (!(found > limit)) return;
    lines.emplace_back(
        std::string("precision of ") + key,
        text(what, ": fabric.", key, ": found ", found, " ", unit, ", expected at most ",
             told_apart(found, limit, 3).bound, ": ", to_string(precision), " holds no more in steps of ", h,
             " s on elements of ", rounded(size), " m; use ", is_single ? "--precision float64, " : "",
             "a shorter step, or coltraro2022 for cloth that does not stretch"));
  };
  lost(weft > warp ? "weft_stretch_stiffness" : "stretch_stiffness", threads, "N/m", most);
  if (has_shear) lost("shear_stiffness", shear, "N/m", most);
  if (is_viscous) {
    const ViscosityCurves& curves = fabric.viscosity.curves;
    const double stretch = fabric.viscosity.stretch * std::max(1.0, weft / warp);
    lost(curves.warp.exists() || curves.weft.exists() ? "viscosity_curves" : "stretch_viscosity",
         std::max(stiffness_of(curves.warp, stretch), stiffness_of(curves.weft, 0)), "N s/m", most * h);
    lost(curves.shear.exists() ? "viscosity_curves.shear" : "shear_viscosity",
         stiffness_of(curves.shear, fabric.viscosity.shear), "N s/m", most * h);
  }
  constexpr double most_hidden = 3000;
  const double tolerance = resolved.tolerance;
  if (has_shear && threads * tolerance > most_hidden * shear)
    lines.emplace_back(
        "shear",
        text(what, ": fabric.", weft > warp ? "weft_stretch_stiffness" : "stretch_stiffness", ": found ",
             threads, " N/m, ", rounded(threads / shear),
             " times shear_stiffness: forces along threads within projection.tolerance, ", tolerance,
             ", hide those of shear; use a tolerance of ", rounded(0.1 * most_hidden * shear / threads),
             ", or coltraro2022 for cloth that does not stretch"));
  return lines;
}

}  // namespace isocloth
