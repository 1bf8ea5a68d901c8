// Contacts of one cloth: where edges and faces touch, and what the nodal system takes of them.
#include "kernels/contact/contact_terms.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <set>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/solver/garment_arrays.hpp"
#include "host/solver/obstacle_table.hpp"
#include "host/solver/sample_arrays.hpp"
#include "kernels/projection/nodal_terms.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double offset = 0.0009765625, tolerance = 1e-4, inertia = 1.5;

double as_float(double x) { return static_cast<double>(static_cast<float>(x)); }

/// A sheet of 3 x 3 nodes over a floor and a tilted wall, which the nodes touch, a box whose corner pokes
/// into face 0, and one whose upper side runs across edges. All numbers that kernels read are floats.
Scene planted_scene() {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(3, 3, 0.25, 0.25);
  sheet.pins = {{"pin", {1, 6}, FixedMotion{}}};
  const auto make = [](const char* name, const ObstacleShape& shape, Vec3d position, Vec3d rotation,
                       Friction friction) {
    return Obstacle{.name = name,
                    .shape = shape,
                    .position = position,
                    .rotation = rotation,
                    .motion = {},
                    .friction = friction};
  };
  const double upright = std::acos(1 / std::sqrt(3.0));  // turns a diagonal of a cube to the z axis
  const double half = 0.0625;
  const Vec3d axis = upright / std::sqrt(2.0) * Vec3d{1, -1, 0};
  Scene scene;
  scene.garments = {sheet};
  scene.obstacles = {make("floor", PlaneShape{}, {}, {}, {0.5, 0.375}),
                     make("wall", PlaneShape{}, {}, {0.1, 0.2, 0}, {}),
                     make("corner", BoxShape{{2 * half, 2 * half, 2 * half}, 0},
                          Vec3d{0.05, 0.07, 0.006 - std::sqrt(3.0) * half}, axis, {0.75, 0.25}),
                     make("bar", BoxShape{{0.02, 0.4, 0.05}, 0}, {0.2, 0.1, -0.0225}, {}, {0.25, 0.25})};
  return scene;
}

template <class Real>
class ContactTermsTest : public ::testing::Test {
 protected:
  Scene scene = planted_scene();
  const Garment& garment = scene.garments[0];
  Device device{ExecutionOptions{.threads = 1}};
  GarmentArrays<Real> arrays{device, garment, find_recipe(scene.recipe).rows, false, true};
  SampleArrays samples{device, garment.mesh, arrays.pattern, scene.obstacles.size()};
  ObstacleTable<Real> table{device, std::make_shared<ObstacleShapes<Real>>(device, scene), {&garment}};
  SamplePattern pattern = samples.view();
  std::vector<Real> start, iterate, correction, inverse_masses;
  std::vector<Real> forces, obstacles, normals, pulls, stiffness, modes, weights, depths, sample_stiffness,
      sample_forces, near, advances, changes;
  std::vector<Vector3d> planted;  ///< forces before
  std::vector<int> planted_on;

