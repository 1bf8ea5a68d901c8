// Products and factorisations by the engine and by libraries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bench/batched_systems.hpp"
#include "bench/libraries.hpp"
#include "bench/sparse_formats.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/linear/front_tree.hpp"
#include "host/linear/nodal_solver.hpp"
#include "host/linear/ordering.hpp"
#include "host/linear/pcg_rows.hpp"

namespace isocloth::bench {
namespace {

template <class Real>
constexpr const char* precision_name = sizeof(Real) == sizeof(float) ? "float32" : "float64";
/// A backward stable algorithm stays below a few roundings.
template <class Real>
constexpr double tolerance_of = 16.0 * static_cast<double>(std::numeric_limits<Real>::epsilon());

template <class Real>
Buffer<Real> put(const Device& device, const std::vector<double>& values) {
  return {device, std::vector<Real>(values.begin(), values.end())};
}
template <class Real>
Buffer<Vec3<Real>> put_vectors(const Device& device, const std::vector<double>& flat) {
  std::vector<Vec3<Real>> vectors;
  for (std::size_t i = 0; i < flat.size(); i += 3)
    vectors.push_back(
        {static_cast<Real>(flat[i]), static_cast<Real>(flat[i + 1]), static_cast<Real>(flat[i + 2])});
  return {device, vectors};
}
template <class Real>
ArrayView<Real> as_scalars(ArrayView<Vec3<Real>> vectors) {
  return {&vectors.data()->x, 3 * vectors.size()};
}
template <class Real>
ArrayView<const Real> as_scalars(ArrayView<const Vec3<Real>> vectors) {
  return {&vectors.data()->x, 3 * vectors.size()};
}
template <class Real>
std::vector<double> flattened(const Buffer<Vec3<Real>>& vectors) {
  std::vector<double> flat;
  for (const Vec3<Real>& v : vectors.download())
    flat.insert(flat.end(), {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)});
  return flat;
}
template <class Real>
void spoil(Buffer<Vec3<Real>>& vectors) {
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  vectors.upload(std::vector<Vec3<Real>>(vectors.size(), {nan, nan, nan}));
}

/// The system as `Real` holds it: what its solvers are handed, so that errors are theirs alone.
template <class Real>
NodalSystem rounded(NodalSystem system) {
  for (auto* values : {&system.values, &system.right_side})
    for (double& value : *values) value = static_cast<Real>(value);
  return system;
}

/// A matrix of blocks on the device.
template <class Real>
class DeviceRows {
 public:
  DeviceRows(const Device& device, const BlockRows& rows)
      : size_(rows.size),
        block_(rows.block),
        begin_(device, rows.begin),
        columns_(device, rows.columns),
        values_(put<Real>(device, rows.values)) {}
  BlockRowsView<Real> view() const { return {size_, block_, begin_.view(), columns_.view(), values_.view()}; }

