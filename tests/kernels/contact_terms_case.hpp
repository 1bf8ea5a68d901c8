// A sheet among obstacles with planted contacts, and what the formulas make of them.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <utility>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/garment/sample_arrays.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/reference/squeezed_contact.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/samples/contact_terms.hpp"

namespace isocloth {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

inline constexpr double offset = 0.0009765625, tolerance = 1e-4, inertia = 1.5, time_step = 0.0078125,
                        time_unit = time_step * time_step;
inline const Compression compression = compression_of_thickness(2 * offset);

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
  scene.contact.resolve_initial_penetration = true;  // the sheet is planted in its obstacles
  scene.contact.initial_penetration_time = 0;
  scene.garments = {sheet};
  scene.obstacles = {make("floor", PlaneShape{}, {}, {}, {0.5, 0.375}),
                     make("wall", PlaneShape{}, {}, {0.1, 0.2, 0}, {}),
                     make("corner", BoxShape{{2 * half, 2 * half, 2 * half}, 0},
                          Vec3d{0.05, 0.07, 0.006 - std::sqrt(3.0) * half}, axis, {0.75, 0.25}),
                     make("bar", BoxShape{{0.02, 0.4, 0.05}, 0}, {0.2, 0.1, -0.0225}, {}, {0.25, 0.25})};
  return scene;
}

/// What one contact must be.
struct Expected {
  reference::SqueezedPoint point;
  reference::SqueezedRow row;  ///< in newtons
  Friction friction;
};

template <class Real>
class ContactTermsCase : public ::testing::Test {
 protected:
  explicit ContactTermsCase(Scene own = planted_scene()) : scene(std::move(own)) {}

