// The phases of a step of impulses: what each is done to, and with which arguments. ImpulseStep orders them.
#pragma once

#include "kernels/impulse/impulse_arrays.hpp"
#include "kernels/launch/phase.hpp"

namespace isocloth {

/// What a cloth may meet; all: grippers or the air, too.
enum class Meets { nothing, obstacles, all };

/// What phases are done to; rows and springs in packets, nodes with the spare one at the end.
enum class Items {
  metric_stencils,
  scalar_stencils,
  edges,
  structural_springs,
  shear_springs,
  bend_springs,
  samples,
  contacts,
  nodes,
  nodes_and_spare,
  pinned_nodes
};

/// First items of each colour, shape [colour_count + 1]: items of a colour share no node. Samples have theirs
/// in the order of ImpulseContacts::order.
template <class Cloths>
ISOCLOTH_HD auto& colours_of(Cloths& c, Items items) {
  switch (items) {
    case Items::metric_stencils:
      return c.pattern.metric_stencils.colour_begin;
    case Items::scalar_stencils:
      return c.pattern.scalar_stencils.colour_begin;
    case Items::edges:
      return c.pattern.edges.colour_begin;
    case Items::structural_springs:
      return c.pattern.structural_springs.colour_begin;
    case Items::shear_springs:
      return c.pattern.shear_springs.colour_begin;
    case Items::bend_springs:
      return c.pattern.bend_springs.colour_begin;
    default:
      return c.contacts.colour_begin;
  }
}
template <class Real>
ISOCLOTH_HD Index item_count(const ImpulseCloths<Real>& c, Items items) {
  if (items == Items::nodes) return c.pattern.node_count;
  if (items == Items::nodes_and_spare) return c.pattern.node_count + 1;
  if (items == Items::pinned_nodes) return static_cast<Index>(c.pattern.pinned_nodes.size());
  if (items == Items::contacts) return c.contacts.samples.contact_count();
  const ArrayView<const Index>& colours = colours_of(c, items);
  return colours.empty() ? 0 : colours[colours.size() - 1];
}

namespace phases {

template <Items Each, Meets Needs = Meets::nothing>
struct On {
  static constexpr Items items = Each;
  static constexpr Meets needs = Needs;  ///< a cloth that meets less has no such phase
};

// When a step begins.
struct BeginNodes : On<Items::nodes_and_spare> {};  ///< state to work arrays
template <Items Springs>
struct BeginSprings : On<Springs> {};  ///< plastic strains, where there are some
struct BeginContacts : On<Items::contacts, Meets::obstacles> {};
struct Ease : On<Items::samples, Meets::obstacles> {};  ///< depths at the start go on
/// What is left at the end of depths at the start [m].
struct MeasureEased : On<Items::contacts, Meets::obstacles> {};
struct Grasp : On<Items::nodes_and_spare, Meets::all> {};  ///< grippers let go and take hold
template <Items Rows>
struct WeighRows : On<Rows, Meets::all> {};  ///< what rows count of held nodes

// The preview of a part.
struct Bend : On<Items::nodes_and_spare> {};  ///< bending forces, or zero
struct PullStructural : On<Items::structural_springs> {};
struct PullShear : On<Items::shear_springs> {};  ///< forces of springs, added
struct PullBend : On<Items::bend_springs> {};
struct Preview : On<Items::nodes> {};  ///< forces of a part to moves
/// Preview where there are grippers or forces from outside.
struct PreviewExternal {
  static constexpr Items items = Items::nodes;
  static constexpr Meets needs = Meets::all;
  int part;
};
/// Pinned nodes move evenly, and arrive at target number `step`.
struct PreviewPinned {
  static constexpr Items items = Items::pinned_nodes;
  static constexpr Meets needs = Meets::nothing;
  Index step;
  int part;
};

// Sweeps; impulses tell how far they went.
template <class Real, Items Rows, bool OfPositions>
struct CorrectRows {
  static constexpr Items items = Rows;
  static constexpr Meets needs = Meets::nothing;
  int sweep;  ///< number of the sweep, from 1
  Real factor, threshold;
};
/// Lists, by one block, obstacles near the preview.
struct ListNear {};
/// Positions at contacts at the preview. Tells moves of points [m].
struct PushOut {
  static constexpr Items items = Items::samples;
  static constexpr Meets needs = Meets::obstacles;
  bool seeks;  ///< whether it seeks deepest points of edges and faces anew
};
/// Velocities at contacts.
struct PushBack {
  static constexpr Items items = Items::samples;
  static constexpr Meets needs = Meets::obstacles;
  bool is_first;  ///< whether it is the first of the sweeps of a part
};

// The end of a part.
struct MeasureDepths : On<Items::samples, Meets::obstacles> {};  ///< depths at the preview [m]
struct Advance : On<Items::nodes> {};                            ///< moves of a part to positions
struct EndContacts : On<Items::contacts, Meets::obstacles> {};
struct EndHolds : On<Items::nodes, Meets::all> {};  ///< forces of grippers

// The end of a step.
template <Items Rows>
struct MeasureRows : On<Rows> {};                   ///< residuals, infinite where one is not finite
struct MeasureDisplacements : On<Items::nodes> {};  ///< 1: went beyond excess_displacement(), else 0
struct EndNodes : On<Items::nodes> {};              ///< work arrays to state
template <Items Springs>
struct EndSprings : On<Springs> {};  ///< plastic strains, where there are some

}  // namespace phases

}  // namespace isocloth
