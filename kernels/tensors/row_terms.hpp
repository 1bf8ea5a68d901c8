// What evaluate_rows does, in parts that a thread, a block or a vector register can take.
#pragma once

#include "kernels/launch/lanes.hpp"
#include "kernels/tensors/evaluate_rows.hpp"
#include "kernels/tensors/hinge.hpp"
#include "kernels/tensors/membrane_terms.hpp"

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

/// The hinge of a stencil of HingeRows.
template <class S>
ISOCLOTH_HD Hinge<S> hinge_of(const RowGroup<1>& group, const Vec3<S>* positions, Index stencil) {
  const Index* const nodes = group.stencils.slot_nodes.data() + group.stencils.stencil_begin[stencil];
  const Vec3<S> p[4] = {positions[nodes[0]], positions[nodes[1]], positions[nodes[2]], positions[nodes[3]]};
  return hinge(p);
}
/// Curvature of a hinge over its angle [1/m].
template <class S, class T>
ISOCLOTH_HD S hinge_curvature(const RowGroup<1>& group, const T* tensors, Index stencil) {
  const StencilView& stencils = group.stencils;
  return S(tensors[group.first_tensor +
                   static_cast<std::size_t>(stencils.entry_begin[stencils.stencil_begin[stencil]])]);
}

/// C, s and s J of a row of a hinge, which is compliant.
template <class S, class T, class W>
ISOCLOTH_HD void evaluate_hinge(const EvaluateRows<S, T, W>& a, const RowGroup<1>& group, Index stencil,
                                Index law) {
  const Hinge<S> found = hinge_of(group, a.positions.data(), stencil);
  const std::size_t row = group.first_row + static_cast<std::size_t>(stencil);
  const AngleStrain<S> strain = angle_strain(law, found, S(a.rest_values[row]));
  S c = strain.value, scale = row_scale(a.laws, row, S{});
  if (law == RowLaw::bend && a.laws.have_laws())
    apply_law(a.laws, row, law, StrainMeasure::green, c, scale,
              hinge_curvature<S>(group, a.tensors.data(), stencil));
  const S by_angle = scale * strain.slope;
  a.residuals[row] = c;
  a.scales[row] = scale;
  Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian + group.stencils.stencil_begin[stencil];
  for (int i = 0; i < 4; ++i) jacobian[i] = by_angle * found.gradient[i];
}

/// C and s of row w of a stencil from its J, which it scales.
template <class S, int Width, class T, class W>
ISOCLOTH_HD void evaluate_row(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group, Index stencil,
                              int w) {
  using Scalar = typename Lanes<S>::Scalar;
  const Index law = group.laws.empty() ? -1 : group.laws[stencil];
  if constexpr (Width == 1)
    if (is_of_hinge(law)) return evaluate_hinge(a, group, stencil, law);
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
  const S rigid = select(has_part, S(Scalar(1)) / square_root(a.eps * d), S(Scalar(0)));
  S scale = row_scale(a.laws, row, rigid);
  S c = multiply_add(S(Scalar(0.5)), twice, -S(a.rest_values[row]));
  if (law == RowLaw::band)
    apply_band(c, scale);
  else if (law >= 0 && a.laws.have_laws())
    apply_law(a.laws, row, law, a.laws.measure, c, scale);
  if (a.laws.bounds.exist()) apply_bound(a.laws, row, d, has_part, c, scale);
  a.residuals[row] = c;
  a.scales[row] = scale;
  for (Index slot = slot0; slot < slot1; ++slot)
    jacobian[slot * Width + w] = scale * jacobian[slot * Width + w];
}

template <class S, int Width, class T>
ISOCLOTH_HD DeformationGradient<S> deformation_gradient(const RowGroup<Width>& group, const T* gradients,
                                                        const Vec3<S>* positions, Index stencil) {
  const StencilView& stencils = group.stencils;
  const Index slot0 = stencils.stencil_begin[stencil], slot1 = stencils.stencil_begin[stencil + 1];
  const Vec3<S> origin = positions[stencils.slot_nodes[slot0]];
  DeformationGradient<S> f;
  for (Index slot = slot0 + 1; slot < slot1; ++slot) {
    const Vec3<S> p = positions[stencils.slot_nodes[slot]] - origin;
    f.u = multiply_add(S(gradients[2 * slot]), p, f.u);
    f.v = multiply_add(S(gradients[2 * slot + 1]), p, f.v);
  }
  return f;
}

