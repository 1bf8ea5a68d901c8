#include "engine/mesh/delaunay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/no_index.hpp"

namespace isocloth {
namespace {

__extension__ using Wide = __int128;

constexpr Index infinite =
    -1;  ///< the vertex at infinity, of the triangles that stand on the hull from outside

struct LatticePoint {
  std::int64_t x, y;
};

/// Snaps to integers below 2^29, so that the tests below stay within 128 bits.
std::vector<LatticePoint> snapped(const std::vector<Vec2d>& points) {
  Vec2d low = points.front(), high = low;
  for (const Vec2d& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double scale = 0x1p29 / std::max(high.x - low.x, high.y - low.y);
  std::vector<LatticePoint> lattice;
  lattice.reserve(points.size());
  for (const Vec2d& p : points) {
    lattice.push_back({std::llround((p.x - low.x) * scale), std::llround((p.y - low.y) * scale)});
  }
  return lattice;
}

/// Twice the signed area of a b c: > 0 counter-clockwise. Exact.
std::int64_t orientation(LatticePoint a, LatticePoint b, LatticePoint c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// Whether p lies strictly inside the circle through the counter-clockwise a, b, c. Exact.
bool in_circle(LatticePoint a, LatticePoint b, LatticePoint c, LatticePoint p) {
  const std::int64_t ax = a.x - p.x, ay = a.y - p.y, bx = b.x - p.x, by = b.y - p.y, cx = c.x - p.x,
                     cy = c.y - p.y;
  const auto term = [](std::int64_t minor, std::int64_t x, std::int64_t y) {
    return Wide(minor) * (x * x + y * y);
  };
  return term(bx * cy - by * cx, ax, ay) + term(cx * ay - cy * ax, bx, by) + term(ax * by - ay * bx, cx, cy) >
         0;
}

/// Number of a lattice point along Hilbert's curve through squares of 2^13 lattice steps: neighbours have
/// near numbers.
std::uint64_t hilbert_number(LatticePoint p) {
  constexpr int bits = 17, finest = 30 - bits;
  std::uint64_t x = static_cast<std::uint64_t>(p.x) >> finest, y = static_cast<std::uint64_t>(p.y) >> finest,
                number = 0;
  for (std::uint64_t side = std::uint64_t{1} << (bits - 1); side > 0; side /= 2) {
    const bool right = (x & side) != 0, upper = (y & side) != 0;
    number += side * side * ((right ? 3 : 0) ^ (upper ? 1 : 0));
    if (upper) continue;
    if (right) {
      x = ~x;
      y = ~y;
    }
    std::swap(x, y);
  }
  return number;
}

/// The order of insertion: as given where points are few, else rounds of random points, each about twice as
/// many as all before it, along Hilbert's curve (Amenta, Choi & Rote 2003): then no arrangement of points is
/// costly. A generator that is always seeded alike keeps the order the same.
std::vector<Index> insertion_order(const std::vector<LatticePoint>& points) {
  constexpr std::size_t few = 1024;
  std::vector<Index> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  if (points.size() <= few) return order;
  struct Key {
    int round;
    std::uint64_t number;
  };
  std::vector<Key> keys;
  keys.reserve(points.size());
  Random random(points.size());
  for (const LatticePoint& p : points) {
    const auto bits = static_cast<std::uint64_t>(random.uniform() * 0x1p32);
    keys.push_back({-std::countr_one(bits), hilbert_number(p)});
  }
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    if (keys[a].round != keys[b].round) return keys[a].round < keys[b].round;
    return keys[a].number != keys[b].number ? keys[a].number < keys[b].number : a < b;
  });
  return order;
}

class Triangulation {
 public:
  explicit Triangulation(std::vector<LatticePoint> points)
      : points_(std::move(points)), starting_at_(points_.size() + 1, no_index) {}

  std::vector<std::array<Index, 3>> run() {
    const auto seed = start();
    triangles_.reserve(2 * points_.size() + 2);
    for (const Index p : insertion_order(points_)) {
      if (std::find(seed.begin(), seed.end(), p) == seed.end()) insert(p);
    }
    std::vector<std::array<Index, 3>> result;
    for (const Triangle& t : triangles_) {
      if (t.alive && !is_ghost(t)) result.push_back(t.nodes);
    }
    return result;
  }

