"""Counts what steps of scenes ask of a device: launches, waits and copies per step, on the software device.

    python bench/device_counts.py BUILD [SCENE...]     scenes of bench/scenes by name; prints a Markdown table

BUILD is a build folder with the command and the software device (target isocloth_software_device). The counts are
those of a GPU, whose time they cannot tell; a graph is one launch. Set-up is not in them: they are what the last half
of the steps adds.
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SCENES = Path(__file__).parent / "scenes"
DEFAULT = ["shake_fast_9x9", "membrane_batch", "shake_fast_33x33", "sheet_on_sphere", "towels_and_balls",
           "sheet_on_sheet", "folded_towel", "t_shirt"]


def counts(build: Path, folder: Path, scene: str, steps: int) -> dict:
    """What a run of so many steps of a scene in `folder` asked for."""
    described = json.loads((SCENES / f"{scene}.json").read_text())
    described["duration"] = steps * described.get("step", 0.01)
    path = folder / f"{scene}_short.json"
    path.write_text(json.dumps(described))
    counted = folder / "counts.json"
    environment = os.environ | {
        "ISOCLOTH_CUDA_PLUGIN": str(build / "lib/software_device/libisocloth_cuda.so"),
        "ISOCLOTH_TEST_DEVICE_COUNTS": str(counted)}
    command = [build / "bin/isocloth", "run", path, "-o", folder / "result", "--overwrite", "--quiet",
               "--backend", "cuda"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return json.loads(counted.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("scenes", nargs="*", default=DEFAULT)
    parser.add_argument("--steps", type=int, default=8, help="steps that are counted (default 8)")
    options = parser.parse_args()
    print("| scene | launches | graphs | waits | uploads | downloads | kB down |\n|---|---|---|---|---|---|---|")
    for scene in options.scenes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "scenes"
            shutil.copytree(SCENES, folder)
            shutil.copytree(SCENES.parent / "fabrics", folder.parent / "fabrics")
            before, after = (counts(options.build, folder, scene, n) for n in (options.steps, 2 * options.steps))
        cells = [(after[key] - before[key]) / options.steps
                 for key in ("launches", "graph_launches", "waits", "uploads", "downloads", "downloaded_bytes")]
        cells[-1] /= 1000
        print(f"| {scene} | " + " | ".join(f"{value:.4g}" for value in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
