// The linear system of the circulations of a sheet.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "engine/models/air/vortex_lattice.hpp"

namespace isocloth {

/// Rings of a sheet and of its wake in one step.
struct SheetRings {
  const PanelGrid& grid;
  const VortexLattice& lattice;
  /// Lines of the rings from the leading edge to the end of the wake [m]: of the rings of the sheet, of the
  /// youngest row of the wake, which goes on with the circulations of the last row of the sheet, and of the
  /// rows behind it, which are known.
  const std::vector<const Vec3d*>& lines;
  double core;  ///< radius of the vortices' cores [m]
};

/// Air at the collocation points, moved by what circulations there were a step ago, and by the wake [m/s].
struct InducedVelocities {
  std::vector<Vec3d> by_sheet, by_wake;
};

/// Washes of rings of unknown circulation along the normals of the collocation points, one row a point, and
/// whatever else is added.
class RingSystem {
 public:
  virtual ~RingSystem() = default;
  /// circulations: of the sheet, shape [panel_count]; wake: of the rows behind the youngest, shape [rows,
  /// columns].
  virtual InducedVelocities induce(const std::vector<double>& circulations,
                                   const std::vector<double>& wake) = 0;
  /// Adds to the coefficient of panel's circulation in a row; after induce().
  virtual void add(std::size_t row, std::size_t panel, double value) = 0;
  /// start: a guess. Not finite where there is no solution.
  virtual Eigen::VectorXd solve(const Eigen::VectorXd& right, const std::vector<double>& start) = 0;
};

/// More panels than this are a system by a tree.
constexpr Index most_dense_panels = 600;

/// The whole matrix, factorised: O(panels^3).
std::unique_ptr<RingSystem> dense_ring_system(const SheetRings& rings);
/// Products by a RingTree, solved by GMRES with the inverses of blocks of neighbouring panels: O(panels log
/// panels).
std::unique_ptr<RingSystem> tree_ring_system(const SheetRings& rings);

}  // namespace isocloth
