#include "host/models/terzopoulos1987/tensor_grid_step.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace isocloth {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;

/// factor a b^T, or factor times the identity.
struct NodeBlock {
  double entries[3][3] = {};
  void add_product(double factor, const Vec3d& a, const Vec3d& b) {
    const double of_a[3] = {factor * a.x, factor * a.y, factor * a.z}, of_b[3] = {b.x, b.y, b.z};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) entries[r][c] += of_a[r] * of_b[c];
  }
  void add_identity(double factor) {
    for (int r = 0; r < 3; ++r) entries[r][r] += factor;
  }
  Vec3d times(const Vec3d& v) const {
    const auto row = [&](int r) { return entries[r][0] * v.x + entries[r][1] * v.y + entries[r][2] * v.z; };
    return {row(0), row(1), row(2)};
  }
};

}  // namespace

/// Symmetric matrix of 3 x 3 blocks on the free nodes; its pattern is that of the stencils.
struct TensorGridStep::System {
  std::vector<Index> numbers;  ///< numbers of the free nodes, -1: fixed; shape [node_count]
  Matrix matrix;
  Eigen::SimplicialLLT<Matrix> factor;
  Vector right_side;

  System(const TensorGrid& grid, const std::vector<char>& is_free) {
    Index count = 0;
    for (const char free : is_free) numbers.push_back(free != 0 ? count++ : -1);
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](Index a, Index b) {
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) entries.emplace_back(3 * a + r, 3 * b + c, 1.0);
    };
    for (Index i = 0; i < count; ++i) add(i, i);
    for (const TensorStencil& s : grid.stencils())
      for (int i = 0; i < s.node_count; ++i)
        for (int j = 0; j < s.node_count; ++j) {
          const Index a = numbers[static_cast<std::size_t>(s.nodes[i])],
                      b = numbers[static_cast<std::size_t>(s.nodes[j])];
          if (a > b && b >= 0) add(a, b);
        }
    matrix.resize(3 * count, 3 * count);
    matrix.setFromTriplets(entries.begin(), entries.end());
    right_side.resize(3 * count);
    if (count > 0) factor.analyzePattern(matrix);
  }
  bool is_empty() const { return right_side.size() == 0; }
  void clear() {
    std::fill(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros(), 0.0);
    right_side.setZero();
  }
  /// Block (a, b), a >= b.
  void add(Index a, Index b, const NodeBlock& block) {
    for (int c = 0; c < 3; ++c) {
      const Index column = 3 * b + c;
      const auto* const begin = matrix.innerIndexPtr() + matrix.outerIndexPtr()[column];
      const auto* const end = matrix.innerIndexPtr() + matrix.outerIndexPtr()[column + 1];
      const auto at = std::lower_bound(begin, end, 3 * a) - matrix.innerIndexPtr();
      for (int r = 0; r < 3; ++r) matrix.valuePtr()[at + r] += block.entries[r][c];
    }
  }
  void add(Index a, const Vec3d& v) {
    right_side[3 * a] += v.x, right_side[3 * a + 1] += v.y, right_side[3 * a + 2] += v.z;
  }
  static Vec3d at(const Vector& v, Index a) { return {v[3 * a], v[3 * a + 1], v[3 * a + 2]}; }
};

TensorGridStep::TensorGridStep(const TensorGrid& grid, std::vector<double> masses,
                               const std::vector<char>& is_free)
    : grid_(grid),
      masses_(std::move(masses)),
      is_free_(is_free),
      edge_(std::numeric_limits<double>::infinity()),
      system_(std::make_unique<System>(grid, is_free)) {
  for (const TensorStencil& s : grid.stencils())
    if (s.component == TensorStencil::warp || s.component == TensorStencil::weft)
      edge_ = std::min(edge_, 1 / std::abs(s.d1[0]));
}

TensorGridStep::~TensorGridStep() = default;

