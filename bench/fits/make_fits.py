"""Writes the fits of this folder, their scenes and, by simulating them, their recordings.

    python3 bench/fits/make_fits.py [COMMAND]

COMMAND: the program isocloth, default build/release/bin/isocloth. Nothing here was recorded in a laboratory:

paper.json    A3 paper is shaken by two corners, fast and slowly, as Coltraro et al. 2022, section 9, shook theirs. A
              sheet of 17 x 17 nodes stands for the real one; 25 of its points are seen ten times a second to 5 mm. A
              sheet of 9 x 9 nodes is fitted to the first half of the fast motion.
camera.json   The fast motion as a depth camera has it: in millimetres, its axes right, down and away from it, 2 degrees
              off the vertical, three points in a hundred hidden. The fit follows the bar that holds the corners.
clips.json    A specimen of 0.1 m is pulled and sheared by two clips, as by Miguel et al. 2012, section 3. Seen are the
              force of a clip and all nodes to 0.2 mm.
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy

HERE = Path(__file__).parent
SIDE, NODES, SECONDS = 0.1, 11, 2.0
CELL = SIDE / (NODES - 1)
# What the simulated specimen is made of: a wool-like cloth that stiffens, twice as soft along weft.
STRAINS = {"warp": [0.01, 0.02, 0.04], "weft": [0.02, 0.04, 0.08], "shear": [0.05, 0.1, 0.2]}
TRUTH = {"warp": [4.0, 12.0, 50.0], "weft": [4.0, 12.0, 50.0], "shear": [1.2, 2.6, 6.5]}
# The bounds of the fit: each point of a curve has a range of its own, so that forces ascend.
BOUNDS = {"warp": [[1, 7], [7, 25], [25, 200]], "weft": [[1, 7], [7, 25], [25, 200]],
          "shear": [[0.3, 1.9], [1.9, 4], [4, 20]]}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def simulate(command, name, fit):
    """Recordings of a fit whose parameters have their true values."""
    path = HERE / f"{name}.truth.json"
    write(path, fit)
    for experiment in fit["experiments"]:
        for data in [experiment["positions"], *experiment.get("forces", [])]:
            (HERE / data["file"]).unlink(missing_ok=True)
    subprocess.run([command, "fit", str(path), "--simulate", "--quiet"], check=True)
    path.unlink()


def blind(fit):
    return {**fit, "parameters": [{k: v for k, v in p.items() if k != "value"} for p in fit["parameters"]]}


# --- paper

SHAKES = {"fast": (0.075, 0.6), "slow": (0.15, 0.3)}


def shake(kind, nodes, frame_interval=0.1):
    amplitude, frequency = SHAKES[kind]
    return {
        "name": f"A3 paper shaken {kind}, {nodes} x {nodes} nodes", "gravity": 9.8, "step": 0.01, "duration": 14,
        "frame_interval": frame_interval,
        "projection": {"tolerance": 0.001, "max_substeps": 8},
        "garments": [{
            "name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [nodes, nodes], "size": [0.297, 0.42]},
            "transform": {"rotation": [69.282032302755] * 3},
            "fabric": {"density": 1, "gravity_density": 1, "mass_damping": 1},
            "pins": [{"name": "upper corners", "select": {"nearest": [[0, 0, 0.42], [0, 0.297, 0.42]]},
                      "motion": {"type": "oscillation", "amplitude": [amplitude, 0, 0], "frequency": frequency,
                                 "start": 1, "duration": 10}}]}]}


def paper(nodes):
    stride = (nodes - 1) // 4
    seen = [row * nodes + column for row in range(0, nodes, stride) for column in range(0, nodes, stride)]

    def experiment(kind, windows):
        return {"name": kind, "scene": f"paper/{kind}_{nodes}.json",
                "positions": {"file": f"paper/{kind}.csv", "nodes": seen, "noise": 0.005}, **windows}

    return {"name": "A3 paper: damping and virtual mass",
            "parameters": [{"number": "fabric.mass_damping", "from": 0.1, "to": 8, "scale": "log", "value": 2.49},
                           {"number": "fabric.gravity_density", "from": 0.05, "to": 1, "value": 0.37}],
            "experiments": [experiment("fast", {"train": [0, 7], "test": [7.1, 14]}),
                            experiment("slow", {"test": [0, 14]})]}


def camera(command):
    """A recording of 25 frames a second in the camera's coordinates, and the fit to it."""
    tilt = numpy.radians(2)
    truth = paper(17)
    truth["experiments"] = truth["experiments"][:1]
    truth["experiments"][0]["scene"] = "camera.scene.json"
    truth["experiments"][0]["positions"]["file"] = "camera.csv"
    write(HERE / "camera.scene.json", shake("fast", 17, 0.04))
    simulate(command, "camera", truth)
    rows = numpy.loadtxt(HERE / "camera.csv", delimiter=",")
    (HERE / "camera.scene.json").unlink()
    (HERE / "camera.csv").unlink()
    points = rows[:, 1:].reshape(len(rows), -1, 3)
    middle = points[0].mean(axis=0)
    turn = numpy.array([[numpy.cos(tilt), 0, numpy.sin(tilt)], [0, 1, 0], [-numpy.sin(tilt), 0, numpy.cos(tilt)]])
    points = (points - middle) @ turn.T + middle
    # The camera looks along -x from 1.2 m: right is y, down is -z.
    seen = 1000 * numpy.stack([points[..., 1], -points[..., 2], 1.2 - points[..., 0]], axis=-1)
    hidden = numpy.random.default_rng(4).random(seen.shape[:2]) < 0.03
    hidden[0] = False
    seen[hidden] = numpy.nan
    numpy.savetxt(HERE / "paper" / "camera.csv", numpy.column_stack([rows[:, 0], seen.reshape(len(rows), -1)]),
                  fmt="%.5g", delimiter=",", header="t [s], x, y, z of 25 points [mm]")
    fit = blind(paper(9))
    fit["name"] = "A3 paper seen by a depth camera"
    experiment = fit["experiments"][0]
    experiment["positions"] |= {"file": "paper/camera.csv", "transform": {
        # Axes of the camera to those of the scene: a third of a turn about (-1, -1, 1), then where it stands.
        "scale": 0.001, "rotation": [-69.28203230275511, -69.28203230275511, 69.28203230275511],
        "translation": [1.2, 0, 0]}}
    experiment |= {"follow": [{"pin": "upper corners", "rigid": True}], "smoothing": 0.3, "lead_in": 4, "most_tilt": 8}
    fit["experiments"] = [experiment]
    write(HERE / "camera.json", fit)


