#include "kernels/forces/build_bending.hpp"

#include "engine/rows/surface_element.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

ISOCLOTH_HD Index find_column(const NodeMatrixView& m, Index row, Index column) {
  for (Index e = m.row_begin[row]; e < m.row_begin[row + 1]; ++e)
    if (m.columns[e] == column) return e;
  return -1;
}

struct LaplacianBody {
  BuildLaplacian a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    for (Index e = a.pattern.row_begin[node]; e < a.pattern.row_begin[node + 1]; ++e) a.laplacian[e] = 0;
    if (a.is_boundary[node]) return;
    for (Index c = a.mesh.node_corner_begin[node]; c < a.mesh.node_corner_begin[node + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c], face = a.mesh.corner_faces[corner];
      const Index first = a.mesh.face_begin[face];
      const int size = a.mesh.face_begin[face + 1] - first;
      Vec3d p[4];
      for (int i = 0; i < size; ++i) p[i] = a.mesh.positions[a.mesh.face_nodes[first + i]];
      for (int q = 0; q < gauss_point_count(size); ++q) {
        const auto g = gauss_point<double>(size, q);
        const auto s = surface_point(g, p, size);
        const Vec3d gradient = surface_gradient(g, s, corner - first);
        for (int i = 0; i < size; ++i)
          a.laplacian[find_column(a.pattern, node, a.mesh.face_nodes[first + i])] +=
              s.area / a.masses[node] * dot(gradient, surface_gradient(g, s, i));
      }
    }
  }
};

struct BendingBody {
  BuildBending a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    for (Index e = a.pattern.row_begin[node]; e < a.pattern.row_begin[node + 1]; ++e) {
      double sum = 0;
      for (Index n = a.laplacian_pattern.row_begin[node]; n < a.laplacian_pattern.row_begin[node + 1]; ++n) {
        const Index k = a.laplacian_pattern.columns[n];  // neighbours are mutual: row k holds this node
        const Index left = find_column(a.laplacian_pattern, k, node);
        const Index right = find_column(a.laplacian_pattern, k, a.pattern.columns[e]);
        if (right >= 0) sum += a.masses[k] * a.laplacian[left] * a.laplacian[right];
      }
      a.bending[e] = sum;
    }
  }
};

}  // namespace

void build_laplacian(const Queue& queue, const BuildLaplacian& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), LaplacianBody{args});
}
void build_bending(const Queue& queue, const BuildBending& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), BendingBody{args});
}

}  // namespace isocloth::ISOCLOTH_BACKEND
