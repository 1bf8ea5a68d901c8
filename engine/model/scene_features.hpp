// What scenes may have that not every method knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// A method knows those that its list names (engine/model/methods.hpp), and no other.
enum class Feature : std::uint8_t {
  // Of the recipe: its solver, its rows and their strain.
  projection,
  impulses,
  impulse_system,
  tensors,
  implicit_tensors,
  rigid_rows,
  elastic_edges,
  membrane,
  springs,
  engineering_strain,
  corotational_strain,
  // Of the settings of a projection.
  fast_projection,
  mass_metric,
  backward_euler,
  bdf2,
  budget,
  sleep,
  // Of a fabric.
  isometric_bending,
  plate_bending,
  mid_edge_bending,
  hinges,
  large_angles,
  alpha,
  beta,
  poisson_ratio,
  curves,
  viscosity,
  strain_limit,
  principal_strain_limit,
  compression,
  drag,
  shear_spring,
  bend_spring,
  structural_spring,
  plasticity,
  memory,
  // Of a garment.
  moving_pins,
  grippers,
  seams,
  buttons,
  bands,
  folds,
  fabric_factors,
  driven_fasteners,
  forces,
  force_slopes,
  pressure,
  // Of the scene.
  obstacles,
  moving_obstacles,
  bodies,
  friction,
  resolve_initial_penetration,
  wind,
  gusts,
  flow,
  cloth_contact,
  keyframes,
  // Of the program.
  program_forces,
};

struct FeatureInfo {
  Feature feature{};
  const char* name = nullptr;     ///< in the page of what methods know
  const char* instead = nullptr;  ///< what a method that does not know it expects in its place
};

inline constexpr std::size_t feature_count = static_cast<std::size_t>(Feature::program_forces) + 1;

/// All of them, in their order.
inline constexpr std::array<FeatureInfo, feature_count> feature_list{{
    {Feature::projection, "steps of the projection", "another"},
    {Feature::impulses, "impulses", "one of the projection"},
    {Feature::impulse_system, "a system of impulses", "one of the projection"},
    {Feature::tensors, "tensors of a grid", "one of the projection"},
    {Feature::implicit_tensors, "the same, implicit", "one of the projection"},
    {Feature::rigid_rows, "rigid rows", "one with elastic rows"},
    {Feature::elastic_edges, "elastic edges", "another"},
    {Feature::membrane, "elastic elements", "another"},
    {Feature::springs, "springs of a grid", "another"},
    {Feature::engineering_strain, "strain by length", "another"},
    {Feature::corotational_strain, "corotational strain", "another"},
    {Feature::fast_projection, "`fast_projection`", "\"proximal_newton\""},
    {Feature::mass_metric, "metric `mass`", "\"implicit\""},
    {Feature::backward_euler, "`backward_euler`", "another"},
    {Feature::bdf2, "`bdf2`", "another"},
    {Feature::budget, "`projection.budget`", "none"},
    {Feature::sleep, "`projection.sleep`", "none"},
    {Feature::isometric_bending, "`isometric` bending", "another"},
    {Feature::plate_bending, "`plate`", "another"},
    {Feature::mid_edge_bending, "`mid_edge`", "another"},
    {Feature::hinges, "`discrete_shells`", "another"},
    {Feature::large_angles, "`large_angles`", "false"},
    {Feature::alpha, "`mass_damping`", "0"},
    {Feature::beta, "`stiffness_damping`", "0"},
    {Feature::poisson_ratio, "`poisson_ratio`", "0"},
    {Feature::curves, "`curves`", "none"},
    {Feature::viscosity, "viscosity, its curves", "none"},
    {Feature::strain_limit, "`strain_limit`", "0"},
    {Feature::principal_strain_limit, "`principal_strain_limit`", "0"},
    {Feature::compression, "`compression`", "none"},
    {Feature::drag, "`drag`", "none"},
    {Feature::shear_spring, "`shear_spring`", "none"},
    {Feature::bend_spring, "`bend_spring`", "none"},
    {Feature::structural_spring, "`structural_spring`", "none"},
    {Feature::plasticity, "`yield_strain`", "0"},
    {Feature::memory, "`memory`", "none"},
    {Feature::moving_pins, "pins that move", "none"},
    {Feature::grippers, "`grippers`", "none"},
    {Feature::seams, "seams", "none"},
    {Feature::buttons, "buttons", "none"},
    {Feature::bands, "elastic bands", "none"},
    {Feature::folds, "folds, stiff seams", "none"},
    {Feature::fabric_factors, "fabric by panel or map", "one fabric"},
    {Feature::driven_fasteners, "zippers, drawstrings", "none"},
    {Feature::forces, "forces on nodes", "none"},
    {Feature::force_slopes, "their slopes", "none"},
    {Feature::pressure, "`pressure`", "0"},
    {Feature::obstacles, "`obstacles`", "none"},
    {Feature::moving_obstacles, "obstacles that move", "none"},
    {Feature::bodies, "`bodies`", "none"},
    {Feature::friction, "friction", "0"},
    {Feature::resolve_initial_penetration, "`contact.resolve_initial_penetration`", "false"},
    {Feature::wind, "`wind.velocity`", "none"},
    {Feature::gusts, "`wind.gusts`", "0"},
    {Feature::flow, "`wind.model` `panels`", "\"drag\""},
    {Feature::cloth_contact, "`contact.cloth`", "false"},
    {Feature::keyframes, "`keyframes`", "none"},
    {Feature::program_forces, "`add_force`", "none"},
}};

constexpr const FeatureInfo& info_of(Feature feature) {
  return feature_list[static_cast<std::size_t>(feature)];
}

/// Some of the features.
class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (const Feature feature : features) bits_ |= bit(feature);
  }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  constexpr bool has_all(FeatureSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr FeatureSet operator|(FeatureSet other) const { return of(bits_ | other.bits_); }
  constexpr FeatureSet operator-(FeatureSet other) const { return of(bits_ & ~other.bits_); }
  constexpr bool operator==(const FeatureSet&) const = default;

 private:
  static constexpr std::uint64_t bit(Feature f) { return std::uint64_t{1} << static_cast<unsigned>(f); }
  static constexpr FeatureSet of(std::uint64_t bits) {
    FeatureSet set;
    set.bits_ = bits;
    return set;
  }
  std::uint64_t bits_ = 0;
};
static_assert(feature_count < 64, "a set has a bit for each feature, and one for what is none of them");

/// A feature of a scene, where it is, and what is there.
struct FeatureUse {
  Feature feature{};
  std::string key, found;
};

/// What a garment has, its recipe included; and the scene around its garments.
FeatureSet features_of(const Garment& garment, const Recipe& recipe);
FeatureSet surroundings_of(const Scene& scene);

/// The first feature of a garment, or around the garments, that is not among `known`; key: of the garment.
/// with_weak: of those, too, that are asked for but have no strength: bending without kappa, wind where no
/// fabric has drag.
std::optional<FeatureUse> find_other(FeatureSet known, const Garment& garment, const Recipe& recipe,
                                     const std::string& key, bool with_weak);
std::optional<FeatureUse> find_other(FeatureSet known, const Scene& scene, bool with_weak);

}  // namespace isocloth
