#include "tests/linear/systems.hpp"

#include <Eigen/SparseCore>
#include <cmath>
#include <random>
#include <stdexcept>

#include "host/reference/reference_cloth.hpp"

namespace isocloth {

using reference::SparseMatrix;

BlockSystem nodal_system(const Garment& garment, double eps, double noise, double multiplier) {
  constexpr double step = 0.01;
  const reference::ReferenceCloth cloth(garment, find_recipe("coltraro2022"), {}, 9.8);
  std::mt19937 generator(11);
  const auto random = [&generator] { return 2 * (static_cast<double>(generator()) / 4294967295.0) - 1; };
  reference::MatrixX3d positions = cloth.positions();
  for (Eigen::Index i = 0; i < positions.size(); ++i) positions.data()[i] += noise * random();
  reference::VectorXd multipliers = reference::VectorXd::Zero(cloth.rows().row_count());
  for (auto& m : multipliers) m = multiplier * random();

  const SparseMatrix jacobian = cloth.row_jacobian(positions);
  const reference::VectorXd d = cloth.row_scale_d(positions, step);
  SparseMatrix scaled = jacobian;
  for (Eigen::Index k = 0; k < scaled.outerSize(); ++k)
    for (SparseMatrix::InnerIterator it(scaled, k); it; ++it)
      it.valueRef() = d[it.row()] > 0 ? it.value() / (eps * d[it.row()]) : 0;
  const SparseMatrix penalty = jacobian.transpose() * scaled;
  SparseMatrix scalar = cloth.implicit_matrix(step);
  if (multiplier > 0) scalar += cloth.geometric_stiffness(multipliers);

  BlockSystem system{.pattern = nodal_block_pattern(garment), .values = {}};
  system.values.resize(system.pattern.rows.size() * 9);
  const std::vector<Index>& free = cloth.free_nodes();
  std::vector<Index> number(garment.mesh.positions.size(), -1);
  for (std::size_t i = 0; i < free.size(); ++i) number[free[i]] = static_cast<Index>(i);
  // Blocks of one column lie together: find each by its row.
  std::vector<std::vector<std::pair<Index, std::size_t>>> columns(free.size());
  for (std::size_t b = 0; b < system.pattern.rows.size(); ++b)
    columns[system.pattern.columns[b]].emplace_back(system.pattern.rows[b], b);
  const auto block_of = [&](Index row, Index column) -> double* {
    for (const auto& [r, b] : columns[column])
      if (r == row) return system.values.data() + b * 9;
    return nullptr;
  };
  const auto add = [&](Index i, Index j, int r, int c, double value) {
    const Index row = number[i], column = number[j];
    if (row < 0 || column < 0 || row < column || value == 0) return;
    double* block = block_of(row, column);
    if (!block) throw std::runtime_error("the reference has a block that the pattern lacks");
    block[3 * r + c] += value;
  };
  for (Eigen::Index k = 0; k < penalty.outerSize(); ++k)
    for (SparseMatrix::InnerIterator it(penalty, k); it; ++it)
      add(static_cast<Index>(it.row() / 3), static_cast<Index>(it.col() / 3), static_cast<int>(it.row() % 3),
          static_cast<int>(it.col() % 3), it.value());
  for (Eigen::Index k = 0; k < scalar.outerSize(); ++k)
    for (SparseMatrix::InnerIterator it(scalar, k); it; ++it)
      for (int c = 0; c < 3; ++c)
        add(static_cast<Index>(it.row()), static_cast<Index>(it.col()), c, c, it.value());
  return system;
}

BlockSystem dominant_system(const BlockPattern& pattern, unsigned seed) {
  std::mt19937 generator(seed);
  const auto random = [&generator] { return 2 * (static_cast<double>(generator()) / 4294967295.0) - 1; };
  const int n = pattern.block;
  BlockSystem system{.pattern = pattern, .values = std::vector<double>(pattern.rows.size() * n * n)};
  std::vector<double> sums(static_cast<std::size_t>(pattern.size) * n, 0);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const bool diagonal = pattern.rows[b] == pattern.columns[b];
        double& value = system.values[(b * n + r) * n + c];
        value = diagonal && c < r ? system.values[(b * n + c) * n + r] : random();
        sums[pattern.rows[b] * n + r] += std::abs(value);
        if (!diagonal) sums[pattern.columns[b] * n + c] += std::abs(value);
      }
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    if (pattern.rows[b] == pattern.columns[b])
      for (int r = 0; r < n; ++r)
        system.values[(b * n + r) * n + r] = 1.5 * sums[pattern.rows[b] * n + r] + 1;
  return system;
}

}  // namespace isocloth
