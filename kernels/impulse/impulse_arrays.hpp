// Cloths that impulses hold, as the kernels see them.
#pragma once

#include "engine/core/vec3.hpp"
#include "kernels/contact/contact_arrays.hpp"
#include "kernels/core/divergence.hpp"
#include "kernels/core/views.hpp"
#include "kernels/forces/node_forces.hpp"
#include "kernels/grippers/grippers.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// Pairs of nodes (a, b) in packets of as many as the backend has lanes; a packet holds pairs of one colour,
/// and no two pairs of a colour share a node. Spare places at the end of a colour join node `node_count` to
/// itself and have zero lengths and shares.
template <class Real>
struct PairPackets {
  ArrayView<const Index> colour_begin;  ///< first packet of each colour, shape [colour_count + 1]
  ArrayView<const Index> nodes;         ///< shape [packet, width, 2]
  ArrayView<const Real> lengths;        ///< l at rest [m], shape [shape, packet, width]
  /// Constraints: w_a / (w_a + w_b) and w_b / (w_a + w_b) with w = 1 / mass, 0: pinned; shape [shape, packet,
  /// 2, width]. Empty for springs.
  ArrayView<const Real> shares;
  /// Cloths with grippers: whether one holds a node of the packet, shape [cloth, packet]; else empty. Shares
  /// are then of a cloth, not of a shape, and 1 / (w_a + w_b) follows, 0: both held; shape [cloth, packet, 3,
  /// width].
  ArrayView<const Index> is_held;
  /// Number of packets; the host needs it, too, and may not be able to read the arrays.
  Index packets = 0;

  ISOCLOTH_HD int share_fields() const { return is_held.empty() ? 2 : 3; }
  ISOCLOTH_HD Index colour_count() const {
    return colour_begin.empty() ? 0 : static_cast<Index>(colour_begin.size()) - 1;
  }
  ISOCLOTH_HD Index packet_count() const { return packets; }
};

/// Stencils of quadratic rows C = 1/2 sum_i J_i . p_i - c0, J_i = 2 sum_j T_ij p_j, Width rows each, in
/// packets: a packet holds stencils of one colour, no two of which share a node, and of one local shape: as
/// many slots, with entries between the same ones. Spare places repeat the first
/// stencil of their packet with zero tensors, so that no two packets of a colour touch a node.
template <class Real, int Width>
struct StencilPackets {
  ArrayView<const Index> colour_begin;  ///< first packet of each colour, shape [colour_count + 1]
  ArrayView<const Index> shape_of;      ///< local shape of each packet, shape [packet]
  ArrayView<const Index> slot_begin;    ///< first slot of each packet in `pairs`, shape [packet + 1]
  ArrayView<const Index> entry_begin;   ///< first entry of each packet in `tensors`, shape [packet + 1]
  /// First node of the stencil and node of the slot, shape [slot, width, 2]; the first slot is the first
  /// node.
  ArrayView<const Index> pairs;
  ArrayView<const Index>
      shape_slots;  ///< first slot of each local shape in `slot_entries`, shape [shape + 1]
  ArrayView<const Index>
      slot_entries;  ///< first entry of each slot in `entry_slots`, shape [slots of shapes + 1]
  ArrayView<const Index> entry_slots;    ///< slot within the shape of each entry's j
  ArrayView<const Real> tensors;         ///< T [1/m^2], shape [rest shape, entry, Width, width]
  ArrayView<const Real> rest_values;     ///< c0, shape [rest shape, packet, Width, width]
  ArrayView<const Real> inverse_masses;  ///< 1 / m_i [1/m^2], 0: pinned, shape [rest shape, slot, width]
  /// As in PairPackets; masses are then of a cloth, shape [cloth, slot, width].
  ArrayView<const Index> is_held;

  ISOCLOTH_HD Index colour_count() const {
    return colour_begin.empty() ? 0 : static_cast<Index>(colour_begin.size()) - 1;
  }
  ISOCLOTH_HD Index packet_count() const { return static_cast<Index>(shape_of.size()); }
};

/// Stencils up to so many slots keep their nodes in local arrays; larger ones load them again and again.
constexpr Index most_kept_slots = 16;

/// What all cloths of a group share.
template <class Real>
struct ImpulsePattern {
  Index node_count = 0;
  Index most_slots = 0;                     ///< greatest number of slots of a stencil
  PairPackets<Real> edges;                  ///< rows `edges`, else empty
  StencilPackets<Real, 3> metric_stencils;  ///< rows `isometry`: E, F, G, else empty
  StencilPackets<Real, 1> scalar_stencils;  ///< rows `isometry`: F at corners, boundary edges, else empty
  PairPackets<Real> structural_springs, shear_springs, bend_springs;
  ArrayView<const Index> pinned_nodes;   ///< nodes that are pinned; all have a target in every step
  NodeMatrixView bending;                ///< pattern of K, empty: no bending
  ArrayView<const Real> bending_values;  ///< K [1/m^2], shape [shape, entries of K]
  ArrayView<const Real> inverse_masses;  ///< 1 / m_i [1/m^2], 0: pinned, shape [shape, node_count]

