// Impulses between cloths that step together, and of each with itself.
#pragma once

#include "engine/model/scene.hpp"
#include "host/cloth_collision/cloth_collision.hpp"
#include "host/cloth_collision/cloth_friction.hpp"
#include "host/impulse/impulse_solver.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// Contacts of kernels/cloth_contact/cloth_contact.hpp by the law of those with obstacles: impulses of a part
/// of a step on positions, one contact after the other in the order of their keys, each with the exact
/// inertia of its points (kernels/contact/contact_law.hpp, "impulses"), until none moves anything. They are
/// equal and opposite, and bounded by Coulomb's law. Rows and obstacles are swept again then, and contacts
/// found again, in rounds. What then still passes is held back. Every part begins with the impulses of the
/// last one. In double, on the host.
template <class Real>
class ClothImpulses {
 public:
  using Garments = std::vector<ImpulseSolver<Real>*>;

  /// All garments that meet; they and the device must outlive it.
  ClothImpulses(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments,
                const Garments& solvers);
  ClothCollision& collision() { return collision_; }
  void set_friction(FrictionClasses classes) { friction_ = std::move(classes); }
  std::size_t memory_bytes() const;

  // The phases of a step.
  void begin_step();
  /// Adds what contacts exerted in the last part, a first guess; after the previews of all garments.
  void begin_substep();
  /// Does the impulses between cloths; after the impulses of every garment on its rows. False: the step is
  /// lost, by garments that are_astray() says.
  bool has_contact();
  /// For each garment, whether an edge is strained by more than largest_strain before it meets anything.
  const std::vector<char>& are_astray() const { return are_astray_; }
  /// Gives what was held back its velocities; after places have advanced.
  void release();
  void end_step() { collision_.set_kept(std::move(work_)); }

  /// Whether cloth was held back, or is deeper in cloth than the tolerance.
  bool misses() const;
  /// Adds what the step did to the report of a garment.
  void tell(std::size_t garment, StepReport& report) const;

 private:
  /// A contact on the moves of its four nodes.
  struct Contact {
    std::array<std::size_t, 4> nodes{};
    std::array<double, 4> weights{};
    Vec3d normal;
    double gap = 0;      ///< gap without the moves of the part [m]
    double before = 0;   ///< FoundContact::before [m]
    double inertia = 0;  ///< inertia of the points along the normal [kg]; 0: impulses cannot part them
    FrictionView<double> friction;
    Vec3d sum;  ///< sum of the contact's impulses in the part [kg m]
  };

  void read_moves();
  bool find_astray();
  void look_at_moves();
  /// Whether impulses may part what is too near: any depth, or one beyond the tolerance.
  bool is_open(bool of_any_depth);
  std::vector<Contact> contacts_on_moves() const;
  /// Impulses of all contacts until none moves its points; is_again: not the first of the part.
  void push(bool is_again);
  /// Adds an impulse to the moves.
  template <class Nodes>
  void exert(const Nodes& nodes, const std::array<double, 4>& weights, const Vec3d& impulse);
  /// Takes the guesses back of what is not found.
  void take_back();
  /// Rows of all garments that contacts have pushed. Returns whether they are held.
  bool hold_rows();
  void apply_ccd_limits();
  void write_moves();
  /// Calls visit(number, solver, first of its nodes) for garments that are not frozen.
  template <class Visit>
  void for_each_moving(const Visit& visit) const;
  Index first_node(std::size_t garment) const { return collision_.features().node_begin[garment]; }
  const ImpulseSolver<Real>& mover() const;  ///< a solver of one garment: all take the same parts

  const Device& device_;
  ClothCollision collision_;
  FrictionClasses friction_;
  const Garments solvers_;
  std::vector<double> inverse_inertia_;                ///< 0: pinned or frozen [1/kg], shape [node]
  std::vector<Vec3d> moves_;                           ///< moves of the nodes in the part [m], shape [node]
  std::vector<Vec3d> pushes_;                          ///< impulses of a push on each node [kg m]
  std::vector<std::pair<std::size_t, Vec3d>> speeds_;  ///< nodes that leave the part with other moves
  std::vector<double> largest_squares_;                ///< squares of the lengths that edges may reach [m^2]
  std::vector<char> are_astray_;
  std::vector<char> are_pushed_;      ///< which garments contacts have pushed in this part
  std::vector<ContactLoad> guesses_;  ///< loads of the impulses sums_ with which the part began
  ContactWarmStart sums_, work_;      ///< impulses of the part, and of the step under way
  StoppedNodes stopped_;
  double deepest_ = 0;  ///< depth of the deepest contact at the end of any part [m]
};

}  // namespace isocloth
