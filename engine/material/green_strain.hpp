// The law of St. Venant and Kirchhoff: stress linear in Green's strain F^T F - I, or a curve of it (Volino,
// Magnenat-Thalmann, Faure 2009, section 3). What a law of membranes is made of, and the default of others.
#pragma once

#include "engine/core/lane_math.hpp"
#include "engine/material/stress_curve.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// The derivatives of the positions along warp and weft at a point of an element.
template <class S>
struct DeformationGradient {
  Vec3<S> u, v;
};

template <class S>
struct SymmetricTensor {
  S uu{}, uv{}, vv{};
};

/// dC = warp . dF_u + weft . dF_v of the three rows of a triangle.
template <class S>
struct StrainDerivatives {
  Vec3<S> warp[3], weft[3];
};

/// The x of a thread that its curve p(x) is read at, and dC/dx, where it is not 1.
template <class S>
struct ThreadStrain {
  S x{}, by_x{};
};

/// Stress over stiffness, and its derivative.
template <class S>
struct Response {
  S stress{}, slope{};
};

/// Rows C = (F_u . F_u - 1, F_u . F_v, F_v . F_v - 1) of a triangle, each of the energy K times the integral
/// of p(x) by x.
struct GreenStrain {
  static constexpr StrainMeasure measure = StrainMeasure::green;
  static constexpr bool is_quadratic = true;     ///< C is of second degree in positions
  static constexpr bool is_linear = true;        ///< without curves the stress is K C
  static constexpr bool takes_curves = true;     ///< StressCurves
  static constexpr bool couples_threads = true;  ///< knows Poisson's ratio

  /// C of a triangle; of those that are quadratic C + (1, 0, 1).
  template <class S>
  static ISOCLOTH_HD void strains(const DeformationGradient<S>& f, S (&c)[3]) {
    c[0] = dot_add(f.u, f.u, S{});
    c[1] = dot_add(f.u, f.v, S{});
    c[2] = dot_add(f.v, f.v, S{});
  }
  /// coupling: times the third row is added to the first.
  template <class S>
  static ISOCLOTH_HD StrainDerivatives<S> derivatives(const DeformationGradient<S>& f, S coupling) {
    const Vec3<S> twice_v = f.v + f.v;
    return {{f.u + f.u, f.v, {}}, {coupling * twice_v, f.u, twice_v}};
  }

  template <class S>
  static ISOCLOTH_HD ThreadStrain<S> thread(S c) {
    return {c, S(typename Lanes<S>::Scalar(1))};
  }
  /// f(C) and df/dC of p(x) and dp/dx.
  template <class S>
  static ISOCLOTH_HD Response<S> response(const ThreadStrain<S>&, Response<S> p) {
    return p;
  }
  /// Over K; integral(x): of p.
  template <class S, class Integral>
  static ISOCLOTH_HD S energy(const Integral& integral, S c) {
    return integral(c);
  }
};

}  // namespace isocloth::ISOCLOTH_BACKEND
