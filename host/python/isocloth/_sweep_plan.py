"""What a sweep does: its cases, and the batches that they are simulated in."""

import hashlib
import importlib
import inspect
import itertools
import json
import math
import os
import pathlib
import sys

import numpy

from . import _core
from ._scenes import _make_files_absolute, _plain, scene_file
from ._sweep_paths import put, resolve, tokens
from .errors import Error, FileError, SceneError, ShapeError

KEYS = ("scene", "vary", "samples", "seed", "measures", "against", "window", "garment", "batch", "frames", "format",
        "backend", "precision", "solver", "simd")
_MOST_CASES = 10_000_000
_MOST_CHECKED = 500  # values that are read before anything runs


class Plan:
    """Cases and batches of a sweep; equal on every machine that has the same file.

    ``content``: what ``plan.json`` holds. ``digest``: SHA-256 of it and of the files that the scene names.
    ``functions``: measures of the user by column.
    """

    def __init__(self, content, functions):
        self.content, self.functions = content, functions
        self.scene = content["scene"]
        self.paths, self.names = content["paths"], content["names"]
        self.columns = [column[0] for column in content["columns"]]
        self.digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        self._groups = None

    @property
    def case_count(self):
        vary = self.content["vary"]
        return len(vary) if isinstance(vary, list) else math.prod(len(values) for values in vary.values())

    def values(self, case):
        """Values of a case by path; the last path of a grid runs fastest."""
        vary = self.content["vary"]
        if isinstance(vary, list):
            return dict(zip(self.paths, vary[case]))
        found = []
        for values in reversed(list(vary.values())):
            case, at = divmod(case, len(values))
            found.append(values[at])
        return dict(zip(self.paths, reversed(found)))

    def named(self, case):
        """The same by the paths as they were written, the names of the columns."""
        return dict(zip(self.names, self.values(case).values()))

    def case_scene(self, case):
        """The scene of a case, as a dict."""
        scene = json.loads(json.dumps(self.scene))
        for path, value in self.values(case).items():
            put(scene, path, value)
        return scene

    def batches(self):
        """Numbers of the cases of each batch: cases that can share vector lanes, in order."""
        if self._groups is None:
            self._groups = _batches(self)
        return self._groups

    def lane_paths(self):
        """Those whose values may differ within a batch: numbers of the only garment but of its mesh."""
        if not self.content["lanes"]:
            return []
        vary = self.content["vary"]
        columns = ({path: [row[i] for row in vary] for i, path in enumerate(self.paths)} if isinstance(vary, list)
                   else vary)
        return [path for path in self.paths if path.startswith("garments[0].")
                and tokens(path)[2] not in ("mesh", "initial")
                and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in columns[path])]

    def describe(self, case):
        """Number and values of a case, for messages."""
        return f"case {case} ({', '.join(f'{path} = {json.dumps(v)}' for path, v in self.named(case).items())})"


def _batches(plan):
    sizes = plan.content["batch"]
    return [cases[i:i + size] for key, cases in _groups(plan).items()
            for size in [sizes if isinstance(sizes, int) else sizes[key]] for i in range(0, len(cases), size)]


def _groups(plan):
    """Cases by the values that a batch has in common."""
    vary, lanes = plan.content["vary"], set(plan.lane_paths())
    outer = [i for i, path in enumerate(plan.paths) if path not in lanes]
    if not outer:
        return {"[]": range(plan.case_count)}
    groups = {}
    rows = vary if isinstance(vary, list) else itertools.product(*vary.values())
    for case, row in enumerate(rows):
        groups.setdefault(json.dumps([row[i] for i in outer]), []).append(case)
    return groups


