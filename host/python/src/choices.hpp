// Which of a scene's garments, obstacles and so on is meant: numbers, names, slices.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/python/src/arrays.hpp"

namespace isocloth::python {

/// One of them: its number, from the end if negative, or its name.
class Which : public nb::object {
 public:
  NB_OBJECT_DEFAULT(Which, object, "int | str", is_anything)
};
/// Some of them: a sequence of the same, one, or a slice.
class Several : public nb::object {
 public:
  NB_OBJECT_DEFAULT(Several, object, "int | str | slice | Sequence[int | str]", is_anything)
};

/// A value for a message: short, in ASCII.
inline std::string shown(nb::handle value) {
  constexpr std::size_t most = 60;
  const nb::object ascii = nb::steal(PyObject_ASCII(value.ptr()));
  if (!ascii.is_valid()) PyErr_Clear();
  const std::string words =
      ascii.is_valid() ? nb::cast<std::string>(ascii) : text("a value of ", Py_TYPE(value.ptr())->tp_name);
  return words.size() > most ? words.substr(0, most) + "..." : words;
}

/// Their names, the first of them.
template <class Thing>
std::string some_names(const std::vector<Thing>& things) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < things.size() && i < most; ++i)
    names += text(i > 0 ? ", " : "", '"', things[i].name, '"');
  return things.size() > most ? names + ", ..." : names;
}

/// what: for messages, as "garment". Throws ShapeError for what is none of them.
template <class Thing>
std::size_t number_of(nb::handle which, const char* what, const std::vector<Thing>& things) {
  const std::size_t count = things.size();
  const auto refuse = [&](const std::string& found) {
    throw ShapeError(count == 0 ? text(what, ": found ", found, ", expected none: there is no ", what)
                                : text(what, ": found ", found, ", expected 0 to ", count - 1,
                                       " or a name: ", some_names(things)));
  };
  if (nb::isinstance<nb::str>(which)) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(which.ptr(), &size);
    if (bytes == nullptr) {  // half of a surrogate pair
      PyErr_Clear();
      refuse(shown(which));
    }
    const std::string_view name(bytes, static_cast<std::size_t>(size));
    std::vector<std::size_t> of_it;
    for (std::size_t i = 0; i < count; ++i)
      if (things[i].name == name) of_it.push_back(i);
    if (of_it.size() > 1)
      throw ShapeError(text(what, ": found ", shown(which), ", which ", of_it.size(),
                            " of them are called, expected a number, as ", of_it[0], " or ", of_it[1]));
    if (of_it.empty()) refuse(shown(which));
    return of_it.front();
  }
  if (PyBool_Check(which.ptr()) || !PyIndex_Check(which.ptr())) refuse(shown(which));
  const Py_ssize_t number = PyNumber_AsSsize_t(which.ptr(), nullptr);  // beyond its range: an end of it
  if (PyErr_Occurred()) {                                              // as of an array of several
    PyErr_Clear();
    refuse(shown(which));
  }
  const auto size = static_cast<Py_ssize_t>(count);
  if (number < -size || number >= size) refuse(shown(which));
  return static_cast<std::size_t>(number < 0 ? number + size : number);
}

/// Of each, at most as many as there are, with repetitions. Throws ShapeError.
template <class Thing>
std::vector<std::size_t> numbers_of(nb::handle several, const char* what, const std::vector<Thing>& things) {
  std::vector<std::size_t> numbers;
  if (PySlice_Check(several.ptr())) {
    Py_ssize_t begin = 0, end = 0, step = 0;
    if (PySlice_Unpack(several.ptr(), &begin, &end, &step) < 0) throw nb::python_error();
    const Py_ssize_t count =
        PySlice_AdjustIndices(static_cast<Py_ssize_t>(things.size()), &begin, &end, step);
    for (Py_ssize_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::size_t>(begin + i * step));
    return numbers;
  }
  const bool is_sequence = PyObject_Size(several.ptr()) >= 0;
  PyErr_Clear();
  if (nb::isinstance<nb::str>(several) || (!is_sequence && PyIndex_Check(several.ptr())))
    return {number_of(several, what, things)};
  if (!nb::hasattr(several, "__iter__"))
    throw ShapeError(text(what, "s: found ", shown(several), ", expected numbers or names, or a slice"));
  for (const nb::handle which : nb::iter(several)) {
    if (numbers.size() == things.size())
      throw ShapeError(text(what, "s: found more than ", things.size(), ", expected at most one for each"));
    numbers.push_back(number_of(which, what, things));
  }
  return numbers;
}

}  // namespace isocloth::python
