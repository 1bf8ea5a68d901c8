#include "kernels/projection/metric.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/projection/integrator.hpp"
#include "kernels/projection/nodal_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct MomentumBody {
  AssembleMomentum<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { a.momentum[i] = momentum(a, i); }
};

template <class Real>
struct StartBody {
  StartIteration<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const { a.iterate[node] = first_iterate(a, node); }
};

template <class Real>
struct ExtrapolateBody {
  ExtrapolateNodes<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    a.extrapolated[node] = extrapolated(a.memory, a.now[node], a.before[node]);
  }
};

template <class Real>
struct PredictBody {
  PredictPositions<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const { a.predicted[node] = predicted(a, node); }
};

}  // namespace

template <class Real>
void assemble_momentum(const Queue& queue, const AssembleMomentum<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.nodes.size()), MomentumBody<Real>{args});
}
template <class Real>
void start_iteration(const Queue& queue, const StartIteration<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.number.size()), StartBody<Real>{args});
}
template <class Real>
void extrapolate_nodes(const Queue& queue, const ExtrapolateNodes<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.now.size()), ExtrapolateBody<Real>{args});
}
template <class Real>
void predict_positions(const Queue& queue, const PredictPositions<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.free.number.size()), PredictBody<Real>{args});
}

template void assemble_momentum<float>(const Queue&, const AssembleMomentum<float>&);
template void assemble_momentum<double>(const Queue&, const AssembleMomentum<double>&);
template void start_iteration<float>(const Queue&, const StartIteration<float>&);
template void start_iteration<double>(const Queue&, const StartIteration<double>&);
template void extrapolate_nodes<float>(const Queue&, const ExtrapolateNodes<float>&);
template void extrapolate_nodes<double>(const Queue&, const ExtrapolateNodes<double>&);
template void predict_positions<float>(const Queue&, const PredictPositions<float>&);
template void predict_positions<double>(const Queue&, const PredictPositions<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
