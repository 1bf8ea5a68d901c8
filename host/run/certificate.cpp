#include "host/run/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

std::vector<const Mesh*> meshes_of(const Scene& scene) {
  std::vector<const Mesh*> meshes;
  for (const Garment& garment : scene.garments) meshes.push_back(&garment.mesh);
  return meshes;
}

std::vector<bool> driven_of(const Scene& scene) {
  std::vector<bool> driven;
  for (const Garment& garment : scene.garments) driven.push_back(scene.contact.cloth && is_driven(garment));
  return driven;
}

std::vector<Index> worlds_of(const Scene& scene) {
  std::vector<Index> worlds;
  if (scene.bodies.empty())
    for (const Garment& garment : scene.garments) worlds.push_back(garment.world);
  return worlds;
}

std::string place_text(double x, double y, double z) {
  const auto rounded = [](double c) { return std::round(1e4 * c) / 1e4; };
  return text(" at (", rounded(x), " ", rounded(y), " ", rounded(z), ") m");
}

std::string describe(const NearFeatures& pair, const Scene& scene) {
  const std::string &one = scene.garments[pair.surfaces[0]].name,
                    &other = scene.garments[pair.surfaces[1]].name;
  const std::string first = pair.is_edges ? text("edge ", pair.first[0], "-", pair.first[1])
                                          : text("node ", pair.first[0]),
                    second = pair.is_edges ? text("edge ", pair.second[0], "-", pair.second[1])
                                           : text("face ", pair.face);
  return text(first, " of ", one, pair.is_edges ? " and " : " on ",
              pair.surfaces[0] == pair.surfaces[1] ? text("its ", second) : text(second, " of ", other),
              place_text(pair.place.x, pair.place.y, pair.place.z));
}

}  // namespace

std::string describe(const IntersectingPair& pair) {
  const bool is_own = pair.edge_garment == pair.face_garment;
  return text("edge ", pair.edge[0], "-", pair.edge[1], " of ", pair.edge_garment, " through ",
              is_own ? "its " : "", "face ", pair.face, is_own ? "" : text(" of ", pair.face_garment),
              place_text(pair.place[0], pair.place[1], pair.place[2]));
}

std::string describe(const IntersectionReport& start, bool is_pushed) {
  if (start.pairs.empty()) return "";
  constexpr std::size_t most = 3;
  std::string line =
      start.crossing > 0
          ? text("at the start cloth passes through cloth: ", start.crossing,
                 " pairs of an edge and a face in ", start.garment_count,
                 start.garment_count > 1 ? " garments" : " garment")
          : text("at the start cloth touches cloth to the last bit, and may pass through it there: ",
                 start.touching, " pairs of an edge and a face");
  for (std::size_t i = 0; i < std::min(most, start.pairs.size()); ++i)
    line += (i == 0 ? ", " : "; ") + describe(start.pairs[i]);
  if (start.crossing + start.touching > static_cast<std::int64_t>(most)) line += "; ...";
  return line + (is_pushed
                     ? ", expected none with contact.cloth, which does not untangle: move them apart in "
                       "the file, by the mesh or its transform (contact.push_out is for obstacles only)"
                     : "; without contact.cloth nothing will part them: move them apart in the file");
}

std::string describe_coincident(const Nearness& near, const Scene& scene) {
  if (near.coincident_count == 0) return "";
  constexpr std::size_t most = 3;
  std::string line =
      text("at the start cloth lies in cloth, with no distance between: ", near.coincident_count,
           " pairs of a node and a face or two edges");
  for (std::size_t i = 0; i < std::min(most, near.coincident.size()); ++i)
    line += (i == 0 ? ", " : "; ") + describe(near.coincident[i], scene);
  if (near.coincident_count > static_cast<std::int64_t>(most)) line += "; ...";
  return line +
         (scene.contact.cloth
              ? text(", expected none with contact.cloth, which knows no side to push them to: move them "
                     "apart in the file by their thickness, ",
                     near.coincident.front().thickness, " m")
              : "; without contact.cloth nothing will part them: move them apart in the file");
}

std::string describe_near(const Nearness& near, const Scene& scene, const Separation& separation) {
  if (near.near_count == 0) return "";
  std::string then =
      ": they are pushed apart in the first steps, which gives them speed; contact.initial "
      "\"separate\" parts them before";
  if (scene.contact.initial == ClothStart::separate) {
    then = text(": parted before the first step, which moved ", separation.nodes, " nodes, by at most ",
                separation.farthest, " m");
    if (separation.pairs_left > 0)
      then += text("; ", separation.pairs_left,
                   " pairs stay nearer, as pins or what is around them leave no room");
  }
  return text(near.near_count, " pairs of cloth start nearer than their thickness, least ",
              near.nearest.distance, " m of ", near.nearest.thickness, " m, ", describe(near.nearest, scene),
              then);
}

Certificate::Certificate(const Scene& scene)
    : scene_(scene), search_(meshes_of(scene), worlds_of(scene), driven_of(scene)) {
  static_assert(IntersectionSearch::every_world == Garment::every_world);
}

IntersectionReport Certificate::of_start() {
  std::vector<std::vector<Vec3d>> positions;
  for (const Garment& garment : scene_.garments) positions.push_back(start_positions(garment));
  IntersectionReport report = of(positions, 0);
  IntersectionSearch::Spacing spacing;
  spacing.allowance = scene_.contact.tolerance;
  spacing.counts_open_seams = scene_.contact.cloth;  // without, other warnings tell of them
  for (const Garment& garment : scene_.garments) {
    spacing.thicknesses.push_back(scene_.contact.cloth ? garment.fabric.thickness : 0);
    spacing.rests.push_back(&garment.mesh.positions);
  }
  report.near = search_.find_near(positions, spacing);
  return report;
}

