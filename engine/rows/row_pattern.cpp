#include "engine/rows/row_pattern.hpp"

namespace isocloth {
namespace {

int width_of(RowFamily family) {
  return visit_family(family, [](auto rows) { return decltype(rows)::width; });
}

}  // namespace

const StencilPattern& RowPattern::stencils(RowFamily family) const {
  return width_of(family) == 3 ? triples : singles;
}

std::vector<std::array<Index, 2>> RowPattern::edge_nodes() const {
  std::vector<std::array<Index, 2>> edges;
  for (const Part& part : parts) {
    if (part.family != RowFamily::edges && part.family != RowFamily::boundary_edges) continue;
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      const auto slot =
          static_cast<std::size_t>(singles.stencil_begin[static_cast<std::size_t>(part.first_stencil) + i]);
      edges.push_back({singles.slot_nodes[slot], singles.slot_nodes[slot + 1]});
    }
  }
  return edges;
}

RowPattern build_row_pattern(const Mesh& mesh, const Topology& topology,
                             const std::vector<RowFamily>& families, const std::vector<char>& is_pinned) {
  RowPattern rows;
  const std::vector<Index> faces = corner_faces(mesh);
  for (const RowFamily family : families) {
    StencilPattern& pattern = width_of(family) == 3 ? rows.triples : rows.singles;
    RowPattern::Part part{.family = family, .first_stencil = pattern.stencil_count(), .places = {}};
    visit_family(family, [&](auto kind) {
      kind.add_stencils({.mesh = mesh, .topology = topology, .is_pinned = is_pinned, .corner_faces = faces},
                        pattern, part.places);
    });
    rows.parts.push_back(std::move(part));
  }
  return rows;
}

}  // namespace isocloth
