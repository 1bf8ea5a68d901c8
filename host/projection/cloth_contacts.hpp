// Contacts of the cloths that step together, with themselves and with each other.
#pragma once

#include <algorithm>

#include "engine/model/scene.hpp"
#include "host/cloth_collision/cloth_collision.hpp"
#include "host/cloth_collision/cloth_friction.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {

/// Contacts that are solved with the systems of the garments (kernels/cloth_contact/cloth_contact.hpp): what
/// comes after the stages of ClothCollision. Garments that are frozen stay where they are and are felt by the
/// others.
template <class Real>
class ClothContacts {
 public:
  using Garments = std::vector<ProjectionSolver<Real>*>;

  /// All garments that meet; they and the device must outlive it.
  ClothContacts(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments,
                const Garments& solvers);

  ClothCollision& collision() { return collision_; }
  void set_friction(const FrictionClasses& classes) { friction_ = {device_, classes}; }
  std::size_t memory_bytes() const;

  // The phases of a step, see StepController.
  void begin_step();
  void begin_substep();
  /// Launches what find() needs of a device, and asks for it.
  void begin_find(Downloads& downloads);
  /// Contacts at the iterates, after begin_find(); returns how deep the deepest of them lies [m].
  double find(int iteration);
  /// Nodes that only pins, grippers and driven garments move stop before each other where they would pass
  /// through each other, which no force and no shorter part could part: after the first find() of a part.
  /// Returns whether any did; their iterates are others then.
  bool stop_blocked_kinematic_nodes();
  /// Finds how contacts act at the iterate, for what follows, but for add() and sum_forces(), which ask
  /// themselves: most iterates that end a step need not know.
  void respond();
  /// Adds what contacts add to the matrices and right sides of the garments, which have been assembled.
  void add();
  /// Sums what contacts exert as they are kept, for forces_on(): times h^2, on free nodes [kg m]. Returns
  /// whether each would keep its force: whether what the law takes of it where points are, K times a length
  /// that a contact is too near or too far or has slipped, is of a length within contact.tolerance.
  bool sum_forces();
  ArrayView<const Vec3<Real>> forces_on(const ProjectionSolver<Real>& garment) const;
  /// Forces of contacts on all nodes of a garment, in a part of a step of h [s] that ends [N], shape
  /// [node_count].
  std::vector<Vec3d> forces_on_nodes(const ProjectionSolver<Real>& garment, double h) const;
  /// Solves for the corrections of all garments from their factors; false: not finite. outcomes: what else is
  /// to be fetched with the first wait, or null.
  bool solve(double rtol, Downloads* outcomes);
  /// Solves A X = C with the matrix of solve(), whose corrections stay. columns, solutions: shape [count,
  /// free_count()]; false: not finite.
  bool solve_block(const Buffer<Vec3<Real>>& columns, Buffer<Vec3<Real>>& solutions, std::size_t count);
  /// Number of free nodes of all garments.
  std::size_t free_count() const { return free_nodes_.size(); }
  /// Where a garment's free nodes begin among those of all garments.
  Index first_free(const ProjectionSolver<Real>& garment) const;
  /// The corrections of all garments [m]; scatter() gives to these what was made of them.
  Buffer<Vec3<Real>>& corrections() { return system_.solution(); }
  void scatter() { system_.scatter(coupled_); }
  /// Updates the forces of contacts after the corrections.
  void update();
  /// failed_garments: garments whose iterates are no state to go on from. Returns whether nodes were held
  /// back.
  bool end_part(const PartEnd<double, bool>& end, bool is_warm,
                const std::vector<const ProjectionSolver<Real>*>& failed_garments);
  void end_step(bool is_kept);

  // Of the iterate, and since the step began.
  /// Whether some pair perhaps did not stay apart on the way to the iterates.
  bool may_penetrate() const { return contacts().may_penetrate(); }
  /// Whether any contact may act.
  bool exist() const { return contacts().exist(); }
  Index count() const { return contacts().count(); }
  Index loaded_count() const { return collision_.loaded_count(); }
  double least_gap() const { return collision_.least_gap(); }
  const ContactWarmStart& kept() const { return collision_.kept(); }
  /// Most iterations of conjugate gradients in a solve since the step began.
  int cg_iterations() const { return cg_iterations_; }
  /// Nodes of a garment that were held back from where their step led, because cloth would have passed
  /// through cloth.
  Index ccd_stopped_nodes(const ProjectionSolver<Real>& garment) const {
    return stopped_.held_back[number_of(garment)];
  }
  Index blocked_kinematic_nodes(const ProjectionSolver<Real>& garment) const {
    return stopped_.blocked[number_of(garment)];
  }

