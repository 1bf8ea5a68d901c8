// Fabrics by the figures of Kawabata's evaluation system (KES-F).
#pragma once

#include "engine/material/fabric.hpp"

namespace isocloth {

/// In the units of its data sheets. Hysteresis (RT, 2HB, 2HG, 2HG5) is left out: threads and shear answer as
/// when they are loaded.
struct KesSheet {
  struct Thread {
    double extension = 0;  ///< EMT, at 500 gf/cm [%], > 0
    double linearity = 0;  ///< LT, work of loading over that of a straight line, in (0.1, 1]
    double bending = 0;    ///< B [gf cm^2/cm], >= 0
  };
  Thread warp, weft;
  double weight = 0;  ///< W [mg/cm^2], > 0
  double shear = 0;   ///< G [gf/(cm degree)], > 0
};

/// rho, delta, bending, and curves of warp and weft through ten points each of
///   f(d) = F (a x + (1 - a) x^p), x = d / EMT, F = 500 gf/cm, a = 0.1, p = 2 (1 - a) / (LT - a) - 1,
/// whose work is LT F EMT / 2; shear is linear.
Fabric kes_fabric(const KesSheet& sheet);

/// WT, the work of loading to 500 gf/cm, LT F EMT / 2 = 2.5 EMT LT [gf cm/cm^2].
double kes_work(const KesSheet::Thread& thread);

}  // namespace isocloth
