// Feynman 1986: cloth as a grid of points that rests where its energy is least.
#pragma once

#include <string>

#include "engine/material/fabric.hpp"
#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/particle_energy.hpp"

namespace isocloth {

/// k (r - rest)^2 / 2 [J], stiffness k [N/m].
EnergyLaw feynman_elastic(double stiffness, double rest);
/// b phi^2 [J] of the angle phi by which a line through a particle turns there, against c = -cos(phi), the
/// cosine between its two neighbours; smooth where the line is straight, infinite where it is folded onto
/// itself.
EnergyLaw feynman_bending(double b);

/// E = sum over particles of k_s E_elastic + k_b E_bending + k_g E_gravitational, "relative to the
/// surrounding 8 points" (tutorial of Karthikeyan and Ranganathan 1998; C. Feynman, Modeling the Appearance
/// of Cloth, MIT 1986, was not at hand). Chosen: E_elastic sums (|x_i - x_n| - r_n)^2 over the neighbours n,
/// r_n the rest length, and E_bending sums phi^2 over the four lines through opposite neighbours, both
/// weighed by (w / r_n)^2, so 1 along threads and 1/2 along diagonals, with which a square grid is an
/// isotropic sheet of Poisson ratio 1/3, and lines along an edge of the sheet by 1/2 more, which carry half a
/// cell. On every grid the same constants then make the same sheet, to O(w^2):
///   k_s = 3/16 of stretch_stiffness [N/m] (a pair is seen from both its ends: spring 4 k_s = 3/4 of it),
///   k_b = kappa / 3 [N m], k_g = delta, of m g z with lumped masses.
/// `weft_bending_stiffness`, `weft_stretch_stiffness`, `shear_stiffness` have no place in it. Throws
/// SceneError, beginning with `key`.
ParticleModel feynman_model(const ParticleGrid& grid, const Fabric& fabric, Vec3d gravity,
                            const std::string& key);

}  // namespace isocloth
