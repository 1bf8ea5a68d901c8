// A garment as the rest of the library sees it: requests of steps, its state, what is measured of it.
#include "host/projection/projection_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/garment/reach.hpp"
#include "host/garment/state_views.hpp"
#include "host/projection/projection_step.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {
namespace {

template <class Real>
std::vector<double> widened(const Buffer<Real>& values) {
  const std::vector<Real> narrow = values.download();
  return {narrow.begin(), narrow.end()};
}

template <class Real>
std::vector<double> widened(const Buffer<Vec3<Real>>& values) {
  std::vector<double> flat;
  for (const Vec3<Real>& v : values.download()) flat.insert(flat.end(), {v.x, v.y, v.z});
  return flat;
}

template <class Real>
Surroundings<Real> surroundings_of(const Device& device, const Garment& garment, const Scene& scene,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  if (!has_surroundings(scene)) return {};
  return {device, scene, obstacles, {&garment}};
}

template <class Real>
GarmentContacts<Real> contacts_of(const Device& device, const Garment& garment, const Scene& scene,
                                  const GarmentArrays<Real>& arrays) {
  if (!has_surroundings(scene)) return {};
  return {device, garment, arrays, scene};
}

}  // namespace

template <class Real>
ProjectionSolver<Real>::ProjectionSolver(const Device& device, const Garment& garment,
                                         const ResolvedScene& resolved,
                                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                         StepSolver choice)
    : device_(device),
      garment_(garment),
      resolved_(resolved),
      scene_(resolved.scene),
      settings_(scene_.projection),
      arrays_(device, garment, resolved.recipe, false, obstacles != nullptr || scene_.contact.cloth,
              choice == StepSolver::iterative ? FactorPattern::whole : resolved.factor(garment)),
      surroundings_(surroundings_of(device, garment, scene_, obstacles)),
      contacts_(contacts_of(device, garment, scene_, arrays_)),
      host_targets_(narrowed<Real>(start_positions(garment))),
      targets_(device, host_targets_),
      cloth_(device, resolved.integrator, host_targets_, arrays_.rows.row_count(), contacts_.layout(),
             garment.fabric.memory.exists() ? memory_elements * arrays_.rows.row_count() : 0),
      rows_(device, garment, resolved_, arrays_, cloth_),
      system_(device, garment, resolved_, arrays_, cloth_, rows_, contacts_, choice),
      measures_(device, arrays_),
      strain_meter_(device, {&garment}, 1),
      rest_(settings_.sleep),
      reach_(static_cast<Real>(reach(garment, scene_))) {
  if (!garment.initial_velocities.empty())
    cloth_.state.velocities.upload(narrowed<Real>(garment.initial_velocities));
}

template <class Real>
void ProjectionSolver<Real>::refresh() {
  wake();
  // Forces may be the first that surrounds the garment; obstacles have been there from the start.
  if (!contacts_.exist() && has_surroundings(scene_)) {
    surroundings_ = surroundings_of<Real>(device_, garment_, scene_, nullptr);
    contacts_ = contacts_of(device_, garment_, scene_, arrays_);
  }
  reach_ = static_cast<Real>(reach(garment_, scene_));
  if (!garment_.zippers.empty() || !garment_.drawstrings.empty() || has_keyframes(scene_, "sewing."))
    arrays_.set_fasteners(garment_);
  rows_.refresh();
}

template <class Real>
void ProjectionSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps, .undoable = undoable};
  is_undoable_ = false;
}

template <class Real>
std::vector<AdvanceReport> ProjectionSolver<Real>::finish() {
  AdvanceReport result = begin_request();
  for (int n = 0; n < request_.steps && !frozen(); ++n) {
    sleep(may_sleep(n));
    if (is_asleep())
      sleep_through(result);
    else
      note(take_step<Real>(device_, resolved_, {this}, {}, n, request_.step).front(), result);
  }
  return {result};
}

template <class Real>
AdvanceReport ProjectionSolver<Real>::begin_request() {
  if (request_.undoable) {
    cloth_.note();
    lost_before_ = lost_;
    rest_before_ = rest_.time();
    is_undoable_ = true;
  }
  surroundings_.set({request_.clock}, request_.step, request_.steps);
  AdvanceReport none;
  none.total.substeps = 0;
  none.total.status = lost_;
  return none;
}

template <class Real>
void ProjectionSolver<Real>::note(const StepReport& report, AdvanceReport& sum) {
  add_up(report, sum.total);
  if (has_failed(report.status)) lost_ = report.status;
  sum.steps += !frozen();
  if (rest_.exists() && !frozen()) rest_.note(report, fastest(), request_.step);
  if (has_views_) device_.send();
}

