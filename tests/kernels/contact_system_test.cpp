// What contacts add to the nodal system.
#include "kernels/projection/nodal_terms.hpp"
#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

template <class Real>
class ContactSystemTest : public ContactTermsCase<Real> {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ContactSystemTest, Precisions);

// Blocks get w_a w_b A of every sample, right sides w_a f; pinned nodes have neither.
TYPED_TEST(ContactSystemTest, SystemsTakeTheSums) {
  using Real = TypeParam;
  this->plant(3);
  this->find(true);
  const SamplePattern& p = this->pattern;
  const auto& nodal = this->arrays.pattern;
  const int free_count = nodal.free_count();
  MatrixXd matrix = MatrixXd::Zero(3 * free_count, 3 * free_count);
  VectorXd right = VectorXd::Zero(3 * free_count);
  double largest = 0;
  for (Index s = 0; s < p.sample_count(); ++s) {
    const Real* a = this->sample_stiffness.data() + 6 * s;
    Matrix3d sum;
    sum << a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5];
    largest = std::max(largest, sum.norm());
    const Real* f = this->sample_forces.data() + 3 * s;
    for (Index i = p.sample_begin[s]; i < p.sample_begin[s + 1]; ++i) {
      const Index row = nodal.free_number[p.slot_nodes[i]];
      if (row < 0) continue;
      const double w = static_cast<double>(this->weights[i]);
      right.segment<3>(3 * row) += w * Vector3d(f[0], f[1], f[2]);
      for (Index j = p.sample_begin[s]; j < p.sample_begin[s + 1]; ++j) {
        const Index column = nodal.free_number[p.slot_nodes[j]];
        if (column >= 0)
          matrix.block<3, 3>(3 * row, 3 * column) += w * static_cast<double>(this->weights[j]) * sum;
      }
    }
  }
  const std::vector<Real> massless(static_cast<std::size_t>(p.node_count), Real(0));
  const SampleForces<Real> forces_of{
      .block_slots = this->samples.block_slots.view(),
      .node_slots = this->samples.node_slots.view(),
      .slot_samples = this->samples.slot_samples.view(),
      .weights = {this->weights.data(), this->weights.size()},
      .stiffness = {this->sample_stiffness.data(), this->sample_stiffness.size()},
      .forces = {this->sample_forces.data(), this->sample_forces.size()}};
  AssembleSystem<Real> system{};
  system.metric.masses = {massless.data(), massless.size()};
  system.free = this->arrays.free_view();
  system.block_rows = {nodal.block_rows.data(), nodal.block_rows.size()};
  system.block_columns = {nodal.block_columns.data(), nodal.block_columns.size()};
  system.samples = forces_of;
  MatrixXd found = MatrixXd::Zero(3 * free_count, 3 * free_count);
  for (std::size_t b = 0; b < nodal.block_rows.size(); ++b) {
    Real block[9];
    cpu::system_block(system, static_cast<Index>(b), block);
    for (int i = 0; i < 9; ++i) {
      const Index row = 3 * nodal.block_rows[b] + i / 3, column = 3 * nodal.block_columns[b] + i % 3;
      found(row, column) = static_cast<double>(block[i]);
      found(column, row) = static_cast<double>(block[i]);
    }
  }
  const double u = 16 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  EXPECT_GT(largest, 0);
  EXPECT_LE((found - matrix).cwiseAbs().maxCoeff(), u * largest);
  AssembleGradient<Real> gradient{};
  gradient.free = system.free;
  gradient.samples = forces_of;
  for (Index i = 0; i < free_count; ++i) {
    const Vec3<Real> b = cpu::gradient(gradient, i);
    const Vector3d wanted = right.segment<3>(3 * i);
    EXPECT_LE((Vector3d(b.x, b.y, b.z) - wanted).norm(), u * right.norm()) << i;
  }
}

}  // namespace
}  // namespace isocloth
