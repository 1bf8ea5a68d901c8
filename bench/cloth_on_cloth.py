"""What contact of cloth with cloth costs and keeps: scenes with and without `contact.cloth`, over several seeds.

    python3 bench/cloth_on_cloth.py build/release/bin/isocloth --json bench/results/cloth_on_cloth.json
    python3 bench/cloth_on_cloth.py build/release/bin/isocloth --only knot --seeds 3 --precision float32

Prints a Markdown table. Every run has one thread and is certified; times are processor time of the whole command,
set-up, certificate and result included. A seed is that of the noise of the rest shape; a garment without noise has the
way of its pins changed by as many micrometres. Standard library only.
"""

import argparse
import copy
import json
import os
import subprocess
import tempfile
from pathlib import Path

SCENES = Path(__file__).parent / "scenes"
# Name in the table, scene file, what is changed in it, seeds.
CASES = [
    ("folded_towel", "folded_towel", {}, 1),
    ("tank_top_in_folds", "tank_top_in_folds", {}, 1),
    ("stack_of_sheets", "stack_of_sheets", {}, 1),
    ("crumpling_sheet", "crumpling_sheet", {}, 1),
    ("folding_strip", "folding_strip", {}, 1),
    ("bodies_on_towel", "bodies_on_towel", {}, 1),
    ("sheet_on_sheet, 5 m/s", "sheet_on_sheet", {"speed": 5}, 10),
    ("5 m/s, edges limited to 5 %", "sheet_on_sheet", {"speed": 5, "limit": 0.05}, 10),
    ("50 m/s", "sheet_on_sheet", {"speed": 50}, 10),
    ("50 m/s, limited", "sheet_on_sheet", {"speed": 50, "limit": 0.05}, 10),
    ("50 m/s, elements limited to 5 %", "sheet_on_sheet", {"speed": 50, "principal": 0.05}, 10),
    ("200 m/s", "sheet_on_sheet", {"speed": 200}, 10),
    ("200 m/s, limited", "sheet_on_sheet", {"speed": 200, "limit": 0.05}, 10),
    ("200 m/s, elements limited", "sheet_on_sheet", {"speed": 200, "principal": 0.05}, 10),
    ("knot", "knot", {}, 10),
    ("sleeve_through_cuff", "sleeve_through_cuff", {}, 3),
    ("towels_and_balls", "towels_and_balls", {}, 3),
    ("stack_of_fifty", "stack_of_fifty", {}, 3),
    ("lift_again", "lift_again", {}, 1),
    ("sixteen_towels_folded", "sixteen_towels_folded", {}, 1),
    ("twist", "twist", {}, 3),
    ("twist, 50 x 50 nodes", "twist", {"nodes": [50, 50]}, 1),
    ("twist_of_ten_turns", "twist_of_ten_turns", {}, 1),
    ("t_shirt", "t_shirt", {}, 1),
    ("skirt", "skirt", {}, 1),
    ("shirt_on_hanger", "shirt_on_hanger", {}, 1),
    ("bag", "bag", {}, 1),
    ("cushion", "cushion", {}, 1),
    ("bag_with_button", "bag_with_button", {}, 1),
    ("skirt_with_waistband", "skirt_with_waistband", {}, 1),
    ("dart_skirt", "dart_skirt", {}, 1),
    ("skirt_and_shirt", "skirt_and_shirt", {}, 1),
]


def scene_of(file, changes, seed, cloth):
    scene = json.loads((SCENES / f"{file}.json").read_text())
    scene["contact"]["cloth"] = cloth
    for i, garment in enumerate(scene["garments"]):
        if "rest_noise" in garment:
            garment["rest_noise"]["seed"] = 100 * seed + i
        else:
            for pin in garment.get("pins", []):
                if "translations" in pin.get("motion", {}):
                    pin["motion"]["translations"][-1][2] += 1e-6 * seed
        if "nodes" in changes:
            garment["mesh"]["nodes"] = changes["nodes"]
        if "limit" in changes:
            garment["fabric"]["strain_limit"] = changes["limit"]
        if "principal" in changes:
            garment["fabric"]["principal_strain_limit"] = changes["principal"]
        if "file" in garment["mesh"]:
            garment["mesh"]["file"] = str(SCENES.resolve() / garment["mesh"]["file"])
    if "speed" in changes:
        scene["garments"][-1]["initial_velocity"] = [0, 0, -changes["speed"]]
    return scene


