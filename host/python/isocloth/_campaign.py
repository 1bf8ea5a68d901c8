"""Campaigns: scenes, each jittered by seeds and certified at every step; what fails is kept as a scene."""

import concurrent.futures
import contextlib
import csv
import dataclasses
import datetime
import hashlib
import html
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import numpy

from ._campaign_scenes import jittered, read_scenes, write_alone
from ._results import Result
from ._sweep_table import part_of
from .errors import FileError, SceneError

OUTCOMES = {
    "clean": ("#59a14f", "every step within its tolerance, no crossing"),
    "missed": ("#edc948", "steps missed their tolerance and said so; no crossing"),
    "lost": ("#f28e2b", "a garment was frozen, and said so; no crossing"),
    "unasked": ("#bab0ac", "cloth crosses cloth in a scene without contact.cloth"),
    "refused": ("#d4d4d4", "no run: the jittered scene is refused with a message"),
    "crossing": ("#e15759", "FAILURE: cloth crosses cloth, or lies in it, with contact.cloth"),
    "unreported": ("#b07aa1", "FAILURE: numbers of the result are beyond what its steps report"),
    "crash": ("#000000", "FAILURE: the process died or left no result"),
}
_GRACE = 120  # in which a run that is interrupted must end [s]
FAILURES = ("crossing", "unreported", "crash")
_COUNTS = ("steps", "certified", "within", "crossings", "passages", "overlaps", "misses", "unreported")


@dataclasses.dataclass
class Campaign:
    """What a campaign has found so far. ``records``: of each case that is done its scene, seed, outcome, counts and
    message; ``total``: number of cases of all shards."""

    folder: pathlib.Path
    records: list
    total: int

    def count(self, name):
        """Sum of a count over all cases: steps, certified (steps whose end was tested), within (whose ways were), and
        of steps crossings, passages, overlaps (all three with ``contact.cloth`` alone), misses, unreported."""
        return sum(record[name] for record in self.records)

    @property
    def failures(self):
        """Records of the cases that are failures: their scenes are in ``failures`` of the folder."""
        return [record for record in self.records if record["outcome"] in FAILURES]

    def __str__(self):
        outcomes = ", ".join(f"{number} {name}" for name in OUTCOMES
                             if (number := sum(record["outcome"] == name for record in self.records)))
        return (f"{len(self.records)} of {self.total} cases: {outcomes or 'none'}\n"
                f"{self.count('steps')} steps, {self.count('certified')} certified at their ends, "
                f"{self.count('within')} on their ways: {self.count('crossings')} with crossings, "
                f"{self.count('passages')} with passages, {self.count('overlaps')} with cloth in cloth, "
                f"{self.count('misses')} garment steps missed, {self.count('unreported')} unreported misses")


