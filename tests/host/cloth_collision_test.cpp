// The stages from surfaces to contacts, each by itself.
#include "host/cloth_collision/cloth_collision.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/surfaces.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"
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
  Uploads uploads(device);
  Downloads downloads(device);
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
      ASSERT_TRUE(on_device.find(features, {from, to, margins, times}, expected.size(), pairs, found, uploads,
                                 downloads));
      downloads.run();
      EXPECT_TRUE(std::ranges::is_sorted(found, {}, &FeaturePair::is_edges));
      EXPECT_EQ(sorted(found), sorted(expected));
      ASSERT_GE(pairs.size(), found.size() + packet_padding);
      std::vector<FeaturePair> there = pairs.download();
      there.resize(found.size());
      EXPECT_EQ(there, found);
      EXPECT_FALSE(on_device.find(features, {from, to, margins, times}, expected.size() - 1, pairs, found,
                                  uploads, downloads));
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
  Uploads uploads(device);
  Downloads downloads(device);
  Buffer<FeaturePair> pairs;
  std::vector<FeaturePair> found;
  EXPECT_FALSE(on_device.find({triangles.view(), sides.view(), edges.view(), garments.view()},
                              {sheet.positions, sheet.positions, margins}, 100'000, pairs, found, uploads,
                              downloads));
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

using PairKey = std::tuple<Index, Index, Index>;
std::set<PairKey> set_of(const std::vector<FeaturePair>& pairs) {
  std::set<PairKey> all;
  for (const FeaturePair& p : pairs) all.emplace(p.is_edges, p.first, p.second);
  return all;
}

/// Pairs of features that share no node and are within `reach` of each other at some of the times 0, 1/4, ...
/// of straight ways, of all that there are.
std::set<PairKey> pairs_near(const SurfaceFeatures& features, const std::vector<Vec3d>& from,
                             const std::vector<Vec3d>& to, double reach) {
  std::set<PairKey> near;
  const auto add = [&](const FeaturePair& pair) {
    const std::array<Index, 4> nodes = features.nodes_of(pair);
    if (std::set<Index>(nodes.begin(), nodes.end()).size() < 4) return;
    for (int quarter = 0; quarter <= 4; ++quarter) {
      cpu::PointPair points;
      points.first_count = pair.is_edges != 0 ? 2 : 1;
      for (std::size_t i = 0; i < 4; ++i)
        points.points[i] = from[nodes[i]] + quarter / 4.0 * (to[nodes[i]] - from[nodes[i]]);
      if (cpu::nearest_points(points).distance > reach) continue;
      near.emplace(pair.is_edges, pair.first, pair.second);
      return;
    }
  };
  for (Index t = 0; t < static_cast<Index>(features.triangles.size()); ++t)
    for (Index node = 0; node < features.node_count(); ++node) add({0, node, t});
  for (Index b = 0; b < static_cast<Index>(features.edges.size()); ++b)
    for (Index a = 0; a < b; ++a) add({1, a, b});
  return near;
}

/// Part after part, with nodes that wander out of the bounds that were searched, few or all at a time,
/// nothing is missing of what is near: searched anew, around some nodes, or not at all.
TEST(BroadPhase, KeepsEveryPairThatComesNear) {
  const Device device({.threads = 1});
  const Scene scene =
      cloth_scene({sheet("lower", 6, 0.2, {5, 0, 0}), sheet("upper", 5, 0.15, {5, 0, 0.004})});
  const std::vector<const Garment*> garments = garments_of(scene);
  PairSearch search(meshes_of(garments));
  const CollisionGeometry geometry(device, search.features(), garments, scene.contact.tolerance);
  BroadPhase broad_phase(device, geometry, search);
  std::vector<Vec3d> from;
  for (const Garment& garment : scene.garments)
    from.insert(from.end(), garment.initial_positions.begin(), garment.initial_positions.end());
  Random random(11);
  std::size_t near_count = 0;
  int kept = 0, grown = 0;
  for (int part = 0; part < 40; ++part) {
    broad_phase.begin_substep(from);
    std::vector<Vec3d> to = from;
    for (int iterate = 0; iterate < 3; ++iterate) {
      const double size = part % 10 == 9 ? 0.02 : 2e-4;
      for (Vec3d& p : to)
        p += size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      if (iterate == 1) to[static_cast<std::size_t>(part)].z += 0.01;
      const std::size_t before = broad_phase.candidates().count();
      ASSERT_TRUE(broad_phase.update(from, to));
      const std::set<PairKey> found = set_of(broad_phase.candidates().pairs);
      kept += before == broad_phase.candidates().count();
      grown += before < broad_phase.candidates().count();
      for (const PairKey& pair : pairs_near(geometry.features(), from, to, thickness + geometry.reach())) {
        EXPECT_TRUE(found.contains(pair)) << part << ": " << testing::PrintToString(pair);
        ++near_count;
      }
    }
    from = to;
  }
  EXPECT_GT(near_count, 3000u);
  EXPECT_GT(kept, 10);
  EXPECT_GT(grown, 10);
}

