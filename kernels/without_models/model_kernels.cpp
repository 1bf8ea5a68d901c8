// A build without the models beside the core.
#include "kernels/kernel_table.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
const void* model_kernels(const char* /*recipe*/) {
  return nullptr;
}

template const void* model_kernels<float>(const char*);
template const void* model_kernels<double>(const char*);

}  // namespace isocloth::ISOCLOTH_BACKEND
