"""The protocol of Coltraro et al. 2022, sections 9 and 10: fit one motion, predict others, in sizes and materials.

    python3 bench/fits/protocol.py FOLDER [COMMAND] [--quick]

Nothing here was recorded: a sheet of 17 x 17 nodes stands for the real cloth, 25 of whose points are seen ten times a
second to 5 mm. Two materials of the paper's table 3 (paper, light cotton), in three sizes: A3, and half and one and a
half times as long each way. A sheet of 9 x 9 nodes is fitted to the first half of the fast motion of each, by alpha and
delta; tests are the other half of it and the whole slow motion. Errors are mean distances in mm, to the noisy points:
noise alone makes 8.0 mm. What the paper does and we cannot: see real cloth. FOLDER receives recordings, fits and
protocol.json.

--quick: one material in one size, and 3 s of it.
"""
import json
import subprocess
import sys
from pathlib import Path

SHAKES = {"fast": (0.075, 0.6), "slow": (0.15, 0.3)}
MATERIALS = {"paper": (2.49, 0.37), "cotton": (2.69, 0.52)}
SIZES = {"A3": 1.0, "half": 0.5, "one and a half": 1.5}
SEARCHES = ("levenberg_marquardt", "nelder_mead", "bobyqa")


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def shake(kind, nodes, scale, seconds):
    amplitude, frequency = SHAKES[kind]
    width, height = 0.297 * scale, 0.42 * scale
    return {
        "name": f"a sheet of {width:.3g} m shaken {kind}", "recipe": "coltraro2022", "gravity": 9.8, "step": 0.01,
        "duration": seconds, "frame_interval": 0.1, "projection": {"tolerance": 0.001, "max_substeps": 8},
        "garments": [{
            "name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [nodes, nodes], "size": [width, height]},
            "transform": {"rotation": [69.282032302755] * 3},
            "fabric": {"density": 1, "gravity_density": 1, "mass_damping": 1},
            "pins": [{"name": "upper corners", "select": {"nearest": [[0, 0, height], [0, width, height]]},
                      "motion": {"type": "oscillation", "amplitude": [amplitude, 0, 0], "frequency": frequency,
                                 "start": 1, "duration": 10}}]}]}


def plan(nodes, truth, seconds):
    stride = (nodes - 1) // 4
    seen = [row * nodes + column for row in range(0, nodes, stride) for column in range(0, nodes, stride)]
    numbers = [("mass_damping", 0.1, 8, "log"), ("gravity_density", 0.05, 1, "linear")]
    parameters = [{"number": f"fabric.{name}", "from": low, "to": high, "scale": scale}
                  for name, low, high, scale in numbers]
    if truth:
        for parameter, value in zip(parameters, truth):
            parameter["value"] = value
    windows = {"fast": {"train": [0, seconds / 2], "test": [seconds / 2 + 0.1, seconds]}, "slow": {"test": [0, seconds]}}
    return {"parameters": parameters, "scans": False, "experiments": [
        {"name": kind, "scene": f"{kind}_{nodes}.json",
         "positions": {"file": f"{kind}.csv", "nodes": seen, "noise": 0.005}, **windows[kind]} for kind in SHAKES]}


def run(*arguments):
    done = subprocess.run(list(map(str, arguments)), stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, arguments))}: failed")


def measure(command, folder, material, size, seconds):
    for kind in SHAKES:
        for nodes in (9, 17):
            write(folder / f"{kind}_{nodes}.json", shake(kind, nodes, SIZES[size], seconds))
        (folder / f"{kind}.csv").unlink(missing_ok=True)
    write(folder / "truth.json", plan(17, MATERIALS[material], seconds))
    run(command, "fit", folder / "truth.json", "--simulate", "--quiet")
    rows = []
    for search in SEARCHES if material == "paper" and size == "A3" else SEARCHES[:1]:
        scanned = search == SEARCHES[0] and material == "paper" and size == "A3"
        write(folder / "fit.json", {**plan(9, None, seconds), "search": search, "scans": scanned})
        output = folder / f"found_{search}"
        run(command, "fit", folder / "fit.json", "-o", output, "--overwrite", "--quiet")
        found = json.loads((output / "fit.json").read_text())
        fast, slow = found["experiments"]
        distances = {"train fast": fast["fitted"]["train"], "test fast": fast["fitted"]["test"],
                     "test slow": slow["fitted"]["test"], "before, fast": fast["start"]["test"]}
        searched = [line.split(",") for line in (output / "fit.csv").read_text().splitlines()[1:]]
        rows.append({"material": material, "size": size, "search": search,
                     "mass_damping": found["parameters"][0]["value"],
                     "gravity_density": found["parameters"][1]["value"],
                     "truth": MATERIALS[material], "simulations": int(searched[-1][-5]),
                     "seconds": float(searched[-1][-4]),
                     **{name: 1000 * errors["mean_distance"] for name, errors in distances.items()}})
    return rows


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not arguments:
        sys.exit(__doc__)
    folder, command = Path(arguments[0]), arguments[1] if len(arguments) > 1 else "build/release/bin/isocloth"
    is_quick = "--quick" in sys.argv
    print("| material | size | search | alpha (truth) | delta (truth) | train fast [mm] | test fast [mm] | test slow [mm] "
          "| simulations | time [s] |\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    rows = []
    for material in list(MATERIALS)[:1 if is_quick else None]:
        for size in list(SIZES)[:1 if is_quick else None]:
            for row in measure(command, folder / f"{material}_{size}".replace(" ", "_"), material, size,
                               3 if is_quick else 14):
                rows.append(row)
                print(f"| {material} | {size} | {row['search']} | {row['mass_damping']:.2f} ({row['truth'][0]}) | "
                      f"{row['gravity_density']:.3f} ({row['truth'][1]}) | {row['train fast']:.2f} | "
                      f"{row['test fast']:.2f} | "
                      f"{row['test slow']:.2f} | {row['simulations']} | {row['seconds']:.1f} |", flush=True)
    write(folder / "protocol.json", rows)


if __name__ == "__main__":
    main()
