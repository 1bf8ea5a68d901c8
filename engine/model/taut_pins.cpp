#include "engine/model/taut_pins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "engine/core/bound_text.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/rows/row_families.hpp"

namespace isocloth {
namespace {

constexpr double slack = 1e-9;  ///< relative, far above the rounding of a path's length
constexpr std::size_t most_sources = 25;

struct Neighbour {
  Index node;
  double length;
};

/// Ends of the edges at each node, but for edges between two pinned nodes.
std::vector<std::vector<Neighbour>> kept_neighbours(const Mesh& mesh, const std::vector<char>& is_pinned) {
  std::vector<std::vector<Neighbour>> neighbours(mesh.positions.size());
  for (const auto& [a, b] : build_topology(mesh).edges) {
    if (is_pinned[a] != 0 && is_pinned[b] != 0) continue;
    const double length = norm(mesh.positions[b] - mesh.positions[a]);
    neighbours[a].push_back({b, length});
    neighbours[b].push_back({a, length});
  }
  return neighbours;
}

/// Dijkstra: lengths of the shortest paths that end at `source` or at the first pinned node, infinite where
/// longer than `most`.
std::vector<double> path_lengths(const std::vector<std::vector<Neighbour>>& neighbours,
                                 const std::vector<char>& is_pinned, Index source, double most) {
  std::vector<double> lengths(neighbours.size(), std::numeric_limits<double>::infinity());
  using Open = std::pair<double, Index>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  lengths[source] = 0;
  open.push({0, source});
  while (!open.empty()) {
    const auto [length, node] = open.top();
    open.pop();
    if (length > lengths[node] || (is_pinned[node] != 0 && node != source)) continue;
    for (const Neighbour& next : neighbours[node]) {
      const double through = length + next.length;
      if (through > most || through >= lengths[next.node]) continue;
      lengths[next.node] = through;
      open.push({through, next.node});
    }
  }
  return lengths;
}

}  // namespace

std::vector<TautPins> find_taut_pins(const Garment& garment) {
  const auto& start = start_positions(garment);
  struct PinnedNode {
    Index node;
    Vec3d at;
  };
  std::vector<PinnedNode> pinned;
  std::vector<char> is_pinned(start.size(), 0);
  for (const Pin& pin : garment.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Index node = pin.nodes[i];
      pinned.push_back({node, pin_position(garment, pin, i, garment.time_offset)});
      is_pinned[node] = 1;
    }
  std::sort(pinned.begin(), pinned.end(),
            [](const PinnedNode& p, const PinnedNode& q) { return p.node < q.node; });
  std::vector<TautPins> taut;
  if (pinned.size() < 2) return taut;
  const auto neighbours = kept_neighbours(garment.mesh, is_pinned);
  for (std::size_t a = 0; a < std::min(pinned.size(), most_sources); ++a) {
    double most = 0;
    for (std::size_t b = a + 1; b < pinned.size(); ++b)
      most = std::max(most, norm(pinned[b].at - pinned[a].at));
    const auto lengths = path_lengths(neighbours, is_pinned, pinned[a].node, most / (1 - slack));
    for (std::size_t b = a + 1; b < pinned.size(); ++b) {
      const TautPins pair{.a = pinned[a].node,
                          .b = pinned[b].node,
                          .distance = norm(pinned[b].at - pinned[a].at),
                          .length = lengths[pinned[b].node]};
      if (pair.distance >= (1 - slack) * pair.length) taut.push_back(pair);
    }
  }
  return taut;
}

Tearing tearing_of(const ResolvedScene& resolved, const Garment& garment) {
  const Recipe& recipe = resolved.recipe;
  const Fabric& fabric = garment.fabric;
  if (!recipe.is_elastic() && !recipe.limits_edges())
    return {.stretch = resolved.tolerance, .by_compression = true, .across_quads = !resolved.holds_edges};
  Tearing tearing;
  // Limits of edges leave diagonals as they are, those of elements do not.
  for_each_limit([&](const StrainLimit& limit) {
    if (const double stretch = fabric.*limit.number; stretch > 0 && stretch <= tearing.stretch)
      tearing = {.stretch = stretch, .across_quads = !limit.is_of_edges && !resolved.holds_edges};
  });
  tearing.stretch += resolved.tolerance;
  return tearing;
}

OverstretchedPins::OverstretchedPins(const Garment& garment, bool across_quads) : garment_(garment) {
  for (const Pin& pin : garment.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) pinned_.push_back({pin.nodes[i], &pin, i});
  if (pinned_.size() < 2) return;
  std::sort(pinned_.begin(), pinned_.end(), [](const Pinned& p, const Pinned& q) { return p.node < q.node; });
  const Mesh& mesh = garment.mesh;
  const std::vector<char> none(mesh.positions.size(), 0);
  auto neighbours = kept_neighbours(mesh, none);
  for (Index f = 0; across_quads && f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    if (nodes.size() != 4) continue;
    for (const auto& [a, b] : {std::pair{nodes[0], nodes[2]}, {nodes[1], nodes[3]}}) {
      const double length = norm(mesh.positions[b] - mesh.positions[a]);
      neighbours[a].push_back({b, length});
      neighbours[b].push_back({a, length});
    }
  }
  const std::size_t count = std::min(pinned_.size(), most_sources);
  for (std::size_t s = 0; s < count; ++s) {
    sources_.push_back(s * pinned_.size() / count);
    const auto all = path_lengths(neighbours, none, pinned_[sources_.back()].node,
                                  std::numeric_limits<double>::infinity());
    lengths_.emplace_back();
    for (const Pinned& p : pinned_) lengths_.back().push_back(all[p.node]);
  }
}

TornPins OverstretchedPins::at(double t, double stretch) const {
  TornPins worst;
  double most = 1 + stretch;
  if (sources_.empty() || !std::isfinite(stretch)) return worst;
  std::vector<Vec3d> places;
  for (const Pinned& p : pinned_) places.push_back(pin_position(garment_, *p.pin, p.i, t));
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (std::size_t p = 0; p < pinned_.size(); ++p) {
      if (p == sources_[s]) continue;
      const double distance = norm(places[p] - places[sources_[s]]), length = lengths_[s][p];
      if (!(distance > most * length)) continue;
      most = distance / length;
      const Index a = pinned_[p].node, b = pinned_[sources_[s]].node;
      worst = {.a = std::min(a, b),
               .b = std::max(a, b),
               .distance = distance,
               .length = length,
               .most = (1 + stretch) * length};
    }
  return worst;
}

std::string describe(const TornPins& torn) {
  if (torn.a < 0) return {};
  // What a tolerance lets through is not worth a word.
  const bool may_stretch = torn.most > 1.005 * torn.length;
  const ToldApart told = told_apart(torn.distance, may_stretch ? torn.most : torn.length, 9, !may_stretch);
  return text("pins ", torn.a, " and ", torn.b, " are taken ", told.found,
              " m apart, which the cloth between them, ",
              may_stretch ? text(torn.length, " m long and ", told.bound, " m with its limit of strain,")
                          : text(told.bound, " m long,"),
              " cannot follow: change their motion");
}

std::string describe(const std::vector<TautPins>& pairs) {
  if (pairs.empty()) return {};
  const TautPins& first =
      *std::max_element(pairs.begin(), pairs.end(), [](const TautPins& p, const TautPins& q) {
        return p.distance / p.length < q.distance / q.length - slack;
      });
  const bool fits = first.distance <= (1 + slack) * first.length;
  const std::string more =
      pairs.size() > 1 ? text(" (and ", pairs.size() - 1, pairs.size() == 2 ? " more pair)" : " more pairs)")
                       : "";
  if (fits)
    return text("pins ", first.a, " and ", first.b, " are at the full length of the edges between them",
                more);
  const ToldApart told = told_apart(first.distance, first.length, 9, true);
  return text("pins ", first.a, " and ", first.b, " are farther apart (", told.found,
              " m) than the edges between them are long (", told.bound, " m)", more);
}

std::vector<std::string> solver_warnings(const ResolvedScene& resolved) {
  if (resolved.recipe.solver != SolverFamily::impulse_system) return {};
  std::vector<std::string> warnings;
  std::size_t more = 0;
  for (const Garment& garment : resolved.scene.garments) {
    const std::string found = describe(find_taut_pins(garment));
    if (found.empty()) continue;
    if (warnings.empty())
      warnings.push_back(text("garment \"", garment.name, "\": ", found, ", so that its system is singular"));
    else
      ++more;
  }
  if (more > 0) warnings.front() += text(" (so are those of ", more, " more garments)");
  return warnings;
}

}  // namespace isocloth
