#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/bounding_box.hpp"
#include "engine/geometry/distance_grid.hpp"
#include "engine/geometry/surface_solid.hpp"

namespace isocloth {
namespace {

constexpr int base_level = 1;              ///< of blocks where walls are thick
constexpr int finest_level = 4;            ///< of blocks where they are thin
constexpr double default_cells = 128;      ///< cells of such blocks along the longest side
constexpr double most_coarse_cells = 128;  ///< cells of the grid itself along the longest side
constexpr double wall_cells = 3;           ///< cells across the thinnest wall
constexpr double base_nodes = 0x1p19, chosen_nodes = 0x1p22;  ///< most nodes where the cell is chosen
constexpr double half_diagonal = 0.8660254037844386;          ///< of a unit cube

/// Nodes of a block along a side.
constexpr Index side_nodes(int level) { return (Index{1} << level) + 1; }
constexpr double block_nodes(int level) {
  const double n = side_nodes(level);
  return n * n * n;
}

struct Solid {
  const SurfaceSolid& surface;
  double thicken;         ///< [m]
  double sheet_half = 0;  ///< half thickness of what is thickened beyond that: sheets and thin walls [m]
  std::optional<TriangleTree> shell{}, sheets{};

  /// What is nearest to a point of a row of them.
  struct Near {
    double distance = std::numeric_limits<double>::infinity();  ///< [m]
    double least = 0;                                           ///< what it is at least [m]
    Index triangle = -1;
  };
  /// before: of a point `way` [m] from p, or of none. The tree is left unasked where p is more than 8 such
  /// ways away from all triangles and that which was nearest before is farther by no more than an eighth.
  static Near nearest(const TriangleTree& tree, Vec3d p, const Near& before, double way) {
    NearestPoint on;
    if (before.triangle >= 0) {
      on = nearest_on_triangle(p, tree.triangle(before.triangle), before.triangle);
      const double distance = std::sqrt(on.distance_squared), least = before.least - way;
      if (least > 8 * way && distance <= 1.125 * least) return {distance, least, before.triangle};
    }
    on = tree.nearest(p, on);
    const double distance = std::sqrt(on.distance_squared);
    return {distance, distance, on.triangle};
  }

  struct At {
    double value = std::numeric_limits<double>::infinity();  ///< distance from the solid and sheets [m]
    Near shell{}, sheet{};
    bool is_inside = false;
  };
  /// before: at a point `way` [m] from p, or at none.
  At at(Vec3d p, const At& before, double way) const {
    At found;
    if (shell) {
      found.shell = nearest(*shell, p, before.shell, way);
      const double distance = found.shell.distance;
      // No triangle lies between two points that are farther from all than from each other.
      const bool is_alike = before.shell.triangle >= 0 && before.shell.distance + distance > way * (1 + 1e-9);
      found.is_inside = is_alike ? before.is_inside : surface.is_inside(p);
      found.value = (found.is_inside ? -distance : distance) - thicken;
    }
    if (sheets) {
      found.sheet = nearest(*sheets, p, before.sheet, way);
      found.value = std::min(found.value, found.sheet.distance - std::max(sheet_half, thicken));
    }
    return found;
  }
};

/// A grid with blocks, planned and filled.
class BlockGrid {
 public:
  BlockGrid(const SurfaceSolid& surface, double thicken, const MonitorView& monitor)
      : surface_(surface), monitor_(monitor), solid_{surface, thicken} {
    for (const BoundingTriangle& triangle : surface.triangles())
      for (const Vec3d& x : triangle.corners) box_ = joined(box_, {x, x});
    const Vec3d size = box_.high - box_.low;
    longest_ = std::max({size.x, size.y, size.z});
  }

  double longest() const { return longest_; }

  /// Takes blocks of this cell where walls are thick, and no others; returns the number of nodes stored.
  double plan(double cell) {
    base_ = base_level;
    while (base_ < finest_level && longest_ / cell > most_coarse_cells * (1 << base_)) ++base_;
    grid_.cell = cell * (1 << base_);
    place();
    if (coarse_nodes() > max_distance_grid_nodes) return coarse_nodes();
    measure_centers();
    return plan_blocks(base_);
  }
  /// Takes finer blocks, too, as far as there are no more nodes than that.
  void refine(double most) {
    int level = finest_level;
    while (level > base_ && plan_blocks(level) > most) --level;
    if (level == base_) plan_blocks(base_);
  }

