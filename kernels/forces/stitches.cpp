#include "kernels/forces/stitches.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct StitchBody {
  BeginStitches<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { begin_stitch(a, i); }
};

}  // namespace

template <class Real>
void begin_stitches(const Queue& queue, const BeginStitches<Real>& args) {
  parallel_for(queue, args.pattern.count(), StitchBody<Real>{args});
}

template void begin_stitches<float>(const Queue&, const BeginStitches<float>&);
template void begin_stitches<double>(const Queue&, const BeginStitches<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
