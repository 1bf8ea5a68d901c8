#include "host/reference/rows.hpp"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/material/membrane_laws.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/spring_pairs.hpp"
#include "host/reference/membrane_rows.hpp"
#include "host/reference/row_builder.hpp"

namespace isocloth::reference {
namespace {

/// Derivatives along warp and weft at one Gauss point, weighted by N_k dA / m_k.
struct FrameSample {
  double weight;
  Form warp, weft;
};

/// Everything isometry rows are made from.
class Sampler {
 public:
  Sampler(const Mesh& mesh, const Topology& topology)
      : mesh_(mesh),
        topology_(topology),
        points_(surface_points(mesh)),
        areas_(lumped_areas(mesh, points_)),
        faces_(corner_faces(mesh)),
        warps_(material_warp_directions(mesh, topology)) {}

  bool touches_free_node(Index node, const std::vector<char>& is_free) const {
    for (const Index corner : corners_of(node)) {
      const auto nodes = mesh_.face(faces_[corner]);
      if (std::any_of(nodes.begin(), nodes.end(), [&](Index other) { return is_free[other] != 0; }))
        return true;
    }
    return false;
  }

  std::vector<FrameSample> samples(Index node) const {
    std::vector<FrameSample> samples;
    for (const Index corner : corners_of(node)) {
      const Index face = faces_[corner];
      const auto nodes = mesh_.face(face);
      const std::vector<Index> stencil(nodes.begin(), nodes.end());
      const Eigen::Vector3d direction(warps_[corner].x, warps_[corner].y, warps_[corner].z);
      for (const SurfacePoint& point : points_[face]) {
        const Eigen::Vector3d warp = (direction - point.normal.dot(direction) * point.normal).normalized();
        const Eigen::Vector3d weft = point.normal.cross(warp);
        const double weight = point.values[corner - mesh_.face_begin[face]] * point.area / areas_[node];
        samples.push_back({weight, {stencil, point.gradients * warp}, {stencil, point.gradients * weft}});
      }
    }
    return samples;
  }

 private:
  ArrayView<const Index> corners_of(Index node) const {
    const Index begin = topology_.node_corner_begin[node], end = topology_.node_corner_begin[node + 1];
    return {topology_.node_corners.data() + begin, static_cast<std::size_t>(end - begin)};
  }

