// Factorisation and solve of nodal systems: the engine beside Eigen and CHOLMOD, and against the machine.
#include <algorithm>
#include <map>
#include <optional>

#include "bench/commands.hpp"
#include "bench/factor_solvers.hpp"
#include "bench/lane_solver.hpp"
#include "bench/machine_limits.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth::bench {
namespace {

/// One line of the tables.
struct Entry {
  std::string solver, precision, note;
  int threads = 1, lanes = 0;
  Simd simd = Simd::baseline;
  double analysis = 0;
  Seconds factor{1e9, 1e9}, solve{1e9, 1e9};
  double backward_error = 0, nonzeros = 0, flops = 0, memory_bytes = 0;
  std::size_t scalar_bytes = sizeof(double);
  bool ok = true;

  /// Processor time of one thread; of several, which also wait, wall time.
  double seconds(Seconds s) const { return threads == 1 ? s.cpu : s.wall; }
  double factor_seconds() const { return seconds(factor); }
  double solve_seconds() const { return seconds(solve); }
};

/// Solvers by turns, so that other programs meet all of them alike; the best time of each counts.
std::vector<Entry> time_solvers(const NodalSystem& system, std::vector<std::unique_ptr<FactorSolver>> solvers,
                                int threads, double budget) {
  std::vector<Entry> entries(solvers.size());
  std::vector<double> spent(solvers.size(), 0);
  for (std::size_t s = 0; s < solvers.size(); ++s)
    entries[s].analysis = time_of([&] { solvers[s]->analyze(); }).wall;
  for (int turn = 0; turn < 400; ++turn)
    for (std::size_t s = 0; s < solvers.size(); ++s) {
      Entry& e = entries[s];
      if (!e.ok || spent[s] > (turn < 2 ? 20 : 1) * budget) continue;
      const Seconds factor = time_of([&] { e.ok = solvers[s]->factorize(); });
      if (!e.ok) continue;
      const Seconds solve = time_of([&] { solvers[s]->solve(); });
      spent[s] += factor.wall + solve.wall;
      e.factor = least(e.factor, factor);
      e.solve = least(e.solve, solve);
    }
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    Entry& e = entries[s];
    e.solver = solvers[s]->name();
    e.precision = solvers[s]->precision();
    e.threads = threads;
    e.simd = widest_simd();
    e.scalar_bytes = solvers[s]->scalar_bytes();
    if (!e.ok) continue;
    e.note = solvers[s]->note();
    e.backward_error = backward_error(system, solvers[s]->solution().data());
    e.nonzeros = solvers[s]->nonzeros();
    e.flops = solvers[s]->flops();
    e.memory_bytes = static_cast<double>(solvers[s]->memory_bytes());
  }
  return entries;
}

std::vector<Entry> lane_entries(const MovingSheet& sheet, const FactorRequest& request) {
  NodalSystem system;
  const double analysis = time_of([&] { system = next_system(sheet, request.eps, true); }).wall;
  std::vector<Entry> entries;
  for (const Simd simd : {Simd::avx512, Simd::avx2, Simd::baseline})
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      if (cpu_backend(simd) == nullptr) continue;
      const LaneFigures f = solve_in_lanes(system, analysis, simd, precision, request.budget);
      entries.push_back(
          {.solver = text("in ", f.width, " lanes, ", to_string(simd)),
           .precision = to_string(precision),
           .note = text(f.systems, " systems at once"),
           .threads = 1,
           .lanes = f.width,
           .simd = simd,
           .analysis = f.analysis,
           .factor = f.factor,
           .solve = {std::max(0.0, f.both.wall - f.factor.wall), std::max(0.0, f.both.cpu - f.factor.cpu)},
           .backward_error = f.backward_error,
           .nonzeros = f.nonzeros,
           .flops = f.flops,
           .memory_bytes = f.memory_bytes,
           .scalar_bytes = precision == Precision::float32 ? sizeof(float) : sizeof(double),
           .ok = f.ok});
    }
  return entries;
}

