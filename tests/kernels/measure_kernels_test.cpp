// Areas, energies and momenta against their definitions.
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class MeasureKernels : public testing::Test {};
TYPED_TEST_SUITE(MeasureKernels, Precisions);

TYPED_TEST(MeasureKernels, Areas) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const Mesh& mesh = at.garment.mesh;
    const VectorXd rest = reference::face_areas(mesh, reference::to_matrix(mesh.positions));
    const VectorXd now = reference::face_areas(mesh, cloth.positions());
    // An area is made of differences of rounded coordinates.
    const double lengths = largest(flat(cloth.positions())) / std::sqrt(rest.minCoeff());
    const double u = rounding<TypeParam>(9) * lengths;
    expect_near(found.at("rest areas"), rest, u * largest(rest), what);
    expect_near(found.at("areas"), now, u * largest(now), what);
    // Total, mean, mean and two deviations, largest.
    const reference::AreaErrors errors = cloth.area_errors(cloth.positions());
    const auto& measures = found.at("measures");
    const double share = 2 * u * now.cwiseQuotient(rest).maxCoeff(), most = largest(errors.signed_faces);
    EXPECT_NEAR(measures[1], errors.total, share) << what;
    EXPECT_NEAR(measures[2], errors.mean, share) << what;
    // A deviation is the root of a difference of squares.
    EXPECT_NEAR(measures[3], errors.dispersion, share + 2 * std::sqrt(4 * most * share)) << what;
    EXPECT_NEAR(measures[4], most, share) << what;
  });
}

TYPED_TEST(MeasureKernels, RowsAreThoseOfTheSteps) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    // Measured is Green's strain itself, without what bounds, curves and Poisson's ratio make of it.
    const auto cloth = at.reference();
    const bool is_other = at.garment.fabric.curves.exist() || at.garment.fabric.viscosity.exists();
    const VectorXd rows_of_steps = as_vector(found.at("residuals")) + cloth.row_bounds();
    VectorXd rows = is_other ? cloth.rows().values(cloth.positions()) : rows_of_steps;
    const RowPattern pattern = kernel_pattern(at).rows;
    for (Index row = pattern.triples.row_count(); row < pattern.first_limit(); row += 3)
      rows[row] -= at.garment.fabric.poisson_coupling() * rows[row + 2];
    const double residual = largest(rows);
    // They are taken against rest values of their own.
    EXPECT_NEAR(found.at("measures")[0], residual, rounding<TypeParam>(100) * (1 + residual)) << what;
  });
}

TYPED_TEST(MeasureKernels, EnergiesAndMomenta) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const Fabric& f = at.garment.fabric;
    const MatrixX3d x = cloth.positions(), v = cloth.velocities();
    const VectorXd mass = f.density * cloth.masses();
    const auto& measures = found.at("measures");
    const auto n = static_cast<std::size_t>(x.rows());
    const double u = rounding<TypeParam>(25 + n), size = 4 * mass.sum();
    EXPECT_NEAR(measures[5], 0.5 * mass.dot(v.rowwise().squaredNorm()), u * size) << what;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      EXPECT_NEAR(measures[7 + c], mass.dot(v.col(c)), u * size) << what;
      EXPECT_NEAR(measures[10 + c],
                  mass.dot(x.col(a).cwiseProduct(v.col(b)) - x.col(b).cwiseProduct(v.col(a))), u * size)
          << what;
    }
    // Of the bending energy only the sum has a meaning: a node's share depends on the origin.
    const double gravity = f.gravity_density * at.gravity * cloth.masses().dot(x.col(2));
    const double bending = f.bending_stiffness / 2 * (x.transpose() * (cloth.bending_matrix() * x)).trace();
    const SparseMatrix magnitude = cloth.bending_matrix().cwiseAbs();
    const double rounded =
        f.gravity_density * at.gravity * cloth.masses().dot(x.col(2).cwiseAbs()) +
        f.bending_stiffness * (x.cwiseAbs().transpose() * (magnitude * x.cwiseAbs())).trace();
    EXPECT_NEAR(measures[6], gravity + bending, rounding<TypeParam>(n) * rounded) << what;
  });
}

}  // namespace
}  // namespace isocloth
