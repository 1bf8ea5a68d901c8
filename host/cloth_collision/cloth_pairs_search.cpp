// Which pairs of features may touch.
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "host/cloth_collision/cloth_pairs.hpp"
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

}  // namespace

std::vector<Index> ClothPairs::nodes_outside_bounds(const std::vector<Vec3d>& positions,
                                                    BoundingBox MovingBox::*bounds) const {
  const Vec3d middle = centroid(positions);
  std::vector<Index> found;
  for (std::size_t i = 0; i < motion_bounds_.size(); ++i) {
    const Vec3d relative = positions[i] - middle;
    if (!overlap(motion_bounds_[i].*bounds, {relative, relative})) found.push_back(static_cast<Index>(i));
  }
  return found;
}

std::vector<double> ClothPairs::margins(bool has_spare) const {
  std::vector<double> all;
  for (const double thickness : thicknesses_)
    all.push_back((thickness + reach_) / 2 + (has_spare ? thickness : 0));
  return all;
}

std::size_t ClothPairs::most_pairs(const Search& how) const {
  return std::max(how.always, how.most_per_node * motion_bounds_.size());
}

bool ClothPairs::find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to, const Search& how,
                            std::vector<FeaturePair>& pairs) {
  return pairs_.find(from, to, margins(how.has_spare), most_pairs(how), pairs, workers(), how.times);
}

