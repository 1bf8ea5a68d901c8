// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>
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

}  // namespace isocloth
