// The numbers of a fabric that a loss has derivatives by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/model/recipe.hpp"
#include "host/projection/step_gradient.hpp"

namespace isocloth {

/// A number of a fabric, by its name in a scene, and how a loss is differentiated by it.
struct FabricDerivative {
  std::string name;
  std::function<double&(Fabric&)> of;
  double StepGradient::*closed_form = nullptr;  ///< null: by the balance of forces
  bool is_linear = false;  ///< that balance is linear in it, with all else as it is; else central differences
  bool is_in_matrix = false;  ///< a constant matrix of bending has a part of it beside its factor
};

/// The numbers that a step of the recipe depends on: not 0, or free to be (rho, delta, alpha); of curves the
/// force of each point, or each coefficient.
std::vector<FabricDerivative> fabric_derivatives(const Recipe& recipe, const Fabric& fabric);

}  // namespace isocloth
