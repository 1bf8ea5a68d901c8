#include "host/impulse/impulse_solver.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
ImpulseSolver<Real>::ImpulseSolver(const Device& device, const Garment& garment,
                                   const ResolvedScene& resolved,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                   OwnForceRate own_rate)
    : Base(device, {&garment}, resolved, obstacles, std::move(own_rate)),
      queue_(device.queue()),
      reducer_(device) {
  const auto springs = this->springs().colours();
  colours_ = {{Items::metric_stencils, this->metric_stencils().colour_begin.download()},
              {Items::scalar_stencils, this->scalar_stencils().colour_begin.download()},
              {Items::edges, this->edges().colour_begin.download()},
              {Items::structural_springs, springs[0]},
              {Items::shear_springs, springs[1]},
              {Items::bend_springs, springs[2]},
              {Items::samples, this->contacts().colours()}};
  const ImpulsePattern<Real> pattern = this->pattern();
  const std::size_t nodes = static_cast<std::size_t>(pattern.node_count) + 1;
  relative_positions_ = {device, nodes};
  moves_ = {device, nodes};
  if (pattern.has_forces()) forces_ = {device, nodes};
  if (sizeof(Real) == sizeof(float)) positions_ = {device, nodes};
  view_cloths();
  std::size_t packets = 0;
  for (const Items rows : {Items::metric_stencils, Items::scalar_stencils, Items::edges})
    packets += static_cast<std::size_t>(item_count(here_, rows));
  const ImpulseContactBuffers<Real>& contacts = this->contacts();
  told_ = {device, std::max({packets, nodes, contacts.sample_count(), contacts.no_eased().size()})};
  last_sweeps_ = {device, packets};
}

template <class Real>
void ImpulseSolver<Real>::view_cloths() {
  here_ = this->cloths();
  launch_ = {.cloths = here_,
             .work = {.relative_positions = relative_positions_.view().data(),
                      .moves = moves_.view().data(),
                      .forces = forces_.view().data(),
                      .positions = positions_.view().data(),
                      .loads = here_.holds.loads.data()},
             .step = 0,
             .part = 0,
             .told = {},
             .last_sweeps = {}};
  here_.parameters = parameters_;
  for (const auto& [items, begin] : colours_) colours_of(here_, items) = begin;
}

template <class Real>
void ImpulseSolver<Real>::enter(Index step, int part) {
  launch_.step = step;
  launch_.part = part;
  device_.monitor().enter(part, parameters_.front().parts);
}

template <class Real>
bool ImpulseSolver<Real>::stops() const {
  device_.monitor().check();
  return false;
}

template <class Real>
template <class Phase>
void ImpulseSolver<Real>::launch(const Phase& phase, const ArrayView<const Index>& begin, Told& told) {
  if (begin.empty()) return;
  const std::size_t first = told.count;
  launch_.told = slice(told_.view(), first, told_.size());
  launch_.last_sweeps = slice(last_sweeps_.view(), std::min(first, last_sweeps_.size()), last_sweeps_.size());
  for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour)
    kernels_.impulse.run(queue_, RunPhase<ImpulseLaunch<Real>, Phase>{launch_, phase, begin[colour],
                                                                      begin[colour + 1] - begin[colour]});
  told.count += static_cast<std::size_t>(begin[begin.size() - 1]);
}

template <class Real>
bool ImpulseSolver<Real>::list_near() {
  kernels_.impulse.run(queue_, RunPhase<ImpulseLaunch<Real>, phases::ListNear>{launch_, {}, 0, 1});
  return true;
}

template <class Real>
double ImpulseSolver<Real>::largest(const Buffer<Real>& values, std::size_t count) {
  const Reduction<Real> r = reducer_.reduce(slice(values.view(), 0, count));
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
typename ImpulseSolver<Real>::Step::Sweeps ImpulseSolver<Real>::sweep(Step& step, bool of_positions,
                                                                      const ImpulseControl& control) {
  return of_positions ? step.template sweep<true>(control) : step.template sweep<false>(control);
}

template <class Real>
int ImpulseSolver<Real>::hold_lengths(Step& step) {
  return sweep(step, true, step.control()).count;
}

template <class Real>
void ImpulseSolver<Real>::hold_rates(Step& step) {
  sweep(step, false, step.control());
}

template <class Real>
void ImpulseSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps};
  this->keep_before(undoable);
}

template <class Real>
std::vector<AdvanceReport> ImpulseSolver<Real>::finish() {
  const auto begin = std::chrono::steady_clock::now();
  this->set_targets({request_.clock}, request_.step, request_.steps);
  view_cloths();
  ImpulseReport found{};
  if (!has_failed(lost_.front())) Step(here_, 0, *this).run(request_.steps, found);
  AdvanceReport result = this->take_report(0, found);
  result.total.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {result};
}

template <class Real>
AdvanceReport ImpulseSolver<Real>::begin_request() {
  this->set_targets({request_.clock}, request_.step, request_.steps);
  view_cloths();
  spent_ = 0;
  return this->take_report(0, {});
}

template <class Real>
void ImpulseSolver<Real>::begin_step(Index step) {
  this->copy_to(step_before_);
  kept_parts_.clear();
  view_cloths();  // the number of parts may be another
  found_ = {};
  step_.emplace(here_, 0, *this);
  step_->begin(step);
}

