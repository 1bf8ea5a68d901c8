#include "host/impulse/impulse_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// Cloths with no more edges are stepped by one thread: their factorisation is too short to share.
constexpr Index largest_small = 6000;
/// Sweeps over contacts and edges in a part whose system was solved.
constexpr int most_contact_sweeps = 64;
constexpr double newton_diagonal = 1e-2;  ///< part of diag(A) that Newton's method adds
constexpr double longest_correction = 1;  ///< by a system that is not singular, in edges

}  // namespace

template <class Real>
ImpulseSystem<Real>::ImpulseSystem(const Device& device, const Garment& garment, const Scene& scene,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : Base(device, garment, scene, obstacles),
      edge_count_(static_cast<Index>(this->sweep_order().size())),
      node_count_(garment.mesh.node_count()) {
  if (edge_count_ == 0) return;
  build_edges(garment);
  build_matrix();
  kept_moves_ = {device, moves_.size()};
  cloths_ = this->cloths();
  if (cloths_.holds.exist())
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
  is_small_ = edge_count_ <= largest_small && device_.backend().memory.host_accessible;
  if (is_small_) queue_.pool = nullptr;
  system_.emplace(make_multifrontal<Real>(device_, pattern, is_small_ ? nullptr : device_.queue().pool));
}

template <class Real>
void ImpulseSystem<Real>::run(SystemPhase phase, std::size_t count, Real diagonal) {
  const auto constant = [](const auto& buffer) { return buffer.view(); };
  kernels_.run_system_phase(queue_, {.phase = phase,
                                     .count = static_cast<Index>(count),
                                     .diagonal = diagonal,
                                     .edge_nodes = constant(edge_nodes_),
                                     .lengths = constant(lengths_),
                                     .scales = scales_.view(),
                                     .entries = constant(entries_),
                                     .weights = weights_.view(),
                                     .node_begin = constant(node_begin_),
                                     .node_edges = constant(node_edges_),
                                     .inverse_masses = cloths_.holds.exist() ? cloths_.holds.inverse_masses
                                                                             : cloths_.pattern.inverse_masses,
                                     .reaches = constant(reaches_),
                                     .places = constant(places_),
                                     .moves = moves_.view(),
                                     .kept_moves = kept_moves_.view(),
                                     .loads = cloths_.holds.loads,
                                     .kept_loads = kept_loads_.view(),
                                     .directions = directions_.view(),
                                     .values = values_.view(),
                                     .right_side = right_side_.view(),
                                     .impulses = constant(impulses_),
                                     .strains = strains_.view(),
                                     .changes = node_changes_.view()});
}

template <class Real>
void ImpulseSystem<Real>::weigh() {
  run(SystemPhase::scale, scales_.size());
  run(SystemPhase::weigh, weights_.size());
}

template <class Real>
void ImpulseSystem<Real>::grasp() {
  Base::grasp();
  if (system_) weigh();
}

template <class Real>
bool ImpulseSystem<Real>::factorize(double added) {
  run(SystemPhase::linearise, directions_.size());
  run(SystemPhase::assemble, values_.size(), static_cast<Real>(1 + added));
  if (!system_->factorize(values_)) return false;
  // The diagonal is one: a pivot below the rounding of as many sums has no digit left.
  const double rounding = static_cast<double>(edge_count_) * std::numeric_limits<Real>::epsilon();
  return system_->solver().least_pivot() > rounding;
}

template <class Real>
double ImpulseSystem<Real>::correct() {
  if (!system_->solve(right_side_, impulses_)) return std::numeric_limits<double>::infinity();
  run(SystemPhase::apply, node_changes_.size());
  return this->largest(node_changes_);
}

template <class Real>
double ImpulseSystem<Real>::strain() {
  run(SystemPhase::errors, directions_.size());
  return this->largest(strains_);
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
  if (!is_regular) run(SystemPhase::restore, moves_.size());
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
typename ImpulseSystem<Real>::Outcome ImpulseSystem<Real>::correct_lengths() {
  int solves = 0;
  if (system_) {
    run(SystemPhase::keep, moves_.size());
    fell_back_ = !solve_lengths(solves);
    if (fell_back_) {
      run(SystemPhase::restore, moves_.size());
      fall_back();
    }
  }
  if (!fell_back_ && !this->has_obstacles()) return {.sweeps = solves, .finite = true};
  // Contacts are no part of the system: sweeps over contacts and edges go on from where it ended.
  const ImpulseControl control = cloths_.control;
  cloths_.control.converge = true;
  if (!fell_back_) cloths_.control.max_sweeps = std::min(control.max_sweeps, most_contact_sweeps);
  Outcome outcome = Base::correct_lengths();
  cloths_.control = control;
  if (!fell_back_ && !this->touched_) outcome.sweeps = 0;
  outcome.sweeps += solves;
  return outcome;
}

template <class Real>
void ImpulseSystem<Real>::fall_back() {
  ++fallbacks_;
}

template <class Real>
void ImpulseSystem<Real>::correct_velocities() {
  if (!system_) return;
  if (!fell_back_ && !this->touched_) {
    run(SystemPhase::keep, moves_.size());
    run(SystemPhase::rates, directions_.size());
    if (correct() <= longest_correction) return;
    run(SystemPhase::restore, moves_.size());
    fall_back();
  }
  const bool converges = std::exchange(cloths_.control.converge, true);
  Base::correct_velocities();
  cloths_.control.converge = converges;
}

template <class Real>
void ImpulseSystem<Real>::start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) {
  Base::start(clocks, h, steps, options);
  fallbacks_ = 0;
  if (is_small_) reports_ = Base::finish();
}

template <class Real>
std::vector<AdvanceReport> ImpulseSystem<Real>::finish() {
  std::vector<AdvanceReport> reports = is_small_ ? std::move(reports_) : Base::finish();
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
