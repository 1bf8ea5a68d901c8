"""Estimators of stress-strain curves on the same recordings of a tensile tester: motions, and load cases at rest.

    python3 bench/fits/compare_estimators.py FOLDER [COMMAND] [--quick]

Fits the curves of clips.json to its recordings, of motions, and to others of the same rigs at rest, which FOLDER
receives: by motions (clips.json as it is); by load cases at rest with the same nine points of curves; and at rest as
Miguel et al. 2012 publish it: stage after stage, on forces, with stiffnesses k(e) of as many control points as they
need (bench/fits/clips_at_rest.json, which this writes). Prints processor time and how far the fitted curves are off,
at worst over their points, in per cent. --quick: at rest alone. --picture=FILE: the curves that the last of them found
(matplotlib), nothing else.
"""
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy

import make_fits as fits

BOUNDS = {"warp": [0, 5000], "weft": [0, 3000], "shear": [0, 200]}


def at_rest(plan, starts="recorded"):
    experiments = [{**e, "at_rest": True, "start": starts} for e in plan["experiments"]]
    return {**{k: v for k, v in plan.items() if k != "levels"}, "scans": False, "experiments": experiments}


def published(folder="clips"):
    """The paper's stages: warp, weft, then shear with them, each on the forces of its own rig."""
    plan = at_rest(fits.blind(fits.clips([], folder)))
    plan["name"] = "Stiffness of a wool-like cloth by load cases at rest"
    plan["search"], plan["starts"] = "gauss_newton", 1
    plan["parameters"] = [
        {"number": f"fabric.curves.{kind}", "from": low, "to": high, "value": (low + high) / 10, "points": 5,
         "stages": [stage]} for stage, (kind, (low, high)) in enumerate(BOUNDS.items(), 1)]
    for stage, experiment in enumerate(plan["experiments"][:3], 1):
        experiment |= {"stages": [stage], "objective": "forces"}
    # Along the clip: what stretch does to the force is across it.
    plan["experiments"][2]["forces"][0]["along"] = [0, 1, 0]
    return plan


def absolute(plan, recordings):
    for experiment in plan["experiments"]:
        experiment["scene"] = str((fits.HERE / experiment["scene"]).resolve())
        for data in [experiment["positions"], *experiment["forces"]]:
            data["file"] = str(recordings / Path(data["file"]).name)
    return plan


def errors(folder):
    """Of the force at each strain of the truth, over the true force, at worst: of threads, and of shear."""
    curves = json.loads((folder / "fitted" / "shear.fabric.json").read_text())["curves"]
    off = {}
    for kind, strains in fits.STRAINS.items():
        strain, force = [0, *curves[kind]["strain"]], [0, *curves[kind]["force"]]
        slope = (force[-1] - force[-2]) / (strain[-1] - strain[-2])
        strain.append(1)
        force.append(force[-1] + slope * (1 - strain[-2]))
        off[kind] = numpy.abs(numpy.interp(strains, strain, force) / fits.TRUTH[kind] - 1).max()
    return max(off["warp"], off["weft"]), off["shear"]


def fit(command, folder, name, plan):
    fits.write(folder / f"{name}.json", plan)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([command, "fit", folder / f"{name}.json", "-o", folder / name, "--overwrite", "--quiet"],
                          stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"{name}: the fit failed")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def draw(folder, file):
    """Stress against strain as it was found at rest beside the points that made the recordings."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for axis, kind in zip(axes, fits.STRAINS):
        axis.plot(fits.STRAINS[kind], fits.TRUTH[kind], "ko", label="made the recordings")
        for recordings, style in (("motions", "C1-"), ("rests", "C0--")):
            output = folder / f"{recordings}_at_rest_stages_and_control_points"
            fabric = json.loads((output / "fitted" / "shear.fabric.json").read_text())["curves"][kind]
            axis.plot([0, *fabric["strain"]], [0, *fabric["force"]], style, label=f"found from {recordings}")
            strains, forces = [], []
            for number in json.loads((output / "fit.json").read_text())["parameters"]:
                if number.get("parameter", "").endswith(kind):
                    e = number["strain"]
                    d = e if kind == "shear" else numpy.sqrt(1 + 2 * e) - 1
                    strains.append(d)
                    forces.append(number["value"] * e * (1 if kind == "shear" else 1 + d))
            axis.plot(strains, forces, style[:2] + "s", markersize=4)
        axis.set(title=kind, xlabel="strain", ylabel="force per width [N/m]")
    axes[0].legend()
    figure.savefig(file, dpi=110)


def main():
    picture = [a.split("=", 1)[1] for a in sys.argv[1:] if a.startswith("--picture=")]
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not arguments:
        sys.exit(__doc__)
    folder, command = Path(arguments[0]), arguments[1] if len(arguments) > 1 else "build/release/bin/isocloth"
    if picture:
        draw(folder, picture[0])
        return
    fits.write(fits.HERE / "clips_at_rest.json", published())
    rests = folder.resolve() / "rests"
    rests.mkdir(parents=True, exist_ok=True)
    for old in rests.glob("*.csv"):
        old.unlink()
    fits.write(folder / "truth.json", absolute(at_rest(fits.clips(fits.curve_parameters()), "previous"), rests))
    subprocess.run([command, "fit", folder / "truth.json", "--simulate", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    points = fits.blind(fits.clips(fits.curve_parameters()))
    estimators = {"motions, nine points": {**points, "scans": False},
                  "at rest, nine points": at_rest(points),
                  "at rest, stages and control points": published()}
    print("| recordings of | estimator | threads off by | shear off by | processor time [s] |\n|---|---|---:|---:|---:|")
    for recordings, files in (("motions", (fits.HERE / "clips").resolve()), ("rests", rests)):
        for name, plan in estimators.items():
            if "--quick" in sys.argv and name.startswith("motions"):
                continue
            output = f"{recordings}_{name}".replace(",", "").replace(" ", "_")
            seconds = fit(command, folder, output, absolute(json.loads(json.dumps(plan)), files))
            threads, shear = errors(folder / output)
            print(f"| {recordings} | {name} | {100 * threads:.1f} % | {100 * shear:.1f} % | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
