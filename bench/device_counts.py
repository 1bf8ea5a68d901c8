"""Counts what steps of scenes ask of a device: launches, waits and copies per step, on the software device.

    python bench/device_counts.py BUILD [SCENE...]     scenes of bench/scenes by name, or files; prints a Markdown table
    python bench/device_counts.py BUILD --kernels ...  and which kernels they are
    python bench/device_counts.py BUILD --host 4096    the host's time per step of so many sheets of membrane_batch

BUILD is a build folder with the command and the software device (target isocloth_software_device). The counts are
those of a GPU, whose time they cannot tell; a graph is one launch. "kernels" are all that run, those of graphs too, and
"changed" those of graphs whose arguments were set anew. sheet_129x129 is shake_fast_33x33 with so many nodes. Set-up is
not in the counts: they are what the last half of the steps adds. The host's time is that of runs whose kernels are left
out, without frames.
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
           "sheet_on_sheet", "folded_towel", "t_shirt", "sheet_129x129"]
COLUMNS = ["launches", "graphs", "kernels", "changed", "waits", "uploads", "downloads", "kB down"]


@contextlib.contextmanager
def copied_scenes(scenes: Path = SCENES) -> Iterator[Path]:
    """A folder with the scenes, beside the fabrics that those of bench name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "scenes"
        shutil.copytree(scenes, folder)
        shutil.copytree(SCENES.parent / "fabrics", folder.parent / "fabrics")
        yield folder


def described(scene: str) -> tuple[Path, dict]:
    """The folder of a scene, by its name or its file, and what it says."""
    if scene == "sheet_129x129":
        keys = json.loads((SCENES / "shake_fast_33x33.json").read_text())
        keys["garments"][0]["mesh"]["nodes"] = [129, 129]
        return SCENES, keys
    path = Path(scene) if scene.endswith(".json") else SCENES / f"{scene}.json"
    return path.resolve().parent, json.loads(path.read_text())


def run(build: Path, folder: Path, keys: dict, steps: int, environment: dict) -> None:
    """Runs so many steps of a scene in `folder` on the software device, into `folder`/result."""
    keys = keys | {"duration": steps * keys.get("step", 0.01)}
    if keys.get("frame_interval", 0) < 0:
        keys["frame_interval"] = keys["duration"]
    path = folder / "counted_scene.json"
    path.write_text(json.dumps(keys))
    command = [build / "bin/isocloth", "run", path, "-o", folder / "result", "--overwrite", "--quiet",
               "--backend", "cuda"]
    plugin = {"ISOCLOTH_CUDA_PLUGIN": str(build / "lib/software_device/libisocloth_cuda.so")}
    subprocess.run(command, env=os.environ | plugin | environment, check=True, stdout=subprocess.DEVNULL)


def counts(build: Path, scene: str, steps: int) -> dict:
    """What a run of so many steps of a scene asked for."""
    source, keys = described(scene)
    with copied_scenes(source) as folder:
        counted = folder / "counts.json"
        run(build, folder, keys, steps, {"ISOCLOTH_TEST_DEVICE_COUNTS": str(counted)})
        return json.loads(counted.read_text())


def per_step(before: dict, after: dict, steps: int) -> list[float]:
    """The columns of the table."""
    def more(key: str) -> float:
        return (after[key] - before[key]) / steps

    graphs = more("graph_launches")
    kernels = sum(kernel["launches"] for kernel in after["kernels"].values()) - sum(
        kernel["launches"] for kernel in before["kernels"].values())
    return [more("launches") + graphs, graphs, kernels / steps, more("graph_changes"), more("waits"), more("uploads"),
            more("downloads"), more("downloaded_bytes") / 1000]


def list_kernels(before: dict, after: dict, steps: int) -> None:
    """Prints how often each kernel is launched per step, alone and in graphs."""
    for name, kernel in sorted(after["kernels"].items()):
        old = before["kernels"].get(name, {})
        launches, in_graphs, changed = ((kernel[key] - old.get(key, 0)) / steps
                                        for key in ("launches", "in_graphs", "graph_changes"))
        if launches > 0:
            print(f"  {launches - in_graphs:8.2f} alone {in_graphs:8.2f} in graphs {changed:8.2f} changed  {name}")


def host_seconds(build: Path, count: int, steps: int) -> float:
    """Time of so many steps of a batch whose kernels are left out [s]."""
    source, keys = described("membrane_batch")
    keys |= {"garments": [keys["garments"][0] | {"replicas": count}], "frame_interval": -1}
    with copied_scenes(source) as folder:
        run(build, folder, keys, steps, {"ISOCLOTH_TEST_DEVICE_SKIP": "TileBody,StrainBody,PlaceBody",
                                         "ISOCLOTH_TEST_DEVICE_BYTES": str(8 << 30)})
        return json.loads((folder / "result/summary.json").read_text())["wall_seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("scenes", nargs="*", default=DEFAULT)
    parser.add_argument("--steps", type=int, default=8, help="steps that are counted (default 8)")
    parser.add_argument("--host", type=int, metavar="COUNT", help="time the host's side of so many sheets")
    parser.add_argument("--kernels", action="store_true", help="name the kernels, too")
    options = parser.parse_args()
    if options.host:
        short, long = (host_seconds(options.build, options.host, n) for n in (64, 576))
        print(f"{options.host} sheets: {1e6 * (long - short) / 512:.4g} us of the host per step")
        return
    print(f"| scene | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for scene in options.scenes:
        before, after = (counts(options.build, scene, n) for n in (options.steps, 2 * options.steps))
        values = per_step(before, after, options.steps)
        print(f"| {Path(scene).stem} | {' | '.join(f'{value:.4g}' for value in values)} |", flush=True)
        if options.kernels:
            list_kernels(before, after, options.steps)


if __name__ == "__main__":
    main()
