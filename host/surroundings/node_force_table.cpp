#include "host/surroundings/node_force_table.hpp"

#include <algorithm>
#include <utility>

#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
NodeForceTable<Real>::NodeForceTable(const Device& device, const Scene& scene,
                                     const std::vector<const Garment*>& garments)
    : device_(&device), scene_(&scene), garments_(garments) {
  act_on_faces_ = std::any_of(garments.begin(), garments.end(), [](const Garment* garment) {
    return garment->fabric.drag.exists() || garment->pressure != 0;
  });
  if (!act_on_faces_) return;
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
void NodeForceTable<Real>::set(const std::vector<Clock>& clocks, double h, int steps) {
  write_loads();
  const auto acts = [](const Garment* garment) { return has_node_forces(*garment); };
  if (std::any_of(garments_.begin(), garments_.end(), acts))
    forces_.set(*device_, clocks, h, steps,
                [&](std::size_t member, double t) { return forces_at(member, t); });
  else
    forces_ = {};
}

template <class Real>
NodeForces<Real> NodeForceTable<Real>::forces_at(std::size_t member, double t) const {
  const Garment& garment = *garments_[member];
  const Drag& drag = garment.fabric.drag;
  const double half_density = 0.5 * scene_->wind.density;
  return {.drag = {.normal = static_cast<Real>(drag.normal),
                   .tangential = static_cast<Real>(drag.tangential),
                   .wind = drag.exists() ? narrow<Real>(wind_velocity(scene_->wind, scene_->seed, t))
                                         : Vec3<Real>{},
                   .normal_square = static_cast<Real>(half_density * drag.normal_coefficient),
                   .tangential_square = static_cast<Real>(half_density * drag.tangential_coefficient)},
          .load = load_on(member),
          .pressure = {static_cast<Real>(garment.pressure)}};
}

template <class Real>
LoadView<Real> NodeForceTable<Real>::load_on(std::size_t member) const {
  const Garment& garment = *garments_[member];
  if (garment.forces.empty()) return {};
  const std::size_t nodes = garment.mesh.positions.size();
  const auto own = [&](auto all) { return slice(all, member * nodes, (member + 1) * nodes); };
  LoadView<Real> load{.forces = own(loads_.view())};
  if (!garment.force_slopes.empty()) load.slopes = own(slopes_.view());
  return load;
}

template <class Real>
void NodeForceTable<Real>::write_loads() {
  if (std::all_of(garments_.begin(), garments_.end(),
                  [](const Garment* garment) { return garment->forces.empty(); }))
    return;
  const std::size_t nodes = garments_.front()->mesh.positions.size();
  if (loads_.size() == 0) loads_ = {*device_, garments_.size() * nodes};
  loads_.write(staging_, [&](Vec3<Real>* to) {
    for (const Garment* garment : garments_) {
      std::transform(garment->forces.begin(), garment->forces.end(), to,
                     [](const Vec3d& force) { return narrow<Real>(force); });
      to += nodes;
    }
  });
  write_slopes(nodes);
}

template <class Real>
void NodeForceTable<Real>::write_slopes(std::size_t nodes) {
  if (std::all_of(garments_.begin(), garments_.end(),
                  [](const Garment* garment) { return garment->force_slopes.empty(); }))
    return;
  if (slopes_.size() == 0) slopes_ = {*device_, garments_.size() * nodes};
  slopes_.write(staged_slopes_, [&](LoadSlope<Real>* to) {
    for (const Garment* garment : garments_) {
      std::transform(garment->force_slopes.begin(), garment->force_slopes.end(), to,
                     [](const ForceSlope& slope) {
                       LoadSlope<Real> own{.stiffness = {},
                                           .damping = {},
                                           .position = slope.position,
                                           .velocity = narrow<Real>(slope.velocity)};
                       for (int i = 0; i < 6; ++i) {
                         own.stiffness[i] = static_cast<Real>(slope.stiffness[i]);
                         own.damping[i] = static_cast<Real>(slope.damping[i]);
                       }
                       return own;
                     });
      to += nodes;
    }
  });
}

template <class Real>
FacesView NodeForceTable<Real>::faces(const GarmentArrays<Real>& arrays) const {
  if (!act_on_faces_) return {};
  return {.face_begin = arrays.face_begin.view(),
          .face_nodes = arrays.face_nodes.view(),
          .node_face_begin = node_face_begin_.view(),
          .node_faces = node_faces_.view()};
}

template class NodeForceTable<float>;
template class NodeForceTable<double>;

}  // namespace isocloth
