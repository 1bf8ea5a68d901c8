#include "host/surroundings/node_force_table.hpp"

#include <algorithm>
#include <utility>

#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
NodeForceTable<Real>::NodeForceTable(const Device& device, const Scene& scene,
                                     const std::vector<const Garment*>& garments)
    : device_(&device), scene_(&scene), garments_(garments) {
  has_drag_ = std::any_of(garments.begin(), garments.end(),
                          [](const Garment* garment) { return garment->fabric.drag.exists(); });
  has_pressure_ = std::any_of(garments.begin(), garments.end(),
                              [](const Garment* garment) { return garment->pressure != 0; });
  if (!has_drag_ && !has_pressure_) return;
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
  set_loads(clocks, h, steps);
  if (has_pressure_)
    pressure_.set(*device_, clocks, h, steps, [&](std::size_t member, double) -> PressureView<Real> {
      return {static_cast<Real>(garments_[member]->pressure)};
    });
  if (!has_drag_) return;
  drag_.set(*device_, clocks, h, steps, [&](std::size_t member, double t) -> DragView<Real> {
    const Drag& drag = garments_[member]->fabric.drag;
    return {.normal = static_cast<Real>(drag.normal),
            .tangential = static_cast<Real>(drag.tangential),
            .wind = narrow<Real>(wind_velocity(scene_->wind, scene_->seed, t))};
  });
}

template <class Real>
void NodeForceTable<Real>::set_loads(const std::vector<Clock>& clocks, double h, int steps) {
  const auto is_loaded = [](const Garment* garment) { return !garment->forces.empty(); };
  if (std::none_of(garments_.begin(), garments_.end(), is_loaded)) {
    load_ = {};
    return;
  }
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
  load_.set(*device_, clocks, h, steps, [&](std::size_t member, double) -> LoadView<Real> {
    if (!is_loaded(garments_[member])) return {};
    const auto own = [&](auto all) { return slice(all, member * nodes, (member + 1) * nodes); };
    LoadView<Real> load{.forces = own(std::as_const(loads_).view())};
    if (!garments_[member]->force_slopes.empty()) load.slopes = own(std::as_const(slopes_).view());
    return load;
  });
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
  if (!has_drag_ && !has_pressure_) return {};
  return {.face_begin = arrays.face_begin.view(),
          .face_nodes = arrays.face_nodes.view(),
          .node_face_begin = node_face_begin_.view(),
          .node_faces = node_faces_.view()};
}

template class NodeForceTable<float>;
template class NodeForceTable<double>;

}  // namespace isocloth