  DistanceGrid fill() {
    set_trees();
    grid_.distances.clear();
    fill_coarse();
    for (std::size_t c = 0; c < grid_.blocks.size(); ++c)
      if (levels_[c] > 0) fill_block(c);
    return std::move(grid_);
  }

  /// Share of the area that is thickened, of what is no sheet.
  double thin_share() const { return thin_share_; }
  double sheet_half() const { return std::max(solid_.sheet_half, solid_.thicken); }
  double base_cell() const { return grid_.cell / (1 << base_); }
  double cell_of(int level) const { return grid_.cell / (1 << level); }

 private:
  double coarse_nodes() const {
    return static_cast<double>(grid_.nodes[0]) * grid_.nodes[1] * grid_.nodes[2];
  }
  /// Sets origin and number of nodes so that there is more than a cell around the thickened surface.
  void place() {
    const double room = grid_.cell * 1.25 + std::max(solid_.thicken, wall_cells / 2 * base_cell());
    const auto along = [&](double low, double high, Index& nodes) {
      const double cells = std::ceil((high - low + 2 * room) / grid_.cell);
      nodes = static_cast<Index>(std::min(cells, 1e6)) + 1;
      return (low + high - cells * grid_.cell) / 2;
    };
    grid_.origin = {along(box_.low.x, box_.high.x, grid_.nodes[0]),
                    along(box_.low.y, box_.high.y, grid_.nodes[1]),
                    along(box_.low.z, box_.high.z, grid_.nodes[2])};
  }

  /// The level whose cells show a triangle's wall; may be beyond top_.
  int wanted_level(const BoundingTriangle& triangle) const {
    int level = base_;
    while (level <= finest_level && triangle.thickness + 2 * solid_.thicken < wall_cells * cell_of(level))
      ++level;
    return level;
  }
  std::optional<TriangleTree> tree_of(const auto& is_in) const {
    std::vector<TriangleCorners> corners;
    for (const BoundingTriangle& triangle : surface_.triangles())
      if (is_in(triangle)) corners.push_back(triangle.corners);
    if (corners.empty()) return std::nullopt;
    return TriangleTree(std::move(corners));
  }
  /// What is shell, and what is thickened with the cells there are.
  void set_trees() {
    solid_.sheet_half = wall_cells / 2 * cell_of(top_);
    solid_.shell = tree_of([](const BoundingTriangle& t) { return !t.is_sheet; });
    solid_.sheets = tree_of([&](const BoundingTriangle& t) { return t.is_sheet || wanted_level(t) > top_; });
    double thin = 0, all = 0;
    for (const BoundingTriangle& t : surface_.triangles()) {
      if (t.is_sheet) continue;
      const double area = norm(cross(t.corners[1] - t.corners[0], t.corners[2] - t.corners[0]));
      all += area;
      if (wanted_level(t) > top_) thin += area;
    }
    thin_share_ = all > 0 ? thin / all : 0;
  }

  /// The grid's cells row by row, forth and back, so that each is next to the one before: visit(i, j, k).
  template <class Visit>
  static void wind_through(const std::array<Index, 3>& counts, const Visit& visit) {
    for (Index k = 0; k < counts[2]; ++k)
      for (Index row = 0; row < counts[1]; ++row) {
        const Index j = k % 2 == 0 ? row : counts[1] - 1 - row;
        const bool forth = (k * counts[1] + row) % 2 == 0;
        for (Index i = 0; i < counts[0]; ++i) visit(forth ? i : counts[0] - 1 - i, j, k);
      }
  }

