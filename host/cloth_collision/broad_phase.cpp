#include "host/cloth_collision/broad_phase.hpp"

#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/launch/launch.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

/// The mean, 0 where it is not finite.
Vec3d centroid(const std::vector<Vec3d>& positions) {
  Vec3d sum{};
  for (const Vec3d& x : positions) sum += x;
  const Vec3d mean = (1 / static_cast<double>(positions.size())) * sum;
  return std::isfinite(mean.x) && std::isfinite(mean.y) && std::isfinite(mean.z) ? mean : Vec3d{};
}

/// Straight displacements of all nodes and `ahead` times beyond their ends, relative to what all have in
/// common: where a pair is apart that way, it is.
struct Displacements {
  Displacements(std::vector<Vec3d> begins, std::vector<Vec3d> ends, double ahead)
      : from(std::move(begins)), to(std::move(ends)) {
    const Vec3d middle_from = centroid(from), middle_to = centroid(to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = from[i] - middle_from;
      to[i] = to[i] - middle_to;
      if (ahead > 0) to[i] = to[i] + ahead * (to[i] - from[i]);
    }
  }
  std::vector<Vec3d> from, to;
};

}  // namespace

BroadPhase::BroadPhase(const Device& device, const CollisionGeometry& geometry, PairSearch& search)
    : device_(device),
      geometry_(geometry),
      search_(search),
      candidates_(device, geometry),
      motion_bounds_(geometry.node_count()) {
  // Launches and waits take a device longer than the host takes for a few triangles.
  constexpr std::size_t least_triangles = 1000;
  if (!device.backend().memory.host_accessible && geometry.features().triangles.size() >= least_triangles)
    device_search_.emplace(device, search);
}

void BroadPhase::begin_substep(const std::vector<Vec3d>& from) {
  if (searched_ != nullptr && !nodes_outside_bounds(from, &MovingBox::begin).empty()) searched_ = nullptr;
}

bool BroadPhase::update(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to) {
  if (searched_ != nullptr) {
    const std::vector<Index> nodes = nodes_outside_bounds(to, &MovingBox::end);
    if (nodes.empty() || update_incremental(nodes, from, to)) return true;
  }
  Downloads downloads(device_);
  const bool is_found = search(from, to, downloads);
  downloads.run();
  return is_found;
}

bool BroadPhase::find_once(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to,
                           PairSearch::Times times, std::vector<FeaturePair>& pairs) {
  has_boxes_ = false;
  return find_pairs(from, to, {.times = times, .most_per_node = 400, .always = 1'000'000}, pairs);
}

std::size_t BroadPhase::most_pairs(const Search& how) const {
  return std::max(how.always, how.most_per_node * motion_bounds_.size());
}

bool BroadPhase::find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, const Search& how,
                            std::vector<FeaturePair>& pairs) {
  return search_.find(from, to, margins(how.has_spare), most_pairs(how), pairs, workers(), how.times);
}

std::vector<Index> BroadPhase::nodes_outside_bounds(const std::vector<Vec3d>& positions,
                                                    BoundingBox MovingBox::*bounds) const {
  const Vec3d middle = centroid(positions);
  std::vector<Index> found;
  for (std::size_t i = 0; i < motion_bounds_.size(); ++i) {
    const Vec3d relative = positions[i] - middle;
    if (!overlap(motion_bounds_[i].*bounds, {relative, relative})) found.push_back(static_cast<Index>(i));
  }
  return found;
}

std::vector<double> BroadPhase::margins(bool has_spare) const {
  std::vector<double> all;
  for (const double thickness : geometry_.thicknesses())
    all.push_back((thickness + geometry_.reach()) / 2 + (has_spare ? thickness : 0));
  return all;
}

PairSearch::Workers BroadPhase::workers() const {
  ThreadPool* const pool = device_.queue().pool;
  if (pool == nullptr || motion_bounds_.size() < least_range) return PairSearch::alone();
  return {.for_each =
              [pool](std::size_t count, const PairSearch::Workers::Piece& piece) {
                pool->run(static_cast<Index>(count), 1, [&](Index begin, Index end) {
                  for (Index i = begin; i < end; ++i) piece(static_cast<std::size_t>(i));
                });
              },
          .add = [found = std::make_shared<std::atomic<std::size_t>>(0)](
                     std::size_t more) { return *found += more; }};
}

