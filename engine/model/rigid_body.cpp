#include "engine/model/rigid_body.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>

#include "engine/core/checks.hpp"
#include "engine/core/position_text.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;

MassProperties diagonal(double volume, double xx, double yy, double zz) {
  // xx = integral of x^2 over the solid
  const double s = 1 / volume;
  return {.volume = volume,
          .center = {},
          .inertia = {Vec3d{s * (yy + zz), 0, 0}, Vec3d{0, s * (xx + zz), 0}, Vec3d{0, 0, s * (xx + yy)}}};
}

/// Integrals over s from 0 to r of (a + s)^2 times 1, sqrt(r^2 - s^2) and r^2 - s^2.
std::array<double, 3> cap_integrals(double a, double r) {
  return {a * a * r + a * r * r + r * r * r / 3,
          a * a * pi * r * r / 4 + 2 * a * r * r * r / 3 + pi * r * r * r * r / 16,
          a * a * 2 * r * r * r / 3 + a * r * r * r * r / 2 + 2 * std::pow(r, 5) / 15};
}

/// Integral of x^2 over a box of half lengths a, b, c, rounded outwards by r: slices across x are rectangles
/// rounded by r, beyond a by sqrt(r^2 - (x - a)^2).
double box_square(double a, double b, double c, double r) {
  const double slice = 4 * b * c + 4 * r * (b + c) + pi * r * r;
  const auto [flat, root, square] = cap_integrals(a, r);
  return 2 * a * a * a / 3 * slice + 2 * (4 * b * c * flat + 4 * (b + c) * root + pi * square);
}

MassProperties rounded_box(double a, double b, double c, double r) {
  const double volume =
      8 * a * b * c + 8 * r * (a * b + b * c + c * a) + 2 * pi * r * r * (a + b + c) + 4 * pi / 3 * r * r * r;
  return diagonal(volume, box_square(a, b, c, r), box_square(b, c, a, r), box_square(c, a, b, r));
}

/// About z: discs of radius q + r for |z| < c, then of q + sqrt(r^2 - (z - c)^2).
MassProperties rounded_cylinder(double q, double c, double r) {
  const double disc = pi * (q + r) * (q + r);
  const double volume = 2 * c * disc + 2 * pi * (q * q * r + q * pi * r * r / 2 + 2 * r * r * r / 3);
  const auto [flat, root, square] = cap_integrals(c, r);
  const double zz = 2 * c * c * c / 3 * disc + 2 * pi * (q * q * flat + 2 * q * root + square);
  const double fourth = std::pow(q, 4) * r + std::pow(q, 3) * pi * r * r + 4 * q * q * r * r * r +
                        3 * pi / 4 * q * std::pow(r, 4) + 8 * std::pow(r, 5) / 15;
  const double xx = 2 * c * pi * std::pow(q + r, 4) / 4 + pi / 2 * fourth;
  return diagonal(volume, xx, xx, zz);
}

/// visit(a, b, c) for every triangle, quadrilaterals cut along the diagonal from their first corner.
template <class Visit>
void for_each_triangle(const Mesh& mesh, const Visit& visit) {
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    for (std::size_t i = 2; i < face.size(); ++i)
      visit(mesh.positions[face[0]], mesh.positions[face[i - 1]], mesh.positions[face[i]]);
  }
}

MassProperties of_mesh(const Mesh& mesh, const std::string& key) {
  // From a point near by, or a mesh far from its origin would lose digits.
  const Vec3d origin = mesh.positions.front();
  double volume = 0, squares[3][3] = {};
  Vec3d first;
  for_each_triangle(mesh, [&](const Vec3d& p, const Vec3d& q, const Vec3d& s) {
    const Vec3d a = p - origin, b = q - origin, c = s - origin, sum = a + b + c;
    const double v = dot(a, cross(b, c)) / 6;
    volume += v;
    first += v / 4 * sum;
    const auto at = [](const Vec3d& x, int k) { return k == 0 ? x.x : k == 1 ? x.y : x.z; };
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        squares[i][j] +=
            v / 20 *
            (at(a, i) * at(a, j) + at(b, i) * at(b, j) + at(c, i) * at(c, j) + at(sum, i) * at(sum, j));
  });
  if (!(volume > 0))
    refuse(key, text("volume ", volume, " m^3"), "faces seen counter-clockwise from outside");
  const Vec3d m = (1 / volume) * first;
  const double center[3] = {m.x, m.y, m.z};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) squares[i][j] = squares[i][j] / volume - center[i] * center[j];
  const double trace = squares[0][0] + squares[1][1] + squares[2][2];
  MassProperties result{.volume = volume, .center = origin + m, .inertia = {}};
  for (std::size_t i = 0; i < 3; ++i) result.inertia[i] = {-squares[i][0], -squares[i][1], -squares[i][2]};
  result.inertia[0].x += trace;
  result.inertia[1].y += trace;
  result.inertia[2].z += trace;
  return result;
}

struct OfShape {
  const std::string& key;

  MassProperties operator()(const HasSolid auto& s) const {
    const auto [half, disc, rounding] = s.solid();
    return disc > 0 ? rounded_cylinder(disc, half.z, rounding)
                    : rounded_box(half.x, half.y, half.z, rounding);
  }
  MassProperties operator()(const MeshShape& s) const { return of_mesh(s.surface, key); }
  MassProperties operator()(const auto& s) const {
    refuse(key, text("a ", s.name), "a solid for a body: sphere, capsule, cylinder, box or mesh");
  }
};

/// No corner lies beyond the plane of a face by more than rounding of the file's numbers.
void check_convex(const Mesh& mesh, const std::string& key) {
  Vec3d low = mesh.positions.front(), high = low;
  for (const Vec3d& x : mesh.positions) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  const double room = 1e-5 * norm(high - low);
  for_each_triangle(mesh, [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const Vec3d n = cross(b - a, c - a);
    const double area = norm(n);
    if (!(area > 0)) return;
    for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
      const double beyond = dot(n, mesh.positions[i] - a) / area;
      if (beyond > room)
        refuse(key,
               text("node ", i, position_text(mesh.positions[i].x, mesh.positions[i].y, mesh.positions[i].z),
                    ", ", beyond, " m beyond the plane of a face"),
               "a convex surface; split the body, or take its convex hull");
    }
  });
}

}  // namespace

MassProperties mass_properties(const ObstacleShape& shape, const std::string& key) {
  return std::visit(OfShape{key}, shape);
}

void validate_body(const RigidBody& body, const std::string& key) {
  const std::string shape_key = key + ".shape";
  validate_obstacle({.name = body.name,
                     .shape = body.shape,
                     .position = body.position,
                     .rotation = body.rotation,
                     .motion = {},
                     .friction = body.friction},
                    key);
  if (const auto* const mesh = std::get_if<MeshShape>(&body.shape)) {
    if (mesh->thicken != 0)
      refuse(shape_key + ".thicken", mesh->thicken, "0: the mass of a body is that of its surface's inside");
    check_convex(mesh->surface, shape_key + ".surface");
  }
  mass_properties(body.shape, shape_key);
  require_positive(key + ".mass", body.mass);
  require_finite(key + ".velocity", body.velocity);
  require_finite(key + ".angular_velocity", body.angular_velocity);
}

}  // namespace isocloth