  /// Distances of all cells' centers from any triangle.
  void measure_centers() {
    const auto all = tree_of([](const BoundingTriangle&) { return true; });
    const std::array<Index, 3> cells{grid_.nodes[0] - 1, grid_.nodes[1] - 1, grid_.nodes[2] - 1};
    centers_.resize(static_cast<std::size_t>(cells[0]) * cells[1] * cells[2]);
    Index hint = -1;
    wind_through(cells, [&](Index i, Index j, Index k) {
      if (i == 0) monitor_.check();
      const Vec3d p = center(i, j, k);
      const NearestPoint on =
          all->nearest(p, hint < 0 ? NearestPoint{} : nearest_on_triangle(p, all->triangle(hint), hint));
      hint = on.triangle;
      centers_[(static_cast<std::size_t>(k) * cells[1] + j) * cells[0] + i] =
          static_cast<float>(std::sqrt(on.distance_squared));
    });
  }
  Vec3d center(Index i, Index j, Index k) const {
    return grid_.origin + grid_.cell * Vec3d{i + 0.5, j + 0.5, k + 0.5};
  }

  /// Levels of all cells with blocks of up to some level, 0: no block; returns the number of nodes.
  double plan_blocks(int top) {
    top_ = top;
    set_trees();
    const double reach = grid_.cell * (1 + half_diagonal), half = solid_.sheets ? sheet_half() : 0;
    const double offset = std::max(solid_.thicken, half);
    levels_.assign(centers_.size(), 0);
    std::array<std::optional<TriangleTree>, finest_level + 1> thin;
    for (int level = base_ + 1; level <= top_; ++level)
      thin[level] = tree_of([&](const BoundingTriangle& t) { return wanted_level(t) >= level; });
    double count = coarse_nodes();
    const std::size_t row = static_cast<std::size_t>(grid_.nodes[0] - 1),
                      rows = static_cast<std::size_t>(grid_.nodes[1] - 1);
    for (std::size_t c = 0; c < centers_.size(); ++c) {
      const double away = centers_[c];
      if (!(std::abs(away - solid_.thicken) <= reach || away <= half + reach)) continue;
      const Vec3d middle = center(static_cast<Index>(c % row), static_cast<Index>(c / row % rows),
                                  static_cast<Index>(c / row / rows));
      int level = base_;
      // A cell may be of level l where triangles that want more are 4 of its cells away.
      for (int l = base_ + 1; l <= top_ && thin[l]; ++l)
        if (comes_within(*thin[l], middle, offset + 4 * cell_of(l - 1))) level = l;
      levels_[c] = static_cast<signed char>(level);
      count += block_nodes(level);
    }
    return count;
  }
  /// Whether a tree may come so near to the cell with this center: decided for its eight parts.
  bool comes_within(const TriangleTree& tree, Vec3d center, double distance) const {
    const auto near = [&](Vec3d p, double radius) {
      NearestPoint farthest;
      farthest.distance_squared = (distance + radius) * (distance + radius);
      return tree.nearest(p, farthest).triangle >= 0;
    };
    const double h = grid_.cell;
    if (!near(center, h * half_diagonal)) return false;
    for (int part = 0; part < 8; ++part) {
      const Vec3d way{part & 1 ? 0.25 : -0.25, part & 2 ? 0.25 : -0.25, part & 4 ? 0.25 : -0.25};
      if (near(center + h * way, h / 2 * half_diagonal)) return true;
    }
    return false;
  }

  /// Distances at nodes (i, j, k) + first of this cell, into `distances` from `begin` on.
  void measure(std::array<Index, 3> first, Index nodes_x, Index nodes_y, Index nodes_z, double cell,
               std::size_t begin, bool is_coarse) {
    wind_through({nodes_x, nodes_y, nodes_z}, [&](Index i, Index j, Index k) {
      const Vec3d p =
          grid_.origin + cell * Vec3d{static_cast<double>(first[0] + i), static_cast<double>(first[1] + j),
                                      static_cast<double>(first[2] + k)};
      last_ = solid_.at(p, last_, norm(p - last_point_));
      last_point_ = p;
      if (is_coarse) last_.shell.least = last_.sheet.least = 0;  // these are lower bounds
      double value = last_.value;
      if (is_coarse && value > cell) value -= cell / 4;
      grid_.distances[begin + (static_cast<std::size_t>(k) * nodes_y + j) * nodes_x + i] =
          static_cast<float>(value);
    });
  }
  void fill_coarse() {
    grid_.distances.resize(static_cast<std::size_t>(coarse_nodes()));
    grid_.blocks.assign(levels_.size(), -1);
    measure({}, grid_.nodes[0], grid_.nodes[1], grid_.nodes[2], grid_.cell, 0, true);
  }
  void fill_block(std::size_t c) {
    monitor_.check();
    const int level = levels_[c];
    const Index nodes = side_nodes(level), row = grid_.nodes[0] - 1, rows = grid_.nodes[1] - 1;
    const std::size_t begin = grid_.distances.size();
    grid_.distances.resize(begin + static_cast<std::size_t>(block_nodes(level)));
    grid_.blocks[c] = static_cast<Index>(begin << 3 | static_cast<std::size_t>(level));
    grid_.finest_level = std::max(grid_.finest_level, level);
    const Index i = static_cast<Index>(c) % row, j = static_cast<Index>(c) / row % rows,
                k = static_cast<Index>(c) / row / rows;
    const Index parts = nodes - 1;
    measure({i * parts, j * parts, k * parts}, nodes, nodes, nodes, cell_of(level), begin, false);
  }

