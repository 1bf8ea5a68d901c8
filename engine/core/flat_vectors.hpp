// Vectors as their numbers one after another, and back.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Vector i of numbers, which are x, y, z of each vector.
inline Vec3d vector_at(const double* numbers, std::size_t i) {
  return {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
}

/// numbers: x, y, z of each vector.
inline std::vector<Vec3d> as_vectors(const std::vector<double>& numbers) {
  std::vector<Vec3d> vectors(numbers.size() / 3);
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = vector_at(numbers.data(), i);
  return vectors;
}

template <class Real>
std::vector<double> as_numbers(const Vec3<Real>* vectors, std::size_t count) {
  std::vector<double> numbers;
  numbers.reserve(3 * count);
  for (std::size_t i = 0; i < count; ++i)
    numbers.insert(numbers.end(), {vectors[i].x, vectors[i].y, vectors[i].z});
  return numbers;
}

}  // namespace isocloth
