#include "kernels/batch/solve_blocks.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class S>
struct SolveTile {
  using Scalar = typename Lanes<S>::Scalar;
  SolveBlocks<Scalar> a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index tile) const {
    S* const work = block.template shared<S>();
    const SolveScratch at(a.plan);
    const BlockFactor<S> factor{work + at.blocks, work + at.diagonals, work + at.pivots};
    const BlockCholesky<S> cholesky{a.plan, factor};
    const S* const system = reinterpret_cast<const S*>(a.blocks.data()) +
                            static_cast<std::size_t>(tile) * a.system_block_count * 9;
    cholesky.factorize(block, [&](Index b, S(&values)[9]) {
      const Index source = a.system_blocks[b];
      for (int e = 0; e < 9; ++e) values[e] = source >= 0 ? system[source * 9 + e] : S{};
    });
    const Index columns = a.plan.column_count();
    if (block.rank() == 0) {
      S bad{};
      for (Index column = columns - 1; column >= 0; --column)
        bad = select(factor.pivots[column] > S{}, bad, S(static_cast<Scalar>(column + 1)));
      reinterpret_cast<S*>(a.bad_pivots.data())[tile] = bad;
    }
    if (a.right_sides.empty()) return;
    const std::size_t first = static_cast<std::size_t>(tile) * columns;
    const Vec3<S>* const right_side = reinterpret_cast<const Vec3<S>*>(a.right_sides.data()) + first;
    Vec3<S>* const solution = reinterpret_cast<Vec3<S>*>(a.solutions.data()) + first;
    Vec3<S>* const x = reinterpret_cast<Vec3<S>*>(work + at.solution);
    for (Index i = block.rank(); i < columns; i += block.size()) x[i] = right_side[i];
    block.sync();
    cholesky.solve(block, x);
    for (Index i = block.rank(); i < columns; i += block.size()) solution[i] = x[i];
  }
};

template <class S, class Real>
void launch(const Queue& queue, const SolveBlocks<Real>& args) {
  for_each_block(queue, args.tile_count, SolveScratch(args.plan).size * sizeof(S), SolveTile<S>{args});
}

}  // namespace

template <class Real>
void solve_blocks(const Queue& queue, const SolveBlocks<Real>& args) {
#if !defined(__CUDACC__)
  if (args.width > 1) {
    launch<Pack<Real>>(queue, args);
    return;
  }
#endif
  launch<Real>(queue, args);
}

template void solve_blocks<float>(const Queue&, const SolveBlocks<float>&);
template void solve_blocks<double>(const Queue&, const SolveBlocks<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
