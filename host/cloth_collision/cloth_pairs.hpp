// Which features of the cloths that step together may touch, and where they do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>

#include "engine/geometry/pair_search.hpp"
#include "engine/model/scene.hpp"
#include "host/cloth_collision/device_pair_search.hpp"
#include "host/memory/buffer.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"

namespace isocloth {

/// Forces of contacts between cloths, p [kg m], by the keys of what touches (FoundContact), ascending.
struct ContactWarmStart {
  std::vector<std::uint64_t> keys;
  std::vector<Vec3d> forces;

  void scale(double factor);
  double largest() const;  ///< size of the largest force [kg m]
};

/// View of the first `count` values of a buffer.
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
void reserve(const Device& device, std::size_t size, Buffer<T>& buffer) {
  if (buffer.size() < size) buffer = {device, size + size / 2};
}
template <class T>
void fill(const Device& device, const std::vector<T>& values, Buffer<T>& buffer) {
  reserve(device, values.size(), buffer);
  std::vector<T> staging;
  buffer.write(values.size(), staging, [&](T* to) { std::copy(values.begin(), values.end(), to); });
}

/// kernels/cloth_contact/cloth_contact.hpp says what a contact is. Pairs are sought where kernels run, and
/// again, perhaps many steps later, where nodes leave the motion bounds that were searched: on a CPU around
/// these, where they are few. Contacts are found among them at every iterate. No result depends on when pairs
/// were sought. Contacts are put in the order of their keys, so that no sum depends on the order in which
/// pairs are found. How cloths answer to contacts is the matter of those who derive from it.
class ClothPairs {
 public:
  const ContactWarmStart& kept() const { return state_; }
  void set_kept(ContactWarmStart kept) { state_ = std::move(kept); }
  /// The contacts that a garment keeps: each contact is kept by the first of its two garments.
  std::vector<ClothContactState> kept(std::size_t garment) const;
  void set_kept(std::size_t garment, const std::vector<ClothContactState>& kept);
  /// Loads of contacts between cloths on every garment where the nodes of all of them are at `positions` [m];
  /// forces times h^2 [kg m]. Shape [garment].
  std::vector<ClothLoads> loads(const std::vector<Vec3d>& positions) const;

  /// Whether some pair is within reach at the end of the displacements of all nodes from one place to
  /// another, or perhaps does not stay apart on them. No step is under way.
  bool has_contact(std::vector<Vec3d> from, std::vector<Vec3d> to);

  /// Whether some pair perhaps did not stay apart on the way to the iterates.
  bool may_penetrate() const { return passing_ > 0; }
  /// Whether any contact may act.
  bool exist() const { return !keys_.empty(); }
  Index count() const { return static_cast<Index>(keys_.size()); }
  Index loaded_count() const;  ///< number of contacts that keep a force
  /// Least distance of a pair that forces can part over its thickness, at most 1.
  double least_gap() const;

 protected:
  /// All garments that meet; they and the device must outlive it.
  ClothPairs(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments);
  ~ClothPairs() = default;

  /// How pairs are sought: within reach of each other, has_spare: or a thickness of their own beyond on each
  /// side, the room for nodes to move without another search.
  struct Search {
    PairSearch::Times times = PairSearch::Times::own;
    double ahead = 0;  ///< how far beyond the iterate ways are searched, in displacements of the part
    bool has_spare = false;
    std::size_t most_per_node = 0, always = 0;  ///< more pairs than either are too many
  };

  void begin_step();
  /// host_from_ is where nodes are when a part begins.
  void begin_substep();
  /// Contacts at the iterates, host_to_. from_, to_ and inverse_inertia_ are what they are.
  void detect_contacts();

