// Signed distances of shapes and their gradients, in the shape's frame.
#pragma once

#include "kernels/contact/obstacles.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Distance to a surface, negative inside, and the unit vector in which it grows fastest.
template <class Real>
struct Distance {
  Real value{};
  Vec3<Real> normal{};
};

template <class Real>
ISOCLOTH_HD Real length(Vec3<Real> a) {
  return square_root(dot(a, a));
}
template <class Real>
ISOCLOTH_HD Real clamp_between(Real x, Real least, Real most) {
  return x < least ? least : x > most ? most : x;
}

/// Distance of a point from a rounded core: v leads to it from the core's nearest point.
template <class Real>
ISOCLOTH_HD Distance<Real> distance_from_core(Vec3<Real> v, Real rounding) {
  const Real d = length(v);
  if (d > Real(0)) return {d - rounding, (Real(1) / d) * v};
  return {-rounding, {Real(1), Real(0), Real(0)}};  // across the axis of a capsule
}

/// Inside of a box core the nearest face counts.
template <class Real>
ISOCLOTH_DEVICE Distance<Real> box_distance(Vec3<Real> p, Vec3<Real> half, Real rounding) {
  const Vec3<Real> side{p.x < 0 ? Real(-1) : Real(1), p.y < 0 ? Real(-1) : Real(1),
                        p.z < 0 ? Real(-1) : Real(1)};
  const Vec3<Real> q{side.x * p.x - half.x, side.y * p.y - half.y, side.z * p.z - half.z};
  if (q.x > 0 || q.y > 0 || q.z > 0)
    return distance_from_core(Vec3<Real>{side.x * larger(q.x, Real(0)), side.y * larger(q.y, Real(0)),
                                         side.z * larger(q.z, Real(0))},
                              rounding);
  if (q.x >= q.y && q.x >= q.z) return {q.x - rounding, {side.x, 0, 0}};
  if (q.y >= q.z) return {q.y - rounding, {0, side.y, 0}};
  return {q.z - rounding, {0, 0, side.z}};
}

template <class Real>
ISOCLOTH_DEVICE Distance<Real> cylinder_distance(Vec3<Real> p, Vec3<Real> half, Real rounding) {
  const Real across = square_root(p.x * p.x + p.y * p.y);
  const Real cosine = across > 0 ? p.x / across : Real(1), sine = across > 0 ? p.y / across : Real(0);
  const Distance<Real> flat =
      box_distance(Vec3<Real>{across, 0, p.z}, Vec3<Real>{half.x, Real(HUGE_VAL), half.z}, rounding);
  return {flat.value, {flat.normal.x * cosine, flat.normal.x * sine, flat.normal.z}};
}

/// Trilinear between the nodes, divided by the length of its own gradient, so that value and normal are those
/// of one plane. Outside of the grid sqrt(phi(q)^2 + |p - q|^2), q the grid's point next to p: a lower bound
/// where phi(q) is one, because the grid's box is convex and holds the solid. A cell that is a block has
/// nodes of its own; beside blocks, where cells are large, the value is the trilinear one itself, which is a
/// lower bound.
template <class Real>
[[gnu::noinline]] ISOCLOTH_DEVICE Distance<Real> grid_distance(const ShapeView<Real>& shape, Vec3<Real> p) {
  const Real at[3] = {(p.x - shape.origin.x) / shape.cell, (p.y - shape.origin.y) / shape.cell,
                      (p.z - shape.origin.z) / shape.cell};
  Index corner[3];
  Real part[3], beyond[3];
  for (int k = 0; k < 3; ++k) {
    const Real inside = clamp_between(at[k], Real(0), static_cast<Real>(shape.nodes[k] - 1));
    beyond[k] = (at[k] - inside) * shape.cell;
    corner[k] = static_cast<Index>(inside);
    if (corner[k] > shape.nodes[k] - 2) corner[k] = shape.nodes[k] - 2;
    part[k] = inside - static_cast<Real>(corner[k]);
  }
  Real cell = shape.cell;
  bool is_far = false;
  std::size_t begin = 0, row = static_cast<std::size_t>(shape.nodes[0]),
              layer = row * static_cast<std::size_t>(shape.nodes[1]);
  if (!shape.blocks.empty()) {
    const std::size_t cells = row - 1;
    const Index block =
        shape.blocks[(static_cast<std::size_t>(corner[2]) * static_cast<std::size_t>(shape.nodes[1] - 1) +
                      static_cast<std::size_t>(corner[1])) *
                         cells +
                     static_cast<std::size_t>(corner[0])];
    is_far = block < 0;
    if (!is_far) {
      const Index parts = Index(1) << (block & 7);
      for (int k = 0; k < 3; ++k) {
        const Real inside = part[k] * static_cast<Real>(parts);
        corner[k] = static_cast<Index>(inside);
        if (corner[k] > parts - 1) corner[k] = parts - 1;
        part[k] = inside - static_cast<Real>(corner[k]);
      }
      cell = cell / static_cast<Real>(parts);
      begin = static_cast<std::size_t>(block >> 3);
      row = static_cast<std::size_t>(parts + 1);
      layer = row * row;
    }
  }
  const float* first = shape.distances.data() + begin + static_cast<std::size_t>(corner[2]) * layer +
                       static_cast<std::size_t>(corner[1]) * row + static_cast<std::size_t>(corner[0]);
  Real d[2][2][2];
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i)
        d[k][j][i] =
            static_cast<Real>(first[static_cast<std::size_t>(k) * layer + static_cast<std::size_t>(j) * row +
                                    static_cast<std::size_t>(i)]);
  const Real x = part[0], y = part[1], z = part[2], nx = Real(1) - x, ny = Real(1) - y, nz = Real(1) - z;
  const Real d00 = nx * d[0][0][0] + x * d[0][0][1], d01 = nx * d[0][1][0] + x * d[0][1][1],
             d10 = nx * d[1][0][0] + x * d[1][0][1], d11 = nx * d[1][1][0] + x * d[1][1][1];
  const Real value = nz * (ny * d00 + y * d01) + z * (ny * d10 + y * d11);
  const Vec3<Real> gradient{nz * (ny * (d[0][0][1] - d[0][0][0]) + y * (d[0][1][1] - d[0][1][0])) +
                                z * (ny * (d[1][0][1] - d[1][0][0]) + y * (d[1][1][1] - d[1][1][0])),
                            nz * (d01 - d00) + z * (d11 - d10), ny * (d10 - d00) + y * (d11 - d01)};
  const Vec3<Real> outside{beyond[0], beyond[1], beyond[2]};
  if (dot(outside, outside) > 0) {
    const Real slope = value / cell;
    const Vec3<Real> outwards{outside.x != 0 ? outside.x : slope * gradient.x,
                              outside.y != 0 ? outside.y : slope * gradient.y,
                              outside.z != 0 ? outside.z : slope * gradient.z};
    return {square_root(value * value + dot(outside, outside)), (Real(1) / length(outwards)) * outwards};
  }
  const Real steepness = length(gradient) / cell;
  // Where a solid has its middle, distances are flat, and no direction leads out.
  if (!(steepness > Real(0.1))) return {value, {0, 0, 1}};
  return {is_far ? value : value / steepness, (Real(1) / (steepness * cell)) * gradient};
}

