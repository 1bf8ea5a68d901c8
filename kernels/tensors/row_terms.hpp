// What evaluate_rows does, in parts that a thread, a block or a vector register can take.
#pragma once

#include "kernels/launch/lanes.hpp"
#include "kernels/tensors/evaluate_rows.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Square of 1000 roundings.
template <class Scalar>
constexpr Scalar least_part_of_free = sizeof(Scalar) == sizeof(float) ? Scalar(1.4e-8) : Scalar(4.9e-26);

/// J_i = 2 sum_j T_ij (p_j - p_i), not scaled yet.
template <class S, int Width, class T, class W>
ISOCLOTH_HD void evaluate_slot(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group, Index slot) {
  const StencilView& stencils = group.stencils;
  const Vec3<S> origin = a.positions[stencils.slot_nodes[slot]];
  const T* const tensors = a.tensors.data() + group.first_tensor;
  Vec3<S> half[Width] = {};
  for (Index e = stencils.entry_begin[slot]; e < stencils.entry_begin[slot + 1]; ++e) {
    const Vec3<S> p = a.positions[stencils.entry_nodes[e]] - origin;
    for (int w = 0; w < Width; ++w) half[w] = multiply_add(S(tensors[e * Width + w]), p, half[w]);
  }
  for (int w = 0; w < Width; ++w)
    a.jacobian[group.first_jacobian + static_cast<std::size_t>(slot * Width + w)] = half[w] + half[w];
}

/// C and s of row w of a stencil from its J, which it scales.
template <class S, int Width, class T, class W>
ISOCLOTH_HD void evaluate_row(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group, Index stencil,
                              int w) {
  using Scalar = typename Lanes<S>::Scalar;
  const StencilView& stencils = group.stencils;
  const Index slot0 = stencils.stencil_begin[stencil], slot1 = stencils.stencil_begin[stencil + 1];
  const Vec3<S> origin = a.positions[stencils.slot_nodes[slot0]];
  Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
  S twice{}, d{}, of_free{}, of_all{};
  for (Index slot = slot0; slot < slot1; ++slot) {
    const Index node = stencils.slot_nodes[slot];
    const Vec3<S> j = jacobian[slot * Width + w];
    twice = dot_add(j, a.positions[node] - origin, twice);
    const S square = dot_add(j, j, S(Scalar(0)));
    const S inverse_mass = S(a.inverse_masses[node]);
    d = multiply_add(inverse_mass, square, d);
    of_free += select(inverse_mass > S(Scalar(0)), square, S(Scalar(0)));
    of_all += square;
  }
  // Where free nodes have no part in a row, J holds rounding alone; scaled up it would be a row of noise.
  const auto has_part = of_free > S(least_part_of_free<Scalar>) * of_all;
  const std::size_t row = group.first_row + static_cast<std::size_t>(stencil * Width + w);
  const S rigid = S(Scalar(1)) / square_root(a.eps * d);
  const S scale = select(has_part, row_scale(a.laws, row, rigid), S(Scalar(0)));
  a.residuals[row] = multiply_add(S(Scalar(0.5)), twice, -S(a.rest_values[row]));
  a.scales[row] = scale;
  for (Index slot = slot0; slot < slot1; ++slot)
    jacobian[slot * Width + w] = scale * jacobian[slot * Width + w];
}

}  // namespace isocloth::ISOCLOTH_BACKEND
