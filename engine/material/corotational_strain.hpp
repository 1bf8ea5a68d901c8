// The polar decomposition F = R S of the deformation gradient of an element, F = [F_u F_v] of shape (3, 2): R
// turns, R^T R = I, and S = (F^T F)^(1/2) stretches. In closed form, by the theorem of Cayley and Hamilton,
//   S = (F^T F + d I) / t,  d = det S = |F_u x F_v|,  t = tr S = sqrt(tr(F^T F) + 2 d),
//   R = (F + [F_v x n, n x F_u]) / t,  n = F_u x F_v / d.
// Linear strain that turns with the element is S - I (Etzmuss, Keckeisen, Strasser 2003), with which Volino,
// Magnenat-Thalmann and Faure 2009, section 4.3, compare Green's. Its rows are C = (2 (S_uu - 1), 2 S_uv,
// 2 (S_vv - 1)): those of MembraneRows for small strains, the shear an engineering one.
#pragma once

#include "engine/material/green_strain.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class S>
struct StretchTensor : SymmetricTensor<S> {
  S trace{}, determinant{};
};

// Where an element collapses R is not known, and what belongs to its lost direction goes to 0 with its area:
// nothing is divided by less than a trace of a hundredth, a normal by less than an area of 1e-4.
template <class S>
ISOCLOTH_HD StretchTensor<S> stretch_tensor(const DeformationGradient<S>& f) {
  const Vec3<S> n = cross(f.u, f.v);
  const S zero{}, uu = dot_add(f.u, f.u, zero), uv = dot_add(f.u, f.v, zero), vv = dot_add(f.v, f.v, zero),
                  d = square_root(dot_add(n, n, zero)), least(typename Lanes<S>::Scalar(0.01)),
                  t = larger(square_root((uu + vv) + (d + d)), least);
  StretchTensor<S> stretch;
  stretch.uu = (uu + d) / t;
  stretch.uv = uv / t;
  stretch.vv = (vv + d) / t;
  stretch.trace = t;
  stretch.determinant = d;
  return stretch;
}

/// R, the columns of which are unit vectors along warp and weft.
template <class S>
ISOCLOTH_HD DeformationGradient<S> rotation(const DeformationGradient<S>& f,
                                            const StretchTensor<S>& stretch) {
  const S one(typename Lanes<S>::Scalar(1)), least(typename Lanes<S>::Scalar(1e-4)),
      inverse = one / stretch.trace;
  const Vec3<S> n = (one / larger(stretch.determinant, least)) * cross(f.u, f.v);
  return {inverse * (f.u + cross(f.v, n)), inverse * (f.v + cross(n, f.u))};
}

/// X of S X + X S = T, (d T + adj(S) T adj(S)) / (2 t d), d no less than a hundredth: dS, where T is a change
/// of F^T F.
template <class S>
ISOCLOTH_HD SymmetricTensor<S> lyapunov_solution(const StretchTensor<S>& s, const SymmetricTensor<S>& t) {
  const S d = s.determinant, least(typename Lanes<S>::Scalar(0.01)), half(typename Lanes<S>::Scalar(0.5)),
          factor = half / (s.trace * larger(d, least));
  const S uu_uv = multiply_add(s.vv, t.uu, -(s.uv * t.uv)), uu_vv = multiply_add(s.vv, t.uv, -(s.uv * t.vv)),
          vv_uv = multiply_add(s.uu, t.uv, -(s.uv * t.uu)), vv_vv = multiply_add(s.uu, t.vv, -(s.uv * t.uv));
  return {factor * multiply_add(d, t.uu, multiply_add(s.vv, uu_uv, -(s.uv * uu_vv))),
          factor * multiply_add(d, t.uv, multiply_add(s.uu, uu_vv, -(s.uv * uu_uv))),
          factor * multiply_add(d, t.vv, multiply_add(s.uu, vv_vv, -(s.uv * vv_uv)))};
}

/// See the head of this file. Rows are linear in stretch: they have no curves.
struct CorotationalStrain : GreenStrain {
  static constexpr StrainMeasure measure = StrainMeasure::corotational;
  static constexpr bool is_quadratic = false, takes_curves = false;

  template <class S>
  static ISOCLOTH_HD void strains(const DeformationGradient<S>& f, S (&c)[3]) {
    const StretchTensor<S> stretch = stretch_tensor(f);
    const S one = number<S>(1);
    c[0] = (stretch.uu - one) + (stretch.uu - one);
    c[1] = stretch.uv + stretch.uv;
    c[2] = (stretch.vv - one) + (stretch.vv - one);
  }
  /// From R^T dF = W S + dS, W the turn by w = (r_v . dF_u - r_u . dF_v) / t:
  ///   dS_uu = r_u . dF_u + w S_uv,  dS_uv = r_u . dF_v + w S_vv,  dS_vv = r_v . dF_v - w S_uv.
  template <class S>
  static ISOCLOTH_HD StrainDerivatives<S> derivatives(const DeformationGradient<S>& f, S coupling) {
    const StretchTensor<S> stretch = stretch_tensor(f);
    const auto [r_u, r_v] = rotation(f, stretch);
    const S one = number<S>(1), twice = (one + one) / stretch.trace, uv = twice * stretch.uv,
            uncoupled = uv - coupling * uv, two = one + one;
    StrainDerivatives<S> found;
    found.warp[0] = multiply_add(two, r_u, uncoupled * r_v);
    found.weft[0] = multiply_add(two * coupling, r_v, -(uncoupled * r_u));
    found.warp[1] = (twice * stretch.vv) * r_v;
    found.weft[1] = (twice * stretch.uu) * r_u;
    found.warp[2] = -(uv * r_v);
    found.weft[2] = multiply_add(two, r_v, uv * r_u);
    return found;
  }
  /// M of dW = M : d(F^T F), of dW = T : dS.
  template <class S>
  static ISOCLOTH_HD SymmetricTensor<S> metric_stress(const DeformationGradient<S>& f,
                                                      const SymmetricTensor<S>& t) {
    return lyapunov_solution(stretch_tensor(f), t);
  }
  /// How M goes with F, while T stays: S dM + dM S = -(dS M + M dS).
  template <class S>
  static ISOCLOTH_HD SymmetricTensor<S> metric_stress_change(const DeformationGradient<S>& f,
                                                             const SymmetricTensor<S>& m,
                                                             const DeformationGradient<S>& way) {
    const StretchTensor<S> s = stretch_tensor(f);
    const S two = number<S>(2);
    const SymmetricTensor<S> ds = lyapunov_solution(
        s, {two * dot(f.u, way.u), dot(f.u, way.v) + dot(f.v, way.u), two * dot(f.v, way.v)});
    return lyapunov_solution(
        s, {-two * (m.uu * ds.uu + m.uv * ds.uv), -m.uv * (ds.uu + ds.vv) - ds.uv * (m.uu + m.vv),
            -two * (m.uv * ds.uv + m.vv * ds.vv)});
  }
};

}  // namespace isocloth::ISOCLOTH_BACKEND
