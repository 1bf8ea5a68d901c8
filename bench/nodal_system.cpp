#include "bench/nodal_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/garment/row_evaluator.hpp"
#include "host/solver/garment_solver.hpp"

namespace isocloth::bench {
namespace {

constexpr Index coarse_side = 33;

/// Values on a grid of `from` x `from` nodes, bilinearly on `to` x `to`; shape [node, 3].
std::vector<double> interpolated(const std::vector<double>& values, Index from, Index to) {
  std::vector<double> result;
  for (Index j = 0; j < to; ++j)
    for (Index i = 0; i < to; ++i) {
      const double x = static_cast<double>(i) * (from - 1) / (to - 1),
                   y = static_cast<double>(j) * (from - 1) / (to - 1);
      const Index i0 = std::min(static_cast<Index>(x), from - 2),
                  j0 = std::min(static_cast<Index>(y), from - 2);
      const double u = x - i0, v = y - j0;
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](Index a, Index b) { return values[3 * (b * from + a) + c]; };
        result.push_back((1 - v) * ((1 - u) * at(i0, j0) + u * at(i0 + 1, j0)) +
                         v * ((1 - u) * at(i0, j0 + 1) + u * at(i0 + 1, j0 + 1)));
      }
    }
  return result;
}

std::vector<Vec3d> as_vectors(const std::vector<double>& flat) {
  std::vector<Vec3d> result;
  for (std::size_t i = 0; i < flat.size(); i += 3) result.push_back({flat[i], flat[i + 1], flat[i + 2]});
  return result;
}

}  // namespace

MovingSheet moving_sheet(Index side) {
  static const GarmentState coarse = [] {
    Simulation simulation(shaken_sheet_at_once(sheet_mesh(text("quads_", coarse_side))), one_thread());
    simulation.advance(50);
    return simulation.state(0);
  }();
  Simulation simulation(shaken_sheet_at_once(sheet_mesh(text("quads_", side))), one_thread());
  GarmentState state = simulation.state(0);
  state.positions = interpolated(coarse.positions, coarse_side, side);
  state.velocities = interpolated(coarse.velocities, coarse_side, side);
  state.step_index = coarse.step_index;
  simulation.set_state(0, state);
  MovingSheet sheet{.scene = simulation.scene(), .state = {}};
  for (int i = 0; i < 2; ++i) sheet.residual = std::max(sheet.residual, simulation.step()[0].residual);
  sheet.state = simulation.state(0);
  return sheet;
}

