#include "host/garment/nodal_pattern.hpp"

#include <algorithm>
#include <tuple>

namespace isocloth {
namespace {

using Key = std::array<Index, 2>;
/// One contribution to the target named by key.
struct Term {
  Key key;
  Index first, second;
};

/// Sorts terms by key, keeping the order within a key.
void sort_terms(std::vector<Term>& terms) {
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.key < b.key; });
}

/// The lists of sorted `terms` for the targets with the given sorted keys, which contain every term's key.
GatherLists gather(const std::vector<Term>& terms, const std::vector<Key>& keys) {
  GatherLists lists;
  lists.begin.reserve(keys.size() + 1);
  lists.begin.push_back(0);
  std::size_t t = 0;
  for (const Key& key : keys) {
    for (; t < terms.size() && terms[t].key == key; ++t) {
      lists.first.push_back(terms[t].first);
      lists.second.push_back(terms[t].second);
    }
    lists.begin.push_back(static_cast<Index>(t));
  }
  return lists;
}

std::vector<Key> merged_keys(std::initializer_list<const std::vector<Term>*> sources) {
  std::vector<Key> keys;
  for (const auto* terms : sources)
    for (const Term& t : *terms)
      if (keys.empty() || keys.back() != t.key) keys.push_back(t.key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// Off-diagonal entries of T as (nodes; entry, first row of the stencil).
std::vector<Term> pair_terms(const StencilPattern& p, Index first_row) {
  std::vector<Term> terms;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index slot = p.stencil_begin[s]; slot < p.stencil_begin[s + 1]; ++slot)
      for (Index e = p.entry_begin[slot]; e < p.entry_begin[slot + 1]; ++e)
        if (p.slot_nodes[slot] < p.entry_nodes[e])
          terms.push_back({{p.slot_nodes[slot], p.entry_nodes[e]}, e, first_row + s * p.width});
  sort_terms(terms);
  return terms;
}

/// Nodes of one stencil as (nodes; see MembraneGroup).
std::vector<Term> stencil_pair_terms(const StencilPattern& p) {
  std::vector<Term> terms;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index a = p.stencil_begin[s]; a < p.stencil_begin[s + 1]; ++a)
      for (Index b = p.stencil_begin[s]; b < p.stencil_begin[s + 1]; ++b)
        if (p.slot_nodes[a] < p.slot_nodes[b])
          terms.push_back({{p.slot_nodes[a], p.slot_nodes[b]}, 4 * a + b - p.stencil_begin[s], s});
  sort_terms(terms);
  return terms;
}

/// Free node pairs of each stencil as (column, row; slot of row, slot of column), row >= column.
std::vector<Term> block_terms(const StencilPattern& p, const std::vector<Index>& number) {
  std::vector<Term> terms;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index a = p.stencil_begin[s]; a < p.stencil_begin[s + 1]; ++a)
      for (Index b = p.stencil_begin[s]; b < p.stencil_begin[s + 1]; ++b) {
        const Index row = number[p.slot_nodes[a]], column = number[p.slot_nodes[b]];
        if (column >= 0 && row >= column) terms.push_back({{column, row}, a, b});
      }
  sort_terms(terms);
  return terms;
}

/// Slots of each free node as (number; slot, first row of the stencil).
GatherLists node_lists(const StencilPattern& p, Index first_row, const std::vector<Index>& number,
                       Index free_count) {
  std::vector<Term> terms;
  for (Index s = 0; s < p.stencil_count(); ++s)
    for (Index slot = p.stencil_begin[s]; slot < p.stencil_begin[s + 1]; ++slot)
      if (number[p.slot_nodes[slot]] >= 0)
        terms.push_back({{number[p.slot_nodes[slot]], 0}, slot, first_row + s * p.width});
  sort_terms(terms);
  std::vector<Key> keys;
  for (Index i = 0; i < free_count; ++i) keys.push_back({i, 0});
  return gather(terms, keys);
}

}  // namespace

