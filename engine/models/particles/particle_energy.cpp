#include "engine/models/particles/particle_energy.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

constexpr double reach = 1.5, slack = 0.25;  // of the spacing

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

AngleValue angle_value(const EnergyLaw& law, Vec3d u, Vec3d v, bool with_hessian) {
  const double lu = norm(u), lv = norm(v);
  const Vec3d a = (1 / lu) * u, b = (1 / lv) * v;
  const double c = std::clamp(dot(a, b), -1.0, 1.0);
  const LawValue f = law(c);
  const Vec3d p = b - c * a, q = a - c * b, cu = (1 / lu) * p, cv = (1 / lv) * q;
  AngleValue result{f.value, f.first * cu, f.first * cv, {}};
  if (!with_hessian) return result;
  const double A[3] = {a.x, a.y, a.z}, B[3] = {b.x, b.y, b.z}, P[3] = {p.x, p.y, p.z}, Q[3] = {q.x, q.y, q.z};
  const double g[6] = {cu.x, cu.y, cu.z, cv.x, cv.y, cv.z};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const double one = i == j ? 1 : 0;
      const double uu = -(A[i] * P[j] + P[i] * A[j] + c * (one - A[i] * A[j])) / (lu * lu);
      const double vv = -(B[i] * Q[j] + Q[i] * B[j] + c * (one - B[i] * B[j])) / (lv * lv);
      const double uv = (one - B[i] * B[j] - A[i] * Q[j]) / (lu * lv);
      result.hessian[6 * i + j] = f.first * uu + f.second * g[i] * g[j];
      result.hessian[6 * (i + 3) + j + 3] = f.first * vv + f.second * g[i + 3] * g[j + 3];
      result.hessian[6 * i + j + 3] = f.first * uv + f.second * g[i] * g[j + 3];
      result.hessian[6 * (j + 3) + i] = result.hessian[6 * i + j + 3];
    }
  return result;
}

ParticleEnergy::ParticleEnergy(ParticleModel model)
    : model_(std::move(model)), members_(size()), near_of_(size()) {
  const auto add = [&](Index node, Member member) {
    if (node < 0 || at(node) >= size())
      throw ShapeError(text("found particle ", node, ", expected one of ", size()));
    members_[at(node)].push_back(member);
  };
  if (model_.is_held.size() != size())
    throw ShapeError(text("found ", model_.is_held.size(), " marks of held particles, expected ", size()));
  for (std::size_t g = 0; g < model_.lengths.size(); ++g)
    for (std::size_t k = 0; k < model_.lengths[g].pairs.size(); ++k)
      for (const Index node : model_.lengths[g].pairs[k]) add(node, {false, g, k});
  for (std::size_t g = 0; g < model_.angles.size(); ++g)
    for (std::size_t k = 0; k < model_.angles[g].triples.size(); ++k)
      for (const Index node : model_.angles[g].triples[k]) add(node, {true, g, k});
}

LawValue ParticleEnergy::contact(Vec3d x, Vec3d& normal) const {
  if (!model_.gap) return {};
  const Gap gap = model_.gap(x);
  if (gap.value >= 0) return {};
  normal = gap.normal;
  const double k = model_.contact_stiffness;
  return {k * gap.value * gap.value / 2, k * gap.value, k};
}

std::vector<std::pair<std::string, double>> ParticleEnergy::parts(const std::vector<Vec3d>& x) {
  follow_if_moved(x);
  std::vector<std::pair<std::string, double>> result;
  for (const LengthTerms& terms : model_.lengths) {
    double sum = 0;
    for (const auto& [a, b] : terms.pairs) sum += terms.law(norm(x[at(a)] - x[at(b)])).value;
    result.emplace_back(terms.name, sum);
  }
  for (const AngleTerms& terms : model_.angles) {
    double sum = 0;
    for (const auto& [a, m, b] : terms.triples)
      sum += angle_value(terms.law, x[at(a)] - x[at(m)], x[at(b)] - x[at(m)], false).energy;
    result.emplace_back(terms.name, sum);
  }
  double repel = 0, weight = 0, contacts = 0;
  for (const auto& [a, b] : near_) {
    const double r = norm(x[at(a)] - x[at(b)]);
    if (r < model_.spacing) repel += model_.repulsion(r).value;
  }
  Vec3d normal;
  for (std::size_t i = 0; i < size(); ++i) {
    weight += weight_energy(x, i);
    contacts += contact(x[i], normal).value;
  }
  if (model_.repulsion) result.emplace_back("repel", repel);
  result.emplace_back("gravity", weight);
  result.emplace_back("contact", contacts);
  return result;
}

