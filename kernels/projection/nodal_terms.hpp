// What the kernels of one iteration do for one item, on any lane value.
#pragma once

#include <cmath>

#include "kernels/launch/lanes.hpp"
#include "kernels/projection/nodal_system.hpp"
#include "kernels/tensors/membrane_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// h (rate rho m v^ - h weight m e_z - h kappa (K x^)) of free node i.
template <class S, class T>
ISOCLOTH_HD Vec3<S> momentum(const AssembleMomentum<S, T>& a, Index i) {
  const Index node = a.free.nodes[i];
  const S mass = S(a.metric.masses[node]);
  Vec3<S> b = (a.rho * mass) * a.velocities[node];
  b.z = b.z - a.step * (a.weight * mass);
  if (a.metric.has_bending()) {
    const Vec3<S> p = a.positions[node];  // rows of K sum to zero: relative positions round less
    Vec3<S> force;
    for (Index e = a.metric.pattern.row_begin[node]; e < a.metric.pattern.row_begin[node + 1]; ++e)
      force = multiply_add(S(a.metric.bending[e]), a.positions[a.metric.pattern.columns[e]] - p, force);
    b = multiply_add(-(a.step * a.kappa), force, b);
  }
  return a.step * b;
}

/// Where a driven node is after a share of its step: it moves evenly.
template <class S>
ISOCLOTH_HD Vec3<S> driven_position(Vec3<S> from, Vec3<S> target, S share) {
  const Vec3<S> between = multiply_add(share, target - from, from);
  return select(share >= S(typename Lanes<S>::Scalar(1)), target, between);
}

/// Where inertia alone takes a free node.
template <class S>
ISOCLOTH_HD Vec3<S> inertial_position(Vec3<S> x, Vec3<S> v, S h) {
  return multiply_add(h, v, x);
}

template <class S>
ISOCLOTH_HD Vec3<S> first_iterate(const StartIteration<S>& a, Index node) {
  return a.free.number[node] < 0 ? driven_position(a.from[node], a.targets[node], a.share)
                                 : inertial_position(a.positions[node], a.velocities[node], a.step);
}

template <class S, class T>
ISOCLOTH_HD Vec3<S> predicted(const PredictPositions<S, T>& a, Index node) {
  using Scalar = typename Lanes<S>::Scalar;
  const Index i = a.free.number[node];
  if (i < 0) return a.targets[node];
  if (!a.moves.empty()) return a.positions[node] + a.moves[i];
  return multiply_add(S(Scalar(1)) / (a.metric.inertia * S(a.metric.masses[node])), a.momentum[i],
                      a.positions[node]);
}

/// Whether a slot has a part in the system; see LimitGroup.
template <class S, class Group>
ISOCLOTH_HD bool pulls(const Group&, ArrayView<const S>, Index) {
  return true;
}
template <class S>
ISOCLOTH_HD bool pulls(const LimitGroup&, ArrayView<const S> at_limit, Index slot) {
  return any(at_limit[slot] > S{});
}

