// Stress of elements that are elastic membranes.
#pragma once

#include <array>
#include <vector>

#include "engine/model/recipe.hpp"

namespace isocloth {

/// Second Piola and Kirchhoff stress S in warp and weft of the rest shape [N/m], positive where the cloth is
/// pulled. A strip that is pulled along a thread to the stretch s carries the force s S per width of the rest
/// shape.
struct MembraneStress {
  double warp = 0, weft = 0, shear = 0;  ///< S_uu, S_vv, S_uv
  /// Equivalent stress of von Mises in plane stress [N/m]: sqrt(S_uu^2 - S_uu S_vv + S_vv^2 + 3 S_uv^2), as
  /// if the cloth were isotropic.
  double von_mises() const;
};

/// What a fabric answers to strain: the derivatives of the energy per area whose rows are MembraneRows,
///   S_uu = 2 K_u f(C_uu + a C_vv),  S_vv = 2 K_v f(C_vv) + a S_uu,  S_uv = G f(gamma),
/// with K per area, a of Fabric::poisson_coupling() and f of the law (engine/material/membrane_laws.hpp);
/// linear: f(C) = C. Of a law that is not quadratic the T of these formulas belongs to its own strain, by the
/// corotational one dW = T : dS, and the stress to F^T F, 2 M of its metric_stress(). The elastic part alone:
/// neither viscosity nor what holds a strain_limit. Checked in tests/engine/membrane_stress_test.cpp.
class MembraneLaw {
 public:
  /// Whether the recipe has such rows; others have no stress of elements.
  static bool exists(const Recipe& recipe);
  MembraneLaw(const Recipe& recipe, const Fabric& fabric);
  /// The law of faces with these factors on the numbers of the fabric (Mesh::face_factors).
  MembraneLaw with(const FabricFactors& factors) const;

  /// The columns of a deformation gradient, derivatives of the positions along warp and weft.
  struct Gradient {
    Vec3d along_warp, along_weft;
  };
  /// Stress where strain is even, by the derivatives of the positions along warp and weft.
  MembraneStress stress(Vec3d along_warp, Vec3d along_weft) const {
    return stress({along_warp, along_weft}, {along_warp, along_weft}, 0.5);
  }
  /// Stress of a pair of triangles, by the mean of their strains; share: of the first in the area of both. Of
  /// a law that is not quadratic the mean of the stresses of both. What differences of strain are given
  /// (MembraneRows) is not in it: it is no stress of the cloth.
  MembraneStress stress(const Gradient& first, const Gradient& second, double share) const;

 private:
  /// K f(C) of a row [N/m].
  double row_stress(Index law, double c) const;
  /// dW/dC of three rows, as tensors T or S have them.
  MembraneStress stress_of(const std::array<double, 3>& strains) const;

  std::array<double, 3> stiffness_;  ///< K per area of the rows [N/m]
  double coupling_;
  double poisson_ratio_;
  StrainMeasure measure_;
  std::vector<CurvePiece> pieces_;  ///< shape [RowLaw::count, pieces]
};

}  // namespace isocloth
