#include "engine/models/air/ring_tree.hpp"

#include <algorithm>
#include <utility>

namespace isocloth {
namespace {

/// Greatest number of rings or points in a leaf of their tree.
constexpr Index most_in_leaf = 24;

std::size_t number(Index i) { return static_cast<std::size_t>(i); }

/// A cell of the given items: its ball is that around the middle of their box.
ItemCell cell_of(const ItemGrid& grid, Index row, Index row_end, Index column, Index column_end) {
  ItemCell cell{row, row_end, column, column_end, 0, {}, 0};
  const Index more = grid.is_rings ? 1 : 0;
  const auto for_each_point = [&](const auto& use) {
    for (Index i = row; i < row_end + more; ++i)
      for (Index j = column; j < column_end + more; ++j) use(grid.lines[number(i)][j]);
  };
  Vec3d low = grid.lines[number(row)][column], high = low;
  for_each_point([&](const Vec3d& x) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  });
  cell.centre = 0.5 * (low + high);
  for_each_point([&](const Vec3d& x) { cell.radius = std::max(cell.radius, norm(x - cell.centre)); });
  return cell;
}

/// Whether a cell is longer down its middle column than across its middle row.
bool is_long(const ItemGrid& grid, const ItemCell& cell) {
  if (cell.width() == 1 || cell.row_end - cell.row == 1) return cell.width() == 1;
  const Index more = grid.is_rings ? 1 : 0;
  const Index i = (cell.row + cell.row_end) / 2, j = (cell.column + cell.column_end) / 2;
  double down = 0, across = 0;
  for (Index k = cell.row; k + 1 < cell.row_end + more; ++k)
    down += norm(grid.lines[number(k + 1)][j] - grid.lines[number(k)][j]);
  for (Index k = cell.column; k + 1 < cell.column_end + more; ++k)
    across += norm(grid.lines[number(i)][k + 1] - grid.lines[number(i)][k]);
  return down > across;
}

bool is_near(const ItemCell& a, const ItemCell& b) {
  return a.radius + b.radius >= RingTree::opening * norm(a.centre - b.centre);
}

}  // namespace

std::vector<ItemCell> item_cells(const ItemGrid& grid, Index most) {
  std::vector<ItemCell> cells;
  if (grid.rows() < 1 || grid.columns < 1) return cells;
  cells.push_back(cell_of(grid, 0, grid.rows(), 0, grid.columns));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const ItemCell cell = cells[c];
    const bool is_cut = grid.cut > cell.row && grid.cut < cell.row_end;
    if (!is_cut && cell.count() <= most) continue;
    cells[c].child = static_cast<Index>(cells.size());
    if (is_cut || is_long(grid, cell)) {
      const Index middle = is_cut ? grid.cut : (cell.row + cell.row_end) / 2;
      cells.push_back(cell_of(grid, cell.row, middle, cell.column, cell.column_end));
      cells.push_back(cell_of(grid, middle, cell.row_end, cell.column, cell.column_end));
    } else {
      const Index middle = (cell.column + cell.column_end) / 2;
      cells.push_back(cell_of(grid, cell.row, cell.row_end, cell.column, middle));
      cells.push_back(cell_of(grid, cell.row, cell.row_end, middle, cell.column_end));
    }
  }
  return cells;
}

RingTree::RingTree(ItemGrid rings, ItemGrid points, double core)
    : rings_(std::move(rings)),
      points_(std::move(points)),
      core_(core),
      ring_cells_(item_cells(rings_, most_in_leaf)),
      point_cells_(item_cells(points_, most_in_leaf)) {
  if (ring_cells_.empty() || point_cells_.empty()) return;
  find_pairs(0, 0);
  set_ring_harmonics();
}

void RingTree::find_pairs(Index point_cell, Index ring_cell) {
  const ItemCell &points = point_cells_[number(point_cell)], &rings = ring_cells_[number(ring_cell)];
  if (!is_near(points, rings)) {
    far_.push_back({point_cell, ring_cell});
  } else if (points.child == 0 && rings.child == 0) {
    near_.push_back({point_cell, ring_cell});
  } else if (rings.child == 0 || (points.child != 0 && points.radius > rings.radius)) {
    find_pairs(points.child, ring_cell);
    find_pairs(points.child + 1, ring_cell);
  } else {
    find_pairs(point_cell, rings.child);
    find_pairs(point_cell, rings.child + 1);
  }
}

void RingTree::set_ring_harmonics() {
  // Gauss' rule of three points either way on the bilinear area of a ring: exact to degree 5.
  constexpr double place[] = {0.1127016653792583, 0.5, 0.8872983346207417};
  constexpr double weight[] = {5. / 18, 8. / 18, 5. / 18};
  ring_harmonics_.assign(number(rings_.rows() * rings_.columns), {});
  for (const ItemCell& cell : ring_cells_) {
    if (cell.child != 0) continue;
    for (Index i = cell.row; i < cell.row_end; ++i)
      for (Index j = cell.column; j < cell.column_end; ++j) {
        const Vec3d *const line = rings_.lines[number(i)] + j, *const next = rings_.lines[number(i + 1)] + j;
        Expansion& harmonics = ring_harmonics_[number(i * rings_.columns + j)];
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) {
            const double s = place[a], t = place[b];
            const Vec3d down = (1 - t) * (next[0] - line[0]) + t * (next[1] - line[1]);
            const Vec3d across = (1 - s) * (line[1] - line[0]) + s * (next[1] - next[0]);
            const Vec3d x = line[0] + s * (next[0] - line[0]) + t * across;
            add_ring(regular_harmonics(x - cell.centre), weight[a] * weight[b] * cross(down, across),
                     harmonics);
          }
      }
  }
}

