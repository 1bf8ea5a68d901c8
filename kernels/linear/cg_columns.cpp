#include "kernels/linear/cg_columns.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

struct AdvanceBody {
  AdvanceCg a;

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index) const {
    const bool goes_on = a.phase == AdvanceCg::Phase::begin || a.progress[0].goes_on != 0;
    share(block, static_cast<std::size_t>(a.count), [&](Index k) {
      CgColumn& column = a.columns[k];
      if (a.phase == AdvanceCg::Phase::begin)
        begin(column, sum(k));
      else if (a.phase == AdvanceCg::Phase::curvature)
        descend(column, goes_on, column.is_updated != 0 ? sum(k) : 0);
      else if (goes_on)
        turn(column, column.is_updated != 0 ? sum(k) : 0);
    });
    block.sync();
    if (block.rank() != 0 || !goes_on) return;
    CgProgress& progress = a.progress[0];
    if (a.phase == AdvanceCg::Phase::begin) progress.iterations = 0;
    if (a.phase == AdvanceCg::Phase::curvature) {
      ++progress.iterations;
      return;
    }
    progress.goes_on = 0;
    for (Index k = 0; k < a.count; ++k)
      if (a.columns[k].is_active != 0) progress.goes_on = 1;
    if (progress.iterations >= a.most_iterations) progress.goes_on = 0;
  }

 private:
  ISOCLOTH_DEVICE double sum(Index k) const {
    const Index count = static_cast<Index>(a.partials.size()) / a.count;
    double total = 0;
    for (Index i = k * count; i < (k + 1) * count; ++i) total += a.partials[i];
    return total;
  }
  ISOCLOTH_DEVICE void begin(CgColumn& column, double energy) const {
    column.energy = energy;
    column.goal = a.goal_factor * energy;
    column.idle = energy - energy;
    column.is_active = energy <= 0 ? 0 : 1;
    column.is_updated = 1;
  }
  ISOCLOTH_DEVICE static void descend(CgColumn& column, bool goes_on, double curvature) {
    column.is_active = column.is_active != 0 && curvature > 0 ? 1 : 0;
    column.length = column.is_active != 0 ? column.energy / curvature : column.idle;
    if (!goes_on) column.is_updated = 0;
  }
  ISOCLOTH_DEVICE static void turn(CgColumn& column, double energy) {
    column.is_active = column.is_active != 0 && energy > column.goal ? 1 : 0;
    column.weight = column.is_active != 0 ? energy / column.energy : 0;
    column.energy = energy;
    if (column.weight == 0) column.is_updated = 0;
  }
};

/// A block row of a column.
template <class Real>
struct Place {
  ISOCLOTH_DEVICE Place(const CgVectors<Real>& a, Index item)
      : column(a.numbers[item / a.size]), row(a.columns.begin[item / a.size] + item % a.size) {}
  const CgColumn& column;
  const Index row;
};

template <class Real>
struct BeginBody {
  CgVectors<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Index row = Place<Real>(a, item).row;
    const Vec3<Real> z = a.preconditioned[row];
    a.direction[row] = z;
    a.solution[row] = z + Real(-1) * z;
  }
};

template <class Real>
struct DescendBody {
  CgVectors<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Place<Real> at(a, item);
    if (at.column.is_updated == 0) return;
    const Real length = static_cast<Real>(at.column.length);
    a.solution[at.row] += length * a.direction[at.row];
    a.residual[at.row] -= length * a.product[at.row];
  }
};

template <class Real>
struct TurnBody {
  CgVectors<Real> a;
  ISOCLOTH_DEVICE void operator()(Index item) const {
    const Place<Real> at(a, item);
    if (at.column.is_updated == 0) return;
    a.direction[at.row] =
        a.preconditioned[at.row] + static_cast<Real>(at.column.weight) * a.direction[at.row];
  }
};

}  // namespace

void advance_cg(const Queue& queue, const AdvanceCg& args) { for_each_block(queue, 1, 0, AdvanceBody{args}); }
template <class Real>
void begin_cg(const Queue& queue, const CgVectors<Real>& args) {
  parallel_for(queue, args.size * args.columns.count, BeginBody<Real>{args});
}
template <class Real>
void descend_cg(const Queue& queue, const CgVectors<Real>& args) {
  parallel_for(queue, args.size * args.columns.count, DescendBody<Real>{args});
}
template <class Real>
void turn_cg(const Queue& queue, const CgVectors<Real>& args) {
  parallel_for(queue, args.size * args.columns.count, TurnBody<Real>{args});
}

template void begin_cg<float>(const Queue&, const CgVectors<float>&);
template void begin_cg<double>(const Queue&, const CgVectors<double>&);
template void descend_cg<float>(const Queue&, const CgVectors<float>&);
template void descend_cg<double>(const Queue&, const CgVectors<double>&);
template void turn_cg<float>(const Queue&, const CgVectors<float>&);
template void turn_cg<double>(const Queue&, const CgVectors<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
