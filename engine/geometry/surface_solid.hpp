// What any faces bound: the solid that they wind around, and sheets beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/geometry/triangle_soup.hpp"
#include "engine/geometry/triangle_tree.hpp"
#include "engine/geometry/winding_number.hpp"

namespace isocloth {

/// A triangle that bounds the solid or is a part of a sheet.
struct BoundingTriangle {
  TriangleCorners corners;
  Index piece = -1;       ///< of the soup; -1: closes a hole
  bool is_sheet = false;  ///< of a sheet
  /// Length of the ray from its middle, or the least of rays from several points of a large one, along the
  /// inward normal to a wall that faces the other way [m]; infinite where there is none, 0 of a sheet.
  double thickness = 0;
};

/// The solid that the faces of a mesh bound, however they do: open, crossing, touching, turned, within
/// others. Of the pieces of make_soup():
/// - one is turned as a whole where the surface winds around what is before it less than -1/2 times (all in
///   the mean over its triangles' middles): its faces are seen clockwise from outside;
/// - one is a sheet where the winding number behind it is more than 0.16 from whole ones: measured 0.5 behind
///   flat ones, 0.82 in half a sphere, 0.91 in three quarters of one, 0.79 and 0.87 in a tube open at both
///   ends, once and twice as long as wide;
/// - what is left is closed: the edges at which it ends, by parts that hang together, each by a cone to the
///   mean of their ends, where the winding number there is between 0.2 and 0.8. At the rims of cracks and
///   between patches that nearly meet it is not, and these stay: nothing turns on what passes through them;
/// - the solid is where the winding number of all this is more than 1/2 (Jacobson et al. 2013);
/// - triangles on both sides of which is solid, or neither, bound nothing and are left out.
/// Cost O(n log n), about 10 us per triangle.
class SurfaceSolid {
 public:
  /// Throws SceneError, beginning with `key`, where no triangle has an area; Interrupted.
  SurfaceSolid(const Mesh& surface, const std::string& key, const MonitorView& monitor = {});

  const std::vector<BoundingTriangle>& triangles() const { return triangles_; }
  bool has_solid() const { return winding_.has_value(); }
  bool has_sheets() const { return sheet_count_ > 0; }
  bool is_inside(Vec3d p) const { return winding_ && winding_->at(p) > 0.5; }
  /// What was done to the faces, "2 holes closed, 12 triangles turned"; empty: nothing.
  std::string changes() const;

 private:
  void turn_pieces(const MonitorView& monitor);
  void part_sheets(const MonitorView& monitor);
  void close_holes();
  void leave_out_hidden(const MonitorView& monitor);
  void measure_walls(const MonitorView& monitor);
  /// Mean over middles of triangles of each piece of what visit(winding number there) is, by area.
  template <class Visit>
  std::vector<double> means_of_pieces(const MonitorView& monitor, const Visit& visit) const;
  void wind(bool with_sheets);

  TriangleSoup soup_;
  std::vector<char> is_sheet_;          ///< of each piece
  std::vector<TriangleCorners> solid_;  ///< triangles around which the winding number counts
  std::vector<Index> number_in_solid_;  ///< of each triangle of the soup, -1: of a sheet
  std::optional<WindingNumber> winding_;
  std::vector<BoundingTriangle> triangles_;
  Index hole_count_ = 0, cap_count_ = 0, turned_ = 0, hidden_ = 0, sheet_count_ = 0;
};

}  // namespace isocloth
