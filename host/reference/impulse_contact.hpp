// Impulses that keep the nodes of a cloth out of obstacles, with Coulomb friction: what the kernels' contacts
// are validated against.
#pragma once

#include <array>
#include <vector>

#include "host/reference/garment_nodes.hpp"
#include "host/reference/obstacle_distance.hpp"

namespace isocloth::reference {

/// One node and one obstacle after the other. With P the sum of a contact's impulses of a part of a step, n
/// the normal and g the gap at the preview, w = 1 / m, s the node's way relative to the obstacle's surface:
/// lambda = max(0, n . P - g / w), and across n tau - s / w where that is no longer than static_ * lambda,
/// else shortened to dynamic * lambda. Obstacles go evenly from their pose at the beginning of a step to that
/// at its end. Nodes only: edges and faces are taken to touch nothing, and no node to move so far in a part
/// that it could pass through.
class ImpulseContact {
 public:
  /// offset: distance that nodes keep [m]; what lies inside by up to `tolerance` [m] when a part begins
  /// leaves by a tenth per step, what is beyond by half. inverse_masses: w [1/kg], 0: pinned.
  ImpulseContact(const std::vector<Obstacle>& obstacles, double offset, double tolerance,
                 VectorXd inverse_masses);
  /// Nodes that are inside by more than `tolerance` [m] in a step that begins at time 0 are eased out over
  /// `time` [s]: s = t / time after the start they may be (1 - s)^2 (1 + 2 s) as deep, or as deep as they
  /// are in less time; the depth that a step ends with comes evenly from that which it begins with. 0: never.
  void set_push_out(double time) { push_out_time_ = time; }

  /// Begins a step of h [s] from these positions [m] at time t [s] in so many parts. air: 1 + alpha h /
  /// (parts rho), what a force adds to a preview being an air-th of what an impulse does.
  void begin_step(const MatrixX3d& positions, double t, double h, int parts, double air);
  void begin_substep(int part);
  /// Impulses of all contacts at positions + displacements [m], shape [node_count, 3] each; returns the
  /// largest move of a node.
  double correct_positions(const MatrixX3d& positions, MatrixX3d& displacements);
  /// Impulses on velocities times the part's length [m], at the positions, of contacts that had impulses on
  /// positions, shape [node_count, 3] each; returns the largest move of a node. The first call of a part
  /// takes note of those contacts. Normal impulses do not fall below those on positions.
  double correct_velocities(const MatrixX3d& positions, MatrixX3d& displacements);
  void end_part();

  /// Force * h^2 of each obstacle on each node over the step [kg m], shape [obstacle][node_count, 3].
  const std::vector<MatrixX3d>& forces() const { return forces_; }
  /// Deepest node at the end of the step, beyond what it may be by easing [m], >= 0.
  double penetration(const MatrixX3d& positions) const;
  /// Greatest depth that a node may have by easing at the end of the step [m].
  double depenetration_depth() const;
  double tolerance() const { return tolerance_; }

 private:
  struct Contact {
    Vec3d impulse, normal;
    double floor = 0;
  };
  /// How deep a node may be by easing at a part of the step [m].
  double sunk(std::size_t obstacle, Eigen::Index node, double done) const;
  Pose pose(std::size_t obstacle, double done) const;
  /// Applies the law; returns the change of the impulse.
  Vec3d act(Contact& contact, const Friction& friction, double w, double gap, Vec3d normal, Vec3d way,
            double floor) const;

  std::vector<Obstacle> obstacles_;
  std::vector<ShapeDistance> shapes_;
  double offset_, tolerance_;
  VectorXd inverse_masses_;
  /// Contacts of each obstacle with each node, shape [obstacle][node].
  std::vector<std::vector<Contact>> contacts_;
  std::vector<MatrixX3d> forces_;
  double start_ = 0, end_ = 0;  ///< times at which the step begins and ends [s]
  double air_ = 1;
  double push_out_time_ = 0;
  /// What is left of depths at the start when the step begins, and when it ends.
  std::array<double, 2> shares_{};
  std::vector<VectorXd> depths_;  ///< depths of nodes at the start [m], 0: none; shape [obstacle][node]
  int part_ = 0, parts_ = 1;
  bool has_floors_ = false;
};

}  // namespace isocloth::reference
