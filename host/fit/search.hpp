// The searches that a fit may take.
#pragma once

#include "host/fit/fit_file.hpp"
#include "host/fit/least_squares.hpp"

namespace isocloth {

/// Jacobian d residual / d t of all unknowns at a point, shape [residual, unknown].
using JacobianAt = std::function<Eigen::MatrixXd(const Eigen::VectorXd& point)>;

/// Gauss and Newton's method within bounds: d = argmin |J d + r| with 0 <= t + d <= 1 (bounded_step), and a
/// step that is halved while squares grow (Miguel et al. 2012, section 5.1, who bound stiffness by 0 alone).
/// Ends where the root of the squares falls by less than 1 % twice in a row, or no step makes it less.
LeastSquaresResult gauss_newton(const ResidualsAt& residuals, const JacobianAt& jacobian,
                                const Eigen::VectorXd& start, const LeastSquaresSettings& settings,
                                const std::function<void(const LeastSquaresStep&)>& on_step);

/// d within low <= d <= high for which |J d + r| is least: bounded variables by active sets (Stark, Parker
/// 1995; with low = -t and no upper bound Lawson and Hanson's NNLS).
Eigen::VectorXd bounded_step(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residual,
                             const Eigen::VectorXd& low, const Eigen::VectorXd& high);

/// Nelder and Mead's simplex (1965), which Coltraro 2022, section 9.2, fits by, or Powell's BOBYQA (2009), of
/// NLopt, both within bounds: no derivatives, one point after another. Ends where unknowns change by less
/// than 1e-4 of the way between their bounds or squares by less than 1e-6 of themselves.
/// settings.most_iterations: times the number of unknowns + 1 evaluations.
LeastSquaresResult direct_search(Search method, const ResidualsAt& residuals, const Eigen::VectorXd& start,
                                 const LeastSquaresSettings& settings,
                                 const std::function<void(const LeastSquaresStep&)>& on_step);

}  // namespace isocloth