  const SurfaceSolid& surface_;
  const MonitorView& monitor_;
  Solid solid_;
  BoundingBox box_;
  double longest_ = 0;
  int base_ = base_level, top_ = base_level;  ///< levels of blocks
  double thin_share_ = 0;
  std::vector<float> centers_;       ///< distance of each cell's center from any triangle [m]
  std::vector<signed char> levels_;  ///< of each cell, 0: no block
  Solid::At last_;                   ///< what was measured last, and where
  Vec3d last_point_;
  DistanceGrid grid_;
};

/// To three digits.
double rounded(double value, double (*round)(double)) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return round(value / unit) * unit;
}
double rounded(double value) {
  return rounded(value, [](double x) { return std::round(x); });
}

}  // namespace

DistanceGrid build_obstacle_grid(const MeshShape& shape, const std::string& key, const MonitorView& monitor) {
  try {
    return build_distance_grid(shape, key, monitor);
  } catch (const SceneError&) {
    // Not a closed surface with thick walls: what follows takes any.
  }
  shape.check(key);
  const SurfaceSolid surface(shape.surface, key + ".surface", monitor);
  BlockGrid blocks(surface, shape.thicken, monitor);
  constexpr double least_side = 1e-6, most_side = 1e6;
  if (!(blocks.longest() >= least_side && blocks.longest() <= most_side))
    throw SceneError(text(key, ".surface: found ", blocks.longest(),
                          " m along the longest side of its box, expected ", least_side, " to ", most_side,
                          " m; scale it to metres"));
  double cell = shape.cell > 0 ? shape.cell : blocks.longest() / default_cells;
  const double count = blocks.plan(cell);
  const double most = shape.cell > 0 ? max_distance_grid_nodes : base_nodes;
  if (count > most) {
    const double given = cell;
    // Nodes go with the surface over the cell squared.
    for (double found = count; found > most; found = blocks.plan(cell))
      cell *= std::max(1.03, 0.98 * std::sqrt(found / most));
    if (shape.cell > 0)
      throw SceneError(text(key, ".cell: a cell of ", given, " m makes too large a grid: found ", count,
                            " nodes, expected at most ", most, "; set cell to at least ",
                            rounded(cell, [](double x) { return std::ceil(x); }), " m, or to 0"));
  }
  blocks.refine(std::max(count, chosen_nodes));
  DistanceGrid grid = blocks.fill();
  const bool is_sheet = !surface.has_solid();
  const double thickness = rounded(2 * blocks.sheet_half());
  std::string note =
      is_sheet ? text("its faces enclose nothing: taken as a sheet, ", thickness,
                      " m thick, which meets cloth on both sides; thicken sets half of its thickness")
               : "taken as the solid that its faces wind around";
  if (const std::string changes = surface.changes(); !changes.empty()) note += "; " + changes;
  if (surface.has_sheets() && !is_sheet) note += text(", ", thickness, " m thick");
  if (blocks.thin_share() > 0)
    note += text("; ", rounded(100 * blocks.thin_share()), " % of it bounds walls thinner than ", thickness,
                 " m, which are thickened to that");
  note += text("; distances at points ", rounded(grid.least_cell()), " m apart near it");
  if (grid.least_cell() < blocks.base_cell())
    note += text(" where it is thin, ", rounded(blocks.base_cell()), " m elsewhere");
  grid.note = std::move(note);
  return grid;
}

}  // namespace isocloth
