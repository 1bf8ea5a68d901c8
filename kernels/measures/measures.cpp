#include "kernels/measures/measures.hpp"

#include <cassert>

#include "kernels/launch/launch.hpp"
#include "kernels/measures/face_area.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct AreaBody {
  MeasureAreas<Real> a;
  ISOCLOTH_DEVICE void operator()(Index face) const {
    const Index first = a.face_begin[face];
    a.areas[face] =
        face_area(a.positions.data(), a.face_nodes.data() + first, a.face_begin[face + 1] - first);
  }
};

template <class Real>
struct VelocityBody {
  UpdateVelocities<Real> a;
  ISOCLOTH_DEVICE void operator()(Index node) const {
    a.velocities[node] = a.inverse_step * (a.to[node] - a.from[node]);
  }
};

template <class Real>
struct ReduceBody {
  static constexpr int lanes = 32;
  Reduce<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index chunk) const {
    auto* partial = block.template shared<Reduction<Real>>();
    const Index begin = chunk * reduction_chunk;
    const Index size = static_cast<Index>(a.values.size());
    const Index end = begin + reduction_chunk < size ? begin + reduction_chunk : size;
    for (int lane = block.rank(); lane < lanes; lane += block.size()) {
      Reduction<Real> r;
      for (Index i = begin + lane; i < end; i += lanes) {
        const Real x = a.values[i], magnitude = std::fabs(x);
        r.sum += x;
        r.magnitude_sum += magnitude;
        r.square_sum += x * x;
        const bool finite = x - x == 0;
        if (finite && magnitude > r.maximum) r.maximum = magnitude;
        if (!finite && r.first_bad < 0) r.first_bad = i;
      }
      partial[lane] = r;
    }
    block.sync();
    if (block.rank() == 0) {
      Reduction<Real> r;
      for (int lane = 0; lane < lanes; ++lane) {
        r.sum += partial[lane].sum;
        r.magnitude_sum += partial[lane].magnitude_sum;
        r.square_sum += partial[lane].square_sum;
        if (partial[lane].maximum > r.maximum) r.maximum = partial[lane].maximum;
        if (partial[lane].first_bad >= 0 && (r.first_bad < 0 || partial[lane].first_bad < r.first_bad))
          r.first_bad = partial[lane].first_bad;
      }
      a.partials[chunk] = r;
    }
  }
};

template <class Real>
struct ScaleBody {
  ScaleValues<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { a.to[i] = a.factor == 0 ? Real(0) : a.factor * a.from[i]; }
};

}  // namespace

template <class Real>
void measure_areas(const Queue& queue, const MeasureAreas<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.areas.size()), AreaBody<Real>{args});
}
template <class Real>
void scale_values(const Queue& queue, const ScaleValues<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.to.size()), ScaleBody<Real>{args});
}
template <class Real>
void update_velocities(const Queue& queue, const UpdateVelocities<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.velocities.size()), VelocityBody<Real>{args});
}
template <class Real>
void reduce(const Queue& queue, const Reduce<Real>& args) {
  assert(args.partials.size() == static_cast<std::size_t>(reduction_count(args.values.size())));
  for_each_block(queue, reduction_count(args.values.size()),
                 sizeof(Reduction<Real>) * ReduceBody<Real>::lanes, ReduceBody<Real>{args});
}

template void measure_areas<float>(const Queue&, const MeasureAreas<float>&);
template void measure_areas<double>(const Queue&, const MeasureAreas<double>&);
template void scale_values<float>(const Queue&, const ScaleValues<float>&);
template void scale_values<double>(const Queue&, const ScaleValues<double>&);
template void update_velocities<float>(const Queue&, const UpdateVelocities<float>&);
template void update_velocities<double>(const Queue&, const UpdateVelocities<double>&);
template void reduce<float>(const Queue&, const Reduce<float>&);
template void reduce<double>(const Queue&, const Reduce<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
