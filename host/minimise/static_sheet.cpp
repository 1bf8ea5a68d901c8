#include "host/minimise/static_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/model/methods.hpp"
#include "host/reference/bending.hpp"
#include "host/reference/garment_nodes.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using reference::SparseMatrix;

}  // namespace

/// Mesh, held nodes, and where blocks of pairs of nodes are in the system of free coordinates.
struct StaticSheet::Shape {
  Garment garment;
  Recipe recipe;
  double gravity = 0;
  Topology topology;
  std::vector<char> is_free_of_pins, is_held;
  Eigen::VectorXd masses;  ///< masses per density [m^2], shape [node_count]
  double element_size = 0;
  std::map<std::array<Index, 2>, std::size_t> blocks;  ///< number of the block of each pair of nodes a >= b
  std::vector<std::array<Index, 2>> pairs;
  std::vector<Index> free_index;  ///< free_index of each node among the free ones, -1: held
  Eigen::SparseMatrix<double> pattern;
  /// Places of the entries of each block in the values of the pattern, -1: none.
  std::vector<std::array<Eigen::Index, 9>> entries;

  std::size_t block(Index a, Index b) const { return blocks.at({std::max(a, b), std::min(a, b)}); }
  void add_pair(Index a, Index b) {
    const std::array<Index, 2> pair{std::max(a, b), std::min(a, b)};
    if (blocks.try_emplace(pair, pairs.size()).second) pairs.push_back(pair);
  }
  void make_pattern() {
    Index free = 0;
    free_index.assign(is_held.size(), -1);
    for (std::size_t i = 0; i < is_held.size(); ++i)
      if (!is_held[i]) free_index[i] = free++;
    std::vector<Eigen::Triplet<double>> triplets;
    const auto for_each_entry = [&](const auto& visit) {
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto a = free_index[static_cast<std::size_t>(pairs[k][0])],
                   b = free_index[static_cast<std::size_t>(pairs[k][1])];
        if (a < 0 || b < 0) continue;
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < (a == b ? r + 1 : 3); ++c) visit(k, 3 * r + c, 3 * a + r, 3 * b + c);
      }
    };
    for_each_entry([&](std::size_t, int, int row, int column) { triplets.emplace_back(row, column, 0.0); });
    pattern.resize(3 * free, 3 * free);
    pattern.setFromTriplets(triplets.begin(), triplets.end());
    entries.assign(pairs.size(), {-1, -1, -1, -1, -1, -1, -1, -1, -1});
    for_each_entry([&](std::size_t k, int rc, int row, int column) {
      const int *begin = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column],
                *end = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column + 1];
      entries[k][static_cast<std::size_t>(rc)] = std::lower_bound(begin, end, row) - pattern.innerIndexPtr();
    });
  }
};

StaticSheet::StaticSheet(const Garment& garment, const Recipe& recipe, double gravity,
                         std::vector<char> is_held) {
  require_known(methods::static_sheet, garment, recipe, "garments[0]");
  auto shape = std::make_shared<Shape>();
  shape->garment = garment;
  shape->recipe = recipe;
  shape->gravity = garment.gravity.value_or(gravity);
  shape->topology = build_topology(garment.mesh);
  shape->is_free_of_pins = reference::node_kinds(garment).is_free;
  shape->is_held = std::move(is_held);
  shape->masses = reference::lumped_areas(garment.mesh, reference::surface_points(garment.mesh));
  shape->element_size = std::sqrt(shape->masses.mean());
  shape_ = shape;
  set_rows(garment.fabric);
  for (const Row& row : rows_)
    for (int i = 0; i < row.count; ++i)
      for (int j = 0; j <= i; ++j)
        shape->add_pair(row.nodes[static_cast<std::size_t>(i)], row.nodes[static_cast<std::size_t>(j)]);
  for (int column = 0; column < bending_->outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(*bending_, column); entry; ++entry)
      shape->add_pair(static_cast<Index>(entry.row()), column);
  for (Index i = 0; i < garment.mesh.node_count(); ++i) shape->add_pair(i, i);
  shape->make_pattern();
  start_system();
}

