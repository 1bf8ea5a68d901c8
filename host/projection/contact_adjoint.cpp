#include "host/projection/contact_adjoint.hpp"

#include <cmath>

#include "engine/core/dual.hpp"
#include "kernels/samples/contact_terms.hpp"

namespace isocloth {
namespace {

template <class Number>
Vec3<Number> constant(const Vec3d& v) {
  return {Number(v.x), Number(v.y), Number(v.z)};
}
template <class Number>
Vec3<Number> variable(const Vec3d& v, std::size_t first) {
  return {Number::variable(v.x, first), Number::variable(v.y, first + 1), Number::variable(v.z, first + 2)};
}
template <class Number>
PoseView<Number> constant(const PoseView<double>& pose) {
  return {constant<Number>(pose.center),
          {constant<Number>(pose.axes[0]), constant<Number>(pose.axes[1]), constant<Number>(pose.axes[2])}};
}
template <class Number>
ShapeView<Number> constant(const ShapeView<double>& shape) {
  return {.kind = shape.kind,
          .half = constant<Number>(shape.half),
          .rounding = shape.rounding,
          .reach = shape.reach,
          .origin = constant<Number>(shape.origin),
          .cell = shape.cell,
          .nodes = {shape.nodes[0], shape.nodes[1], shape.nodes[2]},
          .distances = shape.distances,
          .blocks = shape.blocks};
}

Vec3d times(const Vec3d (&rows)[3], const Vec3d& v) {
  return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
}
Vec3d transposed_times(const Vec3d (&rows)[3], const Vec3d& v) {
  return v.x * rows[0] + v.y * rows[1] + v.z * rows[2];
}

/// Three derivatives from `first` on.
template <std::size_t Size>
Vec3d part(const std::array<double, Size>& all, std::size_t first) {
  return {all[first], all[first + 1], all[first + 2]};
}

/// Adds what a loss is by a point in the frame of a solid, along axes of the world, to that by its pose.
void add_pose(const Vec3d& by_point, const Vec3d& from_center, PoseGradient& sum) {
  sum.translation -= by_point;
  sum.rotation -= cross(from_center, by_point);
}

const PoseView<double>& pose_of(const ActOnSamples<double>& all, Index obstacle, bool after) {
  const Placement<double>& motion = all.obstacles.placement(obstacle);
  return after && all.obstacles.moving[obstacle] >= 0 ? motion.end : motion.begin;
}

}  // namespace

ContactAdjoint::ContactAdjoint(const ActOnSamples<double>& samples, const FirstIterate<double>& first)
    : all_(&samples), first_(&first) {
  const SamplePattern& pattern = samples.pattern;
  for (Index sample = 0; sample < pattern.sample_count(); ++sample)
    for (Index k = 0; k < pattern.contacts_of(sample); ++k)
      add_contact(static_cast<std::size_t>(pattern.first_contact(sample) + k), sample);
}

void ContactAdjoint::add_contact(std::size_t number, Index sample) {
  using Number = Dual<input_count>;
  using Vector = Vec3<Number>;
  using Place = Dual<turn>;  // of what depends on where points are alone
  const ActOnSamples<double>& all = *all_;
  const ContactArrays<double>& a = all.contacts;
  const Index obstacle = static_cast<Index>(a.obstacles[number]);
  const Vec3d kept = a.forces.vector(number);
  if (obstacle < 0 || kept == Vec3d{}) return;
  const cpu::ContactTerms<double> terms(all);
  const double area = terms.area_of(sample, obstacle);
  if (!(area > 0)) return;
  Contact own{.number = number, .sample = sample, .obstacle = obstacle, .force = {}};
  const double mass = terms.inertia_of(sample);
  own.inertia_per_metric = mass / all.control.inertia;

  Vec3d start{}, end{};
  each_slot(own, [&](double weight, std::size_t node) {
    start += weight * all.positions.start.vector(node);
    end += weight * all.positions.iterate.vector(node);
  });
  const PoseView<double>&before = pose_of(all, obstacle, false), &after = pose_of(all, obstacle, true);
  const Vec3<Place> local_from = variable<Place>(cpu::to_local(before, start), from),
                    local_to = variable<Place>(cpu::to_local(after, end), to);
  const Vector turned = variable<Number>({}, turn);
  const ShapeView<Place> shape = constant<Place>(all.obstacles.shapes[obstacle]);
  const cpu::ContactOffset<Place> offset{all.control.offset, all.control.offset};
  const Place tolerance = all.control.tolerance;
  const cpu::SweptDistance<Place> here = cpu::swept_distance(shape, offset, tolerance, local_from, local_to);
  const PoseView<Number> pose = constant<Number>(after);
  const auto to_world = [&](const Vec3<Place>& v) {
    const Vector there =
        cpu::turned(pose, Vector{Number::by_first(v.x), Number::by_first(v.y), Number::by_first(v.z)});
    return there + cross(turned, there);
  };
  const Vec3d had{a.began[4 * number], a.began[4 * number + 1], a.began[4 * number + 2]};
  own.had_force = !(had == Vec3d{});
  own.had_slip = a.began[4 * number + 3] > 0;
  const cpu::ContactPoint<Number> point{
      .normal = to_world(here.normal),
      .displacement = to_world(local_to - local_from),
      .gap = Number::by_first(here.gap),
      .gap_before = Number::by_first(cpu::gap_before(shape, offset, tolerance, here, local_from, local_to)),
      .area = area,
      .inertia = Number::variable(mass, inertia),
      .force = constant<Number>(kept),
      .began = variable<Number>(had, began),
      .slip = Number::variable(a.began[4 * number + 3], slip)};

  const ContactControl<double>& c = all.control;
  const cpu::CompressionLaw<Number> law{.step = c.step, .unit = c.unit};
  using Pressed = Dual<1>;
  const cpu::CompressionLaw<Pressed> thickness{
      .curve = {c.curve.give, c.curve.offset, c.curve.linear_from, c.curve.largest_slope},
      .step = c.step,
      .unit = c.unit};
  // k at a force.
  const auto stiffness_at = [&](const Number& force) {
    const Pressed k = thickness.squeeze(Pressed::variable(force.value, 0), area).stiffness;
    return Number::of(k.value, k.by[0], force);
  };
  const Vector n = point.normal;
  const Vec3d normal{n.x.value, n.y.value, n.z.value};
  const double pressing = dot(kept, normal);
  if (!(pressing > 0)) return;
  // g_v = -s(F).
  const double firm = thickness.squeeze(pressing, area).stiffness.value;
  const auto gap = law.viscous(point);
  const Number force = pressing - firm * (gap.gap - gap.gap.value);
  Vector total = force * n;
  const double along = gap.rate.value * firm;
  for (int i = 0; i < 3; ++i) own.factored[i] = along * (&normal.x)[i] * normal;

  const FrictionView<double> friction = all.obstacles.friction[obstacle];
  if (friction.static_ > 0) {
    const FrictionView<Number> mu{Number::variable(friction.static_, static_friction),
                                  Number::variable(friction.dynamic, dynamic_friction)};
    const Vector slipped = point.displacement - dot(point.displacement, n) * n;
    const Number then = cpu::larger(dot(point.began, n), Number(0)),
                 before_grip = law.grip(then, stiffness_at(then), point.inertia),
                 grip = law.grip(force, stiffness_at(force), point.inertia),
                 left = before_grip > grip ? grip / before_grip : Number(1);
    const Vector z = left * (point.began - dot(point.began, n) * n) - grip * slipped;
    const Number size = cpu::length(z), bound = law.coefficient(mu, point.slip) * force;
    const bool slides = size > bound;
    const Number share = slides ? bound / size : Number(1);
    total += share * z;
    // Nothing resists along the slip.
    const double across = share.value * grip.value;
    const Vec3d s = slides ? (1 / size.value) * Vec3d{z.x.value, z.y.value, z.z.value} : Vec3d{};
    for (int i = 0; i < 3; ++i) {
      own.factored[i] -= across * ((&normal.x)[i] * normal + (&s.x)[i] * s);
      (&own.factored[i].x)[i] += across;
    }
  }
  own.force = {total.x.value, total.y.value, total.z.value};
  own.by = {total.x.by, total.y.by, total.z.by};
  for (std::size_t i = 0; i < 3; ++i) own.stiffness[i] = -cpu::turned(after, part(own.by[i], to));
  contacts_.push_back(own);
}

template <class Visit>
void ContactAdjoint::each_slot(const Contact& own, const Visit& visit) const {
  const SamplePattern& pattern = all_->pattern;
  for (Index slot = pattern.sample_begin[own.sample]; slot < pattern.sample_begin[own.sample + 1]; ++slot)
    visit(all_->contacts.weights[static_cast<std::size_t>(slot)],
          static_cast<std::size_t>(pattern.slot_nodes[slot]));
}

Vec3d ContactAdjoint::point(const Contact& own, const Nodes& of_nodes) const {
  Vec3d sum{};
  each_slot(own, [&](double weight, std::size_t node) { sum += weight * of_nodes[node]; });
  return sum;
}

void ContactAdjoint::spread(const Contact& own, const Vec3d& value, Nodes& to_nodes) const {
  each_slot(own, [&](double weight, std::size_t node) { to_nodes[node] += weight * value; });
}

void ContactAdjoint::settle_samples() const {
  if (all_ == nullptr) return;
  const ContactArrays<double>& a = all_->contacts;
  const SamplePattern& pattern = all_->pattern;
  const auto add = [&](Index sample, const Vec3d& force, const Vec3d(&rows)[3], double sign) {
    const std::size_t s = static_cast<std::size_t>(sample);
    a.sample_forces.set_vector(s, a.sample_forces.vector(s) + sign * force);
    std::size_t entry = 6 * s;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) a.sample_stiffness[entry++] += sign * (&rows[i].x)[j];
  };
  for (Index sample = 0; sample < pattern.sample_count(); ++sample)
    for (Index k = 0; k < pattern.contacts_of(sample); ++k) {
      const Index number = pattern.first_contact(sample) + k;
      if (!cpu::acts(a, number)) continue;
      const cpu::ContactResponse<double> r = cpu::kept_response(a, number);
      const Vec3d rows[3] = {r.times({1, 0, 0}), r.times({0, 1, 0}), r.times({0, 0, 1})};
      add(sample, r.pull, rows, -1);
    }
  for (const Contact& own : contacts_) add(own.sample, own.force, own.factored, 1);
}

