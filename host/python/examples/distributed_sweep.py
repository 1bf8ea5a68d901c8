"""A sweep on two processes, one of which is killed on the way, as a picture of what came of it and of who ran what.

How far the motion of an A3 sheet that is shaken for 2.5 s lies from that of the scene as it stands, by damping and
virtual mass, for two recipes and two meshes: 320 cases in 40 batches.

usage: python distributed_sweep.py FOLDER [--keep-workers], with pip install isocloth[sweep] matplotlib
"""

import argparse
import json
import os
import pathlib
import signal
import threading
import time

import isocloth
import numpy

SCENE = pathlib.Path(__file__).parents[3] / "bench" / "scenes" / "paper_fast_9x9.json"
RECIPES, MESHES = ["coltraro2022", "membrane"], [[9, 9], [17, 17]]


def sweep(folder):
    scene = json.loads(SCENE.read_text())
    scene |= {"duration": 2.5}
    scene["garments"][0]["fabric"] |= {"bending_stiffness": 1e-5, "stretch_stiffness": 1000, "shear_stiffness": 100}
    vary = {"recipe": RECIPES, "mesh.nodes": MESHES,
            "fabric.gravity_density": {"from": 0.05, "to": 1, "count": 8},
            "fabric.mass_damping": {"from": 0, "to": 5, "count": 10}}
    return isocloth.sweep(scene, vary, folder, measures=["distance_mean", "strain_max"], against="base",
                          window=(1, 2.5), batch=8, workers=2, threads=1)


def kill_one_later(folder, killed):
    """Ends the worker that has done a batch first, as it is in a later one."""
    def kill():
        while sum(log.read_text().count("\n") for log in folder.glob("log/*")) < 12:
            time.sleep(0.01)
        process = int(next(folder.glob("log/*")).stem.rpartition("-")[2])
        os.kill(process, signal.SIGKILL)
        killed[process] = time.time()

    threading.Thread(target=kill, daemon=True).start()


def draw(table, folder, killed, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(12, 6.4), width_ratios=[1, 1, 1.25], layout="constrained")
    distances = 1000 * table["distance_mean"].reshape(2, 2, 8, 10)
    deltas, alphas = numpy.unique(table["fabric.gravity_density"]), numpy.unique(table["fabric.mass_damping"])
    for r, recipe in enumerate(RECIPES):
        for m, mesh in enumerate(MESHES):
            axis = axes[r, m]
            image = axis.pcolormesh(alphas, deltas, distances[r, m], vmin=0, vmax=numpy.nanmax(distances),
                                    cmap="viridis", shading="nearest")
            axis.set_title(f"{recipe}, {mesh[0]} x {mesh[1]} nodes", fontsize=10)
            axis.set_xlabel("damping alpha [1/s]")
            axis.set_ylabel("virtual mass delta")
            axis.plot(2.49, 0.37, "+", color="white", markersize=10)
    figure.colorbar(image, ax=axes[:, :2], label="mean distance to the scene as it stands (+) [mm]", shrink=0.8)
    for axis in axes[:, 2]:
        axis.remove()
    timeline = figure.add_subplot(axes[0, 2].get_gridspec()[:, 2])
    lines = {int(log.stem.rpartition("-")[2]): [json.loads(line) for line in log.read_text().splitlines()]
             for log in folder.glob("log/*")}
    begin = min(d["ended"] - d["simulated_seconds"] - d["written_seconds"] for done in lines.values() for d in done)
    for row, (process, done) in enumerate(sorted(lines.items(), key=lambda item: item[1][0]["ended"])):
        for d in done:
            seconds = d["simulated_seconds"] + d["written_seconds"]
            timeline.barh(row, seconds, left=d["ended"] - seconds - begin, color=pyplot.cm.tab20(d["batch"] % 20),
                          edgecolor="white", height=0.7)
            if seconds > 0.02 * (max(x["ended"] for y in lines.values() for x in y) - begin):
                timeline.text(d["ended"] - seconds / 2 - begin, row, d["batch"], ha="center", va="center", fontsize=7)
        if process in killed:
            timeline.plot(killed[process] - begin, row, "rX", markersize=12)
    timeline.set_yticks(range(len(lines)), [f"process {i + 1}" for i in range(len(lines))])
    timeline.set_xlabel("time [s]; X: killed, its batch is run again")
    timeline.set_title("40 batches of 8 cases by their numbers", fontsize=10)
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--keep-workers", action="store_true", help="kill none")
    options = parser.parse_args()
    killed = {}
    if not options.keep_workers:
        kill_one_later(options.folder / "two", killed)
    table = sweep(options.folder / "two")
    print(table)
    draw(table, options.folder / "two", killed, options.folder / "distributed_sweep.png")
    print(f"picture: {options.folder / 'distributed_sweep.png'}")


if __name__ == "__main__":
    main()
