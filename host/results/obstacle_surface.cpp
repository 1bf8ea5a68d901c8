#include "host/results/obstacle_surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace isocloth {
namespace {

constexpr std::size_t most_triangles = 60'000;
constexpr Index most_samples = 201;

/// Cosine and sine from 0 to a right angle, its ends exact: what should meet meets bit for bit.
std::vector<std::array<double, 2>> quarter(int pieces) {
  std::vector<std::array<double, 2>> all;
  for (int i = 0; i <= pieces; ++i) {
    const double angle = std::numbers::pi / 2 * i / pieces;
    all.push_back({i == pieces ? 0 : std::cos(angle), i == 0 ? 0 : i == pieces ? 1 : std::sin(angle)});
  }
  return all;
}

/// Merges vertices at one place and drops triangles that have lost a corner.
ObstacleSurface welded(const ObstacleSurface& loose) {
  ObstacleSurface result;
  std::map<std::array<double, 3>, Index> known;
  std::vector<Index> number;
  for (const Vec3d& p : loose.vertices) {
    const auto [at, is_new] = known.emplace(std::array{p.x, p.y, p.z}, static_cast<Index>(known.size()));
    if (is_new) result.vertices.push_back(p);
    number.push_back(at->second);
  }
  for (const auto& [a, b, c] : loose.triangles) {
    const std::array corners{number[a], number[b], number[c]};
    if (corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0])
      result.triangles.push_back(corners);
  }
  return result;
}

ObstacleSurface surface_of(const RoundedSolid& solid) {
  // Pieces per quarter turn from the top to the side and about z: fewer where only an edge is round.
  const bool is_box = solid.half.x > 0 || solid.half.y > 0, is_round = solid.rounding > 0;
  const auto rows = quarter(!is_round ? 1 : is_box || solid.disc > 0 ? 4 : 12);
  const auto columns = quarter(!is_box ? 12 : is_round ? 4 : 1);
  ObstacleSurface loose;
  // Rings about z, from the lowest to the highest.
  const auto add_ring = [&](double z, double radius) {
    for (int q = 0; q < 4; ++q) {
      for (const auto& [c, s] : columns) {
        const std::array<double, 2> turned[] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
        const double x_side = q == 0 || q == 3 ? 1 : -1, y_side = q < 2 ? 1 : -1;
        loose.vertices.push_back({x_side * solid.half.x + radius * turned[q][0],
                                  y_side * solid.half.y + radius * turned[q][1], z});
      }
    }
  };
  for (const auto& [c, s] : rows)
    add_ring(-solid.half.z - solid.rounding * c, solid.disc + solid.rounding * s);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    add_ring(solid.half.z + solid.rounding * (*row)[0], solid.disc + solid.rounding * (*row)[1]);
  const auto ring_size = static_cast<Index>(4 * columns.size());
  const auto ring_count = static_cast<Index>(2 * rows.size());
  for (Index r = 0; r + 1 < ring_count; ++r) {
    for (Index i = 0; i < ring_size; ++i) {
      const Index a = r * ring_size + i, b = r * ring_size + (i + 1) % ring_size;
      loose.triangles.push_back({a, b, b + ring_size});
      loose.triangles.push_back({a, b + ring_size, a + ring_size});
    }
  }
  const Index top = (ring_count - 1) * ring_size;
  for (Index i = 1; i + 1 < ring_size; ++i) {
    loose.triangles.push_back({0, i + 1, i});
    loose.triangles.push_back({top, top + i, top + i + 1});
  }
  return welded(loose);
}

/// Numbers of the samples that stay, the first and the last among them.
std::vector<Index> kept_samples(Index count) {
  const Index kept = std::min(count, most_samples);
  std::vector<Index> all;
  for (Index i = 0; i < kept; ++i)
    all.push_back(static_cast<Index>(static_cast<std::int64_t>(i) * (count - 1) / (kept - 1)));
  return all;
}

