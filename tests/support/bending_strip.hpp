// A strip between two clamps that bend it to a uniform curvature, as KES-FB2 does. Its diagonals are
// parallel: those that alternate let hinges of two elements side by side bend by zigzags, which cost less.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "engine/mesh/generators.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// 1 cm of cloth between clamps, 1 mm wide, whose right clamp goes where curvatures are.
struct BendingStrip {
  static constexpr double length = 0.01, width = 1e-3;
  int elements = 20;  ///< along the free length

  double spacing() const { return length / elements; }
  double area() const { return length * width; }

  /// Along x, cut of triangles; one column of them is in each clamp.
  Garment garment() const {
    Garment strip;
    strip.name = "strip";
    const double column = spacing();
    strip.mesh = triangle_grid(elements + 3, 3, length + 2 * column, width, Diagonals::parallel);
    strip.fabric = {.density = 0.1,
                    .gravity_density = 0.1,
                    .bending = BendingModel::discrete_shells,
                    .bending_stiffness = 1e-5,
                    .stretch_stiffness = 2000,
                    .shear_stiffness = 100};
    return strip;
  }
  /// Nodes of the right clamp, or of the left one.
  std::vector<Index> clamp(const Mesh& mesh, bool is_right) const {
    std::vector<Index> nodes;
    for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
      const double x = mesh.positions[i].x;
      if (is_right ? x > 0.999 * (length + spacing()) : x < 1.001 * spacing())
        nodes.push_back(static_cast<Index>(i));
    }
    return nodes;
  }
  /// Motion of the right clamp: nodes on a circle, `curvature` the angle between neighbours over their
  /// distance at each time.
  KeyframeMotion motion(const std::vector<double>& times,
                        const std::function<double(double)>& curvature) const {
    KeyframeMotion found{
        .times = times, .translations = {}, .rotations = {}, .center = {length + spacing(), 0, 0}};
    for (const double t : times) {
      const double turn = curvature(t) * spacing(), whole = elements * turn,
                   radius = std::fabs(turn) > 1e-9 ? spacing() / (2 * std::sin(turn / 2)) : 0,
                   x = radius == 0 ? length : radius * std::sin(whole),
                   z = radius == 0 ? 0 : radius * (1 - std::cos(whole));
      found.translations.push_back({x - length, 0, z});
      found.rotations.push_back({0, -whole, 0});
    }
    return found;
  }
  /// Bent by both clamps, without gravity.
  Scene scene(const std::vector<double>& times, const std::function<double(double)>& curvature) const {
    Scene scene;
    scene.recipe = "membrane";
    scene.step = 0.01;
    scene.duration = times.back();
    scene.gravity = 0;
    Garment strip = garment();
    strip.pins = {{"left", clamp(strip.mesh, false), FixedMotion{}},
                  {"right", clamp(strip.mesh, true), motion(times, curvature)}};
    scene.garments.push_back(strip);
    return scene;
  }
};

/// 0, h, 2 h, ..., count h.
inline std::vector<double> even_times(int count, double h) {
  std::vector<double> times;
  for (int i = 0; i <= count; ++i) times.push_back(i * h);
  return times;
}

}  // namespace isocloth
