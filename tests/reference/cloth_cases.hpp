// Sheets and shapes that the reference is tested on.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/mesh/generators.hpp"
#include "host/reference/reference_cloth.hpp"

namespace isocloth::reference {

inline std::vector<Vec3d> to_vectors(const MatrixX3d& matrix) {
  std::vector<Vec3d> vectors;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    vectors.push_back({matrix(i, 0), matrix(i, 1), matrix(i, 2)});
  return vectors;
}

/// Uniform in [-amplitude, amplitude], the same on every run.
inline MatrixX3d noise(Eigen::Index count, double amplitude, unsigned seed) {
  std::mt19937 generator(seed);
  MatrixX3d values(count, 3);
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values.data()[i] = amplitude * (2 * (static_cast<double>(generator()) / 4294967295.0) - 1);
  return values;
}

inline Eigen::Matrix3d some_rotation() {
  return Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, -2, 0.5).normalized()).toRotationMatrix();
}

struct NamedMesh {
  std::string name;
  Mesh mesh;
};

/// Flat, curved and mixed meshes, none square, none with equal spacing in both directions.
inline std::vector<NamedMesh> assorted_meshes() {
  std::vector<NamedMesh> meshes{
      {"quads", quad_grid(7, 5, 0.9, 0.4)},
      {"parallel triangles", triangle_grid(6, 5, 0.7, 0.4, Diagonals::parallel)},
      {"alternating triangles", triangle_grid(5, 6, 0.7, 0.9, Diagonals::alternating)},
  };
  Mesh mixed = quad_grid(5, 5, 1, 0.8);
  Mesh cut;
  cut.positions = mixed.positions;
  for (Index f = 0; f < mixed.face_count(); ++f) {
    const auto q = mixed.face(f);
    if (f % 3 == 0) {
      cut.add_face({q[0], q[1], q[2]});
      cut.add_face({q[0], q[2], q[3]});
    } else {
      cut.add_face({q[0], q[1], q[2], q[3]});
    }
  }
  meshes.push_back({"mixed", cut});
  Mesh warped = quad_grid(6, 6, 1, 1);
  warped.corner_uvs.clear();
  for (Vec3d& p : warped.positions) p.z = 0.2 * std::sin(3 * p.x) * std::cos(2 * p.y) + 0.1 * p.x * p.y;
  meshes.push_back({"warped quads", warped});
  return meshes;
}

inline Garment garment_of(const Mesh& mesh, const std::vector<Index>& pinned = {}) {
  Garment garment;
  garment.name = "cloth";
  garment.mesh = mesh;
  if (!pinned.empty()) garment.pins.push_back({"pins", pinned, FixedMotion{}});
  return garment;
}

inline ReferenceCloth isometric_cloth(const Garment& garment, const ProjectionSettings& settings = {},
                                      double gravity = 9.8) {
  return ReferenceCloth(garment, find_recipe("coltraro2022"), settings, gravity);
}

inline MatrixX3d pinned_positions(const ReferenceCloth& cloth) {
  const auto& nodes = cloth.pinned_nodes();
  MatrixX3d positions(static_cast<Eigen::Index>(nodes.size()), 3);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    positions.row(static_cast<Eigen::Index>(i)) = cloth.positions().row(nodes[i]);
  return positions;
}

/// Rank with singular values below 1e-9 of the largest counted as zero.
inline Eigen::Index rank_of(const SparseMatrix& matrix) {
  Eigen::BDCSVD<Eigen::MatrixXd> svd{Eigen::MatrixXd(matrix)};
  svd.setThreshold(1e-9);
  return svd.rank();
}

}  // namespace isocloth::reference
