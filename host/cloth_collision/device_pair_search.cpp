#include "host/cloth_collision/device_pair_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace isocloth {
namespace {

/// A box of a surface's tree.
struct TreeBox {
  FaceTree::Branch branch;
  std::size_t surface;
};

}  // namespace

DevicePairSearch::DevicePairSearch(const Device& device, const PairSearch& pairs)
    : device_(device),
      kernels_(device.backend().cloth_contact),
      selections_(device),
      fit_own_(device),
      fit_common_(device) {
  const SurfaceFeatures& features = pairs.features();
  const std::size_t surfaces = pairs.surface_count(), triangles = features.triangles.size();
  std::vector<TreeBox> level;
  for (std::size_t s = 0; s < surfaces; ++s) level.push_back({pairs.tree(s).root(), s});
  std::vector<Index> children, last, leaves(triangles);
  while (!level.empty()) {
    const auto begin = static_cast<Index>(children.size()), below = begin + static_cast<Index>(level.size());
    level_begin_.push_back(begin);
    std::vector<TreeBox> next;
    for (const TreeBox& box : level) {
      const Index first = features.triangle_begin[box.surface] + box.branch.first;
      last.push_back(first + box.branch.count - 1);
      if (box.branch.count == 1) {
        leaves[static_cast<std::size_t>(first)] = static_cast<Index>(children.size());
        children.push_back(-1 - first);
      } else {
        children.push_back(below + static_cast<Index>(next.size()));
        next.push_back({box.branch.left(), box.surface});
        next.push_back({box.branch.right(), box.surface});
      }
    }
    level = std::move(next);
  }
  level_begin_.push_back(static_cast<Index>(children.size()));

  std::vector<Index> roots_begin{0}, roots;
  std::vector<std::uint8_t> owned;
  for (std::size_t s = 0; s < surfaces; ++s) {
    for (std::size_t other = s; other < surfaces; ++other)
      if (pairs.meets(s, other)) roots.push_back(static_cast<Index>(other));  // level 0 has the roots alone
    roots_begin.push_back(static_cast<Index>(roots.size()));
    for (const FaceTree::Triangle& t : pairs.tree(s).triangles())
      owned.push_back(static_cast<std::uint8_t>(t.owned_nodes | t.owned_sides << 3));
  }
  boxes_ = {device, children.size()};
  children_ = {device, children};
  last_ = {device, last};
  leaves_ = {device, leaves};
  roots_begin_ = {device, roots_begin};
  roots_ = {device, roots};
  owned_ = {device, owned};
  sewn_ = {device, features.sewn};
  for (Buffer<Vec3d>* const positions : {&from_, &to_}) *positions = {device, features.sewn.size()};
  margins_ = {device, surfaces};
  for (Buffer<Index>* const values : {&counts_, &begin_}) *values = {device, 2 * triangles};
  sum_ = {device, 1};
}

FaceTreesView DevicePairSearch::trees() const {
  return {.children = children_.view(),
          .last = last_.view(),
          .leaves = leaves_.view(),
          .roots_begin = roots_begin_.view(),
          .roots = roots_.view(),
          .owned = owned_.view(),
          .sewn = sewn_.view()};
}

bool DevicePairSearch::find(const ClothFeatures& features, const Ways& ways, std::size_t most,
                            Buffer<FeaturePair>& pairs, std::vector<FeaturePair>& on_host, Uploads& uploads,
                            Downloads& downloads) {
  constexpr std::size_t most_numbers = std::numeric_limits<Index>::max() - packet_padding;
  const Queue& queue = device_.queue();
  const std::vector<std::uint64_t> none{0};
  uploads.add(ways.from, from_.view());
  uploads.add(ways.to, to_.view());
  uploads.add(ways.margins, margins_.view());
  uploads.add(none, sum_.view());
  uploads.run();
  const NodeWays node_ways{.from = std::as_const(from_).view(),
                           .to = std::as_const(to_).view(),
                           .margins = std::as_const(margins_).view(),
                           .node_garments = features.node_garments,
                           .are_common = ways.times == PairSearch::Times::common};
  (node_ways.are_common ? fit_common_ : fit_own_).run([&](const Queue& own) {
    for (std::size_t level = level_begin_.size() - 1; level-- > 0;)
      kernels_.fit_boxes(own, {.trees = trees(),
                               .ways = node_ways,
                               .triangles = features.triangles,
                               .first = level_begin_[level],
                               .count = level_begin_[level + 1] - level_begin_[level],
                               .boxes = boxes_.view()});
  });
  const CountPairs counted{.trees = trees(),
                           .ways = node_ways,
                           .features = features,
                           .boxes = std::as_const(boxes_).view(),
                           .most = std::min(most, most_numbers),
                           .sum = sum_.view(),
                           .counts = counts_.view()};
  kernels_.count_pairs(queue, counted);
  const std::uint64_t count = sum_.download().front();
  if (count > counted.most) return false;
  const auto size = static_cast<std::size_t>(count);
  if (pairs.size() < size + packet_padding) pairs = {device_, size + size / 2 + packet_padding};
  selections_.running_sums(std::as_const(counts_).view(), begin_.view());
  kernels_.write_pairs(
      queue,
      {.counted = counted, .begin = std::as_const(begin_).view(), .pairs = slice(pairs.view(), 0, size)});
  downloads.add(pairs, size, on_host);
  return true;
}

std::size_t DevicePairSearch::memory_bytes() const {
  std::size_t bytes = 0;
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(children_, last_, leaves_, roots_begin_, roots_, sewn_, counts_, begin_, owned_, from_, to_, margins_,
      boxes_, sum_, selections_);
  return bytes;
}

}  // namespace isocloth
