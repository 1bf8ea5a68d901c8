#include "host/energy/contact_work.hpp"

namespace isocloth::energy {
namespace {

/// Where the point of a frame was that is at `position` now.
Vec3d position_before(const Pose& before, const Pose& now, const Vec3d& position) {
  const Vec3d r = position - now.center;
  Vec3d found = before.center;
  for (int i = 0; i < 3; ++i) found += dot(now.axes[i], r) * before.axes[i];
  return found;
}

}  // namespace

void ContactWork::act(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) const {
  const auto& contacts = part.end.state.contacts;
  const std::size_t obstacle_count = part.scene.obstacles.size();
  for (std::size_t c = 0; c < contacts.size() && c < samples_.size(); ++c) {
    if (contacts[c].obstacle < 0 || contacts[c].force == Vec3d{}) continue;
    const ContactSamples::Sample& sample = samples_[c];
    const std::array<double, 4> weights = sample.weights(contacts[c].uv);
    const Vec3d p = 1 / (part.step * part.step) * contacts[c].force;
    Vec3d position, way;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sample.count); ++i) {
      position += weights[i] * vector(part.to.row(sample.nodes[i]));
      way += weights[i] * vector(part.move.row(sample.nodes[i]));
      force.row(sample.nodes[i]) += weights[i] * row(p);
    }
    const auto o = static_cast<std::size_t>(contacts[c].obstacle);
    Vec3d of_obstacle;
    if (o < obstacle_count) {
      const Obstacle& obstacle = part.scene.obstacles[o];
      const auto pose_at = [&](double t) {
        return obstacle_pose(obstacle, part.garment.world, {t, t - part.lead});
      };
      of_obstacle = position -
                    position_before(pose_at(part.begin_time), pose_at(part.begin_time + part.step), position);
    } else {
      const std::size_t b = o - obstacle_count;
      of_obstacle = part.share * (position - position_before(part.bodies_before[b].pose,
                                                             part.bodies_after[b].pose, position));
    }
    sums.work_obstacles += dot(p, of_obstacle);
    sums.loss_contact -= dot(p, way - of_obstacle);
  }
}

void add_cloth_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) {
  for (std::size_t i = 0; i < part.end.cloth_forces.size(); ++i) {
    const Eigen::RowVector3d own = row(part.end.cloth_forces[i]);
    force.row(static_cast<Eigen::Index>(i)) += own;
    sums.work_cloth += own.dot(part.move.row(static_cast<Eigen::Index>(i)));
  }
}

void add_hold_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) {
  const auto& holds = part.end.state.holds;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (holds[i].gripper < 0) continue;
    const Gripper& gripper = part.garment.grippers[static_cast<std::size_t>(holds[i].gripper)];
    if (!(gripper.stiffness > 0)) continue;  // what it exerts is what its node needs
    const Eigen::RowVector3d own = 1 / (part.step * part.step) * row(holds[i].force);
    force.row(static_cast<Eigen::Index>(i)) += own;
    sums.work_grippers += own.dot(part.move.row(static_cast<Eigen::Index>(i)));
  }
}

}  // namespace isocloth::energy