def make_plan(scene, vary, *, samples=None, seed=0, measures=(), against=None, window=None, garment=None, batch=0,
              frames=False, format="parquet", backend="cpu", precision="float64", solver="automatic", simd="",
              folder=None, check=True, allow=None):
    """Plan of a sweep. folder: where functions of ``"module:function"`` are looked for, too; check: read the scene for
    every value. Raises what :func:`isocloth.sweep` raises before it runs anything."""
    with scene_file(scene, allow=allow) as file:
        try:
            sizes = _core.scene_sizes(*file)
            content = json.loads(_core.portable_scene_text(*file))
        except Error as error:
            raise type(error)(str(error).replace(file.path, "scene") if not isinstance(scene, (str, os.PathLike))
                              else str(error)) from None
    garments = content["garments"]
    is_batch = any("replicas" in g or "vary" in g for g in garments)
    if is_batch:
        raise SceneError("scene: found replicas or vary in a garment, expected none: what varies is said by the sweep")
    files_in = pathlib.Path(scene).absolute().parent if isinstance(scene, (str, os.PathLike)) else pathlib.Path.cwd()
    names_of_keys = [str(path) for path in (vary[0] if isinstance(vary, list) and vary else vary)]
    paths, vary = _expand(vary, samples, seed, content, files_in)
    names, functions = _measures(measures, folder)
    nodes = sizes["nodes"][_garment_number(garment, sizes["garments"])]
    reference = _reference(against)
    try:
        columns = _core.sweep_measures(names, nodes, bool(reference)) if names or not functions else []
    except SceneError as error:
        raise SceneError(str(error).replace("--measure", "measures").replace("--against", "against")) from None
    columns += [(name, "", _source_of(function)) for name, function in functions.items()]
    repeated = [c[0] for i, c in enumerate(columns) if c[0] in [d[0] for d in columns[:i]] + names_of_keys]
    if repeated:
        raise SceneError(f"measures: found {repeated[0]} a second time, expected each column once")
    _check_window(window, content)
    lanes = len(garments) == 1 and not content.get("bodies")
    if not isinstance(batch, int) or isinstance(batch, bool) or batch < 0:
        raise ShapeError(f"batch: found {batch!r}, expected a whole number of cases, 0: a sensible one")
    if format not in ("parquet", "csv"):
        raise ShapeError(f"format: found {format!r}, expected parquet or csv")
    execution = {"backend": backend, "precision": precision, "solver": solver,
                 "simd": (simd or _core.widest_simd()) if backend == "cpu" else ""}
    plan = Plan({"isocloth": _core.version(), "scene": content, "files": _files(content), "paths": paths,
                 "names": names_of_keys, "vary": vary, "measures": names, "columns": columns,
                 "functions": list(functions), "against": reference, "window": window and list(window),
                 "garment": garment, "batch": batch if lanes else 1, "lanes": lanes, "frames": bool(frames),
                 "format": format, "execution": execution}, functions)
    for path, values in vary.items() if isinstance(vary, dict) else zip(paths, zip(*vary)):
        for value in values:
            plan.content["files"] |= _files({tokens(path)[-1]: value})
    if check:
        _check_values(plan)
    if not plan.content["batch"]:
        plan.content["batch"] = _batch_sizes(plan, nodes)
    return Plan(plan.content, functions)


