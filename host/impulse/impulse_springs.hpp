// Springs of garments that impulses hold, and their plastic strains, in the memory of a device.
#pragma once

#include "engine/model/scene.hpp"
#include "host/impulse/force_bounds.hpp"
#include "host/impulse/pair_packets.hpp"

namespace isocloth {

/// Strain at which springs of a fabric yield, see ImpulseParameters::yield_strain.
inline double yields_at(const Fabric& fabric) {
  constexpr double never = 1e20;
  return fabric.plasticity.yield_strain > 0 ? fabric.plasticity.yield_strain : never;
}

/// Springs with a free end of garments of one pattern, by kind.
template <class Real>
class ImpulseSpringBuffers {
 public:
  ImpulseSpringBuffers() = default;
  /// Springs of the fabric of `first`; yield: all garments have plastic strains, at first zero. rest:
  /// positions at rest of each shape; is_free: shape [node_count].
  ImpulseSpringBuffers(const Device& device, const Garment& first, std::size_t garment_count, bool yield,
                       const std::vector<const std::vector<Vec3d>*>& rest, const std::vector<char>& is_free,
                       int lane_width);

  void take_over(ImpulsePattern<Real>& pattern) const;
  SpringStrains<Real> strains();
  /// First packets of the colours of structural, shear and bend springs.
  std::array<std::vector<Index>, 3> colours() const;
  /// Springs at each node into the bounds.
  void count_into(ForceBounds& bounds, std::size_t node_count) const;

  /// Memory of the plastic strains of one garment [bytes].
  std::size_t bytes_each() const;
  std::size_t memory_bytes() const;
  /// Number of plastic strains of a garment, see GarmentState::plastic_strains.
  std::size_t strain_count() const;
  std::vector<double> state(std::size_t member) const;
  void set_state(std::size_t member, const std::vector<double>& state);
  /// Plastic strains of all garments, by kind of spring.
  using Copy = std::array<std::vector<Real>, 3>;
  void copy_to(Copy& copy) const;
  void put_back(const Copy& copy);

 private:
  struct Kind {
    NodePairs pairs;
    std::vector<Index> numbers;  ///< number of the pair in each slot, -1: spare
    PacketBuffers<Real> packets;
    Buffer<Real> kept, now;  ///< see PlasticStrains
  };
  std::array<Kind, 3> kinds_;  ///< structural, shear, bend
  bool yield_ = false;
};

}  // namespace isocloth
