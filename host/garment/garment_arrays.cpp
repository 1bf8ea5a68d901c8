#include "host/garment/garment_arrays.hpp"

#include <cmath>
#include <numeric>

#include "engine/mesh/material_frame.hpp"
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

template <class Real>
void upload_pattern(const Device& device, const StencilPattern& pattern, RowBuffers<Real>& rows) {
  rows.stencil_begin = {device, pattern.stencil_begin};
  rows.slot_nodes = {device, pattern.slot_nodes};
  rows.entry_begin = {device, pattern.entry_begin};
  rows.entry_nodes = {device, pattern.entry_nodes};
}

template <class Real>
void build_tensors(const Device& device, const MeshBuffers& mesh, const std::vector<Vec3d>& warps,
                   const Buffer<double>& masses, const RowPattern& pattern, GarmentArrays<Real>& arrays) {
  const SetupKernels& setup = device.backend().setup;
  const Buffer<Vec3d> corner_warps(device, warps);
  const Buffer<Index> metric_nodes(device, pattern.metric_nodes), corner_nodes(device, pattern.corner_nodes);
  Buffer<double> metric(device, static_cast<std::size_t>(pattern.metric.entry_count()) * 3);
  Buffer<double> scalar(device, static_cast<std::size_t>(pattern.scalar.entry_count()));
  BuildIsometryTensors build{.mesh = mesh.view(),
                             .stencils = arrays.metric.view(),
                             .nodes = metric_nodes.view(),
                             .corner_warps = corner_warps.view(),
                             .masses = masses.view(),
                             .width = 3,
                             .tensors = metric.view()};
  setup.build_isometry_tensors(device.queue(), build);
  build.stencils = arrays.scalar.view();
  build.nodes = corner_nodes.view();
  build.width = 1;
  build.tensors = scalar.view();
  setup.build_isometry_tensors(device.queue(), build);
  setup.build_edge_tensors(device.queue(), {.mesh = mesh.view(),
                                            .stencils = arrays.scalar.view(),
                                            .first_stencil = static_cast<Index>(pattern.corner_nodes.size()),
                                            .tensors = scalar.view()});
  arrays.metric.tensors = converted<Real>(device, metric.download());
  arrays.scalar.tensors = converted<Real>(device, scalar.download());
}

template <class Real>
void build_bending(const Device& device, const Mesh& mesh, const MeshBuffers& mesh_buffers,
                   const Topology& topology, const Buffer<double>& masses, const NodeMatrixPattern& pattern,
                   GarmentArrays<Real>& arrays) {
  const NodeMatrixPattern neighbours = laplacian_pattern(mesh);
  const Buffer<Index> begin(device, neighbours.row_begin), columns(device, neighbours.columns);
  const Buffer<char> is_boundary(device, topology.is_boundary);
  Buffer<double> laplacian(device, neighbours.columns.size());
  Buffer<double> bending(device, pattern.columns.size());
  arrays.bending_begin = {device, pattern.row_begin};
  arrays.bending_columns = {device, pattern.columns};
  device.backend().setup.build_laplacian(device.queue(), {.mesh = mesh_buffers.view(),
                                                          .pattern = {begin.view(), columns.view()},
                                                          .is_boundary = is_boundary.view(),
                                                          .masses = masses.view(),
                                                          .laplacian = laplacian.view()});
  device.backend().setup.build_bending(
      device.queue(), {.laplacian_pattern = {begin.view(), columns.view()},
                       .laplacian = std::as_const(laplacian).view(),
                       .masses = masses.view(),
                       .pattern = {arrays.bending_begin.view(), arrays.bending_columns.view()},
                       .bending = bending.view()});
  arrays.bending = converted<Real>(device, bending.download());
}

/// The rest shape measured by the same kernels that will measure the moving one.
template <class Real>
void measure_rest_shape(const Device& device, const Mesh& mesh, GarmentArrays<Real>& arrays) {
  const Buffer<Vec3<Real>> positions(device, narrowed<Real>(mesh.positions));
  RowEvaluator<Real> rows(device, arrays);
  rows.evaluate(positions, 1);
  arrays.rest_values.upload(rows.residuals.download());
  step_kernels<Real>(device.backend())
      .measure_areas(device.queue(), {.face_begin = arrays.face_begin.view(),
                                      .face_nodes = arrays.face_nodes.view(),
                                      .positions = positions.view(),
                                      .areas = arrays.rest_areas.view()});
}

}  // namespace

GatherBuffers gather_buffers(const Device& device, const GatherLists& lists) {
  return {{device, lists.begin}, {device, lists.first}, {device, lists.second}};
}

