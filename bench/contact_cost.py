"""Times dressed scenes: what a second costs, in which phases of the steps, and what sleep and budgets change.

    python bench/contact_cost.py COMMAND... [--only NAME...] [--simd avx2] [--runs 1] [--walker FOLDER]

COMMAND: the isocloth command, or several to be compared in turns. Prints a Markdown table of processor time per
simulated second: that of a run to the end of a case less that of one to its beginning, one thread, the least of the
runs. Phases are those of ISOCLOTH_PHASES (host/projection/phase_times.hpp), in per cent of it; the rest is strains,
frames and what no phase counts. Missed and cut: steps of garments. Strain: along threads, the largest of all steps.
--walker: a folder that host/python/examples/dressed_walker.py has written; without it there is no walker.
"""
import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

SCENES = Path(__file__).parent / "scenes"
PHASES = ("rows_and_obstacles", "cloth_contacts", "assembly", "factor", "solve", "end")


def read(name: str) -> dict:
    return json.loads((SCENES / f"{name}.json").read_text())


def with_projection(scene: dict, **settings: object) -> dict:
    return scene | {"projection": scene.get("projection", {}) | settings}


def walker(folder: Path, nodes: float) -> dict:
    """The dressed walker with garments of so many times as many nodes."""
    scene = json.loads((folder / "scene.json").read_text())
    for garment in scene["garments"]:
        mesh = garment["mesh"]
        if mesh.get("generator") == "tank_top":
            mesh["triangles"] = int(mesh["triangles"] * nodes)
        if mesh.get("generator") == "ring":
            mesh["radial"], mesh["around"] = (round(mesh[key] * nodes ** 0.5) for key in ("radial", "around"))
        if "file" in mesh:
            mesh["file"] = str((folder / mesh["file"]).resolve())
        for pin in garment.get("pins", []):
            if "file" in pin.get("motion", {}):
                pin["motion"]["file"] = str((folder / pin["motion"]["file"]).resolve())
    return scene


def cases(walker_folder: Path | None) -> dict[str, tuple[dict, float, float]]:
    """Scenes, and when what is timed begins and ends [s]."""
    shirt, both = read("t_shirt"), read("skirt_and_shirt")
    found = {
        "t_shirt": (shirt, 0, 0.5),
        "t_shirt, budget of 1 solve": (with_projection(shirt, budget={"solves": 1}), 0, 0.5),
        "t_shirt, budget of 2 solves": (with_projection(shirt, budget={"solves": 2}), 0, 0.5),
        "t_shirt at rest": (shirt, 2, 2.5),
        "t_shirt asleep": (with_projection(shirt, sleep={"after": 0.2, "speed": 0.1}), 2.5, 12.5),
        "skirt_and_shirt": (both, 0, 0.25),
        "skirt_and_shirt, budget of 1 solve": (with_projection(both, budget={"solves": 1}), 0, 0.25),
    }
    for nodes in (0.5, 1.25, 2.5) if walker_folder else ():
        scene = walker(walker_folder, nodes)
        found[f"walker x {nodes:g}"] = (scene, 0.4, 0.6)
        found[f"walker x {nodes:g}, budget of 1 solve"] = (with_projection(scene, budget={"solves": 1}), 0.4, 0.6)
    return found


def run(command: list[str], scene: dict, seconds: float, folder: Path) -> tuple[float, dict, dict]:
    """Processor time [s], phases [s] and the summary."""
    steps = max(1, round(seconds / scene["step"]))
    scene = scene | {"duration": steps * scene["step"], "frame_interval": steps * scene["step"]}
    scene["projection"] = scene.get("projection", {}) | {"on_violation": "continue"}
    file, result = folder / "scene.json", folder / "result"
    file.write_text(json.dumps(scene))
    process = subprocess.Popen([command[0], "run", str(file), "-o", str(result), "--overwrite", "--quiet",
                                "--allow", "/", "--threads", "1", *command[1:]],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=os.environ | {"ISOCLOTH_PHASES": "1"}, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise SystemExit(f"{command[0]}: found exit code {code} with {scene.get('name')}: {said}")
    phases = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return (usage.ru_utime + usage.ru_stime, phases[0] if phases else {},
            json.loads((result / "summary.json").read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--only", nargs="+", help="cases whose names begin so")
    parser.add_argument("--simd", default="avx2")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--walker", type=Path)
    options = parser.parse_args()
    print(f"| | command | s per s | solves per step | missed, cut | strain [%] | {' | '.join(PHASES)} |")
    print("|---" * (6 + len(PHASES)) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case, (scene, begin, end) in cases(options.walker).items():
            if options.only and not any(case.startswith(start) for start in options.only):
                continue
            for number, command in enumerate(options.commands):
                arguments = [command, "--simd", options.simd]
                best = None
                for _ in range(options.runs):
                    whole, phases, summary = run(arguments, scene, end, folder)
                    start, before, _ = run(arguments, scene, begin, folder)
                    if best is None or whole - start < best[0]:
                        best = whole - start, {key: phases[key] - before[key] for key in phases}, summary
                seconds, phases, summary = best
                is_told = phases and seconds > 0.1 * (end - begin)
                shares = " | ".join(f"{100 * phases[key] / seconds:.0f}" if is_told else "-" for key in PHASES)
                print(f"| {case} | {number + 1} | {seconds / (end - begin):.3g} | "
                      f"{summary['iterations_per_step_mean']:.2f} | {summary['steps_violated']}, "
                      f"{summary.get('steps_cut', 0)} | {100 * summary['thread_strain_max']:.3g} | {shares} |",
                      flush=True)


if __name__ == "__main__":
    main()
