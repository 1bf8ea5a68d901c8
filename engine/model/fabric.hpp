// What a cloth is made of.
#pragma once

namespace isocloth {

/// Physical parameters of Coltraro 2022, Table 1, plus none. All of one garment share them.
struct Fabric {
  double rho = 1;    ///< inertial mass per area [kg/m^2], > 0
  double delta = 1;  ///< virtual gravitational mass per area [kg/m^2], >= 0; delta = rho: no air
  double kappa = 0;  ///< bending stiffness [N m], >= 0; energy 1/2 kappa |Laplacian|^2, so plate D = kappa
  double alpha = 0;  ///< damping of slow oscillations [kg/(m^2 s)], >= 0 (D = alpha M + beta K)
  double beta = 0;   ///< damping of fast oscillations [N m s], >= 0
};

}  // namespace isocloth