bool TensorGridStep::semi_implicit(const TensorGridPart& part) {
  System& system = *system_;
  if (system.is_empty()) return true;
  const double rho = part.fabric.density, alpha = part.fabric.mass_damping, h = part.h;
  const auto stiffness = TensorGrid::stiffness(part.fabric);
  system.clear();
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    const Index a = system.numbers[i];
    if (a < 0) continue;
    const double inertia = rho * masses_[i] / (h * h), drag = alpha * masses_[i] / (2 * h);
    NodeBlock block;
    block.add_identity(inertia + drag);
    system.add(a, a, block);
    system.add(a, inertia * part.moves[i] - drag * part.before[i]);
  }
  for (const TensorStencil& s : grid_.stencils()) {
    const double k = stiffness[s.component] * s.weight;
    if (k == 0) continue;
    const TensorValue c = grid_.value(s, part.positions);
    for (int i = 0; i < s.node_count; ++i) {
      const Index a = system.numbers[static_cast<std::size_t>(s.nodes[i])];
      if (a < 0) continue;
      system.add(a, -k * c.value * c.gradients[i]);
      for (int j = 0; j < s.node_count; ++j) {
        const auto node = static_cast<std::size_t>(s.nodes[j]);
        const Index b = system.numbers[node];
        if (b > a) continue;
        NodeBlock block;
        if (s.is_metric())
          block.add_identity(k * c.value * (s.d1[i] * s.d2[j] + s.d2[i] * s.d1[j]));
        else
          block.add_product(k, c.gradients[i], c.gradients[j]);
        if (b >= 0)
          system.add(a, b, block);
        else
          system.add(a, -1.0 * block.times(part.moves[node]));
      }
    }
  }
  system.factor.factorize(system.matrix);
  const bool is_definite = system.factor.info() == Eigen::Success;
  Vector u = Vector::Constant(system.right_side.size(), std::numeric_limits<double>::quiet_NaN());
  if (is_definite) u = system.factor.solve(system.right_side);
  for (std::size_t i = 0; i < masses_.size(); ++i)
    if (is_free_[i] != 0) part.moves[i] = System::at(u, system.numbers[i]);
  return is_definite;
}

int TensorGridStep::implicit(const TensorGridPart& part) {
  System& system = *system_;
  if (system.is_empty()) return 0;
  const double rho = part.fabric.density, alpha = part.fabric.mass_damping, h = part.h;
  const auto stiffness = TensorGrid::stiffness(part.fabric);
  const std::vector<Vec3d> inert = part.moves;
  std::vector<Vec3d>& u = part.moves;
  const auto ends = [&](const std::vector<Vec3d>& moves) {
    std::vector<Vec3d> x = part.positions;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += moves[i];
    return x;
  };
  // Of which the step is a minimum.
  const auto potential = [&](const std::vector<Vec3d>& moves) {
    double sum = grid_.energy(part.fabric, ends(moves));
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      if (is_free_[i] == 0) continue;
      const Vec3d lag = moves[i] - inert[i];
      sum += rho * masses_[i] / (2 * h * h) * dot(lag, lag) +
             alpha * masses_[i] / (2 * h) * dot(moves[i], moves[i]);
    }
    return sum;
  };
  double now = potential(u);
  for (int solves = 1; solves <= most_solves; ++solves) {
    part.monitor.check();
    system.clear();
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      const Index a = system.numbers[i];
      if (a < 0) continue;
      const double inertia = rho * masses_[i] / (h * h), drag = alpha * masses_[i] / h;
      NodeBlock block;
      block.add_identity(inertia + drag);
      system.add(a, a, block);
      system.add(a, inertia * (inert[i] - u[i]) - drag * u[i]);
    }
    const std::vector<Vec3d> x = ends(u);
    for (const TensorStencil& s : grid_.stencils()) {
      const double k = stiffness[s.component] * s.weight;
      if (k == 0) continue;
      const TensorValue c = grid_.value(s, x);
      const bool pulls =
          c.value > 0 && (s.component == TensorStencil::warp || s.component == TensorStencil::weft);
      for (int i = 0; i < s.node_count; ++i) {
        const Index a = system.numbers[static_cast<std::size_t>(s.nodes[i])];
        if (a < 0) continue;
        system.add(a, -k * c.value * c.gradients[i]);
        for (int j = 0; j < s.node_count; ++j) {
          const Index b = system.numbers[static_cast<std::size_t>(s.nodes[j])];
          if (b > a || b < 0) continue;
          NodeBlock block;
          block.add_product(k, c.gradients[i], c.gradients[j]);
          if (pulls) block.add_identity(2 * k * c.value * s.d1[i] * s.d1[j]);
          system.add(a, b, block);
        }
      }
    }
    system.factor.factorize(system.matrix);
    const Vector change = system.factor.solve(system.right_side);
    const double slope = -system.right_side.dot(change);
    double largest = 0, length = 1;
    for (Index a = 0; a < static_cast<Index>(change.size()) / 3; ++a)
      largest = std::max(largest, norm(System::at(change, a)));
    if (!std::isfinite(largest)) return most_solves + 1;
    const std::vector<Vec3d> from = u;
    for (int halvings = 0;; ++halvings) {
      for (std::size_t i = 0; i < u.size(); ++i)
        if (is_free_[i] != 0) u[i] = from[i] + length * System::at(change, system.numbers[i]);
      const double next = potential(u);
      // Below rounding of the energy its change says nothing.
      if (next <= now + 1e-4 * length * slope + 1e-14 * std::abs(now) || halvings == 30) {
        now = next;
        break;
      }
      length /= 2;
    }
    if (largest <= 1e-7 * edge_) return solves;
  }
  return most_solves + 1;
}

}  // namespace isocloth
