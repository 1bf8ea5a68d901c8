// Grippers, drag and given forces on the nodes of a sheet, against their formulas.
#include "kernels/samples/sample_terms.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A pentagon around a node: two quads, a triangle, and a quad of size zero.
constexpr Index face_begin[] = {0, 4, 8, 11, 15},
                face_nodes[] = {0, 1, 2, 3, 0, 3, 4, 5, 0, 5, 1, 5, 5, 5, 5},
                node_face_begin[] = {0, 3, 5, 6, 8, 9, 15},
                node_faces[] = {0, 1, 2, 0, 2, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3};
constexpr Index nodes = 6, sample_begin[] = {0, 1, 2, 3, 4, 5, 6};

template <class Real>
class SampleTermsTest : public ::testing::Test {
 protected:
  static constexpr double h = 0.0078125, rate = 1.5, inertia = 1.5, mean_mass = 0.25;

  SampleTermsTest() {
    Random random(3);
    auto fill = [&](std::vector<Real>& v, std::size_t count, double size) {
      for (std::size_t i = 0; i < count; ++i) v.push_back(static_cast<Real>(random.uniform(-size, size)));
    };
    fill(start, 3 * nodes, 1);
    iterate = base = start;
    for (Real& x : base) x += static_cast<Real>(random.uniform(-0.01, 0.01));
    for (Real& x : iterate) x += static_cast<Real>(random.uniform(-0.01, 0.01));
    fill(stiffness, 6 * nodes, 1);
    fill(forces, 3 * nodes, 1);
    fill(hold_forces, 3 * nodes, 0.1);
    fill(places, 3 * nodes, 0.1);
    fill(load, 3 * nodes, 1000);
    inverse_masses = {4, 4, 8, 2, 4, 0};  // the last is pinned
    held_masses = std::vector<Real>(nodes, Real(77));
    holders = {-1, 0, 1, 2, -1, -1};
    grippers.resize(3);
    grippers[1].stiffness = Real(40);
    for (GripperView<Real>& g : grippers) {
      g.region.kind = ShapeKind::capsule;
      g.region.rounding = Real(0.5);
    }
    const double c = 0.8, s = 0.6;  // a turn about z
    for (int g = 0; g < 3; ++g) {
      const Real x = static_cast<Real>(0.1 * g), one = 1, zero = 0;
      begin.push_back({{x, zero, zero}, {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}});
      end.push_back({{x, one, zero},
                     {{static_cast<Real>(c), static_cast<Real>(s), zero},
                      {static_cast<Real>(-s), static_cast<Real>(c), zero},
                      {zero, zero, one}}});
    }
  }

  static Strided<Real> strided(std::vector<Real>& v) { return {v.data(), 1}; }

  ActOnSamples<Real> args;

  template <class Use>
  void with_terms(const Use& use) {
    args.pattern.node_count = nodes;
    args.pattern.sample_begin = {sample_begin, nodes + 1};
    args.grippers = {{grippers.data(), 3}, {begin.data(), 3}, {end.data(), 3}, {grips.data(), 3}};
    args.holds = {strided(hold_forces), strided(holders), strided(places), strided(held_masses)};
    args.faces = {{face_begin, 5}, {face_nodes, 15}, {node_face_begin, nodes + 1}, {node_faces, 15}};
    args.forces.drag = drag;
    args.forces.load.forces = {reinterpret_cast<const Vec3<Real>*>(load.data()), nodes};
    args.control.inertia = static_cast<Real>(inertia);
    args.control.step = static_cast<Real>(h);
    args.control.rate = static_cast<Real>(rate);
    args.control.mean_mass = static_cast<Real>(mean_mass);
    args.positions = {{start.data(), 1},
                      {base.data(), 1},
                      {iterate.data(), 1},
                      {held_masses.data(), 1},
                      {inverse_masses.data(), 1}};
    args.contacts.sample_stiffness = strided(stiffness);
    args.contacts.sample_forces = strided(forces);
    args.contacts.depths = strided(depths);
    args.contacts.errors = strided(errors);
    args.contacts.weights = strided(weights);
    use(cpu::SampleTerms<Real>(args));
  }

