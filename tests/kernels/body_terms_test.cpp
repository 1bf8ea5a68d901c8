// What contacts make of bodies, against finite differences of a rigid motion.
#include <Eigen/Dense>

#include "kernels/kernel_table.hpp"
#include "kernels/projection/body_system.hpp"
#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Columns = Eigen::Matrix<double, 3, 6>;

template <class Real>
class BodyTermsTest : public ContactTermsCase<Real> {
 protected:
  /// All but the first obstacle count as bodies.
  static constexpr Index first_body = 1;
  static constexpr std::size_t body_count = 3;
  std::vector<Vec3<Real>> centers{{Real(0.25), Real(-0.5), Real(1)},
                                  {Real(-0.125), Real(0.75), Real(0.5)},
                                  {Real(0.5), Real(0.25), Real(-0.75)}};

  void SetUp() override {
    this->plant(11);
    this->find(true);
    // Every kind of contact, and none.
    for (std::size_t c = 0; c < this->modes.size(); ++c)
      if (this->modes[c] != 0 && this->stiffness[3 * c + 1] != 0)
        this->modes[c] = static_cast<Real>(static_cast<int>(kinds[(c + 1) % 4]));
  }
  ActOnSamples<Real> found() {
    ActOnSamples<Real> all{};
    all.pattern = this->pattern;
    all.positions.iterate = {this->iterate.data(), 1};
    all.contacts.forces.data = this->forces.data();
    all.contacts.obstacles.data = this->obstacles.data();
    all.contacts.normals.data = this->normals.data();
    all.contacts.pulls.data = this->pulls.data();
    all.contacts.stiffness.data = this->stiffness.data();
    all.contacts.modes.data = this->modes.data();
    all.contacts.weights.data = this->weights.data();
    return all;
  }

  /// visit(body, sample, J, S, p) for all contacts with bodies that act.
  template <class Visit>
  void for_each_contact(const Visit& visit) const {
    for (Index s = 0; s < this->pattern.sample_count(); ++s)
      for (Index k = 0; k < this->pattern.contacts_of(s); ++k) {
        const auto c = static_cast<std::size_t>(this->pattern.first_contact(s) + k);
        const int mode = static_cast<int>(this->modes[c]),
                  body = static_cast<int>(this->obstacles[c]) - first_body;
        if (body < 0 || mode == static_cast<int>(ContactMode::none)) continue;
        const auto vector = [c](const std::vector<Real>& all) {
          return Vector3d(all[3 * c], all[3 * c + 1], all[3 * c + 2]);
        };
        const Vector3d n = vector(this->normals), pull = vector(this->pulls);
        const Matrix3d along = n * n.transpose(), across = Matrix3d::Identity() - along;
        Matrix3d held = static_cast<double>(this->stiffness[3 * c]) * along +
                        static_cast<double>(this->stiffness[3 * c + 1]) * across;
        if (mode == static_cast<int>(ContactMode::slide_on)) {
          const Vector3d slip = (across * pull).normalized();
          held -= static_cast<double>(this->stiffness[3 * c + 1]) * slip * slip.transpose();
        }
        visit(static_cast<std::size_t>(body), s, motion_of(this->at_sample(s, this->iterate), body), held,
              pull);
      }
  }

  static constexpr ContactMode kinds[] = {ContactMode::stick, ContactMode::slide, ContactMode::slide_on,
                                          ContactMode::none};

