// Scenes that must be refused, each with the place and the remedy in one line.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "host/files/json_text.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

/// A good scene of which each case replaces one part.
struct Parts {
  std::string top = R"("recipe": "coltraro2022", "step": 0.01, "duration": 1)";
  std::string mesh = R"({"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]})";
  std::string garment = R"("fabric": {"density": 1})";
  std::string pins = "";
};

std::string scene_text(const Parts& parts) {
  return "{" + parts.top + R"(, "garments": [{"mesh": )" + parts.mesh + ", " + parts.garment +
         (parts.pins.empty() ? "" : R"(, "pins": [)" + parts.pins + "]") + "}]}";
}
std::string with_top(const std::string& top) { return scene_text({.top = top}); }
std::string with_mesh(const std::string& mesh) { return scene_text({.mesh = mesh}); }
std::string with_garment(const std::string& garment) { return scene_text({.garment = garment}); }
std::string with_fabric(const std::string& fabric) { return with_garment(R"("fabric": {)" + fabric + "}"); }
/// A sheet whose warp says what is wrong, or, where it says nothing, nothing that is.
std::string with_fast(const std::string& figures, const std::string& warp) {
  const std::string good = R"("E5": 0.5, "E20": 1.7, "E100": 3, "C": 18)";
  return with_fabric(R"("fast": {"warp": {)" + (warp.empty() ? good : warp) + R"(}, "weft": {)" + good +
                     "}, " + figures + "}");
}
/// A sheet of the other system, `warp` beside its EMT of 5 %, its LT and B, `weight` its W.
std::string with_kes(const std::string& warp, const std::string& weight = "21") {
  return with_fabric(R"("kes": {"W": )" + weight + R"(, "G": 0.6, "warp": {"LT": 0.6, "B": 0.1, )" + warp +
                     R"(}, "weft": {"EMT": 9, "LT": 0.6, "B": 0.1}})");
}
std::string with_pins(const std::string& pins) { return scene_text({.pins = pins}); }
std::string with_motion(const std::string& motion) {
  return with_pins(R"({"select": {"nodes": [0]}, "motion": )" + motion + "}");
}
std::string with_vary(const std::string& vary) {
  return with_garment(R"("replicas": 3, "vary": {)" + vary + "}");
}
std::string with_projection(const std::string& projection) {
  return with_top(R"("step": 0.01, "duration": 1, "projection": {)" + projection + "}");
}

std::string with_impulse(const std::string& impulse) {
  return with_top(R"("step": 0.01, "duration": 1, "recipe": "bender_iterative", "impulse": {)" + impulse +
                  "}");
}

struct BadScene {
  std::string content;
  const char* expected;
};

