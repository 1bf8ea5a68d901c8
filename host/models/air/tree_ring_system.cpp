#include <Eigen/LU>
#include <Eigen/SparseCore>
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/models/air/ring_tree.hpp"
#include "host/models/air/gmres.hpp"
#include "host/models/air/ring_system.hpp"

namespace isocloth {
namespace {

/// Residual in parts of the right side. Pressure has differences of circulations of two steps, a hundredth of
/// them or less.
constexpr double tolerance = 1e-8;
/// Products before a system counts as unsolvable.
constexpr int most_products = 200;
/// Panels of a block of the preconditioner, and how many rows and columns of its neighbours it sees.
constexpr Index most_in_block = 144, shared_rings = 2;

std::vector<std::size_t> numbers(const PanelGrid& grid, const ItemCell& cell) {
  std::vector<std::size_t> panels;
  for (Index i = cell.row; i < cell.row_end; ++i)
    for (Index j = cell.column; j < cell.column_end; ++j)
      panels.push_back(static_cast<std::size_t>(i * grid.columns + j));
  return panels;
}

/// A block of neighbouring panels and those around it, and their matrix, factorised.
struct Block {
  std::vector<std::size_t> panels;
  std::vector<char> is_own;
  Eigen::PartialPivLU<Eigen::MatrixXd> factor;
};

class TreeRingSystem final : public RingSystem {
 public:
  explicit TreeRingSystem(const SheetRings& rings)
      : rings_(rings),
        rows_(static_cast<std::size_t>(rings.grid.rows)),
        columns_(static_cast<std::size_t>(rings.grid.columns)) {
    for (const VortexPanel& panel : rings.lattice.panels) {
      collocations_.push_back(panel.collocation);
      normals_.push_back(panel.wash_normal);
    }
    points_.columns = rings.grid.columns;
    for (std::size_t i = 0; i < rows_; ++i) points_.lines.push_back(collocations_.data() + i * columns_);
  }

  InducedVelocities induce(const std::vector<double>& circulations,
                           const std::vector<double>& wake) override {
    const std::size_t count = rows_ * columns_;
    InducedVelocities induced{std::vector<Vec3d>(count), std::vector<Vec3d>(count)};
    const auto& lines = rings_.lines;
    const auto split = lines.begin() + static_cast<std::ptrdiff_t>(rows_) + 2;
    sheet_ = std::make_unique<RingTree>(
        ItemGrid{{lines.begin(), split}, rings_.grid.columns, true, rings_.grid.rows}, points_, rings_.core);
    sheet_->add_velocities(with_youngest(circulations.data()), normals_, induced.by_sheet);
    if (wake.empty()) return induced;
    // The last row may be endless.
    const Index last = static_cast<Index>(lines.end() - split) - 1;
    RingTree(ItemGrid{{split - 1, lines.end()}, rings_.grid.columns, true, last}, points_, rings_.core)
        .add_velocities(wake, {}, induced.by_wake);
    return induced;
  }

  void add(std::size_t row, std::size_t panel, double value) override {
    added_.emplace_back(static_cast<int>(row), static_cast<int>(panel), value);
  }

  Eigen::VectorXd solve(const Eigen::VectorXd& right, const std::vector<double>& start) override {
    local_.resize(right.size(), right.size());
    local_.setFromTriplets(added_.begin(), added_.end());
    set_blocks();
    const GmresResult found =
        gmres([this](const Eigen::VectorXd& x) { return product(x); },
              [this](const Eigen::VectorXd& x) { return precondition(x); }, right,
              Eigen::Map<const Eigen::VectorXd>(start.data(), right.size()), tolerance, most_products);
    if (!found.is_solved)
      return Eigen::VectorXd::Constant(right.size(), std::numeric_limits<double>::quiet_NaN());
    return found.x;
  }

 private:
  /// Circulations of the sheet and of the youngest row of its wake.
  std::vector<double> with_youngest(const double* circulations) const {
    std::vector<double> all(circulations, circulations + rows_ * columns_);
    all.insert(all.end(), circulations + (rows_ - 1) * columns_, circulations + rows_ * columns_);
    return all;
  }