  static Vector3d at(const std::vector<Real>& v, Index i) {
    return {static_cast<double>(v[3 * i]), static_cast<double>(v[3 * i + 1]),
            static_cast<double>(v[3 * i + 2])};
  }
  static Matrix3d matrix(const std::vector<Real>& v, Index i) {
    const Real* a = v.data() + 6 * i;
    Matrix3d m;
    m << a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5];
    return m;
  }
  /// Sum over the faces of a node of its part of A (q_n n n^T + q_t (I - n n^T)), the vector area by Newell.
  Matrix3d expected_drag(Index node) const {
    Matrix3d sum = Matrix3d::Zero();
    for (Index f = 0; f < 4; ++f) {
      const Index size = face_begin[f + 1] - face_begin[f];
      Vector3d area = Vector3d::Zero();
      double count = 0;
      for (Index i = 0; i < size; ++i) {
        const Index a = face_nodes[face_begin[f] + i], b = face_nodes[face_begin[f] + (i + 1) % size];
        area += 0.5 * at(start, a).cross(at(start, b));
        count += a == node;
      }
      if (count == 0 || area.norm() < 1e-9) continue;
      const Vector3d n = area.normalized();
      const Matrix3d across = n * n.transpose();
      sum += count / static_cast<double>(size) * area.norm() *
             (static_cast<double>(drag.normal) * across +
              static_cast<double>(drag.tangential) * (Matrix3d::Identity() - across));
    }
    return sum;
  }
  Vector3d target(Index node, int g) const {
    const Vector3d p = at(places, node);
    return Vector3d(0.1 * g + 0.8 * p.x() - 0.6 * p.y(), 1 + 0.6 * p.x() + 0.8 * p.y(), p.z());
  }
  double rounding(double growth) const {
    return growth * static_cast<double>(std::numeric_limits<Real>::epsilon());
  }

  std::vector<Real> start, base, iterate, stiffness, forces, hold_forces, places, load, inverse_masses,
      held_masses, holders, depths = std::vector<Real>(nodes), errors = depths,
                            weights = std::vector<Real>(nodes);
  std::vector<Real> grips{2, 2, 2};
  std::vector<GripperView<Real>> grippers;
  std::vector<PoseView<Real>> begin, end;
  DragView<Real> drag{Real(3), Real(0.5), {Real(2), Real(-1), Real(0.5)}};
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SampleTermsTest, Precisions);

TYPED_TEST(SampleTermsTest, StiffnessAndForcesFollowTheFormulas) {
  using Real = TypeParam;
  const std::vector<Real> kept = this->hold_forces;
  this->with_terms([&](const cpu::SampleTerms<Real>& terms) {
    for (Index i = 0; i < nodes; ++i) terms.begin(i);
    for (Index i = 0; i < nodes; ++i) terms.act(i);
  });
  const Vector3d wind(2, -1, 0.5);
  for (Index i = 0; i < nodes; ++i) {
    const Matrix3d d = this->expected_drag(i);
    Matrix3d k = this->h * this->rate * d;
    const Vector3d moved = this->at(this->iterate, i) - this->at(this->base, i);
    Vector3d f =
        this->h * d * (this->h * wind - this->rate * moved) + this->h * this->h * this->at(this->load, i);
    const int holder = static_cast<int>(this->holders[i]);
    Vector3d p = this->at(kept, i);
    if (holder == 1) {
      const double spring = this->h * this->h * 40 / static_cast<double>(this->inverse_masses[i]);
      p = spring * (this->target(i, 1) - this->at(this->iterate, i));
      k += spring * Matrix3d::Identity();
    } else if (holder >= 0) {
      k += 1e14 * this->inertia * this->mean_mass * Matrix3d::Identity();
    }
    if (holder >= 0) f += p;
    EXPECT_LT((this->matrix(this->stiffness, i) - k).norm(), this->rounding(20) * (k.norm() + 2));
    EXPECT_LT((this->at(this->forces, i) - f).norm(), this->rounding(40) * 2);
    EXPECT_LT((this->at(this->hold_forces, i) - p).norm(), this->rounding(20));
    EXPECT_EQ(this->held_masses[i], holder == 0 || holder == 2 ? Real(0) : this->inverse_masses[i]);
  }
}

// 1/2 rho (C_n |w_n| w_n + C_t |w_t| w_t) per area at the iterate, and minus its derivative by the place.
TYPED_TEST(SampleTermsTest, QuadraticDragIsThatOfItsFormula) {
  using Real = TypeParam;
  const auto drag_of = [this](Index node) {
    Vector3d sum = Vector3d::Zero();
    const Vector3d wind(2, -1, 0.5);
    const Vector3d w =
        wind - this->rate / this->h * (this->at(this->iterate, node) - this->at(this->base, node));
    for (Index f = 0; f < 4; ++f) {
      const Index size = face_begin[f + 1] - face_begin[f];
      Vector3d area = Vector3d::Zero();
      double count = 0;
      for (Index i = 0; i < size; ++i) {
        const Index a = face_nodes[face_begin[f] + i], b = face_nodes[face_begin[f] + (i + 1) % size];
        area += 0.5 * this->at(this->start, a).cross(this->at(this->start, b));
        count += a == node;
      }
      if (count == 0 || area.norm() < 1e-9) continue;
      const Vector3d n = area.normalized(), across = n.dot(w) * n, along = w - across;
      sum += count / static_cast<double>(size) * area.norm() *
             (0.75 * across.norm() * across + 0.0625 * along.norm() * along);
    }
    return sum;
  };
  this->drag = {
      .wind = {Real(2), Real(-1), Real(0.5)}, .normal_square = Real(0.75), .tangential_square = Real(0.0625)};
  std::fill(this->load.begin(), this->load.end(), Real(0));
  this->holders.assign(nodes, Real(-1));
  const auto act = [this] {
    this->with_terms([](const cpu::SampleTerms<Real>& terms) {
      for (Index i = 0; i < nodes; ++i) terms.begin(i);
      for (Index i = 0; i < nodes; ++i) terms.act(i);
    });
  };
  act();
  const std::vector<Real> found = this->forces, slopes = this->stiffness;
  const double square = this->h * this->h;
  for (Index i = 0; i < nodes; ++i) {
    const Vector3d expected = square * drag_of(i);
    EXPECT_LT((this->at(found, i) - expected).norm(), this->rounding(40) * (expected.norm() + square)) << i;
  }
  if constexpr (std::is_same_v<Real, double>) {
    constexpr double by = 1e-7;  // of places; forces are known to 1e-16 of 0.01
    for (Index i = 0; i < nodes; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        double& x = this->iterate[static_cast<std::size_t>(3 * i + axis)];
        const double kept = x;
        x = kept + by;
        const Vector3d more = drag_of(i);
        x = kept - by;
        const Vector3d slope = -square / (2 * by) * (more - drag_of(i));
        x = kept;
        EXPECT_LT((this->matrix(slopes, i).col(axis) - slope).norm(), 1e-6 * (slope.norm() + square)) << i;
      }
  }
}

