// Whole numbers of more digits than a register has, without memory of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace isocloth {

/// A whole number below 2^(64 capacity) in magnitude. Sums and products are exact: their capacity follows
/// from that of their terms.
template <std::size_t capacity>
struct WholeNumber {
  std::array<std::uint64_t, capacity> digits;  ///< to the base 2^64, the lowest first; shape [count]
  std::size_t count = 0;                       ///< the highest digit is not 0
  bool is_negative = false;

  WholeNumber() = default;
  /// digit 2^shift, or less that; below the capacity.
  WholeNumber(bool negative, std::uint64_t digit, std::size_t shift) : is_negative(negative) {
    if (digit == 0) return;
    const std::size_t whole = shift / 64, part = shift % 64;
    while (count < whole) digits[count++] = 0;
    digits[count++] = digit << part;
    const std::uint64_t above = part > 0 ? digit >> (64 - part) : 0;
    if (above > 0) digits[count++] = above;
    drop_zeros();
  }
  int sign() const { return count == 0 ? 0 : is_negative ? -1 : 1; }
  std::uint64_t digit(std::size_t i) const { return i < count ? digits[i] : 0; }
  void drop_zeros() {
    while (count > 0 && digits[count - 1] == 0) --count;
  }
};

namespace detail {
__extension__ using TwoDigits = unsigned __int128;

/// |a| < |b|.
template <std::size_t n, std::size_t m>
bool is_smaller(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  for (std::size_t i = std::max(a.count, b.count); i-- > 0;)
    if (a.digit(i) != b.digit(i)) return a.digit(i) < b.digit(i);
  return false;
}
/// |a| + |b|, with the sign of a.
template <std::size_t n, std::size_t m>
WholeNumber<std::max(n, m) + 1> joined(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  WholeNumber<std::max(n, m) + 1> sum;
  sum.is_negative = a.is_negative;
  TwoDigits carry = 0;
  while (sum.count < std::max(a.count, b.count) || carry > 0) {
    carry += TwoDigits{a.digit(sum.count)} + b.digit(sum.count);
    sum.digits[sum.count++] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return sum;
}
/// |a| - |b| >= 0, with the sign of a.
template <std::size_t n, std::size_t m>
WholeNumber<std::max(n, m) + 1> lessened(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  WholeNumber<std::max(n, m) + 1> rest;
  rest.is_negative = a.is_negative;
  std::uint64_t borrow = 0;
  while (rest.count < a.count) {
    const TwoDigits step = TwoDigits{a.digits[rest.count]} - b.digit(rest.count) - borrow;
    rest.digits[rest.count++] = static_cast<std::uint64_t>(step);
    borrow = static_cast<std::uint64_t>(step >> 64) & 1;
  }
  rest.drop_zeros();
  return rest;
}
}  // namespace detail

template <std::size_t n>
WholeNumber<n> operator-(WholeNumber<n> a) {
  a.is_negative = !a.is_negative;
  return a;
}
template <std::size_t n, std::size_t m>
WholeNumber<std::max(n, m) + 1> operator+(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  if (a.is_negative == b.is_negative) return detail::joined(a, b);
  return detail::is_smaller(a, b) ? detail::lessened(b, a) : detail::lessened(a, b);
}
template <std::size_t n, std::size_t m>
WholeNumber<std::max(n, m) + 1> operator-(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  return a + -b;
}
template <std::size_t n, std::size_t m>
WholeNumber<n + m> operator*(const WholeNumber<n>& a, const WholeNumber<m>& b) {
  WholeNumber<n + m> product;
  if (a.count == 0 || b.count == 0) return product;
  product.is_negative = a.is_negative != b.is_negative;
  product.count = a.count + b.count;
  std::fill_n(product.digits.begin(), product.count, std::uint64_t{0});
  for (std::size_t i = 0; i < a.count; ++i) {
    detail::TwoDigits carry = 0;
    for (std::size_t j = 0; j < b.count; ++j) {
      carry += detail::TwoDigits{a.digits[i]} * b.digits[j] + product.digits[i + j];
      product.digits[i + j] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    product.digits[i + b.count] = static_cast<std::uint64_t>(carry);
  }
  product.drop_zeros();
  return product;
}

}  // namespace isocloth