def _batch_sizes(plan, nodes):
    """Cases of a batch, where meshes vary by what a batch has in common. 128 fill the vector lanes of all threads of a
    socket; cloths of more than 300 nodes are stepped one by one, and a batch is what a lost worker loses."""
    def size(nodes):
        return 128 if nodes <= 300 else max(1, min(16, 100_000 // nodes))

    if not any(path.startswith("garments[0].mesh") for path in plan.paths):
        return size(nodes)
    sizes = {}
    for key, cases in _groups(plan).items():
        try:
            with scene_file(plan.case_scene(cases[0])) as file:
                sizes[key] = size(_core.scene_sizes(*file)["nodes"][0])
        except Error:  # what is wrong with them is said when they run
            sizes[key] = 1
    return sizes


def _expand(vary, samples, seed, scene, folder):
    """Paths, and their values: lists by path, or of every case in order."""
    if isinstance(vary, list):
        if samples is not None:
            raise SceneError("samples: found it beside a list of cases, expected one of them")
        if not vary or not all(isinstance(case, dict) and case for case in vary):
            raise SceneError("vary: found an empty list or a case without values, expected {path: value} for each case")
        written = list(vary[0])
        for i, case in enumerate(vary):
            if set(case) != set(written):
                raise SceneError(f"vary: case {i} varies {', '.join(case)}, case 0 {', '.join(written)}, "
                                 "expected the same")
        paths = _paths(written, scene)
        rows = [[_value(case[key], key, folder) for key in written] for case in vary]
        seen = {}
        for i, row in enumerate(rows):
            first = seen.setdefault(json.dumps(row), i)
            if first != i:
                raise SceneError(f"vary: case {i} is case {first} again, expected each once")
        return paths, rows
    if not isinstance(vary, dict) or not vary:
        raise SceneError("vary: found nothing, expected {path: values}, or a list of {path: value}")
    paths = _paths(list(vary), scene)
    if samples is not None:
        return paths, _samples(vary, samples, seed, folder)
    axes = dict(zip(paths, (_axis(values, path, folder) for path, values in vary.items())))
    count = math.prod(len(values) for values in axes.values())
    if count > _MOST_CASES:
        raise SceneError(f"vary: found {count} cases, expected at most {_MOST_CASES}")
    return paths, axes


def _paths(written, scene):
    paths = []
    for path in written:
        paths.append(resolve(str(path), scene))
        if paths[-1] in paths[:-1]:
            raise SceneError(f"vary: found {paths[-1]} a second time, expected each key once")
    return paths


def _value(value, path, folder):
    """As JSON has it, with files that it names made absolute."""
    try:
        whole = {tokens(path)[-1]: json.loads(json.dumps(value, default=_plain, allow_nan=False))}
    except (TypeError, ValueError):
        raise SceneError(f"vary: {path}: found {value!r}, expected finite numbers, texts, lists and dicts") from None
    _make_files_absolute(whole, folder)
    return next(iter(whole.values()))


def _axis(values, path, folder):
    """A list of values, or a range ``{"from": a, "to": b, "count": n, "scale": "log"}``."""
    if isinstance(values, dict):
        low, high, scale = _range(values, path, {"from", "to", "count", "scale"})
        count = values.get("count")
        if not isinstance(count, int) or count < 1:
            raise SceneError(f"vary: {path}: count: found {count!r}, expected a whole number >= 1")
        return (numpy.geomspace if scale == "log" else numpy.linspace)(low, high, count).tolist()
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise SceneError(f"vary: {path}: found {values!r}, expected a list of values")
    found = [_value(value, path, folder) for value in values]
    if not found:
        raise SceneError(f"vary: {path}: found an empty list, expected at least one value")
    seen = set()
    for value in found:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        word = repr(float(value)) if is_number else json.dumps(value)
        if word in seen:
            raise SceneError(f"vary: {path}: found {json.dumps(value)} a second time, expected each value once")
        seen.add(word)
    return found


def _range(values, path, keys):
    unknown = set(values) - keys
    low, high, scale = values.get("from"), values.get("to"), values.get("scale", "linear")
    if unknown or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in (low, high)):
        raise SceneError(f"vary: {path}: found {json.dumps(values, default=str)}, expected a list, or {{from, to"
                         f"{', count' if 'count' in keys else ''}, scale}} with finite numbers")
    if scale not in ("linear", "log") or scale == "log" and not (low > 0 and high > 0):
        raise SceneError(f"vary: {path}: scale: found {scale!r} from {low} to {high}, expected linear, or log of "
                         "numbers > 0")
    return float(low), float(high), scale


def _samples(vary, samples, seed, folder):
    """Random cases: uniform on the scale of a range, or one of a list; each path has numbers of its own, so that others
    do not change them."""
    if not isinstance(samples, int) or isinstance(samples, bool) or not 1 <= samples <= _MOST_CASES:
        raise SceneError(f"samples: found {samples!r}, expected a whole number from 1 to {_MOST_CASES}")
    columns = []
    for path, values in vary.items():
        own = int.from_bytes(hashlib.sha256(str(path).encode()).digest()[:8], "little")
        random = numpy.random.Generator(numpy.random.PCG64([seed, own]))
        if isinstance(values, dict):
            low, high, scale = _range(values, path, {"from", "to", "scale"})
            numbers = random.random(samples)
            columns.append((low * (high / low) ** numbers if scale == "log" else low + (high - low) * numbers).tolist())
        else:
            choices = _axis(values, path, folder)
            columns.append([choices[i] for i in random.integers(len(choices), size=samples)])
    return [list(row) for row in zip(*columns)]


def _measures(measures, folder):
    """Words of the engine, and functions by column."""
    if isinstance(measures, (str, dict)) or callable(measures):
        measures = [measures]
    names, functions = [], {}
    for measure in measures:
        if isinstance(measure, str) and ":" in measure and not measure.startswith("node:"):
            named = {measure.rpartition(":")[2].rpartition(".")[2]: load_function(measure, folder)}
        elif isinstance(measure, dict):
            named = {name: load_function(f, folder) if isinstance(f, str) else f for name, f in measure.items()}
        elif callable(measure):
            named = {getattr(measure, "__name__", "measure"): measure}
        elif isinstance(measure, str):
            names.append(measure)
            continue
        else:
            named = {str(measure): None}
        for name, function in named.items():
            if not callable(function) or not name.isidentifier():
                raise SceneError(f"measures: found {name!r}, expected a name of a measure, a function of a run with a "
                                 "name, or {column: function}")
            if name in functions:
                raise SceneError(f"measures: found {name} a second time, expected each column once")
            functions[name] = function
    return names, functions


def load_function(word, folder=None):
    """The function that ``module:function`` names."""
    module, _, name = word.partition(":")
    if folder and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError) as error:
        raise SceneError(f"measures: {word}: {error}, expected module:function of a module that Python finds") from None