/// sum + sum_w lambda_w T_ij, of a term of a pair of nodes.
template <int Width, class S, class T>
ISOCLOTH_HD S add_tensors(const GeometricStiffness<S, T>& a, const RowGroup<Width>& group, Index entry,
                          Index row, S sum) {
  const T* const tensors = a.tensors.data() + group.first_tensor;
  for (int w = 0; w < Width; ++w)
    sum = multiply_add(a.multipliers[row + w], S(tensors[entry * Width + w]), sum);
  return sum;
}
template <class S, class T>
ISOCLOTH_HD S add_tensors(const GeometricStiffness<S, T>& a, const LimitGroup& group, Index pair,
                          Index stencil, S sum) {
  if (!pulls(group, a.at_limit, pair / 4)) return sum;
  const T* const gradients = a.tensors.data() + group.first_tensor;
  const T* const i = gradients + 2 * (pair / 4);
  const T* const j = gradients + 2 * (group.stencils.stencil_begin[stencil] + pair % 4);
  const S* const lambda = a.multipliers.data() + group.first_row + stretch_directions * stencil;
  const auto along = [](const T* g, double u, double v) {
    return multiply_add(T(static_cast<typename Lanes<T>::Scalar>(u)), g[0],
                        T(static_cast<typename Lanes<T>::Scalar>(v)) * g[1]);
  };
  for (int w = 0; w < stretch_directions; ++w) {
    const auto [u, v] = stretch_direction(w);
    sum = multiply_add(lambda[w], S(along(i, u, v) * along(j, u, v)), sum);
  }
  return sum;
}
template <class S, class T>
ISOCLOTH_HD S add_tensors(const GeometricStiffness<S, T>& a, const MembraneGroup& group, Index pair,
                          Index stencil, S sum) {
  const T* const tensors = a.tensors.data() + group.first_tensor;
  return add_pair_tensors(a.multipliers.data() + group.first_row + membrane_width * stencil,
                          S(tensors[group.share(stencil)]), a.coupling, tensors + 4 * (pair / 4),
                          tensors + 4 * (group.stencils.stencil_begin[stencil] + pair % 4), sum);
}

/// -G_ab of a pair, of any sign.
template <class S, class T>
ISOCLOTH_HD S pair_weight(const GeometricStiffness<S, T>& a, Index pair) {
  S half{};
  a.rows.for_each_group([&](const auto& group) {
    const GatherView& terms = group.pair_terms;
    for (Index t = terms.begin[pair]; t < terms.begin[pair + 1]; ++t)
      half = add_tensors(a, group, terms.first[t], terms.second[t], half);
  });
  return -(half + half);
}

template <class S, class T>
ISOCLOTH_HD S pair_stiffness(const GeometricStiffness<S, T>& a, Index pair) {
  const S g = pair_weight(a, pair), of_rows = select(g > S{}, g, S{});
  if (!a.stitches.exist()) return of_rows;
  const Index stitch = a.stitches.pattern.of_pairs[pair];
  return stitch < 0 ? of_rows : of_rows + a.stitches.stiffness[stitch];
}

template <class S>
ISOCLOTH_HD void add_outer(S* block, Vec3<S> a, Vec3<S> b) {
  block[0] = multiply_add(a.x, b.x, block[0]);
  block[1] = multiply_add(a.x, b.y, block[1]);
  block[2] = multiply_add(a.x, b.z, block[2]);
  block[3] = multiply_add(a.y, b.x, block[3]);
  block[4] = multiply_add(a.y, b.y, block[4]);
  block[5] = multiply_add(a.y, b.z, block[5]);
  block[6] = multiply_add(a.z, b.x, block[6]);
  block[7] = multiply_add(a.z, b.y, block[7]);
  block[8] = multiply_add(a.z, b.z, block[8]);
}

template <class S>
ISOCLOTH_HD void add_samples(const SampleForces<S>& a, Index b, S (&block)[9]) {
  constexpr int entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  S sum[6] = {};
  for (Index t = a.block_slots.begin[b]; t < a.block_slots.begin[b + 1]; ++t) {
    const Index row = a.block_slots.first[t], column = a.block_slots.second[t];
    if (row >= a.slot_end) break;
    const S weight = a.weights[row] * a.weights[column];
    if (!any(weight != S{})) continue;  // elements that touch nothing, nearly all
    const S* stiffness = a.stiffness.data() + static_cast<std::size_t>(a.slot_samples[row]) * 6;
    for (int i = 0; i < 6; ++i) sum[i] = multiply_add(weight, stiffness[i], sum[i]);
  }
  for (int i = 0; i < 9; ++i) block[i] += sum[entry[i]];
}

