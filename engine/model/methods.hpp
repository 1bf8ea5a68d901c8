// What each method knows of scenes. What its list does not name it refuses.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model/scene_features.hpp"

namespace isocloth {

struct Advice {
  Feature feature;
  const char* text;  ///< the end of the message, after the method's name
};

struct Method {
  std::string_view name;  ///< in messages, after "with"
  FeatureSet known;       ///< what acts as it should
  FeatureSet idle{};      ///< what may be there, and is said to have no part
  std::span<const Advice> advice{};
  const char* otherwise = "";  ///< advice on all other features
  /// What is asked for, but has no strength: hinges and large angles without bending_stiffness, wind where no
  /// fabric has drag. Recipes refuse it all the same.
  bool refuses_weak = false;

  constexpr bool accepts(FeatureSet features) const { return (known | idle).has_all(features); }
};

namespace methods {
/// Of settings; of Tape; of EnergyBalance; of `isocloth rest`; of StaticSheet, for fits with at_rest; of the
/// minimisers of particles; of `isocloth validate`.
extern const Method by_fast_projection, by_mass_metric, gradients, energy_balance, rest, static_sheet,
    breen1994, feynman1986, validation;
/// Of StepSolver; cloths of a batch are in lanes, or in a block of threads each.
extern const Method batched, iterative, mixed;
}  // namespace methods

/// Every method, recipes first.
std::span<const Method* const> all_methods();
/// That of a recipe. One whose list is missing knows nothing.
const Method& method_of(const Recipe& recipe);

/// Throws SceneError "KEY: found FOUND, expected INSTEAD with METHOD ADVICE" for what the method does not
/// know.
void require_known(const Method& method, Feature feature, const std::string& key, const std::string& found);
/// For what a garment has, its recipe included; messages begin with `key`.
void require_known(const Method& method, const Garment& garment, const Recipe& recipe,
                   const std::string& key);
/// For what is around the garments.
void require_known_surroundings(const Method& method, const Scene& scene);
/// For both.
void require_known(const Method& method, const Scene& scene);

}  // namespace isocloth