 private:
  Index size_;
  int block_;
  Buffer<Index> begin_, columns_;
  Buffer<Real> values_;
};

template <class Real>
void contest_product(Contests& contests, const std::string& size, const NodalSystem& exact) {
  const NodalSystem system = rounded<Real>(exact);
  const Device& device = contests.device();
  const BlockRows blocks = block_rows(system.pattern, system.values);
  const DeviceRows<Real> device_blocks(device, blocks), scalars(device, scalar_rows(blocks));
  const SymmetricRows rows = symmetric_rows(system.pattern);
  const Buffer<Index> begin(device, rows.begin), columns(device, rows.columns), stored(device, rows.blocks);
  const Buffer<Real> values = put<Real>(device, system.values);
  const Buffer<Vec3<Real>> x = put_vectors<Real>(device, system.right_side);
  Buffer<Vec3<Real>> y(device, x.size());
  contests.begin({.work = "product",
                  .size = size,
                  .precision = precision_name<Real>,
                  .tolerance = tolerance_of<Real>,
                  .spoil = [&] { spoil(y); },
                  .result = [&] { return flattened(y); },
                  .error_of =
                      [&](const std::vector<double>& product) {
                        NodalSystem of_product = system;
                        of_product.right_side = product;
                        return backward_error(of_product, system.right_side.data());
                      }});
  contests.add("engine", [&] {
    step_kernels<Real>(device.backend())
        .block_product(device.queue(),
                       {.matrix = {begin.view(), columns.view(), stored.view(), values.view()},
                        .x = x.view(),
                        .y = y.view()});
  });
  contests.add(contests.libraries().products(
      device.queue(),
      ProductArrays<Real>{device_blocks.view(), scalars.view(), as_scalars(x.view()), as_scalars(y.view())}));
}

/// A x = b by the engine's solver of single garments; the contest is open then.
template <class Real>
class DirectContest {
 public:
  DirectContest(Contests& contests, const std::string& work, const std::string& size,
                const NodalSystem& system)
      : system_(rounded<Real>(system)),
        device_(contests.device()),
        right_side_(put_vectors<Real>(device_, system_.right_side)),
        solution_(device_, right_side_.size()) {
    contests.begin(
        {.work = work,
         .size = size,
         .precision = precision_name<Real>,
         .tolerance = tolerance_of<Real>,
         .spoil = [this] { spoil(solution_); },
         .result = [this] { return flattened(solution_); },
         .error_of = [this](const std::vector<double>& x) { return backward_error(system_, x.data()); }});
    const auto solver = make_nodal_solver<Real>(device_, system_.pattern, StepSolver::direct);
    const Buffer<Real> values = put<Real>(device_, system_.values);
    Outcome& engine = contests.add("engine", [&] {
      if (!solver->solve(values, right_side_, solution_))
        throw DeviceError("not positive definite in this precision");
    });
    if (!engine.failure)
      engine.solve_seconds = contests.time(
          [&] { solver->solve_block(right_side_, solution_, right_side_.size(), {0}); }, device_.queue());
  }
  const NodalSystem& system() const { return system_; }
  ArrayView<const Real> right_side() const { return as_scalars(right_side_.view()); }
  ArrayView<Real> solution() { return as_scalars(solution_.view()); }

 private:
  const NodalSystem system_;
  const Device& device_;
  const Buffer<Vec3<Real>> right_side_;
  Buffer<Vec3<Real>> solution_;
};

template <class Real>
void contest_sparse_factor(Contests& contests, const std::string& size, const NodalSystem& system) {
  DirectContest<Real> contest(contests, "factor and solve, one mesh", size, system);
  const DeviceRows<Real> scalars(contests.device(),
                                 scalar_rows(block_rows(system.pattern, contest.system().values)));
  contests.add(contests.libraries().sparse_factors(
      contests.device().queue(),
      SparseSystem<Real>{scalars.view(), contest.right_side(), contest.solution()}));
}

/// A diagonally dominant full matrix.
NodalSystem full_system(Index block_rows) {
  NodalSystem system{.pattern = {.size = block_rows, .block = 3, .rows = {}, .columns = {}},
                     .values = {},
                     .right_side = std::vector<double>(3 * static_cast<std::size_t>(block_rows), 1.0)};
  for (Index column = 0; column < block_rows; ++column)
    for (Index row = column; row < block_rows; ++row) {
      system.pattern.rows.push_back(row);
      system.pattern.columns.push_back(column);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          const int distance = std::abs(3 * (row - column) + r - c);
          system.values.push_back(distance == 0 ? 2.0 + 6.0 * std::log(3.0 * block_rows) : -1.0 / distance);
        }
    }
  return system;
}

template <class Real>
void contest_front(Contests& contests, const std::string& size, const NodalSystem& system) {
  DirectContest<Real> contest(contests, "factor and solve, a full matrix", size, system);
  const Device& device = contests.device();
  const Buffer<Real> matrix =
                         put<Real>(device, dense_matrix(block_rows(system.pattern, contest.system().values))),
                     scale(device, std::vector<Real>{1});
  Buffer<Real> factor(device, matrix.size());
  contests.add(contests.libraries().dense_factors(
      device.queue(), DenseBatch<Real>{.size = static_cast<Index>(system.unknowns()),
                                       .count = 1,
                                       .matrix = matrix.view(),
                                       .scales = scale.view(),
                                       .factors = factor.view(),
                                       .right_side = contest.right_side(),
                                       .solutions = contest.solution()}));
}

/// First solutions of the smallest batch, by name.
using Alone = std::map<std::string, std::vector<double>>;

