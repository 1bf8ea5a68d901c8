"""Times towels of 13 x 13 nodes one by one and 64 together, without contact, on a table, and with themselves.

    python bench/contact_in_lanes.py COMMAND... [--simd avx2] [--runs 5]     prints a Markdown table

COMMAND: the isocloth command, or several to be compared in turns. Processor time of 200 steps of 5 ms, less that of a
run of one step; the least of the runs. One by one: the mean of four towels alone, whose densities are spread as those
of the 64 are. Strain: of an edge, the largest of all steps.
"""
import argparse
import copy
import json
import os
import subprocess
import tempfile
from pathlib import Path

TABLE = {"name": "table", "shape": {"type": "table", "size": [1.2, 1.2], "thickness": 0.03, "rounding": 0.005},
         "friction": {"static": 0.3}}
FALLEN = {"translation": [-0.2, -0.1, 0.06], "rotation": [70, 5, 0]}
CASES = {
    "hanging by two corners": ({"translation": [-0.2, -0.2, 0.6]}, False, False),
    "lying on a table": ({"translation": [-0.2, -0.2, 0.02]}, True, False),
    "fallen over on a table": (FALLEN, True, False),
    "the same, folded on itself": (FALLEN, True, True),
}
LIGHTEST, HEAVIEST, COUNT, ALONE = 0.1, 0.3, 64, 4


def scene(case: str, steps: int, density: float | None) -> dict:
    """64 towels, or one of this density [kg/m^2]."""
    transform, has_table, meets_itself = CASES[case]
    towel = {"name": "towel", "mesh": {"generator": "quad_grid", "nodes": [13, 13], "size": [0.4, 0.4]},
             "transform": copy.deepcopy(transform), "rest_noise": {"normal_deviation": 1e-4},
             "fabric": {"preset": "cotton", "thickness": 0.001, "mass_damping": 0.2}}
    if density is None:
        towel |= {"replicas": COUNT,
                  "vary": {"fabric.density": {"from": LIGHTEST, "to": HEAVIEST, "sample": "uniform"}}}
    else:
        towel["fabric"]["density"] = density
    whole = {"name": case, "recipe": "membrane", "step": 0.005, "duration": 0.005 * steps,
             "frame_interval": min(0.1, 0.005 * steps), "seed": 1,
             "projection": {"tolerance": 0.005, "on_violation": "continue"}, "contact": {"tolerance": 0.00025},
             "garments": [towel]}
    if has_table:
        whole["obstacles"] = [TABLE]
    else:
        towel["pins"] = [{"name": "corners", "select": {"nearest": [[-0.2, -0.2, 0.6], [0.2, -0.2, 0.6]]}}]
    if meets_itself:
        whole["contact"] |= {"cloth": True, "cloth_friction": {"static": 0.3}}
    return whole


def run(command: list[str], described: dict, folder: Path) -> tuple[float, dict]:
    """Processor time [s] and the summary."""
    file = folder / "scene.json"
    file.write_text(json.dumps(described))
    result = folder / "result"
    process = subprocess.Popen([*command[:1], "run", str(file), "-o", str(result), "--overwrite", "--quiet",
                                "--threads", "1", *command[1:]], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]}: found exit status {os.waitstatus_to_exitcode(status)} with "
                         f"\"{described['name']}\"")
    return usage.ru_utime + usage.ru_stime, json.loads((result / "summary.json").read_text())


def largest(summary: object, key: str) -> float:
    """Of all numbers under a key, wherever it stands."""
    if isinstance(summary, dict):
        own = [summary[key]] if isinstance(summary.get(key), (int, float)) else []
        return max([0.0, *own, *(largest(value, key) for value in summary.values())])
    if isinstance(summary, list):
        return max([0.0, *(largest(value, key) for value in summary)])
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--simd", default="avx2")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    steps = 200
    print("| | command | one by one [ms per towel-second] | 64 together | ratio | largest strain [%] alone, together |")
    print("|---|---|---|---|---|---|")
    densities = [LIGHTEST + (HEAVIEST - LIGHTEST) * (i + 0.5) / ALONE for i in range(ALONE)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in CASES:
            found: dict = {}
            for _ in range(options.runs):
                for command in options.commands:
                    arguments = [command, "--simd", options.simd]
                    for key, density in [("together", None), *[(i, d) for i, d in enumerate(densities)]]:
                        whole, summary = run(arguments, scene(case, steps, density), folder)
                        start, _ = run(arguments, scene(case, 1, density), folder)
                        best = found.setdefault((command, key), [1e9, 0.0])
                        best[0] = min(best[0], whole - start)
                        best[1] = largest(summary, "strain_max")
            for number, command in enumerate(options.commands):
                alone = 1000 * sum(found[command, i][0] for i in range(ALONE)) / ALONE
                together = 1000 * found[command, "together"][0] / COUNT
                strains = max(found[command, i][1] for i in range(ALONE)), found[command, "together"][1]
                print(f"| {case} | {number + 1} | {alone:.1f} | {together:.1f} | {alone / together:.2f} "
                      f"| {100 * strains[0]:.2g}, {100 * strains[1]:.2g} |", flush=True)


if __name__ == "__main__":
    main()
