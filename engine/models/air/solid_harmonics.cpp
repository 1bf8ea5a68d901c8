#include "engine/models/air/solid_harmonics.hpp"

#include <algorithm>
#include <numbers>

namespace isocloth {
namespace {

constexpr int P = harmonic_degree;

/// 1 / ((l + m) (l - m)) at harmonic_index(l, m), 0 <= m < l.
constexpr auto regular_scales = [] {
  std::array<double, harmonic_count(P)> scales{};
  for (int l = 1; l <= P; ++l)
    for (int m = 0; m < l; ++m) scales[harmonic_index(l, m)] = 1. / ((l + m) * (l - m));
  return scales;
}();

template <int degree>
void set_negative_orders(Harmonics<degree>& h) {
  for (int l = 1; l <= degree; ++l)
    for (int m = 1; m <= l; ++m) {
      const double sign = m % 2 == 0 ? 1 : -1;
      const std::size_t from = harmonic_index(l, m), to = harmonic_index(l, -m);
      h.re[to] = sign * h.re[from];
      h.im[to] = -sign * h.im[from];
    }
}

}  // namespace

Expansion regular_harmonics(const Vec3d& x) {
  Expansion h;
  const double square = dot(x, x);
  h.re[0] = 1;
  for (int m = 0; m <= P; ++m) {
    if (m > 0) {
      const std::size_t now = harmonic_index(m, m), before = harmonic_index(m - 1, m - 1);
      h.re[now] = -(x.x * h.re[before] - x.y * h.im[before]) / (2 * m);
      h.im[now] = -(x.x * h.im[before] + x.y * h.re[before]) / (2 * m);
    }
    for (int l = m + 1; l <= P; ++l) {
      const double scale = regular_scales[harmonic_index(l, m)];
      const double one = scale * (2 * l - 1) * x.z, two = l - 2 < m ? 0 : scale * square;
      const std::size_t now = harmonic_index(l, m), a = harmonic_index(l - 1, m);
      const std::size_t b = l - 2 < m ? a : harmonic_index(l - 2, m);
      h.re[now] = one * h.re[a] - two * h.re[b];
      h.im[now] = one * h.im[a] - two * h.im[b];
    }
  }
  set_negative_orders(h);
  return h;
}

Harmonics<2 * harmonic_degree> irregular_harmonics(const Vec3d& x) {
  Harmonics<2 * P> h;
  const double inverse = 1 / dot(x, x);
  h.re[0] = std::sqrt(inverse);
  for (int m = 0; m <= 2 * P; ++m) {
    if (m > 0) {
      const std::size_t now = harmonic_index(m, m), before = harmonic_index(m - 1, m - 1);
      const double scale = -(2 * m - 1) * inverse;
      h.re[now] = scale * (x.x * h.re[before] - x.y * h.im[before]);
      h.im[now] = scale * (x.x * h.im[before] + x.y * h.re[before]);
    }
    for (int l = m + 1; l <= 2 * P; ++l) {
      const double one = inverse * (2 * l - 1) * x.z;
      const double two = l - 2 < m ? 0 : inverse * ((l - 1) * (l - 1) - m * m);
      const std::size_t now = harmonic_index(l, m), a = harmonic_index(l - 1, m);
      const std::size_t b = l - 2 < m ? a : harmonic_index(l - 2, m);
      h.re[now] = one * h.re[a] - two * h.re[b];
      h.im[now] = one * h.im[a] - two * h.im[b];
    }
  }
  set_negative_orders(h);
  return h;
}

void add_ring(const Expansion& regular, const Vec3d& area, Expansion& to) {
  // -1 / (4 pi) area . grad conj(R), the potential of a dipole as seen from the place of the source.
  constexpr double scale = -1 / (4 * std::numbers::pi);
  const double x = 0.5 * scale * area.x, y = 0.5 * scale * area.y, z = scale * area.z;
  for (int l = 1; l <= P; ++l)
    for (int m = -l; m <= l; ++m) {
      double re = 0, im = 0;  // of area . grad R, times scale
      const auto add = [&](int order, double a, double b) {
        if (order < 1 - l || order > l - 1) return;
        const std::size_t i = harmonic_index(l - 1, order);
        re += a * regular.re[i] - b * regular.im[i];
        im += a * regular.im[i] + b * regular.re[i];
      };
      add(m, z, 0);
      add(m + 1, x, -y);
      add(m - 1, -x, -y);
      to.re[harmonic_index(l, m)] += re;
      to.im[harmonic_index(l, m)] -= im;
    }
}

void add_far_to_far(const Expansion& far, const Vec3d& shift, Expansion& to) {
  const Expansion r = regular_harmonics(shift);
  for (int l = 1; l <= P; ++l)
    for (int m = -l; m <= l; ++m) {
      double re = 0, im = 0;
      for (int j = 1; j <= l; ++j)  // no monopole
        for (int k = std::max(-j, m - l + j); k <= std::min(j, m + l - j); ++k) {
          const std::size_t a = harmonic_index(j, k), b = harmonic_index(l - j, m - k);
          re += far.re[a] * r.re[b] + far.im[a] * r.im[b];
          im += far.im[a] * r.re[b] - far.re[a] * r.im[b];
        }
      to.re[harmonic_index(l, m)] += re;
      to.im[harmonic_index(l, m)] += im;
    }
}

void add_far_to_near(const Expansion& far, const Vec3d& shift, Expansion& near) {
  const Harmonics<2 * P> s = irregular_harmonics(shift);
  for (int j = 0; j <= P; ++j)
    for (int k = 0; k <= j; ++k) {
      double re = 0, im = 0;
      for (int l = 1; l <= P; ++l) {
        const double* const far_re = far.re.data() + harmonic_index(l, -l);
        const double* const far_im = far.im.data() + harmonic_index(l, -l);
        const double* const s_re = s.re.data() + harmonic_index(l + j, k - l);
        const double* const s_im = s.im.data() + harmonic_index(l + j, k - l);
        for (int i = 0; i <= 2 * l; ++i) {
          re += far_re[i] * s_re[i] - far_im[i] * s_im[i];
          im += far_re[i] * s_im[i] + far_im[i] * s_re[i];
        }
      }
      const double sign = j % 2 == 0 ? 1 : -1, mirror = k % 2 == 0 ? sign : -sign;
      near.re[harmonic_index(j, k)] += sign * re;
      near.im[harmonic_index(j, k)] += sign * im;
      if (k == 0) continue;
      near.re[harmonic_index(j, -k)] += mirror * re;
      near.im[harmonic_index(j, -k)] -= mirror * im;
    }
}

void add_near_to_near(const Expansion& near, const Vec3d& shift, Expansion& to) {
  const Expansion r = regular_harmonics(shift);
  for (int l = 0; l <= P; ++l)
    for (int m = -l; m <= l; ++m) {
      double re = 0, im = 0;
      for (int j = l; j <= P; ++j)
        for (int k = m - (j - l); k <= m + (j - l); ++k) {
          const std::size_t a = harmonic_index(j, k), b = harmonic_index(j - l, k - m);
          re += near.re[a] * r.re[b] + near.im[a] * r.im[b];
          im += near.im[a] * r.re[b] - near.re[a] * r.im[b];
        }
      to.re[harmonic_index(l, m)] += re;
      to.im[harmonic_index(l, m)] += im;
    }
}

Vec3d near_velocity(const Expansion& near, const Vec3d& x) {
  const Expansion r = regular_harmonics(x);
  // (d/dx - i d/dy) and d/dz of conj(R_l^m) are conj(R_{l-1}^{m+1}) and conj(R_{l-1}^m).
  double along_x = 0, along_y = 0, along_z = 0;
  for (int l = 0; l < P; ++l)
    for (int m = -l; m <= l; ++m) {
      const std::size_t b = harmonic_index(l, m), across = harmonic_index(l + 1, m - 1),
                        along = harmonic_index(l + 1, m);
      along_x += near.re[across] * r.re[b] + near.im[across] * r.im[b];
      along_y -= near.im[across] * r.re[b] - near.re[across] * r.im[b];
      along_z += near.re[along] * r.re[b] + near.im[along] * r.im[b];
    }
  return {along_x, along_y, along_z};
}

}  // namespace isocloth
