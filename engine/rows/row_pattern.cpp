#include "engine/rows/row_pattern.hpp"

#include <algorithm>
#include <type_traits>

#include "engine/rows/row_families.hpp"

namespace isocloth {
namespace {

/// The stencils of a family in a pattern, of either constness.
template <class Pattern>
auto& stencils_of(Pattern& pattern, RowFamily family) {
  return *visit_family(family, [&](auto rows) {
    using Rows = decltype(rows);
    if constexpr (std::is_same_v<Rows, MembraneRows>)
      return &pattern.membranes;
    else if constexpr (std::is_same_v<Rows, PrincipalLimitRows>)
      return &pattern.limits;
    else if constexpr (Rows::width == 3)
      return &pattern.triples;
    else
      return &pattern.singles;
  });
}

template <class Rows>
constexpr bool has_stiffness = requires(const RowSetup& setup, const std::vector<Index>& places,
                                        const Fabric& fabric) {
  Rows::stiffness(setup, places, fabric);
};

}  // namespace

const StencilPattern& RowPattern::stencils(RowFamily family) const { return stencils_of(*this, family); }

Index RowPattern::first_row(RowFamily family) const {
  const StencilPattern* const own = &stencils(family);
  return own == &triples     ? 0
         : own == &membranes ? triples.row_count()
         : own == &limits    ? first_limit()
                             : first_single();
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
    StencilPattern& pattern = stencils_of(rows, family);
    RowPattern::Part part{.family = family, .first_stencil = pattern.stencil_count(), .places = {}};
    visit_family(family, [&](auto kind) {
      kind.add_stencils({.mesh = mesh, .topology = topology, .is_pinned = is_pinned, .corner_faces = faces},
                        pattern, part.places);
    });
    rows.parts.push_back(std::move(part));
  }
  return rows;
}

std::vector<Index> single_laws(const Mesh& mesh, const RowPattern& rows, const std::vector<char>& is_pinned) {
  std::vector<Index> all;
  for (const RowPattern::Part& part : rows.parts)
    visit_family(part.family, [&](auto kind) {
      using Rows = decltype(kind);
      const auto own = [&] {
        all.resize(static_cast<std::size_t>(rows.singles.stencil_count()), -1);
        return all.begin() + part.first_stencil;
      };
      if constexpr (requires { Rows::law; }) {
        std::fill_n(own(), part.places.size(), Rows::law);
      } else if constexpr (requires(const RowSetup& setup) { Rows::laws(setup, part.places); }) {
        const Topology topology = build_topology(mesh);
        const std::vector<Index> faces = corner_faces(mesh);
        std::ranges::copy(
            Rows::laws({.mesh = mesh, .topology = topology, .is_pinned = is_pinned, .corner_faces = faces},
                       part.places),
            own());
      }
    });
  return all;
}

std::vector<double> row_bounds(const RowPattern& rows, const Fabric& fabric) {
  std::vector<double> all;
  for (const RowPattern::Part& part : rows.parts)
    visit_family(part.family, [&](auto kind) {
      using Rows = decltype(kind);
      if constexpr (requires { Rows::bound(fabric); }) {
        all.resize(static_cast<std::size_t>(rows.row_count()));
        const auto first = all.begin() + rows.first_row(part.family) + Rows::width * part.first_stencil;
        std::fill_n(first, Rows::width * static_cast<std::ptrdiff_t>(part.places.size()),
                    Rows::bound(fabric));
      }
    });
  return all;
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
        const Index first = rows.first_row(part.family) + Rows::width * part.first_stencil;
        std::copy(own.begin(), own.end(), all.begin() + first);
      }
    });
  return all;
}

}  // namespace isocloth
