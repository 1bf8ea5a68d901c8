#include "kernels/batch/step_cloths_kernel.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template void step_tiles<TileSamples, float>(const Queue&, const StepCloths<float>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
