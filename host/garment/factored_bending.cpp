#include "host/garment/factored_bending.hpp"

#include <algorithm>
#include <iterator>

namespace isocloth {

template <class Real>
FactoredBending<Real> factored_bending(const NodalPattern& pattern, const NodeMatrixPattern& bending,
                                       const std::vector<Real>& values) {
  FactoredBending<Real> result;
  if (values.empty()) return result;
  std::vector<double> kept(values.begin(), values.end());  // K_P
  std::vector<std::vector<Index>> near(pattern.free_nodes.size());
  for (std::size_t b = 0; b < pattern.block_rows.size(); ++b) {
    const Index i = pattern.block_rows[b], j = pattern.block_columns[b];
    if (i == j || pattern.block_bending[b] < 0) continue;
    near[static_cast<std::size_t>(i)].push_back(j);
    near[static_cast<std::size_t>(j)].push_back(i);
  }
  for (auto& nodes : near) std::ranges::sort(nodes);
  const auto entry = [&](Index i, Index j) -> double& {
    return kept[static_cast<std::size_t>(bending.find(pattern.free_nodes[static_cast<std::size_t>(i)],
                                                      pattern.free_nodes[static_cast<std::size_t>(j)]))];
  };
  const auto add_spring = [&](Index i, Index j, double stiffness) {
    entry(i, i) += stiffness;
    entry(j, j) += stiffness;
    entry(i, j) -= stiffness;
    entry(j, i) -= stiffness;
  };
  for (Index i = 0; i < pattern.free_count() && !pattern.coupling_columns.empty(); ++i)
    for (Index c = pattern.coupling_begin[i]; c < pattern.coupling_begin[i + 1]; ++c) {
      const Index j = pattern.coupling_columns[c];
      const auto &of_i = near[static_cast<std::size_t>(i)], &of_j = near[static_cast<std::size_t>(j)];
      if (j <= i || std::ranges::binary_search(of_i, j)) continue;
      const double between = (entry(i, j) + entry(j, i)) / 2;
      entry(i, j) = entry(j, i) = 0;
      std::vector<Index> middle;
      if (between < 0) std::ranges::set_intersection(of_i, of_j, std::back_inserter(middle));
      const double alone = middle.empty() ? std::abs(between) : between;
      entry(i, i) += alone;
      entry(j, j) += alone;
      for (const Index m : middle) {
        const double stiffness = -2 * between / static_cast<double>(middle.size());
        add_spring(i, m, stiffness);
        add_spring(m, j, stiffness);
      }
    }
  for (const Index e : pattern.block_bending)
    result.factored.push_back(e < 0 ? Real(0) : static_cast<Real>(kept[static_cast<std::size_t>(e)]));
  for (const Index e : pattern.coupling_entries)
    result.beyond.push_back(static_cast<Real>(static_cast<double>(values[static_cast<std::size_t>(e)]) -
                                              kept[static_cast<std::size_t>(e)]));
  return result;
}

template FactoredBending<float> factored_bending(const NodalPattern&, const NodeMatrixPattern&,
                                                 const std::vector<float>&);
template FactoredBending<double> factored_bending(const NodalPattern&, const NodeMatrixPattern&,
                                                  const std::vector<double>&);

}  // namespace isocloth
