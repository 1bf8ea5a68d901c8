// Constraint rows as sums over samples of products of two linear forms in the positions.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/corotational_strain.hpp"
#include "host/reference/hinge_rows.hpp"

namespace isocloth::reference {

/// Rows C_r = sum_s weights(r, s) <left_s phi, right_s phi> - rest_r, all divided by the row's scale.
///
/// A sample s is a Gauss point seen from one node (left and right are derivatives along warp or weft) or an
/// edge (both are the difference of its ends). The tensor of a row, which Coltraro 2022, (12), tabulates, is
/// T_r = 1/2 sum_s weights(r, s) (left_s^T right_s + right_s^T left_s); it is never formed here.
/// Order: E, F, G of each constrained interior node, then F at corners, then edges.
struct QuadraticRows {
  SparseMatrix left, right;  ///< left and right forms of the samples, shape [sample_count, node_count]
  SparseMatrix weights;      ///< weights of the samples in the rows, shape [row_count, sample_count]
  VectorXd rest;             ///< rest values of the rows, shape [row_count]
  std::vector<Index> interior_nodes;        ///< node q owns rows 3q, 3q + 1, 3q + 2
  std::vector<Index> corner_nodes;          ///< corner nodes own the next rows, one each
  std::vector<std::array<Index, 2>> edges;  ///< edges own the last rows, one each

  Eigen::Index row_count() const { return rest.size(); }

  /// C(phi), dimensionless, shape [row_count].
  VectorXd values(const MatrixX3d& positions) const;

  /// dC/dphi [1/m], shape [row_count, 3 node_count], column 3 node + component; Coltraro 2022, (13).
  SparseMatrix jacobian(const MatrixX3d& positions) const;

  /// Second derivative of lambda.C, the same for x, y and z: sum_k lambda_k 2 T_k, shape [node_count,
  /// node_count].
  SparseMatrix hessian(const VectorXd& multipliers) const;
};

/// Rows of Coltraro 2022, section 5: E, F, G at interior nodes in their material frames (11), F at corners,
/// squared lengths of boundary edges (7). Scales: rest values E0, G0, sqrt(E0 G0) for F, squared rest length
/// for edges. Nodes whose faces hold no free node and edges with two pinned ends are left out. `is_free`:
/// shape [node_count].
QuadraticRows isometry_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free);

/// Rows |p_a - p_b|^2 / l0^2 - 1 of each edge with a free end, in the order of Topology::edges, `times`
/// times.
QuadraticRows edge_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free,
                        int times = 1);

/// Green's strain of the triangles of each pair with a free node (engine/mesh/triangle_pairs.hpp), times 2
/// along warp and weft: |F_u|^2 - 1, F_u . F_v, |F_v|^2 - 1 with F_u = sum p_i (grad N_i . u), u the warp
/// direction of the face in the tangent plane and v = n x u. For each pair first the three means by area,
/// then what the strains of the first triangle are more than those of the second. coupling: a |F_v|^2 - a
/// more of the first of three. with_edges: then the rows of edge_rows().
QuadraticRows membrane_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free,
                            double coupling = 0, bool with_edges = false);

struct GarmentRows {
  QuadraticRows rows;  ///< but hinges, which have empty ones
  /// Stiffness K of each row [J], energy K C^2 / 2, 0: rigid; shape [row_count]. Means of a membrane have A
  /// (k_warp / (4 (1 - nu^2)), k_shear, k_weft / 4), A the area of the pair; its differences what
  /// MembraneRows has; elastic edges A k / 4, A half of each quad and a third of each triangle beside it.
  VectorXd stiffness;
  /// Bound c of inequalities C <= c, 0: an equation or an energy; shape [row_count]. The edges of a fabric
  /// with a strain limit s, c = (1 + s)^2 - 1, come last; their K is that of elastic edges.
  VectorXd bounds;
  /// Which of the laws each row has: RowLaw, -1: none; empty: none has one.
  std::vector<Index> laws;
  /// C of the values of `rows`: of elements that strain is measured of by the polar decomposition.
  CorotationalStrain strain;
  /// Pieces of each law's stress p; empty: all are linear in C.
  std::vector<std::vector<CurvePiece>> curves;
  StrainMeasure measure = StrainMeasure::green;  ///< of threads: the law of membranes
  Eigen::Index pair_row_count = 0;               ///< rows of pairs of triangles, the first ones
  HingeRows hinges;                              ///< the last rows
  Eigen::Index appended_count = 0;               ///< rows after rows.edges: bands, hinges

  /// C and dC/dx [1/m] of all rows; shapes [row_count] and [row_count, 3 node_count].
  VectorXd values(const MatrixX3d& positions) const {
    VectorXd found = strain.of(rows.values(positions));
    found.tail(hinges.count()) = hinges.values(positions);
    return found;
  }
  SparseMatrix jacobian(const MatrixX3d& positions) const {
    SparseMatrix found = rows.jacobian(positions);
    if (strain.exists()) found = SparseMatrix(strain.derivative(rows.values(positions)) * found);
    if (hinges.count() > 0) found += hinges.jacobian(positions, found.rows());
    return found;
  }
  /// Curvature of a hinge over its angle [1/m], 0 of others.
  double curvature(Eigen::Index row) const {
    const Eigen::Index hinge = row - (rows.row_count() - hinges.count());
    return hinge < 0 ? 0 : hinges.curvature()[hinge];
  }

  Index law_of(Eigen::Index row) const { return laws.empty() ? -1 : laws[static_cast<std::size_t>(row)]; }
  /// The measure that the law of a row has: shear of elements and angles have that of Green.
  StrainMeasure measure_of(Eigen::Index row) const {
    const Index law = law_of(row);
    const bool is_thread = law != RowLaw::bend && (is_of_edge(row) || law != RowLaw::shear);
    return is_thread ? measure : StrainMeasure::green;
  }
  /// Whether a row is a difference of the strains of two triangles.
  bool is_difference(Eigen::Index row) const { return row < pair_row_count && row % 6 >= 3; }
  /// Whether a row is one of rows.edges.
  bool is_of_edge(Eigen::Index row) const {
    const Eigen::Index end = rows.row_count() - appended_count;
    return row < end && row >= end - static_cast<Eigen::Index>(rows.edges.size());
  }
};
/// The rows of a recipe.
GarmentRows garment_rows(const Recipe& recipe, const Mesh& mesh, const Topology& topology,
                         const Fabric& fabric, const std::vector<char>& is_free);

}  // namespace isocloth::reference