ObstacleSurface surface_of(const HeightFieldShape& field) {
  ObstacleSurface result;
  const std::vector<Index> columns = kept_samples(field.samples[0]), rows = kept_samples(field.samples[1]);
  const double lowest = *std::min_element(field.heights.begin(), field.heights.end());
  const auto width = static_cast<Index>(columns.size()), depth = static_cast<Index>(rows.size());
  for (const Index y : rows) {
    for (const Index x : columns) {
      const auto sample = static_cast<std::size_t>(y) * static_cast<std::size_t>(field.samples[0]) +
                          static_cast<std::size_t>(x);
      result.vertices.push_back({field.spacing * x, field.spacing * y, field.heights[sample]});
    }
  }
  const auto add_quad = [&result](Index a, Index b, Index c, Index d) {
    result.triangles.push_back({a, b, c});
    result.triangles.push_back({a, c, d});
  };
  for (Index y = 0; y + 1 < depth; ++y) {
    for (Index x = 0; x + 1 < width; ++x) {
      const Index a = y * width + x;
      add_quad(a, a + 1, a + 1 + width, a + width);
    }
  }
  // The walls, counter-clockwise seen from above.
  std::vector<Index> rim;
  for (Index x = 0; x + 1 < width; ++x) rim.push_back(x);
  for (Index y = 0; y + 1 < depth; ++y) rim.push_back(y * width + width - 1);
  for (Index x = width - 1; x > 0; --x) rim.push_back((depth - 1) * width + x);
  for (Index y = depth - 1; y > 0; --y) rim.push_back(y * width);
  const auto foot = static_cast<Index>(result.vertices.size()), count = static_cast<Index>(rim.size());
  for (Index i = 0; i < count; ++i) {
    const Vec3d& top = result.vertices[static_cast<std::size_t>(rim[i])];
    result.vertices.push_back({top.x, top.y, lowest});
  }
  for (Index i = 0; i < count; ++i) {
    const Index next = (i + 1) % count;
    add_quad(rim[next], rim[i], foot + i, foot + next);
  }
  return result;
}

/// Vertices of one cell become one, in their middle.
ObstacleSurface merged(const ObstacleSurface& fine, const Vec3d& low, double cell) {
  ObstacleSurface coarse = fine;
  std::map<std::array<double, 3>, std::pair<Vec3d, double>> sums;
  const auto cell_of = [&](const Vec3d& p) {
    return std::array{std::floor((p.x - low.x) / cell), std::floor((p.y - low.y) / cell),
                      std::floor((p.z - low.z) / cell)};
  };
  for (const Vec3d& p : fine.vertices) {
    auto& [sum, count] = sums[cell_of(p)];
    sum += p;
    count += 1;
  }
  for (Vec3d& p : coarse.vertices) {
    const auto& [sum, count] = sums[cell_of(p)];
    p = (1 / count) * sum;
  }
  return welded(coarse);
}

ObstacleSurface surface_of(const Mesh& mesh) {
  ObstacleSurface fine{.vertices = mesh.positions, .triangles = {}};
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> face = mesh.face(f);
    for (Index c = 1; c + 1 < mesh.face_size(f); ++c)
      fine.triangles.push_back(
          {face[0], face[static_cast<std::size_t>(c)], face[static_cast<std::size_t>(c + 1)]});
  }
  if (fine.triangles.size() <= most_triangles) return fine;
  Vec3d low = fine.vertices[0], high = low;
  for (const Vec3d& p : fine.vertices) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const double diagonal = norm(high - low);
  if (diagonal == 0) return welded(fine);
  // A surface has about as many triangles as there are cells on the sides of its box, or fewer.
  ObstacleSurface coarse = fine;
  for (double cells = 160; coarse.triangles.size() > most_triangles; cells *= 0.8)
    coarse = merged(fine, low, diagonal / cells);
  return coarse;
}

struct Surface {
  ObstacleSurface operator()(const PlaneShape&) const {
    return {.vertices = {{-5, -5, 0}, {5, -5, 0}, {5, 5, 0}, {-5, 5, 0}},
            .triangles = {{0, 1, 2}, {0, 2, 3}}};
  }
  ObstacleSurface operator()(const HasSolid auto& shape) const { return surface_of(shape.solid()); }
  ObstacleSurface operator()(const HeightFieldShape& shape) const { return surface_of(shape); }
  ObstacleSurface operator()(const MeshShape& shape) const { return surface_of(shape.surface); }
  ObstacleSurface operator()(const auto& shape) const { return surface_of(shape.picture()); }
};

}  // namespace

ObstacleSurface obstacle_surface(const ObstacleShape& shape) { return std::visit(Surface{}, shape); }

}  // namespace isocloth
