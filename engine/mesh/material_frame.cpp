#include "engine/mesh/material_frame.hpp"

#include <cmath>
#include <numbers>

#include "engine/mesh/face_normal.hpp"

namespace isocloth {
namespace {

/// The part of v orthogonal to the unit vector n, as a unit vector.
Vec3d tangent_part(Vec3d v, Vec3d n) { return normalized(v - dot(v, n) * n); }

/// The x axis, or y where x is nearly normal to the surface, projected onto the tangent plane.
Vec3d axis_direction(Vec3d normal) {
  return tangent_part(std::abs(normal.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}, normal);
}

/// Turns v by the least rotation that takes the unit vector `from` to `to`: what unfolds a crease. v is
/// orthogonal to `from`.
Vec3d transported(Vec3d v, Vec3d from, Vec3d to) {
  const double cosine = dot(from, to);
  if (cosine < -0.999) return axis_direction(to);  // folded back onto itself: no least rotation
  return tangent_part(v - (dot(v, to) / (1 + cosine)) * (from + to), to);
}

std::vector<Vec3d> face_normals(const Mesh& mesh) {
  std::vector<Vec3d> normals(static_cast<std::size_t>(mesh.face_count()));
  for (Index f = 0; f < mesh.face_count(); ++f) normals[f] = normalized(area_vector(mesh, f));
  return normals;
}

/// Area-weighted mean normal; the first face's where the faces cancel out.
Vec3d node_normal(const Mesh& mesh, const Topology& topology, const std::vector<Index>& faces, Index node) {
  Vec3d sum{};
  double area = 0;
  for (Index i = topology.node_corner_begin[node]; i < topology.node_corner_begin[node + 1]; ++i) {
    const Vec3d part = area_vector(mesh, faces[topology.node_corners[i]]);
    sum += part;
    area += norm(part);
  }
  if (norm(sum) > 1e-6 * area) return normalized(sum);
  return normalized(area_vector(mesh, faces[topology.node_corners[topology.node_corner_begin[node]]]));
}

/// dX/du at a face corner: the direction of a warp thread, along which v is constant. 0 where the texture
/// coordinates have no area.
Vec3d warp_from_uvs(const Mesh& mesh, Index face, Index corner, Vec3d normal) {
  const Index begin = mesh.face_begin[face], size = mesh.face_size(face);
  const Index after = begin + (corner - begin + 1) % size,
              before = begin + (corner - begin + size - 1) % size;
  const Vec3d x = mesh.positions[mesh.face_nodes[corner]];
  const Vec3d a = mesh.positions[mesh.face_nodes[after]] - x, b = mesh.positions[mesh.face_nodes[before]] - x;
  const Vec2d da = mesh.corner_uvs[after] - mesh.corner_uvs[corner];
  const Vec2d db = mesh.corner_uvs[before] - mesh.corner_uvs[corner];
  const double det = da.x * db.y - db.x * da.y;
  const Vec3d warp = det * (db.y * a - da.y * b);  // times det, not over it: only the sign matters
  const Vec3d flat = warp - dot(warp, normal) * normal;
  const bool has_area =
      std::abs(det) > 1e-9 * (da.x * da.x + da.y * da.y + db.x * db.x + db.y * db.y) && norm(flat) > 0;
  return has_area ? normalized(flat) : Vec3d{};
}

void turn_at_corners(const Mesh& mesh, const Topology& topology, const std::vector<Index>& faces,
                     const std::vector<Vec3d>& normals, std::vector<Vec3d>& warps) {
  std::vector<char> is_corner(mesh.positions.size(), 0);
  for (const Index node : topology.corner_nodes) is_corner[node] = 1;
  for (const auto& loop : topology.boundary_loops) {
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Index node = loop[i];
      if (!is_corner[node]) continue;
      const Vec3d x = mesh.positions[node];
      const Vec3d after = mesh.positions[loop[(i + 1) % loop.size()]] - x;
      const Vec3d before = mesh.positions[loop[(i + loop.size() - 1) % loop.size()]] - x;
      const Vec3d normal = node_normal(mesh, topology, faces, node);
      const Vec3d bisector = tangent_part(normalized(after) + normalized(before), normal);
      const Vec3d warp = std::numbers::sqrt2 / 2 * (bisector - cross(normal, bisector));
      for (Index c = topology.node_corner_begin[node]; c < topology.node_corner_begin[node + 1]; ++c) {
        const Index corner = topology.node_corners[c];
        warps[corner] = transported(warp, normal, normals[faces[corner]]);
      }
    }
  }
}

/// Warp direction at each corner before the corners of the cloth are turned, shape [corner_count].
std::vector<Vec3d> thread_directions(const Mesh& mesh, const Topology& topology,
                                     const std::vector<Index>& faces, const std::vector<Vec3d>& normals) {
  std::vector<Vec3d> warps(mesh.face_nodes.size());
  if (!mesh.corner_uvs.empty()) {
    for (Index c = 0; c < mesh.corner_count(); ++c) {
      const Vec3d normal = normals[faces[c]], warp = warp_from_uvs(mesh, faces[c], c, normal);
      warps[c] = norm(warp) > 0 ? warp : axis_direction(normal);
    }
  } else {
    for (Index k = 0; k < mesh.node_count(); ++k) {
      const Vec3d normal = node_normal(mesh, topology, faces, k);
      const Vec3d warp = axis_direction(normal);
      for (Index i = topology.node_corner_begin[k]; i < topology.node_corner_begin[k + 1]; ++i) {
        const Index corner = topology.node_corners[i];
        warps[corner] = transported(warp, normal, normals[faces[corner]]);
      }
    }
  }
  return warps;
}

}  // namespace

std::vector<Vec3d> material_warp_directions(const Mesh& mesh, const Topology& topology) {
  const auto faces = corner_faces(mesh);
  const auto normals = face_normals(mesh);
  std::vector<Vec3d> warps = thread_directions(mesh, topology, faces, normals);
  turn_at_corners(mesh, topology, faces, normals, warps);
  return warps;
}

std::vector<Vec3d> face_warp_directions(const Mesh& mesh, const Topology& topology) {
  const auto normals = face_normals(mesh);
  const std::vector<Vec3d> warps = thread_directions(mesh, topology, corner_faces(mesh), normals);
  std::vector<Vec3d> result;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    Vec3d sum;
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c) sum += warps[c];
    // Corners whose threads cancel out have none in common.
    result.push_back(norm(sum) > 0.1 ? tangent_part(sum, normals[f]) : axis_direction(normals[f]));
  }
  return result;
}

Index count_without_texture_area(const Mesh& mesh) {
  if (mesh.corner_uvs.empty()) return 0;
  const std::vector<Vec3d> normals = face_normals(mesh);
  Index count = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    bool has_area = true;
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c)
      has_area = has_area && norm(warp_from_uvs(mesh, f, c, normals[f])) > 0;
    if (!has_area) ++count;
  }
  return count;
}

}  // namespace isocloth