// Where forces are those of one iteration, on top of others, only the stiffness of holds and drag acts in it;
// in the step without constraints they act.
TYPED_TEST(SampleTermsTest, ForcesThatAreNotKeptActWithoutContactsAlone) {
  using Real = TypeParam;
  this->args.control.keeps_forces = false;
  this->holders[1] = -1;  // a soft hold keeps what it pulls with
  const std::vector<Real> kept = this->hold_forces, none(this->forces.size());
  const auto act = [this] {
    this->with_terms([&](const cpu::SampleTerms<Real>& terms) {
      for (Index i = 0; i < nodes; ++i) terms.begin(i);
      for (Index i = 0; i < nodes; ++i) terms.act(i);
    });
  };
  act();
  EXPECT_EQ(this->forces, none);
  EXPECT_EQ(this->hold_forces, kept);
  const std::vector<Real> stiffness0 = this->stiffness;
  EXPECT_NE(stiffness0, std::vector<Real>(stiffness0.size()));
  this->args.without_contacts = true;
  act();
  EXPECT_NE(this->forces, none);
  EXPECT_EQ(this->stiffness, stiffness0);
}

TYPED_TEST(SampleTermsTest, CorrectionsChangeForcesByTheStiffness) {
  using Real = TypeParam;
  const std::vector<Real> kept = this->hold_forces;
  const Vec3<Real> move{Real(1e-15), Real(-2e-15), Real(3e-15)}, soft{Real(0.001), Real(0.002), Real(-0.001)};
  this->with_terms([&](const cpu::SampleTerms<Real>& terms) {
    for (Index i = 0; i < nodes; ++i) terms.begin(i);
    for (Index i = 0; i < nodes; ++i)
      terms.update(
          i, [&](Index node) { return node == 2 ? soft : move; }, [](Index, Index) { return Vec3<Real>{}; });
  });
  for (Index i = 0; i < nodes; ++i) {
    const int holder = static_cast<int>(this->holders[i]);
    const Vec3<Real> d = i == 2 ? soft : move;
    const double k = holder < 0    ? 0
                     : holder == 1 ? this->h * this->h * 40 / static_cast<double>(this->inverse_masses[i])
                                   : 1e14 * this->inertia * this->mean_mass;
    const Vector3d expected = this->at(kept, i) - k * Vector3d(d.x, d.y, d.z);
    EXPECT_LT((this->at(this->hold_forces, i) - expected).norm(), this->rounding(10) * (expected.norm() + 1));
  }
}

// Open grippers let go; closing ones take free nodes within their reach that nothing else holds.
TYPED_TEST(SampleTermsTest, GrippersOpenAndClose) {
  using Real = TypeParam;
  this->grips = {static_cast<Real>(Grip::open), static_cast<Real>(Grip::closing),
                 static_cast<Real>(Grip::closed)};
  for (const Index near : {0, 4, 5})
    for (int k = 0; k < 3; ++k) this->start[3 * near + k] = Real(0.1);
  for (int k = 0; k < 3; ++k) this->start[3 * 1 + k] = Real(0.4);  // let go, and out of reach: 0.64 away
  const Vector3d place = this->at(this->places, 2);
  this->with_terms([&](const cpu::SampleTerms<Real>& terms) {
    for (int twice = 0; twice < 2; ++twice)
      for (Index i = 0; i < nodes; ++i) terms.begin(i);
    for (Index i = 0; i < nodes; ++i) terms.place(i, this->strided(this->iterate));
  });
  EXPECT_EQ(this->holders, (std::vector<Real>{1, -1, 1, 2, 1, -1}));  // 5 is pinned
  EXPECT_EQ(this->at(this->hold_forces, 1), Vector3d::Zero());
  EXPECT_EQ(this->at(this->hold_forces, 0), Vector3d::Zero());
  EXPECT_EQ(this->at(this->places, 2), place);
  EXPECT_LT((this->at(this->places, 0) - Vector3d(0, 0.1, 0.1)).norm(), this->rounding(2));
  EXPECT_LT((this->at(this->iterate, 3) - this->target(3, 2)).norm(), this->rounding(8));
}

}  // namespace
}  // namespace isocloth
