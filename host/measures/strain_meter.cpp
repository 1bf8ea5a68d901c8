#include "host/measures/strain_meter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/rows/membrane.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/garment/rest_shape.hpp"

namespace isocloth {
namespace {

/// Edges of two pinned nodes first; returns how many they are.
Index sort_edges(std::vector<std::array<Index, 2>>& edges, const Garment& garment) {
  const std::vector<char> is_pinned = pinned_nodes(garment);
  const auto end = std::stable_partition(edges.begin(), edges.end(), [&](const auto& edge) {
    return is_pinned[edge[0]] != 0 && is_pinned[edge[1]] != 0;
  });
  return static_cast<Index>(end - edges.begin());
}

/// Numbers of a point of an element at rest, see MeasureStrains::rest_points.
using RestPoint = std::array<double, 4>;

/// Where the tangents are x_xi and x_eta in a rest shape whose warp is near `warp`.
RestPoint rest_point(const Vec3d& x_xi, const Vec3d& x_eta, const Vec3d& warp) {
  const Vec3d n = cross(x_xi, x_eta), normal = (1 / norm(n)) * n, along = warp - dot(warp, normal) * normal;
  const Vec3d u = (1 / norm(along)) * along, v = cross(normal, u);
  const double u_xi = dot(x_xi, u), v_xi = dot(x_xi, v), u_eta = dot(x_eta, u), v_eta = dot(x_eta, v),
               inverse = 1 / (u_xi * v_eta - v_xi * u_eta);
  return {inverse * v_eta, -inverse * v_xi, -inverse * u_eta, inverse * u_xi};
}

void add_rest_points(const Mesh& mesh, Index face, const Vec3d& warp, std::vector<RestPoint>& points) {
  const ArrayView<const Index> nodes = mesh.face(face);
  const auto x = [&](int i) { return mesh.positions[nodes[i]]; };
  if (nodes.size() == 3) {
    points.push_back(rest_point(x(1) - x(0), x(2) - x(0), warp));
    return;
  }
  for (int q = 0; q < strain_point_count(4); ++q) {
    const double xi = (q / 2 == 0 ? -1 : 1) * strain_point_abscissa;
    const double eta = (q % 2 == 0 ? -1 : 1) * strain_point_abscissa;
    points.push_back(rest_point(0.25 * ((1 - eta) * (x(1) - x(0)) + (1 + eta) * (x(2) - x(3))),
                                0.25 * ((1 - xi) * (x(3) - x(0)) + (1 + xi) * (x(2) - x(1))), warp));
  }
}

constexpr std::size_t pair_numbers = 9;

/// Numbers of a pair of triangles at rest, see MeasureStrains::rest_pairs.
std::array<double, pair_numbers> rest_pair(const Mesh& mesh, const TrianglePair& pair,
                                           const std::vector<Vec3d>& warps) {
  std::array<double, pair_numbers> numbers{};
  for (std::size_t t = 0; t < 2; ++t) {
    const auto [a, b, c] = pair.triangle(static_cast<int>(t));
    const Vec3d& at = mesh.positions[a];
    // A triangle that is left over is told by its edges to c and to b in the place of d.
    const bool is_turned = pair.is_single && t == 1;
    const RestPoint point =
        rest_point(mesh.positions[is_turned ? c : b] - at, mesh.positions[is_turned ? b : c] - at,
                   warps[static_cast<std::size_t>(pair.faces[t])]);
    std::copy(point.begin(), point.end(), numbers.begin() + static_cast<std::ptrdiff_t>(4 * t));
  }
  const auto [first, second] = areas_of(mesh, pair);
  numbers.back() = first / (first + second);
  return numbers;
}

/// Number of pairs that all_pairs() has at most.
std::size_t most_pairs_of(const Mesh& mesh) { return static_cast<std::size_t>(mesh.face_count()); }

std::size_t strain_points_of(const Mesh& mesh) {
  std::size_t count = 0;
  for (Index face = 0; face < mesh.face_count(); ++face)
    count += static_cast<std::size_t>(strain_point_count(mesh.face_size(face)));
  return count;
}

}  // namespace

template <class Real>
StrainMeter<Real>::StrainMeter(const Device& device, const std::vector<const Garment*>& garments,
                               std::size_t width)
    : device_(&device), garment_count_(garments.size()) {
  const Mesh& mesh = garments.front()->mesh;
  Topology topology = build_topology(mesh);
  const Index pinned_edges = sort_edges(topology.edges, *garments.front());
  std::vector<Index> edges, face_points{0};
  for (const auto& edge : topology.edges) edges.insert(edges.end(), edge.begin(), edge.end());
  for (Index face = 0; face < mesh.face_count(); ++face)
    face_points.push_back(face_points.back() + strain_point_count(mesh.face_size(face)));

  const std::vector<TrianglePair> pairs = all_pairs(mesh, topology, pinned_nodes(*garments.front()));
  std::vector<Index> pair_nodes;
  for (const TrianglePair& pair : pairs)
    pair_nodes.insert(pair_nodes.end(), pair.nodes.begin(), pair.nodes.end());

  const bool shared = std::all_of(garments.begin(), garments.end(), [&](const Garment* garment) {
    return same_rest_shape(garment->mesh, mesh);
  });
  const std::size_t tiles = (garments.size() + width - 1) / width;
  const std::size_t edge_count = topology.edges.size(), point_count = face_points.back();
  const std::size_t shapes = shared ? 1 : tiles * width, lanes = shared ? 1 : width;
  std::vector<Real> rest_edges(shapes * edge_count), rest_points(shapes * 4 * point_count),
      rest_pairs(shapes * pair_numbers * pairs.size());
  for (std::size_t c = 0; c < shapes; ++c) {
    const Mesh& own = garments[std::min(c, garments.size() - 1)]->mesh;  // spare lanes repeat the last
    const auto place = [&](std::size_t i, std::size_t count) {
      return (c / lanes * count + i) * lanes + c % lanes;
    };
    for (std::size_t i = 0; i < edge_count; ++i) {
      const Vec3d e = own.positions[topology.edges[i][1]] - own.positions[topology.edges[i][0]];
      rest_edges[place(i, edge_count)] = static_cast<Real>(1 / dot(e, e));
    }
    std::vector<RestPoint> points;
    const std::vector<Vec3d> warps = face_warp_directions(own, topology);
    for (Index face = 0; face < own.face_count(); ++face)
      add_rest_points(own, face, warps[static_cast<std::size_t>(face)], points);
    for (std::size_t i = 0; i < point_count; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        rest_points[place(4 * i + k, 4 * point_count)] = static_cast<Real>(points[i][k]);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto numbers = rest_pair(own, pairs[i], warps);
      for (std::size_t k = 0; k < pair_numbers; ++k)
        rest_pairs[place(pair_numbers * i + k, pair_numbers * pairs.size())] = static_cast<Real>(numbers[k]);
    }
  }
  edges_ = {device, edges};
  face_begin_ = {device, mesh.face_begin};
  face_nodes_ = {device, mesh.face_nodes};
  face_points_ = {device, face_points};
  rest_edges_ = {device, rest_edges};
  rest_points_ = {device, rest_points};
  pairs_ = {device, pair_nodes};
  rest_pairs_ = {device, rest_pairs};
  values_ = {device, tiles * width * (edge_count + 2 * point_count + pairs.size())};
  reports_ = {device, tiles * width * sizeof(StrainReport<Real>) / sizeof(Real)};
  arguments_ = {.width = static_cast<int>(width),
                .tile_count = static_cast<Index>(tiles),
                .node_count = mesh.node_count(),
                .shared = shared,
                .edges = edges_.view(),
                .pinned_edge_count = pinned_edges,
                .face_begin = face_begin_.view(),
                .face_nodes = face_nodes_.view(),
                .face_points = face_points_.view(),
                .rest_edges = rest_edges_.view(),
                .rest_points = rest_points_.view(),
                .pairs = pairs_.view(),
                .rest_pairs = rest_pairs_.view(),
                .positions = {},
                .values = values_.view(),
                .reports = reports_.view()};
}

template <class Real>
std::size_t StrainMeter<Real>::bytes_each(const Mesh& mesh, bool own_rest_shapes) {
  const std::size_t edges = build_topology(mesh).edges.size(), points = strain_points_of(mesh),
                    pairs = most_pairs_of(mesh);
  return (edges + 2 * points + pairs + (own_rest_shapes ? edges + 4 * points + pair_numbers * pairs : 0)) *
             sizeof(Real) +
         sizeof(StrainReport<Real>);
}

template <class Real>
std::size_t StrainMeter<Real>::bytes_fixed(const Mesh& mesh) {
  const std::size_t edges = build_topology(mesh).edges.size();
  const std::size_t of_faces = mesh.face_nodes.size() + 2 * mesh.face_begin.size();
  return (2 * edges + of_faces + 4 * most_pairs_of(mesh)) * sizeof(Index) +
         (edges + 4 * strain_points_of(mesh) + pair_numbers * most_pairs_of(mesh)) * sizeof(Real) +
         10 * Arena::alignment;
}

template <class Real>
void StrainMeter<Real>::begin(const Queue& queue, ArrayView<const Real> positions,
                              ArrayView<Real> reports) const {
  MeasureStrains<Real> arguments = arguments_;
  arguments.positions = positions;
  arguments.reports = reports;
  step_kernels<Real>(device_->backend()).measure_strains(queue, arguments);
}

template <class Real>
std::vector<Strain> StrainMeter<Real>::measure(ArrayView<const Real> positions) {
  Downloads downloads(*device_);
  begin(positions, downloads);
  downloads.run();
  return end();
}

template <class Real>
void StrainMeter<Real>::begin(ArrayView<const Real> positions, Downloads& downloads) {
  begin(device_->queue(), positions, reports_.view());
  downloads.add(std::as_const(reports_).view(), staging_, at_);
}

template <class Real>
std::vector<Strain> StrainMeter<Real>::end() const {
  const std::size_t width = static_cast<std::size_t>(arguments_.width);
  std::vector<Strain> strains;
  for (std::size_t c = 0; c < garment_count_; ++c) {
    StrainReport<Real> report;
    for (std::size_t i = 0; i < report_size; ++i)
      reinterpret_cast<Real*>(&report)[i] = at_[(c / width * report_size + i) * width + c % width];
    strains.push_back(widened(report));
  }
  return strains;
}

template <class Real>
Strain StrainMeter<Real>::widened(const StrainReport<Real>& report) {
  const auto number = [](Real x) { return static_cast<double>(x); };
  return {.max = number(report.edge_max),
          .p95 = number(report.edge_p95),
          .mean = number(report.edge_mean),
          .stretch_max = number(report.stretch_max),
          .stretch_p95 = number(report.stretch_p95),
          .compression_max = number(report.compression_max),
          .thread_max = number(report.thread_max),
          .thread_p95 = number(report.thread_p95),
          .shear_max = number(report.shear_max),
          .shear_p95 = number(report.shear_p95),
          .pinned_max = number(report.pinned_max)};
}

template <class Real>
FieldView StrainMeter<Real>::view() {
  return field_view(*device_, reports_.view().data(), garment_count_,
                    static_cast<std::size_t>(arguments_.width), report_size, 1, report_size);
}

template <class Real>
std::size_t StrainMeter<Real>::memory_bytes() const {
  std::size_t bytes = 0;
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(edges_, face_begin_, face_nodes_, face_points_, pairs_, rest_edges_, rest_points_, rest_pairs_, values_,
      reports_);
  return bytes;
}

template class StrainMeter<float>;
template class StrainMeter<double>;

}  // namespace isocloth
