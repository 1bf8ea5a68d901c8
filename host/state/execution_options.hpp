// Where and how a simulation computes.
#pragma once

#include <string>

#include "engine/core/monitor.hpp"

namespace isocloth {

enum class Precision { float32, float64 };
const char* to_string(Precision precision);

/// How the steps of a garment are solved.
enum class StepSolver {
  automatic,  ///< by the size of the mesh alone, so that a result does not depend on the batch; large elastic
              ///< ones by conjugate gradients with a factor in single precision
  batched,    ///< whole steps in one launch, garments of one pattern side by side: small meshes
  direct,     ///< kernel by kernel with a multifrontal factorisation: one large mesh at a time
  /// As direct with a factor in single precision and refinement to double.
  mixed,
  /// As direct with preconditioned conjugate gradients instead of a factorisation: less memory, loose
  /// tolerances.
  iterative,
};
/// Names as in the command's options.
const char* to_string(StepSolver solver);
/// Throws ShapeError for an unknown name.
StepSolver step_solver(const std::string& name);

/// Where and how a simulation computes.
struct ExecutionOptions {
  std::string backend = "cpu";  ///< "cpu" or "cuda"
  int device = 0;               ///< CUDA: number of the GPU, from 0
  Precision precision = Precision::float64;
  StepSolver solver = StepSolver::automatic;
  std::string simd = "";   ///< CPU: "baseline", "avx2" or "avx512"; empty: the widest that the machine has
  int threads = 0;         ///< CPU threads, 0: all cores. Results do not depend on it
  int emulated_block = 0;  ///< for tests: run kernels in blocks of this many concurrent threads; 0: off
  int block_threads = 0;  ///< CUDA: threads per block, 0: what each kernel wants. Results do not depend on it
  Monitor* monitor =
      nullptr;  ///< ends set-up and steps within a second and hears how far they are; null: none
  /// Every step ends with strains in its report, and counts as stalled where pins tear an edge between them:
  /// rigid rows beyond the tolerance, elastic ones beyond a limit of strain (Tearing). Off: reports have
  /// none, and a batch on a device returns to the host after 64 steps in the place of 32.
  bool measure_strain = true;
};

}  // namespace isocloth
