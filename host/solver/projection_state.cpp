// What is read from a garment and written back.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "host/solver/projection_solver.hpp"

namespace isocloth {

template <class Real>
Measures ProjectionSolver<Real>::measure() {
  const Queue& queue = device_.queue();
  Measures m;
  m.residual = evaluate_rows(positions_, 1);
  kernels_.measure_strains(queue,
                           {.residuals = residuals_.view(),
                            .metric_stencils = arrays_.rows.metric.stencil_count(),
                            .first_edge_row = static_cast<Index>(row_count_ - arrays_.rows.edges.size()),
                            .strains = strains_.view()});
  const Reduction<Real> strain = reduce(std::as_const(strains_).view());
  m.strain_max = strain.maximum;
  m.strain_mean = strains_.size() > 0 ? strain.magnitude_sum / static_cast<double>(strains_.size()) : 0;

  kernels_.measure_areas(queue, {.face_begin = arrays_.face_begin.view(),
                                 .face_nodes = arrays_.face_nodes.view(),
                                 .positions = std::as_const(positions_).view(),
                                 .rest_areas = arrays_.rest_areas.view(),
                                 .areas = areas_.view(),
                                 .errors = area_errors_.view()});
  const double rest = reduce(std::as_const(arrays_.rest_areas).view()).sum;
  const double faces = static_cast<double>(areas_.size());
  m.area_error_total = std::fabs(reduce(std::as_const(areas_).view()).sum - rest) / rest;
  const Reduction<Real> error = reduce(std::as_const(area_errors_).view());
  m.area_error_mean = error.magnitude_sum / faces;
  m.area_error_dispersion =
      m.area_error_mean +
      2 * std::sqrt(std::max(0.0, error.square_sum / faces - m.area_error_mean * m.area_error_mean));
  m.area_error_element_max = error.maximum;

  const Fabric& f = garment_.fabric;
  kernels_.measure_nodes(queue, {.metric = implicit_metric(0),
                                 .rho = static_cast<Real>(f.rho),
                                 .weight = static_cast<Real>(f.delta * gravity_),
                                 .kappa = static_cast<Real>(f.kappa),
                                 .positions = std::as_const(positions_).view(),
                                 .velocities = std::as_const(velocities_).view(),
                                 .values = node_values_.view()});
  double sums[8];
  const std::size_t n = arrays_.node_count();
  for (std::size_t i = 0; i < 8; ++i)
    sums[i] = reduce(part(std::as_const(node_values_).view(), i * n, (i + 1) * n)).sum;
  m.kinetic_energy = sums[0];
  m.potential_energy = sums[1];
  m.linear_momentum = {sums[2], sums[3], sums[4]};
  m.angular_momentum = {sums[5], sums[6], sums[7]};
  return m;
}

template <class Real>
GarmentInfo ProjectionSolver<Real>::info() const {
  GarmentInfo info{.node_count = arrays_.node_count(),
                   .face_count = arrays_.face_count(),
                   .row_count = static_cast<Index>(row_count_),
                   .free_node_count = arrays_.pattern.free_count(),
                   .memory_bytes = arrays_.memory_bytes() + nodal_solver_->memory_bytes()};
  if (velocity_solver_) info.memory_bytes += velocity_solver_->memory_bytes();
  auto add = [&info](const auto&... buffers) { ((info.memory_bytes += buffers.bytes()), ...); };
  add(positions_, velocities_, iterate_, predicted_, targets_, multipliers_, residuals_, scales_, stiffness_,
      blocks_, metric_jacobian_, scalar_jacobian_, right_side_, correction_, areas_, area_errors_, strains_,
      node_values_, partials_);
  return info;
}

template <class Real>
GarmentState ProjectionSolver<Real>::state() const {
  GarmentState state;
  for (const Vec3<Real>& p : positions_.download())
    state.positions.insert(state.positions.end(), {p.x, p.y, p.z});
  for (const Vec3<Real>& v : velocities_.download())
    state.velocities.insert(state.velocities.end(), {v.x, v.y, v.z});
  const auto multipliers = multipliers_.download();
  state.multipliers.assign(multipliers.begin(), multipliers.end());
  return state;
}

template <class Real>
void ProjectionSolver<Real>::set_state(const GarmentState& state) {
  const std::size_t nodes = positions_.size();
  auto require = [&](const char* name, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw ShapeError("garment \"" + garment_.name + "\": " + name + ": found " + std::to_string(found) +
                       " values, expected " + std::to_string(expected));
  };
  require("positions", state.positions.size(), 3 * nodes);
  require("velocities", state.velocities.size(), 3 * nodes);
  require("multipliers", state.multipliers.size(), row_count_);
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
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
