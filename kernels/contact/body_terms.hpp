// One contact's part in the system of a body.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/signed_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
ISOCLOTH_DEVICE bool acts(const ContactArrays<Real>& a, Index contact) {
  return static_cast<int>(a.modes[static_cast<std::size_t>(contact)]) != static_cast<int>(ContactMode::none);
}

/// S of a contact as ContactTerms adds it to its sample: k n n^T + k_t (1 - n n^T), less k_t s s^T where it
/// slides on; s: direction of the tangential pull.
template <class Real>
struct ContactStiffness {
  Vec3<Real> normal{}, slide{}, pull{};
  Real along{}, across{}, held{};

  ISOCLOTH_DEVICE ContactStiffness(const ContactArrays<Real>& a, Index contact) {
    const std::size_t c = static_cast<std::size_t>(contact);
    normal = a.normals.vector(c);
    pull = a.pulls.vector(c);
    along = a.stiffness[2 * c];
    across = a.stiffness[2 * c + 1];
    if (static_cast<int>(a.modes[c]) != static_cast<int>(ContactMode::slide_on)) return;
    const Vec3<Real> tangential = pull - dot(pull, normal) * normal;
    const Real size = length(tangential);
    if (!(size > Real(0))) return;
    slide = (Real(1) / size) * tangential;
    held = across;
  }
  ISOCLOTH_DEVICE Vec3<Real> times(Vec3<Real> v) const {
    return (along - across) * dot(normal, v) * normal + across * v - held * dot(slide, v) * slide;
  }
};

/// Column k of J = [1, -[r]x].
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> body_direction(int k, Vec3<Real> r) {
  switch (k) {
    case 0:
      return {1, 0, 0};
    case 1:
      return {0, 1, 0};
    case 2:
      return {0, 0, 1};
    case 3:
      return {0, -r.z, r.y};
    case 4:
      return {r.z, 0, -r.x};
    default:
      return {-r.y, r.x, 0};
  }
}

/// Where a sample's point is.
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> sample_point(const SamplePattern& p, const ContactPlaces<Real>& x,
                                        const ContactArrays<Real>& a, Index sample) {
  Vec3<Real> point{};
  for (Index slot = p.sample_begin[sample]; slot < p.sample_begin[sample + 1]; ++slot)
    point += a.weights[static_cast<std::size_t>(slot)] *
             x.iterate.vector(static_cast<std::size_t>(p.slot_nodes[slot]));
  return point;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
