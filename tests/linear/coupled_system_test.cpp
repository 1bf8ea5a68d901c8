// Systems of members whose factors leave couplings out: against dense matrices, and many right sides at once
// against each alone.
#include "host/linear/coupled_system.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "host/linear/device_cholesky.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double any_number(std::size_t i) { return std::sin(1.7 * static_cast<double>(i) + 0.3); }

BlockSystem sheet(Index columns, Index rows) { return sheet_system(columns, rows, 1e-2); }

/// Two sheets that touch, and a third that stands still; the first bends beyond its pattern.
template <class Real>
class TouchingSheets {
 public:
  using Factory = std::function<std::unique_ptr<NodalSolver<Real>>(const Device&, const BlockPattern&)>;

  TouchingSheets(const Device& device, StepSolver choice, bool is_soft)
      : TouchingSheets(device, [=](const Device& own, const BlockPattern& pattern) {
          return make_nodal_solver<Real>(own, pattern, choice, is_soft);
        }) {}
  TouchingSheets(const Device& device, const Factory& factory)
      : device_(device), systems_{rounded<Real>(sheet(9, 8)), rounded<Real>(sheet(6, 7)), sheet(4, 4)} {
    for (const BlockSystem& system : systems_) {
      sizes_.push_back(static_cast<std::size_t>(system.pattern.size));
      begin_.push_back(begin_.back() + sizes_.back());
    }
    add_couplings();
    matrix_ = MatrixXd::Zero(3 * begin_[2], 3 * begin_[2]);
    for (std::size_t m = 0; m < 2; ++m)
      matrix_.block(3 * begin_[m], 3 * begin_[m], 3 * sizes_[m], 3 * sizes_[m]) = dense(systems_[m]);
    for (std::size_t i = 0; i < sizes_[0]; ++i)
      for (Index e = coupling_begin_[i]; e < coupling_begin_[i + 1]; ++e)
        for (int d = 0; d < 3; ++d)
          matrix_(3 * i + d, 3 * coupling_columns_[e] + d) += stiffness_ * coupling_values_[e];
    add_contacts();
    EXPECT_EQ(Eigen::LLT<MatrixXd>(matrix_).info(), Eigen::Success);

    contacts_.node_begin = node_begin_;
    contacts_.node_entries = node_entries_;
    contacts_.free_number = numbers_;
    contacts_.free_nodes = numbers_;
    contacts_.responses = responses_;
    pulls_.resize(2 * most_columns * responses_.size());
    contacts_.pulls = pulls_;
    for (std::size_t m = 0; m < 2; ++m) {
      rows_[m] = {device, systems_[m].pattern};
      blocks_[m] = {device, std::vector<Real>(systems_[m].values.begin(), systems_[m].values.end())};
      std::vector<Vec3<Real>> right_side(sizes_[m]);
      for (std::size_t i = 0; i < sizes_[m]; ++i) right_side[i].x = static_cast<Real>(any_number(i));
      right_sides_[m] = {device, right_side};
      solutions_[m] = {device, sizes_[m]};
      solvers_[m] = factory(device, systems_[m].pattern);
      EXPECT_TRUE(solvers_[m]->solve(blocks_[m], right_sides_[m], solutions_[m]).ok);
      members_.push_back({.factor = solvers_[m].get(),
                          .couplings = {},
                          .right_side = &right_sides_[m],
                          .solution = &solutions_[m],
                          .matrix = {rows_[m].begin.view(), rows_[m].columns.view(), rows_[m].blocks.view(),
                                     std::as_const(blocks_[m]).view()}});
    }
    members_.push_back({});
    members_[0].couplings = {.pattern = {coupling_begin_, coupling_columns_},
                             .stiffness = static_cast<Real>(stiffness_),
                             .values = coupling_values_};
    system_ = {device, sizes_};
  }

  std::size_t size() const { return begin_.back(); }
  double rtol() const { return sizeof(Real) == sizeof(float) ? 1e-5 : 1e-11; }