const BadScene bad_scenes[] = {
    // Syntax
    {"", "scene.json:1:1: syntax error"},
    {"{", "scene.json:1:2: syntax error"},
    {"{\n  \"step\": 0.01,\n  \"duration\" 1\n}", "scene.json:3:14: syntax error"},
    {scene_text({}).substr(0, 60), "scene.json:1:61: syntax error"},
    {scene_text({}) + "}", "syntax error"},
    {"[1, 2]", "scene.json: found a list of 2 at the top, expected an object"},
    {R"({"step": NaN})", "scene.json:1:10: found NaN, expected a finite number, at step"},
    {R"({"step": 1e999})", "scene.json: number overflow parsing '1e999', at step"},
    {with_fabric(R"("density": -Infinity)"),
     "found -Infinity, expected a finite number, at garments[0].fabric.density"},
    {R"({"a": [[1, 2], {"b": 1}, inf]})", "found inf, expected a finite number, at a[2]"},
    {R"({"a": [[1, 2], [3, nah]]})", "invalid literal, at a[1][1]"},
    {with_top(R"("step": 0.01, "duration": 1, "step": 0.02)"), "found the key step twice"},
    {with_fabric(R"("density": 1, "density": 2)"), "found the key garments[0].fabric.density twice"},
    {std::string(100000, '['), "nested deeper than 64"},
    // Keys
    {with_top(R"("step": 0.01, "duratoin": 1)"), "unknown key \"duratoin\", expected $schema, name"},
    {with_top(R"("step": 0.01, "duratoin": 1)"), "the nearest is \"duration\""},
    {with_top(R"("step": 0.01)"), "scene.json: duration: not found, expected this key"},
    {with_fabric(R"("Rho": 1)"), "garments[0].fabric: unknown key \"Rho\""},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1], "radius": 1})"),
     "garments[0].mesh: unknown key \"radius\""},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [3, 3]})"), "garments[0].mesh.size: not found"},
    {with_mesh(R"({"generator": "quadgrid", "nodes": [3, 3]})"), "the nearest is \"quad_grid\""},
    {with_mesh(R"({"genrator": "quad_grid"})"),
     "garments[0].mesh: unknown key \"genrator\", expected generator, panels or file"},
    {with_mesh(R"({"generator": "quad_grid", "file": "a.obj"})"),
     "found both generator and file, expected one"},
    {with_mesh("{}"), "garments[0].mesh: found an empty object, expected generator, panels or file"},
    {with_mesh("3"), "garments[0].mesh: found 3, expected an object"},
    {R"({"step": 0.01, "duration": 1})", "garments: not found"},
    {R"({"step": 0.01, "duration": 1, "garments": []})", "garments: found a list of 0, expected at least 1"},
    {R"({"step": 0.01, "duration": 1, "garments": {}})",
     "garments: found an object, expected a list of objects"},
    {R"({"step": 0.01, "duration": 1, "garments": [7]})", "garments[0]: found 7, expected an object"},
    // Types and ranges
    {with_fabric(R"("density": -1)"),
     "scene.json: garments[0].fabric.density: found -1, expected a number > 0"},
    {with_fabric(R"("density": 0)"), "garments[0].fabric.density: found 0, expected a number > 0"},
    {with_fabric(R"("density": "1")"), "garments[0].fabric.density: found \"1\", expected a number > 0"},
    {with_fabric(R"("bending_stiffness": null)"),
     "garments[0].fabric.bending_stiffness: found null, expected a number >= 0"},
    {with_fabric(R"("mass_damping": -0.1)"),
     "garments[0].fabric.mass_damping: found -0.1, expected a number >= 0"},
    {with_fabric(R"("gravity_density": true)"), "garments[0].fabric.gravity_density: found true"},
    {with_fabric(R"("preset": "coton")"),
     "garments[0].fabric.preset: found \"coton\", expected none, blanket, cotton"},
    {with_fabric(R"("bending": "discrete_shells")"),
     "garments[0].fabric.bending: found \"discrete_shells\", expected another with the recipe coltraro2022"},
    {with_fabric(R"("bending": "hinges")"),
     "garments[0].fabric.bending: found \"hinges\", expected automatic, isometric, plate, mid_edge or "
     "discrete_shells"},
    {with_fabric(R"("bending_stiffness": 0, "weft_bending_stiffness": 1e-5)"),
     "garments[0].fabric.weft_bending_stiffness: found 1e-05, expected 0 where bending_stiffness, along "
     "warp, is 0"},
    {with_fabric(R"("bending_stiffness": 1e-5, "weft_bending_stiffness": 2e-5)"),
     "garments[0].fabric.weft_bending_stiffness: found 2e-05, expected 0 with isometric bending, which knows "
     "no "
     "directions: set fabric.bending to \"plate\""},
    {with_fabric(R"("curves": {"warp": {"strain": [0.01], "force": [5]}})"),
     "garments[0].fabric.curves: found some, expected none with the recipe coltraro2022: use membrane"},
    {scene_text({.top = R"("step": 0.01, "duration": 1, "recipe": "corotational")",
                 .garment = R"("fabric": {"curves": {"warp": {"strain": [0.01], "force": [5]}}})"}),
     "garments[0].fabric.curves: found some, expected none with the recipe corotational, whose "
     "stress is linear in stretch: use membrane, soft_constraints or springs"},
    {with_fabric(R"("shear_viscosity": 0.1)"),
     "garments[0].fabric.stretch_viscosity, shear_viscosity: found some, expected none with the recipe"},
    {with_fabric(R"("curves": {"warp": {"strain": [0.01, 0.02], "force": [5, 4]}})"),
     "garments[0].fabric.curves.warp[1].force: found 4, expected more: force must rise"},
    {with_fabric(R"("curves": {"shear": {"strain": [0.02, 0.01], "force": [5, 6]}})"),
     "garments[0].fabric.curves.shear[1].strain: found 0.01, expected more than 0.02"},
    {with_fabric(R"("curves": {"weft": {"strain": [0.02, 0.01], "force": [5]}})"),
     "garments[0].fabric.curves.weft: found 2 and 1 numbers, expected as many of one as of the other"},
    {with_fabric(R"("kes": {"warp": {"EMT": 5, "LT": 0.6, "B": 0.1}})"),
     "garments[0].fabric.kes.W: not found"},
    {with_kes(R"("EMT": 5)", "210"), "garments[0].fabric.kes.W: found 210, expected a number from 1 to 100"},
    {with_kes(R"("EMT": 0.05)"),
     "garments[0].fabric.kes.warp.EMT: found 0.05, expected a number from 0.25 to 200"},
    {with_kes(R"("EMT": 5, "WT": 0.75)"),
     "garments[0].fabric.kes.warp.WT: found 0.75 gf cm/cm^2, expected about 7.5, 2.5 EMT LT"},
    {with_kes(R"("EMT": 5, "WT": 8.7)"), "garments[0].fabric.kes.warp.WT: found 8.7 gf cm/cm^2"},
    {with_kes(R"("EMT": 5, "2HGG": 1)"), "unknown key \"2HGG\""},
    {with_fabric(R"("curves": {"warp": {"polynomial": [50, -300], "up_to": 0.2}})"),
     "garments[0].fabric.curves.warp.polynomial: found a force per width of the stretched cloth that does "
     "not "
     "rise at strain 0.2, expected one that rises up to strain 0.2"},
    {with_fabric(R"("curves": {"warp": {"polynomial": [50]}})"), "garments[0].fabric.curves.warp.up_to"},
    {with_fabric(R"("curves": {"warp": {"strain": [0.1], "force": [5], "between": "straight"}})"),
     "garments[0].fabric.curves.warp.between: found \"straight\""},
    {with_fabric(R"("viscosity_curves": {"warp": {"rate": [0.1], "force": [5]}})"),
     "garments[0].fabric.viscosity_curves: found some, expected none with the recipe coltraro2022"},
    {with_fabric(R"("viscosity_curves": {"shear": {"rate": [0.1, 0.2], "force": [5, 4]}})"),
     "garments[0].fabric.viscosity_curves.shear[1].force: found 4, expected more: force must rise"},
    {with_fabric(R"("curves": {"warp": {"strain": [], "force": []}})"),
     "garments[0].fabric.curves.warp: found no point, expected at least one"},
    {with_fast(R"("EB5": 3)", ""), "garments[0].fabric.fast.W: not found"},
    {with_fast(R"("W": 185)", ""), "garments[0].fabric.fast.EB5: not found"},
    {with_fast(R"("W": 0.185, "EB5": 3)", ""),
     "garments[0].fabric.fast.W: found 0.185, expected a number from 10 to 5000"},
    {with_fast(R"("W": 185, "EB5": 0.03)", ""),
     "garments[0].fabric.fast.EB5: found 0.03, expected a number from 0.25 to 100"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": 0.5, "E20": 1.7, "E100": 1.2, "C": 18)"),
     "garments[0].fabric.fast.warp.E100: found 1.2, expected a number from 1.7"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": 0.5, "E20": 0.4, "E100": 3, "C": 18)"),
     "garments[0].fabric.fast.warp.E20: found 0.4, expected a number > 0.5"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": -0.5, "E20": 1.7, "E100": 3, "C": 18)"),
     "garments[0].fabric.fast.warp.E5: found -0.5, expected a number from 0"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": 0.005, "E20": 0.017, "E100": 0.03, "C": 18)"),
     "garments[0].fabric.fast.warp.E100: found 0.03, expected a number from 0.25 to 100"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": 0.5, "E20": 1.7, "E100": 3, "C": 1.8)"),
     "garments[0].fabric.fast.warp.C: found 1.8, expected a number from 4 to 100"},
    {with_fast(R"("W": 185, "EB5": 3)", R"("E5": 0.5, "E20": 1.7, "E100": 3)"),
     "garments[0].fabric.fast.warp"},
    {with_fabric(R"("poisson_ratio": 1)"), "garments[0].fabric.poisson_ratio: found 1"},
    {with_fabric(R"("yield_strain": -0.1)"),
     "garments[0].fabric.yield_strain: found -0.1, expected a number"},
    {with_fabric(R"("flow_time": "slow")"),
     "garments[0].fabric.flow_time: found \"slow\", expected a number"},
    {with_fabric(R"("yield_strain": 0.1)"),
     "garments[0].fabric.yield_strain: found 0.1, expected 0 with the recipe coltraro2022, which is elastic: "
     "use "
     "sakaguchi1991"},
    {with_fabric(R"("flow_time": 0.1)"),
     "garments[0].fabric.flow_time: found 0.1, expected 0 where yield_strain is 0, and nothing flows"},
    {with_fabric(R"("strain_limit": -0.01)"),
     "garments[0].fabric.strain_limit: found -0.01, expected a number"},
    {with_fabric(R"("principal_strain_limit": 0.01)"),
     "garments[0].fabric.principal_strain_limit: found 0.01, expected 0 with the recipe coltraro2022"},
    {with_fabric(R"("strain_limit": 0.01)"),
     "garments[0].fabric.strain_limit: found 0.01, expected 0 with the recipe coltraro2022"},
    {with_top(R"("step": 0, "duration": 1)"), "step: found 0, expected a number > 0"},
    {with_top(R"("step": 0.3, "duration": 1)"), "duration: found 1, expected a whole number of steps"},
    {with_top(R"("step": 0.01, "duration": 1, "frame_interval": 0.015)"), "frame_interval: found 0.015"},
    {with_top(R"("step": 0.01, "duration": 1, "seed": -1)"),
     "seed: found -1, expected a whole number from 0"},
    {with_top(R"("step": 0.01, "duration": 1, "seed": 0.5)"), "seed: found 0.5, expected a whole number"},
    {with_top(R"("step": 0.01, "duration": 1, "seed": 18446744073709551615)"),
     "seed: found 18446744073709551615"},
    {with_top(R"("step": 0.01, "duration": 1, "gravity": [0, 0, -9.8])"), "gravity: found a list of 3"},
    {with_top(R"("step": 0.01, "duration": 1, "recipe": "coltraro2021")"), "the nearest is \"coltraro2022\""},
    {with_top("\"step\": 0.01, \"duration\": 1, \"name\": \"two\\nlines\""),
     "name: found \"two\\nlines\", expected a text of one line"},
    {with_projection(R"("tolerance": 0)"), "projection.tolerance: found 0, expected a number > 0 and <= 0.5"},
    {with_projection(R"("tolerance": 1)"), "projection.tolerance: found 1"},
    {with_projection(R"("max_iterations": -1)"),
     "projection.max_iterations: found -1, expected a whole number from 0"},
    {with_projection(R"("max_substeps": 3)"), "projection.max_substeps: found 3"},
    {with_projection(R"("method": "newton")"),
     "projection.method: found \"newton\", expected proximal_newton or fast_projection"},
    {with_projection(R"("metric": "b")"), "projection.metric: found \"b\", expected implicit or mass"},
    {with_projection(R"("on_violation": "ignore")"), "expected stop or continue"},
    {with_impulse(R"("mode": "sweeps")"), "impulse.mode: found \"sweeps\", expected substeps or converge"},
    {with_impulse(R"("tolerance": 0)"), "impulse.tolerance: found 0, expected a number > 0 and <= 0.5"},
    {with_impulse(R"("substeps": -1)"), "impulse.substeps: found -1, expected a whole number from 0"},
    {with_impulse(R"("substeps": 1.5)"), "impulse.substeps: found 1.5, expected a whole number"},
    {with_impulse(R"("max_sweeps": -1)"), "impulse.max_sweeps: found -1, expected a whole number from 0"},
    {with_impulse(R"("relaxation": 2)"), "impulse.relaxation: found 2, expected a number"},
    {with_impulse(R"("relaxation": 1.5)"),
     "impulse.relaxation: found 1.5, expected at most 1 in mode substeps"},
    {with_impulse(R"("velocity_pass": "yes")"), "expected automatic, on or off"},
    {with_impulse(R"("max_solves": 0)"), "impulse.max_solves: found 0, expected a whole number from 1"},
    {with_impulse(R"("on_violation": "ignore")"),
     "impulse.on_violation: found \"ignore\", expected stop or continue"},
    {with_impulse(R"("sweeps": 3)"), "impulse: unknown key \"sweeps\""},
    {with_impulse(R"("max_sweep": 3)"), "the nearest is \"max_sweeps\""},
    {with_fabric(R"("shear_diagonals": 3)"),
     "garments[0].fabric.shear_diagonals: found 3, expected a whole number from 1 to 2"},
    {with_fabric(R"("shear_spring": {"stiffness": -1})"),
     "garments[0].fabric.shear_spring.stiffness: found -1, expected a number >= 0"},
    {with_fabric(R"("bend_spring": {"damping": "low"})"),
     "garments[0].fabric.bend_spring.damping: found \"low\""},
    {with_fabric(R"("bend_spring": {"stifness": 1})"), "the nearest is \"stiffness\""},
    {with_fabric(R"("shear_spring": 3)"), "garments[0].fabric.shear_spring: found 3, expected an object"},
    {with_fabric(R"("shear_spring": {"stiffness": 3})"),
     "garments[0].fabric.shear_spring: found stiffness 3 and damping 0, expected none with the recipe "
     "coltraro2022"},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [1, 3], "size": [1, 1]})"),
     "garments[0].mesh.nodes[0]: found 1"},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [3], "size": [1, 1]})"),
     "garments[0].mesh.nodes: found a list of 1, expected a list of 2"},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [3, 2.5], "size": [1, 1]})"),
     "garments[0].mesh.nodes[1]: found 2.5"},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [3, 3], "size": [1, -1]})"),
     "garments[0].mesh.size[1]: found -1"},
    {with_mesh(R"({"generator": "quad_grid", "nodes": [1000000, 1000000], "size": [1, 1]})"),
     "found a mesh of 1e+12 nodes"},
    {with_mesh(R"({"generator": "ring", "radial": 3, "around": 9, "inner_radius": 2, "outer_radius": 1})"),
     "garments[0].mesh.outer_radius: found 1, expected more than inner_radius, 2"},
    {with_garment(R"("transform": {"scale": 0})"), "garments[0].transform.scale: found 0"},
    {with_garment(R"("transform": {"scale": 1e-300})"), "garments[0].mesh"},
    {with_garment(R"("transform": {"rotation": [0, 0]})"),
     "garments[0].transform.rotation: found a list of 2"},
    {with_garment(R"("rest_noise": {"normal_deviation": 10})"), "garments[0].mesh"},
    {with_garment(R"("rest_noise": {})"), "garments[0].rest_noise.normal_deviation: not found"},
    // Pins
    {with_pins(R"({"select": {"nodes": [9]}})"),
     "garments[0].pins[0].nodes[0]: found 9, expected a node from 0 to 8"},
    {with_pins(R"({"select": {"nodes": [-1]}})"), "garments[0].pins[0].select.nodes[0]: found -1"},
    {with_pins(R"({"select": {"nodes": [1, 1]}})"), "already in pins[0]"},
    {with_pins(R"({"select": {"nodes": []}})"),
     "garments[0].pins[0].select: found no node, expected at least one"},
    {with_pins(R"({"select": {"box": {"min": [5, 5, 5], "max": [6, 6, 6]}}})"),
     "garments[0].pins[0].select: found no node"},
    {with_pins(R"({"select": {"box": {"min": [5, 5, 5]}}})"),
     "garments[0].pins[0].select.box.max: not found"},
    {with_pins(R"({"select": {"sphere": {"center": [9, 9, 9], "radius": 1}}})"), "found no node"},
    {with_pins(R"({"select": {"boundary_loop": 1}})"),
     "garments[0].pins[0].select.boundary_loop: found 1, expected less than 1"},
    {with_pins(R"({"select": {"nearest": [[0, 0, 0], [0.1, 0, 0]]}})"),
     "garments[0].pins[0].select.nearest[1]: found node 0"},
    {with_pins(R"({"select": {"nearst": [[0, 0, 0]]}})"), "the nearest is \"nearest\""},
    {with_pins(R"({"nodes": [0]})"), "garments[0].pins[0]: unknown key \"nodes\""},
    {with_pins(R"({"select": {"nodes": [0]}}, {"select": {"nodes": [1, 0]}})"),
     "garments[0].pins[1].nodes[1]"},
    {with_motion(R"({"type": "wobble"})"), "garments[0].pins[0].motion.type: found \"wobble\""},
    {with_motion(R"({"type": "oscillation", "frequency": 1})"),
     "garments[0].pins[0].motion.amplitude: not found"},
    {with_motion(R"({"type": "oscillation", "amplitude": [1, 0, 0], "frequency": 0})"),
     "motion.frequency: found 0"},
    {with_motion(R"({"type": "keyframes", "times": [0, 0]})"),
     "garments[0].pins[0].motion.times[1]: found 0"},
    {with_motion(R"({"type": "keyframes", "times": []})"), "garments[0].pins[0].motion.times"},
    {with_motion(R"({"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0]]})"),
     "motion.translations: found 1 vectors"},
    // Replicas
    {with_garment(R"("gravity": null)"), "garments[0].gravity: found null, expected a number"},
    {with_garment(R"("time_offset": "1")"), "garments[0].time_offset: found \"1\", expected a number"},
    {with_garment(R"("replicas": 0)"), "garments[0].replicas: found 0, expected a whole number from 1"},
    {with_garment(R"("replicas": 2.5)"), "garments[0].replicas: found 2.5"},
    {with_garment(R"("vary": [])"), "garments[0].vary: found a list of 0, expected an object"},
    {with_vary(R"("fabric.densty": {"from": 1, "to": 2})"),
     "garments[0].vary: unknown number \"fabric.densty\", expected the path of a number; the nearest is "
     "\"fabric.density\""},
    {with_vary(R"("name": {"from": 1, "to": 2})"), "garments[0].vary: unknown number \"name\""},
    {with_vary(R"("fabric.density": 3)"), "garments[0].vary.fabric.density: found 3, expected an object"},
    {with_vary(R"("fabric.density": {})"),
     "garments[0].vary.fabric.density: found an empty object, expected values or from"},
    {with_vary(R"("fabric.density": {"from": 1})"), "garments[0].vary.fabric.density.to: not found"},
    {with_vary(R"("fabric.density": {"from": 1, "to": 2, "values": [1]})"), "found both values and from"},
    {with_vary(R"("fabric.density": {"from": 1, "to": 2, "scale": "lin"})"),
     "garments[0].vary.fabric.density.scale: found \"lin\", expected linear or log"},
    {with_vary(R"("fabric.density": {"from": 1, "to": "2"})"),
     "garments[0].vary.fabric.density.to: found \"2\""},
    {with_vary(R"("fabric.mass_damping": {"from": 0, "to": 2, "scale": "log"})"),
     "garments[0].vary.fabric.mass_damping.from: found 0, expected a number > 0 on a log scale"},
    {with_vary(R"("fabric.density": {"values": [1, 2]})"),
     "garments[0].vary.fabric.density.values: found 2 values, expected 3, one per replica"},
    {with_vary(R"("fabric.density": {"values": []})"), "found 0 values, expected 3"},
    // As the keys themselves refuse it.
    {with_vary(R"("fabric.density": {"from": 1, "to": -1})"),
     "garments[0].fabric.density: found 0, expected a number > 0; with fabric.density = 0"},
    {with_vary(R"("mesh.nodes[0]": {"from": 3, "to": 4})"),
     "garments[0].mesh.nodes[0]: found 3.5, expected a whole number from 2"},
    {with_vary(R"("mesh.size[1]": {"from": 1, "to": 0})"), "garments[0].mesh.size[1]: found 0"},
    {with_vary(R"("rest_noise.normal_deviation": {"from": 0, "to": 100})"), "; in garment 0[1]"},
    {with_vary(R"("transform.scale": {"values": [1, 1, 1e-300]})"), "; in garment 0[2]"},
    {with_vary(R"("rest_noise.seed": {"values": [1, 2, 3]})"),
     "garments[0].rest_noise.normal_deviation: not found"},
    // Files
    {with_mesh(R"({"file": "missing.obj"})"), "missing.obj: cannot read: No such file or directory"},
    {with_mesh(R"({"file": "nan.obj"})"), "nan.obj:2: v: found \"nan\""},
    {with_mesh(R"({"file": "empty.ply"})"), "empty.ply: "},
    {with_motion(R"({"type": "recorded", "file": "missing.csv"})"), "missing.csv: cannot read"},
    {with_motion(R"({"type": "recorded", "file": "walk.glb"})"),
     "motion.file: found \"walk.glb\", expected .csv, .pc2, .mdd, a result's .h5 or numbered meshes as "
     "walk_%04d.obj; "
     "\"python -m isocloth import\" makes one"},
    {with_motion(R"({"type": "recorded", "file": "short.csv"})"), "short.csv:2: found 3 columns, expected 4"},
    {with_motion(R"({"type": "recorded", "file": "word.csv"})"), "word.csv:2: column 3: found \"x\""},
    {with_motion(R"({"type": "recorded", "file": "back.csv"})"), "back.csv:2: found the time 0"},
    {with_motion(R"({"type": "recorded", "file": "empty.csv"})"), "empty.csv: found no rows"},
};

