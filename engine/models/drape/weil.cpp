#include "engine/models/drape/weil.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/spring_pairs.hpp"
#include "engine/models/drape/catenary.hpp"

namespace isocloth {
namespace {

constexpr double flare = 0.25;       ///< outwards over downwards, beyond the hull
constexpr double coincident = 1e-9;  ///< relative to the sheet, within which points are one

/// A point of the cloth that has a place.
struct Corner {
  Vec2d flat;
  Vec3d position;
};

Catenary curve_between(const Corner& a, const Corner& b) {
  return {a.position, b.position, norm(b.flat - a.flat)};
}

/// The curve between two corners, and those that cross it.
struct Curve {
  struct Crossing {
    std::size_t curve;
    bool is_lower;
  };
  std::size_t a = 0, b = 0;
  std::vector<Crossing> crossings{};
  int higher = 0;       ///< open curves that cross above it
  bool is_open = true;  ///< neither kept nor dropped
};

class Hull {
 public:
  Hull(const HangingSheet& sheet, double size) : small_(coincident * size) {
    for (const HangingPoint& point : sheet.points)
      corners_.push_back({sheet.flat[point.node], point.position});
    if (add_curves(true) > 0) add_curves(false);
    keep_highest();
  }

  const std::vector<Corner>& corners() const { return corners_; }
  const std::vector<Curve>& curves() const { return kept_; }

  /// Corners of all triangles of three kept curves that have no corner inside.
  std::vector<std::array<std::size_t, 3>> triangles() const {
    const std::size_t n = corners_.size();
    std::vector<char> joined(n * n, 0);
    for (const Curve& curve : kept_) joined[curve.a * n + curve.b] = 1;
    std::vector<std::array<std::size_t, 3>> all;
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b)
        for (std::size_t c = b + 1; joined[a * n + b] != 0 && c < n; ++c)
          if (joined[a * n + c] != 0 && joined[b * n + c] != 0 && is_empty(a, b, c)) all.push_back({a, b, c});
    return all;
  }

 private:
  const Vec2d& flat(std::size_t k) const { return corners_[k].flat; }

  bool is_empty(std::size_t a, std::size_t b, std::size_t c) const {
    const double area = cross(flat(b) - flat(a), flat(c) - flat(a));
    if (std::fabs(area) <= small_ * norm(flat(b) - flat(a))) return false;
    for (std::size_t k = 0; k < corners_.size(); ++k) {
      if (k == a || k == b || k == c) continue;
      const double u = cross(flat(b) - flat(k), flat(c) - flat(k)) / area,
                   v = cross(flat(c) - flat(k), flat(a) - flat(k)) / area;
      if (u > 0 && v > 0 && u + v < 1) return false;
    }
    return true;
  }

  bool passes_a_corner(std::size_t a, std::size_t b) const {
    const Vec2d way = flat(b) - flat(a);
    const double length = norm(way);
    for (std::size_t k = 0; k < corners_.size(); ++k) {
      if (k == a || k == b) continue;
      const double along = dot(flat(k) - flat(a), way) / length;
      if (std::fabs(cross(flat(k) - flat(a), way)) <= small_ * length && along > 0 && along < length)
        return true;
    }
    return false;
  }

  /// All curves and their crossings; with `add_corners` those in one point of space become corners, whose
  /// number is returned, and the curves are for naught. Where that would be too many none does.
  std::size_t add_curves(bool add_corners) {
    curves_.clear();
    for (std::size_t a = 0; a < corners_.size(); ++a)
      for (std::size_t b = a + 1; b < corners_.size(); ++b)
        if (!passes_a_corner(a, b)) curves_.push_back({.a = a, .b = b});
    std::vector<Catenary> shapes;
    for (const Curve& curve : curves_) shapes.push_back(curve_between(corners_[curve.a], corners_[curve.b]));
    std::vector<Corner> added;
    for (std::size_t i = 0; i < curves_.size(); ++i)
      for (std::size_t j = i + 1; j < curves_.size(); ++j) {
        const Vec2d way = flat(curves_[i].b) - flat(curves_[i].a),
                    other = flat(curves_[j].b) - flat(curves_[j].a);
        const Vec2d gap = flat(curves_[j].a) - flat(curves_[i].a);
        const double area = cross(way, other), s = cross(gap, other) / area, t = cross(gap, way) / area;
        const double margin_s = small_ / norm(way), margin_t = small_ / norm(other);
        if (!(s > margin_s && s < 1 - margin_s && t > margin_t && t < 1 - margin_t)) continue;
        const Vec3d p = shapes[i].at(s * norm(way)), q = shapes[j].at(t * norm(other));
        if (add_corners && norm(p - q) <= small_) {
          const Vec2d at = flat(curves_[i].a) + s * way;
          if (std::ranges::any_of(added, [&](const Corner& c) { return norm(c.flat - at) <= small_; }))
            continue;
          if (corners_.size() + added.size() == most_weil_points) return add_curves(false);
          added.push_back({at, p});
          continue;
        }
        const bool i_is_higher = p.z >= q.z;
        curves_[i].crossings.push_back({j, i_is_higher});
        curves_[j].crossings.push_back({i, !i_is_higher});
        ++curves_[i_is_higher ? j : i].higher;
      }
    corners_.insert(corners_.end(), added.begin(), added.end());
    return added.size();
  }

