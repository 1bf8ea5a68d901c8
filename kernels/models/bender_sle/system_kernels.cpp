#include "kernels/models/bender_sle/system_kernels.hpp"

#include "kernels/launch/launch.hpp"
#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

/// terms(phase, item) does the phase to an item.
template <class Real>
class SystemTerms {
 public:
  ISOCLOTH_DEVICE explicit SystemTerms(const SystemArrays<Real>& arrays) : a_(arrays) {}

  ISOCLOTH_DEVICE void operator()(phases::ScaleEdges, Index edge) const {
    const Real sum =
        a_.inverse_masses[a_.edge_nodes[2 * edge]] + a_.inverse_masses[a_.edge_nodes[2 * edge + 1]];
    a_.scales[edge] = sum > Real(0) ? 1 / std::sqrt(sum) : Real(0);
  }
  ISOCLOTH_DEVICE void operator()(phases::Linearise, Index edge) const {
    const Vec3<Real> d = difference(edge);
    const Real length = norm(d);
    const bool has_direction = !(length <= collapsed<Real> * a_.lengths[edge]);  // not a number stays one
    const Vec3<Real> g = has_direction ? (a_.scales[edge] / length) * d : Vec3<Real>{};
    a_.directions[edge] = {g.x, g.y, g.z, Real(0)};
    measure(edge, length, has_direction);
  }
  ISOCLOTH_DEVICE void operator()(phases::FindErrors, Index edge) const {
    const Vec4<Real> g = a_.directions[edge];
    measure(edge, norm(difference(edge)), g.x != Real(0) || g.y != Real(0) || g.z != Real(0));
  }
  ISOCLOTH_DEVICE void operator()(phases::FindRates, Index edge) const {
    const Vec3<Real> u = move(a_.edge_nodes[2 * edge + 1]) - move(a_.edge_nodes[2 * edge]);
    a_.right_side[edge] = dot(direction(edge), u);
  }

  /// The node that both edges share, if any: on the diagonal both.
  ISOCLOTH_DEVICE void operator()(phases::WeighEntries, Index entry) const {
    const Index row = a_.entries[2 * entry], column = a_.entries[2 * entry + 1];
    Real weight = 0;
    for (int end = 0; end < 2; ++end)
      for (int other = 0; other < 2; ++other) {
        const Index node = a_.edge_nodes[2 * row + end];
        if (node != a_.edge_nodes[2 * column + other]) continue;
        weight = end == other ? a_.inverse_masses[node] : -a_.inverse_masses[node];
      }
    a_.weights[entry] = weight;
  }
  ISOCLOTH_DEVICE void operator()(phases::Assemble assemble, Index entry) const {
    const Index row = a_.entries[2 * entry], column = a_.entries[2 * entry + 1];
    a_.values[entry] = row == column ? static_cast<Real>(assemble.diagonal)
                                     : a_.weights[entry] * dot(direction(row), direction(column));
  }

  ISOCLOTH_DEVICE void operator()(phases::ApplyImpulses, Index node) const {
    Vec3<Real> sum{};
    for (Index e = a_.node_begin[node]; e < a_.node_begin[node + 1]; ++e) {
      const Index edge = a_.node_edges[e] / 2;
      const Real impulse = a_.node_edges[e] % 2 == 0 ? a_.impulses[edge] : -a_.impulses[edge];
      sum += impulse * direction(edge);
    }
    const Vec3<Real> change = a_.inverse_masses[node] * sum, u = move(node) + change;
    a_.moves[node] = {u.x, u.y, u.z, Real(0)};
    a_.changes[node] = norm(change) / a_.reaches[node];
    if (a_.loads.empty()) return;
    const Vec4<Real> load = a_.loads[node];
    a_.loads[node] = {load.x + sum.x, load.y + sum.y, load.z + sum.z, Real(0)};
  }
  ISOCLOTH_DEVICE void operator()(phases::KeepMoves, Index node) const {
    a_.kept_moves[node] = a_.moves[node];
    if (!a_.loads.empty()) a_.kept_loads[node] = a_.loads[node];
  }
  ISOCLOTH_DEVICE void operator()(phases::RestoreMoves, Index node) const {
    a_.moves[node] = a_.kept_moves[node];
    if (!a_.loads.empty()) a_.loads[node] = a_.kept_loads[node];
  }

 private:
  ISOCLOTH_DEVICE Vec3<Real> move(Index node) const {
    const Vec4<Real> u = a_.moves[node];
    return {u.x, u.y, u.z};
  }
  ISOCLOTH_DEVICE Vec3<Real> position(Index node) const {
    const Vec4<Real> x = a_.relative_positions[node];
    return {x.x, x.y, x.z};
  }
  ISOCLOTH_DEVICE Vec3<Real> direction(Index edge) const {
    const Vec4<Real> g = a_.directions[edge];
    return {g.x, g.y, g.z};
  }
  /// Differences before sums: the moves are small beside the positions.
  ISOCLOTH_DEVICE Vec3<Real> difference(Index edge) const {
    const Index from = a_.edge_nodes[2 * edge], to = a_.edge_nodes[2 * edge + 1];
    return (position(to) - position(from)) + (move(to) - move(from));
  }

  ISOCLOTH_DEVICE void measure(Index edge, Real length, bool has_direction) const {
    const Real error = length - a_.lengths[edge];
    a_.right_side[edge] = has_direction ? a_.scales[edge] * error : Real(0);
    a_.strains[edge] = a_.scales[edge] > Real(0) ? std::abs(error) / a_.lengths[edge] : Real(0);
  }

  const SystemArrays<Real>& a_;
};

template <class Real, class Phase>
struct SystemBody {
  RunPhase<SystemArrays<Real>, Phase> a;
  ISOCLOTH_DEVICE void operator()(Index item) const { SystemTerms<Real>(a.arrays)(a.phase, item); }
};

template <class Real, class Phase>
void launch(const Queue& queue, const RunPhase<SystemArrays<Real>, Phase>& args) {
  parallel_for(queue, args.count, SystemBody<Real, Phase>{args});
}

template <class Real, class... Phases>
PhaseKernels<SystemArrays<Real>, Phases...> all(PhaseKernels<SystemArrays<Real>, Phases...>*) {
  return {{launch<Real, Phases>}...};
}

}  // namespace

template <class Real>
SystemKernels<Real> system_kernels() noexcept {
  return all<Real>(static_cast<SystemKernels<Real>*>(nullptr));
}

template SystemKernels<float> system_kernels() noexcept;
template SystemKernels<double> system_kernels() noexcept;

}  // namespace isocloth::ISOCLOTH_BACKEND
