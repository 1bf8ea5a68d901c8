// Solid harmonics: what is needed to take far vortices together.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Degree of the harmonics that stand for the vortices of a cell of a tree, and for those far from it.
constexpr int harmonic_degree = 7;

constexpr std::size_t harmonic_count(int degree) {
  return static_cast<std::size_t>((degree + 1) * (degree + 1));
}
constexpr std::size_t harmonic_index(int l, int m) { return static_cast<std::size_t>(l * l + l + m); }

/// Complex numbers with 0 <= l <= degree, -l <= m <= l, at harmonic_index(l, m).
template <int degree>
struct Harmonics {
  std::array<double, harmonic_count(degree)> re{}, im{};
};
using Expansion = Harmonics<harmonic_degree>;

/// R_l^m = r^l P_l^m(cos theta) e^{i m phi} / (l + m)! at x, P with the phase of Condon and Shortley: so that
/// dR_l^m/dz = R_{l-1}^m, (d/dx + i d/dy) R_l^m = R_{l-1}^{m+1} and R(a + b) = sum R(a) R(b).
Expansion regular_harmonics(const Vec3d& x);
/// S_l^m = (l - m)! P_l^m(cos theta) e^{i m phi} / r^{l+1} at x != 0: 1 / |x - y| = sum conj(R_l^m(y))
/// S_l^m(x).
Harmonics<2 * harmonic_degree> irregular_harmonics(const Vec3d& x);

// Potentials around a centre c are sums over l, m: of `far`, far_l^m S_l^m(x - c); of `near`,
// near_l^m conj(R_l^m(x - c)). Both are real: the coefficient at -m is (-1)^m times the conjugate of that at
// m.

/// Adds to `to` the harmonics of a dipole of unit moment density 1 / (4 pi): a ring of circulation 1 around
/// the area vector `area`, which is small, at x from the centre; regular: those at x. The velocity of the air
/// is the gradient of the potential.
void add_ring(const Expansion& regular, const Vec3d& area, Expansion& to);
/// Adds `far` around a centre that lies at `shift` from that of `to`.
void add_far_to_far(const Expansion& far, const Vec3d& shift, Expansion& to);
/// Adds `far` to `near` of a centre that lies at `shift` from that of `far`.
void add_far_to_near(const Expansion& far, const Vec3d& shift, Expansion& near);
/// Adds `near` to that of a centre at `shift` from it.
void add_near_to_near(const Expansion& near, const Vec3d& shift, Expansion& to);
/// Gradient of the potential of `near` at x from its centre.
Vec3d near_velocity(const Expansion& near, const Vec3d& x);

}  // namespace isocloth
