#include "host/files/hdf5_library.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "engine/core/headroom.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

/// Works only before the library's first use in the process, where it matters.
void turn_off_exit_handler() { [[maybe_unused]] static const herr_t once = H5dont_atexit(); }

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Lock::Hdf5Lock() {
  library_mutex().lock();
  turn_off_exit_handler();
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Lock::~Hdf5Lock() {
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
  library_mutex().unlock();
}

bool Hdf5Call::has_memory() {
  // A chunk of each dataset, its cache and the trees of the file.
  return has_headroom(std::size_t{16} << 20);
}

Hdf5Call::Hdf5Call() {
  if (!has_memory()) throw std::bad_alloc();
}

Hdf5Handle::~Hdf5Handle() {
  const Hdf5Lock lock;
  H5Idec_ref(id_);
}

std::string last_hdf5_reason() {
  std::string reason = "unknown reason";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* data) -> herr_t {
        if (depth == 0 && error->desc) *static_cast<std::string*>(data) = error->desc;
        return 0;
      },
      &reason);
  const std::string mark = "error message = '";
  const std::size_t begin = reason.find(mark);
  if (begin != std::string::npos) {
    reason = reason.substr(begin + mark.size());
    reason = reason.substr(0, reason.find('\''));
  }
  return printable(reason, 200);
}

hid_t hdf5_text_type(std::size_t width) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::max<std::size_t>(width, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

std::size_t hdf5_text_width(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
}

}  // namespace isocloth
