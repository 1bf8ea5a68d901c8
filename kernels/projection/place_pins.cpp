#include "kernels/projection/place_pins.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct PlaceBody {
  PlacePins<Real> a;

  ISOCLOTH_DEVICE void operator()(Index i) const {
    const Index node = i % a.node_count, cloth = i / a.node_count % (a.tile_count * a.width),
                n = i / a.node_count / (a.tile_count * a.width);
    const PinnedNode& own = a.nodes[static_cast<std::size_t>(cloth) * a.node_count + node];
    const StepClock& clock = a.clocks[cloth];
    const double t = clock.offset + (clock.steps + (n + 1)) * a.step;
    const Vec3d x = a.pins[own.pin].position(own.start, static_cast<std::size_t>(own.i), t);
    const std::size_t tile = static_cast<std::size_t>(n) * a.tile_count + cloth / a.width;
    Real* const to = a.targets.data() + (tile * a.node_count + node) * 3 * a.width + cloth % a.width;
    to[0] = static_cast<Real>(x.x);
    to[a.width] = static_cast<Real>(x.y);
    to[2 * a.width] = static_cast<Real>(x.z);
  }
};

}  // namespace

template <class Real>
void place_pins(const Queue& queue, const PlacePins<Real>& args) {
  parallel_for(queue, args.step_count * args.tile_count * args.width * args.node_count,
               PlaceBody<Real>{args});
}

template void place_pins<float>(const Queue&, const PlacePins<float>&);
template void place_pins<double>(const Queue&, const PlacePins<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
