"""A towel that is led around a circle by a spring at one corner, and turned by a magnet below.

usage: led_by_a_spring.py [--steps 400] [--stiffness 200] [--output towel.npy]

Both forces are functions in Python. The spring is stiff for a node of less than a gram: it says its stiffness and is
implicit, where an explicit one would want steps a quarter as long. The magnet is weak, and a plain array.
"""

import argparse

import isocloth
import numpy

RADIUS, HEIGHT, TURN = 0.3, 0.25, 1.5  # of the circle [m], and the time that it takes [s]

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--steps", type=int, default=400)
arguments.add_argument("--stiffness", type=float, default=200, help="of the spring [N/m]")
arguments.add_argument("--output", help="a file of points of the last frame, numpy's .npy")
options = arguments.parse_args()

towel = isocloth.Simulation({"step": 0.01, "duration": 10, "garments": [{
    "name": "towel", "mesh": {"generator": "quad_grid", "nodes": [13, 13], "size": [0.4, 0.4]},
    "fabric": {"preset": "cotton"}, "transform": {"translation": [RADIUS, 0, HEIGHT]}}]})


def leader(time):
    angle = 2 * numpy.pi * time / TURN
    return numpy.array([RADIUS * numpy.cos(angle), RADIUS * numpy.sin(angle), HEIGHT])


@towel.add_force
def spring(state):
    """k (p - x) of node 0, p where it leads to at the end of the step."""
    stiffness = numpy.zeros(state.masses.shape)
    stiffness[:, 0] = options.stiffness
    way = leader(state.times[0] + state.step_length) - state.positions
    return isocloth.SlopedForce(stiffness[..., None] * way, stiffness)


@towel.add_force
def magnet(state):
    """Towards the middle of the circle, as 1 / r^2, and no more than a tenth of the weight."""
    way = -state.positions
    distance = numpy.maximum(numpy.linalg.norm(way, axis=-1, keepdims=True), 0.1)
    return 0.01 * state.masses[..., None] * way / distance**3


gaps = []
for _ in range(options.steps):
    [report] = towel.step()
    gaps.append(numpy.linalg.norm(towel.positions()[0] - leader(towel.time)))
print(f"{options.steps} steps; the spring was {1000 * max(gaps):.1f} mm long at most, {1000 * gaps[-1]:.1f} at the end")
if options.output:
    numpy.save(options.output, towel.positions())