 private:
  /// neighbours[i] lies across the side from nodes[i] to nodes[i + 1].
  struct Triangle {
    std::array<Index, 3> nodes, neighbours;
    bool alive;
  };
  struct Side {
    Index from, to, outer;
  };

  static bool is_ghost(const Triangle& t) {
    return t.nodes[0] == infinite || t.nodes[1] == infinite || t.nodes[2] == infinite;
  }

  /// The first triangle and the three ghosts around it.
  std::array<Index, 3> start() {
    const Index count = static_cast<Index>(points_.size());
    Index third = 2;
    while (third < count && orientation(points_[0], points_[1], points_[third]) == 0) ++third;
    if (third == count) throw MeshError("delaunay: found all points on one line, expected a plane region");
    std::array<Index, 3> seed{0, 1, third};
    if (orientation(points_[0], points_[1], points_[third]) < 0) std::swap(seed[0], seed[1]);
    triangles_.push_back({seed, {1, 2, 3}, true});
    for (int i = 0; i < 3; ++i) {
      const Index from = seed[i], to = seed[(i + 1) % 3];
      // Sides of ghost i: (to, from) to the triangle, (from, infinite) and (infinite, to) to the other
      // ghosts.
      triangles_.push_back({{to, from, infinite}, {0, 1 + (i + 2) % 3, 1 + (i + 1) % 3}, true});
    }
    return seed;
  }

  /// Whether inserting p destroys triangle t; a ghost's circle is the half plane outside its hull side, with
  /// the open side itself.
  bool in_conflict(const Triangle& t, Index p) const {
    for (int i = 0; i < 3; ++i) {
      if (t.nodes[i] != infinite) continue;
      const LatticePoint a = points_[t.nodes[(i + 1) % 3]], b = points_[t.nodes[(i + 2) % 3]], x = points_[p];
      const auto side = orientation(a, b, x);
      if (side != 0) return side > 0;
      return (x.x - a.x) * (x.x - b.x) + (x.y - a.y) * (x.y - b.y) < 0;
    }
    return in_circle(points_[t.nodes[0]], points_[t.nodes[1]], points_[t.nodes[2]], points_[p]);
  }

  /// A triangle in conflict with p: walks from the last one towards p, through sides that p is beyond (in a
  /// Delaunay triangulation this walk ends).
  Index locate(Index p) const {
    Index t = last_;
    while (!is_ghost(triangles_[t])) {
      const Triangle& triangle = triangles_[t];
      const auto beyond = [&](int side) {
        return orientation(points_[triangle.nodes[side]], points_[triangle.nodes[(side + 1) % 3]],
                           points_[p]) < 0;
      };
      int side = 0;
      while (side < 3 && !beyond(side)) ++side;
      if (side == 3) break;
      t = triangle.neighbours[side];
    }
    return t;
  }

  void insert(Index p) {
    const Index first = locate(p);
    for (const Index node : triangles_[first].nodes) {
      if (node != infinite && points_[node].x == points_[p].x && points_[node].y == points_[p].y) {
        throw MeshError(text("delaunay: points ", node, " and ", p, " coincide, expected distinct points"));
      }
    }
    dig(first, p);
    fill(p);
  }

  /// Removes the triangles in conflict with p, connected to `first`, and collects the sides of the cavity.
  void dig(Index first, Index p) {
    cavity_.assign(1, first);
    sides_.clear();
    triangles_[first].alive = false;
    for (std::size_t i = 0; i < cavity_.size(); ++i) {
      const Triangle t = triangles_[cavity_[i]];
      for (int s = 0; s < 3; ++s) {
        const Index neighbour = t.neighbours[s];
        Triangle& beyond = triangles_[neighbour];
        if (beyond.alive && in_conflict(beyond, p)) {
          beyond.alive = false;
          cavity_.push_back(neighbour);
        }
      }
    }
    for (const Index dead : cavity_) {
      const Triangle& t = triangles_[dead];
      for (int s = 0; s < 3; ++s) {
        if (triangles_[t.neighbours[s]].alive)
          sides_.push_back({t.nodes[s], t.nodes[(s + 1) % 3], t.neighbours[s]});
      }
    }
  }

