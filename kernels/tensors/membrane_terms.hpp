// The rows of pairs of triangles: their strains, their stress and what follows from them. Formulas are in
// engine/rows/membrane.hpp.
#pragma once

#include "kernels/launch/lanes.hpp"
#include "kernels/tensors/evaluate_rows.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// F of both triangles.
template <class S>
struct PairGradients {
  DeformationGradient<S> of[2];
};

template <class S, class T>
ISOCLOTH_HD PairGradients<S> deformation_gradients(const MembraneGroup& group, const T* tensors,
                                                   const Vec3<S>* positions, Index stencil) {
  const StencilView& stencils = group.stencils;
  const Index slot0 = stencils.stencil_begin[stencil], slot1 = stencils.stencil_begin[stencil + 1];
  const Vec3<S> origin = positions[stencils.slot_nodes[slot0]];
  PairGradients<S> f;
  for (Index slot = slot0 + 1; slot < slot1; ++slot) {
    const Vec3<S> p = positions[stencils.slot_nodes[slot]] - origin;
    const T* const g = tensors + 4 * slot;
    for (int t = 0; t < 2; ++t) {
      f.of[t].u = multiply_add(S(g[2 * t]), p, f.of[t].u);
      f.of[t].v = multiply_add(S(g[2 * t + 1]), p, f.of[t].v);
    }
  }
  return f;
}

/// C of the six rows, not coupled yet. rest: c0 of quadratic ones; that of others is 0 already.
template <class S, class T>
ISOCLOTH_HD void pair_strains(StrainMeasure measure, const PairGradients<S>& f, S share, const T* rest,
                              S (&c)[membrane_width]) {
  visit_membrane_law(measure, [&](auto law) {
    S first[3], second[3];
    law.strains(f.of[0], first);
    law.strains(f.of[1], second);
    for (int w = 0; w < 3; ++w) {
      const S difference = first[w] - second[w];
      c[w] = multiply_add(share, difference, law.is_quadratic ? second[w] - S(rest[w]) : second[w]);
      c[3 + w] = law.is_quadratic ? difference - S(rest[3 + w]) : difference;
    }
  });
}

/// lambda_1 = s lambda_m + lambda_d of triangle 0, (1 - s) lambda_m - lambda_d of triangle 1: rows of
/// triangles that pull as those of the pair do.
template <class S>
struct TriangleMultipliers {
  S of[2][3];
};
template <class S>
ISOCLOTH_HD TriangleMultipliers<S> triangle_multipliers(const S* lambda, S share) {
  TriangleMultipliers<S> found;
  for (int w = 0; w < 3; ++w) {
    found.of[0][w] = multiply_add(share, lambda[w], lambda[3 + w]);
    found.of[1][w] = lambda[w] - found.of[0][w];
  }
  return found;
}

/// C and s of a stencil, whose rows are compliant.
template <class S, class T, class W>
ISOCLOTH_HD void evaluate_membrane(const EvaluateRows<S, T, W>& a, const MembraneGroup& group,
                                   Index stencil) {
  const T* const tensors = a.tensors.data() + group.first_tensor;
  const std::size_t row = group.first_row + membrane_width * static_cast<std::size_t>(stencil);
  S c[membrane_width];
  pair_strains(a.laws.measure, deformation_gradients(group, tensors, a.positions.data(), stencil),
               S(tensors[group.share(stencil)]), a.rest_values.data() + row, c);
  c[0] = multiply_add(a.laws.coupling, c[2], c[0]);
  c[3] = multiply_add(a.laws.coupling, c[5], c[3]);
  for (int w = 0; w < membrane_width; ++w) {
    const std::size_t own = row + static_cast<std::size_t>(w);
    S scale = row_scale(a.laws, own, S{});
    if (w < 3 && a.laws.have_laws())
      apply_law(a.laws, own, w, w == RowLaw::shear ? StrainMeasure::green : a.laws.measure, c[w], scale);
    else if (w >= 3 && w - 3 != RowLaw::shear && !a.laws.multipliers.empty())
      apply_difference_law(c[w], scale, a.laws.multipliers[own]);
    a.residuals[own] = c[w];
    a.scales[own] = scale;
  }
}

/// s J of a stencil whose scales are known.
template <class S, class T, class W>
ISOCLOTH_HD void differentiate_membrane(const EvaluateRows<S, T, W>& a, const MembraneGroup& group,
                                        Index stencil) {
  const T* const tensors = a.tensors.data() + group.first_tensor;
  const PairGradients<S> f = deformation_gradients(group, tensors, a.positions.data(), stencil);
  const S* const scale =
      a.scales.data() + group.first_row + membrane_width * static_cast<std::size_t>(stencil);
  const S one(typename Lanes<S>::Scalar(1)), share = S(tensors[group.share(stencil)]);
  const auto derivatives = [&](const DeformationGradient<S>& of) {
    return visit_membrane_law(a.laws.measure, [&](auto law) { return law.derivatives(of, a.laws.coupling); });
  };
  const StrainDerivatives<S> first = derivatives(f.of[0]), second = derivatives(f.of[1]);
  Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
  const Index slot0 = group.stencils.stencil_begin[stencil],
              slot1 = group.stencils.stencil_begin[stencil + 1];
  for (int w = 0; w < 3; ++w) {
    const S of_mean = scale[w] * share, of_rest = scale[w] * (one - share), of_difference = scale[3 + w];
    for (Index slot = slot0; slot < slot1; ++slot) {
      const T* const g = tensors + 4 * slot;
      const Vec3<S> along_first = multiply_add(S(g[1]), first.weft[w], S(g[0]) * first.warp[w]),
                    along_second = multiply_add(S(g[3]), second.weft[w], S(g[2]) * second.warp[w]);
      jacobian[membrane_width * slot + w] = multiply_add(of_mean, along_first, of_rest * along_second);
      jacobian[membrane_width * slot + 3 + w] = of_difference * (along_first - along_second);
    }
  }
}