/// |F d|^2 of the rows of a stencil.
template <class S>
ISOCLOTH_HD void stretch_squares(const DeformationGradient<S>& f, S (&squares)[stretch_directions]) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S uu = dot_add(f.u, f.u, S{}), uv = dot_add(f.u, f.v, S{}), vv = dot_add(f.v, f.v, S{});
  for (int w = 0; w < stretch_directions; ++w) {
    const auto [u, v] = stretch_direction(w);
    squares[w] = multiply_add(number(u * u), uu, multiply_add(number(2 * u * v), uv, number(v * v) * vv));
  }
}

/// C - c and s of the rows of a stencil, and whether any pulls or did before.
template <class S, class T, class W>
ISOCLOTH_HD void evaluate_limits(const EvaluateRows<S, T, W>& a, const LimitGroup& group, Index stencil) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const StencilView& stencils = group.stencils;
  const Index slot0 = stencils.stencil_begin[stencil], slot1 = stencils.stencil_begin[stencil + 1];
  const T* const gradients = a.tensors.data() + group.first_tensor;
  const std::size_t first = group.first_row + stretch_directions * static_cast<std::size_t>(stencil);
  S squares[stretch_directions];
  stretch_squares(deformation_gradient(group, gradients, a.positions.data(), stencil), squares);
  const RowBounds<S>& bounds = a.laws.bounds;
  S pulls = number(bounds.exist() ? 0 : 1);
  for (int w = 0; w < stretch_directions; ++w) {
    const std::size_t row = first + static_cast<std::size_t>(w);
    S c = squares[w] - S(a.rest_values[row]);
    if (bounds.exist()) {
      pulls = select(a.laws.multipliers[row] > S{}, number(1), pulls);
      c = c - bounds.values[row];
      if (bounds.iteration > 0)
        pulls = select(c > S{}, number(1), pulls);
      else
        bounds.growth[row] = number(1);
    }
    a.residuals[row] = c;
    a.scales[row] = S{};
  }
  for (Index slot = slot0; slot < slot1; ++slot) a.at_limit[slot] = pulls;
  if (!any(pulls > S{})) return;

  for (int w = 0; w < stretch_directions; ++w) {
    const auto [u, v] = stretch_direction(w);
    S by_mass{}, of_free{}, of_all{};
    for (Index slot = slot0; slot < slot1; ++slot) {
      const S inverse_mass = S(a.inverse_masses[stencils.slot_nodes[slot]]),
              along = multiply_add(number(u), S(gradients[2 * slot]), number(v) * S(gradients[2 * slot + 1])),
              square = along * along;
      by_mass = multiply_add(inverse_mass, square, by_mass);
      of_free += select(inverse_mass > S{}, square, S{});
      of_all += square;
    }
    const auto has_part = of_free > S(least_part_of_free<typename Lanes<S>::Scalar>) * of_all;
    const std::size_t row = first + static_cast<std::size_t>(w);
    const S d = number(4) * squares[w] * by_mass;
    S c = squares[w] - S(a.rest_values[row]), scale = row_scale(a.laws, row, S{});
    if (bounds.exist()) apply_bound(a.laws, row, d, has_part, c, scale);
    a.residuals[row] = c;
    a.scales[row] = scale;
  }
}

