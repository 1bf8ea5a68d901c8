// The solvers and the air of models beside the core; a model that is taken out takes its lines along.
#include "host/models/air/sheet_in_air.hpp"
#include "host/models/bender_sle/solver_entry.hpp"
#include "host/models/terzopoulos1987/solver_entry.hpp"

namespace isocloth {

template <class Real>
std::vector<SolverEntry<Real>> model_solvers() {
  return {bender_sle_solver<Real>(), terzopoulos1987_solver<Real>()};
}

template std::vector<SolverEntry<float>> model_solvers<float>();
template std::vector<SolverEntry<double>> model_solvers<double>();

AirFlowFactory panel_flow_factory() {
  return [](const Garment& garment, const Wind& wind, const std::string& key) -> std::unique_ptr<AirFlow> {
    return std::make_unique<SheetInAir>(garment, wind, key);
  };
}

}  // namespace isocloth
