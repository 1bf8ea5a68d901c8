#include "engine/geometry/drape_shadow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isocloth {
namespace {

constexpr double full_turn = 2 * std::numbers::pi;

double cross(const Vec2d& a, const Vec2d& b) { return a.x * b.y - a.y * b.x; }

/// Rays from the center, and the parts of each that lie under cloth.
class Rays {
 public:
  explicit Rays(const DrapeMeter& meter) : meter_(meter), covered_(meter.directions) {}

  void add(Vec2d a, Vec2d b, Vec2d c) {
    crossings_.clear();
    const double turn = cross_edge(a - meter_.center, b - meter_.center) +
                        cross_edge(b - meter_.center, c - meter_.center) +
                        cross_edge(c - meter_.center, a - meter_.center);
    const bool begins_inside = std::fabs(turn) > 1;  // nothing or a full turn
    std::ranges::sort(crossings_);
    for (auto next = crossings_.begin(); next != crossings_.end();) {
      const auto [ray, nearest] = *next;
      double farthest = nearest;
      for (; next != crossings_.end() && next->first == ray; ++next) farthest = next->second;
      const double from = std::max(begins_inside ? 0 : nearest, meter_.disc);
      if (farthest > from) covered_[ray].push_back({from, farthest});
    }
  }

  DrapeShadow shadow() {
    DrapeShadow result;
    const double half_angle = full_turn / static_cast<double>(covered_.size()) / 2;
    for (std::vector<std::array<double, 2>>& parts : covered_) {
      std::ranges::sort(parts);
      double reached = meter_.disc;
      for (const auto& [from, to] : parts) {
        if (!(to > reached)) continue;
        const double begin = std::max(from, reached);
        result.area += half_angle * (to * to - begin * begin);
        reached = to;
      }
      result.radii.push_back(reached);
    }
    return result;
  }

 private:
  /// Where rays meet the edge from p to q; returns its angle seen from the center, the short way around.
  double cross_edge(const Vec2d& p, const Vec2d& q) {
    const auto count = static_cast<std::ptrdiff_t>(covered_.size());
    const double per_ray = full_turn / static_cast<double>(count);
    const double begin = std::atan2(p.y, p.x);
    const double end = begin + std::remainder(std::atan2(q.y, q.x) - begin, full_turn);
    const Vec2d along = q - p;
    const auto first = static_cast<std::ptrdiff_t>(std::ceil(std::min(begin, end) / per_ray - 1e-9));
    const auto last = static_cast<std::ptrdiff_t>(std::floor(std::max(begin, end) / per_ray + 1e-9));
    for (std::ptrdiff_t k = first; k <= last; ++k) {
      const double angle = per_ray * static_cast<double>(k);
      const Vec2d ray{std::cos(angle), std::sin(angle)};
      const double slope = cross(along, ray);
      // An edge along the ray has both of its ends there.
      const double part = slope == 0 ? 0 : std::clamp(-cross(p, ray) / slope, 0.0, 1.0);
      const Vec2d met = p + part * along;
      crossings_.push_back(
          {static_cast<std::size_t>((k % count + count) % count), met.x * ray.x + met.y * ray.y});
    }
    return end - begin;
  }

  const DrapeMeter meter_;
  /// Parts of each ray outside of the disc that cloth covers, from and to [m].
  std::vector<std::vector<std::array<double, 2>>> covered_;
  /// Where rays cross one triangle: number of the ray, distance from the centre [m].
  std::vector<std::pair<std::size_t, double>> crossings_;
};

}  // namespace

DrapeShadow drape_shadow(const Mesh& mesh, const std::vector<Vec3d>& positions, const DrapeMeter& meter) {
  Rays rays(meter);
  const auto above = [&](Index node) -> Vec2d {
    const Vec3d& p = positions[static_cast<std::size_t>(node)];
    return {p.x, p.y};
  };
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t k = 2; k < nodes.size(); ++k)
      rays.add(above(nodes[0]), above(nodes[k - 1]), above(nodes[k]));
  }
  return rays.shadow();
}

DrapeShadow drape_shadow(const std::vector<Vec2d>& outline, const DrapeMeter& meter) {
  Rays rays(meter);
  for (std::size_t i = 0; i < outline.size(); ++i)
    rays.add(meter.center, outline[i], outline[(i + 1) % outline.size()]);
  return rays.shadow();
}

int count_folds(const std::vector<double>& radii, double height) {
  // From the lowest trough on, so that no fold is begun before the start and ended after it.
  const auto count = static_cast<std::size_t>(radii.size());
  const auto start = static_cast<std::size_t>(std::ranges::min_element(radii) - radii.begin());
  int folds = 0;
  bool is_crest = false;
  double trough = radii[start], crest = trough;
  for (std::size_t i = 0; i <= count; ++i) {
    const double r = radii[(start + i) % count];
    if (is_crest) {
      crest = std::max(crest, r);
      if (r <= crest - height) is_crest = false, trough = r;
    } else {
      trough = std::min(trough, r);
      if (r >= trough + height) is_crest = true, crest = r, ++folds;
    }
  }
  return folds;
}

std::vector<double> turned(const std::vector<double>& radii, double turn) {
  const auto count = static_cast<std::ptrdiff_t>(radii.size());
  const double shift = turn / full_turn * static_cast<double>(count), whole = std::floor(shift);
  std::vector<double> result;
  for (std::ptrdiff_t k = 0; k < count; ++k) {
    const std::ptrdiff_t i = ((k + static_cast<std::ptrdiff_t>(whole)) % count + count) % count;
    const double a = radii[static_cast<std::size_t>(i)], b = radii[static_cast<std::size_t>((i + 1) % count)];
    result.push_back(a + (shift - whole) * (b - a));
  }
  return result;
}

double best_turn(const std::vector<double>& radii, const std::vector<double>& other) {
  // The sum of products is largest where that of squares is least.
  const std::size_t count = radii.size();
  const auto product = [&](std::size_t shift) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += radii[(k + shift) % count] * other[k];
    return sum;
  };
  std::size_t best = 0;
  double most = product(0);
  for (std::size_t shift = 1; shift < count; ++shift)
    if (const double found = product(shift); found > most) most = found, best = shift;
  // The vertex of the parabola through it and its neighbours.
  const double before = product((best + count - 1) % count), after = product((best + 1) % count);
  const double bend = before - 2 * most + after;
  const double part = bend < 0 ? (before - after) / (2 * bend) : 0;
  return full_turn * (static_cast<double>(best) + part) / static_cast<double>(count);
}

}  // namespace isocloth
