// Pairs of features that may touch: those that a device finds are those of the host.
#include "host/cloth_collision/cloth_pairs.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "host/cloth_collision/device_pair_search.hpp"
#include "tests/host/cloth_sheets.hpp"
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

/// Of none, one and many values; every third is flagged and touches.
void expect_selections(const std::string& backend) {
  const Device device({.backend = backend});
  Selections selections(device);
  for (const std::size_t count : {0u, 1u, 5000u, 2u}) {
    SCOPED_TRACE(testing::Message() << backend << ", " << count);
    std::vector<Index> values(count), sums(count), places;
    std::vector<std::uint8_t> flags(count);
    std::vector<FoundContact> found(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<Index>(i % 7);
      if (i > 0) sums[i] = sums[i - 1] + values[i - 1];
      found[i].pair = static_cast<Index>(i);
      found[i].gap = static_cast<double>(i);
      if (i % 3 != 0) continue;
      flags[i] = 1;
      found[i].status = i % 2 == 0 ? PairStatus::near_by : PairStatus::passing;
      places.push_back(static_cast<Index>(i));
    }
    const Buffer<Index> device_values(device, values);
    const Buffer<std::uint8_t> device_flags(device, flags);
    const Buffer<FoundContact> device_found(device, found);
    Buffer<Index> device_sums(device, count), device_places(device, count);
    Buffer<FoundContact> selected(device, count);
    selections.running_sums(device_values.view(), device_sums.view());
    EXPECT_EQ(device_sums.download(), sums);
    ASSERT_EQ(selections.list_flagged(device_flags.view(), device_places.view()), places.size());
    std::vector<Index> listed = device_places.download();
    listed.resize(places.size());
    EXPECT_EQ(listed, places);
    ASSERT_EQ(selections.select_contacts(device_found.view(), selected.view()), places.size());
    const std::vector<FoundContact> touching = selected.download();
    for (std::size_t k = 0; k < places.size(); ++k) {
      EXPECT_EQ(touching[k].pair, places[k]);
      EXPECT_EQ(touching[k].gap, found[static_cast<std::size_t>(places[k])].gap);
    }
  }
}

TEST(Selections, TakeWhatIsFlagged) { expect_selections("cpu"); }
using GpuSelections = GpuCase;
TEST_F(GpuSelections, TakeWhatIsFlagged) { expect_selections("cuda"); }

/// Cloth whose contacts are found, and no more.
struct Pairs : ClothPairs {
  using ClothPairs::begin_substep;
  using ClothPairs::ccd_limits;
  Pairs(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments)
      : ClothPairs(device, scene, garments) {}
  bool touch(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to) {
    host_from_ = from;
    host_to_ = to;
    from_.upload(from);
    to_.upload(to);
    begin_substep();
    detect_contacts();
    return exist() || may_penetrate();
  }
};

// What holds cloth back looks for pairs of its own, in places that are not relative to the middle.
TEST(ClothPairs, FindWhatStraysAfterClothWasHeldBack) {
  const Device device({.threads = 1});
  // The lowest is near the second, so that there is room for some pairs more.
  const Scene scene = cloth_scene({sheet("lowest", 9, 0.3, {5, 0, -0.003}), sheet("lower", 9, 0.3, {5, 0, 0}),
                                   sheet("upper", 9, 0.3, {5, 0, 0.02})});
  Pairs pairs(device, scene, {&scene.garments[0], &scene.garments[1], &scene.garments[2]});
  std::vector<Vec3d> rest;
  for (const Garment& garment : scene.garments)
    rest.insert(rest.end(), garment.initial_positions.begin(), garment.initial_positions.end());
  ASSERT_FALSE(pairs.touch(rest, rest));
  std::vector<Vec3d> velocities(rest.size());
  pairs.ccd_limits(rest, std::vector<double>(rest.size(), 1), velocities);
  std::vector<Vec3d> to = rest;
  // A dent, so that the triangles at its deepest node have nodes_outside_bounds alone.
  for (const std::size_t row : {3u, 4u, 5u})
    for (const std::size_t column : {3u, 4u, 5u})
      to[162 + 9 * row + column].z = row == 4 && column == 4 ? 0.0005 : 0.015;
  EXPECT_TRUE(pairs.touch(rest, to));
}

}  // namespace
}  // namespace isocloth
