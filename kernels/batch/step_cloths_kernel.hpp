// The kernel of step_cloths(). A file per precision and surroundings instantiates it, because a compiler
// takes minutes for one of them.
#pragma once

#include "kernels/batch/cloth_step.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Samples: TileSamples or NoSamples.
template <class S, class T, template <class, class, class> class Samples>
struct TileBody {
  static constexpr int most_block_threads = max_block_threads;
  static constexpr bool runs_in_warps = true;
  StepCloths<typename Lanes<S>::Scalar> a;
  /// So many leave each thread the registers it wants with two blocks per multiprocessor.
  int block_threads() const { return 128; }
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index tile) const {
    ClothStep<S, T, Block, Samples<S, T, Block>>(a, block, tile).run();
  }
};

/// Steps of tiles whose rest shapes are shared, or one per lane.
template <template <class, class, class> class Samples, class Real>
void step_tiles(const Queue& queue, const StepCloths<Real>& args) {
  const auto launch = [&]<class S, class T>(S, T) {
    for_each_block(queue, args.tile_count, step_memory<S>(args.pattern), TileBody<S, T, Samples>{args});
  };
#if !defined(__CUDACC__)
  if (args.width > 1) {
    if (args.rest.shared)
      launch(Pack<Real>{}, Real{});
    else
      launch(Pack<Real>{}, Pack<Real>{});
    return;
  }
#endif
  launch(Real{}, Real{});
}

}  // namespace isocloth::ISOCLOTH_BACKEND
