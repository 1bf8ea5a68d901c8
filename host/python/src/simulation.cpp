// A running scene, with views of its arrays where they lie.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <numeric>

#include "engine/model/fabric_numbers.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/choices.hpp"
#include "host/python/src/runner.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

GarmentField garment_field(const std::string& name) {
  for (const GarmentField field :
       {GarmentField::positions, GarmentField::velocities, GarmentField::strains,
        GarmentField::contact_obstacles, GarmentField::contact_forces, GarmentField::hold_forces})
    if (name == to_string(field)) return field;
  throw ShapeError(text("field: found \"", name,
                        "\", expected positions, velocities, strains, contact_obstacles, contact_forces or "
                        "hold_forces"));
}

KeyframeMotion keyframes(const ArrayLike& times, const std::optional<ArrayLike>& translations,
                         const std::optional<ArrayLike>& rotations, const ArrayLike& center) {
  KeyframeMotion motion;
  motion.times = to_numbers(times, "times");
  if (translations) motion.translations = to_rows(*translations, "translations", motion.times.size());
  if (rotations) motion.rotations = to_rows(*rotations, "rotations", motion.times.size());
  motion.center = to_vector(center, "center");
  return motion;
}

std::size_t garment_of(Runner& runner, const Which& which) {
  return number_of(which, "garment", runner.idle().scene().garments);
}
std::size_t pin_of(Runner& runner, std::size_t garment, const Which& which) {
  return number_of(which, "pin", runner.idle().scene().garments[garment].pins);
}
std::size_t gripper_of(Runner& runner, std::size_t garment, const Which& which) {
  return number_of(which, "gripper", runner.idle().scene().garments[garment].grippers);
}
/// All of them, unless some are said.
std::vector<std::size_t> garments_of(Runner& runner, const std::optional<Several>& several) {
  const std::vector<Garment>& all = runner.idle().scene().garments;
  if (several) return numbers_of(*several, "garment", all);
  std::vector<std::size_t> numbers(all.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}
std::size_t node_count(Runner& runner, const std::vector<std::size_t>& garments) {
  std::size_t count = 0;
  for (const std::size_t g : garments) count += runner.idle().scene().garments[g].mesh.positions.size();
  return count;
}

nb::list views(nb::handle self, Runner& runner, const std::string& name) {
  nb::list all;
  for (const FieldView& view : runner.idle().view(garment_field(name))) {
    std::size_t shape[4];
    std::copy(view.shape.begin(), view.shape.end(), shape);
    const nb::dlpack::dtype type =
        view.precision == Precision::float32 ? nb::dtype<float>() : nb::dtype<double>();
    nb::object array;
    if (view.backend == "cpu")
      array = nb::cast(nb::ndarray<nb::numpy>(view.data, 4, shape, self, view.strides.data(), type));
    else
      array = nb::cast(nb::ndarray<nb::array_api>(view.data, 4, shape, self, view.strides.data(), type,
                                                  nb::device::cuda::value, view.device));
    all.append(nb::make_tuple(array, view.garments));
  }
  return all;
}

/// changes: a number for all garments or one for each.
void set_fabrics(Simulation& simulation, const std::vector<std::size_t>& garments,
                 const nb::kwargs& changes) {
  std::vector<Fabric> fabrics;
  for (const std::size_t g : garments) fabrics.push_back(simulation.scene().garments[g].fabric);
  for (const auto& [key, value] : changes) {
    const auto name = nb::cast<std::string>(key);
    const FabricNumber& number = find_fabric_number(name, "set_fabric");
    const std::vector<double> numbers = to_numbers(value, name.c_str());
    if (numbers.size() != 1 && numbers.size() != garments.size())
      throw ShapeError(text(name, ": found ", numbers.size(), " numbers, expected 1 or ", garments.size()));
    for (std::size_t i = 0; i < garments.size(); ++i)
      number.of(fabrics[i]) = numbers[numbers.size() > 1 ? i : 0];
  }
  simulation.set_fabrics(garments, fabrics);
}

void bind_commands(nb::class_<Runner>& type) {
  type.def(
          "move_pin",
          [](Runner& r, const Which& garment, const Which& pin, const ArrayLike& targets, double duration) {
            const std::size_t g = garment_of(r, garment), p = pin_of(r, g, pin);
            const std::size_t nodes = r.idle().scene().garments[g].pins[p].nodes.size();
            r.idle().move_pin(g, p, to_rows(targets, "targets", nodes), duration);
          },
          "garment"_a, "pin"_a, "targets"_a, "duration"_a,
          "Takes the nodes of a pin evenly to ``targets`` [m], shape (nodes of the pin, 3), within "
          "``duration`` [s]; there they stay.")
      .def(
          "set_pin_motion",
          [](Runner& r, const Which& garment, const Which& pin, const ArrayLike& times,
             const std::optional<ArrayLike>& translations, const std::optional<ArrayLike>& rotations,
             const ArrayLike& center) {
            const std::size_t g = garment_of(r, garment), p = pin_of(r, g, pin);
            r.idle().set_pin_motion(g, p, keyframes(times, translations, rotations, center));
          },
          "garment"_a, "pin"_a, "times"_a, "translations"_a = nb::none(), "rotations"_a = nb::none(),
          "center"_a = std::vector<double>(3, 0.0),
          "Rigid motion from where the nodes started, linear between keys: ``times`` [s] of the simulation "
          "(:attr:`time`), whatever was reset, shape (keys,), translations [m] and rotation vectors [rad] "
          "about "
          "``center``, shape (keys, 3).")
      .def(
          "set_gripper_motion",
          [](Runner& r, const Which& garment, const Which& gripper, const ArrayLike& times,
             const std::optional<ArrayLike>& translations, const std::optional<ArrayLike>& rotations,
             const ArrayLike& center) {
            const std::size_t g = garment_of(r, garment), n = gripper_of(r, g, gripper);
            r.idle().set_gripper_motion(g, n, keyframes(times, translations, rotations, center));
          },
          "garment"_a, "gripper"_a, "times"_a, "translations"_a = nb::none(), "rotations"_a = nb::none(),
          "center"_a = std::vector<double>(3, 0.0),
          "As :meth:`set_pin_motion`, from where it stands in the scene.")
      .def(
          "set_obstacle_motion",
          [](Runner& r, const Which& obstacle, const ArrayLike& times,
             const std::optional<ArrayLike>& translations, const std::optional<ArrayLike>& rotations,
             const ArrayLike& center) {
            Simulation& s = r.idle();
            const std::size_t number = number_of(obstacle, "obstacle", s.scene().obstacles);
            s.set_obstacle_motion(number, keyframes(times, translations, rotations, center));
          },
          "obstacle"_a, "times"_a, "translations"_a = nb::none(), "rotations"_a = nb::none(),
          "center"_a = std::vector<double>(3, 0.0),
          "As :meth:`set_pin_motion`, from where it stands in the scene, for garments of all worlds. A "
          "motion that the "
          "scene alone has said each garment sees at its own :meth:`garment_time`, which starts again when "
          "it is "
          "reset.")
      .def(
          "close_gripper",
          [](Runner& r, const Which& garment, const Which& gripper) {
            const std::size_t g = garment_of(r, garment);
            r.idle().close_gripper(g, gripper_of(r, g, gripper));
          },
          "garment"_a, "gripper"_a, "Takes hold in the next step, until it is opened.")
      .def(
          "open_gripper",
          [](Runner& r, const Which& garment, const Which& gripper) {
            const std::size_t g = garment_of(r, garment);
            r.idle().open_gripper(g, gripper_of(r, g, gripper));
          },
          "garment"_a, "gripper"_a)
      .def(
          "set_body_velocity",
          [](Runner& r, const Which& body, const ArrayLike& velocity, const ArrayLike& angular) {
            Simulation& s = r.idle();
            s.set_body_velocity(number_of(body, "body", s.scene().bodies), to_vector(velocity, "velocity"),
                                to_vector(angular, "angular_velocity"));
          },
          "body"_a, "velocity"_a, "angular_velocity"_a, "Of the centre of mass [m/s], and [rad/s].")
      .def(
          "set_wind",
          [](Runner& r, const ArrayLike& velocity, std::optional<double> gusts,
             std::optional<double> period) {
            Simulation& simulation = r.idle();
            Wind wind = simulation.scene().wind;  // its model stays
            wind.velocity = to_vector(velocity, "velocity");
            wind.gusts = gusts.value_or(wind.gusts);
            wind.gust_period = period.value_or(wind.gust_period);
            simulation.set_wind(wind);
          },
          "velocity"_a, "gusts"_a = nb::none(), "gust_period"_a = nb::none(),
          "Mean velocity [m/s], root mean square of gusts in parts of it, their period [s]; ``None``: as "
          "before.")
      .def(
          "set_zipper",
          [](Runner& r, const Which& garment, const Which& zipper, double closed) {
            const std::size_t g = garment_of(r, garment);
            r.idle().set_zipper(g, number_of(zipper, "zipper", r.idle().scene().garments[g].zippers), closed);
          },
          "garment"_a, "zipper"_a, "closed"_a,
          "Moves the slider of a zipper, by number or name (``front.1 with back.3``): its seam is closed up "
          "to "
          "this share of its length from the next step on, whatever its motion said. Part of the state: a "
          "snapshot keeps it, reset() takes it back.")
      .def(
          "set_drawstring",
          [](Runner& r, const Which& garment, const Which& drawstring, double share) {
            const std::size_t g = garment_of(r, garment);
            r.idle().set_drawstring(
                g, number_of(drawstring, "drawstring", r.idle().scene().garments[g].drawstrings), share);
          },
          "garment"_a, "drawstring"_a, "share"_a,
          "Draws a string in, or lets it out, to this share > 0 of its edge's length, from the next step on; "
          "part of the state, as set_zipper().")
      .def(
          "set_gravity",
          [](Runner& r, const Which& garment, double a) { r.idle().set_gravity(garment_of(r, garment), a); },
          "garment"_a, "gravity"_a, "[m/s^2], along -z")
      .def(
          "set_forces",
          [](Runner& r, const Which& garment, const std::optional<ArrayLike>& forces) {
            const std::size_t g = garment_of(r, garment);
            const std::size_t nodes = node_count(r, {g});
            r.idle().set_forces(g, forces ? to_rows(*forces, "forces", nodes) : std::vector<Vec3d>{});
          },
          "garment"_a, "forces"_a.none(),
          "On the nodes until they are set anew [N], shape (nodes, 3); ``None``: none.")
      .def(
          "set_fabric",
          [](Runner& r, const Which& garment, const nb::kwargs& changes) {
            set_fabrics(r.idle(), {garment_of(r, garment)}, changes);
          },
          "garment"_a, "changes"_a,
          "Numbers of the fabric by their names in a scene, ``set_fabric(0, bending_stiffness=1e-5)``. Terms "
          "may not "
          "come "
          "or go.")
      .def(
          "set_fabrics",
          [](Runner& r, const Several& garments, const nb::kwargs& changes) {
            set_fabrics(r.idle(), garments_of(r, garments), changes);
          },
          "garments"_a, "changes"_a,
          "The same of many garments at once, much faster than one by one: each number for all of them, or "
          "shape (garments,).");
}

}  // namespace

