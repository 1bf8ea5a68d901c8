// Random numbers that are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace isocloth {

/// Uniform doubles from std::mt19937_64, whose sequence the standard fixes; its distributions are not fixed,
/// so the conversion is done here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1): the upper 53 bits times 2^-53.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::mt19937_64 engine_;
};

/// Standard normal numbers, by Box and Muller. std::normal_distribution differs between libraries, so it is
/// not used.
class Gaussian {
 public:
  explicit Gaussian(std::uint64_t seed) : random_(seed) {}

  double operator()() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    const double angle = 2 * std::numbers::pi * random_.uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  Random random_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace isocloth