/// Block b of H.
template <class S, class T>
ISOCLOTH_HD void system_block(const AssembleSystem<S, T>& a, Index b, S (&block)[9]) {
  S sum[9] = {};  // in registers: `block` may be what is read below, for all that the compiler knows
  S diagonal{};
  if (a.block_rows[b] == a.block_columns[b]) {
    const Index node = a.free.nodes[a.block_rows[b]];
    diagonal = a.metric.inertia * S(a.metric.masses[node]);
    if (a.with_rows && !a.stiffness.empty())
      for (Index p = a.node_pair_begin[node]; p < a.node_pair_begin[node + 1]; ++p)
        diagonal += a.stiffness[a.node_pairs[p]];
  } else if (a.with_rows && !a.stiffness.empty() && a.block_pairs[b] >= 0) {
    diagonal = -a.stiffness[a.block_pairs[b]];
  }
  if (a.metric.has_bending()) diagonal = multiply_add(a.metric.stiffness, S(a.metric.factored[b]), diagonal);
  if (a.with_rows)
    a.rows.for_each_group([&](const auto& group) {
      const GatherView& terms = group.block_terms;
      const Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
      for (Index t = terms.begin[b]; t < terms.begin[b + 1]; ++t) {
        if (!pulls(group, a.at_limit, terms.first[t])) continue;
        for (int w = 0; w < group.width; ++w)
          add_outer(sum, jacobian[terms.first[t] * group.width + w],
                    jacobian[terms.second[t] * group.width + w]);
      }
    });
  for (int i = 0; i < 9; ++i) block[i] = i % 4 == 0 ? sum[i] + diagonal : sum[i];
  if (a.samples.exist()) add_samples(a.samples, b, block);
}

/// -(prox / s + s C), so that -J^T (prox + s^2 C) = (s J)^T row_force; of multipliers -lambda / s.
template <class S, class T>
ISOCLOTH_HD S row_force(const AssembleGradient<S, T>& a, Index row) {
  using Scalar = typename Lanes<S>::Scalar;
  const S s = a.scales[row];
  const auto has_part = s > S{};
  const S divisor = select(has_part, s, S(Scalar(1)));
  if (a.pull == RowPull::multipliers) return select(has_part, -(a.multipliers[row] / divisor), S{});
  S carried = a.multipliers.empty() ? S{} : proximal(a.laws, row, s, a.multipliers[row]) / divisor;
  if (a.pull == RowPull::mismatch) carried = carried - a.multipliers[row] / divisor;
  return select(has_part, -multiply_add(s, a.residuals[row], carried), S{});
}

/// Right side of the system at free node i.
template <class S, class T>
ISOCLOTH_HD Vec3<S> gradient(const AssembleGradient<S, T>& a, Index i) {
  const Index node = a.free.nodes[i];
  const auto pull = [&](Index row) { return a.row_forces.empty() ? row_force(a, row) : a.row_forces[row]; };
  Vec3<S> b;
  if (a.with_rows)
    a.rows.for_each_group([&](const auto& group) {
      const GatherView& terms = group.node_terms;
      const Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
      for (Index t = terms.begin[i]; t < terms.begin[i + 1]; ++t) {
        if (!pulls(group, a.at_limit, terms.first[t])) continue;
        for (int w = 0; w < group.width; ++w)
          b = multiply_add(pull(terms.second[t] + w), jacobian[terms.first[t] * group.width + w], b);
      }
    });
  if (a.samples.exist())
    for (Index t = a.samples.node_slots.begin[i]; t < a.samples.node_slots.begin[i + 1]; ++t) {
      if (a.samples.node_slots.first[t] >= a.samples.slot_end) break;
      const S weight = a.samples.weights[a.samples.node_slots.first[t]];
      if (!any(weight != S{})) continue;
      const S* force = a.samples.forces.data() + static_cast<std::size_t>(a.samples.node_slots.second[t]) * 3;
      b = multiply_add(weight, Vec3<S>{force[0], force[1], force[2]}, b);
    }
  if (a.with_rows && a.stitches.exist()) b = pulled(a.stitches, a.positions, i, b);
  if (a.momentum.empty()) return b;
  const Vec3<S> moved = a.positions[node] - a.start[node];
  b += multiply_add(-(a.metric.inertia * S(a.metric.masses[node])), moved, a.momentum[i]);
  if (a.metric.has_bending())
    for (Index e = a.metric.pattern.row_begin[node]; e < a.metric.pattern.row_begin[node + 1]; ++e) {
      const Index j = a.metric.pattern.columns[e];
      b = multiply_add(-(a.metric.stiffness * S(a.metric.bending[e])), (a.positions[j] - a.start[j]) - moved,
                       b);
    }
  return b;
}