def campaign(scenes, output, *, seeds=10, first_seed=0, shard=(1, 1), steps=None, contacts=False, case_seconds=600.0,
             jobs=1, quiet=True):
    """Runs scenes, each as many seeds have it, with the certificate at every step, and returns a :class:`Campaign`.

    scenes: files, and folders of which all scenes are taken. seeds: number of them, from first_seed on; what a seed
    changes (step, pace, fabric, friction, places) is said in host/docs/CAMPAIGN.md, seed 0 nothing. shard: (i, n), the
    i-th of n shares of the cases, from 1; machines may share the folder, or have folders whose ``cases`` are united
    later. steps: greatest number of steps of a case. contacts: ``contact.cloth`` in scenes that do not say it.
    case_seconds: wall time after which a run is ended; its steps until then count. jobs: processes at once.

    Each case is a process of one thread, so that one that dies takes nothing with it. A case that is done is a file in
    ``cases`` of the folder, written at once or not at all: the same call, interrupted or killed, goes on behind it, and
    runs again what has changed. ``campaign.csv``, ``campaign.json`` and ``campaign.svg`` are written at the end, and
    ``failures/SCENE.SEED.json`` when one is found: a scene that reproduces it, shortened to the step behind a crossing.

    Unreported misses are what a result contradicts: a frame whose steps are all said to have converged, with a residual
    or a penetration beyond the tolerance; positions that are not finite; an edge whose strain, by the positions of the
    frame, is more than what the result says of it. Raises SceneError, FileError.
    """
    index, count = shard
    if not 1 <= index <= count:
        raise SceneError(f"shard: found {index}/{count}, expected I/N with I from 1 to N")
    if seeds < 1 or first_seed < 0 or (steps is not None and steps < 1) or jobs < 1 or not case_seconds > 0:
        raise SceneError("campaign: expected at least one seed, step and job, a first seed >= 0 and case_seconds > 0")
    contents = read_scenes([scenes] if isinstance(scenes, (str, os.PathLike)) else scenes)
    # All scenes of a seed before the next, so that what has been done at any time is a sample of all.
    cases = [(name, seed) for seed in range(first_seed, first_seed + seeds) for name in contents]
    folder = pathlib.Path(output).absolute()
    try:
        for name in ("cases", "failures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}; make the folder writable, or choose another") from None
    _remove_remains(folder)
    mine, running = cases[index - 1::count], _Running()

    def one(case):
        scene, changes = jittered(contents[case[0]], case[1], steps, contacts)
        return _case(folder, *case, scene, changes, case_seconds, running)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, case) for case in mine]
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                record = future.result()
                if not (quiet or record.get("known")):
                    print(f"{done}/{len(mine)} {record['scene']}.{record['seed']}: {record['outcome']}, "
                          f"{record['certified']} steps certified, {record['wall_seconds']:.1f} s"
                          f"{': ' + record['message'] if record['message'] else ''}", file=sys.stderr, flush=True)
        except BaseException:
            for future in futures:
                future.cancel()
            running.stop_all()
            raise
        finally:
            found = Campaign(folder, _records(folder, set(cases)), len(cases))
            _write_tables(found, list(contents))
    return found


class _Running:
    """Processes of the cases of a campaign, which Ctrl-C ends with it."""

    def __init__(self):
        self.processes, self.is_stopped = set(), False

    def stop_all(self):
        self.is_stopped = True
        for process in list(self.processes):
            process.kill()


def _working_prefix(pid):
    """Of the folders in which runs of this process work."""
    return f".run-{socket.gethostname()}-{pid}-"


def _remove_remains(folder):
    """Removes what processes of this machine that have ended, killed, left half done."""
    for remains in folder.glob(_working_prefix("*") + "*"):
        pid = remains.name.removeprefix(_working_prefix("")[:-1]).split("-")[0]
        if pid.isdecimal() and not pathlib.Path("/proc", pid).exists():
            shutil.rmtree(remains, ignore_errors=True)


