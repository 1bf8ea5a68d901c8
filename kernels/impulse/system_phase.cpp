#include "kernels/impulse/system_phase.hpp"

#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real, SystemPhase Phase>
struct SystemBody {
  RunSystemPhase<Real> a;

  ISOCLOTH_DEVICE void operator()(Index i) const {
    if constexpr (Phase == SystemPhase::linearise) linearise(i);
    if constexpr (Phase == SystemPhase::errors) {
      const Vec4<Real> g = a.directions[i];
      measure(i, norm(difference(i)), g.x != Real(0) || g.y != Real(0) || g.z != Real(0));
    }
    if constexpr (Phase == SystemPhase::rates) {
      const Vec3<Real> u = move(a.edge_nodes[2 * i + 1]) - move(a.edge_nodes[2 * i]);
      a.right_side[i] = dot(direction(i), u);
    }
    if constexpr (Phase == SystemPhase::assemble) {
      const Index row = a.entries[2 * i], column = a.entries[2 * i + 1];
      a.values[i] = row == column ? a.diagonal : a.weights[i] * dot(direction(row), direction(column));
    }
    if constexpr (Phase == SystemPhase::scale) {
      const Real sum = a.inverse_masses[a.edge_nodes[2 * i]] + a.inverse_masses[a.edge_nodes[2 * i + 1]];
      a.scales[i] = sum > Real(0) ? 1 / std::sqrt(sum) : Real(0);
    }
    if constexpr (Phase == SystemPhase::weigh) weigh(i);
    if constexpr (Phase == SystemPhase::apply) apply(i);
    if constexpr (Phase == SystemPhase::keep) {
      a.kept_moves[i] = a.moves[i];
      if (!a.loads.empty()) a.kept_loads[i] = a.loads[i];
    }
    if constexpr (Phase == SystemPhase::restore) {
      a.moves[i] = a.kept_moves[i];
      if (!a.loads.empty()) a.loads[i] = a.kept_loads[i];
    }
  }

 private:
  ISOCLOTH_DEVICE Vec3<Real> move(Index node) const {
    const Vec4<Real> u = a.moves[node];
    return {u.x, u.y, u.z};
  }
  ISOCLOTH_DEVICE Vec3<Real> place(Index node) const {
    const Vec4<Real> x = a.places[node];
    return {x.x, x.y, x.z};
  }
  ISOCLOTH_DEVICE Vec3<Real> direction(Index edge) const {
    const Vec4<Real> g = a.directions[edge];
    return {g.x, g.y, g.z};
  }
  /// Differences before sums: the moves are small beside the places.
  ISOCLOTH_DEVICE Vec3<Real> difference(Index edge) const {
    const Index from = a.edge_nodes[2 * edge], to = a.edge_nodes[2 * edge + 1];
    return (place(to) - place(from)) + (move(to) - move(from));
  }

  ISOCLOTH_DEVICE void measure(Index edge, Real length, bool has_direction) const {
    const Real error = length - a.lengths[edge];
    a.right_side[edge] = has_direction ? a.scales[edge] * error : Real(0);
    a.strains[edge] = a.scales[edge] > Real(0) ? std::abs(error) / a.lengths[edge] : Real(0);
  }

  ISOCLOTH_DEVICE void linearise(Index edge) const {
    constexpr Real collapsed = Real(1e-6);  // pairs nearer than this part of l have no direction
    const Vec3<Real> d = difference(edge);
    const Real length = norm(d);
    const bool has_direction = !(length <= collapsed * a.lengths[edge]);  // not a number stays one
    const Vec3<Real> g = has_direction ? (a.scales[edge] / length) * d : Vec3<Real>{};
    a.directions[edge] = {g.x, g.y, g.z, Real(0)};
    measure(edge, length, has_direction);
  }

  /// The node that both edges share, if any: on the diagonal both.
  ISOCLOTH_DEVICE void weigh(Index entry) const {
    const Index row = a.entries[2 * entry], column = a.entries[2 * entry + 1];
    Real weight = 0;
    for (int end = 0; end < 2; ++end)
      for (int other = 0; other < 2; ++other) {
        const Index node = a.edge_nodes[2 * row + end];
        if (node != a.edge_nodes[2 * column + other]) continue;
        weight = end == other ? a.inverse_masses[node] : -a.inverse_masses[node];
      }
    a.weights[entry] = weight;
  }

  ISOCLOTH_DEVICE void apply(Index node) const {
    Vec3<Real> sum{};
    for (Index e = a.node_begin[node]; e < a.node_begin[node + 1]; ++e) {
      const Index edge = a.node_edges[e] / 2;
      const Real impulse = a.node_edges[e] % 2 == 0 ? a.impulses[edge] : -a.impulses[edge];
      sum += impulse * direction(edge);
    }
    const Vec3<Real> change = a.inverse_masses[node] * sum, u = move(node) + change;
    a.moves[node] = {u.x, u.y, u.z, Real(0)};
    a.changes[node] = norm(change) / a.reaches[node];
    if (a.loads.empty()) return;
    const Vec4<Real> load = a.loads[node];
    a.loads[node] = {load.x + sum.x, load.y + sum.y, load.z + sum.z, Real(0)};
  }
};

template <class Real, SystemPhase Phase>
void launch(const Queue& queue, const RunSystemPhase<Real>& args) {
  parallel_for(queue, args.count, SystemBody<Real, Phase>{args});
}

}  // namespace

template <class Real>
void run_system_phase(const Queue& queue, const RunSystemPhase<Real>& args) {
  switch (args.phase) {
    case SystemPhase::scale:
      return launch<Real, SystemPhase::scale>(queue, args);
    case SystemPhase::weigh:
      return launch<Real, SystemPhase::weigh>(queue, args);
    case SystemPhase::linearise:
      return launch<Real, SystemPhase::linearise>(queue, args);
    case SystemPhase::errors:
      return launch<Real, SystemPhase::errors>(queue, args);
    case SystemPhase::rates:
      return launch<Real, SystemPhase::rates>(queue, args);
    case SystemPhase::assemble:
      return launch<Real, SystemPhase::assemble>(queue, args);
    case SystemPhase::apply:
      return launch<Real, SystemPhase::apply>(queue, args);
    case SystemPhase::keep:
      return launch<Real, SystemPhase::keep>(queue, args);
    case SystemPhase::restore:
      return launch<Real, SystemPhase::restore>(queue, args);
  }
}

template void run_system_phase<float>(const Queue&, const RunSystemPhase<float>&);
template void run_system_phase<double>(const Queue&, const RunSystemPhase<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
