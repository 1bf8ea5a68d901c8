// A grid of cloth as panels in the wind: rows downwind, columns across.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// rows x columns panels, the quads of a grid; row 0 is at the leading edge, and the wake leaves the trailing
/// edge behind the last row. Panel p = i * columns + j is that of row i and column j.
struct PanelGrid {
  Index rows = 0, columns = 0;
  /// Node number at corner (0, 0), strides from row to row and from column to column.
  Index first = 0, down = 0, across = 0;
  /// Number in the mesh of the node at corner (i, j), 0 <= i <= rows, 0 <= j <= columns.
  Index node(Index i, Index j) const { return first + i * down + j * across; }
  Index panel_count() const { return rows * columns; }
  /// Corners (i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1) of a panel: two upwind, two downwind.
  std::array<Index, 4> corners(Index i, Index j) const {
    return {node(i, j), node(i, j + 1), node(i + 1, j), node(i + 1, j + 1)};
  }
};

/// The panels of a quad_grid(); the wind passes along the sides with which it makes the
/// smaller angle at `positions` [m], shape [node_count]. Throws SceneError beginning with `key` for another
/// mesh, and for wind that is zero or blows square to the sheet to a thousandth.
PanelGrid panel_grid(const Mesh& mesh, ArrayView<const Vec3d> positions, const Vec3d& wind,
                     const std::string& key);

}  // namespace isocloth
