#include "kernels/batch/step_cloths_kernel.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template void step_tiles<TileSamples, double>(const Queue&, const StepCloths<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
