#include "host/cloth_collision/cloth_collision.hpp"

#include <algorithm>
#include <new>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/surfaces.hpp"
#include "host/cloth_collision/inelastic_impulses.hpp"
#include "host/cloth_collision/max_step_fractions.hpp"

namespace isocloth {
namespace {

/// Returns what work() returns, in which pairs of so many nodes are found.
template <class Work>
auto within_memory(std::size_t node_count, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw DeviceError(
        text("contact.cloth: memory ran out for the pairs of nodes, edges and triangles that may "
             "touch, of ",
             node_count, " nodes; use a smaller step, slower motions or fewer nodes"));
  }
}

}  // namespace

ClothCollision::ClothCollision(const Device& device, const Scene& scene,
                               const std::vector<const Garment*>& garments)
    : device_(device),
      search_(meshes_of(garments), worlds_of(garments), driven_of(garments)),
      geometry_(device, search_.features(), garments, scene.contact.tolerance),
      nodes_(device, geometry_.node_count()),
      broad_phase_(device, geometry_, search_),
      narrow_phase_(device, geometry_) {
  static_assert(PairSearch::every_world == Garment::every_world);
}

void ClothCollision::begin_substep() {
  has_new_part_ = !device_.backend().memory.host_accessible;
  if (!has_new_part_) broad_phase_.begin_substep(nodes_.from);
}

void ClothCollision::detect_contacts() {
  within_memory(geometry_.node_count(), [&] {
    if (std::exchange(has_new_part_, false)) broad_phase_.begin_substep(nodes_.from);
    bool is_known = true;
    if (!device_.backend().memory.host_accessible)
      is_known = detect_on_device();
    else if (is_known = broad_phase_.update(nodes_.from, nodes_.to); is_known)
      narrow_phase_.find(broad_phase_.candidates(), nodes_, contacts_);
    if (is_known) return;
    contacts_.clear();
    contacts_.passing = 1;  // nothing can be said of it but that it is no state to end in
  });
}

void ClothCollision::begin_detection(Downloads& downloads) {
  has_begun_ = broad_phase_.knows_pairs();
  if (has_begun_) narrow_phase_.begin(broad_phase_, false, nodes_, downloads);
}

bool ClothCollision::detect_on_device() {
  Downloads downloads(device_);
  const bool has_looked = broad_phase_.knows_pairs(), has_begun = std::exchange(has_begun_, false);
  if (has_looked && !has_begun) {
    narrow_phase_.begin(broad_phase_, false, nodes_, downloads);
    downloads.run();
  }
  nodes_.accept_next();
  if (has_looked && narrow_phase_.end(broad_phase_, nodes_, contacts_)) return true;
  if (!broad_phase_.search(nodes_.from, nodes_.host_to(), downloads)) return false;
  narrow_phase_.begin(broad_phase_, true, nodes_, downloads);
  downloads.run();
  return narrow_phase_.end(broad_phase_, nodes_, contacts_);
}

bool ClothCollision::has_contact(std::vector<Vec3d> from, std::vector<Vec3d> to) {
  nodes_.from = std::move(from);
  nodes_.to = std::move(to);
  nodes_.device_from.upload(nodes_.from);
  nodes_.device_to.upload(nodes_.to);
  begin_step();
  nodes_.begin_substep();
  begin_substep();
  detect_contacts();
  return contacts_.exist() || contacts_.may_penetrate();
}

CcdLimits ClothCollision::ccd_limits(const std::vector<Vec3d>& predicted,
                                     const std::vector<double>& inverse_masses,
                                     std::vector<Vec3d>& velocities) {
  return within_memory(geometry_.node_count(), [&] {
    using enum PairSearch::Times;
    CcdLimits found;
    std::vector<FeaturePair> pairs;
    const std::vector<Vec3d>& to = nodes_.host_to();
    // Whatever meets at common speeds meets where each side goes when it likes: one search has both.
    const bool are_same = predicted == to,
               has_both = are_same && broad_phase_.find_once(nodes_.from, to, own, pairs);
    if (has_both || broad_phase_.find_once(nodes_.from, predicted, common, pairs))
      found.met = apply_inelastic_impulses(features(), pairs, geometry_.thicknesses(),
                                           {nodes_.from, predicted, inverse_masses, velocities});
    found.shares.assign(to.size(), 0.0);
    if (has_both || (!are_same && broad_phase_.find_once(nodes_.from, to, own, pairs)))
      found.shares = max_step_fractions(features(), pairs, nodes_.from, to, geometry_.thicknesses());
    return found;
  });
}

double ClothCollision::least_gap() const {
  const double* const inverse_inertia = contacts_.exist() ? nodes_.host_inertia() : nullptr;
  double least = 1;
  for (std::size_t c = 0; c < contacts_.keys.size(); ++c) {
    const FoundContact& contact = contacts_[c];
    // What passed was held back, and is elsewhere.
    if (contact.status == PairStatus::passing) continue;
    const double gap = 1 + contact.gap / contact.thickness;
    if (gap < least && can_part(features(), contacts_.pairs[c], contact, inverse_inertia)) least = gap;
  }
  return least;
}

Index ClothCollision::loaded_count() const {
  Index count = 0;
  auto own = contacts_.keys.begin();
  for (const std::uint64_t key : kept_.keys) {
    own = std::lower_bound(own, contacts_.keys.end(), key);
    count += own != contacts_.keys.end() && *own == key;
  }
  return count;
}

std::size_t ClothCollision::memory_bytes() const {
  return geometry_.memory_bytes() + nodes_.device_from.bytes() + nodes_.device_to.bytes() +
         nodes_.inverse_inertia.bytes() + broad_phase_.memory_bytes() + narrow_phase_.memory_bytes() +
         contacts_.touching.bytes();
}

}  // namespace isocloth
