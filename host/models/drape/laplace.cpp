#include "host/models/drape/laplace.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/models/drape/catenary.hpp"

namespace isocloth {
namespace {

/// Places of the nodes on the lines between corners that do not follow each other.
class DiagonalCatenaries {
 public:
  DiagonalCatenaries(const HangingSheet& sheet, const std::vector<RimSide>& sides)
      : sheet_(sheet), sums_(sheet.mesh.positions.size()), weights_(sums_.size(), 0) {
    for (std::size_t i = 0; i < sides.size(); ++i)
      for (std::size_t j = i + 2; j < sides.size(); ++j)
        if (i > 0 || j + 1 < sides.size()) add(sheet.points[sides[i].from], sheet.points[sides[j].from]);
  }

  void place(std::vector<char>& is_held, std::vector<Vec3d>& positions) const {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (is_held[i] != 0 || weights_[i] == 0) continue;
      positions[i] = (1 / weights_[i]) * sums_[i];
      is_held[i] = 1;
    }
  }

 private:
  void add(const HangingPoint& a, const HangingPoint& b) {
    const Vec2d from = sheet_.flat[a.node], way = sheet_.flat[b.node] - from;
    const double length = norm(way);
    const Catenary curve(a.position, b.position, length);
    // `flat` has its origin in the centre; a line through it counts alone, but for others through it.
    const double weight = 1 / std::max(std::fabs(cross(way, from)) / length, 1e-9 * length);
    for (Index node = 0; node < sheet_.mesh.node_count(); ++node) {
      const Vec2d p = sheet_.flat[node] - from;
      const double along = dot(p, way) / length, aside = std::fabs(cross(way, p)) / length;
      if (aside > 0.25 * sheet_.element_size || along <= 0 || along >= length) continue;
      sums_[node] += weight * curve.at(along);
      weights_[node] += weight;
    }
  }

  const HangingSheet& sheet_;
  std::vector<Vec3d> sums_;
  std::vector<double> weights_;
};

}  // namespace

void solve_laplace(const Topology& topology, const std::vector<char>& is_held,
                   std::vector<Vec3d>& positions) {
  std::vector<int> unknown(positions.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (is_held[i] == 0) unknown[i] = count++;
  if (count == 0) return;
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::MatrixX3d sums = Eigen::MatrixX3d::Zero(count, 3);
  for (const auto& edge : topology.edges)
    for (const int end : {0, 1}) {
      const int row = unknown[edge[end]];
      if (row < 0) continue;
      entries.emplace_back(row, row, 1);
      const int column = unknown[edge[1 - end]];
      const Vec3d& held = positions[edge[1 - end]];
      if (column >= 0)
        entries.emplace_back(row, column, -1);
      else
        sums.row(row) += Eigen::RowVector3d(held.x, held.y, held.z);
    }
  Eigen::SparseMatrix<double> matrix(count, count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(matrix);
  const Eigen::MatrixX3d solution = factor.solve(sums);
  if (factor.info() != Eigen::Success || !solution.allFinite())
    throw NumericalError("Laplace's equation: a piece of the cloth has no node that is held");
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (const int row = unknown[i]; row >= 0)
      positions[i] = {solution(row, 0), solution(row, 1), solution(row, 2)};
}

std::vector<Vec3d> laplace_drape(const HangingSheet& sheet, const DrapeSettings& settings) {
  std::vector<Vec3d> positions(sheet.mesh.positions.size());
  std::vector<char> is_held(positions.size(), 0);
  const std::vector<RimSide> sides = rim_sides(sheet);
  for (const RimSide& side : sides) {
    const Catenary curve(sheet.points[side.from].position, sheet.points[side.to].position,
                         side.lengths.back());
    for (std::size_t i = 0; i < side.nodes.size(); ++i) {
      positions[side.nodes[i]] = curve.at(side.lengths[i]);
      is_held[side.nodes[i]] = 1;
    }
  }
  for (const HangingPoint& point : sheet.points) {
    positions[point.node] = point.position;
    is_held[point.node] = 1;
  }
  if (settings.diagonals) DiagonalCatenaries(sheet, sides).place(is_held, positions);
  solve_laplace(sheet.topology, is_held, positions);
  return positions;
}

}  // namespace isocloth
