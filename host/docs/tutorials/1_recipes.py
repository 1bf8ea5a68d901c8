"""
Shake a sheet, compare recipes
==============================

An A3 sheet hangs from two corners that move to and fro, once by each of four recipes. What is compared is what a user
measures: the strain of the edges, and what a step costs.
"""

# %%
# A scene is a dict with the keys of a scene file. The sheet lies in the plane z = 0; ``transform`` makes it hang.
import time

import isocloth
import matplotlib.pyplot as plt
import numpy

sheet = {
    "step": 0.01, "duration": 4, "frame_interval": 0.02,
    "garments": [{
        "mesh": {"generator": "quad_grid", "nodes": [9, 13], "size": [0.297, 0.42]},
        "transform": {"rotation": [90, 0, 0]},
        "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0.3, "bending_stiffness": 1e-5,
                   "stretch_stiffness": 10000},
        "pins": [{"select": {"nearest": [[0, 0, 0.42], [0.297, 0, 0.42]]},
                  "motion": {"type": "oscillation", "amplitude": [0, 0.1, 0], "frequency": 0.8, "start": 0.5}}],
    }],
}

# %%
# Each recipe is one word. ``run`` without a folder keeps its result in memory.
results, seconds = {}, {}
for recipe in ["membrane", "coltraro2022", "elastic_edges", "bender_iterative"]:
    begin = time.process_time()
    results[recipe] = isocloth.run({**sheet, "recipe": recipe}, quiet=True, threads=1)
    seconds[recipe] = time.process_time() - begin
    summary = results[recipe].summary
    print(f"{recipe:17} {summary['status']}, edges at most {100 * summary['strain_max']:.2f} %, elements at most "
          f"{100 * summary['stretch_max']:.2f} %, {summary['steps_violated']} steps missed, {seconds[recipe]:.2f} s")

# %%
# All four move alike; their strains differ. Edges of ``membrane`` and ``elastic_edges`` stretch as the fabric's
# 10,000 N/m let them. ``coltraro2022`` bounds an average around each node, and edges stretch in turn.
# ``bender_iterative`` takes a fixed price in place of a tolerance, and says in which steps it missed 1 %.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for recipe, result in results.items():
    left.plot(result.times, result.positions[:, 4, 1], label=recipe)
    right.semilogy(result.metrics["time"], 100 * numpy.maximum(result.metrics["strain_max"], 1e-6))
left.set(xlabel="time [s]", ylabel="y of the middle of the hem [m]", title="motion")
right.set(xlabel="time [s]", ylabel="largest strain of an edge [%]", title="strain")
left.legend(fontsize="small")

# %%
# The sheet by ``membrane`` at five instants.
figure = plt.figure(figsize=(10, 2.6))
result = results["membrane"]
for place, frame in enumerate(numpy.linspace(60, len(result.times) - 1, 5).astype(int)):
    axes = figure.add_axes([place / 5, 0, 1 / 5, 0.9], projection="3d")
    x, y, z = result.frame(frame).reshape(13, 9, 3).transpose(2, 0, 1)
    axes.plot_surface(x, y, z, color="#c8a060", edgecolor="#604020", linewidth=0.3)
    axes.set(xlim=(0, 0.3), ylim=(-0.55, 0.3), zlim=(0, 0.45), title=f"{result.times[frame]:.2f} s")
    axes.set_box_aspect((3, 8.5, 4.5), zoom=1.25)
    axes.set_axis_off()
    axes.view_init(15, -20)
