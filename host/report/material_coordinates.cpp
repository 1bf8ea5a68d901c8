#include "host/report/material_coordinates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <queue>

namespace isocloth {
namespace {

struct Unfolding {
  const ReportGarment& garment;
  const double* rest;

  std::size_t face_count() const { return garment.face_begin.size() - 1; }
  std::size_t begin(std::size_t face) const { return static_cast<std::size_t>(garment.face_begin[face]); }
  std::size_t size(std::size_t face) const { return begin(face + 1) - begin(face); }
  Vec3d corner(std::size_t at) const {
    const double* p = rest + 3 * static_cast<std::size_t>(garment.face_nodes[at]);
    return {p[0], p[1], p[2]};
  }
  Vec3d area_vector(std::size_t face) const {
    const std::size_t a = begin(face);
    if (size(face) == 3) return 0.5 * cross(corner(a + 1) - corner(a), corner(a + 2) - corner(a));
    return 0.5 * cross(corner(a + 2) - corner(a), corner(a + 3) - corner(a + 1));
  }
  Vec3d center(std::size_t face) const {
    Vec3d sum;
    for (std::size_t c = begin(face); c < begin(face + 1); ++c) sum += corner(c);
    return (1.0 / static_cast<double>(size(face))) * sum;
  }
  double area() const {
    double sum = 0;
    for (std::size_t f = 0; f < face_count(); ++f) sum += norm(area_vector(f));
    return sum;
  }

