// A sheet of cloth and the points that it hangs from, as the geometric methods see it.
#pragma once

#include <string>
#include <vector>

#include "engine/core/plane.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/drape_settings.hpp"

namespace isocloth {

/// A mesh laid out in its plane.
struct HangingSheet {
  /// Throws SceneError beginning with `key` for fewer points than the method needs (weil: 2, laplace: 3),
  /// points on every node, and a mesh that the method cannot do: weil wants it flat (no node farther from its
  /// plane than a tenth of an element) and convex, laplace with one rim, pinned at three nodes that are not
  /// on a line, and flat and convex for diagonals. Throws it, too, where two points are farther apart than
  /// the cloth between them is long: straight where it is flat and convex, else along the rim. The mesh must
  /// outlive the sheet.
  HangingSheet(const Mesh& mesh, std::vector<HangingPoint> points, const DrapeSettings& settings,
               const std::string& key);

  const Mesh& mesh;
  const Topology topology;
  const std::vector<HangingPoint> points;
  const double element_size;  ///< mean_element_size() [m]
  std::vector<Vec2d> flat;    ///< coordinates of the nodes in the plane that fits best [m]
  bool is_convex = false;     ///< flat, too
};

/// A stretch of the rim between two hanging points that follow each other.
struct RimSide {
  std::size_t from = 0, to = 0;  ///< indices of its ends in HangingSheet::points
  std::vector<Index> nodes;      ///< nodes from the first end to the second, both included
  std::vector<double> lengths;   ///< distance of each of `nodes` from the first along the rim [m]
};
/// All sides of the rim, in the direction of the faces; a single point on the rim: one that ends where it
/// begins.
std::vector<RimSide> rim_sides(const HangingSheet& sheet);

}  // namespace isocloth
