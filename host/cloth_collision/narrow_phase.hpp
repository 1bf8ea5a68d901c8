// Where cloths touch, of the pairs of features that may.
#pragma once

#include "host/cloth_collision/broad_phase.hpp"
#include "host/cloth_collision/selections.hpp"

namespace isocloth {

/// Contacts at an iterate, one of each key, in the order of their keys
/// (kernels/cloth_contact/cloth_contact.hpp says what a contact is): no sum depends on the order in which
/// pairs are found.
struct Contacts {
  std::vector<std::uint64_t> keys;  ///< FoundContact::key, ascending
  std::vector<FeaturePair> pairs;   ///< shape [contact]
  std::vector<Index> chosen;        ///< number of each contact's pair in `touching`, shape [contact]
  double depth = 0;                 ///< depth of the deepest contact that forces can part [m]
  Index passing = 0;                ///< number of pairs that perhaps did not stay apart on the way

  /// Pairs that are not apart, several of one key among them, in a device's memory.
  Buffer<FoundContact> touching;
  ArrayView<const FoundContact> host_touching;  ///< the same, where the host can read them

  bool exist() const { return !keys.empty(); }
  Index count() const { return static_cast<Index>(keys.size()); }
  /// Whether some pair perhaps did not stay apart on the way to the iterate.
  bool may_penetrate() const { return passing > 0; }
  const FoundContact& operator[](std::size_t contact) const { return host_touching[chosen[contact]]; }
  ArrayView<const FoundContact> on_device() const { return slice(touching.view(), 0, host_touching.size()); }
  void clear();

  std::vector<FoundContact> staging;  ///< of host_touching, where the host cannot read a device's memory
};

/// Whether forces can move the two sides of a contact apart. inverse_inertia: of all nodes [1/kg].
bool can_part(const SurfaceFeatures& features, const FeaturePair& pair, const FoundContact& contact,
              const double* inverse_inertia);

/// Finds the contacts among candidates. The geometry and the device must outlive it.
class NarrowPhase {
 public:
  NarrowPhase(const Device& device, const CollisionGeometry& geometry)
      : device_(device),
        kernels_(device.backend().cloth_contact),
        geometry_(geometry),
        selections_(device),
        trajectories_(device, 4 * geometry.node_count()),
        counts_(device, Found::count_count) {}

  /// Contacts of the candidates on these ways. What is found does not depend on which pairs there are besides
  /// those that touch or pass.
  void find(Candidates& candidates, const NodalTrajectories& nodes, Contacts& contacts);
  // The same where the host cannot read a device's memory: once what begin() asks for is there, end() has the
  // contacts. has_new_pairs: the candidates are all that may touch; else end() returns false, and leaves
  // contacts as they were, where nodes have left the bounds of the candidates.
  void begin(BroadPhase& broad_phase, bool has_new_pairs, const NodalTrajectories& nodes,
             Downloads& downloads);
  bool end(BroadPhase& broad_phase, const NodalTrajectories& nodes, Contacts& contacts);
  std::size_t memory_bytes() const;

 private:
  /// What a device found.
  struct Found {
    enum Count : std::size_t { sifted, touching, strays, count_count };
    std::size_t room = 0, asked = 0;  ///< pairs sifted that there is room for, contacts that were asked for
    bool has_new_pairs = false;
    std::vector<Index> count_staging;
    const Index* counts = nullptr;  ///< by Count
    Buffer<FoundContact> touching_pairs;
    std::vector<FoundContact> staging;
    const FoundContact* first = nullptr;

    std::size_t count(Count which) const { return static_cast<std::size_t>(counts[which]); }
  };
  /// Launches what follows cull_candidates(), and asks for it.
  void launch_found(const Candidates& candidates, const NodalTrajectories& nodes, Downloads& downloads);
  /// Marks the pairs that may touch at the iterate, and makes room for their list.
  void cull_candidates(Candidates& candidates, const NodalTrajectories& nodes);
  /// Launches the search for contacts among `sifted`; count: how many these are, empty: all.
  void launch_find(const Candidates& candidates, const NodalTrajectories& nodes, std::size_t sifted,
                   ArrayView<const Index> count);
  /// Sorts what touches by keys, and keeps one of each.
  void deduplicate_contacts(const Candidates& candidates, const NodalTrajectories& nodes,
                            Contacts& contacts) const;

  const Device& device_;
  const ClothContactKernels& kernels_;
  const CollisionGeometry& geometry_;
  Selections selections_;
  Buffer<Vec4<double>> trajectories_;
  Buffer<std::uint8_t> may_touch_;
  Buffer<Index> sifted_;
  Buffer<FoundContact> found_;
  Buffer<Index> counts_;  ///< by Found::Count
  Found next_;
  std::size_t last_sifted_ = 0, last_touching_ = 0;  ///< what end() found the last time, for the next room
};

}  // namespace isocloth
