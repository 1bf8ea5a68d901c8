#include <nanobind/nanobind.h>

#include "host/python/src/bindings.hpp"

NB_MODULE(_core, module) {
  isocloth::python::bind_errors();
  isocloth::python::bind_reports(module);
  isocloth::python::bind_simulation(module);
  isocloth::python::bind_meshes(module);
  isocloth::python::bind_rasteriser(module);
  isocloth::python::bind_gradients(module);
  isocloth::python::bind_runs(module);
  isocloth::python::bind_sweeps(module);
}
