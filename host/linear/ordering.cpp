#include "host/linear/ordering.hpp"

#include <metis.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>

#include "engine/core/errors.hpp"

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

}  // namespace

std::string_view name(Ordering ordering) {
  return ordering == Ordering::nested_dissection ? "nested dissection" : "minimum degree";
}

std::vector<Index> fill_reducing_order(const BlockPattern& pattern, Ordering ordering) {
  const BlockLists graph = block_graph(pattern);
  if (graph.items.empty()) {  // neither method is made for a graph without edges
    std::vector<Index> position(pattern.size);
    std::iota(position.begin(), position.end(), 0);
    return position;
  }
  return ordering == Ordering::nested_dissection ? dissected(graph, pattern.size)
                                                 : of_minimum_degree(graph, pattern.size);
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
  OrderedElimination other = analyzed(Ordering::minimum_degree);
  return other.elimination.flops < best.elimination.flops ? other : best;
}

}  // namespace isocloth
