#include "engine/rows/large_angles.hpp"

#include "engine/mesh/material_frame.hpp"

namespace isocloth {

std::vector<double> LargeAngleRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                              const Fabric& fabric) {
  const std::vector<HingeOfEdge> all = hinges_of(setup.mesh);
  const std::vector<Vec3d> warps = face_warp_directions(setup.mesh, setup.topology);
  const double root = std::sqrt(fabric.bending_ratio());
  std::vector<double> found;
  for (const Index place : places) {
    const HingeOfEdge& hinge = all[static_cast<std::size_t>(place)];
    const auto at = [&](std::size_t k) {
      return setup.mesh.positions[static_cast<std::size_t>(hinge.nodes[k])];
    };
    const Vec3d along = normalized(at(1) - at(0)), normal = normalized(cross(along, at(2) - at(0))),
                across = cross(along, normal), of_face = warps[static_cast<std::size_t>(hinge.faces[0])],
                warp = normalized(of_face - dot(of_face, normal) * normal);
    const double cosine = dot(across, warp), square = cosine * cosine, part = square + root * (1 - square);
    found.push_back(2.0 / 3 * fabric.bending_stiffness * part * part * HingeShape(setup, hinge).stiffness());
    if (!setup.mesh.face_factors.empty()) found.back() *= HingeShape::bending_factor(setup, hinge);
  }
  return found;
}

}  // namespace isocloth