template <class Real>
void ProjectionSolver<Real>::sleep_through(AdvanceReport& sum) {
  parts_.clear();
  add_up(RestWatch::report(), sum.total);
  ++sum.steps;
}

template <class Real>
bool ProjectionSolver<Real>::may_sleep(int number) {
  if (!rest_.exists() || frozen()) return false;
  const double from = request_.clock.time(request_.step, number), to = from + request_.step;
  if (is_kinematic(garment_)) return !pins_move(from, to);
  rest_.see(surroundings_.obstacles.version());
  if (!rest_.may_sleep()) return false;
  const bool is_driven = !garment_.forces.empty() || !garment_.force_slopes.empty() ||
                         !garment_.grippers.empty() || !garment_.zippers.empty() ||
                         !garment_.drawstrings.empty();
  const Wind& wind = scene_.wind;
  const bool is_in_gusts = garment_.fabric.drag.exists() && (wind.gusts > 0 || wind.model != WindModel::drag);
  const bool is_eased =
      eases_out(scene_) && from < garment_.time_offset + scene_.contact.initial_penetration_time;
  const bool is_disturbed =
      is_driven || is_in_gusts || is_eased || pins_move(from, to) ||
      surroundings_.obstacles.moves_within(box(number), request_.clock, request_.step, number);
  if (is_disturbed) rest_.wake();
  return !is_disturbed;
}

template <class Real>
bool ProjectionSolver<Real>::pins_move(double from, double to) const {
  return std::ranges::any_of(garment_.pins, [&](const Pin& pin) {
    if (std::holds_alternative<FixedMotion>(pin.motion) && !(pin.ramp > 0)) return false;
    for (std::size_t i = 0; i < pin.nodes.size(); ++i)
      if (!(pin_position(garment_, pin, i, from) == pin_position(garment_, pin, i, to))) return true;
    return false;
  });
}

template <class Real>
double ProjectionSolver<Real>::fastest() const {
  std::vector<Vec3<Real>> staging;
  const Vec3<Real>* const velocities = cloth_.state.velocities.read(staging);
  Real square = 0;
  for (std::size_t i = 0; i < cloth_.state.velocities.size(); ++i)
    square = std::max(square, dot(velocities[i], velocities[i]));
  return std::sqrt(static_cast<double>(square));
}

