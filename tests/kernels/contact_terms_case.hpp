// A sheet among obstacles with planted contacts, and what the formulas make of them.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/garment/sample_arrays.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/contact/contact_terms.hpp"

namespace isocloth {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

inline constexpr double offset = 0.0009765625, tolerance = 1e-4, inertia = 1.5, stiffening = 250;

inline Vector3d eigen(Vec3d v) { return {v.x, v.y, v.z}; }
inline double as_float(double x) { return static_cast<double>(static_cast<float>(x)); }

/// A sheet of 3 x 3 nodes over a floor and a tilted wall, which the nodes touch, a box whose corner pokes
/// into face 0, and one whose upper side runs across edges. All numbers that kernels read are floats.
inline Scene planted_scene() {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(3, 3, 0.25, 0.25);
  sheet.pins = {{"pin", {1, 6}, FixedMotion{}}};
  const auto make = [](const char* name, const ObstacleShape& shape, Vec3d position, Vec3d rotation,
                       Friction friction) {
    return Obstacle{.name = name,
                    .shape = shape,
                    .position = position,
                    .rotation = rotation,
                    .motion = {},
                    .friction = friction};
  };
  const double upright = std::acos(1 / std::sqrt(3.0));  // turns a diagonal of a cube to the z axis
  const double half = 0.0625;
  const Vec3d axis = upright / std::sqrt(2.0) * Vec3d{1, -1, 0};
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.contact.push_out = true;  // the sheet is planted in its obstacles
  scene.contact.push_out_time = 0;
  scene.garments = {sheet};
  scene.obstacles = {make("floor", PlaneShape{}, {}, {}, {0.5, 0.375}),
                     make("wall", PlaneShape{}, {}, {0.1, 0.2, 0}, {}),
                     make("corner", BoxShape{{2 * half, 2 * half, 2 * half}, 0},
                          Vec3d{0.05, 0.07, 0.006 - std::sqrt(3.0) * half}, axis, {0.75, 0.25}),
                     make("bar", BoxShape{{0.02, 0.4, 0.05}, 0}, {0.2, 0.1, -0.0225}, {}, {0.25, 0.25})};
  return scene;
}

/// What one contact must be along its normal, and across it where it sticks.
struct Expected {
  bool active = false;
  double k = 0, gamma = 0;  ///< [kg], [kg m]
  double pull = 0;          ///< along the normal, of an unchanged position [kg m]
  Vector3d normal = Vector3d::Zero();
  Vector3d tau = Vector3d::Zero();   ///< tangential part of p [kg m]
  Vector3d slip = Vector3d::Zero();  ///< displacement less its part along the normal [m]
  Friction friction;
};
inline Expected expected_contact(const Vector3d& p, const Vector3d& displacement,
                                 const reference::SignedDistance& at, double before, double inverse_mass,
                                 const Friction& mu, bool keeps_forces) {
  Expected e;
  e.normal = eigen(at.gradient);
  e.friction = mu;
  // What may stay of a depth that was there before: nine tenths up to the tolerance, half beyond.
  const double found = at.value - offset, depth = found < 0 ? std::max(0.0, -before) : 0,
               gap = found + 0.9 * std::min(depth, tolerance) + 0.5 * std::max(0.0, depth - tolerance);
  e.gamma = std::max(0.0, p.dot(e.normal));
  e.active = inverse_mass > 0 && (gap < 0 || (e.gamma > 0 && gap < 1e-3));
  if (!e.active) return e;
  // What bears much is stiffer where forces are kept.
  const double point = inertia / inverse_mass;
  e.k = stiffening * point;
  if (keeps_forces) e.k = std::max(e.k, std::min(3 * e.gamma / tolerance, 1e4 * point));
  e.pull = e.gamma - e.k * gap;
  e.tau = p - e.normal * e.normal.dot(p);
  e.slip = displacement - e.normal * e.normal.dot(displacement);
  return e;
}

template <class Real>
class ContactTermsCase : public ::testing::Test {
 protected:
  Scene scene = planted_scene();
  const Garment& garment = scene.garments[0];
  Device device{ExecutionOptions{.threads = 1}};
  GarmentArrays<Real> arrays{device, garment, find_recipe(scene.recipe), false, true};
  SampleArrays samples{device, garment.mesh, arrays.pattern, scene};
  ObstacleTable<Real> table{device, std::make_shared<ObstacleShapes<Real>>(device, scene), {&garment}};
  SamplePattern pattern = samples.view();
  std::vector<Real> start, iterate, correction, inverse_masses;
  std::vector<Real> forces, obstacles, points, normals, pulls, stiffness, modes, weights, depths,
      sample_stiffness, sample_forces, near;
  std::vector<Real> eased_obstacles, eased_depths;  ///< where pattern.eases
  double ease_begin = 0, ease_end = 0, sought_from = 0,
         sought_to = 1;           ///< of the step; of the part that is sought
  std::vector<Vector3d> planted;  ///< forces before
  std::vector<int> planted_on;

