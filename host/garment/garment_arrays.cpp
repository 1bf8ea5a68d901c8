#include "host/garment/garment_arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/sewing_forces.hpp"
#include "engine/rows/row_families.hpp"
#include "host/garment/bent_mesh.hpp"
#include "host/garment/factored_bending.hpp"
#include "host/garment/mid_edge_bending.hpp"
#include "host/garment/row_evaluator.hpp"
#include "host/linear/ordering.hpp"

namespace isocloth {
namespace {

template <class Real>
Buffer<Real> converted(const Device& device, const std::vector<double>& values) {
  return {device, std::vector<Real>(values.begin(), values.end())};
}

/// The mesh in double on the device, for the setup kernels.
struct MeshBuffers {
  Buffer<Vec3d> positions;
  Buffer<Index> face_begin, face_nodes, corner_faces, node_corner_begin, node_corners;

  MeshBuffers(const Device& device, const Mesh& mesh, const Topology& topology)
      : positions(device, mesh.positions),
        face_begin(device, mesh.face_begin),
        face_nodes(device, mesh.face_nodes),
        corner_faces(device, isocloth::corner_faces(mesh)),
        node_corner_begin(device, topology.node_corner_begin),
        node_corners(device, topology.node_corners) {}
  MeshView view() const {
    return {positions.view(),    face_begin.view(),        face_nodes.view(),
            corner_faces.view(), node_corner_begin.view(), node_corners.view()};
  }
};

RowGroupBuffers group_buffers(const Device& device, const StencilPattern& stencils, const RowGather& gather) {
  return {.stencil_begin = {device, stencils.stencil_begin},
          .slot_nodes = {device, stencils.slot_nodes},
          .entry_begin = {device, stencils.entry_begin},
          .entry_nodes = {device, stencils.entry_nodes},
          .laws = {},
          .pair_terms = gather_buffers(device, gather.pairs),
          .block_terms = gather_buffers(device, gather.blocks),
          .node_terms = gather_buffers(device, gather.nodes)};
}

/// T of all rows, in double.
std::vector<double> build_tensors(const Device& device, const Mesh& of, const MeshBuffers& mesh,
                                  const std::vector<Vec3d>& warps, const std::vector<Vec3d>& warps_of_faces,
                                  const Buffer<double>& masses, const std::vector<char>& pinned,
                                  const RowPattern& rows, const RowsView& view) {
  const Buffer<Vec3d> corner_warps(device, warps), face_warps(device, warps_of_faces);
  const Buffer<char> is_pinned(device, pinned);
  Buffer<double> tensors(device, view.tensor_count());
  std::vector<double> lengths;
  for (const Band& band : of.bands) lengths.push_back(band.length);
  const Buffer<double> band_lengths(device, lengths);
  std::vector<Buffer<Index>> places;  // kernels read them until the download waits
  for (const RowPattern::Part& family : rows.parts) {
    const StencilPattern* const own = &rows.stencils(family.family);
    const std::size_t begin[] = {0, view.membranes.first_tensor, view.limits.first_tensor,
                                 view.singles.first_tensor, view.tensor_count()};
    const StencilPattern* const groups[] = {&rows.triples, &rows.membranes, &rows.limits, &rows.singles};
    const auto group = static_cast<std::size_t>(std::ranges::find(groups, own) - groups);
    const StencilView stencils[] = {view.triples.stencils, view.membranes.stencils, view.limits.stencils,
                                    view.singles.stencils};
    places.emplace_back(device, family.places);
    device.backend().setup.build_tensors(
        device.queue(), {.family = family.family,
                         .setup = {.mesh = mesh.view(),
                                   .corner_warps = corner_warps.view(),
                                   .face_warps = face_warps.view(),
                                   .masses = masses.view(),
                                   .is_pinned = is_pinned.view(),
                                   .stencils = stencils[group],
                                   .first_stencil = family.first_stencil,
                                   .band_lengths = band_lengths.view(),
                                   .places = std::as_const(places.back()).view(),
                                   .tensors = slice(tensors.view(), begin[group], begin[group + 1])}});
  }
  return tensors.download();
}

/// Whether the edge from a corner of a face to the next is of this face only; shape [corner_count].
std::vector<char> rim_edges(const Mesh& mesh, const Topology& topology) {
  std::vector<char> result;
  const auto& boundary = topology.boundary_edges;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto [a, b] = std::minmax(nodes[i], nodes[(i + 1) % nodes.size()]);
      result.push_back(std::binary_search(boundary.begin(), boundary.end(), std::array{a, b}));
    }
  }
  return result;
}

