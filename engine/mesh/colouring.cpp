#include "engine/mesh/colouring.hpp"

#include <algorithm>

namespace isocloth {

Colouring colour_greedily(const NodeSets& sets, Index node_count) {
  std::vector<std::vector<Index>> taken(node_count);  // colours at each node
  std::vector<std::vector<Index>> members;
  for (Index s = 0; s < sets.count(); ++s) {
    std::vector<char> used(members.size() + 1, 0);
    const auto for_each_node = [&](const auto& visit) {
      for (Index i = sets.begin[s]; i < sets.begin[s + 1]; ++i) visit(taken[sets.nodes[i]]);
    };
    for_each_node([&](const std::vector<Index>& colours) {
      for (const Index colour : colours) used[colour] = 1;
    });
    const auto colour = static_cast<Index>(std::find(used.begin(), used.end(), 0) - used.begin());
    if (colour == static_cast<Index>(members.size())) members.emplace_back();
    members[colour].push_back(s);
    for_each_node([&](std::vector<Index>& colours) { colours.push_back(colour); });
  }
  Colouring result{.begin = {0}, .items = {}};
  for (const std::vector<Index>& own : members) {
    result.items.insert(result.items.end(), own.begin(), own.end());
    result.begin.push_back(static_cast<Index>(result.items.size()));
  }
  return result;
}

}  // namespace isocloth
