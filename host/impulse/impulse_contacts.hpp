// Contacts of garments that impulses hold, in the memory of a device.
#pragma once

#include "engine/model/scene.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// Samples of the mesh that garments share, by colour, the obstacles that they meet, and what is kept of each
/// contact.
template <class Real>
class ImpulseContactBuffers {
 public:
  /// Buffers without obstacles: everything below does nothing.
  ImpulseContactBuffers() = default;
  /// `garments` of one mesh, in the order of their clocks.
  ImpulseContactBuffers(const Device& device, std::shared_ptr<const ObstacleShapes<Real>> obstacles,
                        const std::vector<const Garment*>& garments);

  /// What every garment with such a mesh takes of a device's memory, and what all take together.
  static std::size_t bytes_each(const Mesh& mesh, std::size_t obstacle_count, std::size_t moving_count,
                                bool eases);
  static std::size_t bytes_fixed(const Mesh& mesh);

  /// Where the obstacles are in the next `steps` steps of h [s].
  void set_motions(const std::vector<Clock>& clocks, double h, int steps) {
    obstacles_.set_motions(clocks, h, steps);
  }
  ImpulseContacts<Real> view();
  std::size_t contact_count() const { return static_cast<std::size_t>(samples().contact_count()); }
  std::size_t sample_count() const { return static_cast<std::size_t>(samples().sample_count()); }
  /// Colours of the samples, see ImpulseContacts::colour_begin.
  const std::vector<Index>& colours() const { return colours_; }

  /// GarmentField::contact_obstacles or GarmentField::contact_forces of all garments; none: no obstacles.
  std::vector<FieldView> views(GarmentField field);
  /// GarmentState::contacts of a garment without contacts.
  std::vector<ContactState> no_contacts() const { return std::vector<ContactState>(contact_count()); }
  std::vector<ContactState> state(std::size_t member) const;
  /// GarmentState::eased of a garment without contacts.
  std::vector<EasedState> no_eased() const {
    return std::vector<EasedState>(static_cast<std::size_t>(samples().eased_count()));
  }
  std::vector<EasedState> eased(std::size_t member) const;
  void set_state(std::size_t member, const std::vector<ContactState>& state,
                 const std::vector<EasedState>& eased);
  /// All that GarmentState::contacts and GarmentState::eased tell, of all garments.
  void copy_to(std::vector<Real>& copy) const;
  void put_back(const std::vector<Real>& copy);
  std::size_t memory_bytes() const;

 private:
  SamplePattern samples() const;

  const Device* device_ = nullptr;
  Real tolerance_ = 0;
  bool eases_ = false;
  Index node_count_ = 0, edge_count_ = 0, face_count_ = 0, contacts_per_node_ = 0;
  std::vector<Index> colours_;
  Buffer<Index> sample_begin_, slot_nodes_, colour_begin_, order_;
  Buffer<Real> work_;
  ObstacleTable<Real> obstacles_;
};

}  // namespace isocloth