StaticSheet::StaticSheet(const StaticSheet& like, const Fabric& fabric)
    : shape_(like.shape_), rows_(like.rows_), bending_(like.bending_), model_(like.model_) {
  Garment garment = shape_->garment;
  garment.fabric = fabric;
  require_known(methods::static_sheet, garment, shape_->recipe, "garments[0]");
  set_rows(fabric);
  start_system();
}

void StaticSheet::start_system() {
  system_ = shape_->pattern;
  factor_ = std::make_shared<Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>>();
  if (system_.rows() > 0) factor_->analyzePattern(system_);
  for (Row& row : rows_)
    for (int i = 0; i < row.count; ++i)
      for (int j = 0; j < row.count; ++j)
        row.blocks[static_cast<std::size_t>(4 * i + j)] =
            shape_->block(row.nodes[static_cast<std::size_t>(i)], row.nodes[static_cast<std::size_t>(j)]);
  bending_blocks_.clear();
  for (int column = 0; column < bending_->outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(*bending_, column); entry; ++entry)
      if (entry.row() >= column)
        bending_blocks_.push_back(shape_->block(static_cast<Index>(entry.row()), column));
}

void StaticSheet::set_rows(const Fabric& fabric) {
  const Recipe& recipe = shape_->recipe;
  const Mesh& mesh = shape_->garment.mesh;
  reference::GarmentRows made =
      reference::garment_rows(recipe, mesh, shape_->topology, fabric, shape_->is_free_of_pins);
  const reference::QuadraticRows& rows = made.rows;
  const SparseMatrix weights = rows.weights.transpose(), left = rows.left.transpose(),
                     right = rows.right.transpose();
  rows_.assign(static_cast<std::size_t>(rows.row_count()), {});
  for (Eigen::Index r = 0; r < rows.row_count(); ++r) {
    Row& row = rows_[static_cast<std::size_t>(r)];
    row.rest = rows.rest[r];
    row.stiffness = made.stiffness[r];
    row.law = made.law_of(r);
    row.measure = made.measure_of(r);
    const auto place = [&row](Index node) {
      for (int i = 0; i < row.count; ++i)
        if (row.nodes[static_cast<std::size_t>(i)] == node) return i;
      row.nodes[static_cast<std::size_t>(row.count)] = node;
      return row.count++;
    };
    for (SparseMatrix::InnerIterator weight(weights, static_cast<int>(r)); weight; ++weight)
      for (SparseMatrix::InnerIterator a(left, weight.row()); a; ++a)
        for (SparseMatrix::InnerIterator b(right, weight.row()); b; ++b) {
          const int i = place(static_cast<Index>(a.row())), j = place(static_cast<Index>(b.row()));
          const double half = 0.5 * weight.value() * a.value() * b.value();
          row.tensor[static_cast<std::size_t>(4 * i + j)] += half;
          row.tensor[static_cast<std::size_t>(4 * j + i)] += half;
        }
  }
  laws_ = std::vector<reference::StressLaw>(made.curves.begin(), made.curves.end());
  const Bending bending = bending_of(recipe, fabric);
  if (!bending_ || !(bending == model_))
    bending_ = std::make_shared<const SparseMatrix>(
        reference::bending_matrix(mesh, shape_->topology, bending, shape_->is_free_of_pins));
  model_ = bending;
  kappa_ = fabric.bending_stiffness;
  weight_ = fabric.gravity_density * shape_->gravity;
}

reference::ElasticResponse StaticSheet::response(const Row& row, double c) const {
  return reference::elastic_response(laws_, row.law, row.measure, c);
}

/// C and dC/dx of each of its nodes.
double StaticSheet::strain(const Row& row, const Vector& x, std::array<Vector3d, 4>& gradient) const {
  // Relative to the first node: exact far from the origin, and every row of T has the sum 0.
  const Vector3d origin = x.segment<3>(3 * row.nodes[0]);
  std::array<Vector3d, 4> p;
  for (int i = 0; i < row.count; ++i)
    p[static_cast<std::size_t>(i)] = x.segment<3>(3 * row.nodes[static_cast<std::size_t>(i)]) - origin;
  double c = -row.rest;
  for (int i = 0; i < row.count; ++i) {
    Vector3d sum = Vector3d::Zero();
    for (int j = 0; j < row.count; ++j)
      sum += row.tensor[static_cast<std::size_t>(4 * i + j)] * p[static_cast<std::size_t>(j)];
    gradient[static_cast<std::size_t>(i)] = 2 * sum;
    c += p[static_cast<std::size_t>(i)].dot(sum);
  }
  return c;
}

