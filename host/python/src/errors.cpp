// Errors of the engine as those of isocloth.errors, with the same texts.
#include "engine/core/errors.hpp"

#include <nanobind/nanobind.h>

#include "host/python/src/bindings.hpp"

namespace isocloth::python {
namespace {

const char* class_of(const Error& error) {
  const auto is = [&error]<class Kind>(const Kind*) { return dynamic_cast<const Kind*>(&error) != nullptr; };
  if (is(static_cast<SceneError*>(nullptr))) return "SceneError";
  if (is(static_cast<MeshError*>(nullptr))) return "MeshError";
  if (is(static_cast<ShapeError*>(nullptr))) return "ShapeError";
  if (is(static_cast<DeviceError*>(nullptr))) return "DeviceError";
  if (is(static_cast<NumericalError*>(nullptr))) return "NumericalError";
  if (is(static_cast<FileError*>(nullptr))) return "FileError";
  if (is(static_cast<ForceError*>(nullptr))) return "ForceError";
  return "Error";
}

}  // namespace

void bind_errors() {
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nanobind::object type = nanobind::module_::import_("isocloth.errors").attr(class_of(error));
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}

}  // namespace isocloth::python
