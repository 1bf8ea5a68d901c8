// The geometry of a vortex lattice on a sheet of panels.
#pragma once

#include <array>
#include <vector>

#include "engine/models/air/panel_grid.hpp"

namespace isocloth {

/// A panel as the flow sees it, and where what acts on it is felt.
struct VortexPanel {
  Vec3d normal;        ///< unit, downwind x across
  double area = 0;     ///< [m^2]
  Vec3d down, across;  ///< dual to the sides: down . d/d(row) = 1 [1/m]; gradients of circulation
  Vec3d collocation;   ///< three quarters down, midway between the lines of its ring: no air passes [m]
  /// Weights of the corners (PanelGrid::corners) at `collocation`.
  std::array<double, 4> collocation_weights{};
  Vec3d wash_normal;  ///< unit normal at `collocation`, interpolated from panel to panel
  /// Share of the panel's width that its ring spans, < 1 beside a rim, whose line lies inside.
  double ring_share = 1;
};

/// Weights of the corners of a panel a quarter down and in its middle.
constexpr std::array<double, 4> quarter_weights{0.375, 0.375, 0.125, 0.125};
constexpr std::array<double, 4> middle_weights{0.25, 0.25, 0.25, 0.25};

/// The lattice of a sheet in one state: rings a quarter of a panel downwind of the panels, from the sides
/// inward by a quarter of the outermost column (Hough, J. Aircraft 10(5), 1973: the error of the lift of a
/// plane wing is then of second order), and the last row of rings ends at the trailing edge.
struct VortexLattice {
  std::vector<VortexPanel> panels;  ///< shape [panel_count]
  std::vector<Vec3d> ring_points;   ///< corners of rings [m], shape [rows + 1, columns + 1]
  double panel_size = 0;            ///< smaller one of the mean sides of the panels [m]
};
/// Throws NumericalError for a panel without area. positions: [m], of all nodes of the mesh.
VortexLattice vortex_lattice(const PanelGrid& grid, ArrayView<const Vec3d> positions);

/// Velocities at one point of rings of circulation 1 between `lines` of vortices, each `columns` + 1 points:
/// visit(row, column, velocity [1/m]) for every ring, row by row. A ring turns from line to next line, then
/// across. Every segment is evaluated once.
class RingVelocities {
 public:
  RingVelocities(Index columns, double core)
      : columns_(static_cast<std::size_t>(columns)),
        core_(core),
        near_(columns_),
        far_(columns_),
        sides_(columns_ + 1) {}

  template <class Visit>
  void operator()(const Vec3d& point, const std::vector<const Vec3d*>& lines, const Visit& visit) {
    if (lines.size() < 2) return;
    add_line(point, lines[0], near_);
    for (std::size_t r = 0; r + 1 < lines.size(); ++r) {
      add_line(point, lines[r + 1], far_);
      for (std::size_t j = 0; j <= columns_; ++j) sides_[j] = segment(point, lines[r][j], lines[r + 1][j]);
      for (std::size_t j = 0; j < columns_; ++j) visit(r, j, sides_[j] + far_[j] - sides_[j + 1] - near_[j]);
      near_.swap(far_);
    }
  }

 private:
  Vec3d segment(const Vec3d& point, const Vec3d& a, const Vec3d& b) const;
  void add_line(const Vec3d& point, const Vec3d* line, std::vector<Vec3d>& to) const {
    for (std::size_t j = 0; j < columns_; ++j) to[j] = segment(point, line[j], line[j + 1]);
  }

  std::size_t columns_;
  double core_;
  std::vector<Vec3d> near_, far_, sides_;
};

}  // namespace isocloth