IntersectionReport Certificate::of(const Simulation& simulation) {
  return of(simulation.positions(), simulation.time());
}

IntersectionReport Certificate::of(const std::vector<std::vector<Vec3d>>& positions, double time) {
  const Intersections found = search_.find(positions);
  IntersectionReport report{.crossing = found.crossing.count,
                            .touching = found.touching.count,
                            .garment_count = found.surfaces.size(),
                            .is_complete = found.unknown_triangles == 0,
                            .pairs = {},
                            .near = {}};
  for (const Crossing& c : found.crossing.count > 0 ? found.crossing.first : found.touching.first)
    report.pairs.push_back({.time = time,
                            .edge_garment = scene_.garments[c.edge_surface].name,
                            .edge = c.edge,
                            .face_garment = scene_.garments[c.face_surface].name,
                            .face = c.face,
                            .place = {c.place.x, c.place.y, c.place.z}});
  return report;
}

void Certificate::begin_step(const Simulation& simulation) { before_ = simulation.positions(); }

void Certificate::count(const Simulation& simulation, const std::vector<StepReport>& reports,
                        const std::vector<KeptStep>& steps, RunSummary& summary) {
  const std::vector<std::vector<Vec3d>> positions = simulation.positions();
  IntersectionReport found = of(positions, simulation.time());
  summary.steps_certified += found.is_complete;
  summary.intersections_max = std::max(summary.intersections_max, found.crossing);
  if (found.crossing > 0) {
    if (summary.steps_intersecting++ == 0) summary.first_intersections = std::move(found.pairs);
    return;
  }
  summary.steps_touching += found.touching > 0;
  if (!found.is_complete) return;
  if (const std::vector<Way> known = ways(positions, reports, steps); !known.empty())
    count_ways(known, simulation, summary);
}

std::vector<Vec3d> Certificate::Way::at(double time) const {
  const auto next = static_cast<std::size_t>(std::ranges::lower_bound(times, time) - times.begin());
  std::vector<Vec3d> all = places[next];
  if (times[next] == time) return all;
  const double share = (time - times[next - 1]) / (times[next] - times[next - 1]);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = places[next - 1][i] + share * (all[i] - places[next - 1][i]);
  return all;
}

std::vector<Certificate::Way> Certificate::ways(const std::vector<std::vector<Vec3d>>& positions,
                                                const std::vector<StepReport>& reports,
                                                const std::vector<KeptStep>& steps) const {
  std::vector<Way> all;
  for (std::size_t g = 0; g < positions.size(); ++g) {
    const std::vector<KeptPart>& parts = steps[g].parts;
    const auto count = static_cast<std::size_t>(reports[g].substeps);
    if (!parts.empty() && parts.size() < count) return {};
    Way& way = all.emplace_back(Way{{0}, {before_[g]}});
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      way.times.push_back(way.times.back() + parts[p].step);
      way.places.push_back(as_vectors(parts[p].state.positions));
    }
    const double whole = way.times.back() + (parts.empty() ? 1 : parts.back().step);
    for (double& time : way.times) time /= whole;
    way.times.push_back(1);
    way.places.push_back(positions[g]);
  }
  return all;
}

void Certificate::count_ways(const std::vector<Way>& ways, const Simulation& simulation,
                             RunSummary& summary) {
  if (!passages_) passages_.emplace(meshes_of(scene_), worlds_of(scene_), driven_of(scene_));
  std::set<double> ends;  // of pieces on which all go straight
  for (const Way& way : ways) ends.insert(way.times.begin() + 1, way.times.end());
  const auto places = [&](double time) {
    std::vector<std::vector<Vec3d>> all;
    for (const Way& way : ways) all.push_back(way.at(time));
    return all;
  };
  std::vector<std::vector<Vec3d>> from = before_;
  double begin = 0;
  bool is_complete = true, passes = false;
  for (const double end : ends) {
    std::vector<std::vector<Vec3d>> to = places(end);
    const Passages found = passages_->find(from, to);
    is_complete &= found.is_complete;
    const bool is_first = found.count > 0 && !passes && summary.steps_passing_within == 0;
    for (std::size_t i = 0; is_first && i < found.first.size(); ++i)
      name(found.first[i],
           simulation.time() - (1 - begin - found.first[i].time * (end - begin)) * scene_.step, summary);
    passes |= found.count > 0;
    from = std::move(to);
    begin = end;
  }
  summary.steps_certified_within += is_complete;
  summary.steps_passing_within += passes;
}

void Certificate::name(const Passage& passage, double time, RunSummary& summary) const {
  const std::string &one = scene_.garments[passage.surfaces[0]].name,
                    &other = scene_.garments[passage.surfaces[1]].name;
  const auto& [a, b, c, d] = passage.nodes;
  const std::string which =
      passage.is_edges
          ? text("edge ", std::min(a, b), "-", std::max(a, b), " of ", one, " through edge ", std::min(c, d),
                 "-", std::max(c, d), " of ", other)
          : text("node ", a, " of ", one, " through the triangle ", b, "-", c, "-", d, " of ", other);
  summary.first_passages.push_back(
      text(which, place_text(passage.place.x, passage.place.y, passage.place.z), ", t = ", time, " s"));
}

}  // namespace isocloth
