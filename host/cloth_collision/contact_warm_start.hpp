// Forces of contacts between cloths that go on from step to step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/geometry/pair_search.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"

namespace isocloth {

/// Forces of contacts between cloths, p [kg m], by the keys of what touches (FoundContact), ascending.
struct ContactWarmStart {
  std::vector<std::uint64_t> keys;
  std::vector<Vec3d> forces;

  /// Takes the forces of so many contacts that are not 0.
  void assign(const std::uint64_t* all_keys, const Vec3d* all_forces, std::size_t count);
  void scale(double factor);
  double largest() const;  ///< size of the largest force [kg m]
  /// The force of each of these keys, which ascend; 0 where there is none. Shape [contact].
  std::vector<Vec3d> forces_of(const std::vector<std::uint64_t>& contacts) const;
};

/// A force of a contact and the nodes that it acts on, with weights: 0 behind the last of them.
struct ContactLoad {
  std::array<Index, 4> nodes{};
  std::array<double, 4> weights{};
  Vec3d force;
};
/// The load of the force of a contact with this key, where its sides are nearest with all nodes at
/// `positions` [m].
ContactLoad contact_load(const SurfaceFeatures& features, std::uint64_t key, const Vec3d& force,
                         const std::vector<Vec3d>& positions);
/// Loads of all these forces on every garment with the nodes of all at `positions` [m]; forces times h^2
/// [kg m]. Shape [garment].
std::vector<ClothLoads> contact_loads(const SurfaceFeatures& features, const ContactWarmStart& kept,
                                      const std::vector<Vec3d>& positions);

/// The contacts that a garment keeps: each contact is kept by the first of its two garments.
std::vector<ClothContactState> contacts_of(const SurfaceFeatures& features, const ContactWarmStart& kept,
                                           std::size_t garment);
/// Puts others in their place. Throws ShapeError where one is not the garment's.
void set_contacts_of(const SurfaceFeatures& features, std::size_t garment,
                     const std::vector<ClothContactState>& own, ContactWarmStart& kept);

/// Puts the forces of `before` in the place of those of `now` where contacts are between garments both of
/// which sleep; shape of sleeps [garment].
void keep_forces_between(const SurfaceFeatures& features, const std::vector<char>& sleeps,
                         const ContactWarmStart& before, ContactWarmStart& now);

}  // namespace isocloth
