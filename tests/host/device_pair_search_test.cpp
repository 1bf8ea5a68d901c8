// Pairs that a device finds: those of the host.
#include "host/cloth/device_pair_search.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

template <std::size_t count>
Buffer<Index> flattened(const Device& device, const std::vector<std::array<Index, count>>& all) {
  std::vector<Index> numbers;
  for (const auto& each : all) numbers.insert(numbers.end(), each.begin(), each.end());
  return {device, numbers};
}

std::vector<FeaturePair> sorted(std::vector<FeaturePair> pairs) {
  std::ranges::sort(pairs, {},
                    [](const FeaturePair& p) { return std::tuple(p.is_edges, p.first, p.second); });
  return pairs;
}

/// Three surfaces, the first sewn to itself, the second driven and of every world, on shaken ways; in the
/// last round a node has no place.
void expect_pairs_of_the_host(const std::string& backend) {
  const Device device({.backend = backend});
  Mesh sheet = quad_grid(12, 11, 1, 1);
  sheet.stitches = {{.a = 0, .b = 40, .length = 0.1}, {.a = 13, .b = 90, .length = 0.1}};
  const Mesh round = disc(4, 11, 0.5, FaceKind::triangles), single = disc(1, 3, 0.2, FaceKind::triangles);
  PairSearch on_host({&sheet, &round, &single}, {0, PairSearch::every_world, 1}, {false, true, false});
  const SurfaceFeatures& f = on_host.features();
  const Buffer<Index> triangles = flattened(device, f.triangles), sides = flattened(device, f.sides),
                      edges = flattened(device, f.edges), garments{device, f.node_surfaces};
  const ClothFeatures features{triangles.view(), sides.view(), edges.view(), garments.view()};
  DevicePairSearch on_device(device, on_host);

  Random random(5);
  const auto shaken = [&](std::vector<Vec3d> positions, double size) {
    for (Vec3d& p : positions)
      p += size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    return positions;
  };
  std::vector<Vec3d> rest;
  for (const Mesh* const mesh : std::initializer_list<const Mesh*>{&sheet, &round, &single})
    rest.insert(rest.end(), mesh->positions.begin(), mesh->positions.end());
  const std::vector<double> margins{0.01, 0.02, 0.015};
  Buffer<FeaturePair> pairs;
  std::vector<FeaturePair> found, expected;
  constexpr int rounds = 3;
  for (int r = 0; r < rounds; ++r)
    for (const auto times : {PairSearch::Times::own, PairSearch::Times::common}) {
      SCOPED_TRACE(testing::Message() << backend << ", round " << r << ", times " << static_cast<int>(times));
      const std::vector<Vec3d> from = shaken(rest, 0.1);
      std::vector<Vec3d> to = shaken(from, 0.05);
      if (r == rounds - 1) to[17].y = std::numeric_limits<double>::quiet_NaN();
      ASSERT_TRUE(on_host.find(from, to, margins, 1'000'000, expected, PairSearch::alone(), times));
      ASSERT_GT(expected.size(), 500u);
      ASSERT_TRUE(on_device.find(features, {from, to, margins, times}, expected.size(), pairs, found));
      EXPECT_TRUE(std::ranges::is_sorted(found, {}, &FeaturePair::is_edges));
      EXPECT_EQ(sorted(found), sorted(expected));
      ASSERT_GE(pairs.size(), found.size() + packet_padding);
      std::vector<FeaturePair> there = pairs.download();
      there.resize(found.size());
      EXPECT_EQ(there, found);
      EXPECT_FALSE(on_device.find(features, {from, to, margins, times}, expected.size() - 1, pairs, found));
      EXPECT_EQ(found, there);
    }
}

TEST(DevicePairSearch, FindsThePairsOfTheHost) { expect_pairs_of_the_host("cpu"); }
using GpuPairSearch = GpuCase;
TEST_F(GpuPairSearch, FindsThePairsOfTheHost) { expect_pairs_of_the_host("cuda"); }

/// Where all is near all, threads stop counting soon after there are too many.
TEST(DevicePairSearch, GivesUpWhereAllIsNearAll) {
  const Device device({.threads = 2});
  const Mesh sheet = quad_grid(60, 60, 1, 1);
  PairSearch on_host({&sheet});
  const SurfaceFeatures& f = on_host.features();
  const Buffer<Index> triangles = flattened(device, f.triangles), sides = flattened(device, f.sides),
                      edges = flattened(device, f.edges), garments{device, f.node_surfaces};
  DevicePairSearch on_device(device, on_host);
  const std::vector<double> margins{2.0};
  Buffer<FeaturePair> pairs;
  std::vector<FeaturePair> found;
  EXPECT_FALSE(on_device.find({triangles.view(), sides.view(), edges.view(), garments.view()},
                              {sheet.positions, sheet.positions, margins}, 100'000, pairs, found));
  EXPECT_EQ(pairs.size(), 0u);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace isocloth
