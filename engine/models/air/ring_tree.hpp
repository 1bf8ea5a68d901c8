// Velocities of many vortex rings at many points in less time than one by one.
#pragma once

#include <vector>

#include "engine/models/air/solid_harmonics.hpp"
#include "engine/models/air/vortex_lattice.hpp"

namespace isocloth {

/// Items in rows and columns between or on lines of points: rings, whose corners are points of two lines, or
/// the points themselves.
struct ItemGrid {
  std::vector<const Vec3d*> lines;
  Index columns = 0;      ///< items across; a line has one point more if they are rings
  bool is_rings = false;  ///< there is one line more than rows, too
  Index cut = 0;          ///< the row at which the tree is parted first, for rows of another size; 0: nowhere
  Index rows() const { return static_cast<Index>(lines.size()) - (is_rings ? 1 : 0); }
};

/// A rectangle of items; its children halve the longer side, measured along its middle lines.
struct ItemCell {
  Index row = 0, row_end = 0, column = 0, column_end = 0;
  Index child = 0;  ///< the first of two; 0: a leaf
  Vec3d centre;     ///< centre of a ball around all points of the items [m]
  double radius = 0;
  Index width() const { return column_end - column; }
  Index count() const { return (row_end - row) * width(); }
};
/// Cells of a tree whose leaves have `most` items or fewer, parents before children; empty without items.
std::vector<ItemCell> item_cells(const ItemGrid& grid, Index most);

/// Velocities of rings at points. Pairs of cells whose radii add up to less than `opening` times their
/// distance see each other by expansions in solid harmonics up to harmonic_degree (a fast multipole method,
/// Greengard, Rokhlin, J. Comput. Phys. 73, 1987: the far potential of a ring is that of its area as a sheet
/// of dipoles); all others ring by ring. Sums have one order, whatever runs beside them.
class RingTree {
 public:
  static constexpr double opening = 0.42;

  /// What lines point to is to outlive this. core [m]: RingVelocities.
  RingTree(ItemGrid rings, ItemGrid points, double core);

  /// Adds the velocities of rings with circulations [m^2/s], shape [rows, columns], at the points, shape
  /// [points]. normals, of the points: what near rings of circulation 1 do along them is kept for add_wash();
  /// empty: not.
  void add_velocities(ArrayView<const double> circulations, ArrayView<const Vec3d> normals,
                      std::vector<Vec3d>& velocities);
  /// Adds the velocities along the normals given to add_velocities().
  void add_wash(ArrayView<const double> circulations, ArrayView<const Vec3d> normals,
                std::vector<double>& wash) const;

 private:
  struct Pair {
    Index point_cell, ring_cell;
  };
  void find_pairs(Index point_cell, Index ring_cell);
  std::size_t near_count() const;  ///< pairs of a point and a ring that see each other one by one
  void set_ring_harmonics();
  /// Calls use(point, velocity) with the velocity of all far rings at each point.
  template <class Use>
  void far_velocities(ArrayView<const double> circulations, const Use& use) const;

  ItemGrid rings_, points_;
  double core_;
  std::vector<ItemCell> ring_cells_, point_cells_;
  std::vector<Pair> near_, far_;
  /// Expansion of each ring, of circulation 1, around the centre of its leaf, shape [rows, columns].
  std::vector<Expansion> ring_harmonics_;
  /// Normal velocities at points by near rings of circulation 1 [1/m], in the order of the pairs in near_.
  std::vector<double> near_wash_;
};

}  // namespace isocloth
