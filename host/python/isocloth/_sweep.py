"""Many runs of one scene as one table."""

import json
import os
import pathlib
import sys
import time

from ._sweep_folder import Worker, claim, missing_batches, read_plan, read_sweep, remove_parts, write_index
from ._sweep_plan import KEYS, make_plan
from ._sweep_run import reference_of, run_batch
from ._sweep_table import batch_table, join_tables
from .errors import SceneError, ShapeError


def sweep(scene, vary, output=None, *, measures=(), samples=None, seed=0, against=None, window=None, garment=None,
          batch=0, frames=False, format="parquet", workers=1, worker=None, threads=0, devices=None, backend="cpu",
          precision="float64", solver="automatic", simd="", check=True, quiet=False, allow=None):
    """Runs a scene for every combination of values, and returns a :class:`SweepTable`.

    scene, allow: as :class:`Simulation`, without replicas. vary: values by the path of any key of the scene, numbers,
    texts, lists or dicts: ``{"fabric.density": [0.1, 0.2], "recipe": ["membrane", "coltraro2022"], "step": [0.01,
    0.005]}``; a path that is none of the scene is one of its only garment; ``None``: the key is not said. In the place
    of a list a range, ``{"from": a, "to": b, "count": n, "scale": "log"}``; with samples: so many random cases, uniform
    between ``from`` and ``to``, from seed. Or a list of cases, ``[{path: value}, ...]``.

    measures: names as for ``isocloth sweep --measure`` (``strain_max``, ``node:40``, ``distance_mean``, ...), functions
    that take a :class:`CaseRun` and return a number, ``{column: function}``, or ``"module:function"``; nothing: a
    sensible choice. against: ``"base"``, the scene as it stands, or a result folder, a ``trajectory.h5`` or a CSV file
    that distances are measured to. window: (from, to) [s], frames that measures count. garment: name or number of the
    one that is measured, where a scene has several.

    output: folder of the table, a file per batch; the same call goes on with a sweep that is there, after its whole
    batches; none: nothing is kept. batch: cases of one simulation, 0: a sensible number. frames: keep positions, too
    (h5py). format: of the files, ``parquet`` (pyarrow) or ``csv``.

    workers: 1: this process; a larger number: so many processes of this machine, or the address of a Dask scheduler, a
    ``dask.distributed.Client`` or a cluster (``dask_jobqueue.SLURMCluster``): see host/docs/SCALING.md; a script then
    needs ``if __name__ == "__main__":``. worker: ``(i, n)``, the i-th of n processes that share the folder and know
    nothing of each other, from 1; the table is then that of the whole batches. threads of each process, 0: all cores,
    or an equal part of them. devices: numbers of GPUs, one for each process of this machine.

    Cases whose values need no other mesh, recipe or step, numbers of the only garment, share the vector lanes of one
    simulation; others are simulations of their own. The table has the same bits however many processes there are. A
    case that is lost or refused is recorded as ``failed`` with its message. check: read the scene for every value
    before anything runs, and raise what is wrong with one. Ctrl-C leaves the whole batches.

    Raises :class:`SceneError` (unknown keys, with the nearest known one; empty or repeated values; unknown measures),
    :class:`FileError` (a folder of another plan, no write access).

    >>> sheet = {"step": 0.01, "duration": 0.1, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]},
    ...      "pins": [{"select": {"nodes": [0, 4]}}]}]}
    >>> def lowest(run):
    ...     return run.positions[-1, :, 2].min()
    >>> table = sweep(sheet, {"gravity": [0, 9.81]}, measures=["strain_max", lowest], quiet=True)
    >>> table["gravity"].tolist(), table["status"].tolist(), bool(table["lowest"][1] < table["lowest"][0])
    ([0.0, 9.81], ['completed', 'completed'], True)
    """
    plan = make_plan(scene, vary, samples=samples, seed=seed, measures=measures, against=against, window=window,
                     garment=garment, batch=batch, frames=frames, format=format, backend=backend, precision=precision,
                     solver=solver, simd=simd, check=check, allow=allow)
    return run_plan(plan, output, workers=workers, worker=worker, threads=threads, devices=devices, quiet=quiet)