Index NodeMatrixPattern::find(Index row, Index column) const {
  const auto begin = columns.begin() + row_begin[row], end = columns.begin() + row_begin[row + 1];
  const auto it = std::lower_bound(begin, end, column);
  return it != end && *it == column ? static_cast<Index>(it - columns.begin()) : -1;
}

NodeMatrixPattern pattern_of_rows(const std::vector<std::vector<Index>>& rows) {
  NodeMatrixPattern p;
  p.row_begin.push_back(0);
  for (auto row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    p.columns.insert(p.columns.end(), row.begin(), row.end());
    p.row_begin.push_back(static_cast<Index>(p.columns.size()));
  }
  return p;
}

NodeMatrixPattern neighbour_pattern(const Mesh& mesh) {
  std::vector<std::vector<Index>> rows(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index i : mesh.face(f))
      for (Index j : mesh.face(f)) rows[i].push_back(j);
  return pattern_of_rows(rows);
}

NodeMatrixPattern squared_pattern(const NodeMatrixPattern& p) {
  std::vector<std::vector<Index>> rows(p.row_begin.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (Index e = p.row_begin[i]; e < p.row_begin[i + 1]; ++e)
      rows[i].insert(rows[i].end(), p.columns.begin() + p.row_begin[p.columns[e]],
                     p.columns.begin() + p.row_begin[p.columns[e] + 1]);
  return pattern_of_rows(rows);
}

NodalPattern build_nodal_pattern(const RowPattern& rows, const NodeMatrixPattern& bending,
                                 const std::vector<char>& is_pinned, const std::vector<Index>& free_order,
                                 const NodeMatrixPattern& coupled, FactorPattern factor,
                                 const std::vector<std::array<Index, 2>>& threads) {
  NodalPattern p;
  const Index node_count = static_cast<Index>(is_pinned.size());
  p.free_nodes = free_order;
  for (Index node = 0; node < node_count && free_order.empty(); ++node)
    if (!is_pinned[node]) p.free_nodes.push_back(node);
  p.free_number.assign(is_pinned.size(), -1);
  for (Index i = 0; i < p.free_count(); ++i) p.free_number[p.free_nodes[i]] = i;

  const auto triple_pairs = pair_terms(rows.triples, 0), membrane_pairs = stencil_pair_terms(rows.membranes),
             limit_pairs = stencil_pair_terms(rows.limits),
             single_pairs = pair_terms(rows.singles, rows.first_single());
  std::vector<Term> sewn;
  for (std::size_t s = 0; s < threads.size(); ++s) {
    const auto [low, high] = std::minmax(threads[s][0], threads[s][1]);
    sewn.push_back({{low, high}, static_cast<Index>(s), 0});
  }
  sort_terms(sewn);
  p.pairs = merged_keys({&triple_pairs, &membrane_pairs, &limit_pairs, &single_pairs, &sewn});
  p.pair_stitches.assign(threads.empty() ? 0 : p.pairs.size(), -1);
  for (const Term& stitch : sewn)
    p.pair_stitches[static_cast<std::size_t>(std::ranges::lower_bound(p.pairs, stitch.key) -
                                             p.pairs.begin())] = stitch.first;
  p.triples.pairs = gather(triple_pairs, p.pairs);
  p.membranes.pairs = gather(membrane_pairs, p.pairs);
  p.limits.pairs = gather(limit_pairs, p.pairs);
  p.singles.pairs = gather(single_pairs, p.pairs);
  std::vector<std::vector<Index>> at_node(is_pinned.size());
  for (std::size_t i = 0; i < p.pairs.size(); ++i)
    for (Index node : p.pairs[i]) at_node[node].push_back(static_cast<Index>(i));
  p.node_pair_begin.push_back(0);
  for (const auto& pairs : at_node) {
    p.node_pairs.insert(p.node_pairs.end(), pairs.begin(), pairs.end());
    p.node_pair_begin.push_back(static_cast<Index>(p.node_pairs.size()));
  }

  const auto triple_blocks = block_terms(rows.triples, p.free_number),
             membrane_blocks = block_terms(rows.membranes, p.free_number),
             limit_blocks = block_terms(rows.limits, p.free_number),
             single_blocks = block_terms(rows.singles, p.free_number);
  std::vector<Term> other;  // every diagonal, and what else couples nodes
  for (Index i = 0; i < p.free_count(); ++i) other.push_back({{i, i}, 0, 0});
  const NodeMatrixPattern none;
  for (const NodeMatrixPattern* matrix : {factor == FactorPattern::whole ? &bending : &none, &coupled})
    for (Index node = 0; node < node_count && !matrix->row_begin.empty(); ++node)
      for (Index e = matrix->row_begin[node]; e < matrix->row_begin[node + 1]; ++e) {
        const Index row = p.free_number[node], column = p.free_number[matrix->columns[e]];
        if (column >= 0 && row >= column) other.push_back({{column, row}, 0, 0});
      }
  for (const Term& stitch : sewn) {
    const Index i = p.free_number[stitch.key[0]], j = p.free_number[stitch.key[1]];
    if (i >= 0 && j >= 0) other.push_back({{std::min(i, j), std::max(i, j)}, 0, 0});
  }
  sort_terms(other);
  const auto keys = merged_keys({&triple_blocks, &membrane_blocks, &limit_blocks, &single_blocks, &other});
  p.triples.blocks = gather(triple_blocks, keys);
  p.membranes.blocks = gather(membrane_blocks, keys);
  p.limits.blocks = gather(limit_blocks, keys);
  p.singles.blocks = gather(single_blocks, keys);
  for (const auto& [column, row] : keys) {
    p.block_rows.push_back(row);
    p.block_columns.push_back(column);
    const Index a = p.free_nodes[row], b = p.free_nodes[column];
    const Key pair{std::min(a, b), std::max(a, b)};
    const auto it = std::lower_bound(p.pairs.begin(), p.pairs.end(), pair);
    p.block_pairs.push_back(it != p.pairs.end() && *it == pair ? static_cast<Index>(it - p.pairs.begin())
                                                               : -1);
    p.block_bending.push_back(bending.row_begin.empty() ? -1 : bending.find(a, b));
  }
  bool couples_beyond = false;
  p.coupling_begin.push_back(0);
  for (Index i = 0; i < p.free_count(); ++i) {
    const Index node = p.free_nodes[i];
    for (Index e = bending.row_begin.empty() ? 0 : bending.row_begin[node],
               end = bending.row_begin.empty() ? 0 : bending.row_begin[node + 1];
         e < end; ++e) {
      const Index j = p.free_number[bending.columns[e]];
      if (j < 0) continue;
      couples_beyond = couples_beyond ||
                       !std::binary_search(keys.begin(), keys.end(), Key{std::min(i, j), std::max(i, j)});
      p.coupling_columns.push_back(j);
      p.coupling_entries.push_back(e);
    }
    p.coupling_begin.push_back(static_cast<Index>(p.coupling_columns.size()));
  }
  if (!couples_beyond)
    for (auto* list : {&p.coupling_begin, &p.coupling_columns, &p.coupling_entries}) list->clear();
  std::vector<Term> ends;
  for (std::size_t s = 0; s < threads.size(); ++s)
    for (const auto& [node, end] : {std::pair{threads[s][0], Index{0}}, {threads[s][1], Index{1}}})
      if (p.free_number[node] >= 0) ends.push_back({{p.free_number[node], 0}, static_cast<Index>(s), end});
  sort_terms(ends);
  std::vector<Key> free_keys;
  for (Index i = 0; i < p.free_count() && !threads.empty(); ++i) free_keys.push_back({i, 0});
  p.stitches = gather(ends, free_keys);
  p.triples.nodes = node_lists(rows.triples, 0, p.free_number, p.free_count());
  p.membranes.nodes = node_lists(rows.membranes, rows.triples.row_count(), p.free_number, p.free_count());
  p.limits.nodes = node_lists(rows.limits, rows.first_limit(), p.free_number, p.free_count());
  p.singles.nodes = node_lists(rows.singles, rows.first_single(), p.free_number, p.free_count());
  return p;
}

}  // namespace isocloth
