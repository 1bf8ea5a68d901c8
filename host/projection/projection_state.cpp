// What is read from a garment and written back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "host/projection/projection_solver.hpp"

namespace isocloth {

template <class Real>
std::vector<Measures> ProjectionSolver<Real>::measure(std::size_t, std::size_t) {
  return measures_.measure(rest_view(arrays_), flat(std::as_const(positions_).view()),
                           flat(std::as_const(velocities_).view()), {&garment_}, 0, 1, scene_.gravity);
}

template <class Real>
std::vector<std::vector<Vec3d>> ProjectionSolver<Real>::positions() const {
  std::vector<Vec3d> result;
  for (const Vec3<Real>& x : positions_.download())
    result.push_back({static_cast<double>(x.x), static_cast<double>(x.y), static_cast<double>(x.z)});
  return {result};
}

template <class Real>
std::vector<Strain> ProjectionSolver<Real>::strains() {
  return strain_meter_.measure(flat(std::as_const(positions_).view()));
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
                                   obstacles_.memory_bytes() + grippers_.memory_bytes() + air_.memory_bytes(),
                   .solver = std::string(nodal_solver_->name())};
  auto add = [&info](const auto&... buffers) { ((info.memory_bytes += buffers.bytes()), ...); };
  add(positions_, velocities_, iterate_, predicted_, targets_, momentum_, multipliers_, stiffness_, blocks_,
      right_side_, correction_);
  return info;
}

template <class Real>
GarmentState ProjectionSolver<Real>::state(std::size_t) const {
  GarmentState state;
  for (const Vec3<Real>& p : positions_.download())
    state.positions.insert(state.positions.end(), {p.x, p.y, p.z});
  for (const Vec3<Real>& v : velocities_.download())
    state.velocities.insert(state.velocities.end(), {v.x, v.y, v.z});
  const auto multipliers = multipliers_.download();
  state.multipliers.assign(multipliers.begin(), multipliers.end());
  state.contacts = contacts_.contacts();
  state.holds = contacts_.holds();
  state.frozen = frozen();
  state.diverged = lost_ == StepStatus::diverged;
  return state;
}

template <class Real>
void ProjectionSolver<Real>::set_state(std::size_t, const GarmentState& state) {
  const std::size_t nodes = positions_.size();
  check_state(state, garment_.name,
              {.nodes = nodes,
               .rows = rows_.row_count(),
               .contacts = contacts_.contact_count(),
               .obstacles = obstacles_.size(),
               .holds = contacts_.hold_count(),
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
  positions_.upload(vectors(state.positions));
  velocities_.upload(vectors(state.velocities));
  multipliers_.upload(std::vector<Real>(state.multipliers.begin(), state.multipliers.end()));
  contacts_.set_state(state.contacts, state.holds);
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
