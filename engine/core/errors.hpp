// What can go wrong at the public boundary. Each message names the file, the key or index, what was found,
// what was expected and what to do, in one line.
#pragma once

#include <stdexcept>
#include <string>

namespace isocloth {

/// Base of all errors of the engine; what() is one line for a person.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A scene file or Scene object that cannot be simulated.
struct SceneError : Error {
  using Error::Error;
};
/// A mesh that is not an orientable surface with faces of positive area.
struct MeshError : Error {
  using Error::Error;
};
/// Arrays whose sizes do not belong together.
struct ShapeError : Error {
  using Error::Error;
};
/// A backend or device that is absent or failed.
struct DeviceError : Error {
  using Error::Error;
};
/// A computation that left the finite numbers or missed its tolerance where that is not allowed.
struct NumericalError : Error {
  using Error::Error;
};
/// A file that cannot be read or written.
struct FileError : Error {
  using Error::Error;
};
/// Work that ended because its Monitor said so; nothing went wrong.
struct Interrupted : Error {
  using Error::Error;
};

}  // namespace isocloth
