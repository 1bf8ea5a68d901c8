// Pictures of a fit, each an SVG document.
#pragma once

#include <string>

#include "host/fit/fit_record.hpp"

namespace isocloth {

/// Mean distance of points over time, before and after the fit, with its standard deviation over the points
/// (Coltraro 2022, (25), (26) without areas); training and test windows are shaded.
std::string distance_svg(const FitProblem& problem, const FitRecord& record, std::size_t experiment);
/// Forces of a gripper over time: measured, before and after the fit.
std::string force_svg(const FitProblem& problem, const FitRecord& record, std::size_t experiment,
                      std::size_t force);
/// Mean distance of each point after the fit, where it is in the rest shape.
std::string map_svg(const FitProblem& problem, const FitRecord& record, std::size_t experiment);
/// The shadow of a drape from above: recorded, before and after the fit, and the disc.
std::string shadow_svg(const FitProblem& problem, const FitRecord& record, std::size_t experiment);
/// Loss over simulations.
std::string search_svg(const FitRecord& record);

}  // namespace isocloth
