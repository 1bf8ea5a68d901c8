#include "engine/mesh/ear_clipping.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/plane.hpp"

namespace isocloth {
namespace {

constexpr double least_ear = 1e-6;  ///< least altitude of an ear over its longest side

/// The corners seen along the area vector, so that they run counter-clockwise; empty without an area.
std::vector<Vec2d> flattened(const std::vector<Vec3d>& corners) {
  Vec3d area{};
  for (std::size_t i = 0; i < corners.size(); ++i)
    area += cross(corners[i] - corners[0], corners[(i + 1) % corners.size()] - corners[0]);
  const double size = norm(area);
  if (!(size > 0)) return {};
  const Vec3d normal = (1 / size) * area;
  const Vec3d axis = std::abs(normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d along = cross(axis, normal), u = (1 / norm(along)) * along, v = cross(normal, u);
  std::vector<Vec2d> flat;
  for (const Vec3d& p : corners) flat.push_back({dot(u, p - corners[0]), dot(v, p - corners[0])});
  return flat;
}

class EarClipping {
 public:
  explicit EarClipping(std::vector<Vec2d> points) : points_(std::move(points)), left_(points_.size()) {
    std::iota(left_.begin(), left_.end(), 0);
  }

  std::vector<std::array<Index, 3>> run() {
    std::vector<std::array<Index, 3>> triangles;
    measure_all();
    bool is_measured = true;
    while (left_.size() > 3) {
      const auto best = std::max_element(shapes_.begin(), shapes_.end()) - shapes_.begin();
      const auto i = static_cast<std::size_t>(best);
      if (!(shapes_[i] > 0)) {
        // What stood in the way of others may be gone.
        if (is_measured) return {};
        measure_all();
        is_measured = true;
        continue;
      }
      triangles.push_back({left_[before(i)], left_[i], left_[after(i)]});
      left_.erase(left_.begin() + best);
      shapes_.erase(shapes_.begin() + best);
      is_measured = false;
      const std::size_t next = i == left_.size() ? 0 : i;
      shapes_[next] = shape(next);
      shapes_[before(next)] = shape(before(next));
    }
    if (!(shape(0) > 0)) return {};
    triangles.push_back({left_[0], left_[1], left_[2]});
    return triangles;
  }

 private:
  std::size_t before(std::size_t i) const { return i == 0 ? left_.size() - 1 : i - 1; }
  std::size_t after(std::size_t i) const { return i + 1 == left_.size() ? 0 : i + 1; }
  const Vec2d& point(std::size_t i) const { return points_[static_cast<std::size_t>(left_[i])]; }

  void measure_all() {
    shapes_.resize(left_.size());
    for (std::size_t i = 0; i < left_.size(); ++i) shapes_[i] = shape(i);
  }

  /// Altitude over the longest side of the ear at a corner; 0: there is none.
  double shape(std::size_t i) const {
    const Vec2d a = point(before(i)), b = point(i), c = point(after(i));
    const double longest = std::max({norm(b - a), norm(c - b), norm(a - c)});
    const double found = cross(b - a, c - a) / (longest * longest);
    if (!(found > least_ear)) return 0;
    for (std::size_t other = 0; other < left_.size(); ++other) {
      const Vec2d& p = point(other);
      if (p == a || p == b || p == c) continue;
      if (cross(b - a, p - a) >= 0 && cross(c - b, p - b) >= 0 && cross(a - c, p - c) >= 0) return 0;
    }
    return found;
  }

  std::vector<Vec2d> points_;
  std::vector<Index> left_;     // corners, in their order
  std::vector<double> shapes_;  // of the ears at them
};

}  // namespace

std::vector<std::array<Index, 3>> clip_ears(const std::vector<Vec3d>& corners) {
  if (corners.size() < 3) return {};
  std::vector<Vec2d> flat = flattened(corners);
  if (flat.empty()) return {};
  return EarClipping(std::move(flat)).run();
}

}  // namespace isocloth
