// The words that files use for enumerations of scenes; to_string of what a simulation says is in host/state.
#pragma once

#include <string_view>

#include "engine/model/resolved_scene.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

const char* to_string(ProjectionMethod method);
const char* to_string(Metric metric);
const char* to_string(Integrator integrator);
const char* to_string(FactorPattern factor);
const char* to_string(OnViolation on_violation);
const char* to_string(ClothStart initial);
const char* to_string(ImpulseMode mode);
const char* to_string(VelocityPass pass);
/// How the scene's steps are solved, for summaries: a projection method, an impulse mode, or
/// "impulse_system".
const char* method_name(const ResolvedScene& resolved);

/// The inverse of to_string; throws FileError naming what was found for any other.
StepStatus step_status(std::string_view name);
Precision precision(std::string_view name);

}  // namespace isocloth
