#include "kernels/projection/unconstrained_step.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct RightSideBody {
  UnconstrainedRightSide<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Index node = a.free.nodes[i];
    const Real mass = a.metric.masses[node];
    Vec3<Real> b = a.rho * mass * a.velocities[node];
    b.z -= a.step * a.weight * mass;
    if (a.metric.has_bending()) {
      const Vec3<Real> p = a.positions[node];
      for (Index e = a.metric.pattern.row_begin[node]; e < a.metric.pattern.row_begin[node + 1]; ++e) {
        const Index j = a.metric.pattern.columns[e];
        const Real k = a.metric.bending[e];
        b -= a.step * a.kappa * k *
             (a.positions[j] - p);  // rows of K sum to zero: relative positions round less
        if (a.free.number[j] < 0) b -= a.metric.stiffness * k / a.step * (a.targets[j] - a.positions[j]);
      }
    }
    a.right_side[i] = b;
  }
};

template <class Real>
struct PredictBody {
  PredictPositions<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    const Index i = a.free.number[node];
    Vec3<Real> p = a.targets[node];
    if (i >= 0) {
      Vec3<Real> v = a.solution[i];
      if (!a.metric.has_bending()) v = Real(1) / (a.metric.inertia * a.metric.masses[node]) * v;
      p = a.positions[node] + a.step * v;
    }
    a.predicted[node] = p;
    if (i >= 0 && !a.velocities.empty()) p = a.positions[node] + a.step * a.velocities[node];
    a.iterate[node] = p;
  }
};

}  // namespace

template <class Real>
void unconstrained_right_side(const Queue& queue, const UnconstrainedRightSide<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), RightSideBody<Real>{args});
}
template <class Real>
void predict_positions(const Queue& queue, const PredictPositions<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.number.size()), PredictBody<Real>{args});
}

template void unconstrained_right_side<float>(const Queue&, const UnconstrainedRightSide<float>&);
template void unconstrained_right_side<double>(const Queue&, const UnconstrainedRightSide<double>&);
template void predict_positions<float>(const Queue&, const PredictPositions<float>&);
template void predict_positions<double>(const Queue&, const PredictPositions<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