  void plant(std::uint64_t seed) {
    Random random(seed);
    const auto contacts = static_cast<std::size_t>(pattern.contact_count()),
               count = static_cast<std::size_t>(pattern.sample_count());
    for (auto* v : {&start, &iterate, &correction}) v->clear();
    for (const Vec3d& rest : garment.mesh.positions) {
      // The floor's and the wall's contacts, some apart, some deep, some that move far within the step.
      const double floor = offset + random.uniform(-8e-4, 8e-4);
      const Vec3d x{rest.x, rest.y, floor};
      const double far = std::pow(10.0, random.uniform(-6, -2.5));
      const Vec3d move{far * random.uniform(-1, 1), far * random.uniform(-1, 1),
                       2e-4 * random.uniform(-1, 1)};
      for (const double c : {x.x, x.y, x.z}) iterate.push_back(static_cast<Real>(as_float(c)));
      for (const double c : {x.x - move.x, x.y - move.y, x.z - move.z})
        start.push_back(static_cast<Real>(as_float(c)));
      for (int c = 0; c < 3; ++c)
        correction.push_back(static_cast<Real>(as_float(random.uniform(-5e-4, 5e-4))));
    }
    inverse_masses = arrays.inverse_masses.download();
    planted.assign(contacts, Vector3d::Zero());
    planted_on.assign(contacts, -1);
    const double scale = stiffening * inertia / static_cast<double>(inverse_masses[4]) * 5e-4;
    const auto put = [&](Index contact, int obstacle) {
      const auto c = static_cast<std::size_t>(contact);
      planted_on[c] = obstacle;
      for (int k = 0; k < 3; ++k)
        planted[c][k] = as_float(scale * (k == 2 ? random.uniform(0, 1) : random.uniform(-0.4, 0.4)));
    };
    for (Index node = 0; node < pattern.node_count; ++node) {
      if (node % 3 != 2) put(pattern.first_contact(node), 0);
      if (node % 4 == 1) put(pattern.first_contact(node) + 1, 1);
    }
    put(pattern.first_contact(pattern.node_count + pattern.edge_count), 2);  // face 0
    forces.clear();
    obstacles.clear();
    for (std::size_t c = 0; c < contacts; ++c) {
      for (int k = 0; k < 3; ++k) forces.push_back(static_cast<Real>(planted[c][k]));
      obstacles.push_back(static_cast<Real>(planted_on[c]));
    }
    points.assign(2 * contacts, Real(0.25));
    // What is not written shows.
    for (auto* v : {&normals, &pulls}) v->assign(3 * contacts, Real(77));
    stiffness.assign(2 * contacts, Real(77));
    modes.assign(contacts, Real(77));
    weights.assign(pattern.slot_nodes.size(), Real(77));
    depths.assign(count, Real(77));
    sample_stiffness.assign(6 * count, Real(77));
    sample_forces.assign(3 * count, Real(77));
    near.assign(1 + static_cast<std::size_t>(most_near), Real(77));
  }

