// A search stage by stage, with as many control points as the recordings ask for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/fit/fit_problem.hpp"

namespace isocloth {

/// Whether a file asks for stages, control points, or a search without differences.
bool is_in_stages(const FitSpec& spec);

/// Told after an iteration: what it is one of, the point of all unknowns, and the root mean square of the
/// residuals of the stage.
using OnSearchStep = std::function<void(const std::string& stage, const Eigen::VectorXd& point, double loss)>;
/// Told when control points were added, with the unknowns of before.
using OnNewUnknowns = std::function<void(const std::vector<Unknown>& before)>;

/// Stages after one another (Miguel et al. 2012, section 5.2): each looks for its own parameters on its own
/// experiments, the others as they were found. A stiffness with control points begins as a constant in the
/// first stage that it is in; there a level with one more point, at equal distances over the range of
/// strains, follows another, until two in a row have lowered the standard deviation of the residuals by less
/// than 1 % (one alone stops too early: even numbers of points may have none where the curve bends; squares
/// over residuals less unknowns, because each unknown takes up noise) or there are `points`.
/// The best level is kept. Later stages leave the control points where they are, and so does a resumed fit.
///
/// `best`: where the search begins and ends. Returns whether each stage came to its end.
bool search_in_stages(FitProblem& problem, Eigen::VectorXd& best, bool is_resumed,
                      const OnSearchStep& on_step, const OnNewUnknowns& on_new_unknowns);

}  // namespace isocloth
