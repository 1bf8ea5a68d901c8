// The rows of a tile of cloths in a step.
#pragma once

#include "kernels/batch/tile_samples.hpp"
#include "kernels/tensors/keep_memory_terms.hpp"
#include "kernels/tensors/row_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// See ClothStep.
template <class S, class T, class Block, class Samples>
class ClothRows : protected ClothTile<S, T, Block> {
 protected:
  using Tile = ClothTile<S, T, Block>;
  using Tile::a_, Tile::p_, Tile::block_, Tile::tile_, Tile::at_, Tile::parameters_;
  using Tile::jacobian, Tile::at_limit, Tile::number, Tile::infinity, Tile::largest, Tile::rest;
  using Tile::nodes, Tile::rows;
  using typename Tile::Mask;
  using typename Tile::Scalar;

  ISOCLOTH_DEVICE ClothRows(const StepCloths<Scalar>& args, const Block& block, Index tile)
      : Tile(args, block, tile), samples_(*this) {}

  ISOCLOTH_DEVICE RowLaws<S> laws() const {
    if (a_.row_stiffness.empty()) return {};
    const auto of_tile = [&](ArrayView<const Scalar> all, Index count) {
      const S* const first = reinterpret_cast<const S*>(all.data());
      return ArrayView<const S>{first + tile_ * count, static_cast<std::size_t>(count)};
    };
    RowLaws<S> result{of_tile(a_.row_stiffness, p_.row_count), sample_step_.part.h, parameters_.coupling,
                      rows(at_.multipliers)};
    if (p_.curve_numbers > 0) result.curves = of_tile(a_.row_curves, p_.curve_numbers);
    result.measure = p_.measure;
    result.first_membrane = p_.rows.membranes.first_row;
    result.membrane_rows = membrane_width * static_cast<std::size_t>(p_.rows.membranes.stencil_count());
    if (p_.viscosity_numbers > 0) {
      result.viscosity = of_tile(a_.row_viscosity, p_.viscosity_numbers);
      result.before = rows(at_.strains);
    }
    if (p_.memory_count > 0)
      result.memory = {of_tile(a_.row_memory, RowLaw::count * memory_numbers), plastic()};
    if (p_.has_bounds)
      result.bounds = {of_tile(a_.row_bounds, p_.row_count), rows(at_.growth), sample_step_.inertia,
                       number(a_.control.tolerance), sample_step_.iteration};
    return result;
  }

  using Evaluation = EvaluateRows<S, T, typename Samples::InverseMass>;
  ISOCLOTH_DEVICE Evaluation evaluation(ArrayView<Vec3<S>> positions, const RowLaws<S>& laws) const {
    return {p_.rows,
            rest(a_.rest.tensors, p_.rows.tensor_count()),
            rest(a_.rest.rest_values, p_.row_count),
            positions,
            samples_.inverse_masses(),
            laws,
            eps_ / sample_step_.inertia,
            rows(at_.residuals),
            rows(at_.scales),
            jacobian(),
            at_limit()};
  }
  /// Rows at the positions of `values`, J of elements apart.
  ISOCLOTH_DEVICE_CALL void evaluate(const Evaluation& values) const {
    p_.rows.for_each_group([&](const auto& group) {
      share(block_, first_pass_count(group), [&](Index item) { first_pass(values, group, item); });
    });
    block_.sync();
    p_.rows.for_each_group([&](const auto& group) {
      share(block_, second_pass_count(group), [&](Index item) { second_pass(values, group, item); });
    });
    block_.sync();
  }

  /// J of the rows that evaluate() saw.
  ISOCLOTH_DEVICE_CALL void differentiate() {
    const Evaluation values = evaluation(nodes(at_.iterate), laws().of_strain());
    p_.rows.for_each_group([&](const auto& group) {
      share(block_, third_pass_count(group), [&](Index item) { third_pass(values, group, item); });
    });
    block_.sync();
  }

  /// What viscous rows compare their strains with.
  ISOCLOTH_DEVICE void note_strains() {
    evaluate(evaluation(nodes(at_.start), laws().of_strain()));
    const ArrayView<S> residuals = rows(at_.residuals), strains = rows(at_.strains);
    share(block_, p_.row_count, [&](Index row) { strains[row] = residuals[row]; });
    block_.sync();
  }

  /// Plastic strains of the step under way.
  ISOCLOTH_DEVICE ArrayView<S> plastic() const {
    return {Tile::work(at_.plastic), static_cast<std::size_t>(p_.memory_count)};
  }
  /// Takes note of what rows remember of a part that ends at `iterate`. A function of its own, not to slow
  /// down the steps of other cloths.
  [[gnu::noinline]] ISOCLOTH_DEVICE void keep_memory(Mask which) const {
    evaluate(evaluation(nodes(at_.iterate), laws().of_strain()));
    const KeepMemory<S, T> keep{p_.rows, rest(a_.rest.tensors, p_.rows.tensor_count()), laws(),
                                rows(at_.residuals), plastic()};
    p_.rows.for_each_group([&](const auto& group) {
      share(block_, group.stencil_count(), [&](Index stencil) {
        keep_stencil(keep, group, stencil, [&](std::size_t i, S value) {
          keep.plastic[i] = select(which, value, keep.plastic[i]);
        });
      });
    });
    block_.sync();
  }

  /// Rows at `iterate`; returns the largest mismatch, infinite where any is not finite.
  ISOCLOTH_DEVICE_CALL S evaluate() {
    const Evaluation values = evaluation(nodes(at_.iterate), laws());
    evaluate(values);
    const ArrayView<S> residuals = rows(at_.residuals);
    const S most = largest(p_.row_count, [&](Index row) {
      const S c = magnitude(
          mismatch(values.laws, row, residuals[row], values.scales[row], rows(at_.multipliers)[row]));
      return select(c < infinity(), c, infinity());
    });
    block_.sync();
    return most;
  }

  /// Energy of the mismatches over what it may be, see MismatchEnergy; of the rows as evaluate() left them.
  ISOCLOTH_DEVICE S mismatch_excess() const {
    const S h = sample_step_.part.h, square = h * h,
            most = square * multiply_add(square, parameters_.mismatch_rate, parameters_.mismatch_rounding);
    if (!any(most < infinity())) return S{};
    const RowLaws<S> laws = this->laws();
    const S twice = Tile::sum(p_.row_count, [&](Index row) {
      const S scaled = scaled_mismatch(laws, row, rows(at_.residuals)[row], rows(at_.scales)[row],
                                       rows(at_.multipliers)[row]);
      return scaled * scaled;
    });
    return number(0.5) * twice / most;
  }

  SampleStep<S> sample_step_;
  S rate_{};  ///< see IntegratorCoefficients
  S eps_{};   ///< softness of the rows in this iteration
  Samples samples_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
