// The numbers of a fabric, each told once: keys of files, checks, commands, gradients, Python and the docs
// are loops over this table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/core/range.hpp"
#include "engine/material/fabric.hpp"
#include "engine/model/recipe.hpp"

namespace isocloth {

/// A part of what acts on the cloth, whose numbers belong together. All but `always` are absent where their
/// numbers are 0.
enum class FabricTerm {
  always,
  bending,
  viscosity,
  strain_limit,
  principal_strain_limit,
  drag,
  structural_spring,
  shear_spring,
  bend_spring,
  memory,
};

/// How a loss is differentiated by a number of the fabric; see host/gradients.
enum class GradientRule {
  none,         ///< a step of those recipes that have gradients does not depend on it
  closed_form,  ///< a derivative that StepGradient names
  linear,       ///< the balance of forces is linear in it
  differences,  ///< central differences of the balance of forces: right for any number
};

/// A number of a fabric. A new one is a member of Fabric and a line of fabric_numbers().
struct FabricNumber {
  const char* name;                ///< key in files; "drag.normal" lies in an object
  double& (*of)(Fabric&);          ///< the member
  Range range;                     ///< of its values
  const char* doc;                 ///< what it is, unit in brackets
  const char* old_name = nullptr;  ///< older key, which files may have until version 1.0
  FabricTerm term = FabricTerm::always;
  bool may_change = true;  ///< while a simulation runs; terms may not come or go even then
  GradientRule gradient = GradientRule::none;
  bool is_in_matrix = false;      ///< a constant matrix of bending is made from it
  bool keeps_zero = false;        ///< while a simulation runs it may not become 0, or stop being 0
  const char* follows = nullptr;  ///< number that, where it alone is given, is this one's default
  /// Whether the rows of a recipe have a place for it; null: of every recipe, or another check refuses it.
  bool (*acts_in)(const Recipe&) = nullptr;

  double value(const Fabric& fabric) const { return of(const_cast<Fabric&>(fabric)); }  // only read
};

/// All numbers, in the order in which `isocloth schema` lists them.
std::span<const FabricNumber> fabric_numbers();

/// The number of that name, '_' in it for '.' as well ("drag_normal"). Throws SceneError beginning with `key`
/// that names all.
const FabricNumber& find_fabric_number(std::string_view name, const std::string& key);

/// Whether a term acts: any of its numbers is more than 0.
bool has_term(FabricTerm term, const Fabric& fabric);

/// Throws SceneError, "KEY.NAME: found -1, expected a number >= 0", unless all numbers lie in their ranges.
void check_fabric_numbers(const std::string& key, const Fabric& fabric);

/// Throws SceneError unless a running simulation of `now` can go on with `found`: numbers that may change do,
/// and no term comes or goes.
void check_fabric_change(const std::string& key, const Fabric& found, const Fabric& now);

}  // namespace isocloth
