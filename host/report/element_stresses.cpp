#include "host/report/element_stresses.hpp"

#include "engine/core/flat_vectors.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/rows/face_fabric.hpp"
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
  mesh.face_factors = garment.face_factors;
  return mesh;
}

std::vector<char> pinned_nodes(const ReportGarment& garment) {
  std::vector<char> is_pinned(static_cast<std::size_t>(garment.node_count), 0);
  for (const Index node : garment.pinned_nodes) is_pinned[static_cast<std::size_t>(node)] = 1;
  return is_pinned;
}

}  // namespace

ElementStresses::ElementStresses(const ReportData& data, std::size_t garment_count) {
  for (std::size_t g = 0; g < garment_count; ++g) {
    const ReportGarment& garment = data.garments[g];
    const std::size_t first_face = face_count_;
    face_count_ += garment.face_begin.size() - 1;
    if (!garment.law) continue;
    const Mesh mesh = rest_mesh(garment, data.rest_positions.data());
    const Topology topology = build_topology(mesh);
    const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
    for (const TrianglePair& of_mesh : all_pairs(mesh, topology, pinned_nodes(garment))) {
      const auto [first, second] = areas_of(mesh, of_mesh);
      if (!(first > 0 && second > 0)) continue;  // no strain without a rest shape
      Pair pair{{}, laws_.size(), {}, first / (first + second)};
      for (std::size_t t = 0; t < 2; ++t) {
        const auto nodes = of_mesh.triangle(static_cast<int>(t));
        pair.faces[t] = first_face + static_cast<std::size_t>(of_mesh.faces[t]);
        Vec3d corners[3];
        for (std::size_t i = 0; i < 3; ++i) corners[i] = mesh.positions[static_cast<std::size_t>(nodes[i])];
        const auto at = strain_point<double>(3, 0);
        const auto gradient = material_gradient(at, surface_point(at, corners, 3),
                                                warps[static_cast<std::size_t>(of_mesh.faces[t])], 3);
        Triangle& triangle = pair.triangles[t];
        for (std::size_t i = 0; i < 3; ++i) {
          triangle.nodes[i] = garment.node_begin + nodes[i];
          triangle.warp[i] = gradient.warp[i];
          triangle.weft[i] = gradient.weft[i];
        }
      }
      if (!mesh.face_factors.empty())
        laws_.push_back(
            garment.law->with(mean_factors(mesh, {{of_mesh.faces[0], first}, {of_mesh.faces[1], second}})));
      pairs_.push_back(pair);
    }
    laws_.push_back(*garment.law);
  }
}

MembraneLaw::Gradient ElementStresses::Triangle::gradient(const double* positions) const {
  const Vec3d first = vector_at(positions, static_cast<std::size_t>(nodes[0]));
  MembraneLaw::Gradient f;
  for (std::size_t i = 1; i < 3; ++i) {  // relative: exact far from the origin
    const Vec3d from_first = vector_at(positions, static_cast<std::size_t>(nodes[i])) - first;
    f.along_warp += warp[i] * from_first;
    f.along_weft += weft[i] * from_first;
  }
  return f;
}

std::vector<MembraneStress> ElementStresses::of(const double* positions) const {
  std::vector<MembraneStress> stresses(face_count_);
  for (const Pair& p : pairs_) {
    const MembraneStress stress =
        laws_[p.law].stress(p.triangles[0].gradient(positions), p.triangles[1].gradient(positions), p.share);
    for (const std::size_t face : p.faces) stresses[face] = stress;
  }
  return stresses;
}

}  // namespace isocloth
