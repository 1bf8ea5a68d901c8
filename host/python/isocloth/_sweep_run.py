"""Runs a batch of a sweep: its cases side by side in the vector lanes of one simulation where they can be, or one by
one."""

import dataclasses
import json
import math
import os
import pathlib
import warnings

import numpy

from . import _core
from ._scenes import scene_file
from ._simulation import Simulation
from ._sweep_paths import text, tokens
from ._sweep_plan import _garment_number
from .errors import DeviceError, Error, NumericalError, SceneError, SceneWarning


@dataclasses.dataclass(frozen=True)
class CaseRun:
    """What a measure of the user sees of a case after its run.

    ``case``: its number; ``values``: what it varies, by path; ``scene``: its scene as a dict; ``times`` [s], shape
    (frames,); ``positions`` [m], shape (frames, nodes, 3); ``faces``, shape (faces, 4), -1 in the fourth place of a
    triangle; ``measures``: those of the engine by column; ``status``: ``completed`` or ``stalled``.
    """

    case: int
    values: dict
    scene: dict
    times: numpy.ndarray
    positions: numpy.ndarray
    faces: numpy.ndarray
    measures: dict
    status: str


@dataclasses.dataclass
class Batch:
    """Rows of the cases of a batch, and frames: (cases, times, positions of shape (cases, frames, nodes, 3),
    faces) of each simulation."""

    cases: list
    status: list = dataclasses.field(default_factory=list)
    messages: list = dataclasses.field(default_factory=list)
    measures: list = dataclasses.field(default_factory=list)
    frames: list = dataclasses.field(default_factory=list)


def run_batch(plan, number, reference=None, threads=0):
    """The :class:`Batch` of that number. Its bits do not depend on threads, machine or other batches."""
    cases = list(plan.batches()[number])
    if len(cases) > 1:
        try:
            return _run_lanes(plan, cases, reference, threads)
        except DeviceError:
            raise
        except Error:
            pass  # one of them is refused: which one is found by running each alone
    batch = Batch(cases)
    for case in cases:
        try:
            one = _run_lanes(plan, [case], reference, threads)
            for name in ("status", "messages", "measures", "frames"):
                getattr(batch, name).extend(getattr(one, name))
        except DeviceError:
            raise
        except Error as error:
            batch.status.append("failed")
            batch.messages.append(f"{plan.describe(case)}: {error}".replace("--measure:", "measures:"))
            batch.measures.append([math.nan] * len(plan.columns))
    return batch


def _batch_scene(plan, cases):
    """A scene whose only garment has a replica for each case."""
    scene = plan.case_scene(cases[0])
    for method in ("projection", "impulse"):
        scene.setdefault(method, {})["on_violation"] = "continue"
    if len(cases) > 1:
        values = [plan.values(case) for case in cases]
        scene["garments"][0] |= {"replicas": len(cases), "vary": {
            text(tokens(path)[2:]): {"values": [v[path] for v in values]} for path in plan.lane_paths()}}
    return scene