NodalSystem next_system(const MovingSheet& sheet, double eps, bool elimination_order) {
  const ResolvedScene resolved(sheet.scene);
  const Garment& garment = sheet.scene.garments.front();
  const Fabric& fabric = garment.fabric;
  const double h = sheet.scene.step;
  const Device device(one_thread());
  const Queue& queue = device.queue();
  const StepKernels<double>& kernels = step_kernels<double>(device.backend());
  const GarmentArrays<double> arrays(device, garment, resolved.recipe, elimination_order);
  RowEvaluator<double> rows(device, arrays);
  const MetricView<double> metric{
      .inertia = fabric.density + h * fabric.mass_damping,
      .stiffness = h * fabric.stiffness_damping + h * h * fabric.bending_stiffness,
      .masses = arrays.masses.view(),
      .pattern = {arrays.bending_begin.view(), arrays.bending_columns.view()},
      .bending = arrays.bending.view(),
      .factored = arrays.factored.view()};
  const std::size_t free = arrays.pattern.free_nodes.size();
  const Buffer<Vec3d> positions(device, as_vectors(sheet.state.positions)),
      velocities(device, as_vectors(sheet.state.velocities));
  const Buffer<double> multipliers(device, sheet.state.multipliers);
  std::vector<Vec3d> targets = as_vectors(sheet.state.positions);
  const double t = garment.time_offset + static_cast<double>(sheet.state.step_index + 1) * h;
  for (const Pin& pin : garment.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i)
      targets[pin.nodes[i]] = pin_position(garment, pin, i, t);
  const Buffer<Vec3d> target_buffer(device, targets);
  Buffer<Vec3d> momentum(device, free), iterate(device, targets.size()), right_side(device, free);
  Buffer<double> stiffness(device, arrays.pattern.pairs.size()),
      blocks(device, 9 * arrays.pattern.block_rows.size());

  kernels.assemble_momentum(queue, {.metric = metric,
                                    .free = arrays.free_view(),
                                    .rho = fabric.density,
                                    .kappa = fabric.bending_stiffness,
                                    .weight = fabric.gravity_density * sheet.scene.gravity,
                                    .step = h,
                                    .positions = positions.view(),
                                    .velocities = velocities.view(),
                                    .momentum = momentum.view()});
  kernels.start_iteration(queue, {.free = arrays.free_view(),
                                  .step = h,
                                  .positions = positions.view(),
                                  .velocities = velocities.view(),
                                  .from = positions.view(),
                                  .targets = target_buffer.view(),
                                  .share = 1,
                                  .iterate = iterate.view()});
  rows.evaluate(iterate, (eps > 0 ? eps : resolved.start_eps(false)) / metric.inertia);
  kernels.geometric_stiffness(queue, {.rows = arrays.rows_view(),
                                      .tensors = arrays.tensors.view(),
                                      .multipliers = multipliers.view(),
                                      .coupling = 0,
                                      .stiffness = stiffness.view()});
  kernels.assemble_system(queue, {.metric = metric,
                                  .free = arrays.free_view(),
                                  .block_rows = arrays.block_rows.view(),
                                  .block_columns = arrays.block_columns.view(),
                                  .block_pairs = arrays.block_pairs.view(),
                                  .rows = arrays.rows_view(),
                                  .jacobian = rows.jacobian.view(),
                                  .node_pair_begin = arrays.node_pair_begin.view(),
                                  .node_pairs = arrays.node_pairs.view(),
                                  .stiffness = std::as_const(stiffness).view(),
                                  .samples = {},
                                  .with_rows = true,
                                  .blocks = blocks.view()});
  kernels.assemble_gradient(queue, {.metric = metric,
                                    .free = arrays.free_view(),
                                    .rows = arrays.rows_view(),
                                    .jacobian = rows.jacobian.view(),
                                    .residuals = rows.residuals.view(),
                                    .scales = rows.scales.view(),
                                    .multipliers = multipliers.view(),
                                    .laws = {},
                                    .positions = iterate.view(),
                                    .start = positions.view(),
                                    .momentum = momentum.view(),
                                    .samples = {},
                                    .with_rows = true,
                                    .right_side = right_side.view()});
  NodalSystem system{.pattern = {.size = arrays.pattern.free_count(),
                                 .block = 3,
                                 .rows = arrays.pattern.block_rows,
                                 .columns = arrays.pattern.block_columns},
                     .values = blocks.download(),
                     .right_side = {}};
  for (const Vec3d& b : right_side.download())
    system.right_side.insert(system.right_side.end(), {b.x, b.y, b.z});
  return system;
}

double backward_error(const NodalSystem& system, const double* x) {
  std::vector<double> residual = system.right_side, sums(system.unknowns());
  for (std::size_t k = 0; k < system.pattern.rows.size(); ++k)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const Index i = 3 * system.pattern.rows[k] + r, j = 3 * system.pattern.columns[k] + c;
        // Of a diagonal block the lower triangle counts.
        const bool diagonal = system.pattern.rows[k] == system.pattern.columns[k];
        if (diagonal && c > r) continue;
        const double a = system.values[9 * k + 3 * r + c];
        residual[i] -= a * x[j];
        sums[i] += std::fabs(a);
        if (i == j) continue;
        residual[j] -= a * x[i];
        sums[j] += std::fabs(a);
      }
  double norm = 0, largest_x = 0, largest_b = 0, largest_r = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    norm = std::max(norm, sums[i]);
    largest_x = std::max(largest_x, std::fabs(x[i]));
    largest_b = std::max(largest_b, std::fabs(system.right_side[i]));
    largest_r = larger_or_nan(largest_r, std::fabs(residual[i]));
  }
  return largest_r / (norm * largest_x + largest_b);
}

}  // namespace isocloth::bench
