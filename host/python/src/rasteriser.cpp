// Pictures of many worlds at once, for cameras of environments: nearest triangle of each pixel.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/core/array_view.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

/// A vertex as a camera takes it: u w, v w, w and distance.
struct Corner {
  float u, v, w, distance;
};
/// The same in a picture: its place in pixels, 1 / w, and distance over w, all linear in the picture.
struct Seen {
  float u, v, inverse, distance;
};

Seen project(const Corner& c) {
  const float inverse = 1 / c.w;
  return {c.u * inverse, c.v * inverse, inverse, c.distance * inverse};
}
/// Where the edge from a to b has this w.
Corner at_plane(const Corner& a, const Corner& b, float w) {
  const float t = (w - a.w) / (b.w - a.w);
  return {a.u + t * (b.u - a.u), a.v + t * (b.v - a.v), w, a.distance + t * (b.distance - a.distance)};
}

/// What is drawn into the picture of a world.
struct Picture {
  Index width, height;
  float near_distance;
  float* distances;         ///< shape [height, width]
  std::int32_t* faces;      ///< same shape
  std::int32_t first_face;  ///< number of the first triangle
};

/// Twice the area of a triangle, positive where it turns from u to v.
float turn(const Seen& a, const Seen& b, float u, float v) {
  return (b.u - a.u) * (v - a.v) - (b.v - a.v) * (u - a.u);
}

void draw(const Seen& a, const Seen& b, const Seen& c, std::int32_t face, const Picture& picture) {
  const float area = turn(a, b, c.u, c.v);
  if (!(std::abs(area) > 0)) return;
  const auto clamped = [](float value, Index most) {
    return static_cast<Index>(std::clamp(value, 0.0F, static_cast<float>(most)));
  };
  const Index left = clamped(std::ceil(std::min({a.u, b.u, c.u}) - 0.5F), picture.width),
              right = clamped(std::floor(std::max({a.u, b.u, c.u}) - 0.5F) + 1, picture.width),
              low = clamped(std::ceil(std::min({a.v, b.v, c.v}) - 0.5F), picture.height),
              high = clamped(std::floor(std::max({a.v, b.v, c.v}) - 0.5F) + 1, picture.height);
  for (Index row = low; row < high; ++row)
    for (Index column = left; column < right; ++column) {
      const float u = static_cast<float>(column) + 0.5F, v = static_cast<float>(row) + 0.5F;
      const float of_a = turn(b, c, u, v) / area, of_b = turn(c, a, u, v) / area, of_c = 1 - of_a - of_b;
      if (!(of_a >= 0 && of_b >= 0 && of_c >= 0)) continue;
      const float distance = (of_a * a.distance + of_b * b.distance + of_c * c.distance) /
                             (of_a * a.inverse + of_b * b.inverse + of_c * c.inverse);
      const std::size_t pixel = static_cast<std::size_t>(row) * picture.width + column;
      if (!(distance >= picture.near_distance && distance < picture.distances[pixel])) continue;
      picture.distances[pixel] = distance;
      picture.faces[pixel] = picture.first_face + face;
    }
}

/// Draws what of a triangle is in front of the camera.
void clip_and_draw(const Corner (&triangle)[3], std::int32_t face, const Picture& picture) {
  const float plane = std::max(picture.near_distance, 1e-6F);
  Seen polygon[4];
  std::size_t count = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Corner &a = triangle[k], &b = triangle[(k + 1) % 3];
    if (a.w >= plane) polygon[count++] = project(a);
    if ((a.w >= plane) != (b.w >= plane)) polygon[count++] = project(at_plane(a, b, plane));
  }
  for (std::size_t k = 2; k < count; ++k) draw(polygon[0], polygon[k - 1], polygon[k], face, picture);
}

