// Rings, discs and tubes: circles of nodes, joined.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/flat_uvs.hpp"
#include "engine/mesh/generator_sizes.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

void require_circles(const char* generator, Index circles, Index least_circles, Index around) {
  if (circles < least_circles || around < 3) {
    throw MeshError(text(generator, ": found ", circles, " circles of ", around, " nodes, expected at least ",
                         least_circles, " of at least 3; add nodes"));
  }
  require_countable(generator, circles, around);
}

void require_length(const char* generator, const char* name, double found, double more_than) {
  if (!(found > more_than) || !std::isfinite(found)) {
    throw MeshError(text(generator, ": found ", name, " ", found, " m, expected more than ", more_than));
  }
}

Vec3d on_circle(double radius, Index k, Index around, double phase, double z) {
  const double angle = phase + 2 * std::numbers::pi * k / around;
  return {radius * std::cos(angle), radius * std::sin(angle), z};
}

/// Faces between consecutive circles of `around` nodes each, numbered from `first`; front where the cross
/// product of "to the next circle" and "to the next node" points.
void join_circles(Mesh& mesh, Index first, Index circles, Index around, FaceKind kind) {
  for (Index c = 0; c + 1 < circles; ++c) {
    for (Index k = 0; k < around; ++k) {
      const Index next = (k + 1) % around;
      const Index p = first + c * around + k, q = p + around;
      const Index r = first + (c + 1) * around + next, s = r - around;
      if (kind == FaceKind::quads) {
        mesh.add_face({p, q, r, s});
      } else if ((c + k) % 2 == 0) {
        mesh.add_face({p, q, r});
        mesh.add_face({p, r, s});
      } else {
        mesh.add_face({p, q, s});
        mesh.add_face({q, r, s});
      }
    }
  }
}

/// The tube cut open between its last and its first column of nodes, `chord` [m] apart.
void set_unrolled_uvs(Mesh& mesh, Index around, double chord) {
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const bool at_cut =
        std::any_of(nodes.begin(), nodes.end(), [&](Index n) { return n % around == around - 1; });
    for (const Index node : nodes) {
      const Index column = node % around;
      mesh.corner_uvs.push_back({chord * (at_cut && column == 0 ? around : column), mesh.positions[node].z});
    }
  }
}

}  // namespace

Mesh ring(Index radial, Index around, double inner_radius, double outer_radius, FaceKind kind, double phase) {
  require_enum<MeshError>("ring: faces", kind, FaceKind::triangles);
  require_circles("ring", radial, 2, around);
  require_length("ring", "inner_radius", inner_radius, 0);
  require_length("ring", "outer_radius", outer_radius, inner_radius);
  Mesh mesh;
  for (Index c = 0; c < radial; ++c) {
    const double radius = inner_radius + (outer_radius - inner_radius) * c / (radial - 1);
    for (Index k = 0; k < around; ++k) mesh.positions.push_back(on_circle(radius, k, around, phase, 0));
  }
  join_circles(mesh, 0, radial, around, kind);
  set_flat_uvs(mesh);
  return mesh;
}

Mesh disc(Index radial, Index around, double radius, FaceKind kind) {
  require_enum<MeshError>("disc: faces", kind, FaceKind::triangles);
  require_circles("disc", radial, 1, around);
  constexpr Index most_around = 1000;  // faces at the node in the middle, see validate_mesh()
  if (around > most_around)
    throw MeshError(text("disc: found circles of ", around, " nodes, expected at most ", most_around,
                         ", all of which are joined to the middle; use a ring or fewer"));
  require_length("disc", "radius", radius, 0);
  Mesh mesh;
  mesh.positions.push_back({});
  for (Index c = 1; c <= radial; ++c) {
    for (Index k = 0; k < around; ++k) {
      mesh.positions.push_back(on_circle(radius * c / radial, k, around, 0, 0));
    }
  }
  for (Index k = 0; k < around; ++k) mesh.add_face({0, 1 + k, 1 + (k + 1) % around});
  join_circles(mesh, 1, radial, around, kind);
  set_flat_uvs(mesh);
  return mesh;
}

Mesh tube(Index along, Index around, double radius, double height, FaceKind kind) {
  require_enum<MeshError>("tube: faces", kind, FaceKind::triangles);
  require_circles("tube", along, 2, around);
  require_length("tube", "radius", radius, 0);
  require_length("tube", "height", height, 0);
  Mesh mesh;
  for (Index c = 0; c < along; ++c) {
    for (Index k = 0; k < around; ++k) {
      mesh.positions.push_back(on_circle(radius, k, around, 0, height * c / (along - 1)));
    }
  }
  join_circles(mesh, 0, along, around, kind);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto begin = mesh.face_nodes.begin() + mesh.face_begin[f];
    std::reverse(begin, begin + mesh.face_size(f));  // "up" x "next node" points inwards
  }
  set_unrolled_uvs(mesh, around, 2 * radius * std::sin(std::numbers::pi / around));
  return mesh;
}

}  // namespace isocloth