def _source_of(function):
    """Tells versions of a function apart: its name, and a digest of its source, where there is one."""
    try:
        code = inspect.getsource(function)
    except (OSError, TypeError):
        code = repr(getattr(getattr(function, "__code__", None), "co_code", ""))
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', repr(type(function)))}"
    return f"{name.removeprefix('__main__:')} {hashlib.sha256(code.encode()).hexdigest()[:16]}"


def _garment_number(garment, names):
    if garment is None and len(names) == 1:
        return 0
    if garment in names:
        return names.index(garment)
    if isinstance(garment, int) and not isinstance(garment, bool) and 0 <= garment < len(names):
        return garment
    found = "nothing" if garment is None else repr(garment)
    raise SceneError(f"garment: found {found}, expected which one is measured: {', '.join(names)}")


def _reference(against):
    """``base``, or a file or folder and the digest of what it holds."""
    if against is None or against == "base":
        return against
    path = pathlib.Path(os.fspath(against)).absolute()
    file = path / "trajectory.h5" if path.is_dir() else path
    return {"file": str(path), "sha256": file_digest(file, "against")}


def _check_window(window, scene):
    if window is None:
        return
    is_pair = isinstance(window, (list, tuple)) and len(window) == 2
    if not is_pair or not all(isinstance(t, (int, float)) for t in window) or not window[0] <= window[1]:
        raise SceneError(f"window: found {window!r}, expected (from, to) in seconds, from <= to")
    if window[0] > scene["duration"] + 1e-9:
        raise SceneError(f"window: found {window[0]} to {window[1]} s, expected a time with at least one frame of the "
                         f"run, which ends at {scene['duration']} s")


def _files(value):
    """Digests of the files that a scene or a value names, by path."""
    found = {}
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        if key == "file" and isinstance(member, str):
            found[member] = file_digest(member, "scene")
        elif isinstance(member, (dict, list)):
            found |= _files(member)
    return found


def file_digest(path, what):
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else \
                hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise FileError(f"{what}: {path}: {error.strerror}") from None


def _check_values(plan):
    """Reads, before anything runs, the scene of a case for every value of every key, of many the first, the last and
    some between."""
    vary, checked = plan.content["vary"], set()
    if isinstance(vary, list):
        checked = set(range(len(vary)))
    else:
        stride = plan.case_count
        for values in vary.values():
            stride //= len(values)
            checked |= {i * stride for i in range(len(values))}
    checked = sorted(checked)
    if len(checked) > _MOST_CHECKED:
        checked = sorted({checked[i] for i in numpy.linspace(0, len(checked) - 1, _MOST_CHECKED).astype(int)})
    for case in checked:
        try:
            with scene_file(plan.case_scene(case)) as file:
                _core.scene_sizes(*file)
        except Error as error:
            raise type(error)(f"{plan.describe(case)}: {error}") from None