/// m_k of the areas of faces, each times its factor; empty: 1.
Buffer<double> lumped(const Device& device, const MeshBuffers& mesh, std::size_t node_count,
                      const std::vector<double>& factors = {}) {
  const Buffer<double> weights(device, factors);
  Buffer<double> found(device, node_count);
  device.backend().setup.lump_masses(
      device.queue(), {.mesh = mesh.view(), .factors = weights.view(), .masses = found.view()});
  if (!factors.empty()) static_cast<void>(found.download());  // the factors are read until then
  return found;
}

/// A factor of all faces; empty: they have none.
std::vector<double> of_faces(const Mesh& mesh, double FabricFactors::*factor) {
  std::vector<double> all;
  for (const FabricFactors& face : mesh.face_factors) all.push_back(face.*factor);
  return all;
}

/// K of isometric bending or of a plate, in double.
std::vector<double> build_bending(const Device& device, const Mesh& mesh, const MeshBuffers& mesh_buffers,
                                  const Topology& topology, const Buffer<double>& masses,
                                  const NodeMatrixPattern& pattern, const Bending& of_fabric,
                                  const std::vector<char>& pinned) {
  const std::vector<double> factors = of_faces(mesh, &FabricFactors::bending);
  const Buffer<double> weights =
      factors.empty() ? Buffer<double>{} : lumped(device, mesh_buffers, mesh.positions.size(), factors);
  const NodeMatrixPattern neighbours = neighbour_pattern(mesh);
  const Buffer<Index> begin(device, neighbours.row_begin), columns(device, neighbours.columns),
      row_begin(device, pattern.row_begin), entries(device, pattern.columns);
  const Buffer<char> is_boundary(device, topology.is_boundary), is_rim(device, rim_edges(mesh, topology)),
      is_pinned(device, pinned);
  const Buffer<Vec3d> warps(device, face_warp_directions(mesh, topology));
  Buffer<Vec3d> curvature(device, neighbours.columns.size());
  Buffer<double> bending(device, pattern.columns.size());
  device.backend().setup.build_curvature(device.queue(), {.mesh = mesh_buffers.view(),
                                                          .pattern = {begin.view(), columns.view()},
                                                          .is_boundary = is_boundary.view(),
                                                          .is_rim = is_rim.view(),
                                                          .is_pinned = is_pinned.view(),
                                                          .warps = warps.view(),
                                                          .masses = masses.view(),
                                                          .is_plate = of_fabric.model == BendingModel::plate,
                                                          .ratio = of_fabric.ratio,
                                                          .curvature = curvature.view()});
  device.backend().setup.build_bending(device.queue(),
                                       {.curvature_pattern = {begin.view(), columns.view()},
                                        .curvature = std::as_const(curvature).view(),
                                        .masses = factors.empty() ? masses.view() : weights.view(),
                                        .pattern = {row_begin.view(), entries.view()},
                                        .bending = bending.view()});
  return bending.download();
}

