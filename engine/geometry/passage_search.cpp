#include "engine/geometry/passage_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace isocloth {
namespace {

/// Four points that go straight on.
struct MovingPoints {
  std::array<Vec3d, 4> from, to;
  Vec3d at(std::size_t i, double t) const { return (1 - t) * from[i] + t * to[i]; }
};

/// Six times the volume between them at a time.
double volume(const MovingPoints& p, double t) {
  const Vec3d origin = p.at(0, t);
  return dot(p.at(1, t) - origin, cross(p.at(2, t) - origin, p.at(3, t) - origin));
}

/// Times between 0 and 1 between which the volume, a cubic, rises or falls throughout, with both ends.
std::vector<double> turns(const MovingPoints& p) {
  const Vec3d a = p.from[1] - p.from[0], b = p.from[2] - p.from[0], c = p.from[3] - p.from[0];
  const Vec3d u = p.to[1] - p.to[0] - a, v = p.to[2] - p.to[0] - b, w = p.to[3] - p.to[0] - c;
  // d/dt of (a + t u) . (b + t v) x (c + t w) = linear + 2 square t + 3 cube t^2
  const double linear = dot(u, cross(b, c)) + dot(a, cross(v, c)) + dot(a, cross(b, w));
  const double square = dot(u, cross(v, c)) + dot(u, cross(b, w)) + dot(a, cross(v, w));
  const double cube = dot(u, cross(v, w));
  std::vector<double> times{0};
  const auto add = [&](double t) {
    if (t > times.back() && t < 1) times.push_back(t);
  };
  const double under = square * square - 3 * cube * linear;
  if (under > 0) {
    const double q = -(square + std::copysign(std::sqrt(under), square));
    const auto [low, high] = std::minmax({q / (3 * cube), linear / q});  // infinite ones are none
    add(low);
    add(high);
  }
  times.push_back(1);
  return times;
}

/// The one between two times at which the volume has opposite signs.
double root(const MovingPoints& p, double begin, double end) {
  const bool rises = volume(p, begin) < 0;
  for (int i = 0; i < 60 && end - begin > 1e-16; ++i) {
    const double middle = (begin + end) / 2;
    ((volume(p, middle) < 0) == rises ? begin : end) = middle;
  }
  return (begin + end) / 2;
}

/// Where the pair meets at a time at which it lies in a plane; none: beside each other.
std::optional<Vec3d> meeting_point(const MovingPoints& p, bool is_edges, double t) {
  constexpr double rim = 1e-9;
  // Squares of sines. Parallel edges in one plane, as of a flat sheet that falls flat, have no place of their
  // own: if they go through each other, their ends go through the faces beside them.
  constexpr double parallel = 1e-12;
  const Vec3d x0 = p.at(0, t), x1 = p.at(1, t), x2 = p.at(2, t), x3 = p.at(3, t);
  if (is_edges) {
    const Vec3d u = x1 - x0, v = x3 - x2, normal = cross(u, v);
    const double square = dot(normal, normal);
    if (!(square > parallel * dot(u, u) * dot(v, v))) return {};
    const double one = dot(cross(x2 - x0, v), normal) / square,
                 other = dot(cross(x2 - x0, u), normal) / square;
    if (!(std::min(one, other) >= -rim && std::max(one, other) <= 1 + rim)) return {};
    return x0 + one * u;
  }
  const Vec3d u = x2 - x1, v = x3 - x1, normal = cross(u, v);
  const double square = dot(normal, normal);
  if (!(square > parallel * dot(u, u) * dot(v, v))) return {};
  const double one = dot(cross(x0 - x1, v), normal) / square, other = dot(cross(u, x0 - x1), normal) / square;
  if (!(std::min({one, other, 1 - one - other}) >= -rim)) return {};
  return x0;
}

}  // namespace

PassageSearch::PassageSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds,
                             const std::vector<bool>& is_kinematic)
    : pairs_(meshes, worlds, is_kinematic), margins_(meshes.size(), 0) {}

Passages PassageSearch::find(const std::vector<std::vector<Vec3d>>& from,
                             const std::vector<std::vector<Vec3d>>& to) {
  constexpr std::size_t most_per_node = 400, always = 100'000;  // as cloth against cloth seeks at most
  const auto joined = [](const std::vector<std::vector<Vec3d>>& parts) {
    std::vector<Vec3d> all;
    for (const std::vector<Vec3d>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const std::vector<Vec3d> begin = joined(from), end = joined(to);
  Passages found;
  const auto is_known = [](const Vec3d& p) { return std::isfinite(p.x + p.y + p.z); };
  found.is_complete = std::ranges::all_of(begin, is_known) && std::ranges::all_of(end, is_known) &&
                      pairs_.find(begin, end, margins_, std::max(always, most_per_node * begin.size()), near_,
                                  PairSearch::alone(), PairSearch::Times::common);
  if (!found.is_complete) return found;
  const SurfaceFeatures& features = pairs_.features();
  for (const FeaturePair& pair : near_) {
    const std::array<Index, 4> nodes = features.nodes_of(pair);
    MovingPoints points;
    for (std::size_t i = 0; i < 4; ++i) {
      points.from[i] = begin[static_cast<std::size_t>(nodes[i])];
      points.to[i] = end[static_cast<std::size_t>(nodes[i])];
    }
    const std::vector<double> times = turns(points);
    for (std::size_t k = 1; k < times.size(); ++k) {
      if (!(volume(points, times[k - 1]) * volume(points, times[k]) < 0)) continue;
      const double time = root(points, times[k - 1], times[k]);
      const std::optional<Vec3d> position = meeting_point(points, pair.is_edges != 0, time);
      if (!position) continue;
      if (found.count++ < static_cast<std::int64_t>(Passages::most_named)) {
        Passage& passage = found.first.emplace_back();
        passage.is_edges = pair.is_edges != 0;
        passage.time = time;
        passage.position = *position;
        for (std::size_t i = 0; i < 4; ++i)
          passage.nodes[i] =
              nodes[i] - features.node_begin[static_cast<std::size_t>(features.node_surfaces[nodes[i]])];
        passage.surfaces = {static_cast<std::size_t>(features.node_surfaces[nodes[0]]),
                            static_cast<std::size_t>(features.node_surfaces[nodes[3]])};
      }
      break;
    }
  }
  return found;
}

}  // namespace isocloth
