// What couples free nodes beyond the pattern of the factor.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// Entries of K between free nodes that the factor has no block for, row by row; both of each pair. None: the
/// factor is that of the whole matrix.
struct CouplingPattern {
  ArrayView<const Index> begin;    ///< shape [free_count + 1]
  ArrayView<const Index> columns;  ///< free number
  ArrayView<const Index> entries;  ///< of K

  ISOCLOTH_HD bool exist() const { return !columns.empty(); }
};

/// A = P + E: P has the coupling's magnitudes added to its diagonal, so that it is no less than A, and the
/// factor is that of P; E = c_ij off the diagonal, - sum_j |c_ij| on it, c = stiffness K.
template <class S, class T = S>
struct Couplings {
  CouplingPattern pattern;
  S stiffness{};              ///< see MetricView
  ArrayView<const T> values;  ///< K [1/m^2]

  ISOCLOTH_HD bool exist() const { return pattern.exist() && !values.empty(); }
};

namespace ISOCLOTH_BACKEND {

/// sum_j |c_ij| of free node i. Called, not copied: assembly without couplings would be slower for it.
template <class S, class T>
[[gnu::noinline]] ISOCLOTH_DEVICE S lumped(const Couplings<S, T>& c, Index i) {
  S sum{};
  for (Index e = c.pattern.begin[i]; e < c.pattern.begin[i + 1]; ++e)
    sum += magnitude(c.stiffness * S(c.values[c.pattern.entries[e]]));
  return sum;
}

/// (E x)_i.
template <class S, class T>
ISOCLOTH_DEVICE Vec3<S> coupled(const Couplings<S, T>& c, ArrayView<const Vec3<S>> x, Index i) {
  Vec3<S> sum = -lumped(c, i) * x[i];
  for (Index e = c.pattern.begin[i]; e < c.pattern.begin[i + 1]; ++e)
    sum = multiply_add(c.stiffness * S(c.values[c.pattern.entries[e]]), x[c.pattern.columns[e]], sum);
  return sum;
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
