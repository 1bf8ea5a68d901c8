// The kernels of models beside the core; a model that is taken out takes its lines along.
#include <string_view>

#include "kernels/kernel_table.hpp"
#include "kernels/models/bender_sle/system_kernels.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
const void* model_kernels(const char* recipe) {
  if (recipe == std::string_view("bender_sle")) {
    static const SystemKernels<Real> own = system_kernels<Real>();
    return &own;
  }
  return nullptr;
}

template const void* model_kernels<float>(const char*);
template const void* model_kernels<double>(const char*);

}  // namespace isocloth::ISOCLOTH_BACKEND