  void plant(std::uint64_t seed) {
    Random random(seed);
    const auto contacts = static_cast<std::size_t>(pattern.contact_count()),
               count = static_cast<std::size_t>(pattern.sample_count());
    for (auto* v : {&start, &iterate, &correction}) v->clear();
    for (const Vec3d& rest : garment.mesh.positions) {
      // The floor's and the wall's contacts, some apart, some deep, some that move far within the step.
      const double floor = offset + random.uniform(-8e-4, 8e-4);
      const Vec3d x{rest.x, rest.y, floor};
      const double far = std::pow(10.0, random.uniform(-6, -2.5));
      const Vec3d way{far * random.uniform(-1, 1), far * random.uniform(-1, 1), 2e-4 * random.uniform(-1, 1)};
      for (const double c : {x.x, x.y, x.z}) iterate.push_back(static_cast<Real>(as_float(c)));
      for (const double c : {x.x - way.x, x.y - way.y, x.z - way.z})
        start.push_back(static_cast<Real>(as_float(c)));
      for (int c = 0; c < 3; ++c)
        correction.push_back(static_cast<Real>(as_float(random.uniform(-5e-4, 5e-4))));
    }
    inverse_masses = arrays.inverse_masses.download();
    planted.assign(contacts, Vector3d::Zero());
    planted_on.assign(contacts, -1);
    const double scale = 1000 * inertia / static_cast<double>(inverse_masses[4]) * 5e-4;
    const auto put = [&](Index contact, int obstacle) {
      const auto c = static_cast<std::size_t>(contact);
      planted_on[c] = obstacle;
      for (int k = 0; k < 3; ++k)
        planted[c][k] = as_float(scale * (k == 2 ? random.uniform(0, 1) : random.uniform(-0.4, 0.4)));
    };
    for (Index node = 0; node < pattern.node_count; ++node) {
      if (node % 3 != 2) put(pattern.first_contact(node), 0);
      if (node % 4 == 1) put(pattern.first_contact(node) + 1, 1);
    }
    put(pattern.first_contact(pattern.node_count + pattern.edge_count), 2);  // face 0
    forces.clear();
    obstacles.clear();
    for (std::size_t c = 0; c < contacts; ++c) {
      for (int k = 0; k < 3; ++k) forces.push_back(static_cast<Real>(planted[c][k]));
      obstacles.push_back(static_cast<Real>(planted_on[c]));
    }
    // What is not written shows.
    for (auto* v : {&normals, &pulls}) v->assign(3 * contacts, Real(77));
    stiffness.assign(2 * contacts, Real(77));
    modes.assign(contacts, Real(77));
    weights.assign(pattern.slot_nodes.size(), Real(77));
    depths.assign(count, Real(77));
    sample_stiffness.assign(6 * count, Real(77));
    sample_forces.assign(3 * count, Real(77));
    advances.assign(contacts, Real(77));
    changes.assign(count, Real(77));
    near.assign(1 + static_cast<std::size_t>(most_near), Real(77));
  }

