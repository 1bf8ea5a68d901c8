"""Libraries of formats in a process of their own, which ends when it has answered.

They are programs in C++ that read files of strangers: one that brings its reader down, never ends or asks for all of
the memory ends in a message here. The process is told what may be read, and how long it may take.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy

from . import errors
from ._import_mesh import Mesh
from ._import_source import Source
from .errors import FileError

_SECONDS, _SECONDS_PER_MB, _SECONDS_PER_FRAME = 20, 10, 0.1  # of a processor
_BYTES, _BYTES_PER_BYTE = 4 << 30, 64  # of memory
_PATIENCE = 15  # times as long by the clock, for machines that are busy


def read(module, path, animation, allow):
    """The :class:`Source` of a file, as a module of this package says that runs aside and calls :func:`work`."""
    def ask(times):
        return _ask(module, path, {"animation": animation, "allow": [os.path.abspath(folder) for folder in allow],
                                   "times": times})

    answer, arrays = ask([])
    frames = {None: [arrays[f"points{i}"] for i in range(len(answer["names"]))]}

    def prepare(times):
        _, moved = ask([float(t) for t in times])
        for k, time in enumerate(times):
            frames[time] = [moved[f"frames{i}"][k] if f"frames{i}" in moved else still
                            for i, still in enumerate(frames[None])]

    meshes = []
    for i, name in enumerate(answer["names"]):
        ends = numpy.cumsum(arrays[f"sizes{i}"])[:-1]
        faces = [tuple(part.tolist()) for part in numpy.split(arrays[f"corners{i}"], ends)]
        uvs = arrays[f"uvs{i}"]
        meshes.append(Mesh(name, faces, uvs if len(uvs) else None, lambda time, i=i: frames[time][i],
                           answer["moves"][i]))
    return Source(meshes, answer["unit"], answer["up"], answer["span"] and tuple(answer["span"]), answer["rate"],
                  answer["notes"], prepare)


def _ask(module, path, question):
    """What the other process says of the file, and its arrays; with times, positions at these alone."""
    size = os.path.getsize(path)
    seconds = _SECONDS + _SECONDS_PER_MB * size / 1e6 + _SECONDS_PER_FRAME * len(question["times"])
    with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
        asked = json.dumps({**question, "path": os.path.abspath(path), "folder": folder, "seconds": int(seconds),
                            "bytes": _BYTES + _BYTES_PER_BYTE * size})
        # Modules are sought where it begins, too, which may be a stranger's folder: not there.
        try:
            done = subprocess.run([sys.executable, "-m", module], input=asked, text=True, capture_output=True,
                                  errors="replace", cwd=folder, timeout=_PATIENCE * seconds,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})
        except subprocess.TimeoutExpired:
            raise FileError(f"{path}: cannot be read within {_PATIENCE * seconds:.0f} s, expected a file that can; it "
                            "is damaged, or very large") from None
        if done.returncode != 0:
            raise FileError(f"{path}: {_how(done, seconds)}, expected one that can be read; it is damaged, or another "
                            "format than its suffix says")
        answer = json.loads(pathlib.Path(folder, "answer.json").read_text(encoding="utf-8"))
        if "error" in answer:
            text = answer["error"].removeprefix(f"{os.path.abspath(path)}: ").removeprefix(f"{path}: ")
            raise getattr(errors, answer["kind"])(f"{path}: {text}")
        with numpy.load(pathlib.Path(folder, "arrays.npz")) as arrays:
            return answer, dict(arrays)


def _how(done, seconds):
    """How the process ended."""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"found a file that takes its library more than {seconds:.0f} s, or more memory than there is"
    if done.returncode < 0:
        with contextlib.suppress(ValueError):
            return f"found a file that ends its library with {signal.Signals(-done.returncode).name}"
    last = (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1]
    return f"found a file that ends its library: {last[:200]}"


class Refused(Exception):
    """With ``is_file``: whether the file is at fault."""

    def __init__(self, message, is_file=True):
        super().__init__(message)
        self.is_file = is_file


def work(answer_of, what, refusals=()):
    """Answers the question on standard input and ends the process. answer_of: of the question makes a dict with
    ``names``, ``moves``, ``unit``, ``up``, ``rate``, ``span``, ``notes`` and arrays by name: for mesh i ``sizes``,
    ``corners``, ``uvs`` and ``points``, with times ``frames`` of those that move. what, refusals: name of the
    format and what its library raises."""
    question, arrays = json.load(sys.stdin), {}
    with contextlib.suppress(ImportError):  # of other systems
        import resource

        def limit(kind, soft, hard):  # within what the user has set
            own = resource.getrlimit(kind)[1]
            if own != resource.RLIM_INFINITY:
                soft, hard = min(soft, own), min(hard, own)
            resource.setrlimit(kind, (soft, hard))

        limit(resource.RLIMIT_CPU, question["seconds"], question["seconds"] + 5)
        limit(resource.RLIMIT_AS, question["bytes"], question["bytes"])
        limit(resource.RLIMIT_CORE, 0, 0)
    folder = pathlib.Path(question["folder"])
    try:
        answer, arrays = answer_of(question)
    except Refused as error:
        answer = {"error": str(error), "kind": "FileError" if error.is_file else "Error"}
    except errors.Error as error:
        answer = {"error": str(error), "kind": type(error).__name__}
    except MemoryError:
        answer = {"error": "found a file that asks for more memory than there is, expected a smaller one",
                  "kind": "FileError"}
    except refusals as error:
        text = " ".join(str(error).split())[:200]
        answer = {"error": f"found no {what} that can be read: {text}", "kind": "FileError"}
    numpy.savez(folder / "arrays.npz", **arrays)
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)  # what belongs to a file is not collected
