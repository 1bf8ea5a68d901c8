#include "host/scene/motion_keys.hpp"

#include <numbers>
#include <utility>

namespace isocloth {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;

template <class AnyMotion, class Kind>
Keys::Alternative form(AnyMotion& motion, const char* type, const char* doc, const Kind& start,
                       void (*describe)(Keys&, Kind&)) {
  return {"type", type, doc, [&motion, start, describe](Keys& k) {
            Kind kind = start;
            describe(k, kind);
            motion = std::move(kind);
          }};
}

void describe_oscillation(Keys& keys, OscillationMotion& motion) {
  keys.vector("amplitude", motion.amplitude, "half the width of the swing [m]", required);
  keys.number("frequency", motion.frequency, positive, "frequency [Hz]", required);
  keys.number("start", motion.start, any_number, "time at which it begins [s]");
  keys.number("duration", motion.duration, positive, "time for which it lasts [s]");
}

void describe_keyframes(Keys& keys, KeyframeMotion& motion) {
  keys.list("times", motion.times, any_number, "times of the keys, ascending [s]", required);
  keys.vectors("translations", motion.translations, "displacement at each key [m]; default: none",
               Need::optional);
  keys.vectors("rotations_degrees", motion.rotations, "rotation vector at each key [degrees]; default: none",
               Need::optional);
  for (Vec3d& rotation : motion.rotations) rotation = radians_per_degree * rotation;
  keys.vector("center", motion.center, "centre of rotation c [m]");
}

void describe_recorded(Keys& keys, RecordedMotion& motion) {
  keys.string(
      "file", motion.file,
      "relative to the folder of the scene file: CSV, rows t [s], x1, y1, z1, x2, ... [m] in the order of "
      "the selected nodes, a header line is allowed; or .pc2 or .mdd, point caches of all nodes of the mesh "
      "file, which the garment's transform places; or walk_%04d.obj or .ply, such meshes by their numbers; "
      "or trajectory.h5 of a result, where all nodes of a garment were in the world",
      required);
  keys.number("frames_per_second", motion.frames_per_second, not_negative,
              "of a .pc2 file or numbered meshes, which count frames; other files have times");
  keys.string("garment", motion.garment, "of a result: whose motion it is; default: its only garment",
              Need::optional);
}

/// Motions of all of space.
template <class AnyMotion>
std::vector<Keys::Alternative> rigid_forms(AnyMotion& motion, const char* fixed_doc) {
  const auto nothing = +[](Keys&, FixedMotion&) {};
  return {form(motion, "fixed", fixed_doc, FixedMotion{}, nothing),
          form(motion, "oscillation",
               "displacement amplitude (cos(2 pi frequency s) - 1), s = clamp(t - start, 0, duration)",
               OscillationMotion{}, describe_oscillation),
          form(motion, "keyframes",
               "rigid displacement, linear between the keys: x = c + R (x0 - c) + translation",
               KeyframeMotion{}, describe_keyframes)};
}

}  // namespace

void describe_motion(Keys& keys, Motion& motion) {
  std::vector<Keys::Alternative> forms = rigid_forms(motion, "the nodes stay where they start");
  forms.push_back(form(motion, "recorded", "positions from a file, linear between its rows", RecordedMotion{},
                       describe_recorded));
  keys.one_of("motion", "how the nodes move; default: fixed", Need::optional, forms);
}

void describe_motion(Keys& keys, ObstacleMotion& motion, std::string& poses_file) {
  std::vector<Keys::Alternative> forms = rigid_forms(motion, "it stays where it starts");
  forms.push_back({"type", "recorded", "poses from a file, linear between its rows", [&poses_file](Keys& k) {
                     k.string(
                         "file", poses_file,
                         "CSV, relative to the folder of the scene file: rows t [s], x, y, z [m], rx, ry, "
                         "rz (rotation vector, degrees) of the frame itself, in place of position and "
                         "rotation_degrees; a header line is allowed",
                         required);
                   }});
  keys.one_of("motion", "how it moves; default: fixed", Need::optional, forms);
}

}  // namespace isocloth
