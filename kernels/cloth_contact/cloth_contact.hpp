// Contacts of cloth with itself and with other cloth: pairs of a node and a triangle, or of two edges, of all
// garments that step together. Each is a row g >= 0 of the proximal Newton,
//   g = n . sum_i w_i x_i - delta,  sum over the four nodes, delta the thickness of the pair [m],
// and follows the law of every other contact (kernels/contact/contact_law.hpp) with the displacement
// sum_i w_i (x_i - x_i^n) of one point from the other and the inertia 1 / sum_i w_i^2 c_i / m_i, c_i: active
// contacts at node i, among which its mass is shared out. With K the 3x3 stiffness of a contact, the matrix
// of the step has sum (w w^T) x K more: what couples nodes of one side is in the pattern of the factor
// already, what couples the two sides is left to conjugate gradients (host/linear/coupled_system.hpp).
//
// A pair that does not stay apart on the straight ways of a step is a contact, however deep it went through,
// and no step may end with one. Distances, normals and the test of ways are in double.
#pragma once

#include <cstdint>

#include "engine/geometry/pair_search.hpp"
#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/obstacles.hpp"
#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/linear/columns.hpp"

namespace isocloth {

/// Nodes, edges and triangles of all garments, see SurfaceFeatures.
struct ClothFeatures {
  ArrayView<const Index> triangles;      ///< nodes, shape [triangle_count, 3]
  ArrayView<const Index> sides;          ///< edge from node k to node k + 1, shape [triangle_count, 3]
  ArrayView<const Index> edges;          ///< nodes, shape [edge_count, 2]
  ArrayView<const Index> node_garments;  ///< shape [node_count]
};

/// What pairs are where they were sought. On the CPU as many lie side by side as the machine has lanes,
/// `width`; the last packet is filled up.
struct PairReferences {
  /// delta: of both garments' thicknesses the mean, and of what is near in the rest shape at most half its
  /// distance there [m], shape [packet, width]
  ArrayView<double> thicknesses;
  /// at most the distance beyond what is near, -infinity: not known yet [m], shape [packet, width]
  ArrayView<double> rooms;
  ArrayView<Index> nodes;  ///< the first side's before the second's, shape [packet, 4, width]
};
/// Pairs by which the arrays of packets are longer at most.
constexpr std::size_t packet_padding = 16;

/// How a pair is found at an iterate.
enum class PairStatus : Index {
  apart,    ///< on the whole way, and not near
  near_by,  ///< apart on the whole way, and near
  passing,  ///< perhaps not apart on the way
};

/// Which features touch: 2 bits of their kind and 31 each of their numbers. Pairs whose nearest points lie on
/// the same corners or sides have one key.
struct ContactKey {
  enum Kind : std::uint64_t { node_and_face, two_edges, node_and_edge, two_nodes };
  Kind kind;
  Index first, second;

  static constexpr int number_bits = 31;
  ISOCLOTH_HD constexpr std::uint64_t packed() const {
    return static_cast<std::uint64_t>(kind) << (2 * number_bits) |
           static_cast<std::uint64_t>(first) << number_bits | static_cast<std::uint64_t>(second);
  }
  static constexpr ContactKey of(std::uint64_t packed) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << number_bits) - 1;
    return {static_cast<Kind>(packed >> (2 * number_bits)), static_cast<Index>(packed >> number_bits & mask),
            static_cast<Index>(packed & mask)};
  }
};

/// A pair that may touch, and where it does: which points, and how.
struct FoundContact {
  Index pair = 0;
  PairStatus status = PairStatus::apart;  ///< what follows is of those that are not
  std::uint64_t key = 0;                  ///< ContactKey::packed
  double weights[4] = {};
  Vec3d normal;
  double thickness = 0;  ///< delta [m]
  double gap = 0;        ///< g [m]
  double before = 0;     ///< min(g, 0) when the part began [m]
};

/// Whether forces can move the points of a pair apart: not those of pins and frozen garments, nor points so
/// near them that they follow less than a tenth of what a node does. inverse_inertia: of the four nodes.
ISOCLOTH_HD bool points_can_part(const double* weights, const double* inverse_inertia) {
  constexpr double least_mobility = 0.01;
  double mobility = 0, most = 0;
  for (int i = 0; i < 4; ++i) {
    mobility += weights[i] * weights[i] * inverse_inertia[i];
    most = inverse_inertia[i] > most ? inverse_inertia[i] : most;
  }
  return mobility > least_mobility * most;
}