double StaticSheet::energy(const Vector& x) const {
  std::array<Vector3d, 4> gradient;
  double sum = 0;
  for (const Row& row : rows_) sum += row.stiffness * response(row, strain(row, x, gradient)).energy;
  using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  const Eigen::Map<const Coordinates> p(x.data(), x.size() / 3, 3);
  if (kappa_ > 0) sum += kappa_ / 2 * p.cwiseProduct(*bending_ * p).sum();
  return sum + weight_ * shape_->masses.dot(p.col(2));
}

StaticSheet::Vector StaticSheet::gradient(const Vector& x) const {
  Vector sum = Vector::Zero(x.size());
  std::array<Vector3d, 4> gradient;
  for (const Row& row : rows_) {
    const double force = row.stiffness * response(row, strain(row, x, gradient)).stress;
    for (int i = 0; i < row.count; ++i)
      sum.segment<3>(3 * row.nodes[static_cast<std::size_t>(i)]) +=
          force * gradient[static_cast<std::size_t>(i)];
  }
  using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  const Eigen::Map<const Coordinates> p(x.data(), x.size() / 3, 3);
  Eigen::Map<Coordinates> out(sum.data(), x.size() / 3, 3);
  if (kappa_ > 0) out += kappa_ * (*bending_ * p);
  out.col(2) += weight_ * shape_->masses;
  return sum;
}

void StaticSheet::assemble(const Vector& x) {
  gradient_ = gradient(x);
  blocks_.assign(shape_->pairs.size(), Matrix3d::Zero());
  Vector sizes = std::fabs(weight_) * shape_->masses;
  std::array<Vector3d, 4> g;
  for (const Row& row : rows_) {
    const reference::ElasticResponse found = response(row, strain(row, x, g));
    const double along = row.stiffness * found.slope, force = row.stiffness * found.stress;
    for (int i = 0; i < row.count; ++i) {
      const auto a = static_cast<std::size_t>(i);
      sizes[row.nodes[a]] += std::fabs(force) * g[a].norm();
      for (int j = 0; j < row.count; ++j) {
        const auto b = static_cast<std::size_t>(j);
        if (row.nodes[a] < row.nodes[b]) continue;
        Matrix3d& block = blocks_[row.blocks[4 * a + b]];
        block += along * g[a] * g[b].transpose();
        block.diagonal().array() += 2 * force * row.tensor[4 * a + b];
      }
    }
  }
  if (kappa_ > 0) {
    auto place = bending_blocks_.begin();
    for (int column = 0; column < bending_->outerSize(); ++column)
      for (SparseMatrix::InnerIterator entry(*bending_, column); entry; ++entry)
        if (entry.row() >= column) blocks_[*place++].diagonal().array() += kappa_ * entry.value();
  }
  scale_ = sizes.size() > 0 ? sizes.maxCoeff() : 0;
  std::fill(system_.valuePtr(), system_.valuePtr() + system_.nonZeros(), 0.0);
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    for (std::size_t rc = 0; rc < 9; ++rc)
      if (shape_->entries[k][rc] >= 0)
        system_.valuePtr()[shape_->entries[k][rc]] +=
            blocks_[k](static_cast<Eigen::Index>(rc / 3), static_cast<Eigen::Index>(rc % 3));
}

void StaticSheet::factorise(double& mu) {
  const double unit = system_.diagonal().cwiseAbs().mean();
  for (;;) {
    factor_->setShift(mu);
    factor_->factorize(system_);
    if (factor_->info() == Eigen::Success && factor_->vectorD().minCoeff() > 1e-13 * unit) return;
    if (mu > 1e6 * unit || !std::isfinite(unit))
      throw NumericalError("rest: found a stiffness that is not finite, expected finite numbers");
    mu = std::max(4 * mu, 1e-6 * unit);
  }
}

