// Which pairs of features may touch.
#include <atomic>
#include <cmath>
#include <utility>

#include "host/projection/cloth_contacts.hpp"

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

template <class Real>
bool ClothContacts<Real>::left_room(const std::vector<Vec3d>& positions, BoundingBox MovingBox::*room) const {
  const Vec3d middle = centroid(positions);
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    const Vec3d place = positions[i] - middle;
    if (!overlap(rooms_[i].*room, {place, place})) return true;
  }
  return false;
}

template <class Real>
bool ClothContacts<Real>::find_pairs(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to,
                                     const Search& how, std::vector<FeaturePair>& pairs) {
  std::vector<double> margins;
  for (const double thickness : thicknesses_)
    margins.push_back((thickness + reach_) / 2 + (how.has_spare ? thickness : 0));
  PairSearch::Workers workers = PairSearch::alone();
  std::atomic<std::size_t> found{0};
  if (ThreadPool* const pool = device_.queue().pool; pool != nullptr && rooms_.size() >= least_range)
    workers = {.for_each =
                   [pool](std::size_t count, const PairSearch::Workers::Piece& piece) {
                     pool->run(static_cast<Index>(count), 1, [&](Index begin, Index end) {
                       for (Index i = begin; i < end; ++i) piece(static_cast<std::size_t>(i));
                     });
                   },
               .add = [&found](std::size_t more) { return found += more; }};
  const std::size_t most = std::max(how.always, how.most_per_node * rooms_.size());
  return pairs_.find(from, to, margins, most, pairs, workers, how.times);
}

template <class Real>
bool ClothContacts<Real>::search() {
  using enum PairSearch::Times;
  // Relative to what all have in common: where a pair is apart that way, it is.
  const Vec3d middle_from = centroid(host_from_), middle_to = centroid(host_to_);
  std::vector<Vec3d> from(host_from_.size()), to(host_to_.size()), onward(host_to_.size());
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    from[i] = host_from_[i] - middle_from;
    to[i] = host_to_[i] - middle_to;
  }
  // A few steps of the same motion are searched at once, whenever in them nodes are where. Where ways are so
  // long that this finds too much, those of this part at their speeds. In a tangle of many layers a node is
  // near a hundred features; memory for so many is there.
  constexpr Search searches[] = {
      {.times = own, .ahead = 2, .has_spare = true, .most_per_node = 100, .always = 20'000},
      {.times = common, .has_spare = true, .most_per_node = 400, .always = 100'000},
      {.times = common, .most_per_node = 400, .always = 100'000}};
  searched_ = false;
  for (const Search& how : searches) {
    if (how.ahead > 0 && is_fast_) continue;
    is_fast_ = how.ahead == 0;
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      const auto garment = static_cast<std::size_t>(pairs_.features().node_surfaces[i]);
      const double spare = how.has_spare ? thicknesses_[garment] : 0;
      onward[i] = how.ahead > 0 ? to[i] + how.ahead * (to[i] - from[i]) : to[i];
      MovingBox& room = rooms_[i];
      room = {{from[i], from[i]}, {onward[i], onward[i]}};
      if (how.times == own) room.begin = room.end = joined(room.begin, room.end);
      for (BoundingBox* const box : {&room.begin, &room.end}) {
        box->low -= Vec3d{spare, spare, spare};
        box->high += Vec3d{spare, spare, spare};
      }
    }
    searched_ = find_pairs(from, onward, how, host_pairs_);
    if (searched_) break;
  }
  if (!searched_) return false;
  measured_ = false;
  const std::size_t count = host_pairs_.size();
  fill(device_, host_pairs_, device_pairs_);
  fill(device_, host_from_, sought_at_);
  make_room(device_, count, may_touch_);
  make_room(device_, count + packet_padding, pair_thicknesses_);
  make_room(device_, count + packet_padding, pair_rooms_);
  make_room(device_, 4 * (count + packet_padding), pair_nodes_);
  contact_kernels_.measure_pairs(device_.queue(), {.features = features(),
                                                   .pairs = first(std::as_const(device_pairs_), count),
                                                   .rest = std::as_const(rest_).view(),
                                                   .thicknesses = std::as_const(device_thicknesses_).view(),
                                                   .references = references()});
  return true;
}

template <class Real>
void ClothContacts<Real>::sift() {
  const std::size_t count = host_pairs_.size();
  contact_kernels_.sift_pairs(device_.queue(), {.pairs = first(std::as_const(device_pairs_), count),
                                                .references = references(),
                                                .is_measured = measured_,
                                                .sought_at = std::as_const(sought_at_).view(),
                                                .from = std::as_const(from_).view(),
                                                .to = std::as_const(to_).view(),
                                                .reach = reach_,
                                                .places = places_.view(),
                                                .may_touch = first(may_touch_, count)});
  measured_ = true;
  std::vector<std::uint8_t> staging;
  const std::uint8_t* const may_touch = std::as_const(may_touch_).read(0, count, staging);
  host_sifted_.clear();
  for (std::size_t p = 0; p < count; ++p)
    if (may_touch[p] != 0) host_sifted_.push_back(static_cast<Index>(p));
  fill(device_, host_sifted_, sifted_);
  make_room(device_, host_sifted_.size(), found_);
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
