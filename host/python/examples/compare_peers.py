"""Towels in this engine, in MuJoCo's flex and Newton's cloth: frames per second of one core, beside the strain reached.

usage: compare_peers.py [--repetitions 5] [--frames 200] [--only NAME...] [--json FILE]
needs: pip install mujoco newton warp-lang; engines that are not there are left out, and named

Each towel is a sheet of 13 x 13 nodes, 0.4 m, 0.2 kg/m^2, that starts flat, is held by two corners and swings down
under 9.81 m/s^2, without contact; a frame is 5 ms. Stretching is that of 2000 N/m, where nothing else is said, with a
Poisson's ratio of 0.3, where an engine takes one. Strain is measured alike for all, from positions after every frame:
|l / l0 - 1| of the 312 edges along warp and weft. Engines take turns; times are processor time of a process that uses
one thread, of stepping alone.
"""

import argparse
import json
import os
import statistics
import time

os.environ["OMP_NUM_THREADS"] = "1"  # before an engine is imported

import numpy
import peers
from sheet_ruler import Sheet, edge_strains

TOWEL = Sheet(nodes=13, size=0.4, density=0.2, frame=0.005, even=True)
STIFFNESS, POISSON, KAPPA, THICKNESS = 2000.0, 0.3, 2e-5, 0.002


def membrane(stiffness=STIFFNESS):
    return {"projection": {"tolerance": 0.005}, "fabric": {
        "bending_stiffness": KAPPA, "poisson_ratio": POISSON, "stretch_stiffness": stiffness,
        "shear_stiffness": stiffness / 2 / (1 + POISSON)}}


def vbd(substeps, iterations):
    return {"substeps": substeps, "iterations": iterations, "stiffness": STIFFNESS, "damping": 1e-3,
            "bending_stiffness": KAPPA}


ELASTIC = f'<elasticity young="{STIFFNESS / THICKNESS}" poisson="{POISSON}" thickness="{THICKNESS}" elastic2d="both"/>'

#: Name, class, towels, arguments.
ENTRIES = [
    ("isocloth, membrane", peers.Isocloth, 1, membrane()),
    ("isocloth, membrane", peers.Isocloth, 64, membrane()),
    ("isocloth, membrane", peers.Isocloth, 1024, membrane()),
    ("isocloth, membrane of 8000 N/m", peers.Isocloth, 64, membrane(8000.0)),
    ("MuJoCo, elasticity, discrete", peers.MujocoFlex, 1, {"flex": ELASTIC, "integrator": "discrete"}),
    ("MuJoCo, elasticity, discrete", peers.MujocoFlex, 64, {"flex": ELASTIC, "integrator": "discrete"}),
    ("MuJoCo, edge equality, Euler", peers.MujocoFlex, 64, {"flex": '<edge equality="true"/>', "integrator": "Euler"}),
    ("Newton, VBD, 1 x 10", peers.NewtonVbd, 16, vbd(1, 10)),
    ("Newton, VBD, 1 x 50", peers.NewtonVbd, 16, vbd(1, 50)),
    ("Newton, VBD, 5 x 10", peers.NewtonVbd, 16, vbd(5, 10)),
]


def measure(kind, towels, arguments, frames):
    """Towel frames per second, strains, shape (frames, edges), and mean height of the free edge at 0.25 s [m]."""
    engine = kind(TOWEL, towels, **arguments)
    seconds, strains, fall = 0.0, [], numpy.nan
    for frame in range(frames):
        begin = time.process_time()
        engine.advance()
        seconds += time.process_time() - begin
        positions = engine.positions()
        strains.append(edge_strains(positions, TOWEL.nodes, TOWEL.size))
        if frame == round(0.25 / TOWEL.frame) - 1:
            fall = positions[-TOWEL.nodes:, 2].mean()
    return towels * frames / seconds, numpy.array(strains), fall


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--only", nargs="+", default=[""], help="entries whose names contain one of these")
    parser.add_argument("--json", help="write the rows here, too")
    arguments = parser.parse_args()
    entries = [entry for entry in ENTRIES if any(word in entry[0] for word in arguments.only)]
    speeds, found, failed = {}, {}, {}
    for repetition in range(arguments.repetitions):
        for number, (name, kind, towels, own) in enumerate(entries):
            if number in failed:
                continue
            try:
                speed, strains, fall = measure(kind, towels, own, arguments.frames)
            except Exception as error:
                failed[number] = error
                print(f"left out: {name}: {type(error).__name__}: {error}", flush=True)
                continue
            speeds.setdefault(number, []).append(speed)
            found[number] = {"engine": name, "version": peers.version(kind), "towels": towels,
                             "strain_p95": float(numpy.percentile(strains, 95)), "strain_max": float(strains.max()),
                             "free_edge_at_0.25_s_m": float(fall)}
    print("| engine | towels | frames per second: median (least to most) | strain p95 | max | free edge at 0.25 s |")
    print("|---|---|---|---|---|---|")
    for number, row in sorted(found.items()):
        row["frames_per_second"] = speeds[number]
        print(f"| {row['engine']} ({row['version']}) | {row['towels']} | {statistics.median(speeds[number]):.0f} "
              f"({min(speeds[number]):.0f} to {max(speeds[number]):.0f}) | {100 * row['strain_p95']:.2f} % | "
              f"{100 * row['strain_max']:.1f} % | {row['free_edge_at_0.25_s_m']:.3f} m |")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(list(found.values()), file, indent=1)


if __name__ == "__main__":
    main()