/// A triangle that lies in the plane z = 0, and one above it that stands on its node 3, each a garment.
struct TwoTriangles {
  Device device;
  Scene scene;
  PairSearch search;
  CollisionGeometry geometry;
  NodalTrajectories nodes;
  NarrowPhase narrow_phase;

  explicit TwoTriangles(const std::string& backend = "cpu")
      : device({.backend = backend, .threads = 1}),
        scene(cloth_scene({triangle(), triangle()})),
        search(meshes_of(garments_of(scene))),
        geometry(device, search.features(), garments_of(scene), scene.contact.tolerance),
        nodes(device, 6),
        narrow_phase(device, geometry) {
    nodes.from = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {0.1, -0.2, 0.02}, {0.5, 0, 1}, {-0.5, 0, 1}};
    nodes.to = nodes.from;
    nodes.inverse_inertia.upload(std::vector<double>(6, 1.0));
  }
  static Garment triangle() {
    Garment garment;
    garment.mesh.positions = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
    garment.mesh.add_face({0, 1, 2});
    garment.fabric.thickness = thickness;
    return garment;
  }
  Contacts find(const std::vector<FeaturePair>& pairs) {
    Candidates candidates(device, geometry);
    candidates.pairs = pairs;
    candidates.measure_all(nodes.from);
    nodes.device_from.upload(nodes.from);
    nodes.device_to.upload(nodes.to);
    Contacts contacts;
    narrow_phase.find(candidates, nodes, contacts);
    return contacts;
  }
};

TEST(NarrowPhase, FindsWhereANodeTouchesATriangleOnce) {
  TwoTriangles c;
  EXPECT_FALSE(c.find({{0, 3, 0}}).exist());
  c.nodes.to[3].z = 0.4 * thickness;
  const Contacts contacts = c.find({{0, 4, 0}, {0, 3, 0}, {0, 3, 0}, {0, 5, 0}});
  ASSERT_EQ(contacts.count(), 1);
  EXPECT_FALSE(contacts.may_penetrate());
  EXPECT_EQ(contacts.pairs.front(), (FeaturePair{0, 3, 0}));
  EXPECT_EQ(contacts.keys.front(), (ContactKey{ContactKey::node_and_face, 3, 0}.packed()));
  EXPECT_NEAR(contacts.depth, 0.6 * thickness, 1e-15);
  EXPECT_NEAR(contacts[0].gap, -0.6 * thickness, 1e-15);
  EXPECT_EQ(contacts[0].before, 0);
  const double weights[] = {1, -0.25, -0.35, -0.4};  // of (0.1, -0.2)
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(contacts[0].weights[i], weights[i], 1e-12);
  EXPECT_NEAR(norm(contacts[0].normal - Vec3d{0, 0, 1}), 0, 1e-12);
}

TEST(NarrowPhase, CountsWhatPassesAndNotHowDeepItIs) {
  TwoTriangles c;
  c.nodes.to[3].z = -0.5;
  const Contacts contacts = c.find({{0, 3, 0}});
  ASSERT_EQ(contacts.count(), 1);
  EXPECT_EQ(contacts.passing, 1);
  EXPECT_EQ(contacts.depth, 0);
  EXPECT_NEAR(contacts[0].gap, -0.5 - thickness, 1e-12);
}