/// s J of the rows of a stencil that pull.
template <class S, class T, class W>
ISOCLOTH_HD void differentiate_limits(const EvaluateRows<S, T, W>& a, const LimitGroup& group,
                                      Index stencil) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const Index slot0 = group.stencils.stencil_begin[stencil],
              slot1 = group.stencils.stencil_begin[stencil + 1];
  if (!any(a.at_limit[slot0] > S{})) return;
  const T* const gradients = a.tensors.data() + group.first_tensor;
  const auto f = deformation_gradient(group, gradients, a.positions.data(), stencil);
  Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
  for (int w = 0; w < stretch_directions; ++w) {
    const auto [u, v] = stretch_direction(w);
    const S scale = a.scales[group.first_row + static_cast<std::size_t>(stretch_directions * stencil + w)];
    const Vec3<S> stretched = (scale + scale) * multiply_add(number(u), f.u, number(v) * f.v);
    for (Index slot = slot0; slot < slot1; ++slot)
      jacobian[stretch_directions * slot + w] =
          multiply_add(number(u), S(gradients[2 * slot]), number(v) * S(gradients[2 * slot + 1])) * stretched;
  }
}

/// The multipliers of a stencil as QuadraticMultipliers has them.
template <class S, int Width, class T>
ISOCLOTH_HD void make_quadratic(const QuadraticMultipliers<S, T>& a, const RowGroup<Width>& group,
                                Index stencil) {
  const std::size_t row = group.first_row + static_cast<std::size_t>(Width * stencil);
  for (int w = 0; w < Width; ++w)
    a.found[row + static_cast<std::size_t>(w)] = a.multipliers[row + static_cast<std::size_t>(w)];
}
// Evaluation in two passes, with a barrier between them: the rows of a stencil need J of all its slots. A
// third one completes J, where it is asked for: rows of membranes have C without it.

template <int Width>
ISOCLOTH_HD Index first_pass_count(const RowGroup<Width>& group) {
  return static_cast<Index>(group.stencils.slot_nodes.size());
}
template <class S, int Width, class T, class W>
ISOCLOTH_HD void first_pass(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group, Index slot) {
  evaluate_slot(a, group, slot);
}
template <int Width>
ISOCLOTH_HD Index second_pass_count(const RowGroup<Width>& group) {
  return Width * group.stencil_count();
}
template <class S, int Width, class T, class W>
ISOCLOTH_HD void second_pass(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group, Index row) {
  evaluate_row(a, group, row / Width, row % Width);
}

template <int Width>
ISOCLOTH_HD Index third_pass_count(const RowGroup<Width>&) {
  return 0;
}
template <class S, int Width, class T, class W>
ISOCLOTH_HD void third_pass(const EvaluateRows<S, T, W>&, const RowGroup<Width>&, Index) {}
ISOCLOTH_HD Index first_pass_count(const LimitGroup& group) { return group.stencil_count(); }
template <class S, class T, class W>
ISOCLOTH_HD void first_pass(const EvaluateRows<S, T, W>& a, const LimitGroup& group, Index stencil) {
  evaluate_limits(a, group, stencil);
}
ISOCLOTH_HD Index second_pass_count(const LimitGroup&) { return 0; }
template <class S, class T, class W>
ISOCLOTH_HD void second_pass(const EvaluateRows<S, T, W>&, const LimitGroup&, Index) {}
ISOCLOTH_HD Index third_pass_count(const LimitGroup& group) { return group.stencil_count(); }
template <class S, class T, class W>
ISOCLOTH_HD void third_pass(const EvaluateRows<S, T, W>& a, const LimitGroup& group, Index stencil) {
  differentiate_limits(a, group, stencil);
}

/// All at once.
template <class S, int Width, class T, class W>
ISOCLOTH_HD void evaluate_stencil(const EvaluateRows<S, T, W>& a, const RowGroup<Width>& group,
                                  Index stencil) {
  const StencilView& stencils = group.stencils;
  for (Index slot = stencils.stencil_begin[stencil]; slot < stencils.stencil_begin[stencil + 1]; ++slot)
    evaluate_slot(a, group, slot);
  for (int w = 0; w < Width; ++w) evaluate_row(a, group, stencil, w);
}
template <class S, class T, class W>
ISOCLOTH_HD void evaluate_stencil(const EvaluateRows<S, T, W>& a, const LimitGroup& group, Index stencil) {
  evaluate_limits(a, group, stencil);
  differentiate_limits(a, group, stencil);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
