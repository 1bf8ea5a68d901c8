#include "engine/mesh/panel_edge.hpp"

#include <algorithm>

#include "engine/core/plane.hpp"

namespace isocloth {

PanelEdge::PanelEdge(const Panel& panel, Index k) {
  const auto count = static_cast<Index>(panel.outline.size());
  std::vector<Vec2d> control{panel.outline[static_cast<std::size_t>(k)]};
  for (const Panel::Curve& curve : panel.curves)
    if (curve.edge == k) control.insert(control.end(), curve.control.begin(), curve.control.end());
  control.push_back(panel.outline[static_cast<std::size_t>((k + 1) % count)]);
  const int pieces = control.size() == 2 ? 1 : 400;
  for (int i = 0; i <= pieces; ++i) {
    std::vector<Vec2d> points = control;  // de Casteljau
    const double t = static_cast<double>(i) / pieces;
    for (std::size_t left = points.size() - 1; left > 0; --left)
      for (std::size_t j = 0; j < left; ++j) points[j] = (1 - t) * points[j] + t * points[j + 1];
    add(points.front());
  }
}

PanelEdge::PanelEdge(const PanelLine& line) {
  for (const Vec2d& point : line.points) add(point);
}

Vec2d PanelEdge::at(double share) const {
  const double s = share * length();
  const auto after = std::min(std::ranges::upper_bound(along_, s) - along_.begin(),
                              static_cast<std::ptrdiff_t>(along_.size()) - 1);
  const auto i = static_cast<std::size_t>(after) - 1;
  const double t = (s - along_[i]) / (along_[i + 1] - along_[i]);
  return (1 - t) * points_[i] + t * points_[i + 1];
}

std::pair<double, double> PanelEdge::nearest(Vec2d p) const {
  std::pair<double, double> best{0, norm(p - points_.front())};
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const Vec2d way = points_[i + 1] - points_[i];
    const double t = std::clamp(dot(way, p - points_[i]) / dot(way, way), 0.0, 1.0),
                 distance = norm(p - points_[i] - t * way);
    if (distance < best.second) best = {(along_[i] + t * (along_[i + 1] - along_[i])) / length(), distance};
  }
  return best;
}

void PanelEdge::add(Vec2d point) {
  along_.push_back(points_.empty() ? 0 : along_.back() + norm(points_.back() - point));
  points_.push_back(point);
}

}  // namespace isocloth
