#include "kernels/linear/pcg.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/launch/quads.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// A column of a block: of what multiplies with one number, in one register where there are such.
#if defined(__CUDACC__)
template <class Real>
using BlockColumn = Vec3<Real>;
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> vector_of(const Vec3<Real>& column) {
  return column;
}
#else
template <class Real>
using BlockColumn = typename QuadRegister<Real>::Type;
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> vector_of(const BlockColumn<Real>& column) {
  return {column[0], column[1], column[2]};
}
#endif

template <class Real>
struct ProductBody {
  BlockProduct<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const { for_columns(a.columns, *this, i); }
  /// Row i of so many products, each with the sums that it has alone.
  template <int count>
  ISOCLOTH_DEVICE void of(Index first_column, Index i) const {
    const Index* const begin = a.columns.begin + first_column;
    using Column = BlockColumn<Real>;
    Column sums[count] = {};
    for (Index e = a.matrix.row_begin[i]; e < a.matrix.row_begin[i + 1]; ++e) {
      const Index j = a.matrix.columns[e];
      const Real* const b = a.matrix.values.data() + static_cast<std::size_t>(a.matrix.blocks[e]) * 9;
      const Column first = j > i ? Column{b[0], b[1], b[2]} : Column{b[0], b[3], b[6]},
                   second = j > i ? Column{b[3], b[4], b[5]} : Column{b[1], b[4], b[7]},
                   third = j > i ? Column{b[6], b[7], b[8]} : Column{b[2], b[5], b[8]};
      for (int k = 0; k < count; ++k) {
        const Vec3<Real>& x = a.x[static_cast<std::size_t>(begin[k] + j)];
        sums[k] += x.x * first + x.y * second + x.z * third;
      }
    }
    for (int k = 0; k < count; ++k) a.y[static_cast<std::size_t>(begin[k] + i)] = vector_of<Real>(sums[k]);
  }
};

constexpr int dot_lanes = 32;

template <class Real>
struct DotBody {
  PartialDots<Real> a;
  Index chunks;  ///< of a column
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index partial) const {
    double* sums = block.template shared<double>();
    const Index first = a.columns.begin[partial / chunks], begin = first + partial % chunks * dot_chunk,
                last = first + a.size, end = begin + dot_chunk < last ? begin + dot_chunk : last;
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
    a.partials[partial] = total;
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
  parallel_for(queue, static_cast<Index>(args.matrix.row_begin.size()) - 1, ProductBody<Real>{args});
}
template <class Real>
void partial_dots(const Queue& queue, const PartialDots<Real>& args) {
  for_each_block(queue, dot_count(args.size) * args.columns.count, dot_lanes * sizeof(double),
                 DotBody<Real>{args, dot_count(args.size)});
}
template <class Real>
void update_solution(const Queue& queue, const DescendAlong<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.solution.size()), DescendBody<Real>{args});
}
template <class Real>
void update_direction(const Queue& queue, const TurnDirection<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.direction.size()), TurnBody<Real>{args});
}

template void block_product<float>(const Queue&, const BlockProduct<float>&);
template void block_product<double>(const Queue&, const BlockProduct<double>&);
template void partial_dots<float>(const Queue&, const PartialDots<float>&);
template void partial_dots<double>(const Queue&, const PartialDots<double>&);
template void update_solution<float>(const Queue&, const DescendAlong<float>&);
template void update_solution<double>(const Queue&, const DescendAlong<double>&);
template void update_direction<float>(const Queue&, const TurnDirection<float>&);
template void update_direction<double>(const Queue&, const TurnDirection<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