  /// Joins p to every side of the cavity.
  void fill(Index p) {
    std::vector<Index>& made = cavity_;  // the dead triangles' places are used again
    while (made.size() < sides_.size()) {
      made.push_back(static_cast<Index>(triangles_.size()));
      triangles_.push_back({});
    }
    for (std::size_t i = 0; i < sides_.size(); ++i) starting_at_[sides_[i].from + 1] = made[i];
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const Side& side = sides_[i];
      triangles_[made[i]].nodes = {side.from, side.to, p};
      triangles_[made[i]].alive = true;
      triangles_[made[i]].neighbours[0] = side.outer;
      const Index next = starting_at_[side.to + 1];
      triangles_[made[i]].neighbours[1] = next;
      triangles_[next].neighbours[2] = made[i];
      Triangle& outer = triangles_[side.outer];
      for (int s = 0; s < 3; ++s) {
        if (outer.nodes[s] == side.to && outer.nodes[(s + 1) % 3] == side.from) outer.neighbours[s] = made[i];
      }
      if (side.from != infinite && side.to != infinite) last_ = made[i];
    }
  }

  std::vector<LatticePoint> points_;
  std::vector<Triangle> triangles_;
  std::vector<Index> starting_at_;  ///< by node + 1: the new triangle whose cavity side starts there
  std::vector<Index> cavity_;
  std::vector<Side> sides_;
  Index last_ = 0;  ///< a triangle that is alive and no ghost
};

Vec2d centroid(const std::vector<Vec2d>& points, const std::array<Index, 3>& t) {
  return (1.0 / 3) * (points[t[0]] + points[t[1]] + points[t[2]]);
}

}  // namespace

std::vector<std::array<Index, 3>> delaunay_triangles(const std::vector<Vec2d>& points) {
  if (points.size() < 3)
    throw MeshError(text("delaunay: found ", points.size(), " points, expected at least 3"));
  return Triangulation(snapped(points)).run();
}

std::vector<std::array<Index, 3>> triangulate_region(const std::vector<Vec2d>& points, Index outline_count) {
  auto triangles = delaunay_triangles(points);
  // A triangle of outline nodes alone lies inside if it runs through them in the order of the outline.
  std::erase_if(triangles, [&](const auto& t) {
    const auto lowest = std::min_element(t.begin(), t.end()) - t.begin();
    const Index second = t[(lowest + 1) % 3], third = t[(lowest + 2) % 3];
    return second < outline_count && third < outline_count && second > third && t[lowest] < outline_count;
  });
  std::vector<char> found(static_cast<std::size_t>(outline_count), 0);
  for (const auto& t : triangles) {
    for (int i = 0; i < 3; ++i) {
      if (t[i] < outline_count && t[(i + 1) % 3] == (t[i] + 1) % outline_count) found[t[i]] = 1;
    }
  }
  const auto missing = std::find(found.begin(), found.end(), 0) - found.begin();
  if (missing < outline_count) {
    throw MeshError(text("triangulation: found no triangle at the outline's side from point ", missing,
                         ", expected one at each side; use more points on the outline or fewer inside"));
  }
  return triangles;
}

void spread_points(std::vector<Vec2d>& points, Index outline_count, int sweeps, Index kept) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<Vec2d> sums(points.size());
    std::vector<double> areas(points.size(), 0.0);
    for (const auto& t : triangulate_region(points, outline_count)) {
      const Vec2d a = points[t[1]] - points[t[0]], b = points[t[2]] - points[t[0]];
      const double area = a.x * b.y - a.y * b.x;
      for (const Index node : t) {
        sums[node] = sums[node] + area * centroid(points, t);
        areas[node] += area;
      }
    }
    for (auto k = static_cast<std::size_t>(std::max(kept, outline_count)); k < points.size(); ++k) {
      points[k] = (1 / areas[k]) * sums[k];
    }
  }
}

}  // namespace isocloth
