"""The folder of a sweep: ``plan.json``, ``table/batch-0000000.parquet``, ...; ``frames/`` and ``frames.h5`` if frames
are kept, ``base.npz`` if distances to the base run are measured, ``log/``."""

import json
import os
import pathlib
import socket
import time

import numpy

from ._hdf5 import open_result
from ._sweep_plan import Plan
from ._sweep_run import reference_of, run_batch
from ._sweep_table import batch_table, is_whole, part_of, read_table, write_batch
from .errors import FileError


def claim(folder, plan):
    """Makes the folder of a plan, or takes up the one that is there. Raises FileError for a folder of another plan."""
    folder = pathlib.Path(folder).absolute()
    file = folder / "plan.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = any(not entry.name.startswith(".plan.json.") for entry in folder.iterdir())
        if others and not file.exists():
            raise FileError(f"{folder}: found files, but no plan.json, expected an empty folder or one of this sweep")
        if not file.exists():
            part = part_of(file)
            part.write_text(json.dumps({"digest": plan.digest, **plan.content}, indent=1) + "\n", encoding="utf-8")
            try:
                os.link(part, file)  # of many processes that begin at once one makes it
            except FileExistsError:
                pass
            part.unlink()
        _compare(file, plan)
        for name in ("table", "log", *(["frames"] if plan.content["frames"] else [])):
            (folder / name).mkdir(exist_ok=True)
            if not os.access(folder / name, os.W_OK):
                raise PermissionError(13, "Permission denied")
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}; make the folder writable, or choose another") from None
    return folder


