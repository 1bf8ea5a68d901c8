// A sleeveless garment of two panels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/delaunay.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

// The pattern [m]: hem at v = 0, shoulder seams at v = height, symmetric about u = 0.
constexpr double half_width = 0.225, height = 0.60;
constexpr double arm_depth = 0.24, arm_bottom = height - arm_depth, arm_width = 0.09;  ///< quarter ellipses
constexpr double neck_half_width = 0.085;
constexpr double front_neck_depth = 0.13, back_neck_depth = 0.05;
constexpr double shoulder_outer = half_width - arm_width;

// The rest shape: each panel is bent around a vertical cylinder without changing lengths; above the arm
// holes' lower ends each vertical line is bent, at its length, towards the shoulder seam, which shortens
// widths by up to 5 %.
constexpr double half_angle = 0.4;  ///< [rad]
constexpr double cylinder_radius = half_width / half_angle;

constexpr Index least_triangles = 300, most_triangles = 10'000'000;
constexpr double target_tolerance = 0.03;
constexpr int spacing_attempts = 12, sweeps = 40;
constexpr double margin = 0.6;  ///< least distance of a first interior point to the outline, in spacings

/// Appends `curve` on [0, 1] cut into equal lengths of about `spacing`, without its last point.
template <class Curve>
void append(std::vector<Vec2d>& outline, double spacing, const Curve& curve) {
  constexpr int samples = 512;
  std::vector<double> lengths{0};
  for (int i = 1; i <= samples; ++i) {
    const Vec2d step = curve(static_cast<double>(i) / samples) - curve(static_cast<double>(i - 1) / samples);
    lengths.push_back(lengths.back() + std::hypot(step.x, step.y));
  }
  const int segments = std::max(1, static_cast<int>(std::lround(lengths.back() / spacing)));
  for (int s = 0, i = 0; s < segments; ++s) {
    const double wanted = lengths.back() * s / segments;
    while (lengths[i + 1] < wanted) ++i;
    outline.push_back(curve((i + (wanted - lengths[i]) / (lengths[i + 1] - lengths[i])) / samples));
  }
}

/// The outline of a panel, counter-clockwise from the hem's left end.
std::vector<Vec2d> panel_outline(double neck_depth, double spacing) {
  const auto line = [](Vec2d from, Vec2d to) { return [=](double t) { return from + t * (to - from); }; };
  const auto arm_hole = [](double side, double t) {
    const double angle = std::numbers::pi / 2 * t;
    return Vec2d{side * (half_width - arm_width * std::sin(angle)), height - arm_depth * std::cos(angle)};
  };
  const auto neck = [&](double t) {
    const double angle = std::numbers::pi * t;
    return Vec2d{neck_half_width * std::cos(angle), height - neck_depth * std::sin(angle)};
  };
  std::vector<Vec2d> outline;
  append(outline, spacing, line({-half_width, 0}, {half_width, 0}));
  append(outline, spacing, line({half_width, 0}, {half_width, arm_bottom}));
  append(outline, spacing, [&](double t) { return arm_hole(1, t); });
  append(outline, spacing, line({shoulder_outer, height}, {neck_half_width, height}));
  append(outline, spacing, neck);
  append(outline, spacing, line({-neck_half_width, height}, {-shoulder_outer, height}));
  append(outline, spacing, [&](double t) { return arm_hole(-1, 1 - t); });
  append(outline, spacing, line({-half_width, arm_bottom}, {-half_width, 0}));
  return outline;
}

/// Sides and shoulders, which both panels share.
bool on_seam(Vec2d p) {
  constexpr double rounding = 1e-9;
  return std::abs(std::abs(p.x) - half_width) < rounding || std::abs(p.y - height) < rounding;
}

struct Side {
  Vec2d from, to;
};

/// Sides of a polygon no farther than `distance` from the height v: what points there need to see of it.
std::vector<Side> sides_near(double v, const std::vector<Vec2d>& polygon, double distance) {
  std::vector<Side> found;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Side side{polygon[i], polygon[(i + 1) % polygon.size()]};
    if (std::min(side.from.y, side.to.y) - distance <= v && v <= std::max(side.from.y, side.to.y) + distance)
      found.push_back(side);
  }
  return found;
}

/// Whether p lies inside the polygon of which these are the sides near it, at least `distance` from them.
bool well_inside(Vec2d p, const std::vector<Side>& sides, double distance) {
  bool inside = false;
  for (const auto& [a, b] : sides) {
    const Vec2d ab = b - a, ap = p - a;
    const double t = std::clamp((ap.x * ab.x + ap.y * ab.y) / (ab.x * ab.x + ab.y * ab.y), 0.0, 1.0);
    if (std::hypot(ap.x - t * ab.x, ap.y - t * ab.y) < distance) return false;
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / ab.y * ab.x) inside = !inside;
  }
  return inside;
}

struct Panel {
  std::vector<Vec2d> points;  ///< the outline first
  Index outline_count;
};

