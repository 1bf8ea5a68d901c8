"""Scenes of the checks, cloth at rest and its periods."""

import isocloth
import numpy

FABRIC = {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 0, "stretch_stiffness": 1e4,
          "shear_stiffness": 5e3, "bending": "plate"}
PRECISE = {"integrator": "bdf2", "tolerance": 1e-6, "force_tolerance": 1e-7, "max_iterations": 400,
           "on_violation": "continue"}


def simulation(garment, step, **scene):
    """A simulation of one garment in double precision, forces balanced to 1e-7 of a node's weight."""
    scene = {"recipe": "membrane", "gravity": 0, "projection": PRECISE, **scene}
    return isocloth.Simulation({**scene, "step": step, "duration": step, "garments": [garment]}, threads=1)


def strip(length, width, cells, rows=2, fabric=None, clamped=True, **more):
    """A strip of quads along x from x = 0 to `length`; clamped: a row of quads before it is held."""
    cell = length / cells
    before = cell if clamped else 0
    garment = {"mesh": {"generator": "quad_grid", "nodes": [cells + 1 + clamped, rows + 1],
                        "size": [length + before, width]},
               "transform": {"translation": [-before, 0, 0]}, "fabric": {**FABRIC, **(fabric or {})}}
    if clamped:
        garment["pins"] = [{"select": {"box": {"min": [-1, -9, -9], "max": [1e-9, 9, 9]}}}]
    return {**garment, **more}


def settle(simulation, change=1e-9, most=500):
    """Steps until nodes move less than `change` of the farthest move since the start; positions [m].

    Of steps much longer than any period of the cloth each is a solution of the balance of forces, as far as its
    iterations get."""
    start = before = simulation.positions()
    for _ in range(most):
        simulation.step()
        now = simulation.positions()
        if abs(now - before).max() <= change * abs(now - start).max():
            return now
        before = now
    raise RuntimeError(f"no rest after {most} steps: the last moved nodes by {abs(now - before).max():.1e} m")


def angular_frequency(simulation, period, node, axis=2, samples=20):
    """Of a node that swings in one mode, by two periods of so many steps [1/s]: x_{n+1} = a x_n - b x_{n-1}, fitted to
    20 samples a period."""
    start = simulation.positions()[node, axis]
    x = numpy.empty(2 * samples)
    for n in range(2 * samples):
        simulation.advance(period // samples)
        x[n] = simulation.positions()[node, axis] - start
    a, b = numpy.linalg.lstsq(numpy.stack([x[1:-1], x[:-2]], axis=1), x[2:], rcond=None)[0]
    return abs(numpy.angle(numpy.roots([1, -a, -b])[0])) / (simulation.step_length * (period // samples))
