// What couples free nodes beyond the pattern of the factor.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// Entries of E, row by row; both of each pair. None: the factor is that of the whole matrix.
struct CouplingPattern {
  ArrayView<const Index> begin;    ///< shape [free_count + 1]
  ArrayView<const Index> columns;  ///< free number

  ISOCLOTH_HD bool exist() const { return !columns.empty(); }
};

/// A = P + E, and the factor is that of P, which is no less than A; E = stiffness K_E between nodes.
template <class S, class T = S>
struct Couplings {
  CouplingPattern pattern;
  S stiffness{};              ///< see MetricView
  ArrayView<const T> values;  ///< K_E [1/m^2], see MetricView

  ISOCLOTH_HD bool exist() const { return pattern.exist() && !values.empty(); }
};

namespace ISOCLOTH_BACKEND {

/// (E x)_i.
template <class S, class T>
ISOCLOTH_DEVICE Vec3<S> coupled(const Couplings<S, T>& c, ArrayView<const Vec3<S>> x, Index i) {
  Vec3<S> sum{};
  for (Index e = c.pattern.begin[i]; e < c.pattern.begin[i + 1]; ++e)
    sum = multiply_add(S(c.values[e]), x[c.pattern.columns[e]], sum);
  return c.stiffness * sum;
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
