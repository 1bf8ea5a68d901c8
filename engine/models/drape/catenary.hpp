// The curve of a chain that hangs between two points.
#pragma once

#include "engine/core/vec3.hpp"

namespace isocloth {

/// A chain of given length hung from two points under gravity along -z: with the parameter a,
///   z = a cosh(x / a) + constant, x along the horizontal between the points,
/// one number a and two shifts, which the two points and the length L determine:
///   sqrt(L^2 - v^2) = 2 a sinh(h / 2a), tanh(x_mid / a) = v / L
/// (Weil 1986; h and v: horizontal and vertical distance). The tutorial of Karthikeyan and Ranganathan prints
/// it as y = a cosh(x / b) and y = a cosh(x + b): with two numbers in the place of one a that is no catenary
/// unless a = b, and without L two points do not determine one.
///
/// Points of it lie within 1e-12 L of the exact curve through the doubles given, and a is as exact relative
/// to itself, nearly taut to almost vertical; the points may have one height, lie above each other or
/// coincide, and then the chain goes straight down and up. Checked in tests/engine/models/catenary_test.cpp.
class Catenary {
 public:
  /// `length` [m], >= 0; no longer than the distance of the points: the straight way between them, evenly
  /// stretched.
  Catenary(const Vec3d& from, const Vec3d& to, double length);

  /// The point at the arc length s from `from` [m], 0 <= s <= length().
  Vec3d at(double s) const;
  double length() const { return length_; }
  /// a [m]; infinite: straight; 0: down and up.
  double parameter() const { return parameter_; }

 private:
  Vec3d from_, to_;
  double length_;
  double parameter_;          ///< a [m]
  double horizontal_ = 0;     ///< h [m]
  double start_ = 0;          ///< x / a at `from`
  double sinh_of_start_ = 0;  ///< arc length from the vertex to `from`, over a
};

}  // namespace isocloth