PairSearch::Workers ClothPairs::workers() const {
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

ClothPairs::Displacements ClothPairs::displacements(double ahead) const {
  // Relative to what all have in common: where a pair is apart that way, it is.
  const Vec3d middle_from = centroid(host_from_), middle_to = centroid(host_to_);
  Displacements found{std::vector<Vec3d>(motion_bounds_.size()), std::vector<Vec3d>(motion_bounds_.size())};
  for (std::size_t i = 0; i < motion_bounds_.size(); ++i) {
    const Vec3d from = host_from_[i] - middle_from, to = host_to_[i] - middle_to;
    found.from[i] = from;
    found.to[i] = ahead > 0 ? to + ahead * (to - from) : to;
  }
  return found;
}

void ClothPairs::set_motion_bounds(std::size_t node, const Displacements& displacements, const Search& how) {
  const Vec3d from = displacements.from[node], to = displacements.to[node];
  const double spare =
      how.has_spare ? thicknesses_[static_cast<std::size_t>(pairs_.features().node_surfaces[node])] : 0;
  MovingBox& bounds = motion_bounds_[node];
  bounds = {{from, from}, {to, to}};
  if (how.times == PairSearch::Times::own) bounds.begin = bounds.end = joined(bounds.begin, bounds.end);
  for (BoundingBox* const box : {&bounds.begin, &bounds.end}) {
    box->low -= Vec3d{spare, spare, spare};
    box->high += Vec3d{spare, spare, spare};
  }
}

bool ClothPairs::search() {
  using enum PairSearch::Times;
  // A few steps of the same motion are searched at once, whenever in them nodes are where. Where
  // displacements are so long that this finds too much, those of this part at their speeds. In a tangle of
  // many layers a node is near a hundred features; memory for so many is there.
  static constexpr Search searches[] = {
      {.times = own, .ahead = 2, .has_spare = true, .most_per_node = 100, .always = 20'000},
      {.times = common, .has_spare = true, .most_per_node = 400, .always = 100'000},
      {.times = common, .most_per_node = 400, .always = 100'000}};
  searched_ = nullptr;
  const Search* found = nullptr;
  for (const Search& how : searches) {
    if (how.ahead > 0 && is_fast_) continue;
    is_fast_ = how.ahead == 0;
    const Displacements all = displacements(how.ahead);
    for (std::size_t i = 0; i < motion_bounds_.size(); ++i) set_motion_bounds(i, all, how);
    if (device_search_
            ? device_search_->find(features(), {all.from, all.to, margins(how.has_spare), how.times},
                                   most_pairs(how), device_pairs_, host_pairs_)
            : find_pairs(all.from, all.to, how, host_pairs_)) {
      found = &how;
      break;
    }
  }
  if (found == nullptr) return false;
  const std::size_t count = host_pairs_.size();
  fill(device_, host_from_, measured_at_);
  reserve(device_, count + packet_padding, device_pairs_);
  reserve(device_, count + packet_padding, may_touch_);
  reserve(device_, count + packet_padding, pair_thicknesses_);
  reserve(device_, count + packet_padding, pair_rooms_);
  reserve(device_, 4 * (count + packet_padding), pair_nodes_);
  measure(0);
  searched_ = found;
  return true;
}

bool ClothPairs::update_broad_phase() {
  if (searched_ == nullptr) return search();
  const std::vector<Index> nodes = nodes_outside_bounds(host_to_, &MovingBox::end);
  return nodes.empty() || update_incremental(nodes) || search();
}

bool ClothPairs::update_incremental(const std::vector<Index>& nodes) {
  constexpr std::size_t many = 8;    // for one node in so many a search of all is cheaper
  if (device_search_) return false;  // its threads find all as fast
  if (searched_->times != PairSearch::Times::own || many * nodes.size() > motion_bounds_.size()) return false;
  const Search& how = *std::exchange(searched_, nullptr);  // until their pairs are there
  const Displacements all = displacements(how.ahead);
  std::vector<PairSearch::UpdatedTrajectory> updated_trajectories;
  for (const Index node : nodes) {
    const auto i = static_cast<std::size_t>(node);
    if (!std::isfinite(norm(all.from[i])) || !std::isfinite(norm(all.to[i]))) return false;
    set_motion_bounds(i, all, how);
    updated_trajectories.push_back({node, all.from[i], all.to[i]});
  }
  const std::size_t before = host_pairs_.size(), most = pair_rooms_.size() - packet_padding;
  if (!pairs_.update(updated_trajectories, margins(how.has_spare), most, host_pairs_, workers()))
    return false;
  measure(before);
  searched_ = &how;
  return true;
}

void ClothPairs::measure(std::size_t first_pair) {
  const std::size_t count = host_pairs_.size();
  if (!device_search_) {  // which has written them there
    std::vector<FeaturePair> staging;
    device_pairs_.write(first_pair, count - first_pair, staging, [&](FeaturePair* to) {
      std::copy(host_pairs_.begin() + static_cast<std::ptrdiff_t>(first_pair), host_pairs_.end(), to);
    });
  }
  contact_kernels_.measure_pairs(device_.queue(), {.features = features(),
                                                   .pairs = first(std::as_const(device_pairs_), count),
                                                   .rest = std::as_const(rest_).view(),
                                                   .thicknesses = std::as_const(device_thicknesses_).view(),
                                                   .references = references(),
                                                   .first = static_cast<Index>(first_pair)});
}

std::size_t ClothPairs::cull_candidates() {
  const std::size_t count = host_pairs_.size();
  contact_kernels_.cull_candidates(device_.queue(), {.pairs = first(std::as_const(device_pairs_), count),
                                                     .references = references(),
                                                     .measured_at = measured_at_.view(),
                                                     .from = std::as_const(from_).view(),
                                                     .to = std::as_const(to_).view(),
                                                     .reach = reach_,
                                                     .trajectories = trajectories_.view(),
                                                     .may_touch = first(may_touch_, count)});
  reserve(device_, count, sifted_);
  return selections_.list_flagged(first(std::as_const(may_touch_), count), first(sifted_, count));
}

void ClothPairs::narrow_phase() {
  const std::size_t count = cull_candidates();
  reserve(device_, count, found_);
  reserve(device_, count, touching_);
  contact_kernels_.find_contacts(device_.queue(),
                                 {.features = features(),
                                  .pairs = first(std::as_const(device_pairs_), host_pairs_.size()),
                                  .thicknesses = std::as_const(pair_thicknesses_).view(),
                                  .from = std::as_const(from_).view(),
                                  .to = std::as_const(to_).view(),
                                  .reach = reach_,
                                  .sifted = first(std::as_const(sifted_), count),
                                  .contacts = first(found_, count)});
  const std::size_t touching =
      selections_.select_contacts(first(std::as_const(found_), count), first(touching_, count));
  host_touching_ = std::as_const(touching_).read(0, touching, touching_staging_);
  touching_count_ = touching;
}

}  // namespace isocloth
