// Product of a 3x3 block and a vector.
#pragma once

#include "engine/core/vec3.hpp"

namespace isocloth {

/// B x of a row-major block, or B^T x.
template <class Real>
ISOCLOTH_HD Vec3<Real> multiply_block(const Real* b, bool transposed, Vec3<Real> x) {
  if (transposed)
    return {b[0] * x.x + b[3] * x.y + b[6] * x.z, b[1] * x.x + b[4] * x.y + b[7] * x.z,
            b[2] * x.x + b[5] * x.y + b[8] * x.z};
  return {b[0] * x.x + b[1] * x.y + b[2] * x.z, b[3] * x.x + b[4] * x.y + b[5] * x.z,
          b[6] * x.x + b[7] * x.y + b[8] * x.z};
}

}  // namespace isocloth
