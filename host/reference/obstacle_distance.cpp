#include "host/reference/obstacle_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"

namespace isocloth::reference {
namespace {

/// The plane that bounds a solid core on one side.
struct Side {
  double distance;  ///< distance of the point from the plane [m], <= 0 inside
  Vec3d normal;
};

/// Distance from `nearest` on the core, `rounding` around it; inside of the core from the side that is next.
SignedDistance around_core(Vec3d p, Vec3d nearest, double rounding, const std::vector<Side>& sides) {
  const Vec3d way = p - nearest;
  if (const double distance = norm(way); distance > 0) return {distance - rounding, normalized(way)};
  if (sides.empty()) return {-rounding, {1, 0, 0}};
  const Side& next = *std::max_element(sides.begin(), sides.end(),
                                       [](const Side& a, const Side& b) { return a.distance < b.distance; });
  return {next.distance - rounding, next.normal};
}

struct OfCore {
  Vec3d p;

  SignedDistance operator()(const PlaneShape&) const { return {p.z, {0, 0, 1}}; }
  SignedDistance operator()(const SphereShape& s) const { return around_core(p, {}, s.radius, {}); }
  SignedDistance operator()(const CapsuleShape& s) const {
    return around_core(p, {0, 0, std::clamp(p.z, -s.length / 2, s.length / 2)}, s.radius, {});
  }
  SignedDistance operator()(const CylinderShape& s) const {
    const double radius = s.radius - s.rounding, half = s.height / 2 - s.rounding;
    const double across = std::hypot(p.x, p.y), kept = across > radius ? radius / across : 1;
    const Vec3d outwards = across > 0 ? Vec3d{p.x / across, p.y / across, 0} : Vec3d{1, 0, 0};
    return around_core(p, {kept * p.x, kept * p.y, std::clamp(p.z, -half, half)}, s.rounding,
                       {{across - radius, outwards}, {p.z - half, {0, 0, 1}}, {-p.z - half, {0, 0, -1}}});
  }
  SignedDistance operator()(const BoxShape& s) const {
    const Vec3d h = 0.5 * s.size - Vec3d{s.rounding, s.rounding, s.rounding};
    return around_core(
        p, {std::clamp(p.x, -h.x, h.x), std::clamp(p.y, -h.y, h.y), std::clamp(p.z, -h.z, h.z)}, s.rounding,
        {{p.x - h.x, {1, 0, 0}},
         {-p.x - h.x, {-1, 0, 0}},
         {p.y - h.y, {0, 1, 0}},
         {-p.y - h.y, {0, -1, 0}},
         {p.z - h.z, {0, 0, 1}},
         {-p.z - h.z, {0, 0, -1}}});
  }
  SignedDistance operator()(const HeightFieldShape&) const { return {}; }
  SignedDistance operator()(const MeshShape&) const { return {}; }
};

Vec3d nearest_on_segment(Vec3d p, Vec3d a, Vec3d b) {
  const Vec3d way = b - a;
  const double square = dot(way, way);
  return square > 0 ? a + std::clamp(dot(p - a, way) / square, 0.0, 1.0) * way : a;
}

/// The foot on the triangle's plane where that lies within, else the nearest of the three sides' points.
Vec3d nearest_on_triangle(Vec3d p, const std::array<Vec3d, 3>& x) {
  const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
  if (const double square = dot(normal, normal); square > 0) {
    const Vec3d foot = p - (dot(p - x[0], normal) / square) * normal;
    bool within = true;
    for (std::size_t k = 0; k < 3; ++k)
      within = within && dot(cross(x[(k + 1) % 3] - x[k], foot - x[k]), normal) >= 0;
    if (within) return foot;
  }
  Vec3d best = nearest_on_segment(p, x[0], x[1]);
  for (const Vec3d& other : {nearest_on_segment(p, x[1], x[2]), nearest_on_segment(p, x[2], x[0])})
    if (norm(p - other) < norm(p - best)) best = other;
  return best;
}

/// Solid angle of the triangle seen from p (van Oosterom & Strackee 1983).
double solid_angle(Vec3d p, const std::array<Vec3d, 3>& x) {
  const Vec3d a = x[0] - p, b = x[1] - p, c = x[2] - p;
  const double la = norm(a), lb = norm(b), lc = norm(c);
  return 2 * std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

struct Nearest {
  Vec3d place, normal;
  double distance = std::numeric_limits<double>::infinity();
};
Nearest nearest_of(Vec3d p, const std::vector<ShapeDistance::Triangle>& triangles) {
  Nearest best;
  for (const auto& [x, center, radius] : triangles) {
    // A square root less for each of the many that are far away.
    const double reach = best.distance + radius;
    if (const Vec3d way = p - center; !(dot(way, way) < reach * reach)) continue;
    const Vec3d nearest = nearest_on_triangle(p, x);
    if (const double distance = norm(p - nearest); distance < best.distance)
      best = {nearest, cross(x[1] - x[0], x[2] - x[0]), distance};
  }
  return best;
}

SignedDistance signed_from(Vec3d p, const Nearest& nearest, bool inside) {
  const double sign = inside ? -1 : 1;
  if (nearest.distance > 0) return {sign * nearest.distance, (sign / nearest.distance) * (p - nearest.place)};
  return {0, normalized(nearest.normal)};
}

/// Height of a patch at (u, v) in [0, 1]^2 of its samples.
double patch_height(const HeightFieldShape& s, Index i, Index j, double u, double v) {
  const auto z = [&](Index x, Index y) { return s.heights[static_cast<std::size_t>(y * s.samples[0] + x)]; };
  return (1 - u) * (1 - v) * z(i, j) + u * (1 - v) * z(i + 1, j) + u * v * z(i + 1, j + 1) +
         (1 - u) * v * z(i, j + 1);
}

/// Nearest place on the field's domain.
struct OnField {
  double x, y, height;
};
OnField on_field(const HeightFieldShape& s, Vec3d p) {
  const double x = std::clamp(p.x, 0.0, (s.samples[0] - 1) * s.spacing),
               y = std::clamp(p.y, 0.0, (s.samples[1] - 1) * s.spacing);
  const Index i = std::min(static_cast<Index>(x / s.spacing), s.samples[0] - 2),
              j = std::min(static_cast<Index>(y / s.spacing), s.samples[1] - 2);
  return {x, y, patch_height(s, i, j, x / s.spacing - i, y / s.spacing - j)};
}

}  // namespace

ShapeDistance::Triangle::Triangle(Vec3d a, Vec3d b, Vec3d c)
    : corners{a, b, c}, center((1.0 / 3) * (a + b + c)), radius(0) {
  for (const Vec3d& x : corners) radius = std::max(radius, norm(x - center));
}

ShapeDistance::ShapeDistance(const ObstacleShape& shape) : shape_(shape) {
  if (const auto* mesh = std::get_if<MeshShape>(&shape_)) {
    const auto& x = mesh->surface.positions;
    for (Index f = 0; f < mesh->surface.face_count(); ++f) {
      const auto n = mesh->surface.face(f);
      for (std::size_t k = 2; k < n.size(); ++k) triangles_.emplace_back(x[n[0]], x[n[k - 1]], x[n[k]]);
    }
  }
  if (const auto* field = std::get_if<HeightFieldShape>(&shape_)) {
    constexpr int parts = 8;
    for (Index j = 0; j + 1 < field->samples[1]; ++j)
      for (Index i = 0; i + 1 < field->samples[0]; ++i)
        for (int b = 0; b < parts; ++b)
          for (int a = 0; a < parts; ++a) {
            const auto corner = [&](int u, int v) {
              const double s = static_cast<double>(a + u) / parts, t = static_cast<double>(b + v) / parts;
              return Vec3d{(i + s) * field->spacing, (j + t) * field->spacing,
                           patch_height(*field, i, j, s, t)};
            };
            triangles_.emplace_back(corner(0, 0), corner(1, 0), corner(1, 1));
            triangles_.emplace_back(corner(0, 0), corner(1, 1), corner(0, 1));
          }
  }
}

SignedDistance ShapeDistance::at(Vec3d local) const {
  if (const auto* mesh = std::get_if<MeshShape>(&shape_)) return at_mesh(*mesh, local);
  if (const auto* field = std::get_if<HeightFieldShape>(&shape_)) return at_height_field(*field, local);
  return std::visit(OfCore{local}, shape_);
}

SignedDistance ShapeDistance::at_mesh(const MeshShape& shape, Vec3d p) const {
  const Nearest nearest = nearest_of(p, triangles_);
  double winding = 0;
  for (const Triangle& triangle : triangles_)
    winding += solid_angle(p, triangle.corners) / (4 * std::numbers::pi);
  SignedDistance result = signed_from(p, nearest, std::abs(winding) > 0.5);
  result.value -= shape.thicken;
  return result;
}

SignedDistance ShapeDistance::at_height_field(const HeightFieldShape& shape, Vec3d p) const {
  const double width = (shape.samples[0] - 1) * shape.spacing, depth = (shape.samples[1] - 1) * shape.spacing;
  const OnField below = on_field(shape, p);
  const bool inside = below.x == p.x && below.y == p.y && p.z < below.height;
  Nearest best = nearest_of(p, triangles_);
  // The walls go down without end; above their upper rim the nearest point is one of the field.
  for (const auto& [foot, normal] : {std::pair{Vec3d{0, p.y, p.z}, Vec3d{-1, 0, 0}},
                                     {{width, p.y, p.z}, {1, 0, 0}},
                                     {{p.x, 0, p.z}, {0, -1, 0}},
                                     {{p.x, depth, p.z}, {0, 1, 0}}}) {
    const OnField rim = on_field(shape, foot);
    const Vec3d place{rim.x, rim.y, p.z};
    if (const double distance = norm(p - place); p.z <= rim.height && distance < best.distance)
      best = {place, normal, distance};
  }
  return signed_from(p, best, inside);
}

SignedDistance ObstacleDistance::at(Vec3d x, double t) const {
  const Pose pose = obstacle_pose(obstacle_, t);
  const Vec3d r = x - pose.center;
  const SignedDistance local = shape_.at({dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)});
  const Vec3d g = local.gradient;
  return {local.value, g.x * pose.axes[0] + g.y * pose.axes[1] + g.z * pose.axes[2]};
}

double deepest_penetration(const Mesh& mesh, const std::vector<Vec3d>& positions,
                           const ObstacleDistance& obstacle, double t, double thickness, int samples) {
  if (positions.size() != mesh.positions.size())
    throw ShapeError("deepest_penetration: positions: found " + std::to_string(positions.size()) +
                     ", expected one per node, " + std::to_string(mesh.positions.size()));
  if (samples < 2)
    throw ShapeError("deepest_penetration: samples: found " + std::to_string(samples) +
                     ", expected at least 2, the corners");
  double deepest = -std::numeric_limits<double>::infinity();
  Vec3d last;
  double far = std::numeric_limits<double>::quiet_NaN();  // distance of `last`
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto n = mesh.face(f);
    for (int i = 0; i < samples; ++i)
      for (int j = 0; j < (n.size() == 3 ? samples - i : samples); ++j) {
        const double u = static_cast<double>(i) / (samples - 1), v = static_cast<double>(j) / (samples - 1);
        const Vec3d x = n.size() == 3
                            ? (1 - u - v) * positions[n[0]] + u * positions[n[1]] + v * positions[n[2]]
                            : (1 - u) * (1 - v) * positions[n[0]] + u * (1 - v) * positions[n[1]] +
                                  u * v * positions[n[2]] + (1 - u) * v * positions[n[3]];
        // Distances grow by no more than the way: most points need not be asked.
        if (thickness / 2 - (far - norm(x - last)) < deepest) continue;
        last = x;
        far = obstacle.at(x, t).value;
        deepest = std::max(deepest, thickness / 2 - far);
      }
  }
  return deepest;
}

}  // namespace isocloth::reference
