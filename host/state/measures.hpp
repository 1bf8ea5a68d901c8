// What is measured of a garment at one instant.
#pragma once

#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// Error measures of one garment at one instant.
struct Measures {
  double residual = 0;                ///< largest |scaled row|
  double area_error_total = 0;        ///< Coltraro 2022, (19)
  double area_error_mean = 0;         ///< (20)
  double area_error_dispersion = 0;   ///< (21)
  double area_error_element_max = 0;  ///< largest |(22)|
  double kinetic_energy = 0;          ///< [J], 1/2 rho v^T M v
  double potential_energy = 0;        ///< [J], delta g M z + 1/2 kappa phi^T K phi
  double bending_energy = 0;          ///< the second of these [J]
  double elastic_energy = 0;          ///< of rows that are not rigid [J]
  double hourglass_energy = 0;        ///< of it that of differences of triangles, see MembraneRows [J]
  double seam_opening = 0;            ///< largest distance of nodes sewn together [m]; not of press studs
  Vec3d linear_momentum;              ///< [kg m/s]
  Vec3d angular_momentum;             ///< [kg m^2/s], about the origin
  bool operator==(const Measures&) const = default;
};

/// Contacts of one garment with the obstacles and bodies at the end of its last step.
struct ContactMeasures {
  Index count = 0;            ///< nodes, edges and faces that an obstacle pushes; a node once per obstacle
  Index rubbing = 0;          ///< those that feel friction
  Index sticking = 0;         ///< those that friction holds in place
  Vec3d force;                ///< on the garment, friction included [N]
  std::vector<Vec3d> forces;  ///< the same by each obstacle, then by each body [N]
};

/// What grippers hold of one garment at the end of its last step.
struct HoldMeasures {
  Index count = 0;            ///< held nodes
  Vec3d force;                ///< of all grippers on the garment [N]
  std::vector<Vec3d> forces;  ///< the same by each gripper of the garment [N], shape [gripper_count]
};

/// What contacts between cloths do to one garment at the end of its last step.
struct ClothLoads {
  std::vector<Vec3d> forces;  ///< on its nodes, friction included [N], shape [node_count]
  /// Sums of the sizes of what `forces` adds up [N], same shape: a layer between two others is pressed by
  /// both, and the forces on it cancel.
  std::vector<double> loads;
};

/// Sizes of one garment's problem.
struct GarmentInfo {
  Index node_count = 0, face_count = 0, row_count = 0, free_node_count = 0;
  std::size_t memory_bytes = 0;  ///< arrays and matrix factor, estimated from their sizes; a batch's part
  std::string solver;            ///< what solves its nodal system
};

}  // namespace isocloth
