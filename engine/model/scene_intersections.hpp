// Cloth that passes through cloth, or lies in it, with the names of a scene.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/geometry/intersection_search.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// An edge that passes through a face, at the end of a step.
struct IntersectingPair {
  double time = 0;  ///< [s]
  std::string edge_garment;
  std::array<Index, 2> edge{};  ///< nodes; of quads the diagonal from corner 0 to corner 2, too
  std::string face_garment;
  Index face = 0;
  std::array<double, 3> position{};  ///< [m]
};

/// Two faces that overlap in one plane, at the end of a step.
struct OverlappingPair {
  double time = 0;  ///< [s]
  std::array<std::string, 2> garments;
  std::array<Index, 2> faces{};
  std::array<double, 3> position{};  ///< [m]
};

/// Intersections that a state holds (engine/geometry/intersection_search.hpp), with names.
struct IntersectionReport {
  std::int64_t crossing = 0, touching = 0;  ///< pairs of an edge and a face
  std::int64_t overlapping = 0;             ///< pairs of triangles, in one plane to the last bit
  std::size_t garment_count = 0;            ///< number of garments in crossing pairs
  bool is_complete = true;                  ///< false: some coordinates are no numbers
  std::vector<IntersectingPair> pairs;    ///< the first ten crossing ones, without any: of the touching ones
  std::vector<OverlappingPair> overlaps;  ///< the first ten
  /// Features that lie in one place or, with contact.cloth, nearer than their thickness; of a start only.
  Nearness near;
};

/// All garments against themselves and each other, as far as they are of one world (Garment::world); rigid
/// bodies meet all cloths and so join their worlds.
class SceneIntersections {
 public:
  /// The scene must outlive it.
  explicit SceneIntersections(const Scene& scene);
  /// Intersections at `time` [s] of positions [m], shape [garment_count, node_count].
  IntersectionReport of(const std::vector<std::vector<Vec3d>>& positions, double time);
  /// Intersections at the start, and what is near then.
  IntersectionReport of_start();

 private:
  const Scene& scene_;
  IntersectionSearch search_;
};

// Of all garments of a scene, shape [garment_count]; as those of engine/model/surfaces.hpp, but worlds are
// empty where bodies join them, and where cloth does not meet cloth none counts as driven.
std::vector<Index> joined_worlds_of(const Scene& scene);
std::vector<bool> meeting_driven_of(const Scene& scene);

/// "" if cloth neither passes through cloth nor lies in it, else a line that says how many pairs do, which
/// ones and what to do. is_pushed: cloth pushes cloth (ContactSettings::cloth), which must not begin so.
std::string describe(const IntersectionReport& start, bool is_pushed);

/// "" if no cloth lies in cloth without passing through it, as sheets in one plane do, else a line that says
/// how many pairs of features do, which ones and what to do.
std::string describe_coincident(const Nearness& near, const Scene& scene);

/// "edge 3-4 of sheet through its face 17 at (0.1 0.2 0.3) m".
std::string describe(const IntersectingPair& pair);
/// "face 3 of sheet in the plane of face 5 of other at (0.1 0.2 0.3) m".
std::string describe(const OverlappingPair& pair);
/// "node 3 of sheet on face 5 of other at (0.1 0.2 0.3) m".
std::string describe(const NearFeatures& pair, const Scene& scene);

/// With contact.cloth: throws SceneError where cloth passes through cloth at the start or lies in it,
/// whatever ContactSettings::initial says; returns what else it found. About 1 us per node. Without: nothing.
std::optional<IntersectionReport> require_intersection_free(const Scene& scene);

}  // namespace isocloth
