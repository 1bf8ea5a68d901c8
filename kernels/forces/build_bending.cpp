#include "kernels/forces/build_bending.hpp"

#include <cmath>

#include "engine/rows/surface_element.hpp"
#include "kernels/forces/symmetric_eigen.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

ISOCLOTH_HD Index find_column(const NodeMatrixView& m, Index row, Index column) {
  for (Index e = m.row_begin[row]; e < m.row_begin[row + 1]; ++e)
    if (m.columns[e] == column) return e;
  return -1;
}

/// A face's centre: the surface there.
ISOCLOTH_HD SurfacePoint<double> face_centre(const FaceCorners& f) {
  auto g = f.size == 3 ? gauss_point<double>(3, 0) : quad_point<double>(0, 0, 4);
  if (f.size == 3) g.weight = 0.5;
  return surface_point(g, f.p, f.size);
}

/// v after the least rotation that takes the unit vector `from` to `to`.
ISOCLOTH_HD Vec3d turned(Vec3d v, Vec3d from, Vec3d to) {
  const double cosine = 1 + dot(from, to);
  if (!(cosine > 1e-9)) return v;
  return v - (dot(from + to, v) / cosine) * (from + to) + (2 * dot(from, v)) * to;
}

/// Tangent plane of a node.
struct NodeFrame {
  Vec3d normal, warp, weft;
};
ISOCLOTH_HD NodeFrame node_frame(const BuildCurvature& a, Index node) {
  const Index first = a.mesh.node_corner_begin[node], last = a.mesh.node_corner_begin[node + 1];
  NodeFrame frame;
  for (Index c = first; c < last; ++c) {
    const auto s = face_centre(face_corners(a.mesh, a.mesh.corner_faces[a.mesh.node_corners[c]]));
    frame.normal += s.area * s.normal;
  }
  frame.normal = normalized(frame.normal);
  double area = 0;
  for (Index c = first; c < last; ++c) {
    const Index face = a.mesh.corner_faces[a.mesh.node_corners[c]];
    const auto s = face_centre(face_corners(a.mesh, face));
    frame.warp += s.area * turned(a.warps[face], s.normal, frame.normal);
    area += s.area;
  }
  frame.warp -= dot(frame.warp, frame.normal) * frame.normal;
  if (norm(frame.warp) < 1e-3 * area) {  // seams whose sides have opposite warps: any direction
    const Vec3d n = frame.normal;
    frame.warp = std::fabs(n.x) < 0.7 ? Vec3d{1, 0, 0} - n.x * n : Vec3d{0, 1, 0} - n.y * n;
  }
  frame.warp = normalized(frame.warp);
  frame.weft = cross(frame.normal, frame.warp);
  return frame;
}

constexpr double root_2 = 1.4142135623730951;

/// Adds the second derivatives of one node.
struct PlateNode {
  const BuildCurvature& a;
  Index node;
  NodeFrame frame;
  double exact[9] = {};  ///< A_i
  double clamped = 0;    ///< m_i of faces whose nodes are all pinned [m^2]

  /// weight / m_i left grad x^T at a point of a face, where the surface is s.
  ISOCLOTH_HD void add(const FaceCorners& f, int own, const GaussPoint<double>& g,
                       const SurfacePoint<double>& s, Vec3d left, double weight) {
    left = turned(left, s.normal, frame.normal);
    const double lu = dot(left, frame.warp), lv = dot(left, frame.weft);
    weight /= a.masses[node];
    for (int j = 0; j < f.size; ++j) {
      const Vec3d right = turned(surface_gradient(g, s, j), s.normal, frame.normal);
      const double ru = dot(right, frame.warp), rv = dot(right, frame.weft);
      const Vec3d value{weight * lu * ru, weight * lv * rv, weight * (lu * rv + lv * ru) / root_2};
      a.curvature[find_column(a.pattern, node, a.mesh.face_nodes[f.first + j])] += value;
      // the polynomials u^2 / 2, v^2 / 2 and u v / sqrt(2), whose second derivatives are unit vectors
      const Vec3d way = turned(f.p[j] - f.p[own], s.normal, frame.normal);
      const double u = dot(way, frame.warp), v = dot(way, frame.weft);
      const double polynomials[3] = {u * u / 2, v * v / 2, u * v / root_2};
      for (int k = 0; k < 3; ++k) {
        exact[k] += value.x * polynomials[k];
        exact[3 + k] += value.y * polynomials[k];
        exact[6 + k] += value.z * polynomials[k];
      }
    }
  }

  ISOCLOTH_HD void add_inside(const FaceCorners& f, int own) {
    bool is_clamped = true;
    for (int j = 0; j < f.size; ++j) is_clamped &= a.is_pinned[a.mesh.face_nodes[f.first + j]] != 0;
    for (int q = 0; q < gauss_point_count(f.size); ++q) {
      const auto g = gauss_point<double>(f.size, q);
      const auto s = surface_point(g, f.p, f.size);
      add(f, own, g, s, -surface_gradient(g, s, own), s.area);
      if (is_clamped) clamped += s.area * g.value[own];
    }
  }

