#include "kernels/measures/strains.hpp"

#include "kernels/launch/lanes.hpp"
#include "kernels/launch/launch.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr int most_threads = 256;
/// Interleaved partial sums, added in order, so that a mean does not depend on the block.
constexpr int sum_count = 32;

/// Counts lane by lane in whole numbers.
template <class S>
struct Tally {
  Index count = 0;
  ISOCLOTH_HD void add(bool counts) { count += counts ? 1 : 0; }
  ISOCLOTH_HD void add(Tally other) { count += other.count; }
  ISOCLOTH_HD bool exceeds(Index most) const { return count > most; }
};
#if !defined(__CUDACC__)
template <class Real>
struct Tally<Pack<Real>> {
  typename Native<Real>::Mask count{};
  ISOCLOTH_HD void add(PackMask<Real> counts) { count -= counts.bits; }
  ISOCLOTH_HD void add(Tally other) { count += other.count; }
  ISOCLOTH_HD PackMask<Real> exceeds(Index most) const { return {count > most}; }
};
#endif

/// S: lane value of the state; T: of the rest shapes, a scalar where they are shared.
template <class S, class T>
struct StrainBody {
  using Scalar = typename Lanes<S>::Scalar;
  static constexpr int most_block_threads = most_threads;
  MeasureStrains<Scalar> a;

  static ISOCLOTH_HD S number(double x) { return S(static_cast<Scalar>(x)); }
  /// sqrt(1 + c) - 1 without cancellation; -1 where rounding leaves 1 + c below 0.
  static ISOCLOTH_HD S stretch(S c) {
    return select(c > number(-1), c / (square_root(c + number(1)) + number(1)), number(-1));
  }

  template <class Block>
  ISOCLOTH_DEVICE S largest(const Block& block, S own) const {
    if constexpr (Block::is_solo) {
      return own;
    } else {
      S* partials = block.template shared<S>();
      partials[block.rank()] = own;
      block.sync();
      for (int i = 0; i < block.size(); ++i) own = larger(partials[i], own);
      block.sync();
      return own;
    }
  }

  /// Mean of values[0, count).
  template <class Block>
  ISOCLOTH_DEVICE S mean(const Block& block, const S* values, Index count) const {
    S* sums = block.template shared<S>();
    share(block, sum_count, [&](Index k) {
      S sum{};
      for (Index i = k; i < count; i += sum_count) sum = sum + values[i];
      sums[k] = sum;
    });
    block.sync();
    S total{};
    for (int k = 0; k < sum_count; ++k) total = total + sums[k];
    block.sync();
    return total / number(count > 0 ? count : 1);
  }

  /// The least bound that at most 5 % of values[0, count) exceed; `most` is the largest of them.
  template <class Block>
  ISOCLOTH_DEVICE S percentile_95(const Block& block, const S* values, Index count, S most) const {
    constexpr int halvings = 12;
    const Index above = count / 20;
    S low{}, high = most;
    for (int n = 0; n < halvings; ++n) {
      const S middle = number(0.5) * (low + high);
      Tally<S> tally;
      share(block, count, [&](Index i) { tally.add(values[i] > middle); });
      if constexpr (!Block::is_solo) {
        auto* tallies = block.template shared<Tally<S>>();
        tallies[block.rank()] = tally;
        block.sync();
        tally = {};
        for (int i = 0; i < block.size(); ++i) tally.add(tallies[i]);
        block.sync();
      }
      const auto too_low = tally.exceeds(above);
      low = select(too_low, middle, low);
      high = select(too_low, high, middle);
    }
    return high;
  }

  /// Largest strains so far.
  struct Extremes {
    S stretch{}, compression{}, thread{}, shear{};
  };
  /// Values of one point; `all`: values of a tile's points, one measure after another.
  struct Values {
    S* all;
    Index point_count;
  };