void ContactAdjoint::add_beyond(const Nodes& x, Nodes& y) const {
  for (const Contact& own : contacts_) {
    const Vec3d moved = point(own, x);
    spread(own, transposed_times(own.stiffness, moved) - times(own.factored, moved), y);
  }
}

void ContactAdjoint::add_whole(const Nodes& x, Nodes& y) const {
  for (const Contact& own : contacts_) spread(own, transposed_times(own.stiffness, point(own, x)), y);
}

void ContactAdjoint::add_loss(const std::vector<ContactGradient>& loss, Nodes& by_nodes) const {
  if (loss.empty()) return;
  for (const Contact& own : contacts_)
    spread(own, -transposed_times(own.stiffness, loss[own.number].force), by_nodes);
}

Vec3d ContactAdjoint::arm(const Contact& own) const {
  Vec3d end{};
  each_slot(own,
            [&](double weight, std::size_t node) { end += weight * all_->positions.iterate.vector(node); });
  return end - pose_of(*all_, own.obstacle, true).center;
}

std::vector<Wrench> ContactAdjoint::wrenches(double step) const {
  std::vector<Wrench> sums(all_ == nullptr ? 0 : all_->obstacles.size());
  for (const Contact& own : contacts_) {
    Wrench& sum = sums[static_cast<std::size_t>(own.obstacle)];
    const Vec3d force = 1 / (step * step) * own.force;
    sum.force += force;
    sum.torque += cross(arm(own), force);
  }
  return sums;
}

