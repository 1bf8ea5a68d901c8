#include "kernels/linear/pcg.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/linear/pcg_block.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
struct ProductBody {
  BlockProduct<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    Vec3<Real> sum;
    for (Index e = a.matrix.row_begin[i]; e < a.matrix.row_begin[i + 1]; ++e) {
      const Index j = a.matrix.columns[e];
      const Real* block = a.matrix.values.data() + static_cast<std::size_t>(a.matrix.blocks[e]) * 9;
      sum += multiply_block(block, j > i, a.x[j]);
    }
    a.y[i] = sum;
  }
};

constexpr int dot_lanes = 32;

template <class Real>
struct DotBody {
  PartialDots<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index chunk) const {
    double* sums = block.template shared<double>();
    const Index size = static_cast<Index>(a.a.size());
    const Index begin = chunk * dot_chunk, end = begin + dot_chunk < size ? begin + dot_chunk : size;
    for (int lane = block.rank(); lane < dot_lanes; lane += block.size()) {
      double sum = 0;
      for (Index i = begin + lane; i < end; i += dot_lanes) {
        const Vec3<Real> u = a.a[i], v = a.b[i];
        sum +=
            static_cast<double>(u.x) * v.x + static_cast<double>(u.y) * v.y + static_cast<double>(u.z) * v.z;
      }
      sums[lane] = sum;
    }
    block.sync();
    if (block.rank() != 0) return;
    double total = 0;
    for (int lane = 0; lane < dot_lanes; ++lane) total += sums[lane];
    a.partials[chunk] = total;
  }
};

template <class Real>
struct DescendBody {
  DescendAlong<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    a.solution[i] += a.length * a.direction[i];
    a.residual[i] -= a.length * a.product[i];
  }
};

template <class Real>
struct TurnBody {
  TurnDirection<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { a.direction[i] = a.start[i] + a.weight * a.direction[i]; }
};

}  // namespace

template <class Real>
void block_product(const Queue& queue, const BlockProduct<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.y.size()), ProductBody<Real>{args});
}
template <class Real>
void partial_dots(const Queue& queue, const PartialDots<Real>& args) {
  for_each_block(queue, dot_count(static_cast<Index>(args.a.size())), dot_lanes * sizeof(double),
                 DotBody<Real>{args});
}
template <class Real>
void descend_along(const Queue& queue, const DescendAlong<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.solution.size()), DescendBody<Real>{args});
}
template <class Real>
void turn_direction(const Queue& queue, const TurnDirection<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.direction.size()), TurnBody<Real>{args});
}

template void block_product<float>(const Queue&, const BlockProduct<float>&);
template void block_product<double>(const Queue&, const BlockProduct<double>&);
template void partial_dots<float>(const Queue&, const PartialDots<float>&);
template void partial_dots<double>(const Queue&, const PartialDots<double>&);
template void descend_along<float>(const Queue&, const DescendAlong<float>&);
template void descend_along<double>(const Queue&, const DescendAlong<double>&);
template void turn_direction<float>(const Queue&, const TurnDirection<float>&);
template void turn_direction<double>(const Queue&, const TurnDirection<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