 private:
  /// How a point moves with the body's six unknowns, by central differences.
  Columns motion_of(const Vector3d& x, int body) const {
    constexpr double step = 1e-5;
    const Vec3<Real>& at = centers[static_cast<std::size_t>(body)];
    const Vector3d center(at.x, at.y, at.z);
    Columns j;
    for (int k = 0; k < 6; ++k) {
      const auto moved = [&](double by) -> Vector3d {
        Vector3d unit = Vector3d::Zero();
        unit(k % 3) = 1;
        if (k < 3) return x + by * unit;
        return center + Eigen::AngleAxisd(by, unit) * (x - center);
      };
      j.col(k) = (moved(step) - moved(-step)) / (2 * step);
    }
    return j;
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BodyTermsTest, Precisions);

/// Central differences are off by step^2 / 6 and by rounding, 1e-11 both; sums of n terms by n eps of their
/// sizes.
template <class Real>
double known(double sizes, double terms) {
  return (1e-10 + 4 * terms * static_cast<double>(std::numeric_limits<Real>::epsilon())) * sizes;
}

TYPED_TEST(BodyTermsTest, SumsAreThoseOfAllContacts) {
  using Real = TypeParam;
  std::vector<MatrixXd> matrices(this->body_count, MatrixXd::Zero(6, 6));
  std::vector<Eigen::VectorXd> totals(this->body_count, Eigen::VectorXd::Zero(6));
  std::vector<double> sizes(this->body_count, 0), pull_sizes(this->body_count, 0);
  std::vector<int> counts(this->body_count, 0);
  this->for_each_contact([&](std::size_t b, Index, const Columns& j, const Matrix3d& s, const Vector3d& p) {
    matrices[b] += j.transpose() * s * j;
    totals[b] += j.transpose() * p;
    sizes[b] += j.squaredNorm() * s.norm();
    pull_sizes[b] += j.norm() * p.norm();
    ++counts[b];
  });
  std::vector<Real> sums(this->body_count * static_cast<std::size_t>(body_terms), Real(77));
  const StepKernels<Real>& kernels = step_kernels<Real>(this->device.backend());
  kernels.sum_bodies(this->device.queue(), {.samples = this->found(),
                                            .first_body = this->first_body,
                                            .centers = {this->centers.data(), this->centers.size()},
                                            .sums = {sums.data(), sums.size()}});
  for (std::size_t b = 0; b < this->body_count; ++b) {
    ASSERT_GT(counts[b], 0) << b;
    const Real* sum = sums.data() + b * static_cast<std::size_t>(body_terms);
    for (int i = 0; i < 6; ++i)
      for (int j = i; j < 6; ++j)
        EXPECT_NEAR(*sum++, matrices[b](i, j), known<Real>(sizes[b], counts[b] + 8)) << b << i << j;
    for (int i = 0; i < 6; ++i)
      EXPECT_NEAR(*sum++, totals[b](i), known<Real>(pull_sizes[b], counts[b] + 8)) << b << i;
    EXPECT_EQ(*sum, counts[b]);
  }
}

TYPED_TEST(BodyTermsTest, ColumnsAreThoseOfAllContacts) {
  using Real = TypeParam;
  const auto& nodal = this->arrays.pattern;
  const auto free_count = static_cast<std::size_t>(nodal.free_count());
  // The first body has none.
  constexpr std::size_t count = 12;
  const std::vector<Index> groups{-1, 1, 0};
  MatrixXd expected = MatrixXd::Zero(nodal.free_count() * 3, count);
  double size = 0;
  this->for_each_contact(
      [&](std::size_t b, Index sample, const Columns& j, const Matrix3d& s, const Vector3d&) {
        if (groups[b] < 0) return;
        for (Index slot = this->pattern.sample_begin[sample]; slot < this->pattern.sample_begin[sample + 1];
             ++slot) {
          const Index row = nodal.free_number[this->pattern.slot_nodes[slot]];
          if (row < 0) continue;
          expected.block<3, 6>(3 * row, 6 * groups[b]) +=
              static_cast<double>(this->weights[static_cast<std::size_t>(slot)]) * s * j;
          size = std::max(size, j.norm() * s.norm());
        }
      });
  ASSERT_GT(expected.norm(), 0);
  // Nodes of others lie between the columns, and stay as they are.
  const std::size_t stride = free_count + 3;
  const Vec3<Real> others{Real(77), Real(77), Real(77)};
  std::vector<Vec3<Real>> columns(count * stride, others);
  const StepKernels<Real>& kernels = step_kernels<Real>(this->device.backend());
  kernels.assemble_body_columns(this->device.queue(),
                                {.samples = this->found(),
                                 .first_body = this->first_body,
                                 .centers = {this->centers.data(), this->centers.size()},
                                 .node_slots = this->samples.node_slots.view(),
                                 .groups = {groups.data(), groups.size()},
                                 .free_count = static_cast<Index>(free_count),
                                 .column_count = static_cast<Index>(count),
                                 .stride = static_cast<Index>(stride),
                                 .columns = {columns.data(), columns.size()}});
  MatrixXd found(expected.rows(), count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < free_count; ++i) {
      const Vec3<Real>& v = columns[k * stride + i];
      found.col(static_cast<Eigen::Index>(k)).segment<3>(3 * static_cast<Eigen::Index>(i)) << v.x, v.y, v.z;
    }
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), known<Real>(size, 40));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = free_count; i < stride; ++i) EXPECT_EQ(columns[k * stride + i], others);

  // Products of columns, and their sum with weights.
  std::vector<Real> products(count * count, Real(77));
  kernels.multiply_columns(this->device.queue(), {.left = {columns.data(), columns.size()},
                                                  .right = {columns.data(), columns.size()},
                                                  .free_count = static_cast<Index>(free_count),
                                                  .stride = static_cast<Index>(stride),
                                                  .right_count = count,
                                                  .products = {products.data(), products.size()}});
  const MatrixXd square = found.transpose() * found;
  for (Eigen::Index i = 0; i < square.rows(); ++i)
    for (Eigen::Index j = 0; j < square.cols(); ++j)
      EXPECT_NEAR(
          products[static_cast<std::size_t>(i * square.cols() + j)], square(i, j),
          known<Real>(found.col(i).norm() * found.col(j).norm(), 3.0 * static_cast<double>(free_count)));
  std::vector<Real> moves;
  for (std::size_t k = 0; k < count; ++k)
    moves.push_back(Real(0.25) * static_cast<Real>(7 * k % 11) - Real(1));
  std::vector<Vec3<Real>> corrected(free_count, Vec3<Real>{Real(1), Real(2), Real(-1)});
  kernels.add_columns(this->device.queue(), {.columns = {columns.data(), columns.size()},
                                             .stride = static_cast<Index>(stride),
                                             .moves = {moves.data(), moves.size()},
                                             .correction = {corrected.data(), corrected.size()}});
  const Eigen::VectorXd factors =
      Eigen::Map<const Eigen::Matrix<Real, count, 1>>(moves.data()).template cast<double>();
  for (std::size_t i = 0; i < free_count; ++i) {
    const Eigen::Index row = 3 * static_cast<Eigen::Index>(i);
    const Vector3d sum = Vector3d(1, 2, -1) + found.middleRows<3>(row) * factors;
    const Vector3d own(corrected[i].x, corrected[i].y, corrected[i].z);
    EXPECT_LE((own - sum).norm(), known<Real>(2.5 + found.middleRows<3>(row).norm() * factors.norm(), 8));
  }
}

}  // namespace
}  // namespace isocloth
