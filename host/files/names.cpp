#include "host/files/names.hpp"

#include <initializer_list>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/recipe.hpp"

namespace isocloth {
namespace {

template <class Enum>
Enum find(std::string_view name, std::initializer_list<Enum> all, const char* expected) {
  for (const Enum value : all) {
    if (name == to_string(value)) return value;
  }
  throw FileError(text("found \"", name, "\", expected ", expected));
}

}  // namespace

const char* to_string(ClothStart initial) { return initial == ClothStart::refuse ? "refuse" : "separate"; }

const char* to_string(ProjectionMethod method) {
  return method == ProjectionMethod::proximal_newton ? "proximal_newton" : "fast_projection";
}

const char* to_string(Integrator integrator) { return enum_name(integrator_names, integrator); }
const char* to_string(FactorPattern factor) {
  constexpr const char* names[] = {"automatic", "whole", "rows"};
  return enum_name(names, factor);
}
const char* to_string(Metric metric) { return metric == Metric::implicit_b ? "implicit" : "mass"; }

const char* to_string(OnViolation on_violation) {
  return on_violation == OnViolation::stop ? "stop" : "continue";
}

const char* to_string(ImpulseMode mode) { return mode == ImpulseMode::substeps ? "substeps" : "converge"; }

const char* to_string(VelocityPass pass) {
  constexpr const char* names[] = {"automatic", "on", "off"};
  return enum_name(names, pass);
}

const char* method_name(const ResolvedScene& resolved) {
  switch (resolved.recipe.solver) {
    case SolverFamily::projection:
      return to_string(resolved.scene.projection.method);
    case SolverFamily::impulse:
      return resolved.scene.impulse.mode == ImpulseMode::substeps ? "impulse_substeps" : "impulse_converge";
    case SolverFamily::semi_implicit:
      return "semi_implicit";
    case SolverFamily::impulse_system:
      break;
  }
  return "impulse_system";
}

StepStatus step_status(std::string_view name) {
  return find(name,
              {StepStatus::converged, StepStatus::cut, StepStatus::stalled, StepStatus::non_finite,
               StepStatus::diverged},
              "converged, cut, stalled, non_finite or diverged");
}

Precision precision(std::string_view name) {
  return find(name, {Precision::float32, Precision::float64}, "float32 or float64");
}

}  // namespace isocloth
