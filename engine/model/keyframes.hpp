// Numbers of a scene that change while its time runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/driven_fasteners.hpp"

namespace isocloth {

struct Scene;

/// A number of a scene over time, as if a program set it before each step: the step that begins at t has the
/// number of t. Straight between its times, constant before the first and after the last; a time that is
/// there twice is a jump. Times are those of the garment's own clock, as its motions have them, else of the
/// simulation.
struct Keyframes {
  /// Path of the number in a scene file, where it has a part `garments` or `obstacles` from there on: of the
  /// scene gravity, wind.velocity[0], wind.gusts, contact.cloth_friction.static; of garments gravity,
  /// pressure, sewing.force and the like, fabric.density and all others that Simulation::set_fabric() takes;
  /// of an obstacle friction.static or friction.dynamic.
  std::string number;
  std::vector<std::size_t> garments;  ///< whose number it is, numbers in the scene; empty: of none
  std::ptrdiff_t obstacle = none;     ///< whose number it is, where it is of no garment
  DrivenNumber values;
  static constexpr std::ptrdiff_t none = -1;

  /// The number at time t [s] for steps of h [s]. Times that differ from t by rounding alone, a millionth of
  /// a step, are t.
  double at(double t, double h) const;
  bool operator==(const Keyframes&) const = default;
};

/// The member that they are of in a scene; `garment`: which of their garments, if they have any. They must be
/// valid (validate_keyframes).
double& number_of(const Keyframes& keyframes, std::size_t garment, Scene& scene);

/// Whether a scene has keyframes of numbers whose paths begin so.
bool has_keyframes(const Scene& scene, std::string_view beginning);

/// Throws SceneError, "keyframes[1].values[2]: ...", for keyframes of a number that is none, cannot change or
/// has others already, times that do not ascend, and values that a command would refuse, such as of a fabric
/// whose terms come or go.
void validate_keyframes(const Scene& scene);

}  // namespace isocloth
