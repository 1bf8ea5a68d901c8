// The rows of one garment.
#pragma once

#include <array>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/rows/row_family.hpp"
#include "engine/rows/stencil_pattern.hpp"

namespace isocloth {

/// Stencils of all families: with three rows each, with the strain of a pair of triangles, with a row for
/// each direction of stretch of an element, with one. Rows are numbered so: of `triples` 3 q + {0, 1, 2}, of
/// `membranes` and `limits` likewise, then those of `singles`. Stencils without a free node are left out.
struct RowPattern {
  StencilPattern triples{.width = 3}, membranes{.width = membrane_width}, limits{.width = stretch_directions},
      singles{.width = 1};
  /// Stencils of one family.
  struct Part {
    RowFamily family;
    Index first_stencil = 0;
    std::vector<Index> places;  ///< what the family knows each stencil by: a node, an edge
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;

  Index row_count() const { return first_single() + singles.row_count(); }
  Index first_limit() const { return triples.row_count() + membranes.row_count(); }
  Index first_single() const { return first_limit() + limits.row_count(); }
  const StencilPattern& stencils(RowFamily family) const;
  /// The first row of the group of stencils in which the family is.
  Index first_row(RowFamily family) const;
  /// Nodes of the rows `edges` or `boundary_edges`.
  std::vector<std::array<Index, 2>> edge_nodes() const;
  bool operator==(const RowPattern&) const = default;
};

/// Pattern of the rows that a recipe asks for; is_pinned: shape [node_count].
RowPattern build_row_pattern(const Mesh& mesh, const Topology& topology,
                             const std::vector<RowFamily>& families, const std::vector<char>& is_pinned);

/// K of each row (kernels/tensors/row_laws.hpp) of a garment with this rest shape and fabric [J], 0: rigid;
/// empty: all are. `rows` is its pattern.
std::vector<double> row_stiffness(const Mesh& mesh, const RowPattern& rows, const Fabric& fabric,
                                  const std::vector<char>& is_pinned);
/// RowLaw of each row of `singles`, -1: it has none; empty: none has.
std::vector<Index> single_laws(const Mesh& mesh, const RowPattern& rows, const std::vector<char>& is_pinned);
/// c of each row that is an inequality C <= c, 0 of others; empty: none is.
std::vector<double> row_bounds(const RowPattern& rows, const Fabric& fabric);

}  // namespace isocloth