void BroadPhase::set_motion_bounds(std::size_t node, const Vec3d& from, const Vec3d& to, const Search& how) {
  const auto garment = static_cast<std::size_t>(geometry_.features().node_surfaces[node]);
  const double spare = how.has_spare ? geometry_.thicknesses()[garment] : 0;
  MovingBox& bounds = motion_bounds_[node];
  bounds = {{from, from}, {to, to}};
  if (how.times == PairSearch::Times::own) bounds.begin = bounds.end = joined(bounds.begin, bounds.end);
  for (BoundingBox* const box : {&bounds.begin, &bounds.end}) {
    box->low -= Vec3d{spare, spare, spare};
    box->high += Vec3d{spare, spare, spare};
  }
}

bool BroadPhase::search(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, Downloads& downloads) {
  using enum PairSearch::Times;
  // A few steps of the same motion are searched at once, whenever in them nodes are where. Where
  // displacements are so long that this finds too much, those of this part at their speeds. In a tangle of
  // many layers a node is near a hundred features; memory for so many is there.
  static constexpr Search searches[] = {
      {.times = own, .ahead = 2, .has_spare = true, .most_per_node = 100, .always = 20'000},
      {.times = common, .has_spare = true, .most_per_node = 400, .always = 100'000},
      {.times = common, .most_per_node = 400, .always = 100'000}};
  searched_ = nullptr;
  for (const Search& how : searches) {
    if (how.ahead > 0 && is_fast_) continue;
    is_fast_ = how.ahead == 0;
    const Displacements all(from, to, how.ahead);
    for (std::size_t i = 0; i < motion_bounds_.size(); ++i) set_motion_bounds(i, all.from[i], all.to[i], how);
    Uploads uploads(device_);
    if (!device_.backend().memory.host_accessible) {
      if (device_bounds_.size() == 0) device_bounds_ = {device_, motion_bounds_.size()};
      uploads.add(motion_bounds_, device_bounds_.view());
    }
    if (device_search_) {
      uploads.add(from, candidates_.measured_at());
      if (!device_search_->find(geometry_.device_features(),
                                {all.from, all.to, margins(how.has_spare), how.times}, most_pairs(how),
                                candidates_.device_pairs, candidates_.pairs, uploads, downloads))
        continue;
    } else if (find_pairs(all.from, all.to, how, candidates_.pairs)) {
      uploads.run();
    } else {
      continue;
    }
    candidates_.measure_all(from, device_search_.has_value());
    searched_ = &how;
    has_boxes_ = true;
    return true;
  }
  return false;
}

void BroadPhase::count_strays(ArrayView<const Vec3d> to, ArrayView<Index> count) {
  device_.backend().cloth_contact.count_strays(
      device_.queue(), {.positions = to, .bounds = device_bounds_.view(), .at_end = true, .count = count});
}

bool BroadPhase::update_incremental(const std::vector<Index>& nodes, const std::vector<Vec3d>& from,
                                    const std::vector<Vec3d>& to) {
  constexpr std::size_t many = 8;                   // for one node in so many a search of all is cheaper
  if (device_search_ || !has_boxes_) return false;  // its threads find all as fast
  if (searched_->times != PairSearch::Times::own || many * nodes.size() > motion_bounds_.size()) return false;
  const Search& how = *std::exchange(searched_, nullptr);  // until their pairs are there
  const Displacements all(from, to, how.ahead);
  std::vector<PairSearch::UpdatedTrajectory> updated_trajectories;
  for (const Index node : nodes) {
    const auto i = static_cast<std::size_t>(node);
    if (!std::isfinite(norm(all.from[i])) || !std::isfinite(norm(all.to[i]))) return false;
    set_motion_bounds(i, all.from[i], all.to[i], how);
    updated_trajectories.push_back({node, all.from[i], all.to[i]});
  }
  const std::size_t before = candidates_.count();
  if (!search_.update(updated_trajectories, margins(how.has_spare), candidates_.capacity(), candidates_.pairs,
                      workers()))
    return false;
  candidates_.measure_added(before);
  searched_ = &how;
  return true;
}

std::size_t BroadPhase::memory_bytes() const {
  return search_.memory_bytes() + candidates_.memory_bytes() + motion_bounds_.size() * sizeof(MovingBox) +
         device_bounds_.bytes() + (device_search_ ? device_search_->memory_bytes() : 0);
}

}  // namespace isocloth