template <class Real>
void ImpulseSolver<Real>::preview(Index step, int part) {
  step_->preview(step, part);
}

template <class Real>
void ImpulseSolver<Real>::hold_rows() {
  found_.sweeps += hold_lengths(*step_);
}

template <class Real>
bool ImpulseSolver<Real>::hold_rows_again(int most_sweeps) {
  ImpulseControl control = here_.control;
  if (converges()) {
    control.converge = true;
    control.max_sweeps = most_sweeps;
  }
  const int count = sweep(*step_, true, control).count;
  found_.sweeps += count;
  return !converges() || count < most_sweeps;
}

template <class Real>
void ImpulseSolver<Real>::advance(int part) {
  step_->advance(part);
}

template <class Real>
void ImpulseSolver<Real>::end_part() {
  step_->end_part();
  if (!keeps_parts_) return;
  std::vector<Vec3d> positions(this->garments_.front()->mesh.positions.size());
  read_positions(positions.data());
  SubstepRecord& kept = kept_parts_.emplace_back();
  kept.step = part();
  kept.state.positions = as_numbers(positions.data(), positions.size());
}

template <class Real>
bool ImpulseSolver<Real>::judge() {
  return step_->judge(found_);
}

template <class Real>
void ImpulseSolver<Real>::lose_step() {
  found_.status = 3;
  found_.residual = std::numeric_limits<double>::infinity();
}

template <class Real>
void ImpulseSolver<Real>::undo_step() {
  spent_ += found_.sweeps;
  this->put_back(step_before_);
}

template <class Real>
AdvanceReport ImpulseSolver<Real>::end_step() {
  if (found_.status < 2) step_->keep(found_);
  found_.sweeps += std::exchange(spent_, 0);
  return this->take_report(0, found_);
}

template <class Real>
void ImpulseSolver<Real>::read_positions(Vec3d* positions) const {
  const std::size_t nodes = this->garments_.front()->mesh.positions.size();
  if (frozen() || sizeof(Real) == sizeof(float)) {
    std::vector<Vec3d> staging;
    const Vec3d* const own = (frozen() ? this->positions() : positions_).read(0, nodes, staging);
    std::copy(own, own + nodes, positions);
  } else {
    std::vector<Vec4<Real>> staging;
    const Vec4<Real>* const own = relative_positions_.read(0, nodes, staging);
    std::transform(own, own + nodes, positions, [](const Vec4<Real>& x) { return Vec3d{x.x, x.y, x.z}; });
  }
}

template <class Real>
void ImpulseSolver<Real>::read_moves(Vec3d* moves) const {
  const std::size_t nodes = this->garments_.front()->mesh.positions.size();
  if (frozen()) return std::fill(moves, moves + nodes, Vec3d{});
  std::vector<Vec4<Real>> staging;
  const Vec4<Real>* const own = moves_.read(0, nodes, staging);
  std::transform(own, own + nodes, moves, [](const Vec4<Real>& u) { return Vec3d{u.x, u.y, u.z}; });
}

template <class Real>
void ImpulseSolver<Real>::write_moves(const Vec3d* moves) {
  const std::size_t nodes = this->garments_.front()->mesh.positions.size();
  std::vector<Vec4<Real>> staging;
  moves_.write(nodes, staging, [&](Vec4<Real>* own) {
    std::transform(moves, moves + nodes, own, [](const Vec3d& u) {
      const Vec3<Real> v = narrow<Real>(u);
      return Vec4<Real>{v.x, v.y, v.z, Real(0)};
    });
  });
}

template <class Real>
void ImpulseSolver<Real>::add_to_loads(const Vec3d* impulses) {
  if (!this->holds().exist()) return;
  const std::size_t nodes = this->garments_.front()->mesh.positions.size();
  const double inverse_density = static_cast<double>(parameters_.front().inverse_density);
  this->holds().loads().edit(0, nodes, [&](Vec4<Real>* loads) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const Vec3<Real> more = narrow<Real>(inverse_density * impulses[i]);
      loads[i] = {loads[i].x + more.x, loads[i].y + more.y, loads[i].z + more.z, Real(0)};
    }
  });
}

template <class Real>
void ImpulseSolver<Real>::read_inverse_inertia(double* inverse) const {
  const std::size_t nodes = this->garments_.front()->mesh.positions.size();
  if (frozen()) return std::fill(inverse, inverse + nodes, 0.0);
  const double inverse_density = static_cast<double>(parameters_.front().inverse_density);
  std::vector<Real> staging;
  const Real* const own = (this->holds().exist() ? this->holds().inverse_masses() : this->inverse_masses())
                              .read(0, nodes, staging);
  std::transform(own, own + nodes, inverse, [&](Real w) { return inverse_density * static_cast<double>(w); });
}

template <class Real>
std::size_t ImpulseSolver<Real>::work_bytes() const {
  return relative_positions_.bytes() + moves_.bytes() + forces_.bytes() + positions_.bytes() + told_.bytes() +
         last_sweeps_.bytes() + reducer_.memory_bytes();
}

template <class Real>
std::string ImpulseSolver<Real>::solver_name() const {
  return "impulses, colour by colour, " + this->instructions();
}

template class ImpulseSolver<float>;
template class ImpulseSolver<double>;

}  // namespace isocloth
