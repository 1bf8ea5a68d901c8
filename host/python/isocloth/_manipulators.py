"""What takes hold of cloth where the pointer of a page is."""

import numpy


class GripperHand:
    """Holds cloth by grippers that the scene was given for it: part of the system of each step."""

    def __init__(self, simulation, grippers):
        self._simulation, self._grippers = simulation, grippers

    def take(self, garment, place):
        """Of a garment, what is around a place [m], shape (3,)."""
        self._at = place
        self.lead(garment, place)
        self._simulation.close_gripper(garment, self._grippers[garment])

    def lead(self, garment, goal):
        """Brings it to a place within a twentieth of a second, at most 5 m/s."""
        now = self._simulation.time
        duration = max(0.05, float(numpy.linalg.norm(goal - self._at)) / 5)
        self._simulation.set_gripper_motion(garment, self._grippers[garment], [now, now + duration],
                                            [list(self._at), list(goal)])
        self._at = goal

    def release(self, garment):
        self._simulation.open_gripper(garment, self._grippers[garment])

    def pull(self, _length):
        """Before a step."""


class ForceHand:
    """Pulls a simulation that has no such grippers by forces on the nodes around a place, as a damped spring that the
    lightest of them bears: m (d / (4 t^2) - v / (2 t)) for a way d, the velocity v and a time t between two updates."""

    def __init__(self, simulation, shown, reach):
        self._simulation, self._shown, self._reach, self._garment = simulation, shown, reach, None

    def take(self, garment, place):
        """Of a garment, what is around a place [m], shape (3,)."""
        begin = self._shown.begins[self._shown.garments.index(garment)]
        positions = self._simulation.positions(garment)
        self._nodes = numpy.flatnonzero(numpy.linalg.norm(positions - place, axis=1) <= self._reach)
        self._offsets = positions[self._nodes] - place
        areas = self._shown.cloth.node_areas[begin:begin + len(positions)]
        self._masses = self._simulation.fabric(garment)["density"] * areas[self._nodes, None]
        self._garment, self._goal = garment, place
        self._simulation.set_forces(garment, numpy.zeros_like(positions))

    def lead(self, _garment, goal):
        """To a place [m]."""
        self._goal = goal

    def release(self, garment):
        self._garment = None
        self._simulation.set_forces(garment, None)

    def pull(self, length):
        """Before a step, or before all until the next update, of this length [s]."""
        if self._garment is None:
            return
        positions, velocities = (read(self._garment) for read in (self._simulation.positions,
                                                                  self._simulation.velocities))
        way = self._goal + self._offsets - positions[self._nodes]
        forces = numpy.zeros_like(positions)
        forces[self._nodes] = self._masses * (way / (4 * length ** 2) - velocities[self._nodes] / (2 * length))
        self._simulation.set_forces(self._garment, forces)
