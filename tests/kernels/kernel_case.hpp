// Cloths that every kernel is run on, with a state in violent motion.
#pragma once

#include <string>
#include <vector>

#include "host/reference/reference_cloth.hpp"

namespace isocloth {

/// A garment, its rows and numbers for one step. All numbers of the state are floats, so that both precisions
/// start from the same ones.
struct KernelCase {
  std::string name;
  Garment garment;
  std::string recipe = "coltraro2022";
  double step = 0.0078125;       ///< h [s]
  double eps = 0.125;            ///< large, so that no term of the system drowns in another
  double gravity = 9.8125;       ///< [m/s^2]
  std::vector<Vec3d> positions;  ///< [m], shape [node_count]
  std::vector<Vec3d> velocities, targets, predicted, momentum, correction;  ///< likewise one per node
  std::vector<double> multipliers;                                          ///< shape [row_count]

  /// The same cloth in the reference, in this state.
  reference::ReferenceCloth reference(Metric metric = Metric::implicit_b) const;
};

/// Meshes longer than a block of threads and not a multiple of it: quads, irregular triangles, both in one,
/// edges alone; bending or none; pinned nodes at corners, inside and where they leave a row dead; and nothing
/// free at all.
const std::vector<KernelCase>& kernel_cases();
const KernelCase& kernel_case(const std::string& name);

}  // namespace isocloth
