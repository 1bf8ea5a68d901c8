// What every call of the HDF5 C interface needs: one thread at a time, no printing, handles that close,
// reasons in words.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

namespace isocloth {

using Hdf5Shape = std::vector<hsize_t>;

/// Keeps the library to this thread (it is built without a lock), and from printing its error stack, while it
/// lives.
class Hdf5Lock {
 public:
  Hdf5Lock();
  ~Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// A lock around calls that need memory. Throws std::bad_alloc where less is left than they take: where it
/// ends within the library, that ends the program, or reads what is not there.
class Hdf5Call : public Hdf5Lock {
 public:
  Hdf5Call();
  static bool has_memory();
};

/// Closes a handle of any kind but a file at the end of its scope.
class Hdf5Handle {
 public:
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  ~Hdf5Handle();
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

/// The innermost reason on the library's error stack, in the operating system's words where it has them.
std::string last_hdf5_reason();

/// Type of texts of `width` bytes, padded with zeros: texts of variable length lie outside what HDF5 puts
/// checksums on.
hid_t hdf5_text_type(std::size_t width);

/// Width of a text of fixed length [bytes]; 0 when the type is not one.
std::size_t hdf5_text_width(hid_t type);

}  // namespace isocloth
