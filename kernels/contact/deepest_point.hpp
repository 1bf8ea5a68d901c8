// The point of an edge or a face that lies deepest in a shape.
#pragma once

#include "kernels/contact/signed_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// A point of an element with 2, 3 or 4 corners by its coordinates and weights, and its distance.
template <class Real>
struct ElementPoint {
  Real u = 0, v = 0;
  Real weights[4] = {};
  Vec3<Real> position{};
  Distance<Real> distance{};
};

/// Corners of a node, an edge, a triangle or a bilinear quad, in the shape's frame.
template <class Real>
struct Element {
  int size = 0;
  Vec3<Real> corners[4] = {};

  ISOCLOTH_HD void weigh(Real u, Real v, Real (&w)[4]) const {
    if (size == 4) {
      w[0] = (1 - u) * (1 - v);
      w[1] = u * (1 - v);
      w[2] = u * v;
      w[3] = (1 - u) * v;
    } else {
      w[0] = 1 - u - v;
      w[1] = u;
      w[2] = v;
      w[3] = 0;
    }
  }
  ISOCLOTH_HD Vec3<Real> at(const Real (&w)[4]) const {
    Vec3<Real> x = w[0] * corners[0];
    for (int i = 1; i < size; ++i) x += w[i] * corners[i];
    return x;
  }
  ISOCLOTH_HD Vec3<Real> along_u(Real v) const {
    const Vec3<Real> below = corners[1] - corners[0];
    return size == 4 ? below + v * ((corners[2] - corners[3]) - below) : below;
  }
  ISOCLOTH_HD Vec3<Real> along_v(Real u) const {
    if (size == 3) return corners[2] - corners[0];
    const Vec3<Real> left = corners[3] - corners[0];
    return left + u * ((corners[2] - corners[1]) - left);
  }
};

/// Point (u, v) of an element, without its distance.
template <class Real>
ISOCLOTH_DEVICE ElementPoint<Real> element_point(const Element<Real>& element, Real u, Real v) {
  ElementPoint<Real> point;
  point.u = u;
  point.v = v;
  element.weigh(u, v, point.weights);
  point.position = element.at(point.weights);
  return point;
}
template <class Real>
ISOCLOTH_DEVICE ElementPoint<Real> point_at(const ShapeView<Real>& shape, const Element<Real>& element,
                                            Real u, Real v) {
  ElementPoint<Real> point = element_point(element, u, v);
  point.distance = signed_distance(shape, point.position);
  return point;
}

/// Whether all corners lie straight over the same flat face of the core: distances are even there, and no
/// point of the element lies deeper than its corners.
template <class Real>
ISOCLOTH_DEVICE bool lies_over_one_face(const ShapeView<Real>& shape, const Element<Real>& element) {
  const bool is_box = shape.kind == ShapeKind::box;
  if (!is_box && shape.kind != ShapeKind::cylinder) return false;
  const Vec3<Real> half = shape.half;
  int face = 0;  // along x, y, z, less than 0 on the other side
  for (int i = 0; i < element.size; ++i) {
    const Vec3<Real> p = element.corners[i];
    const Real x = magnitude(p.x), y = magnitude(p.y), z = magnitude(p.z);
    const bool in_x = x <= half.x, in_y = y <= half.y, in_z = z <= half.z;
    int own = 0;
    if (!is_box)
      own = z >= half.z && x * x + y * y <= half.x * half.x ? 3 : 0;
    else if (z >= half.z)
      own = in_x && in_y ? 3 : 0;
    else if (in_z && in_y)
      own = x >= half.x ? 1 : 0;
    else if (in_z && in_x)
      own = 2;
    const Real side = own == 1 ? p.x : own == 2 ? p.y : p.z;
    if (side < 0) own = -own;
    if (own == 0 || (i > 0 && own != face)) return false;
    face = own;
  }
  return true;
}

/// Deepest point of an edge by bisection of the slope; for a convex shape to 1/128 of the edge.
template <class Real>
ISOCLOTH_DEVICE_CALL ElementPoint<Real> deepest_on_edge(const ShapeView<Real>& shape,
                                                        const Element<Real>& edge) {
  const Vec3<Real> along = edge.corners[1] - edge.corners[0];
  Real u = Real(0.5), step = Real(0.25);
  ElementPoint<Real> best = point_at(shape, edge, u, Real(0)), here = best;
  for (int level = 0; level < 6; ++level) {
    u += dot(here.distance.normal, along) > 0 ? -step : step;
    step *= Real(0.5);
    here = point_at(shape, edge, u, Real(0));
    if (here.distance.value < best.distance.value) best = here;
  }
  return best;
}

/// Distance of a point of an element, as point_at() finds it.
template <class Real>
ISOCLOTH_DEVICE Real distance_at(const ShapeView<Real>& shape, const Element<Real>& element, Real u, Real v) {
  Real weights[4];
  element.weigh(u, v, weights);
  return distance_value(shape, element.at(weights));
}

/// Least distance that any point of the element can have to a convex shape, which lies behind the tangent
/// plane of each of its distances.
template <class Real>
ISOCLOTH_DEVICE Real least_in_convex(const Element<Real>& element, const ElementPoint<Real>& point) {
  Real least = Real(HUGE_VAL);
  for (int i = 0; i < element.size; ++i) {
    const Real along = dot(point.distance.normal, element.corners[i] - point.position);
    least = along < least ? along : least;
  }
  return point.distance.value + least;
}

