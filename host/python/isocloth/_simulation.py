"""Scenes that run step by step."""

import dataclasses
import numbers
import os
import pathlib
import typing
import warnings
import zlib

from . import _core
from ._bodies import Bodies
from ._forces import Forces
from ._scenes import absolute_content, scene_file
from .errors import Error, FileError, SceneWarning, ShapeError


@dataclasses.dataclass(frozen=True)
class View:
    """An array where the engine has it, without a copy.

    ``array`` has shape (tiles, lanes, nodes, numbers): cloth ``c`` of the view is ``array[c // lanes, c % lanes]``
    and garment ``garments[c]`` of the scene; what follows the last cloth is padding. On a GPU and for single garments
    there is one lane. On the CPU it is a numpy array; on a GPU it speaks DLPack, which tells its number
    (``torch.from_dlpack(view.array)``, ``cupy.from_dlpack``). It may be read until the simulation steps again;
    positions and velocities may be written until then, too. Ask for another view after a step.
    """

    array: typing.Any
    garments: list[int]

    def cloth(self, number):
        """Array of the ``number``-th cloth of this view, shape (nodes, numbers), without a copy."""
        lanes = self.array.shape[1]
        if not 0 <= number < len(self.garments):
            raise IndexError(f"cloth: found {number}, expected 0 to {len(self.garments) - 1}")
        return self.array[number // lanes, number % lanes]


def _as_it_is(scene, allow):
    """What a simulation can be made of again: scene, allow and, of a file, the digest of its text."""
    folders = [allow] if isinstance(allow, (str, os.PathLike)) else allow
    folders = None if allow is None else [os.path.abspath(folder) for folder in folders]
    if isinstance(scene, (str, os.PathLike)):
        path = pathlib.Path(scene).absolute()
        return str(path), folders, zlib.crc32(path.read_bytes())
    content = absolute_content(scene)
    return content, None if folders is None else [os.getcwd(), *folders], None


def _made_again(kind, scene, allow, digest, options, commands, snapshot, forces):
    if digest is not None and zlib.crc32(pathlib.Path(scene).read_bytes()) != digest:
        raise FileError(f"{scene}: found another text than when the simulation was pickled, expected the same")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)  # they were heard
        simulation = kind(scene, allow=allow, **options)
    simulation.restore(snapshot)
    simulation._command(commands)
    for force in forces:
        simulation.add_force(*force)
    return simulation