def outcome_of(words):
    """Exit code of a command, what it prints and what it complains of."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.communicate()
    return process.returncode, output, errors


def run(command, scene, options, folder):
    """A row of figures of one run."""
    path = folder / "scene.json"
    path.write_text(json.dumps(scene))
    before = os.times()
    words = [
        command,
        "run",
        path,
        "-o",
        folder / "result",
        "--overwrite",
        "--allow",
        SCENES,  # of which this scene is a copy that names the same files
        "--certify",
        "--quiet",
        "--threads",
        "1",
        *options,
    ]
    code, _, errors = outcome_of([str(word) for word in words])
    after = os.times()
    if code not in (0, 1):
        raise SystemExit(f"{scene['name']}: {errors.strip()}")
    summary = json.loads((folder / "result" / "summary.json").read_text())
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    keys = (
        "status message node_count step_count steps_violated garments_frozen garment_count steps_intersecting "
        "iterations_per_step_mean iterations_per_step_max substeps_max cg_iterations_max cloth_contacts_max "
        "held_back cloth_gap_min strain_max strain_p95 stretch_max stretch_p95 compression_max "
        "memory_bytes machine version"
    ).split()
    row = {key: summary[key] for key in keys}
    row["processor_seconds"] = spent
    row["processor_seconds_per_second"] = spent / max(summary["simulated_seconds"], 1e-9)
    return row


def spread(values, form):
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} - {high}"


def percent(x):
    return f"{100 * x:.1f}" if x < 0.1 else f"{100 * x:.0f}"


def line(name, with_cloth, without):
    def of(key, rows=with_cloth):
        return [row[key] for row in rows]

    def before(key, form):
        return form.format(sum(of(key, without)) / len(without)) + " -> " if without else ""

    steps = sum(of("step_count"))
    missed = sum(row["steps_violated"] / row["garment_count"] for row in with_cloth)
    mean = sum(of("iterations_per_step_mean")) / len(with_cloth)
    cells = [
        f"`{name}`" if name.replace("_", "").isalpha() else name,
        f"{with_cloth[0]['node_count']:,}",
        f"{steps:,} of {len(with_cloth)}",
        f"{missed:.0f}",
        before("steps_intersecting", "{:.0f}") + f"{sum(of('steps_intersecting'))}",
        f"{sum(of('held_back')):,}",
        before("iterations_per_step_mean", "{:.2f}") + f"{mean:.2f}, {max(of('iterations_per_step_max'))}",
        f"{min(of('cloth_gap_min')):.2f}",
        f"{spread(of('stretch_max'), percent)}; {spread(of('stretch_p95'), percent)}",
        before("processor_seconds_per_second", "{:.1f}")
        + f"{sum(of('processor_seconds_per_second')) / len(with_cloth):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the program isocloth")
    parser.add_argument("--only", nargs="+", help="cases whose names begin so")
    parser.add_argument("--seeds", type=int, help="of each case; default: 10 of the cheap ones, 3 or 1 of others")
    parser.add_argument("--precision", default="float64", choices=["float64", "float32"])
    parser.add_argument("--json", type=Path, help="file for all figures")
    args = parser.parse_args()
    head = [
        "scene",
        "nodes",
        "steps of runs",
        "missed",
        "steps through cloth, without -> with",
        "held back",
        "iterations per step, most",
        "least gap",
        "elements stretched, most; 95 % [%]",
        "processor s per s",
    ]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    cases = []
    with tempfile.TemporaryDirectory() as name:
        for title, file, changes, usual in CASES:
            if args.only and not any(title.startswith(only) for only in args.only):
                continue
            rows = {}
            for cloth, seeds in ((False, 1), (True, args.seeds or usual)):
                rows[cloth] = [
                    run(
                        args.command,
                        copy.deepcopy(scene_of(file, changes, seed, cloth)),
                        ["--precision", args.precision],
                        Path(name),
                    )
                    for seed in range(1, seeds + 1)
                ]
            print(line(title, rows[True], rows[False]), flush=True)
            cases.append({"case": title, "scene": file, **changes, "with_cloth": rows[True], "without": rows[False]})
            if args.json:
                record = {
                    "command": "cloth_on_cloth",
                    "precision": args.precision,
                    "load": os.getloadavg(),
                    "cases": cases,
                }
                args.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
