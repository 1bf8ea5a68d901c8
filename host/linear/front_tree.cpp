#include "host/linear/front_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isocloth {
namespace {

/// A set of columns eliminated together, while sets are being merged.
struct Supernode {
  std::vector<Index> columns;   ///< block columns of the set, ascending
  std::vector<Index> children;  ///< numbers of the supernodes below it
  double rows = 0;              ///< block rows of the front, pivots included
};

/// Maximal chains of columns with equal structure, as a forest in postorder; returns the roots.
std::vector<Index> find_supernodes(const Elimination& e, std::vector<Supernode>& nodes) {
  std::vector<Index> supernode(e.size()), roots;
  for (Index j = 0; j < e.size(); ++j) {
    const bool joins = j > 0 && e.parent[j - 1] == j && e.counts[j - 1] == e.counts[j] + 1;
    if (!joins) nodes.push_back({.columns = {}, .children = {}, .rows = double(e.counts[j])});
    nodes.back().columns.push_back(j);
    supernode[j] = static_cast<Index>(nodes.size()) - 1;
  }
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const Index above = e.parent[nodes[s].columns.back()];
    (above < 0 ? roots : nodes[supernode[above]].children).push_back(static_cast<Index>(s));
  }
  return roots;
}

/// What a front costs, in units of some ns by vector instructions: itself, multiplications, zeroing, what is
/// added to its parent, and its share of half a dozen solves. Padding counts: of narrow fronts it is most.
double front_cost(double pivots, double rows, int block, Index strip) {
  const auto padded = [&](double blocks) { return std::ceil(blocks * block / strip) * strip; };
  const double p = padded(pivots), r = padded(rows - pivots), passed = (rows - pivots) * block;
  return 60.0 * strip + 0.03 * p * (p * p / 3 + p * r + r * r) + 0.1 * (p * (p + r) + r * r / 2) +
         passed * passed / 2 + 1.2 * p * (p + r);
}

void merge_children(std::vector<Supernode>& nodes, int block, Index strip) {
  for (Supernode& node : nodes) {
    std::vector<Index> candidates = node.children;
    // The child whose front is nearest to the parent's first: it costs least.
    const auto passed_on = [&](Index c) {
      return nodes[c].rows - static_cast<double>(nodes[c].columns.size());
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](Index a, Index b) { return passed_on(a) > passed_on(b); });
    std::vector<Index> kept;
    for (const Index c : candidates) {
      Supernode& child = nodes[c];
      const auto cost = [&](double pivots, double rows) { return front_cost(pivots, rows, block, strip); };
      const double pivots = static_cast<double>(child.columns.size()),
                   own = static_cast<double>(node.columns.size());
      if (cost(own + pivots, node.rows + pivots) >= cost(own, node.rows) + cost(pivots, child.rows)) {
        kept.push_back(c);
        continue;
      }
      node.rows += pivots;
      node.columns.insert(node.columns.end(), child.columns.begin(), child.columns.end());
      kept.insert(kept.end(), child.children.begin(), child.children.end());
      child = {};
    }
    std::sort(node.columns.begin(), node.columns.end());
    std::sort(kept.begin(), kept.end());
    node.children = std::move(kept);
  }
}

/// Fronts of the forest in postorder: old columns of each one, and parents.
struct Forest {
  std::vector<Index> supernodes;  ///< number of the supernode of each front, shape [front_count]
  std::vector<Index> parent;      ///< number of each front's parent, shape [front_count]
};

Forest postordered(const std::vector<Supernode>& nodes, const std::vector<Index>& roots) {
  Forest forest;
  std::vector<Index> number(nodes.size(), -1);
  struct Visit {
    Index node;
    std::size_t next_child;
  };
  for (const Index root : roots) {
    std::vector<Visit> path{{root, 0}};
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next_child < nodes[visit.node].children.size()) {
        path.push_back({nodes[visit.node].children[visit.next_child++], 0});
        continue;
      }
      number[visit.node] = static_cast<Index>(forest.supernodes.size());
      forest.supernodes.push_back(visit.node);
      path.pop_back();
    }
  }
  forest.parent.assign(forest.supernodes.size(), -1);
  for (std::size_t f = 0; f < forest.supernodes.size(); ++f)
    for (const Index child : nodes[forest.supernodes[f]].children)
      forest.parent[number[child]] = static_cast<Index>(f);
  return forest;
}

/// Rows of each front: those of the matrix in its columns and those its children pass on.
void find_rows(FrontTree& tree, const BlockLists& columns) {
  const Index fronts = tree.front_count();
  std::vector<Index> mark(tree.position.size(), -1);
  tree.rows.begin.assign(1, 0);
  for (Index f = 0; f < fronts; ++f) {
    const Index end = tree.first_pivot[f + 1];
    std::vector<Index> rows;
    const auto add = [&](ArrayView<const Index> places) {
      for (const Index place : places)
        if (place >= end && mark[place] != f) {
          mark[place] = f;
          rows.push_back(place);
        }
    };
    for (Index j = tree.first_pivot[f]; j < end; ++j) add(columns[j]);
    for (const Index child : tree.children[f]) add(tree.rows[child]);
    std::sort(rows.begin(), rows.end());
    tree.rows.items.insert(tree.rows.items.end(), rows.begin(), rows.end());
    tree.rows.begin.push_back(static_cast<Index>(tree.rows.items.size()));
  }
}

}  // namespace

FrontTree build_front_tree(const Elimination& e, Index strip) {
  std::vector<Supernode> nodes;
  const std::vector<Index> roots = find_supernodes(e, nodes);
  merge_children(nodes, e.block, strip);
  const Forest forest = postordered(nodes, roots);
  const Index fronts = static_cast<Index>(forest.supernodes.size());

  FrontTree tree{.block = e.block,
                 .position = std::vector<Index>(e.size()),
                 .first_pivot = {0},
                 .parent = forest.parent,
                 .rows = {},
                 .children = {}};
  std::vector<Index> place(e.size());  // of each column of the elimination
  Index next = 0;
  for (const Index s : forest.supernodes) {
    for (const Index column : nodes[s].columns) place[column] = next++;
    tree.first_pivot.push_back(next);
  }
  for (Index i = 0; i < e.size(); ++i) tree.position[i] = place[e.position[i]];

  tree.children = {.begin = std::vector<Index>(fronts + 1, 0), .items = {}};
  for (Index f = 0; f < fronts; ++f)
    if (tree.parent[f] >= 0) ++tree.children.begin[tree.parent[f] + 1];
  std::partial_sum(tree.children.begin.begin(), tree.children.begin.end(), tree.children.begin.begin());
  tree.children.items.resize(tree.children.begin[fronts]);
  std::vector<Index> end(tree.children.begin.begin(), tree.children.begin.end() - 1);
  for (Index f = 0; f < fronts; ++f)
    if (tree.parent[f] >= 0) tree.children.items[end[tree.parent[f]]++] = f;

  // A row is an ancestor of its columns, and ancestors stay behind their descendants.
  BlockLists columns{.begin = std::vector<Index>(e.size() + 1, 0), .items = {}};
  for (const Index j : e.rows.items) ++columns.begin[place[j] + 1];
  std::partial_sum(columns.begin.begin(), columns.begin.end(), columns.begin.begin());
  columns.items.resize(columns.begin[e.size()]);
  std::vector<Index> fill(columns.begin.begin(), columns.begin.end() - 1);
  for (Index i = 0; i < e.size(); ++i)
    for (const Index j : e.rows[i]) columns.items[fill[place[j]]++] = place[i];
  find_rows(tree, columns);
  return tree;
}

}  // namespace isocloth
