"""Writes the fits of bending and drape, their scenes and their figures.

    python3 bench/fits/make_rigs.py [COMMAND]

COMMAND: the program isocloth, default build/release/bin/isocloth. Nothing here was measured in a laboratory:

bending.json  A cantilever (Peirce 1930; ASTM D1388, FAST-2), a hanging pear loop and a hanging heart loop of one strip.
              Their figures are those of the heavy elastica, solved here, to the digits of a good ruler.
drape.json    Cusick's drape meter: a disc of 30 cm over one of 18 cm. Its figures are read off a finer mesh, with noise.
"""
import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
GRAVITY = 9.81
# A wool suiting's: its bending length (B / (W g))^(1/3) is 15.9 mm.
WEIGHT, BENDING = 0.2, 8e-6
WIDTH, ACROSS = 0.01, 3


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


# --- the heavy elastica: theta'' = gamma (1 - s) cos theta + h sin theta on s from 0 to 1, gamma = w l^3 / B


def integrate(gamma, h, theta, slope, parts=500):
    """theta, slope, x and z at s = 1 by the classical method of Runge and Kutta."""
    def rate(s, state):
        return state[1], gamma * (1 - s) * math.cos(state[0]) + h * math.sin(state[0]), math.cos(state[0]), math.sin(state[0])

    state, d = (theta, slope, 0.0, 0.0), 1 / parts
    for i in range(parts):
        s = i * d
        a = rate(s, state)
        b = rate(s + d / 2, [y + d / 2 * k for y, k in zip(state, a)])
        c = rate(s + d / 2, [y + d / 2 * k for y, k in zip(state, b)])
        e = rate(s + d, [y + d * k for y, k in zip(state, c)])
        state = tuple(y + d / 6 * (p + 2 * q + 2 * r + t) for y, p, q, r, t in zip(state, a, b, c, e))
    return state


def cantilever_angle(gamma):
    """Of the line from the clamp to the free end, below the horizontal [degrees]."""
    low, high = -gamma, 0.0
    for _ in range(60):
        slope = (low + high) / 2
        low, high = (slope, high) if integrate(gamma, 0, 0, slope)[1] < 0 else (low, slope)
    _, _, x, z = integrate(gamma, 0, 0, low)
    return math.degrees(math.atan2(-z, x))


def loop_length(gamma, begin, h, slope):
    """From the clamp to the lowest point over half of the strip: theta(0) = begin, theta(1) = -pi, x(1) = 0."""
    for k in range(41):
        load = gamma * k / 40
        for _ in range(50):
            def miss(h, slope):
                theta, _, x, _ = integrate(load, h, begin, slope, 200)
                return theta + math.pi, x

            r, d = miss(h, slope), 1e-6
            u, v = miss(h + d, slope), miss(h, slope + d)
            a, b, c, e = (u[0] - r[0]) / d, (v[0] - r[0]) / d, (u[1] - r[1]) / d, (v[1] - r[1]) / d
            det = a * e - b * c
            h, slope = h - (e * r[0] - b * r[1]) / det, slope - (a * r[1] - c * r[0]) / det
            if max(map(abs, r)) < 1e-10:
                break
    return -integrate(gamma, h, begin, slope)[3]


# --- scenes


def strip(name, length, clamps, along):
    """A strip of that length between the clamps, each two columns of nodes of which the inner one ends it."""
    edge = length / (along - 1 - clamps)
    return {
        "name": name, "recipe": "membrane", "step": 0.01, "duration": 4, "gravity": GRAVITY,
        "projection": {"integrator": "backward_euler", "tolerance": 1e-5, "max_substeps": 8},
        "garments": [{
            "name": "strip",
            "mesh": {"generator": "quad_grid", "nodes": [along, ACROSS], "size": [edge * (along - 1), WIDTH]},
            "transform": {"translation": [-edge, 0, 0]},
            "fabric": {"density": WEIGHT, "gravity_density": WEIGHT, "bending_stiffness": BENDING, "mass_damping": 2,
                       "stretch_stiffness": 2000,
                       "shear_stiffness": 50},
            "pins": []}]}


def columns(along, *which):
    return [j * along + i for i in which for j in range(ACROSS)]


def cantilever(overhang, along):
    scene = strip("A strip over the edge of a table", overhang, 1, along)
    scene["garments"][0]["pins"] = [{"name": "table", "select": {"nodes": columns(along, 0, 1)}}]
    return scene


def loop(kind, length, along):
    """The ends come together and turn down in the first second, and for a heart outwards and up in the next."""
    scene = strip(f"A hanging {kind} loop", length, 2, along)
    turn = 90 if kind == "pear" else 270
    pins = []
    for name, nodes, at, sign in (("left", (0, 1), 0, 1), ("right", (along - 1, along - 2), length, -1)):
        pins.append({
            "name": name, "select": {"nodes": columns(along, *nodes)},
            "motion": {"type": "keyframes", "times": [0, 1, 2], "center": [at, 0, 0],
                       "translations": [[0, 0, 0]] + 2 * [[length / 2 - at, 0, 0]],
                       "rotations_degrees": [[0, 0, 0], [0, sign * 90, 0], [0, sign * turn, 0]]}})
    scene["garments"][0]["pins"] = pins
    return scene


