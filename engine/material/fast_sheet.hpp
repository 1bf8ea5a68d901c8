// Fabrics by the figures of FAST, fabric assurance by simple testing (CSIRO; De Boos, Tester 1994).
#pragma once

#include "engine/material/fabric.hpp"

namespace isocloth {

/// In the units of its control charts. Extensions are those at 5, 20 and 100 gf/cm (4.9, 19.6, 98.1 N/m).
struct FastSheet {
  struct Thread {
    double at_5 = 0, at_20 = 0, at_100 = 0;  ///< E5 >= 0, E20 > E5, E100 > E20 [%]
    double bending = 0;                      ///< B [uN m], > 0
  };
  Thread warp, weft;
  double bias = 0;       ///< EB5, at 45 degrees to the threads and 5 gf/cm [%], > 0
  double weight = 0;     ///< W [g/m^2], > 0
  double thickness = 0;  ///< T2, at 2 gf/cm^2 [mm], >= 0
};

/// B = 9.80665e-6 W C^3 [uN m], of a bending length C [mm] and a weight W [g/m^2] (Peirce 1930).
double fast_bending(double bending_length, double weight);

/// rho, delta, thickness, bending, and curves of warp and weft through the three extensions (E5 is left out
/// where it reads 0); shear is linear, G = 123 / EB5 [N/m]. That is 5 gf/cm / (4 EB5): a strip on the bias
/// under f stretches by f / 4 (1 / G + 1 / k_u + 1 / k_v), of which FAST leaves out what the threads stretch.
Fabric fast_fabric(const FastSheet& sheet);

}  // namespace isocloth
