// Material points of a cloth that may touch obstacles, and what is kept of each contact.
#pragma once

#include <cstdint>

#include "kernels/contact/obstacles.hpp"
#include "kernels/core/views.hpp"

namespace isocloth {

/// A law of compression (engine/material/compression.hpp) as kernels read it.
template <class S>
struct CompressionCurve {
  S give;           ///< T - c [m]
  S offset;         ///< q [Pa]
  S linear_from;    ///< p from which on the slope is the largest [Pa]
  S largest_slope;  ///< S_max [Pa/m]
};

/// Samples: every node, then every edge, then every face of a mesh. A node's sample is the node itself; that
/// of an edge or face is the point of it that comes deepest, found anew in each iteration, so that nothing
/// pokes through a coarse cloth. Where elements keep several contacts, samples of edges and faces follow once
/// more for each further one. A slot is a node of a sample.
struct SamplePattern {
  Index node_count = 0, edge_count = 0, face_count = 0;
  /// Contacts that a node keeps at once, one per obstacle. A further one is held by nothing, and counts as
  /// penetration.
  Index contacts_per_node = 0;
  /// Contacts that an edge or a face keeps at once, each at a point of its own, on one obstacle or several.
  /// With one contact an element that rolls over a solid, or lies on two, is held in turns here and there,
  /// without end.
  Index contacts_per_element = 1;
  bool eases = false;                   ///< samples keep depths at the start, see EasedDepths
  ArrayView<const Index> sample_begin;  ///< slots of each sample, shape [sample_count + 1]
  ArrayView<const Index> slot_nodes;    ///< shape [slot_count]