/// M with sum of lambda_w dC_w = M : d(F^T F), of multipliers of the coupled rows of a law that is not
/// quadratic: T : dS with T = (2 lambda_0, lambda_1, 2 (lambda_2 + coupling lambda_0)).
template <class S>
ISOCLOTH_HD SymmetricTensor<S> metric_multipliers(StrainMeasure measure, const DeformationGradient<S>& f,
                                                  const S* lambda, S coupling) {
  const S of_weft = multiply_add(coupling, lambda[0], lambda[2]);
  const SymmetricTensor<S> t{lambda[0] + lambda[0], lambda[1], of_weft + of_weft};
  return visit_membrane_law(measure, [&](auto law) -> SymmetricTensor<S> {
    if constexpr (law.is_quadratic)
      return {};
    else
      return law.metric_stress(f, t);
  });
}

/// The multipliers of a stencil as QuadraticMultipliers has them.
template <class S, class T>
ISOCLOTH_HD void make_quadratic(const QuadraticMultipliers<S, T>& a, const MembraneGroup& group,
                                Index stencil) {
  const std::size_t row = group.first_row + membrane_width * static_cast<std::size_t>(stencil);
  const T* const tensors = a.tensors.data() + group.first_tensor;
  const PairGradients<S> f = deformation_gradients(group, tensors, a.positions.data(), stencil);
  const S share = S(tensors[group.share(stencil)]);
  const auto lambda = triangle_multipliers(a.multipliers.data() + row, share);
  S mu[2][3];
  for (int t = 0; t < 2; ++t) {
    const SymmetricTensor<S> m = metric_multipliers(a.measure, f.of[t], lambda.of[t], a.coupling);
    mu[t][0] = m.uu;
    mu[t][1] = m.uv + m.uv;
    mu[t][2] = multiply_add(-a.coupling, m.uu, m.vv);
  }
  for (int w = 0; w < 3; ++w) {
    const S sum = mu[0][w] + mu[1][w];
    a.found[row + static_cast<std::size_t>(w)] = sum;
    a.found[row + static_cast<std::size_t>(3 + w)] = multiply_add(-share, sum, mu[0][w]);
  }
}

/// sum + sum_w lambda_w T_ij of a pair of nodes, by triangles: i and j are the gradients of its slots.
template <class S, class T>
ISOCLOTH_HD S add_pair_tensors(const S* lambda, S share, S coupling, const T* i, const T* j, S sum) {
  const T half(typename Lanes<T>::Scalar(0.5));
  const auto of = triangle_multipliers(lambda, share);
  for (int t = 0; t < 2; ++t, i += 2, j += 2) {
    sum = multiply_add(of.of[t][0], S(i[0] * j[0]), sum);
    sum = multiply_add(of.of[t][1], S(half * multiply_add(i[0], j[1], i[1] * j[0])), sum);
    sum = multiply_add(multiply_add(coupling, of.of[t][0], of.of[t][2]), S(i[1] * j[1]), sum);
  }
  return sum;
}

// Passes of evaluation; see row_terms.hpp.

ISOCLOTH_HD Index first_pass_count(const MembraneGroup& group) { return group.stencil_count(); }
template <class S, class T, class W>
ISOCLOTH_HD void first_pass(const EvaluateRows<S, T, W>& a, const MembraneGroup& group, Index stencil) {
  evaluate_membrane(a, group, stencil);
}
ISOCLOTH_HD Index second_pass_count(const MembraneGroup&) { return 0; }
template <class S, class T, class W>
ISOCLOTH_HD void second_pass(const EvaluateRows<S, T, W>&, const MembraneGroup&, Index) {}
ISOCLOTH_HD Index third_pass_count(const MembraneGroup& group) { return group.stencil_count(); }
template <class S, class T, class W>
ISOCLOTH_HD void third_pass(const EvaluateRows<S, T, W>& a, const MembraneGroup& group, Index stencil) {
  differentiate_membrane(a, group, stencil);
}
template <class S, class T, class W>
ISOCLOTH_HD void evaluate_stencil(const EvaluateRows<S, T, W>& a, const MembraneGroup& group, Index stencil) {
  evaluate_membrane(a, group, stencil);
  differentiate_membrane(a, group, stencil);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