  Eigen::VectorXd product(const Eigen::VectorXd& x) const {
    std::vector<double> wash(rows_ * columns_);
    sheet_->add_wash(with_youngest(x.data()), normals_, wash);
    return local_ * x + Eigen::Map<const Eigen::VectorXd>(wash.data(), x.size());
  }

  void set_blocks() {
    std::vector<std::size_t> place(rows_ * columns_);
    for (const ItemCell& own : item_cells(points_, most_in_block)) {
      if (own.child != 0) continue;
      ItemCell seen = own;
      seen.row = std::max(own.row - shared_rings, 0);
      seen.column = std::max(own.column - shared_rings, 0);
      seen.row_end = std::min(own.row_end + shared_rings, rings_.grid.rows);
      seen.column_end = std::min(own.column_end + shared_rings, rings_.grid.columns);
      Block block{numbers(rings_.grid, seen), {}, {}};
      for (std::size_t k = 0; k < block.panels.size(); ++k) {
        const Index i = static_cast<Index>(block.panels[k] / columns_),
                    j = static_cast<Index>(block.panels[k] % columns_);
        block.is_own.push_back(i >= own.row && i < own.row_end && j >= own.column && j < own.column_end);
        place[block.panels[k]] = k;
      }
      Eigen::MatrixXd matrix = washes(seen, block.panels);
      for (std::size_t k = 0; k < block.panels.size(); ++k)
        for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator term(
                 local_, static_cast<Eigen::Index>(block.panels[k]));
             term; ++term) {
          const std::size_t at = place[static_cast<std::size_t>(term.col())];
          if (at < block.panels.size() && block.panels[at] == static_cast<std::size_t>(term.col()))
            matrix(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(at)) += term.value();
        }
      block.factor.compute(matrix);
      blocks_.push_back(std::move(block));
    }
  }

  /// Matrix of the washes that the rings of a cell make at its own points [1/m].
  Eigen::MatrixXd washes(const ItemCell& cell, const std::vector<std::size_t>& panels) const {
    std::vector<const Vec3d*> lines;
    const Index end = cell.row_end == rings_.grid.rows ? cell.row_end + 1 : cell.row_end;
    for (Index i = cell.row; i <= end; ++i)
      lines.push_back(rings_.lines[static_cast<std::size_t>(i)] + cell.column);
    const Eigen::Index size = static_cast<Eigen::Index>(panels.size());
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    RingVelocities velocities(cell.width(), rings_.core);
    const std::size_t last = static_cast<std::size_t>(cell.row_end - cell.row) - 1;
    for (Eigen::Index k = 0; k < size; ++k) {
      const VortexPanel& panel = rings_.lattice.panels[panels[static_cast<std::size_t>(k)]];
      velocities(panel.collocation, lines, [&](std::size_t r, std::size_t j, const Vec3d& u) {
        matrix(k, static_cast<Eigen::Index>(std::min(r, last)) * cell.width() +
                      static_cast<Eigen::Index>(j)) += dot(panel.wash_normal, u);
      });
    }
    return matrix;
  }

  /// Blocks see their neighbours, but only their own panels take what they find (restricted additive
  /// Schwarz).
  Eigen::VectorXd precondition(const Eigen::VectorXd& x) const {
    Eigen::VectorXd result(x.size());
    for (const Block& block : blocks_) {
      Eigen::VectorXd part(static_cast<Eigen::Index>(block.panels.size()));
      for (std::size_t k = 0; k < block.panels.size(); ++k)
        part(static_cast<Eigen::Index>(k)) = x(static_cast<Eigen::Index>(block.panels[k]));
      part = block.factor.solve(part);
      for (std::size_t k = 0; k < block.panels.size(); ++k)
        if (block.is_own[k] != 0)
          result(static_cast<Eigen::Index>(block.panels[k])) = part(static_cast<Eigen::Index>(k));
    }
    return result;
  }

  SheetRings rings_;
  std::size_t rows_, columns_;
  std::vector<Vec3d> collocations_, normals_;
  ItemGrid points_;
  std::unique_ptr<RingTree> sheet_;
  std::vector<Eigen::Triplet<double>> added_;
  Eigen::SparseMatrix<double, Eigen::RowMajor> local_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<RingSystem> tree_ring_system(const SheetRings& rings) {
  return std::make_unique<TreeRingSystem>(rings);
}

}  // namespace isocloth
