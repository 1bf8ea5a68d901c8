// Springs with dampers between pairs of nodes.
#pragma once

#include <vector>

#include "engine/mesh/topology.hpp"
#include "engine/model/scene.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// A spring with its damper (Bender, section 3.3).
struct Spring {
  Index a = 0, b = 0;
  double length = 0;  ///< l [m], the distance of its ends in the rest shape, or what plastic flow made of it
  double stiffness = 0;  ///< k [N/m]
  double damping = 0;    ///< c [N s/m]
};

/// Structural springs, then shear springs, then bend springs, of those that the fabric has; both ends may be
/// pinned.
std::vector<Spring> garment_springs(const Garment& garment, const Topology& topology);

/// f_a = (k (|d| - l) + c (v_b - v_a).d/|d|) d/|d| and f_b = -f_a with d = x_b - x_a, summed at the nodes
/// [N], shape [node_count, 3]; a spring with |d| = 0 has no direction and no force.
MatrixX3d spring_forces(const std::vector<Spring>& springs, const MatrixX3d& positions,
                        const MatrixX3d& velocities);

/// A spring of which the pull beyond `yield_stretch` [m] flows (Bingham's model: an elastic spring, and
/// behind it a dashpot beside a block that slides at that stretch): L' = (|d| - L -+ yield_stretch) /
/// flow_time, at once where that is 0. Length at rest L [m] after h [s] with its ends `distance` apart, by
/// backward Euler.
double plastic_length(double length, double distance, double yield_stretch, double flow_time, double h);

/// sum 1/2 k (|d| - l)^2 [J], whose negative gradient the forces without dampers are.
double spring_energy(const std::vector<Spring>& springs, const MatrixX3d& positions);

}  // namespace isocloth::reference
