// Strains of edges and elements against singular values, side by side and in blocks.
#include <Eigen/Dense>

#include "engine/mesh/generators.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/rows/membrane.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/reference/measures.hpp"
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class Strains : public testing::Test {};
TYPED_TEST_SUITE(Strains, Precisions);

/// Tiles of positions of several states of one mesh; spare lanes repeat the last.
template <class Real>
std::vector<Real> tiled(const std::vector<std::vector<Vec3d>>& states, std::size_t width) {
  const std::size_t nodes = states.front().size(), tiles = (states.size() + width - 1) / width;
  std::vector<Real> values(tiles * width * 3 * nodes);
  for (std::size_t c = 0; c < tiles * width; ++c)
    for (std::size_t i = 0; i < nodes; ++i) {
      const Vec3d p = states[std::min(c, states.size() - 1)][i];
      const double xyz[3] = {p.x, p.y, p.z};
      for (std::size_t k = 0; k < 3; ++k)
        values[(c / width * 3 * nodes + 3 * i + k) * width + c % width] = static_cast<Real>(xyz[k]);
    }
  return values;
}

template <class Real>
std::vector<Strain> measured(const ExecutionOptions& options, const std::vector<const Garment*>& garments,
                             const std::vector<std::vector<Vec3d>>& states, std::size_t width) {
  const Device device(options);
  StrainMeter<Real> meter(device, garments, width);
  const Buffer<Real> positions(device, tiled<Real>(states, width));
  return meter.measure(positions.view());
}

void expect_same(const Strain& a, const Strain& b, const std::string& what) {
  for (const double Strain::*each :
       {&Strain::max, &Strain::p95, &Strain::mean, &Strain::stretch_max, &Strain::stretch_p95,
        &Strain::compression_max, &Strain::thread_max, &Strain::thread_p95, &Strain::shear_max,
        &Strain::shear_p95, &Strain::pinned_max})
    EXPECT_EQ(a.*each, b.*each) << what;
}

/// The least value that at most 5 % exceed.
double percentile_95(VectorXd values) {
  std::sort(values.begin(), values.end());
  return values[values.size() - 1 - values.size() / 20];
}