  Scene scene;
  const Garment& garment = scene.garments[0];
  Device device{ExecutionOptions{.threads = 1}};
  GarmentArrays<Real> arrays{device, garment, find_recipe(scene.recipe), false, true};
  SampleArrays samples{device, garment.mesh, arrays.pattern, scene};
  ObstacleTable<Real> table{device, std::make_shared<ObstacleShapes<Real>>(device, scene), {&garment}};
  SamplePattern pattern = samples.view();
  std::vector<Real> start, iterate, correction, inverse_masses;
  std::vector<Real> forces, obstacles, slips, points, normals, pulls, stiffness, began, mismatches, modes,
      weights, depths, errors, shared_with, shared_areas, sample_stiffness, sample_forces, near;
  std::vector<Real> eased_obstacles, eased_depths;  ///< where pattern.eases
  Clearances<Real> clearances;
  double ease_begin = 0, ease_end = 0, sought_from = 0,
         sought_to = 1;           ///< of the step; of the part that is sought
  std::vector<Vector3d> planted;  ///< forces before
  std::vector<int> planted_on;
  std::vector<double> planted_slips;

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
    planted_slips.assign(contacts, 0);
    const double scale = 2000 * time_unit / static_cast<double>(inverse_masses[4]);
    const auto put = [&](Index contact, int obstacle) {
      const auto c = static_cast<std::size_t>(contact);
      planted_on[c] = obstacle;
      planted_slips[c] = as_float(random.uniform(0, 1.5e-4));
      for (int k = 0; k < 3; ++k)
        planted[c][k] = as_float(scale * (k == 2 ? random.uniform(0, 1) : random.uniform(-0.4, 0.4)));
    };
    for (Index node = 0; node < pattern.node_count; ++node) {
      if (node % 3 != 2) put(pattern.first_contact(node), 0);
      if (node % 4 == 1) put(pattern.first_contact(node) + 1, 1);
    }
    put(pattern.first_contact(pattern.node_count + pattern.edge_count), 2);  // face 0
    for (auto* v : {&forces, &obstacles, &slips, &modes}) v->clear();
    for (std::size_t c = 0; c < contacts; ++c) {
      for (int k = 0; k < 3; ++k) forces.push_back(static_cast<Real>(planted[c][k]));
      obstacles.push_back(static_cast<Real>(planted_on[c]));
      slips.push_back(static_cast<Real>(planted_slips[c]));
      modes.push_back(static_cast<Real>(static_cast<int>(ContactMode::stick)));
    }
    points.assign(2 * contacts, Real(0.25));
    // What is not written shows.
    for (auto* v : {&normals, &pulls}) v->assign(3 * contacts, Real(77));
    stiffness.assign(3 * contacts, Real(77));
    began.assign(4 * contacts, Real(77));
    mismatches.assign(contacts, Real(77));
    weights.assign(pattern.slot_nodes.size(), Real(77));
    depths.assign(count, Real(77));
    errors.assign(count, Real(77));
    shared_with.assign(count, Real(-1));
    shared_areas.assign(pattern.slot_nodes.size(), Real(77));
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
    args.control.step = static_cast<Real>(time_step);
    args.control.unit = static_cast<Real>(time_unit);
    args.control.accuracy = static_cast<Real>(tolerance);
    args.control.curve = {static_cast<Real>(compression.give()), static_cast<Real>(compression.offset()),
                          static_cast<Real>(compression.linear_from()),
                          static_cast<Real>(compression.largest_slope())};
    args.positions = {{start.data(), 1},
                      {start.data(), 1},
                      {iterate.data(), 1},
                      {inverse_masses.data(), 1},
                      {inverse_masses.data(), 1}};
    args.near = {{near.data(), 1}, clearances};
    ContactArrays<Real>& all = args.contacts;
    all.forces.data = forces.data();
    all.obstacles.data = obstacles.data();
    all.slips.data = slips.data();
    all.points.data = points.data();
    all.normals.data = normals.data();
    all.pulls.data = pulls.data();
    all.stiffness.data = stiffness.data();
    all.began.data = began.data();
    all.mismatches.data = mismatches.data();
    all.modes.data = modes.data();
    all.weights.data = weights.data();
    all.depths.data = depths.data();
    all.errors.data = errors.data();
    all.shared_with.data = shared_with.data();
    all.shared_areas.data = shared_areas.data();
    args.free = arrays.free_view();
    args.node_slots = samples.node_slots.view();
    all.sample_stiffness.data = sample_stiffness.data();
    all.sample_forces.data = sample_forces.data();
    all.eased = {{eased_obstacles.data(), 1}, {eased_depths.data(), 1}};
    use(cpu::ContactTerms<Real>(args));
  }
  void find(bool keeps_forces) {
    with_terms(keeps_forces, [&](const cpu::ContactTerms<Real>& terms) {
      terms.list_near({-1, -1, -1}, {1, 1, 1});
      for (Index node = 0; node < pattern.node_count; ++node) terms.note_way(node);
      for (Index s = 0; s < pattern.sample_count(); ++s) terms.act(s);
    });
  }
  void update(bool keeps_forces = true) {
    with_terms(keeps_forces, [&](const cpu::ContactTerms<Real>& terms) {
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
  /// Of its nodes, by their weights and how far it is from all of them [m^2]; 0 where none is free.
  double area(Index sample) const {
    double sum = 0, corner = 0;
    const Index first = pattern.sample_begin[sample], last = pattern.sample_begin[sample + 1];
    for (Index slot = first; slot < last; ++slot) {
      const auto inverse = static_cast<double>(inverse_masses[pattern.slot_nodes[slot]]),
                 own = static_cast<double>(weights[slot]);
      corner = std::max(corner, own);
      if (inverse > 0) sum += own / inverse;
    }
    const double size = last - first;
    return size == 1 ? sum : sum / 8 * (1 - corner) / (1 - 1 / size);
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
  /// was: the contact before, -1: none; contact: where the kernel keeps it, -1: nowhere.
  Expected expected(Index sample, int obstacle, Index was, Index contact) const {
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
    Expected e;
    e.friction = scene.obstacles[static_cast<std::size_t>(obstacle)].friction;
    reference::SqueezedPoint& point = e.point;
    point.area = area(sample);
    point.inertia = inertia / time_unit / inverse_mass(sample);
    point.normal = eigen(at.gradient);
    point.way = end - begin;
    point.gap = at.value - offset;
    point.gap_before = std::min(0.0, point.gap - point.normal.dot(point.way));
    // Far behind a surface what the normal of now says is wrong beyond an edge.
    if (point.gap_before < std::min(point.gap, -tolerance)) {
      const double found = distance.at({begin.x(), begin.y(), begin.z()}, 0).value - offset +
                           sunk(sample, obstacle, sought_from);
      point.gap_before = std::clamp(found, point.gap_before, 0.0);
    }
    point.force = point.force_before = Vector3d::Zero();
    point.is_new = was < 0;
    if (was >= 0) {
      const auto c = static_cast<std::size_t>(was);
      point.force = point.force_before = planted[c] / time_unit;
      point.slid_before = planted_slips[c];
    }
    const double slip = (point.way - point.normal * point.normal.dot(point.way)).norm();
    if (slip > 1e-4 * time_step) point.slid_before += slip;
    if (point.area > 0) e.row = reference::squeezed_row(point, compression, e.friction, time_step);
    return e;
  }
  /// Places are known to a few u of a metre, forces to their rates times that and a few u of themselves [kg
  /// m].
  double known(const Expected& e) const {
    const double u = 32 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    return u * (time_unit * (2 * e.row.normal_rate + 4 * (e.row.force.norm() + e.row.spring.norm())) + 1e-6);
  }
  /// What a sample exerts is the sum of its contacts; an element that touches nothing leaves that as it was,
  /// and has no weight.
  void expect_sums(Index s, const Matrix3d& sum, const Vector3d& force, double stiffness_error,
                   double force_error) const {
    const auto weight = weights.begin();
    if (std::all_of(weight + pattern.sample_begin[s], weight + pattern.sample_begin[s + 1],
                    [](Real w) { return w == 0; })) {
      ASSERT_EQ(sum.norm() + force.norm(), 0);
      return;
    }
    Matrix3d found;
    const auto* a = sample_stiffness.data() + 6 * s;
    found << a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5];
    ASSERT_LE((found - sum).norm(), stiffness_error);
    for (int k = 0; k < 3; ++k)
      ASSERT_NEAR(static_cast<double>(sample_forces[3 * s + k]), force[k], force_error);
  }
};

}  // namespace isocloth
