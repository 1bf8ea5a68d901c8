#include "tests/linear/systems.hpp"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "engine/mesh/generators.hpp"
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

BlockSystem sheet_system(Index columns, Index rows, double eps) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(columns, rows, 0.9, 0.8);
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.5,
                    .bending_stiffness = 0,
                    .mass_damping = 1,
                    .stiffness_damping = 0};
  garment.pins.push_back({"pins", {0, columns - 1}, FixedMotion{}});
  return nodal_system(garment, eps, 3e-3);
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

BlockSystem band_system() {
  BlockPattern p{.size = 140, .block = 3, .rows = {}, .columns = {}};
  for (Index j = 0; j < p.size; ++j)
    for (Index i = j; i < p.size && i - j < 71; ++i) {
      p.rows.push_back(i);
      p.columns.push_back(j);
    }
  return dominant_system(p, 5);
}

BlockSystem scaled_over_twelve_orders(BlockSystem system) {
  const auto scale = [](Index row, int component) {
    return std::ldexp(1.0, static_cast<int>((row * 31 + component * 17) % 41) - 20);
  };
  for (std::size_t b = 0; b < system.pattern.rows.size(); ++b)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        system.values[(b * 3 + r) * 3 + c] *=
            scale(system.pattern.rows[b], r) * scale(system.pattern.columns[b], c);
  return system;
}

Eigen::MatrixXd dense(const BlockSystem& system) {
  const BlockPattern& p = system.pattern;
  const int n = p.block;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p.size * n, p.size * n);
  for (std::size_t b = 0; b < p.rows.size(); ++b)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const Index i = p.rows[b] * n + r, j = p.columns[b] * n + c;
        if (i >= j) a(i, j) = a(j, i) = system.values[(b * n + r) * n + c];
      }
  return a;
}

template <class Real>
double backward_error(const BlockSystem& system, const std::vector<Real>& b, const std::vector<Real>& x,
                      int count) {
  const int n = system.pattern.block;
  const std::size_t size = static_cast<std::size_t>(system.pattern.size) * n;
  double worst = 0;
  for (int k = 0; k < count; ++k) {
    std::vector<long double> residual(size), sums(size, 0);
    for (std::size_t i = 0; i < size; ++i) residual[i] = b[i * count + k];
    for (std::size_t block = 0; block < system.pattern.rows.size(); ++block)
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
          const long double value = system.values[(block * n + r) * n + c];
          const std::size_t i = system.pattern.rows[block] * n + r, j = system.pattern.columns[block] * n + c;
          residual[i] -= value * x[j * count + k];
          sums[i] += std::abs(value);
          if (system.pattern.rows[block] == system.pattern.columns[block]) continue;
          residual[j] -= value * x[i * count + k];
          sums[j] += std::abs(value);
        }
    long double left = 0, norm = 0, solution = 0, right = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (!(std::abs(residual[i]) <= left)) left = std::abs(residual[i]);  // NaN stays
      norm = std::max(norm, sums[i]);
      solution = std::max<long double>(solution, std::abs(x[i * count + k]));
      right = std::max<long double>(right, std::abs(b[i * count + k]));
    }
    const double error = static_cast<double>(left / (norm * solution + right));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template double backward_error(const BlockSystem&, const std::vector<float>&, const std::vector<float>&, int);
template double backward_error(const BlockSystem&, const std::vector<double>&, const std::vector<double>&,
                               int);

}  // namespace isocloth
