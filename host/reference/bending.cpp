#include "host/reference/bending.hpp"

#include <vector>

namespace isocloth::reference {

SparseMatrix laplace_stiffness(const Mesh& mesh) {
  const auto points = surface_points(mesh);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (const SurfacePoint& point : points[f]) {
      const Eigen::MatrixXd local = point.area * point.gradients * point.gradients.transpose();
      for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t j = 0; j < nodes.size(); ++j)
          entries.emplace_back(nodes[i], nodes[j],
                               local(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
  }
  SparseMatrix stiffness(mesh.node_count(), mesh.node_count());
  stiffness.setFromTriplets(entries.begin(), entries.end());
  return stiffness;
}

SparseMatrix bending_matrix(const Mesh& mesh, const Topology& topology) {
  const VectorXd areas = lumped_areas(mesh, surface_points(mesh));
  // L^T M L = S^T M^-1 S with the inverse mass of boundary nodes set to zero.
  VectorXd interior_inverse = VectorXd::Zero(mesh.node_count());
  for (const Index node : topology.interior_nodes) interior_inverse[node] = 1 / areas[node];
  const SparseMatrix stiffness = laplace_stiffness(mesh);
  return SparseMatrix(stiffness.transpose()) * interior_inverse.asDiagonal() * stiffness;
}

}  // namespace isocloth::reference