  ISOCLOTH_HD Index element_count() const { return edge_count + face_count; }
  ISOCLOTH_HD Index sample_count() const { return node_count + contacts_per_element * element_count(); }
  ISOCLOTH_HD Index contact_count() const {
    return node_count * contacts_per_node + contacts_per_element * element_count();
  }
  /// Slots of EasedDepths.
  ISOCLOTH_HD Index eased_count() const { return eases ? contact_count() : 0; }
  ISOCLOTH_HD Index first_contact(Index sample) const {
    return sample < node_count ? sample * contacts_per_node
                               : node_count * contacts_per_node + sample - node_count;
  }
  ISOCLOTH_HD Index contacts_of(Index sample) const { return sample < node_count ? contacts_per_node : 1; }
};
constexpr Index most_contacts_per_node = 3, most_contacts_per_element = 3;

/// Element i of one of several cloths whose arrays lie side by side.
template <class Real>
struct Strided {
  Real* data = nullptr;
  int stride = 1;
  ISOCLOTH_HD Real& operator[](std::size_t i) const { return data[i * static_cast<std::size_t>(stride)]; }
  ISOCLOTH_HD Vec3<std::remove_const_t<Real>> vector(std::size_t i) const {
    return {(*this)[3 * i], (*this)[3 * i + 1], (*this)[3 * i + 2]};
  }
  ISOCLOTH_HD void set_vector(std::size_t i, Vec3<Real> v) const {
    (*this)[3 * i] = v.x;
    (*this)[3 * i + 1] = v.y;
    (*this)[3 * i + 2] = v.z;
  }
};

/// How a contact acts in an iteration.
enum class ContactMode : int {
  none,      ///< not at all
  smooth,    ///< along the normal only
  stick,     ///< the tangential force holds the point
  slide,     ///< the tangential force has its greatest size, and turns with the slip of the point
  slide_on,  ///< as `slide`, and nothing resists along the slip
};

/// Depths at which samples of one cloth were in obstacles at the start, as kernels/contact/easing.hpp goes on
/// from them. A sample has as many slots as contacts, an element in the order of its contacts. Null: nothing
/// is eased out.
template <class Real>
struct EasedDepths {
  Strided<Real> obstacles;  ///< number, -1: none; shape [eased_count]
  Strided<Real> depths;     ///< [m], 0 where there is none; shape [eased_count]
};

/// One cloth's contacts. The contact keeps the force that the obstacle exerts times h^2, p [kg m], the number
/// of the obstacle, how it acts, and where; the rest is of one iteration.
template <class Real>
struct ContactArrays {
  Strided<Real> forces;      ///< p, shape [contact_count, 3]
  Strided<Real> obstacles;   ///< number, -1: none; shape [contact_count]
  Strided<Real> modes;       ///< ContactMode, shape [contact_count]
  Strided<Real> slips;       ///< since the point last stuck [m], shape [contact_count]
  Strided<Real> points;      ///< (u, v) of an edge's or a face's contact, shape [contact_count, 2]
  Strided<Real> normals;     ///< shape [contact_count, 3]
  Strided<Real> pulls;       ///< p of an unchanged position, shape [contact_count, 3]
  Strided<Real> stiffness;   ///< along and across the normal, grip [kg], shape [contact_count, 3]
  Strided<Real> began;       ///< p and slip when the step began, shape [contact_count, 4]
  Strided<Real> mismatches;  ///< ContactForce::mismatch over the largest that is accepted, [contact_count]
  Strided<Real> weights;     ///< weight of each slot's node in the sample's point, shape [slot_count]
  Strided<Real> depths;      ///< how far a sample is nearer than where contact begins [m], shape [sample]
  /// Largest error of a sample's contacts over the largest that is accepted, shape [sample].
  Strided<Real> errors;
  // Of contacts of edges and faces, as the step began: which obstacle they take area for, and how much of it
  // from each node.
  Strided<Real> shared_with;   ///< number, -1: none; shape [sample_count]
  Strided<Real> shared_areas;  ///< [m^2], shape [slot_count]; without meaning where there is none
  // Sums over the contacts of a sample: the matrix and right side of its point. Finite, but worth nothing
  // where all weights of the sample are 0.
  Strided<Real> sample_stiffness;  ///< xx, xy, xz, yy, yz, zz [kg], shape [sample_count, 6]
  Strided<Real> sample_forces;     ///< [kg m], shape [sample_count, 3]
  EasedDepths<Real> eased;
};

/// What drives the contacts of one cloth in one iteration.
template <class Real>
struct ContactControl {
  Real offset{};     ///< distance that the middle of the cloth keeps from obstacles [m]
  Real tolerance{};  ///< where something that moved far enters an obstacle; what is eased out [m]
  Real accuracy{};   ///< accepted error of the thickness at a contact when the step ends [m]
  CompressionCurve<Real> curve{};
  Real inertia{};      ///< inertia of the metric [kg/m^2]
  Real step{};         ///< h, duration of the part of a step [s]
  Real unit{};         ///< contacts keep forces times this: h^2, less where the metric is the mass [s^2]
  Real rate{1};        ///< see IntegratorCoefficients
  Real mean_mass{};    ///< mean of m_i [m^2]
  Real from{}, to{1};  ///< part of the obstacles' motion that the iteration begins and ends with
  bool keeps_forces =
      true;           ///< forces are those of the whole step; false: of one iteration, on top of others
  int iteration = 0;  ///< number of the iteration in the part of a step
};

/// Where the nodes are.
template <class Real>
struct ContactPositions {
  Strided<const Real> start;           ///< phi_n [m], shape [node_count, 3]
  Strided<const Real> base;            ///< x^ of the integrator [m], shape [node_count, 3]
  Strided<const Real> iterate;         ///< phi_j [m], shape [node_count, 3]
  Strided<const Real> inverse_masses;  ///< 1 / m_i [1/m^2], 0: pinned or held; shape [node_count]
  /// 1 / m_i [1/m^2] of a cloth that no gripper holds, 0: pinned; shape [node_count].
  Strided<const Real> rest_inverse_masses;
  /// m_i of all nodes, pinned or not [m^2], shape [node_count]; null: nothing that a pin holds meets
  /// anything.
  Strided<const Real> masses{};
};

/// Obstacles that a cloth may meet in a step: so many are listed, past that all are asked.
constexpr Index most_near = 32;

/// How far samples are from obstacles, so that of these most are not asked in most iterations: no result
/// depends on it. A sample has the obstacles that were near when it was last measured; all others it cannot
/// meet before its nodes have gone as far as it has room. Those that move count as near. Empty: all are
/// asked.
template <class Real>
struct Clearances {
  ArrayView<Vec3<Real>> seen_at;       ///< iterate at the last look [m], shape [node_count]
  ArrayView<Real> ways;                ///< length of the way from there to the iterate [m], same shape
  ArrayView<Real> rooms;               ///< [m], shape [node_count + element_count]; not > 0: not known
  ArrayView<std::uint32_t> obstacles;  ///< bit o: obstacle o is near; same shape as `rooms`
  bool by_start = false;               ///< the way leads by the start of the part of a step, which is new

  static constexpr std::size_t most_obstacles = 32;
  ISOCLOTH_HD static std::uint32_t bit(Index o) {
    return std::uint32_t{1} << (static_cast<unsigned>(o) % most_obstacles);
  }
};

template <class Real>
struct NearObstacles {
  Strided<Real> list;  ///< count, then numbers, shape [1 + most_near]
  Clearances<Real> clearances{};
};

}  // namespace isocloth
