#include "kernels/cloth_contact/cloth_contact.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "engine/core/random.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"
#include "kernels/cloth_contact/pair_packets.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Vec3d any_place(Random& random) {
  return {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
}

cpu::PointPair any_pair(int first_count, Random& random) {
  cpu::PointPair pair;
  pair.first_count = first_count;
  for (Vec3d& p : pair.points) p = any_place(random);
  return pair;
}

/// The least distance, by a grid over both sides that is made finer about its best point: knows no regions.
double searched_distance(const cpu::PointPair& pair) {
  const auto distance = [&](double s, double t) {
    const Vec3d* const p = pair.points;
    if (pair.first_count == 2) return norm((1 - s) * p[0] + s * p[1] - ((1 - t) * p[2] + t * p[3]));
    return norm(p[0] - ((1 - s) * p[1] + s * (1 - t) * p[2] + s * t * p[3]));
  };
  double least = HUGE_VAL, at_s = 0.5, at_t = 0.5;
  for (double size = 0.5; size > 1e-9; size /= 3) {
    double s0 = at_s, t0 = at_t;
    for (int i = -10; i <= 10; ++i)
      for (int j = -10; j <= 10; ++j) {
        const double s = std::clamp(s0 + size * i / 10, 0.0, 1.0),
                     t = std::clamp(t0 + size * j / 10, 0.0, 1.0);
        const double d = distance(s, t);
        if (d < least) least = d, at_s = s, at_t = t;
      }
  }
  return least;
}

TEST(PairGeometry, NearestPointsAreNoFartherThanAnyOthers) {
  Random random(5);
  for (int n = 0; n < 400; ++n) {
    const cpu::PointPair pair = any_pair(1 + n % 2, random);
    const cpu::NearestPoints near = cpu::nearest_points(pair);
    EXPECT_NEAR(near.distance, searched_distance(pair), 1e-6) << n;
    double sums[2] = {0, 0};
    for (int i = 0; i < 4; ++i) {
      sums[pair.side(i)] += near.weights[i];
      EXPECT_GE(pair.side(i) == 0 ? near.weights[i] : -near.weights[i], -1e-12);
    }
    EXPECT_NEAR(sums[0], 1, 1e-12);
    EXPECT_NEAR(sums[1], -1, 1e-12);
    const Vec3d way = cpu::weighted(near.weights, pair.points);
    EXPECT_NEAR(norm(way - near.distance * near.normal), 0, 1e-12);
  }
}

TEST(PairGeometry, ParallelEdgesAndEdgesOnEdgesHaveADistance) {
  cpu::PointPair pair{{{0, 0, 0}, {1, 0, 0}, {0.25, 0, 0.5}, {3, 0, 0.5}}, 2};
  EXPECT_DOUBLE_EQ(cpu::nearest_points(pair).distance, 0.5);
  pair = {{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}, 2};
  EXPECT_DOUBLE_EQ(cpu::nearest_points(pair).distance, 1);
}

/// What is said to stay apart does so at 200 times of its way, and what nears only in part is not refused for
/// all of it.
TEST(PairGeometry, TimesApartAreSafeAndNotWasteful) {
  Random random(7);
  int passing = 0, apart = 0;
  for (int n = 0; n < 600; ++n) {
    const cpu::PointPair from = any_pair(1 + n % 2, random);
    cpu::PointPair to = from;
    for (Vec3d& p : to.points) p += 0.8 * any_place(random);
    const double least = 0.01;
    if (!(cpu::nearest_points(from).distance > 2 * least)) continue;
    const double time = cpu::time_apart(from, to, least);
    double nearest = HUGE_VAL;
    for (int k = 0; k <= 200; ++k) {
      const double t = k / 200.0, d = cpu::nearest_points(cpu::between(from, to, t)).distance;
      nearest = std::min(nearest, d);
      if (t <= time) {
        EXPECT_GE(d, least * (1 - 1e-9)) << n << " at " << t;
      }
    }
    (time < 1 ? passing : apart) += 1;
    if (time < 1) {
      EXPECT_LE(cpu::nearest_points(cpu::between(from, to, time)).distance, 1.02 * least) << n;
    } else {
      EXPECT_GE(nearest, least);
    }
    // One direction that separates both ends separates all between.
    const Vec3d n0 = cpu::nearest_points(from).normal;
    if (cpu::separation(from, n0) > least && cpu::separation(to, n0) > least) {
      EXPECT_EQ(time, 1);
    }
  }
  EXPECT_GT(passing, 20);
  EXPECT_GT(apart, 100);
}

