// Directions, matrix, right sides and impulses of a system against the reference.
#include "host/memory/buffer.hpp"
#include "host/reference/impulse_system.hpp"
#include "kernels/models/bender_sle/system_kernels.hpp"
#include "tests/kernels/kernel_check.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth {
namespace {

using reference::DistanceConstraint;

/// A cloth with pinned nodes and, if asked for, an edge without a direction; inverse masses spread over a
/// decade.
struct SystemCase {
  std::string name;
  std::vector<DistanceConstraint> edges;
  VectorXd inverse_masses;
  MatrixX3d places, moves;

  SystemCase(std::string name_, const Mesh& mesh, bool collapsed) : name(std::move(name_)) {
    const Index n = mesh.node_count();
    inverse_masses = 4.5 * reference::noise(n, 1, 3).col(0).array() + 5.5;
    for (const Index pinned : {Index{0}, Index{4}, n - 2}) inverse_masses[pinned] = 0;
    edges = reference::distance_constraints(mesh, build_topology(mesh), inverse_masses);
    places = reference::to_matrix(mesh.positions) + reference::noise(n, 0.03, 1);
    moves = reference::noise(n, 0.02, 2);
    if (collapsed)
      moves.row(edges[9].b) = places.row(edges[9].a) + moves.row(edges[9].a) - places.row(edges[9].b);
    // Floats, so that both precisions start from the same numbers; a collapsed edge need not vanish exactly.
    for (auto* values : {&places, &moves}) *values = values->cast<float>().cast<double>();
    inverse_masses = inverse_masses.cast<float>().cast<double>();
    for (DistanceConstraint& edge : edges) edge.length = static_cast<float>(edge.length);
  }
};

const std::vector<SystemCase>& system_cases() {
  static const std::vector<SystemCase> cases = [] {
    std::vector<SystemCase> all;
    for (const auto& [name, mesh] : reference::assorted_meshes()) all.emplace_back(name, mesh, false);
    all.emplace_back("longer than a block", quad_grid(31, 23, 0.9, 0.7), true);
    return all;
  }();
  return cases;
}

/// The arrays of a case on a device, and what the kernels made of them.
template <class Real>
class SystemOnDevice {
 public:
  SystemOnDevice(const SystemCase& at, const ExecutionOptions& options) : device_(options), at_(at) {
    std::vector<std::vector<Index>> of_node(at.places.rows());
    std::vector<Index> edge_nodes, entries, node_begin{0}, node_edges;
    std::vector<Real> lengths, inverse_masses, reaches(of_node.size(), Real(0.125));
    for (std::size_t i = 0; i < at.edges.size(); ++i) {
      const auto& [a, b, length, of_a, of_b] = at.edges[i];
      edge_nodes.insert(edge_nodes.end(), {a, b});
      lengths.push_back(static_cast<Real>(length));
      of_node[a].push_back(static_cast<Index>(2 * i));
      of_node[b].push_back(static_cast<Index>(2 * i + 1));
      for (std::size_t j = 0; j <= i; ++j) {
        const DistanceConstraint& other = at.edges[j];
        double weight = 0;
        for (const auto& [node, sign] : {std::pair{a, 1.0}, {b, -1.0}})
          for (const auto& [other_node, other_sign] : {std::pair{other.a, 1.0}, {other.b, -1.0}})
            if (node == other_node) weight += sign * other_sign * at.inverse_masses[node];
        if (weight == 0) continue;
        entries.insert(entries.end(), {static_cast<Index>(i), static_cast<Index>(j)});
      }
    }
    for (const auto& own : of_node) {
      node_edges.insert(node_edges.end(), own.begin(), own.end());
      node_begin.push_back(static_cast<Index>(node_edges.size()));
    }
    for (const double w : at.inverse_masses) inverse_masses.push_back(static_cast<Real>(w));
    entries_at_ = entries;
    edge_nodes_ = {device_, edge_nodes}, entries_ = {device_, entries}, node_begin_ = {device_, node_begin};
    node_edges_ = {device_, node_edges}, lengths_ = {device_, lengths};
    scales_ = {device_, at.edges.size()}, weights_ = {device_, entries.size() / 2};
    inverse_masses_ = {device_, inverse_masses}, reaches_ = {device_, reaches};
    relative_positions_ = {device_, quads(at.places)}, moves_ = {device_, quads(at.moves)};
    kept_ = {device_, of_node.size()}, changes_ = {device_, of_node.size()};
    directions_ = {device_, at.edges.size()}, values_ = {device_, entries.size() / 2};
    for (auto* buffer : {&right_side_, &impulses_, &strains_}) *buffer = {device_, at.edges.size()};
    run(phases::ScaleEdges{});
    run(phases::WeighEntries{});
  }

