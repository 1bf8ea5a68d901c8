#include "host/linear/ordering.hpp"

#include <metis.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/core/headroom.hpp"

namespace isocloth {
namespace {

std::vector<Index> dissected(const BlockLists& graph, Index size) {
  std::vector<idx_t> begin(graph.begin.begin(), graph.begin.end());
  std::vector<idx_t> neighbours(graph.items.begin(), graph.items.end());
  std::vector<idx_t> order(size), position(size);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  // It does not survive where memory ends; its levels together are some ten times the graph.
  require_headroom((std::size_t{16} << 20) + 10 * sizeof(idx_t) * (begin.size() + neighbours.size()));
  static std::mutex metis_random_state;
  const std::scoped_lock lock(metis_random_state);
  // For one process it is METIS_NodeND, which takes over SIGTERM and SIGABRT of the whole program while it
  // runs.
  constexpr idx_t processes = 1;
  idx_t separator_sizes[2 * processes - 1];
  const int status = METIS_NodeNDP(size, begin.data(), neighbours.data(), nullptr, processes, options,
                                   order.data(), position.data(), separator_sizes);
  if (status != METIS_OK)
    throw NumericalError("METIS_NodeNDP failed with status " + std::to_string(status) + " on a graph of " +
                         std::to_string(size) + " nodes");
  return {position.begin(), position.end()};
}

std::vector<Index> of_minimum_degree(const BlockLists& graph, Index size) {
  std::vector<Eigen::Triplet<float, Index>> entries;
  entries.reserve(graph.items.size() + size);
  for (Index i = 0; i < size; ++i) {
    entries.emplace_back(i, i, 1.0F);
    for (const Index j : graph[i]) entries.emplace_back(i, j, 1.0F);
  }
  Eigen::SparseMatrix<float, Eigen::ColMajor, Index> matrix(size, size);
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> permutation;
  Eigen::AMDOrdering<Index>()(matrix, permutation);
  std::vector<Index> position(size);
  for (Index k = 0; k < size; ++k) position[permutation.indices()[k]] = k;
  return position;
}

/// The graph of what is left, a row of bits for each block row.
class EliminationGraph {
 public:
  EliminationGraph(const BlockLists& graph, Index size)
      : size_(size), words_((static_cast<std::size_t>(size) + 63) / 64), bits_(words_ * size) {
    for (Index i = 0; i < size; ++i)
      for (const Index j : graph[i]) row(i)[j / 64] |= bit(j);
  }

  Index size() const { return size_; }
  int degree(Index i) const {
    int count = 0;
    for (std::size_t w = 0; w < words_; ++w) count += std::popcount(row(i)[w]);
    return count;
  }
  /// Twice the number of pairs of neighbours that are not neighbours yet.
  int fill(Index i) const {
    int neighbours = 0, joined = 0;
    for_each(row(i), [&](Index j) {
      ++neighbours;
      for (std::size_t w = 0; w < words_; ++w) joined += std::popcount(row(i)[w] & row(j)[w]);
    });
    return neighbours * (neighbours - 1) - joined;
  }
  /// Joins the neighbours of i, leaves i alone, and calls visit(j) with all whose fill may have changed.
  template <class Visit>
  void eliminate(Index i, const Visit& visit) {
    const std::vector<std::uint64_t> neighbours(row(i), row(i) + words_);
    std::vector<std::uint64_t> touched = neighbours;
    for_each(neighbours.data(), [&](Index j) {
      for (std::size_t w = 0; w < words_; ++w) row(j)[w] |= neighbours[w];
      row(j)[j / 64] &= ~bit(j);
      row(j)[i / 64] &= ~bit(i);
      for (std::size_t w = 0; w < words_; ++w) touched[w] |= row(j)[w];
    });
    std::fill_n(row(i), words_, 0);
    for_each(touched.data(), visit);
  }

 private:
  static std::uint64_t bit(Index i) { return std::uint64_t{1} << (i % 64); }
  std::uint64_t* row(Index i) { return bits_.data() + words_ * static_cast<std::size_t>(i); }
  const std::uint64_t* row(Index i) const { return bits_.data() + words_ * static_cast<std::size_t>(i); }
  template <class Visit>
  void for_each(const std::uint64_t* set, const Visit& visit) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t left = set[w]; left != 0; left &= left - 1)
        visit(static_cast<Index>(64 * w) + std::countr_zero(left));
  }

  Index size_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

constexpr Index most_for_minimum_fill = 512;

std::vector<Index> of_minimum_fill(const BlockLists& lists, Index size) {
  const EliminationGraph whole(lists, size);
  std::vector<int> fill_at_first(size);
  for (Index i = 0; i < size; ++i) fill_at_first[i] = whole.fill(i);
  std::mt19937 random(1);  // the same numbers everywhere
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<Index> best;
  const int tries = size <= 128 ? 8 : 2;
  for (int attempt = 0; attempt < tries; ++attempt) {
    EliminationGraph graph = whole;
    std::vector<int> fill = fill_at_first;
    std::vector<Index> position(size, -1), ties;
    std::int64_t cost = 0;  // products of blocks
    for (Index place = 0; place < size && cost < least; ++place) {
      int fewest = std::numeric_limits<int>::max();
      for (Index i = 0; i < size; ++i) {
        if (position[i] >= 0 || fill[i] > fewest) continue;
        if (fill[i] < fewest) ties.clear();
        fewest = fill[i];
        ties.push_back(i);
      }
      const Index next = ties[random() % ties.size()];
      const std::int64_t degree = graph.degree(next);
      cost += degree * (degree + 1) / 2;
      position[next] = place;
      graph.eliminate(next, [&](Index j) { fill[j] = graph.fill(j); });
    }
    if (cost < least) least = cost, best = std::move(position);
  }
  return best;
}

}  // namespace

std::string_view name(Ordering ordering) {
  switch (ordering) {
    case Ordering::nested_dissection:
      return "nested dissection";
    case Ordering::minimum_degree:
      return "minimum degree";
    default:
      return "minimum fill";
  }
}

std::vector<Index> fill_reducing_order(const BlockPattern& pattern, Ordering ordering) {
  const BlockLists graph = block_graph(pattern);
  if (graph.items.empty()) {  // neither method is made for a graph without edges
    std::vector<Index> position(pattern.size);
    std::iota(position.begin(), position.end(), 0);
    return position;
  }
  switch (ordering) {
    case Ordering::nested_dissection:
      return dissected(graph, pattern.size);
    case Ordering::minimum_degree:
      return of_minimum_degree(graph, pattern.size);
    default:
      return of_minimum_fill(graph, pattern.size);
  }
}

OrderedElimination analyze_best_order(const BlockPattern& pattern, Index both_up_to) {
  check_pattern(pattern);
  const auto analyzed = [&](Ordering ordering) {
    return OrderedElimination{
        .ordering = ordering,
        .elimination = analyze_elimination(pattern, fill_reducing_order(pattern, ordering))};
  };
  OrderedElimination best = analyzed(Ordering::nested_dissection);
  if (pattern.size > both_up_to) return best;
  const auto keep_better = [&](Ordering ordering) {
    OrderedElimination other = analyzed(ordering);
    if (other.elimination.flops < best.elimination.flops) best = std::move(other);
  };
  keep_better(Ordering::minimum_degree);
  if (pattern.size <= most_for_minimum_fill) keep_better(Ordering::minimum_fill);
  return best;
}

}  // namespace isocloth