def _run_lanes(plan, cases, reference, threads):
    content = plan.content
    scene = _batch_scene(plan, cases)
    with scene_file(scene) as file:
        sizes = _core.scene_sizes(*file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        simulation = Simulation(scene, threads=threads, **content["execution"])
    if len(cases) > 1:
        garments = list(range(len(cases)))
    else:
        garments = [_garment_number(content["garment"], simulation.garment_names)]
    steps, per_frame = sizes["steps"], sizes["steps_per_frame"]
    window = content["window"] or [0, scene["duration"]]
    times = [min(step, steps) * scene["step"] for step in range(0, steps + per_frame, per_frame)]
    if not any(window[0] - 1e-9 <= t <= window[1] + 1e-9 for t in times):
        raise SceneError(f"window: found {window[0]} to {window[1]} s, expected a time with at least one frame")
    recorders = _core.CaseRecorders(simulation, garments, content["measures"], reference, *map(float, window))
    has_positions = bool(plan.functions or content["frames"])
    positions, at = [], []

    def frame():
        recorders.frame()
        if has_positions:
            at.append(simulation.time)
            positions.append(simulation.positions(garments))

    frame()
    done = 0
    while done < steps:
        count = min(per_frame - done % per_frame, steps - done)
        recorders.advance(count)
        done += count
        frame()
    batch = Batch(cases)
    # As a run of the case: where it ends, the case has no measures.
    stops = plan.case_scene(cases[0]).get(sizes["method"], {}).get("on_violation", "stop") == "stop"
    times = numpy.array(at)
    stack = numpy.stack(positions, axis=1) if has_positions else None  # (cases, frames, nodes, 3)
    faces = simulation.faces(garments[0]) if has_positions else None
    for i, (case, row) in enumerate(zip(cases, recorders.rows())):
        _add_case(plan, batch, case, row, lambda i=i: (times, stack[i], faces), stops)
    if content["frames"]:
        batch.frames.append((cases, times, stack, faces))
    return batch


def _add_case(plan, batch, case, row, motion, stops):
    missed, loss, numbers = row
    words = plan.columns[:len(plan.columns) - len(plan.functions)]
    if not loss and not all(map(math.isfinite, numbers)):
        loss = "left the finite numbers"
    message = f"{plan.describe(case)}: {loss}" if loss else ""
    status = "failed" if loss else ("stopped" if stops else "stalled") if missed else "completed"
    if status == "stopped":
        message = f"{plan.describe(case)}: a step missed its tolerance, where a run stops (on_violation)"
    numbers = list(numbers) if words else []
    if status in ("completed", "stalled") and plan.functions:
        run = CaseRun(case, plan.named(case), plan.case_scene(case), *motion(), dict(zip(words, numbers)), status)
        for name, function in plan.functions.items():
            try:
                numbers.append(float(function(run)))
            except Exception as error:  # whatever the user's function does, other cases go on
                what = " ".join(f"{type(error).__name__}: {error}".split())
                status, message = "failed", f"{plan.describe(case)}: {name}: {what}"
                break
    if status in ("failed", "stopped"):
        numbers = [math.nan] * len(plan.columns)
    batch.status.append(status)
    batch.messages.append(message)
    batch.measures.append(numbers)


def run_base(plan, threads=0):
    """The scene as it stands: times [s] and positions [m] of its frames, and its rest shape. Raises NumericalError
    where a step missed its tolerance."""
    content = plan.content
    scene = json.loads(json.dumps(plan.scene))
    for method in ("projection", "impulse"):
        scene.setdefault(method, {})["on_violation"] = "continue"
    with scene_file(scene) as file:
        sizes = _core.scene_sizes(*file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        simulation = Simulation(scene, threads=threads, **content["execution"])
    garment = _garment_number(content["garment"], simulation.garment_names)
    times, positions = [0.0], [simulation.positions(garment)]
    steps, per_frame = sizes["steps"], sizes["steps_per_frame"]
    while simulation.step_index < steps:
        reports = simulation.advance(min(per_frame, steps - simulation.step_index))
        if reports[garment].status != "converged":
            raise NumericalError("against base: the scene as it stands missed its tolerance, expected a sound "
                                 "reference; use a smaller step or max_substeps")
        times.append(simulation.time)
        positions.append(simulation.positions(garment))
    return numpy.array(times), numpy.stack(positions), _core.rest_positions(simulation, garment)


def reference_of(plan, folder=None, threads=0):
    """What distances are measured to, or None. The run of ``base`` is kept in the folder, for other processes."""
    against = plan.content["against"]
    if against is None:
        return None
    if against != "base":
        with scene_file(plan.scene) as file:
            sizes = _core.scene_sizes(*file)
        return _core.ReferencePath.read(against["file"], sizes["nodes"][_garment_number(plan.content["garment"],
                                                                                        sizes["garments"])])
    file = pathlib.Path(folder, "base.npz") if folder else None
    if file and file.exists():
        with numpy.load(file) as kept:
            return _reference(kept["times"], kept["positions"], kept["rest"])
    times, positions, rest = run_base(plan, threads)
    if file:
        part = file.with_name(f".{file.name}.{os.getpid()}.part.npz")
        numpy.savez(part, times=times, positions=positions, rest=rest)
        os.replace(part, file)
    return _reference(times, positions, rest)


def _reference(times, positions, rest):
    return _core.ReferencePath(times.tolist(), positions.reshape(-1, 3), rest)