  const Mesh& mesh_;
  const Topology& topology_;
  std::vector<std::vector<SurfacePoint>> points_;
  VectorXd areas_;
  std::vector<Index> faces_;
  std::vector<Vec3d> warps_;
};

void add_row(RowBuilder& builder, const std::vector<FrameSample>& samples, Form FrameSample::*left,
             Form FrameSample::*right, double rest, double scale) {
  builder.add_row(rest / scale);
  for (const FrameSample& sample : samples)
    builder.add_sample(sample.weight / scale, sample.*left, sample.*right);
}

void add_node_rows(RowBuilder& builder, const std::vector<FrameSample>& samples, const MatrixX3d& rest,
                   bool shear_only) {
  double rest_e = 0, rest_f = 0, rest_g = 0;
  for (const FrameSample& sample : samples) {
    const Eigen::Vector3d along_warp = sample.warp.apply(rest), along_weft = sample.weft.apply(rest);
    rest_e += sample.weight * along_warp.squaredNorm();
    rest_f += sample.weight * along_warp.dot(along_weft);
    rest_g += sample.weight * along_weft.squaredNorm();
  }
  // F0 is often zero: its row is scaled by the lengths it couples.
  const double scale_f = std::sqrt(rest_e * rest_g);
  if (!shear_only) add_row(builder, samples, &FrameSample::warp, &FrameSample::warp, rest_e, rest_e);
  add_row(builder, samples, &FrameSample::warp, &FrameSample::weft, rest_f, scale_f);
  if (!shear_only) add_row(builder, samples, &FrameSample::weft, &FrameSample::weft, rest_g, rest_g);
}

/// K of the lengths of edges held by springs: a quarter of the fabric's stiffness times the area that belongs
/// to the edge, half of each quad and a third of each triangle beside it.
VectorXd edge_stiffness(const Mesh& mesh, const std::vector<std::array<Index, 2>>& edges, double stiffness) {
  VectorXd areas = face_areas(mesh, to_matrix(mesh.positions));
  for (std::size_t f = 0; f < mesh.face_factors.size(); ++f)
    areas[static_cast<Eigen::Index>(f)] *= mesh.face_factors[f].stretch;
  std::map<std::array<Index, 2>, double> beside;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index i = 0; i < mesh.face_size(f); ++i) {
      const Index a = mesh.face(f)[i], b = mesh.face(f)[(i + 1) % mesh.face_size(f)];
      beside[{std::min(a, b), std::max(a, b)}] += areas[f] / (mesh.face_size(f) == 4 ? 2 : 3);
    }
  VectorXd result(static_cast<Eigen::Index>(edges.size()));
  for (std::size_t i = 0; i < edges.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = stiffness / 4 * beside.at(edges[i]);
  return result;
}

/// What springs are made of: K of each pair of nodes, and the law that it has.
struct SpringOfPair {
  double stiffness = 0;
  Index law = RowLaw::shear;
};
using SpringsOfPairs = std::map<std::array<Index, 2>, SpringOfPair>;

/// Springs of edges and diagonals. The faces beside a spring give it their area, shared with the others of
/// theirs that have the same law: threads k A / 4, shear G A / sin^2(2 a).
SpringsOfPairs springs_of_pairs(const Mesh& mesh, const Topology& topology, const Fabric& fabric) {
  const VectorXd areas = face_areas(mesh, to_matrix(mesh.positions));
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  const auto vector = [](const Vec3d& v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  std::map<std::array<Index, 2>, std::vector<double>> cosines;  // squared, of each face beside an edge
  std::map<std::array<Index, 2>, bool> beside_quad;
  std::vector<std::vector<std::array<Index, 2>>> pairs(mesh.face_count());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const auto size = static_cast<Index>(nodes.size());
    for (Index i = 0; i < size; ++i)
      for (Index j = i + 1; j < size; ++j) {
        const std::array<Index, 2> pair{std::min(nodes[i], nodes[j]), std::max(nodes[i], nodes[j])};
        const Eigen::Vector3d way =
            (vector(mesh.positions[pair[1]]) - vector(mesh.positions[pair[0]])).normalized();
        const double cosine = way.dot(vector(warps[f]));
        cosines[pair].push_back(cosine * cosine);
        beside_quad[pair] |= size == 4;
        pairs[f].push_back(pair);
      }
  }
  const auto mean = [&](const std::array<Index, 2>& pair) {
    const std::vector<double>& all = cosines.at(pair);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  SpringsOfPairs springs;
  for (const auto& [pair, is_beside] : beside_quad) {
    const double degrees = std::acos(std::sqrt(std::min(1.0, mean(pair)))) * 180 / M_PI;
    const bool is_edge = std::binary_search(topology.edges.begin(), topology.edges.end(), pair);
    const double reach = is_beside ? 45 : 22.5;
    if (is_edge)
      springs[pair].law = degrees <= reach        ? RowLaw::warp
                          : degrees >= 90 - reach ? RowLaw::weft
                                                  : RowLaw::shear;
    else
      springs[pair].law = RowLaw::shear;
  }
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const auto& pair : pairs[f]) {
      SpringOfPair& own = springs.at(pair);
      const auto sharing = std::ranges::count_if(
          pairs[f], [&](const auto& other) { return springs.at(other).law == own.law; });
      const double area = areas[f] / static_cast<double>(sharing),
                   sine = std::sin(2 * std::acos(std::sqrt(mean(pair))));
      const FabricFactors factors =
          mesh.face_factors.empty() ? FabricFactors{} : mesh.face_factors[static_cast<std::size_t>(f)];
      own.stiffness += own.law == RowLaw::warp ? area * factors.stretch * fabric.stretch_stiffness / 4
                       : own.law == RowLaw::weft
                           ? area * factors.weft_stretch * fabric.weft_stiffness() / 4
                           : area * factors.shear * fabric.shear_stiffness / std::max(0.1, sine * sine);
    }
  return springs;
}

}  // namespace

QuadraticRows isometry_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free) {
  const Sampler sampler(mesh, topology);
  const MatrixX3d rest = to_matrix(mesh.positions);
  RowBuilder builder;
  QuadraticRows rows;
  for (const Index node : topology.interior_nodes) {
    if (!sampler.touches_free_node(node, is_free)) continue;
    add_node_rows(builder, sampler.samples(node), rest, false);
    rows.interior_nodes.push_back(node);
  }
  for (const Index node : topology.corner_nodes) {
    if (!sampler.touches_free_node(node, is_free)) continue;
    add_node_rows(builder, sampler.samples(node), rest, true);
    rows.corner_nodes.push_back(node);
  }
  add_edge_rows(builder, topology.boundary_edges, rest, is_free, rows);
  builder.finish(mesh.node_count(), rows);
  return rows;
}

