// Where a force acts on a cloth: a node, and the sample that takes its force and stiffness.
#pragma once

#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

/// Faces of a mesh and of its nodes.
struct FacesView {
  ArrayView<const Index> face_begin;       ///< shape [face_count + 1]
  ArrayView<const Index> face_nodes;       ///< shape [corner_count]
  ArrayView<const Index> node_face_begin;  ///< shape [node_count + 1]
  ArrayView<const Index> node_faces;       ///< shape [corner_count]
};

template <class Real>
struct NodeSite {
  const FacesView& faces;
  std::size_t node = 0;
  Real h{};                            ///< duration of the part of a step [s]
  Real rate{};                         ///< v = rate (phi_j - base) / h
  const Strided<const Real>& start;    ///< phi_n [m], shape [node_count, 3]
  const Strided<const Real>& base;     ///< x^ of the integrator [m], shape [node_count, 3]
  const Strided<const Real>& iterate;  ///< phi_j [m], shape [node_count, 3]
  bool pulls = true;                   ///< false: the stiffness alone, forces act elsewhere
  const ContactArrays<Real>& samples;

  /// A force times h^2 [kg m].
  ISOCLOTH_HD void add(Vec3<Real> force) const {
    samples.sample_forces.set_vector(node, samples.sample_forces.vector(node) + force);
  }
};

namespace ISOCLOTH_BACKEND {

/// M v of a symmetric matrix xx, xy, xz, yy, yz, zz.
template <class Real>
ISOCLOTH_HD Vec3<Real> multiplied(const Real (&m)[6], Vec3<Real> v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[1] * v.x + m[3] * v.y + m[4] * v.z,
          m[2] * v.x + m[4] * v.y + m[5] * v.z};
}

/// visit(twice the vector area, number of corners) of the faces of a node; position(node): where nodes are.
template <class PositionOf, class Visit>
ISOCLOTH_HD void for_each_face(const FacesView& faces, Index node, const PositionOf& position,
                               const Visit& visit) {
  using Vector = decltype(position(node));
  for (Index f = faces.node_face_begin[node]; f < faces.node_face_begin[node + 1]; ++f) {
    const Index first = faces.face_begin[faces.node_faces[f]],
                size = faces.face_begin[faces.node_faces[f] + 1] - first;
    Vector corners[4];
    for (Index i = 0; i < size; ++i) corners[i] = position(faces.face_nodes[first + i]);
    const Vector twice = size == 3 ? cross(corners[1] - corners[0], corners[2] - corners[0])
                                   : cross(corners[2] - corners[0], corners[3] - corners[1]);
    visit(twice, static_cast<decltype(twice.x)>(size));
  }
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
