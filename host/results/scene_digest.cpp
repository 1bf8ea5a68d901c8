#include "host/results/scene_digest.hpp"

#include <optional>

#include "engine/core/members.hpp"

namespace isocloth {
namespace {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

/// All members of all structs below, with sizes and kinds, but what the overloads leave out.
template <class T>
void add(Digest& digest, const T& value);
template <class... Values>
void add_all(Digest& digest, const Values&... values);

// Names of all members: one that is new must be named here, too.
void add(Digest& digest, const RecordedMotion& motion) {
  // Times and positions say what all others made of them.
  const auto& [file, times, positions, frames_per_second, garment] = motion;
  add_all(digest, times, positions);
}
void add(Digest& digest, const Pin& pin) {
  const auto& [name, nodes, motion, ramp] = pin;
  add_all(digest, nodes, motion, ramp);
}
void add(Digest& digest, const ProjectionSettings& settings) {
  const auto& [method, metric, integrator, factor, cg_tolerance, tolerance, balance, iterations, eps,
               substeps, budget, sleep, on_violation] = settings;
  add_all(digest, method, metric, integrator, factor, cg_tolerance, tolerance, balance, iterations, eps,
          substeps);
  // Digests of scenes without them are those of before there were such.
  if (budget.exists()) add_all(digest, budget.solves, budget.milliseconds);
  if (sleep.after > 0) add_all(digest, sleep.after, sleep.speed);
}
void add(Digest& digest, const ImpulseSettings& settings) {
  const auto& [mode, tolerance, substeps, sweeps, relaxation, pass, solves, on_violation] = settings;
  add_all(digest, mode, tolerance, substeps, sweeps, relaxation, pass, solves);
}
/// Adds slopes of forces; without any, digests are those of before slopes could be said.
void add(Digest& digest, const std::vector<ForceSlope>& slopes) {
  for (const ForceSlope& slope : slopes) {
    const auto& [stiffness, damping, position, velocity, strength] = slope;
    add_all(digest, stiffness, damping, position, velocity);
    if (strength > 0) add_all(digest, strength);
  }
}
void add(Digest& digest, const std::vector<Button>& buttons) {
  for (const Button& button : buttons) {
    const auto& [a, b, distance, stiffness, force, strength] = button;
    add_all(digest, a, b, distance, stiffness, force, strength);
  }
}
void add(Digest& digest, const std::vector<Band>& bands) {
  for (const Band& band : bands) {
    const auto& [a, b, length, stiffness] = band;
    add_all(digest, a, b, length, stiffness);
  }
}
// Whether a stitch is open goes with time. Digests of scenes without folds, fabrics of faces, driven
// fasteners and keyframes are those of before there were such.
void add(Digest& digest, const Stitch& stitch) {
  const auto& [a, b, length, slack] = stitch;
  add_all(digest, a, b, length);
}
void add(Digest& digest, const std::vector<Fold>& folds) {
  for (const Fold& fold : folds) {
    const auto& [nodes, angle, stiffness, factor] = fold;
    add_all(digest, nodes, angle, stiffness, factor);
  }
}
void add(Digest& digest, const std::vector<FabricFactors>& factors) {
  for (const FabricFactors& face : factors) {
    const auto& [density, stretch, weft_stretch, shear, bending] = face;
    add_all(digest, density, stretch, weft_stretch, shear, bending);
  }
}
void add(Digest& digest, const std::vector<Zipper>& zippers) {
  for (const Zipper& zipper : zippers) {
    const auto& [name, stitches, shares, closed] = zipper;
    add_all(digest, stitches, shares, closed.times, closed.values);
  }
}
void add(Digest& digest, const std::vector<Drawstring>& drawstrings) {
  for (const Drawstring& string : drawstrings) {
    const auto& [name, bands, lengths, share] = string;
    add_all(digest, bands, lengths, share.times, share.values);
  }
}
void add(Digest& digest, const std::vector<Keyframes>& keyframes) {
  for (const Keyframes& own : keyframes) {
    const auto& [number, garments, obstacle, values] = own;
    add_all(digest, number, garments, obstacle, values.times, values.values);
  }
}
/// Where nothing is pushed out, or parted, digests are those of before its time could be said.
void add(Digest& digest, const ContactSettings& contact) {
  const auto& [tolerance, margin, pairs, body_pairs, resolve_initial_penetration, initial_penetration_time,
               cloth, cloth_friction, cloth_pairs, initial] = contact;
  add_all(digest, tolerance, margin, pairs, body_pairs, resolve_initial_penetration, cloth, cloth_friction,
          cloth_pairs);
  if (resolve_initial_penetration) add_all(digest, initial_penetration_time);
  if (initial != ClothStart::refuse) add_all(digest, initial);
}

// From here on the overloads are known.
template <class... Values>
void add_all(Digest& digest, const Values&... values) {
  (add(digest, values), ...);
}

template <class T>
void add(Digest& digest, const T& value) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::string>) {
    digest.add(value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    digest.add(static_cast<std::int64_t>(value));
  } else if constexpr (is_optional<T>) {
    add_all(digest, value.has_value(), value.value_or(0));
  } else if constexpr (requires { value.index(); }) {
    add(digest, value.index());
    std::visit([&digest](const auto& kind) { add(digest, kind); }, value);
  } else if constexpr (requires { value.size(); }) {
    add(digest, value.size());
    for (const auto& each : value) add(digest, each);
  } else {
    std::apply([&digest](const auto&... each) { add_all(digest, each...); }, members(value));
  }
}

}  // namespace

std::uint64_t scene_digest(const Scene& scene) {
  // Names of all members: one that is new must be named here, too.
  const auto& [name, recipe, garments, obstacles, bodies, wind, gravity, step, duration, frame_interval, seed,
               projection, impulse, contact, keyframes] = scene;
  Digest digest;
  add_all(digest, recipe, garments, obstacles, bodies, wind, gravity, step, frame_interval, projection,
          impulse, contact, keyframes);
  if (wind.gusts > 0) add(digest, seed);
  return digest.value();
}

}  // namespace isocloth
