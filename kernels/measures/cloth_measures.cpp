#include "kernels/measures/cloth_measures.hpp"

#include <cmath>

#include "kernels/launch/launch.hpp"
#include "kernels/measures/face_area.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr int sum_count = 32;

/// S: lane value of the state; T: of the rest shapes, a scalar where they are shared.
template <class S, class T>
struct MeasureBody {
  using Scalar = typename Lanes<S>::Scalar;
  static constexpr int most_block_threads = sum_count;
  MeasureCloths<Scalar> a;

  static ISOCLOTH_HD S number(double x) { return S(static_cast<Scalar>(x)); }

  /// Array of the rest shape of a tile.
  ISOCLOTH_HD const T* rest(ArrayView<const Scalar> all, Index tile, std::size_t count) const {
    return reinterpret_cast<const T*>(all.data()) + (a.rest.shared ? 0 : tile * count);
  }

  /// A row of a compliant law is worth K times the integral of p by x; see apply_law().
  ISOCLOTH_HD void add_energy(Index tile, std::size_t row, Index law, StrainMeasure measure, S c,
                              ClothMeasures<S>& sums, S curvature = S{}) const {
    if (a.energies.stiffness.empty()) return;
    const auto of_tile = [&](ArrayView<const Scalar> all, std::size_t count) {
      return reinterpret_cast<const S*>(all.data()) + tile * count;
    };
    const S zero{}, one = number(1), half = number(0.5);
    S stiffness = of_tile(a.energies.stiffness, a.rows.row_count())[row];
    if (!a.energies.bounds.empty())
      stiffness = select(of_tile(a.energies.bounds, a.rows.row_count())[row] > zero, zero, stiffness);
    S energy = half * c * c;
    if (law == RowLaw::band) {
      const S x = square_root(larger(one + c, zero)) - one;
      energy = select(x > zero, (x + x) * x, S(static_cast<Scalar>(slack_stiffness)) * energy);
    } else if (a.energies.curve_numbers > 0 && law >= 0 && law < RowLaw::count) {
      const auto numbers = static_cast<std::size_t>(a.energies.curve_numbers);
      const std::size_t pieces = numbers / (5 * RowLaw::count);
      const S* const first = of_tile(a.energies.curves, numbers) + 5 * pieces * static_cast<std::size_t>(law);
      const auto integral = [&](S x) {
        S sum = zero;
        const S* piece = first;
        for (std::size_t i = 0; i < pieces; ++i, piece += 5) {
          S t = larger(magnitude(x) - piece[0], zero);
          if (i + 1 < pieces) t = select(t < piece[5] - piece[0], t, piece[5] - piece[0]);
          const S bent = multiply_add(t, number(0.25) * piece[4], number(1.0 / 3) * piece[3]);
          sum = multiply_add(t, multiply_add(t, multiply_add(t, bent, half * piece[2]), piece[1]), sum);
        }
        return sum;
      };
      energy = law == RowLaw::bend
                   ? integral(curvature * c) / (curvature * curvature)
                   : visit_membrane_law(measure, [&](auto of_law) { return of_law.energy(integral, c); });
    }
    if (a.energies.memory.exists() && law >= 0 && law < RowLaw::count) {
      const RowMemory<S> memory{
          {of_tile(a.energies.memory.laws, RowLaw::count * memory_numbers), RowLaw::count * memory_numbers},
          {of_tile(a.energies.memory.plastic, memory_elements * a.rows.row_count()),
           memory_elements * a.rows.row_count()}};
      const S held = memory_energy(memory, row, law, law_strain(law, measure, c, curvature).x),
              unit = law == RowLaw::bend ? one / (curvature * curvature) : one;
      energy = multiply_add(memory.of_law(law)[0], energy, unit * held);
    }
    sums.elastic = multiply_add(stiffness, energy, sums.elastic);
  }

