// Gauss points of the rest surface and what is integrated with them.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth::reference {

using SparseMatrix = Eigen::SparseMatrix<double>;
using Eigen::MatrixX3d;
using Eigen::VectorXd;

/// Vectors of the mesh as rows of a matrix [node_count, 3].
MatrixX3d to_matrix(const std::vector<Vec3d>& vectors);

/// A Gauss point of the reference element (Coltraro 2022, section 4).
struct ReferencePoint {
  double weight = 0;
  VectorXd values;               ///< N_i, shape [3 or 4]
  Eigen::MatrixX2d derivatives;  ///< dN_i/dxi, dN_i/deta, shape [3 or 4, 2]
};

/// full: 3 x 3 Gauss on the bilinear quad [-1, 1]^2, the 3 interior points (2/3, 1/6, 1/6) on the linear
/// triangle. strain: 2 x 2 on the quad, xi in the outer loop, the middle of the triangle.
enum class Quadrature { full, strain };

/// Throws MeshError for another face size.
std::vector<ReferencePoint> reference_points(Index face_size, Quadrature rule = Quadrature::full);

/// The middle of an element; a point on the edge from a corner to the next, t of the way, of weight 0.
ReferencePoint centre_point(Index face_size);
ReferencePoint edge_point(Index face_size, Index corner, double t);

/// A Gauss point on the rest surface.
struct SurfacePoint {
  double area = 0;         ///< dA = weight |x_xi cross x_eta| [m^2]
  Eigen::Vector3d normal;  ///< unit vector along x_xi cross x_eta
  VectorXd values;         ///< N_i, shape [3 or 4]
  MatrixX3d
      gradients;  ///< surface gradients [x_xi x_eta] g^-1 [dN_i/dxi; dN_i/deta] [1/m], shape [3 or 4, 3]
};

/// Positions of the corners of a face, shape [3 or 4, 3].
MatrixX3d corner_positions(const Mesh& mesh, Index face, const MatrixX3d& positions);
SurfacePoint surface_point(const ReferencePoint& at, const MatrixX3d& corners);

/// The Gauss points of each face of the rest shape, shape [face_count][3 or 9; 1 or 4].
std::vector<std::vector<SurfacePoint>> surface_points(const Mesh& mesh, Quadrature rule = Quadrature::full);

/// m_k = int N_k dA over the rest surface [m^2], shape [node_count]: lumped mass per density, Coltraro 2022,
/// (10).
VectorXd lumped_areas(const Mesh& mesh, const std::vector<std::vector<SurfacePoint>>& points);

/// m_k with the factors of Mesh::face_factors on the area of each face, of density as a rule; lumped_areas()
/// of a mesh without.
VectorXd lumped_areas(const Mesh& mesh, const std::vector<std::vector<SurfacePoint>>& points,
                      double FabricFactors::*factor);

/// Area of each face at the given positions by the same Gauss rule [m^2], shape [face_count].
VectorXd face_areas(const Mesh& mesh, const MatrixX3d& positions);

}  // namespace isocloth::reference
