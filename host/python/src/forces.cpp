// Forces that are computed in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/choices.hpp"
#include "host/python/src/runner.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

/// A copy that cannot be written.
template <class Value>
nb::ndarray<nb::numpy, const double> copied(const Value* values, std::size_t count,
                                            std::initializer_list<std::size_t> shape) {
  return to_array<const double>(std::vector<Value>(values, values + count), shape);
}

/// Numbers of an array, as many as `to` has.
template <class Value>
void take(nb::handle array, std::vector<Value>& to) {
  const auto found = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
  if (found.size() * sizeof(double) != to.size() * sizeof(Value)) throw ShapeError("force: another size");
  std::memcpy(to.data(), found.data(), to.size() * sizeof(Value));
}

void ask(nb::handle simulation, const std::string& name, const ForceInput& in, ForceOutput& out) {
  const nb::gil_scoped_acquire acquired;
  const std::size_t cloths = in.garments.size(), all = in.positions.size(), nodes = all / cloths;
  try {
    const nb::object said =
        simulation.attr("_forces")(name, in.garments, copied(in.times.data(), cloths, {cloths}), in.step,
                                   copied(in.positions.data(), all, {cloths, nodes, 3}),
                                   copied(in.velocities.data(), all, {cloths, nodes, 3}),
                                   copied(in.masses.data(), all, {cloths, nodes}));
    take(said[0], out.forces);
    for (const auto& [number, to] : {std::pair{1, &out.stiffness}, std::pair{2, &out.damping}}) {
      if (said[number].is_none()) continue;
      to->resize(all);
      take(said[number], *to);
    }
  } catch (const nb::python_error& error) {
    const nb::object raised = nb::borrow(error.value());
    if (nb::hasattr(raised, "add_note"))  // Python 3.11
      raised.attr("add_note")(text("in the force \"", name, "\" at t = ", in.times.front(), " s"));
    throw;
  }
}

}  // namespace

void bind_forces(nb::class_<Runner>& type) {
  type.def(
          "_add_force",
          [](nb::handle self, const std::string& name, const Several& several) {
            auto& runner = nb::cast<Runner&>(self);
            const std::vector<std::size_t> garments =
                numbers_of(several, "garment", runner.idle().scene().garments);
            // The runner lies in the object that `self` is.
            runner.idle().add_force(name, garments,
                                    [self, name, &runner](const ForceInput& in, ForceOutput& out) {
                                      runner.run_in_caller([&] { ask(self, name, in, out); });
                                    });
          },
          "name"_a, "garments"_a)
      .def(
          "_remove_force", [](Runner& r, const std::string& name) { r.idle().remove_force(name); }, "name"_a)
      .def_prop_ro(
          "forces", [](Runner& r) { return r.idle().forces(); },
          "names of those of :meth:`add_force`, in the order in which they are asked");
}

}  // namespace isocloth::python