/// The rest shape measured by the same kernels that will measure the moving one, but for families that have
/// another.
template <class Real>
void measure_rest_shape(const Device& device, const Mesh& mesh, GarmentArrays<Real>& arrays) {
  const Buffer<Vec3<Real>> positions(device, narrowed<Real>(mesh.positions));
  RowEvaluator<Real> rows(device, arrays);
  rows.evaluate(positions, 1);
  std::vector<Real> values = rows.residuals.download();
  for (const RowPattern::Part& part : arrays.rows.parts)
    visit_family(part.family, [&](auto family) {
      const auto own = values.begin() + arrays.rows.first_single() + part.first_stencil;
      if constexpr (requires { family.rest_value; })
        std::fill_n(own, part.places.size(), Real(family.rest_value));
      if constexpr (requires { family.rest_values(mesh, part.places); })
        std::ranges::transform(family.rest_values(mesh, part.places), own,
                               [](double value) { return static_cast<Real>(value); });
    });
  arrays.rest_values.upload(values);
  step_kernels<Real>(device.backend())
      .measure_areas(device.queue(), {.face_begin = arrays.face_begin.view(),
                                      .face_nodes = arrays.face_nodes.view(),
                                      .positions = positions.view(),
                                      .areas = arrays.rest_areas.view()});
}

}  // namespace

std::vector<char> pinned_nodes(const Garment& garment) {
  std::vector<char> is_pinned(garment.mesh.positions.size(), 0);
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) is_pinned[static_cast<std::size_t>(node)] = 1;
  return is_pinned;
}

GatherBuffers gather_buffers(const Device& device, const GatherLists& lists) {
  return {{device, lists.begin}, {device, lists.first}, {device, lists.second}};
}

