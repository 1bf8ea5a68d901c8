// Contacts of rigid bodies with each other and with obstacles.
#pragma once

#include <Eigen/Core>
#include <map>

#include "host/state/external_motion.hpp"
#include "host/surroundings/host_shapes.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/contact/swept_distance.hpp"

namespace isocloth {

/// Where a solid is in a part of a step.
struct SolidState {
  Pose begin, end;  ///< poses of the shape when the part begins and ends
  Vec3d center;     ///< centre of mass at the end of the part [m]
};

/// Corners and edges of one solid, as cores of its rounding, against the signed distance of another. In each
/// iteration their forces are found exactly on the system of the bodies, into which the cloth is eliminated
/// (solve_coulomb): what is left for the next is that distances and axes are not linear. A pair that moves so
/// far in a part of a step that it could pass through each other is looked at where it meets first, and keeps
/// to the tangent planes there.
class BodyContacts {
 public:
  template <class Real>
  explicit BodyContacts(const ObstacleShapes<Real>& shapes);

  /// Forces and meetings are of one part of a step.
  void forget() {
    forces_.clear();
    meetings_.clear();
    settled_ = true;
  }
  /// Finds contacts at the end poses, obstacles first; returns how deep the deepest lies [m].
  double find(const std::vector<SolidState>& solids);
  /// Whether all that pushed in the last solve touches still.
  bool settled() const { return settled_; }
  /// Unknowns u with A u = r + (J S)^T p and the forces p of the contacts found; S: moves of the bodies, six
  /// each, by the unknowns, null: these are the moves.
  Eigen::VectorXd solve(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right,
                        const Eigen::MatrixXd* moves_by_unknowns = nullptr);
  /// What the contacts found do to a solid about its centre of mass, times h^2 [kg m], [kg m^2].
  Wrench push_on(Index solid) const;
  /// Throws SceneError where a body begins deeper in another or in an obstacle than the tolerance of
  /// contacts.
  void require_apart(const std::vector<SolidState>& solids);

 private:
  struct Solid {
    ShapeView<double> shape;
    std::string name;
    Friction friction;
    bool is_dynamic = true;  ///< not an obstacle, nor a body whose contacts with these another program has
    /// Radius of a ball around the shape's origin that holds it; infinite where it has no corners [m].
    double radius = 0;
    double rounding = 0;
    std::vector<Vec3d> corners;
    std::vector<std::array<Index, 2>> edges;
  };
  using Key = std::array<Index, 3>;  ///< solid of the feature, other solid, corner or corners + edge
  struct Feature {
    Key key{};
    Vec3d core, position;  ///< position of the feature in the frame of its solid, and of the other [m]
    double gap = 0;        ///< gap between the feature and the other solid [m]
  };
  /// Friction between solids i and j: what is said of the pair, or the geometric mean of the two.
  Friction friction_of(Index i, Index j) const;
  struct Contact {
    Key key{};
    std::array<Vec3d, 3> axes;  ///< normal towards the feature's solid, and two tangents
    Vec3d arm, other_arm;       ///< from the centres of mass of the two solids to the contact [m]
    /// Gap that the contact is to have at the end of the part, see ContactLaw::wanted_gap() [m].
    double gap = 0;
    Vec3d displacement;  ///< displacement of the feature's solid along the other since the part began [m]
  };
  void find_pair(Index i, Index j, const std::vector<SolidState>& solids);
  /// Visits the features of solid i that are nearer to solid j than `limit`.
  template <class Visit>
  void for_each_feature(Index i, Index j, const PoseView<double>& pose_i, const PoseView<double>& pose_j,
                        double limit, const Visit& visit) const;
  /// Where a pair that moves far in the part of a step meets first, for all of its iterations: directions
  /// that were found anew in each would swing by more than what large forces bear.
  struct Meeting {
    std::vector<Feature> features;    ///< near enough to meet in what is left; none: they do not meet
    PoseView<double> pose_i, pose_j;  ///< poses of the two solids where they meet
  };
  const Meeting& meet(Index i, Index j, const std::vector<SolidState>& solids);
  /// The tangent plane of a feature on the other solid, which was `at` there, at the end of the part.
  struct Plane {
    Vec3d normal;
    double gap = 0;  ///< gap between the feature and the plane [m]
  };
  Plane plane_at(const Feature& feature, const std::vector<SolidState>& solids,
                 const PoseView<double>& at) const;
  /// Adds a contact; returns its gap at the end of the part.
  double touch(const Feature& feature, const std::vector<SolidState>& solids, const PoseView<double>& at);

  Index first_body_ = 0;
  cpu::ContactLaw<double> law_;
  /// Largest depths of contacts [m]: beyond what was there when the part began, and with it.
  double deepest_ = 0, sunken_ = 0;
  bool settled_ = true;
  Key sunken_pair_{};
  HostShapes shapes_;
  std::vector<Solid> solids_;
  /// Friction that is said of pairs of solids; the lower number first.
  std::map<std::array<Index, 2>, Friction> pairs_;
  std::vector<Contact> contacts_;
  std::map<std::array<Index, 2>, Meeting> meetings_;
  std::map<Key, Vec3d> forces_;  ///< p on the feature's solid [kg m]
};

}  // namespace isocloth