def load_plan(file, check=True, allow=None):
    """The plan of a JSON file with the keys of :func:`sweep` that say what is computed; files that it names are looked
    for beside it."""
    file = pathlib.Path(file)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SceneError(f"{file}: {error.strerror}, expected the plan of a sweep") from None
    except ValueError as error:
        raise SceneError(f"{file}: {error}, expected JSON") from None
    if not isinstance(content, dict) or not {"scene", "vary"} <= set(content):
        raise SceneError(f"{file}: found no scene or no vary, expected the plan of a sweep, an object with both")
    unknown = [key for key in content if key not in KEYS]
    if unknown:
        raise SceneError(f"{file}: {unknown[0]}: unknown key, expected one of {', '.join(KEYS)}")
    here = os.getcwd()
    try:
        os.chdir(file.absolute().parent)
        return make_plan(**content, folder=file.absolute().parent, check=check, allow=allow)
    finally:
        os.chdir(here)


def run_plan(plan, output=None, *, workers=1, worker=None, threads=0, devices=None, quiet=False):
    """What :func:`sweep` does once its plan stands."""
    share = _share(worker)
    if isinstance(workers, int) and workers < 1:
        raise ShapeError(f"workers: found {workers}, expected a whole number >= 1, or a cluster")
    if worker is not None and workers != 1:
        raise ShapeError("worker: found it beside workers, expected one of them")
    if output is None:
        if worker is not None or workers != 1 or plan.content["frames"]:
            raise ShapeError("output: found none, expected a folder where there are frames or other processes")
        return _in_memory(plan, threads, quiet)
    folder = claim(output, plan)
    remove_parts(folder)
    missing = [number for number in missing_batches(folder, plan) if number % share[1] == share[0]]
    progress = Progress(plan, len(missing), quiet)
    try:
        if missing and workers == 1:
            if devices:
                os.environ["CUDA_VISIBLE_DEVICES"] = str(devices[0])
            own = Worker(folder, plan, threads)
            for number in missing:
                progress.add(own.run(number))
        elif missing:
            from ._distributed import run_distributed

            run_distributed(folder, plan, missing, workers, threads, devices, progress)
    except KeyboardInterrupt:
        progress.end()
        count, left = len(plan.batches()), len(missing_batches(folder, plan))
        print(f"isocloth: interrupted with {count - left} of {count} batches whole in {folder}; the same call goes on "
              "there", file=sys.stderr)
        raise
    progress.end()
    table = read_sweep(folder)
    if plan.content["frames"] and not table.batches_missing:
        write_index(folder, plan)
    return table


def _share(worker):
    """(number of the first batch, stride)"""
    if worker is None:
        return 0, 1
    i, n = worker
    if not (isinstance(i, int) and isinstance(n, int) and 1 <= i <= n):
        raise ShapeError(f"worker: found {i}/{n}, expected I/N with I from 1 to N")
    return i - 1, n


def _in_memory(plan, threads, quiet):
    reference = reference_of(plan, None, threads)
    progress = Progress(plan, len(plan.batches()), quiet)
    tables = []
    for number in range(len(plan.batches())):
        tables.append(batch_table(plan, run_batch(plan, number, reference, threads)))
        progress.add({"cases": tables[-1].case_count, "failed": tables[-1].count("failed")})
    progress.end()
    return join_tables(plan, tables, None)


class Progress:
    """A line on standard error: over itself on a terminal, every ten seconds elsewhere."""

    def __init__(self, plan, batches, quiet):
        self.total, self.batches, self.quiet = batches, len(plan.batches()), quiet
        self.done = self.cases = self.failed = 0
        self.begin = time.monotonic()
        self.over = sys.stderr.isatty()
        self.shown, self.length = self.begin, 0

    def add(self, done, workers=None):
        self.done, self.cases, self.failed = self.done + 1, self.cases + done["cases"], self.failed + done["failed"]
        now = time.monotonic()
        if now - self.shown < (0.2 if self.over else 10) and self.done < self.total:
            return
        self.shown = now
        seconds = max(now - self.begin, 1e-9)
        left = (self.total - self.done) * seconds / self.done
        self.say(f"isocloth: {self.batches - self.total + self.done} of {self.batches} batches, "
                 f"{self.cases / seconds:.3g} cases/s, {self.failed} failed"
                 f"{f', {workers} workers' if workers else ''}, {left:.0f} s to go")

    def say(self, line, stays=False):
        if self.quiet:
            return
        sys.stderr.write(("\r" if self.over and self.length else "") + line.ljust(self.length)
                         + ("\n" if stays or not self.over else ""))
        self.length = len(line) if self.over and not stays else 0
        sys.stderr.flush()

    def end(self):
        if self.length and not self.quiet:
            sys.stderr.write("\n")
        self.length = 0


__all__ = ["load_plan", "read_plan", "read_sweep", "run_plan", "sweep"]
