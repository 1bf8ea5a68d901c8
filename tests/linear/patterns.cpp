#include "tests/linear/patterns.hpp"

#include <algorithm>

#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"
#include "engine/rows/stencil_pattern.hpp"
#include "host/garment/nodal_pattern.hpp"

namespace isocloth {
namespace {

NamedGarment named(const std::string& name, Mesh mesh, std::vector<Index> pinned = {}, double kappa = 0) {
  Garment garment;
  garment.name = name;
  garment.mesh = std::move(mesh);
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.5,
                    .bending_stiffness = kappa,
                    .mass_damping = 1,
                    .stiffness_damping = 0};
  if (!pinned.empty()) garment.pins.push_back({"pins", std::move(pinned), FixedMotion{}});
  return {name, std::move(garment)};
}

}  // namespace

std::vector<NamedGarment> all_garments() {
  std::vector<Index> cut;  // three columns of nodes: wider than any stencil
  for (Index j = 0; j < 12; ++j)
    for (Index i = 6; i < 9; ++i) cut.push_back(j * 15 + i);
  return {named("quads", quad_grid(13, 11, 0.4, 0.3), {0, 12}),
          named("quads_free", quad_grid(9, 14, 0.4, 0.3)),
          named("quads_bending", quad_grid(11, 10, 0.4, 0.3), {0, 10, 54}, 1e-4),
          named("quads_cut", quad_grid(15, 12, 0.4, 0.3), cut),
          named("triangles_parallel", triangle_grid(12, 9, 0.4, 0.3, Diagonals::parallel), {0, 1, 2, 57}),
          named("triangles_alternating", triangle_grid(12, 9, 0.4, 0.3, Diagonals::alternating), {0}),
          named("triangles_irregular", irregular_triangles(9, 80, 0.4, 0.3, 7), {0, 4, 50}),
          named("ring", ring(5, 24, 0.1, 0.3, FaceKind::quads), {0, 1}),
          named("disc", disc(6, 18, 0.3, FaceKind::triangles)),
          named("tube", tube(8, 16, 0.1, 0.4, FaceKind::triangles), {0}),
          named("tank_top", tank_top(300), {0})};
}

BlockPattern nodal_block_pattern(const Garment& garment) {
  std::vector<char> is_pinned(garment.mesh.positions.size(), 0);
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) is_pinned[node] = 1;
  const RowPattern rows = build_row_pattern(garment.mesh, build_topology(garment.mesh),
                                            find_recipe("coltraro2022").rows, is_pinned);
  const NodalPattern p = build_nodal_pattern(rows,
                                             garment.fabric.bending_stiffness > 0
                                                 ? squared_pattern(neighbour_pattern(garment.mesh))
                                                 : NodeMatrixPattern{},
                                             is_pinned);
  return {.size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns};
}

BlockPattern disconnected(const std::vector<BlockPattern>& parts) {
  BlockPattern all{.size = 0, .block = parts.front().block, .rows = {}, .columns = {}};
  for (const BlockPattern& part : parts) {
    for (const Index row : part.rows) all.rows.push_back(all.size + row);
    for (const Index column : part.columns) all.columns.push_back(all.size + column);
    all.size += part.size;
  }
  return all;
}

BlockPattern sheet_pattern(Index columns, Index rows) {
  BlockPattern pattern{.size = columns * rows, .block = 3, .rows = {}, .columns = {}};
  for (Index node = 0; node < pattern.size; ++node)
    for (Index y = node / columns; y <= node / columns + 2 && y < rows; ++y)
      for (Index x = std::max(0, node % columns - 2); x <= node % columns + 2 && x < columns; ++x)
        if (y * columns + x >= node) {
          pattern.rows.push_back(y * columns + x);
          pattern.columns.push_back(node);
        }
  return pattern;
}

std::vector<NamedPattern> all_patterns() {
  std::vector<NamedPattern> patterns;
  for (const NamedGarment& g : all_garments()) patterns.push_back({g.name, nodal_block_pattern(g.garment)});
  patterns.push_back({"two_garments", disconnected({patterns[0].pattern, patterns[6].pattern})});
  patterns.push_back({"scalar_blocks", patterns[4].pattern});
  patterns.back().pattern.block = 1;
  patterns.push_back({"one_node", {.size = 1, .block = 3, .rows = {0}, .columns = {0}}});
  patterns.push_back({"no_node", {.size = 0, .block = 3, .rows = {}, .columns = {}}});
  BlockPattern diagonal{.size = 7, .block = 3, .rows = {}, .columns = {}}, dense = diagonal, arrow = diagonal;
  dense.size = arrow.size = 40;
  for (Index j = 0; j < 7; ++j) {
    diagonal.rows.push_back(j);
    diagonal.columns.push_back(j);
  }
  for (Index j = 0; j < 40; ++j)
    for (Index i = j; i < 40; ++i) {
      dense.rows.push_back(i);
      dense.columns.push_back(j);
      if (i != j && j > 0) continue;  // the first column is full: the worst order is the natural one
      arrow.rows.push_back(i);
      arrow.columns.push_back(j);
    }
  patterns.push_back({"diagonal", diagonal});
  patterns.push_back({"dense", dense});
  patterns.push_back({"arrow", arrow});
  return patterns;
}

}  // namespace isocloth
