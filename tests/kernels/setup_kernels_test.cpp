// Masses, tensors and bending against the sampled rows and matrices of the reference.
#include <cmath>
#include <numbers>
#include <random>

#include "host/reference/bending.hpp"
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class SetupKernels : public testing::Test {};
TYPED_TEST_SUITE(SetupKernels, Precisions);

/// Sparse rows of scalars on nodes as a matrix.
SparseMatrix as_matrix(const NodeMatrixPattern& pattern, const std::vector<double>& values, Index nodes) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t row = 0; row + 1 < pattern.row_begin.size(); ++row)
    for (Index e = pattern.row_begin[row]; e < pattern.row_begin[row + 1]; ++e)
      entries.emplace_back(static_cast<int>(row), pattern.columns[e], values[e]);
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// sum_r lambda_r 2 T_r of the rows from `first_row` on, whose tensors begin at `first_tensor`.
SparseMatrix weighted_tensors(const StencilPattern& p, const std::vector<double>& tensors, Index first_tensor,
                              const VectorXd& lambda, Index first_row, Index nodes) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index slot = p.stencil_begin[s]; slot < p.stencil_begin[s + 1]; ++slot)
      for (Index e = p.entry_begin[slot]; e < p.entry_begin[slot + 1]; ++e)
        for (int w = 0; w < p.width; ++w)
          entries.emplace_back(
              p.slot_nodes[slot], p.entry_nodes[e],
              2 * lambda[first_row + s * p.width + w] * tensors[first_tensor + e * p.width + w]);
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// The same of pairs of triangles, from their gradients and shares of area.
SparseMatrix weighted_gradients(const StencilPattern& p, const double* gradients, const double* lambda,
                                double coupling, Index nodes) {
  std::vector<Eigen::Triplet<double>> entries;
  const double* const shares = gradients + 4 * p.slot_count();
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (int t = 0; t < 2; ++t) {
      const double of_mean = t == 0 ? shares[s] : 1 - shares[s], of_difference = t == 0 ? 1 : -1;
      double own[3];
      for (int w = 0; w < 3; ++w)
        own[w] = of_mean * lambda[6 * s + w] + of_difference * lambda[6 * s + 3 + w];
      for (Index a = p.stencil_begin[s]; a < p.stencil_begin[s + 1]; ++a)
        for (Index b = p.stencil_begin[s]; b < p.stencil_begin[s + 1]; ++b) {
          const double *g = gradients + 4 * a + 2 * t, *h = gradients + 4 * b + 2 * t;
          entries.emplace_back(p.slot_nodes[a], p.slot_nodes[b],
                               2 * own[0] * g[0] * h[0] + own[1] * (g[0] * h[1] + g[1] * h[0]) +
                                   2 * (own[2] + coupling * own[0]) * g[1] * h[1]);
        }
    }
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// The same of limits.
SparseMatrix weighted_stretches(const StencilPattern& p, const double* gradients, const double* lambda,
                                Index nodes) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index a = p.stencil_begin[s]; a < p.stencil_begin[s + 1]; ++a)
      for (Index b = p.stencil_begin[s]; b < p.stencil_begin[s + 1]; ++b)
        for (int w = 0; w < p.width; ++w) {
          const double angle = w * std::numbers::pi / p.width, u = std::cos(angle), v = std::sin(angle);
          const double *g = gradients + 2 * a, *h = gradients + 2 * b;
          entries.emplace_back(p.slot_nodes[a], p.slot_nodes[b],
                               2 * lambda[p.width * s + w] * (u * g[0] + v * g[1]) * (u * h[0] + v * h[1]));
        }
  SparseMatrix matrix(nodes, nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

TYPED_TEST(SetupKernels, MassesAreIntegralsOfShapeFunctions) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const VectorXd& masses = cloth.masses();
    expect_near(found.at("masses"), masses, rounding<TypeParam>(1) * largest(masses), what);
    VectorXd inverse = VectorXd::Zero(masses.size());
    for (const Index node : cloth.free_nodes()) inverse[node] = 1 / masses[node];
    expect_near(found.at("inverse masses"), inverse, rounding<TypeParam>(1) * largest(inverse), what);
  });
}

TYPED_TEST(SetupKernels, TensorsAreThoseOfTheSampledRows) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const RowPattern rows = kernel_pattern(at).rows;
    const Index nodes = at.garment.mesh.node_count();
    std::mt19937 generator(1);
    for (int draw = 0; draw < 6;
         ++draw) {  // an entry that is wrong for one row is wrong for almost every lambda
      VectorXd lambda(rows.row_count());
      for (double& value : lambda) value = static_cast<double>(generator()) / 2147483647.5 - 1;
      const Index of_membranes = 3 * rows.triples.entry_count(),
                  of_limits = of_membranes + 4 * rows.membranes.slot_count() + rows.membranes.stencil_count(),
                  of_singles = of_limits + 2 * rows.limits.slot_count();
      const SparseMatrix tensors =
          weighted_tensors(rows.triples, found.at("tensors"), 0, lambda, 0, nodes) +
          weighted_gradients(rows.membranes, found.at("tensors").data() + of_membranes,
                             lambda.data() + rows.triples.row_count(), at.garment.fabric.poisson_coupling(),
                             nodes) +
          weighted_stretches(rows.limits, found.at("tensors").data() + of_limits,
                             lambda.data() + rows.first_limit(), nodes) +
          weighted_tensors(rows.singles, found.at("tensors"), of_singles, lambda, rows.first_single(), nodes);
      const SparseMatrix expected = cloth.rows().hessian(lambda);
      expect_near(tensors, expected, rounding<TypeParam>(81) * largest(expected), what);
    }
  });
}

TYPED_TEST(SetupKernels, BendingIsThatOfTheReference) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const Mesh& mesh = at.garment.mesh;
    const KernelPattern pattern = kernel_pattern(at);
    const auto cloth = at.reference();
    const SparseMatrix stiffness = reference::laplace_stiffness(mesh);
    KernelCase of_one_fabric = at;  // areas, whatever lies on them
    of_one_fabric.garment.mesh.face_factors.clear();
    const VectorXd areas = of_one_fabric.reference().masses();
    VectorXd inverse = VectorXd::Zero(mesh.node_count());
    const Topology topology = build_topology(mesh);
    for (const Index node : topology.interior_nodes) inverse[node] = 1 / areas[node];
    const SparseMatrix laplacian = inverse.asDiagonal() * stiffness;
    expect_near(as_matrix(pattern.laplacian, found.at("laplacian"), mesh.node_count()), laplacian,
                rounding<double>(81) * largest(laplacian), what + ": laplacian");
    if (at.garment.fabric.bending_stiffness > 0)
      expect_near(as_matrix(pattern.bending, found.at("bending"), mesh.node_count()), cloth.bending_matrix(),
                  rounding<TypeParam>(25) * largest(cloth.bending_matrix()), what + ": bending");
    else
      EXPECT_TRUE(found.at("bending").empty()) << what;
  });
}

}  // namespace
}  // namespace isocloth
