#include "host/surroundings/air_table.hpp"

#include <algorithm>

namespace isocloth {

template <class Real>
AirTable<Real>::AirTable(const Device& device, const Scene& scene,
                         const std::vector<const Garment*>& garments)
    : device_(&device), scene_(&scene) {
  const auto drags = [](const Garment* garment) { return garment->fabric.drag.exists(); };
  if (std::none_of(garments.begin(), garments.end(), drags)) return;
  garments_ = garments;
  device_coefficients_ = {device, 2 * garments.size()};
  const Mesh& mesh = garments.front()->mesh;
  std::vector<std::vector<Index>> faces(static_cast<std::size_t>(mesh.node_count()));
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) faces[static_cast<std::size_t>(node)].push_back(f);
  std::vector<Index> begin{0}, flat;
  for (const std::vector<Index>& own : faces) {
    flat.insert(flat.end(), own.begin(), own.end());
    begin.push_back(static_cast<Index>(flat.size()));
  }
  node_face_begin_ = {device, begin};
  node_faces_ = {device, flat};
}

template <class Real>
void AirTable<Real>::set_winds(const std::vector<Clock>& clocks, double h, int steps) {
  steps_ = steps;
  if (!exists()) return;
  coefficients_.clear();
  for (const Garment* garment : garments_)
    for (const double q : {garment->fabric.drag.normal, garment->fabric.drag.tangential})
      coefficients_.push_back(static_cast<Real>(q));
  winds_.clear();
  for (const Clock& clock : clocks)
    for (int n = 0; n < steps; ++n) {
      const Vec3d u = wind_velocity(scene_->wind, scene_->seed, clock.time(h, n + 1));
      for (const double x : {u.x, u.y, u.z}) winds_.push_back(static_cast<Real>(x));
    }
  if (device_winds_.size() < winds_.size()) device_winds_ = {*device_, winds_.size()};
  std::vector<Real> staging;
  device_coefficients_.write(coefficients_.size(), staging,
                             [&](Real* to) { std::copy(coefficients_.begin(), coefficients_.end(), to); });
  device_winds_.write(winds_.size(), staging, [&](Real* to) { std::copy(winds_.begin(), winds_.end(), to); });
}

template <class Real>
DragView<Real> AirTable<Real>::view(std::size_t member, int step) const {
  if (!exists()) return {};
  const Real* u = &winds_[(member * static_cast<std::size_t>(steps_) + static_cast<std::size_t>(step)) * 3];
  return {.normal = coefficients_[2 * member],
          .tangential = coefficients_[2 * member + 1],
          .wind = {u[0], u[1], u[2]}};
}

template <class Real>
DragSets<Real> AirTable<Real>::sets() const {
  if (!exists()) return {};
  return {.coefficients = device_coefficients_.view(), .winds = device_winds_.view(), .steps = steps_};
}

template <class Real>
FacesView AirTable<Real>::faces(const GarmentArrays<Real>& arrays) const {
  if (!exists()) return {};
  return {.face_begin = arrays.face_begin.view(),
          .face_nodes = arrays.face_nodes.view(),
          .node_face_begin = node_face_begin_.view(),
          .node_faces = node_faces_.view()};
}

template <class Real>
std::size_t AirTable<Real>::memory_bytes() const {
  return device_coefficients_.bytes() + device_winds_.bytes() + node_face_begin_.bytes() +
         node_faces_.bytes();
}

template class AirTable<float>;
template class AirTable<double>;

}  // namespace isocloth