  /// The members' own right sides; then what is left along three motions is taken away. Returns the
  /// iterations.
  int solve() {
    const int iterations = system_.solve(members_, contacts_, rtol());
    EXPECT_GT(iterations, 1);
    std::vector<Vec3<Real>> modes(3 * size());
    for (std::size_t i = 0; i < begin_[2]; ++i)
      modes[i].x = modes[size() + i].y = modes[2 * size() + i].z = Real(1);
    modes_ = {device_, modes};
    system_.set_modes(members_, contacts_, modes_, {0, 0, -1});
    system_.correct(members_);
    VectorXd right(3 * begin_[2]), found(3 * begin_[2]);
    for (std::size_t m = 0; m < 2; ++m)
      put(right_sides_[m], begin_[m], right), put(solutions_[m], begin_[m], found);
    expect_solution(right, found);
    return iterations;
  }
  std::vector<Vec3<Real>> solution() const { return system_.solution().download(); }

  /// `count` columns of `from` from column `first` on; their iterations.
  int solve_block(const std::vector<Vec3<Real>>& from, std::size_t first, std::size_t count,
                  std::vector<Vec3<Real>>& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * size());
    const Buffer<Vec3<Real>> right_sides(
        device_, std::vector<Vec3<Real>>(begin, begin + static_cast<std::ptrdiff_t>(count * size())));
    Buffer<Vec3<Real>> solutions(device_, count * size());
    const int iterations =
        system_.solve_block(members_, contacts_, right_sides, solutions, count, rtol(), true);
    const std::vector<Vec3<Real>> found = solutions.download();
    std::ranges::copy(found, to.begin() + static_cast<std::ptrdiff_t>(first * size()));
    for (std::size_t k = 0; k < count; ++k) {
      VectorXd right(3 * begin_[2]), x(3 * begin_[2]);
      put(right_sides, 0, right, k * size());
      put(solutions, 0, x, k * size());
      expect_solution(right, x);
      for (std::size_t i = begin_[2]; i < size(); ++i)
        EXPECT_EQ(found[k * size() + i], Vec3<Real>{}) << "what stands still moves";
    }
    return iterations;
  }

  /// Some are zero, some at one node, some everywhere, so that they need different numbers of iterations.
  std::vector<Vec3<Real>> any_columns(std::size_t count) const {
    std::vector<Vec3<Real>> columns(count * size());
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t i = 0; i < size(); ++i)
        if (k % 5 == 1 ? i == 3 * k : k % 5 != 2) {
          const double scale = std::pow(10.0, static_cast<double>(k % 4));
          columns[k * size() + i] = {static_cast<Real>(scale * any_number(11 * i + k)),
                                     static_cast<Real>(scale * any_number(7 * i + 3 * k)),
                                     static_cast<Real>(scale * any_number(5 * i + 2 * k))};
        }
    return columns;
  }

 private:
  /// Between nodes far from each other, on whose diagonal blocks P has their magnitudes; and what contacts
  /// add there, or more.
  void add_couplings() {
    const std::size_t n = sizes_[0], far = n / 2;
    std::vector<double> diagonal(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      coupling_begin_.push_back(static_cast<Index>(coupling_columns_.size()));
      const std::size_t other = i < far ? i + far : i - far;
      if (other >= n) continue;
      const Real value = static_cast<Real>(0.5 + 0.4 * any_number(i % far));
      coupling_columns_.insert(coupling_columns_.end(), {static_cast<Index>(other), static_cast<Index>(i)});
      coupling_values_.insert(coupling_values_.end(), {value, -value});
      diagonal[i] = stiffness_ * static_cast<double>(value);
    }
    coupling_begin_.push_back(static_cast<Index>(coupling_columns_.size()));
    for (std::size_t m = 0; m < 2; ++m) {
      const BlockPattern& p = systems_[m].pattern;
      for (std::size_t b = 0; b < p.rows.size(); ++b)
        if (p.rows[b] == p.columns[b])
          for (std::size_t d = 0; d < 3; ++d)
            systems_[m].values[9 * b + 4 * d] += 0.03 + (m == 0 ? diagonal[p.rows[b]] : 0);
      systems_[m] = rounded<Real>(systems_[m]);
    }
  }
  /// Nodes of the first against triangles of the second and, felt but not moved, of the third; edges against
  /// edges.
  void add_contacts() {
    std::vector<std::vector<Index>> entries(size());
    for (std::size_t c = 0; c < 18; ++c) {
      ClothResponse r;
      r.along = c % 7 == 6 ? 0 : 1;  // some do not act
      r.first_count = c % 2 == 0 ? 1 : 2;
      const std::size_t other = c % 5 == 4 ? 2 : 1;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t m = r.side(static_cast<int>(i)) == 0 ? 0 : other;
        r.nodes[i] = static_cast<Index>(begin_[m] + (5 * c + 3 * i) % sizes_[m]);
        r.weights[i] = (m == 0 ? 1 : -1) * (0.3 + 0.2 * any_number(4 * c + i));
        entries[static_cast<std::size_t>(r.nodes[i])].push_back(static_cast<Index>(4 * c + i));
      }
      const double k = 0.005, n[3] = {any_number(c), any_number(c + 40), any_number(c + 80)};
      const double squares[6] = {n[0] * n[0], n[0] * n[1], n[0] * n[2],
                                 n[1] * n[1], n[1] * n[2], n[2] * n[2]};
      for (int i = 0; i < 6; ++i) r.stiffness[i] = k * squares[i];
      responses_.push_back(r);
      if (!r.acts() || other == 2) continue;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          for (int a = 0; r.side(i) != r.side(j) && a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              matrix_(3 * r.nodes[i] + a, 3 * r.nodes[j] + b) +=
                  r.weights[i] * r.weights[j] * k * n[a] * n[b];
    }
    node_begin_.push_back(0);
    for (std::size_t i = 0; i < size(); ++i) {
      numbers_.push_back(static_cast<Index>(i));
      node_entries_.insert(node_entries_.end(), entries[i].begin(), entries[i].end());
      node_begin_.push_back(static_cast<Index>(node_entries_.size()));
    }
  }
  static void put(const Buffer<Vec3<Real>>& from, std::size_t first, VectorXd& to, std::size_t begin = 0) {
    const std::vector<Vec3<Real>> values = from.download();
    for (std::size_t i = 0;
         begin + i < values.size() && 3 * (first + i) < static_cast<std::size_t>(to.size()); ++i)
      to.segment<3>(static_cast<Eigen::Index>(3 * (first + i))) << values[begin + i].x, values[begin + i].y,
          values[begin + i].z;
  }
  void expect_solution(const VectorXd& right, const VectorXd& x) const {
    const VectorXd exact = matrix_.llt().solve(right), off = x - exact;
    const double error = std::sqrt(std::max(0.0, off.dot(matrix_ * off))),
                 whole = std::sqrt(std::max(0.0, exact.dot(matrix_ * exact)));
    EXPECT_LE(error, 30 * rtol() * whole);
  }

  const Device& device_;
  std::vector<BlockSystem> systems_;
  std::vector<std::size_t> sizes_, begin_{0};
  const double stiffness_ = 0.02;
  std::vector<Index> coupling_begin_, coupling_columns_;
  std::vector<Real> coupling_values_;
  std::vector<ClothResponse> responses_;
  std::vector<Index> numbers_, node_begin_, node_entries_;
  std::vector<Vec3d> pulls_;
  MultiplyClothContacts<Real> contacts_;
  MatrixXd matrix_;  ///< P + E of what moves
  MatrixRows rows_[2];
  Buffer<Real> blocks_[2];
  Buffer<Vec3<Real>> right_sides_[2], solutions_[2], modes_;
  std::unique_ptr<NodalSolver<Real>> solvers_[2];
  typename CoupledSystem<Real>::Members members_;
  CoupledSystem<Real> system_;
};

