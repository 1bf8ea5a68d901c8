#include "kernels/projection/nodal_system.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct StiffnessBody {
  GeometricStiffness<Real> a;
  ISOCLOTH_DEVICE void operator()(Index pair) const {
    Real g = 0;
    for (Index t = a.metric_terms.begin[pair]; t < a.metric_terms.begin[pair + 1]; ++t) {
      const Index entry = a.metric_terms.first[t], row = a.metric_terms.second[t];
      for (int w = 0; w < 3; ++w) g -= 2 * a.multipliers[row + w] * a.metric_tensors[entry * 3 + w];
    }
    for (Index t = a.scalar_terms.begin[pair]; t < a.scalar_terms.begin[pair + 1]; ++t)
      g -= 2 * a.multipliers[a.scalar_terms.second[t]] * a.scalar_tensors[a.scalar_terms.first[t]];
    a.stiffness[pair] = g > 0 ? g : Real(0);
  }
};

template <class Real>
ISOCLOTH_HD void add_outer(Real* block, Vec3<Real> a, Vec3<Real> b) {
  block[0] += a.x * b.x, block[1] += a.x * b.y, block[2] += a.x * b.z;
  block[3] += a.y * b.x, block[4] += a.y * b.y, block[5] += a.y * b.z;
  block[6] += a.z * b.x, block[7] += a.z * b.y, block[8] += a.z * b.z;
}

template <class Real>
struct SystemBody {
  AssembleSystem<Real> a;
  ISOCLOTH_DEVICE void operator()(Index b) const {
    Real block[9] = {};
    for (Index t = a.metric_terms.begin[b]; t < a.metric_terms.begin[b + 1]; ++t)
      for (int w = 0; w < 3; ++w)
        add_outer(block, a.metric_jacobian[a.metric_terms.first[t] * 3 + w],
                  a.metric_jacobian[a.metric_terms.second[t] * 3 + w]);
    for (Index t = a.scalar_terms.begin[b]; t < a.scalar_terms.begin[b + 1]; ++t)
      add_outer(block, a.scalar_jacobian[a.scalar_terms.first[t]],
                a.scalar_jacobian[a.scalar_terms.second[t]]);
    Real diagonal = 0;
    if (a.block_rows[b] == a.block_columns[b]) {
      const Index node = a.free.nodes[a.block_rows[b]];
      diagonal = a.metric.inertia * a.metric.masses[node];
      if (!a.stiffness.empty())
        for (Index p = a.node_pair_begin[node]; p < a.node_pair_begin[node + 1]; ++p)
          diagonal += a.stiffness[a.node_pairs[p]];
    } else if (!a.stiffness.empty() && a.block_pairs[b] >= 0) {
      diagonal = -a.stiffness[a.block_pairs[b]];
    }
    if (a.metric.has_bending() && a.block_bending[b] >= 0)
      diagonal += a.metric.stiffness * a.metric.bending[a.block_bending[b]];
    for (int i = 0; i < 9; ++i) a.blocks[b * 9 + i] = block[i] + (i % 4 == 0 ? diagonal : Real(0));
  }
};

template <class Real>
struct GradientBody {
  AssembleGradient<Real> a;
  ISOCLOTH_HD Real
  force(Index row) const {  // lambda / s + s C, so that J^T (lambda + C / (eps D)) = (s J)^T force
    const Real s = a.scales[row];
    if (!(s > 0)) return 0;
    return s * a.residuals[row] + (a.multipliers.empty() ? Real(0) : a.multipliers[row] / s);
  }
  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Index node = a.free.nodes[i];
    Vec3<Real> b;
    for (Index t = a.metric_terms.begin[i]; t < a.metric_terms.begin[i + 1]; ++t)
      for (int w = 0; w < 3; ++w)
        b -= force(a.metric_terms.second[t] + w) * a.metric_jacobian[a.metric_terms.first[t] * 3 + w];
    for (Index t = a.scalar_terms.begin[i]; t < a.scalar_terms.begin[i + 1]; ++t)
      b -= force(a.scalar_terms.second[t]) * a.scalar_jacobian[a.scalar_terms.first[t]];
    if (!a.multipliers.empty()) {
      b -= a.metric.inertia * a.metric.masses[node] * (a.positions[node] - a.predicted[node]);
      if (a.metric.has_bending() && a.metric.stiffness > 0)
        for (Index e = a.metric.pattern.row_begin[node]; e < a.metric.pattern.row_begin[node + 1]; ++e) {
          const Index j = a.metric.pattern.columns[e];
          b -= a.metric.stiffness * a.metric.bending[e] * (a.positions[j] - a.predicted[j]);
        }
    }
    a.right_side[i] = b;
  }
};

template <class Real>
struct CorrectionBody {
  ApplyCorrection<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    Vec3<Real> d = a.correction[i];
    const Real length = norm(d);
    if (a.clamp > 0 && length > a.clamp) d = a.clamp / length * d;
    a.correction[i] = d;
    a.positions[a.free.nodes[i]] += d;
  }
};

template <class Real, int Width>
struct MultiplierBody {
  UpdateMultipliers<Real, Width> a;
  ISOCLOTH_DEVICE void operator()(Index stencil) const {
    Real change[Width] = {};  // s J d
    for (Index slot = a.stencils.stencil_begin[stencil]; slot < a.stencils.stencil_begin[stencil + 1];
         ++slot) {
      const Index i = a.free.number[a.stencils.slot_nodes[slot]];
      if (i < 0) continue;
      for (int w = 0; w < Width; ++w) change[w] += dot(a.jacobian[slot * Width + w], a.correction[i]);
    }
    for (int w = 0; w < Width; ++w) {
      const Index row = stencil * Width + w;
      a.multipliers[row] += a.scales[row] * (a.scales[row] * a.residuals[row] + change[w]);
    }
  }
};

}  // namespace

template <class Real>
void geometric_stiffness(const Queue& queue, const GeometricStiffness<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.stiffness.size()), StiffnessBody<Real>{args});
}
template <class Real>
void assemble_system(const Queue& queue, const AssembleSystem<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.block_rows.size()), SystemBody<Real>{args});
}
template <class Real>
void assemble_gradient(const Queue& queue, const AssembleGradient<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), GradientBody<Real>{args});
}
template <class Real>
void apply_correction(const Queue& queue, const ApplyCorrection<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), CorrectionBody<Real>{args});
}
template <class Real, int Width>
void update_multipliers(const Queue& queue, const UpdateMultipliers<Real, Width>& args) {
  parallel_for(queue, args.stencils.stencil_count(), MultiplierBody<Real, Width>{args});
}

template void geometric_stiffness<float>(const Queue&, const GeometricStiffness<float>&);
template void geometric_stiffness<double>(const Queue&, const GeometricStiffness<double>&);
template void assemble_system<float>(const Queue&, const AssembleSystem<float>&);
template void assemble_system<double>(const Queue&, const AssembleSystem<double>&);
template void assemble_gradient<float>(const Queue&, const AssembleGradient<float>&);
template void assemble_gradient<double>(const Queue&, const AssembleGradient<double>&);
template void apply_correction<float>(const Queue&, const ApplyCorrection<float>&);
template void apply_correction<double>(const Queue&, const ApplyCorrection<double>&);
template void update_multipliers<float, 1>(const Queue&, const UpdateMultipliers<float, 1>&);
template void update_multipliers<float, 3>(const Queue&, const UpdateMultipliers<float, 3>&);
template void update_multipliers<double, 1>(const Queue&, const UpdateMultipliers<double, 1>&);
template void update_multipliers<double, 3>(const Queue&, const UpdateMultipliers<double, 3>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
