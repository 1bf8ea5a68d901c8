#include "kernels/tensors/keep_memory.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/tensors/keep_memory_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct KeepMemoryBody {
  KeepMemory<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    a.rows.visit_stencil(item, [&](const auto& group, Index stencil) {
      keep_stencil(a, group, stencil, [&](std::size_t number, Real plastic) { a.plastic[number] = plastic; });
    });
  }
};

}  // namespace

template <class Real>
void keep_memory(const Queue& queue, const KeepMemory<Real>& args) {
  parallel_for(queue, args.rows.stencil_count(), KeepMemoryBody<Real>{args});
}

template void keep_memory<float>(const Queue&, const KeepMemory<float>&);
template void keep_memory<double>(const Queue&, const KeepMemory<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
