"""Runs on a GPU what can be known of the engine in a few minutes, and writes it down as it goes; see gpu_check.sh.

    python3 bench/gpu_check.py PROGRAMS [OUT.json] [--seconds 540] [--stages batch tests] [--small]

PROGRAMS is a folder with bin/ and lib/, as a build folder is, or a programs.tar.xz of gather_dependencies.sh. Needs
nothing but Python 3.8. OUT.json (default results/gpu_check.json of the repository) is replaced, whole, after every
result, so that it is valid whenever this ends. What failed and what was left out, for want of time or of a tool, is
said in it. Exit code: 0; 1 where something failed or this was ended.
"""
import argparse
import csv
import glob
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
# Stages in their order, and the seconds that each may take.
STAGES = {"batch": 150, "mesh": 55, "contact": 100, "tests": 80, "memcheck": 50, "racecheck": 45, "ncu": 50,
          "frames": 30, "libraries": 60}
MEMBRANE = ["--recipe", "membrane", "--tolerance", "5e-3"]
# Tests of kernels of every kind on small meshes, with work arrays in shared memory and in the workspace.
SMALL_TESTS = {
    "test_host": "GpuBatch.ResetOf*:GpuBatch.AClothThatBreaks*:GpuBatch.BlockSizeDoesNotShow:"
                 "GpuSteps.IsBitReproducible:GpuPairSearch.*:GpuSelections.*",
    "test_linear": "DeviceCholesky.SolvesEveryPattern:DeviceCholesky.NamesTheBlockRow*",
    "test_kernels": "StepKernels*:SetupKernels*:MeasureKernels*:Reduce*"}
# What ncu looks for the slowest kernels in.
PROFILED = {
    "batch": ["isocloth-bench", "batch", "--backend", "cuda", *MEMBRANE, "--mesh", "quads_9", "quads_17", "--counts",
              "{cloths}", "--precision", "float32", "--seconds", "0.1"],
    "mesh": ["isocloth-bench", "mesh", "--backend", "cuda", *MEMBRANE, "--mesh", "{side}", "--seconds", "0.03"],
    "contact": ["isocloth", "run", "{tree}/bench/scenes/sheet_on_sheet.json", "--backend", "cuda", "--quiet", "-o",
                "{folder}/profiled", "--overwrite"]}
SECTIONS = ["LaunchStats", "Occupancy", "SpeedOfLight", "MemoryWorkloadAnalysis", "SchedulerStats", "WarpStateStats",
            "InstructionStats"]


class Record:
    """What is known so far, in memory and in a file."""

    def __init__(self, path):
        self.path = path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.content = {"complete": False, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "failed": [],
                        "left_out": [], "stages": {}}

    def save(self):
        """Replaces the file by a whole one."""
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.content, indent=1) + "\n")
        os.replace(part, self.path)

    def note(self, key, what):
        """Adds to what failed or was left out."""
        self.content[key].append(what)
        print(f"gpu_check: {key.replace('_', ' ')}: {what}", file=sys.stderr, flush=True)
        self.save()


