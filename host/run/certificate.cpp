#include "host/run/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

}  // namespace

std::string describe(const IntersectingPair& pair) {
  const auto rounded = [](double x) { return std::round(1e4 * x) / 1e4; };
  const bool is_own = pair.edge_garment == pair.face_garment;
  return text("edge ", pair.edge[0], "-", pair.edge[1], " of ", pair.edge_garment, " through ",
              is_own ? "its " : "", "face ", pair.face, is_own ? "" : text(" of ", pair.face_garment),
              " at (", rounded(pair.place[0]), " ", rounded(pair.place[1]), " ", rounded(pair.place[2]),
              ") m");
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
  return line + (is_pushed ? ", expected none with contact.cloth: move them apart in the file"
                           : "; without contact.cloth nothing will part them: move them apart in the file");
}

Certificate::Certificate(const Scene& scene)
    : scene_(scene), search_(meshes_of(scene), worlds_of(scene), driven_of(scene)) {
  static_assert(IntersectionSearch::every_world == Garment::every_world);
}

IntersectionReport Certificate::of_start() {
  std::vector<std::vector<Vec3d>> positions;
  for (const Garment& garment : scene_.garments) positions.push_back(start_positions(garment));
  return of(positions, 0);
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
                            .pairs = {}};
  for (const Crossing& c : found.crossing.count > 0 ? found.crossing.first : found.touching.first)
    report.pairs.push_back({.time = time,
                            .edge_garment = scene_.garments[c.edge_surface].name,
                            .edge = c.edge,
                            .face_garment = scene_.garments[c.face_surface].name,
                            .face = c.face,
                            .place = {c.place.x, c.place.y, c.place.z}});
  return report;
}

void Certificate::count(const Simulation& simulation, RunSummary& summary) {
  IntersectionReport found = of(simulation);
  summary.steps_certified += found.is_complete;
  summary.intersections_max = std::max(summary.intersections_max, found.crossing);
  if (found.crossing == 0) {
    summary.steps_touching += found.touching > 0;
    return;
  }
  if (summary.steps_intersecting++ == 0) summary.first_intersections = std::move(found.pairs);
}

}  // namespace isocloth
