// Why a step is lost.
#pragma once

#include <string>

#include "engine/model/resolved_scene.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// What is said of a step of which has_failed() is true, after "the step".
std::string lost_because(const StepReport& report, const ResolvedScene& resolved);

}  // namespace isocloth
