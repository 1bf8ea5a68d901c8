// Numbers of a garment that no cloth has, or that steps cannot hold.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/model/resolved_scene.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Throws SceneError beginning with `key`, the garment's, where elastic cloth has a bending stiffness kappa
/// as that of a plate thicker than the whole cloth: by bending and stretch, D and k, it is sqrt(12 D / k)
/// thick.
void require_thin_plate(const Recipe& recipe, const Garment& garment, const std::string& key);

/// A kind and a line that begins with `what` for pressure that throws cloth over more than two elements in a
/// step, and of elastic cloth for each
/// - kappa and weft_kappa of plates thicker than the mean edge of the mesh,
/// - stiffness or viscosity that is lost in rounding: k h^2 over the mass of a node more than 0.2 / u, u the
///   unit rounding of the precision (sheets of 11 x 11 and 31 x 31 nodes lost steps from 0.4 / u on),
/// - stiffness along threads so far above that of shear that forces within projection.tolerance hide shear:
///   k tolerance more than 3000 times shear_stiffness (on a sphere a sheet shears by 50 % too much at 10^5).
std::vector<std::pair<std::string, std::string>> fabric_warnings(const ResolvedScene& resolved,
                                                                 const Garment& garment, Precision precision,
                                                                 const std::string& what);

}  // namespace isocloth
