// A build without the models beside the core: solvers and air.
#include "host/orchestrator/solver_registry.hpp"
#include "host/simulation/air_flow.hpp"

namespace isocloth {

template <class Real>
std::vector<SolverEntry<Real>> model_solvers() {
  return {};
}

template std::vector<SolverEntry<float>> model_solvers<float>();
template std::vector<SolverEntry<double>> model_solvers<double>();

AirFlowFactory panel_flow_factory() { return nullptr; }

}  // namespace isocloth
