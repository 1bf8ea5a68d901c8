// Vectors of the engine as arrays of numpy, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth::python {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<nb::numpy, T>;
inline bool is_anything(nb::handle) { return true; }
/// What numpy makes an array of: arrays of any type and order, lists.
class ArrayLike : public nb::object {
 public:
  NB_OBJECT_DEFAULT(ArrayLike, object, "numpy.typing.ArrayLike", is_anything)
};

/// Takes the values over.
template <class T, class Value>
Array<T> to_array(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
  auto* const owned = new std::vector<Value>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return Array<T>(reinterpret_cast<T*>(owned->data()), shape, owner);
}
inline Array<double> to_array(std::vector<Vec3d> rows) {
  const std::size_t count = rows.size();
  return to_array<double>(std::move(rows), {count, 3});
}
inline Array<double> to_array(const Vec3d& v) {
  return to_array<double>(std::vector<double>{v.x, v.y, v.z}, {3});
}

/// An array of doubles. Throws ShapeError for what is no array of numbers.
inline nb::ndarray<const double, nb::c_contig, nb::device::cpu> to_doubles(nb::handle values,
                                                                           const char* name) {
  using namespace nb::literals;
  try {
    return nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(
        nb::module_::import_("numpy").attr("ascontiguousarray")(values, "dtype"_a = "float64"));
  } catch (const nb::python_error& error) {
    throw ShapeError(text(name, ": found no array of numbers (", error.what(), ")"));
  }
}
inline std::vector<double> to_numbers(nb::handle values, const char* name) {
  const auto numbers = to_doubles(values, name);
  if (numbers.ndim() > 1) throw ShapeError(text(name, ": found ", numbers.ndim(), " dimensions, expected 1"));
  return {numbers.data(), numbers.data() + numbers.size()};
}
/// Rows of three numbers. Throws ShapeError for other shapes, too.
inline std::vector<Vec3d> to_rows(const ArrayLike& values, const char* name) {
  const auto rows = to_doubles(values, name);
  if (rows.ndim() != 2 || rows.shape(1) != 3) {
    std::string shape;
    for (std::size_t i = 0; i < rows.ndim(); ++i) shape += text(i > 0 ? ", " : "", rows.shape(i));
    throw ShapeError(text(name, ": found shape (", shape, "), expected (n, 3)"));
  }
  static_assert(sizeof(Vec3d) == 3 * sizeof(double));
  const auto* const first = reinterpret_cast<const Vec3d*>(rows.data());
  return {first, first + rows.shape(0)};
}
inline Vec3d to_vector(const std::vector<double>& v, const char* name) {
  if (v.size() != 3) throw ShapeError(text(name, ": found ", v.size(), " numbers, expected 3: x, y, z"));
  return {v[0], v[1], v[2]};
}

}  // namespace isocloth::python