template <class Real>
BoundingBox ProjectionSolver<Real>::box(int number) const {
  std::vector<Vec3<Real>> staging[2];
  const Vec3<Real>*const positions = cloth_.state.positions.read(staging[0]), *const velocities =
                                                                                  cloth_.state.velocities
                                                                                      .read(staging[1]);
  BoundingBox box;
  const auto add = [&](const Vec3d& x) { box = joined(box, {x, x}); };
  const auto wide = [](const Vec3<Real>& v) {
    return Vec3d{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
  };
  for (std::size_t i = 0; i < cloth_.state.positions.size(); ++i) {
    const Vec3d at = wide(positions[i]);
    add(at);
    add(at + request_.step * wide(velocities[i]));
  }
  for (const Pin& pin : garment_.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i)
      add(pin_position(garment_, pin, i, request_.clock.time(request_.step, number + 1)));
  const double room =
      arrays_.element_size + 2 * garment_.fabric.thickness + scene_.contact.margin + scene_.contact.tolerance;
  return {box.low - Vec3d{room, room, room}, box.high + Vec3d{room, room, room}};
}

template <class Real>
void ProjectionSolver<Real>::undo() {
  if (!is_undoable_) return;
  cloth_.undo();
  lost_ = lost_before_;
  rest_.set_time(rest_before_);
  is_undoable_ = false;
}

template <class Real>
std::vector<Measures> ProjectionSolver<Real>::measure(std::size_t, std::size_t) {
  if (scene_.contact.cloth && is_kinematic(garment_)) return {Measures{}};
  return measures_.measure(rest_view(arrays_), flat(std::as_const(cloth_.state.positions).view()),
                           flat(std::as_const(cloth_.state.velocities).view()), rows_.energies(), {&garment_},
                           0, 1, scene_.gravity);
}

template <class Real>
std::vector<FieldView> ProjectionSolver<Real>::views(GarmentField field) {
  has_views_ = true;
  device_.send();
  const StateArrays<Real> state{flat(cloth_.state.positions.view()).data(),
                                flat(cloth_.state.velocities.view()).data(),
                                cloth_.state.contacts.view().data(),
                                1,
                                1,
                                cloth_.node_count(),
                                contacts_.layout()};
  return state_views(device_, state, field, [this] { return strains(), strain_meter_.view(); });
}

template <class Real>
std::vector<Strain> ProjectionSolver<Real>::strains() {
  Downloads downloads(device_);
  begin_strains(downloads);
  downloads.run();
  return end_strains();
}

template <class Real>
void ProjectionSolver<Real>::begin_strains(Downloads& downloads) {
  if (has_strains() && !rest_.strain())
    strain_meter_.begin(flat(std::as_const(cloth_.state.positions).view()), downloads);
}

template <class Real>
std::vector<Strain> ProjectionSolver<Real>::end_strains() {
  if (!has_strains()) return std::vector<Strain>(1);
  if (rest_.strain()) return {*rest_.strain()};
  std::vector<Strain> found = strain_meter_.end();
  if (is_asleep()) rest_.strain() = found.front();
  return found;
}

template <class Real>
GarmentInfo ProjectionSolver<Real>::info(std::size_t) const {
  return {.node_count = arrays_.node_count(),
          .face_count = arrays_.face_count(),
          .row_count = static_cast<Index>(arrays_.rows.row_count()),
          .free_node_count = arrays_.pattern.free_count(),
          .memory_bytes = arrays_.memory_bytes() + surroundings_.memory_bytes() + contacts_.memory_bytes() +
                          cloth_.bytes() + rows_.memory_bytes() + system_.memory_bytes() +
                          measures_.memory_bytes() + strain_meter_.memory_bytes() + targets_.bytes(),
          .solver = std::string(system_.nodal_solver().name())};
}

template <class Real>
GarmentState ProjectionSolver<Real>::state_of(const ClothState<Real>& cloth) const {
  GarmentState state = cloth_.download(cloth);
  set_lost(lost_, state);
  state.rest_time = rest_.time();
  return state;
}

template <class Real>
void ProjectionSolver<Real>::check(std::size_t, const GarmentState& state) const {
  const ContactStateLayout layout = contacts_.layout();
  check_state(state, garment_.name,
              {.nodes = cloth_.node_count(),
               .rows = cloth_.state.multipliers.size(),
               .contacts = layout.contacts,
               .eased = layout.eased,
               .obstacles = surroundings_.obstacles.size(),
               .holds = layout.holds,
               .grippers = garment_.grippers.size(),
               .has_history = cloth_.has_history(),
               .meets_cloth = scene_.contact.cloth,
               .plastic = cloth_.state.plastic.size()},
              static_cast<double>(std::numeric_limits<Real>::max()));
}

template <class Real>
void ProjectionSolver<Real>::set_state(std::size_t, const GarmentState& state) {
  lost_ = lost_by(state);
  rest_.set_time(state.rest_time);
  cloth_.upload(state);
}

template <class Real>
Inspection ProjectionSolver<Real>::inspect(std::size_t, double t, double h) {
  Inspection result{.masses = widened(arrays_.masses),
                    .bending_begin = arrays_.bending_begin.download(),
                    .bending_columns = arrays_.bending_columns.download(),
                    .bending = widened(arrays_.bending),
                    .predicted = {},
                    .start = {},
                    .row_values = {},
                    .row_d = {},
                    .pairs = arrays_.pattern.pairs,
                    .stiffness = {},
                    .free_nodes = arrays_.pattern.free_nodes,
                    .correction = {},
                    .multipliers = {}};
  surroundings_.set({{.offset = t, .steps = 0}}, h, 1);
  set_targets(t + h);
  cloth_.begin_step();
  const bool predicted =
      begin_substep({.number = 0, .h = h, .done = 0, .parts = 1}) && system_.predict(targets_, 1, true);
  assess(0);
  result.predicted = widened(system_.predicted());
  result.start = widened(cloth_.iterate);
  result.row_values = widened(rows_.values().residuals);
  for (const double s : widened(rows_.values().scales))
    result.row_d.push_back(s > 0 ? 1 / (rows_.eps() * s * s) : 0);
  if (!predicted || !system_.solve(exact_rtol<Real>()))
    throw NumericalError(
        "garment \"" + garment_.name + "\": matrix of the first iteration at t = " + std::to_string(t) +
        " s: found a pivot that is not positive, expected a positive definite matrix; raise projection.eps");
  system_.correct({});
  if (resolved_.is_newton) result.stiffness = widened(system_.stiffness());
  result.correction = widened(system_.correction());
  result.multipliers = widened(cloth_.work.multipliers);
  return result;
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
