// Cloth hung at the corners of a polygon: catenaries along its sides, Laplace's equation inside.
#pragma once

#include "engine/models/drape/hanging_sheet.hpp"

namespace isocloth {

/// Moves every node that is not held to the mean of the nodes that edges join it to, exactly:
///   x_i = (sum over j of x_j) / n_i for all i at once,
/// on a grid H_ij = (H_i,j-1 + H_i,j+1 + H_i-1,j + H_i+1,j) / 4, Laplace's equation in five-point differences
/// (Karthikeyan and Ranganathan, Tutorial on Cloth Modelling, "Another geometric method"), by a sparse
/// Cholesky factorisation in the place of their sweeps. Their 100 sweeps of a 24 x 24 grid end 29 % below
/// the solution in the middle. `is_held`, `positions`: shape [node_count]. Throws NumericalError where a
/// piece has no node that is held. Checked in tests/host/models/drape_test.cpp.
void solve_laplace(const Topology& topology, const std::vector<char>& is_held, std::vector<Vec3d>& positions);

/// The tutorial's own method on any polygon: nodes of the rim between two hanging points lie at their arc
/// length on a catenary as long as the rim there; with settings.diagonals nodes within a quarter of an
/// element of the line between two corners that are no neighbours lie on one, too, those on several at the
/// mean of their places, weighted by one over the distance of the line from the centre of mass, as the
/// tutorial proposes; all others follow by solve_laplace(). The tutorial solves for heights over a fixed
/// plan; here all three coordinates are solved for, since the cloth has none. Lengths inside are not looked
/// at.
std::vector<Vec3d> laplace_drape(const HangingSheet& sheet, const DrapeSettings& settings);

}  // namespace isocloth
