#include "host/reference/membrane_rows.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <utility>

#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/triangle_pairs.hpp"

namespace isocloth::reference {

std::vector<std::array<PairedTriangle, 2>> paired_triangles(const Mesh& mesh, const Topology& topology,
                                                            const std::vector<char>& is_free) {
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  std::vector<char> is_left_out;
  for (Index f = 0; f < mesh.face_count(); ++f) is_left_out.push_back(!has_free_corner(mesh, f, is_free));
  const MatrixX3d rest = to_matrix(mesh.positions);
  std::vector<std::array<PairedTriangle, 2>> all;
  for (const TrianglePair& pair : triangle_pairs(mesh, topology, is_left_out)) {
    std::array<PairedTriangle, 2> both;
    for (int t = 0; t < 2; ++t) {
      const auto nodes = pair.triangle(t);
      MatrixX3d corners(3, 3);
      for (int i = 0; i < 3; ++i) corners.row(i) = rest.row(nodes[static_cast<std::size_t>(i)]);
      const SurfacePoint at = surface_point(centre_point(3), corners);
      const Vec3d& of_face = warps[static_cast<std::size_t>(pair.faces[static_cast<std::size_t>(t)])];
      const Eigen::Vector3d direction(of_face.x, of_face.y, of_face.z),
          u = (direction - at.normal.dot(direction) * at.normal).normalized();
      const std::vector<Index> stencil(nodes.begin(), nodes.end());
      both[static_cast<std::size_t>(t)] = {pair.is_single ? at.area / 2 : at.area,
                                           {stencil, at.gradients * u},
                                           {stencil, at.gradients * at.normal.cross(u)}};
      if (!mesh.face_factors.empty())
        both[static_cast<std::size_t>(t)].factors =
            mesh.face_factors[static_cast<std::size_t>(pair.faces[static_cast<std::size_t>(t)])];
    }
    all.push_back(both);
  }
  return all;
}

VectorXd membrane_stiffness(const std::vector<std::array<PairedTriangle, 2>>& pairs, const Fabric& fabric) {
  const auto threads = [](double k) { return std::min(k, std::max(1.0, 5e-4 * k)); };
  std::vector<double> all;
  for (const auto& [first, second] : pairs) {
    const double mean = first.area + second.area, difference = first.area * second.area / mean;
    const auto of_pair = [&, &first = first, &second = second](double FabricFactors::*factor) {
      if (first.factors == second.factors) return first.factors.*factor;
      return (first.area * first.factors.*factor + second.area * second.factors.*factor) / mean;
    };
    // What couples warp and weft is that of the garment: nu^2 follows the stiffness along warp over that
    // along weft.
    const double stretch = of_pair(&FabricFactors::stretch), across = of_pair(&FabricFactors::weft_stretch),
                 of_warp = stretch * fabric.stretch_stiffness, of_weft = across * fabric.weft_stiffness(),
                 of_shear = of_pair(&FabricFactors::shear) * fabric.shear_stiffness,
                 warp = 1 / (4 * (1 - fabric.poisson_ratio * fabric.poisson_ratio * stretch / across));
    for (const double k :
         {mean * warp * of_warp, mean * of_shear, mean / 4 * of_weft, difference * warp * threads(of_warp),
          difference * 0.03 * of_shear, difference / 4 * threads(of_weft)})
      all.push_back(k);
  }
  return Eigen::Map<const VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

QuadraticRows membrane_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free,
                            double coupling, bool with_edges) {
  RowBuilder builder;
  QuadraticRows rows;
  for (const auto& both : paired_triangles(mesh, topology, is_free)) {
    const double area = both[0].area + both[1].area;
    const std::array<double, 2> of_mean{both[0].area / area, both[1].area / area}, of_difference{1, -1};
    for (const auto& [weights, rest] : {std::pair{of_mean, 1.0}, {of_difference, 0.0}}) {
      const auto add = [&](double factor, Form PairedTriangle::*left, Form PairedTriangle::*right) {
        for (std::size_t t = 0; t < 2; ++t)
          builder.add_sample(factor * weights[t], both[t].*left, both[t].*right);
      };
      builder.add_row(rest * (1 + coupling));
      add(1, &PairedTriangle::warp, &PairedTriangle::warp);
      if (coupling > 0) add(coupling, &PairedTriangle::weft, &PairedTriangle::weft);
      builder.add_row(0);
      add(1, &PairedTriangle::warp, &PairedTriangle::weft);
      builder.add_row(rest);
      add(1, &PairedTriangle::weft, &PairedTriangle::weft);
    }
  }
  if (with_edges) add_edge_rows(builder, topology.edges, to_matrix(mesh.positions), is_free, rows);
  builder.finish(mesh.node_count(), rows);
  return rows;
}

}  // namespace isocloth::reference