  /// The face in its mean plane, its first corner at 0, u along the x axis (y where that is nearly normal).
  std::array<Vec2d, 4> flat(std::size_t face) const {
    const Vec3d area = area_vector(face);
    const Vec3d n = norm(area) > 0 ? normalized(area) : Vec3d{0, 0, 1};
    const Vec3d axis = std::abs(n.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    const Vec3d u = normalized(axis - dot(axis, n) * n), v = cross(n, u);
    std::array<Vec2d, 4> result;
    for (std::size_t c = 0; c < size(face); ++c) {
      const Vec3d d = corner(begin(face) + c) - corner(begin(face));
      result[c] = {dot(d, u), dot(d, v)};
    }
    return result;
  }
};

/// Both sides of an edge: corners of faces at which it begins and ends, seen from the lower node.
struct EdgeSide {
  std::size_t face, from, to;
};
using EdgeSides = std::map<std::array<Index, 2>, std::vector<EdgeSide>>;

EdgeSides edge_sides(const Unfolding& shape) {
  EdgeSides sides;
  for (std::size_t f = 0; f < shape.face_count(); ++f)
    for (std::size_t c = 0; c < shape.size(f); ++c) {
      std::size_t from = shape.begin(f) + c, to = shape.begin(f) + (c + 1) % shape.size(f);
      if (shape.garment.face_nodes[from] > shape.garment.face_nodes[to]) std::swap(from, to);
      sides[{shape.garment.face_nodes[from], shape.garment.face_nodes[to]}].push_back({f, from, to});
    }
  return sides;
}

/// Moves the flat face so that its edge lies on that of its neighbour, middle on middle.
void place(const Unfolding& shape, const EdgeSide& known, const EdgeSide& side, std::vector<Vec2d>& uvs) {
  const std::array<Vec2d, 4> flat = shape.flat(side.face);
  const std::size_t first = shape.begin(side.face);
  const Vec2d a = flat[side.from - first], d = flat[side.to - first] - a;
  const Vec2d e = uvs[known.to] - uvs[known.from];
  const double scale = std::hypot(d.x, d.y) * std::hypot(e.x, e.y);
  const double cosine = scale > 0 ? (d.x * e.x + d.y * e.y) / scale : 1,
               sine = scale > 0 ? (d.x * e.y - d.y * e.x) / scale : 0;
  const Vec2d from = a + 0.5 * d, to = uvs[known.from] + 0.5 * e;
  for (std::size_t c = 0; c < shape.size(side.face); ++c) {
    const Vec2d p = flat[c] - from;
    uvs[first + c] = to + Vec2d{cosine * p.x - sine * p.y, sine * p.x + cosine * p.y};
  }
}

/// Nearest faces first, so that cuts fall far from the middle.
std::vector<Vec2d> unfold(const Unfolding& shape) {
  const EdgeSides sides = edge_sides(shape);
  Vec3d middle;
  double area = 0;
  for (std::size_t f = 0; f < shape.face_count(); ++f) {
    const double part = norm(shape.area_vector(f));
    middle += part * shape.center(f);
    area += part;
  }
  if (area > 0) middle = (1 / area) * middle;
  const auto distance = [&](std::size_t f) { return norm(shape.center(f) - middle); };

  std::vector<std::size_t> nearest(shape.face_count());
  for (std::size_t f = 0; f < nearest.size(); ++f) nearest[f] = f;
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  std::vector<Vec2d> uvs(shape.garment.face_nodes.size());
  std::vector<char> is_placed(shape.face_count(), 0);
  using Entry = std::pair<double, std::size_t>;  // way through faces [m], face
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> front;
  const auto add = [&](std::size_t face, double way) {
    is_placed[face] = 1;
    front.push({way, face});
  };
  for (const std::size_t seed : nearest) {
    if (is_placed[seed]) continue;
    const Vec3d d = shape.corner(shape.begin(seed)) - middle;
    const std::array<Vec2d, 4> flat = shape.flat(seed);
    for (std::size_t c = 0; c < shape.size(seed); ++c) uvs[shape.begin(seed) + c] = Vec2d{d.x, d.z} + flat[c];
    add(seed, 0);
    while (!front.empty()) {
      const auto [way, face] = front.top();
      front.pop();
      for (std::size_t c = 0; c < shape.size(face); ++c) {
        const Index a = shape.garment.face_nodes[shape.begin(face) + c];
        const Index b = shape.garment.face_nodes[shape.begin(face) + (c + 1) % shape.size(face)];
        const std::vector<EdgeSide>& both = sides.at({std::min(a, b), std::max(a, b)});
        const EdgeSide& known = *std::find_if(both.begin(), both.end(),
                                              [f = face](const EdgeSide& side) { return side.face == f; });
        for (const EdgeSide& side : both) {
          if (is_placed[side.face]) continue;
          place(shape, known, side, uvs);
          add(side.face, way + norm(shape.center(side.face) - shape.center(face)));
        }
      }
    }
  }
  return uvs;
}

double uv_area(const Unfolding& shape, const std::vector<Vec2d>& uvs) {
  double sum = 0;
  for (std::size_t f = 0; f < shape.face_count(); ++f) {
    double twice = 0;
    for (std::size_t c = 0; c < shape.size(f); ++c) {
      const Vec2d a = uvs[shape.begin(f) + c], b = uvs[shape.begin(f) + (c + 1) % shape.size(f)];
      twice += a.x * b.y - a.y * b.x;
    }
    sum += std::abs(twice) / 2;
  }
  return sum;
}

}  // namespace

std::vector<Vec2d> material_coordinates(const ReportGarment& garment, const double* rest_positions) {
  const Unfolding shape{garment, rest_positions};
  if (garment.corner_uvs.empty()) return unfold(shape);
  std::vector<Vec2d> uvs = garment.corner_uvs;
  const double scale = std::sqrt(shape.area() / uv_area(shape, uvs));
  if (!std::isfinite(scale) || !(scale > 0)) return unfold(shape);
  // Cloth is cut to stretch by less than this: a larger ratio is another unit.
  constexpr double same_unit = 1.25;
  if (scale > same_unit || scale < 1 / same_unit)
    for (Vec2d& uv : uvs) uv = scale * uv;
  return uvs;
}

}  // namespace isocloth