  /// Keeps curves that cross no higher one of those still open, and drops what they cross. Three may each be
  /// higher than the next: then the one with the fewest above it stays.
  void keep_highest() {
    for (;;) {
      Curve* next = nullptr;
      for (Curve& curve : curves_)
        if (curve.is_open && (next == nullptr || curve.higher < next->higher)) next = &curve;
      if (next == nullptr) return;
      next->is_open = false;
      kept_.push_back(*next);
      for (const Curve::Crossing& crossing : next->crossings) {
        Curve& other = curves_[crossing.curve];
        if (!other.is_open) continue;
        other.is_open = false;
        for (const auto& [curve, is_lower] : other.crossings)
          if (is_lower) --curves_[curve].higher;
      }
    }
  }

  double small_;
  std::vector<Corner> corners_;
  std::vector<Curve> curves_, kept_;
};

/// Divides triangles and places the nodes in them.
class Filling {
 public:
  Filling(const HangingSheet& sheet, double resolution, double size, std::vector<Vec3d>& positions,
          const MonitorView& monitor)
      : sheet_(sheet),
        resolution_(resolution),
        small_(coincident * size),
        positions_(positions),
        monitor_(monitor) {}

  /// `nodes` lie within the triangle; the last corner is its newest.
  void fill(const std::array<Corner, 3>& corners, const std::vector<Index>& nodes) {
    if (nodes.empty()) return;
    monitor_.check();
    // The corner opposite to the longest side.
    std::size_t apex = 2;
    double longest = norm(corners[1].flat - corners[0].flat);
    for (const std::size_t k : {0, 1}) {
      const double length = norm(corners[2].flat - corners[1 - k].flat);
      if (length > (1 + coincident) * longest) {
        longest = length;
        apex = k;
      }
    }
    if (longest <= resolution_) return interpolate(corners, nodes);
    const Corner &top = corners[apex], &a = corners[(apex + 1) % 3], &b = corners[(apex + 2) % 3];
    const Corner middle{0.5 * (a.flat + b.flat), curve_between(a, b).at(longest / 2)};
    const Catenary curve = curve_between(top, middle);
    const Vec2d way = middle.flat - top.flat;
    const double length = norm(way), side_of_a = cross(way, a.flat - top.flat);
    std::vector<Index> with_a, with_b;
    for (const Index node : nodes) {
      const Vec2d from_top = sheet_.flat[node] - top.flat;
      const double side = cross(way, from_top);
      if (std::fabs(side) <= small_ * length)
        positions_[node] = curve.at(dot(from_top, way) / length);
      else
        (side * side_of_a > 0 ? with_a : with_b).push_back(node);
    }
    fill({top, a, middle}, with_a);
    fill({top, b, middle}, with_b);
  }

 private:
  void interpolate(const std::array<Corner, 3>& corners, const std::vector<Index>& nodes) {
    const Vec2d b = corners[1].flat - corners[0].flat, c = corners[2].flat - corners[0].flat;
    const double area = cross(b, c);
    for (const Index node : nodes) {
      const Vec2d p = sheet_.flat[node] - corners[0].flat;
      const double u = cross(p, c) / area, v = cross(b, p) / area;
      positions_[node] =
          (1 - u - v) * corners[0].position + u * corners[1].position + v * corners[2].position;
    }
  }

  const HangingSheet& sheet_;
  const double resolution_, small_;
  std::vector<Vec3d>& positions_;
  const MonitorView& monitor_;
};

/// The rotation about z that turns the sheet as laid flat to where its corners are, in the least squares of
/// horizontal distances: (cos, sin).
Vec2d heading(const std::vector<Corner>& corners) {
  Vec2d flat_mean, mean;
  for (const Corner& c : corners) {
    flat_mean = flat_mean + (1.0 / static_cast<double>(corners.size())) * c.flat;
    mean = mean + (1.0 / static_cast<double>(corners.size())) * Vec2d{c.position.x, c.position.y};
  }
  Vec2d turn;
  for (const Corner& c : corners) {
    const Vec2d from = c.flat - flat_mean, to = Vec2d{c.position.x, c.position.y} - mean;
    turn = turn + Vec2d{dot(from, to), cross(from, to)};
  }
  const double length = norm(turn);
  return length > 0 ? (1 / length) * turn : Vec2d{1, 0};
}

}  // namespace