double ParticleEnergy::value(const std::vector<Vec3d>& x) {
  double sum = 0;
  for (const auto& part : parts(x)) sum += part.second;
  return sum;
}

std::vector<Vec3d> ParticleEnergy::gradient(const std::vector<Vec3d>& x) {
  follow_if_moved(x);
  std::vector<Vec3d> result(size());
  for (std::size_t i = 0; i < size(); ++i)
    if (!model_.is_held[i]) result[i] = local_gradient(x, static_cast<Index>(i));
  return result;
}

double ParticleEnergy::local_value(const std::vector<Vec3d>& x, Index i) const {
  Vec3d normal;
  double sum = weight_energy(x, at(i)) + contact(x[at(i)], normal).value;
  for (const Member& m : members_[at(i)]) {
    if (m.is_angle) {
      const AngleTerms& terms = model_.angles[m.group];
      const auto& [a, middle, b] = terms.triples[m.item];
      sum += angle_value(terms.law, x[at(a)] - x[at(middle)], x[at(b)] - x[at(middle)], false).energy;
    } else {
      const LengthTerms& terms = model_.lengths[m.group];
      const auto& [a, b] = terms.pairs[m.item];
      sum += terms.law(norm(x[at(a)] - x[at(b)])).value;
    }
  }
  for (const Index j : near_of_[at(i)]) {
    const double r = norm(x[at(i)] - x[at(j)]);
    if (r < model_.spacing) sum += model_.repulsion(r).value;
  }
  return sum;
}

Vec3d ParticleEnergy::local_gradient(const std::vector<Vec3d>& x, Index i) const {
  Vec3d normal;
  const LawValue touching = contact(x[at(i)], normal);
  Vec3d sum = touching.first * normal - model_.masses[at(i)] * model_.gravity;
  for (const Member& m : members_[at(i)]) {
    if (m.is_angle) {
      const AngleTerms& terms = model_.angles[m.group];
      const auto& [a, middle, b] = terms.triples[m.item];
      const AngleValue e = angle_value(terms.law, x[at(a)] - x[at(middle)], x[at(b)] - x[at(middle)], false);
      sum += i == a ? e.by_u : i == b ? e.by_v : -(e.by_u + e.by_v);
    } else {
      const LengthTerms& terms = model_.lengths[m.group];
      const auto& [a, b] = terms.pairs[m.item];
      const Vec3d d = x[at(i)] - x[at(i == a ? b : a)];
      const double r = norm(d);
      sum += (terms.law(r).first / r) * d;
    }
  }
  for (const Index j : near_of_[at(i)]) {
    const Vec3d d = x[at(i)] - x[at(j)];
    const double r = norm(d);
    if (r < model_.spacing) sum += (model_.repulsion(r).first / r) * d;
  }
  return sum;
}

void ParticleEnergy::follow(const std::vector<Vec3d>& x) {
  followed_ = x;
  near_.clear();
  for (auto& others : near_of_) others.clear();
  if (!model_.repulsion) return;
  const double cell = reach * model_.spacing;
  using Cell = std::array<long, 3>;
  const auto cell_of = [cell](Vec3d p) {
    return Cell{std::lround(p.x / cell), std::lround(p.y / cell), std::lround(p.z / cell)};
  };
  std::vector<std::pair<Cell, Index>> cells(size());
  for (std::size_t i = 0; i < size(); ++i) cells[i] = {cell_of(x[i]), static_cast<Index>(i)};
  std::ranges::sort(cells);
  for (std::size_t i = 0; i < size(); ++i) {
    const Cell home = cell_of(x[i]);
    for (long dx = -1; dx <= 1; ++dx)
      for (long dy = -1; dy <= 1; ++dy) {
        // Cells of one column follow each other.
        const Cell from{home[0] + dx, home[1] + dy, home[2] - 1}, to{home[0] + dx, home[1] + dy, home[2] + 1};
        for (auto it = std::ranges::lower_bound(cells, std::pair{from, static_cast<Index>(i) + 1}, {}, {});
             it != cells.end() && it->first <= to; ++it) {
          const Index j = it->second;
          if (at(j) <= i || norm(x[i] - x[at(j)]) >= cell) continue;
          near_.push_back({static_cast<Index>(i), j});
          near_of_[i].push_back(j);
          near_of_[at(j)].push_back(static_cast<Index>(i));
        }
      }
  }
}

void ParticleEnergy::follow_if_moved(const std::vector<Vec3d>& x) {
  const double most = slack * model_.spacing;
  bool moved = followed_.size() != x.size();
  for (std::size_t i = 0; !moved && i < x.size(); ++i) moved = norm(x[i] - followed_[i]) > most;
  if (moved) follow(x);
}

}  // namespace isocloth
