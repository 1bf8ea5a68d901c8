// Cloth that would start nearer to cloth than its thickness.
#pragma once

#include "engine/model/scene.hpp"
#include "engine/model/separation.hpp"

namespace isocloth {

/// Moves initial positions, with contact.cloth and ClothStart::separate, so that all pairs of a node and a
/// triangle, or of two edges, are their thickness apart (kernels/cloth_contact/cloth_contact.hpp), less half
/// of contact.tolerance. By geometry alone: each pair parts along its normal, nodes share its moves by the
/// squares of their weights, those of several pairs take the mean (Jacobi), pinned ones none, and none goes
/// through cloth on its way (max_step_fractions()). What passes through cloth stays so. Nothing happens where
/// nothing is near.
Separation separate_cloths(Scene& scene);

}  // namespace isocloth