void ContactAdjoint::add_wrenches(const std::vector<Wrench>& loss, double step,
                                  std::vector<ContactGradient>& by_contacts, Nodes& by_nodes,
                                  StepGradient& found) const {
  if (loss.empty() || all_ == nullptr) return;
  by_contacts.resize(static_cast<std::size_t>(all_->pattern.contact_count()));
  found.obstacles.resize(all_->obstacles.size());
  const double unit = 1 / (step * step);
  for (const Contact& own : contacts_) {
    const Wrench& by = loss[static_cast<std::size_t>(own.obstacle)];
    by_contacts[own.number].force += unit * (by.force + cross(by.torque, arm(own)));
    const Vec3d by_point = unit * cross(own.force, by.torque);
    spread(own, by_point, by_nodes);
    found.obstacles[static_cast<std::size_t>(own.obstacle)][1].translation -= by_point;
  }
}

void ContactAdjoint::add_derivatives(const Nodes& w, const std::vector<ContactGradient>& loss, double rate,
                                     double step, StepGradient& found, Nodes& by_first) const {
  if (all_ == nullptr) return;
  const ActOnSamples<double>& all = *all_;
  found.obstacles.resize(all.obstacles.size());
  found.friction.resize(all.obstacles.size());
  found.before.contacts.resize(static_cast<std::size_t>(all.pattern.contact_count()));
  for (const Contact& own : contacts_) {
    const std::size_t o = static_cast<std::size_t>(own.obstacle);
    Vec3d pulled = point(own, w);
    if (!loss.empty()) pulled += loss[own.number].force;
    std::array<double, input_count> by{};
    for (std::size_t i = 0; i < input_count; ++i)
      by[i] = pulled.x * own.by[0][i] + pulled.y * own.by[1][i] + pulled.z * own.by[2][i];

    const PoseView<double>&before = pose_of(all, own.obstacle, false),
          &after = pose_of(all, own.obstacle, true);
    const Vec3d by_end = cpu::turned(after, part(by, to)), by_start = cpu::turned(before, part(by, from));
    Vec3d start{}, end{};
    each_slot(own, [&](double weight, std::size_t node) {
      start += weight * all.positions.start.vector(node);
      end += weight * all.positions.iterate.vector(node);
    });
    spread(own, by_start, found.before.positions);
    auto& [begins, ends] = found.obstacles[o];
    add_pose(by_start, start - before.center, begins);
    add_pose(by_end, end - after.center, ends);
    ends.rotation += part(by, turn);
    found.friction[o][0] += by[static_friction];
    found.friction[o][1] += by[dynamic_friction];
    const double by_metric = by[inertia] * own.inertia_per_metric;
    found.rho += rate * rate * by_metric;
    found.alpha += rate * step * by_metric;

    double by_slip = by[slip];
    if (!loss.empty() && all.contacts.slips[own.number] > 0) by_slip += loss[own.number].slip;
    ContactGradient& kept = found.before.contacts[own.number];
    if (own.had_force) kept.force += part(by, began);
    if (!own.had_slip || by_slip == 0) continue;
    kept.slip += by_slip;
    add_first_slip(own, by_slip, found, by_first);
  }
}