  double scale(std::size_t edge) const {
    const DistanceConstraint& e = at_.edges[edge];
    return 1 / std::sqrt(at_.inverse_masses[e.a] + at_.inverse_masses[e.b]);
  }
  VectorXd scales() const {
    VectorXd all(static_cast<Eigen::Index>(at_.edges.size()));
    for (Eigen::Index i = 0; i < all.size(); ++i) all[i] = scale(static_cast<std::size_t>(i));
    return all;
  }

  template <class Phase>
  void run(const Phase& phase) {
    constexpr bool of_nodes = std::is_same_v<Phase, phases::ApplyImpulses> ||
                              std::is_same_v<Phase, phases::KeepMoves> ||
                              std::is_same_v<Phase, phases::RestoreMoves>;
    constexpr bool of_entries =
        std::is_same_v<Phase, phases::Assemble> || std::is_same_v<Phase, phases::WeighEntries>;
    const std::size_t count = of_entries ? values_.size() : of_nodes ? moves_.size() : directions_.size();
    const auto read = [](const auto& buffer) { return buffer.view(); };
    const SystemArrays<Real> arrays{.edge_nodes = read(edge_nodes_),
                                    .lengths = read(lengths_),
                                    .scales = scales_.view(),
                                    .entries = read(entries_),
                                    .weights = weights_.view(),
                                    .node_begin = read(node_begin_),
                                    .node_edges = read(node_edges_),
                                    .inverse_masses = read(inverse_masses_),
                                    .reaches = read(reaches_),
                                    .relative_positions = read(relative_positions_),
                                    .moves = moves_.view(),
                                    .kept_moves = kept_.view(),
                                    .loads = {},
                                    .kept_loads = {},
                                    .directions = directions_.view(),
                                    .values = values_.view(),
                                    .right_side = right_side_.view(),
                                    .impulses = read(impulses_),
                                    .strains = strains_.view(),
                                    .changes = changes_.view()};
    const auto* kernels = static_cast<const SystemKernels<Real>*>(
        step_kernels<Real>(device_.backend()).model_kernels("bender_sle"));
    kernels->run(device_.queue(),
                 RunPhase<SystemArrays<Real>, Phase>{arrays, phase, 0, static_cast<Index>(count)});
  }

  std::vector<double> moves() const { return flat_of(moves_); }
  std::vector<double> directions() const { return flat_of(directions_); }
  std::vector<double> right_side() const { return wide(right_side_); }
  std::vector<double> strains() const { return wide(strains_); }
  std::vector<double> changes() const { return wide(changes_); }
  SparseMatrix matrix() const {
    std::vector<Eigen::Triplet<double>> triplets;
    const std::vector<Real> values = values_.download();
    for (std::size_t e = 0; e < values.size(); ++e) {
      const Index row = entries_at_[2 * e], column = entries_at_[2 * e + 1];
      triplets.emplace_back(row, column, values[e]);
      if (row != column) triplets.emplace_back(column, row, values[e]);
    }
    const auto size = static_cast<Eigen::Index>(at_.edges.size());
    SparseMatrix matrix(size, size);
    matrix.setFromTriplets(triplets.begin(), triplets.end());
    return matrix;
  }
  void set_impulses(const VectorXd& values) {
    std::vector<Real> own;
    for (const double x : values) own.push_back(static_cast<Real>(x));
    impulses_.upload(own);
  }

 private:
  static std::vector<Vec4<Real>> quads(const MatrixX3d& rows) {
    std::vector<Vec4<Real>> all;
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      all.push_back(
          {static_cast<Real>(rows(i, 0)), static_cast<Real>(rows(i, 1)), static_cast<Real>(rows(i, 2)), 0});
    return all;
  }
  static std::vector<double> flat_of(const Buffer<Vec4<Real>>& buffer) {
    std::vector<double> all;
    for (const Vec4<Real>& v : buffer.download()) all.insert(all.end(), {v.x, v.y, v.z});
    return all;
  }
  static std::vector<double> wide(const Buffer<Real>& buffer) {
    const std::vector<Real> own = buffer.download();
    return {own.begin(), own.end()};
  }

