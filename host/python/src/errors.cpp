// Errors of the engine as those of isocloth.errors, with the same texts.
#include "engine/core/errors.hpp"

#include <nanobind/nanobind.h>

#include "host/files/error_text.hpp"
#include "host/python/src/bindings.hpp"
#include "host/state/node_force.hpp"

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
    } catch (const std::bad_alloc& error) {
      PyErr_SetString(PyExc_MemoryError, error_sentence(error).c_str());
    } catch (const std::logic_error& error) {  // nanobind's own errors are none
      PyErr_SetString(is_of_memory(error) ? PyExc_MemoryError : PyExc_RuntimeError,
                      error_sentence(error).c_str());
    }
  });
}

}  // namespace isocloth::python