void ContactAdjoint::add_first_slip(const Contact& own, double by_slip, StepGradient& found,
                                    Nodes& by_first) const {
  using Number = Dual<6>;
  const ActOnSamples<double>& all = *all_;
  const PoseView<double>&before = pose_of(all, own.obstacle, false),
        &after = pose_of(all, own.obstacle, true);
  const SamplePattern& pattern = all.pattern;
  const auto each_first = [&](const auto& visit) {
    for (Index slot = pattern.sample_begin[own.sample]; slot < pattern.sample_begin[own.sample + 1]; ++slot)
      visit(first_->weights[static_cast<std::size_t>(slot)],
            static_cast<std::size_t>(pattern.slot_nodes[slot]));
  };
  Vec3d start{}, there{};
  each_first([&](double weight, std::size_t node) {
    start += weight * all.positions.start.vector(node);
    there += weight * first_->positions[node];
  });
  const Vec3<Number> local_from = variable<Number>(cpu::to_local(before, start), 3),
                     local_to = variable<Number>(cpu::to_local(after, there), 0);
  const Number offset = all.control.offset;
  const cpu::SweptDistance<Number> here =
      cpu::swept_distance<Number>(constant<Number>(all.obstacles.shapes[own.obstacle]), {offset, offset},
                                  all.control.tolerance, local_from, local_to);
  const Vec3<Number> way = local_to - local_from;
  const Number slipped = cpu::length(way - dot(way, here.normal) * here.normal);
  if (!(slipped.value > cpu::CompressionLaw<double>::rest_speed * all.control.step)) return;
  const Vec3d by_end = by_slip * cpu::turned(after, part(slipped.by, 0)),
              by_start = by_slip * cpu::turned(before, part(slipped.by, 3));
  each_first([&](double weight, std::size_t node) {
    by_first[node] += weight * by_end;
    found.before.positions[node] += weight * by_start;
  });
  auto& [begins, ends] = found.obstacles[static_cast<std::size_t>(own.obstacle)];
  add_pose(by_start, start - before.center, begins);
  add_pose(by_end, there - after.center, ends);
}

}  // namespace isocloth