/// More columns than are solved side by side, as many at a time as `together`: each as it is alone.
template <class Real>
void expect_columns_as_alone(StepSolver choice, bool is_soft) {
  const Device device({.threads = 2});
  TouchingSheets<Real> sheets(device, choice, is_soft);
  sheets.solve();
  constexpr std::size_t count = most_columns + 5;
  const std::vector<Vec3<Real>> columns = sheets.any_columns(count);
  std::vector<Vec3<Real>> alone(columns.size());
  std::set<int> iterations;
  for (std::size_t k = 0; k < count; ++k) iterations.insert(sheets.solve_block(columns, k, 1, alone));
  EXPECT_GT(iterations.size(), 2u) << "all columns end at once";
  for (const std::size_t together : {2u, 3u, 5u, 6u, 17u}) {
    std::vector<Vec3<Real>> solutions(columns.size());
    int most = 0;
    for (std::size_t first = 0; first < count; first += together)
      most = std::max(most, sheets.solve_block(columns, first, std::min(together, count - first), solutions));
    EXPECT_EQ(most, *iterations.rbegin());
    EXPECT_EQ(std::memcmp(solutions.data(), alone.data(), alone.size() * sizeof(Vec3<Real>)), 0)
        << together << " at a time";
  }
}

TEST(CoupledSystem, ColumnsSideBySideAreThoseThatEachIsAlone) {
  expect_columns_as_alone<double>(StepSolver::direct, false);
  expect_columns_as_alone<float>(StepSolver::direct, false);
}

