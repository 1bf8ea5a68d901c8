// Gradients of runs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "host/gradients/tape.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/choices.hpp"
#include "host/python/src/runner.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

/// A tape and the simulation that it lies in.
struct TapeOf {
  explicit TapeOf(Runner& r) : runner(r), tape(without_balance(r)) {}
  static Simulation& without_balance(Runner& r) {
    if (r.has_energy_balance())
      throw Error("tape: found a simulation with energy_balance, expected one without: both take its steps");
    return r.idle();
  }
  std::size_t garment(const Which& which) {
    return number_of(which, "garment", runner.idle().scene().garments);
  }
  Runner& runner;
  Tape tape;
};

/// (states, nodes, 3) as the gradients of states; `which` says of what.
void take(const ArrayLike& values, const char* name, std::size_t nodes,
          std::vector<Vec3d> StateGradient::*which, std::vector<StateGradient>& states) {
  const auto array = to_doubles(values, {states.size(), nodes, 3}, name);
  const auto* const first = reinterpret_cast<const Vec3d*>(array.data());
  for (std::size_t n = 0; n < states.size(); ++n)
    (states[n].*which).assign(first + n * nodes, first + (n + 1) * nodes);
}

Array<double> stacked(const std::vector<std::vector<Vec3d>>& parts, std::size_t nodes) {
  std::vector<Vec3d> all;
  for (const std::vector<Vec3d>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return to_array<double>(std::move(all), {parts.size(), nodes, 3});
}

}  // namespace

void bind_gradients(nb::module_& module) {
  nb::class_<TapeOf>(module, "Tape", nb::dynamic_attr())
      .def(nb::init<Runner&>(), "simulation"_a, nb::keep_alive<1, 2>())
      .def("__repr__",
           [](TapeOf& t) {
             return text("Tape(", t.runner.words(), ", step_count=", t.tape.step_count(), ")");
           })
      .def_prop_ro(
          "step_count", [](TapeOf& t) { return t.runner.idle(), t.tape.step_count(); }, "steps on the tape")
      .def(
          "step",
          [](TapeOf& t) {
            std::vector<StepReport> reports;
            t.runner.idle();
            t.runner.work(1, [&] { reports = t.tape.step(); });
            return reports;
          },
          "One step of the simulation, which is kept on the tape.")
      .def(
          "_states",
          [](TapeOf& t, const Which& which, bool are_velocities) {
            const std::size_t garment = t.garment(which);
            std::vector<std::vector<Vec3d>> all;
            for (std::size_t n = 0; n <= t.tape.step_count(); ++n)
              all.push_back(are_velocities ? t.tape.velocities(garment, n) : t.tape.positions(garment, n));
            return stacked(all, all.front().size());
          },
          "garment"_a, "are_velocities"_a)
      .def(
          "_gradient",
          [](TapeOf& t, const Which& which, const std::optional<ArrayLike>& positions,
             const std::optional<ArrayLike>& velocities) {
            const std::size_t garment = t.garment(which);
            const std::size_t nodes = t.runner.idle().scene().garments[garment].mesh.positions.size();
            std::vector<StateGradient> loss(t.tape.step_count() + 1);
            if (positions) take(*positions, "positions", nodes, &StateGradient::positions, loss);
            if (velocities) take(*velocities, "velocities", nodes, &StateGradient::velocities, loss);
            RunGradient found;
            t.runner.work(static_cast<int>(loss.size()), [&] { found = t.tape.gradient(garment, loss); });
            nb::dict fabric;
            for (const auto& [name, value] : found.fabric) fabric[nb::str(name.c_str())] = value;
            return nb::make_tuple(to_array(std::move(found.positions)), to_array(std::move(found.velocities)),
                                  stacked(found.targets, nodes), stacked(found.forces, nodes), fabric,
                                  found.gravity, found.buckling_steps);
          },
          "garment"_a, "positions"_a = nb::none(), "velocities"_a = nb::none());
}

}  // namespace isocloth::python
