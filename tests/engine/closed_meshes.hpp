// Closed surfaces for tests, and an independent way to measure distances from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth::testing {

/// Box around the origin, each side of n x n quads, nodes welded.
inline Mesh box_mesh(Vec3d size, int n) {
  Mesh mesh;
  std::vector<Index> node_at(static_cast<std::size_t>((n + 1) * (n + 1) * (n + 1)), -1);
  const auto node = [&](std::array<int, 3> at) {
    Index& known = node_at[(at[2] * (n + 1) + at[1]) * (n + 1) + at[0]];
    if (known < 0) {
      known = mesh.node_count();
      mesh.positions.push_back({size.x * (double(at[0]) / n - 0.5), size.y * (double(at[1]) / n - 0.5),
                                size.z * (double(at[2]) / n - 0.5)});
    }
    return known;
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const int side : {0, n}) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const auto corner = [&](int u, int v) {
            std::array<int, 3> at{};
            at[axis] = side;
            at[(axis + 1) % 3] = i + (side > 0 ? u : v);
            at[(axis + 2) % 3] = j + (side > 0 ? v : u);
            return node(at);
          };
          mesh.add_face({corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)});
        }
      }
    }
  }
  return mesh;
}

/// Torus about the z axis of nu x nv quads.
inline Mesh torus_mesh(int nu, int nv, double ring_radius, double tube_radius) {
  Mesh mesh;
  for (int i = 0; i < nu; ++i) {
    for (int j = 0; j < nv; ++j) {
      const double u = 2 * std::numbers::pi * i / nu, v = 2 * std::numbers::pi * j / nv;
      const double radius = ring_radius + tube_radius * std::cos(v);
      mesh.positions.push_back({radius * std::cos(u), radius * std::sin(u), tube_radius * std::sin(v)});
    }
  }
  for (int i = 0; i < nu; ++i) {
    for (int j = 0; j < nv; ++j) {
      const int k = (i + 1) % nu, l = (j + 1) % nv;
      mesh.add_face({i * nv + j, k * nv + j, k * nv + l, i * nv + l});
    }
  }
  return mesh;
}

/// A torus bent and squeezed, without symmetry.
inline Mesh bent_mesh(int nu, int nv) {
  Mesh mesh = torus_mesh(nu, nv, 1, 0.35);
  for (Vec3d& x : mesh.positions) {
    x.z += 0.5 * std::sin(2 * x.x + x.y);
    x.x *= 1 + 0.2 * std::sin(2 * x.y);
  }
  return mesh;
}

/// Prism along y, 0 <= y <= length, over the triangle (0, 0), (1, -tan(angle / 2)), (1, tan(angle / 2)) in x,
/// z.
inline Mesh wedge_mesh(double angle, double length) {
  const double half = std::tan(angle / 2);
  Mesh mesh;
  for (const double y : {0.0, length}) {
    mesh.positions.push_back({0, y, 0});
    mesh.positions.push_back({1, y, -half});
    mesh.positions.push_back({1, y, half});
  }
  mesh.add_face({0, 1, 2});
  mesh.add_face({3, 5, 4});
  mesh.add_face({0, 3, 4, 1});
  mesh.add_face({1, 4, 5, 2});
  mesh.add_face({2, 5, 3, 0});
  return mesh;
}

inline void append(Mesh& mesh, const Mesh& other, Vec3d shift) {
  const Index begin = mesh.node_count();
  for (const Vec3d& x : other.positions) mesh.positions.push_back(x + shift);
  for (Index f = 0; f < other.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : other.face(f)) nodes.push_back(begin + node);
    mesh.add_face(nodes);
  }
}

inline Mesh turned(const Mesh& mesh) {
  Mesh result;
  result.positions = mesh.positions;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    std::vector<Index> nodes(mesh.face(f).begin(), mesh.face(f).end());
    std::reverse(nodes.begin(), nodes.end());
    result.add_face(nodes);
  }
  return result;
}

/// Exact distance from the box of box_mesh.
inline double box_distance(Vec3d size, Vec3d p) {
  const Vec3d q{std::abs(p.x) - size.x / 2, std::abs(p.y) - size.y / 2, std::abs(p.z) - size.z / 2};
  const double outside = norm(Vec3d{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)});
  return outside > 0 ? outside : std::max({q.x, q.y, q.z});
}

/// What the SceneError of `action` says, in one line; "accepted" without one.
template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const SceneError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

/// Distance from all triangles (quads cut at corner 0), each by its plane, sides and corners; < 0 where the
/// surface's winding number, the sum of solid angles over 4 pi (van Oosterom & Strackee 1983), is above 1/2.
inline double brute_force_distance(const Mesh& mesh, Vec3d p) {
  double least = std::numeric_limits<double>::infinity(), angle = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    for (std::size_t k = 2; k < mesh.face(f).size(); ++k) {
      const std::array<Vec3d, 3> x{mesh.positions[mesh.face(f)[0]], mesh.positions[mesh.face(f)[k - 1]],
                                   mesh.positions[mesh.face(f)[k]]};
      const Vec3d n = normalized(cross(x[1] - x[0], x[2] - x[0]));
      bool is_above = true;
      for (std::size_t i = 0; i < 3; ++i) {
        const Vec3d a = x[i], side = x[(i + 1) % 3] - a;
        is_above = is_above && dot(cross(n, side), p - a) >= 0;
        const double s = std::clamp(dot(p - a, side) / dot(side, side), 0.0, 1.0);
        least = std::min(least, norm(p - a - s * side));
      }
      if (is_above) least = std::min(least, std::abs(dot(p - x[0], n)));
      const Vec3d a = x[0] - p, b = x[1] - p, c = x[2] - p;
      const double la = norm(a), lb = norm(b), lc = norm(c);
      angle += 2 * std::atan2(dot(a, cross(b, c)),
                              la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
    }
  }
  return angle > 2 * std::numbers::pi ? -least : least;
}

}  // namespace isocloth::testing
