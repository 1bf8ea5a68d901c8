// What keep_memory does, in parts that a thread, a block or a vector register can take.
#pragma once

#include "kernels/tensors/keep_memory.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// keep(number, x_i) of the elements of a row.
template <class S, class T, class Keep>
ISOCLOTH_HD void keep_row(const KeepMemory<S, T>& a, std::size_t row, Index law, StrainMeasure measure,
                          S curvature, const Keep& keep) {
  const S x = law_strain(law, measure, a.strains[row], curvature).x, zero{};
  const S* const numbers = a.laws.memory.of_law(law) + 1;
  for (int i = 0; i < memory_elements; ++i) {
    const std::size_t number = memory_elements * row + static_cast<std::size_t>(i);
    const S plastic = prandtl_element(numbers + 4 * i, x, a.laws.memory.plastic[number], a.laws.step).plastic;
    keep(number, select(numbers[4 * i] > zero, plastic, zero));
  }
}

/// Of the rows of a stencil; of those without memory nothing.
template <class S, int Width, class T, class Keep>
ISOCLOTH_HD void keep_stencil(const KeepMemory<S, T>&, const RowGroup<Width>&, Index, const Keep&) {}
template <class S, class T, class Keep>
ISOCLOTH_HD void keep_stencil(const KeepMemory<S, T>& a, const MembraneGroup& group, Index stencil,
                              const Keep& keep) {
  const std::size_t row = group.first_row + membrane_width * static_cast<std::size_t>(stencil);
  for (int w = 0; w < 3; ++w)
    keep_row(a, row + static_cast<std::size_t>(w), w,
             w == RowLaw::shear ? StrainMeasure::green : a.laws.measure, S{}, keep);
}
template <class S, class T, class Keep>
ISOCLOTH_HD void keep_stencil(const KeepMemory<S, T>& a, const RowGroup<1>& group, Index stencil,
                              const Keep& keep) {
  if (group.laws.empty() || group.laws[stencil] != RowLaw::bend) return;
  keep_row(a, group.first_row + static_cast<std::size_t>(stencil), RowLaw::bend, StrainMeasure::green,
           hinge_curvature<S>(group, a.tensors.data(), stencil), keep);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
