"""A run as a function of what it began with and was told, with its gradient, for torch and jax."""

import copy

import numpy

from . import _core
from ._gradients import Tape
from ._simulation import Simulation
from .errors import SceneError, ShapeError

_STATE = ("positions", "velocities")
_MOTION = ("targets", "forces")
_SOLIDS = ("obstacles", "grippers")


class RunFunction:
    """Places and velocities of a garment after each step, as a function of some of these:

    ``positions`` [m] and ``velocities`` [m/s] of the start, shape (nodes, 3); ``targets`` [m], where pinned nodes are
    after each step, shape (steps, pinned nodes, 3) in the order of :attr:`pinned_nodes`; ``forces`` [N] on nodes
    during each step, shape (steps, nodes, 3); ``obstacles`` and ``grippers``, where each of them is at the start and
    after each step in place of its motion: how far from its place in the scene [m], and a rotation vector about its
    origin [rad], shape (steps + 1, count, 6); numbers of the fabric under their names in a scene
    (:meth:`Simulation.set_fabric`).

    ``run(**values)`` returns positions and velocities, shape (steps + 1, nodes, 3) each, and a function that takes
    dL/dpositions, dL/dvelocities and, of :meth:`Tape.wrenches` of its ``tape``, dL/dwrenches, and returns a dict of
    dL/dvalues. ``torch(**values)`` and ``jax(**values)`` are
    the same for tensors and arrays of these libraries, whose ``backward()`` and ``grad`` go through it. What has no
    gradient: see :class:`Tape`.

    >>> import isocloth
    >>> scene = {"step": 0.01, "duration": 1, "recipe": "membrane", "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}, "fabric": {"preset": "cotton"},
    ...      "pins": [{"select": {"nodes": [0, 4]}}]}]}
    >>> function = isocloth.RunFunction(scene, steps=10)
    >>> positions, velocities, pull_back = function.run(mass_damping=0.5)
    >>> loss = positions[-1, :, 2].mean()
    >>> by_positions = numpy.zeros_like(positions)
    >>> by_positions[-1, :, 2] = 1 / 25
    >>> pull_back(by_positions)["mass_damping"] > 0  # drag holds it up
    True
    """

    def __init__(self, scene, steps, *, garment=0, **options):
        scene = copy.deepcopy(scene)
        self._make = lambda: Simulation(scene, measure_strain=False, **options)
        self.simulation = self._make()
        self.steps = int(steps)
        self.garment = garment
        self.pins = self.simulation.pin_nodes(garment)
        self.pinned_nodes = numpy.concatenate(self.pins) if self.pins else numpy.zeros(0, dtype=int)
        self._start = self.simulation.snapshot()
        self._fabric = self.simulation.fabric(garment)
        self._places = dict(zip(_SOLIDS, _core._rest_places(self.simulation, garment)))
        self._has_moved = False

    def run(self, **values):
        if self._has_moved:  # what commands said of motions stays; those of a run are of the scene or its values
            self.simulation, self._has_moved = self._make(), False
        simulation, h = self.simulation, self.simulation.step_length
        simulation.restore(self._start)
        simulation.set_forces(self.garment, None)
        numbers = {name: float(value) for name, value in values.items() if name not in _STATE + _MOTION + _SOLIDS}
        simulation.set_fabric(self.garment, **{**self._fabric, **numbers})
        for field in _STATE:
            if values.get(field) is not None:
                simulation.write(field, values[field], [self.garment])
        targets, forces = (self._motion(name, values.get(name)) for name in _MOTION)
        poses = {name: self._motion(name, values.get(name)) for name in _SOLIDS}
        self._has_moved = any(told is not None for told in (targets, *poses.values()))
        self._move_solids(poses)
        tape = Tape(simulation)
        for n in range(self.steps):
            if targets is not None:
                first = 0
                for pin, nodes in enumerate(self.pins):
                    simulation.move_pin(self.garment, pin, targets[n, first:first + len(nodes)], h)
                    first += len(nodes)
            if forces is not None:
                simulation.set_forces(self.garment, forces[n])
            tape.step()

        def pull_back(positions=None, velocities=None, wrenches=None):
            found = tape.gradient(positions, velocities, garment=self.garment, wrenches=wrenches)
            all_values = {"positions": found.positions, "velocities": found.velocities, "forces": found.forces,
                          "targets": found.targets[:, self.pinned_nodes], **found.fabric}
            for name in _SOLIDS:
                if poses[name] is not None:
                    all_values[name] = _by_vectors(getattr(found, name), poses[name])
            missing = sorted(set(values) - set(all_values))
            if missing:
                raise SceneError(f"{missing[0]}: has no gradient, expected one of {', '.join(sorted(all_values))}")
            return {name: all_values[name] for name in values}

        pull_back.tape = tape
        return tape.positions(self.garment), tape.velocities(self.garment), pull_back

    def torch(self, **values):
        """:meth:`run` for torch: returns positions and velocities as tensors of float64 on the CPU."""
        import torch

        names = list(values)
        run = self.run

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(context, *tensors):
                positions, velocities, context.pull_back = run(
                    **{name: numpy.asarray(tensor.detach().cpu()) for name, tensor in zip(names, tensors)})
                context.tensors = tensors
                return torch.from_numpy(positions), torch.from_numpy(velocities)

            @staticmethod
            def backward(context, positions, velocities):
                found = context.pull_back(positions.numpy(), velocities.numpy())
                return tuple(torch.as_tensor(found[name], dtype=tensor.dtype, device=tensor.device)
                             .reshape(tensor.shape) for name, tensor in zip(names, context.tensors))

        return Function.apply(*(torch.as_tensor(value, dtype=torch.float64) if not torch.is_tensor(value) else value
                                for value in values.values()))

    def jax(self, **values):
        """:meth:`run` for jax, in float64 if ``jax_enable_x64`` is set; under ``jit``, too, on the CPU."""
        import jax

        nodes = self.simulation.info(self.garment).node_count
        real = jax.numpy.zeros(()).dtype if not jax.config.jax_enable_x64 else jax.numpy.float64
        shape = jax.ShapeDtypeStruct((self.steps + 1, nodes, 3), real)

        @jax.custom_vjp
        def function(arguments):
            def forward(given):
                return tuple(a.astype(real) for a in self.run(**{k: numpy.asarray(v) for k, v in given.items()})[:2])
            return jax.pure_callback(forward, (shape, shape), arguments)

        def backward(arguments, by_states):
            def pull_back(given, positions, velocities):
                run = self.run(**{k: numpy.asarray(v) for k, v in given.items()})
                found = run[2](numpy.asarray(positions), numpy.asarray(velocities))
                return {k: numpy.asarray(found[k]).astype(v.dtype).reshape(v.shape) for k, v in given.items()}
            like = {k: jax.ShapeDtypeStruct(jax.numpy.shape(v), jax.numpy.asarray(v).dtype)
                    for k, v in arguments.items()}
            return (jax.pure_callback(pull_back, like, arguments, *by_states),)

        function.defvjp(lambda arguments: (function(arguments), arguments), backward)
        return function({name: jax.numpy.asarray(value, dtype=real) for name, value in values.items()})

    def _move_solids(self, poses):
        simulation, h = self.simulation, self.simulation.step_length
        times = simulation.time + h * numpy.arange(self.steps + 1)
        for name, told in poses.items():
            for i, center in enumerate(self._places[name] if told is not None else ()):
                motion = {"times": times, "translations": told[:, i, :3], "rotations": told[:, i, 3:], "center": center}
                if name == "obstacles":
                    simulation.set_obstacle_motion(i, **motion)
                else:
                    simulation.set_gripper_motion(self.garment, i, **motion)

    def _motion(self, name, values):
        if values is None:
            return None
        counts = {"targets": len(self.pinned_nodes), "forces": self.simulation.info(self.garment).node_count}
        expected = (self.steps + 1, len(self._places[name]), 6) if name in _SOLIDS else (self.steps, counts[name], 3)
        if numpy.shape(values) != expected:  # before anything is copied
            raise ShapeError(f"{name}: found shape {numpy.shape(values)}, expected {expected}")
        return numpy.asarray(values, dtype=float)


def _by_vectors(by_turns, poses):
    """Derivatives by translations and rotation vectors r from those by translations and turns w after them: a change
    of r is the turn J dr, J = 1 + (1 - cos a) / a^2 [r]x + (a - sin a) / a^3 [r]x^2, a = |r|; dL/dr = J^T dL/dw."""
    vectors, by = poses[..., 3:], by_turns[..., 3:]
    angle = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    small = angle < 1e-4  # where the next term of the series is below rounding
    safe = numpy.where(small, 1, angle)
    first = numpy.where(small, 0.5, (1 - numpy.cos(safe)) / safe ** 2)
    second = numpy.where(small, 1 / 6, (safe - numpy.sin(safe)) / safe ** 3)
    across = numpy.cross(vectors, by)
    turned = by - first * across + second * numpy.cross(vectors, across)
    return numpy.concatenate([by_turns[..., :3], turned], axis=-1)
