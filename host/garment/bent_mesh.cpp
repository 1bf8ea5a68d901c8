#include "host/garment/bent_mesh.hpp"

#include <utility>

#include "engine/mesh/cut_folds.hpp"

namespace isocloth {

BentMesh::BentMesh(const Mesh& whole, const std::vector<char>& pinned) : node_count(whole.positions.size()) {
  if (whole.folds.empty()) {
    mesh = whole;
    is_pinned = pinned;
    return;
  }
  CutFolds cut = cut_at_folds(whole);
  mesh = std::move(cut.mesh);
  origin = std::move(cut.origin);
  for (const Index node : origin) is_pinned.push_back(pinned[static_cast<std::size_t>(node)]);
}

NodeMatrixPattern BentMesh::together(const NodeMatrixPattern& own) const {
  if (!is_cut()) return own;
  std::vector<std::vector<Index>> rows(node_count);
  for (std::size_t i = 0; i < origin.size(); ++i)
    for (Index e = own.row_begin[i]; e < own.row_begin[i + 1]; ++e)
      rows[static_cast<std::size_t>(origin[i])].push_back(origin[static_cast<std::size_t>(own.columns[e])]);
  return pattern_of_rows(rows);
}

std::vector<double> BentMesh::together(const NodeMatrixPattern& own, const std::vector<double>& values,
                                       const NodeMatrixPattern& whole) const {
  std::vector<double> sums(whole.columns.size(), 0);
  for (std::size_t i = 0; i < origin.size(); ++i)
    for (Index e = own.row_begin[i]; e < own.row_begin[i + 1]; ++e)
      sums[static_cast<std::size_t>(
          whole.find(origin[i], origin[static_cast<std::size_t>(own.columns[e])]))] += values[e];
  return sums;
}

}  // namespace isocloth
