// The angle between two triangles that share an edge, and its gradient (Bridson, Marino, Fedkiw 2003,
// appendix; Grinspun et al. 2003): with the edge e = p_1 - p_0, the normals n_2 = e x (p_2 - p_0), n_3 = (p_3
// - p_0) x e and the places t_i e of the feet of p_i on the edge,
//   theta = atan2((n_3 x n_2) . e / |e|, n_2 . n_3),
//   dtheta/dp_i = |e| n_i / |n_i|^2, i = 2, 3,
//   dtheta/dp_0 = -sum (1 - t_i) dtheta/dp_i,  dtheta/dp_1 = -sum t_i dtheta/dp_i.
#pragma once

#include "engine/material/stress_curve.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// atan x of |x| <= 1: halved twice, so that eleven terms of its series are exact to rounding.
template <class S>
ISOCLOTH_HD S arctangent(S x) {
  const auto number = [](double value) { return S(static_cast<typename Lanes<S>::Scalar>(value)); };
  const S one = number(1);
  for (int i = 0; i < 2; ++i) x = x / (one + square_root(multiply_add(x, x, one)));
  const S square = x * x;
  S sum = number(1.0 / 21);
  for (int k = 19; k > 0; k -= 2) sum = multiply_add(-square, sum, number(1.0 / k));
  return number(4) * (x * sum);
}

template <class S>
struct Hinge {
  S angle{};                 ///< in [-pi, pi], positive where p_2 and p_3 are moved along their normals
  S half_tangent{};          ///< tan(angle / 2), 2 or -2 beyond
  Vec3<S> gradient[4] = {};  ///< [1/m]
};

/// Hinge with edge p_0 p_1. Normals of triangles that collapse are no shorter than those of heights of a
/// thousandth of the edge.
template <class S>
ISOCLOTH_HD Hinge<S> hinge(const Vec3<S> (&p)[4]) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S zero{}, one = number(1), two = number(2);
  const Vec3<S> e = p[1] - p[0], a = p[2] - p[0], b = p[3] - p[0], n = cross(e, a), m = cross(b, e);
  const S tiny = number(1e-30), square = larger(dot_add(e, e, zero), tiny), length = square_root(square),
          least = number(1e-6) * square * square, nn = larger(dot_add(n, n, zero), least),
          mm = larger(dot_add(m, m, zero), least);
  const S cosine = dot_add(n, m, zero), sine = dot_add(cross(m, n), e, zero) / length;
  const S size = square_root(nn) * square_root(mm);
  const S ratio = sine / (size + magnitude(cosine)), half = arctangent(ratio);
  const S pi = number(3.14159265358979323846), turn = select(sine < zero, -pi, pi);
  Hinge<S> found;
  found.angle = select(cosine < zero, turn - two * half, two * half);
  const S steep = one / larger(magnitude(ratio), number(0.5));
  found.half_tangent = select(cosine < zero, select(sine < zero, -steep, steep), ratio);
  const S t = dot_add(a, e, zero) / square, u = dot_add(b, e, zero) / square;
  found.gradient[2] = (length / nn) * n;
  found.gradient[3] = (length / mm) * m;
  found.gradient[0] = multiply_add(t - one, found.gradient[2], (u - one) * found.gradient[3]);
  found.gradient[1] = multiply_add(-t, found.gradient[2], (-u) * found.gradient[3]);
  return found;
}

/// C of a row of a hinge, and dC/dtheta.
template <class S>
struct AngleStrain {
  S value{}, slope{};
};
/// Of LargeAngleRows: with t = tan(theta / 2)
///   C = 2 t^2 / sqrt(1 + t^2),  dC/dtheta = t (2 + t^2) / sqrt(1 + t^2),
/// and straight on beyond t = 2.
template <class S>
ISOCLOTH_HD AngleStrain<S> large_angle(const Hinge<S>& h) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S t = h.half_tangent, one = number(1), square = t * t, inverse = one / square_root(one + square);
  const S beyond = magnitude(h.angle) - number(2.2142974355881810);  // 2 atan 2
  AngleStrain<S> found;
  found.slope = t * (number(2) + square) * inverse;
  found.value = (square + square) * inverse;
  found.value = select(beyond > S{}, multiply_add(beyond, magnitude(found.slope), found.value), found.value);
  return found;
}

/// Whether the rows of a law (RowLaw) are those of hinges.
ISOCLOTH_HD bool is_of_hinge(Index law) {
  return law == RowLaw::bend || law == RowLaw::large_angle || law == RowLaw::fold;
}
/// Of FoldRows: theta - theta_0, of a full turn more or less the one within [-3/2 pi, 3/2 pi].
template <class S>
ISOCLOTH_HD S fold_angle(S c) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S most = number(4.71238898038468986), turn = number(6.28318530717958648);
  return select(c > most, c - turn, select(c < -most, c + turn, c));
}
/// By its law; rest: theta_0 of those that are measured from it.
template <class S>
ISOCLOTH_HD AngleStrain<S> angle_strain(Index law, const Hinge<S>& h, S rest) {
  if (law == RowLaw::large_angle) return large_angle(h);
  const S turned = h.angle - rest;
  return {law == RowLaw::fold ? fold_angle(turned) : turned, S(typename Lanes<S>::Scalar(1))};
}

}  // namespace isocloth::ISOCLOTH_BACKEND
