// Choices at random, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/core/random.hpp"

namespace isocloth {

class Choice {
 public:
  explicit Choice(std::uint64_t seed) : random_(seed) {}

  /// In [0, count); count >= 1.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(random_.uniform() * static_cast<double>(count));
  }
  bool happens(double probability) { return random_.uniform() < probability; }
  double between(double low, double high) { return random_.uniform(low, high); }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *(all.begin() + below(all.size()));
  }

 private:
  Random random_;
};

}  // namespace isocloth
