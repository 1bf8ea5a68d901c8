"""Numbers of scenes with which they move as was recorded."""

import json
import os
import pathlib
import tempfile

import numpy

from . import _core
from ._results import MOST_ROWS
from ._scenes import scene_file
from .errors import ShapeError


def fit(plan, output=None, *, backend="cpu", device=0, precision="float64", solver="automatic", simd="", threads=0,
        overwrite=False, resume=False, simulate=False, quiet=False, allow=None):
    """Finds the numbers of scenes with which they move as was recorded, as ``isocloth fit`` does, and returns what
    ``fit.json`` has: ``status`` (``"completed"``; ``"model rejected"`` where what is left of the recordings is not the
    noise that was stated, for the reason in ``rejection``; ``"stopped"``), ``parameters`` (a list of dicts with name,
    unit, value, low, high, inflation, verdict), ``channels`` (what is left of each kind of measurement of each
    recording: noise_factor, chi_square_p, runs_p and more), ``left_out`` (each recording foretold by a fit to the
    others), ``experiments`` with their errors, ``correlation``, ``noise_factor``, ``notes``.

    plan: path of a file, or a dict with its keys (``isocloth fit --schema``), whose files are looked for in the current
    folder. output: folder for numbers and pictures; none: nothing is kept. overwrite, resume: what to do with a fit
    that is there. simulate: write the recordings that the plan names, as its scenes have them with each parameter's
    ``value``, and return None. quiet: no line for every step of the search. allow: as
    :class:`Simulation`, of the plan and its scenes. Other options: as :class:`Simulation`.

    Ctrl-C leaves the best numbers so far in the folder, and raises KeyboardInterrupt.
    """
    if overwrite and resume:
        raise ValueError("fit: found overwrite and resume, expected one of them")
    if isinstance(plan, dict):  # scenes are files that it names, too
        experiments = [{**e, "scene": os.path.abspath(e["scene"])} if "scene" in e else e
                       for e in plan.get("experiments", [])]
        plan = {**plan, "experiments": experiments}
    if_exists = "overwrite" if overwrite else "resume" if resume else "refuse"
    with scene_file(plan, "fit", allow) as file, tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
        target = os.fspath(output) if output is not None else str(pathlib.Path(folder, "fit"))
        _core.fit(*file, target, backend, device, precision, solver, simd, threads, if_exists, simulate, quiet)
        return None if simulate else json.loads(pathlib.Path(target, "fit.json").read_text(encoding="utf-8"))


def save_recording(path, times, positions):
    """Writes points over time as a recording for :func:`fit`: times [s], shape (samples,), ascending; positions [m],
    shape (samples, points, 3), NaN where a point was not seen.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_recording(os.path.join(folder, "seen.csv"), [0, 0.1], [[[0, 0, 1]], [[float("nan")] * 3]])
    ...     print(open(os.path.join(folder, "seen.csv")).read(), end="")
    # t [s], x, y, z of each point [m]
    0,0,0,1
    0.1,nan,nan,nan
    """
    said, shape = numpy.shape(times), numpy.shape(positions)
    if len(said) != 1 or shape[:1] != said or len(shape) != 3 or shape[2] != 3:
        raise ShapeError(f"positions: found shape {shape} for {said} times, expected (samples, points, 3) for "
                         "(samples,)")
    if shape[0] * shape[1] > MOST_ROWS:
        raise ShapeError(f"positions: found {shape[0] * shape[1]} points of all samples, expected at most {MOST_ROWS}")
    times, positions = numpy.asarray(times, dtype=float), numpy.asarray(positions, dtype=float)
    rows = numpy.column_stack([times, positions.reshape(len(times), -1)])
    numpy.savetxt(path, rows, fmt="%.9g", delimiter=",", header="t [s], x, y, z of each point [m]")