template <class Use>
void RingTree::far_velocities(ArrayView<const double> circulations, const Use& use) const {
  std::vector<Expansion> far(ring_cells_.size()), near(point_cells_.size());
  for (std::size_t c = ring_cells_.size(); c-- > 0;) {
    const ItemCell& cell = ring_cells_[c];
    if (cell.child != 0) {
      for (const std::size_t child : {number(cell.child), number(cell.child) + 1})
        add_far_to_far(far[child], ring_cells_[child].centre - cell.centre, far[c]);
      continue;
    }
    for (Index i = cell.row; i < cell.row_end; ++i)
      for (Index j = cell.column; j < cell.column_end; ++j) {
        const std::size_t ring = number(i * rings_.columns + j);
        const double circulation = circulations[ring];
        const Expansion& unit = ring_harmonics_[ring];
        for (std::size_t k = 1; k < unit.re.size(); ++k) {
          far[c].re[k] += circulation * unit.re[k];
          far[c].im[k] += circulation * unit.im[k];
        }
      }
  }
  for (const Pair& pair : far_) {
    const std::size_t points = number(pair.point_cell), rings = number(pair.ring_cell);
    add_far_to_near(far[rings], point_cells_[points].centre - ring_cells_[rings].centre, near[points]);
  }
  for (std::size_t c = 0; c < point_cells_.size(); ++c) {
    const ItemCell& cell = point_cells_[c];
    if (cell.child != 0) {
      for (const std::size_t child : {number(cell.child), number(cell.child) + 1})
        add_near_to_near(near[c], point_cells_[child].centre - cell.centre, near[child]);
      continue;
    }
    for (Index i = cell.row; i < cell.row_end; ++i)
      for (Index j = cell.column; j < cell.column_end; ++j)
        use(number(i * points_.columns + j),
            near_velocity(near[c], points_.lines[number(i)][j] - cell.centre));
  }
}

std::size_t RingTree::near_count() const {
  std::size_t count = 0;
  for (const Pair& pair : near_)
    count += number(point_cells_[number(pair.point_cell)].count()) *
             number(ring_cells_[number(pair.ring_cell)].count());
  return count;
}

void RingTree::add_velocities(ArrayView<const double> circulations, ArrayView<const Vec3d> normals,
                              std::vector<Vec3d>& velocities) {
  far_velocities(circulations, [&](std::size_t point, const Vec3d& u) { velocities[point] += u; });
  near_wash_.clear();
  if (!normals.empty()) near_wash_.reserve(near_count());
  std::vector<const Vec3d*> lines;
  for (const Pair& pair : near_) {
    const ItemCell &points = point_cells_[number(pair.point_cell)],
                   &rings = ring_cells_[number(pair.ring_cell)];
    lines.clear();
    for (Index i = rings.row; i <= rings.row_end; ++i)
      lines.push_back(rings_.lines[number(i)] + rings.column);
    const std::size_t first = number(rings.row * rings_.columns + rings.column);
    RingVelocities near(rings.width(), core_);
    for (Index i = points.row; i < points.row_end; ++i)
      for (Index j = points.column; j < points.column_end; ++j) {
        const std::size_t point = number(i * points_.columns + j);
        Vec3d sum;
        near(points_.lines[number(i)][j], lines, [&](std::size_t r, std::size_t s, const Vec3d& u) {
          sum += circulations[first + r * number(rings_.columns) + s] * u;
          if (!normals.empty()) near_wash_.push_back(dot(normals[point], u));
        });
        velocities[point] += sum;
      }
  }
}

void RingTree::add_wash(ArrayView<const double> circulations, ArrayView<const Vec3d> normals,
                        std::vector<double>& wash) const {
  far_velocities(circulations,
                 [&](std::size_t point, const Vec3d& u) { wash[point] += dot(normals[point], u); });
  const double* unit = near_wash_.data();
  std::vector<double> strengths;
  for (const Pair& pair : near_) {
    const ItemCell &points = point_cells_[number(pair.point_cell)],
                   &rings = ring_cells_[number(pair.ring_cell)];
    strengths.clear();
    for (Index i = rings.row; i < rings.row_end; ++i)
      for (Index j = rings.column; j < rings.column_end; ++j)
        strengths.push_back(circulations[number(i * rings_.columns + j)]);
    for (Index i = points.row; i < points.row_end; ++i)
      for (Index j = points.column; j < points.column_end; ++j) {
        double sum = 0;
        for (const double strength : strengths) sum += strength * *unit++;
        wash[number(i * points_.columns + j)] += sum;
      }
  }
}

}  // namespace isocloth
