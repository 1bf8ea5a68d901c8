#include "host/report/element_stresses.hpp"

#include "engine/core/flat_vectors.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/rows/membrane.hpp"

namespace isocloth {
namespace {

Mesh rest_mesh(const ReportGarment& garment, const double* rest) {
  Mesh mesh;
  for (Index node = garment.node_begin; node < garment.node_begin + garment.node_count; ++node)
    mesh.positions.push_back(vector_at(rest, static_cast<std::size_t>(node)));
  mesh.face_begin = garment.face_begin;
  mesh.face_nodes = garment.face_nodes;
  mesh.corner_uvs = garment.corner_uvs;
  return mesh;
}

}  // namespace

ElementStresses::ElementStresses(const ReportData& data, std::size_t garment_count) {
  for (std::size_t g = 0; g < garment_count; ++g) {
    const ReportGarment& garment = data.garments[g];
    const std::size_t first_face = face_count_;
    face_count_ += garment.face_begin.size() - 1;
    if (!garment.law) continue;
    const Mesh mesh = rest_mesh(garment, data.rest_positions.data());
    const std::vector<Vec3d> warps = face_warp_directions(mesh, build_topology(mesh));
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const auto face = mesh.face(f);
      const int size = static_cast<int>(face.size()), count = membrane_point_count(size);
      Vec3d corners[4];
      for (std::size_t i = 0; i < face.size(); ++i)
        corners[i] = mesh.positions[static_cast<std::size_t>(face[i])];
      const std::size_t first_point = points_.size();
      double area = 0;
      for (int q = 0; q < count; ++q) {
        const auto at = membrane_point<double>(size, q);
        const auto surface = surface_point(at, corners, size);
        if (!(surface.area > 0)) continue;  // no strain without a rest shape
        const auto gradient = material_gradient(at, surface, warps[static_cast<std::size_t>(f)], size);
        Point p{first_face + static_cast<std::size_t>(f), laws_.size(), size, {}, {}, {}, surface.area};
        for (std::size_t i = 0; i < face.size(); ++i) {
          p.nodes[i] = garment.node_begin + face[i];
          p.warp[i] = gradient.warp[i];
          p.weft[i] = gradient.weft[i];
        }
        area += surface.area;
        points_.push_back(p);
      }
      for (std::size_t i = first_point; i < points_.size(); ++i) points_[i].part /= area;
    }
    laws_.push_back(*garment.law);
  }
}

std::vector<MembraneStress> ElementStresses::of(const double* positions) const {
  std::vector<MembraneStress> stresses(face_count_);
  for (const Point& p : points_) {
    const Vec3d first = vector_at(positions, static_cast<std::size_t>(p.nodes[0]));
    Vec3d along_warp, along_weft;
    for (std::size_t i = 1; i < static_cast<std::size_t>(p.size);
         ++i) {  // relative: exact far from the origin
      const Vec3d from_first = vector_at(positions, static_cast<std::size_t>(p.nodes[i])) - first;
      along_warp += p.warp[i] * from_first;
      along_weft += p.weft[i] * from_first;
    }
    const MembraneStress stress = laws_[p.garment].stress(along_warp, along_weft);
    MembraneStress& of_face = stresses[p.face];
    of_face.warp += p.part * stress.warp;
    of_face.weft += p.part * stress.weft;
    of_face.shear += p.part * stress.shear;
  }
  return stresses;
}

}  // namespace isocloth
