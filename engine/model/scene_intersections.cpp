#include "engine/model/scene_intersections.hpp"

#include <algorithm>
#include <unordered_map>

#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"
#include "engine/core/position_text.hpp"
#include "engine/core/text.hpp"
#include "engine/model/surfaces.hpp"

namespace isocloth {

std::vector<Index> joined_worlds_of(const Scene& scene) {
  return scene.bodies.empty() ? worlds_of(garments_of(scene)) : std::vector<Index>{};
}

std::vector<bool> meeting_driven_of(const Scene& scene) {
  return scene.contact.cloth ? driven_of(garments_of(scene))
                             : std::vector<bool>(scene.garments.size(), false);
}

SceneIntersections::SceneIntersections(const Scene& scene)
    : scene_(scene),
      search_(meshes_of(garments_of(scene)), joined_worlds_of(scene), meeting_driven_of(scene)) {
  static_assert(IntersectionSearch::every_world == Garment::every_world);
}

IntersectionReport SceneIntersections::of(const std::vector<std::vector<Vec3d>>& positions, double time) {
  const Intersections found = search_.find(positions);
  IntersectionReport report{.crossing = found.crossing.count,
                            .touching = found.touching.count,
                            .overlapping = found.overlapping.count,
                            .garment_count = found.surfaces.size(),
                            .is_complete = found.unknown_triangles == 0,
                            .pairs = {},
                            .overlaps = {},
                            .near = {}};
  for (const Crossing& c : found.crossing.count > 0 ? found.crossing.first : found.touching.first)
    report.pairs.push_back({.time = time,
                            .edge_garment = scene_.garments[c.edge_surface].name,
                            .edge = c.edge,
                            .face_garment = scene_.garments[c.face_surface].name,
                            .face = c.face,
                            .position = {c.position.x, c.position.y, c.position.z}});
  for (const Overlap& o : found.overlapping.first)
    report.overlaps.push_back(
        {.time = time,
         .garments = {scene_.garments[o.surfaces[0]].name, scene_.garments[o.surfaces[1]].name},
         .faces = o.faces,
         .position = {o.position.x, o.position.y, o.position.z}});
  return report;
}

/// The scene without those garments, alone in their worlds, that start as the one before them does: replicas.
/// Of use where cloth is found apart, since intersections name garments.
static Scene without_replicas(const Scene& scene) {
  Scene few;
  few.contact = scene.contact;
  std::unordered_map<Index, int> counts;  // of garments in each world
  for (const Garment& garment : scene.garments) {
    if (garment.world == Garment::every_world || !scene.bodies.empty()) return few;
    ++counts[garment.world];
  }
  for (const Garment& garment : scene.garments) {
    if (counts[garment.world] == 1 && !few.garments.empty() && counts[few.garments.back().world] == 1) {
      const Garment& last = few.garments.back();
      if (alike(garment.mesh, last.mesh) && start_positions(garment) == start_positions(last) &&
          garment.fabric.thickness == last.fabric.thickness && is_kinematic(garment) == is_kinematic(last))
        continue;
    }
    few.garments.push_back(garment);
  }
  return few;
}

static bool is_empty(const IntersectionReport& report) {
  return report.crossing + report.touching + report.overlapping + report.near.coincident_count +
                 report.near.near_count ==
             0 &&
         report.is_complete;
}

IntersectionReport SceneIntersections::of_start() {
  if (const Scene few = without_replicas(scene_);
      !few.garments.empty() && few.garments.size() < scene_.garments.size())
    if (IntersectionReport report = SceneIntersections(few).of_start(); is_empty(report)) return report;
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

std::string describe(const NearFeatures& pair, const Scene& scene) {
  const std::string &one = scene.garments[pair.surfaces[0]].name,
                    &other = scene.garments[pair.surfaces[1]].name;
  const std::string first = pair.is_edges ? text("edge ", pair.first[0], "-", pair.first[1])
                                          : text("node ", pair.first[0]),
                    second = pair.is_edges ? text("edge ", pair.second[0], "-", pair.second[1])
                                           : text("face ", pair.face);
  return text(first, " of ", one, pair.is_edges ? " and " : " on ",
              pair.surfaces[0] == pair.surfaces[1] ? text("its ", second) : text(second, " of ", other),
              position_text(pair.position.x, pair.position.y, pair.position.z));
}

std::string describe(const IntersectingPair& pair) {
  const bool is_own = pair.edge_garment == pair.face_garment;
  return text("edge ", pair.edge[0], "-", pair.edge[1], " of ", pair.edge_garment, " through ",
              is_own ? "its " : "", "face ", pair.face, is_own ? "" : text(" of ", pair.face_garment),
              position_text(pair.position[0], pair.position[1], pair.position[2]));
}

std::string describe(const OverlappingPair& pair) {
  const bool is_own = pair.garments[0] == pair.garments[1];
  return text("face ", pair.faces[0], " of ", pair.garments[0], " in the plane of ", is_own ? "its " : "",
              "face ", pair.faces[1], is_own ? "" : text(" of ", pair.garments[1]),
              position_text(pair.position[0], pair.position[1], pair.position[2]));
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
  const bool is_of_itself = start.garment_count == 1;
  return text(line,
              is_pushed ? ", expected none with contact.cloth, which does not untangle: "
                        : "; without contact.cloth nothing will part them: ",
              is_of_itself ? "give it another shape in the file (of panels: translation, rotation or around)"
              : is_pushed  ? "move them apart in the file, by the mesh or its transform "
                             "(contact.resolve_initial_penetration is "
                             "for obstacles only)"
                           : "move them apart in the file");
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

std::optional<IntersectionReport> require_intersection_free(const Scene& scene) {
  if (!scene.contact.cloth) return std::nullopt;
  IntersectionReport start = SceneIntersections(scene).of_start();
  std::string line = describe(start, true);
  if (line.empty()) line = describe_coincident(start.near, scene);
  if (!line.empty()) throw SceneError(line);
  return start;
}

}  // namespace isocloth