  /// Returns what work() returns, in which pairs are found. Throws DeviceError where memory runs out.
  template <class Work>
  auto within_memory(const Work& work) const {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      throw_out_of_memory();
    }
  }
  std::size_t most_pairs(const Search& how) const;
  /// Pairs of displacements from one state to the other; false: too many.
  bool find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, const Search& how,
                  std::vector<FeaturePair>& pairs);
  /// How far nodes may go on their displacements from host_from_ to host_to_ (max_step_fractions()), and
  /// which meet on those `predicted` and go on without approaching each other (apply_inelastic_impulses()),
  /// ascending.
  struct CcdLimits {
    std::vector<double> shares;
    std::vector<Index> met;
  };
  CcdLimits ccd_limits(const std::vector<Vec3d>& predicted, const std::vector<double>& inverse_masses,
                       std::vector<Vec3d>& velocities);

  /// A kept force and the nodes that it acts on, with weights: 0 behind the last of them.
  struct Load {
    std::array<Index, 4> nodes{};
    std::array<double, 4> weights{};
    Vec3d force;
  };
  /// The load of a contact's force where its sides are nearest.
  Load load_of(std::uint64_t key, const Vec3d& force, const std::vector<Vec3d>& positions) const;

  /// Pairs that are not apart at the iterate, where the host can read them.
  ArrayView<const FoundContact> touching() const { return {host_touching_, touching_count_}; }
  const FeaturePair& pair_of(const FoundContact& found) const {
    return host_pairs_[static_cast<std::size_t>(found.pair)];
  }
  /// The pair of the contact at a index in touching().
  const FeaturePair& chosen_pair(Index index) const {
    return pair_of(host_touching_[static_cast<std::size_t>(index)]);
  }
  /// Whether forces can move the two sides apart; inverse_inertia: of all nodes.
  bool can_part(const FoundContact& found, const double* inverse_inertia) const;
  ClothFeatures features() const;
  std::size_t pair_bytes() const;

  const Device& device_;
  const ClothContactKernels& contact_kernels_;
  const double tolerance_;
  double reach_ = 0;  ///< gap up to which a contact keeps its force [m]
  PairSearch pairs_;
  std::vector<double> thicknesses_, densities_;  ///< thickness [m] and density [kg/m^2] of each garment
  Buffer<Index> triangles_, sides_, edges_, node_garments_;
  Buffer<double> device_thicknesses_;
  /// Inverse masses of the nodes of all garments; 0: pinned, held or frozen [1/kg].
  Buffer<double> inverse_inertia_;
  Buffer<Vec3d> rest_, measured_at_, from_, to_;

  // Pairs that may touch.
  std::vector<FeaturePair> host_pairs_;
  std::vector<Vec3d> host_from_, host_to_;
  Buffer<FeaturePair> device_pairs_;
  Buffer<double> pair_thicknesses_;
  Buffer<FoundContact> touching_;

  // Contacts of the iterate.
  std::vector<std::uint64_t> keys_;
  std::vector<Index> host_chosen_;  ///< indices in touching()
  double depth_ = 0;                ///< depth of the deepest contact that forces can part [m]
  Index passing_ = 0;
  /// Numbers of nodes held back and blocked in the step, shape [garment].
  std::vector<Index> ccd_stopped_nodes_, blocked_kinematic_nodes_;

  ContactWarmStart state_, work_;  ///< forces of contacts in the last step, and in the one under way

 private:
  [[noreturn]] void throw_out_of_memory() const;
  /// Nodes that are out of their motion bounds for the begin or the end of a way, ascending.
  std::vector<Index> nodes_outside_bounds(const std::vector<Vec3d>& positions,
                                          BoundingBox MovingBox::*bounds) const;
  /// Straight displacements of all nodes from the begin of the part, relative to the mean of all.
  struct Displacements {
    std::vector<Vec3d> from, to;
  };
  Displacements displacements(double ahead) const;
  void set_motion_bounds(std::size_t node, const Displacements& displacements, const Search& how);
  /// By how much the boxes of each garment's features are larger than the motion bounds of their nodes [m].
  std::vector<double> margins(bool has_spare) const;
  /// Pairs for the iterate; false: it is so wild that everything is near everything.
  bool update_broad_phase();
  /// Finds all pairs for the iterate; false: it is so wild that everything is near everything.
  bool search();
  /// Finds again the pairs of nodes that left their motion bounds, which get others; false: all pairs must be
  /// searched again.
  bool update_incremental(const std::vector<Index>& nodes);
  /// Measures the references of the pairs from number `first_pair` on.
  void measure(std::size_t first_pair);
  PairSearch::Workers workers() const;
  /// Selects the pairs that may touch at the iterate; returns how many.
  std::size_t cull_candidates();
  /// Selects among the pairs that may touch those that do, see touching().
  void narrow_phase();
  void deduplicate_contacts();
  std::size_t owner_of(std::uint64_t key) const;
  PairReferences references();

  Buffer<Vec4<double>> trajectories_;
  /// For every node, the bounds within which the pairs found are all that may touch.
  std::vector<MovingBox> motion_bounds_;
  const Search* searched_ = nullptr;  ///< how pairs were found; null: they must be
  bool is_fast_ = false;              ///< this step: displacements are too long to look ahead of it
  Buffer<double> pair_rooms_;
  Buffer<Index> pair_nodes_;
  Buffer<std::uint8_t> may_touch_;
  Buffer<Index> sifted_;
  Buffer<FoundContact> found_;
  std::vector<FoundContact> touching_staging_;
  const FoundContact* host_touching_ = nullptr;
  std::size_t touching_count_ = 0;
  Selections selections_;
  std::optional<DevicePairSearch> device_search_;  ///< search on the device, where the host does not search
};

}  // namespace isocloth
