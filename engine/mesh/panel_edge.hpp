// An edge of a panel, or a line on it, by its length.
#pragma once

#include <utility>
#include <vector>

#include "engine/mesh/panels.hpp"

namespace isocloth {

/// An edge of a panel as many short ones, for its length and for points at even distances along it.
class PanelEdge {
 public:
  /// Edge k of the outline, which has it: straight, or a Bezier curve.
  PanelEdge(const Panel& panel, Index k);
  /// A line inside of a panel, of two points or more.
  explicit PanelEdge(const PanelLine& line);

  double length() const { return along_.back(); }
  /// Point at a share of the length.
  Vec2d at(double share) const;
  /// Share of the length at which the edge is nearest to a point, and its distance there [m].
  std::pair<double, double> nearest(Vec2d p) const;

 private:
  void add(Vec2d point);

  std::vector<Vec2d> points_;
  std::vector<double> along_;  ///< length up to each point [m]
};

}  // namespace isocloth