ExecutionOptions execution_options(const std::string& backend, int device, const std::string& precision,
                                   const std::string& solver, const std::string& simd, int threads) {
  ExecutionOptions options;
  options.backend = backend;
  options.device = device;
  if (precision != "float64" && precision != "float32")
    throw ShapeError(text("precision: found \"", precision, "\", expected float64 or float32"));
  options.precision = precision == "float32" ? Precision::float32 : Precision::float64;
  options.solver = step_solver(solver);
  options.simd = simd;
  options.threads = threads;
  return options;
}

FileAccess file_access(const std::vector<std::string>& folders) { return {{folders.begin(), folders.end()}}; }

void bind_simulation(nb::module_& module) {
  nb::class_<Snapshot> snapshot(module, "Snapshot",
                                "Where a simulation was, to the last bit; may be pickled.");
  snapshot.def("__repr__", [](const Snapshot& s) {
    return text("Snapshot(garments=", s.garments.size(), ", step_index=", s.step_index, ")");
  });
  nb::class_<Runner> type(module, "Simulation", nb::dynamic_attr());
  type.def(
          "__init__",
          [](Runner* self, const std::string& path, const std::vector<std::string>& allow,
             const std::string& backend, int device, const std::string& precision, const std::string& solver,
             const std::string& simd, int threads, bool measure_strain, bool energy_balance) {
            ExecutionOptions options = execution_options(backend, device, precision, solver, simd, threads);
            options.measure_strain = measure_strain;
            new (self) Runner(path, file_access(allow), options, energy_balance);
          },
          "path"_a, "allow"_a, "backend"_a, "device"_a, "precision"_a, "solver"_a, "simd"_a, "threads"_a,
          "measure_strain"_a, "energy_balance"_a)
      .def_prop_ro(
          "warnings", [](Runner& r) { return r.warnings(); },
          "what the scene says that was likely meant otherwise, a line each")
      .def_prop_ro(
          "unclosed_seams", [](Runner& r) { return r.unclosed_seams(); },
          "seams that stayed open when the scene was sewn before time began, each with its cause, a line "
          "each")
      .def(
          "step", [](Runner& r) { return r.advance(1); },
          "One step of every garment; returns a :class:`StepReport` per garment. A garment whose step is "
          "lost is frozen in the state before it, the others go on. After Ctrl-C all is as before the call.")
      .def("advance", &Runner::advance, "steps"_a,
           "``steps`` steps without a return in between; reports sum up iterations and hold the worst of the "
           "rest. After Ctrl-C :attr:`step_index` tells how many have been done.")
      .def_prop_ro(
          "step_index", [](Runner& r) { return r.idle().step_index(); }, "steps done")
      .def_prop_ro(
          "time", [](Runner& r) { return r.idle().time(); }, "[s]")
      .def(
          "fabric",
          [](Runner& r, const Which& garment) {
            const Fabric& fabric = r.idle().scene().garments[garment_of(r, garment)].fabric;
            nb::dict numbers;
            for (const FabricNumber& number : fabric_numbers()) numbers[number.name] = number.value(fabric);
            return numbers;
          },
          "garment"_a, "Numbers that :meth:`set_fabric` takes, by their names.")
      .def_prop_ro(
          "step_length", [](Runner& r) { return r.idle().scene().step; }, "h of a step [s]")
      .def(
          "pin_nodes",
          [](Runner& r, const Which& garment) {
            nb::list pins;
            for (const Pin& pin : r.idle().scene().garments[garment_of(r, garment)].pins)
              pins.append(to_array<std::int32_t>(std::vector<Index>(pin.nodes), {pin.nodes.size()}));
            return pins;
          },
          "garment"_a, "Nodes of each pin.")
      .def_prop_ro("garment_count", [](Runner& r) { return r.idle().garment_count(); })
      .def_prop_ro("garment_names",
                   [](Runner& r) {
                     std::vector<std::string> names;
                     for (const Garment& garment : r.idle().scene().garments) names.push_back(garment.name);
                     return names;
                   })
      .def(
          "garment_time", [](Runner& r, const Which& g) { return r.idle().time(garment_of(r, g)); },
          "garment"_a,
          "of the garment's own clock [s]: its ``time_offset`` and its steps since the start or its last "
          ":meth:`reset`")
      .def(
          "frozen", [](Runner& r, const Which& g) { return r.idle().frozen(garment_of(r, g)); }, "garment"_a,
          "whether a step was lost")
      .def_prop_ro(
          "frozen_mask",
          [](Runner& r) {
            const std::size_t count = r.idle().garment_count();
            std::vector<char> frozen(count);
            for (std::size_t g = 0; g < count; ++g) frozen[g] = r.idle().frozen(g);
            return to_array<bool>(std::move(frozen), {count});
          },
          nb::rv_policy::automatic, "whether a step of each garment was lost, shape (garments,)")
      .def(
          "info", [](Runner& r, const Which& g) { return r.idle().info(garment_of(r, g)); }, "garment"_a)
      .def(
          "faces",
          [](Runner& r, const Which& garment) {
            const Mesh& mesh = r.idle().scene().garments[garment_of(r, garment)].mesh;
            std::vector<std::int32_t> nodes;
            for (Index f = 0; f < mesh.face_count(); ++f)
              for (std::size_t k = 0; k < 4; ++k) {
                const auto corners = mesh.face(f);
                nodes.push_back(k < corners.size() ? corners[k] : -1);
              }
            return to_array<std::int32_t>(std::move(nodes), {static_cast<std::size_t>(mesh.face_count()), 4});
          },
          "garment"_a, "Nodes of the faces, shape (faces, 4), -1 in the fourth place of a triangle.")
      .def(
          "read",
          [](Runner& r, const std::string& field, const std::optional<Several>& garments) {
            const std::vector<std::size_t> chosen = garments_of(r, garments);
            std::vector<Vec3d> rows(node_count(r, chosen));
            r.idle().read(garment_field(field), chosen, rows);
            return to_array(std::move(rows));
          },
          "field"_a = "positions", "garments"_a = nb::none(),
          "A copy of ``positions`` [m] or ``velocities`` [m/s], garments one after another, shape (sum of "
          "nodes, 3), float64.")
      .def(
          "write",
          [](Runner& r, const std::string& field, const ArrayLike& values,
             const std::optional<Several>& garments) {
            const std::vector<std::size_t> chosen = garments_of(r, garments);
            r.idle().write(garment_field(field), chosen, to_rows(values, "values", node_count(r, chosen)));
          },
          "field"_a, "values"_a, "garments"_a = nb::none(), "The other way. What is not finite is refused.")
      .def(
          "_views",
          [](nb::handle self, const std::string& field) {
            return views(self, nb::cast<Runner&>(self), field);
          },
          "field"_a)
      .def(
          "_numbers_of", [](Runner& r, const Several& garments) { return garments_of(r, garments); },
          "garments"_a)
      .def("__repr__", [](Runner& r) { return r.words(); })
      .def(
          "strains", [](Runner& r) { return r.idle().strains(); }, "of every garment as it is")
      .def(
          "measures", [](Runner& r) { return r.idle().measure(); }, "of every garment as it is")
      .def("energy_balance", &Runner::energy_balance,
           "Of every garment an :class:`EnergySums`: what its energy came from and went to since the "
           "simulation began. Raises :class:`isocloth.Error` unless it was asked for: "
           "``Simulation(scene, energy_balance=True)``.")
      .def(
          "contacts", [](Runner& r, const Which& g) { return r.idle().contacts(garment_of(r, g)); },
          "garment"_a, "with obstacles and bodies at the end of the last step")
      .def(
          "holds", [](Runner& r, const Which& g) { return r.idle().holds(garment_of(r, g)); }, "garment"_a,
          "of grippers at the end of the last step")
      .def(
          "hold_forces",
          [](Runner& r) {
            const std::vector<HoldMeasures> holds = r.idle().holds();
            const std::size_t count = holds.front().forces.size();
            std::vector<Vec3d> forces;
            for (const HoldMeasures& of_garment : holds) {
              if (of_garment.forces.size() != count)
                throw ShapeError(text("hold_forces: found garments of ", count, " and of ",
                                      of_garment.forces.size(),
                                      " grippers, expected one number; see holds()"));
              forces.insert(forces.end(), of_garment.forces.begin(), of_garment.forces.end());
            }
            return to_array<double>(std::move(forces), {holds.size(), count, 3});
          },
          "Forces of grippers on every garment at the end of the last step [N], shape (garments, grippers, "
          "3).")
      .def(
          "reset",
          [](Runner& r, const std::optional<Several>& garments) {
            if (garments)
              r.idle().reset(garments_of(r, garments));
            else
              r.idle().reset();
          },
          "garments"_a = nb::none(),
          "Back to the start of the scene: all, or some garments, whose clocks start again; :attr:`time`, "
          "the "
          "bodies and the other garments go on then. What commands said stays said, by whose clock each "
          "says.")
      .def("snapshot", [](Runner& r) { return r.idle().snapshot(); })
      .def(
          "restore", [](Runner& r, const Snapshot& s) { r.idle().restore(s); }, "snapshot"_a,
          "Back to where it was, bit for bit. What commands said stays said. Sizes are checked, not what "
          "else the scenes of the two say: steps, meshes, fabrics.");
  bind_commands(type);
  bind_pictures(type);
  bind_forces(type);
  bind_pickles(snapshot, type);
  bind_bodies(type);
}

}  // namespace isocloth::python
