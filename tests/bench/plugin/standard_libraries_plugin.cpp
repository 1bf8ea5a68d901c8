// The standard library and Eigen behind the door of a GPU's libraries, beside the kernels of the software
// device (tests/device).
#include "bench/device_libraries.hpp"

extern "C" {

int isocloth_device_libraries_abi() { return isocloth::bench::device_libraries_abi; }

const isocloth::bench::DeviceLibraries* isocloth_device_libraries() {
  return &isocloth::bench::standard_libraries();
}
}
