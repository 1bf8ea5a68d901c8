// How thick a cloth is under pressure.
#pragma once

namespace isocloth {

/// Pressure p [Pa] of a cloth of local thickness t [m], after van Wyk 1946 with the incompressible core of de
/// Jong, Snaith, Michie 1986, and the fibre's own modulus E_f across at the end:
///   p(t) = a (t - c)^-3 - q,   q = a (T - c)^-3,   for t < T; 0 beyond
/// as long as it is no steeper than S_max = E_f / c; linear from there on. As a function of the pressure,
/// which is how contacts ask (kernels/contact/compression_law.hpp):
///   t(p) = c + ((p + q) / a)^(-1/3),   S(p) = -dp/dt = 3 a^(-1/3) (p + q)^(4/3).
/// It is elastic: the hysteresis of cloth (RC) is left out.
struct Compression {
  double thickness = 0;  ///< T, without load, > c [m]; 0: not said
  double core = 0;       ///< c, that no pressure of fibres against each other takes away, > 0 [m]
  double stiffness = 0;  ///< a, > 0 [Pa m^3]

  static constexpr double fibre_modulus = 1e9;  ///< E_f [Pa]

  bool exists() const { return thickness > 0; }
  double give() const { return thickness - core; }               ///< T - c [m]
  double offset() const;                                         ///< q [Pa]
  double largest_slope() const { return fibre_modulus / core; }  ///< S_max [Pa/m]
  double linear_from() const;                                    ///< p where S is S_max [Pa]
  double pressure(double t) const;                               ///< p(t) [Pa]
  double thickness_at(double p) const;                           ///< t(p) [m]
  double slope(double p) const;                                  ///< S(p) [Pa/m]
  double energy(double t) const;                                 ///< W(t) = int_t^T p [J/m^2]
  /// 1 - t / T of cloth whose middle is `depth` [m] nearer to an obstacle than T / 2.
  double share(double depth) const { return exists() ? 2 * depth / thickness : 0; }
  /// How much nearer than c / 2 [m] to an obstacle cloth is whose middle is `depth` [m] nearer to it than T /
  /// 2.
  double below_core(double depth) const { return depth > give() / 2 ? depth - give() / 2 : 0; }
  bool operator==(const Compression&) const = default;
};

/// By figures of KES-FB3: thickness `t0` at 0.5 gf/cm^2 and `tm` at 50 gf/cm^2, t0 > tm > 0 [m], and the
/// linearity of the work of compression between them, lc = WC / ((p_m / 2) (t0 - tm)), in [0.3, 1): the curve
/// through both points with that work. A larger core leaves less work, so c is found by bisection; it is at
/// least tm / 10, with less work than lc says where the cloth is soft and thick as a terry. q is at least 25
/// Pa, which bounds T.
Compression fitted_compression(double t0, double tm, double lc);

/// Compression of a cloth of which no more is known than where contact begins, T > 0 [m]: the shape of a
/// woven cloth, c = 0.57 T, 0.67 T at 50 gf/cm^2 and 0.93 T at 0.5 gf/cm^2, LC 0.35.
Compression compression_of_thickness(double thickness);

}  // namespace isocloth
