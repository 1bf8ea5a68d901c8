#include "kernels/batch/step_cloths.hpp"

#include "kernels/batch/step_cloths_kernel.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

extern template void step_tiles<NoSamples, float>(const Queue&, const StepCloths<float>&);
extern template void step_tiles<NoSamples, double>(const Queue&, const StepCloths<double>&);
extern template void step_tiles<TileSamples, float>(const Queue&, const StepCloths<float>&);
extern template void step_tiles<TileSamples, double>(const Queue&, const StepCloths<double>&);

template <class Real>
void step_cloths(const Queue& queue, const StepCloths<Real>& args) {
  StepCloths<Real> monitored = args;
  monitored.monitor = queue.monitor;
  if (args.pattern.samples.sample_count() > 0)
    step_tiles<TileSamples>(queue, monitored);
  else
    step_tiles<NoSamples>(queue, monitored);
}

template <class Real>
int lane_width() {
#if defined(__CUDACC__)
  return 1;
#else
  return Pack<Real>::width;
#endif
}

template void step_cloths<float>(const Queue&, const StepCloths<float>&);
template void step_cloths<double>(const Queue&, const StepCloths<double>&);
template int lane_width<float>();
template int lane_width<double>();

}  // namespace isocloth::ISOCLOTH_BACKEND
