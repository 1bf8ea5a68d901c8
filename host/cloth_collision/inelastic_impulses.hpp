// What becomes of the velocities of nodes that stop before cloth.
#pragma once

#include "engine/geometry/pair_search.hpp"

namespace isocloth {

/// Nodes on straight ways, and how fast they are at the end of these.
struct NodesOnWays {
  const std::vector<Vec3d>&from, &to;  ///< where the nodes begin and end their ways [m], shape [node_count]
  /// Inverse masses of the nodes [1/kg], shape [node_count]; 0: nothing moves it.
  const std::vector<double>& inverse_masses;
  std::vector<Vec3d>& velocities;  ///< velocities of the nodes [m/s], shape [node_count]
};

/// Takes away from velocities what makes pairs approach that meet on these ways: impulses along their normal
/// where they meet, equal and opposite, by sweeps over the pairs (Bridson, Fedkiw, Anderson 2002, section
/// 7.3, without restitution and friction). Linear momentum of what is not pinned stays, angular momentum but
/// for how far nodes go until they meet, kinetic energy does not grow. pairs: all that may come within reach
/// of each other; thicknesses [m]: of each surface. Returns the nodes of pairs that meet, ascending.
std::vector<Index> apply_inelastic_impulses(const SurfaceFeatures& features,
                                            const std::vector<FeaturePair>& pairs,
                                            const std::vector<double>& thicknesses, const NodesOnWays& nodes);

}  // namespace isocloth
