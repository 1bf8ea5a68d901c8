// What the comparisons of solvers with their references share.
#pragma once

#include <vector>

#include "engine/model/scene.hpp"
#include "host/reference/surface_quadrature.hpp"
#include "host/state/execution_options.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {

/// Flat x, y, z of nodes as rows.
reference::MatrixX3d as_matrix(const std::vector<double>& flat);

/// Distance of two rows, node by node.
reference::VectorXd distances(const reference::MatrixX3d& a, const reference::MatrixX3d& b);

/// Where the pins of a garment hold `pinned` (of all pins, ascending) at time t, shape [pinned_count, 3].
reference::MatrixX3d prescribed_positions(const Garment& garment, const std::vector<Index>& pinned, double t);

/// Diagonal of the rest shape's bounding box [m].
double diagonal(const Garment& garment);

/// What sums over stencils may be off by: 1e-9, in single precision 10 u sqrt(n).
double tolerance_of_sums(Precision precision, Index node_count);
/// Distance of 1 from the next number.
double unit_rounding(Precision precision);

/// Takes the largest entry of `difference` / `scale` into the result if it is worse, measured in `tolerance`,
/// than what is there.
void keep_worst(GarmentValidation& result, const char* quantity, const reference::VectorXd& difference,
                double scale, double tolerance, std::int64_t step);

}  // namespace isocloth