template <class Real>
void contest_batch(Contests& contests, const std::string& size, const NodalSystem& exact,
                   const CholeskyPlan& plan, int count, Alone& alone) {
  const NodalSystem system = rounded<Real>(exact);
  const Device& device = contests.device();
  const BatchedSystems<Real> batch(device, system, plan, count);
  const std::size_t unknowns = system.unknowns(), systems = static_cast<std::size_t>(batch.count());
  std::vector<double> scales;
  for (int c = 0; c < batch.count(); ++c) scales.push_back(batch_scale(c));
  const Buffer<Real> matrix = put<Real>(device, dense_matrix(block_rows(system.pattern, system.values))),
                     right_side = put<Real>(device, system.right_side),
                     all_scales = put<Real>(device, scales);
  Buffer<Real> factors(device, systems * unknowns * unknowns), solutions(device, systems * unknowns);
  // The engine has solutions of its own, which nobody else writes.
  bool engine_ran = true;
  contests.begin(
      {.work = "factor and solve, a batch",
       .size = text(size, ", ", systems, " at once"),
       .precision = precision_name<Real>,
       .tolerance = tolerance_of<Real>,
       .spoil =
           [&] {
             solutions.upload(std::vector<Real>(solutions.size(), std::numeric_limits<Real>::quiet_NaN()));
           },
       .result =
           [&] {
             if (engine_ran) return batch.all_solutions();
             const std::vector<Real> found = solutions.download();
             return std::vector<double>(found.begin(), found.end());
           },
       .error_of = [&](const std::vector<double>& all) { return worst_backward_error(system, all); }});
  WorkQueue queue(device);
  queue.reserve(batch.scratch_bytes(), systems);
  Outcome& engine = contests.add(
      "engine", [&] { batch.factorize_and_solve(queue.get()); }, &queue.get());
  if (!engine.failure) {
    if (!batch.succeeded()) engine.failure = "not positive definite in this precision";
    engine.solve_seconds =
        std::max(0.0, engine.seconds - contests.time([&] { batch.factorize(queue.get()); }, queue.get()));
  }
  engine_ran = false;
  contests.add(contests.libraries().dense_factors(device.queue(),
                                                  DenseBatch<Real>{.size = static_cast<Index>(unknowns),
                                                                   .count = static_cast<Index>(systems),
                                                                   .matrix = matrix.view(),
                                                                   .scales = all_scales.view(),
                                                                   .factors = factors.view(),
                                                                   .right_side = right_side.view(),
                                                                   .solutions = solutions.view()}));
  for (Outcome& outcome : contests.outcomes()) {
    if (outcome.failure) continue;
    std::vector<double> first = outcome.result;
    first.resize(unknowns);
    const auto [entry, is_smallest] = alone.emplace(text(outcome.name, precision_name<Real>), first);
    if (!is_smallest) outcome.same_in_batch = entry->second == first;
  }
}

}  // namespace

void contest_products(Contests& contests, const std::string& size, const NodalSystem& system) {
  contest_product<float>(contests, size, system);
  contest_product<double>(contests, size, system);
}

void contest_sparse_factors(Contests& contests, const std::string& size, const NodalSystem& system) {
  contest_sparse_factor<float>(contests, size, system);
  contest_sparse_factor<double>(contests, size, system);
}

Index largest_front(const NodalSystem& system) {
  const FrontTree tree =
      build_front_tree(analyze_best_order(system.pattern).elimination, strip_height<double>);
  Index largest = 0;
  for (Index f = 0; f < tree.front_count(); ++f)
    largest = std::max(
        largest, tree.first_pivot[f + 1] - tree.first_pivot[f] + static_cast<Index>(tree.rows[f].size()));
  return largest;
}

void contest_fronts(Contests& contests, const std::string& size, Index block_rows) {
  const NodalSystem system = full_system(block_rows);
  contest_front<float>(contests, size, system);
  contest_front<double>(contests, size, system);
}

void contest_batches(Contests& contests, const std::string& size, const NodalSystem& system,
                     const std::vector<int>& counts) {
  const CholeskyPlan plan = plan_cholesky(system.pattern);
  Alone alone;
  for (const int count : counts) try {
      contest_batch<float>(contests, size, system, plan, count, alone);
      contest_batch<double>(contests, size, system, plan, count, alone);
    } catch (const DeviceError& error) {
      contests.note(text(size, ", ", count, " at once: ", error.what()));
    }
}

}  // namespace isocloth::bench
