// Rigid bodies that move with the garments of a scene.
#pragma once

#include "host/bodies/body_contacts.hpp"
#include "host/bodies/external_bodies.hpp"
#include "host/projection/cloth_contacts.hpp"
#include "host/projection/step_participant.hpp"

namespace isocloth {

/// Bodies in the proximal Newton of all garments together (kernels/projection/body_system.hpp). With x~, A~
/// the free flight of a part of a step, a body obeys m (x - x~) = -sum p and I psi = -sum (x_c - x) x p, psi:
/// the turn from A~, I: the inertia there; then v = (x - x_n) / h and L = L_n + I psi / h, so that momentum
/// goes from cloth to body and back without loss. H d = C b + r is solved for d first: one factorisation of
/// each garment's H, six right sides more per body that it touches, and (H_b - sum C^T H^-1 C) b = r_b + sum
/// C^T H^-1 r, dense, on the host in double. Where cloth touches cloth, H is that of all garments together,
/// whose factors are then preconditioners. Contacts of bodies with each other and with obstacles are solved
/// on that. Of external bodies the unknowns are coordinates of their own (ExternalBodies).
template <class Real>
class BodyCoupling final : public StepParticipant<Real> {
  using Base = StepParticipant<Real>;
  using typename Base::Part, typename Base::Step;

 public:
  /// `shapes` of the scene; both and the device must outlive it. Throws SceneError where a body begins inside
  /// of another or of an obstacle.
  BodyCoupling(const Device& device, std::shared_ptr<const ObstacleShapes<Real>> shapes);

  std::vector<BodyState> states() const { return states_; }
  void set_states(const std::vector<BodyState>& states) { states_ = states; }
  /// Of the next step; see ExternalBodies::set().
  void set_external(const ExternalMotion& motion) { external_.set(motion); }
  /// Means of what cloth, obstacles and other bodies did to each body in the last step, torques about the
  /// origin of its shape at the end; shape [body_count].
  const std::vector<Wrench>& wrenches() const { return wrenches_; }

  std::size_t memory_bytes() const override;
  bool moves_alone() const override { return true; }

  /// For the motion of obstacles.
  void begin_request(const Clock& clock) override { clock_ = clock; }
  void begin_step(Step&) override;
  void begin_substep(const Part& part) override;
  /// Tells the garments where the bodies are.
  void place(const Step& step, const Part& part) const override;
  /// Finds contacts without cloth at the iterate. They are met where none is deeper than the tolerance, what
  /// pushed touches, and all bodies went as far as their forces say.
  ParticipantFit assess(Step& step, int iteration) override;
  /// Solves for the bodies' moves, and the garments' corrections with them.
  bool solve(Step& step) override;
  /// Moves the bodies after the iteration, as far as the cloth may go.
  void correct() override;
  void end_substep(Step& step, const PartEnd<double, bool>& end) override;
  void end_step(bool is_kept) override;

 private:
  struct Body {
    MassProperties properties;
    bool is_external = false;
    double mass = 0;
    Matrix3 inertia, inverse_inertia;  ///< inertia in the body's frame [kg m^2], and its inverse [1/(kg m^2)]
    /// State of the body in free flight at the end of the part; of an external one the pose alone.
    BodyState flight;
    /// Inertia in free flight at the end of the part, along the axes of the world [kg m^2].
    Matrix3 flight_inertia;
    Pose pose;           ///< pose of the iterate
    Vec3d offset, turn;  ///< from the free flight to the iterate: x - x~ [m] and psi [rad]
  };
  struct System;
  struct Cloths;
  /// Adds what contacts of the cloths add to the system; false: a factor fails.
  bool add(const Cloths& cloths, System& system);
  /// Sums over a garment's contacts, shape [body, body_terms].
  std::vector<Real> contact_sums(const ProjectionSolver<Real>& garment, bool of_kept_forces);
  /// Adds what a garment's contacts add to the bodies' own part of the system, and marks which bodies they
  /// push.
  void add_contacts(const ProjectionSolver<Real>& garment, System& system, std::vector<char>& touched);

  std::vector<SolidState> solids() const;
  /// What masses and flights of the bodies add to the system.
  void add_masses(System& system) const;
  /// Moves of all bodies that solve the system.
  Eigen::VectorXd solve(const System& system, bool is_exact);
  void upload_centers();
  /// What pushes each external body at the end of a part about its centre of mass, times h^2 [kg m], [kg
  /// m^2].
  Eigen::VectorXd pushes(const Step& step);

  const Device& device_;
  const StepKernels<Real>& kernels_;
  std::shared_ptr<const ObstacleShapes<Real>> shapes_;
  BodyContacts contacts_;
  Clock clock_;
  Moment from_, to_;                      ///< when the part begins and ends
  double from_share_ = 0, to_share_ = 1;  ///< the same as shares of the step
  std::vector<Body> bodies_;
  std::vector<BodyState> states_, states_before_;  ///< states after the last part, and before the step
  std::vector<std::array<double, 6>> found_moves_;
  ExternalBodies external_;
  Eigen::VectorXd coordinates_,
      found_coordinates_;  ///< g of external bodies at the iterate, and its correction
  /// Impulses of the step's parts on the bodies' centres of mass [N s], [N m s], and wrenches_ of them.
  std::vector<Wrench> impulses_, wrenches_;

  /// Work arrays of cloths that are solved as one.
  struct Columns {
    Buffer<Vec3<Real>> columns, solutions;  ///< C and H^-1 C, shape [6 bodies, free_count]
    Buffer<Real> products, moves;
    std::vector<Index> touched;  ///< numbers of the bodies that the cloths touch, ascending
  };
  std::vector<std::pair<const void*, Columns>> columns_;
  Columns& columns_of(const Cloths& cloths);
  Buffer<Vec3<Real>> centers_;
  Buffer<Index> groups_;
  Buffer<Real> sums_, moves_;
};

}  // namespace isocloth
