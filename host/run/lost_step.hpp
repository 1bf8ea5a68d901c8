// Why a step is lost.
#pragma once

#include <string>

#include "engine/model/resolved_scene.hpp"
#include "host/simulation.hpp"

namespace isocloth {

/// What is said of a step of which is_lost() is true, after "the step".
std::string lost_because(const StepReport& report, const ResolvedScene& resolved);

}  // namespace isocloth
