#include "kernels/batch/step_cloths.hpp"

#include "kernels/batch/cloth_step.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// Contacts: TileSamples or NoSamples.
template <class S, class T, template <class, class, class> class Contacts>
struct TileBody {
  static constexpr int most_block_threads = max_block_threads;
  StepCloths<typename Lanes<S>::Scalar> a;
  /// So many leave each thread the registers it wants with two blocks per multiprocessor.
  int block_threads() const { return 128; }
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index tile) const {
    ClothStep<S, T, Block, Contacts<S, T, Block>>(a, block, tile).run();
  }
};

template <class S, class T, class Real>
void launch(const Queue& queue, StepCloths<Real> args) {
  args.monitor = queue.monitor;
  const std::size_t scratch = step_scratch(args.pattern).size * sizeof(S);
  if (args.pattern.samples.sample_count() > 0)
    for_each_block(queue, args.tile_count, scratch, TileBody<S, T, TileSamples>{args});
  else
    for_each_block(queue, args.tile_count, scratch, TileBody<S, T, NoSamples>{args});
}

}  // namespace

template <class Real>
void step_cloths(const Queue& queue, const StepCloths<Real>& args) {
#if !defined(__CUDACC__)
  if (args.width > 1) {
    if (args.rest.shared)
      launch<Pack<Real>, Real>(queue, args);
    else
      launch<Pack<Real>, Pack<Real>>(queue, args);
    return;
  }
#endif
  launch<Real, Real>(queue, args);
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