  Device device_;
  const SystemCase& at_;
  std::vector<Index> entries_at_;
  Buffer<Index> edge_nodes_, entries_, node_begin_, node_edges_;
  Buffer<Real> lengths_, scales_, weights_, inverse_masses_, reaches_, values_, right_side_, impulses_,
      strains_, changes_;
  Buffer<Vec4<Real>> relative_positions_, moves_, kept_, directions_;
};

template <class Real>
class ImpulseSystemKernels : public testing::Test {
 protected:
  /// Every case on every machine: the backends, all instruction sets, emulated blocks.
  template <class Check>
  static void for_each_machine(const Check& check) {
    std::vector<std::pair<std::string, ExecutionOptions>> machines;
    for (const std::string& backend : backends())
      machines.push_back({backend, {.backend = backend, .threads = 1}});
    for (const char* simd : {"baseline", "avx2", "avx512"})
      if (cpu_backend(std::string(simd) == "avx512" ? Simd::avx512
                      : std::string(simd) == "avx2" ? Simd::avx2
                                                    : Simd::baseline) != nullptr)
        machines.push_back({simd, {.simd = simd, .threads = 2}});
    machines.push_back({"emulated block", {.threads = 1, .emulated_block = 7}});
    for (const SystemCase& at : system_cases())
      for (const auto& [name, options] : machines) {
        SystemOnDevice<Real> device(at, options);
        reference::ImpulseSystem expected(at.edges, at.inverse_masses);
        expected.linearise(at.places + at.moves, 0);
        check(device, expected, at, at.name + " on " + name);
      }
  }
  /// Of a direction: differences of coordinates below 1 over lengths of at least 0.02.
  static constexpr double of_direction = 50 * 10 * static_cast<double>(std::numeric_limits<Real>::epsilon());
};
TYPED_TEST_SUITE(ImpulseSystemKernels, Precisions);

TYPED_TEST(ImpulseSystemKernels, MatrixAndRightSidesAreThoseOfTheReference) {
  this->for_each_machine(
      [](auto& device, const auto& expected, const SystemCase& at, const std::string& what) {
        constexpr double u = TestFixture::of_direction;
        const VectorXd scales = device.scales();
        device.run(phases::Linearise{});
        expect_near(device.directions(), flat(scales.asDiagonal() * expected.directions()),
                    u * largest(scales), what);
        const VectorXd errors = scales.cwiseProduct(expected.errors(at.places + at.moves));
        expect_near(device.right_side(), errors, u * largest(scales), what);
        device.run(phases::Assemble{.diagonal = 1.25});
        // Unit diagonals, also where an edge has no direction, and what is added to them.
        SparseMatrix matrix = scales.asDiagonal() * expected.matrix() * scales.asDiagonal();
        for (Eigen::Index i = 0; i < matrix.rows(); ++i) matrix.coeffRef(i, i) = 1.25;
        expect_near(device.matrix(), matrix, 2 * u, what);

        device.run(phases::FindRates{});
        expect_near(device.right_side(), scales.cwiseProduct(expected.rates(at.moves)), u * largest(scales),
                    what);
        device.run(phases::FindErrors{});
        expect_near(device.right_side(), errors, u * largest(scales), what);
        VectorXd strains(errors.size());
        for (Eigen::Index i = 0; i < strains.size(); ++i) {
          const DistanceConstraint& e = at.edges[static_cast<std::size_t>(i)];
          const MatrixX3d x = at.places + at.moves;
          strains[i] = std::abs((x.row(e.b) - x.row(e.a)).norm() / e.length - 1);
        }
        expect_near(device.strains(), strains, u, what);
      });
}

TYPED_TEST(ImpulseSystemKernels, ImpulsesMoveNodesByTheirMassesAndBack) {
  this->for_each_machine([](auto& device, const auto& expected, const SystemCase& at,
                            const std::string& what) {
    constexpr double u = TestFixture::of_direction;
    device.run(phases::KeepMoves{});
    device.run(phases::Linearise{});
    const VectorXd impulses = reference::noise(static_cast<Eigen::Index>(at.edges.size()), 1e-3, 5).col(1);
    device.set_impulses(impulses);
    device.run(phases::ApplyImpulses{});
    // W J^T S y, node by node; the reference's J rows are its directions.
    MatrixX3d change = MatrixX3d::Zero(at.places.rows(), 3);
    const VectorXd scales = device.scales();
    for (Eigen::Index i = 0; i < impulses.size(); ++i) {
      const DistanceConstraint& e = at.edges[static_cast<std::size_t>(i)];
      const Eigen::RowVector3d impulse = scales[i] * impulses[i] * expected.directions().row(i);
      change.row(e.a) += at.inverse_masses[e.a] * impulse;
      change.row(e.b) -= at.inverse_masses[e.b] * impulse;
    }
    const double bound = 8 * u * largest(at.inverse_masses) * largest(impulses) * largest(scales);
    expect_near(device.moves(), flat(at.moves + change), bound + u * 0.02, what);
    expect_near(device.changes(), change.rowwise().norm() / 0.125, 8 * (bound + u * 0.02), what);
    device.run(phases::RestoreMoves{});
    expect_near(device.moves(), flat(at.moves), 0, what);
  });
}

}  // namespace
}  // namespace isocloth
