// Memory of rows: Prandtl's elements beside their laws; formulas are in engine/material/memory.hpp.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/material/green_strain.hpp"
#include "engine/material/memory.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

template <class S>
struct RowMemory {
  ArrayView<const S> laws;       ///< memory_laws(), shape [RowLaw::count, memory_numbers]; empty: rows forget
  ArrayView<const S> plastic{};  ///< x_i when the part of a step began, shape [row_count, memory_elements]

  ISOCLOTH_HD bool exists() const { return !laws.empty(); }
  ISOCLOTH_HD const S* of_law(Index law) const {
    return laws.data() + memory_numbers * static_cast<std::size_t>(law);
  }
};

namespace ISOCLOTH_BACKEND {

/// An element at the end of a part.
template <class S>
struct PrandtlElement {
  S trial{}, beyond{};  ///< q if it stuck, and by how much that is beyond the limit: positive where it slides
  S strain{}, slope{};  ///< q, dq/dx
  S plastic{};          ///< x_i
};
/// Of the numbers k, l, g and t, from the plastic strain of the begin of a part of h to its end at x.
template <class S>
ISOCLOTH_HD PrandtlElement<S> prandtl_element(const S* numbers, S x, S plastic, S h) {
  const S zero{}, one = number<S>(1);
  PrandtlElement<S> found;
  found.trial = x - plastic;
  const S limit = multiply_add(numbers[2], magnitude(x), numbers[1]), stays = numbers[3] / (numbers[3] + h);
  found.beyond = magnitude(found.trial) - limit;
  const auto slides = found.beyond > zero;
  const S size = multiply_add(stays, found.beyond, limit), strain = select(found.trial < zero, -size, size),
          growth = (one - stays) * numbers[2];
  found.strain = select(slides, strain, found.trial);
  found.slope = select(slides, select(x * found.trial < zero, -growth, growth) + stays, one);
  found.plastic = select(slides, x - strain, plastic);
  return found;
}

/// Stress of the elements of a row over its stiffness at the end of a part of h at x.
template <class S>
ISOCLOTH_HD S memory_stress(const RowMemory<S>& memory, std::size_t row, Index law, S x, S h) {
  const S* const numbers = memory.of_law(law) + 1;
  S sum{};
  for (int i = 0; i < memory_elements; ++i) {
    const S plastic = memory.plastic[memory_elements * row + static_cast<std::size_t>(i)];
    sum = multiply_add(numbers[4 * i], prandtl_element(numbers + 4 * i, x, plastic, h).strain, sum);
  }
  return sum;
}

/// Stress over stiffness at x of a row whose law without memory has `law_alone`, and its derivative; carried:
/// the stress that multipliers stand for.
///
/// Where an element slides and multipliers stand for less stress that way, or for one the other way, the
/// tangent is that of Newton's method for positions and multipliers together, m p = k l q with m = max(l,
/// |q|), of which p is carried (Chan, Golub, Mulet 1999): k (l - p sign(q)) / |q| more than that of sliding.
/// Positions alone would let iterates leap from sliding one way to sliding the other.
template <class S>
ISOCLOTH_HD Response<S> with_memory(const RowMemory<S>& memory, std::size_t row, Index law, S x, S h,
                                    Response<S> law_alone, S carried) {
  const S zero{};
  const S* const numbers = memory.of_law(law);
  PrandtlElement<S> elements[memory_elements];
  Response<S> sum{numbers[0] * law_alone.stress, numbers[0] * law_alone.slope};
  for (int i = 0; i < memory_elements; ++i) {
    const S* const own = numbers + 1 + 4 * i;
    elements[i] =
        prandtl_element(own, x, memory.plastic[memory_elements * row + static_cast<std::size_t>(i)], h);
    sum.stress = multiply_add(own[0], elements[i].strain, sum.stress);
    sum.slope = multiply_add(own[0], elements[i].slope, sum.slope);
  }
  for (int i = 0; i < memory_elements; ++i) {
    const PrandtlElement<S>& own = elements[i];
    const S held = numbers[1 + 4 * i] * magnitude(own.strain), less = sum.stress - carried;
    S back = larger(select(own.trial < zero, -less, less), zero);
    back = select(back < held + held, back, held + held);
    const auto slides = own.beyond > zero;
    sum.slope += select(slides, back / select(slides, magnitude(own.trial), number<S>(1)), zero);
  }
  sum.slope = larger(sum.slope, number<S>(0.01) * law_alone.slope);
  return sum;
}

/// Energy of the elements of a row at x over its stiffness, sum of k q^2 / 2.
template <class S>
ISOCLOTH_HD S memory_energy(const RowMemory<S>& memory, std::size_t row, Index law, S x) {
  const S* const numbers = memory.of_law(law) + 1;
  S sum{};
  for (int i = 0; i < memory_elements; ++i) {
    const S q = x - memory.plastic[memory_elements * row + static_cast<std::size_t>(i)];
    sum = multiply_add(number<S>(0.5) * numbers[4 * i] * q, q, sum);
  }
  return sum;
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
