#include "host/models/bender_sle/impulse_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/models.hpp"

namespace isocloth {
namespace {

/// Cloths with no more edges are stepped by one thread: their factorisation is too short to share.
constexpr Index largest_small = 6000;
/// Sweeps over contacts and edges in a part whose system was solved.
constexpr int most_contact_sweeps = 64;
constexpr double newton_diagonal = 1e-2;  ///< part of diag(A) that Newton's method adds
/// Longest correction by a system that is not singular, in edges.
constexpr double longest_correction = 1;

template <class Real>
const SystemKernels<Real>& system_kernels_of(const Device& device) {
  const void* const found = step_kernels<Real>(device.backend()).model_kernels("bender_sle");
  if (found == nullptr)
    throw DeviceError(not_in_this_build(text("recipe bender_sle on the backend ", device.backend().name)));
  return *static_cast<const SystemKernels<Real>*>(found);
}

}  // namespace

template <class Real>
ImpulseSystem<Real>::ImpulseSystem(const Device& device, const Garment& garment,
                                   const ResolvedScene& resolved,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : Base(device, garment, resolved, obstacles),
      kernels_of_system_(system_kernels_of<Real>(device)),
      edge_count_(static_cast<Index>(this->sweep_order().size())),
      node_count_(garment.mesh.node_count()) {
  if (edge_count_ == 0) return;
  build_edges(garment);
  build_matrix();
  kept_moves_ = {device, moves_.size()};
  if (here_.holds.exist())
    kept_loads_ = {device, moves_.size()};
  else
    weigh();
}

template <class Real>
void ImpulseSystem<Real>::build_edges(const Garment& garment) {
  const NodePairs edges = this->swept_edges();
  const auto nodes = static_cast<std::size_t>(node_count_);
  std::vector<Index> edge_nodes, node_begin(nodes + 1, 0);
  std::vector<Real> lengths, reaches(nodes, std::numeric_limits<Real>::max());
  for (const auto& [a, b] : edges) {
    const double length = norm(garment.mesh.positions[b] - garment.mesh.positions[a]);
    edge_nodes.insert(edge_nodes.end(), {a, b});
    lengths.push_back(static_cast<Real>(length));
    for (const Index node : {a, b}) {
      ++node_begin[node + 1];
      reaches[node] = std::min(reaches[node], lengths.back());
    }
  }
  for (std::size_t i = 0; i < nodes; ++i) node_begin[i + 1] += node_begin[i];
  std::vector<Index> node_edges(edge_nodes.size()), next(node_begin.begin(), node_begin.end() - 1);
  for (std::size_t end = 0; end < edge_nodes.size(); ++end)
    node_edges[next[edge_nodes[end]]++] = static_cast<Index>(end);
  edge_nodes_ = {device_, edge_nodes};
  node_begin_ = {device_, node_begin};
  node_edges_ = {device_, node_edges};
  lengths_ = {device_, lengths};
  scales_ = {device_, edges.size()};
  reaches_ = {device_, reaches};
  for (auto* const values : {&right_side_, &impulses_, &strains_}) *values = {device_, edges.size()};
  node_changes_ = {device_, nodes};
  directions_ = {device_, edges.size()};
}

template <class Real>
void ImpulseSystem<Real>::build_matrix() {
  const std::vector<Index> node_begin = node_begin_.download(), node_edges = node_edges_.download();
  const std::vector<Real> inverse_masses = this->inverse_masses().download();
  // Rows of each column from the diagonal on: edges that share a node which is not pinned.
  std::vector<std::set<Index>> columns(edge_count_);
  for (Index node = 0; node < node_count_; ++node)
    for (Index e = node_begin[node]; e < node_begin[node + 1]; ++e)
      for (Index f = node_begin[node]; f < e && inverse_masses[node] > 0; ++f) {
        columns[node_edges[f] / 2].insert(node_edges[e] / 2);  // ascending
      }
  BlockPattern pattern{.size = edge_count_, .block = 1, .rows = {}, .columns = {}};
  std::vector<Index> entries;
  for (Index column = 0; column < edge_count_; ++column) {
    columns[column].insert(column);
    for (const Index row : columns[column]) {
      pattern.rows.push_back(row);
      pattern.columns.push_back(column);
      entries.insert(entries.end(), {row, column});
    }
  }
  entries_ = {device_, entries};
  weights_ = {device_, entries.size() / 2};
  values_ = {device_, weights_.size()};
  if (edge_count_ <= largest_small && device_.backend().memory.host_accessible) queue_.pool = nullptr;
  system_.emplace(make_multifrontal<Real>(device_, pattern, queue_.pool));
}

template <class Real>
template <class Phase>
void ImpulseSystem<Real>::run(const Phase& phase, std::size_t count) {
  const auto constant = [](const auto& buffer) { return buffer.view(); };
  const SystemArrays<Real> arrays{
      .edge_nodes = constant(edge_nodes_),
      .lengths = constant(lengths_),
      .scales = scales_.view(),
      .entries = constant(entries_),
      .weights = weights_.view(),
      .node_begin = constant(node_begin_),
      .node_edges = constant(node_edges_),
      .inverse_masses = here_.holds.exist() ? here_.holds.inverse_masses : here_.pattern.inverse_masses,
      .reaches = constant(reaches_),
      .relative_positions = constant(relative_positions_),
      .moves = moves_.view(),
      .kept_moves = kept_moves_.view(),
      .loads = here_.holds.loads,
      .kept_loads = kept_loads_.view(),
      .directions = directions_.view(),
      .values = values_.view(),
      .right_side = right_side_.view(),
      .impulses = constant(impulses_),
      .strains = strains_.view(),
      .changes = node_changes_.view()};
  kernels_of_system_.run(queue_,
                         RunPhase<SystemArrays<Real>, Phase>{arrays, phase, 0, static_cast<Index>(count)});
}

template <class Real>
void ImpulseSystem<Real>::weigh() {
  run(phases::ScaleEdges{}, scales_.size());
  run(phases::WeighEntries{}, weights_.size());
}

template <class Real>
void ImpulseSystem<Real>::grasped() {
  if (system_) weigh();
}

template <class Real>
bool ImpulseSystem<Real>::factorize(double added) {
  run(phases::Linearise{}, directions_.size());
  run(phases::Assemble{.diagonal = 1 + added}, values_.size());
  if (!system_->factorize(values_)) return false;
  // The diagonal is one: a pivot below the rounding of as many sums has no digit left.
  const double rounding = static_cast<double>(edge_count_) * std::numeric_limits<Real>::epsilon();
  return system_->solver().least_pivot() > rounding;
}

template <class Real>
double ImpulseSystem<Real>::correct() {
  if (!system_->solve(right_side_, impulses_, right_side_.size(), {0}))
    return std::numeric_limits<double>::infinity();
  run(phases::ApplyImpulses{}, node_changes_.size());
  return this->largest(node_changes_, node_changes_.size());
}

template <class Real>
double ImpulseSystem<Real>::strain() {
  run(phases::FindErrors{}, directions_.size());
  return this->largest(strains_, strains_.size());
}

template <class Real>
bool ImpulseSystem<Real>::solve_lengths(int& solves) {
  const double tolerance = this->parameters_.front().sweep_tolerance;
  const int most = this->settings().max_solves;
  bool is_regular = factorize(0);
  for (int solve = 0; solve < 2 && is_regular && solves < most; ++solve) {
    is_regular = correct() <= longest_correction;
    ++solves;
    if (is_regular && strain() <= tolerance) return true;
  }
  if (!is_regular) run(phases::RestoreMoves{}, moves_.size());
  while (solves < most && factorize(newton_diagonal)) {
    device_.monitor().check();
    device_.monitor().count(1);
    ++solves;
    if (!std::isfinite(correct())) return false;
    if (strain() <= tolerance) return true;
  }
  return false;
}

template <class Real>
int ImpulseSystem<Real>::hold_lengths(Step& step) {
  int solves = 0;
  touched_ = false;
  if (system_) {
    run(phases::KeepMoves{}, moves_.size());
    fell_back_ = !solve_lengths(solves);
    if (fell_back_) fall_back();
  }
  if (!fell_back_ && !here_.contacts.exist()) return solves;
  // Contacts are no part of the system: sweeps over contacts and edges go on from where it ended.
  ImpulseControl control = here_.control;
  control.converge = true;
  if (!fell_back_) control.max_sweeps = std::min(control.max_sweeps, most_contact_sweeps);
  const auto [sweeps, touched] = this->sweep(step, true, control);
  touched_ = touched;
  return fell_back_ || touched ? solves + sweeps : solves;
}

template <class Real>
bool ImpulseSystem<Real>::hold_rows_again(int most_sweeps) {
  touched_ = true;  // the factor is of other places: rates are held by sweeps
  return Base::hold_rows_again(most_sweeps);
}

template <class Real>
void ImpulseSystem<Real>::fall_back() {
  run(phases::RestoreMoves{}, moves_.size());
  ++fallbacks_;
}

template <class Real>
void ImpulseSystem<Real>::hold_rates(Step& step) {
  if (!system_) return;
  if (!fell_back_ && !touched_) {
    run(phases::KeepMoves{}, moves_.size());
    run(phases::FindRates{}, directions_.size());
    if (correct() <= longest_correction) return;
    fall_back();
  }
  ImpulseControl control = here_.control;
  control.converge = true;
  this->sweep(step, false, control);
}

template <class Real>
void ImpulseSystem<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  Base::start(clocks, h, steps, undoable);
  fallbacks_ = 0;
}

template <class Real>
std::vector<AdvanceReport> ImpulseSystem<Real>::finish() {
  std::vector<AdvanceReport> reports = Base::finish();
  reports.front().total.fallbacks = fallbacks_;
  return reports;
}

template <class Real>
std::size_t ImpulseSystem<Real>::work_bytes() const {
  std::size_t bytes = Base::work_bytes() + (system_ ? system_->solver().memory_bytes() : 0);
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(edge_nodes_, entries_, node_begin_, node_edges_, lengths_, scales_, weights_, reaches_, values_,
      right_side_, impulses_, strains_, node_changes_, kept_moves_, kept_loads_, directions_);
  return bytes;
}

template <class Real>
std::string ImpulseSystem<Real>::solver_name() const {
  if (!system_) return Base::solver_name();
  return text("impulses from one system, ", system_->solver().name());
}

template class ImpulseSystem<float>;
template class ImpulseSystem<double>;

}  // namespace isocloth