/// All pairs of both triangles, of which one lies on the other. What only pins bring near each other cannot
/// be parted, and has no depth.
void expect_one_of_each_key(const std::string& backend) {
  TwoTriangles c(backend);
  for (std::size_t i = 3; i < 6; ++i) c.nodes.to[i].z = 0.2 * thickness;
  std::vector<FeaturePair> pairs;
  for (Index node = 0; node < 3; ++node) pairs.push_back({0, node, 1});
  for (Index node = 3; node < 6; ++node) pairs.push_back({0, node, 0});
  for (Index a = 0; a < 3; ++a)
    for (Index b = 3; b < 6; ++b) pairs.push_back({1, a, b});
  const Contacts contacts = c.find(pairs);
  EXPECT_GE(contacts.count(), 3);
  EXPECT_TRUE(std::ranges::is_sorted(contacts.keys, std::less_equal<>()));
  std::ranges::reverse(pairs);
  const Contacts others = c.find(pairs);
  EXPECT_EQ(others.keys, contacts.keys);
  EXPECT_EQ(others.pairs, contacts.pairs);
  EXPECT_EQ(others.depth, contacts.depth);
  for (std::size_t k = 0; k < contacts.keys.size(); ++k) EXPECT_EQ(others[k].gap, contacts[k].gap);
  EXPECT_GT(contacts.depth, 0.5 * thickness);
  c.nodes.inverse_inertia.upload(std::vector<double>(6, 0.0));
  c.nodes.begin_substep();
  EXPECT_EQ(c.find(pairs).depth, 0);
}

TEST(NarrowPhase, PutsOneOfEachKeyInTheOrderOfKeys) { expect_one_of_each_key("cpu"); }
using GpuNarrowPhase = GpuCase;
TEST_F(GpuNarrowPhase, PutsOneOfEachKeyInTheOrderOfKeys) { expect_one_of_each_key("cuda"); }

TEST(ContactWarmStart, ForcesGoOnByTheirKeysAndActOnBothSides) {
  TwoTriangles c;
  const auto key = [](ContactKey::Kind kind, Index first, Index second) {
    return ContactKey{kind, first, second}.packed();
  };
  const ContactWarmStart kept{{key(ContactKey::node_and_face, 3, 0), key(ContactKey::two_nodes, 0, 4)},
                              {{0, 0, 2}, {0, 1, 0}}};
  EXPECT_EQ(kept.largest(), 2);
  EXPECT_EQ(kept.forces_of({0, kept.keys[1]}), (std::vector<Vec3d>{{}, {0, 1, 0}}));
  const std::vector<ClothLoads> loads = contact_loads(c.search.features(), kept, c.nodes.from);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_NEAR(norm(loads[1].forces[0] - Vec3d{0, 0, 2}), 0, 1e-15);
  EXPECT_NEAR(norm(loads[0].forces[1] - Vec3d{0, 0, -0.7}), 0, 1e-12);
  // Contacts push: node 0 has less of y than node 4.
  EXPECT_NEAR(norm(loads[0].forces[0] - Vec3d{0, -1, -0.5}), 0, 1e-12);
  EXPECT_EQ(loads[1].forces[1], (Vec3d{0, 1, 0}));
}

// What holds cloth back looks for pairs of its own, in places that are not relative to the middle.
TEST(ClothCollision, FindsWhatStraysAfterClothWasHeldBack) {
  const Device device({.threads = 1});
  // The lowest is near the second, so that there is room for some pairs more.
  const Scene scene = cloth_scene({sheet("lowest", 9, 0.3, {5, 0, -0.003}), sheet("lower", 9, 0.3, {5, 0, 0}),
                                   sheet("upper", 9, 0.3, {5, 0, 0.02})});
  ClothCollision collision(device, scene, garments_of(scene));
  std::vector<Vec3d> rest;
  for (const Garment& garment : scene.garments)
    rest.insert(rest.end(), garment.initial_positions.begin(), garment.initial_positions.end());
  ASSERT_FALSE(collision.has_contact(rest, rest));
  std::vector<Vec3d> velocities(rest.size());
  collision.ccd_limits(rest, std::vector<double>(rest.size(), 1), velocities);
  std::vector<Vec3d> to = rest;
  // A dent, so that the triangles at its deepest node have nodes_outside_bounds alone.
  for (const std::size_t row : {3u, 4u, 5u})
    for (const std::size_t column : {3u, 4u, 5u})
      to[162 + 9 * row + column].z = row == 4 && column == 4 ? 0.0005 : 0.015;
  EXPECT_TRUE(collision.has_contact(rest, to));
}

}  // namespace
}  // namespace isocloth