template <class Real>
GarmentArrays<Real>::GarmentArrays(const Device& device, const Garment& garment, const Recipe& recipe,
                                   bool elimination_order, bool couples_faces, FactorPattern factor) {
  const MonitorView& monitor = device.monitor();
  const Mesh& mesh = garment.mesh;
  const Topology topology = build_topology(mesh);
  const std::vector<char> is_pinned = pinned_nodes(garment);
  rows = build_row_pattern(mesh, topology, row_families(recipe, mesh, garment.fabric), is_pinned);
  monitor.check();
  has_bending = has_bending_matrix(recipe, garment.fabric);
  const Bending of_fabric = bending_of(recipe, garment.fabric);
  const bool is_mid_edge = has_bending && of_fabric.model == BendingModel::mid_edge;
  const BentMesh bent(has_bending ? mesh : Mesh{}, is_pinned);
  const MidEdgeBending mid_edge(is_mid_edge ? bent.mesh : Mesh{}, bent.is_pinned);
  const NodeMatrixPattern own_pattern = is_mid_edge   ? mid_edge.pattern()
                                        : has_bending ? squared_pattern(neighbour_pattern(bent.mesh))
                                                      : NodeMatrixPattern{};
  const NodeMatrixPattern bending_pattern = has_bending ? bent.together(own_pattern) : own_pattern;
  const NodeMatrixPattern coupled = couples_faces ? neighbour_pattern(mesh) : NodeMatrixPattern{};
  pattern = build_nodal_pattern(rows, bending_pattern, is_pinned, {}, coupled, factor, mesh.threads());
  monitor.check();
  if (elimination_order) {
    const auto best = analyze_best_order({.size = pattern.free_count(),
                                          .block = 3,
                                          .rows = pattern.block_rows,
                                          .columns = pattern.block_columns});
    std::vector<Index> order;
    for (const Index i : best.elimination.block_row) order.push_back(pattern.free_nodes[i]);
    pattern = build_nodal_pattern(rows, bending_pattern, is_pinned, order, coupled, factor, mesh.threads());
  }

  monitor.check();
  face_begin = {device, mesh.face_begin};
  face_nodes = {device, mesh.face_nodes};
  triples = group_buffers(device, rows.triples, pattern.triples);
  membranes = group_buffers(device, rows.membranes, pattern.membranes);
  limits = group_buffers(device, rows.limits, pattern.limits);
  singles = group_buffers(device, rows.singles, pattern.singles);
  singles.laws = {device, single_laws(mesh, rows, is_pinned)};

  const MeshBuffers mesh_buffers(device, mesh, topology);
  const Buffer<double> areas = lumped(device, mesh_buffers, mesh.positions.size());
  std::vector<double> m = areas.download();
  rest_area = std::accumulate(m.begin(), m.end(), 0.0);
  element_size = std::sqrt(rest_area / static_cast<double>(m.size()));
  if (const std::vector<double> factors = of_faces(mesh, &FabricFactors::density); !factors.empty())
    m = lumped(device, mesh_buffers, mesh.positions.size(), factors).download();
  masses = converted<Real>(device, m);
  std::vector<double> inverse(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) inverse[i] = is_pinned[i] ? 0 : 1 / m[i];
  inverse_masses = converted<Real>(device, inverse);

  tensors = converted<Real>(
      device, build_tensors(device, mesh, mesh_buffers, material_warp_directions(mesh, topology),
                            face_warp_directions(mesh, topology), areas, is_pinned, rows, rows_view()));
  if (has_bending) {
    bending_begin = {device, bending_pattern.row_begin};
    bending_columns = {device, bending_pattern.columns};
    const auto values = [&](const MeshBuffers& buffers, const Topology& of_bent, const Buffer<double>& m_k) {
      return is_mid_edge ? mid_edge.values(of_fabric.ratio)
                         : build_bending(device, bent.mesh, buffers, of_bent, m_k, own_pattern, of_fabric,
                                         bent.is_pinned);
    };
    if (bent.is_cut()) {
      const Topology of_bent = build_topology(bent.mesh);
      const MeshBuffers buffers(device, bent.mesh, of_bent);
      const Buffer<double> own = lumped(device, buffers, bent.mesh.positions.size());
      bending =
          converted<Real>(device, bent.together(own_pattern, values(buffers, of_bent, own), bending_pattern));
    } else {
      bending = converted<Real>(device, values(mesh_buffers, topology, areas));
    }
    const FactoredBending<Real> parts = factored_bending(pattern, bending_pattern, bending.download());
    factored = {device, parts.factored};
    beyond = {device, parts.beyond};
  }

  monitor.check();
  free_nodes = {device, pattern.free_nodes};
  free_number = {device, pattern.free_number};
  node_pair_begin = {device, pattern.node_pair_begin};
  node_pairs = {device, pattern.node_pairs};
  block_rows = {device, pattern.block_rows};
  block_columns = {device, pattern.block_columns};
  block_pairs = {device, pattern.block_pairs};
  coupling_begin = {device, pattern.coupling_begin};
  coupling_columns = {device, pattern.coupling_columns};
  std::vector<Index> sewn;
  std::vector<double> forces = sewing_forces(garment.sewing, mesh), stiffness, distances,
                      strengths(mesh.stitches.size());
  for (const auto& [a, b] : mesh.threads()) sewn.insert(sewn.end(), {a, b});
  for (const Stitch& stitch : mesh.stitches) {
    stiffness.push_back(garment.sewing.stiffness * stitch.length);
    distances.push_back(stitch.slack);
  }
  for (const Button& button : mesh.buttons) {
    forces.push_back(button.force);
    stiffness.push_back(button.stiffness);
    distances.push_back(button.distance);
    strengths.push_back(button.strength);
  }
  stitch_nodes = {device, sewn};
  pair_stitches = {device, pattern.pair_stitches};
  stitches = gather_buffers(device, pattern.stitches);
  stitch_forces = converted<Real>(device, forces);
  stitch_stiffness = converted<Real>(device, stiffness);
  stitch_distances = converted<Real>(device, distances);
  stitch_strengths = converted<Real>(device, strengths);
  rest_values = {device, static_cast<std::size_t>(rows.row_count())};
  rest_areas = {device, static_cast<std::size_t>(mesh.face_count())};
  measure_rest_shape(device, mesh, *this);
}