/// One item per pair from `first` on, those that fill up included.
struct MeasurePairs {
  ClothFeatures features;
  ArrayView<const FeaturePair> pairs;
  ArrayView<const Vec3d> rest;          ///< rest shapes [m], shape [node_count]
  ArrayView<const double> thicknesses;  ///< thickness of each garment [m]
  PairReferences references;            ///< rooms are not known before the first cull_candidates()
  Index first = 0;                      ///< first pair that is measured; those before it are already
};

/// One item per packet of pairs: which of them may touch at an iterate or on the way there. It says so of
/// more than those that do, and of which others depends on the instruction set and on where pairs were
/// sought.
struct CullCandidates {
  ArrayView<const FeaturePair> pairs;
  PairReferences references;        ///< get rooms of x^n
  ArrayView<Vec3d> measured_at;     ///< where rooms are known, x^n afterwards [m], shape [node_count]
  ArrayView<const Vec3d> from, to;  ///< x^n and the iterate [m], shape [node_count]
  double reach = 0;                 ///< gap up to which a contact keeps its force [m]
  /// from, to, the ways to `from` from measured_at and to `to` from there [m], shape [4, node_count]
  ArrayView<Vec4<double>> trajectories;
  ArrayView<std::uint8_t> may_touch;  ///< 1 or 0, shape [pair_count]
};

/// One item per pair that may touch: whether it does at an iterate, and whether it stayed apart on the way
/// there. What it says of a pair depends on the way alone.
struct FindClothContacts {
  ClothFeatures features;
  ArrayView<const FeaturePair> pairs;
  ArrayView<const double> thicknesses;  ///< see PairReferences
  ArrayView<const Vec3d> from, to;      ///< x^n and the iterate [m], shape [node_count]
  double reach = 0;                     ///< gap up to which a contact keeps its force [m]
  ArrayView<const Index> sifted;        ///< pairs that may touch, ascending
  ArrayView<FoundContact> contacts;     ///< shape [sifted]
  /// How many of `sifted` there are, the contacts of the others are apart; empty: all; shape [1].
  ArrayView<const Index> sifted_count{};
};

/// The contacts of an iteration: some of the pairs, and where they are at the nodes.
struct ClothContactList {
  ClothFeatures features;
  ArrayView<const FeaturePair> pairs;
  ArrayView<const FoundContact> contacts;
  ArrayView<const Index> chosen;        ///< each contact's index in `contacts`, in the order of their keys
  ArrayView<const Index> node_begin;    ///< first entry of each node in node_entries, shape [node_count + 1]
  ArrayView<const Index> node_entries;  ///< 4 contact + index of the node in its pair, ascending

  ISOCLOTH_HD Index count() const { return static_cast<Index>(chosen.size()); }
};

/// How a contact acts in an iteration, and on what: see ContactResponse.
struct ClothResponse {
  double along = 0, across = 0;  ///< [kg]; along 0: it does not act
  double weights[4] = {};
  Index nodes[4] = {};
  Index first_count = 1;  ///< nodes of the first side
  ContactMode mode = ContactMode::none;
  double stiffness[6] = {};  ///< K: xx, xy, xz, yy, yz, zz [kg]
  Vec3d pull;                ///< p of an unchanged position [kg m]
  Vec3d normal;

  ISOCLOTH_HD bool acts() const { return along > 0; }
  ISOCLOTH_HD int side(int i) const { return i < first_count ? 0 : 1; }
};

/// Friction of garments with each other and each with itself, by classes
/// (host/cloth_collision/cloth_friction.hpp).
struct ClothFriction {
  ArrayView<const Index> classes;  ///< shape [garment]
  /// Friction of two garments by their classes, shape [class, class].
  ArrayView<const FrictionView<double>> between;
  /// Friction of each garment with itself, shape [garment].
  ArrayView<const FrictionView<double>> with_self;
  Index class_count = 0;

  ISOCLOTH_HD FrictionView<double> of(Index a, Index b) const {
    return a == b ? with_self[a] : between[classes[a] * class_count + classes[b]];
  }
};

/// One item per contact: which act, then how, among how many others at its nodes.
struct RespondClothContacts {
  ClothContactList list;
  ArrayView<const Vec3d> from, to;  ///< x^n and the iterate [m], shape [node_count]
  /// Inverse inertia of each node, 0: pinned or held [1/kg]; shape [node_count].
  ArrayView<const double> inverse_inertia;
  ClothFriction friction;
  double tolerance = 0, stiffening = 0, reach = 0;
  ArrayView<Index> active;             ///< shape [contact_count]
  ArrayView<double> sharing;           ///< active contacts at each node, shape [node_count]
  ArrayView<Vec3d> forces;             ///< p, kept until here [kg m]; 0 of those that do not act
  ArrayView<ClothResponse> responses;  ///< shape [contact_count]
};