class Check:
    """The stages, each a method; results go into the record."""

    def __init__(self, options, record):
        self.programs, self.small, self.record = options.programs.resolve(), options.small, record
        self.end = time.monotonic() + options.seconds
        self.deadline = self.end
        self.folder = Path(tempfile.mkdtemp(prefix="gpu_check."))
        self.running = []
        if self.programs.is_file():
            with tarfile.open(self.programs) as packed:
                self.programs = self.folder / "programs"
                packed.extractall(self.programs)
        libraries = [str(self.programs / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
                            "ISOCLOTH_REQUIRE_GPU": "1"}

    # Processes

    def command(self, words):
        """A command line whose first word is one of the programs."""
        fields = {"folder": self.folder, "tree": TREE, "cloths": 16 if self.small else 4096,
                  "side": 17 if self.small else 129}
        return [str(self.programs / "bin" / words[0]), *(word.format(**fields) for word in words[1:])]

    def start(self, command, environment):
        output = tempfile.TemporaryFile("w+", dir=self.folder)
        process = subprocess.Popen(command, cwd=TREE, env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.running.append(process)
        return process, output

    def stop(self, process, grace=0):
        """Ends a process and its children; asks first where it has some seconds to end by itself."""
        for word, seconds in ((signal.SIGINT, grace), (signal.SIGKILL, 10)):
            if process.poll() is None and seconds > 0:
                os.killpg(process.pid, word)
                try:
                    process.wait(seconds)
                except subprocess.TimeoutExpired:
                    pass
        self.running.remove(process)

    def run_all(self, commands, limit, grace=0, **environment):
        """Runs commands side by side; yields (index, exit status, seconds, what it printed) as each ends. The status is
        None where time ran out; `grace` seconds of the limit are for one that is asked to end to do so."""
        begin = time.monotonic()
        deadline = min(begin + limit, self.deadline) - grace
        started = dict(enumerate(self.start(command, {**environment, **own}) for command, own in commands))
        while started:
            is_over = time.monotonic() > deadline
            for index, (process, output) in list(started.items()):
                status = process.poll()
                if status is None and not is_over:
                    continue
                self.stop(process, grace)
                output.seek(0)
                del started[index]
                yield index, status, time.monotonic() - begin, output.read()
            time.sleep(0.02)

    def run(self, command, limit, grace=0, **environment):
        """The same of one command, without the index."""
        return next(self.run_all([(command, {})], limit, grace, **environment))[1:]

    # Stages

    def bench(self, name, words, limit):
        """Rows of a benchmark's tables; None where it failed or time ran out, which is noted."""
        if self.is_late(name):
            return None
        path = self.folder / "bench.json"
        path.unlink(missing_ok=True)
        status, seconds, text = self.run(self.command(["isocloth-bench", "--json", str(path), *words]), limit)
        if status is None:
            self.record.note("left_out", f"{name}: no result after {seconds:.0f} s")
        elif status != 0 or not path.exists():
            self.record.note("failed", f"{name}: exit status {status}: {text[-600:]}")
        else:
            tables = json.loads(path.read_text())["tables"]
            return [row for table in tables for row in table["rows"]]
        return None

    def is_late(self, name, least=3):
        """Whether too little of the stage's time is left; noted."""
        late = self.deadline - time.monotonic() < least
        if late:
            self.record.note("left_out", f"{name}: no time left")
        return late

    def stage_batch(self, results):
        counts = [4, 16] if self.small else [4096, 256, 16384, 1024, 65536]
        for recipe in (MEMBRANE, []):
            for count in counts:
                for mesh in ("quads_5", "quads_9") if self.small else ("quads_9", "quads_17"):
                    for precision in ("float32", "float64"):
                        name = f"batch {' '.join(recipe[1:2]) or 'coltraro2022'} {mesh} {precision} {count}"
                        rows = self.bench(name, ["batch", "--backend", "cuda", *recipe, "--mesh", mesh, "--counts",
                                                 str(count), "--precision", precision, "--seconds",
                                                 "0.05" if self.small else "0.5"], 45)
                        if rows is not None:
                            results.extend({"recipe": recipe[1] if recipe else "coltraro2022", **row} for row in rows)
                            self.record.save()

    def stage_mesh(self, results):
        cases = [(129, "float64"), (65, "float64"), (129, "float32"), (33, "float64"), (257, "float64"),
                 (257, "float32")]
        for side, precision in [(9, "float64"), (17, "float32")] if self.small else cases:
            rows = self.bench(f"mesh {side} {precision}",
                              ["mesh", "--backend", "cuda", *MEMBRANE, "--mesh", str(side), "--precision", precision,
                               "--budget", "0.2" if self.small else "3"], 30)
            if rows is not None:
                results.extend({"precision": precision, **row} for row in rows)
                self.record.save()

    def stage_contact(self, results):
        scenes = ["sheet_on_sphere", "sheet_on_sheet"] if self.small else [
            "sheet_on_sheet", "folded_towel", "t_shirt", "tank_top_on_torso", "twist", "skirt_and_shirt"]
        limit, grace = (8, 3) if self.small else (15, 3)
        for backend in ("cuda", "cpu"):
            for scene in scenes:
                name, folder = f"contact {scene} {backend}", self.folder / scene
                if self.is_late(name):
                    continue
                # Asked to end, a run leaves the result of the steps so far.
                status, _, text = self.run(self.command(["isocloth", "run", f"{{tree}}/bench/scenes/{scene}.json",
                                                         "--backend", backend, "--quiet", "--overwrite", "-o",
                                                         str(folder)]), limit, grace)
                try:
                    summary = json.loads((folder / "summary.json").read_text())
                except (OSError, ValueError):
                    self.record.note("left_out" if status in (None, 130) else "failed",
                                     f"{name}: no result, exit status {status}: {text[-600:]}")
                    continue
                keys = ("status", "node_count", "step", "simulated_seconds", "wall_seconds", "setup_seconds",
                        "realtime_factor", "iterations_per_step_mean", "steps_violated", "cloth_contacts_max",
                        "held_back", "penetration_max")
                results.append({"scene": scene, "backend": backend, **{key: summary.get(key) for key in keys}})
                if not summary.get("simulated_seconds"):
                    self.record.note("left_out", f"{name}: no step within {limit - grace} s")
                if summary.get("status") not in ("completed", "interrupted"):
                    self.record.note("failed", f"{name}: {summary.get('status')}: {summary.get('message')}")
                self.record.save()

    def stage_tests(self, results):
        shards = 1 if self.small else 4
        filters = {"test_host": "GpuBatch.ResetOf*:GpuPairSearch.*" if self.small else "Gpu*:*GpuScenes*",
                   "test_linear": "DeviceCholesky.*", "test_kernels": "Reduce*" if self.small else "*Kernels*:Reduce*"}
        commands = []
        for program, chosen in filters.items():
            count = shards if program == "test_host" else 1
            commands += [(self.command([program, f"--gtest_filter={chosen}"]),
                          {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(i)}) for i in range(count)]
        self.tests("tests", commands, results)

    def stage_memcheck(self, results):
        self.sanitizer("memcheck", results)

    def stage_racecheck(self, results):
        self.sanitizer("racecheck", results)

    def sanitizer(self, tool, results):
        sanitizer = find_tool("compute-sanitizer")
        if sanitizer is None:
            self.record.note("left_out", f"{tool}: found no compute-sanitizer")
            return
        # An allocation per array: what lies behind one is nobody's.
        self.tests(tool, [([sanitizer, "--tool", tool, "--error-exitcode", "9",
                            *self.command([program, f"--gtest_filter={chosen}"])], {"ISOCLOTH_ARENA": "off"})
                          for program, chosen in SMALL_TESTS.items()], results)

    def tests(self, stage, commands, results):
        """Runs test programs side by side until the stage's time is over."""
        for index, status, seconds, text in self.run_all(commands, 1e9):
            program = next(Path(word).name for word in commands[index][0] if "test_" in Path(word).name)
            passed = re.findall(r"\[ +OK \] (\S+)", text)
            failed = sorted(set(re.findall(r"\[ +FAILED +\] (\S+?),? .*ms\)", text)))
            skipped = re.findall(r"\[ +SKIPPED +\] (\S+) .*ms\)", text)
            begun = re.findall(r"\[ +RUN +\] (\S+)", text)
            asked = re.search(r"Running (\d+) tests?", text)
            result = {"program": program, "seconds": round(seconds, 1), "exit_status": status, "passed": len(passed),
                      "failed": failed, "skipped": skipped}
            summary = re.findall(r"(?:ERROR|RACECHECK|LEAK) SUMMARY.*", text)
            if summary:
                result["summary"] = summary[-1]
            results.append(result)
            if status is None:
                ended = len(passed) + len(failed) + len(skipped)
                left = f"{int(asked.group(1)) - ended} of {asked.group(1)} tests" if asked else "all tests"
                self.record.note("left_out", f"{stage}: {program}: {left} after {seconds:.0f} s" +
                                 (f"; it was in {begun[-1]}" if begun and ended < len(begun) else ""))
            if failed or status not in (0, None) or (status == 0 and not passed):
                said = [line for line in text.splitlines() if re.match(r"=+ |.*(Failure|error|SUMMARY)", line)]
                result["said"] = (said or text.splitlines())[-40:]
                is_within = len(passed) + len(failed) + len(skipped) < len(begun)
                self.record.note("failed", f"{stage}: {program}: {', '.join(failed) or f'exit status {status}'}" +
                                 (f", in {begun[-1]}" if is_within else ""))
            self.record.save()

    def stage_ncu(self, results):
        ncu = find_tool("ncu")
        if ncu is None:
            self.record.note("left_out", "ncu: found no ncu")
            return
        common = [ncu, "--csv", "--clock-control", "none", "--print-kernel-base", "mangled"]
        totals = {}
        for name, words in PROFILED.items():
            if self.is_late(f"ncu {name}"):
                continue
            rows = self.profile(f"ncu {name}", [*common, "--launch-count", "600", "--kill", "yes", "--metrics",
                                                "gpu__time_duration.sum", *self.command(words)], 12)
            for row in rows:
                key = (row["Kernel Name"], name)
                total = totals.setdefault(key, {"launches": 0, "ns": 0.0})
                total["launches"] += 1
                total["ns"] += in_nanoseconds(row)
        slowest = sorted(totals.items(), key=lambda item: -item[1]["ns"])[:3]
        self.record.content["stages"]["ncu"]["times"] = [
            {"kernel": kernel, "of": name, **total} for (kernel, name), total in
            sorted(totals.items(), key=lambda item: -item[1]["ns"])[:30]]
        self.record.save()
        sections = [word for section in SECTIONS for word in ("--section", section)]
        for (kernel, name), _ in slowest:
            if self.is_late(f"ncu of {kernel}"):
                continue
            rows = self.profile(f"ncu of {kernel}",
                                [*common, *sections, "--kernel-name-base", "mangled", "--kernel-name", kernel,
                                 "--launch-count", "1", "--kill", "yes", *self.command(PROFILED[name])], 20)
            if rows:
                shape = {key: rows[0].get(key) for key in ("Block Size", "Grid Size")}
                results.append({"kernel": kernel, "of": name, **shape,
                                "metrics": {row["Metric Name"]: f"{row['Metric Value']} {row['Metric Unit']}".strip()
                                            for row in rows if row.get("Metric Name")}})
                self.record.save()

    def profile(self, name, command, limit):
        """Rows of ncu's table; none where it printed none, which is noted with what it printed."""
        status, _, text = self.run(command, limit, grace=4)
        lines = text.splitlines()
        begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
        if begin is None:
            self.record.note("failed" if status else "left_out", f"{name}: no table: {' | '.join(lines[-4:])[-500:]}")
            return []
        table = [line for line in lines[begin:] if line.startswith('"')]
        return [row for row in csv.DictReader(io.StringIO("\n".join(table))) if row.get("Metric Value")]

    def stage_frames(self, results):
        sheets = ["3:2"] if self.small else ["100:1", "20:4096"]
        results.extend(self.bench("frames", ["frames", "--backend", "cuda", "--sheets", *sheets], 30) or [])

    def stage_libraries(self, results):
        """The tables that decide which library serves (host/docs/DEVICE_LIBRARIES.md)."""
        if not (self.programs / "lib/libisocloth_device_libraries.so").exists():
            self.record.note("left_out", "libraries: built without cuSPARSE and cuSOLVER of CUDA 12.4 or newer")
            return
        results.extend(self.bench("libraries", ["libraries"], 60) or [])

    def run_stages(self, names):
        for name in names:
            begin = time.monotonic()
            if begin + 5 > self.end:
                self.record.note("left_out", f"{name}: all of it, no time left")
                continue
            self.deadline = min(begin + STAGES[name], self.end)
            stage = self.record.content["stages"][name] = {"limit": round(self.deadline - begin, 1), "results": []}
            self.record.save()
            try:
                getattr(self, f"stage_{name}")(stage["results"])
            except (OSError, ValueError, KeyError) as error:
                self.record.note("failed", f"{name}: {type(error).__name__}: {error}")
            stage["seconds"] = round(time.monotonic() - begin, 1)
            self.record.save()
            print(f"gpu_check: {name} took {stage['seconds']} s", file=sys.stderr, flush=True)

    def close(self):
        for process in list(self.running):
            self.stop(process)
        shutil.rmtree(self.folder, ignore_errors=True)


def find_tool(name):
    """A tool of NVIDIA's on the path or where its installers put it; None: not there."""
    folders = ["/usr/local/cuda/bin", *sorted(glob.glob("/opt/nvidia/nsight-compute/*"), reverse=True)]
    return shutil.which(name) or next(filter(None, (shutil.which(name, path=folder) for folder in folders)), None)


def in_nanoseconds(row):
    """A time as ncu prints it, in the unit beside it."""
    units = {"s": 1e9, "second": 1e9, "ms": 1e6, "msecond": 1e6, "us": 1e3, "usecond": 1e3}
    return float(row["Metric Value"].replace(",", "")) * units.get(row["Metric Unit"], 1.0)


def registers(log):
    """By architecture the registers of each kernel and the names of those that spill, of what ptxas said."""
    found = {}
    kernel = None
    for line in log.read_text().splitlines():
        entry = re.search(r"Compiling entry function '(.*)' for '(\w+)'", line)
        if entry:
            kernel, of, spills = short_name(entry.group(1)), found.setdefault(entry.group(2), {}), False
        elif kernel and "bytes spill stores" in line:
            spills = not re.search(r"\b0 bytes spill stores, 0 bytes spill loads", line)
        elif kernel and (used := re.search(r"Used (\d+) registers", line)):
            of[kernel] = (int(used.group(1)), spills)
    return {architecture: {"kernels": len(of), "spilling": sorted(k for k, (_, spills) in of.items() if spills),
                           "registers": {k: used for k, (used, _) in sorted(of.items())}}
            for architecture, of in found.items()}


def short_name(kernel):
    """Without what all of them have in common."""
    kernel = re.sub(r"isocloth::|cuda::|detail::|\(anonymous namespace\)::|^void ", "", kernel)
    return re.sub(r"\(.*", "", kernel)


def answer(command, environment):
    """JSON that a command prints; what it printed where that is none."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"failed": (done.stderr or done.stdout)[-600:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=TREE / "results/gpu_check.json")
    parser.add_argument("--seconds", type=float, default=540, help="for all stages together (default 540)")
    parser.add_argument("--stages", nargs="+", choices=list(STAGES), default=list(STAGES), help="these stages alone")
    parser.add_argument("--small", action="store_true", help="few and small cases, to rehearse on a device of software")
    options = parser.parse_args()
    record = Record(options.out.resolve())
    record.save()
    check = Check(options, record)

    def end_early(number, _):
        raise KeyboardInterrupt(signal.Signals(number).name)

    signal.signal(signal.SIGTERM, end_early)
    try:
        built = answer([str(check.programs / "bin/isocloth-bench"), "machine"], check.environment)
        record.content.update(commit=built.get("commit"), machine=built.get("machine"))
        info = answer([str(check.programs / "bin/isocloth"), "info", "--json"], check.environment)
        cuda = next((b for b in info.get("backends", []) if b["name"] == "cuda"), info)
        record.content["gpu"] = cuda
        if (check.programs / "kernels.log").exists():
            record.content["kernels"] = registers(check.programs / "kernels.log")
        if shutil.which("nvidia-smi"):
            query = "name,memory.total,driver_version,compute_cap,clocks.sm,clocks.max.sm,temperature.gpu"
            done = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv"], capture_output=True,
                                  text=True, timeout=60)
            record.content["nvidia_smi"] = done.stdout.splitlines()
        record.save()
        if not cuda.get("usable"):
            record.note("failed", f"no device: {cuda.get('message') or cuda.get('failed')}")
            return 1
        check.run_stages([name for name in STAGES if name in options.stages])
        record.content["complete"] = True
    except KeyboardInterrupt as end:
        record.note("left_out", f"all that follows: ended by {end or 'SIGINT'}")
    finally:
        check.close()
        record.save()
    print(f"gpu_check: wrote {record.path}", file=sys.stderr)
    return 0 if record.content["complete"] and not record.content["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