def read_plan(folder, functions=None):
    """The plan of a folder; functions: those of the user by column, else they are looked for by their names."""
    file = pathlib.Path(folder, "plan.json")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        digest = content.pop("digest")
        plan = Plan(content, functions if functions is not None else dict.fromkeys(content["functions"]))
    except FileNotFoundError:
        raise FileError(f"{file}: No such file, expected the folder of a sweep, on a disk that all workers share"
                        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{file}: {error}, expected the plan of a sweep; the file is damaged") from None
    if plan.digest != digest:
        raise FileError(f"{file}: found another content than its digest says; the file was changed or is damaged")
    return plan


def _compare(file, plan):
    found = read_plan(file.parent)
    if found.digest == plan.digest:
        return
    for key in {**plan.content, **found.content}:
        ours, theirs = _inner(plan.content.get(key), found.content.get(key))
        if ours != theirs:
            path, ours, theirs = _first_difference(key, plan.content.get(key), found.content.get(key))
            raise FileError(f"{file}: {path}: found {_short(theirs)}, now {_short(ours)}: another sweep; go on with "
                            "the scene and the plan that it was begun with, or choose another folder")
    raise FileError(f"{file}: found the keys of a scene or plan in another order: another sweep; choose another folder")


def _inner(*values):
    return [json.dumps(value) for value in values]


def _first_difference(path, ours, theirs):
    ours, theirs = json.loads(json.dumps(ours)), json.loads(json.dumps(theirs))
    while type(ours) is type(theirs) and isinstance(ours, (dict, list)):
        if isinstance(ours, list):
            if len(ours) != len(theirs):
                break
            at = next(i for i in range(len(ours)) if ours[i] != theirs[i])
            path = f"{path}[{at}]"
        else:
            keys = [key for key in {**theirs, **ours}
                    if key not in ours or key not in theirs or ours[key] != theirs[key]]
            if not keys:
                break
            at = keys[0]
            path = f"{path}.{at}"
            if at not in ours or at not in theirs:
                return path, ours.get(at), theirs.get(at)
        ours, theirs = ours[at], theirs[at]
    return path, ours, theirs


def _short(value):
    word = "nothing" if value is None else json.dumps(value)
    return word if len(word) < 80 else f"{word[:60]} ... ({len(word)} characters)"


def missing_batches(folder, plan):
    """Numbers of the batches whose file is not there and whole."""
    there = {entry.name for entry in os.scandir(folder / "table")}
    ending = plan.content["format"]
    return [number for number in range(len(plan.batches()))
            if f"batch-{number:07d}.{ending}" not in there or not is_whole(folder, plan, number)]


def remove_parts(folder):
    """Removes what processes of this machine that have ended left half written."""
    for part in folder.glob("**/.*.part*"):
        words = part.name.split(f".{socket.gethostname()}.")
        pid = words[-1].split(".")[0]
        if len(words) == 2 and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            part.unlink(missing_ok=True)


class Worker:
    """Runs batches of a folder's plan, in this process."""

    def __init__(self, folder, plan, threads=0):
        self.folder, self.plan, self.threads = pathlib.Path(folder), plan, threads
        self.reference = reference_of(plan, folder, threads)
        self.log = self.folder / "log" / f"{socket.gethostname()}-{os.getpid()}.jsonl"

    def run(self, number):
        """Runs a batch into its file, unless that is there and whole, and returns what became of it."""
        if is_whole(self.folder, self.plan, number):  # by a worker that was lost before it could say so
            table = read_table(self.folder, self.plan, [number])
            return {"batch": number, "cases": table.case_count, "failed": table.count("failed")}
        begin = time.perf_counter()
        batch = run_batch(self.plan, number, self.reference, self.threads)
        simulated = time.perf_counter()
        size = _write_frames(self.folder, number, batch) if self.plan.content["frames"] else 0
        table = batch_table(self.plan, batch)
        size_of_table = write_batch(self.folder, self.plan, number, table)
        done = {"batch": number, "ended": round(time.time(), 3), "cases": len(batch.cases),
                "failed": table.count("failed"), "simulated_seconds": round(simulated - begin, 6),
                "written_seconds": round(time.perf_counter() - simulated, 6),
                "table_bytes": size_of_table, "frames_bytes": size}
        with open(self.log, "a", encoding="utf-8") as file:  # how long it took is no part of the table
            file.write(json.dumps(done) + "\n")
        return done


def _write_frames(folder, number, batch):
    """Frames of a batch as HDF5: a group for cases of the same times and faces."""
    h5py = _h5py()
    path = folder / "frames" / f"batch-{number:07d}.h5"
    part = part_of(path)
    try:
        with h5py.File(part, "w", libver="latest") as file:
            for k, (cases, times, positions, faces) in enumerate(batch.frames):
                group = file.create_group(str(k))
                origins = positions[:, :1, :, :].mean(axis=2, keepdims=True)
                group["cases"], group["times"], group["faces"] = cases, times, faces
                group["origins"] = origins  # float32 is off by 6e-8 of the cloth's size then, wherever it is
                group.create_dataset("positions", data=(positions - origins).astype(numpy.float32), fletcher32=True,
                                     chunks=(1, *positions.shape[1:]))
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FileError(f"{path}: {error}; make the folder writable, or choose another") from None
    return path.stat().st_size


def write_index(folder, plan):
    """``frames.h5``: of every case with frames its group, an external link, and its row there."""
    h5py = _h5py()
    cases, groups, rows = [], [], []
    part = part_of(folder / "frames.h5")
    with h5py.File(part, "w", libver="latest") as index:
        for path in sorted((folder / "frames").glob("batch-*.h5")):
            with open_result(path) as file:
                for k in file.names("/"):
                    name = f"{path.stem}/{k}"
                    index[name] = h5py.ExternalLink(f"frames/{path.name}", k)
                    own = file.read(f"{k}/cases", "iu", 1).tolist()
                    cases, groups, rows = cases + own, groups + [name] * len(own), rows + list(range(len(own)))
        order = numpy.argsort(cases, kind="stable")
        index["case"], index["row"] = numpy.array(cases, dtype=int)[order], numpy.array(rows, dtype=int)[order]
        index["group"] = numpy.array([groups[i] for i in order], dtype="S")
        index.attrs["isocloth.sweep"] = plan.digest
    os.replace(part, folder / "frames.h5")


def _h5py():
    try:
        import h5py
    except ImportError:
        raise ImportError("sweep: found no h5py, which keeps frames; pip install isocloth[sweep], or frames=False"
                          ) from None
    return h5py


def read_sweep(folder):
    """The :class:`SweepTable` of a folder, as far as it is: the whole batches."""
    folder = pathlib.Path(folder)
    plan = read_plan(folder)
    missing = set(missing_batches(folder, plan))
    table = read_table(folder, plan, [number for number in range(len(plan.batches())) if number not in missing])
    table.batches_missing, table.format = len(missing), plan.content["format"]
    return table
