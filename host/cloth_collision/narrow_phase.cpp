#include "host/cloth_collision/narrow_phase.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/memory/growing_buffer.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {

namespace {

/// How many are not known before they are looked at: a little more than there were, mostly.
std::size_t with_reserve(std::size_t count) {
  constexpr std::size_t least = 64;
  return least + count + count / 4;
}

}  // namespace

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

void NarrowPhase::cull_candidates(Candidates& candidates, const NodalTrajectories& nodes) {
  const std::size_t count = candidates.count();
  reserve(device_, count, may_touch_);
  kernels_.cull_candidates(device_.queue(), {.pairs = candidates.on_device(),
                                             .references = candidates.references(),
                                             .measured_at = candidates.measured_at(),
                                             .from = nodes.device_from.view(),
                                             .to = nodes.iterate(),
                                             .reach = geometry_.reach(),
                                             .trajectories = trajectories_.view(),
                                             .may_touch = first(may_touch_, count)});
  reserve(device_, count, sifted_);
}

void NarrowPhase::launch_find(const Candidates& candidates, const NodalTrajectories& nodes,
                              std::size_t sifted, ArrayView<const Index> count) {
  kernels_.find_contacts(device_.queue(), {.features = geometry_.device_features(),
                                           .pairs = candidates.on_device(),
                                           .thicknesses = candidates.thicknesses(),
                                           .from = nodes.device_from.view(),
                                           .to = nodes.iterate(),
                                           .reach = geometry_.reach(),
                                           .sifted = first(std::as_const(sifted_), sifted),
                                           .contacts = first(found_, sifted),
                                           .sifted_count = count});
}

void NarrowPhase::find(Candidates& candidates, const NodalTrajectories& nodes, Contacts& contacts) {
  contacts.clear();
  cull_candidates(candidates, nodes);
  const std::size_t all = candidates.count(), count = selections_.list_flagged(
                                                  first(std::as_const(may_touch_), all), first(sifted_, all));
  reserve(device_, count, found_);
  reserve(device_, count, contacts.touching);
  launch_find(candidates, nodes, count, {});
  const std::size_t touching =
      selections_.select_contacts(first(std::as_const(found_), count), first(contacts.touching, count));
  contacts.host_touching = {std::as_const(contacts.touching).read(0, touching, contacts.staging), touching};
  deduplicate_contacts(candidates, nodes, contacts);
}

void NarrowPhase::begin(BroadPhase& broad_phase, bool has_new_pairs, const NodalTrajectories& nodes,
                        Downloads& downloads) {
  Candidates& candidates = broad_phase.candidates();
  const std::size_t all = candidates.count();
  cull_candidates(candidates, nodes);
  selections_.list_flagged(first(std::as_const(may_touch_), all), first(sifted_, all),
                           slice(counts_.view(), Found::sifted, Found::touching));
  if (!has_new_pairs)
    broad_phase.count_strays(nodes.iterate(), slice(counts_.view(), Found::strays, Found::count_count));
  next_.has_new_pairs = has_new_pairs;
  next_.room = std::min(all, with_reserve(last_sifted_));
  launch_found(candidates, nodes, downloads);
}

void NarrowPhase::launch_found(const Candidates& candidates, const NodalTrajectories& nodes,
                               Downloads& downloads) {
  const std::size_t room = next_.room;
  reserve(device_, room, found_);
  reserve(device_, room, next_.touching_pairs);
  launch_find(candidates, nodes, room, slice(counts_.view(), Found::sifted, Found::touching));
  selections_.select_contacts(first(std::as_const(found_), room), first(next_.touching_pairs, room),
                              slice(counts_.view(), Found::touching, Found::strays));
  next_.asked = std::min(room, with_reserve(last_touching_));
  downloads.add(std::as_const(counts_).view(), next_.count_staging, next_.counts);
  downloads.add(first(std::as_const(next_.touching_pairs), next_.asked), next_.staging, next_.first);
}

bool NarrowPhase::end(BroadPhase& broad_phase, const NodalTrajectories& nodes, Contacts& contacts) {
  if (!next_.has_new_pairs && next_.count(Found::strays) > 0) return false;
  const Candidates& candidates = broad_phase.candidates();
  if (next_.count(Found::sifted) > next_.room) {
    Downloads downloads(device_);
    next_.room = next_.count(Found::sifted);
    launch_found(candidates, nodes, downloads);
    downloads.run();
  }
  last_sifted_ = next_.count(Found::sifted);
  last_touching_ = next_.count(Found::touching);
  if (last_touching_ > next_.asked)
    next_.first = std::as_const(next_.touching_pairs).read(0, last_touching_, next_.staging);
  contacts.clear();
  std::swap(contacts.touching, next_.touching_pairs);
  std::swap(contacts.staging, next_.staging);
  contacts.host_touching = {next_.first, last_touching_};
  deduplicate_contacts(candidates, nodes, contacts);
  return true;
}

void NarrowPhase::deduplicate_contacts(const Candidates& candidates, const NodalTrajectories& nodes,
                                       Contacts& contacts) const {
  struct Touching {
    std::uint64_t key;
    Index order_of_status;  // of one key those that pass come first
    FeaturePair pair;
    Index index;
    auto order() const { return std::tie(key, order_of_status, pair.first, pair.second); }
    bool operator<(const Touching& other) const { return order() < other.order(); }
  };
  const double* const inverse_inertia = nodes.host_inertia();
  cpu::ContactLaw<double> law;
  law.tolerance = geometry_.tolerance();
  std::vector<Touching> all;
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
  for (const Touching& found : all) {
    if (contacts.exist() && contacts.keys.back() == found.key) continue;
    contacts.keys.push_back(found.key);
    contacts.pairs.push_back(found.pair);
    contacts.chosen.push_back(found.index);
  }
}

std::size_t NarrowPhase::memory_bytes() const {
  return selections_.bytes() + trajectories_.bytes() + may_touch_.bytes() + sifted_.bytes() + found_.bytes() +
         counts_.bytes() + next_.touching_pairs.bytes();
}

}  // namespace isocloth
