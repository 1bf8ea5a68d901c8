#include "host/linear/multilevel_subdomains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// Breadth-first searches in subsets of a graph.
class SubsetGraph {
 public:
  explicit SubsetGraph(const SymmetricRows& rows)
      : rows_(rows), subset_of_(rows.size(), -1), distance_(rows.size(), -1) {}

  /// Later calls see `nodes` alone.
  void restrict_to(const std::vector<Index>& nodes) {
    ++subset_;
    for (const Index node : nodes) subset_of_[node] = subset_;
  }
  bool contains(Index node) const { return subset_of_[node] == subset_; }
  Index distance(Index node) const { return distance_[node]; }

  Index degree(Index node) const {
    Index count = 0;
    for (Index e = rows_.begin[node]; e < rows_.begin[node + 1]; ++e) count += contains(rows_.columns[e]);
    return count;
  }

  /// Nodes of the component of `start` in order of distance; neighbours by degree (Cuthill and McKee 1969) if
  /// `by_degree`.
  std::vector<Index> search(Index start, const std::vector<Index>& nodes, bool by_degree = false) {
    for (const Index node : nodes) distance_[node] = -1;
    return extend(start, by_degree);
  }
  /// Searches on from `start` as search() does, without forgetting what earlier searches reached.
  std::vector<Index> extend(Index start, bool by_degree) {
    std::vector<Index> order{start};
    distance_[start] = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t from = order.size();
      for (Index e = rows_.begin[order[k]]; e < rows_.begin[order[k] + 1]; ++e) {
        const Index next = rows_.columns[e];
        if (!contains(next) || distance_[next] >= 0) continue;
        distance_[next] = distance_[order[k]] + 1;
        order.push_back(next);
      }
      if (by_degree)
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(from), order.end(),
                         [this](Index a, Index b) { return degree(a) < degree(b); });
    }
    return order;
  }

  /// A node of least degree among those farthest from `start`, twice: a pseudo-peripheral node.
  Index peripheral(Index start, const std::vector<Index>& nodes) {
    for (int round = 0; round < 2; ++round) start = farthest(start, nodes);
    return start;
  }
  Index farthest(Index start, const std::vector<Index>& nodes) {
    const std::vector<Index> order = search(start, nodes);
    Index best = order.back();
    for (auto it = order.rbegin(); it != order.rend() && distance_[*it] == distance_[order.back()]; ++it)
      if (degree(*it) < degree(best) || (degree(*it) == degree(best) && *it < best)) best = *it;
    return best;
  }

  /// Nodes of one component by how much nearer they lie to one of two distant nodes than to the other.
  std::vector<Index> from_end_to_end(const std::vector<Index>& nodes) {
    const Index from = peripheral(nodes.front(), nodes), to = farthest(from, nodes);
    std::vector<std::pair<Index, Index>> keyed;  // difference of distances, node
    search(from, nodes);
    for (const Index node : nodes) keyed.emplace_back(distance_[node], node);
    search(to, nodes);
    for (auto& [key, node] : keyed) key -= distance_[node];
    std::sort(keyed.begin(), keyed.end());
    std::vector<Index> order;
    for (const auto& [key, node] : keyed) order.push_back(node);
    return order;
  }

  std::vector<std::vector<Index>> components(const std::vector<Index>& nodes) {
    restrict_to(nodes);
    for (const Index node : nodes) distance_[node] = -1;
    std::vector<std::vector<Index>> parts;
    for (const Index node : nodes)
      if (distance_[node] < 0) parts.push_back(extend(node, false));
    return parts;
  }

 private:
  const SymmetricRows& rows_;
  std::vector<Index> subset_of_, distance_;
  Index subset_ = 0;
};

void bisect(SubsetGraph& graph, std::vector<Index> nodes, Index cell_size,
            std::vector<std::vector<Index>>& cells) {
  const Index pieces = std::max<Index>(
      1, static_cast<Index>(std::lround(static_cast<double>(nodes.size()) / static_cast<double>(cell_size))));
  if (pieces == 1) {
    std::sort(nodes.begin(), nodes.end());
    cells.push_back(std::move(nodes));
    return;
  }
  std::vector<Index> order;  // components behind each other, each from end to end
  for (const std::vector<Index>& part : graph.components(nodes)) {
    graph.restrict_to(part);
    const std::vector<Index> sorted = graph.from_end_to_end(part);
    order.insert(order.end(), sorted.begin(), sorted.end());
  }
  const auto half = order.begin() + static_cast<std::ptrdiff_t>(order.size() * (pieces / 2) / pieces);
  bisect(graph, {order.begin(), half}, cell_size, cells);
  bisect(graph, {half, order.end()}, cell_size, cells);
}

/// First column of each row of a matrix in the given order, as places; and the sum of the envelope's rows.
struct Envelope {
  std::vector<Index> order, first;
  std::size_t size = 0;
};
Envelope envelope(const SymmetricRows& rows, std::vector<Index> order, std::vector<Index>& place) {
  Envelope result{.order = std::move(order), .first = {}, .size = 0};
  for (std::size_t k = 0; k < result.order.size(); ++k) place[result.order[k]] = static_cast<Index>(k);
  for (std::size_t k = 0; k < result.order.size(); ++k) {
    Index first = static_cast<Index>(k);
    const Index node = result.order[k];
    for (Index e = rows.begin[node]; e < rows.begin[node + 1]; ++e)
      if (const Index p = place[rows.columns[e]]; p >= 0) first = std::min(first, p);
    result.first.push_back(first);
    result.size += k - first + 1;
  }
  for (const Index node : result.order) place[node] = -1;
  return result;
}

