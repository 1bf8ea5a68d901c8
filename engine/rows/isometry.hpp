// Isometry averaged around nodes: E, F, G inside, F at corners (Coltraro 2022, section 5.4).
#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include "engine/rows/row_setup.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {

/// Derivatives of the shape functions along warp and weft at one Gauss point.
template <class Real>
struct MaterialGradient {
  Real warp[4];  ///< dN_i / dwarp [1/m]
  Real weft[4];  ///< dN_i / dweft [1/m]
};

/// Shape function derivatives along the projection of `warp` onto the tangent plane and along n x warp.
/// Material directions take the place of each element's own (xi, eta): E and G are 1 and F is 0 at rest at
/// every point, so the averages of (11) mix like with like on any mesh.
template <class Real>
ISOCLOTH_HD MaterialGradient<Real> material_gradient(const GaussPoint<Real>& g, const SurfacePoint<Real>& s,
                                                     Vec3<Real> warp, int corner_count) {
  warp = normalized(warp - dot(warp, s.normal) * s.normal);
  const Vec3<Real> weft = cross(s.normal, warp);
  MaterialGradient<Real> m{};
  for (int i = 0; i < corner_count; ++i) {
    const Vec3<Real> gradient = surface_gradient(g, s, i);
    m.warp[i] = dot(warp, gradient);
    m.weft[i] = dot(weft, gradient);
  }
  return m;
}

/// Integrands of t_E, t_F, t_G for corners i, j (Coltraro 2022, Algorithm 1, lines 11 to 13; line 11 means
/// t_E). `weight` is N_k dA / m_k.
template <class Real>
ISOCLOTH_HD void add_isometry_tensor(const MaterialGradient<Real>& m, int i, int j, Real weight, Real* efg) {
  efg[0] += weight * m.warp[i] * m.warp[j];
  efg[1] += weight / 2 * (m.warp[i] * m.weft[j] + m.weft[i] * m.warp[j]);
  efg[2] += weight * m.weft[i] * m.weft[j];
}

/// Adds the stencil of node k: every node of its faces; T_ij where i and j share one of these faces. None
/// where all of them are pinned: nothing can move such rows.
inline bool add_patch(const RowSetup& setup, Index k, StencilPattern& pattern) {
  std::vector<std::pair<Index, std::set<Index>>> patch{{k, {}}};  // relative to the node itself
  const auto coupled = [&](Index node) -> std::set<Index>& {
    auto it = std::find_if(patch.begin(), patch.end(), [&](const auto& s) { return s.first == node; });
    if (it == patch.end()) it = patch.insert(patch.end(), {node, {}});
    return it->second;
  };
  const std::vector<Index>& begin = setup.topology.node_corner_begin;
  for (Index c = begin[k]; c < begin[k + 1]; ++c) {
    const auto face = setup.mesh.face(setup.corner_faces[setup.topology.node_corners[c]]);
    for (const Index i : face) coupled(i).insert(face.begin(), face.end());
  }
  if (std::none_of(patch.begin(), patch.end(), [&](const auto& s) { return setup.is_free(s.first); }))
    return false;
  for (const auto& [node, nodes] : patch) pattern.add_slot(node, {nodes.begin(), nodes.end()});
  pattern.end_stencil();
  return true;
}

/// Coltraro 2022, Algorithm 1, in material directions, of the i-th stencil of a family; with one row per
/// stencil F alone.
template <int Width>
ISOCLOTH_HD void set_patch_tensors(const TensorSetup& a, Index i) {
  const Index k = a.places[i], stencil = a.first_stencil + i;
  const Index entry0 = a.stencils.entry_begin[a.stencils.stencil_begin[stencil]],
              entry1 = a.stencils.entry_begin[a.stencils.stencil_begin[stencil + 1]];
  for (Index e = entry0 * Width; e < entry1 * Width; ++e) a.tensors[e] = 0;
  for (Index c = a.mesh.node_corner_begin[k]; c < a.mesh.node_corner_begin[k + 1]; ++c) {
    const Index corner = a.mesh.node_corners[c];
    const FaceCorners f = face_corners(a.mesh, a.mesh.corner_faces[corner]);
    Index entry[4][4];
    for (int m = 0; m < f.size; ++m)
      for (int n = 0; n < f.size; ++n)
        entry[m][n] =
            a.stencils.entry(stencil, a.mesh.face_nodes[f.first + m], a.mesh.face_nodes[f.first + n]);
    for (int q = 0; q < gauss_point_count(f.size); ++q) {
      const auto g = gauss_point<double>(f.size, q);
      const auto s = surface_point(g, f.p, f.size);
      const auto gradient = material_gradient(g, s, a.corner_warps[corner], f.size);
      const double weight = g.value[corner - f.first] * s.area / a.masses[k];
      for (int m = 0; m < f.size; ++m)
        for (int n = 0; n < f.size; ++n) {
          double efg[3] = {};
          add_isometry_tensor(gradient, m, n, weight, efg);
          for (int w = 0; w < Width; ++w) a.tensors[entry[m][n] * Width + w] += efg[Width == 3 ? w : 1];
        }
    }
  }
}

struct IsometryRows {
  static constexpr int width = 3;
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    for (const Index k : setup.topology.interior_nodes)
      if (add_patch(setup, k, pattern)) places.push_back(k);
  }
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) { set_patch_tensors<3>(a, i); }
};

struct CornerShearRows {
  static constexpr int width = 1;
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    for (const Index k : setup.topology.corner_nodes)
      if (add_patch(setup, k, pattern)) places.push_back(k);
  }
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) { set_patch_tensors<1>(a, i); }
};

}  // namespace isocloth
