// Seams that stay open, and what keeps them open.
#pragma once

#include <string>
#include <vector>

#include "engine/model/sewing_plan.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

struct UnclosedSeam {
  std::size_t garment = 0;  ///< number in the scene
  std::string name;         ///< "front.2 with back.0", or of a garment without names its widest thread
  double opening = 0;       ///< widest opening [m]
  std::string cause;        ///< what keeps it open, in words
};

/// "shirt: front.2 with back.0 is open by 0.021 m: ..."
std::string describe(const UnclosedSeam& seam, const Scene& scene);

/// The seams of all garments that are open by more than `tolerance` [m] where the simulation is, the widest
/// of a garment first. Causes are read from contact forces of the last step on the parts of cloth that the
/// widest thread of a seam joins (obstacles, bodies, other garments; with the place of the greatest force),
/// from their pins, and from the shortest way through the cloth and other seams from one end of the thread to
/// the other: of the length L at rest and l as it is, it is shorter than a closed seam asks for by (l +
/// opening - L) / (l + opening). `plan`: for the names of seams. Costs a state of all garments and, per open
/// seam, a search of a shortest way (Dijkstra 1959).
std::vector<UnclosedSeam> find_unclosed_seams(const Simulation& simulation, double tolerance,
                                              const SewingPlan& plan);

}  // namespace isocloth
