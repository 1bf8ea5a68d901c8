"""Counts what steps of scenes ask of a device: launches, waits and copies per step, on the software device.

    python bench/device_counts.py BUILD [SCENE...]     scenes of bench/scenes by name; prints a Markdown table
    python bench/device_counts.py BUILD --host 4096    the host's time per step of so many sheets of membrane_batch

BUILD is a build folder with the command and the software device (target isocloth_software_device). The counts are
those of a GPU, whose time they cannot tell; a graph is one launch. Set-up is not in them: they are what the last half
of the steps adds. The host's time is that of runs whose kernels are left out, without frames.
"""
import argparse
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCENES = Path(__file__).parent / "scenes"
DEFAULT = ["shake_fast_9x9", "membrane_batch", "shake_fast_33x33", "sheet_on_sphere", "towels_and_balls",
           "sheet_on_sheet", "folded_towel", "t_shirt"]


@contextlib.contextmanager
def copied_scenes() -> Iterator[Path]:
    """A folder with the scenes, beside the fabrics that they name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "scenes"
        shutil.copytree(SCENES, folder)
        shutil.copytree(SCENES.parent / "fabrics", folder.parent / "fabrics")
        yield folder


def run(build: Path, folder: Path, scene: str, steps: int, changes: dict, environment: dict) -> None:
    """Runs so many steps of a scene in `folder` on the software device, into `folder`/result."""
    described = json.loads((SCENES / f"{scene}.json").read_text()) | changes
    described["duration"] = steps * described.get("step", 0.01)
    if described.get("frame_interval", 0) < 0:
        described["frame_interval"] = described["duration"]
    path = folder / f"{scene}_short.json"
    path.write_text(json.dumps(described))
    command = [build / "bin/isocloth", "run", path, "-o", folder / "result", "--overwrite", "--quiet",
               "--backend", "cuda"]
    plugin = {"ISOCLOTH_CUDA_PLUGIN": str(build / "lib/software_device/libisocloth_cuda.so")}
    subprocess.run(command, env=os.environ | plugin | environment, check=True, stdout=subprocess.DEVNULL)


def counts(build: Path, folder: Path, scene: str, steps: int) -> dict:
    """What a run of so many steps of a scene in `folder` asked for."""
    counted = folder / "counts.json"
    run(build, folder, scene, steps, {}, {"ISOCLOTH_TEST_DEVICE_COUNTS": str(counted)})
    return json.loads(counted.read_text())


def host_seconds(build: Path, folder: Path, count: int, steps: int) -> float:
    """Time of so many steps of a batch whose kernels are left out [s]."""
    garment = json.loads((SCENES / "membrane_batch.json").read_text())["garments"][0] | {"replicas": count}
    run(build, folder, "membrane_batch", steps, {"garments": [garment], "frame_interval": -1},
        {"ISOCLOTH_TEST_DEVICE_SKIP": "TileBody,StrainBody,PlaceBody", "ISOCLOTH_TEST_DEVICE_BYTES": str(8 << 30)})
    return json.loads((folder / "result/summary.json").read_text())["wall_seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("scenes", nargs="*", default=DEFAULT)
    parser.add_argument("--steps", type=int, default=8, help="steps that are counted (default 8)")
    parser.add_argument("--host", type=int, metavar="COUNT", help="time the host's side of so many sheets")
    options = parser.parse_args()
    if options.host:
        with copied_scenes() as folder:
            short, long = (host_seconds(options.build, folder, options.host, n) for n in (64, 576))
        print(f"{options.host} sheets: {1e6 * (long - short) / 512:.4g} us of the host per step")
        return
    print("| scene | launches | graphs | waits | uploads | downloads | kB down |\n|---|---|---|---|---|---|---|")
    for scene in options.scenes:
        with copied_scenes() as folder:
            before, after = (counts(options.build, folder, scene, n) for n in (options.steps, 2 * options.steps))
        cells = [(after[key] - before[key]) / options.steps
                 for key in ("launches", "graph_launches", "waits", "uploads", "downloads", "downloaded_bytes")]
        cells[-1] /= 1000
        print(f"| {scene} | " + " | ".join(f"{value:.4g}" for value in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
