// Numbers that know their derivatives: forward mode, by a fixed number of variables.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace isocloth {

/// A value and its derivatives by Size variables. A formula that is a template on its number, as those of the
/// kernels are, gives with it the derivatives of the branch that the value takes.
template <std::size_t Size>
struct Dual {
  double value = 0;
  std::array<double, Size> by{};

  constexpr Dual() = default;
  constexpr Dual(double constant) : value(constant) {}
  static Dual variable(double value, std::size_t number) {
    Dual result(value);
    result.by[number] = 1;
    return result;
  }
  explicit operator int() const { return static_cast<int>(value); }
  /// f(x) of a function that has this value at x, and this derivative.
  static Dual of(double value, double derivative, const Dual& x) { return chain(value, x, derivative); }
  /// The same by more variables, on which it does not depend.
  template <std::size_t Fewer>
  static Dual by_first(const Dual<Fewer>& x) {
    static_assert(Fewer <= Size);
    Dual result(x.value);
    for (std::size_t i = 0; i < Fewer; ++i) result.by[i] = x.by[i];
    return result;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return chain(a.value + b.value, a, 1, b, 1); }
  friend Dual operator-(const Dual& a, const Dual& b) { return chain(a.value - b.value, a, 1, b, -1); }
  friend Dual operator-(const Dual& a) { return chain(-a.value, a, -1); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return chain(a.value * b.value, a, b.value, b, a.value);
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double quotient = a.value / b.value;
    return chain(quotient, a, 1 / b.value, b, -quotient / b.value);
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }

  // Under the names of engine/core/lane_math.hpp.
  friend Dual square_root(const Dual& a) {
    const double root = std::sqrt(a.value);
    return chain(root, a, root > 0 ? 0.5 / root : 0);
  }
  friend Dual magnitude(const Dual& a) { return a.value < 0 ? -a : a; }
  friend Dual select(bool which, const Dual& a, const Dual& b) { return which ? a : b; }

 private:
  static Dual chain(double value, const Dual& a, double by_a) {
    Dual result(value);
    for (std::size_t i = 0; i < Size; ++i) result.by[i] = by_a * a.by[i];
    return result;
  }
  static Dual chain(double value, const Dual& a, double by_a, const Dual& b, double by_b) {
    Dual result(value);
    for (std::size_t i = 0; i < Size; ++i) result.by[i] = by_a * a.by[i] + by_b * b.by[i];
    return result;
  }
};

}  // namespace isocloth
