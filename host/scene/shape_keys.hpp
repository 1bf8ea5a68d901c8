// The keys of shapes that obstacles and grippers share.
#pragma once

#include "engine/shapes/obstacle.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

inline void describe_sphere(Keys& keys, SphereShape& shape) {
  keys.number("radius", shape.radius, positive, "radius [m]", Need::required);
}

inline void describe_cylinder(Keys& keys, CylinderShape& shape) {
  keys.number("radius", shape.radius, positive, "radius, rounding included [m]", Need::required);
  keys.number("height", shape.height, positive, "length along z [m]", Need::required);
  keys.number("rounding", shape.rounding, not_negative,
              "radius of the rims [m], at most the radius and half of the height");
}

inline void describe_box(Keys& keys, BoxShape& shape) {
  std::array<double, 3> size{};
  keys.tuple("size", size, positive, "lengths along x, y and z, rounding included [m]", Need::required);
  shape.size = {size[0], size[1], size[2]};
  keys.number("rounding", shape.rounding, not_negative,
              "radius of edges and corners [m], at most half of the shortest side");
}

}  // namespace isocloth