  /// Adds the integral along the edge from corner k of a face to the next, with two Gauss points.
  ISOCLOTH_HD void add_rim(const FaceCorners& f, int own, int k) {
    const double corner_xi[5] = {-1, 1, 1, -1, -1}, corner_eta[5] = {-1, -1, 1, 1, -1};
    const Vec3d along = f.p[(k + 1) % f.size] - f.p[k];
    for (const double t : {0.2113248654051871, 0.7886751345948129}) {
      const auto g = f.size == 3 ? gauss_point<double>(3, 0)
                                 : quad_point<double>((1 - t) * corner_xi[k] + t * corner_xi[k + 1],
                                                      (1 - t) * corner_eta[k] + t * corner_eta[k + 1], 0);
      const auto s = surface_point(g, f.p, f.size);
      add(f, own, g, s, cross(along, s.normal), (own == k ? 1 - t : t) / 2);  // |along x normal|: length
    }
  }

  /// H_i -> (1 - p)^-1/2 sym(C^1/2 A_i C^-1/2)^-1/2 C^1/2 H_i.
  ISOCLOTH_HD void make_exact() {
    const double root = std::sqrt(std::sqrt(a.ratio)), stiff[3] = {1, root * root, root};
    double scaled[9];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        scaled[3 * i + j] =
            (stiff[i] / stiff[j] * exact[3 * i + j] + stiff[j] / stiff[i] * exact[3 * j + i]) / 2;
    const double rest = 1 - clamped / a.masses[node];
    double values[3], axes[9];
    symmetric_eigen(scaled, values, axes);
    double rows[9];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i)
        rows[3 * k + i] =
            values[k] > 0.25 && rest > 1e-9 ? axes[3 * i + k] * stiff[i] / std::sqrt(values[k] * rest) : 0;
    for (Index e = a.pattern.row_begin[node]; e < a.pattern.row_begin[node + 1]; ++e) {
      const Vec3d h = a.curvature[e];
      a.curvature[e] = {rows[0] * h.x + rows[1] * h.y + rows[2] * h.z,
                        rows[3] * h.x + rows[4] * h.y + rows[5] * h.z,
                        rows[6] * h.x + rows[7] * h.y + rows[8] * h.z};
    }
  }
};

struct CurvatureBody {
  BuildCurvature a;

  ISOCLOTH_DEVICE void operator()(Index node) const {
    for (Index e = a.pattern.row_begin[node]; e < a.pattern.row_begin[node + 1]; ++e) a.curvature[e] = {};
    if (a.is_plate)
      add_plate(node);
    else if (!a.is_boundary[node])
      add_laplacian(node);
  }

  ISOCLOTH_HD void add_laplacian(Index node) const {
    for (Index c = a.mesh.node_corner_begin[node]; c < a.mesh.node_corner_begin[node + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c];
      const FaceCorners f = face_corners(a.mesh, a.mesh.corner_faces[corner]);
      for (int q = 0; q < gauss_point_count(f.size); ++q) {
        const auto g = gauss_point<double>(f.size, q);
        const auto s = surface_point(g, f.p, f.size);
        const Vec3d gradient = surface_gradient(g, s, corner - f.first);
        for (int i = 0; i < f.size; ++i)
          a.curvature[find_column(a.pattern, node, a.mesh.face_nodes[f.first + i])].x +=
              s.area / a.masses[node] * dot(gradient, surface_gradient(g, s, i));
      }
    }
  }

  ISOCLOTH_HD void add_plate(Index node) const {
    PlateNode plate{a, node, node_frame(a, node)};
    for (Index c = a.mesh.node_corner_begin[node]; c < a.mesh.node_corner_begin[node + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c];
      const FaceCorners f = face_corners(a.mesh, a.mesh.corner_faces[corner]);
      const int own = corner - f.first, before = (own + f.size - 1) % f.size;
      plate.add_inside(f, own);
      if (a.is_rim[corner]) plate.add_rim(f, own, own);
      if (a.is_rim[f.first + before]) plate.add_rim(f, own, before);
    }
    plate.make_exact();
  }
};

struct BendingBody {
  BuildBending a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    for (Index e = a.pattern.row_begin[node]; e < a.pattern.row_begin[node + 1]; ++e) {
      double sum = 0;
      for (Index n = a.curvature_pattern.row_begin[node]; n < a.curvature_pattern.row_begin[node + 1]; ++n) {
        const Index k = a.curvature_pattern.columns[n];  // neighbours are mutual: row k holds this node
        const Index left = find_column(a.curvature_pattern, k, node);
        const Index right = find_column(a.curvature_pattern, k, a.pattern.columns[e]);
        if (right >= 0) sum += dot(a.masses[k] * a.curvature[left], a.curvature[right]);
      }
      a.bending[e] = sum;
    }
  }
};

}  // namespace

void build_curvature(const Queue& queue, const BuildCurvature& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), CurvatureBody{args});
}
void build_bending(const Queue& queue, const BuildBending& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), BendingBody{args});
}

}  // namespace isocloth::ISOCLOTH_BACKEND
