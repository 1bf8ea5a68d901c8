// Pickles: snapshots as bytes, and what commands have said.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/python/src/archive.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/runner.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

/// First in all bytes: changes with what structs hold.
constexpr std::uint64_t format = 0x69736f636c010000;

void begin(Writer& to) { to(format); }
void begin(Reader& from) {
  if (from.take<std::uint64_t>() != format)
    throw FileError("pickle: found bytes of another version, expected those of this version of isocloth");
}

template <class Value>
std::string bytes_of(const Value& value) {
  Writer writer;
  writer(value);
  return writer.bytes;
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
std::string_view from_bytes(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

struct WorldMotion {
  Index world = 0;
  ObstacleMotion motion;
};

/// Calls each(value, set) for all of a scene that commands may change: set(value) is the command.
template <class Each>
void for_each_command(Simulation& simulation, const Each& each) {
  const Scene& scene = simulation.scene();
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    each(garment.fabric, [&simulation, g](const Fabric& fabric) { simulation.set_fabric(g, fabric); });
    each(garment.gravity.value_or(scene.gravity),
         [&simulation, g](double gravity) { simulation.set_gravity(g, gravity); });
    each(garment.forces,
         [&simulation, g](const std::vector<Vec3d>& forces) { simulation.set_forces(g, forces); });
    const double lead =
        simulation.time(g) - simulation.time();  // commands are by the clock of the simulation
    for (std::size_t p = 0; p < garment.pins.size(); ++p)
      each(garment.pins[p].motion, [&simulation, g, p, lead](const Motion& motion) {
        simulation.set_pin_motion(g, p, delayed(motion, -lead));
      });
    for (std::size_t n = 0; n < garment.grippers.size(); ++n) {
      each(garment.grippers[n].motion, [&simulation, g, n, lead](const ObstacleMotion& motion) {
        simulation.set_gripper_motion(g, n, delayed(motion, -lead));
      });
      each(garment.grippers[n].holds,
           [&simulation, g, n](const std::vector<Hold>& holds) { simulation.set_holds(g, n, holds); });
    }
  }
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    each(scene.obstacles[o].motion,
         [&simulation, o](const ObstacleMotion& motion) { simulation.set_obstacle_motion(o, motion); });
    std::vector<WorldMotion> of_worlds;
    for (const auto& [world, motion] : scene.obstacles[o].world_motions) of_worlds.push_back({world, motion});
    each(of_worlds, [&simulation, o](const std::vector<WorldMotion>& said) {
      for (const auto& [world, motion] : said) simulation.set_obstacle_motion(o, motion, world);
    });
  }
  each(scene.contact.pairs, [&simulation](const std::vector<FrictionPair>& pairs) {
    for (const FrictionPair& pair : pairs)
      simulation.set_friction(pair.obstacle, {pair.garment}, pair.friction);
  });
  each(scene.contact.cloth_friction,
       [&simulation](const Friction& friction) { simulation.set_cloth_friction(friction); });
  each(scene.wind, [&simulation](const Wind& wind) { simulation.set_wind(wind); });
}

}  // namespace

void bind_pickles(nb::class_<Snapshot>& snapshot, nb::class_<Runner>& type) {
  snapshot
      .def("__getstate__",
           [](const Snapshot& s) {
             Writer writer;
             begin(writer);
             writer(s);
             return to_bytes(writer.bytes);
           })
      .def("__setstate__", [](Snapshot& s, const nb::bytes& bytes) {
        Reader reader(from_bytes(bytes));
        begin(reader);
        new (&s) Snapshot{};
        reader(s);
      });
  type.def("_commands",
           [](Runner& r) {
             Writer writer;
             begin(writer);
             for_each_command(r.idle(), [&](const auto& value, const auto&) { writer(value); });
             return to_bytes(writer.bytes);
           })
      .def(
          "_command",
          [](Runner& r, const nb::bytes& bytes) {
            Reader reader(from_bytes(bytes));
            begin(reader);
            for_each_command(r.idle(), [&](const auto& value, const auto& set) {
              const auto said = reader.take<std::remove_cvref_t<decltype(value)>>();
              if (bytes_of(said) != bytes_of(value)) set(said);
            });
          },
          "bytes"_a, "What :meth:`_commands` of a simulation of the same scene returned.");
}

}  // namespace isocloth::python
