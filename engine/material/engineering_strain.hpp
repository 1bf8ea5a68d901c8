// Threads whose force is linear in their elongation, or a curve of it: springs (Provot 1995), and the
// constraints of Baraff and Witkin 1998 as Miguel et al. 2012, (4), have them.
#pragma once

#include "engine/material/green_strain.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Of a thread's stretch s = sqrt(1 + C), x = 2 (s - 1): f = p(x) / s and df/dC = p'(x) / s^2 - p(x) / (2
/// s^3), no less than a hundredth of its first term. Shear is that of Green's strain.
struct EngineeringStrain : GreenStrain {
  static constexpr StrainMeasure measure = StrainMeasure::engineering;
  static constexpr bool is_linear = false, couples_threads = false;

  /// Elements that are turned inside out have lengths all the same; none is shorter than a hundredth.
  template <class S>
  static ISOCLOTH_HD ThreadStrain<S> thread(S c) {
    const S one = number<S>(1),
            stretch = square_root(select(c > number<S>(-0.9999), one + c, number<S>(1e-4)));
    return {(stretch - one) + (stretch - one), stretch};
  }
  template <class S>
  static ISOCLOTH_HD Response<S> response(const ThreadStrain<S>& thread, Response<S> p) {
    const S inverse = number<S>(1) / thread.by_x, least = number<S>(0.01) * p.slope;
    p.stress = inverse * p.stress;
    p.slope = inverse * inverse * p.slope;
    const S bent = multiply_add(number<S>(-0.5) * inverse * inverse, p.stress, p.slope);
    p.slope = select(bent > least, bent, least);
    return p;
  }
  template <class S, class Integral>
  static ISOCLOTH_HD S energy(const Integral& integral, S c) {
    const S one = number<S>(1), stretch = square_root(larger(one + c, S{}));
    return integral((stretch - one) + (stretch - one));
  }
};

}  // namespace isocloth::ISOCLOTH_BACKEND
