"""
Fit a fabric from a recording
=============================

A recording says where some nodes were at some times. ``fit`` looks for the numbers of a scene with which it moves so,
says how well the recording knows each, and measures the error of what it did not see.
"""

# %%
# The recording is made here, so that the truth is known: a sheet that swings from two corners, seen at nine nodes
# with noise of 2 mm and one point in twenty hidden (NaN). Of a real one, ``seen.csv`` comes from a camera.
import json
import pathlib
import tempfile

import isocloth
import matplotlib.pyplot as plt
import numpy

folder = pathlib.Path(tempfile.mkdtemp(prefix="isocloth-fit-"))
truth = {"mass_damping": 1.2, "gravity_density": 0.35}
scene = {
    "step": 0.01, "duration": 2, "frame_interval": 0.04,
    "garments": [{
        "name": "sheet",
        "mesh": {"generator": "quad_grid", "nodes": [7, 7], "size": [0.4, 0.4]},
        "fabric": {"density": 0.5, "bending_stiffness": 1e-5, **truth},
        "pins": [{"select": {"nearest": [[0, 0, 0], [0.4, 0, 0]]}}],
    }],
}
recorded = isocloth.run(scene, quiet=True)
nodes = [16, 18, 20, 30, 32, 34, 44, 46, 48]
random = numpy.random.default_rng(1)
seen = recorded.positions[:, nodes] + random.normal(scale=0.002, size=(len(recorded.times), len(nodes), 3))
seen[random.random(seen.shape[:2]) < 0.05] = numpy.nan
isocloth.save_recording(folder / "seen.csv", recorded.times, seen)

# %%
# The scene to be fitted knows nothing of the truth. The plan names the numbers, their ranges, and which window is for
# training.
scene["garments"][0]["fabric"] = {"density": 0.5, "bending_stiffness": 1e-5, "mass_damping": 4, "gravity_density": 0.5}
(folder / "scene.json").write_text(json.dumps(scene))
plan = {
    "parameters": [{"number": "fabric.mass_damping", "from": 0.1, "to": 10, "scale": "log"},
                   {"number": "fabric.gravity_density", "from": 0.05, "to": 0.6}],
    "experiments": [{"name": "swing", "scene": str(folder / "scene.json"), "train": [0, 1.2], "test": [1.2, 2],
                     "positions": {"file": str(folder / "seen.csv"), "noise": 0.002, "nodes": nodes}}],
}
found = isocloth.fit(plan, folder / "fit", quiet=True)
for parameter in found["parameters"]:
    name = parameter["name"].removeprefix("fabric.")
    print(f"{name}: {parameter['value']:.4f}, between {parameter['low']:.4f} and {parameter['high']:.4f}; the truth is "
          f"{truth[name]} ({parameter['verdict']})")
test = found["experiments"][0]["fitted"]["test"]
print(f"in the window that it did not see: {1000 * test['mean_distance']:.2f} mm from the noisy points on average")

# %%
# ``fitted/swing.json`` in the fit's folder is the scene with these numbers. ``fit.html`` beside it is a page with
# everything.
fitted = isocloth.run(folder / "fit" / "fitted" / "swing.json", quiet=True)
before = isocloth.run(folder / "scene.json", quiet=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
left.plot(recorded.times, seen[:, -1, 1], ".", color="black", label="recorded")
left.plot(before.times, before.positions[:, 48, 1], label="before the fit")
left.plot(fitted.times, fitted.positions[:, 48, 1], label="fitted")
left.set(xlabel="time [s]", ylabel="y of a lower corner [m]")
left.legend()
for name, run in {"before the fit": before, "fitted": fitted}.items():
    distance = numpy.linalg.norm(run.positions[:, nodes] - recorded.positions[:, nodes], axis=2).mean(axis=1)
    right.semilogy(run.times[1:], 1000 * distance[1:], label=name)
right.axvspan(1.2, 2, color="0.92", label="not seen by the fit")
right.set(xlabel="time [s]", ylabel="mean distance from the truth [mm]")
right.legend()