  /// Whether the work arrays have one of forces; large stencils keep the moves before their impulses there.
  ISOCLOTH_HD bool has_forces() const {
    return !structural_springs.nodes.empty() || !shear_springs.nodes.empty() || !bend_springs.nodes.empty() ||
           !bending.columns.empty() || most_slots > most_kept_slots;
  }
};

/// Physics of one cloth, all per area density rho.
template <class Real>
struct ImpulseParameters {
  double part;             ///< h, length of a part of a step [s]
  Index parts;             ///< number of parts of a step
  double sweep_tolerance;  ///< where converging sweeps stop: the tolerance less what rounding may add
  Real inverse_density;    ///< 1 / rho [m^2/kg]
  Real gravity;            ///< delta g / rho [m/s^2]
  Real drag;               ///< alpha / rho [1/s]
  Real kappa, beta;        ///< bending [m^4/s^2], its damping [m^4/s]
  Real longest_edge;       ///< longest that edges may be, over their rest length; 0: they keep that
  Real yield_strain;       ///< elastic strain at which springs yield
  /// Part of the strain beyond yield_strain that becomes plastic in a part: h / (h + flow time).
  Real flow;
  Real structural_stiffness, structural_damping;
  /// k / rho and c / rho of each shear spring [m^2/s^2], [m^2/s], see SpringDamper.
  Real shear_stiffness, shear_damping;
  Real bend_stiffness, bend_damping;
  Real contact_offset;  ///< distance that the middle of the cloth keeps from obstacles [m]
  /// Factor from sums of impulses to force * h^2 of a step, parts (rho + part alpha): air takes its share of
  /// what an impulse adds to a preview [kg/m^2].
  Real contact_scale;
  double reach;  ///< see excess_displacement() [m]
};

/// Contacts of all cloths of a group with obstacles.
template <class Real>
struct ImpulseContacts {
  SamplePattern samples;  ///< none: no obstacles
  /// First of each colour in `order`: no two samples of a colour share a node. The nodes are the last colour.
  ArrayView<const Index> colour_begin;
  ArrayView<const Index> order;  ///< samples, shape [sample_count]
  ObstacleSets<Real> obstacles;
  Real tolerance{};      ///< deepest penetration that a step may end with [m]
  ArrayView<Real> work;  ///< shape [cloth, ImpulseContactLayout::count]

  ISOCLOTH_HD bool exist() const { return samples.node_count > 0; }
};

/// Where the arrays of one cloth are in ImpulseContacts::work.
struct ImpulseContactLayout {
  std::size_t obstacles;  ///< number, -1: none; shape [contact]
  std::size_t modes;      ///< ContactMode of the last impulse, shape [contact]
  std::size_t forces;  ///< sum of the impulses of the step so far, as force * h^2 [kg m], shape [contact, 3]
  std::size_t eased_obstacles, eased_depths;  ///< see EasedDepths
  /// Impulses of this part, moves * m [m^3], shape [contact, 3]; what is kept lies before.
  std::size_t impulses;
  std::size_t normals;  ///< normal of the last impulse, shape [contact, 3]
  std::size_t floors;   ///< least normal impulse in the velocity pass, shape [contact]
  std::size_t weights;  ///< weight of each slot's node; edges and faces without a contact: zeros
  std::size_t near;     ///< see NearObstacles
  std::size_t count;

  ISOCLOTH_HD explicit ImpulseContactLayout(const SamplePattern& samples) {
    const auto contacts = static_cast<std::size_t>(samples.contact_count());
    obstacles = 0;
    modes = contacts;
    forces = 2 * contacts;
    const auto eased = static_cast<std::size_t>(samples.eased_count());
    eased_obstacles = 5 * contacts;
    eased_depths = eased_obstacles + eased;
    impulses = eased_depths + eased;
    normals = impulses + 3 * contacts;
    floors = normals + 3 * contacts;
    weights = floors + contacts;
    near = weights + samples.slot_nodes.size();
    count = near + 1 + static_cast<std::size_t>(most_near);
  }
};

/// What the rows of one family count of the nodes that grippers hold, written when a step begins; see
/// PairPackets and StencilPackets.
template <class Real>
struct HeldRows {
  ArrayView<Real> masses;
  ArrayView<Index> is_held;
};

