#include "kernels/projection/excess.hpp"

#include "kernels/core/divergence.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr Index lanes = 128;

template <class Real>
struct ExcessBody {
  FindExcess<Real> a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    auto* const of_lanes = block.template shared<Real>();
    const Index nodes = static_cast<Index>(a.to.size());
    const auto largest = [&](Real least, const auto& number_of) {
      share(block, lanes, [&](Index lane) {
        Real most = least;
        for (Index i = lane; i < nodes; i += lanes) {
          const Real own = number_of(i);
          most = own > most ? own : most;
        }
        of_lanes[lane] = most;
      });
      block.sync();
      Real most = least;
      for (Index lane = 0; lane < lanes; ++lane) most = of_lanes[lane] > most ? of_lanes[lane] : most;
      block.sync();
      return most;
    };
    const Real reach = a.free_number.empty() ? a.reach : largest(a.reach, [&](Index i) {
      return a.free_number[i] < 0 ? a.reach + norm(a.to[i] - a.from[i]) : a.reach;
    });
    const Real excess = largest(Real(0), [&](Index i) {
      return excess_displacement(a.to[i] - a.from[i], a.step * a.velocities[i], reach);
    });
    if (block.rank() == 0) a.found[0] = excess > 0 ? 1 : 0;
  }
};

}  // namespace

template <class Real>
void find_excess(const Queue& queue, const FindExcess<Real>& args) {
  for_each_block(queue, 1, lanes * sizeof(Real), ExcessBody<Real>{args});
}

template void find_excess<float>(const Queue&, const FindExcess<float>&);
template void find_excess<double>(const Queue&, const FindExcess<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
