"""Fits the models of Miguel et al. 2012, section 4, to the recordings of clips.json, and prints how far each is off.

    python3 bench/fits/compare_models.py FOLDER [COMMAND]

Springs, soft constraints and StVK membranes, each with one stiffness for warp, weft and shear, and with curves of three
points each. The recordings are those of a StVK membrane with curves, so that what is left of that model is noise; how
the others compare is what Miguel's figure 7 and table 2 show of real cloth. FOLDER receives a fit of every model.
"""
import json
import subprocess
import sys
from pathlib import Path

import make_fits as fits

MODELS = {"springs": "springs", "soft constraints": "soft_constraints", "StVK": "membrane"}
SCALARS = {"stretch_stiffness": [50, 5000], "weft_stretch_stiffness": [50, 5000], "shear_stiffness": [2, 200]}


def parameters(law):
    if law == "curves":
        return fits.curve_parameters()
    return [{"number": f"fabric.{name}", "from": low, "to": high, "scale": "log"}
            for name, (low, high) in SCALARS.items()]


def fit(command, folder, model, law):
    name = f"{model.replace(' ', '_')}_{law}"
    fabric = fits.curves(fits.TRUTH) if law == "curves" else {k: low for k, (low, _) in SCALARS.items()}
    for kind in fits.RIGS:
        fits.write(folder / name / f"{kind}.json", fits.rig(kind, MODELS[model], fabric))
    plan = fits.blind(fits.clips(parameters(law), name))
    for experiment in plan["experiments"]:
        for data in [experiment["positions"], *experiment["forces"]]:
            data["file"] = str((fits.HERE / data["file"]).resolve())
    fits.write(folder / f"{name}.json", plan)
    output = folder / f"{name}_result"
    done = subprocess.run([command, "fit", folder / f"{name}.json", "-o", output, "--overwrite", "--quiet"],
                          stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"{name}: the fit failed")
    return json.loads((output / "fit.json").read_text())


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, command = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "build/release/bin/isocloth"
    kinds = [kind.replace("_", " ") for kind in fits.RIGS]
    print("| model | stiffness | " + " | ".join(f"{kind} [mN]" for kind in kinds) + " | left, in noise |")
    print("|---|---|" + "---:|" * (len(kinds) + 1))
    for model in MODELS:
        for law in ("scalar", "curves"):
            found = fit(command, folder, model, law)
            cells = []
            for experiment in found["experiments"]:
                errors = experiment["fitted"]["train"] or experiment["fitted"]["test"]
                cells.append(f"{1000 * errors['rms_force']:.0f} ({1000 * errors['mean_distance']:.2f} mm)")
            print(f"| {model} | {law} | " + " | ".join(cells) + f" | {found['noise_factor']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
