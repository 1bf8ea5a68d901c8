// Vectors of the engine as arrays of numpy, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <initializer_list>
#include <string>
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

/// Numbers of an array whose size nothing else says.
constexpr std::size_t most_numbers = 10'000'000;
constexpr std::size_t any_size = ~std::size_t{0};

inline std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string words;
  for (std::size_t i = 0; i < shape.size(); ++i)
    words += text(i > 0 ? ", " : "", shape[i] == any_size ? "n" : text(shape[i]));
  return text('(', words, shape.size() == 1 ? ",)" : ")");
}
/// Throws ShapeError for another shape; any_size is every number up to most_numbers.
inline void require_shape(const std::vector<std::size_t>& found, const std::vector<std::size_t>& expected,
                          const char* name) {
  bool fits = found.size() == expected.size(), is_small = true;
  for (std::size_t i = 0; fits && i < found.size(); ++i) {
    fits = expected[i] == any_size || found[i] == expected[i];
    is_small = is_small && (expected[i] != any_size || found[i] <= most_numbers);
  }
  if (!fits && found.size() == 1 && expected.size() == 1)
    throw ShapeError(text(name, ": found ", found[0], " numbers, expected ", expected[0]));
  if (!fits)
    throw ShapeError(text(name, ": found shape ", shape_text(found), ", expected ", shape_text(expected)));
  if (!is_small)
    throw ShapeError(
        text(name, ": found shape ", shape_text(found), ", expected at most ", most_numbers, " at once"));
}

/// An array of doubles of this shape, which is looked at before anything is copied or converted. Throws
/// ShapeError for another, and for what is no array of numbers.
inline nb::ndarray<const double, nb::c_contig, nb::device::cpu> to_doubles(
    nb::handle values, const std::vector<std::size_t>& shape, const char* name) {
  using namespace nb::literals;
  try {
    const nb::module_ numpy = nb::module_::import_("numpy");
    const nb::object given = shape.size() == 1 ? numpy.attr("atleast_1d")(values) : nb::borrow(values);
    std::vector<std::size_t> said;  // of arrays; of others numpy finds it
    if (nb::hasattr(given, "shape") && nb::try_cast(given.attr("shape"), said))
      require_shape(said, shape, name);
    auto array = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(
        numpy.attr("asarray")(given, "dtype"_a = "float64", "order"_a = "C"));
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < array.ndim(); ++i) found.push_back(array.shape(i));
    require_shape(found, shape, name);
    return array;
  } catch (const nb::python_error& error) {
    if (error.matches(PyExc_MemoryError)) throw;
    throw ShapeError(text(name, ": found no array of numbers (", error.what(), ")"));
  }
}
/// So many numbers, any_size: any; one may stand for itself.
inline std::vector<double> to_numbers(nb::handle values, const char* name, std::size_t count = any_size) {
  const auto numbers = to_doubles(values, {count}, name);
  return {numbers.data(), numbers.data() + numbers.size()};
}
/// So many rows of three numbers.
inline std::vector<Vec3d> to_rows(nb::handle values, const char* name, std::size_t count = any_size) {
  const auto rows = to_doubles(values, {count, 3}, name);
  static_assert(sizeof(Vec3d) == 3 * sizeof(double));
  const auto* const first = reinterpret_cast<const Vec3d*>(rows.data());
  return {first, first + rows.shape(0)};
}
inline Vec3d to_vector(nb::handle values, const char* name) {
  const auto v = to_doubles(values, {3}, name);
  return {v.data()[0], v.data()[1], v.data()[2]};
}

}  // namespace isocloth::python