# --- clips

def gripper(name, position, size, translation):
    motion = {"type": "keyframes", "times": [0, SECONDS], "translations": [[0, 0, 0], translation]}
    return {"name": name, "region": {"type": "box", "size": size}, "position": position, "motion": motion,
            "holds": [{"from": 0, "to": 2 * SECONDS}]}


def bars(axis, translation):
    """Clips along the whole of two opposite sides, the second of which moves."""
    size = [0.5 * CELL, 1.1 * SIDE, 0.01] if axis == 0 else [1.1 * SIDE, 0.5 * CELL, 0.01]
    places = [[0, SIDE / 2, 0], [SIDE, SIDE / 2, 0]] if axis == 0 else [[SIDE / 2, 0, 0], [SIDE / 2, SIDE, 0]]
    return [gripper("fixed clip", places[0], size, [0, 0, 0]), gripper("moving clip", places[1], size, translation)]


RIGS = {
    "stretch_warp": bars(0, [0.04 * SIDE, 0, 0]),
    "stretch_weft": bars(1, [0, 0.08 * SIDE, 0]),
    "shear": bars(0, [0, 0.15 * SIDE, 0]),
    "corner_pull": [gripper("fixed clip", [0, 0, 0], [1.5 * CELL] * 3, [0, 0, 0]),
                    gripper("moving clip", [SIDE, SIDE, 0], [1.5 * CELL] * 3, [0.04 * SIDE, 0.04 * SIDE, 0])],
}


def rig(kind, recipe, fabric, mesh="quad_grid"):
    """The scene of a rig."""
    return {
        "name": f"Tensile tester: {kind.replace('_', ' ')}", "recipe": recipe, "gravity": 0, "step": 0.02,
        "duration": SECONDS, "frame_interval": 0.1, "seed": 1,
        "projection": {"integrator": "backward_euler", "tolerance": 1e-5, "max_substeps": 8},
        "garments": [{
            "name": "specimen", "mesh": {"generator": mesh, "nodes": [NODES, NODES], "size": [SIDE, SIDE]},
            "rest_noise": {"normal_deviation": 2e-4},
            "fabric": {"density": 0.25, "gravity_density": 0.25, "bending_stiffness": 2e-6, "mass_damping": 0.5,
                       **fabric}, "grippers": RIGS[kind]}]}


def curves(values):
    return {"curves": {kind: {"strain": STRAINS[kind], "force": values[kind]} for kind in STRAINS}}


def curve_parameters():
    return [{"number": f"fabric.curves.{kind}.force[{i}]", "from": low, "to": high, "scale": "log",
             "value": TRUTH[kind][i]}
            for kind in STRAINS for i, (low, high) in enumerate(BOUNDS[kind])]


def clips(parameters, folder="clips"):
    """Fits to the recordings of three rigs; pulled corners are the test. Sheared cloth buckles: the windows grow in
    levels, as deformations do in Miguel et al. 2012, section 5."""
    def experiment(kind):
        window = "test" if kind == "corner_pull" else "train"
        return {"name": kind.replace("_", " "), "scene": f"{folder}/{kind}.json",
                "positions": {"file": f"clips/{kind}.csv", "noise": 0.0002},
                "forces": [{"gripper": "moving clip", "file": f"clips/{kind}_force.csv", "noise": 0.02}],
                window: [0.1, SECONDS]}

    return {"name": "Stress-strain curves of a wool-like cloth", "levels": 3, "most_iterations": 60,
            "parameters": parameters,
            "experiments": [experiment(kind) for kind in RIGS]}


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/isocloth"
    for kind in SHAKES:
        for nodes in (9, 17):
            write(HERE / "paper" / f"{kind}_{nodes}.json", shake(kind, nodes))
    simulate(command, "paper", paper(17))
    write(HERE / "paper.json", blind(paper(9)))
    camera(command)
    for kind in RIGS:
        write(HERE / "clips" / f"{kind}.json", rig(kind, "membrane", curves(TRUTH)))
    simulate(command, "clips", clips(curve_parameters()))
    write(HERE / "clips.json", blind(clips(curve_parameters())))


if __name__ == "__main__":
    main()
