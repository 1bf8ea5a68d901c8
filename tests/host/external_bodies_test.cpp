// Bodies whose dynamics are another program's.
#include "host/bodies/external_bodies.hpp"

#include <Eigen/Dense>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/host/body_case.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Pose at(const Vec3d& center, const Vec3d& turn = {}) {
  return {center, turned_axes(turn, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})};
}

std::vector<double> rows_of(const MatrixXd& matrix) {
  std::vector<double> rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) rows.push_back(matrix(i, j));
  return rows;
}

/// Two external bodies with a free one between them, over a sheet without gravity.
Scene fingers() {
  Garment sheet = square_sheet(9, 0.3, 0);
  sheet.fabric.thickness = 0.002;
  sheet.fabric.stretch_stiffness = 2000;
  sheet.fabric.shear_stiffness = 100;
  std::vector<RigidBody> bodies{body(BoxShape{{0.06, 0.06, 0.02}, 0.004}, 1, {0, 0, 0.0115}, 0.5),
                                body(SphereShape{0.01}, 0.01, {0, 0, 0.3}),
                                body(BoxShape{{0.06, 0.06, 0.02}, 0.004}, 1, {0, 0, -0.0115}, 0.5)};
  bodies[0].is_external = bodies[2].is_external = true;
  Scene scene = body_scene(sheet, bodies, 0.005);
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.contact.tolerance = 1e-5;
  scene.projection.force_tolerance = 1e-7;
  return scene;
}

/// A mechanism of one hinge through the origin along y, which carries both, and a slide of each along z.
MatrixXd inverse_inertia_of_hinge(const std::vector<Vec3d>& places, double inertia, double mass) {
  MatrixXd jacobian = MatrixXd::Zero(12, 3);
  for (Eigen::Index i = 0; i < 2; ++i) {
    const Vec3d way = cross(Vec3d{0, 1, 0}, places[static_cast<std::size_t>(i)]);
    jacobian.block<6, 1>(6 * i, 0) << way.x, way.y, way.z, 0, 1, 0;
    jacobian(6 * i + 2, 1 + i) = 1;
  }
  return jacobian * Eigen::Vector3d(1 / inertia, 1 / mass, 1 / mass).asDiagonal() * jacobian.transpose();
}

TEST(ExternalBodies, MoveByCoordinatesOfTheirMechanism) {
  const Scene scene = fingers();
  ExternalBodies bodies(scene);
  EXPECT_EQ(bodies.moves_by_unknowns().cols(), 6);  // of the free one, while the others rest
  const std::vector<Vec3d> places{{0.1, 0, 0.2}, {0.1, 0, -0.2}};
  const MatrixXd w = inverse_inertia_of_hinge(places, 0.02, 0.1);
  bodies.set({.bodies = {0, 2},
              .begin = {at(places[0]), at(places[1])},
              .free_end = {at(places[0]), at(places[1])},
              .inverse_inertia = rows_of(w)});
  EXPECT_EQ(bodies.coordinate_count(), 3);  // W has rank 3
  const MatrixXd moves = bodies.moves_by_unknowns();
  ASSERT_EQ(moves.cols(), 9);
  const MatrixXd root = moves.rightCols(3), product = root * root.transpose();
  const std::vector<Eigen::Index> own{0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17};
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 12; ++j)
      EXPECT_NEAR(product(own[i], own[j]), w(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
                  1e-9);
  EXPECT_EQ(root.middleRows(6, 6).norm(), 0);
}

TEST(ExternalBodies, FlyInPartsOfAStepAsInTheWhole) {
  ExternalBodies bodies(fingers());
  const Pose begin = at({0.1, 0, 0}, {0.2, 0, 0}), end = at({0.2, 0.1, 0}, {0.2, 0.7, 0.4});
  bodies.set(
      {.bodies = {0}, .begin = {begin}, .free_end = {end}, .inverse_inertia = std::vector<double>(36)});
  const Pose whole = bodies.flight(0, begin, 0.01, 0, 1);
  EXPECT_LT(norm(whole.center - end.center), 1e-16);
  EXPECT_LT(norm(turn_between(whole.axes, end.axes)), 1e-15);
  const Pose half = bodies.flight(0, begin, 0.005, 0, 0.5), rest = bodies.flight(0, half, 0.005, 0.5, 1);
  EXPECT_LT(norm(rest.center - end.center), 1e-16);
  EXPECT_LT(norm(turn_between(rest.axes, end.axes)), 1e-15);
  // A push in the first half lasts in the second.
  bodies.deviate(0, {0.001, 0, 0}, {}, 0.005);
  EXPECT_NEAR(bodies.flight(0, half, 0.005, 0.5, 1).center.x - end.center.x, 0.001, 1e-15);
}

