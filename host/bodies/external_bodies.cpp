#include "host/bodies/external_bodies.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/core/checks.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

using Row = Eigen::Index;
using Eigen::MatrixXd;

/// Eigenvalues of W below this share of the largest are rounding.
constexpr double smallest_share = 1e-12;

MatrixXd inverse_inertia_of(const ExternalMotion& motion) {
  const auto size = static_cast<Row>(6 * motion.bodies.size());
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      motion.inverse_inertia.data(), size, size);
}

/// Where the centre of mass is.
Pose mass_pose(const Pose& shape, const MassProperties& properties) {
  const Vec3d& c = properties.center;
  return {.center = shape.center + c.x * shape.axes[0] + c.y * shape.axes[1] + c.z * shape.axes[2],
          .axes = shape.axes};
}

/// A share of the way from one pose to another.
Pose pose_at(const Pose& from, const Pose& to, double share) {
  if (from == to) return from;
  return {.center = from.center + share * (to.center - from.center),
          .axes = turned_axes(share * turn_between(from.axes, to.axes), from.axes)};
}

}  // namespace

ExternalBodies::ExternalBodies(const Scene& scene) {
  for (const RigidBody& body : scene.bodies) {
    Own own;
    own.is_external = body.is_external;
    own.properties = mass_properties(body.shape);
    count_ += own.is_external;
    bodies_.push_back(own);
  }
  forget();
}

void ExternalBodies::forget() {
  for (Own& own : bodies_) own.is_told = false;
  root_.resize(static_cast<Row>(6 * bodies_.size()), 0);
}

void ExternalBodies::set(const ExternalMotion& motion) {
  forget();
  MatrixXd root = inverse_inertia_of(motion);
  for (std::size_t i = 0; i < motion.bodies.size(); ++i) {
    Own& own = bodies_[motion.bodies[i]];
    own.is_told = true;
    own.begin = mass_pose(motion.begin[i], own.properties);
    own.free_end = mass_pose(motion.free_end[i], own.properties);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> found((root + root.transpose()) / 2);
  const double largest = std::max(found.eigenvalues().maxCoeff(), 0.0);
  std::vector<Row> kept;
  for (Row k = 0; k < root.cols(); ++k)
    if (found.eigenvalues()(k) > smallest_share * largest) kept.push_back(k);
  root_.setZero(static_cast<Row>(6 * bodies_.size()), static_cast<Row>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const Eigen::VectorXd column =
        std::sqrt(found.eigenvalues()(kept[k])) * found.eigenvectors().col(kept[k]);
    for (std::size_t i = 0; i < motion.bodies.size(); ++i) {
      const Own& own = bodies_[motion.bodies[i]];
      Eigen::Vector3d move = column.segment<3>(static_cast<Row>(6 * i));
      const Eigen::Vector3d turn = column.segment<3>(static_cast<Row>(6 * i + 3));
      // From the shape's origin to the centre of mass.
      const Vec3d arm = own.free_end.center - motion.free_end[i].center;
      move += turn.cross(Eigen::Vector3d(arm.x, arm.y, arm.z));
      root_.col(static_cast<Row>(k)).segment<6>(static_cast<Row>(6 * motion.bodies[i])) << move, turn;
    }
  }
}

void ExternalBodies::begin_step(std::vector<BodyState>& states) const {
  for (std::size_t b = 0; b < bodies_.size(); ++b)
    if (bodies_[b].is_told) states[b].pose = bodies_[b].begin;
}

void ExternalBodies::forget_deviations() {
  for (Own& own : bodies_) own.deviation = own.turn_deviation = {};
}

Pose ExternalBodies::flight(std::size_t body, const Pose& start, double h, double from_share,
                            double to_share) const {
  const Own& own = bodies_[body];
  if (!own.is_told) return start;
  const Pose from = pose_at(own.begin, own.free_end, from_share),
             to = pose_at(own.begin, own.free_end, to_share);
  return {.center = start.center + (to.center - from.center) + h * own.deviation,
          .axes = turned_axes(h * own.turn_deviation + turn_between(from.axes, to.axes), start.axes)};
}

void ExternalBodies::deviate(std::size_t body, const Vec3d& offset, const Vec3d& turn, double h) {
  bodies_[body].deviation += (1 / h) * offset;
  bodies_[body].turn_deviation += (1 / h) * turn;
}

MatrixXd ExternalBodies::moves_by_unknowns() const {
  const auto free = static_cast<Row>(6 * (bodies_.size() - count_));
  MatrixXd moves = MatrixXd::Zero(root_.rows(), free + root_.cols());
  Row column = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (bodies_[b].is_external) continue;
    moves.block<6, 6>(static_cast<Row>(6 * b), column).setIdentity();
    column += 6;
  }
  moves.rightCols(root_.cols()) = root_;
  return moves;
}