/// The deepest of a lattice of points, then by trial in eight directions with halved steps; for a convex
/// shape to about 1/128 of the face. Where no point of the face comes nearer to a convex shape than `limit`
/// the search may end early, at one of them.
template <class Real>
ISOCLOTH_DEVICE_CALL ElementPoint<Real> deepest_on_face(const ShapeView<Real>& shape,
                                                        const Element<Real>& face,
                                                        Real limit = Real(HUGE_VAL)) {
  constexpr int across = 4, most_moves = 6;
  const bool is_quad = face.size == 4;
  Real best_u = 0, best_v = 0, least = Real(HUGE_VAL);
  const auto visit = [&](Real u, Real v) {
    u = clamp_between(u, Real(0), Real(1));
    v = clamp_between(v, Real(0), is_quad ? Real(1) : Real(1) - u);
    const Real here = distance_at(shape, face, u, v);
    if (!(here < least)) return false;
    least = here;
    best_u = u;
    best_v = v;
    return true;
  };
  for (int i = 0; i < across; ++i)
    for (int j = 0; j < (is_quad ? across : across - i); ++j)
      visit((static_cast<Real>(i) + Real(0.5)) / across - (is_quad ? Real(0) : Real(1) / 24),
            (static_cast<Real>(j) + Real(0.5)) / across - (is_quad ? Real(0) : Real(1) / 24));
  if (shape.is_convex() && limit < Real(HUGE_VAL)) {
    const ElementPoint<Real> here = point_at(shape, face, best_u, best_v);
    if (!(least_in_convex(face, here) < limit)) return here;
  }
  for (Real step = Real(0.125); step > Real(0.005); step *= Real(0.5)) {
    bool moved = true;
    Real from_u = Real(HUGE_VAL), from_v = from_u;  // where the last move began
    for (int move = 0; move < most_moves && moved; ++move) {
      moved = false;
      const Real u = best_u, v = best_v;
      for (int turn = 0; turn < 9; ++turn) {
        if (turn == 4) continue;
        const Real to_u = u + static_cast<Real>(turn % 3 - 1) * step,
                   to_v = v + static_cast<Real>(turn / 3 - 1) * step;
        // Coordinates of a quad are multiples of the step without rounding: what lies beyond its edges is
        // another trial, and what lies around the last place was one.
        if (is_quad && (to_u < 0 || to_u > 1 || to_v < 0 || to_v > 1 ||
                        (magnitude(to_u - from_u) <= step && magnitude(to_v - from_v) <= step)))
          continue;
        moved = visit(to_u, to_v) || moved;
      }
      from_u = u;
      from_v = v;
    }
  }
  return point_at(shape, face, best_u, best_v);
}

/// Deepest point of a face for a convex shape, by bisection of the slope of the least distance across:
/// distances on a plane are convex then, and so is min over v. Finds the bottom of the long valley that a
/// face has across an edge of the shape, where trials in eight directions get stuck; to 1/256 of the face.
template <class Real>
ISOCLOTH_DEVICE_CALL ElementPoint<Real> deepest_on_face_in_convex(const ShapeView<Real>& shape,
                                                                  const Element<Real>& face) {
  constexpr int levels = 7;
  ElementPoint<Real> best;
  best.distance.value = Real(HUGE_VAL);
  Real u = Real(0.5);
  for (Real step_u = Real(0.25); step_u > Real(0.25) / (1 << levels); step_u *= Real(0.5)) {
    // v = t * width: triangles end on a slant.
    const Real width = face.size == 4 ? Real(1) : Real(1) - u;
    const Vec3<Real> across = width * face.along_v(u);
    ElementPoint<Real> least;
    least.distance.value = Real(HUGE_VAL);
    Real t = Real(0.5), least_t = t;
    for (Real step = Real(0.25); step > Real(0.25) / (1 << levels); step *= Real(0.5)) {
      const ElementPoint<Real> here = point_at(shape, face, u, t * width);
      if (here.distance.value < least.distance.value) {
        least = here;
        least_t = t;
      }
      t += dot(here.distance.normal, across) > 0 ? -step : step;
    }
    if (least.distance.value < best.distance.value) best = least;
    Vec3<Real> along = face.along_u(least_t * width);
    if (face.size == 3) along -= least_t * face.along_v(u);
    u += dot(least.distance.normal, along) > 0 ? -step_u : step_u;
  }
  return best;
}

/// Least distance of all points of an element, or of a node, corners among them, as far as these searches
/// find it.
template <class Real>
ISOCLOTH_DEVICE_CALL Real least_distance(const ShapeView<Real>& shape, const Element<Real>& element) {
  Real least = Real(HUGE_VAL);
  for (int i = 0; i < element.size; ++i) {
    const Real corner = distance_value(shape, element.corners[i]);
    least = corner < least ? corner : least;
  }
  if (element.size == 1 || shape.kind == ShapeKind::plane) return least;
  const ElementPoint<Real> deepest =
      element.size == 2 ? deepest_on_edge(shape, element) : deepest_on_face(shape, element);
  return deepest.distance.value < least ? deepest.distance.value : least;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
