#include "host/cloth_collision/cloth_pairs.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/surfaces.hpp"
#include "host/cloth_collision/inelastic_impulses.hpp"
#include "host/cloth_collision/max_step_fractions.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {
namespace {

template <std::size_t count>
std::vector<Index> flattened(const std::vector<std::array<Index, count>>& all) {
  std::vector<Index> numbers;
  numbers.reserve(count * all.size());
  for (const auto& each : all) numbers.insert(numbers.end(), each.begin(), each.end());
  return numbers;
}

}  // namespace

void ContactWarmStart::scale(double factor) {
  for (Vec3d& force : forces) force = factor * force;
}

ClothPairs::ClothPairs(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments)
    : device_(device),
      contact_kernels_(device.backend().cloth_contact),
      tolerance_(scene.contact.tolerance),
      pairs_(meshes_of(garments), worlds_of(garments), driven_of(garments)),
      ccd_stopped_nodes_(garments.size(), 0),
      blocked_kinematic_nodes_(garments.size(), 0),
      selections_(device) {
  static_assert(PairSearch::every_world == Garment::every_world);
  const SurfaceFeatures& features = pairs_.features();
  std::vector<Vec3d> rest;
  for (const Garment* garment : garments) {
    thicknesses_.push_back(garment->fabric.thickness);
    densities_.push_back(garment->fabric.density);
    rest.insert(rest.end(), garment->mesh.positions.begin(), garment->mesh.positions.end());
  }
  reach_ = std::max(*std::min_element(thicknesses_.begin(), thicknesses_.end()) / 4, 2 * tolerance_);
  triangles_ = {device, flattened(features.triangles)};
  sides_ = {device, flattened(features.sides)};
  edges_ = {device, flattened(features.edges)};
  node_garments_ = {device, features.node_surfaces};
  device_thicknesses_ = {device, thicknesses_};
  rest_ = {device, rest};
  for (Buffer<Vec3d>* positions : {&measured_at_, &from_, &to_}) *positions = {device, rest.size()};
  inverse_inertia_ = {device, rest.size()};
  trajectories_ = {device, 4 * rest.size()};
  motion_bounds_.resize(rest.size());
  // Launches and waits take a device longer than the host takes for a few triangles.
  constexpr std::size_t least_triangles = 1000;
  if (!device.backend().memory.host_accessible && features.triangles.size() >= least_triangles)
    device_search_.emplace(device, pairs_);
}

Index ClothPairs::loaded_count() const {
  Index count = 0;
  auto own = keys_.begin();
  for (const std::uint64_t key : state_.keys) {
    own = std::lower_bound(own, keys_.end(), key);
    count += own != keys_.end() && *own == key;
  }
  return count;
}

ClothFeatures ClothPairs::features() const {
  return {triangles_.view(), sides_.view(), edges_.view(), node_garments_.view()};
}

PairReferences ClothPairs::references() {
  return {pair_thicknesses_.view(), pair_rooms_.view(), pair_nodes_.view()};
}

void ClothPairs::begin_step() {
  work_ = state_;
  is_fast_ = false;
  std::fill(ccd_stopped_nodes_.begin(), ccd_stopped_nodes_.end(), 0);
  std::fill(blocked_kinematic_nodes_.begin(), blocked_kinematic_nodes_.end(), 0);
}

void ClothPairs::begin_substep() {
  if (searched_ != nullptr && !nodes_outside_bounds(host_from_, &MovingBox::begin).empty())
    searched_ = nullptr;
}

bool ClothPairs::has_contact(std::vector<Vec3d> from, std::vector<Vec3d> to) {
  host_from_ = std::move(from);
  host_to_ = std::move(to);
  from_.upload(host_from_);
  to_.upload(host_to_);
  is_fast_ = false;
  within_memory([&] {
    begin_substep();
    detect_contacts();
  });
  return exist() || may_penetrate();
}

void ClothPairs::detect_contacts() {
  keys_.clear();
  host_chosen_.clear();
  touching_count_ = 0;
  depth_ = 0;
  passing_ = 1;
  if (!update_broad_phase()) return;  // nothing can be said of it but that it is no state to end in
  narrow_phase();
  deduplicate_contacts();
}