Eigen::VectorXd ExternalBodies::reconciled(const Eigen::VectorXd& wrenches,
                                           const Eigen::VectorXd& coordinates) const {
  if (root_.cols() == 0) return wrenches;
  const Eigen::VectorXd missing = coordinates - root_.transpose() * wrenches;
  return wrenches + root_ * (root_.transpose() * root_).ldlt().solve(missing);
}

void check_external_motion(const Scene& scene, const ExternalMotion& motion) {
  std::vector<char> is_named(scene.bodies.size(), 0);
  const std::size_t count = motion.bodies.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t b = motion.bodies[i];
    if (b >= scene.bodies.size())
      throw ShapeError(text("body: found index ", b, ", expected less than ", scene.bodies.size()));
    const std::string key = text("bodies[", b, "] \"", scene.bodies[b].name, "\": found ");
    if (!scene.bodies[b].is_external)
      throw ShapeError(key + "one that moves by its own mass, expected an external one: \"external\": true");
    if (is_named[b] != 0) throw ShapeError(key + "it twice, expected once");
    is_named[b] = 1;
  }
  const auto require_count = [&](const char* name, std::size_t found, std::size_t expected) {
    if (found != expected) throw ShapeError(text(name, ": found ", found, ", expected ", expected));
  };
  require_count("begin", motion.begin.size(), count);
  require_count("free_end", motion.free_end.size(), count);
  require_count("inverse_inertia", motion.inverse_inertia.size(), 36 * count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& [name, pose] :
         {std::pair{"begin", &motion.begin[i]}, {"free_end", &motion.free_end[i]}}) {
      const std::string key =
          text("bodies[", motion.bodies[i], "] \"", scene.bodies[motion.bodies[i]].name, "\".", name);
      require_finite(key, pose->center);
      require_position(key, pose->center);
      const double error = orthonormality_error(pose->axes);
      if (!(error <= 1e-9))
        throw ShapeError(text(key, ": found axes off by ", error, ", expected orthonormal ones"));
    }
  if (count == 0) return;
  const MatrixXd w = inverse_inertia_of(motion);
  if (!w.allFinite()) throw ShapeError("inverse_inertia: found what is not finite, expected finite numbers");
  const double size = w.cwiseAbs().maxCoeff(), skew = (w - w.transpose()).cwiseAbs().maxCoeff();
  if (skew > 1e-6 * size)
    throw ShapeError(text("inverse_inertia: found entries that differ from their mirror images by ", skew,
                          ", expected a symmetric matrix, J M^-1 J^T"));
  const double least =
      Eigen::SelfAdjointEigenSolver<MatrixXd>((w + w.transpose()) / 2).eigenvalues().minCoeff();
  if (least < -1e-9 * static_cast<double>(w.cols()) * size)
    throw ShapeError(text("inverse_inertia: found an eigenvalue of ", least,
                          ", expected none below 0: no body may move against what pushes it"));
}

}  // namespace isocloth
