// The factorisation of many systems side by side: against the error that Cholesky's method may make, and the
// same bits alone, in a vector, in any block, on any number of threads.
#include <Eigen/Dense>

#include "host/linear/device_cholesky_plan.hpp"
#include "host/memory/buffer.hpp"
#include "tests/kernels/block_systems.hpp"
#include "tests/kernels/kernel_check.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

/// Systems of one pattern; values shape [system, block, 9], right sides [system, column, 3].
template <class Real>
struct Systems {
  BlockPattern pattern;
  CholeskyPlan plan;
  std::vector<std::vector<Real>> values, right_sides;

  explicit Systems(const BlockPattern& p) : pattern(p), plan(plan_cholesky(p)) {}
  void add(const std::vector<double>& matrix, double factor = 1) {
    values.emplace_back();
    for (const double v : matrix) values.back().push_back(static_cast<Real>(factor * v));
    right_sides.emplace_back();
    const auto c = static_cast<Index>(values.size());
    for (Index i = 0; i < 3 * pattern.size; ++i)
      right_sides.back().push_back(static_cast<Real>((7 * i + 3 * c) % 11 - 5));
  }
};

template <class Real>
Systems<Real> dominant_systems(const BlockPattern& pattern, unsigned count) {
  Systems<Real> systems(pattern);
  for (unsigned c = 0; c < count; ++c) systems.add(dominant_system(pattern, c + 1).values);
  return systems;
}

/// A sheet displaced by different amounts, its rows softer and stiffer.
template <class Real>
Systems<Real> sheet_systems(const Garment& garment, int count) {
  Systems<Real> systems(nodal_block_pattern(garment));
  std::vector<std::vector<double>> distinct;
  for (const double noise : {0.002, 0.003, 0.005})
    distinct.push_back(nodal_system(garment, 1e-3, noise).values);
  for (int c = 0; c < count; ++c) systems.add(distinct[static_cast<std::size_t>(c % 3)], 1 + 0.1 * c);
  return systems;
}

template <class Real>
struct Solutions {
  std::vector<std::vector<Real>> x;  ///< shape [system, column * 3]
  std::vector<Real> bad_pivots;      ///< shape [system]
  bool operator==(const Solutions&) const = default;
};

/// Solves them one by one or in lanes; spare lanes hold the last system once more.
template <class Real>
Solutions<Real> solve(const Systems<Real>& systems, bool in_lanes, const ExecutionOptions& options,
                      bool factorise_only = false) {
  const Device device(options);
  const StepKernels<Real>& kernels = step_kernels<Real>(device.backend());
  const std::size_t width = in_lanes ? static_cast<std::size_t>(kernels.lane_width()) : 1;
  const std::size_t count = systems.values.size(), tiles = (count + width - 1) / width;
  auto tiled = [&](const std::vector<std::vector<Real>>& each) {
    const std::size_t size = each.front().size();
    std::vector<Real> all(tiles * width * size);
    for (std::size_t c = 0; c < tiles * width; ++c)
      for (std::size_t i = 0; i < size; ++i)
        all[(c / width * size + i) * width + c % width] = each[std::min(c, count - 1)][i];
    return Buffer<Real>(device, all);
  };
  const DeviceCholeskyPlan plan(device, systems.plan);
  const Buffer<Real> values = tiled(systems.values), right_sides = tiled(systems.right_sides);
  Buffer<Real> x(device, right_sides.size()), bad(device, tiles * width);
  kernels.solve_blocks(device.queue(),
                       {.plan = plan.view(),
                        .system_blocks = plan.system_blocks(),
                        .system_block_count = static_cast<Index>(systems.pattern.rows.size()),
                        .width = static_cast<int>(width),
                        .tile_count = static_cast<Index>(tiles),
                        .blocks = values.view(),
                        .right_sides = factorise_only ? ArrayView<const Real>{} : right_sides.view(),
                        .solutions = x.view(),
                        .bad_pivots = bad.view()});
  const std::vector<Real> all = x.download(), pivots = bad.download();
  Solutions<Real> result;
  const std::size_t size = systems.right_sides.front().size();
  for (std::size_t c = 0; c < count; ++c) {
    result.x.emplace_back();
    for (std::size_t i = 0; i < size; ++i)
      result.x.back().push_back(all[(c / width * size + i) * width + c % width]);
    result.bad_pivots.push_back(pivots[c]);
  }
  return result;
}

const ExecutionOptions alone{.threads = 1};

std::vector<std::string> simd_names() {
  std::vector<std::string> names;
  for (const Simd simd : {Simd::baseline, Simd::avx2, Simd::avx512})
    if (cpu_backend(simd) != nullptr) names.push_back(to_string(simd));
  return names;
}

template <class Real>
class SolveBlocksTest : public testing::Test {};
TYPED_TEST_SUITE(SolveBlocksTest, Precisions);

