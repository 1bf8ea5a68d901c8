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
constexpr std::uint64_t format = 0x69736f636c010001;

void begin(Writer& to) { to(format); }
void begin(Reader& from) {
  if (from.take<std::uint64_t>() != format)
    throw FileError("pickle: found bytes of another version, expected those of this version of isocloth");
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
std::string_view from_bytes(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// All of a scene that commands may change, and what was steered.
template <class Archive, class SceneOf, class Steerings>
void archive_commands(Archive& archive, SceneOf& scene, Steerings& steering) {
  for (auto& garment : scene.garments) {
    archive(garment.fabric);
    archive(garment.gravity);
    archive(garment.forces);
    for (auto& pin : garment.pins) {
      archive(pin.motion);
      archive(pin.ramp);
    }
    for (auto& gripper : garment.grippers) {
      archive(gripper.motion);
      archive(gripper.holds);
    }
  }
  for (auto& obstacle : scene.obstacles) {
    archive(obstacle.motion);
    archive(obstacle.is_steered);
    archive(obstacle.world_motions);
  }
  archive(scene.contact.pairs);
  archive(scene.contact.cloth_friction);
  archive(scene.wind);
  archive(steering);
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
             archive_commands(writer, r.idle().scene(), r.idle().steering());
             return to_bytes(writer.bytes);
           })
      .def(
          "_command",
          [](Runner& r, const nb::bytes& bytes) {
            Reader reader(from_bytes(bytes));
            begin(reader);
            Scene scene = r.idle().scene();
            std::vector<Steering> steering;
            archive_commands(reader, scene, steering);
            r.idle().take_commands(scene, steering);
          },
          "bytes"_a, "What :meth:`_commands` of a simulation of the same scene returned.");
}

}  // namespace isocloth::python
