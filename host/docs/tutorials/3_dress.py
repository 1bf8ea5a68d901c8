"""
Dress a body
============

A skirt of two flat panels is sewn around hips made of a capsule and a box. Panels are outlines [m]; seams are pairs
of their edges; threads draw the sides together while the simulation runs.
"""

# %%
# An outline's edge i goes from its point i to the next. ``around`` bends a panel around an upright axis where it
# stands, so that the body is between both.
import isocloth
import matplotlib.pyplot as plt
import numpy
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

outline = [[-0.3, 0], [0.3, 0], [0.2, 0.35], [-0.2, 0.35]]
front = {"name": "front", "outline": outline, "curves": [{"edge": 2, "control": [[0, 0.33]]}],
         "translation": [0, -0.16, 0.73], "around": 0.45}
back = {**front, "name": "back", "translation": [0, 0.16, 0.73], "rotation": [0, 0, 180]}
scene = {
    "step": 0.005, "duration": 1, "frame_interval": 0.05,
    "projection": {"tolerance": 0.005},
    "contact": {"tolerance": 0.00025, "cloth": True, "cloth_friction": {"static": 0.3}},
    "garments": [{
        "name": "skirt",
        "mesh": {"panels": [front, back], "edge_length": 0.03,
                 "seams": [{"panel": "front", "edge": 1, "other_panel": "back", "other_edge": 3},
                           {"panel": "front", "edge": 3, "other_panel": "back", "other_edge": 1}]},
        "fabric": {"preset": "wool", "thickness": 0.001, "mass_damping": 0.3},
        "sewing": {"force": 30, "speed": 3},
    }],
    "obstacles": [
        {"name": "waist", "shape": {"type": "box", "size": [0.26, 0.18, 0.4], "rounding": 0.085},
         "position": [0, 0, 1.12], "friction": {"static": 0.3}},
        {"name": "hips", "shape": {"type": "capsule", "radius": 0.11, "length": 0.11}, "position": [0, 0, 0.93],
         "rotation_degrees": [0, 90, 0], "friction": {"static": 0.3}},
    ],
}

# %%
# ``check`` brings a scene to its start and returns warnings: panels that stand in each other, or in the body.
assert not isocloth.check(scene)
result = isocloth.run(scene, quiet=True, certify=True)
summary = result.summary
print(f"{summary['status']}; seams stand open by {1000 * result.metrics['seam_opening'][-1]:.3f} mm; "
      f"{summary['steps_intersecting']} of {summary['steps_certified']} steps with cloth through cloth")

# %%
# The panels where they stand, half sewn, and worn. The body is drawn somewhat thinner than it is, so that the picture
# puts what lies behind the cloth behind it.
u, v = numpy.meshgrid(numpy.linspace(0, 2 * numpy.pi, 33), numpy.linspace(-numpy.pi / 2, numpy.pi / 2, 33))
hips = 0.095 * numpy.stack([numpy.sin(v), numpy.cos(v) * numpy.cos(u), numpy.cos(v) * numpy.sin(u)], axis=-1)
hips += numpy.stack([0.055 * numpy.sign(v), 0 * v, 0 * v + 0.93], axis=-1)
round_x, round_y = 0.07 * numpy.cos(u), 0.07 * numpy.sin(u)
waist = numpy.stack([round_x + 0.045 * numpy.sign(round_x), round_y, 1.05 + 0.15 * v], axis=-1)


def quads(surface):
    corners = surface[:-1, :-1], surface[1:, :-1], surface[1:, 1:], surface[:-1, 1:]
    return list(numpy.stack(corners, axis=2).reshape(-1, 4, 3))


body = quads(hips) + quads(waist)
corners = result.faces[:, [0, 1, 2, 2]]  # of one size with the body's, or limits are read from what is not set
figure = plt.figure(figsize=(10, 3.6))
for place, frame in enumerate([0, 1, len(result.times) - 1]):
    axes = figure.add_axes([place / 3, 0, 1 / 3, 0.95], projection="3d")
    skirt = list(result.frame(frame)[corners])
    colors = ["#b06a70"] * len(skirt) + ["#d8d0c0"] * len(body)
    axes.add_collection3d(Poly3DCollection(skirt + body, facecolors=colors, edgecolors="#402020", linewidth=0.15,
                                           shade=True))
    axes.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3), zlim=(0.7, 1.25), title=f"{result.times[frame]:.2f} s")
    axes.set_box_aspect((6, 6, 5.5), zoom=1.5)
    axes.set_axis_off()
    axes.view_init(15, -60)

# %%
# How the seams close.
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogy(result.metrics["time"], 1000 * numpy.maximum(result.metrics["seam_opening"], 1e-7))
axes.set(xlabel="time [s]", ylabel="widest opening of a seam [mm]")
