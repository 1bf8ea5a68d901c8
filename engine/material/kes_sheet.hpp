// Fabrics by the figures of Kawabata's evaluation system (KES-F).
#pragma once

#include "engine/material/fabric.hpp"

namespace isocloth {

/// In the units of its data sheets. RT is left out: threads answer as when they are loaded.
struct KesSheet {
  struct Thread {
    double extension = 0;           ///< EMT, at 500 gf/cm [%], > 0
    double linearity = 0;           ///< LT, work of loading over that of a straight line, in (0.1, 1]
    double bending = 0;             ///< B [gf cm^2/cm], >= 0
    double bending_hysteresis = 0;  ///< 2HB [gf cm/cm], >= 0
  };
  Thread warp, weft;
  double weight = 0;  ///< W [mg/cm^2], > 0
  double shear = 0;   ///< G [gf/(cm degree)], > 0
  /// 2HG at 0.5 degrees and 2HG5 at 5 [gf/cm], >= 0.
  double shear_hysteresis = 0, shear_hysteresis_at_5 = 0;
  bool remembers = false;  ///< whether the fabric has hysteresis, see kes_fabric()
};

/// rho, delta, bending, and curves of warp and weft through ten points each of
///   f(d) = F (a x + (1 - a) x^p), x = d / EMT, F = 500 gf/cm, a = 0.1, p = 2 (1 - a) / (LT - a) - 1,
/// whose work is LT F EMT / 2; shear is linear.
///
/// One that remembers (engine/material/memory.hpp) bends by discrete shells alike in all directions, by the
/// means of both threads' B and 2HB, friction of bending being half of that; friction of shear is half of 2HG
/// and of 2HG5 at 0.5 and 5 degrees and straight between, or that of 2HG alone where 2HG5 is less.
Fabric kes_fabric(const KesSheet& sheet);

/// WT, the work of loading to 500 gf/cm, LT F EMT / 2 = 2.5 EMT LT [gf cm/cm^2].
double kes_work(const KesSheet::Thread& thread);

}  // namespace isocloth