def disc(radial, around):
    return {
        "name": "Cusick's drape meter: a disc of 30 cm over one of 18 cm", "recipe": "membrane", "step": 0.01, "duration": 3,
        "gravity": GRAVITY, "seed": 1,
        "projection": {"integrator": "backward_euler", "tolerance": 0.001, "max_substeps": 8},
        "garments": [{
            "name": "specimen",
            "mesh": {"generator": "disc", "radial": radial, "around": around, "radius": 0.15},
            "rest_noise": {"normal_deviation": 0.0001},
            "fabric": {"density": WEIGHT, "gravity_density": WEIGHT, "bending_stiffness": 2e-5, "mass_damping": 2,
                       "stretch_stiffness": 1000,
                       "shear_stiffness": 50},
            "pins": [{"name": "disc", "select": {"sphere": {"center": [0, 0, 0], "radius": 0.0901}}}]}]}


def free_disc():
    """The specimen lies on the disc and is held by friction alone."""
    scene = disc(13, 48)
    scene["name"] = "A disc of cloth of 30 cm that lies on a disc of 18 cm"
    scene["projection"] = {"integrator": "backward_euler", "tolerance": 0.005, "max_substeps": 16}
    scene["contact"] = {"tolerance": 0.0005, "margin": 0.0005}
    specimen = scene["garments"][0]
    specimen["transform"] = {"translation": [0, 0, 0.0012]}
    specimen["fabric"]["thickness"] = 0.001
    del specimen["pins"]
    scene["obstacles"] = [{"name": "disc", "shape": {"type": "cylinder", "radius": 0.09, "height": 0.02, "rounding": 0.002},
                           "position": [0, 0, -0.01], "friction": {"static": 0.4}}]
    return scene


# --- fits


def chord(measure, nodes, noise):
    return [{"name": measure, "nodes": nodes, "measure": measure, "noise": noise}]


def bending():
    overhang, total = 0.032, 0.1
    gamma = WEIGHT * GRAVITY / BENDING
    half = gamma * (total / 2) ** 3
    # A pear hardly depends on bending: it is a test of what the others find.
    rigs = [("cantilever", 65, cantilever(overhang, 65), "angle", 0.2, cantilever_angle(gamma * overhang ** 3), "train"),
            ("heart_loop", 129, loop("heart", total, 129), "length", 0.0002,
             total / 2 * loop_length(half, math.pi / 2, -8.8106, -4.9146), "train"),
            ("pear_loop", 65, loop("pear", total, 65), "length", 0.0002,
             total / 2 * loop_length(half, -math.pi / 2, 9.9127, 3.0277), "test")]
    experiments = []
    for name, along, scene, measure, noise, value, window in rigs:
        end = along - 1 if name == "cantilever" else along // 2
        write(HERE / "rigs" / f"{name}.json", scene)
        write(HERE / "rigs" / f"{name}.figures.json", {measure: round(value, 2 if measure == "angle" else 5)})
        experiments.append({"name": name.replace("_", " "), "scene": f"rigs/{name}.json",
                            "figures": {"file": f"rigs/{name}.figures.json", "time": scene["duration"],
                                        "chords": chord(measure, [along + 1, along + end], noise)},
                            window: [0, scene["duration"]]})
    write(HERE / "bending.json", {
        "name": "Bending of a strip by three rigs", "starts": 4,
        "parameters": [{"number": "fabric.bending_stiffness", "from": 2e-6, "to": 5e-5, "scale": "log"}],
        "experiments": experiments})


def drape(command):
    write(HERE / "rigs" / "drape_disc.json", disc(13, 48))
    write(HERE / "rigs" / "drape_disc_fine.json", disc(16, 72))
    write(HERE / "rigs" / "drape_free_disc.json", free_disc())
    fit = {
        "name": "Bending by drape", "starts": 6, "seed": 1,
        "parameters": [{"number": "fabric.bending_stiffness", "from": 4e-6, "to": 1e-4, "scale": "log", "value": 2e-5},
                       {"number": "fabric.shear_stiffness", "from": 15, "to": 200, "scale": "log", "value": 50}],
        "experiments": [{"name": "drape", "scene": "rigs/drape_disc.json",
                         "figures": {"file": "rigs/drape.figures.json", "time": 3, "drape": {}}}]}
    (HERE / "rigs" / "drape.figures.json").unlink(missing_ok=True)
    fit["experiments"][0]["scene"] = "rigs/drape_disc_fine.json"
    write(HERE / "drape.truth.json", fit)
    subprocess.run([command, "fit", str(HERE / "drape.truth.json"), "--simulate", "--quiet"], check=True)
    (HERE / "drape.truth.json").unlink()
    fit["experiments"][0]["scene"] = "rigs/drape_disc.json"
    for parameter in fit["parameters"]:
        del parameter["value"]
    write(HERE / "drape.json", fit)


if __name__ == "__main__":
    bending()
    drape(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/isocloth")
