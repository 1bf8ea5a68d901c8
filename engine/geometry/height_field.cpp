#include "engine/geometry/height_field.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {
namespace {

/// Bilinear between samples; i and j count parts.
double height_at(const HeightFieldShape& shape, int parts, Index i, Index j) {
  const Index column = std::min(i / parts, shape.samples[0] - 2),
              row = std::min(j / parts, shape.samples[1] - 2);
  const double u = static_cast<double>(i - column * parts) / parts,
               v = static_cast<double>(j - row * parts) / parts;
  const auto sample = [&](Index x, Index y) {
    return shape.heights[static_cast<std::size_t>(y) * shape.samples[0] + x];
  };
  return (1 - v) * ((1 - u) * sample(column, row) + u * sample(column + 1, row)) +
         v * ((1 - u) * sample(column, row + 1) + u * sample(column + 1, row + 1));
}

}  // namespace

Mesh height_field_surface(const HeightFieldShape& shape, int parts, double bottom) {
  const Index nx = (shape.samples[0] - 1) * parts + 1, ny = (shape.samples[1] - 1) * parts + 1;
  const double side = shape.spacing / parts;
  Mesh mesh;
  for (Index j = 0; j < ny; ++j) {
    for (Index i = 0; i < nx; ++i)
      mesh.positions.push_back({i * side, j * side, height_at(shape, parts, i, j)});
  }
  for (Index j = 0; j + 1 < ny; ++j) {
    for (Index i = 0; i + 1 < nx; ++i) {
      const Index a = j * nx + i, b = a + 1, c = b + nx, d = a + nx;
      const auto z = [&](Index node) { return mesh.positions[node].z; };
      if (std::abs(z(a) + z(c) - z(b) - z(d)) / 4 <= 0.01 * side) {
        mesh.add_face({a, b, c});
        mesh.add_face({a, c, d});
        continue;
      }
      const Index middle = mesh.node_count();
      mesh.positions.push_back({(i + 0.5) * side, (j + 0.5) * side, (z(a) + z(b) + z(c) + z(d)) / 4});
      for (const auto& [from, to] :
           {std::array{a, b}, std::array{b, c}, std::array{c, d}, std::array{d, a}}) {
        mesh.add_face({from, to, middle});
      }
    }
  }
  // Around the field counter-clockwise, each node with one below it; the bottom is a fan.
  std::vector<Index> rim;
  for (Index i = 0; i + 1 < nx; ++i) rim.push_back(i);
  for (Index j = 0; j + 1 < ny; ++j) rim.push_back(j * nx + nx - 1);
  for (Index i = nx - 1; i > 0; --i) rim.push_back((ny - 1) * nx + i);
  for (Index j = ny - 1; j > 0; --j) rim.push_back(j * nx);
  const Index below = mesh.node_count(), count = static_cast<Index>(rim.size()), middle = below + count;
  for (const Index node : rim)
    mesh.positions.push_back({mesh.positions[node].x, mesh.positions[node].y, bottom});
  mesh.positions.push_back({(nx - 1) * side / 2, (ny - 1) * side / 2, bottom});
  for (Index k = 0; k < count; ++k) {
    const Index next = (k + 1) % count;
    mesh.add_face({rim[k], below + k, below + next});
    mesh.add_face({rim[k], below + next, rim[next]});
    mesh.add_face({below + next, below + k, middle});
  }
  return mesh;
}

}  // namespace isocloth
