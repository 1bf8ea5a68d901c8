#include "host/cloth_collision/narrow_phase.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/memory/growing_buffer.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {

void Contacts::clear() {
  keys.clear();
  pairs.clear();
  chosen.clear();
  host_touching = {};
  depth = 0;
  passing = 0;
}

/// What no step can part is nobody's fault.
bool can_part(const SurfaceFeatures& features, const FeaturePair& pair, const FoundContact& contact,
              const double* inverse_inertia) {
  double inverse[4];
  const std::array<Index, 4> nodes = features.nodes_of(pair);
  for (std::size_t i = 0; i < 4; ++i) inverse[i] = inverse_inertia[nodes[i]];
  return points_can_part(contact.weights, inverse);
}

std::size_t NarrowPhase::cull_candidates(Candidates& candidates, const NodalTrajectories& nodes) {
  const std::size_t count = candidates.count();
  reserve(device_, count, may_touch_);
  kernels_.cull_candidates(device_.queue(), {.pairs = candidates.on_device(),
                                             .references = candidates.references(),
                                             .measured_at = candidates.measured_at(),
                                             .from = nodes.device_from.view(),
                                             .to = nodes.device_to.view(),
                                             .reach = geometry_.reach(),
                                             .trajectories = trajectories_.view(),
                                             .may_touch = first(may_touch_, count)});
  reserve(device_, count, sifted_);
  return selections_.list_flagged(first(std::as_const(may_touch_), count), first(sifted_, count));
}

void NarrowPhase::find(Candidates& candidates, const NodalTrajectories& nodes, Contacts& contacts) {
  contacts.clear();
  const std::size_t count = cull_candidates(candidates, nodes);
  reserve(device_, count, found_);
  reserve(device_, count, contacts.touching);
  kernels_.find_contacts(device_.queue(), {.features = geometry_.device_features(),
                                           .pairs = candidates.on_device(),
                                           .thicknesses = candidates.thicknesses(),
                                           .from = nodes.device_from.view(),
                                           .to = nodes.device_to.view(),
                                           .reach = geometry_.reach(),
                                           .sifted = first(std::as_const(sifted_), count),
                                           .contacts = first(found_, count)});
  const std::size_t touching =
      selections_.select_contacts(first(std::as_const(found_), count), first(contacts.touching, count));
  contacts.host_touching = {std::as_const(contacts.touching).read(0, touching, contacts.staging), touching};
  deduplicate_contacts(candidates, nodes, contacts);
}

void NarrowPhase::deduplicate_contacts(const Candidates& candidates, const NodalTrajectories& nodes,
                                       Contacts& contacts) const {
  struct Found {
    std::uint64_t key;
    Index order_of_status;  // of one key those that pass come first
    FeaturePair pair;
    Index index;
    auto order() const { return std::tie(key, order_of_status, pair.first, pair.second); }
    bool operator<(const Found& other) const { return order() < other.order(); }
  };
  std::vector<double> inertia_staging;
  const double* const inverse_inertia = nodes.inverse_inertia.read(inertia_staging);
  cpu::ContactLaw<double> law;
  law.tolerance = geometry_.tolerance();
  std::vector<Found> all;
  all.reserve(contacts.host_touching.size());
  for (std::size_t p = 0; p < contacts.host_touching.size(); ++p) {
    const FoundContact& found = contacts.host_touching[p];
    const FeaturePair& pair = candidates.pairs[found.pair];
    const bool is_passing = found.status == PairStatus::passing;
    contacts.passing += is_passing;
    if (const double depth = law.depth(found.gap, law.deep_rest(found.before));
        !is_passing && depth > contacts.depth && can_part(geometry_.features(), pair, found, inverse_inertia))
      contacts.depth = depth;
    all.push_back({found.key, is_passing ? 0 : 1, pair, static_cast<Index>(p)});
  }
  std::sort(all.begin(), all.end());
  for (const Found& found : all) {
    if (contacts.exist() && contacts.keys.back() == found.key) continue;
    contacts.keys.push_back(found.key);
    contacts.pairs.push_back(found.pair);
    contacts.chosen.push_back(found.index);
  }
}

std::size_t NarrowPhase::memory_bytes() const {
  return selections_.bytes() + trajectories_.bytes() + may_touch_.bytes() + sifted_.bytes() + found_.bytes();
}

}  // namespace isocloth