// (A + E) x = b with |E_ij| <= (3 m + 13) u sqrt(A_ii A_jj), m the most scalars in a row of L: Higham 2002,
// theorem 10.4, with |L| |L|^T bounded by Cauchy and Schwarz and the rounding of the reciprocal pivots added.
TYPED_TEST(SolveBlocksTest, BackwardErrorOfCholesky) {
  using Real = TypeParam;
  const double u = std::numeric_limits<Real>::epsilon() / 2;
  std::vector<Systems<Real>> all;
  for (const NamedPattern& named : ordered_patterns())
    if (named.pattern.size > 0) all.push_back(dominant_systems<Real>(named.pattern, 3));
  for (const NamedGarment& named : all_garments()) all.push_back(sheet_systems<Real>(named.garment, 3));
  for (const std::string& simd : simd_names())
    for (const Systems<Real>& systems : all) {
      const BlockPattern& p = systems.pattern;
      const Solutions<Real> found = solve(systems, true, {.simd = simd, .threads = 1});
      Index longest = 0;
      for (Index i = 0; i < p.size; ++i)
        longest = std::max(longest, systems.plan.row_begin[i + 1] - systems.plan.row_begin[i]);
      const double gamma = (3 * (3.0 * longest + 3) + 13) * u;
      for (std::size_t c = 0; c < systems.values.size(); ++c) {
        Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3 * p.size, 3 * p.size);
        for (std::size_t b = 0; b < p.rows.size(); ++b)
          for (int r = 0; r < 3; ++r)
            for (int k = 0; k < 3; ++k) {
              const double value = systems.values[c][b * 9 + static_cast<std::size_t>(3 * r + k)];
              a(3 * p.rows[b] + r, 3 * p.columns[b] + k) = a(3 * p.columns[b] + k, 3 * p.rows[b] + r) = value;
            }
        const auto widened = [](const std::vector<Real>& values) {
          return as_vector(std::vector<double>(values.begin(), values.end())).eval();
        };
        const VectorXd x = widened(found.x[c]), b = widened(systems.right_sides[c]);
        const VectorXd root = a.diagonal().cwiseSqrt();
        // What is left of the comparison itself in double is a sum of 3 n terms.
        const VectorXd checked = (a.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs()) * (3.0 * p.size * 1.2e-16);
        const VectorXd excess = (b - a * x).cwiseAbs() - gamma * root.dot(x.cwiseAbs()) * root - checked;
        EXPECT_EQ(found.bad_pivots[c], 0) << simd << ", " << p.size << " columns";
        EXPECT_LE(excess.maxCoeff<Eigen::PropagateNaN>(), 0) << simd << ", " << p.size << " columns";
      }
    }
}

TYPED_TEST(SolveBlocksTest, TheSameBitsInLanes) {
  using Real = TypeParam;
  for (const std::string& simd : simd_names()) {
    const ExecutionOptions options{.simd = simd, .threads = 1}, threads{.simd = simd, .threads = 3};
    for (const NamedPattern& named : ordered_patterns()) {
      if (named.pattern.size == 0 || named.pattern.size > unless_sanitized<Index>(1 << 20, 100)) continue;
      const auto systems = dominant_systems<Real>(named.pattern, 19);  // a multiple of no width
      const Solutions<Real> expected = solve(systems, false, options);
      EXPECT_EQ(solve(systems, true, options), expected) << named.name << ", " << simd;
      EXPECT_EQ(solve(systems, true, threads), expected) << named.name << ", " << simd;
    }
    const auto systems = sheet_systems<Real>(all_garments().front().garment, 19);
    const Solutions<Real> expected = solve(systems, false, options);
    EXPECT_EQ(solve(systems, true, options), expected) << simd;
    Systems<Real> one(systems.pattern);
    one.values = {systems.values[4]};
    one.right_sides = {systems.right_sides[4]};
    EXPECT_EQ(solve(one, true, options).x[0], expected.x[4]) << simd << ", copies in all other lanes";
  }
}

TYPED_TEST(SolveBlocksTest, TheSameBitsInAnyBlockAndOnAnyThreads) {
  using Real = TypeParam;
  for (const NamedPattern& named : ordered_patterns()) {
    if (named.name != "quads_bending" && named.name != "disc" && named.name != "arrow" &&
        named.name != "diagonal")
      continue;
    const auto systems = dominant_systems<Real>(named.pattern, 5);
    const Solutions<Real> expected = solve(systems, false, alone);
    for (const int block : {1, 2, 7, 32})
      for (const bool in_lanes : {false, true})
        EXPECT_EQ(solve(systems, in_lanes, {.threads = 1, .emulated_block = block}), expected)
            << named.name << ", block of " << block;
    for (const int threads : {2, 3})
      EXPECT_EQ(solve(systems, false, {.threads = threads}), expected) << named.name;
  }
}

// One system of a vector is not definite: its first bad pivot is named, and its neighbours do not notice.
TYPED_TEST(SolveBlocksTest, ABadPivotIsNamedAndStaysAlone) {
  using Real = TypeParam;
  for (const NamedPattern& named : ordered_patterns()) {
    if (named.name != "quads" && (is_sanitized || named.name != "tube_as_it_is")) continue;
    const BlockPattern& p = named.pattern;
    const auto good = dominant_systems<Real>(p, 19);
    const Solutions<Real> expected = solve(good, true, alone);
    for (const Index first : {Index{0}, p.size / 3, p.size - 1})
      for (const int component : {0, 8})
        for (const Real pivot : {Real(-1), Real(0), std::numeric_limits<Real>::quiet_NaN()}) {
          Systems<Real> systems = good;
          for (std::size_t b = 0; b < p.rows.size(); ++b)
            if (p.rows[b] == p.columns[b] && (p.rows[b] == first || p.rows[b] == p.size - 1))
              systems.values[6][b * 9 + static_cast<std::size_t>(component)] = pivot;
          for (const int block : {0, 7})
            for (const bool factorise_only : {false, true}) {
              const auto found =
                  solve(systems, true, {.threads = 1, .emulated_block = block}, factorise_only);
              for (std::size_t c = 0; c < found.x.size(); ++c) {
                EXPECT_EQ(found.bad_pivots[c], c == 6 ? static_cast<Real>(first + 1) : Real(0))
                    << named.name << ", pivot " << pivot << ", system " << c;
                if (c == 6 || factorise_only) continue;
                EXPECT_TRUE(found.x[c] == expected.x[c]) << "system " << c;
              }
            }
        }
  }
}

}  // namespace
}  // namespace isocloth
