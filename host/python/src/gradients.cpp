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

/// (states - 1, obstacles, 6) as gradients by wrenches after each step.
void take_wrenches(const ArrayLike& values, std::size_t obstacles, std::vector<StateGradient>& states) {
  const auto array = to_doubles(values, {states.size() - 1, obstacles, 6}, "wrenches");
  const auto* const first = reinterpret_cast<const Wrench*>(array.data());
  for (std::size_t n = 1; n < states.size(); ++n)
    states[n].wrenches.assign(first + (n - 1) * obstacles, first + n * obstacles);
}

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

std::vector<double> flat_friction(const std::vector<std::array<double, 2>>& friction) {
  std::vector<double> all;
  for (const auto& pair : friction) all.insert(all.end(), pair.begin(), pair.end());
  return all;
}

/// Pairs of vectors, of all solids in each of so many states, as (states, solids, 6).
template <class Pair>
Array<double> stacked_pairs(const std::vector<std::vector<Pair>>& parts, std::size_t solids) {
  static_assert(sizeof(Pair) == 6 * sizeof(double));
  std::vector<double> all;
  for (const std::vector<Pair>& part : parts) {
    const auto* const numbers = reinterpret_cast<const double*>(part.data());
    all.insert(all.end(), numbers, numbers + 6 * part.size());
  }
  return to_array<double>(std::move(all), {parts.size(), solids, 6});
}

}  // namespace

void bind_gradients(nb::module_& module) {
  module.def(
      "_rest_places",
      [](Runner& r, const Which& which) {
        const Scene& scene = r.idle().scene();
        std::vector<Vec3d> obstacles, grippers;
        for (const Obstacle& o : scene.obstacles) obstacles.push_back(o.position);
        for (const Gripper& g : scene.garments[number_of(which, "garment", scene.garments)].grippers)
          grippers.push_back(g.position);
        return nb::make_tuple(to_array(std::move(obstacles)), to_array(std::move(grippers)));
      },
      "simulation"_a, "garment"_a);
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
          "_wrenches",
          [](TapeOf& t, const Which& which) {
            const std::size_t garment = t.garment(which);
            return stacked_pairs(t.tape.wrenches(garment), t.runner.idle().scene().obstacles.size());
          },
          "garment"_a)
      .def(
          "_contact_changes",
          [](TapeOf& t, const Which& which) {
            std::vector<std::int64_t> all;
            const std::vector<ContactChanges> changes = t.tape.contact_changes(t.garment(which));
            for (const ContactChanges& own : changes)
              all.insert(all.end(), {own.began, own.ended, own.stuck, own.slid});
            return to_array<std::int64_t>(std::move(all), {changes.size(), 4});
          },
          "garment"_a)
      .def(
          "_gradient",
          [](TapeOf& t, const Which& which, const std::optional<ArrayLike>& positions,
             const std::optional<ArrayLike>& velocities, const std::optional<ArrayLike>& wrenches,
             const std::optional<Which>& other) {
            const std::size_t garment = t.garment(which), by = other ? t.garment(*other) : garment;
            const Scene& scene = t.runner.idle().scene();
            const std::size_t nodes = scene.garments[garment].mesh.positions.size();
            std::vector<StateGradient> loss(t.tape.step_count() + 1);
            if (positions) take(*positions, "positions", nodes, &StateGradient::positions, loss);
            if (velocities) take(*velocities, "velocities", nodes, &StateGradient::velocities, loss);
            if (wrenches) take_wrenches(*wrenches, scene.obstacles.size(), loss);
            RunGradient found;
            t.runner.work(static_cast<int>(loss.size()), [&] { found = t.tape.gradient(garment, loss, by); });
            const std::size_t by_nodes = found.positions.size();
            nb::dict fabric;
            for (const auto& [name, value] : found.fabric) fabric[nb::str(name.c_str())] = value;
            return nb::make_tuple(to_array(std::move(found.positions)), to_array(std::move(found.velocities)),
                                  stacked(found.targets, by_nodes), stacked(found.forces, by_nodes), fabric,
                                  found.gravity, found.buckling_steps,
                                  stacked_pairs(found.obstacles, scene.obstacles.size()),
                                  stacked_pairs(found.grippers, scene.garments[by].grippers.size()),
                                  to_array<double>(flat_friction(found.friction), {found.friction.size(), 2}),
                                  found.cloth_friction);
          },
          "garment"_a, "positions"_a = nb::none(), "velocities"_a = nb::none(), "wrenches"_a = nb::none(),
          "by"_a = nb::none());
}

}  // namespace isocloth::python
