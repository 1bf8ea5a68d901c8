#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/standard_gravity.hpp"
#include "host/models/particles/minimise.hpp"

namespace isocloth {
namespace {

using Block3 = Eigen::Matrix3d;
using Block6 = Eigen::Matrix<double, 6, 6>;

/// Sums 3x3 blocks between particles that are free.
class Blocks {
 public:
  explicit Blocks(const std::vector<char>& is_held) : is_held_(is_held) {}
  void add(Index i, Index j, const Block3& block) {
    if (is_held_[static_cast<std::size_t>(i)] || is_held_[static_cast<std::size_t>(j)]) return;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        if (3 * i + r >= 3 * j + c) triplets.emplace_back(3 * i + r, 3 * j + c, block(r, c));
  }
  std::vector<Eigen::Triplet<double>> triplets;  ///< entries of the lower triangle

 private:
  const std::vector<char>& is_held_;
};

Eigen::Vector3d eigen(Vec3d v) { return {v.x, v.y, v.z}; }

void add_length(Blocks& blocks, Index a, Index b, const EnergyLaw& law, Vec3d d) {
  const double r = norm(d);
  const LawValue f = law(r);
  const Eigen::Vector3d n = eigen(d) / r;
  const double across = std::max(f.first / r, 0.0), along = std::max(f.second, 0.0);
  const Block3 h = across * Block3::Identity() + (along - across) * n * n.transpose();
  blocks.add(a, a, h);
  blocks.add(b, b, h);
  blocks.add(a, b, -h);
  blocks.add(b, a, -h);
}

void add_angle(Blocks& blocks, const std::array<Index, 3>& nodes, const EnergyLaw& law, Vec3d u, Vec3d v) {
  const AngleValue e = angle_value(law, u, v, true);
  const Block6 h = Eigen::Map<const Block6>(e.hessian.data());
  Eigen::SelfAdjointEigenSolver<Block6> solver(h);
  const Block6 p = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
                   solver.eigenvectors().transpose();
  const Block3 uu = p.topLeftCorner<3, 3>(), uv = p.topRightCorner<3, 3>(), vv = p.bottomRightCorner<3, 3>();
  const auto [a, m, b] = nodes;
  const Block3 am = -uu - uv, bm = -uv.transpose() - vv;
  blocks.add(a, a, uu);
  blocks.add(b, b, vv);
  blocks.add(a, b, uv);
  blocks.add(b, a, uv.transpose());
  blocks.add(a, m, am);
  blocks.add(m, a, am.transpose());
  blocks.add(b, m, bm);
  blocks.add(m, b, bm.transpose());
  blocks.add(m, m, -am - bm);
}

std::vector<Eigen::Triplet<double>> hessian(const ParticleEnergy& energy, const std::vector<Vec3d>& x) {
  const ParticleModel& model = energy.model();
  const auto at = [&x](Index i) { return x[static_cast<std::size_t>(i)]; };
  Blocks blocks(model.is_held);
  for (const LengthTerms& terms : model.lengths)
    for (const auto& [a, b] : terms.pairs) add_length(blocks, a, b, terms.law, at(a) - at(b));
  for (const auto& [a, b] : energy.near_pairs())
    if (const Vec3d d = at(a) - at(b); norm(d) < model.spacing) add_length(blocks, a, b, model.repulsion, d);
  for (const AngleTerms& terms : model.angles)
    for (const auto& t : terms.triples)
      add_angle(blocks, t, terms.law, at(t[0]) - at(t[1]), at(t[2]) - at(t[1]));
  for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
    Vec3d normal;
    const double k = energy.contact(at(i), normal).second;
    if (k > 0) blocks.add(i, i, k * eigen(normal) * eigen(normal).transpose());
  }
  return std::move(blocks.triplets);
}

}  // namespace

void require_finite_start(double energy) {
  if (!std::isfinite(energy))
    throw NumericalError(
        "the energy of the start is not finite: threads lie on each other, or shear by 60 degrees");
}

double note_iteration(const MinimiserPoint& point, const MinimiserSettings& settings,
                      MinimiserResult& result) {
  MonitorView(settings.monitor).count(1);
  result.history.push_back(point);
  if (settings.observer) settings.observer(point);
  return point.residual;
}

double residual(ParticleEnergy& energy, const std::vector<Vec3d>& x) {
  double most = 0, mass = 0;
  for (const Vec3d& f : energy.gradient(x)) most = std::max(most, norm(f));
  for (const double m : energy.model().masses) mass += m;
  const double g = norm(energy.model().gravity);
  return most / (mass / static_cast<double>(x.size()) * (g > 0 ? g : standard_gravity));
}

MinimiserResult minimise_by_newton(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                   const MinimiserSettings& settings) {
  const auto n = static_cast<Eigen::Index>(3 * x.size());
  const double longest = energy.model().spacing / 4;
  double mass = 0;
  for (const double m : energy.model().masses) mass += m;
  const double unit = standard_gravity * mass / static_cast<double>(x.size()) / energy.model().spacing;
  double now = energy.value(x), mu = unit, rest = residual(energy, x);
  require_finite_start(now);
  MinimiserResult result{{{0, now, rest}}, "iterations"};
  const MonitorView monitor(settings.monitor);
  for (std::int64_t k = 1; k <= settings.most_iterations; ++k) {
    if (rest <= settings.tolerance) break;
    if (monitor.stops()) return result.status = "interrupted", result;
    const std::vector<Vec3d> gradient = energy.gradient(x);
    const std::vector<double> flat = as_numbers(gradient.data(), gradient.size());
    const Eigen::Map<const Eigen::VectorXd> g(flat.data(), n);
    std::vector<Eigen::Triplet<double>> triplets = hessian(energy, x);
    for (Eigen::Index i = 0; i < n; ++i) triplets.emplace_back(static_cast<int>(i), static_cast<int>(i), 0.0);
    Eigen::SparseMatrix<double> h(n, n);
    h.setFromTriplets(triplets.begin(), triplets.end());
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor;
    factor.analyzePattern(h);
    bool moved = false;
    std::vector<Vec3d> next(x.size());
    for (int attempt = 0; attempt < 30 && !moved && !monitor.stops(); ++attempt) {
      factor.setShift(mu);
      factor.factorize(h);
      Eigen::VectorXd d = factor.solve(-g);
      double most = 0;
      for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, norm(vector_at(d.data(), i)));
      if (!std::isfinite(most)) {
        mu *= 10;
        continue;
      }
      if (most > longest) d *= longest / most;
      const double slope = g.dot(d);
      for (double t = 1; t > 1e-3 && !moved; t /= 2) {
        for (std::size_t i = 0; i < x.size(); ++i) next[i] = x[i] + t * vector_at(d.data(), i);
        const double then = energy.value(next);
        if (then < now && then <= now + 1e-4 * t * slope) {
          moved = true;
          now = then;
          if (t == 1) mu = std::max(mu / 3, 1e-9 * unit);
          if (t < 0.25) mu *= 4;
        }
      }
      if (!moved) mu *= 10;
    }
    if (!moved) return result.status = monitor.stops() ? "interrupted" : "stalled", result;
    x = next;
    rest = note_iteration({k, now, residual(energy, x)}, settings, result);
  }
  if (rest <= settings.tolerance) result.status = "at rest";
  return result;
}

}  // namespace isocloth
