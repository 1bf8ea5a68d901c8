// What acts on several cloths in several steps.
#pragma once

#include "engine/core/array_view.hpp"

namespace isocloth {

/// View: of one cloth in one step.
template <class View>
struct StepSets {
  ArrayView<const View> views;  ///< shape [cloth, step]; empty: none
  Index steps = 0;

  ISOCLOTH_HD bool exist() const { return !views.empty(); }
  ISOCLOTH_HD View of(std::size_t cloth, Index step) const {
    return exist() ? views[cloth * static_cast<std::size_t>(steps) + static_cast<std::size_t>(step)] : View{};
  }
};

}  // namespace isocloth