 private:
  /// A garment, and where its nodes, edges and free nodes begin among those of all garments.
  struct Member {
    ProjectionSolver<Real>* solver = nullptr;
    Index first_node = 0, first_edge = 0, first_free = 0;
    double density = 0;  ///< [kg/m^2]
    Buffer<Index> node_blocks, edge_blocks;
  };

  const Contacts& contacts() const { return collision_.contacts(); }
  void gather(Buffer<Vec3d>& positions, bool at_start);
  /// The forces of the step under way, where the host can read them.
  ContactWarmStart& work();
  /// Asks for what work() must know of a device.
  void fetch_forces(Downloads& downloads);
  void set_work(ContactWarmStart work) {
    work_ = std::move(work);
    device_forces_.are_latest = device_forces_.are_updated = false;
  }
  /// Notes for upload what a device must know of the contacts: which, and the forces that work_ has.
  void upload_contacts();
  bool is_on_host() const { return device_.backend().memory.host_accessible; }
  std::size_t number_of(const ProjectionSolver<Real>& garment) const {
    return static_cast<std::size_t>(std::ranges::find(members_, &garment, &Member::solver) -
                                    members_.begin());
  }
  /// Calls visit(node, weight, force, response) for every node of every contact that acts; force times h^2
  /// [kg m].
  template <class Visit>
  void for_each_force(const Visit& visit) const;
  std::vector<int> islands() const;
  /// Sets the rigid motions of what touches as modes of the system; false: nothing that moves touches.
  bool set_rigid_modes();
  /// The product with contacts, for so many vectors at once.
  typename CoupledSystem<Real>::Contacts product(std::size_t columns);
  ClothContactList list() const;
  /// Every node goes so far that it stays on its side of a plane between it and each that it may meet, and
  /// what meets goes on without approaching each other. Garments that went failed_garments, and those that
  /// touch them, stay where they were when the part of h [s] began, and go on as fast as then but for that.
  void apply_ccd_limits(const std::vector<const ProjectionSolver<Real>*>& failed_garments, double h);
  /// For each garment, whether it is one of `garments` or touches one, directly or through others that move
  /// freely; shape [garment].
  std::vector<char> with_neighbours(const std::vector<const ProjectionSolver<Real>*>& garments) const;

  const Device& device_;
  const StepKernels<Real>& kernels_;
  ClothCollision collision_;
  ClothFrictionTable friction_;
  std::vector<Member> members_;
  Buffer<Index> free_number_, free_nodes_;
  Buffer<double> sharing_;
  CoupledSystem<Real> system_;
  typename CoupledSystem<Real>::Members coupled_;  ///< garments' parts of the system in the last solve()
  double rtol_ = 0;                                ///< relative tolerance of the last solve()
  bool has_modes_ = false;                         ///< whether the last solve() had modes
  Buffer<Vec3<Real>> modes_, summed_forces_;

  // Contacts of the iteration.
  std::vector<Index> host_begin_, host_entries_;
  Buffer<Index> chosen_, node_begin_, node_entries_, active_;
  Buffer<Vec3d> forces_, pulls_;
  Buffer<ClothResponse> responses_;
  int iteration_ = 0;
  /// Whether respond() was called at the iterate, and whether stop_blocked_kinematic_nodes() stopped nodes in
  /// this part.
  bool has_responses_ = false, has_stopped_ = false;
  bool has_new_part_ = false;  ///< a part began, and the host does not yet know where a device has nodes
  int cg_iterations_ = 0;
  ContactWarmStart work_;  ///< forces of contacts in the step under way, unless a device has later ones
  /// Forces that a device has, of contacts in the order of their keys. `before`: those of the iteration
  /// before in forces_, of respond() on.
  struct DeviceForces {
    bool are_latest = false;   ///< later than work_
    bool are_updated = false;  ///< in forces_, not in `before` yet
    bool are_fetched = false;  ///< the latest are in host_keys and host_forces
    std::size_t count = 0;     ///< contacts that they are of
    Buffer<std::uint64_t> keys, keys_before;
    Buffer<Vec3d> before;
    std::vector<std::uint64_t> host_keys;
    std::vector<Vec3d> host_forces;
  };
  DeviceForces device_forces_;
  StoppedNodes stopped_;
};

}  // namespace isocloth
