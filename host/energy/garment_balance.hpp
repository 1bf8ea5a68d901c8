// The balance of energy of one garment.
#pragma once

#include <memory>
#include <vector>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/energy/contact_work.hpp"
#include "host/energy/row_work.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth::energy {

/// What all garments of one mesh, one fabric and the same pins share.
class GarmentModel {
 public:
  GarmentModel(const Recipe& recipe, const Scene& scene, const Garment& garment);

  /// Whether it is the model of a garment of the same scene, too.
  bool is_of(const Garment& garment) const;
  /// Whether a fabric has the same rows and pattern of bending.
  bool fits(const Fabric& fabric) const;

  std::vector<char> is_free;
  VectorXd masses;                  ///< m_i [m^2]
  reference::SparseMatrix bending;  ///< K [1/m^2]; empty: none
  RowWork rows;
  ContactWork contacts;

 private:
  const Mesh& mesh_;
  Fabric fabric_;
};

/// The energies of a state, with nothing else in the sums, and its kinetic energy.
struct StateEnergies {
  EnergySums sums;
  double kinetic = 0;
  double inner() const { return kinetic + sums.bending_energy + sums.stretch_energy + sums.shear_energy; }
};

/// Follows one garment from step to step.
class GarmentBalance {
 public:
  GarmentBalance(const Scene& scene, const Garment& garment, std::shared_ptr<const GarmentModel> model,
                 const GarmentState& state);

  /// plastic: GarmentState::plastic_strains.
  StateEnergies energies(const MatrixX3d& positions, const MatrixX3d& velocities,
                         const std::vector<double>& plastic) const;
  /// A step of the scene from `before`, which was at `begin`. What lies between the state that the last one
  /// left and `before` are commands.
  ///
  /// Forces are those at the end of each part: with the way dx of the nodes and the inertia f = rho M (v_1 -
  /// v^) rate / h the step ends where f = sum of forces F on free nodes, and F + R on those that something
  /// else moves, which feel R. E_1 - E_0 = sum dx . (F + R) - losses then, the integrator's loss being dx . f
  /// - (T_1 - T_0), for backward Euler 1/2 |v_1 - v_0|^2, and as much of each potential.
  void add(const StepRecord& step, const GarmentState& before, const Moment& begin, Integrator integrator,
           const std::vector<BodyState>& bodies_before, const std::vector<BodyState>& bodies_after);

  /// Where the garment's fabric is not any more that of the model, another one is made.
  void refresh(const Recipe& recipe);

  const EnergySums& sums() const { return sums_; }
  /// Goes on from a state, and from the works and losses of `sums`.
  void go_on(const EnergySums& sums, const GarmentState& state);

 private:
  void set_sums(const EnergySums& sums);
  /// Positions, velocities and step that the integrator remembers.
  struct History {
    MatrixX3d positions, velocities;
    double step = 0;
  };
  void add_part(const GarmentPart& part, const MatrixX3d& inertia, const StepRecord& step);
  /// Notes the largest of forces that nothing balances [N], but for nodes that are moved.
  void note_unbalanced(const MatrixX3d& forces, const std::vector<char>& is_moved);

  const Scene& scene_;
  const Garment& garment_;
  std::shared_ptr<const GarmentModel> model_;
  EnergySums sums_;
  StateEnergies last_;
};

}  // namespace isocloth::energy