  template <class Use>
  void with_terms(bool keeps_forces, const Use& use) {
    ActOnSamples<Real> args;
    args.pattern = pattern;
    args.obstacles = table.view(0, 0);
    args.obstacles.ease_begin = static_cast<Real>(ease_begin);
    args.obstacles.ease_end = static_cast<Real>(ease_end);
    args.control.from = static_cast<Real>(sought_from);
    args.control.to = static_cast<Real>(sought_to);
    args.control.offset = static_cast<Real>(offset);
    args.control.tolerance = static_cast<Real>(tolerance);
    args.control.inertia = static_cast<Real>(inertia);
    args.control.keeps_forces = keeps_forces;
    args.control.stiffening = static_cast<Real>(stiffening);
    args.places = {{start.data(), 1},
                   {start.data(), 1},
                   {iterate.data(), 1},
                   {inverse_masses.data(), 1},
                   {inverse_masses.data(), 1}};
    args.near = {{near.data(), 1}};
    ContactArrays<Real>& all = args.contacts;
    all.forces.data = forces.data();
    all.obstacles.data = obstacles.data();
    all.points.data = points.data();
    all.normals.data = normals.data();
    all.pulls.data = pulls.data();
    all.stiffness.data = stiffness.data();
    all.modes.data = modes.data();
    all.weights.data = weights.data();
    all.depths.data = depths.data();
    all.sample_stiffness.data = sample_stiffness.data();
    all.sample_forces.data = sample_forces.data();
    all.eased = {{eased_obstacles.data(), 1}, {eased_depths.data(), 1}};
    use(cpu::ContactTerms<Real>(args));
  }
  void find(bool keeps_forces) {
    with_terms(keeps_forces, [&](const cpu::ContactTerms<Real>& terms) {
      terms.list_near({-1, -1, -1}, {1, 1, 1});
      for (Index s = 0; s < pattern.sample_count(); ++s) terms.act(s);
    });
  }
  void update() {
    with_terms(true, [&](const cpu::ContactTerms<Real>& terms) {
      for (Index s = 0; s < pattern.sample_count(); ++s)
        terms.update(
            s,
            [&](Index node) {
              const auto i = static_cast<std::size_t>(3 * node);
              if (arrays.pattern.free_number[node] < 0) return Vec3<Real>{};
              return Vec3<Real>{correction[i], correction[i + 1], correction[i + 2]};
            },
            [](Index, Index) { return Vec3<Real>{}; });
    });
  }

  /// Weighted mean of the nodes' vectors.
  Vector3d at_sample(Index sample, const std::vector<Real>& vectors, bool free_only = false) const {
    Vector3d sum = Vector3d::Zero();
    for (Index slot = pattern.sample_begin[sample]; slot < pattern.sample_begin[sample + 1]; ++slot) {
      const Index node = pattern.slot_nodes[slot];
      if (free_only && arrays.pattern.free_number[node] < 0) continue;
      for (int k = 0; k < 3; ++k)
        sum[k] += static_cast<double>(weights[slot]) *
                  static_cast<double>(vectors[static_cast<std::size_t>(3 * node + k)]);
    }
    return sum;
  }
  double inverse_mass(Index sample) const {
    double sum = 0;
    for (Index slot = pattern.sample_begin[sample]; slot < pattern.sample_begin[sample + 1]; ++slot)
      sum += static_cast<double>(weights[slot]) * static_cast<double>(weights[slot]) *
             static_cast<double>(inverse_masses[pattern.slot_nodes[slot]]);
    return sum;
  }
  /// How deep a node may be in an obstacle by easing at a part of the step [m].
  double sunk(Index sample, int obstacle, double done) const {
    if (!pattern.eases || sample >= pattern.node_count) return 0;
    double depth = 0;
    for (Index k = 0; k < pattern.contacts_per_node; ++k) {
      const auto at = static_cast<std::size_t>(pattern.first_contact(sample) + k);
      if (static_cast<int>(eased_obstacles[at]) == obstacle) depth = static_cast<double>(eased_depths[at]);
    }
    return depth * ((1 - done) * ease_begin + done * ease_end);
  }
  /// contact: where the kernel keeps it, -1: nowhere.
  Expected expected(Index sample, int obstacle, const Vector3d& force, Index contact,
                    bool keeps_forces) const {
    const reference::ObstacleDistance distance(scene.obstacles[static_cast<std::size_t>(obstacle)]);
    const Vector3d end = at_sample(sample, iterate), begin = at_sample(sample, start);
    reference::SignedDistance at = distance.at({end.x(), end.y(), end.z()}, 0);
    // Where two sides of a box are as far away, either normal leads out.
    if (contact >= 0) {
      const auto c = static_cast<std::size_t>(3 * contact);
      const Vec3d n{static_cast<double>(normals[c]), static_cast<double>(normals[c + 1]),
                    static_cast<double>(normals[c + 2])};
      const double step = 1e-4, out = distance.at(Vec3d{end.x(), end.y(), end.z()} + step * n, 0).value;
      const double most = 64 * static_cast<double>(std::numeric_limits<Real>::epsilon());
      if (at.value < 0 && norm(n - at.gradient) > 0.1 && std::abs(out - at.value - step) <= most)
        at.gradient = n;
    }
    at.value += sunk(sample, obstacle, sought_to);
    return expected_contact(force, end - begin, at,
                            distance.at({begin.x(), begin.y(), begin.z()}, 0).value - offset +
                                sunk(sample, obstacle, sought_from),
                            inverse_mass(sample),
                            scene.obstacles[static_cast<std::size_t>(obstacle)].friction, keeps_forces);
  }
  /// Places are known to a few u of a metre, forces to k times that.
  static double known(const Expected& e) {
    return 32 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::max(e.k, 1.0);
  }
};

}  // namespace isocloth
