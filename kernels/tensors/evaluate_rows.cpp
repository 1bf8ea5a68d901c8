#include "kernels/tensors/evaluate_rows.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// Square of 1000 roundings.
template <class Real>
constexpr Real least_part_of_free = sizeof(Real) == sizeof(float) ? Real(1.4e-8) : Real(4.9e-26);

template <class Real, int Width>
struct Body {
  EvaluateRows<Real, Width> a;
  ISOCLOTH_DEVICE void operator()(Index stencil) const {
    const Index slot0 = a.stencils.stencil_begin[stencil], slot1 = a.stencils.stencil_begin[stencil + 1];
    const Vec3<Real> origin = a.positions[a.stencils.slot_nodes[slot0]];
    Real value[Width] = {}, d[Width] = {}, of_free[Width] = {}, of_all[Width] = {};
    for (Index slot = slot0; slot < slot1; ++slot) {
      Vec3<Real> half[Width] = {};
      for (Index e = a.stencils.entry_begin[slot]; e < a.stencils.entry_begin[slot + 1]; ++e) {
        const Vec3<Real> p = a.positions[a.stencils.entry_nodes[e]] - origin;
        for (int w = 0; w < Width; ++w) half[w] += a.tensors[e * Width + w] * p;
      }
      const Index node = a.stencils.slot_nodes[slot];
      const Vec3<Real> p = a.positions[node] - origin;
      for (int w = 0; w < Width; ++w) {
        value[w] += dot(half[w], p);
        const Vec3<Real> j = Real(2) * half[w];
        d[w] += a.inverse_masses[node] * dot(j, j);
        of_all[w] += dot(j, j);
        if (a.inverse_masses[node] > 0) of_free[w] += dot(j, j);
        a.jacobian[slot * Width + w] = j;
      }
    }
    Real scale[Width];
    for (int w = 0; w < Width; ++w) {
      const Index row = stencil * Width + w;
      // Where free nodes have no part in a row, J holds rounding alone; scaled up it would be a row of noise.
      scale[w] = of_free[w] > least_part_of_free<Real> * of_all[w] ? 1 / std::sqrt(a.eps * d[w]) : Real(0);
      a.residuals[row] = value[w] - a.rest_values[row];
      a.scales[row] = scale[w];
    }
    for (Index slot = slot0; slot < slot1; ++slot)
      for (int w = 0; w < Width; ++w) a.jacobian[slot * Width + w] = scale[w] * a.jacobian[slot * Width + w];
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
