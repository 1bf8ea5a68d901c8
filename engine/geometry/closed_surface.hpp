// Closed surfaces: what one is, and on which side of it a point lies.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/geometry/triangle_tree.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// A triangle of a face.
struct FaceTriangle {
  std::array<Index, 3> nodes;
  Index face;
};

/// Triangles of all faces in their order: quads are cut from corner 0 to corner 2, or from 1 to 3 where that
/// alone leaves no triangle folded against the quad's mean plane.
std::vector<FaceTriangle> cut_faces(const Mesh& surface);

/// How far apart nodes on the rim of a surface may lie that stand for an unwelded seam: 2^-20 of the longest
/// side of its box [m].
double seam_width(const Mesh& surface);

/// Ends what check_closed_surface() says of nodes and faces by number.
inline constexpr std::string_view counted_from_0 = " (nodes and faces are counted from 0)";

/// Checks that the faces bound a solid: two faces at every edge, which run through it in opposite directions,
/// all faces at a node in a single ring around it, no two nodes at one place, no face of zero area, no two
/// faces that touch but in what they share, every face with the solid behind it and nothing before it.
/// Several pieces and hollows are fine. Whether points coincide and triangles touch is decided exactly, after
/// snapping positions to 2^-40 of the longest side of the bounding box. Cost O(n log n), about 3 us per
/// triangle. Throws SceneError; messages begin with `key`.
void check_closed_surface(const Mesh& surface, const std::string& key);

/// The solid behind the faces of a closed surface.
class ClosedSurface {
 public:
  /// The surface must pass check_closed_surface. Cost O(n log n).
  explicit ClosedSurface(const Mesh& surface);

  const TriangleTree& tree() const { return tree_; }
  const std::vector<FaceTriangle>& triangles() const { return triangles_; }  ///< shape [triangle_count]
  Vec3d normal(Index triangle) const { return normals_[triangle]; }          ///< outwards, unit

  /// Whether p lies outside, its nearest point being known: the sign of (p - nearest) . n, n the sum of the
  /// normals at that feature, at corners weighted by the triangles' angles (Baerentzen & Aanaes 2005, theorem
  /// 1).
  bool is_outside(Vec3d p, const NearestPoint& nearest) const;

  /// Distance from the surface [m], < 0 inside. Exact but for rounding. Cost of TriangleTree::nearest.
  double signed_distance(Vec3d p) const;

 private:
  std::vector<FaceTriangle> triangles_;
  TriangleTree tree_;
  std::vector<Vec3d> normals_;                      ///< unit, shape [triangle_count]
  std::vector<std::array<Vec3d, 3>> side_normals_;  ///< sums of the two normals, shape [triangle_count][3]
  std::vector<Vec3d> node_normals_;                 ///< sums weighted by angles, shape [node_count]
};

}  // namespace isocloth