/// See FindImbalances; infinite where it is not finite.
template <class S, class T, class M>
ISOCLOTH_HD S imbalance(const FindImbalances<S, T, M>& a, Index i) {
  using Scalar = typename Lanes<S>::Scalar;
  const AssembleGradient<S, T>& balance = a.balance;
  const Index node = balance.free.nodes[i];
  Vec3<S> r = gradient(balance, i);
  if (!a.from_cloth.empty()) r += a.from_cloth[i];
  if (const SampleForces<S>& samples = balance.samples; samples.exist()) {
    const KeptForces<S>& kept = a.contacts;
    const auto at = [](ArrayView<const S> values, Index contact) {
      const std::size_t c = 3 * static_cast<std::size_t>(contact);
      return Vec3<S>{values[c], values[c + 1], values[c + 2]};
    };
    for (Index t = samples.node_slots.begin[i]; t < samples.node_slots.begin[i + 1]; ++t) {
      const Index sample = samples.node_slots.second[t], first = kept.pattern.first_contact(sample);
      if (samples.node_slots.first[t] >= samples.slot_end) break;
      for (Index c = first; c < first + kept.pattern.contacts_of(sample); ++c) {
        const Vec3<S> change = at(kept.forces, c) - at(kept.pulls, c);
        r = select(kept.modes[c] > S{}, multiply_add(samples.weights[samples.node_slots.first[t]], change, r),
                   r);
      }
    }
  }
  const S size = square_root(dot_add(r, r, S{})) / (a.weight * S(balance.metric.masses[node])),
          infinity(static_cast<Scalar>(HUGE_VAL));
  return select(S(a.inverse_masses[node]) > S{}, select(size < infinity, size, infinity), S{});
}

/// d; not finite where its length is not.
template <class S>
ISOCLOTH_HD Vec3<S> of_finite_length(Vec3<S> d) {
  using Scalar = typename Lanes<S>::Scalar;
  const S length = square_root(dot_add(d, d, S{}));
  return (S(Scalar(1)) + (length - length)) * d;  // infinity - infinity
}

/// Multiplier of a row after the correction, s^2 (C + J d) + prox.
template <class S>
ISOCLOTH_HD S next_multiplier(const UpdateMultipliers<S>& a, Index row, S lambda) {
  S change{};  // s J d
  bool has_part = true;
  a.rows.visit_row(row, [&](const auto& group, Index stencil, int w) {
    const StencilView& stencils = group.stencils;
    const Vec3<S>* const jacobian = a.jacobian.data() + group.first_jacobian;
    has_part = pulls(group, a.at_limit, stencils.stencil_begin[stencil]);
    if (!has_part) return;
    for (Index slot = stencils.stencil_begin[stencil]; slot < stencils.stencil_begin[stencil + 1]; ++slot) {
      const Index i = a.free.number[stencils.slot_nodes[slot]];
      if (i >= 0) change = dot_add(jacobian[slot * group.width + w], a.correction[i], change);
    }
  });
  if (!has_part) return S{};
  const S s = a.scales[row];
  return admissible(a.laws, row, s,
                    proximal(a.laws, row, s, lambda) + s * multiply_add(s, a.residuals[row], change));
}

}  // namespace isocloth::ISOCLOTH_BACKEND
