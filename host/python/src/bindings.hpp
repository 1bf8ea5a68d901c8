// The parts of the module `isocloth._core`.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {
struct Snapshot;
}
namespace isocloth::python {

class Runner;

void bind_errors();
void bind_reports(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_pictures(nanobind::class_<Runner>& type);
/// Of the class Simulation.
void bind_forces(nanobind::class_<Runner>& type);
/// Of the classes Snapshot and Simulation.
void bind_pickles(nanobind::class_<Snapshot>& snapshot, nanobind::class_<Runner>& type);
void bind_bodies(nanobind::class_<Runner>& type);
void bind_gradients(nanobind::module_& module);
void bind_meshes(nanobind::module_& module);
void bind_rasteriser(nanobind::module_& module);
void bind_runs(nanobind::module_& module);
void bind_sweeps(nanobind::module_& module);

ExecutionOptions execution_options(const std::string& backend, int device, const std::string& precision,
                                   const std::string& solver, const std::string& simd, int threads);
FileAccess file_access(const std::vector<std::string>& folders);

}  // namespace isocloth::python
