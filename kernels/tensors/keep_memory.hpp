// What rows remember of a part of a step that has ended.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/tensors/row_laws.hpp"

namespace isocloth {

/// S: lane value of the state, T: of the rest shape, a scalar where cloths share it.
template <class S, class T = S>
struct KeepMemory {
  RowsView rows;
  ArrayView<const T> tensors;  ///< shape [tensor_count()]
  RowLaws<S> laws;             ///< their memory is that of the begin of the part
  ArrayView<const S> strains;  ///< C when it ends, without laws; shape [row_count]
  ArrayView<S> plastic;        ///< x_i when it ends, shape [row_count, memory_elements]
};

namespace ISOCLOTH_BACKEND {
/// The plastic strains of laws.memory at the end of a part; they may lie where the result goes. One item per
/// stencil.
template <class Real>
void keep_memory(const Queue& queue, const KeepMemory<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
