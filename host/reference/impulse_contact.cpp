#include "host/reference/impulse_contact.hpp"

#include <algorithm>
#include <utility>

namespace isocloth::reference {
namespace {

Vec3d row(const MatrixX3d& m, Eigen::Index i) { return {m(i, 0), m(i, 1), m(i, 2)}; }
void add(MatrixX3d& m, Eigen::Index i, Vec3d v) { m.row(i) += Eigen::RowVector3d(v.x, v.y, v.z); }

Vec3d to_local(const Pose& pose, Vec3d x) {
  const Vec3d r = x - pose.center;
  return {dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
}
Vec3d turned(const Pose& pose, Vec3d v) {
  return v.x * pose.axes[0] + v.y * pose.axes[1] + v.z * pose.axes[2];
}
Vec3d to_world(const Pose& pose, Vec3d local) { return pose.center + turned(pose, local); }

}  // namespace

ImpulseContact::ImpulseContact(const std::vector<Obstacle>& obstacles, double offset, double tolerance,
                               VectorXd inverse_masses)
    : obstacles_(obstacles),
      offset_(offset),
      tolerance_(tolerance),
      inverse_masses_(std::move(inverse_masses)),
      contacts_(obstacles.size(), std::vector<Contact>(static_cast<std::size_t>(inverse_masses_.size()))),
      forces_(obstacles.size(), MatrixX3d::Zero(inverse_masses_.size(), 3)),
      depths_(obstacles.size(), VectorXd::Zero(inverse_masses_.size())) {
  for (const Obstacle& obstacle : obstacles_) shapes_.emplace_back(obstacle.shape);
}

void ImpulseContact::begin_step(const MatrixX3d& positions, double t, double h, int parts, double air) {
  start_ = t;
  end_ = t + h;
  parts_ = parts;
  air_ = air;
  for (MatrixX3d& forces : forces_) forces.setZero();
  if (push_out_time_ == 0) return;
  const auto share = [this](double time) {
    const double s = std::min(time / push_out_time_, 1.0);
    return (1 - s) * (1 - s) * (1 + 2 * s);
  };
  shares_ = {share(start_), share(end_)};
  for (std::size_t o = 0; o < obstacles_.size(); ++o)
    for (Eigen::Index i = 0; i < positions.rows(); ++i) {
      const Pose now = obstacle_pose(obstacles_[o], start_);
      const double depth = offset_ - shapes_[o].at(to_local(now, row(positions, i))).value;
      if (t == 0)
        depths_[o][i] = depth > tolerance_ ? depth : 0;
      else if (shares_[0] == 0)
        depths_[o][i] = 0;
      else
        depths_[o][i] = std::max(0.0, std::min(depths_[o][i], depth / shares_[0]));
    }
}

double ImpulseContact::sunk(std::size_t obstacle, Eigen::Index node, double done) const {
  return depths_[obstacle][node] * ((1 - done) * shares_[0] + done * shares_[1]);
}

double ImpulseContact::depenetration_depth() const {
  double deepest = 0;
  for (const VectorXd& depths : depths_) deepest = std::max(deepest, shares_[1] * depths.maxCoeff());
  return deepest;
}

void ImpulseContact::begin_substep(int part) {
  part_ = part;
  has_floors_ = false;
  for (auto& contacts : contacts_) std::fill(contacts.begin(), contacts.end(), Contact{});
}

void ImpulseContact::end_part() {
  for (std::size_t o = 0; o < obstacles_.size(); ++o)
    for (Eigen::Index i = 0; i < inverse_masses_.size(); ++i)
      add(forces_[o], i, parts_ * air_ * contacts_[o][static_cast<std::size_t>(i)].impulse);
}

Pose ImpulseContact::pose(std::size_t obstacle, double done) const {
  const Pose begin = obstacle_pose(obstacles_[obstacle], start_),
             end = obstacle_pose(obstacles_[obstacle], end_);
  const auto between = [done](Vec3d a, Vec3d b) { return (1 - done) * a + done * b; };
  Pose pose;
  pose.center = between(begin.center, end.center);
  pose.axes[0] = normalized(between(begin.axes[0], end.axes[0]));
  const Vec3d second = between(begin.axes[1], end.axes[1]);
  pose.axes[1] = normalized(second - dot(pose.axes[0], second) * pose.axes[0]);
  pose.axes[2] = cross(pose.axes[0], pose.axes[1]);
  return pose;
}

Vec3d ImpulseContact::act(Contact& contact, const Friction& friction, double w, double gap, Vec3d normal,
                          Vec3d way, double floor) const {
  const Vec3d before = contact.impulse;
  const double along = dot(before, normal);
  const double lambda = std::max({0.0, std::max(along, 0.0) - gap / w, floor});
  Vec3d tau = before - along * normal - (1 / w) * (way - dot(way, normal) * normal);
  if (norm(tau) > friction.static_ * lambda) tau = (friction.dynamic * lambda / norm(tau)) * tau;
  contact.impulse = lambda * normal + tau;
  contact.normal = normal;
  return contact.impulse - before;
}

double ImpulseContact::correct_positions(const MatrixX3d& positions, MatrixX3d& displacements) {
  double moved = 0;
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
      Contact& contact = contacts_[o][static_cast<std::size_t>(i)];
      const double w = inverse_masses_[i];
      const double from_done = static_cast<double>(part_) / parts_,
                   to_done = static_cast<double>(part_ + 1) / parts_;
      const Pose begin = pose(o, from_done), end = pose(o, to_done);
      const Vec3d x = row(positions, i), u = row(displacements, i), from = to_local(begin, x);
      const SignedDistance there = shapes_[o].at(to_local(end, x + u));
      double gap = there.value - offset_ + sunk(o, i, to_done);
      if (gap < 0) {
        const double earlier = std::min(shapes_[o].at(from).value - offset_ + sunk(o, i, from_done), 0.0);
        const double shallow = std::max(earlier, -tolerance_), deep = earlier - shallow;
        gap -= (1 - 0.1 / parts_) * shallow + (1 - 0.5 / parts_) * deep;
      }
      if (w == 0 || (gap >= 0 && norm(contact.impulse) == 0)) continue;
      const Vec3d surface = to_world(end, from) - x;
      const Vec3d change =
          act(contact, obstacles_[o].friction, w, gap, turned(end, there.gradient), u - surface, 0);
      add(displacements, i, w * change);
      moved = std::max(moved, w * norm(change));
    }
  return moved;
}

double ImpulseContact::correct_velocities(const MatrixX3d& positions, MatrixX3d& displacements) {
  double moved = 0;
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    for (std::size_t o = 0; o < obstacles_.size(); ++o) {
      Contact& contact = contacts_[o][static_cast<std::size_t>(i)];
      if (!has_floors_) contact.floor = dot(contact.impulse, contact.normal);
      const double w = inverse_masses_[i];
      if (!(contact.floor > 0) || w == 0) continue;
      const Pose begin = pose(o, static_cast<double>(part_) / parts_),
                 end = pose(o, static_cast<double>(part_ + 1) / parts_);
      const Vec3d x = row(positions, i), surface = x - to_world(begin, to_local(end, x)),
                  way = row(displacements, i) - surface;
      const Vec3d change = act(contact, obstacles_[o].friction, w, dot(way, contact.normal), contact.normal,
                               way, contact.floor);
      add(displacements, i, w * change);
      moved = std::max(moved, w * norm(change));
    }
  has_floors_ = true;
  return moved;
}

double ImpulseContact::penetration(const MatrixX3d& positions) const {
  double deepest = 0;
  for (std::size_t o = 0; o < obstacles_.size(); ++o)
    for (Eigen::Index i = 0; i < positions.rows(); ++i)
      deepest = std::max(
          deepest, offset_ - sunk(o, i, 1) -
                       shapes_[o].at(to_local(obstacle_pose(obstacles_[o], end_), row(positions, i))).value);
  return deepest;
}

}  // namespace isocloth::reference
