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
    expect_near(found.at("area errors"), cloth.area_errors(cloth.positions()).signed_faces,
                2 * u * now.cwiseQuotient(rest).maxCoeff(), what);
  });
}

TYPED_TEST(MeasureKernels, EnergiesAndMomenta) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const Fabric& f = at.garment.fabric;
    const MatrixX3d x = cloth.positions(), v = cloth.velocities();
    const VectorXd mass = f.rho * cloth.masses();
    const auto& values = found.at("node values");
    const auto n = static_cast<std::size_t>(x.rows());
    ASSERT_EQ(values.size(), 8 * n) << what;
    auto part = [&](std::size_t i) {
      return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i * n),
                                 values.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
    };
    const double u = rounding<TypeParam>(25), size = 4 * largest(mass);
    expect_near(part(0), 0.5 * mass.cwiseProduct(v.rowwise().squaredNorm()), u * size, what);
    for (int c = 0; c < 3; ++c) {
      expect_near(part(2 + c), mass.cwiseProduct(v.col(c)), u * size, what);
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      const VectorXd angular =
          mass.array() * (x.col(a).array() * v.col(b).array() - x.col(b).array() * v.col(a).array());
      expect_near(part(5 + c), angular, u * size, what);
    }
    // Only the sum of the bending energy has a meaning: a node's share depends on the origin.
    const double gravity = f.delta * at.gravity * cloth.masses().dot(x.col(2));
    const double bending = f.kappa / 2 * (x.transpose() * (cloth.bending_matrix() * x)).trace();
    const SparseMatrix magnitude = cloth.bending_matrix().cwiseAbs();
    const double rounded = f.delta * at.gravity * cloth.masses().dot(x.col(2).cwiseAbs()) +
                           f.kappa * (x.cwiseAbs().transpose() * (magnitude * x.cwiseAbs())).trace();
    const auto potential = part(1);
    EXPECT_NEAR(as_vector(potential).sum(), gravity + bending, rounding<TypeParam>(n) * rounded) << what;
  });
}

}  // namespace
}  // namespace isocloth