/// One item per contact: its force in the iteration before, 0 where it was none, and its key.
struct CarryForces {
  ClothContactList list;
  ArrayView<const std::uint64_t> keys_before;  ///< ascending
  ArrayView<const Vec3d> forces_before;        ///< shape as `keys_before`
  ArrayView<std::uint64_t> keys;               ///< shape [contact_count]
  ArrayView<Vec3d> forces;                     ///< shape [contact_count]
};

/// One item per free node of a garment: the six motions of what it belongs to as a rigid whole, translations
/// along the axes and turns about a centre, or 0.
template <class Real>
struct WriteRigidModes {
  ArrayView<const Vec3d> positions;  ///< of the garment's nodes [m]
  FreeNodesView free;
  bool is_zero = false;
  Vec3d center;                 ///< [m]
  std::size_t stride = 0;       ///< from a mode to the next
  ArrayView<Vec3<Real>> modes;  ///< from the garment's first free node on, shape [6, stride]
};

/// One item per free node of a garment: its contacts' own sides in the blocks and the right side.
template <class Real>
struct AddClothContacts {
  ClothContactList list;
  ArrayView<const ClothResponse> responses;
  FreeNodesView free;
  Index first_node = 0;                ///< first node of the garment among all nodes
  Index first_edge = 0;                ///< first edge of the garment among all edges
  ArrayView<const Index> node_blocks;  ///< block of each free number with itself
  /// block of the two nodes of each of the garment's edges, -1: none
  ArrayView<const Index> edge_blocks;
  ArrayView<Real> blocks;            ///< shape [block_count, 9]
  ArrayView<Vec3<Real>> right_side;  ///< [kg m], shape [free_count]
};

/// product += what contacts couple across their two sides. Vectors are of all garments' free nodes.
template <class Real>
struct MultiplyClothContacts {
  ArrayView<const ClothResponse> responses;
  ArrayView<const Index> node_begin, node_entries;  ///< see ClothContactList
  /// Number of each node among all free ones, -1: pinned; shape [node_count].
  ArrayView<const Index> free_number;
  ArrayView<const Index> free_nodes;  ///< node of each free number, shape [free_count]
  ArrayView<Vec3d> pulls;  ///< K sum over the other side, shape [contact_count, columns.count, 2] at least
  ArrayView<const Vec3<Real>> direction;  ///< columns of shape [free_count]
  ArrayView<Vec3<Real>> product;          ///< columns of shape [free_count]
  Columns columns{};
};

/// One item per contact: forces after a correction.
template <class Real>
struct UpdateClothContacts {
  ArrayView<const ClothResponse> responses;
  ArrayView<const Index> node_garments;
  ClothFriction friction;
  ArrayView<const Index> free_number;
  ArrayView<const Vec3<Real>> correction;  ///< d [m], of all garments' free nodes
  ArrayView<Vec3d> forces;                 ///< p, shape [contact_count]
};

/// One item per node of a garment: its position and inertia among all nodes.
template <class Real>
struct GatherClothNodes {
  ArrayView<const Vec3<Real>> positions;  ///< shape [nodes of the garment]
  ArrayView<const Real> inverse_masses;   ///< 1 / m_i, 0: pinned or held [1/m^2]
  Real inertia{};                         ///< inertia of the metric [kg/m^2]
  ArrayView<Vec3d> gathered;              ///< shape [nodes of the garment]
  /// Inverse inertia of each node, 0: pinned or held [1/kg], shape [nodes of the garment].
  ArrayView<double> inverse_inertia;
};

namespace ISOCLOTH_BACKEND {
void measure_pairs(const Queue& queue, const MeasurePairs& args);
void cull_candidates(const Queue& queue, const CullCandidates& args);
void find_cloth_contacts(const Queue& queue, const FindClothContacts& args);
void carry_forces(const Queue& queue, const CarryForces& args);
void respond_cloth_contacts(const Queue& queue, const RespondClothContacts& args);
template <class Real>
void write_rigid_modes(const Queue& queue, const WriteRigidModes<Real>& args);
template <class Real>
void gather_cloth_nodes(const Queue& queue, const GatherClothNodes<Real>& args);
template <class Real>
void add_cloth_contacts(const Queue& queue, const AddClothContacts<Real>& args);
template <class Real>
void multiply_cloth_contacts(const Queue& queue, const MultiplyClothContacts<Real>& args);
template <class Real>
void update_cloth_contacts(const Queue& queue, const UpdateClothContacts<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
