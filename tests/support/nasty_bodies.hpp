// Bodies as people model and scan them, none of which is a closed surface: for tests of obstacles.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth::testing {

/// A surface of revolution about the line from a to b: rings at `along` (0 at a, 1 at b) of these radii [m],
/// a pole where a radius is 0; faces seen from outside.
struct Profile {
  Vec3d a, b;
  std::vector<double> along, radii;
};
inline Mesh revolved(const Profile& p, int around) {
  const Vec3d axis = normalized(p.b - p.a);
  const Vec3d side = normalized(cross(axis, std::abs(axis.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0})),
              other = cross(axis, side);
  Mesh mesh;
  std::vector<std::vector<Index>> rings;
  for (std::size_t i = 0; i < p.radii.size(); ++i) {
    const Vec3d center = p.a + p.along[i] * (p.b - p.a);
    std::vector<Index> ring;
    for (int k = 0; k < (p.radii[i] > 0 ? around : 1); ++k) {
      const double angle = 2 * std::numbers::pi * k / around;
      ring.push_back(mesh.node_count());
      mesh.positions.push_back(center + p.radii[i] * (std::cos(angle) * side + std::sin(angle) * other));
    }
    rings.push_back(ring);
  }
  for (std::size_t i = 0; i + 1 < rings.size(); ++i)
    for (std::size_t k = 0; k < static_cast<std::size_t>(around); ++k) {
      const auto &low = rings[i], &high = rings[i + 1];
      const std::size_t next = (k + 1) % static_cast<std::size_t>(around);
      if (low.size() == 1)
        mesh.add_face({low[0], high[next], high[k]});
      else if (high.size() == 1)
        mesh.add_face({low[k], low[next], high[0]});
      else
        mesh.add_face({low[k], low[next], high[next], high[k]});
    }
  return mesh;
}

/// All points within `radius` of the segment from a to b.
inline Mesh capsule_mesh(Vec3d a, Vec3d b, double radius, int around = 16, int rings = 4) {
  const double length = norm(b - a);
  Profile p{a, b, {}, {}};
  for (int end = 0; end < 2; ++end)
    for (int i = 0; i <= rings; ++i) {
      const double angle = std::numbers::pi / 2 * (end == 0 ? rings - i : i) / rings;
      p.along.push_back(end + (end == 0 ? -1 : 1) * radius * std::sin(angle) / length);
      p.radii.push_back(i == (end == 0 ? 0 : rings) ? 0 : radius * std::cos(angle));
    }
  return revolved(p, around);
}
inline Mesh ball_mesh(Vec3d center, double radius, int around = 24, int rings = 12) {
  Profile p{center - Vec3d{0, 0, radius}, center + Vec3d{0, 0, radius}, {}, {}};
  for (int i = 0; i <= rings; ++i) {
    const double angle = std::numbers::pi * i / rings;
    p.along.push_back((1 - std::cos(angle)) / 2);
    p.radii.push_back(i == 0 || i == rings ? 0 : radius * std::sin(angle));
  }
  return revolved(p, around);
}

inline void append_mesh(Mesh& to, const Mesh& from) {
  const Index first = to.node_count();
  to.positions.insert(to.positions.end(), from.positions.begin(), from.positions.end());
  for (Index f = 0; f < from.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : from.face(f)) nodes.push_back(first + node);
    to.add_face(nodes);
  }
}
inline Mesh turned_inside_out(const Mesh& mesh) {
  Mesh out;
  out.positions = mesh.positions;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto n = mesh.face(f);
    out.add_face(
        std::vector<Index>(std::make_reverse_iterator(n.end()), std::make_reverse_iterator(n.begin())));
  }
  return out;
}
/// Faces whose middle is not in the way.
template <class IsOut>
Mesh without_faces(const Mesh& mesh, const IsOut& is_out) {
  Mesh left;
  left.positions = mesh.positions;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto n = mesh.face(f);
    Vec3d middle;
    for (const Index node : n) middle += (1.0 / static_cast<double>(n.size())) * mesh.positions[node];
    if (!is_out(middle)) left.add_face(std::vector<Index>(n.begin(), n.end()));
  }
  return left;
}

