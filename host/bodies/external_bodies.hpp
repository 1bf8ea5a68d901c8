// Bodies of a scene that move as the dynamics of another program have it.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "engine/model/rigid_body.hpp"
#include "engine/model/scene.hpp"
#include "host/state/external_motion.hpp"

namespace isocloth {

/// What ExternalMotion says of a step, for its parts. With W = L L^T moves of the bodies are b = L g by
/// coordinates g of unit mass, g = L^T sum J^T p by forces p h^2 at contacts: the system of all bodies is
/// solved for these, so that no matrix is singular where W is.
class ExternalBodies {
 public:
  explicit ExternalBodies(const Scene& scene);

  bool exist() const { return count_ > 0; }
  /// Checked by check_external_motion(); of shapes' origins. For the next step: in one for which nothing was
  /// said they rest where they are.
  void set(const ExternalMotion& motion);
  /// The step has been taken.
  void forget();

  /// Puts them where the motion begins.
  void begin_step(std::vector<BodyState>& states) const;
  /// At the beginning of a step, or once more.
  void forget_deviations();
  /// Where a body flies from `state` in a part of h [s], from one share of the step to another.
  Pose flight(std::size_t body, const Pose& start, double h, double from_share, double to_share) const;
  /// A part of h [s] ends this far from the flight [m], [rad]: its velocity lasts.
  void deviate(std::size_t body, const Vec3d& offset, const Vec3d& turn, double h);

  /// Moves of all bodies by the unknowns of their system, shape [6 bodies of the scene, unknowns]: a move for
  /// each body that is not external, then coordinates.
  Eigen::MatrixXd moves_by_unknowns() const;
  Eigen::Index coordinate_count() const { return root_.cols(); }
  /// The wrenches next to these that move the bodies by coordinates g, L^T f = g, in the norm of [N] and [N
  /// m]; both shape [6 bodies of the scene]. Forces of contacts are as exact as the last iteration.
  Eigen::VectorXd reconciled(const Eigen::VectorXd& wrenches, const Eigen::VectorXd& coordinates) const;

 private:
  struct Own {
    bool is_external = false, is_told = false;
    MassProperties properties;
    Pose begin, free_end;             ///< poses of the centre of mass in a step for which they were told
    Vec3d deviation, turn_deviation;  ///< velocities beside the free motion [m/s], [rad/s]
  };
  std::vector<Own> bodies_;  ///< shape [bodies of the scene]
  std::size_t count_ = 0;
  Eigen::MatrixXd root_;  ///< L, shape [6 bodies of the scene, coordinates]
};

/// Throws ShapeError for bodies that are none, not external or there twice, arrays of another size, and
/// numbers that are not finite, axes that are not orthonormal, a matrix that is not symmetric or has a
/// negative eigenvalue; messages name the body.
void check_external_motion(const Scene& scene, const ExternalMotion& motion);

}  // namespace isocloth
