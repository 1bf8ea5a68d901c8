// A plugin as a build of another version of the interface made it.
#include "kernels/kernel_table.hpp"

extern "C" {

const isocloth::Backend* isocloth_cuda_backend(int) {
  static isocloth::Backend backend;
  backend.abi = isocloth::backend_abi + 1;
  return &backend;
}
const char* isocloth_cuda_status(int) { return "of another build"; }
int isocloth_cuda_device_count() { return 1; }
}