/// Those of packets are those of pairs one by one, bit for bit.
TEST(PairPackets, HaveTheNearestPointsOfPairs) {
  using S = cpu::PairLanes<double>;
  constexpr int width = cpu::Lanes<S>::width;
  Random random(12);
  for (int n = 0; n < 2000; ++n) {
    const int first_count = 1 + n % 2;
    cpu::PointPair pairs[width], moved[width];
    cpu::PointPacket<S> packet, later;
    for (int lane = 0; lane < width; ++lane) {
      pairs[lane] = any_pair(first_count, random);
      moved[lane] = any_pair(first_count, random);
      if (n % 7 == 0) pairs[lane].points[1] = pairs[lane].points[2] + Vec3d{1e-3, 0, 0};
      if (n % 11 == 0)  // parallel
        pairs[lane].points[3] = pairs[lane].points[2] + (pairs[lane].points[1] - pairs[lane].points[0]);
      for (int i = 0; i < 4; ++i)
        for (auto [to, from] : {std::pair{&packet, &pairs[lane]}, {&later, &moved[lane]}}) {
          const Vec3d& p = from->points[i];
          to->points[i].x.v[lane] = p.x;
          to->points[i].y.v[lane] = p.y;
          to->points[i].z.v[lane] = p.z;
        }
    }
    const cpu::NearestOfPacket<S> found = cpu::nearest_points(packet, first_count);
    const S ways = cpu::relative_ways(packet, later, first_count);
    for (int lane = 0; lane < width; ++lane) {
      const cpu::NearestPoints near = cpu::nearest_points(pairs[lane]);
      EXPECT_EQ(cpu::lane_value(found.distance, lane), near.distance) << n;
      const Vec3d normal{cpu::lane_value(found.normal.x, lane), cpu::lane_value(found.normal.y, lane),
                         cpu::lane_value(found.normal.z, lane)};
      EXPECT_EQ(normal, near.normal) << n;
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(cpu::lane_value(found.weights[i], lane), near.weights[i]) << n << " " << i;
      EXPECT_EQ(cpu::lane_value(cpu::separations(packet, first_count, found.normal), lane),
                cpu::separation(pairs[lane], normal));
      EXPECT_EQ(cpu::lane_value(ways, lane), cpu::relative_way(pairs[lane], moved[lane]));
    }
  }
}