/// camera: rows of u w, v w, w and distance of (x, y, z, 1).
void draw_world(const double* points, std::size_t point_count, const std::int32_t* triangles,
                std::size_t triangle_count, const double* camera, const Picture& picture,
                std::vector<Corner>& corners) {
  corners.resize(point_count);
  for (std::size_t i = 0; i < point_count; ++i) {
    float row[4];
    for (std::size_t k = 0; k < 4; ++k)
      row[k] = static_cast<float>(camera[4 * k] * points[3 * i] + camera[4 * k + 1] * points[3 * i + 1] +
                                  camera[4 * k + 2] * points[3 * i + 2] + camera[4 * k + 3]);
    corners[i] = {row[0], row[1], row[2], row[3]};
  }
  for (std::size_t t = 0; t < triangle_count; ++t)
    clip_and_draw({corners[triangles[3 * t]], corners[triangles[3 * t + 1]], corners[triangles[3 * t + 2]]},
                  static_cast<std::int32_t>(t), picture);
}

void rasterise(const In<double>& points, const In<std::int32_t>& triangles, const In<double>& cameras,
               const Out<float>& distances, const Out<std::int32_t>& faces, double near_distance,
               std::int32_t first_face) {
  const auto size = [](const auto& array, std::size_t axis) { return array.shape(axis); };
  if (points.ndim() != 3 || triangles.ndim() != 2 || cameras.ndim() != 3 || distances.ndim() != 3 ||
      faces.ndim() != 3)
    throw ShapeError(
        "rasterise: found another number of axes, expected points of 3, triangles of 2, cameras, distances "
        "and "
        "faces of 3");
  const std::size_t worlds = size(distances, 0), nodes = size(points, 1);
  require_shape({size(points, 0), nodes, size(points, 2)}, {size(points, 0) == 1 ? 1 : worlds, any_size, 3},
                "points");
  require_shape({size(triangles, 0), size(triangles, 1)}, {any_size, 3}, "triangles");
  require_shape({size(cameras, 0), size(cameras, 1), size(cameras, 2)},
                {size(cameras, 0) == 1 ? 1 : worlds, 4, 4}, "cameras");
  require_shape({size(faces, 0), size(faces, 1), size(faces, 2)},
                {worlds, size(distances, 1), size(distances, 2)}, "faces");
  for (std::size_t i = 0; i < triangles.size(); ++i)
    if (triangles.data()[i] < 0 || static_cast<std::size_t>(triangles.data()[i]) >= nodes)
      throw ShapeError(text("triangles: found node ", triangles.data()[i], ", expected 0 to ", nodes - 1));
  const std::size_t pixels = size(distances, 1) * size(distances, 2);
  std::atomic<std::size_t> next{0};
  const auto draw_some = [&] {
    std::vector<Corner> corners;
    for (std::size_t world = next++; world < worlds; world = next++)
      draw_world(points.data() + (size(points, 0) == 1 ? 0 : 3 * nodes * world), nodes, triangles.data(),
                 size(triangles, 0), cameras.data() + (size(cameras, 0) == 1 ? 0 : 16 * world),
                 {.width = static_cast<Index>(size(distances, 2)),
                  .height = static_cast<Index>(size(distances, 1)),
                  .near_distance = static_cast<float>(near_distance),
                  .distances = distances.data() + pixels * world,
                  .faces = faces.data() + pixels * world,
                  .first_face = first_face},
                 corners);
  };
  const nb::gil_scoped_release released;
  std::vector<std::jthread> others;
  constexpr std::size_t worth_a_thread = 16;  // worlds
  for (std::size_t i = 1;
       i < std::min<std::size_t>(std::thread::hardware_concurrency(), worlds / worth_a_thread); ++i)
    others.emplace_back(draw_some);
  draw_some();
}

}  // namespace

void bind_rasteriser(nb::module_& module) {
  module.def(
      "rasterise", &rasterise, "points"_a, "triangles"_a, "cameras"_a, "distances"_a.noconvert(),
      "faces"_a.noconvert(), "near_distance"_a, "first_face"_a,
      "Draws triangles into the pictures of many worlds. points [m], shape (worlds, nodes, 3), and cameras, "
      "shape (worlds, 4, 4), may have one world for all; a camera takes (x, y, z, 1) to u w, v w, w and "
      "distance, u and v in pixels, w > 0 in front of it. Changes ``distances``, float32, and ``faces``, "
      "int32, shape (worlds, height, width), where a triangle is nearer at the middle of a pixel: faces gets "
      "its number plus ``first_face``. What is nearer than ``near_distance`` is not drawn.");
}

}  // namespace isocloth::python