std::vector<Vec3d> weil_catenaries(const HangingSheet& sheet, double resolution, const std::string& key,
                                   const MonitorView& monitor) {
  if (sheet.points.size() > most_weil_points)
    throw SceneError(text(key, ": found ", sheet.points.size(), " pinned nodes, expected at most ",
                          most_weil_points, ", each of which hangs a curve to all others; use laplace"));
  double size = 0;
  for (const Vec2d& p : sheet.flat) size = std::max(size, norm(p));
  const Hull hull(sheet, size);
  std::vector<Vec3d> positions(sheet.mesh.positions.size());
  std::vector<char> is_open(positions.size(), 1);

  const double finest =
      std::max(resolution > 0 ? resolution : 0.5 * sheet.element_size, 1e-3 * sheet.element_size);
  Filling filling(sheet, finest, size, positions, monitor);
  for (const auto& [i, j, k] : hull.triangles()) {
    const std::array<Corner, 3> corners{hull.corners()[i], hull.corners()[j], hull.corners()[k]};
    const double area = cross(corners[1].flat - corners[0].flat, corners[2].flat - corners[0].flat);
    std::vector<Index> inside;
    for (Index node = 0; node < sheet.mesh.node_count(); ++node) {
      const Vec2d p = sheet.flat[node] - corners[0].flat;
      const double u = cross(p, corners[2].flat - corners[0].flat) / area,
                   v = cross(corners[1].flat - corners[0].flat, p) / area;
      if (u < 0 || v < 0 || u + v > 1 || is_open[node] == 0) continue;
      inside.push_back(node);
      is_open[node] = 0;
    }
    filling.fill(corners, inside);
  }
  // On the curves themselves, and what hangs from them.
  const Vec2d turn = heading(hull.corners());
  for (Index node = 0; node < sheet.mesh.node_count(); ++node) {
    const Vec2d& p = sheet.flat[node];
    double nearest = std::numeric_limits<double>::infinity();
    Vec2d outward;
    Vec3d from;
    for (const Curve& curve : hull.curves()) {
      const Corner &a = hull.corners()[curve.a], &b = hull.corners()[curve.b];
      const Vec2d way = b.flat - a.flat;
      const double along = std::clamp(dot(p - a.flat, way) / dot(way, way), 0.0, 1.0);
      const Vec2d gap = p - (a.flat + along * way);
      if (!(norm(gap) < nearest)) continue;
      nearest = norm(gap);
      outward = gap;
      from = curve_between(a, b).at(along * norm(way));
    }
    if (nearest <= coincident * size) {
      positions[node] = from;
    } else if (is_open[node] != 0) {
      const Vec3d out{turn.x * outward.x - turn.y * outward.y, turn.y * outward.x + turn.x * outward.y, 0};
      positions[node] = from + nearest * normalized(Vec3d{0, 0, -1} + flare / nearest * out);
    }
  }
  for (const HangingPoint& point : sheet.points) positions[point.node] = point.position;
  return positions;
}

int relax_distances(const HangingSheet& sheet, const DrapeSettings& settings, std::vector<Vec3d>& positions,
                    const MonitorView& monitor) {
  std::vector<char> hangs(positions.size(), 0);
  for (const HangingPoint& point : sheet.points) hangs[point.node] = 1;
  struct Pair {
    Index a, b;
    double length;
    bool is_least;  ///< a bound from below
  };
  std::vector<Pair> pairs;
  const std::vector<Vec3d>& rest = sheet.mesh.positions;
  for (const auto& [a, b] : sheet.topology.edges) pairs.push_back({a, b, norm(rest[b] - rest[a]), false});
  if (settings.angles)
    for (const auto& [a, b] : shear_pairs(sheet.mesh, 2))
      pairs.push_back({a, b, norm(rest[b] - rest[a]), false});
  if (settings.least_angle > 0) {
    const double share = std::sin(std::numbers::pi / 360 * settings.least_angle);
    for (const auto& [a, b] : bend_pairs(sheet.mesh, sheet.topology))
      pairs.push_back({a, b, share * norm(rest[b] - rest[a]), true});
  }
  const double enough = settings.relaxation_tolerance * sheet.element_size;
  std::vector<Vec3d> moves(positions.size());
  std::vector<int> counts(positions.size());
  for (int pass = 1; pass <= settings.most_passes; ++pass) {
    monitor.check();
    moves.assign(positions.size(), {});
    counts.assign(positions.size(), 0);
    for (const Pair& pair : pairs) {
      const Vec3d way = positions[pair.b] - positions[pair.a];
      const double length = norm(way);
      if (!(length > 0) || (pair.is_least && length >= pair.length)) continue;
      const double half = hangs[pair.a] != 0 || hangs[pair.b] != 0 ? 1 : 0.5;
      const Vec3d move = half * (1 - pair.length / length) * way;
      moves[pair.a] += move;
      moves[pair.b] -= move;
      ++counts[pair.a];
      ++counts[pair.b];
    }
    double farthest = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (hangs[i] != 0 || counts[i] == 0) continue;
      const Vec3d move = (1.0 / counts[i]) * moves[i];
      positions[i] += move;
      farthest = std::max(farthest, norm(move));
    }
    if (farthest <= enough) return pass;
  }
  return settings.most_passes;
}

}  // namespace isocloth