/// The larger strain of warp and weft of each pair of triangles: of a thread that is as long as the root of
/// the mean square of both, by their areas.
VectorXd thread_strains_of_pairs(const Garment& garment, const MatrixX3d& x) {
  const Mesh& mesh = garment.mesh;
  const Topology topology = build_topology(mesh);
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  std::vector<double> all;
  for (const TrianglePair& pair : all_pairs(mesh, topology, pinned_nodes(garment))) {
    Eigen::Array2d squares = Eigen::Array2d::Zero();
    double area = 0;
    for (int t = 0; t < 2; ++t) {
      const auto nodes = pair.triangle(t);
      Eigen::Matrix<double, 3, 2> rest, now;
      for (int i = 0; i < 2; ++i) {
        const Vec3d d = mesh.positions[nodes[static_cast<std::size_t>(i + 1)]] - mesh.positions[nodes[0]];
        rest.col(i) << d.x, d.y, d.z;
        now.col(i) = (x.row(nodes[static_cast<std::size_t>(i + 1)]) - x.row(nodes[0])).transpose();
      }
      const Vec3d& warp = warps[static_cast<std::size_t>(pair.faces[static_cast<std::size_t>(t)])];
      const Eigen::Vector3d normal = rest.col(0).cross(rest.col(1));
      Eigen::Matrix<double, 3, 2> threads;
      threads.col(0) << warp.x, warp.y, warp.z;
      threads.col(0) -= normal * (normal.dot(threads.col(0)) / normal.squaredNorm());
      threads.col(0).normalize();
      threads.col(1) = normal.normalized().cross(threads.col(0));
      const Eigen::Matrix<double, 3, 2> f = now * rest.colPivHouseholderQr().solve(threads);
      squares += normal.norm() * f.colwise().squaredNorm().transpose().array();
      area += normal.norm();
    }
    all.push_back(((squares / area).sqrt() - 1).abs().maxCoeff());
  }
  return Eigen::Map<const VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

TYPED_TEST(Strains, AreThoseOfTheDeformationGradient) {
  for (const std::string& backend : backends()) {
    for (const KernelCase& at : kernel_cases()) {
      const std::string what = at.name + " on " + backend;
      const Mesh& mesh = at.garment.mesh;
      const MatrixX3d x = reference::to_matrix(at.positions);
      const Strain found =
          measured<TypeParam>({.backend = backend, .threads = 1}, {&at.garment}, {at.positions}, 1).front();
      const VectorXd edges = reference::edge_strains(mesh, x);
      const Eigen::MatrixX2d stretches = reference::principal_stretches(mesh, x);
      const VectorXd points = (stretches.array() - 1).abs().rowwise().maxCoeff();
      // Lengths are made of differences of rounded coordinates.
      const auto topology = build_topology(mesh);
      double shortest = HUGE_VAL;
      for (const auto& [a, b] : topology.edges)
        shortest = std::min(shortest, norm(mesh.positions[a] - mesh.positions[b]));
      const double size = 1 + std::max(largest(edges), stretches.maxCoeff());
      const double u = rounding<TypeParam>(25) * size * size * (1 + largest(flat(x)) / shortest);
      EXPECT_NEAR(found.max, largest(edges), u) << what;
      EXPECT_NEAR(found.mean, edges.mean(), u) << what;
      EXPECT_NEAR(found.stretch_max, std::max(0.0, stretches.col(0).maxCoeff() - 1), u) << what;
      EXPECT_NEAR(found.compression_max, std::max(0.0, 1 - stretches.col(1).minCoeff()), u) << what;
      EXPECT_GE(found.p95, percentile_95(edges) - u) << what;
      EXPECT_LE(found.p95, percentile_95(edges) + found.max / 4096 + u) << what;
      EXPECT_GE(found.stretch_p95, percentile_95(points) - u) << what;
      EXPECT_LE(found.stretch_p95, percentile_95(points) + largest(points) / 4096 + u) << what;
      const Eigen::MatrixX3d threads = reference::thread_stretches(mesh, x);
      const VectorXd along = thread_strains_of_pairs(at.garment, x);
      const VectorXd shear = threads.col(2).cwiseAbs();
      const double of_sines = u / std::pow(threads.leftCols<2>().minCoeff(), 2);
      EXPECT_NEAR(found.thread_max, largest(along), u) << what;
      EXPECT_GE(found.thread_p95, percentile_95(along) - u) << what;
      EXPECT_LE(found.thread_p95, percentile_95(along) + largest(along) / 4096 + u) << what;
      EXPECT_NEAR(found.shear_max, largest(shear), of_sines) << what;
      EXPECT_GE(found.shear_p95, percentile_95(shear) - of_sines) << what;
      EXPECT_LE(found.shear_p95, percentile_95(shear) + largest(shear) / 4096 + of_sines) << what;
    }
  }
}

/// Sheared threads keep their length: what a principal stretch of tens of per cent says of them is shear.
TYPED_TEST(Strains, TellShearFromThreads) {
  Garment garment;
  garment.mesh = quad_grid(4, 3, 0.3, 0.2);
  std::vector<Vec3d> state = garment.mesh.positions;
  for (Vec3d& p : state) p = {1.01 * p.x + 0.6 * p.y, 0.8 * p.y, 0};
  const Strain found = measured<TypeParam>({.threads = 1}, {&garment}, {state}, 1).front();
  const double u = rounding<TypeParam>(25);
  EXPECT_NEAR(found.thread_max, 0.01, u);
  EXPECT_NEAR(found.thread_p95, 0.01, u);
  EXPECT_NEAR(found.shear_max, 0.6, u);
  EXPECT_NEAR(found.shear_p95, 0.6, u);
  EXPECT_GT(found.stretch_max, 0.25);
}

TYPED_TEST(Strains, OfPinnedEdgesAreKnownApart) {
  Garment garment;
  garment.mesh = quad_grid(4, 3, 0.3, 0.2);
  garment.pins.push_back({"pair", {5, 6}, FixedMotion{}});
  garment.pins.push_back({"alone", {0}, FixedMotion{}});
  std::vector<Vec3d> state = garment.mesh.positions;
  for (Vec3d& p : state) p.y *= 1.5;
  EXPECT_LE(measured<TypeParam>({.threads = 1}, {&garment}, {state}, 1).front().pinned_max,
            rounding<TypeParam>(9));
  state[6].x += 0.01;
  EXPECT_NEAR(measured<TypeParam>({.threads = 1}, {&garment}, {state}, 1).front().pinned_max, 1.1 * 1.1 - 1,
              rounding<TypeParam>(9));
}

TYPED_TEST(Strains, OfCollapsedAndBlownUpElementsAreFinite) {
  Garment garment;
  garment.mesh = quad_grid(3, 3, 0.3, 0.3);
  const std::vector<Vec3d> point(9, Vec3d{0.1, 0.2, 0.3});
  const Strain collapsed = measured<TypeParam>({.threads = 1}, {&garment}, {point}, 1).front();
  EXPECT_EQ(collapsed.max, 1);
  EXPECT_EQ(collapsed.compression_max, 1);
  EXPECT_EQ(collapsed.stretch_max, 0);
  EXPECT_EQ(collapsed.stretch_p95, 1);
  EXPECT_EQ(collapsed.thread_max, 1);
  EXPECT_EQ(collapsed.shear_max, 0);
  std::vector<Vec3d> far = garment.mesh.positions;
  for (Vec3d& p : far) p = 1e9 * p;
  EXPECT_NEAR(measured<TypeParam>({.threads = 1}, {&garment}, {far}, 1).front().stretch_max / 1e9, 1, 1e-5);
}

TYPED_TEST(Strains, DependNeitherOnOtherClothsNorOnTheBlock) {
  const KernelCase& at = kernel_cases().front();
  Garment other = at.garment;
  for (Vec3d& p : other.mesh.positions) p = {1.25 * p.x, p.y, p.z};
  const std::size_t width =
      static_cast<std::size_t>(step_kernels<TypeParam>(Device({.threads = 1}).backend()).lane_width());
  ASSERT_GT(width, 1u);
  std::vector<std::vector<Vec3d>> states;
  std::vector<const Garment*> alike, different;
  for (std::size_t c = 0; c < 2 * width - 1; ++c) {
    states.push_back(at.positions);
    for (Vec3d& p : states.back()) p.y *= 1 + 0.03125 * static_cast<double>(c);
    alike.push_back(&at.garment);
    different.push_back(c % 3 == 1 ? &other : &at.garment);
  }
  for (const auto& garments : {alike, different}) {
    const std::vector<Strain> together = measured<TypeParam>({.threads = 2}, garments, states, width);
    ASSERT_EQ(together.size(), states.size());
    for (std::size_t c = 0; c < states.size(); ++c)
      expect_same(together[c], measured<TypeParam>({.threads = 1}, {garments[c]}, {states[c]}, 1).front(),
                  "cloth " + std::to_string(c));
  }
  const Strain alone = measured<TypeParam>({.threads = 1}, {&at.garment}, {at.positions}, 1).front();
  for (const int block : {2, 7, 32})
    expect_same(measured<TypeParam>({.threads = 1, .emulated_block = block}, {&at.garment}, {at.positions}, 1)
                    .front(),
                alone, "block of " + std::to_string(block));
}

}  // namespace
}  // namespace isocloth
