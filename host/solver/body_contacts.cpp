#include "host/solver/body_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "kernels/contact/deepest_point.hpp"

namespace isocloth {
namespace {

constexpr double stiffening = 1000;
constexpr double carry = 1e-3;   ///< a contact keeps its force up to this distance [m]
constexpr double deeper = 1e-6;  ///< an edge touches where it comes so much deeper than its ends [m]

/// Corners and edges of a core, and the rounding around it.
struct Features {
  double rounding = 0;
  std::vector<Vec3d> corners;
  std::vector<std::array<Index, 2>> edges;

  explicit Features(const ObstacleShape& shape) {
    std::visit([this](const auto& s) { add(s); }, shape);
  }
  void add(const PlaneShape&) {}
  void add(const HeightFieldShape&) {}
  void add(const SphereShape& s) {
    rounding = s.radius;
    corners = {Vec3d{}};
  }
  void add(const CapsuleShape& s) {
    rounding = s.radius;
    corners = {Vec3d{0, 0, -s.length / 2}, Vec3d{0, 0, s.length / 2}};
    edges = {{0, 1}};
  }
  void add(const CylinderShape& s) {
    constexpr Index sides = 64;
    rounding = s.rounding;
    for (const double z : {s.rounding - s.height / 2, s.height / 2 - s.rounding})
      for (Index i = 0; i < sides; ++i) {
        const double angle = 2 * std::numbers::pi * i / sides, radius = s.radius - s.rounding;
        corners.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
        const Index first = z < 0 ? 0 : sides;
        edges.push_back({first + i, first + (i + 1) % sides});
        if (z < 0) edges.push_back({i, sides + i});
      }
  }
  void add(const BoxShape& s) {
    rounding = s.rounding;
    const Vec3d half = 0.5 * s.size - Vec3d{rounding, rounding, rounding};
    for (Index c = 0; c < 8; ++c) {
      corners.push_back({c & 1 ? half.x : -half.x, c & 2 ? half.y : -half.y, c & 4 ? half.z : -half.z});
      for (const Index bit : {1, 2, 4})
        if ((c & bit) == 0) edges.push_back({c, c | bit});
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

template <class Real>
Vec3d widen(const Vec3<Real>& v) {
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}
PoseView<double> view(const Pose& pose) { return {pose.center, {pose.axes[0], pose.axes[1], pose.axes[2]}}; }
Vec3d to_world(const Pose& pose, const Vec3d& x) { return pose.center + cpu::turned(view(pose), x); }

}  // namespace

template <class Real>
BodyContacts::BodyContacts(const ObstacleShapes<Real>& shapes)
    : first_body_(static_cast<Index>(shapes.scene.obstacles.size())),
      tolerance_(shapes.scene.contact.tolerance) {
  for (const Buffer<float>& grid : shapes.grids) grids_.push_back(grid.download());
  std::size_t next_grid = 0;
  const Scene& scene = shapes.scene;
  const std::vector<ShapeView<Real>> views = shapes.shapes.download();
  for (std::size_t o = 0; o < views.size(); ++o) {
    const ShapeView<Real>& found = views[o];
    Solid solid;
    ShapeView<double>& shape = solid.shape;
    shape.kind = found.kind;
    shape.half = widen(found.half);
    shape.rounding = static_cast<double>(found.rounding);
    shape.reach = static_cast<double>(found.reach);
    shape.origin = widen(found.origin);
    shape.cell = static_cast<double>(found.cell);
    std::copy(std::begin(found.nodes), std::end(found.nodes), std::begin(shape.nodes));
    if (shape.kind == ShapeKind::grid) shape.distances = grids_[next_grid++];
    const std::size_t b = o - static_cast<std::size_t>(first_body_);
    const bool is_body = o >= static_cast<std::size_t>(first_body_);
    const Features features(is_body ? scene.bodies[b].shape : scene.obstacles[o].shape);
    const Friction& mu = is_body ? scene.bodies[b].friction : scene.obstacles[o].friction;
    solid.name = is_body ? text("body \"", scene.bodies[b].name, "\"")
                         : text("obstacle \"", scene.obstacles[o].name, "\"");
    solid.mu_static = mu.static_;
    solid.mu_dynamic = mu.dynamic;
    solid.has_features = !features.corners.empty();
    solid.rounding = features.rounding;
    solid.corners = features.corners;
    solid.edges = features.edges;
    for (const Vec3d& corner : solid.corners)
      solid.radius = std::max(solid.radius, norm(corner) + solid.rounding);
    solids_.push_back(std::move(solid));
  }
}

template BodyContacts::BodyContacts(const ObstacleShapes<float>&);
template BodyContacts::BodyContacts(const ObstacleShapes<double>&);

double BodyContacts::find(const std::vector<SolidState>& solids) {
  contacts_.clear();
  deepest_ = 0;
  const Index count = static_cast<Index>(solids_.size());
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < count; ++j)
      if (i != j && (i >= first_body_ || j >= first_body_) && solids_[i].has_features)
        find_pair(i, j, solids);
  return deepest_;
}

void BodyContacts::find_pair(Index i, Index j, const std::vector<SolidState>& solids) {
  const Solid &a = solids_[i], &b = solids_[j];
  const PoseView<double> pose_a = view(solids[i].end), pose_b = view(solids[j].end);
  const auto into_b = [&](const Vec3d& x) {
    return cpu::to_local(pose_b, pose_a.center + cpu::turned(pose_a, x));
  };
  if (cpu::signed_distance(b.shape, into_b({})).value > a.radius + carry) return;
  std::vector<Vec3d> places;
  std::vector<double> gaps;
  for (std::size_t c = 0; c < a.corners.size(); ++c) {
    places.push_back(into_b(a.corners[c]));
    gaps.push_back(cpu::signed_distance(b.shape, places[c]).value - a.rounding);
    if (gaps[c] < carry) touch({i, j, static_cast<Index>(c)}, places[c], solids[i], solids[j]);
  }
  if (b.shape.kind == ShapeKind::plane) return;  // nothing lies deeper than the corners
  for (std::size_t e = 0; e < a.edges.size(); ++e) {
    const auto [p, q] = a.edges[e];
    const double least = std::min(gaps[p], gaps[q]);
    if (least > norm(places[q] - places[p]) / 2 + carry) continue;  // a distance grows no faster
    cpu::Element<double> edge;
    edge.size = 2;
    edge.corners[0] = places[p];
    edge.corners[1] = places[q];
    const cpu::ElementPoint<double> point = cpu::deepest_on_edge(b.shape, edge);
    const double gap = point.distance.value - a.rounding;
    if (gap < carry && gap < least - deeper)
      touch({i, j, static_cast<Index>(a.corners.size() + e)}, point.place, solids[i], solids[j]);
  }
}

/// `core`: of the feature, in the frame of the other solid.
void BodyContacts::touch(const Key& key, const Vec3d& core, const SolidState& a, const SolidState& b) {
  const Solid &own = solids_[key[0]], &other = solids_[key[1]];
  const cpu::Distance<double> distance = cpu::signed_distance(other.shape, core);
  const double gap = distance.value - own.rounding;
  if (-gap > deepest_) {
    deepest_ = -gap;
    deepest_pair_ = key;
  }
  const auto kept = forces_.find(key);
  const Vec3d force = kept == forces_.end() ? Vec3d{} : kept->second;
  Contact contact;
  contact.key = key;
  contact.is_new = kept == forces_.end();
  contact.normal = cpu::turned(view(b.end), distance.normal);
  const Vec3d& n = contact.normal;
  const double gamma = std::max(dot(force, n), 0.0);
  if (!(gap < 0 || gamma > 0)) return;
  const Vec3d x = to_world(b.end, core) - own.rounding * n;
  contact.arm = x - a.center;
  contact.other_arm = x - b.center;
  double response = 0;
  for (const auto& [solid, arm] : {std::pair{&a, contact.arm}, std::pair{&b, contact.other_arm}}) {
    const Vec3d turn = cross(arm, n);
    response += solid->inverse_mass + dot(turn, product(solid->inverse_inertia, turn));
  }
  contact.along = stiffening / response;
  contact.pull = (gamma - contact.along * gap) * n;
  contact.mu_static = std::sqrt(own.mu_static * other.mu_static);
  contact.mu_dynamic = std::sqrt(own.mu_dynamic * other.mu_dynamic);
  if (contact.mu_static > 0) {
    const auto before = [&](const SolidState& solid) {
      return to_world(solid.begin, cpu::to_local(view(solid.end), x));
    };
    const Vec3d way = before(b) - before(a), along = way - dot(way, n) * n;
    const Vec3d trial = (force - dot(force, n) * n) - contact.along * along;
    const double size = norm(trial);
    contact.slides = size > contact.mu_static * gamma;
    const double part = contact.slides ? contact.mu_dynamic * gamma / size : 1;
    contact.across = part * contact.along;
    contact.pull += part * trial;
  }
  contacts_.push_back(contact);
}

Vec3d BodyContacts::stiffness(const Contact& c, const Vec3d& v) const {
  return (c.along - c.across) * dot(c.normal, v) * c.normal + c.across * v;
}

template <class Visit>
void BodyContacts::for_each_body(const Contact& contact, const Visit& visit) const {
  if (contact.key[0] >= first_body_) visit(6 * (contact.key[0] - first_body_), 1.0, contact.arm);
  if (contact.key[1] >= first_body_) visit(6 * (contact.key[1] - first_body_), -1.0, contact.other_arm);
}

void BodyContacts::add(Eigen::MatrixXd& matrix, Eigen::VectorXd& right) const {
  using Columns = Eigen::Matrix<double, 3, 6>;
  for (const Contact& c : contacts_) {
    const auto columns = [](double sign, const Vec3d& r) {
      Columns j;
      j << 1, 0, 0, 0, r.z, -r.y, 0, 1, 0, -r.z, 0, r.x, 0, 0, 1, r.y, -r.x, 0;
      return Columns(sign * j);
    };
    Eigen::Matrix3d s;
    for (int k = 0; k < 3; ++k) {
      const Vec3d column = stiffness(c, {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0});
      s.col(k) << column.x, column.y, column.z;
    }
    const Eigen::Vector3d pull(c.pull.x, c.pull.y, c.pull.z);
    for_each_body(c, [&](Index at, double sign, const Vec3d& arm) {
      const Columns own = columns(sign, arm);
      right.segment<6>(at) += own.transpose() * pull;
      for_each_body(c, [&](Index to, double other_sign, const Vec3d& other_arm) {
        matrix.block<6, 6>(at, to) += own.transpose() * s * columns(other_sign, other_arm);
      });
    });
  }
}

void BodyContacts::update(const Eigen::VectorXd& moves) {
  forces_.clear();
  settled_ = true;
  for (const Contact& c : contacts_) {
    Vec3d d;
    for_each_body(c, [&](Index at, double sign, const Vec3d& arm) {
      const Vec3d move{moves(at), moves(at + 1), moves(at + 2)},
          turn{moves(at + 3), moves(at + 4), moves(at + 5)};
      d += sign * (move + cross(turn, arm));
    });
    const Vec3d force = c.pull - stiffness(c, d);
    const double gamma = dot(force, c.normal);
    if (!(gamma > 0)) continue;
    Vec3d tangential = force - gamma * c.normal;
    const double size = norm(tangential), most = (c.slides ? c.mu_dynamic : c.mu_static) * gamma;
    // A contact that slides bears just what it can, one that sticks no more than that.
    constexpr double known = 0.01;
    const bool is_off = c.slides ? std::abs(size - most) > known * most : size > (1 + known) * most;
    if (c.mu_static > 0 && (c.is_new || is_off)) settled_ = false;
    if (size > most) tangential = c.mu_dynamic * gamma / size * tangential;
    forces_[c.key] = gamma * c.normal + tangential;
  }
}

void BodyContacts::require_apart(const std::vector<SolidState>& solids) {
  if (!(find(solids) > tolerance_)) return;
  throw SceneError(text(solids_[deepest_pair_[0]].name, ": found ", deepest_, " m inside of ",
                        solids_[deepest_pair_[1]].name,
                        " at the start, expected all bodies apart; move one of them"));
}

}  // namespace isocloth
