#include "kernels/tensors/evaluate_rows.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real, int Width>
struct Body {
  EvaluateRows<Real, Width> a;
  ISOCLOTH_DEVICE void operator()(Index stencil) const {
    for (Index slot = a.stencils.stencil_begin[stencil]; slot < a.stencils.stencil_begin[stencil + 1]; ++slot)
      evaluate_slot(a, slot);
    for (int w = 0; w < Width; ++w) evaluate_row(a, stencil, w);
  }
};

}  // namespace

template <class Real, int Width>
void evaluate_rows(const Queue& queue, const EvaluateRows<Real, Width>& args) {
  parallel_for(queue, args.stencils.stencil_count(), Body<Real, Width>{args});
}

template void evaluate_rows<float, 1>(const Queue&, const EvaluateRows<float, 1>&);
template void evaluate_rows<float, 3>(const Queue&, const EvaluateRows<float, 3>&);
template void evaluate_rows<double, 1>(const Queue&, const EvaluateRows<double, 1>&);
template void evaluate_rows<double, 3>(const Queue&, const EvaluateRows<double, 3>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