  /// One point: where F_u and F_v are u and v.
  static ISOCLOTH_HD void measure_point(const Vec3<S>& u, const Vec3<S>& v, const Values& values,
                                        Extremes& extremes) {
    const S one = number(1), zero{};
    const S e = dot_add(u, u, zero), uv = dot_add(u, v, zero), g = dot_add(v, v, zero);
    const S uu = e - one, vv = g - one;
    const S mean = number(0.5) * (uu + vv), half = number(0.5) * (uu - vv);
    const S radius = square_root(multiply_add(half, half, uv * uv));
    const S first = stretch(mean + radius), second = stretch(mean - radius);
    const S lengths = square_root(e) * square_root(g);
    const S shear = select(lengths > zero, magnitude(uv) / select(lengths > zero, lengths, one), zero);
    extremes.stretch = larger(first, extremes.stretch);
    extremes.compression = larger(-second, extremes.compression);
    extremes.shear = larger(shear, extremes.shear);
    values.all[0] = larger(magnitude(first), magnitude(second));
    values.all[values.point_count] = shear;
  }

  ISOCLOTH_DEVICE void measure_face(const Vec3<S>* x, const T* factors, Index face, const Values& values,
                                    Extremes& extremes) const {
    const Index* nodes = a.face_nodes.data() + a.face_begin[face];
    const auto measure = [&](const Vec3<S>& by_xi, const Vec3<S>& by_eta, Index q) {
      const T* const by = factors + 4 * q;
      measure_point(multiply_add(S(by[0]), by_xi, S(by[1]) * by_eta),
                    multiply_add(S(by[2]), by_xi, S(by[3]) * by_eta), {values.all + q, values.point_count},
                    extremes);
    };
    if (a.face_begin[face + 1] - a.face_begin[face] == 3)
      return measure(x[nodes[1]] - x[nodes[0]], x[nodes[2]] - x[nodes[0]], 0);
    const Vec3<S> x0 = x[nodes[0]], x1 = x[nodes[1]], x2 = x[nodes[2]], x3 = x[nodes[3]];
    const S low = number((1 - strain_point_abscissa) / 4), high = number((1 + strain_point_abscissa) / 4);
    const Vec3<S> u0 = x1 - x0, u1 = x2 - x3, v0 = x3 - x0, v1 = x2 - x1;
    const Vec3<S> us[2] = {multiply_add(high, u0, low * u1), multiply_add(low, u0, high * u1)};
    const Vec3<S> vs[2] = {multiply_add(high, v0, low * v1), multiply_add(low, v0, high * v1)};
    for (int q = 0; q < 4; ++q) measure(us[q % 2], vs[q / 2], q);
  }