template <class Real>
void GarmentArrays<Real>::set_fasteners(const Garment& garment) {
  const Mesh& mesh = garment.mesh;
  std::vector<Real> forces = stitch_forces.download(), stiffness = stitch_stiffness.download(),
                    distances = stitch_distances.download();
  const std::vector<double> pulls = sewing_forces(garment.sewing, mesh);
  for (std::size_t i = 0; i < mesh.stitches.size(); ++i) {
    forces[i] = static_cast<Real>(pulls[i]);
    stiffness[i] = static_cast<Real>(garment.sewing.stiffness * mesh.stitches[i].length);
    distances[i] = static_cast<Real>(mesh.stitches[i].slack);
  }
  stitch_forces.upload(forces);
  stitch_stiffness.upload(stiffness);
  stitch_distances.upload(distances);
  for (const RowPattern::Part& part : rows.parts) {
    if (part.family != RowFamily::bands) continue;
    std::vector<Real> all = tensors.download();
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      const double length = mesh.bands[static_cast<std::size_t>(part.places[i])].length,
                   t = 1 / (length * length);
      const auto slot = rows.singles.stencil_begin[static_cast<std::size_t>(part.first_stencil) + i];
      const std::size_t entry =
          rows_view().singles.first_tensor +
          static_cast<std::size_t>(rows.singles.entry_begin[static_cast<std::size_t>(slot)]);
      for (std::size_t e = 0; e < 4; ++e) all[entry + e] = static_cast<Real>(e == 0 || e == 3 ? t : -t);
    }
    tensors.upload(all);
  }
}

template <class Real>
RowsView GarmentArrays<Real>::rows_view() const {
  RowsView view{.triples = triples.view<RowGroup<3>>(),
                .membranes = membranes.view<MembraneGroup>(),
                .limits = limits.view<LimitGroup>(),
                .singles = singles.view<RowGroup<1>>()};
  const StencilView &of_triples = view.triples.stencils, &of_membranes = view.membranes.stencils,
                    &of_limits = view.limits.stencils;
  view.membranes.first_row = static_cast<std::size_t>(rows.triples.row_count());
  view.membranes.first_tensor = 3 * of_triples.entry_nodes.size();
  view.membranes.first_jacobian = 3 * of_triples.slot_nodes.size();
  view.singles.first_row = static_cast<std::size_t>(rows.first_single());
  view.limits.first_row = static_cast<std::size_t>(rows.first_limit());
  view.limits.first_tensor = view.membranes.first_tensor + 4 * of_membranes.slot_nodes.size() +
                             static_cast<std::size_t>(of_membranes.stencil_count());
  view.limits.first_jacobian =
      view.membranes.first_jacobian + MembraneGroup::width * of_membranes.slot_nodes.size();
  view.singles.first_tensor = view.limits.first_tensor + 2 * of_limits.slot_nodes.size();
  view.singles.first_jacobian = view.limits.first_jacobian + LimitGroup::width * of_limits.slot_nodes.size();
  return view;
}

template <class Real>
std::size_t GarmentArrays<Real>::memory_bytes() const {
  std::size_t bytes = 0;
  auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(face_begin, face_nodes, masses, inverse_masses, rest_areas, tensors, rest_values, bending_begin,
      bending_columns, bending, free_nodes, free_number, node_pair_begin, node_pairs, block_rows,
      block_columns, block_pairs, coupling_begin, coupling_columns, factored, beyond, stitch_nodes,
      pair_stitches, stitches.begin, stitches.first, stitches.second, stitch_forces, stitch_stiffness,
      stitch_distances, stitch_strengths);
  for (const RowGroupBuffers* group : {&triples, &membranes, &limits, &singles}) {
    add(group->stencil_begin, group->slot_nodes, group->entry_begin, group->entry_nodes, group->laws);
    for (const GatherBuffers* g : {&group->pair_terms, &group->block_terms, &group->node_terms})
      add(g->begin, g->first, g->second);
  }
  return bytes;
}

template struct GarmentArrays<float>;
template struct GarmentArrays<double>;

}  // namespace isocloth