/// Limits of the machine, measured when first asked for.
class Limits {
 public:
  const MachineLimits& operator()(const Entry& e) {
    const Precision precision = e.scalar_bytes == sizeof(float) ? Precision::float32 : Precision::float64;
    const auto key = std::make_tuple(e.simd, precision, e.threads);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, measure_limits(e.simd, precision, e.threads)).first->second;
  }
  const auto& known() const { return known_; }

 private:
  std::map<std::tuple<Simd, Precision, int>, MachineLimits> known_;
};

struct Tables {
  Table times{.title = "Factorisation and solve of the nodal system of a sheet in motion",
              .columns = {"mesh",
                          "unknowns",
                          "solver",
                          "precision",
                          "threads",
                          "analysis [ms]",
                          "factor [ms]",
                          "solve [ms]",
                          "factor, wall [ms]",
                          "solve, wall [ms]",
                          "factor, CPU [ms]",
                          "solve, CPU [ms]",
                          "factor: Eigen LLT / this",
                          "solve: Eigen LLT / this",
                          "both: Eigen LLT / this",
                          "factor: CHOLMOD / this",
                          "solve: CHOLMOD / this",
                          "both: CHOLMOD / this",
                          "backward error",
                          "nonzeros of L",
                          "memory [MB]",
                          "note"},
              .rows = {},
              .notes = {}};
  Table limits{.title = "The same against what the machine can do",
               .columns = {"mesh", "solver", "precision", "threads", "Gflop/s", "of the most [%]",
                           "flops per byte", "factor moves [GB/s]", "factor, of the stream [%]",
                           "solve moves [GB/s]", "solve, of the stream [%]"},
               .rows = {},
               .notes = {}};
};

void add_rows(const std::string& mesh, const NodalSystem& system, const Entry& e, const Entry& eigen,
              const Entry* cholmod, Limits& limits, Tables& tables) {
  const double factor = e.factor_seconds(), solve = e.solve_seconds();
  std::vector<Json> row{mesh, system.unknowns(), e.solver, e.precision, e.threads, 1000 * e.analysis};
  if (!e.ok) {
    row.resize(tables.times.columns.size());
    row.back() = "not positive definite in this precision";
    tables.times.rows.push_back(row);
    return;
  }
  for (const double s : {factor, solve, e.factor.wall, e.solve.wall, e.factor.cpu, e.solve.cpu})
    row.push_back(1000 * s);
  for (const Entry* peer : {&eigen, cholmod}) {
    if (peer == nullptr || !peer->ok) {
      row.insert(row.end(), 3, Json());
      continue;
    }
    const double f = peer->factor_seconds(), s = peer->solve_seconds();
    row.insert(row.end(), {f / factor, solve > 0 ? Json(s / solve) : Json(), (f + s) / (factor + solve)});
  }
  row.insert(row.end(), {e.backward_error, e.nonzeros, e.memory_bytes / 1e6, e.note});
  tables.times.rows.push_back(row);

  const MachineLimits& most = limits(e);
  const double scalar = static_cast<double>(e.scalar_bytes);
  const double factor_bytes = scalar * (e.nonzeros + 9.0 * static_cast<double>(system.pattern.rows.size()));
  const double solve_bytes = scalar * (2 * e.nonzeros + 3.0 * static_cast<double>(system.unknowns()));
  tables.limits.rows.push_back(
      {mesh, e.solver, e.precision, e.threads, 1e-9 * e.flops / factor,
       100 * e.flops / factor / most.flops_per_second, e.flops / factor_bytes, 1e-9 * factor_bytes / factor,
       100 * factor_bytes / factor / most.bytes_per_second,
       solve > 0 ? Json(1e-9 * solve_bytes / solve) : Json(),
       solve > 0 ? Json(100 * solve_bytes / solve / most.bytes_per_second) : Json()});
}

using Curves = std::map<std::string, Curve>;

