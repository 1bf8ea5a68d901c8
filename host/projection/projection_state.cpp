// What is read from a garment and written back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "host/garment/contact_state.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {

template <class Real>
std::vector<Measures> ProjectionSolver<Real>::measure(std::size_t, std::size_t) {
  return measures_.measure(rest_view(arrays_), flat(std::as_const(state_.positions).view()),
                           flat(std::as_const(state_.velocities).view()), {&garment_}, 0, 1, scene_.gravity);
}

template <class Real>
std::vector<std::vector<Vec3d>> ProjectionSolver<Real>::positions() const {
  std::vector<Vec3d> result;
  for (const Vec3<Real>& x : state_.positions.download())
    result.push_back({static_cast<double>(x.x), static_cast<double>(x.y), static_cast<double>(x.z)});
  return {result};
}

template <class Real>
std::vector<Strain> ProjectionSolver<Real>::strains() {
  return strain_meter_.measure(flat(std::as_const(state_.positions).view()));
}

template <class Real>
GarmentInfo ProjectionSolver<Real>::info(std::size_t) const {
  GarmentInfo info{.node_count = arrays_.node_count(),
                   .face_count = arrays_.face_count(),
                   .row_count = static_cast<Index>(rows_.row_count()),
                   .free_node_count = arrays_.pattern.free_count(),
                   .memory_bytes = arrays_.memory_bytes() + nodal_solver_->memory_bytes() +
                                   rows_.memory_bytes() + measures_.memory_bytes() +
                                   strain_meter_.memory_bytes() + contacts_.memory_bytes() +
                                   surroundings_.memory_bytes(),
                   .solver = std::string(nodal_solver_->name())};
  auto add = [&info](const auto&... buffers) { ((info.memory_bytes += buffers.bytes()), ...); };
  add(state_, work_, before_, row_stiffness_, mismatches_, iterate_, predicted_, targets_, momentum_,
      stiffness_, blocks_, right_side_, correction_);
  return info;
}

template <class Real>
GarmentState ProjectionSolver<Real>::state(std::size_t) const {
  GarmentState state;
  for (const Vec3<Real>& p : state_.positions.download())
    state.positions.insert(state.positions.end(), {p.x, p.y, p.z});
  for (const Vec3<Real>& v : state_.velocities.download())
    state.velocities.insert(state.velocities.end(), {v.x, v.y, v.z});
  const auto multipliers = state_.multipliers.download(), contacts = state_.contacts.download();
  state.multipliers.assign(multipliers.begin(), multipliers.end());
  set_contacts({contacts.begin(), contacts.end()}, contacts_.layout(), state);
  state.frozen = frozen();
  state.diverged = lost_ == StepStatus::diverged;
  return state;
}

template <class Real>
void ProjectionSolver<Real>::set_state(std::size_t, const GarmentState& state) {
  const std::size_t nodes = state_.positions.size();
  const ContactStateLayout layout = contacts_.layout();
  check_state(state, garment_.name,
              {.nodes = nodes,
               .rows = rows_.row_count(),
               .contacts = layout.contacts,
               .obstacles = surroundings_.obstacles.size(),
               .holds = layout.holds,
               .grippers = garment_.grippers.size()},
              static_cast<double>(std::numeric_limits<Real>::max()));
  lost_ = lost_by(state);
  auto vectors = [nodes](const std::vector<double>& flat) {
    std::vector<Vec3<Real>> result(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
      result[i] = {static_cast<Real>(flat[3 * i]), static_cast<Real>(flat[3 * i + 1]),
                   static_cast<Real>(flat[3 * i + 2])};
    return result;
  };
  const auto narrow = [](const std::vector<double>& all) {
    return std::vector<Real>(all.begin(), all.end());
  };
  state_.positions.upload(vectors(state.positions));
  state_.velocities.upload(vectors(state.velocities));
  state_.multipliers.upload(narrow(state.multipliers));
  state_.contacts.upload(narrow(flat_contacts(state, layout)));
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