  /// C of the rows of one stencil, in the order in which steps evaluate them; tensors, rest_values: of all.
  template <int Width>
  ISOCLOTH_DEVICE void add_rows(const RowGroup<Width>& group, Index tile, const T* tensors,
                                const T* rest_values, const Vec3<S>* x, Index stencil,
                                ClothMeasures<S>& sums) const {
    const StencilView& stencils = group.stencils;
    const Index law = group.laws.empty() ? -1 : group.laws[stencil];
    if constexpr (Width == 1)
      if (is_of_hinge(law)) {
        const std::size_t row = group.first_row + static_cast<std::size_t>(stencil);
        const Hinge<S> hinge = hinge_of(group, x, stencil);
        const S c = angle_strain(law, hinge, S(rest_values[row])).value;
        add_energy(tile, row, law, StrainMeasure::green, c, sums,
                   hinge_curvature<S>(group, tensors, stencil));
        return;
      }
    tensors += group.first_tensor;
    rest_values += group.first_row;
    const Vec3<S> first = x[stencils.slot_nodes[stencils.stencil_begin[stencil]]];
    S twice[Width] = {};
    for (Index slot = stencils.stencil_begin[stencil]; slot < stencils.stencil_begin[stencil + 1]; ++slot) {
      const Vec3<S> origin = x[stencils.slot_nodes[slot]];
      Vec3<S> half[Width] = {};
      for (Index e = stencils.entry_begin[slot]; e < stencils.entry_begin[slot + 1]; ++e) {
        const Vec3<S> p = x[stencils.entry_nodes[e]] - origin;
        for (int w = 0; w < Width; ++w) half[w] = multiply_add(S(tensors[e * Width + w]), p, half[w]);
      }
      for (int w = 0; w < Width; ++w) twice[w] = dot_add(half[w] + half[w], origin - first, twice[w]);
    }
    for (int w = 0; w < Width; ++w) {
      const S c = multiply_add(number(0.5), twice[w], -S(rest_values[stencil * Width + w]));
      if (law != RowLaw::band) add_row(c, sums);
      add_energy(tile, group.first_row + static_cast<std::size_t>(stencil * Width + w), law,
                 a.energies.measure, c, sums);
    }
  }
  /// The mean of two triangles is a row of the cloth; their difference is worth its energy alone.
  ISOCLOTH_DEVICE void add_rows(const MembraneGroup& group, Index tile, const T* tensors,
                                const T* rest_values, const Vec3<S>* x, Index stencil,
                                ClothMeasures<S>& sums) const {
    tensors += group.first_tensor;
    const auto f = deformation_gradients(group, tensors, x, stencil);
    const std::size_t row = group.first_row + membrane_width * static_cast<std::size_t>(stencil);
    const S share = S(tensors[group.share(stencil)]), coupling = physics(tile).coupling;
    S strains[membrane_width];
    pair_strains(StrainMeasure::green, f, share, rest_values + row, strains);
    for (int w = 0; w < 3; ++w) add_row(strains[w], sums);
    if (!kind_of(a.energies.measure).is_quadratic)
      pair_strains(a.energies.measure, f, share, rest_values + row, strains);
    for (int w = 0; w < 3; ++w)
      add_energy(tile, row + static_cast<std::size_t>(w), w,
                 w == RowLaw::shear ? StrainMeasure::green : a.energies.measure,
                 w == 0 ? multiply_add(coupling, strains[2], strains[0]) : strains[w], sums);
    if (a.energies.stiffness.empty()) return;
    const auto* const stiffness = reinterpret_cast<const S*>(a.energies.stiffness.data()) +
                                  static_cast<std::size_t>(tile) * a.rows.row_count() + row;
    for (int w = 3; w < membrane_width; ++w) {
      const S c = w == 3 ? multiply_add(coupling, strains[5], strains[3]) : strains[w],
              energy = stiffness[w] * difference_energy(c, w - 3);
      sums.elastic = sums.elastic + energy;
      sums.hourglass = sums.hourglass + energy;
    }
  }
  /// They have no energy.
  ISOCLOTH_DEVICE void add_rows(const LimitGroup& group, Index, const T* tensors, const T* rest_values,
                                const Vec3<S>* x, Index stencil, ClothMeasures<S>& sums) const {
    S squares[stretch_directions];
    stretch_squares(deformation_gradient(group, tensors + group.first_tensor, x, stencil), squares);
    const std::size_t row = group.first_row + stretch_directions * static_cast<std::size_t>(stencil);
    for (int w = 0; w < stretch_directions; ++w)
      add_row(squares[w] - S(rest_values[row + static_cast<std::size_t>(w)]), sums);
  }
  ISOCLOTH_HD const ClothPhysics<S>& physics(Index tile) const {
    return reinterpret_cast<const ClothPhysics<S>*>(a.physics.data())[tile - a.first_tile];
  }
  static ISOCLOTH_HD void add_row(S c, ClothMeasures<S>& sums) {
    const S infinity = number(HUGE_VAL);
    const auto finite = magnitude(c) < infinity;
    sums.row_stretch = larger(select(finite, c, infinity), sums.row_stretch);
    sums.row_compression = larger(select(finite, -c, infinity), sums.row_compression);
  }

  ISOCLOTH_DEVICE void add_face(const Vec3<S>* x, Index tile, Index face, ClothMeasures<S>& sums) const {
    const S rest_area = S(rest(a.rest.areas, tile, a.face_begin.size() - 1)[face]),
            now = face_area(x, a.face_nodes.data() + a.face_begin[face],
                            a.face_begin[face + 1] - a.face_begin[face]);
    const S error = magnitude((now - rest_area) / rest_area);
    sums.area = sums.area + now;
    sums.rest_area = sums.rest_area + rest_area;
    sums.error_sum = sums.error_sum + error;
    sums.error_squares = multiply_add(error, error, sums.error_squares);
    sums.error_max = larger(error, sums.error_max);
  }