void ClothPairs::throw_out_of_memory() const {
  throw DeviceError(
      text("contact.cloth: memory ran out for the pairs of nodes, edges and triangles that may "
           "touch, of ",
           motion_bounds_.size(), " nodes; use a smaller step, slower motions or fewer nodes"));
}

/// What no step can part is nobody's fault.
bool ClothPairs::can_part(const FoundContact& found, const double* inverse_inertia) const {
  double inverse[4];
  const std::array<Index, 4> nodes = pairs_.features().nodes_of(pair_of(found));
  for (std::size_t i = 0; i < 4; ++i) inverse[i] = inverse_inertia[static_cast<std::size_t>(nodes[i])];
  return points_can_part(found.weights, inverse);
}

void ClothPairs::deduplicate_contacts() {
  struct Candidate {
    std::uint64_t key;
    Index order_of_status;  // of one key those that pass come first
    FeaturePair pair;
    Index index;
    auto order() const { return std::tie(key, order_of_status, pair.first, pair.second); }
    bool operator<(const Candidate& other) const { return order() < other.order(); }
  };
  const ArrayView<const FoundContact> found = touching();
  std::vector<double> inertia_staging;
  const double* const inverse_inertia =
      std::as_const(inverse_inertia_).read(0, motion_bounds_.size(), inertia_staging);
  cpu::ContactLaw<double> law;
  law.tolerance = tolerance_;
  std::vector<Candidate> candidates;
  passing_ = 0;
  for (std::size_t p = 0; p < found.size(); ++p) {
    const bool is_passing = found[p].status == PairStatus::passing;
    passing_ += is_passing;
    if (const double depth = law.depth(found[p].gap, law.deep_rest(found[p].before));
        !is_passing && depth > depth_ && can_part(found[p], inverse_inertia))
      depth_ = depth;
    candidates.push_back({found[p].key, is_passing ? 0 : 1, pair_of(found[p]), static_cast<Index>(p)});
  }
  std::sort(candidates.begin(), candidates.end());
  for (const Candidate& c : candidates) {
    if (!keys_.empty() && keys_.back() == c.key) continue;
    keys_.push_back(c.key);
    host_chosen_.push_back(c.index);
  }
}

ClothPairs::CcdLimits ClothPairs::ccd_limits(const std::vector<Vec3d>& predicted,
                                             const std::vector<double>& inverse_masses,
                                             std::vector<Vec3d>& velocities) {
  const SurfaceFeatures& features = pairs_.features();
  CcdLimits found;
  std::vector<FeaturePair> pairs;
  constexpr Search at_once{.times = PairSearch::Times::common, .most_per_node = 400, .always = 1'000'000};
  if (find_pairs(host_from_, predicted, at_once, pairs))
    found.met = apply_inelastic_impulses(features, pairs, thicknesses_,
                                         {host_from_, predicted, inverse_masses, velocities});
  found.shares.assign(host_to_.size(), 0.0);  // where all is near all, all stays
  constexpr Search each{.most_per_node = 400, .always = 1'000'000};
  if (find_pairs(host_from_, host_to_, each, pairs))
    found.shares = max_step_fractions(features, pairs, host_from_, host_to_, thicknesses_);
  searched_ = nullptr;  // boxes are those of these displacements
  return found;
}

std::size_t ClothPairs::pair_bytes() const {
  std::size_t bytes = pairs_.memory_bytes() + host_pairs_.capacity() * sizeof(FeaturePair) +
                      motion_bounds_.size() * sizeof(MovingBox) +
                      (device_search_ ? device_search_->memory_bytes() : 0);
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(triangles_, sides_, edges_, node_garments_, inverse_inertia_, trajectories_, rest_, from_, to_,
      device_pairs_, measured_at_, pair_thicknesses_, pair_rooms_, pair_nodes_, may_touch_, sifted_, found_,
      touching_, selections_);
  return bytes;
}

}  // namespace isocloth
