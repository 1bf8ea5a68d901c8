#include "host/bodies/body_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/bodies/coulomb_solver.hpp"

namespace isocloth {
namespace {

using Law = cpu::ContactLaw<double>;

/// Corners and edges of a core, and the rounding around it.
struct Features {
  double rounding = 0;
  std::vector<Vec3d> corners;
  std::vector<std::array<Index, 2>> edges;

  explicit Features(const ObstacleShape& shape) {
    std::visit([this](const auto& s) { add(s); }, shape);
  }
  void add(const auto&) {}  // no body's
  void add(const HasSolid auto& s) { add_core(s.solid()); }
  void add_core(const RoundedSolid& s) {
    rounding = s.rounding;
    if (s.disc > 0) return add_rims(s.disc, s.half.z);
    // Corners by their signs along x, y, z, of the sides that the core has.
    const Index sides = (s.half.x > 0 ? 1 : 0) | (s.half.y > 0 ? 2 : 0) | (s.half.z > 0 ? 4 : 0);
    std::array<Index, 8> number{};
    for (Index c = 0; c < 8; ++c) {
      if ((c & ~sides) != 0) continue;
      number[static_cast<std::size_t>(c)] = static_cast<Index>(corners.size());
      corners.push_back(
          {c & 1 ? s.half.x : -s.half.x, c & 2 ? s.half.y : -s.half.y, c & 4 ? s.half.z : -s.half.z});
    }
    for (Index c = 0; c < 8; ++c)
      for (const Index bit : {1, 2, 4})
        if ((c & ~sides) == 0 && (sides & bit) != 0 && (c & bit) == 0)
          edges.push_back({number[static_cast<std::size_t>(c)], number[static_cast<std::size_t>(c | bit)]});
  }
  void add_rims(double radius, double half) {
    constexpr Index sides = 64;
    for (const double z : {-half, half})
      for (Index i = 0; i < sides; ++i) {
        const double angle = 2 * std::numbers::pi * i / sides;
        corners.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
        const Index first = z < 0 ? 0 : sides;
        edges.push_back({first + i, first + (i + 1) % sides});
        if (z < 0) edges.push_back({i, sides + i});
      }
  }
  void add(const MeshShape& s) {
    corners = s.surface.positions;
    std::set<std::array<Index, 2>> distinct;
    for (Index f = 0; f < s.surface.face_count(); ++f) {
      const auto face = s.surface.face(f);
      for (std::size_t i = 0; i < face.size(); ++i) {
        const Index a = face[i], b = face[(i + 1) % face.size()];
        distinct.insert({std::min(a, b), std::max(a, b)});
      }
    }
    edges.assign(distinct.begin(), distinct.end());
  }
};

PoseView<double> view(const Pose& pose) { return {pose.center, {pose.axes[0], pose.axes[1], pose.axes[2]}}; }
Vec3d to_world(const Pose& pose, const Vec3d& x) { return pose.center + cpu::turned(view(pose), x); }

/// n and two unit vectors across.
std::array<Vec3d, 3> axes_along(const Vec3d& n) {
  const Vec3d other = std::abs(n.x) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d t = normalized(cross(n, other));
  return {n, t, cross(n, t)};
}

/// A bound of how far a point at `radius` from the origin of a pose moves as the axes turn.
double turn_of(const Pose& begin, const Pose& end, double radius) {
  double change = 0;
  for (std::size_t k = 0; k < 3; ++k) change += dot(end.axes[k] - begin.axes[k], end.axes[k] - begin.axes[k]);
  // |change of the axes|^2 = 8 sin^2(angle / 2), and the arc is less than pi/2 times the chord's.
  return change > 0 ? std::numbers::pi / 2 * std::sqrt(change / 2) * radius : 0;
}

}  // namespace

template <class Real>
BodyContacts::BodyContacts(const ObstacleShapes<Real>& shapes)
    : first_body_(static_cast<Index>(shapes.scene.obstacles.size())),
      law_{.tolerance = shapes.scene.contact.tolerance},
      shapes_(shapes) {
  const Scene& scene = shapes.scene;
  for (std::size_t o = 0; o < shapes_.views.size(); ++o) {
    Solid solid;
    solid.shape = shapes_.views[o];
    const std::size_t b = o - static_cast<std::size_t>(first_body_);
    const bool is_body = o >= static_cast<std::size_t>(first_body_);
    const Features features(is_body ? scene.bodies[b].shape : scene.obstacles[o].shape);
    const Friction& mu = is_body ? scene.bodies[b].friction : scene.obstacles[o].friction;
    solid.name = is_body ? text("body \"", scene.bodies[b].name, "\"")
                         : text("obstacle \"", scene.obstacles[o].name, "\"");
    solid.friction = mu;
    solid.is_dynamic = is_body && !scene.bodies[b].is_external;
    solid.rounding = features.rounding;
    solid.corners = features.corners;
    solid.edges = features.edges;
    if (solid.corners.empty()) solid.radius = std::numeric_limits<double>::infinity();
    for (const Vec3d& corner : solid.corners)
      solid.radius = std::max(solid.radius, norm(corner) + solid.rounding);
    solids_.push_back(std::move(solid));
  }
  for (const BodyFrictionPair& pair : scene.contact.body_pairs) {
    const Index body = first_body_ + static_cast<Index>(pair.body), other = static_cast<Index>(pair.other);
    pairs_[{std::min(body, other), std::max(body, other)}] = pair.friction;
  }
}

template BodyContacts::BodyContacts(const ObstacleShapes<float>&);
template BodyContacts::BodyContacts(const ObstacleShapes<double>&);

double BodyContacts::find(const std::vector<SolidState>& solids) {
  contacts_.clear();
  deepest_ = sunken_ = 0;
  const Index count = static_cast<Index>(solids_.size());
  for (Index i = 0; i < count; ++i)
    for (Index j = std::max(i + 1, first_body_); j < count; ++j)
      if (solids_[i].is_dynamic || solids_[j].is_dynamic) find_pair(i, j, solids);
  return deepest_;
}

template <class Visit>
void BodyContacts::for_each_feature(Index i, Index j, const PoseView<double>& pose_i,
                                    const PoseView<double>& pose_j, double limit, const Visit& visit) const {
  const Solid &a = solids_[i], &b = solids_[j];
  if (a.corners.empty()) return;
  const auto into_b = [&](const Vec3d& x) {
    return cpu::to_local(pose_j, pose_i.center + cpu::turned(pose_i, x));
  };
  if (cpu::signed_distance(b.shape, into_b({})).value > a.radius + limit) return;
  std::vector<Vec3d> positions;
  std::vector<double> gaps;
  for (std::size_t c = 0; c < a.corners.size(); ++c) {
    positions.push_back(into_b(a.corners[c]));
    gaps.push_back(cpu::signed_distance(b.shape, positions[c]).value - a.rounding);
    if (gaps[c] < limit) visit(Feature{{i, j, static_cast<Index>(c)}, a.corners[c], positions[c], gaps[c]});
  }
  if (b.shape.kind == ShapeKind::plane) return;  // nothing lies deeper than the corners
  for (std::size_t e = 0; e < a.edges.size(); ++e) {
    const auto [p, q] = a.edges[e];
    const double least = std::min(gaps[p], gaps[q]);
    if (least > norm(positions[q] - positions[p]) / 2 + limit) continue;  // a distance grows no faster
    cpu::Element<double> edge;
    edge.size = 2;
    edge.corners[0] = positions[p];
    edge.corners[1] = positions[q];
    const cpu::ElementPoint<double> point = cpu::deepest_on_edge(b.shape, edge);
    const double gap = point.distance.value - a.rounding;
    if (!(gap < limit && gap < least - Law::least_dip)) continue;
    double w[4];
    edge.weigh(point.weights[1], 0, w);
    visit(Feature{{i, j, static_cast<Index>(a.corners.size() + e)},
                  w[0] * a.corners[p] + w[1] * a.corners[q],
                  point.position,
                  gap});
  }
}

const BodyContacts::Meeting& BodyContacts::meet(Index i, Index j, const std::vector<SolidState>& solids) {
  constexpr int most_places = 1000;
  Meeting& meeting = meetings_[{i, j}];
  if (!meeting.features.empty()) return meeting;
  const Solid &a = solids_[i], &b = solids_[j];
  const SolidState &on_a = solids[i], &on_b = solids[j];
  const double reach = std::min(a.shape.reach, b.shape.reach), radius = std::min(a.radius, b.radius);
  // They meet on the smaller one, which is so far from the origin of the other at most.
  const double far = norm(on_a.end.center - on_b.end.center) + norm(on_a.begin.center - on_b.begin.center);
  const auto turn = [&](const SolidState& s, const Solid& solid) {
    return turn_of(s.begin, s.end, std::min(solid.radius, far + radius));
  };
  const double distance =
      norm((on_a.end.center - on_a.begin.center) - (on_b.end.center - on_b.begin.center)) + turn(on_a, a) +
      turn(on_b, b);
  if (!law_.may_pass_through(distance, reach)) return meeting;
  double done = 0;
  for (int n = 0; n < most_places && done < 1; ++n) {
    const PoseView<double> pose_a = cpu::pose_between(view(on_a.begin), view(on_a.end), done),
                           pose_b = cpu::pose_between(view(on_b.begin), view(on_b.end), done);
    double least = HUGE_VAL;
    bool meets = false;
    const auto visit = [&](const Feature& f) {
      least = std::min(least, f.gap);
      if (!law_.enters(f.gap)) return;
      meets = meets || law_.is_inside(plane_at(f, solids, f.key[0] == i ? pose_b : pose_a).gap);
    };
    const double left = (1 - done) * distance + Law::release_distance;
    for_each_feature(i, j, pose_a, pose_b, left, visit);
    for_each_feature(j, i, pose_b, pose_a, left, visit);
    if (least == HUGE_VAL) break;  // they will not meet
    if (n == 0 && law_.is_inside(least)) break;
    if (meets) {
      // All that could come in from here on.
      meeting = {.features = {}, .pose_i = pose_a, .pose_j = pose_b};
      const auto keep = [&](const Feature& feature) { meeting.features.push_back(feature); };
      for_each_feature(i, j, pose_a, pose_b, left, keep);
      for_each_feature(j, i, pose_b, pose_a, left, keep);
      break;
    }
    done += law_.safe_advance(least, reach) / distance;
  }
  return meeting;
}

void BodyContacts::find_pair(Index i, Index j, const std::vector<SolidState>& solids) {
  if (solids_[i].corners.empty() && solids_[j].corners.empty()) return;
  double least = HUGE_VAL;
  const std::size_t first = contacts_.size();
  const auto add = [&](const Feature& feature, const PoseView<double>& pose_i,
                       const PoseView<double>& pose_j) {
    for (std::size_t c = first; c < contacts_.size(); ++c)
      if (contacts_[c].key == feature.key) return;
    least = std::min(least, touch(feature, solids, feature.key[0] == i ? pose_j : pose_i));
  };
  const Meeting& meeting = meet(i, j, solids);
  for (const Feature& feature : meeting.features) add(feature, meeting.pose_i, meeting.pose_j);
  // What has met already may have passed through at the end: only shallow depths tell the way out.
  const double reach = std::min(solids_[i].shape.reach, solids_[j].shape.reach);
  const PoseView<double> pose_i = view(solids[i].end), pose_j = view(solids[j].end);
  const auto visit = [&](const Feature& feature) {
    if (meeting.features.empty() || !law_.may_pass_through(-feature.gap, reach)) add(feature, pose_i, pose_j);
  };
  for_each_feature(i, j, pose_i, pose_j, Law::release_distance, visit);
  for_each_feature(j, i, pose_j, pose_i, Law::release_distance, visit);
  if (!(least > law_.tolerance)) return;
  for (const auto& [key, force] : forces_)
    if (std::min(key[0], key[1]) == i && std::max(key[0], key[1]) == j) settled_ = false;
}

BodyContacts::Plane BodyContacts::plane_at(const Feature& feature, const std::vector<SolidState>& solids,
                                           const PoseView<double>& other) const {
  const SolidState &a = solids[feature.key[0]], &b = solids[feature.key[1]];
  const Vec3d normal =
      cpu::turned(other, cpu::signed_distance(solids_[feature.key[1]].shape, feature.position).normal);
  const Vec3d arm = cpu::turned(other, feature.position), core = to_world(a.end, feature.core);
  // To first order in its turn: round solids turn beneath their tangent planes.
  const Vec3d moved = (b.end.center - other.center) +
                      cross(turn_between({other.axes[0], other.axes[1], other.axes[2]}, b.end.axes), arm);
  return {.normal = normal, .gap = feature.gap + dot(normal, core - (other.center + arm) - moved)};
}

double BodyContacts::touch(const Feature& feature, const std::vector<SolidState>& solids,
                           const PoseView<double>& at) {
  const Solid &own = solids_[feature.key[0]], &other = solids_[feature.key[1]];
  const SolidState &a = solids[feature.key[0]], &b = solids[feature.key[1]];
  const auto [normal, gap] = plane_at(feature, solids, at);
  const Vec3d begin = cpu::to_local(view(b.begin), to_world(a.begin, feature.core));
  const double before =
      gap < 0 ? std::min(0.0, cpu::signed_distance(other.shape, begin).value - own.rounding) : 0;
  deepest_ = std::max(deepest_, law_.depth(gap, law_.deep_rest(before)));
  if (-gap > sunken_) {
    sunken_ = -gap;
    sunken_pair_ = feature.key;
  }
  Contact contact;
  contact.key = feature.key;
  contact.axes = axes_along(normal);
  const Vec3d x = to_world(a.end, feature.core) - own.rounding * normal;
  contact.arm = x - a.center;
  contact.other_arm = x - b.center;
  contact.gap = law_.wanted_gap(gap, before);
  const auto before_it = [&](const SolidState& solid) {
    return to_world(solid.begin, cpu::to_local(view(solid.end), x));
  };
  contact.displacement = before_it(b) - before_it(a);
  contacts_.push_back(contact);
  return gap;
}

Friction BodyContacts::friction_of(Index i, Index j) const {
  const auto pair = pairs_.find({std::min(i, j), std::max(i, j)});
  if (pair != pairs_.end()) return pair->second;
  const Friction &a = solids_[i].friction, &b = solids_[j].friction;
  return {.static_ = std::sqrt(a.static_ * b.static_), .dynamic = std::sqrt(a.dynamic * b.dynamic)};
}

Eigen::VectorXd BodyContacts::solve(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right,
                                    const Eigen::MatrixXd* moves_by_unknowns) {
  const Eigen::Index move_count = moves_by_unknowns != nullptr ? moves_by_unknowns->rows() : right.size();
  std::vector<CoulombContact> all;
  for (const Contact& c : contacts_) {
    const Friction friction = friction_of(c.key[0], c.key[1]);
    const auto kept = forces_.find(c.key);
    const Vec3d force = kept == forces_.end() ? Vec3d{} : kept->second;
    CoulombContact contact;
    contact.jacobian.setZero(3, move_count);
    for (Eigen::Index k = 0; k < 3; ++k) {
      const Vec3d& axis = c.axes[static_cast<std::size_t>(k)];
      contact.force(k) = dot(force, axis);
      const auto add = [&](Index solid, double sign, const Vec3d& arm) {
        if (solid < first_body_) return;
        const Vec3d turn = cross(arm, axis);
        contact.jacobian.row(k).segment<6>(6 * (solid - first_body_)) << sign * axis.x, sign * axis.y,
            sign * axis.z, sign * turn.x, sign * turn.y, sign * turn.z;
      };
      add(c.key[0], 1, c.arm);
      add(c.key[1], -1, c.other_arm);
    }
    if (moves_by_unknowns != nullptr) contact.jacobian = (contact.jacobian * *moves_by_unknowns).eval();
    contact.gap = c.gap;
    contact.slip = {dot(c.displacement, c.axes[1]), dot(c.displacement, c.axes[2])};
    contact.mu_static = friction.static_;
    contact.mu_dynamic = friction.dynamic;
    contact.force(0) = std::max(contact.force(0), 0.0);
    all.push_back(std::move(contact));
  }
  constexpr double exact = 1e-6;  // of the tolerance
  const CoulombSolution solution = solve_coulomb(matrix, right, all, exact * law_.tolerance);
  settled_ = solution.change <= 0.01 * law_.tolerance;
  forces_.clear();
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!(all[k].force(0) > 0)) continue;
    Vec3d& force = forces_[contacts_[k].key];
    for (std::size_t i = 0; i < 3; ++i)
      force += all[k].force(static_cast<Eigen::Index>(i)) * contacts_[k].axes[i];
  }
  return solution.moves;
}

Wrench BodyContacts::push_on(Index solid) const {
  Wrench sum;
  for (const Contact& c : contacts_) {
    const auto kept = forces_.find(c.key);
    if (kept == forces_.end()) continue;
    const auto add = [&](Index on, double sign, const Vec3d& arm) {
      if (on != solid) return;
      sum.force += sign * kept->second;
      sum.torque += sign * cross(arm, kept->second);
    };
    add(c.key[0], 1, c.arm);
    add(c.key[1], -1, c.other_arm);
  }
  return sum;
}

void BodyContacts::require_apart(const std::vector<SolidState>& solids) {
  find(solids);
  if (!(sunken_ > law_.tolerance)) return;
  throw SceneError(text(solids_[sunken_pair_[0]].name, ": found ", sunken_, " m inside of ",
                        solids_[sunken_pair_[1]].name,
                        " at the start, expected all bodies apart; move one of them"));
}

}  // namespace isocloth
