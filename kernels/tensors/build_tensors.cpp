#include "kernels/tensors/build_tensors.hpp"

#include "engine/rows/isometry.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// Corners of one face, gathered.
struct Face {
  int size = 0;
  Index first = 0;
  Vec3d p[4];
};

ISOCLOTH_HD Face gather_face(const MeshView& mesh, Index face) {
  Face f;
  f.first = mesh.face_begin[face];
  f.size = mesh.face_begin[face + 1] - f.first;
  for (int i = 0; i < f.size; ++i) f.p[i] = mesh.positions[mesh.face_nodes[f.first + i]];
  return f;
}

ISOCLOTH_HD Index find(ArrayView<const Index> values, Index begin, Index end, Index wanted) {
  for (Index i = begin; i < end; ++i)
    if (values[i] == wanted) return i;
  return -1;
}

struct LumpMassesBody {
  LumpMasses a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    double mass = 0;
    for (Index c = a.mesh.node_corner_begin[node]; c < a.mesh.node_corner_begin[node + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c];
      const Face f = gather_face(a.mesh, a.mesh.corner_faces[corner]);
      for (int q = 0; q < gauss_point_count(f.size); ++q) {
        const auto g = gauss_point<double>(f.size, q);
        mass += g.value[corner - f.first] * surface_point(g, f.p, f.size).area;
      }
    }
    a.masses[node] = mass;
  }
};

struct IsometryBody {
  BuildIsometryTensors a;
  ISOCLOTH_DEVICE void operator()(Index stencil) const {
    const Index k = a.nodes[stencil];
    const Index slot0 = a.stencils.stencil_begin[stencil], slot1 = a.stencils.stencil_begin[stencil + 1];
    for (Index e = a.stencils.entry_begin[slot0] * a.width; e < a.stencils.entry_begin[slot1] * a.width; ++e)
      a.tensors[e] = 0;
    for (Index c = a.mesh.node_corner_begin[k]; c < a.mesh.node_corner_begin[k + 1]; ++c) {
      const Index corner = a.mesh.node_corners[c];
      const Face f = gather_face(a.mesh, a.mesh.corner_faces[corner]);
      const int local = corner - f.first;
      Index entry[4][4];
      for (int i = 0; i < f.size; ++i) {
        const Index slot = find(a.stencils.slot_nodes, slot0, slot1, a.mesh.face_nodes[f.first + i]);
        for (int j = 0; j < f.size; ++j)
          entry[i][j] = find(a.stencils.entry_nodes, a.stencils.entry_begin[slot],
                             a.stencils.entry_begin[slot + 1], a.mesh.face_nodes[f.first + j]);
      }
      for (int q = 0; q < gauss_point_count(f.size); ++q) {
        const auto g = gauss_point<double>(f.size, q);
        const auto s = surface_point(g, f.p, f.size);
        const auto m = material_gradient(g, s, a.corner_warps[corner], f.size);
        const double weight = g.value[local] * s.area / a.masses[k];
        for (int i = 0; i < f.size; ++i)
          for (int j = 0; j < f.size; ++j) {
            double efg[3] = {};
            add_isometry_tensor(m, i, j, weight, efg);
            if (a.width == 3)
              for (int w = 0; w < 3; ++w) a.tensors[entry[i][j] * 3 + w] += efg[w];
            else
              a.tensors[entry[i][j]] += efg[1];
          }
      }
    }
  }
};

struct EdgeBody {
  BuildEdgeTensors a;
  ISOCLOTH_DEVICE void operator()(Index edge) const {
    const Index slot = a.stencils.stencil_begin[a.first_stencil + edge];
    const Vec3d d =
        a.mesh.positions[a.stencils.slot_nodes[slot + 1]] - a.mesh.positions[a.stencils.slot_nodes[slot]];
    const double t = 1 / dot(d, d);
    const Index entry = a.stencils.entry_begin[slot];
    for (int i = 0; i < 4; ++i) a.tensors[entry + i] = i == 0 || i == 3 ? t : -t;
  }
};

}  // namespace

void lump_masses(const Queue& queue, const LumpMasses& args) {
  parallel_for(queue, static_cast<Index>(args.masses.size()), LumpMassesBody{args});
}
void build_isometry_tensors(const Queue& queue, const BuildIsometryTensors& args) {
  parallel_for(queue, static_cast<Index>(args.nodes.size()), IsometryBody{args});
}
void build_edge_tensors(const Queue& queue, const BuildEdgeTensors& args) {
  parallel_for(queue, args.stencils.stencil_count() - args.first_stencil, EdgeBody{args});
}

}  // namespace isocloth::ISOCLOTH_BACKEND
