// Batches of small cloths that differ in everything a group may differ in, and what their steps did.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "host/simulation/simulation.hpp"

namespace isocloth {

/// What the cloths of a batch have in common.
struct BatchCase {
  ProjectionMethod method = ProjectionMethod::proximal_newton;
  Metric metric = Metric::implicit_b;
  bool bending = false;
  bool own_rest_shapes = false;  ///< the same topology in several sizes
  bool parted = false;           ///< steps that some cloths only do in parts
  Integrator integrator = Integrator::backward_euler;
  FactorPattern factor = FactorPattern::whole;  ///< rows: those of edges
  Index nx = 5, ny = 6;
};
std::string describe(const BatchCase& batch);

/// The `member`-th cloth: its own fabric, gravity, motion and time; fixed and driven pins at the same nodes.
Garment batch_member(const BatchCase& batch, int member);

/// Members [0, count), or those named.
Scene batch_scene(const BatchCase& batch, int count);
Scene batch_scene(const BatchCase& batch, const std::vector<int>& members);

/// Reports of every step and the state after the last, by garment.
struct BatchRun {
  std::vector<std::vector<StepReport>> reports;  ///< shape [garment, step]
  std::vector<GarmentState> states;
};
BatchRun run_batch(const Scene& scene, const ExecutionOptions& options, int steps);
BatchRun run_batch(Simulation& simulation, int steps);

/// Takes `steps` steps of eleven garments; alone(g) is the scene of garment g alone, which ends at the same
/// bits.
void expect_bits_of_each_alone(Simulation& all, int steps, const std::function<Scene(std::size_t)>& alone);

/// Bit for bit.
void expect_same_state(const GarmentState& found, const GarmentState& expected, const std::string& what);
void expect_same_report(const StepReport& found, const StepReport& expected, const std::string& what);
void expect_same(const BatchRun& found, std::size_t garment, const BatchRun& expected,
                 std::size_t expected_garment, const std::string& what);

/// Whether every number of the state is finite.
bool is_finite(const GarmentState& state);

/// Instruction sets of this machine and build.
std::vector<std::string> simd_names();

inline constexpr Precision both_precisions[] = {Precision::float32, Precision::float64};

}  // namespace isocloth
