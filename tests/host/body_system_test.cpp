// The system of cloth and bodies against one dense solve.
#include <Eigen/Dense>

#include "host/projection/body_coupling.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Columns = Eigen::Matrix<double, 3, 6>;

RigidBody sunk_body(const char* name, const ObstacleShape& shape, double mass, Vec3d position) {
  return {.name = name,
          .shape = shape,
          .mass = mass,
          .position = position,
          .rotation = {0.1, -0.2, 0.3},
          .velocity = {0.2, -0.1, -0.4},
          .angular_velocity = {},
          .friction = {.static_ = 0.4, .dynamic = 0.3}};
}

/// S of a contact from what the kernels keep of it.
Eigen::Matrix3d stiffness_of(const ContactArrays<double>& a, std::size_t c) {
  const auto vector = [](Vec3d v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  const Eigen::Vector3d n = vector(a.normals.vector(c)), pull = vector(a.pulls.vector(c));
  const Eigen::Matrix3d along = n * n.transpose(), across = Eigen::Matrix3d::Identity() - along;
  Eigen::Matrix3d s = a.stiffness[3 * c] * along + a.stiffness[3 * c + 1] * across;
  if (static_cast<ContactMode>(static_cast<int>(a.modes[c])) == ContactMode::slide_on) {
    const Eigen::Vector3d way = (across * pull).normalized();
    s -= a.stiffness[3 * c + 1] * way * way.transpose();
  }
  return s;
}

// H^-1 itself is the solver's, column by column; all else is put together here.
TEST(BodySystem, IsThatOfOneDenseSolve) {
  const double h = 0.01;
  Garment sheet = square_sheet(5, 0.4, 0.3);
  sheet.pins = {{"corner", {0, 4}, FixedMotion{}}};
  Scene scene = contact_scene(sheet, obstacle(SphereShape{0.05}, {0.1, 0.1, 5}), h);
  scene.obstacles[0].name = "far";
  // Two bodies that press on the sheet, and one in the air.
  scene.bodies = {sunk_body("ball", SphereShape{0.08}, 0.3, {-0.05, 0.02, 0.0793}),
                  sunk_body("box", BoxShape{{0.08, 0.1, 0.06}, 0.01}, 2, {0.1, -0.1, 0.036}),
                  sunk_body("high", SphereShape{0.05}, 1, {0, 0, 1})};
  scene.contact.resolve_initial_penetration = true;
  scene.contact.initial_penetration_time = 0;
  const Device device(one_thread());
  const auto shapes = std::make_shared<ObstacleShapes<double>>(device, scene);
  ProjectionSolver<double> garment(device, scene.garments[0], scene, shapes);
  BodyCoupling<double> bodies(device, shapes);
  garment.start({{.offset = 0, .steps = 0}}, h, 1, {});
  garment.begin_request();
  garment.begin_step(0);
  const Substep<double> part{.number = 0, .h = h, .done = 0, .parts = 1};
  ASSERT_TRUE(garment.begin_substep(part));
  StepUnderWay<double> step{.garments = {&garment}, .control = {}};
  bodies.begin_substep(part);
  bodies.place(step, part);
  garment.assess(0);
  ASSERT_TRUE(garment.solve());

  const std::size_t free_count = garment.system().correction().size();
  const auto size = static_cast<Eigen::Index>(3 * free_count);
  Buffer<Vec3d> units(device, free_count * 3 * free_count), inverse(device, free_count * 3 * free_count);
  std::vector<Vec3d> identity(free_count * 3 * free_count);
  for (std::size_t k = 0; k < 3 * free_count; ++k) (&identity[k * free_count].x)[k] = 1;
  units.upload(identity);
  ASSERT_TRUE(garment.system().nodal_solver().solve_block(units, inverse, free_count,
                                                          column_begins(3 * free_count, free_count)));
  const std::vector<Vec3d> columns = inverse.download();
  const MatrixXd inverse_h = Eigen::Map<const MatrixXd>(&columns[0].x, size, size);
  const MatrixXd matrix_h = inverse_h.inverse();
  std::vector<Vec3d> alone = garment.system().correction().download();
  const VectorXd right_h = matrix_h * Eigen::Map<const VectorXd>(&alone[0].x, size);

  const Eigen::Index all = size + 18;
  MatrixXd matrix = MatrixXd::Zero(all, all);
  VectorXd right = VectorXd::Zero(all);
  matrix.topLeftCorner(size, size) = matrix_h;
  right.head(size) = right_h;
  for (Eigen::Index b = 0; b < 3; ++b) {
    const RigidBody& body = scene.bodies[static_cast<std::size_t>(b)];
    const Pose pose = bodies.states()[static_cast<std::size_t>(b)].pose;
    const Matrix3 inertia = turned_inertia(mass_properties(body.shape).inertia, pose.axes);
    for (Eigen::Index i = 0; i < 3; ++i) {
      matrix(size + 6 * b + i, size + 6 * b + i) = body.mass;
      const Vec3d& row = inertia[static_cast<std::size_t>(i)];
      matrix.row(size + 6 * b + 3 + i).segment(size + 6 * b + 3, 3) << body.mass * row.x, body.mass * row.y,
          body.mass * row.z;
    }
    right(size + 6 * b + 2) = -body.mass * h * h * scene.gravity;
  }
  const ActOnSamples<double>& found = garment.contacts().sample_arguments();
  const SamplePattern& p = found.pattern;
  const std::vector<Index> free = [&] {
    std::vector<Index> numbers(sheet.mesh.positions.size(), -1);
    Index next = 0;
    for (Index i = 0; i < sheet.mesh.node_count(); ++i)
      if (i != 0 && i != 4) numbers[static_cast<std::size_t>(i)] = next++;
    return numbers;
  }();
  int contacts[3] = {};
  for (Index s = 0; s < p.sample_count(); ++s)
    for (Index k = 0; k < p.contacts_of(s); ++k) {
      const auto c = static_cast<std::size_t>(p.first_contact(s) + k);
      const int b = static_cast<int>(found.contacts.obstacles[c]) - 1;
      if (b < 0 || static_cast<int>(found.contacts.modes[c]) == static_cast<int>(ContactMode::none)) continue;
      ++contacts[b];
      Vec3d x;
      for (Index slot = p.sample_begin[s]; slot < p.sample_begin[s + 1]; ++slot)
        x += found.contacts.weights[static_cast<std::size_t>(slot)] *
             found.positions.iterate.vector(static_cast<std::size_t>(p.slot_nodes[slot]));
      const RigidBody& body = scene.bodies[static_cast<std::size_t>(b)];
      const Vec3d r = x - (body.position + h * body.velocity);
      Columns j;
      j << 1, 0, 0, 0, r.z, -r.y, 0, 1, 0, -r.z, 0, r.x, 0, 0, 1, r.y, -r.x, 0;
      const Eigen::Matrix3d stiffness = stiffness_of(found.contacts, c);
      const Vec3d pull = found.contacts.pulls.vector(c);
      const Eigen::Index at = size + 6 * b;
      matrix.block<6, 6>(at, at) += j.transpose() * stiffness * j;
      right.segment<6>(at) -= j.transpose() * Eigen::Vector3d(pull.x, pull.y, pull.z);
      for (Index slot = p.sample_begin[s]; slot < p.sample_begin[s + 1]; ++slot) {
        const Index row = free[static_cast<std::size_t>(p.slot_nodes[slot])];
        if (row < 0) continue;
        const MatrixXd block = found.contacts.weights[static_cast<std::size_t>(slot)] * stiffness * j;
        matrix.block<3, 6>(3 * row, at) -= block;
        matrix.block<6, 3>(at, 3 * row) -= block.transpose();
      }
    }
  EXPECT_GT(contacts[0], 0);
  EXPECT_GT(contacts[1], 0);
  EXPECT_EQ(contacts[2], 0);
  const VectorXd expected = matrix.partialPivLu().solve(right);

  ASSERT_TRUE(bodies.solve(step));
  const std::vector<Vec3d> corrected = garment.system().correction().download();
  const ArrayView<const double> moves = step.moves.moves;
  // H comes from its inverse, and is off by eps times its condition.
  const Eigen::JacobiSVD<MatrixXd> svd(inverse_h);
  const double condition = svd.singularValues()(0) / svd.singularValues()(size - 1);
  const double known = 100 * std::numeric_limits<double>::epsilon() * condition * expected.norm();
  EXPECT_LT(known, 1e-3 * expected.norm());
  EXPECT_LE((Eigen::Map<const VectorXd>(&corrected[0].x, size) - expected.head(size)).norm(), known);
  EXPECT_LE((Eigen::Map<const VectorXd>(moves.data(), 18) - expected.tail(18)).norm(), known);
}

}  // namespace
}  // namespace isocloth
