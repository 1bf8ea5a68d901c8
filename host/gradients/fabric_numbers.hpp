// The numbers of a fabric that a loss has derivatives by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/model/recipe.hpp"
#include "host/projection/step_gradient.hpp"

namespace isocloth {

/// A number of a fabric, by its name in a scene.
struct FabricNumber {
  std::string name;
  std::function<double&(Fabric&)> of;
  double StepGradient::*closed_form = nullptr;  ///< null: by the balance of forces
  bool is_linear = true;                        ///< that balance is linear in it, with all else as it is
  bool is_matrix = false;                       ///< it has a part in the matrix of bending, beside its factor
};

/// Those that a step of the recipe depends on: not 0, or free to be (rho, delta, alpha).
std::vector<FabricNumber> fabric_numbers(const Recipe& recipe, const Fabric& fabric);

}  // namespace isocloth
