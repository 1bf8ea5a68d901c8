#include "host/reference/squeezed_contact.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth::reference {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double viscous_time = 1e-3, weakening_slip = 1e-4, rest_speed = 1e-4;

double friction_after(const Friction& friction, double slid) {
  const double share = std::min(slid / weakening_slip, 1.0);
  return share * friction.dynamic + (1 - share) * friction.static_;
}

}  // namespace

SqueezedRow squeezed_row(const SqueezedPoint& point, const Compression& law, const Friction& friction,
                         double step) {
  const Vector3d n = point.normal;
  const Matrix3d along = n * n.transpose(), across = Matrix3d::Identity() - along;
  const double load = std::max(0.0, point.force.dot(n)), pressure = load / point.area,
               nearer = (law.thickness - law.thickness_at(pressure)) / 2,
               rate = 2 * point.area * law.slope(pressure);
  const bool is_squeezed = point.gap < 0;
  const double share = is_squeezed ? viscous_time / step : 0,
               gap = point.gap + share * (point.gap - std::min(point.gap_before, 0.0));
  SqueezedRow row;
  row.error = load > 0 && is_squeezed ? std::abs(gap + nearer) : std::max(0.0, -gap);
  // Of what bears little, the stiffness is bounded by the inertia.
  const double on_curve = std::min(pressure, law.linear_from()),
               loaded = rate * on_curve / (on_curve + law.offset()), left = gap + nearer,
               light = 70 * point.inertia, bounded = std::min(rate, loaded + light);
  double firm = bounded;
  if (left > 0) firm = std::min(bounded, std::max(2 * load / left, std::min(bounded, light)));
  const double pull = load - firm * left;
  row.exists = pull > 0 || load > 0;
  if (!row.exists) return row;
  row.normal_rate = (1 + share) * firm;
  row.force = pull * n;
  row.stiffness = row.normal_rate * along;
  if (!(friction.static_ > 0)) return row;
  const auto grip = [&](double force) {
    return std::min(2 * point.area * law.slope(force / point.area),
                    50 * point.inertia + force / weakening_slip);
  };
  const double grip_before = grip(std::max(0.0, point.force_before.dot(n)));
  row.spring_rate = grip(load);
  row.spring = across * (std::min(1.0, row.spring_rate / grip_before) * point.force_before -
                         row.spring_rate * point.way);
  const double alone = std::max(0.0, -point.inertia * gap),
               bound =
                   friction_after(friction, point.slid_before) * (load > 0 ? load : std::min(alone, pull)),
               size = row.spring.norm();
  const double slip = (across * point.way).norm() * point.inertia;
  row.slides = size > bound && !(point.is_new && slip <= 2 * bound);
  if (!row.slides) {
    row.force += row.spring;
    row.stiffness += row.spring_rate * across;
    return row;
  }
  const Vector3d direction = row.spring / size;
  row.force += bound * direction;
  row.stiffness += bound / size * row.spring_rate * across;
  const bool is_fast = slip > bound / 2;
  if (is_fast) row.stiffness -= bound / size * row.spring_rate * direction * direction.transpose();
  return row;
}

SqueezedForce squeezed_force(const SqueezedPoint& point, const SqueezedRow& row, const Vector3d& d,
                             const Friction& friction, double step) {
  const Vector3d n = point.normal, linear = row.force - row.stiffness * d;
  SqueezedForce next;
  const double load = std::max(0.0, linear.dot(n));
  next.force = load * n;
  if (row.spring_rate > 0) {
    const double bound = friction_after(friction, point.slid_before) * load;
    const Vector3d spring = row.spring - row.spring_rate * (d - n * n.dot(d));
    next.force += spring.norm() > bound ? Vector3d(bound / spring.norm() * spring) : spring;
    const double slip = (spring.norm() - bound) / row.spring_rate;
    if (slip > rest_speed * step) next.slid = point.slid_before;
  }
  const Vector3d off = next.force - linear;
  next.mismatch = std::abs(off.dot(n)) + (off - n * n.dot(off)).norm();
  return next;
}

}  // namespace isocloth::reference
