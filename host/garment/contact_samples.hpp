// What of a garment meets obstacles and bodies.
#pragma once

#include <array>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// Nodes, edges and faces of a garment whose points meet obstacles and bodies, in the order of
/// GarmentState::contacts.
class ContactSamples {
 public:
  struct Sample {
    std::array<Index, 4> nodes{};  ///< the last again where there are fewer
    int count = 1;
    /// Weights of the nodes at (u, v) of an edge, a triangle or a bilinear quad.
    std::array<double, 4> weights(const Vec2d& uv) const;
  };
  ContactSamples(const Scene& scene, const Garment& garment);

  std::size_t size() const { return samples_.size(); }
  const Sample& operator[](std::size_t contact) const { return samples_[contact]; }

 private:
  std::vector<Sample> samples_;
};

/// Calls visit(contact, its point [m], its sample, weights of the sample's nodes) of all that push in a
/// state.
template <class Visit>
void for_each_push(const GarmentState& state, const ContactSamples& samples, const Visit& visit) {
  for (std::size_t c = 0; c < state.contacts.size() && c < samples.size(); ++c) {
    const ContactState& contact = state.contacts[c];
    // One without a force was touched while the step was sought, and let go.
    if (contact.obstacle < 0 || contact.force == Vec3d{}) continue;
    const ContactSamples::Sample& sample = samples[c];
    const std::array<double, 4> weights = sample.weights(contact.uv);
    Vec3d position;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sample.count); ++i) {
      const double* const x = state.positions.data() + 3 * static_cast<std::size_t>(sample.nodes[i]);
      position += weights[i] * Vec3d{x[0], x[1], x[2]};
    }
    visit(contact, position, sample, weights);
  }
}

}  // namespace isocloth