template <class Real>
ISOCLOTH_DEVICE_LEAF Distance<Real> signed_distance(const ShapeView<Real>& shape, Vec3<Real> p) {
  switch (shape.kind) {
    case ShapeKind::plane:
      return {p.z, {0, 0, 1}};
    case ShapeKind::capsule:
      return distance_from_core(Vec3<Real>{p.x, p.y, p.z - clamp_between(p.z, -shape.half.z, shape.half.z)},
                                shape.rounding);
    case ShapeKind::box:
      return box_distance(p, shape.half, shape.rounding);
    case ShapeKind::cylinder:
      return cylinder_distance(p, shape.half, shape.rounding);
    case ShapeKind::grid:
      break;
  }
  return grid_distance(shape, p);
}

// Values alone, with the same bits: for searches, which ask for many and for the normal of one.

template <class Real>
ISOCLOTH_DEVICE Real box_distance_value(Vec3<Real> p, Vec3<Real> half, Real rounding) {
  const Vec3<Real> q{magnitude(p.x) - half.x, magnitude(p.y) - half.y, magnitude(p.z) - half.z};
  const Real inside = larger(q.x, larger(q.y, q.z));
  if (!(inside > 0)) return inside - rounding;
  return length(Vec3<Real>{larger(q.x, Real(0)), larger(q.y, Real(0)), larger(q.z, Real(0))}) - rounding;
}

template <class Real>
ISOCLOTH_DEVICE_LEAF Real distance_value(const ShapeView<Real>& shape, Vec3<Real> p) {
  switch (shape.kind) {
    case ShapeKind::plane:
      return p.z;
    case ShapeKind::capsule:
      return length(Vec3<Real>{p.x, p.y, p.z - clamp_between(p.z, -shape.half.z, shape.half.z)}) -
             shape.rounding;
    case ShapeKind::box:
      return box_distance_value(p, shape.half, shape.rounding);
    case ShapeKind::cylinder:
      return box_distance_value(Vec3<Real>{square_root(p.x * p.x + p.y * p.y), 0, p.z},
                                Vec3<Real>{shape.half.x, Real(HUGE_VAL), shape.half.z}, shape.rounding);
    case ShapeKind::grid:
      break;
  }
  return grid_distance(shape, p).value;
}

// Frames.

template <class Real>
ISOCLOTH_HD Vec3<Real> to_local(const PoseView<Real>& pose, Vec3<Real> x) {
  const Vec3<Real> r = x - pose.center;
  return {dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
}
template <class Real>
ISOCLOTH_HD Vec3<Real> turned(const PoseView<Real>& pose, Vec3<Real> v) {
  return v.x * pose.axes[0] + v.y * pose.axes[1] + v.z * pose.axes[2];
}
/// The pose after a part of the motion: centers evenly, axes by the normalised mean.
template <class Real>
ISOCLOTH_HD PoseView<Real> pose_between(const PoseView<Real>& begin, const PoseView<Real>& end, Real done) {
  if (!(done > 0)) return begin;
  if (!(done < 1)) return end;
  PoseView<Real> pose;
  pose.center = begin.center + done * (end.center - begin.center);
  Vec3<Real> a = begin.axes[0] + done * (end.axes[0] - begin.axes[0]),
             b = begin.axes[1] + done * (end.axes[1] - begin.axes[1]);
  a = (Real(1) / length(a)) * a;
  b = b - dot(a, b) * a;
  b = (Real(1) / length(b)) * b;
  pose.axes[0] = a;
  pose.axes[1] = b;
  pose.axes[2] = cross(a, b);
  return pose;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
