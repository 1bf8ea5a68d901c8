// Rows of a garment: the energy of compliant ones, and what the forces of all do in a part of a step.
#pragma once

#include "engine/model/scene.hpp"
#include "host/energy/garment_part.hpp"
#include "host/reference/row_memory.hpp"
#include "host/reference/rows.hpp"
#include "host/reference/stress_laws.hpp"

namespace isocloth::energy {

class RowWork {
 public:
  RowWork(const Recipe& recipe, const Garment& garment, const std::vector<char>& is_free);

  /// Adds to stretch, shear and bending energy: of each compliant row K times the integral of its law, and
  /// what springs of its memory hold; plastic: GarmentState::plastic_strains.
  void add_energies(const MatrixX3d& positions, const std::vector<double>& plastic, EnergySums& sums) const;
  /// Force -J^T lambda / h^2 at the end of the part, and its work, of which the energy takes the difference.
  ///
  /// Along the part C(s) is quadratic, so that J dx = C_1 - C_0 + q, q the row's form at dx. A row with the
  /// stress sigma(C) loses K sigma(C_1) (J dx) - K (Phi(C_1) - Phi(C_0)) to the integrator, K p_v((C_1 -
  /// C_0) / h) (J dx) to viscosity, and what multipliers are beyond that to the tolerance; a rigid or
  /// bounded one lambda / h^2 q to the integrator, lambda / h^2 (C_1 - C_0) to the tolerance. Rows that are
  /// not quadratic (CorotationalStrain) have J dx by the chain rule, and q what that is beyond C_1 - C_0.
  /// What memory loses, its stress times the change of plastic strains, is no part of the integrator's loss.
  void act(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) const;

 private:
  reference::ElasticResponse law(Eigen::Index row, double c, const std::vector<double>& plastic) const;
  /// What memory loses of a row over K where its C is c when plastic strains have changed.
  double hysteresis(Eigen::Index row, double c, const std::vector<double>& before,
                    const std::vector<double>& after) const;
  double& energy_of(Eigen::Index row, EnergySums& sums) const;
  bool is_compliant(Eigen::Index row) const { return rows_.stiffness[row] > 0 && !(rows_.bounds[row] > 0); }

  /// Viscous stress over K of a row at a rate dC/dt.
  double viscous(Eigen::Index row, double rate) const;

  reference::GarmentRows rows_;
  std::vector<reference::StressLaw> laws_;  ///< laws of the rows; empty: all are linear in C
  reference::RowMemory memory_;
  std::vector<CurvePiece> viscosity_;  ///< shape [RowLaw::count, pieces]
};

}  // namespace isocloth::energy
