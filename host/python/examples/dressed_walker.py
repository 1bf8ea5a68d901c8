"""A body of 10,000 faces walks in a tank top and a skirt of two layers.

usage: dressed_walker.py FOLDER [--seconds 4] [--run]

Writes FOLDER/walker.obj, FOLDER/walker.pc2 and FOLDER/scene.json; with --run the result is in FOLDER/result, else run
`isocloth run FOLDER/scene.json -o FOLDER/result`. The body is procedural: three closed tubes, which overlap each
other as they like, thin at first, so that clothes fit around them, then round. To the engine it is a garment all of
whose nodes are driven by a point cache, as Blender and others write them.
"""

import argparse
import pathlib
import struct

import isocloth
import isocloth.scene
import numpy

RATE = 60  # frames per second of the cache
INFLATED, SETTLED = 0.5, 0.9  # when the body is round, when it starts to walk [s]
WAIST, HIP, SHOULDER = 1.0, 0.9, 1.52  # heights [m]
THIGH, SHIN, SPEED, STEPS = 0.44, 0.42, 1.0, 1.6  # [m], [m], [m/s], [1/s]


def smooth(t):
    t = numpy.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


def tube(centers, radii, side, around):
    """Rings about a curve, closed by a point at either end: positions, shape (rings * around + 2, 3). radii: of each
    ring along `side` and across it."""
    along = numpy.gradient(centers, axis=0)
    along /= numpy.linalg.norm(along, axis=1, keepdims=True)
    first = side - (along @ side)[:, None] * along
    first /= numpy.linalg.norm(first, axis=1, keepdims=True)
    second = numpy.cross(along, first)
    angles = 2 * numpy.pi * numpy.arange(around) / around
    rings = (centers[:, None] + radii[:, None, :1] * numpy.cos(angles)[:, None] * first[:, None]
             + radii[:, None, 1:] * numpy.sin(angles)[:, None] * second[:, None])
    return numpy.concatenate([rings.reshape(-1, 3), centers[:1] - 1e-3 * along[:1], centers[-1:] + 1e-3 * along[-1:]])


def tube_faces(rings, around, first):
    faces = []
    for r in range(rings - 1):
        for k in range(around):
            a, b = r * around + k, r * around + (k + 1) % around
            faces.append([first + i for i in (a, b, b + around, a + around)])
    low, high, last = rings * around, rings * around + 1, (rings - 1) * around
    for k in range(around):
        faces.append([first + low, first + (k + 1) % around, first + k, -1])
        faces.append([first + high, first + last + k, first + last + (k + 1) % around, -1])
    return faces


TORSO, LEG = (64, 64), (64, 48)  # rings, nodes around


def profile(at, table):
    heights, *values = numpy.array(table).T
    return numpy.stack([numpy.interp(at, heights, v) for v in values], axis=-1)


def pelvis(time):
    """How far the body has got at a time [m]."""
    walked = max(0.0, time - SETTLED)
    ramp = 0.6
    way = SPEED * (walked * walked / (2 * ramp) if walked < ramp else walked - ramp / 2)
    share = smooth(walked / ramp)
    phase = 2 * numpy.pi * STEPS / 2 * walked
    moved = [0.012 * share * numpy.sin(phase), -way, 0.012 * share * (numpy.cos(2 * phase) - 1)]
    return numpy.array(moved), phase, share


