#include "engine/rows/row_pattern.hpp"

#include <algorithm>

namespace isocloth {
namespace {

int width_of(RowFamily family) {
  return visit_family(family, [](auto rows) { return decltype(rows)::width; });
}

template <class Rows>
constexpr bool has_stiffness = requires(const RowSetup& setup, const std::vector<Index>& places,
                                        const Fabric& fabric) {
  Rows::stiffness(setup, places, fabric);
};

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

bool is_compliant(RowFamily family) {
  return visit_family(family, [](auto kind) { return has_stiffness<decltype(kind)>; });
}

std::vector<double> row_stiffness(const Mesh& mesh, const RowPattern& rows, const Fabric& fabric,
                                  const std::vector<char>& is_pinned) {
  if (std::none_of(rows.parts.begin(), rows.parts.end(),
                   [](const auto& p) { return is_compliant(p.family); }))
    return {};
  const Topology topology = build_topology(mesh);
  const std::vector<Index> faces = corner_faces(mesh);
  const RowSetup setup{.mesh = mesh, .topology = topology, .is_pinned = is_pinned, .corner_faces = faces};
  std::vector<double> all(static_cast<std::size_t>(rows.row_count()));
  for (const RowPattern::Part& part : rows.parts)
    visit_family(part.family, [&](auto kind) {
      using Rows = decltype(kind);
      if constexpr (has_stiffness<Rows>) {
        const std::vector<double> own = Rows::stiffness(setup, part.places, fabric);
        const Index first =
            (Rows::width == 1 ? rows.triples.row_count() : 0) + Rows::width * part.first_stencil;
        std::copy(own.begin(), own.end(), all.begin() + first);
      }
    });
  return all;
}

}  // namespace isocloth