double StaticSheet::largest_free(const Vector& forces) const {
  double most = 0;
  for (std::size_t i = 0; i < shape_->is_held.size(); ++i)
    if (!shape_->is_held[i])
      most = std::max(most, forces.segment<3>(3 * static_cast<Eigen::Index>(i)).norm());
  return most;
}

Balance StaticSheet::settle(Vector& x, const BalanceSettings& settings) {
  Balance result;
  if (system_.rows() == 0) return {true, true, 0};
  double mu = 0, now = energy(x);
  for (;; ++result.iterations) {
    assemble(x);
    const double rest = largest_free(gradient_);
    if (!std::isfinite(rest) || !std::isfinite(now)) return result;
    result.is_at_rest = rest <= std::max(settings.tolerance * scale_, 1e-14);
    const double asked = mu = result.is_at_rest ? 0 : mu;
    factorise(mu);
    result.is_stable = result.is_at_rest && mu == 0;
    if (result.is_at_rest || result.iterations == settings.most_iterations) return result;
    const bool is_convex = mu == asked;
    bool moved = false;
    for (int attempt = 0; attempt < 40 && !moved; ++attempt) {
      Vector d = solve(-gradient_);
      double longest = 0;
      for (Eigen::Index i = 0; i < d.size() / 3; ++i) longest = std::max(longest, d.segment<3>(3 * i).norm());
      const double most = settings.longest_step * shape_->element_size;
      if (longest > most) d *= most / longest;
      const double slope = gradient_.dot(d), rounding = 1e-14 * (std::fabs(now) + scale_ * longest);
      for (double t = 1; t > 1e-3 && !moved; t /= 2) {
        const Vector next = x + t * d;
        const double then = energy(next);
        // Where differences of energies are rounding, the forces decide.
        if (then <= now + 1e-4 * t * slope ||
            (then <= now + rounding && largest_free(gradient(next)) < 0.9 * rest)) {
          moved = true;
          x = next;
          now = then;
          if (t == 1 && is_convex) mu = mu > 1e-9 * system_.diagonal().cwiseAbs().mean() ? mu / 10 : 0;
        }
      }
      if (!moved) {
        mu = std::max(10 * mu, 1e-8 * system_.diagonal().cwiseAbs().mean());
        factorise(mu);
      }
    }
    if (!moved) return result;
  }
}

bool StaticSheet::linearise(const Vector& x) {
  assemble(x);
  double mu = 0;
  if (system_.rows() > 0) factorise(mu);
  return mu == 0;
}

StaticSheet::Vector StaticSheet::solve(const Vector& side) const {
  Vector free(system_.rows()), all = Vector::Zero(side.size());
  if (free.size() == 0) return all;
  for (std::size_t i = 0; i < shape_->free_index.size(); ++i)
    if (shape_->free_index[i] >= 0)
      free.segment<3>(3 * shape_->free_index[i]) = side.segment<3>(3 * static_cast<Eigen::Index>(i));
  free = factor_->solve(free).eval();
  for (std::size_t i = 0; i < shape_->free_index.size(); ++i)
    if (shape_->free_index[i] >= 0)
      all.segment<3>(3 * static_cast<Eigen::Index>(i)) = free.segment<3>(3 * shape_->free_index[i]);
  return all;
}

StaticSheet::Vector StaticSheet::times_stiffness(const Vector& y) const {
  Vector sum = Vector::Zero(y.size());
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const auto [a, b] = shape_->pairs[k];
    sum.segment<3>(3 * a) += blocks_[k] * y.segment<3>(3 * b);
    if (a != b) sum.segment<3>(3 * b) += blocks_[k].transpose() * y.segment<3>(3 * a);
  }
  return sum;
}

std::vector<double> StaticSheet::strains(const Vector& x, Index law) const {
  std::vector<double> all;
  std::array<Vector3d, 4> gradient;
  for (const Row& row : rows_) {
    if (row.law != law) continue;
    const double c = strain(row, x, gradient);
    // Springs along diagonals have the strain of their own length.
    const bool is_green = row.measure == StrainMeasure::green;
    all.push_back(!is_green ? std::sqrt(std::max(0.0, 1 + c)) - 1 : law == RowLaw::shear ? c : c / 2);
  }
  return all;
}

}  // namespace isocloth
