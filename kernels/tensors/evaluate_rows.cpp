#include "kernels/tensors/evaluate_rows.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct Body {
  EvaluateRows<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    a.rows.visit_stencil(item,
                         [&](const auto& group, Index stencil) { evaluate_stencil(a, group, stencil); });
  }
};

template <class Real>
struct QuadraticBody {
  QuadraticMultipliers<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    a.rows.visit_stencil(item, [&](const auto& group, Index stencil) { make_quadratic(a, group, stencil); });
  }
};

}  // namespace

template <class Real>
void evaluate_rows(const Queue& queue, const EvaluateRows<Real>& args) {
  parallel_for(queue, args.rows.stencil_count(), Body<Real>{args});
}

template <class Real>
void quadratic_multipliers(const Queue& queue, const QuadraticMultipliers<Real>& args) {
  parallel_for(queue, args.rows.stencil_count(), QuadraticBody<Real>{args});
}

template void evaluate_rows<float>(const Queue&, const EvaluateRows<float>&);
template void evaluate_rows<double>(const Queue&, const EvaluateRows<double>&);
template void quadratic_multipliers<float>(const Queue&, const QuadraticMultipliers<float>&);
template void quadratic_multipliers<double>(const Queue&, const QuadraticMultipliers<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