/// Boxes that stay apart hold what does.
TEST(PairGeometry, BoxesThatStayApartAreSafe) {
  Random random(13);
  int apart = 0, only_at_once = 0;
  for (int n = 0; n < 3000; ++n) {
    cpu::PointPair from = any_pair(1 + n % 2, random), to = from;
    const Vec3d way = 4.0 * any_place(random), other = 4.0 * any_place(random);
    for (int i = 0; i < 4; ++i) to.points[i] += from.side(i) == 0 ? way : other;
    const double least = 0.02;
    if (!cpu::boxes_stay_apart(from, to, least)) continue;
    ++apart;
    for (int k = 0; k <= 100; ++k)
      EXPECT_GT(cpu::nearest_points(cpu::between(from, to, k / 100.0)).distance, least) << n << " " << k;
    bool along_one = false;
    for (const Vec3d& axis : {Vec3d{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
      for (const double sign : {-1.0, 1.0})
        along_one = along_one ||
                    (cpu::separation(from, sign * axis) > least && cpu::separation(to, sign * axis) > least);
    only_at_once += !along_one;
  }
  EXPECT_GT(apart, 300);
  EXPECT_GT(only_at_once, 30);
}

/// What is sifted out would be found apart, and what touches is found, whenever pairs were sought.
TEST(ClothContact, SiftingLosesNothing) {
  constexpr Index count = 1800;
  Random random(14);
  std::vector<Index> triangles, sides, edges, node_garments(4 * count, 0);
  std::vector<FeaturePair> pairs;
  std::vector<Vec3d> sought_at, from, to;
  for (Index p = 0; p < count; ++p) {
    const bool is_edges = (p / 101 + (p % 150 == 37)) % 2 == 1;  // in turns, and some alone among others
    const cpu::PointPair pair = any_pair(is_edges ? 2 : 1, random);
    const Index first = 4 * p;
    for (const Index node : {first + 1, first + 2, first + 3}) triangles.push_back(node);
    for (const Index side : {0, 1, 2}) sides.push_back(2 * p + side % 2);
    for (const Index node : {first, first + 1, first + 2, first + 3}) edges.push_back(node);
    pairs.push_back(is_edges ? FeaturePair{1, 2 * p, 2 * p + 1} : FeaturePair{0, first, p});
    const Vec3d way = random.uniform(0, 1) < 0.5 ? 0.05 * any_place(random) : any_place(random);
    for (int i = 0; i < 4; ++i) {
      sought_at.push_back(pair.points[i]);
      from.push_back(sought_at.back() + 0.02 * any_place(random));
      to.push_back(from.back() + 0.02 * any_place(random) + (i < pair.first_count ? way : Vec3d{}));
    }
  }
  const double reach = 0.025;
  const ClothFeatures features{triangles, sides, edges, node_garments};
  const std::vector<double> garment_thicknesses{0.1};
  struct alignas(64) Register {  // as a device's memory has them
    double values[8];
  };
  std::vector<Register> of_thicknesses(count / 8 + packet_padding), of_rooms(of_thicknesses.size());
  const ArrayView<double> thicknesses{of_thicknesses.front().values, count},
      rooms{of_rooms.front().values, count};
  std::vector<Index> nodes(4 * (count + packet_padding)), all(count);
  std::iota(all.begin(), all.end(), 0);
  const ClothContactKernels& kernels = cpu_backend(widest_simd())->cloth_contact;
  const PairReferences references{thicknesses, rooms, nodes};
  kernels.measure_pairs({}, {.features = features,
                             .pairs = pairs,
                             .rest = sought_at,
                             .thicknesses = garment_thicknesses,
                             .references = references});
  std::vector<FoundContact> found(count);
  kernels.find_contacts({}, {.features = features,
                             .pairs = pairs,
                             .thicknesses = thicknesses,
                             .from = from,
                             .to = to,
                             .reach = reach,
                             .sifted = all,
                             .contacts = found});
  const auto found_among = [&](const std::vector<Index>& sifted) {
    std::vector<FoundContact> those(sifted.size());
    kernels.find_contacts({}, {.features = features,
                               .pairs = pairs,
                               .thicknesses = thicknesses,
                               .from = from,
                               .to = to,
                               .reach = reach,
                               .sifted = sifted,
                               .contacts = those});
    return those;
  };
  std::vector<Index> order = all;  // a pair's packet is of both kinds
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<Index>((i % 3 == 1 ? i + 101 : i) % count);
  const std::vector<FoundContact> mixed = found_among(order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const FoundContact alone = found_among({order[i]}).front();
    EXPECT_EQ(mixed[i].status, alone.status) << i;
    EXPECT_EQ(mixed[i].key, alone.key) << i;
    EXPECT_EQ(mixed[i].gap, alone.gap) << i;
  }
  std::vector<Vec4<double>> places(16 * count);
  std::vector<Vec3d> measured_at = sought_at;
  std::vector<std::uint8_t> fresh(count), measured(count), again(count);
  CullCandidates sift{.pairs = pairs,
                      .references = references,
                      .measured_at = measured_at,
                      .from = sought_at,
                      .to = sought_at,
                      .reach = reach,
                      .trajectories = places,
                      .may_touch = fresh};
  kernels.cull_candidates({}, sift);
  sift.from = from;
  sift.to = to;
  sift.may_touch = measured;
  kernels.cull_candidates({}, sift);
  sift.may_touch = again;
  kernels.cull_candidates({}, sift);
  of_rooms.assign(of_rooms.size(),
                  {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL});
  std::ranges::copy(from, measured_at.begin());
  sift.may_touch = fresh;
  kernels.cull_candidates({}, sift);
  int touching = 0, sifted = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const bool touches = found[p].status != PairStatus::apart;
    touching += touches;
    sifted += measured[p];
    if (touches) {
      EXPECT_EQ(fresh[p], 1) << p;
      EXPECT_EQ(measured[p], 1) << p;
      EXPECT_EQ(again[p], 1) << p;
    }
  }
  EXPECT_GT(touching, 50);
  EXPECT_LT(touching, 400);
  EXPECT_LT(sifted, touching + count / 5);  // packets of both kinds are not asked
}

/// Own sides in the blocks and the rest in the product are together sum (w w^T) x K.
template <class Real>
void expect_whole_matrix() {
  // Two triangles and a bar: nodes 0 1 2, 3 4 5; all but node 5 are free.
  const std::vector<Index> triangles{0, 1, 2, 3, 4, 5}, sides{0, 1, 2, 3, 4, 5},
      edges{0, 1, 1, 2, 0, 2, 3, 4, 4, 5, 3, 5}, node_garments(6, 0), free_number{0, 1, 2, 3, 4, -1},
      free_nodes{0, 1, 2, 3, 4};
  const std::vector<FeaturePair> pairs{{0, 0, 1}, {1, 1, 3}, {0, 4, 0}};
  const Index nodes[3][4] = {{0, 3, 4, 5}, {1, 2, 3, 4}, {4, 0, 1, 2}};
  Random random(11);
  std::vector<FoundContact> found(3);
  std::vector<ClothResponse> responses(3);
  MatrixXd expected = MatrixXd::Zero(15, 15);
  VectorXd expected_right = VectorXd::Zero(15);
  std::vector<Index> begin(7, 0), entries;
  for (int c = 0; c < 3; ++c) {
    found[c].pair = c;
    for (double& w : found[c].weights) w = random.uniform(-1, 1);
    Matrix3d root = Matrix3d::Random();
    const Matrix3d k = root * root.transpose();
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) responses[c].stiffness[entry++] = k(i, j);
    responses[c].along = 1;
    responses[c].first_count = pairs[c].is_edges != 0 ? 2 : 1;
    for (int i = 0; i < 4; ++i) {
      responses[c].weights[i] = found[c].weights[i];
      responses[c].nodes[i] = nodes[c][i];
    }
    responses[c].pull = any_place(random);
    for (int a = 0; a < 4; ++a) {
      if (nodes[c][a] == 5) continue;
      const Vec3d pull = found[c].weights[a] * responses[c].pull;
      expected_right.segment<3>(3 * nodes[c][a]) += Eigen::Vector3d(pull.x, pull.y, pull.z);
      for (int b = 0; b < 4; ++b)
        if (nodes[c][b] != 5)
          expected.block<3, 3>(3 * nodes[c][a], 3 * nodes[c][b]) +=
              found[c].weights[a] * found[c].weights[b] * k;
    }
  }
  for (Index node = 0; node < 6; ++node) {
    for (Index c = 0; c < 3; ++c)
      for (Index place = 0; place < 4; ++place)
        if (nodes[c][place] == node) entries.push_back(4 * c + place);
    begin[node + 1] = static_cast<Index>(entries.size());
  }
  const std::vector<Index> chosen{0, 1, 2};
  const StepKernels<Real>& kernels = step_kernels<Real>(*cpu_backend(widest_simd()));
  const ClothContactList list{.features = {triangles, sides, edges, node_garments},
                              .pairs = pairs,
                              .contacts = found,
                              .chosen = chosen,
                              .node_begin = begin,
                              .node_entries = entries};
  // Blocks: the diagonal, then those of the edges between free nodes.
  const std::vector<Index> node_blocks{0, 1, 2, 3, 4}, edge_blocks{5, 6, 7, 8, -1, -1};
  std::vector<Real> blocks(9 * 9, Real(0));
  std::vector<Vec3<Real>> right(5);
  kernels.add_cloth_contacts({}, {.list = list,
                                  .responses = responses,
                                  .free = {free_nodes, free_number},
                                  .first_node = 0,
                                  .node_blocks = node_blocks,
                                  .edge_blocks = edge_blocks,
                                  .blocks = blocks,
                                  .right_side = right});
  MatrixXd factor = MatrixXd::Zero(15, 15);
  const auto put = [&](Index block, Index row, Index column) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const double value = static_cast<double>(blocks[9 * block + 3 * i + j]);
        factor(3 * row + i, 3 * column + j) = value;
        factor(3 * column + j, 3 * row + i) = value;
      }
  };
  for (Index i = 0; i < 5; ++i) put(i, i, i);
  put(5, 1, 0), put(6, 2, 1), put(7, 2, 0), put(8, 4, 3);
  std::vector<Vec3<Real>> x(5), y(5);
  std::vector<Vec3d> pulls(6);
  VectorXd dense(15);
  for (Index i = 0; i < 5; ++i) {
    const Vec3d place = any_place(random);
    x[i] = {static_cast<Real>(place.x), static_cast<Real>(place.y), static_cast<Real>(place.z)};
    dense.segment<3>(3 * i) << static_cast<double>(x[i].x), static_cast<double>(x[i].y),
        static_cast<double>(x[i].z);
  }
  kernels.multiply_cloth_contacts({}, {.responses = responses,
                                       .node_begin = begin,
                                       .node_entries = entries,
                                       .free_number = free_number,
                                       .free_nodes = free_nodes,
                                       .pulls = pulls,
                                       .direction = x,
                                       .product = y});
  // The same beside another vector.
  std::vector<Vec3<Real>> two(10), products(10);
  std::ranges::copy(x, two.begin() + 5);
  two[2] = x[4];
  std::vector<Vec3d> pulls_of_two(12);
  kernels.multiply_cloth_contacts({}, {.responses = responses,
                                       .node_begin = begin,
                                       .node_entries = entries,
                                       .free_number = free_number,
                                       .free_nodes = free_nodes,
                                       .pulls = pulls_of_two,
                                       .direction = two,
                                       .product = products,
                                       .columns = {.count = 2, .begin = {0, 5}}});
  EXPECT_TRUE(std::ranges::equal(y, std::vector<Vec3<Real>>(products.begin() + 5, products.end())));
  VectorXd product = factor * dense;
  const double tolerance = std::is_same_v<Real, float> ? 1e-5 : 1e-13;
  const VectorXd whole = expected * dense;
  for (Index i = 0; i < 5; ++i) {
    const double found_product[] = {static_cast<double>(y[i].x), static_cast<double>(y[i].y),
                                    static_cast<double>(y[i].z)},
                 found_right[] = {static_cast<double>(right[i].x), static_cast<double>(right[i].y),
                                  static_cast<double>(right[i].z)};
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(product(3 * i + k) + found_product[k], whole(3 * i + k), tolerance);
      EXPECT_NEAR(found_right[k], expected_right(3 * i + k), tolerance);
    }
  }
}

TEST(ClothContact, FactorAndProductAreTheWholeMatrix) {
  expect_whole_matrix<float>();
  expect_whole_matrix<double>();
}

}  // namespace
}  // namespace isocloth