class Simulation(Bodies, _core.Simulation):
    """A running scene.

    scene: path of a scene file, a :class:`isocloth.scene.Scene`, or a dict with the same keys (see
    :func:`isocloth.schema`); files that it names are looked for beside the scene file, or in the current folder.
    backend: ``cpu`` or ``cuda``; device: number of the GPU, which views carry; precision: ``float64`` or ``float32``;
    solver: ``automatic``, ``batched``, ``direct``, ``mixed`` or ``iterative``; simd: ``baseline``, ``avx2`` or
    ``avx512``, empty: the widest there is; threads: 0 for all cores, results do not depend on it. measure_strain:
    reports have strains; off, batches are faster.
    energy_balance: :meth:`energy_balance` tells where the energy of each garment comes from and goes to, which is
    measured in every step, without a change of any bit of it. allow: a folder, or several, from whose trees a scene may
    read, "/" for any; files that it names there are refused else. A scene file may read from the tree of its own
    folder; what a program has made, a dict or a Scene, from anywhere, or with ``allow=()`` from the current folder
    alone: for a dict that came from somebody else.

    A scene with ``sewing`` is sewn here, before its time begins; seams that stay open are an error that names them and
    what holds them, or, with ``"if_open": "continue"``, lines of :attr:`unclosed_seams`.

    Numbers that ``keyframes`` of the scene change are set before each step; what a command says of them lasts until
    then.

    Simulations may be pickled and copied (:mod:`copy`), to the last bit of what follows: by the dict, or by the path of
    a file that is still there and the same, by all that commands have said and by a :meth:`snapshot`; functions of
    :meth:`add_force` are pickled, and where they are shared, copied with it. One with ``energy_balance`` is not.

    The interpreter's lock is given up during steps, so that simulations in several threads run side by side. Raises
    :class:`isocloth.SceneError` and the other errors of :mod:`isocloth.errors`; Ctrl-C ends a step within a moment
    and leaves the state before it.

    >>> sheet = {"step": 0.01, "duration": 1, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    >>> simulation = Simulation(sheet)
    >>> [report] = simulation.step()
    >>> report.status
    'converged'
    >>> simulation.positions().shape
    (25, 3)
    """

    def __init__(self, scene, *, backend="cpu", device=0, precision="float64", solver="automatic", simd="", threads=0,
                 measure_strain=True, energy_balance=False, allow=None):
        with scene_file(scene, allow=allow) as file:
            super().__init__(*file, backend, device, precision, solver, simd, threads, measure_strain, energy_balance)
        self._forces = Forces()
        self._made = _as_it_is(scene, allow), {
            "backend": backend, "device": device, "precision": precision, "solver": solver, "simd": simd,
            "threads": threads, "measure_strain": measure_strain, "energy_balance": energy_balance}
        for line in self.warnings:
            warnings.warn(line, SceneWarning, stacklevel=2)

    def positions(self, garment=0):
        """A copy of positions [m]: of a garment by its number or name, shape (nodes, 3), or of some that have as many
        nodes as each other, by a slice or a sequence of these, shape (garments, nodes, 3); ``positions(slice(None))``:
        of a batch."""
        return self._copies("positions", garment)

    def velocities(self, garment=0):
        """The same of velocities [m/s]."""
        return self._copies("velocities", garment)

    def _copies(self, field, garment):
        chosen = self._numbers_of(garment)
        if isinstance(garment, (numbers.Integral, str)):
            return self.read(field, chosen)
        counts = {self.info(g).node_count for g in chosen}
        if len(counts) > 1:
            raise ShapeError(f"garments: found some of {min(counts)} and of {max(counts)} nodes, expected one number; "
                             "read() has them one after another")
        return self.read(field, chosen).reshape(len(chosen), *counts or (0,), 3)

    def add_force(self, function, garments=None, name=None):
        """From now on ``function`` says before each step what acts on the nodes of these garments.

        It is called with a :class:`ClothState`, once a step for all garments whose meshes have the same faces, and
        returns forces [N] as an array of shape (cloths, nodes, 3), or a :class:`SlopedForce`, which is stable
        however stiff it is. They act throughout the step, beside :meth:`set_forces` and other forces. A plain array is
        explicit: a spring k [N/m] or damper d [N s/m] on a node of mass m wants steps below 2 sqrt(m / k) and 2 m / d.

        garments: a number or name, a slice or a sequence of these; None: all. name: for messages and
        :meth:`remove_force`; None: that of the function. Returns the function, so that it may stand as a decorator.

        Forces are asked in the order in which they were added, in the thread that steps, with the state that the step
        begins with. What a function remembers is its own: :meth:`reset` and :meth:`restore` do not know of it. What it
        raises ends the step and is raised by :meth:`step` or :meth:`advance`, with the name in a note; of that step
        nothing has then happened. :class:`ForceError`, which names garment, node and time, is raised for what is not
        finite or of another shape, :class:`ShapeError` for a name that is there and garments that are none,
        :class:`SceneError` with ``projection.metric`` "mass".

        >>> simulation = Simulation({"step": 0.01, "duration": 1, "gravity": 0, "garments": [
        ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]})
        >>> @simulation.add_force
        ... def attraction(state):
        ...     return state.masses[..., None] * ([0.2, 0.2, 1.0] - state.positions)
        >>> simulation.advance(10)[0].status
        'converged'
        >>> simulation.forces
        ['attraction']
        """
        name = getattr(function, "__name__", type(function).__name__) if name is None else name
        if not callable(function):
            raise ShapeError(f'force "{name}": found {function!r}, expected a function')
        self._add_force(name, slice(None) if garments is None else garments)
        self._forces.functions[name] = function
        self._forces.garments[name] = garments
        return function

    def remove_force(self, name):
        """Raises :class:`ShapeError` where there is none of that name."""
        self._remove_force(name)
        del self._forces.functions[name], self._forces.garments[name]

    def __reduce__(self):
        (scene, allow, digest), options = self._made
        if options["energy_balance"]:
            raise Error("pickle: found a simulation with energy_balance, expected one without: its sums are no part of "
                        "a snapshot")
        forces = [(function, self._forces.garments[name], name) for name, function in self._forces.functions.items()]
        said = {name: value for name, value in vars(self).items() if name not in ("_forces", "_made")}
        return _made_again, (type(self), scene, allow, digest, options, self._commands(), self.snapshot(), forces), said

    def views(self, field="positions"):
        """:class:`View` of each set of garments that are stepped together, where they lie.

        field: ``positions`` [m], ``velocities`` [m/s], ``strains`` (the numbers of :class:`Strain`),
        ``contact_obstacles`` (numbers as reals, -1: none), ``contact_forces`` [kg m] (force times step squared) or
        ``hold_forces`` [kg m].
        """
        return [View(array, garments) for array, garments in self._views(field)]

    def view(self, port=8080, record=None):
        """Opens a page that shows this simulation as it runs, and returns its :class:`isocloth.Viewer` at once. Needs
        viser.

        The program goes on to step, and calls ``viewer.update(reports)`` after each step; or ``viewer.loop()`` steps in
        real time, until Ctrl-C or for some seconds, and the page can pause it. Dragging acts by :meth:`set_forces`, in
        the place of forces that were set before. record: folder for pictures and films; ``viewer.close()`` ends the
        page.

        >>> viewer = simulation.view()  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     viewer.update(simulation.step())
        """
        from ._view import Viewer

        return Viewer(self, port, record)