template <class Real>
GarmentArrays<Real>::GarmentArrays(const Device& device, const Garment& garment, RowFamily family,
                                   bool elimination_order, bool couples_faces) {
  const MonitorView& monitor = device.monitor();
  const Mesh& mesh = garment.mesh;
  const Topology topology = build_topology(mesh);
  std::vector<char> is_pinned(mesh.positions.size(), 0);
  for (const Pin& pin : garment.pins)
    for (Index node : pin.nodes) is_pinned[node] = 1;

  rows = build_row_pattern(mesh, topology, family, is_pinned);
  monitor.check();
  has_bending = garment.fabric.kappa > 0 || garment.fabric.beta > 0;
  const NodeMatrixPattern bending_pattern =
      has_bending ? squared_pattern(laplacian_pattern(mesh)) : NodeMatrixPattern{};
  const NodeMatrixPattern coupled = couples_faces ? laplacian_pattern(mesh) : NodeMatrixPattern{};
  pattern = build_nodal_pattern(rows, bending_pattern, is_pinned, {}, coupled);
  monitor.check();
  if (elimination_order) {
    const auto best = analyze_best_order({.size = pattern.free_count(),
                                          .block = 3,
                                          .rows = pattern.block_rows,
                                          .columns = pattern.block_columns});
    std::vector<Index> order;
    for (const Index i : best.elimination.block_row) order.push_back(pattern.free_nodes[i]);
    pattern = build_nodal_pattern(rows, bending_pattern, is_pinned, order, coupled);
  }

  monitor.check();
  face_begin = {device, mesh.face_begin};
  face_nodes = {device, mesh.face_nodes};
  upload_pattern(device, rows.metric, metric);
  upload_pattern(device, rows.scalar, scalar);

  const MeshBuffers mesh_buffers(device, mesh, topology);
  Buffer<double> lumped(device, mesh.positions.size());
  device.backend().setup.lump_masses(device.queue(), {.mesh = mesh_buffers.view(), .masses = lumped.view()});
  const std::vector<double> m = lumped.download();
  rest_area = std::accumulate(m.begin(), m.end(), 0.0);
  element_size = std::sqrt(rest_area / static_cast<double>(m.size()));
  masses = converted<Real>(device, m);
  std::vector<double> inverse(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) inverse[i] = is_pinned[i] ? 0 : 1 / m[i];
  inverse_masses = converted<Real>(device, inverse);

  build_tensors(device, mesh_buffers, material_warp_directions(mesh, topology), lumped, rows, *this);
  if (has_bending) build_bending(device, mesh, mesh_buffers, topology, lumped, bending_pattern, *this);

  monitor.check();
  free_nodes = {device, pattern.free_nodes};
  free_number = {device, pattern.free_number};
  node_pair_begin = {device, pattern.node_pair_begin};
  node_pairs = {device, pattern.node_pairs};
  pair_metric = gather_buffers(device, pattern.pair_metric);
  pair_scalar = gather_buffers(device, pattern.pair_scalar);
  block_metric = gather_buffers(device, pattern.block_metric);
  block_scalar = gather_buffers(device, pattern.block_scalar);
  node_metric = gather_buffers(device, pattern.node_metric);
  node_scalar = gather_buffers(device, pattern.node_scalar);
  block_rows = {device, pattern.block_rows};
  block_columns = {device, pattern.block_columns};
  block_pairs = {device, pattern.block_pairs};
  block_bending = {device, pattern.block_bending};
  rest_values = {device, static_cast<std::size_t>(rows.row_count())};
  rest_areas = {device, static_cast<std::size_t>(mesh.face_count())};
  measure_rest_shape(device, mesh, *this);
}

template <class Real>
std::size_t GarmentArrays<Real>::memory_bytes() const {
  std::size_t bytes = 0;
  auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(face_begin, face_nodes, masses, inverse_masses, rest_areas, rest_values, bending_begin, bending_columns,
      bending, free_nodes, free_number, node_pair_begin, node_pairs, block_rows, block_columns, block_pairs,
      block_bending);
  for (const RowBuffers<Real>* r : {&metric, &scalar})
    add(r->stencil_begin, r->slot_nodes, r->entry_begin, r->entry_nodes, r->tensors);
  for (const GatherBuffers* g :
       {&pair_metric, &pair_scalar, &block_metric, &block_scalar, &node_metric, &node_scalar})
    add(g->begin, g->first, g->second);
  return bytes;
}

template struct GarmentArrays<float>;
template struct GarmentArrays<double>;

}  // namespace isocloth