  template <class Use>
  void with_terms(bool carries, const Use& use) {
    const ObstaclesView<Real> view = table.view(0, 0);
    ContactControl<Real> control;
    control.offset = static_cast<Real>(offset);
    control.tolerance = static_cast<Real>(tolerance);
    control.inertia = static_cast<Real>(inertia);
    control.from = 0;
    control.to = 1;
    control.carries = carries;
    const ContactPlaces<Real> places{{start.data(), 1}, {iterate.data(), 1}, {inverse_masses.data(), 1}};
    ContactArrays<Real> all;
    all.forces.data = forces.data();
    all.obstacles.data = obstacles.data();
    all.normals.data = normals.data();
    all.pulls.data = pulls.data();
    all.stiffness.data = stiffness.data();
    all.modes.data = modes.data();
    all.weights.data = weights.data();
    all.depths.data = depths.data();
    all.sample_stiffness.data = sample_stiffness.data();
    all.sample_forces.data = sample_forces.data();
    if constexpr (requires { all.advances; }) all.advances.data = advances.data();
    if constexpr (requires { all.changes; }) all.changes.data = changes.data();
    use(cpu::ContactTerms<Real>(pattern, view, control, places, {{near.data(), 1}}, all));
  }
  void find(bool carries) {
    with_terms(carries, [&](const cpu::ContactTerms<Real>& terms) {
      terms.list_near({-1, -1, -1}, {1, 1, 1});
      for (Index s = 0; s < pattern.sample_count(); ++s) terms.find(s);
    });
  }
  /// Weighted mean of the nodes' vectors.
  Vector3d at_sample(Index sample, const std::vector<Real>& vectors, bool free_only = false) const {
    Vector3d sum = Vector3d::Zero();
    for (Index slot = pattern.sample_begin[sample]; slot < pattern.sample_begin[sample + 1]; ++slot) {
      const Index node = pattern.slot_nodes[slot];
      if (free_only && arrays.pattern.free_number[node] < 0) continue;
      for (int k = 0; k < 3; ++k)
        sum[k] += static_cast<double>(weights[slot]) *
                  static_cast<double>(vectors[static_cast<std::size_t>(3 * node + k)]);
    }
    return sum;
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ContactTermsTest, Precisions);

// A corner of a box in face 0, and a bar across edges whose ends are free of it.
TYPED_TEST(ContactTermsTest, PointsOfEdgesAndFacesAreTheDeepest) {
  this->plant(1);
  this->find(true);
  const SamplePattern& p = this->pattern;
  std::set<int> seen;
  for (Index s = p.node_count; s < p.sample_count(); ++s) {
    const int o = static_cast<int>(this->obstacles[p.first_contact(s)]);
    if (o < 0) continue;
    seen.insert((s < p.node_count + p.edge_count ? 0 : 10) + o);
    const reference::ObstacleDistance distance(this->scene.obstacles[static_cast<std::size_t>(o)]);
    const Index slot = p.sample_begin[s];
    const int size = static_cast<int>(p.sample_begin[s + 1] - slot);
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      ASSERT_GE(this->weights[slot + i], 0);
      sum += static_cast<double>(this->weights[slot + i]);
    }
    EXPECT_NEAR(sum, 1, 8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
    const Vector3d place = this->at_sample(s, this->iterate);
    const double value = distance.at({place.x(), place.y(), place.z()}, 0).value;
    double deepest = 1;
    const auto corner = [&](int i, int k) {
      return static_cast<double>(this->iterate[static_cast<std::size_t>(3 * p.slot_nodes[slot + i] + k)]);
    };
    constexpr int parts = 128;
    for (int i = 0; i <= parts; ++i)
      for (int j = 0; j <= (size == 2 ? 0 : parts); ++j) {
        const double u = static_cast<double>(i) / parts, v = static_cast<double>(j) / parts;
        Vec3d x;
        for (int k = 0; k < 3; ++k) {
          double* const to = k == 0 ? &x.x : k == 1 ? &x.y : &x.z;
          *to = size == 2 ? (1 - u) * corner(0, k) + u * corner(1, k)
                          : (1 - v) * ((1 - u) * corner(0, k) + u * corner(1, k)) +
                                v * ((1 - u) * corner(3, k) + u * corner(2, k));
        }
        deepest = std::min(deepest, distance.at(x, 0).value);
      }
    // Edges are searched to 1/128, faces to about 1/64, of 0.125 m; distances grow by at most 1 per metre.
    EXPECT_LE(value, deepest + (size == 2 ? 1.0 / 128 : std::sqrt(2.0) / 64) * 0.125) << "sample " << s;
  }
  EXPECT_EQ(seen.count(12), 1u) << "a face in the corner";
  EXPECT_GE(seen.count(3), 1u) << "an edge on the bar";
}

// Blocks get w_a w_b A of every sample, right sides w_a f; pinned nodes have neither.
TYPED_TEST(ContactTermsTest, SystemsTakeTheSums) {
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
  const std::vector<Index> none(nodal.block_rows.size() + 1, 0);
  const std::vector<Real> massless(static_cast<std::size_t>(p.node_count), Real(0));
  const SampleForces<Real> forces_of{
      .block_slots = this->samples.block_slots.view(),
      .node_slots = this->samples.node_slots.view(),
      .slot_samples = this->samples.slot_samples.view(),
      .weights = {this->weights.data(), this->weights.size()},
      .stiffness = {this->sample_stiffness.data(), this->sample_stiffness.size()},
      .forces = {this->sample_forces.data(), this->sample_forces.size()}};
  const ArrayView<const Index> zeros{none.data(), none.size()};
  AssembleSystem<Real> system{};
  system.metric.masses = {massless.data(), massless.size()};
  system.free = this->arrays.free_view();
  system.block_rows = {nodal.block_rows.data(), nodal.block_rows.size()};
  system.block_columns = {nodal.block_columns.data(), nodal.block_columns.size()};
  system.metric_terms.begin = system.scalar_terms.begin = zeros;
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
  gradient.metric_terms.begin = gradient.scalar_terms.begin = zeros;
  gradient.samples = forces_of;
  for (Index i = 0; i < free_count; ++i) {
    const Vec3<Real> b = cpu::gradient(gradient, i);
    const Vector3d wanted = right.segment<3>(3 * i);
    EXPECT_LE((Vector3d(b.x, b.y, b.z) - wanted).norm(), u * right.norm()) << i;
  }
}

}  // namespace
}  // namespace isocloth
