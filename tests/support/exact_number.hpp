// Doubles as numbers that know no rounding, for tests of what claims to be exact. Shares nothing with the
// engine's own: digits here have signs and there is no bound on how many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isocloth {

/// sum of digits[i] 2^(30 (first + i)), each but the last in [0, 2^30); the last is none of 0 and has the
/// sign of the whole.
class ExactNumber {
 public:
  ExactNumber() = default;
  ExactNumber(double x) {
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    exponent -= 53;
    first_ = (exponent - (exponent % 30 + 30) % 30) / 30;
    const int shift = exponent - 30 * first_;
    // 53 and up to 29 binary digits: in pieces that a digit's product with 2^29 does not leave.
    const std::int64_t low = mantissa % 0x40000000, high = mantissa / 0x40000000;
    digits_ = {low << shift, high << shift};
    settle();
  }

  int sign() const { return digits_.empty() ? 0 : digits_.back() > 0 ? 1 : -1; }

  friend ExactNumber operator+(const ExactNumber& a, const ExactNumber& b) { return sum(a, b, 1); }
  friend ExactNumber operator-(const ExactNumber& a, const ExactNumber& b) { return sum(a, b, -1); }
  friend ExactNumber operator*(const ExactNumber& a, const ExactNumber& b) {
    ExactNumber product;
    product.first_ = a.first_ + b.first_;
    if (a.digits_.empty() || b.digits_.empty()) return {};
    product.digits_.assign(a.digits_.size() + b.digits_.size() + 1, 0);
    for (std::size_t i = 0; i < a.digits_.size(); ++i)
      for (std::size_t j = 0; j < b.digits_.size(); ++j) {
        // Products stay below 2^60: what they add is taken on at once.
        const std::int64_t term = a.digits_[i] * b.digits_[j] + product.digits_[i + j];
        const std::int64_t rest = term & 0x3FFFFFFF;
        product.digits_[i + j] = rest;
        product.digits_[i + j + 1] += (term - rest) / 0x40000000;
      }
    product.settle();
    return product;
  }

 private:
  static ExactNumber sum(const ExactNumber& a, const ExactNumber& b, std::int64_t sign) {
    if (b.digits_.empty()) return a;
    ExactNumber result;
    result.first_ = a.digits_.empty() ? b.first_ : std::min(a.first_, b.first_);
    const auto add = [&result](const ExactNumber& c, std::int64_t factor) {
      if (c.digits_.empty()) return;
      const auto shift = static_cast<std::size_t>(c.first_ - result.first_);
      if (result.digits_.size() < shift + c.digits_.size()) result.digits_.resize(shift + c.digits_.size());
      for (std::size_t i = 0; i < c.digits_.size(); ++i) result.digits_[shift + i] += factor * c.digits_[i];
    };
    add(a, 1);
    add(b, sign);
    result.settle();
    return result;
  }
  /// Carries, downwards rounded, and drops zeros at both ends.
  void settle() {
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      if (i + 1 == digits_.size() && digits_[i] > -0x40000000 && digits_[i] < 0x40000000) break;
      const std::int64_t rest = digits_[i] & 0x3FFFFFFF, carry = (digits_[i] - rest) / 0x40000000;
      digits_[i] = rest;
      if (i + 1 == digits_.size()) digits_.push_back(0);
      digits_[i + 1] += carry;
    }
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
    std::size_t zeros = 0;
    while (zeros < digits_.size() && digits_[zeros] == 0) ++zeros;
    digits_.erase(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(zeros));
    first_ = digits_.empty() ? 0 : first_ + static_cast<int>(zeros);
  }

  int first_ = 0;
  std::vector<std::int64_t> digits_;
};

}  // namespace isocloth
