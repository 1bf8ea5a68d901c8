// One part of a step of a sheet with the energies of TensorGrid: the linear systems, on the host and in
// double.
#pragma once

#include <memory>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/models/terzopoulos1987/tensor_grid.hpp"

namespace isocloth {

/// What a part of a step knows; vectors have shape [node_count].
struct TensorGridPart {
  const Fabric& fabric;
  double h = 0;                         ///< duration of the part [s]
  const std::vector<Vec3d>& positions;  ///< x where it begins [m]
  const std::vector<Vec3d>& before;     ///< h v where it begins [m]
  std::vector<Vec3d>&
      moves;  ///< in: h v + h^2 f / m of forces from outside, of fixed nodes their way; out: u [m]
  MonitorView monitor = {};  ///< asked before each solve
};

class TensorGridStep {
 public:
  /// The grid must outlive it. masses: m_i [m^2]; is_free: the others move as they are told.
  TensorGridStep(const TensorGrid& grid, std::vector<double> masses, const std::vector<char>& is_free);
  ~TensorGridStep();

  /// The step of Terzopoulos et al. with central differences in time,
  ///   (rho M / h^2 + alpha M / (2 h) + K) u = rho M / h^2 (h v + h^2 f / m) - alpha M / (2 h) h v -
  ///   dE/dx(x),
  /// x_{n+1} = x + u, M = diag(m). K of the metric is K(x) of the paper, dE/dx = K(x) x: what G - G0 of the
  /// beginning makes of it, without its change, so that stretching is explicit in fact (see ForceBounds). K
  /// of curvature is sum K_s g g^T with g = dB/dx. False: the matrix has no Cholesky factor, and the moves
  /// are not numbers.
  bool semi_implicit(const TensorGridPart& part);
  /// Backward Euler, rho M / h^2 (u - h v - h^2 f / m) + alpha M / h u + dE/dx(x + u) = 0, by Newton's method
  /// with the positive parts of second derivatives and halved steps where the energy would grow. Returns the
  /// number of linear solves, `most_solves` + 1 where the last did not change every position by less than
  /// 1e-7 edges.
  int implicit(const TensorGridPart& part);
  static constexpr int most_solves = 100;

 private:
  struct System;
  const TensorGrid& grid_;
  std::vector<double> masses_;
  std::vector<char> is_free_;
  double edge_ = 0;  ///< shortest edge of the grid [m]
  std::unique_ptr<System> system_;
};

}  // namespace isocloth