def _case(folder, name, seed, scene, changes, case_seconds, running):
    text = json.dumps(scene, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    file = folder / "cases" / f"{name}.{seed}.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        record = json.loads(file.read_text(encoding="utf-8"))
        if record["digest"] == digest:
            return {**record, "known": True}
    with tempfile.TemporaryDirectory(prefix=_working_prefix(os.getpid()), dir=folder) as work:
        path = pathlib.Path(work, "scene.json")
        path.write_text(text, encoding="utf-8")
        code, said = _run(path, pathlib.Path(work, "result"), case_seconds, running)
        record = {"scene": name, "seed": seed, **_verdict(pathlib.Path(work, "result"), scene, code, said),
                  "changes": changes, "digest": digest}
    if record["outcome"] in FAILURES:
        shortened = dict(scene)
        if record["first_time"] is not None:
            shortened["duration"] = (math.ceil(record["first_time"] / scene["step"] - 1e-6) + 1) * scene["step"]
            shortened["duration"] = min(scene["duration"], shortened["duration"])
            shortened["frame_interval"] = 0.0
        write_alone(shortened, folder / "failures" / f"{name}.{seed}.json")
    part = part_of(file)
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    os.replace(part, file)
    return record


# The command, which ends with the process that began it: its standard input does.
# What shells begin in the background ignores Ctrl-C, and so would the case.
_CASE = """import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
from isocloth.__main__ import command
command()
"""


def _run(scene, result, seconds, running):
    """Exit code and what was said; a run that takes longer is interrupted, and killed where it goes on."""
    command = [sys.executable, "-c", _CASE, "run", str(scene), "-o", str(result), "--certify", "--quiet",
               "--threads", "1", "--allow", "/"]
    reading, writing = os.pipe()
    process = subprocess.Popen(command, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)  # Ctrl-C is for the campaign
    os.close(reading)
    running.processes.add(process)
    try:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                said, _ = process.communicate(timeout=_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                said = f"{process.communicate()[0]}\nkilled: it did not end {_GRACE} s after it was interrupted"
        if running.is_stopped:
            raise KeyboardInterrupt
        return process.returncode, said
    finally:
        os.close(writing)
        running.processes.discard(process)


def _verdict(folder, scene, code, said):
    """Outcome, counts and message of a case by what its process left."""
    record = dict.fromkeys(_COUNTS, 0) | {"wall_seconds": 0.0, "strain_max": 0.0, "first_time": None, "message": ""}
    if not (folder / "summary.json").exists():
        last = [f"exit code {code}", *said.strip().splitlines()][-1][:400].replace(f"{folder.parent}/", "")
        return record | {"outcome": "refused" if code == 2 else "crash", "message": last}
    result = Result(folder)
    s = result.summary
    asks = scene.get("contact", {}).get("cloth") is True
    record |= {"steps": s["step_count"], "certified": s["steps_certified"], "within": s["steps_certified_within"],
               "misses": s["steps_violated"], "wall_seconds": s["wall_seconds"], "strain_max": s["strain_max"]}
    found = {"crossings": s["steps_intersecting"], "passages": s["steps_passing_within"],
             "overlaps": s["steps_overlapping"]}
    if asks:
        record |= found
    why = _contradictions(result, scene)
    record["unreported"] = len(why)
    if asks and any(found.values()):
        times = [pair["time"] for pair in s["first_intersections"]]
        times += [float(time) for line in s["first_passages"] + s["first_overlaps"]
                  for time in re.findall(r"t = ([-+.e0-9]+) s", line)]
        record["first_time"] = min(times, default=None)
        return record | {"outcome": "crossing",
                         "message": f"first at t = {record['first_time']} s: " + "; ".join(map(str, (
                             s["first_intersections"] + s["first_passages"] + s["first_overlaps"])[:2]))}
    if why:
        return record | {"outcome": "unreported", "message": "; ".join(why[:3])}
    if s["status"] == "failed" or s["garments_frozen"]:
        return record | {"outcome": "lost", "message": s["message"]}
    if s["steps_violated"]:
        return record | {"outcome": "missed", "message": s["message"]}
    return record | {"outcome": "unasked" if any(found.values()) else "clean"}


def _contradictions(result, scene):
    """Where numbers of a result are beyond what its steps report, a line each."""
    s, metrics, lines = result.summary, result.metrics, []
    is_impulse = "impulse" in s["method"] or "substeps" in s["method"]
    converged = metrics["status"] == "converged"
    limits = {"residual_worst": s["tolerance"]}
    if not is_impulse:
        # That of a scene that says none is at most 0.1 mm.
        limits["penetration"] = scene.get("contact", {}).get("tolerance", 1e-4)
    for name, limit in limits.items():
        for i in numpy.flatnonzero(converged & (metrics[name] > limit * (1 + 1e-9))):
            lines.append(f"{name} {metrics[name][i]:.3g} > {limit:.3g}, yet converged, t = {metrics['time'][i]:g} s, "
                         f"{metrics['garment'][i]}")
    if s["status"] == "completed" and s["steps_violated"] == 0 and not converged.all():
        lines.append("a frame has not converged, yet no step is counted as violated")
    edges = _edges(result.faces)
    rest = numpy.linalg.norm(numpy.diff(result.rest_positions[edges], axis=1)[:, 0], axis=1)
    by_frame = {}
    for time, strain in zip(metrics["time"], metrics["strain_max"]):
        by_frame[time] = max(by_frame.get(time, 0.0), strain)
    for number, time in enumerate(result.times):
        positions = result.frame(number)
        if not numpy.isfinite(positions).all():
            lines.append(f"positions are not finite, t = {time:g} s")
            continue
        lengths = numpy.linalg.norm(numpy.diff(positions[edges], axis=1)[:, 0], axis=1)
        strain = numpy.abs(lengths / rest - 1)
        # Positions of frames are in single precision.
        rounding = 4e-7 * numpy.abs(positions).max() / rest
        said = by_frame.get(time, math.inf)
        if (strain - rounding > 1.001 * said + 1e-6).any():
            lines.append(f"strain {strain.max():.3g} by the positions, {said:.3g} by the result, t = {time:g} s")
    return lines


def _edges(faces):
    """Nodes of the edges of faces, shape (edges, 2)."""
    pairs = []
    for face in faces.tolist():
        corners = [node for node in face if node >= 0]
        pairs += [tuple(sorted(pair)) for pair in zip(corners, corners[1:] + corners[:1])]
    return numpy.array(sorted(set(pairs)), dtype=int).reshape(-1, 2)


def _records(folder, cases):
    records = []
    for file in sorted((folder / "cases").glob("*.json")):
        if file.name.startswith("."):
            continue
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            key = record["scene"], record["seed"]
        except (ValueError, KeyError):
            raise FileError(f"{file}: found no record of a case, expected one; remove the file") from None
        if key in cases:
            records.append(record)
    return sorted(records, key=lambda record: (record["scene"], record["seed"]))


def _write_tables(found, names):
    columns = ["scene", "seed", "outcome", *_COUNTS, "strain_max", "wall_seconds", "message"]
    with open(found.folder / "campaign.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(found.records)
    outcomes = {name: sum(record["outcome"] == name for record in found.records) for name in OUTCOMES}
    totals = {"cases": len(found.records), "cases_planned": found.total, "outcomes": outcomes,
              **{name: found.count(name) for name in _COUNTS},
              "failures": [f"failures/{r['scene']}.{r['seed']}.json" for r in found.failures]}
    (found.folder / "campaign.json").write_text(json.dumps(totals, indent=1) + "\n", encoding="utf-8")
    (found.folder / "campaign.svg").write_text(_picture(found, names), encoding="utf-8")


def _picture(found, names):
    """A row per scene, a cell per seed in the colour of its outcome, the steps beside it."""
    seeds = sorted({record["seed"] for record in found.records})
    size, left, top = 12, 230, 24
    column, row = {seed: i for i, seed in enumerate(seeds)}, {name: i for i, name in enumerate(names)}
    right = left + size * max(1, len(seeds)) + 8
    lines = [f'<text x="{left}" y="14">seeds {seeds[0]} to {seeds[-1]}</text>'] if seeds else []
    for name, i in row.items():
        records = [record for record in found.records if record["scene"] == name]
        y = top + size * i
        lines.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{html.escape(name)}</text>')
        lines.append(f'<text x="{right}" y="{y + 10}">{sum(r["certified"] for r in records)} steps, '
                     f'{sum(r["misses"] for r in records)} missed</text>')
        for r in records:
            lines.append(f'<rect x="{left + size * column[r["seed"]]}" y="{y}" width="{size - 1}" height="{size - 1}" '
                         f'fill="{OUTCOMES[r["outcome"]][0]}"><title>{html.escape(name)}, seed {r["seed"]}: '
                         f'{r["outcome"]}</title></rect>')
    y = top + size * len(row) + 12
    for name, (color, meaning) in OUTCOMES.items():
        if any(record["outcome"] == name for record in found.records):
            lines.append(f'<rect x="{left}" y="{y}" width="{size - 1}" height="{size - 1}" fill="{color}"/>'
                         f'<text x="{left + 18}" y="{y + 10}">{name}: {html.escape(meaning)}</text>')
            y += size + 4
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{max(right + 200, left + 480)}" height="{y + 8}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="11">\n<rect width="100%" height="100%" '
            'fill="white"/>\n' + "\n".join(lines) + "\n</svg>\n")


def seed_of_the_day(day=None):
    """Year, month and day as one number, 20261130: the first seed of a campaign that is another one each day."""
    return int(f"{day or datetime.date.today():%Y%m%d}")