/// A palm and four fingers of 8 mm that touch each other, 0.2 m long.
inline Mesh hand_mesh() {
  Mesh mesh = capsule_mesh({0.012, 0, 0}, {0.028, 0, 0}, 0.02);
  for (int finger = 0; finger < 4; ++finger)
    append_mesh(mesh, capsule_mesh({0.008 + 0.008 * finger, 0.01, 0}, {0.008 + 0.008 * finger, 0.09, 0},
                                   0.004, 12, 3));
  append_mesh(mesh, capsule_mesh({0.02, -0.09, 0}, {0.02, 0, 0}, 0.014));
  return mesh;
}
/// 1.7 m of overlapping capsules, upright on z = 0.
inline Mesh mannequin_mesh() {
  Mesh mesh = capsule_mesh({0, 0, 0.95}, {0, 0, 1.3}, 0.14);
  append_mesh(mesh, capsule_mesh({-0.13, 0, 1.36}, {0.13, 0, 1.36}, 0.08));
  append_mesh(mesh, capsule_mesh({0, 0, 1.3}, {0, 0, 1.55}, 0.05));
  append_mesh(mesh, ball_mesh({0, 0, 1.6}, 0.1));
  for (const double side : {-1.0, 1.0}) {
    append_mesh(mesh, capsule_mesh({0.09 * side, 0, 0.07}, {0.07 * side, 0, 0.95}, 0.07));
    append_mesh(mesh, capsule_mesh({0.2 * side, 0, 1.36}, {0.55 * side, 0, 1.1}, 0.045));
    for (int finger = 0; finger < 3; ++finger)
      append_mesh(mesh, capsule_mesh({0.55 * side, 0.014 * (finger - 1), 1.1},
                                     {0.63 * side, 0.016 * (finger - 1), 1.04}, 0.007, 10, 3));
  }
  return mesh;
}
/// A head 0.2 m wide, open at the neck and at two eyes.
inline Mesh open_head_mesh() {
  return without_faces(ball_mesh({}, 0.1, 48, 32), [](Vec3d x) {
    return x.z < -0.08 || norm(x - Vec3d{0.03, 0.09, 0.03}) < 0.018 ||
           norm(x - Vec3d{-0.03, 0.09, 0.03}) < 0.018;
  });
}
/// Two balls apart, the faces of the second seen from inside.
inline Mesh inverted_island_mesh() {
  Mesh mesh = ball_mesh({}, 0.1);
  append_mesh(mesh, turned_inside_out(ball_mesh({0.25, 0, 0}, 0.08)));
  return mesh;
}
/// A head with eyeballs in it that come out a little.
inline Mesh eyeballs_mesh() {
  Mesh mesh = ball_mesh({}, 0.1, 32, 20);
  append_mesh(mesh, ball_mesh({0.03, 0.075, 0.03}, 0.02, 16, 10));
  append_mesh(mesh, ball_mesh({-0.03, 0.05, 0.03}, 0.02, 16, 10));
  return mesh;
}
/// A ball of which every hundredth node is there twice, some faces have no area, one node is repeated, and
/// nodes far away belong to no face.
inline Mesh dirty_mesh() {
  Mesh mesh = ball_mesh({}, 0.1, 32, 20);
  const Index count = mesh.node_count();
  for (Index node = 7; node < count; node += 100) {
    const Index copy = mesh.node_count();
    mesh.positions.push_back(mesh.positions[node]);
    for (std::size_t corner = 0, seen = 0; corner < mesh.face_nodes.size(); ++corner)
      if (mesh.face_nodes[corner] == node && seen++ % 2 == 0) mesh.face_nodes[corner] = copy;
  }
  for (Index node = 40; node < count; node += 90) {
    const Index copy = mesh.node_count();
    mesh.positions.push_back(0.5 * (mesh.positions[node] + mesh.positions[node + 1]));
    mesh.add_face({node, copy, node + 1});
  }
  mesh.add_face({3, 4, 4});
  mesh.positions.push_back({9, 9, 9});
  return mesh;
}
/// A drum of two faces of twelve corners and a wall of quads, one of which runs the other way.
inline Mesh polygons_mesh() {
  constexpr int around = 12;
  Mesh mesh;
  std::vector<Index> low, high;
  for (int k = 0; k < around; ++k) {
    const double angle = 2 * std::numbers::pi * k / around;
    for (const double z : {-0.05, 0.05}) {
      (z < 0 ? low : high).push_back(mesh.node_count());
      mesh.positions.push_back({0.1 * std::cos(angle), 0.1 * std::sin(angle), z});
    }
  }
  mesh.add_face(std::vector<Index>(low.rbegin(), low.rend()));
  mesh.add_face(high);
  for (std::size_t k = 0; k < around; ++k) {
    const std::size_t next = (k + 1) % around;
    if (k == 5)
      mesh.add_face({high[k], high[next], low[next], low[k]});
    else
      mesh.add_face({low[k], low[next], high[next], high[k]});
  }
  return mesh;
}
/// A bent sheet 0.3 m wide that encloses nothing.
inline Mesh sheet_mesh() {
  constexpr int n = 12;
  Mesh mesh;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) {
      const double x = 0.3 * (static_cast<double>(i) / n - 0.5), y = 0.3 * (static_cast<double>(j) / n - 0.5);
      mesh.positions.push_back({x, y, 0.03 * std::cos(12 * x)});
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const Index at = j * (n + 1) + i;
      mesh.add_face({at, at + 1, at + n + 2, at + n + 1});
    }
  return mesh;
}
/// A box of 0.2 m whose wall is 2 mm thick, open above.
inline Mesh thin_box_mesh() {
  Mesh mesh;
  const auto add_box = [&](double half, double bottom, bool inwards) {
    const Index first = mesh.node_count();
    for (const double z : {bottom, 0.1})
      for (const double y : {-half, half})
        for (const double x : {-half, half}) mesh.positions.push_back({x, y, z});
    for (std::vector<Index> face :
         {std::vector<Index>{0, 2, 3, 1}, {0, 1, 5, 4}, {1, 3, 7, 5}, {3, 2, 6, 7}, {2, 0, 4, 6}}) {
      for (Index& node : face) node += first;
      if (inwards) face = {face.rbegin(), face.rend()};
      mesh.add_face(face);
    }
  };
  add_box(0.1, -0.1, false);
  add_box(0.098, -0.098, true);
  for (const std::array<Index, 2> side : {std::array<Index, 2>{4, 5}, {5, 7}, {7, 6}, {6, 4}})
    mesh.add_face({side[0], side[1], side[1] + 8, side[0] + 8});
  return mesh;
}

struct NastyBody {
  std::string name;
  Mesh mesh;
};
inline std::vector<NastyBody> nasty_bodies() {
  return {{"hand", hand_mesh()},           {"mannequin", mannequin_mesh()},
          {"open_head", open_head_mesh()}, {"inverted_island", inverted_island_mesh()},
          {"eyeballs", eyeballs_mesh()},   {"dirty", dirty_mesh()},
          {"polygons", polygons_mesh()},   {"sheet", sheet_mesh()},
          {"thin_box", thin_box_mesh()}};
}

}  // namespace isocloth::testing
