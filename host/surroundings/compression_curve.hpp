// The law of a garment's thickness as the kernels take it.
#pragma once

#include "engine/model/contact_thickness.hpp"
#include "engine/model/scene.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

inline CompressionCurve<double> compression_curve(const Garment& garment, const Scene& scene) {
  const Compression c = compression_of(garment, scene);
  return c.exists() ? CompressionCurve<double>{c.give(), c.offset(), c.linear_from(), c.largest_slope()}
                    : CompressionCurve<double>{};
}

}  // namespace isocloth