/// Outline and, inside, a hexagonal lattice.
Panel panel_points(double neck_depth, double spacing) {
  const auto outline = panel_outline(neck_depth, spacing);
  Panel panel{outline, static_cast<Index>(outline.size())};
  const double row_distance = spacing * std::numbers::sqrt3 / 2;
  const int rows = static_cast<int>(height / row_distance),
            columns = static_cast<int>(half_width / spacing) + 1;
  for (int row = 1; row <= rows; ++row) {
    const std::vector<Side> sides = sides_near(row * row_distance, outline, margin * spacing);
    for (int column = -columns; column <= columns; ++column) {
      const Vec2d p{(column + (row % 2) * 0.5) * spacing, row * row_distance};
      if (well_inside(p, sides, margin * spacing)) panel.points.push_back(p);
    }
  }
  return panel;
}

/// Number of triangles by Euler's formula, before any triangle is built.
Index triangle_count(const Panel& panel) {
  return 2 * static_cast<Index>(panel.points.size()) - panel.outline_count - 2;
}

/// Angle phi of the circular arc of length l that departs from its first tangent by `offset`:
/// l (1 - cos phi) = phi offset.
double arc_angle(double offset, double length) {
  double phi = 2 * offset / length;
  if (!(phi > 0)) return 0;
  for (int i = 0; i < 8; ++i) {
    phi -= (1 - std::cos(phi) - phi * offset / length) / (std::sin(phi) - offset / length);
  }
  return phi;
}

/// Where the pattern point p of a panel lies, in front (side = 1) or behind (side = -1).
Vec3d rest_position(Vec2d p, double side) {
  const double angle = p.x / cylinder_radius;
  const double depth = cylinder_radius * (std::cos(angle) - std::cos(half_angle));
  const double x = cylinder_radius * std::sin(angle);
  const double phi = arc_angle(depth, arm_depth);
  if (p.y <= arm_bottom || phi == 0) return {x, side * depth, p.y};
  const double radius = arm_depth / phi, turned = phi * (p.y - arm_bottom) / arm_depth;
  return {x, side * (depth - radius * (1 - std::cos(turned))), arm_bottom + radius * std::sin(turned)};
}

/// Adds a panel; `seam_nodes` gives the nodes of its seam points, in the outline's order, once the first has
/// them.
void add_panel(Mesh& mesh, Panel panel, double side, std::vector<Index>& seam_nodes) {
  spread_points(panel.points, panel.outline_count, sweeps);
  const bool first = seam_nodes.empty();
  std::vector<Index> nodes;
  std::size_t seam = 0;
  for (Index k = 0; k < static_cast<Index>(panel.points.size()); ++k) {
    const Vec2d p = panel.points[k];
    const bool shared = k < panel.outline_count && on_seam(p);
    if (shared && !first) {
      nodes.push_back(seam_nodes[seam++]);
      continue;
    }
    nodes.push_back(mesh.node_count());
    if (shared) seam_nodes.push_back(nodes.back());
    mesh.positions.push_back(rest_position(p, side));
  }
  for (auto t : triangulate_region(panel.points, panel.outline_count)) {
    if (side > 0) std::swap(t[1], t[2]);  // from the front, x runs to the left
    mesh.add_face({nodes[t[0]], nodes[t[1]], nodes[t[2]]});
    for (const Index k : t) mesh.corner_uvs.push_back({-side * panel.points[k].x, panel.points[k].y});
  }
}

}  // namespace

Mesh tank_top(Index triangle_target) {
  if (triangle_target < least_triangles) {
    throw MeshError(text("tank_top: found triangle_target ", triangle_target, ", expected at least ",
                         least_triangles, "; narrower shoulder straps than that have no room for triangles"));
  }
  if (triangle_target > most_triangles)
    throw MeshError(text("tank_top: found triangle_target ", triangle_target, ", expected at most ",
                         most_triangles, "; make the mesh coarser"));
  constexpr double area = 0.45;  // of both panels [m^2], roughly: only the first guess depends on it
  double spacing = std::sqrt(4 * area / (std::numbers::sqrt3 * triangle_target)), best_spacing = spacing;
  double least_error = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < spacing_attempts && least_error > target_tolerance; ++attempt) {
    const Index found = triangle_count(panel_points(front_neck_depth, spacing)) +
                        triangle_count(panel_points(back_neck_depth, spacing));
    const double ratio = static_cast<double>(found) / triangle_target;
    if (std::abs(ratio - 1) < least_error) {
      least_error = std::abs(ratio - 1);
      best_spacing = spacing;
    }
    spacing *= std::sqrt(ratio);
  }
  Mesh mesh;
  std::vector<Index> seam_nodes;
  add_panel(mesh, panel_points(front_neck_depth, best_spacing), 1, seam_nodes);
  add_panel(mesh, panel_points(back_neck_depth, best_spacing), -1, seam_nodes);
  return mesh;
}

}  // namespace isocloth