TEST(BadScene, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  folder.write("nan.obj", "v 0 0 0\nv nan 0 0\n");
  folder.write(
      "empty.ply",
      "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 0\nproperty list uchar int vertex_indices\nend_header\n");
  folder.write("short.csv", "t,x,y,z\n0,1,2\n");
  folder.write("word.csv", "0,1,2,3\n1,2,x,4\n");
  folder.write("back.csv", "0,1,2,3\n0,2,3,4\n");
  folder.write("empty.csv", "t,x,y,z\n");
  ASSERT_NO_THROW(read_scene(folder.write("scene.json", scene_text({}))));
  const std::size_t entries = folder.entry_count();
  for (const BadScene& bad : bad_scenes) {
    const std::filesystem::path path = folder.write("scene.json", bad.content);
    const std::string message = message_of<Error>([&] { read_scene(path); });
    EXPECT_NE(message.find(bad.expected), std::string::npos) << message << "\nexpected: " << bad.expected;
    EXPECT_EQ(message.find(path.string()), 0) << message;
    EXPECT_EQ(folder.entry_count(), entries);
  }
  EXPECT_NE(message_of<FileError>([&] { read_scene(folder / "none.json"); }).find("none.json: cannot read"),
            std::string::npos);
  EXPECT_NE(message_of<FileError>([&] { read_scene(folder.path()); }).find("directory"), std::string::npos);
}

TEST(BadScene, GarmentsHaveDistinctNames) {
  const TemporaryFolder folder;
  const std::string mesh = R"("mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]})";
  const auto path =
      folder.write("scene.json", R"({"step": 0.01, "duration": 1, "garments": [{"name": "a", )" + mesh +
                                     R"(}, {"name": "a", )" + mesh + "}]}");
  const std::string message = message_of<SceneError>([&] { read_scene(path); });
  EXPECT_NE(message.find("garments[1].name: found \"a\""), std::string::npos) << message;
}

}  // namespace
}  // namespace isocloth
