"""Simulations side by side."""

import concurrent.futures
import os

import numpy


class Worlds:
    """Simulations of one garment each, where worlds have obstacles of their own: as one of many garments, of which it
    has what environments ask for; garment g is that of the g-th world. They step in threads.

    >>> from isocloth import Simulation
    >>> sheet = {"step": 0.01, "duration": 1, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    >>> worlds = Worlds([Simulation(sheet, threads=1) for _ in range(2)])
    >>> worlds.advance(1)[1].status
    'converged'
    >>> worlds.positions(slice(None)).shape
    (2, 25, 3)
    """

    def __init__(self, simulations):
        self.simulations = simulations
        self._pool = None

    def __getitem__(self, world):
        return self.simulations[world]

    def __getstate__(self):
        return self.__dict__ | {"_pool": None}

    @property
    def garment_count(self):
        return len(self.simulations)

    @property
    def frozen_mask(self):
        return numpy.array([simulation.frozen(0) for simulation in self.simulations])

    def each(self, function, worlds):
        """``[function(world, simulation), ...]`` of some worlds, side by side."""
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(min(len(self.simulations), os.cpu_count() or 1))
        return list(self._pool.map(lambda world: function(world, self.simulations[world]), worlds))

    def advance(self, steps):
        return [reports[0] for reports in self.each(lambda _, simulation: simulation.advance(steps),
                                                    range(len(self.simulations)))]

    def reset(self, garments):
        for g in garments:
            self.simulations[g].reset()

    def write(self, field, values, garments):
        for g, rows in zip(garments, numpy.reshape(values, (len(garments), -1, 3))):
            self.simulations[g].write(field, rows)

    def set_fabrics(self, garments, **numbers):
        for i, g in enumerate(garments):
            self.simulations[g].set_fabric(0, **{name: float(values[i]) for name, values in numbers.items()})

    def positions(self, garments):
        if isinstance(garments, int):
            return self.simulations[garments].positions(0)
        chosen = range(len(self.simulations))[garments] if isinstance(garments, slice) else garments
        return numpy.stack([self.simulations[g].positions(0) for g in chosen])

    def strains(self):
        return [simulation.strains()[0] for simulation in self.simulations]

    def hold_forces(self):
        return numpy.concatenate([simulation.hold_forces() for simulation in self.simulations])

    def fabric(self, garment):
        return self.simulations[garment].fabric(0)

    def faces(self, garment):
        return self.simulations[garment].faces(0)

    def rest_positions(self, garment):
        return self.simulations[garment].rest_positions(0)

    def obstacle_surfaces(self):
        return self.simulations[0].obstacle_surfaces()

    def obstacle_poses(self):
        return self.simulations[0].obstacle_poses()

    def set_gripper_motion(self, garment, *arguments):
        self.simulations[garment].set_gripper_motion(0, *arguments)

    def close_gripper(self, garment, gripper):
        self.simulations[garment].close_gripper(0, gripper)

    def open_gripper(self, garment, gripper):
        self.simulations[garment].open_gripper(0, gripper)
