// Contacts of the cloths that step together, with themselves and with each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include "engine/geometry/pair_search.hpp"
#include "host/projection/cloth_friction.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {

/// Forces of contacts between cloths, p [kg m], by the keys of what touches (FoundContact), ascending.
struct KeptContacts {
  std::vector<std::uint64_t> keys;
  std::vector<Vec3d> forces;

  void scale(double factor);
  double largest() const;  ///< size of the largest force [kg m]
};

/// The first `count` values.
template <class T>
auto first(Buffer<T>& buffer, std::size_t count) {
  return slice(buffer.view(), 0, count);
}
template <class T>
ArrayView<const T> first(const Buffer<T>& buffer, std::size_t count) {
  return slice(buffer.view(), 0, count);
}

/// Room for `size` values, whatever was in it before.
template <class T>
void make_room(const Device& device, std::size_t size, Buffer<T>& buffer) {
  if (buffer.size() < size) buffer = {device, size + size / 2};
}
template <class T>
void fill(const Device& device, const std::vector<T>& values, Buffer<T>& buffer) {
  make_room(device, values.size(), buffer);
  std::vector<T> staging;
  buffer.write(values.size(), staging, [&](T* to) { std::copy(values.begin(), values.end(), to); });
}

/// kernels/cloth_contact/cloth_contact.hpp says what a contact is. Pairs are sought on the host, and again,
/// perhaps many steps later, where nodes leave the rooms that were searched: around these, where they are
/// few. Contacts are found among them in every iteration. No result depends on when pairs were sought.
/// Contacts are put in the order of their keys, so that no sum depends on the order in which pairs are found.
/// Garments that are frozen stay where they are and are felt by the others.
template <class Real>
class ClothContacts {
 public:
  using Garments = std::vector<ProjectionSolver<Real>*>;

  /// All garments that meet; they and the device must outlive it.
  ClothContacts(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments,
                const Garments& solvers);

  const KeptContacts& kept() const { return state_; }
  void set_kept(KeptContacts kept) { state_ = std::move(kept); }
  /// Those that a garment keeps: each contact is kept by the first of its two.
  KeptContacts kept(std::size_t garment) const;
  void set_kept(std::size_t garment, const KeptContacts& kept);
  /// What its sizes are, and what the last step did.
  std::size_t memory_bytes() const;
  /// Of every garment, where the nodes of all of them are at `positions` [m]; forces times h^2 [kg m].
  std::vector<ClothLoads> loads(const std::vector<Vec3d>& positions) const;

  // The phases of a step, see StepController.
  void begin_step();
  void begin_part();
  /// Contacts at the iterates; returns how deep the deepest of them lies [m].
  double find(int iteration);
  /// Nodes that only pins, grippers and driven garments move stop before each other where they would pass
  /// through each other, which no force and no shorter part could part: after the first find() of a part.
  /// Returns whether any did; their iterates are others then.
  bool stop_blocked();
  /// Whether some pair perhaps did not stay apart on the way to the iterates.
  bool passes() const { return passing_ > 0; }
  /// Whether any contact may act: then the systems of the garments are coupled.
  bool exist() const { return !keys_.empty(); }
  /// How contacts act at the iterate, for what follows, but for add() and sum_forces(), which ask themselves:
  /// most iterates that end a step need not know.
  void respond();
  /// What contacts add to the matrices and right sides of the garments, which have been assembled.
  void add();
  /// What contacts exert as they are kept, for forces_on(): times h^2, on free nodes [kg m].
  void sum_forces();
  ArrayView<const Vec3<Real>> forces_on(const ProjectionSolver<Real>& garment) const;
  /// The same on all nodes of a garment, in a part of a step of h [s] that ends [N].
  std::vector<Vec3d> forces_on_nodes(const ProjectionSolver<Real>& garment, double h) const;
  /// The corrections of all garments from their factors; false: not finite.
  bool solve(double rtol);
  /// A X = C with the matrix of solve(), whose corrections stay. columns, solutions: shape [count,
  /// free_count()]; false: not finite.
  bool solve_more(const Buffer<Vec3<Real>>& columns, Buffer<Vec3<Real>>& solutions, std::size_t count);
  /// Of all garments.
  std::size_t free_count() const { return free_nodes_.size(); }
  /// Where a garment's free nodes begin among them.
  Index first_free(const ProjectionSolver<Real>& garment) const;
  /// The corrections of all garments, and back to them what was made of these.
  Buffer<Vec3<Real>>& corrections() { return system_.solution(); }
  void give_back() { system_.give_back(coupled_); }
  /// Forces after the corrections.
  void update();
  /// astray: garments whose iterates are no state to go on from. Returns whether nodes were held back.
  bool end_part(const PartEnd<double, bool>& end, bool is_warm,
                const std::vector<const ProjectionSolver<Real>*>& astray);
  void end_step(bool is_kept);

  // Of the iterate, and since the step began.
  Index count() const { return static_cast<Index>(keys_.size()); }
  int cg_iterations() const { return cg_iterations_; }  ///< most of a solve
  /// Least distance of a pair that forces can part over its thickness, at most 1.
  double least_gap() const;
  /// Nodes of a garment that were held back from where their step led, because cloth would have passed
  /// through cloth.
  Index held_back(const ProjectionSolver<Real>& garment) const { return held_back_[number_of(garment)]; }
  Index blocked(const ProjectionSolver<Real>& garment) const { return blocked_[number_of(garment)]; }

 private:
  /// Of one garment.
  struct Member {
    ProjectionSolver<Real>* solver = nullptr;
    Index first_node = 0, first_edge = 0, first_free = 0;
    Buffer<Index> node_blocks, edge_blocks;
  };