/// What grippers hold of the cloths of a group. In double where places are: a held node moves with its
/// gripper's frame to the last digit.
template <class Real>
struct ImpulseHolds {
  GripperSets<double> grippers;
  ArrayView<Index> holders;  ///< number of the gripper, -1: none; shape [cloth, node]
  ArrayView<Vec3<double>>
      local_positions;  ///< place of each node in the gripper's frame [m], shape [cloth, node]
  /// Force of the gripper in this step times h^2 [kg m], shape [cloth, node].
  ArrayView<Vec3<Real>> forces;
  /// m times the move in this part of a held node if nothing held it, its impulses included [m^3], w is not
  /// used; a spare node at the end; shape [cloth, node + 1].
  ArrayView<Vec4<Real>> loads;
  /// 1 / m_i as rows and contacts count it [1/m^2], 0: pinned or held rigidly, smaller: held softly; shape
  /// [cloth, node].
  ArrayView<Real> inverse_masses;
  HeldRows<Real> edges, metric_stencils, scalar_stencils;

  ISOCLOTH_HD bool exist() const { return grippers.count > 0; }
};

/// Plastic strains of one kind of springs, those of spare places zero; shape [cloth, packet, width].
template <class Real>
struct PlasticStrains {
  ArrayView<Real> kept;  ///< plastic strain when the step began
  ArrayView<Real> now;   ///< plastic strain in the step
};
/// Plastic strains of all kinds of springs; empty: no spring yields.
template <class Real>
struct SpringStrains {
  PlasticStrains<Real> structural, shear, bend;
  ISOCLOTH_HD bool exist() const { return !structural.kept.empty(); }
};

/// How a step is taken; see ImpulseSettings.
struct ImpulseControl {
  int max_sweeps = 1;  ///< per part
  bool converge = false;
  bool velocity_pass = false;
  double tolerance = 1e-2;
  /// Largest residual of a step that misses the tolerance and has not diverged.
  double largest_residual = 0;
  double relaxation = 0;  ///< 0: chosen and watched
};

/// What the steps of one launch did with one cloth; double, because sweeps may be many.
struct ImpulseReport {
  double status;       ///< worst of the steps: 0 converged, 1 stalled, 2 non-finite, 3 diverged
  double steps;        ///< steps done; none follows one that was not finite or diverged
  double sweeps;       ///< sweeps over positions, of all parts together
  double residual;     ///< worst residual at the end of a step
  double penetration;  ///< deepest penetration at the end of a step, what is eased out at most so deep [m]
  double depenetration_depth;  ///< how deep what started inside may be at the end of the last step [m]
};

/// Numbers of the sets that a cloth's rows take: lengths, tensors and rest values of its shape, and masses.
struct RowSets {
  Index rest, masses;
};

/// Cloths [0, cloth_count). Positions are double in either precision: at short steps a node moves by less
/// than a float's rounding of its coordinates.
template <class Real>
struct ImpulseCloths {
  ImpulsePattern<Real> pattern;
  ImpulseControl control;
  Index cloth_count = 0;
  ArrayView<const Index> shapes;                        ///< rest shape of each cloth, shape [cloth]
  ArrayView<const ImpulseParameters<Real>> parameters;  ///< shape [cloth]
  /// Places of pinned nodes at the end of each step [m], shape [step, cloth, pinned, 3].
  ArrayView<const double> targets;
  ArrayView<Vec3<double>> positions;  ///< [m], shape [cloth, node]
  ArrayView<Vec3<Real>> velocities;   ///< [m/s], shape [cloth, node]
  ImpulseContacts<Real> contacts;
  ImpulseHolds<Real> holds;
  SpringStrains<Real> plastic;
  FacesView faces;  ///< faces of the cloths, where there is drag
  NodeForceSets<Real> forces;

  ISOCLOTH_HD bool has_external_forces() const { return holds.exist() || forces.exist(); }
  /// 1 / m_i of a cloth [1/m^2], 0: pinned; shape [node].
  ISOCLOTH_HD const Real* loose_masses(Index cloth) const {
    return pattern.inverse_masses.data() +
           static_cast<std::size_t>(shapes[cloth]) * static_cast<std::size_t>(pattern.node_count);
  }
  /// 1 / m_i of a cloth as rows and contacts count it [1/m^2]; see ImpulseHolds; shape [node].
  ISOCLOTH_HD const Real* inverse_masses(Index cloth) const {
    if (!holds.exist()) return loose_masses(cloth);
    return holds.inverse_masses.data() +
           static_cast<std::size_t>(cloth) * static_cast<std::size_t>(pattern.node_count);
  }
  /// Where the constants of a cloth's rows are.
  ISOCLOTH_HD RowSets row_sets(Index cloth) const {
    return {shapes[cloth], holds.exist() ? cloth : shapes[cloth]};
  }
};

/// Work arrays of one cloth, each with a spare node at the end; w is not used.
template <class Real>
struct ImpulseWork {
  Vec4<Real>* relative_positions;  ///< x, relative to `origin` [m]
  Vec4<Real>* moves;               ///< u = h v [m]
  Vec4<Real>* forces;              ///< f / rho [m^3/s^2]; null: pattern has none
  Vec3<double>* positions;         ///< x [m]; in double precision null: relative_positions are
  Vec4<Real>* loads;               ///< see ImpulseHolds; null: no grippers
};

}  // namespace isocloth