void measure_side(int side, const FactorRequest& request, Limits& limits, Tables& tables, Curves& curves) {
  const MovingSheet sheet = moving_sheet(side);
  if (!(sheet.residual <= sheet.scene.projection.tolerance))
    tables.times.notes.push_back(text(
        grid_name(side), ": the sheet's last steps missed their tolerance, residual ", sheet.residual, '.'));
  const NodalSystem system = next_system(sheet, request.eps, false);
  const std::string mesh = grid_name(side);
  std::optional<Entry> eigen_llt;
  for (const int threads : request.threads) {
    std::optional<ThreadPool> pool;
    if (threads > 1) pool.emplace(threads);
    std::vector<std::unique_ptr<FactorSolver>> solvers = own_solvers(system, pool ? &*pool : nullptr);
    const std::size_t own_count = solvers.size();
    if (auto cholmod = peer_solver(Peer::cholmod, system, threads)) solvers.push_back(std::move(cholmod));
    const bool has_cholmod = solvers.size() > own_count;
    if (!eigen_llt)
      for (const Peer peer : {Peer::eigen_llt, Peer::eigen_ldlt})
        solvers.push_back(peer_solver(peer, system, 1));
    std::vector<Entry> entries = time_solvers(system, std::move(solvers), threads, request.budget);
    const std::size_t first_eigen = own_count + (has_cholmod ? 1 : 0);
    for (std::size_t i = first_eigen; i < entries.size(); ++i) entries[i].threads = 1;
    if (!eigen_llt) eigen_llt = entries[first_eigen];
    const std::optional<Entry> cholmod = has_cholmod ? std::optional(entries[own_count]) : std::nullopt;
    if (threads == request.threads.front() &&
        std::find(request.lane_sides.begin(), request.lane_sides.end(), side) != request.lane_sides.end()) {
      const std::vector<Entry> lanes = lane_entries(sheet, request);
      entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(own_count), lanes.begin(), lanes.end());
    }
    for (const Entry& e : entries) {
      add_rows(mesh, system, e, *eigen_llt, cholmod ? &*cholmod : nullptr, limits, tables);
      if (!e.ok || e.precision != "float64" || e.threads != 1) continue;
      const std::string name = e.solver.starts_with("multifrontal") ? "multifrontal" : e.solver;
      curves[name].name = name;
      curves[name].points.emplace_back(system.unknowns(), 1000 * e.factor_seconds());
    }
  }
  say(mesh);
}

}  // namespace

std::vector<Table> measure_factors(const FactorRequest& request) {
  Limits limits;
  Tables tables;
  Curves curves;
  for (const int side : request.sides) measure_side(side, request, limits, tables, curves);
  tables.times.notes.push_back(
      "H of the first iteration of a step of the proximal Newton, A3 sheet shaken for 0.52 s (33 x 33 nodes "
      "for 0.5 s, moved to the mesh, two steps more), h = 10 ms. Best of several turns, solvers by turns. "
      "factor and solve: processor time of one thread, wall time of several; so the ratios, each against "
      "Eigen on one thread and CHOLMOD on as many threads (of OpenBLAS; its own OpenMP loops, which ask for "
      "four threads on any machine, on one). In lanes: time of all systems over their number, solve: both "
      "less factor. Analysis: wall time, once per pattern. Memory of Eigen: L and its indices. Backward "
      "error: max |b - A x| / (|A| max |x| + max |b|).");
  if (!has_peer(Peer::cholmod)) tables.times.notes.push_back("CHOLMOD: this program was built without it.");
  std::string most =
      "Flops: sum over columns of L of (their nonzeros)^2. Bytes: the matrix read and L written once; L "
      "read twice by a solve, above 100 % where it lies in a cache. The most, by plain loops in this run:";
  for (const auto& [key, value] : limits.known())
    most += text(' ', to_string(std::get<0>(key)), ' ', to_string(std::get<1>(key)), ", threads ",
                 std::get<2>(key), ": ", short_number(1e-9 * value.flops_per_second), " Gflop/s, ",
                 short_number(1e-9 * value.bytes_per_second), " GB/s;");
  tables.limits.notes.push_back(most);
  if (!request.svg.empty()) {
    std::vector<Curve> drawn;
    for (const auto& [name, curve] : curves) drawn.push_back(curve);
    write_text(request.svg,
               log_plot("unknowns", "CPU time of a factorisation, double precision, one thread [ms]", drawn));
  }
  return {tables.times, tables.limits};
}

}  // namespace isocloth::bench