  void gather(bool at_start);
  /// Nodes that are out of their rooms for the begin or the end of a way, ascending.
  std::vector<Index> strays(const std::vector<Vec3d>& positions, BoundingBox MovingBox::*room) const;
  /// How pairs are sought: within reach of each other, has_spare: or a thickness of their own beyond on each
  /// side, the room for nodes to move without another search.
  struct Search {
    PairSearch::Times times = PairSearch::Times::own;
    double ahead = 0;  ///< of the iterate, in ways of the part
    bool has_spare = false;
    std::size_t most_per_node = 0, always = 0;  ///< more pairs than either are too many
  };
  /// What work() returns, in which pairs are found. Throws DeviceError where memory runs out.
  template <class Work>
  auto within_memory(const Work& work) const {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      throw_out_of_memory();
    }
  }
  [[noreturn]] void throw_out_of_memory() const;
  double find_in(int iteration);
  /// Straight ways of all nodes from the begin of the part, relative to the mean of all.
  struct Ways {
    std::vector<Vec3d> from, onward;
  };
  Ways ways(double ahead) const;
  void set_room(std::size_t node, const Ways& ways, const Search& how);
  /// By which boxes of each garment's features are larger than the rooms of their nodes [m].
  std::vector<double> margins(bool has_spare) const;
  /// Pairs for the iterate; false: it is so wild that everything is near everything.
  bool seek();
  bool search();  ///< all of them, the same
  /// Those of nodes that left their rooms, which get others; false: all must be sought again.
  bool search_around(const std::vector<Index>& nodes);
  /// References of the pairs from this one on.
  void measure(std::size_t first_pair);
  PairSearch::Workers workers() const;
  bool find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, const Search& how,
                  std::vector<FeaturePair>& pairs);
  /// Pairs that may touch at the iterate.
  void sift();
  std::size_t keeper_of(std::uint64_t key) const;
  std::size_t number_of(const ProjectionSolver<Real>& garment) const {
    return static_cast<std::size_t>(std::ranges::find(members_, &garment, &Member::solver) -
                                    members_.begin());
  }
  /// By its place in host_chosen_'s numbers.
  const FeaturePair& chosen_pair(Index place) const {
    return host_pairs_[static_cast<std::size_t>(host_sifted_[static_cast<std::size_t>(place)])];
  }
  /// Whether forces can move the two sides apart; inverse_inertia: of all nodes.
  bool can_part(const FoundContact& found, const double* inverse_inertia) const;
  void choose();
  std::vector<int> islands() const;
  /// False: nothing that moves touches.
  bool set_rigid_modes();
  /// For products with so many vectors at once.
  typename CoupledSystem<Real>::Contacts product(std::size_t columns);
  ClothContactList list() const;
  ClothFeatures features() const;
  PairReferences references();
  /// Every node goes so far that it stays on its side of a plane between it and each that it may meet, and
  /// what meets goes on without approaching each other. Garments that went astray, and those that touch
  /// them, stay where they were when the part of h [s] began, and go on as fast as then but for that.
  void hold_back(const std::vector<const ProjectionSolver<Real>*>& astray, double h);
  /// Of each garment whether it is one of them or touches one, directly or through others that move freely.
  std::vector<char> with_neighbours(const std::vector<const ProjectionSolver<Real>*>& garments) const;

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const ClothContactKernels& contact_kernels_;
  const double tolerance_;
  double reach_ = 0;  ///< gap up to which a contact keeps its force [m]
  PairSearch pairs_;
  ClothFrictionTable friction_;
  std::vector<Member> members_;
  std::vector<double> thicknesses_, densities_;  ///< of each garment [m], [kg/m^2]
  Buffer<Index> triangles_, sides_, edges_, node_garments_, free_number_, free_nodes_;
  Buffer<double> device_thicknesses_, inverse_inertia_, sharing_;
  Buffer<Vec3d> rest_, measured_at_, from_, to_;
  Buffer<Vec4<double>> places_;
  CoupledSystem<Real> system_;
  typename CoupledSystem<Real>::Members coupled_;  ///< of the last solve()
  double rtol_ = 0;                                ///< the same
  bool has_modes_ = false;                         ///< the same
  Buffer<Vec3<Real>> modes_, summed_forces_;

  // Pairs that may touch, and the room of every node in which that is so.
  std::vector<FeaturePair> host_pairs_;
  std::vector<Vec3d> host_from_, host_to_;
  std::vector<MovingBox> rooms_;
  const Search* searched_ = nullptr;  ///< how pairs were found; null: they must be
  bool is_fast_ = false;              ///< this step: ways are too long to look ahead of it
  Buffer<FeaturePair> device_pairs_;
  Buffer<double> pair_thicknesses_, pair_rooms_;
  Buffer<Index> pair_nodes_;
  Buffer<std::uint8_t> may_touch_;
  std::vector<Index> host_sifted_;
  Buffer<Index> sifted_;
  Buffer<FoundContact> found_;

  // Contacts of the iteration.
  std::vector<std::uint64_t> keys_;
  std::vector<Index> host_chosen_, host_begin_, host_entries_;
  Buffer<Index> chosen_, node_begin_, node_entries_, active_;
  Buffer<Vec3d> forces_, pulls_;
  Buffer<ClothResponse> responses_;
  double depth_ = 0;
  Index passing_ = 0;
  int iteration_ = 0;
  bool has_responses_ = false, has_stopped_ = false;  ///< see respond(), and in this part stop_blocked()
  int cg_iterations_ = 0;
  std::vector<Index> held_back_, blocked_;  ///< of each garment in the step

  KeptContacts state_, work_;  ///< of the last step, and of the one under way
};

}  // namespace isocloth