def body(time):
    moved, phase, share = pelvis(time)
    size = 0.22 + 0.78 * smooth(time / INFLATED)
    x = numpy.array([1.0, 0.0, 0.0])
    rings = numpy.linspace(0, 1, TORSO[0])
    heights = 0.82 + rings * (SHOULDER + 0.26 - 0.82)
    half = profile(heights, [(0.82, 0.02, 0.02), (0.86, 0.11, 0.085), (0.92, 0.15, 0.11), (1.0, 0.125, 0.095),
                             (1.2, 0.135, 0.105), (1.38, 0.15, 0.1), (1.46, 0.14, 0.075), (1.52, 0.055, 0.05),
                             (1.58, 0.05, 0.05), (1.64, 0.07, 0.085), (1.72, 0.075, 0.09), (1.775, 0.03, 0.03),
                             (1.78, 0.01, 0.01)])
    half[:, 1] *= size
    half[:, 0] *= 0.75 + 0.25 * smooth(time / INFLATED)
    spine = numpy.stack([0 * heights, 0.015 * numpy.sin(4 * (heights - 0.9)), heights], axis=1)
    turn = 0.08 * share * numpy.sin(phase)  # shoulders against hips
    twist = turn * smooth((heights - WAIST) / 0.4)
    parts = [tube(spine, half, x, TORSO[1]).reshape(-1, 3)]
    rows = numpy.concatenate([numpy.repeat(twist, TORSO[1]), twist[[0, -1]]])
    c, s, points = numpy.cos(rows), numpy.sin(rows), parts[0].copy()
    parts[0][:, 0], parts[0][:, 1] = c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]
    for sign in (-1, 1):
        swing = share * 0.42 * numpy.sin(phase + (sign > 0) * numpy.pi)
        bend = share * (0.12 + 0.5 * max(0.0, numpy.cos(phase + (sign > 0) * numpy.pi)))
        hip = numpy.array([0.085 * sign, 0.0, HIP])
        down = numpy.array([0.0, -numpy.sin(swing), -numpy.cos(swing)])  # forward is -y
        lower = numpy.array([0.0, -numpy.sin(swing - bend), -numpy.cos(swing - bend)])
        at = numpy.linspace(-0.03, THIGH + SHIN, LEG[0])
        straight = hip + at[:, None] * down
        bent = hip + THIGH * down + (at[:, None] - THIGH) * lower
        weight = smooth((at - THIGH) / 0.12 + 0.5)[:, None]
        radii = profile(at, [(-0.03, 0.04), (0.02, 0.075), (0.12, 0.08), (THIGH, 0.052), (THIGH + 0.1, 0.055),
                             (THIGH + SHIN - 0.03, 0.035), (THIGH + SHIN, 0.02)])
        leg = tube((1 - weight) * straight + weight * bent, radii * [0.6 + 0.4 * size, size], x, LEG[1])
        parts.append(leg)
    return numpy.concatenate(parts) + moved


def body_faces():
    faces, first = [], 0
    for rings, around in (TORSO, LEG, LEG):
        faces += tube_faces(rings, around, first)
        first += rings * around + 2
    return faces


def write_pc2(path, frames):
    frames = numpy.asarray(frames, dtype="<f4")
    header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], 0.0, 1.0, frames.shape[0])
    path.write_bytes(header + frames.tobytes())


def scene(folder, seconds):
    times = numpy.arange(0, seconds + 1 / RATE, 1 / RATE)
    frames = [body(t) for t in times]
    mesh = isocloth.save_mesh(folder / "walker.obj", frames[-1], body_faces())
    write_pc2(folder / "walker.pc2", frames)
    fabric = {"preset": "cotton", "thickness": 0.0015}
    waistband = {"type": "keyframes", "times": times.tolist(),
                 "translations": [pelvis(t)[0].tolist() for t in times]}
    def skirt(name, height, radii, nodes):
        return {"name": name, "mesh": {"generator": "ring", "radial": nodes[0], "around": nodes[1],
                                       "inner_radius": radii[0], "outer_radius": radii[1]},
                "transform": {"translation": [0, 0, height]}, "fabric": fabric,
                "pins": [{"name": "waistband", "motion": waistband,
                          "select": {"sphere": {"center": [0, 0, height], "radius": radii[0] + 1e-6}}}]}
    return {
        "name": "A walking body in a tank top and two skirts", "recipe": "membrane", "step": 0.005,
        "duration": round(seconds, 3), "frame_interval": 0.025,
        "projection": {"tolerance": 0.005, "on_violation": "continue"},
        "contact": {"tolerance": 0.00035, "cloth": True, "cloth_friction": {"static": 0.3},
                    "pairs": [{"garment": "body", "other_garment": "tank top", "static": 0.4}]},
        "garments": [
            {"name": "tank top", "mesh": {"generator": "tank_top", "triangles": 3000},
             "transform": {"translation": [0, 0, SHOULDER - 0.5]}, "fabric": fabric},
            skirt("overskirt", WAIST, (0.142, 0.42), (18, 72)),
            skirt("underskirt", WAIST - 0.02, (0.142, 0.46), (20, 72)),
            {"name": "body", "mesh": {"file": "walker.obj"}, "fabric": fabric,
             "pins": [{"name": "skin", "select": {"all": True},
                       "motion": {"type": "recorded", "file": "walker.pc2", "frames_per_second": RATE}}]}]}, mesh


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=4.0, help="of walking")
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    keys, _ = scene(arguments.folder, SETTLED + arguments.seconds)
    path = arguments.folder / "scene.json"
    isocloth.scene.Scene.from_dict(keys).save(path)
    print(f"wrote {path}: a body of {len(body_faces())} faces")
    if arguments.run:
        result = isocloth.run(path, arguments.folder / "result", overwrite=True, certify=True)
        print({name: result.summary[name] for name in (
            "status", "iterations_per_step_mean", "steps_violated", "steps_intersecting", "held_back",
            "stretch_p95", "stretch_max", "realtime_factor")})


if __name__ == "__main__":
    main()
