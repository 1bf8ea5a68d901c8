#include "engine/geometry/triangle_soup.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/geometry/closed_surface.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

constexpr double least_height = 1e-11;  ///< of a triangle, over the longest side of the box

double longest_side(const std::vector<Vec3d>& points) {
  Vec3d low = points.front(), high = low;
  for (const Vec3d& x : points) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

double area(const TriangleCorners& x) { return norm(cross(x[1] - x[0], x[2] - x[0])) / 2; }

bool has_area(const TriangleCorners& x, double least) {
  const double side = std::max({norm(x[1] - x[0]), norm(x[2] - x[1]), norm(x[0] - x[2])});
  return 2 * area(x) > least * side;
}

/// The faces, without nodes that none has.
Mesh without_unused(const Mesh& surface) {
  Mesh used;
  std::vector<Index> numbers(surface.positions.size(), -1);
  for (Index f = 0; f < surface.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : surface.face(f)) {
      if (numbers[node] < 0) {
        numbers[node] = used.node_count();
        used.positions.push_back(surface.positions[node]);
      }
      nodes.push_back(numbers[node]);
    }
    used.add_face(nodes);
  }
  return used;
}

/// The triangles with an area of all faces, their seams closed; flat: number of those without.
Mesh cut_and_weld(const Mesh& surface, Index& flat) {
  const Mesh used = without_unused(surface);
  Mesh cut, small;  // small: faces that cut_faces() cuts
  cut.positions = small.positions = used.positions;
  const double least = least_height * longest_side(used.positions);
  const auto add = [&](Index a, Index b, Index c) {
    if (has_area({used.positions[a], used.positions[b], used.positions[c]}, least))
      cut.add_face({a, b, c});
    else
      ++flat;
  };
  for (Index f = 0; f < used.face_count(); ++f) {
    const auto nodes = used.face(f);
    if (nodes.size() <= 4) {
      // From the same corner whichever way it runs: what is drawn from both sides is cut alike.
      std::vector<Index> corners(nodes.begin(), nodes.end());
      const auto key = [&](Index i) {
        return std::tie(used.positions[i].x, used.positions[i].y, used.positions[i].z);
      };
      std::rotate(
          corners.begin(),
          std::min_element(corners.begin(), corners.end(), [&](Index a, Index b) { return key(a) < key(b); }),
          corners.end());
      small.add_face(corners);
    }
    for (std::size_t k = 2; nodes.size() > 4 && k < nodes.size(); ++k) add(nodes[0], nodes[k - 1], nodes[k]);
  }
  for (const auto& [nodes, face] : cut_faces(small)) add(nodes[0], nodes[1], nodes[2]);
  if (cut.face_count() > 0) weld(cut, seam_width(cut));
  return cut;
}

/// One number for all nodes at a place, in the order of places; points: the places.
std::vector<Index> number_places(const std::vector<Vec3d>& positions, std::vector<Vec3d>& points) {
  std::vector<Index> order(positions.size()), numbers(positions.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](Index i) { return std::tie(positions[i].x, positions[i].y, positions[i].z); };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  for (const Index node : order) {
    if (points.empty() || !(points.back() == positions[node])) points.push_back(positions[node]);
    numbers[node] = static_cast<Index>(points.size()) - 1;
  }
  return numbers;
}

/// Whether a triangle runs through its corners in the ascending order, or a turn of it.
bool is_even(const std::array<Index, 3>& n) { return (n[0] < n[1]) + (n[1] < n[2]) + (n[2] < n[0]) == 2; }

/// The side of a triangle.
struct Side {
  Index low, high, triangle;
  bool ascending;
};

/// Sides of all triangles: those of one edge stand together.
std::vector<Side> sorted_sides(const std::vector<std::array<Index, 3>>& triangles) {
  std::vector<Side> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const Index from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      sides.push_back({std::min(from, to), std::max(from, to), static_cast<Index>(t), from < to});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return sides;
}
std::size_t end_of_edge(const std::vector<Side>& sides, std::size_t first) {
  std::size_t last = first + 1;
  while (last < sides.size() && sides[last].low == sides[first].low && sides[last].high == sides[first].high)
    ++last;
  return last;
}

