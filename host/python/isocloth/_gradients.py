"""Gradients of runs."""

import dataclasses
import typing

import numpy

from . import _core


@dataclasses.dataclass(frozen=True)
class Gradient:
    """Derivatives of a loss L by what a garment's run began with and was told.

    ``positions`` [1/m] and ``velocities`` [s/m]: by the start, shape (nodes, 3). ``targets`` [1/m]: by where pinned
    nodes are after each step, 0 for free ones, shape (steps, nodes, 3). ``forces`` [1/N]: by forces on nodes during
    each step (:meth:`Simulation.set_forces`), shape (steps, nodes, 3). ``fabric``: by numbers of the fabric under
    their names in a scene, ``{"mass_damping": ...}``: those that are not 0, and density, gravity_density and
    mass_damping. ``gravity`` [s^2/m].
    ``buckling_steps``: steps that end where cloth is about to buckle, whose second derivatives leave out what pushes.
    ``obstacles`` and ``grippers``: by where each of them is at the start and after each step, a move [1/m] and a turn
    about its origin [1/rad] along the axes of the world, shape (steps + 1, count, 6); of obstacles through all garments
    that may meet. ``friction``: by the static and the dynamic coefficient with each obstacle, shape (obstacles, 2).
    ``cloth_friction``: by the dynamic coefficients of friction between all cloths that may meet, together.
    """

    positions: numpy.ndarray
    velocities: numpy.ndarray
    targets: numpy.ndarray
    forces: numpy.ndarray
    fabric: dict[str, float]
    gravity: float
    buckling_steps: int
    obstacles: numpy.ndarray
    grippers: numpy.ndarray
    friction: numpy.ndarray
    cloth_friction: float


class Tape(_core.Tape):
    """Takes the steps of a simulation and goes back through them: reverse mode, by the implicit function theorem.

    Every step is differentiated as if it had converged exactly, its contacts with obstacles and cloth as they are:
    those that push do, those that stick or slide go on so (:meth:`contact_changes`). Set
    ``projection.force_tolerance`` and ``contact.tolerance`` of the scene as low as the gradient is to be good. Recipes
    of the projection in float64: what meets rigid bodies or air has no gradient here, and is refused with
    :class:`SceneError`; :func:`smoothed_gradient` asks for none.

    >>> import isocloth
    >>> scene = {"step": 0.01, "duration": 1, "recipe": "membrane", "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}, "fabric": {"preset": "cotton"},
    ...      "pins": [{"select": {"nodes": [0, 4]}}]}]}
    >>> simulation = isocloth.Simulation(scene)
    >>> tape = isocloth.Tape(simulation)
    >>> for _ in range(10):
    ...     reports = tape.step()
    >>> height = numpy.zeros((11, 25, 3))
    >>> height[10, :, 2] = 1 / 25  # of the mean height at the end
    >>> gradient = tape.gradient(height)
    >>> gradient.fabric["gravity_density"] < 0  # it falls the faster the heavier it is
    True
    """

    def __init__(self, simulation):
        super().__init__(simulation)
        self.simulation = simulation

    def positions(self, garment=0):
        """Of the start and after each step [m], shape (steps + 1, nodes, 3)."""
        return self._states(garment, False)

    def velocities(self, garment=0):
        """The same of velocities [m/s]."""
        return self._states(garment, True)

    def wrenches(self, garment=0):
        """Force [N] and torque about its origin [N m] of each obstacle on the garment after each step, along the axes
        of the world, shape (steps, obstacles, 6)."""
        return self._wrenches(garment)

    def contact_changes(self, garment=0):
        """How contacts of the garment changed in each step: a dict of arrays of shape (steps,), how many ``"began"``
        to push and ``"ended"``, those between two garments with the first, and of those with obstacles that go on
        ``"stuck"`` that slid before and ``"slid"`` that stuck. Each is where motion is not smooth, and a gradient that
        of the side that the run took."""
        return dict(zip(("began", "ended", "stuck", "slid"), self._contact_changes(garment).T))

    def gradient(self, positions: typing.Any = None, velocities: typing.Any = None, garment=0, *,
                 wrenches: typing.Any = None, by=None) -> Gradient:
        """:class:`Gradient` of a loss from its derivatives by the states of a garment, dL/dx [1/m] and dL/dv [s/m], of
        the start and after each step, shape (steps + 1, nodes, 3), and by :meth:`wrenches`, shape
        (steps, obstacles, 6); ``None``: zero. ``by``: another garment, which may meet it (``contact.cloth``), by whose
        start, motion and fabric the gradient is; ``None``: the garment itself."""
        return Gradient(*self._gradient(garment, positions, velocities, wrenches, by))
