"""Runs into result folders, and what they left there."""

import csv
import functools
import html
import json
import os
import pathlib
import tempfile
import warnings

import numpy

from . import _core
from ._arguments import shown
from ._scenes import scene_file
from .errors import FileError, SceneWarning, ShapeError

MOST_ROWS = 10_000_000  # of a mesh or a recording that is written


class Result:
    """A result folder: what a run left.

    Attributes: ``folder``; ``times`` [s] and ``steps``, shape (frames,); ``faces``, shape (faces, 4), nodes of all
    garments one after another, -1 in the fourth place of a triangle; ``rest_positions`` [m], shape (nodes, 3);
    ``garments``: a slice of the nodes by the garment's name, of those whose positions are kept.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._trajectory = _core.Trajectory(str(self.folder / "trajectory.h5"))
        self.times, self.steps = self._trajectory.times, self._trajectory.steps
        self.faces, self.rest_positions = self._trajectory.faces, self._trajectory.rest_positions
        self.garments = {name: slice(begin, begin + count) for name, begin, count in self._trajectory.garments if count}

    def frame(self, number):
        """Positions of a frame [m], shape (nodes, 3); negative numbers count from the end."""
        return self._trajectory.positions(self._place(number))

    def contact_loads(self, number):
        """Sums of the sizes of the forces of cloth on cloth at each node in a frame [N], shape (nodes,); empty where
        cloth meets no cloth. Negative numbers count from the end."""
        return self._trajectory.contact_loads(self._place(number))

    def _place(self, number):
        """That of a frame, from 0 on."""
        try:
            return range(len(self.times))[number]
        except (TypeError, IndexError):
            raise ShapeError(f"{self.folder}: frame: found {number!r}, expected a number from {-len(self.times)} to "
                             f"{len(self.times) - 1}") from None

    def require_folder(self, what):
        """Raises FileError unless its files are there: those of a run without an output folder are not."""
        if not (self.folder / "trajectory.h5").exists():
            raise FileError(f"{what}: found a result that is in memory alone, expected one in a folder; give run() one")

    @functools.cached_property
    def positions(self):
        """Of all frames [m], shape (frames, nodes, 3)."""
        if not len(self.times):
            return numpy.empty((0, len(self.rest_positions), 3))
        return numpy.stack([self.frame(i) for i in range(len(self.times))])

    @functools.cached_property
    def summary(self):
        """``summary.json``."""
        return json.loads(self._text("summary.json"))

    @functools.cached_property
    def metrics(self):
        """Columns of ``metrics.csv`` by name, a row per frame and garment: float64, but ``garment`` and ``status``."""
        rows = list(csv.reader(self._text("metrics.csv").splitlines()))
        columns = dict(zip(rows[0], zip(*rows[1:]))) if len(rows) > 1 else {name: () for name in rows[0]}
        return {name: numpy.array(values, dtype=str if name in ("garment", "status") else float)
                for name, values in columns.items()}

    def _text(self, name):
        path = self.folder / name
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}, expected a result folder of isocloth") from None

    def widget(self, height=720):
        """The report page, for a notebook: played, coloured and turned where it is shown. height: [pixels].

        The page stands in the notebook as a whole, apart from its other content, some megabytes of it.
        """
        self.require_folder("widget")
        return ReportPage(self._text("report.html"), height)

    def __repr__(self):
        return f"Result({str(self.folder)!r}: {self.summary['status']}, {len(self.times)} frames)"


class ReportPage:
    """A report page in a frame, as notebooks show it."""

    def __init__(self, page, height):
        if isinstance(height, bool) or not isinstance(height, int) or not 100 <= height <= 10_000:
            raise ShapeError(f"widget: height: found {shown(height)}, expected a whole number from 100 to 10000")
        self._page, self._height = page, height

    def _repr_html_(self):
        # Scripts of the page run in an origin of their own, away from those of the notebook.
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self._page)}" '
                f'style="width: 100%; height: {self._height}px; border: 0"></iframe>')


def run(scene, output=None, *, backend="cpu", device=0, precision="float64", solver="automatic", simd="", threads=0,
        overwrite=False, resume=False, frames_of=None, ply=False, certify=False, energy_balance=False, quiet=False,
        allow=None):
    """Simulates a scene into a result folder, as ``isocloth run`` does, and returns its :class:`Result`.

    scene, allow and the options of execution: as :class:`Simulation`. output: folder; none: the result is
    kept in memory alone. overwrite, resume: what to do with a result folder that is there. frames_of: number of
    garments, the first ones, whose positions are kept. ply: write every frame as ``frames/*.ply``, too. certify: test
    every step for cloth that passes through cloth. energy_balance: measure in every step where the energy of each
    garment comes from and goes to; `metrics` then has the columns of host/docs/ENERGY_BALANCE.md. quiet: no progress on
    standard error.

    How it ended is ``summary["status"]``: ``completed``, ``stopped`` or ``failed``. Ctrl-C leaves a valid result and
    a checkpoint to resume from, and raises KeyboardInterrupt.

    >>> sheet = {"step": 0.01, "duration": 0.1, "frame_interval": 0.05, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    >>> result = run(sheet, quiet=True)
    >>> result.summary["status"], result.positions.shape
    ('completed', (3, 25, 3))
    """
    if overwrite and resume:
        raise ValueError("run: found overwrite and resume, expected one of them")
    with scene_file(scene, allow=allow) as file, tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
        target = os.fspath(output) if output is not None else str(pathlib.Path(folder, "result"))
        if_exists = "overwrite" if overwrite else "resume" if resume else "refuse"
        summary = json.loads(_core.run(*file, target, backend, device, precision, solver, simd, threads, if_exists,
                                       frames_of, ply, certify, energy_balance, quiet))
        for line in summary["warnings"]:
            warnings.warn(line, SceneWarning, stacklevel=2)
        result = Result(target)
        if output is None:
            _ = result.positions, result.metrics, result.summary
        return result


def check(scene, **options):
    """Brings a scene to its start as :func:`run` does, and returns its warnings, a line each. Raises what
    :class:`Simulation` raises. options: as there.

    >>> check({"step": 0.01, "duration": 1, "garments": []})
    Traceback (most recent call last):
    ...
    isocloth.errors.SceneError: scene: garments: found a list of 0, expected at least 1
    """
    from ._simulation import Simulation

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        return Simulation(scene, **options).warnings


def schema():
    """JSON Schema of scenes: every key with type, range, default, meaning and unit."""
    return json.loads(_core.schema())


def save_mesh(path, vertices, faces):
    """Writes a mesh as OBJ and returns what a garment's or obstacle's ``mesh`` says of it.

    vertices: [m], shape (nodes, 3); faces: nodes from 0, shape (faces, 3) or (faces, 4), or a list of both. Of a
    trimesh: ``save_mesh("shirt.obj", mesh.vertices, mesh.faces)``.
    """
    _require_rows("vertices", vertices, (3,))
    _require_rows("faces", faces, (3, 4))
    lines = ["v {!r} {!r} {!r}".format(*map(float, vertex)) for vertex in vertices]
    lines += ["f " + " ".join(str(int(node) + 1) for node in face if node >= 0) for face in faces]
    path = pathlib.Path(path).absolute()
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return {"file": str(path)}


def _require_rows(name, rows, widths):
    """Of a mesh: before a line of text is made of each."""
    try:
        count = len(rows)
        shape = getattr(rows, "shape", None) or (count, *{len(row) for row in rows if count <= MOST_ROWS})
    except TypeError:
        raise ShapeError(f"{name}: found {type(rows).__name__}, expected rows of {' or '.join(map(str, widths))} "
                         "numbers") from None
    if count > MOST_ROWS or not set(shape[1:]) <= set(widths):
        raise ShapeError(f"{name}: found {count} rows of {', '.join(map(str, shape[1:]))} numbers, expected at most "
                         f"{MOST_ROWS} of {' or '.join(map(str, widths))}")
