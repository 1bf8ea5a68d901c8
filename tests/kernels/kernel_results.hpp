// What every kernel of a backend makes of a case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/garment/nodal_pattern.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/kernels/kernel_case.hpp"

namespace isocloth {

/// Outputs by name, Vec3 as three numbers, in double whatever the precision.
using KernelResults = std::map<std::string, std::vector<double>>;

/// Runs every kernel of the backend, each from the inputs of the case; what needs rows takes those evaluated
/// before.
template <class Real>
KernelResults run_kernels(const KernelCase& at, const ExecutionOptions& options);

/// Patterns that give the outputs their meaning.
struct KernelPattern {
  RowPattern rows;
  NodalPattern nodal;
  NodeMatrixPattern laplacian, bending;
};
KernelPattern kernel_pattern(const KernelCase& at);

}  // namespace isocloth