  /// The larger strain of warp and weft of a pair of triangles.
  ISOCLOTH_DEVICE S thread_strain(const Vec3<S>* x, const T* factors, Index pair) const {
    const Index* nodes = a.pairs.data() + 4 * pair;
    const Vec3<S> x0 = x[nodes[0]], b = x[nodes[1]] - x0, c = x[nodes[2]] - x0, d = x[nodes[3]] - x0;
    const auto strains = [](const T* by, const Vec3<S>& by_xi, const Vec3<S>& by_eta, S& uu, S& vv) {
      const Vec3<S> u = multiply_add(S(by[0]), by_xi, S(by[1]) * by_eta),
                    v = multiply_add(S(by[2]), by_xi, S(by[3]) * by_eta);
      uu = dot_add(u, u, number(-1));
      vv = dot_add(v, v, number(-1));
    };
    S u1, v1, u2, v2;
    strains(factors + 9 * pair, b, c, u1, v1);
    strains(factors + 9 * pair + 4, c, d, u2, v2);
    const S share(factors[9 * pair + 8]);
    return larger(magnitude(stretch(multiply_add(share, u1 - u2, u2))),
                  magnitude(stretch(multiply_add(share, v1 - v2, v2))));
  }

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index tile) const {
    const Index edge_count = static_cast<Index>(a.edges.size()) / 2;
    const Index face_count = static_cast<Index>(a.face_points.size()) - 1;
    const Index point_count = a.face_points[face_count];
    const std::size_t rest_tile = a.shared ? 0 : static_cast<std::size_t>(tile);
    const T* rest_edges = reinterpret_cast<const T*>(a.rest_edges.data()) + rest_tile * edge_count;
    const T* rest_points = reinterpret_cast<const T*>(a.rest_points.data()) + rest_tile * 4 * point_count;
    const auto* x =
        reinterpret_cast<const Vec3<S>*>(a.positions.data()) + static_cast<std::size_t>(tile) * a.node_count;
    const Index pair_count = static_cast<Index>(a.pairs.size()) / 4;
    const T* rest_pairs = reinterpret_cast<const T*>(a.rest_pairs.data()) + rest_tile * 9 * pair_count;
    S* of_edges = reinterpret_cast<S*>(a.values.data()) +
                  static_cast<std::size_t>(tile) * (edge_count + 2 * point_count + pair_count);
    S* of_points = of_edges + edge_count;
    S* of_pairs = of_points + 2 * point_count;

    S edge_max{}, pinned_max{};
    Extremes extremes;
    share(block, edge_count, [&](Index i) {
      const Vec3<S> e = x[a.edges[2 * i + 1]] - x[a.edges[2 * i]];
      const S c = dot_add(e, e, S{}) * rest_edges[i] - number(1);
      if (i < a.pinned_edge_count) pinned_max = larger(magnitude(c), pinned_max);
      of_edges[i] = magnitude(stretch(c));
      edge_max = larger(of_edges[i], edge_max);
    });
    share(block, face_count, [&](Index f) {
      const Index first = a.face_points[f];
      measure_face(x, rest_points + 4 * first, f, {of_points + first, point_count}, extremes);
    });
    share(block, pair_count, [&](Index pair) {
      of_pairs[pair] = thread_strain(x, rest_pairs, pair);
      extremes.thread = larger(of_pairs[pair], extremes.thread);
    });
    block.sync();
    StrainReport<S> report;
    report.edge_max = largest(block, edge_max);
    report.pinned_max = largest(block, pinned_max);
    report.stretch_max = largest(block, extremes.stretch);
    report.compression_max = largest(block, extremes.compression);
    report.edge_mean = mean(block, of_edges, edge_count);
    report.edge_p95 = percentile_95(block, of_edges, edge_count, report.edge_max);
    report.stretch_p95 =
        percentile_95(block, of_points, point_count, larger(report.stretch_max, report.compression_max));
    report.thread_max = largest(block, extremes.thread);
    report.thread_p95 = percentile_95(block, of_pairs, pair_count, report.thread_max);
    report.shear_max = largest(block, extremes.shear);
    report.shear_p95 = percentile_95(block, of_points + point_count, point_count, report.shear_max);
    if (block.rank() == 0) reinterpret_cast<StrainReport<S>*>(a.reports.data())[tile] = report;
  }
};

template <class S, class T, class Real>
void launch(const Queue& queue, const MeasureStrains<Real>& args) {
  for_each_block(queue, args.tile_count, most_threads * sizeof(Tally<S>) + most_threads * sizeof(S),
                 StrainBody<S, T>{args});
}

}  // namespace

template <class Real>
void measure_strains(const Queue& queue, const MeasureStrains<Real>& args) {
#if !defined(__CUDACC__)
  if (args.width > 1) {
    if (args.shared)
      launch<Pack<Real>, Real>(queue, args);
    else
      launch<Pack<Real>, Pack<Real>>(queue, args);
    return;
  }
#endif
  launch<Real, Real>(queue, args);
}

template void measure_strains<float>(const Queue&, const MeasureStrains<float>&);
template void measure_strains<double>(const Queue&, const MeasureStrains<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
