#include "kernels/kernel_table.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

template <class Real>
StepKernels<Real> make_step_kernels() {
  return {.evaluate_rows = evaluate_rows<Real>,
          .quadratic_multipliers = quadratic_multipliers<Real>,
          .assemble_momentum = assemble_momentum<Real>,
          .start_iteration = start_iteration<Real>,
          .extrapolate_nodes = extrapolate_nodes<Real>,
          .predict_positions = predict_positions<Real>,
          .begin_stitches = begin_stitches<Real>,
          .geometric_stiffness = geometric_stiffness<Real>,
          .assemble_system = assemble_system<Real>,
          .assemble_gradient = assemble_gradient<Real>,
          .multiply_couplings = multiply_couplings<Real>,
          .block_product = block_product<Real>,
          .partial_dots = partial_dots<Real>,
          .update_solution = update_solution<Real>,
          .update_direction = update_direction<Real>,
          .apply_correction = apply_correction<Real>,
          .update_multipliers = update_multipliers<Real>,
          .find_mismatches = find_mismatches<Real>,
          .find_imbalances = find_imbalances<Real>,
          .begin_samples = begin_samples<Real>,
          .list_near_obstacles = list_near_obstacles<Real>,
          .act_on_samples = act_on_samples<Real>,
          .place_held = place_held<Real>,
          .update_samples = update_samples<Real>,
          .sum_bodies = sum_bodies<Real>,
          .assemble_body_columns = assemble_body_columns<Real>,
          .multiply_columns = multiply_columns<Real>,
          .add_columns = add_columns<Real>,
          .gather_cloth_nodes = gather_cloth_nodes<Real>,
          .add_cloth_contacts = add_cloth_contacts<Real>,
          .multiply_cloth_contacts = multiply_cloth_contacts<Real>,
          .update_cloth_contacts = update_cloth_contacts<Real>,
          .place_pins = place_pins<Real>,
          .step_cloths = step_cloths<Real>,
          .solve_blocks = solve_blocks<Real>,
          .lane_width = lane_width<Real>,
          .factor_fronts = factor_fronts<Real>,
          .find_failure = find_failure,
          .forward_fronts = forward_fronts<Real>,
          .backward_fronts = backward_fronts<Real>,
          .step_impulse = step_impulse<Real>,
          .impulse = impulse_kernels<Real>(),
          .model_kernels = model_kernels<Real>,
          .update_velocities = update_velocities<Real>,
          .scale_values = scale_values<Real>,
          .measure_areas = measure_areas<Real>,
          .measure_strains = measure_strains<Real>,
          .measure_cloths = measure_cloths<Real>,
          .reduce = reduce<Real>};
}

}  // namespace

Backend make_backend(const char* name, const Memory& memory) {
  return {.abi = backend_abi,
          .name = name,
          .memory = memory,
          .setup = {.lump_masses = lump_masses,
                    .build_tensors = build_tensors,
                    .build_curvature = build_curvature,
                    .build_bending = build_bending},
          .cloth_contact = {.fit_boxes = fit_boxes,
                            .count_pairs = count_pairs,
                            .write_pairs = write_pairs,
                            .measure_pairs = measure_pairs,
                            .cull_candidates = cull_candidates,
                            .find_contacts = find_cloth_contacts,
                            .respond_contacts = respond_cloth_contacts},
          .selection = {.work_bytes = selection_work_bytes,
                        .running_sums = running_sums,
                        .list_flagged = list_flagged,
                        .select_contacts = select_contacts},
          .float32 = make_step_kernels<float>(),
          .float64 = make_step_kernels<double>()};
}

}  // namespace isocloth::ISOCLOTH_BACKEND
