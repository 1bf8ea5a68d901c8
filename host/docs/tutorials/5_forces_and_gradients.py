"""
Forces of your own, and gradients
=================================

A loop that you write steps a simulation; between steps it may push nodes (``set_forces``). The same steps, taken by a
``Tape``, can be gone back through: one pass gives the derivative of a loss by every force of every step.
"""

# %%
# First, a force that the engine does not know: a jet of air from below that moves to and fro under a sheet held at
# its corners.
import isocloth
import matplotlib.pyplot as plt
import numpy

N = 15
scene = {
    "step": 0.01, "duration": 1,
    "garments": [{
        "mesh": {"generator": "quad_grid", "nodes": [N, N], "size": [0.5, 0.5]},
        "fabric": {"density": 0.15, "gravity_density": 0.15, "mass_damping": 0.5, "bending_stiffness": 1e-5,
                   "stretch_stiffness": 1000},
        "pins": [{"select": {"nearest": [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0.5, 0.5, 0]]}}],
    }],
}
simulation = isocloth.Simulation(scene)
seen = []
for step in range(150):
    x = simulation.positions()
    jet = numpy.array([0.25 + 0.15 * numpy.sin(2 * numpy.pi * simulation.time), 0.25])
    forces = numpy.zeros_like(x)
    forces[:, 2] = 0.02 * numpy.exp(-((x[:, :2] - jet) ** 2).sum(axis=1) / 0.06**2)  # [N]
    simulation.set_forces(0, forces)
    [report] = simulation.step()
    assert report.status == "converged", report
    if step % 30 == 29:
        seen.append(simulation.positions())

figure = plt.figure(figsize=(11, 2.2))
for place, positions in enumerate(seen):
    axes = figure.add_axes([place / 5, 0, 1 / 5, 0.9], projection="3d")
    x, y, z = positions.reshape(N, N, 3).transpose(2, 0, 1)
    axes.plot_surface(x, y, z, color="#80b090", edgecolor="#305040", linewidth=0.3)
    axes.set(xlim=(0, 0.5), ylim=(0, 0.5), zlim=(-0.15, 0.15), title=f"{0.3 * (place + 1):.1f} s")
    axes.set_box_aspect((5, 5, 3), zoom=1.2)
    axes.set_axis_off()

# %%
# Now the other way: which forces bring a hanging sheet's lower corner to a wanted place within half a second, with
# little effort? ``RunFunction`` is a whole run as a function of its forces; ``pull_back`` takes dL/dx and returns
# dL/dforces.
N, STEPS = 7, 50
hanging = {
    "step": 0.01, "duration": 1, "projection": {"force_tolerance": 0.01},
    "garments": [{
        "mesh": {"generator": "quad_grid", "nodes": [N, N], "size": [0.3, 0.3]}, "transform": {"rotation": [90, 0, 0]},
        "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0.5, "bending_stiffness": 1e-4,
                   "stretch_stiffness": 500},
        "pins": [{"select": {"nearest": [[0, 0, 0.3], [0.3, 0, 0.3]]}}],
    }],
}
function = isocloth.RunFunction(hanging, STEPS)
corner, target = 0, numpy.array([0.0, -0.15, 0.08])


def loss_and_gradient(forces):
    positions, _, pull_back = function.run(forces=forces)
    miss = positions[-1, corner] - target
    by_positions = numpy.zeros_like(positions)
    by_positions[-1, corner] = miss
    return 0.5 * miss @ miss, pull_back(by_positions)["forces"], positions


# %%
# Steepest descent, with steps as Barzilai and Borwein choose them, on the forces at that corner alone.
forces = numpy.zeros((STEPS, N * N, 3))
losses, last = [], None
for iteration in range(30):
    loss, gradient, positions = loss_and_gradient(forces)
    gradient = gradient[:, corner]
    losses.append(loss)
    if last is None:
        step_size = 2e-4 / abs(gradient).max()  # a fifth of a millinewton at most
    else:
        moved, changed = forces[:, corner] - last[0], gradient - last[1]
        step_size = (moved * moved).sum() / abs((moved * changed).sum())
    last = forces[:, corner].copy(), gradient
    forces[:, corner] -= step_size * gradient
first, last = (1000 * (2 * loss) ** 0.5 for loss in (losses[0], losses[-1]))
print(f"distance from the target: {first:.1f} mm at first, {last:.2f} mm after {len(losses) - 1} gradients")

# %%
# The gradient is that of the run: a difference of two runs tells the same.
direction = numpy.zeros_like(forces)
direction[:, corner, 1] = 1e-4
plus, minus = (loss_and_gradient(forces + sign * direction)[0] for sign in (1, -1))
by_hand = (plus - minus) / 2
_, gradient, positions = loss_and_gradient(forces)
print(f"along a change of all forces: {(gradient * direction).sum():.4e} by the tape, {by_hand:.4e} by differences")

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
left.semilogy([1000 * (2 * loss) ** 0.5 for loss in losses], "o-")
left.set(xlabel="iteration", ylabel="distance from the target [mm]")
middle.plot(numpy.arange(STEPS) * 0.01, forces[:, corner])
middle.set(xlabel="time [s]", ylabel="force on the corner [N]")
middle.legend(["x", "y", "z"])
right.plot(positions[:, corner, 1], positions[:, corner, 2], label="way of the corner")
right.plot(target[1], target[2], "x", color="black", label="target")
right.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
right.legend()