Envelope small_envelope(const SymmetricRows& rows, SubsetGraph& graph, const std::vector<Index>& nodes,
                        std::vector<Index>& place) {
  std::vector<Index> narrow, sweep;
  for (const std::vector<Index>& part : graph.components(nodes)) {
    graph.restrict_to(part);
    const auto cuthill_mckee = graph.search(graph.peripheral(part.front(), part), part, true);
    narrow.insert(narrow.end(), cuthill_mckee.rbegin(), cuthill_mckee.rend());
    const auto sorted = graph.from_end_to_end(part);
    sweep.insert(sweep.end(), sorted.begin(), sorted.end());
  }
  Envelope a = envelope(rows, std::move(narrow), place), b = envelope(rows, std::move(sweep), place);
  return a.size <= b.size ? a : b;
}

}  // namespace

Cells bisect_into_cells(const SymmetricRows& rows, Index cell_size) {
  std::vector<std::vector<Index>> lists;
  SubsetGraph graph(rows);
  if (cell_size <= 1) {
    for (Index i = 0; i < rows.size(); ++i) lists.push_back({i});
  } else {
    std::vector<Index> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    for (auto& part : graph.components(all)) bisect(graph, std::move(part), cell_size, lists);
  }
  Cells cells{.cell_of = std::vector<Index>(rows.size()), .begin = {0}, .rows = {}};
  for (const std::vector<Index>& list : lists) {
    for (const Index row : list) cells.cell_of[row] = cells.count();
    cells.rows.insert(cells.rows.end(), list.begin(), list.end());
    cells.begin.push_back(static_cast<Index>(cells.rows.size()));
  }
  return cells;
}

Subdomains overlapping_subdomains(const SymmetricRows& rows, const Cells& cells, int overlap) {
  Subdomains s;
  SubsetGraph graph(rows);
  std::vector<Index> place(rows.size(), -1), copy_count(rows.size() + 1, 0);
  s.begin = {0};
  s.factor_begin = {0};
  s.entry_begin = {0};
  for (Index cell = 0; cell < cells.count(); ++cell) {
    std::vector<Index> nodes(cells.rows.begin() + cells.begin[cell],
                             cells.rows.begin() + cells.begin[cell + 1]);
    for (int layer = 0; layer < overlap; ++layer) {
      std::vector<Index> wider;
      for (const Index node : nodes)
        wider.insert(wider.end(), rows.columns.begin() + rows.begin[node],
                     rows.columns.begin() + rows.begin[node + 1]);
      std::sort(wider.begin(), wider.end());
      wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
      nodes = std::move(wider);
    }
    const Envelope e = small_envelope(rows, graph, nodes, place);
    const Index base = s.begin.back();
    if (e.order.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max() - base))
      throw ShapeError("subdomains: " + std::to_string(base + static_cast<double>(e.order.size())) +
                       " local rows, expected at most " + std::to_string(std::numeric_limits<Index>::max()) +
                       "; use a smaller overlap");
    for (std::size_t k = 0; k < e.order.size(); ++k) place[e.order[k]] = static_cast<Index>(k);
    const std::size_t reach_begin = s.reach.size();
    for (std::size_t k = 0; k < e.order.size(); ++k) {
      const Index node = e.order[k], row = static_cast<Index>(k);
      s.nodes.push_back(node);
      ++copy_count[node + 1];
      s.first.push_back(base + e.first[k]);
      s.reach.push_back(base + row);
      for (Index c = e.first[k]; c <= row; ++c) s.reach[reach_begin + c] = base + row;
      s.factor_begin.push_back(s.factor_begin.back() + 9 * static_cast<std::size_t>(row - e.first[k] + 1));
      for (Index entry = rows.begin[node]; entry < rows.begin[node + 1]; ++entry) {
        const Index column = place[rows.columns[entry]];
        if (column < 0 || column > row) continue;
        s.entry_columns.push_back(base + column);
        s.entry_blocks.push_back(rows.blocks[entry]);
      }
      s.entry_begin.push_back(static_cast<Index>(s.entry_columns.size()));
    }
    s.begin.push_back(base + static_cast<Index>(e.order.size()));
    for (const Index node : e.order) place[node] = -1;
  }
  std::partial_sum(copy_count.begin(), copy_count.end(), copy_count.begin());
  s.copy_begin = copy_count;
  s.copies.resize(s.nodes.size());
  for (std::size_t k = 0; k < s.nodes.size(); ++k) s.copies[copy_count[s.nodes[k]]++] = static_cast<Index>(k);
  return s;
}

std::size_t Subdomains::memory_bytes() const {
  return (begin.size() + nodes.size() + first.size() + reach.size() + entry_begin.size() +
          entry_columns.size() + entry_blocks.size() + copy_begin.size() + copies.size()) *
             sizeof(Index) +
         factor_begin.size() * sizeof(std::size_t);
}

}  // namespace isocloth
