// One cloth held by impulses that are found together, from one system of linear equations.
#pragma once

#include <optional>

#include "engine/model/scene.hpp"
#include "host/impulse/impulse_solver.hpp"
#include "host/linear/host_system.hpp"
#include "kernels/models/bender_sle/system_kernels.hpp"

namespace isocloth {

/// Steps of Bender, section 3.4.2. Each part: A p = e for the impulses of all edges at the preview, once more
/// with the same factor where that missed the tolerance, then Newton's method with A + 1e-2 diag(A), up to
/// max_solves solves in all. What they cannot bring within the tolerance is done by sweeps from the preview
/// (`fallbacks` of the report). A that is singular or nearly so (a pivot below rounding, a correction longer
/// than an edge) goes to the regularised form at once. A is factored on the host, whatever the device; the
/// pattern follows from the mesh.
template <class Real>
class ImpulseSystem final : public ImpulseSolver<Real> {
 public:
  /// A solver of one garment; arguments as ImpulseGarments takes them.
  ImpulseSystem(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::vector<AdvanceReport> finish() override;
  int fallbacks() const override { return fallbacks_; }
  bool converges() const override { return true; }
  bool hold_rows_again(int most_sweeps) override;
  /// Number of threads that fill the solver: one for a small cloth.
  std::size_t threads() const override { return queue_.pool == nullptr ? 1 : Base::threads(); }

 private:
  using Base = ImpulseSolver<Real>;
  using Base::device_, Base::kernels_, Base::queue_, Base::here_, Base::relative_positions_, Base::moves_;
  using typename Base::Step;

  void build_edges(const Garment& garment);
  void build_matrix();
  void grasped() override;
  /// Computes the matrix's constants from the masses as they are held now.
  void weigh();

  int hold_lengths(Step& step) override;
  void hold_rates(Step& step) override;
  /// Whether the impulses of systems met the tolerance; `solves` counts.
  bool solve_lengths(int& solves);
  template <class Phase>
  void run(const Phase& phase, std::size_t count);
  /// Directions and A + added diag(A) at the moves, factored. False where a pivot is not above rounding.
  bool factorize(double added);
  /// Impulses for the right side, applied to the moves. Returns the largest |change| of a node by the length
  /// of its shortest edge, infinite where something is not finite.
  double correct();
  double strain();   ///< finds the strains and the right side anew; returns the largest strain
  void fall_back();  ///< lets sweeps hold the part from where KeepMoves was

  std::size_t work_bytes() const override;
  std::string solver_name() const override;

  const SystemKernels<Real>& kernels_of_system_;
  Index edge_count_ = 0, node_count_ = 0;
  Buffer<Index> edge_nodes_, entries_, node_begin_, node_edges_;
  Buffer<Real> lengths_, scales_, weights_, reaches_, values_, right_side_, impulses_, strains_,
      node_changes_;
  Buffer<Vec4<Real>> kept_moves_, kept_loads_, directions_;
  std::optional<HostSystem<Real, Real>> system_;  ///< system of the edges; none where no edge is left
  bool fell_back_ = false;                        ///< whether the last part fell back to sweeps
  bool touched_ = false;                          ///< whether a contact moved its point in the last part
  int fallbacks_ = 0;                             ///< number of fallbacks in this finish()
};

}  // namespace isocloth