QuadraticRows edge_rows(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_free,
                        int times) {
  RowBuilder builder;
  QuadraticRows rows;
  for (int i = 0; i < times; ++i)
    add_edge_rows(builder, topology.edges, to_matrix(mesh.positions), is_free, rows);
  builder.finish(mesh.node_count(), rows);
  return rows;
}

namespace {

/// Rows of springs, with their stiffness and laws.
void add_springs(const Mesh& mesh, const Topology& topology, const Fabric& fabric,
                 const std::vector<char>& is_free, GarmentRows& result) {
  const bool has_flexion = fabric.bend_spring.exists(), has_limit = fabric.strain_limit > 0;
  RowBuilder builder;
  const MatrixX3d rest = to_matrix(mesh.positions);
  add_edge_rows(builder, topology.edges, rest, is_free, result.rows);
  add_edge_rows(builder, shear_pairs(mesh, 2), rest, is_free, result.rows);
  const std::size_t threads = result.rows.edges.size();
  if (has_flexion) add_edge_rows(builder, bend_pairs(mesh, topology), rest, is_free, result.rows);
  const std::size_t springs = result.rows.edges.size();
  if (has_limit) add_edge_rows(builder, topology.edges, rest, is_free, result.rows);
  builder.finish(mesh.node_count(), result.rows);
  const std::size_t count = result.rows.edges.size();
  const VectorXd of_limits = edge_stiffness(
      mesh, {result.rows.edges.begin() + static_cast<std::ptrdiff_t>(springs), result.rows.edges.end()},
      fabric.stretch_stiffness);
  result.stiffness = result.bounds = VectorXd::Zero(static_cast<Eigen::Index>(count));
  result.stiffness.tail(of_limits.size()) = of_limits;
  result.bounds.tail(of_limits.size()).setConstant(fabric.strain_limit * (2 + fabric.strain_limit));
  result.laws.assign(count, -1);
  const SpringsOfPairs all = springs_of_pairs(mesh, topology, fabric);
  for (std::size_t i = 0; i < springs; ++i) {
    const auto& [a, b] = result.rows.edges[i];
    const auto row = static_cast<Eigen::Index>(i);
    if (i < threads) {
      result.stiffness[row] = all.at({a, b}).stiffness;
      result.laws[i] = all.at({a, b}).law;
    } else {
      result.stiffness[row] = fabric.bend_spring.stiffness * (rest.row(a) - rest.row(b)).squaredNorm() / 4;
      result.laws[i] = RowLaw::flexion;
    }
  }
}

/// One below the other.
SparseMatrix stacked(const SparseMatrix& above, const SparseMatrix& below, Eigen::Index first_column,
                     Eigen::Index columns) {
  Triplets entries;
  for (const auto& [matrix, row, column] :
       {std::tuple{&above, Eigen::Index{0}, Eigen::Index{0}}, {&below, above.rows(), first_column}})
    for (int outer = 0; outer < matrix->outerSize(); ++outer)
      for (SparseMatrix::InnerIterator entry(*matrix, outer); entry; ++entry)
        entries.emplace_back(row + entry.row(), column + entry.col(), entry.value());
  SparseMatrix result(above.rows() + below.rows(), columns);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Rows of a builder with these K, the bound c, 0: none, and a law, before the row `at`, or after the last.
void insert_rows(const RowBuilder& builder, Index node_count, const std::vector<double>& stiffness,
                 double bound, Index law, Eigen::Index at, GarmentRows& result) {
  QuadraticRows own;
  builder.finish(node_count, own);
  QuadraticRows& all = result.rows;
  const Eigen::Index before = all.row_count(), count = own.row_count(), samples = all.left.rows();
  all.left = stacked(all.left, own.left, 0, node_count);
  all.right = stacked(all.right, own.right, 0, node_count);
  Eigen::PermutationMatrix<Eigen::Dynamic> order(before + count);
  for (Eigen::Index row = 0; row < before + count; ++row)
    order.indices()[row] = static_cast<int>(row < at ? row : row < before ? row + count : at + row - before);
  all.weights = order * stacked(all.weights, own.weights, samples, samples + own.left.rows());
  const auto insert = [&](VectorXd& values, const VectorXd& more) {
    VectorXd both(before + count);
    both << values, more;
    values = order * both;
  };
  insert(all.rest, VectorXd::Ones(count));
  insert(result.stiffness, Eigen::Map<const VectorXd>(stiffness.data(), count));
  insert(result.bounds, VectorXd::Constant(count, bound));
  result.laws.resize(static_cast<std::size_t>(before), -1);
  result.laws.insert(result.laws.begin() + at, static_cast<std::size_t>(count), law);
  if (at == before) result.appended_count += count;
}

/// Rows |p_a - p_b|^2 / l0^2 - 1 of bands, K = k l0 / 4, after all others.
void append_bands(const Mesh& mesh, const std::vector<char>& is_free, GarmentRows& result) {
  RowBuilder builder;
  std::vector<double> stiffness;
  for (const Band& band : mesh.bands) {
    if (!is_free[band.a] && !is_free[band.b]) continue;
    const Form difference{{band.a, band.b}, Eigen::Vector2d(1, -1)};
    builder.add_row(1);
    builder.add_sample(1 / (band.length * band.length), difference, difference);
    stiffness.push_back(band.stiffness * band.length / 4);
  }
  insert_rows(builder, mesh.node_count(), stiffness, 0, RowLaw::band, result.rows.row_count(), result);
}

/// Rows d . F^T F d - 1 <= s (2 + s) of 2 x 2 Gauss points, in six directions d of the rest shape, before
/// those of edges.
void insert_principal_limits(const Mesh& mesh, const Topology& topology, const Fabric& fabric,
                             const std::vector<char>& is_free, GarmentRows& result) {
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  const auto points = surface_points(mesh, Quadrature::strain);
  RowBuilder builder;
  std::vector<double> stiffness;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    if (!has_free_corner(mesh, f, is_free)) continue;
    const auto nodes = mesh.face(f);
    const std::vector<Index> stencil(nodes.begin(), nodes.end());
    const Eigen::Vector3d warp(warps[f].x, warps[f].y, warps[f].z);
    for (const SurfacePoint& point : points[f])
      for (int k = 0; k < 6; ++k) {
        const Eigen::Vector3d in_plane = (warp - point.normal.dot(warp) * point.normal).normalized();
        const Eigen::Vector3d d = Eigen::AngleAxisd(k * M_PI / 6, point.normal) * in_plane;
        const Form stretch{stencil, point.gradients * d};
        builder.add_row(1);
        builder.add_sample(1, stretch, stretch);
        stiffness.push_back(
            (mesh.face_factors.empty() ? 1 : mesh.face_factors[static_cast<std::size_t>(f)].stretch) *
            fabric.stretch_stiffness * point.area / 4);
      }
  }
  const double s = fabric.principal_strain_limit;
  insert_rows(builder, mesh.node_count(), stiffness, s * (2 + s), -1,
              result.rows.row_count() - std::ssize(result.rows.edges), result);
}

/// Rows of angles, after all others.
void append_hinges(const HingeRows& hinges, Index law, const Mesh& mesh, const Fabric& fabric,
                   GarmentRows& result) {
  RowBuilder builder;
  for (Eigen::Index i = 0; i < hinges.count(); ++i) builder.add_row(0);
  const double kappa = fabric.hinge_stiffness();
  const VectorXd k = (law == RowLaw::fold && !(kappa > 0) ? 1 : kappa) * hinges.stiffness();
  insert_rows(builder, mesh.node_count(), {k.begin(), k.end()}, 0, law, result.rows.row_count(), result);
  result.rows.rest.tail(hinges.count()).setZero();
  result.hinges.append(hinges);
}

/// Rows of the recipe and the fabric.
GarmentRows recipe_rows(const Recipe& recipe, const Mesh& mesh, const Topology& topology,
                        const Fabric& fabric, const std::vector<char>& is_free) {
  const double s = fabric.strain_limit;
  GarmentRows result;
  result.measure = recipe.strain;
  const RowFamily family = recipe.rows.front();
  const StressCurves& curves = fabric.curves;
  if (curves.exist() || (has_hinges(recipe, fabric) && curves.bend.exists()) ||
      !kind_of(recipe.strain).is_linear)
    result.curves = {
        thread_law(curves.warp, fabric.stretch_stiffness, recipe.strain),
        shear_law(curves.shear, fabric.shear_stiffness),
        thread_law(curves.weft.exists() ? curves.weft : curves.warp, fabric.weft_stiffness(), recipe.strain),
        thread_law({}, 1), shear_law(curves.bend, fabric.hinge_stiffness())};
  if (recipe.has_springs()) {
    add_springs(mesh, topology, fabric, is_free, result);
    return result;
  }
  if (family == RowFamily::membrane)
    result.rows = membrane_rows(mesh, topology, is_free, fabric.poisson_coupling(), s > 0);
  else if (recipe.holds_edges())
    result.rows = edge_rows(mesh, topology, is_free, s > 0 ? 2 : 1);
  else
    result.rows = isometry_rows(mesh, topology, is_free);
  result.stiffness = result.bounds = VectorXd::Zero(result.rows.row_count());
  if (recipe.is_elastic()) {
    const VectorXd of_edges = edge_stiffness(mesh, result.rows.edges, fabric.stretch_stiffness);
    result.stiffness.tail(of_edges.size()) = of_edges;
  }
  if (family == RowFamily::membrane) {
    const auto pairs = paired_triangles(mesh, topology, is_free);
    const VectorXd of_pairs = membrane_stiffness(pairs, fabric);
    if (recipe.strain == StrainMeasure::corotational) {
      std::vector<double> shares;
      for (const auto& [first, second] : pairs) shares.push_back(first.area / (first.area + second.area));
      result.strain = {shares, fabric.poisson_coupling()};
    }
    result.pair_row_count = of_pairs.size();
    result.stiffness.head(of_pairs.size()) = of_pairs;
    result.laws.assign(static_cast<std::size_t>(result.rows.row_count()), -1);
    constexpr Index laws[] = {RowLaw::warp, RowLaw::shear,     RowLaw::weft, RowLaw::difference,
                              -1,           RowLaw::difference};
    for (std::size_t row = 0; row < static_cast<std::size_t>(of_pairs.size()); ++row)
      result.laws[row] = laws[row % 6];
  }
  if (s > 0) {
    const auto edges = static_cast<Eigen::Index>(result.rows.edges.size());
    result.bounds.tail(family == RowFamily::membrane ? edges : edges / 2).setConstant(s * (2 + s));
  }
  return result;
}

}  // namespace

GarmentRows garment_rows(const Recipe& recipe, const Mesh& mesh, const Topology& topology,
                         const Fabric& fabric, const std::vector<char>& is_free) {
  GarmentRows result = recipe_rows(recipe, mesh, topology, fabric, is_free);
  if (fabric.principal_strain_limit > 0) insert_principal_limits(mesh, topology, fabric, is_free, result);
  if (!mesh.bands.empty()) append_bands(mesh, is_free, result);
  if (has_hinges(recipe, fabric)) append_hinges({mesh, is_free}, RowLaw::bend, mesh, fabric, result);
  if (has_large_angles(fabric))
    append_hinges({mesh, is_free, topology, fabric.bending_ratio()}, RowLaw::large_angle, mesh, fabric,
                  result);
  if (!mesh.folds.empty())
    append_hinges(HingeRows::of_folds(mesh, is_free, fabric.hinge_stiffness()), RowLaw::fold, mesh, fabric,
                  result);
  return result;
}

}  // namespace isocloth::reference
