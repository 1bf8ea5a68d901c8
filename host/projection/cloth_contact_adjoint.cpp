#include "host/projection/cloth_contact_adjoint.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/dual.hpp"

namespace isocloth {
namespace {

using Number = Dual<24>;  // by coordinates of four nodes after the step and before it
using Vector = Vec3<Number>;

double coordinate(const Vec3d& v, std::size_t k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }
const Number& coordinate(const Vector& v, std::size_t k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

Vector variable(const Vec3d& v, std::size_t first) {
  return {Number::variable(v.x, first), Number::variable(v.y, first + 1), Number::variable(v.z, first + 2)};
}

/// Weights of the points where two sides are nearest, neither at its rim: as NearestPoints has them.
std::array<Number, 4> nearest_weights(const std::array<Vector, 4>& x, std::size_t count,
                                      std::size_t first_count) {
  if (count == 2) return {1, -1};
  if (count == 3) {
    const Vector along = x[2] - x[1];
    const Number share = dot(x[0] - x[1], along) / dot(along, along);
    return {1, share - 1, -share};
  }
  // Least squares |r - s a - t b|.
  const bool is_edges = first_count == 2;
  const Vector r = is_edges ? x[0] - x[2] : x[0] - x[1], a = is_edges ? x[0] - x[1] : x[2] - x[1],
               b = is_edges ? x[3] - x[2] : x[3] - x[1];
  const Number aa = dot(a, a), ab = dot(a, b), bb = dot(b, b), ar = dot(a, r), br = dot(b, r),
               square = aa * bb - ab * ab, s = (bb * ar - ab * br) / square, t = (aa * br - ab * ar) / square;
  if (is_edges) return {1 - s, s, t - 1, -t};
  return {1, s + t - 1, -s, -t};
}

}  // namespace

ClothContactAdjoint::ClothContactAdjoint(const Cloths& cloths, const ContactWarmStart& kept)
    : cloths_(cloths) {
  for (std::size_t c = 0; c < kept.keys.size(); ++c) add_contact(kept.keys[c], kept.forces[c]);
}

void ClothContactAdjoint::add_contact(std::uint64_t key, const Vec3d& force) {
  const ContactLoad load = contact_load(cloths_.features, key, force, cloths_.after);
  Contact own{.nodes = load.nodes, .weights = load.weights};
  own.count = 4 - static_cast<std::size_t>(std::ranges::count(load.weights, 0.0));
  own.first_count =
      static_cast<std::size_t>(std::ranges::count_if(load.weights, [](double weight) { return weight > 0; }));
  Vec3d way{}, moved{};
  double inverse = 0;
  for (std::size_t i = 0; i < own.count; ++i) {
    const auto node = static_cast<std::size_t>(own.nodes[i]);
    way += own.weights[i] * cloths_.after[node];
    moved += own.weights[i] * (cloths_.after[node] - cloths_.before[node]);
    inverse += own.weights[i] * own.weights[i] * cloths_.inverse_inertia[node];
  }
  const double gamma = dot(load.force, way);
  if (!(gamma > 0) || !(inverse > 0)) return;
  own.normal = (1 / norm(way)) * way;
  // What the law asks of a contact whose force is kept (ContactLaw::response).
  constexpr double holding = 50, firmness = 1000;
  const Index one = cloths_.features.node_surfaces[own.nodes[0]],
              other = cloths_.features.node_surfaces[own.nodes[own.count - 1]];
  const FrictionClasses& classes = cloths_.friction;
  const auto line = static_cast<std::size_t>(classes.of_garments[one]),
             column = static_cast<std::size_t>(classes.of_garments[other]);
  const FrictionView<double> friction =
      one == other
          ? classes.with_self[one]
          : classes.between[line * (1 + static_cast<std::size_t>(std::ranges::max(classes.of_garments))) +
                            column];
  const auto across = [&](const Vec3d& v) { return v - dot(v, own.normal) * own.normal; };
  own.sticks = friction.static_ > 0 && norm(across(load.force) - (holding / inverse) * across(moved)) <=
                                           friction.static_ * dot(load.force, own.normal);
  own.stiffness = firmness / inverse;
  own.first_force = force_count_;
  force_count_ += own.force_count();
  differentiate(own, load.force, contact_load(cloths_.features, key, force, cloths_.before).weights,
                friction);
  contacts_.push_back(own);
}

void ClothContactAdjoint::differentiate(Contact& own, const Vec3d& force,
                                        const std::array<double, 4>& weights_before,
                                        const FrictionView<double>& friction) const {
  std::array<Vector, 4> x, start;
  for (std::size_t i = 0; i < own.count; ++i) {
    x[i] = variable(cloths_.after[own.nodes[i]], 3 * i);
    start[i] = variable(cloths_.before[own.nodes[i]], most + 3 * i);
  }
  const std::array<Number, 4> weights = nearest_weights(x, own.count, own.first_count);
  Vector way{}, moved{}, before{};
  for (std::size_t i = 0; i < own.count; ++i) {
    way += weights[i] * x[i];
    moved += weights[i] * (x[i] - start[i]);
    before += weights_before[i] * start[i];
  }
  const auto length = [](const Vector& v) { return square_root(dot(v, v)); };
  const Number distance = length(way), distance_before = length(before);
  const Vector n = (Number(1) / distance) * way, slip = moved - dot(moved, n) * n;
  // What began nearer than it should ends farther by half of what was beyond the tolerance
  // (ContactLaw::wanted_gap).
  Number gap = distance;
  if (distance.value - distance_before.value > cloths_.tolerance)
    gap -= Number(0.5) * (distance_before - distance_before.value);
  const auto constant = [](const Vec3d& v) { return Vector{v.x, v.y, v.z}; };
  Vector pushed = constant(force), place = (gap - gap.value) * constant(own.normal);
  if (own.sticks) {
    place += slip;
  } else {
    const double gamma = dot(force, own.normal);
    const Number slipped = length(slip);
    Vector push = n;
    if (slipped.value > 0) {
      push -= (Number(friction.dynamic) / slipped) * slip;
      own.by_friction = (-gamma / slipped.value) * Vec3d{slip.x.value, slip.y.value, slip.z.value};
    }
    own.push = {push.x.value, push.y.value, push.z.value};
    pushed = Number(gamma) * push;
  }
  for (std::size_t i = 0; i < own.count; ++i)
    for (std::size_t k = 0; k < 3; ++k) own.by_force[3 * i + k] = (weights[i] * coordinate(pushed, k)).by;
  if (own.sticks)
    for (std::size_t k = 0; k < 3; ++k) own.by_place[k] = coordinate(place, k).by;
  else
    own.by_place[0] = gap.by;
}

ClothContactAdjoint::Rows ClothContactAdjoint::block_of(const Contact& own, std::size_t i, std::size_t j) {
  const double k = own.stiffness * own.weights[i] * own.weights[j];
  if (own.sticks) return {Vec3d{k, 0, 0}, {0, k, 0}, {0, 0, k}};
  const Vec3d& n = own.normal;
  return {(k * n.x) * n, (k * n.y) * n, (k * n.z) * n};
}

Vec3d ClothContactAdjoint::pushed(const Contact& own, const Vec3d (&w)[4]) {
  Vec3d sum{};
  for (std::size_t i = 0; i < own.count; ++i) sum += own.weights[i] * w[i];
  return own.sticks ? sum : Vec3d{dot(own.push, sum), 0, 0};
}

std::vector<double> ClothContactAdjoint::stiffness() const {
  std::vector<double> all;
  for (const Contact& own : contacts_) all.insert(all.end(), own.force_count(), own.stiffness);
  return all;
}

void ClothContactAdjoint::multiply(const Nodes& w, const double* nu, Nodes& y, double* z) const {
  for (const Contact& own : contacts_) {
    Vec3d at[4]{};
    for (std::size_t i = 0; i < own.count; ++i)
      if (is_free(own, i)) at[i] = w[own.nodes[i]];
    const Vec3d force = pushed(own, at);
    std::array<double, 3> pull{};
    for (std::size_t k = 0; k < own.force_count(); ++k) {
      z[own.first_force + k] = coordinate(force, k);
      pull[k] = nu[own.first_force + k] + own.stiffness * coordinate(force, k);
    }
    for (std::size_t i = 0; i < own.count; ++i) {
      if (!is_free(own, i)) continue;
      std::array<double, 3> sum{};
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t r = 0; r < own.force_count(); ++r) sum[k] += own.by_place[r][3 * i + k] * pull[r];
        for (std::size_t j = 0; j < own.count; ++j)
          for (std::size_t m = 0; m < 3; ++m)
            sum[k] -= own.by_force[3 * j + m][3 * i + k] * coordinate(at[j], m);
      }
      y[own.nodes[i]] += Vec3d{sum[0], sum[1], sum[2]};
    }
  }
}

double ClothContactAdjoint::add_derivatives(const Nodes& w, const double* nu, Nodes& pulled,
                                            Nodes& by_start) const {
  double by_friction = 0;
  for (const Contact& own : contacts_)
    for (std::size_t i = 0; i < own.count; ++i) {
      std::array<double, 6> sum{};
      for (std::size_t k = 0; k < 6; ++k) {
        const std::size_t input = k < 3 ? 3 * i + k : most + 3 * i + k - 3;
        for (std::size_t r = 0; r < own.force_count(); ++r)
          sum[k] += own.by_place[r][input] * nu[own.first_force + r];
        for (std::size_t j = 0; j < own.count; ++j)
          for (std::size_t m = 0; m < 3; ++m)
            sum[k] -= own.by_force[3 * j + m][input] * coordinate(w[own.nodes[j]], m);
      }
      pulled[own.nodes[i]] += Vec3d{sum[0], sum[1], sum[2]};
      by_start[own.nodes[i]] -= Vec3d{sum[3], sum[4], sum[5]};
      by_friction += own.weights[i] * dot(own.by_friction, w[own.nodes[i]]);
    }
  return by_friction;
}

}  // namespace isocloth
