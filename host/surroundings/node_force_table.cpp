#include "host/surroundings/node_force_table.hpp"

#include <algorithm>

#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
NodeForceTable<Real>::NodeForceTable(const Device& device, const Scene& scene,
                                     const std::vector<const Garment*>& garments)
    : device_(&device), scene_(&scene) {
  const auto drags = [](const Garment* garment) { return garment->fabric.drag.exists(); };
  if (std::none_of(garments.begin(), garments.end(), drags)) return;
  garments_ = garments;
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
  if (garments_.empty()) return;
  drag_.set(*device_, garments_, clocks, h, steps, [&](const Garment& garment, double t) -> DragView<Real> {
    const Drag& drag = garment.fabric.drag;
    return {.normal = static_cast<Real>(drag.normal),
            .tangential = static_cast<Real>(drag.tangential),
            .wind = narrow<Real>(wind_velocity(scene_->wind, scene_->seed, t))};
  });
}

template <class Real>
FacesView NodeForceTable<Real>::faces(const GarmentArrays<Real>& arrays) const {
  if (garments_.empty()) return {};
  return {.face_begin = arrays.face_begin.view(),
          .face_nodes = arrays.face_nodes.view(),
          .node_face_begin = node_face_begin_.view(),
          .node_faces = node_faces_.view()};
}

template class NodeForceTable<float>;
template class NodeForceTable<double>;

}  // namespace isocloth
