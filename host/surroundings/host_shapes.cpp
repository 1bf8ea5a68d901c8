#include "host/surroundings/host_shapes.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/contact/signed_distance.hpp"

namespace isocloth {
namespace {

template <class Real>
Vec3d widen(const Vec3<Real>& v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

}  // namespace

template <class Real>
HostShapes::HostShapes(const ObstacleShapes<Real>& shapes) {
  for (const Buffer<float>& grid : shapes.grids) grids_.push_back(grid.download());
  for (const Buffer<Index>& blocks : shapes.blocks) blocks_.push_back(blocks.download());
  std::size_t next_grid = 0;
  for (const ShapeView<Real>& found : shapes.shapes.download()) {
    ShapeView<double> view;
    view.kind = found.kind;
    view.half = widen(found.half);
    view.rounding = static_cast<double>(found.rounding);
    view.reach = static_cast<double>(found.reach);
    view.origin = widen(found.origin);
    view.cell = static_cast<double>(found.cell);
    std::copy(std::begin(found.nodes), std::end(found.nodes), std::begin(view.nodes));
    if (view.kind == ShapeKind::grid) {
      view.distances = grids_[next_grid];
      view.blocks = blocks_[next_grid++];
    }
    views.push_back(view);
  }
}

template HostShapes::HostShapes(const ObstacleShapes<float>&);
template HostShapes::HostShapes(const ObstacleShapes<double>&);

Vec3d HostShapes::normal(std::size_t o, const Vec3d& x) const {
  return cpu::signed_distance(views[o], x).normal;
}

}  // namespace isocloth
