"""
Fold a batch of towels
======================

Twelve towels of different fabrics lie on a table. Two grippers take two corners of each and lay them onto the
other two. All towels are one scene, and one simulation.
"""

# %%
# ``replicas`` copies a garment, ``vary`` gives each copy numbers of its own. Grippers hold what is in their region
# when they close; here the scene says when and where they go, over an arc. Cloth meets cloth (``contact.cloth``), or
# the towel would sink into itself.
import isocloth
import matplotlib.pyplot as plt
import numpy

SIDE, COUNT = 0.3, 12
angles = numpy.linspace(0, numpy.pi, 9)
way = [[0, SIDE / 2 * (1 - numpy.cos(a)), 0.006 + 0.47 * SIDE * numpy.sin(a)] for a in angles]
arc = {"type": "keyframes", "times": list(numpy.linspace(0.1, 1.1, 9)), "translations": way}


def gripper(name, x):
    return {"name": name, "region": {"type": "sphere", "radius": 0.02}, "position": [x, -SIDE / 2, 0.001],
            "motion": arc, "holds": [{"from": 0.05, "to": 1.15}]}


scene = {
    "step": 0.005, "duration": 1.5, "frame_interval": 0.05, "seed": 1,
    "projection": {"on_violation": "continue"},
    "contact": {"tolerance": 0.0005, "cloth": True, "cloth_friction": {"static": 0.3}},
    "garments": [{
        "name": "towel",
        "mesh": {"generator": "quad_grid", "nodes": [13, 13], "size": [SIDE, SIDE]},
        "transform": {"translation": [-SIDE / 2, -SIDE / 2, 0.0022]},
        "rest_noise": {"normal_deviation": 0.0001},
        "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0.2, "bending_stiffness": 2e-5,
                   "thickness": 0.002, "stretch_stiffness": 2000,
                   "shear_stiffness": 100},
        "grippers": [gripper("left", -SIDE / 2), gripper("right", SIDE / 2)],
        "replicas": COUNT,
        "vary": {"fabric.bending_stiffness": {"from": 2e-6, "to": 2e-4, "scale": "log"}},
    }],
    "obstacles": [{"name": "table", "shape": {"type": "table", "size": [1, 1], "thickness": 0.03},
                   "friction": {"static": 0.6}}],
}
towels = isocloth.Simulation(scene)

# %%
# The program leads: it may look at every towel, and command each, between any two steps. Here it only watches.
FRAMES = 7
seen = [towels.positions(slice(None))]
for frame in range(FRAMES - 1):
    reports = towels.advance(300 // (FRAMES - 1))
    seen.append(towels.positions(slice(None)))
seen = numpy.array(seen)
print(seen.shape, "frames, towels, nodes, coordinates")

# %%
# How well is each folded? The mean distance of the nodes of one half from those that they should lie on. One way of
# the grippers does not suit every fabric: where a towel sags before it is laid down, its crease falls elsewhere, and
# friction keeps it there. ``host/python/examples/fold_towel.py`` looks for better ways.
grid = seen[-1].reshape(COUNT, 13, 13, 3)
off = numpy.linalg.norm((grid - grid[:, ::-1])[:, :6, :, :2], axis=-1).mean(axis=(1, 2))
stiffness = [towels.fabric(g)["bending_stiffness"] for g in range(COUNT)]
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogx(stiffness, 1000 * off, "o-")
axes.set(xlabel="bending stiffness [N m]", ylabel="halves apart, in the plane [mm]")

# %%
# The softest and the stiffest towel on their way.
halves = numpy.where(numpy.arange(12)[:, None] < 6, "#d09050", "#7fa0c8") + numpy.zeros((12, 12), dtype="<U1")
figure = plt.figure(figsize=(11, 3.6))
for row, towel in enumerate([0, COUNT - 1]):
    for frame in range(FRAMES):
        axes = figure.add_axes([frame / FRAMES, 0.5 - row / 2, 1 / FRAMES, 0.5], projection="3d")
        x, y, z = seen[frame, towel].reshape(13, 13, 3).transpose(2, 0, 1)
        axes.plot_surface(x, y, z, facecolors=halves, edgecolor="#404040", linewidth=0.3)
        axes.set(xlim=(-0.15, 0.15), ylim=(-0.16, 0.16), zlim=(0, 0.16))
        axes.set_box_aspect((2, 2, 1), zoom=1.2)
        axes.set_axis_off()
        axes.view_init(20, -25)
