// What a cloth is made of.
#pragma once

#include <cmath>

#include "engine/material/compression.hpp"
#include "engine/material/memory.hpp"
#include "engine/material/stress_curve.hpp"
#include "engine/material/wind.hpp"

namespace isocloth {

/// Springs of one kind: force k (|d| - l) + c d'/dt . d/|d| along d, the vector between the ends.
struct SpringDamper {
  double stiffness = 0;  ///< k [N/m] of each spring, >= 0
  double damping = 0;    ///< c [N s/m] of each spring, >= 0
  bool exists() const { return stiffness > 0 || damping > 0; }
};

/// The plastic part of springs (Bingham, Perzyna): beyond an elastic strain |e - e_p| of `yield_strain`, with
/// e = |d| / l - 1, the plastic strain e_p follows, d e_p / dt = (e - e_p -+ yield_strain) / flow_time, and
/// stays when the pull ends. The length at rest is (1 + e_p) l.
struct Plasticity {
  /// Elastic strain at which springs yield, in tension and compression, >= 0; 0: none yields.
  double yield_strain = 0;
  /// Time in which 63 % of the strain beyond the yield strain flows [s], >= 0; 0: at once.
  double flow_time = 0;
};

/// Stress per rate of strain, beside that of strain (Kelvin and Voigt).
struct Viscosity {
  /// Viscosity of threads along warp, along weft as much more as that is stiffer [N s/m], >= 0.
  double stretch = 0;
  double shear = 0;  ///< viscosity of shear, per rate of the angle between warp and weft [N s/m], >= 0
  ViscosityCurves curves{};  ///< curves in the place of `stretch` and `shear`
  bool exists() const { return stretch > 0 || shear > 0 || curves.exist(); }
};

/// What a bent sheet costs; see kernels/forces/build_bending.hpp and host/garment/mid_edge_bending.hpp.
enum class BendingModel {
  automatic,        ///< model of the recipe
  isometric,        ///< 1/2 kappa |Laplacian|^2 at interior nodes (Bergou et al. 2006): of Coltraro 2022
  plate,            ///< 1/2 kappa |second derivatives|^2 on the whole sheet: a thin plate's
  mid_edge,         ///< the energy of `plate` by slopes at the middle of edges, nearly exact on any triangles
  discrete_shells,  ///< angles between triangles (Grinspun et al. 2003); see engine/rows/hinges.hpp
};

/// Physical parameters of Coltraro 2022, Table 1, plus none. All of one garment share them.
struct Fabric {
  double density = 1;  ///< inertial mass per area [kg/m^2], > 0
  double gravity_density =
      1;  ///< virtual gravitational mass per area [kg/m^2], delta >= 0; delta = density rho: no air
  BendingModel bending = BendingModel::automatic;
  /// Angles between faces count by more than the 2 sin(theta/2) of constant matrices, with plate and
  /// mid_edge; see engine/rows/large_angles.hpp.
  bool large_angles = false;
  double bending_stiffness = 0;  ///< bending stiffness [N m], >= 0: the plate stiffness D; along warp
  double weft_bending_stiffness =
      0;                         ///< bending stiffness of a plate along weft [N m], >= 0; 0: as along warp
  double mass_damping = 0;       ///< damping of slow oscillations [kg/(m^2 s)], >= 0 (D = alpha M + beta K)
  double stiffness_damping = 0;  ///< damping of fast oscillations [N m s], >= 0
  // Of recipes with elastic rows, force per width of the cloth and strain.
  /// Stretching stiffness along warp, and along weft where that has none of its own [N/m], > 0; that of
  /// cotton.
  double stretch_stiffness = 10000;
  /// Stretching stiffness of a membrane along weft [N/m], >= 0; 0: as along warp.
  double weft_stretch_stiffness = 0;
  /// Shear stiffness of a membrane, per angle between warp and weft [N/m], > 0.
  double shear_stiffness = 50;
  /// Poisson's ratio of a membrane, in [0, 1): pulled along one thread it narrows along the other; geometric
  /// mean of both.
  double poisson_ratio = 0;
  StressCurves curves{};  ///< stress against strain of a membrane, in the place of stiffnesses
  Viscosity viscosity{};  ///< viscous stress, of recipes with elastic rows
  /// Greatest strain l / l0 - 1 of any edge of the mesh, >= 0; 0: none; of recipes with elastic rows or
  /// springs along edges.
  double strain_limit = 0;
  /// Greatest principal strain of any element, >= 0; 0: none; of recipes with elastic rows. See
  /// engine/rows/principal_limits.hpp for what it lets through.
  double principal_strain_limit = 0;
  /// Thickness of the cloth [m], >= 0: how far it stays from cloth; where it has no compression, too, where
  /// its contact with obstacles begins, at half of it from its middle.
  double thickness = 0;
  Compression compression{};  ///< compression by obstacles and bodies; none: compression_of_thickness()
  Drag drag{};  ///< drag of the air on elements; beside mass_damping, which drags every node alike
  /// Springs of impulse solvers (Bender, section 3.3), and bend_spring of the recipe `springs`; which nodes
  /// they join: engine/mesh/spring_pairs.hpp.
  SpringDamper shear_spring{}, bend_spring{};
  /// Spring along each edge, with the recipes `provot1995` and `sakaguchi1991`.
  SpringDamper structural_spring{};
  Plasticity plasticity{};  ///< plastic flow of all springs, with the recipe `sakaguchi1991`
  FabricMemory memory{};    ///< friction and plastic flow of bends, threads and shear
  int shear_diagonals = 2;  ///< shear springs per quad: 1 or 2

  bool has_limit() const { return strain_limit > 0 || principal_strain_limit > 0; }
  /// The weft's part in the stress along warp, a = nu sqrt(k_v / k_u); see engine/rows/membrane.hpp.
  double poisson_coupling() const { return poisson_ratio * std::sqrt(weft_stiffness() / stretch_stiffness); }
  /// Bending stiffness along weft over that along warp.
  double bending_ratio() const {
    return weft_bending_stiffness > 0 ? weft_bending_stiffness / bending_stiffness : 1;
  }
  /// What hinges of a curve measure their moments by: bending_stiffness, or where the curve begins [N m].
  double hinge_stiffness() const {
    return bending_stiffness > 0  ? bending_stiffness
           : curves.bend.exists() ? shear_law(curves.bend, 1).front().slope
                                  : 0;
  }
  double weft_stiffness() const {
    return weft_stretch_stiffness > 0 ? weft_stretch_stiffness : stretch_stiffness;
  }
};

}  // namespace isocloth