/// What pushes them moves them as W says, whatever the cloth does, and what the cloth reports is what they
/// report.
TEST(ExternalBodies, DepartFromTheFreeMotionByTheirInverseInertia) {
  const Scene scene = fingers();
  Simulation simulation(scene, {.threads = 1});
  const double h = scene.step;
  std::vector<Vec3d> places{{0, 0, 0.0115}, {0, 0, -0.0115}};
  double pressed = 0;
  for (int n = 0; n < 20; ++n) {
    const MatrixXd w = inverse_inertia_of_hinge(places, 0.02, 0.1);
    // Both are driven together by 1 N, and along the hinge by a torque.
    const Vec3d way{2e-5, 0, 0};
    simulation.set_external_motion({.bodies = {0, 2},
                                    .begin = {at(places[0]), at(places[1])},
                                    .free_end = {at(places[0] + way - Vec3d{0, 0, h * h / 0.1}),
                                                 at(places[1] + way + Vec3d{0, 0, h * h / 0.1})},
                                    .inverse_inertia = rows_of(w)});
    ASSERT_EQ(simulation.step()[0].status, StepStatus::converged);
    const std::vector<Wrench> pushes = simulation.body_wrenches();
    const std::vector<Pose> poses = simulation.poses();
    VectorXd f(12), moved(12);
    for (std::size_t i = 0; i < 2; ++i) {
      const Wrench& own = pushes[2 * i];
      const double sign = i == 0 ? -1 : 1;
      const Vec3d move = poses[2 * i].center - (places[i] + way + Vec3d{0, 0, sign * h * h / 0.1}),
                  turn = turn_between(at({}).axes, poses[2 * i].axes);
      const auto at_row = static_cast<Eigen::Index>(6 * i);
      f.segment<6>(at_row) << own.force.x, own.force.y, own.force.z, own.torque.x, own.torque.y, own.torque.z;
      moved.segment<6>(at_row) << move.x, move.y, move.z, turn.x, turn.y, turn.z;
      places[i] = poses[2 * i].center;
    }
    const VectorXd expected = h * h * (w * f);
    EXPECT_LT((moved - expected).lpNorm<Eigen::Infinity>(), 1e-3 * expected.lpNorm<Eigen::Infinity>() + 1e-9)
        << n;
    pressed = std::max(pressed, pushes[0].force.z);
    const std::vector<Wrench> felt = simulation.wrenches()[0];
    for (std::size_t b : {0u, 2u}) EXPECT_LT(norm(felt[b].force - pushes[b].force), 0.1) << n;
  }
  EXPECT_GT(pressed, 0.5);
  const std::vector<Wrench> felt = simulation.wrenches()[0], pushes = simulation.body_wrenches();
  for (std::size_t b : {0u, 2u}) EXPECT_LT(norm(felt[b].force - pushes[b].force), 1e-3);  // at rest
}

TEST(ExternalBodies, RestWhereNothingIsSaidAndPassThroughObstacles) {
  Scene scene = fingers();
  scene.obstacles = {obstacle(PlaneShape{}, {0, 0, 0}, 0.3)};  // both are in it, or next to it
  scene.garments[0].initial_positions.clear();
  for (Vec3d& p : scene.garments[0].mesh.positions) p.z += 1;
  Simulation simulation(scene);
  const std::vector<Pose> before = simulation.poses();
  simulation.advance(5);
  EXPECT_EQ(simulation.poses()[1].center, before[1].center);
  EXPECT_EQ(simulation.poses()[3].center, before[3].center);
}

TEST(ExternalBodies, AreNamedWhereTheyAreRefused) {
  const Scene scene = fingers();
  const auto refusal = [&](ExternalMotion motion) -> std::string {
    try {
      check_external_motion(scene, motion);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::vector<double> none(36);
  EXPECT_EQ(refusal({.bodies = {0}, .begin = {at({})}, .free_end = {at({})}, .inverse_inertia = none}),
            "accepted");
  EXPECT_EQ(refusal({.bodies = {1}, .begin = {at({})}, .free_end = {at({})}, .inverse_inertia = none}),
            "bodies[1] \"body 1\": found one that moves by its own mass, expected an external one: "
            "\"external\": true");
  EXPECT_EQ(refusal({.bodies = {7}, .begin = {at({})}, .free_end = {at({})}, .inverse_inertia = none}),
            "body: found index 7, expected less than 3");
  EXPECT_EQ(refusal({.bodies = {0}, .begin = {at({})}, .free_end = {}, .inverse_inertia = none}),
            "free_end: found 0, expected 1");
  EXPECT_NE(
      refusal(
          {.bodies = {0}, .begin = {at({std::nan(""), 0, 0})}, .free_end = {at({})}, .inverse_inertia = none})
          .find("bodies[0] \"body 0\".begin"),
      std::string::npos);
}

}  // namespace
}  // namespace isocloth