  ISOCLOTH_DEVICE void add_node(const Vec3<S>* positions, const Vec3<S>* velocities, Index tile, Index node,
                                ClothMeasures<S>& sums) const {
    const ClothPhysics<S>& physics = this->physics(tile);
    const Vec3<S> x = positions[node], v = velocities[node];
    const S mass = S(rest(a.rest.masses, tile, a.node_count)[node]);
    const Vec3<S> p = (physics.rho * mass) * v;
    sums.weight = multiply_add(physics.weight * mass, x.z, sums.weight);
    if (!a.bending.columns.empty()) {
      const T* entries = rest(a.rest.bending, tile, a.bending.columns.size());
      Vec3<S> force;
      for (Index e = a.bending.row_begin[node]; e < a.bending.row_begin[node + 1]; ++e)
        force = multiply_add(S(entries[e]), positions[a.bending.columns[e]] - x, force);
      sums.bending =
          multiply_add(number(0.5) * physics.kappa, dot_add(x - positions[0], force, S{}), sums.bending);
    }
    sums.kinetic = multiply_add(number(0.5), dot_add(v, p, S{}), sums.kinetic);
    sums.momentum += p;
    sums.angular_momentum += cross(x, p);
  }

  static ISOCLOTH_HD void add(const ClothMeasures<S>& more, ClothMeasures<S>& sums) {
    sums.row_stretch = larger(more.row_stretch, sums.row_stretch);
    sums.row_compression = larger(more.row_compression, sums.row_compression);
    sums.area = sums.area + more.area;
    sums.rest_area = sums.rest_area + more.rest_area;
    sums.error_sum = sums.error_sum + more.error_sum;
    sums.error_squares = sums.error_squares + more.error_squares;
    sums.error_max = larger(more.error_max, sums.error_max);
    sums.kinetic = sums.kinetic + more.kinetic;
    sums.weight = sums.weight + more.weight;
    sums.bending = sums.bending + more.bending;
    sums.elastic = sums.elastic + more.elastic;
    sums.hourglass = sums.hourglass + more.hourglass;
    sums.opening = larger(more.opening, sums.opening);
    sums.momentum += more.momentum;
    sums.angular_momentum += more.angular_momentum;
  }

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index number_of_block) const {
    const Index chunks = measure_chunks(a), tile = a.first_tile + number_of_block / chunks;
    const Index begin = number_of_block % chunks * measures_chunk;
    const std::size_t first_node = static_cast<std::size_t>(tile) * a.node_count;
    const auto* x = reinterpret_cast<const Vec3<S>*>(a.positions.data()) + first_node;
    const auto* v = reinterpret_cast<const Vec3<S>*>(a.velocities.data()) + first_node;
    const T* tensors = rest(a.rest.tensors, tile, a.rows.tensor_count());
    const T* values = rest(a.rest.rest_values, tile, a.rows.row_count());
    auto* partials = block.template shared<ClothMeasures<S>>();
    share(block, sum_count, [&](Index k) {
      const auto each = [&](Index count, auto&& add_item) {
        const Index end = count < begin + measures_chunk ? count : begin + measures_chunk;
        for (Index i = begin + k; i < end; i += sum_count) add_item(i);
      };
      ClothMeasures<S> sums{};
      a.rows.for_each_group([&](const auto& group) {
        each(group.stencil_count(), [&](Index i) { add_rows(group, tile, tensors, values, x, i, sums); });
      });
      each(static_cast<Index>(a.face_begin.size()) - 1, [&](Index i) { add_face(x, tile, i, sums); });
      each(a.node_count, [&](Index i) { add_node(x, v, tile, i, sums); });
      each(static_cast<Index>(a.stitches.size() / 2), [&](Index i) {
        if (a.stitch_strengths[i] > 0) return;
        const Vec3<S> d = x[a.stitches[2 * i]] - x[a.stitches[2 * i + 1]];
        sums.opening = larger(square_root(dot_add(d, d, S{})) - S(a.stitch_distances[i]), sums.opening);
      });
      partials[k] = sums;
    });
    block.sync();
    if (block.rank() != 0) return;
    ClothMeasures<S> sums = partials[0];
    for (int k = 1; k < sum_count; ++k) add(partials[k], sums);
    reinterpret_cast<ClothMeasures<S>*>(a.reports.data())[number_of_block] = sums;
  }
};

template <class S, class T, class Real>
void launch(const Queue& queue, const MeasureCloths<Real>& args) {
  for_each_block(queue, args.tile_count * measure_chunks(args), sum_count * sizeof(ClothMeasures<S>),
                 MeasureBody<S, T>{args});
}

}  // namespace

template <class Real>
void measure_cloths(const Queue& queue, const MeasureCloths<Real>& args) {
#if !defined(__CUDACC__)
  if (args.width > 1) {
    if (args.rest.shared)
      launch<Pack<Real>, Real>(queue, args);
    else
      launch<Pack<Real>, Pack<Real>>(queue, args);
    return;
  }
#endif
  launch<Real, Real>(queue, args);
}

template void measure_cloths<float>(const Queue&, const MeasureCloths<float>&);
template void measure_cloths<double>(const Queue&, const MeasureCloths<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