TEST(CoupledSystem, ColumnsAreSoWithFactorsInSinglePrecision) {
  expect_columns_as_alone<double>(StepSolver::automatic, true);
}

TEST(CoupledSystem, ColumnsAreSoWithSolversThatIterate) {
  expect_columns_as_alone<double>(StepSolver::mixed, false);
}

/// The factor of a device, of which it is not told that it may be recorded.
template <class Real>
class UnrecordedCholesky final : public NodalSolver<Real> {
 public:
  UnrecordedCholesky(const Device& device, const BlockPattern& pattern) : factor_(device, pattern) {}
  Factorization solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                      Buffer<Vec3<Real>>& solution) override {
    return factor_.solve(blocks, right_side, solution);
  }
  bool solve_block(const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions, std::size_t size,
                   const std::vector<std::size_t>& begins) override {
    return factor_.solve_block(right_sides, solutions, size, begins);
  }
  std::size_t memory_bytes() const override { return factor_.memory_bytes(); }
  std::string_view name() const override { return factor_.name(); }

 private:
  DeviceCholesky<Real> factor_;
};

/// Iterations whose numbers stay with the kernels, and which go on a little where they are done, have the
/// bits of those that the host steps through.
template <class Real>
void expect_iterations_of_the_host() {
  const Device device({.threads = 2});
  const auto make = [](auto type) {
    return [](const Device& own, const BlockPattern& pattern) -> std::unique_ptr<NodalSolver<Real>> {
      return std::make_unique<typename decltype(type)::type>(own, pattern);
    };
  };
  TouchingSheets<Real> launched(device, make(std::type_identity<DeviceCholesky<Real>>()));
  TouchingSheets<Real> stepped(device, make(std::type_identity<UnrecordedCholesky<Real>>()));
  EXPECT_EQ(launched.solve(), stepped.solve());
  EXPECT_EQ(launched.solution(), stepped.solution());
  constexpr std::size_t count = most_columns + 5;
  const std::vector<Vec3<Real>> columns = launched.any_columns(count);
  std::vector<Vec3<Real>> found(columns.size()), expected(columns.size());
  for (const std::size_t together : {4u, 17u})
    for (std::size_t first = 0; first < count; first += together) {
      const std::size_t own = std::min(together, count - first);
      EXPECT_EQ(launched.solve_block(columns, first, own, found),
                stepped.solve_block(columns, first, own, expected));
    }
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(Vec3<Real>)), 0);
}

TEST(CoupledSystem, IterationsOnADeviceAreThoseOfTheHost) {
  expect_iterations_of_the_host<double>();
  expect_iterations_of_the_host<float>();
}

}  // namespace
}  // namespace isocloth