/// Whether triangles that were drawn from both sides are the wall between two solids: at most of the rim of
/// what hangs together of them other triangles go on. faced: of each triangle, the lowest with its corners
/// where some face the other way, else -1. Shape [triangle_count].
std::vector<char> find_walls(const std::vector<std::array<Index, 3>>& triangles,
                             const std::vector<Index>& faced) {
  std::vector<Index> parents(triangles.size());
  std::iota(parents.begin(), parents.end(), 0);
  const auto find = [&](Index t) {
    while (parents[t] != t) t = parents[t] = parents[parents[t]];
    return t;
  };
  const std::vector<Side> sides = sorted_sides(triangles);
  struct Rim {
    Index of;
    bool goes_on;
  };
  std::vector<Rim> rims;
  for (std::size_t first = 0, last; first < sides.size(); first = last) {
    last = end_of_edge(sides, first);
    Index one = -1;
    bool is_rim = true, goes_on = false;
    for (std::size_t i = first; i < last; ++i) {
      const Index own = faced[sides[i].triangle];
      goes_on = goes_on || own < 0;
      if (own < 0 || own == one) continue;
      is_rim = one < 0;
      if (one >= 0) parents[find(own)] = find(one);
      one = own;
    }
    if (one >= 0 && is_rim) rims.push_back({one, goes_on});
  }
  std::vector<Index> sums(triangles.size(), 0);
  for (const Rim& rim : rims) sums[find(rim.of)] += rim.goes_on ? 1 : -1;
  std::vector<char> walls(triangles.size(), 0);
  for (std::size_t t = 0; t < triangles.size(); ++t) walls[t] = faced[t] >= 0 && sums[find(faced[t])] > 0;
  return walls;
}

/// Leaves out triangles whose corners others have, too.
void leave_out_doubles(TriangleSoup& soup) {
  const std::size_t count = soup.triangles.size();
  std::vector<std::array<Index, 3>> keys(soup.triangles);
  for (auto& key : keys) std::sort(key.begin(), key.end());
  std::vector<Index> order(count), faced(count, -1);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return std::tie(keys[a], a) < std::tie(keys[b], b); });
  std::vector<char> repeats(count, 0);
  for (std::size_t first = 0, last; first < count; first = last) {
    for (last = first + 1; last < count && keys[order[last]] == keys[order[first]];) ++last;
    std::size_t even = 0;
    for (std::size_t i = first; i < last; ++i) even += is_even(soup.triangles[order[i]]);
    for (std::size_t i = first; i < last; ++i) {
      repeats[order[i]] = i > first;
      if (even > 0 && even < last - first) faced[order[i]] = order[first];
    }
  }
  const std::vector<char> walls = find_walls(soup.triangles, faced);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < count; ++t)
    if (!walls[t] && !repeats[t]) soup.triangles[kept++] = soup.triangles[t];
  soup.doubled = static_cast<Index>(count - kept);
  soup.triangles.resize(kept);
}

/// Parts into pieces, in each of which all face one way.
void turn_alike(TriangleSoup& soup) {
  struct Neighbour {
    Index triangle;
    bool is_opposite;  ///< it runs through their edge the same way
  };
  const std::size_t count = soup.triangles.size();
  const std::vector<Side> sides = sorted_sides(soup.triangles);
  std::vector<std::vector<Neighbour>> neighbours(count);
  for (std::size_t first = 0, last; first < sides.size(); first = last) {
    last = end_of_edge(sides, first);
    if (last - first != 2) continue;
    const Side &a = sides[first], &b = sides[last - 1];
    neighbours[a.triangle].push_back({b.triangle, a.ascending == b.ascending});
    neighbours[b.triangle].push_back({a.triangle, a.ascending == b.ascending});
  }
  soup.pieces.assign(count, -1);
  std::vector<char> turns(count, 0);
  for (std::size_t seed = 0; seed < count; ++seed) {
    if (soup.pieces[seed] >= 0) continue;
    std::vector<Index> piece{static_cast<Index>(seed)};
    soup.pieces[seed] = soup.piece_count;
    for (std::size_t i = 0; i < piece.size(); ++i)
      for (const Neighbour& next : neighbours[piece[i]]) {
        if (soup.pieces[next.triangle] >= 0) continue;
        soup.pieces[next.triangle] = soup.piece_count;
        turns[next.triangle] = turns[piece[i]] != next.is_opposite;
        piece.push_back(next.triangle);
      }
    const auto turned = std::count_if(piece.begin(), piece.end(), [&](Index t) { return turns[t]; });
    const bool most = 2 * turned > static_cast<std::ptrdiff_t>(piece.size());
    for (const Index t : piece) {
      if (static_cast<bool>(turns[t]) == most) continue;
      std::swap(soup.triangles[t][1], soup.triangles[t][2]);
      ++soup.turned;
    }
    ++soup.piece_count;
  }
}

}  // namespace

TriangleSoup make_soup(const Mesh& surface) {
  TriangleSoup soup;
  const Mesh cut = cut_and_weld(surface, soup.flat);
  const std::vector<Index> numbers = number_places(cut.positions, soup.points);
  for (Index f = 0; f < cut.face_count(); ++f) {
    const auto n = cut.face(f);
    const std::array<Index, 3> places{numbers[n[0]], numbers[n[1]], numbers[n[2]]};
    if (places[0] != places[1] && places[1] != places[2] && places[2] != places[0])
      soup.triangles.push_back(places);
    else
      ++soup.flat;
  }
  leave_out_doubles(soup);
  turn_alike(soup);
  return soup;
}

}  // namespace isocloth
