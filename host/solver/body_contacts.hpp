// Contacts of rigid bodies with each other and with obstacles.
#pragma once

#include <Eigen/Core>
#include <map>

#include "host/solver/obstacle_table.hpp"

namespace isocloth {

/// Where a solid is in a part of a step, and how a force moves it.
struct SolidState {
  Pose begin, end;            ///< of the shape
  Vec3d center;               ///< of mass, at the end [m]
  double inverse_mass = 0;    ///< [1/kg], 0: an obstacle
  Matrix3 inverse_inertia{};  ///< along the axes of the world [1/(kg m^2)]
};

/// Corners and edges of one solid, as cores of its rounding, against the signed distance of another. A
/// contact obeys the law of the cloth's (kernels/contact/contact_terms.hpp) with the stiffness 1000 / (n^T W
/// n), W: what a force there moves, along and across; its multiplier lives within a part of a step, which is
/// why a body rests within g h^2 / 1000 of where it touches. Coefficients of a pair: the geometric mean.
/// Nothing is swept: a body that moves farther in a step than a wall is thick passes.
class BodyContacts {
 public:
  template <class Real>
  explicit BodyContacts(const ObstacleShapes<Real>& shapes);

  void forget() {
    forces_.clear();
    settled_ = true;
  }
  /// At the end poses, obstacles first; returns how deep the deepest lies [m].
  double find(const std::vector<SolidState>& solids);
  /// Whether the last moves left every contact with friction as it was thought to be: known, and sticking or
  /// sliding.
  bool settled() const { return settled_; }
  /// What they add to the system of the bodies, six unknowns each.
  void add(Eigen::MatrixXd& matrix, Eigen::VectorXd& right) const;
  /// Multipliers after the bodies' moves.
  void update(const Eigen::VectorXd& moves);
  /// Throws SceneError where a body begins deeper in another or in an obstacle than the tolerance of
  /// contacts.
  void require_apart(const std::vector<SolidState>& solids);

 private:
  struct Solid {
    ShapeView<double> shape;
    std::string name;
    double mu_static = 0, mu_dynamic = 0;
    double radius = 0;  ///< of a ball around the shape's origin; infinite for planes
    bool has_features = false;
    double rounding = 0;
    std::vector<Vec3d> corners;
    std::vector<std::array<Index, 2>> edges;
  };
  using Key = std::array<Index, 3>;  ///< solid of the feature, other solid, corner or corners + edge
  struct Contact {
    Key key{};
    Vec3d normal, arm, other_arm;  ///< towards the feature's solid; from the centres of mass
    Vec3d pull;                    ///< p of unchanged places [kg m]
    double along = 0, across = 0;  ///< [kg]
    bool is_new = false, slides = false;
    double mu_static = 0, mu_dynamic = 0;
  };
  void find_pair(Index i, Index j, const std::vector<SolidState>& solids);
  void touch(const Key& key, const Vec3d& core, const SolidState& a, const SolidState& b);
  Vec3d stiffness(const Contact& contact, const Vec3d& v) const;
  /// visit(first unknown of a body, sign, arm) for the bodies of a contact.
  template <class Visit>
  void for_each_body(const Contact& contact, const Visit& visit) const;

  Index first_body_ = 0;
  double tolerance_ = 0, deepest_ = 0;
  bool settled_ = true;
  Key deepest_pair_{};
  std::vector<std::vector<float>> grids_;
  std::vector<Solid> solids_;
  std::vector<Contact> contacts_;
  std::map<Key, Vec3d> forces_;  ///< p on the feature's solid [kg m]
};

}  // namespace isocloth
