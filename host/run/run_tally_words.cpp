// What a run says of steps that failed and of seams that stayed open.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/bound_text.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/taut_pins.hpp"
#include "host/run/rounded.hpp"
#include "host/run/run_tally.hpp"

namespace isocloth {

int more_parts(std::int64_t parts) {
  int more = 1;
  while (more <= parts && more < 1 << 30) more *= 2;
  return more;
}

/// What to do about a step that missed its tolerance; only what is not done already.
std::string RunTally::of_stalled(const StepReport& r) const {
  const std::string go_on = ", or on_violation \"continue\"";
  if (resolved_.projects)
    return text("use a smaller step, projection.max_substeps ", more_parts(r.substeps), go_on);
  const bool may_converge = resolved_.recipe.solver == SolverFamily::impulse &&
                            resolved_.scene.impulse.mode == ImpulseMode::substeps;
  return text("use impulse.substeps > ", r.substeps, may_converge ? ", impulse.mode \"converge\"" : "",
              go_on);
}

/// What to do about a lost step: in the first ones, and where no pin moves, the fabric is at fault.
std::string RunTally::of_lost(std::size_t g) const {
  constexpr std::int64_t first = 3;
  const Garment& garment = scene_.garments[g];
  const bool moves = std::ranges::any_of(
      garment.pins, [](const Pin& pin) { return !std::holds_alternative<FixedMotion>(pin.motion); });
  if (!resolved_.recipe.is_elastic() || (moves && simulation_.step_index() > first))
    return "check the motion of its pins or use a smaller step";
  const bool is_limited = garment.fabric.has_limit();
  return text("check the stiffness and viscosity of its fabric (stretch_stiffness ",
              garment.fabric.stretch_stiffness, " N/m)", is_limited ? ", its limits of strain" : "",
              garment.pressure != 0 ? ", its pressure" : "",
              garment.mesh.bands.empty() ? "" : ", its elastic bands",
              moves ? " and the motion of its pins" : "", ", or use a smaller step",
              simulation_.options().precision == Precision::float32 ? " or --precision float64" : "");
}

/// Which edge the motions of pins stretch most.
std::string RunTally::torn_by_pins(std::size_t g) const {
  const Garment& garment = scene_.garments[g];
  const Tearing tearing = tearing_of(resolved_, garment);
  const std::vector<Vec3d> x = simulation_.positions(g);
  std::vector<char> is_pinned(x.size(), 0);
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) is_pinned[node] = 1;
  std::array<Index, 2> worst{};
  double strain = 0;
  for (const auto& [a, b] : build_topology(garment.mesh).edges) {
    const double own = norm(x[b] - x[a]) / norm(garment.mesh.positions[b] - garment.mesh.positions[a]) - 1;
    if (is_pinned[a] == 0 || is_pinned[b] == 0 || std::fabs(own) <= std::fabs(strain) ||
        (own < 0 && !tearing.by_compression))
      continue;
    strain = own;
    worst = {a, b};
  }
  const ToldApart told =
      told_apart(100 * std::fabs(strain),
                 100 * (tearing.by_compression ? resolved_.row_strain(tearing.stretch) : tearing.stretch), 9);
  return text("at t = ", simulation_.time(),
              " s the motions of pins have changed the length of the edge between ", "the pinned nodes ",
              worst[0], " and ", worst[1], " by ", strain < 0 ? "-" : "", told.found, " %, expected at most ",
              told.bound,
              " %; no step can mend what pins prescribe: have them move together, or use on_violation "
              "\"continue\"");
}

/// What to do about a step that failed: what is given, unless no step can satisfy the pins.
std::string RunTally::advice(std::size_t g, const std::string& otherwise) const {
  const Tearing tearing = tearing_of(resolved_, scene_.garments[g]);
  const OverstretchedPins search(scene_.garments[g], tearing.across_quads);
  const std::string torn = describe(search.at(simulation_.time(g), tearing.stretch));
  return "; " + (torn.empty() ? otherwise : torn);
}

/// What a stalled step missed, and by how much.
std::string RunTally::missed(const StepReport& r) const {
  if (r.blocked > 0)
    return text("pins or grippers drive cloth through cloth that is held or driven itself: ", r.blocked,
                " of their nodes stopped before it");
  if (r.held_back > 0)
    return text("cloth would have passed through cloth: ", r.held_back, " nodes were held back");
  const auto above = [](const char* what, double found, const char* unit, double most) {
    const ToldApart told = told_apart(found, most, 9);
    return text(what, told.found, unit, " expected <= ", told.bound);
  };
  const std::string residual = above("residual ", r.residual, ",", resolved_.tolerance);
  const double beyond = r.penetration - r.eased_depth;
  if (!(beyond > scene_.contact.tolerance)) {
    if (r.residual > resolved_.tolerance) return residual;
    if (r.compression > 0 && !(scene_.projection.force_tolerance > 0))
      return "forces and thickness at contacts did not settle (contact.tolerance)";
    if (!(scene_.projection.force_tolerance > 0)) return residual;
    return text("forces on a node do not balance to ", scene_.projection.force_tolerance,
                " of its weight (projection.force_tolerance)");
  }
  const std::string depth =
      above(scene_.contact.cloth ? "penetration by " : "penetration of obstacles by ", beyond,
            r.eased_depth > 0 ? text(" m, beyond the ", r.eased_depth, " m that are being eased out,").c_str()
                              : " m,",
            scene_.contact.tolerance) +
      " (contact.tolerance)";
  return r.residual > resolved_.tolerance ? text(residual, ", and ", depth) : depth;
}

/// Text on the seams of a garment that are open, the widest first: "front.2 with back.0 by 0.021 m"; without
/// names the nodes of the widest thread.
std::string RunTally::open_seams(std::size_t g) const {
  constexpr std::size_t most = 3;
  const Mesh& mesh = scene_.garments[g].mesh;
  const std::vector<Vec3d> x = simulation_.positions(g);
  const SeamNames* const names = g < seams_.size() ? seams_[g].get() : nullptr;
  std::map<std::string, double> widest;
  const Stitch* worst = nullptr;
  double width = 0;
  for (std::size_t i = 0; i < mesh.stitches.size(); ++i) {
    const Stitch& stitch = mesh.stitches[i];
    const double opening = norm(x[stitch.a] - x[stitch.b]) - stitch.slack;
    if (opening > width) worst = &stitch, width = opening;
    if (names == nullptr || opening <= closed_opening(mesh)) continue;
    double& of_seam = widest[names->names[names->of_stitches[i]]];
    of_seam = std::max(of_seam, opening);
  }
  if (names == nullptr) return worst == nullptr ? "" : text("between nodes ", worst->a, " and ", worst->b);
  std::vector<std::pair<double, std::string>> seams;
  for (const auto& [name, opening] : widest) seams.emplace_back(-opening, name);
  std::sort(seams.begin(), seams.end());
  std::string line;
  for (std::size_t i = 0; i < std::min(most, seams.size()); ++i)
    line += text(i == 0 ? "" : ", ", seams[i].second, " by ", rounded(-seams[i].first), " m");
  return seams.size() > most ? text(line, " and ", seams.size() - most, " more") : line;
}

}  // namespace isocloth
