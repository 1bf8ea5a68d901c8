"""RGBench (Hu et al., AAAI 2026) by its own protocol, without the packages that its harness asks for.

    python bench/rgbench/run.py DATA --configs RGBench/configs -o outputs [--garment green_tshirt] [--action grasp] \\
        [--baselines RGBench/results/paper_baselines.csv]

DATA: the captures and ``meshes`` of the data set RGBench-Cloth-Sim2Real-v1; configs: those of
https://github.com/hwk0809/RGBench. Neither is part of this project. Each capture of ``experiment_library.yaml`` is
simulated (environment.py), and each cloud of the camera compared with the vertices at its time plus ``camera_delay``:

- chamfer_l1: mean over the points of one cloud of the least |dx| + |dy| + |dz| to the other, from simulation to reality
  and from reality to simulation; chamfer_l2: by the Euclidean distance;
- one_sided_hausdorff: largest of the least Euclidean distances;
- sim_stability_score: sum of |(v_(i-1) + v_i + v_(i+1)) / 3 - v_i| over neighbours in the numbering, over their number;
- z_mean_error: difference of the mean heights.

``metrics.csv`` of a capture has a row per cloud between start_record_time and end_record_time, then the mean and the
standard deviation of those between start_calculate_time and end_calculate_time, where RGBench's ``compare_to_paper.py``
finds them.
"""

import argparse
import csv
import pathlib
import sys
import time

import isocloth
import numpy
from environment import IsoclothEnv
from point_clouds import read_clouds

COLUMNS = {"cd_l1_s2r": "chamfer_l1_sim_to_real", "cd_l2_s2r": "chamfer_l2_sim_to_real",
           "cd_l1_r2s": "chamfer_l1_real_to_sim", "hd_s2r": "one_sided_hausdorff_sim_to_real",
           "hd_r2s": "one_sided_hausdorff_real_to_sim", "sim_stab": "sim_stability_score", "z_err": "z_mean_error"}


def cost(simulated, real):
    """The numbers of one frame by their names in ``metrics.csv``; points [m], shape (points, 3)."""
    from scipy.spatial import cKDTree

    simulated, real = (numpy.asarray(points, dtype=numpy.float32) for points in (simulated, real))
    trees = cKDTree(simulated), cKDTree(real)

    def nearest(points, tree, p):
        return tree.query(points, p=p)[0]

    s2r, r2s = nearest(simulated, trees[1], 2), nearest(real, trees[0], 2)
    middle = (simulated[:-2] + simulated[1:-1] + simulated[2:]) / 3 - simulated[1:-1]
    values = (nearest(simulated, trees[1], 1).mean(), s2r.mean(), nearest(real, trees[0], 1).mean(), s2r.max(),
              r2s.max(), numpy.linalg.norm(middle, axis=1).sum() / len(simulated),
              abs(float(simulated[:, 2].mean()) - float(real[:, 2].mean())))
    return dict(zip(COLUMNS.values(), map(float, values)))


def read_yaml(file):
    """A file of RGBench's configs."""
    try:
        import yaml
    except ImportError:
        raise ImportError("rgbench: found no yaml, which reads RGBench's configs; pip install pyyaml") from None
    try:
        return yaml.safe_load(pathlib.Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise isocloth.FileError(f"{file}: {error.strerror}, expected a file of RGBench's configs") from None


def captures(library, garment=None, action=None, sample=None):
    """(garment, action, robot, sample, entry) of each capture of ``experiment_library.yaml`` that is asked for."""
    for name, actions in library["experiments"].items():
        for kind, robots in actions.items():
            for robot, samples in robots.items():
                for number, entry in samples.items():
                    if garment in (None, name) and action in (None, kind) and sample in (None, number):
                        yield name, kind, robot, number, entry


def active_run(data, params, action, entry):
    """The mapping that the harness gives a simulator."""
    root = pathlib.Path(data, entry["data_subfolder"])
    return {"cloth": {"model_path": str(pathlib.Path(data, "meshes", params["cloth_model_file_name"])),
                      "init_pose": entry.get("init_pose", [0.1, 0.0, 0.01, 1.0, 0.0, 0.0, 0.0])},
            "cloth_params": params, "action": {"type": action, "fling_prepare_time": 5.0, "fling_wait_time": 5.0},
            "data": {"root": str(root), "robot_joints": {f"{arm}_arm_csv_path": str(
                root / "joints" / f"{arm}_arm_joint_states_and_end_pose.csv") for arm in ("left", "right")}},
            "evaluate": entry["evaluate"]}


def run_capture(cfg, delay, **options):
    """Rows of ``metrics.csv`` (frames, mean, standard deviation), and what the simulation did."""
    began = time.perf_counter()
    env = IsoclothEnv(cfg, **options)
    window = cfg["evaluate"]
    prepare = 0.0
    if cfg["action"]["type"] == "fling":
        prepare = cfg["action"]["fling_prepare_time"] + cfg["action"]["fling_wait_time"]
    rows = []
    for at, cloud in read_clouds(cfg["data"]["root"], env.get_master_start_time()):
        if at + delay > window["end_record_time"]:
            break
        env.step_to_time(at + delay + prepare)
        now = env.get_current_sim_time() - prepare
        if window["start_record_time"] <= now <= window["end_record_time"]:
            rows.append({**cost(env.get_sim_vertices(), cloud), "sim_time": now, "target_time": at})
    inside = [row for row in rows if window["start_calculate_time"] <= row["sim_time"] <= window["end_calculate_time"]]
    if not inside:
        raise isocloth.FileError(f"{cfg['data']['root']}: found no cloud between {window['start_calculate_time']} and "
                                 f"{window['end_calculate_time']} s, expected some; check camera_delay and the stamps")
    values = {name: [row[name] for row in inside] for name in COLUMNS.values()}
    mean = {name: float(numpy.mean(value)) for name, value in values.items()}
    spread = {name: float(numpy.std(value, ddof=1)) if len(value) > 1 else float("nan")
              for name, value in values.items()}
    return [*rows, mean, spread], {"steps_missed": env.steps_missed, "meets_itself": env.meets_itself,
                                   "seconds": time.perf_counter() - began}


def write_metrics(file, rows):
    """Rows of a capture as the harness writes them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, [*COLUMNS.values(), "sim_time", "target_time"])
        writer.writeheader()
        writer.writerows(rows)


def baselines(file, metric="cd_l1_r2s", mode="fixed_point"):
    """{simulator: {(garment, action): value}} of ``paper_baselines.csv``."""
    found = {}
    with open(file, newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["mode"] == mode:
                found.setdefault(row["simulator"], {})[row["garment"], row["action"]] = float(row[metric])
    return found


def table(means, published):
    """Lines of a table: mean of real-to-sim Chamfer L1 over the captures of each cell [mm]; published: baselines()."""
    names = sorted(published)
    lines = ["garment            action  captures  isocloth  " + "  ".join(names)]
    for (garment, action), values in sorted(means.items()):
        others = [f"{1e3 * published[name][garment, action]:{len(name)}.1f}" if (garment, action) in published[name]
                  else "-".rjust(len(name)) for name in names]
        lines.append(f"{garment:18} {action:7} {len(values):8} {1e3 * numpy.mean(values):9.1f}  " + "  ".join(others))
    whole = [f"{1e3 * numpy.mean([value for key, value in published[name].items() if key in means]):{len(name)}.1f}"
             if set(means) & set(published[name]) else "-".rjust(len(name)) for name in names]
    ours = 1e3 * numpy.mean([numpy.mean(values) for values in means.values()])
    lines.append(f"{'mean of these cells':26} {sum(map(len, means.values())):8} {ours:9.1f}  " + "  ".join(whole))
    return lines


def main(arguments=None):
    """Returns the exit code: 0 done, 1 captures that failed, 2 bad input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the captures and of meshes")
    parser.add_argument("--configs", required=True, help="folder of experiment_library.yaml and cloth_params")
    parser.add_argument("-o", "--output", default="outputs", help="folder; default: %(default)s")
    parser.add_argument("--garment")
    parser.add_argument("--action", choices=["fling", "fold", "grasp"])
    parser.add_argument("--sample", help="number of a capture, such as 02")
    parser.add_argument("--baselines", help="paper_baselines.csv")
    parser.add_argument("--preset", default="cotton", help="kind of cloth of all garments; default: %(default)s")
    parser.add_argument("--step", type=float, default=0.005, help="[s]; default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    options = parser.parse_args(arguments)
    try:
        configs = pathlib.Path(options.configs)
        library = read_yaml(configs / "experiment_library.yaml")
        published = baselines(options.baselines) if options.baselines else {}
        means, failed = {}, 0
        for garment, action, robot, sample, entry in captures(library, options.garment, options.action, options.sample):
            name = f"{garment}/{action}/{sample}"
            if not pathlib.Path(options.data, entry["data_subfolder"]).is_dir():
                print(f"{name}: not there, left out", file=sys.stderr)
                continue
            try:
                cfg = active_run(options.data, read_yaml(configs / "cloth_params" / f"{garment}.yaml"), action, entry)
                rows, what = run_capture(cfg, float(entry["camera_delay"]), preset=options.preset, step=options.step,
                                         threads=options.threads)
            except isocloth.Error as error:
                failed += 1
                print(f"{name}: {error}", file=sys.stderr)
                continue
            write_metrics(pathlib.Path(options.output, garment, action, "isocloth", "fixed_point", robot,
                                       f"sample_{sample}", "run", "metrics.csv"), rows)
            value, back = rows[-2][COLUMNS["cd_l1_r2s"]], rows[-2][COLUMNS["cd_l1_s2r"]]
            means.setdefault((garment, action), []).append(value)
            print(f"{name}: {1e3 * value:.1f} mm real to sim, {1e3 * back:.1f} mm sim to real, "
                  f"{what['steps_missed']} steps missed, {what['seconds']:.0f} s"
                  + ("" if what["meets_itself"] else ", mesh crosses itself: does not meet itself"), flush=True)
    except (isocloth.Error, ImportError, OSError) as error:
        print(f"rgbench: {error}", file=sys.stderr)
        return 2
    if not means:
        print("rgbench: found no capture to run, expected some under DATA", file=sys.stderr)
        return 2
    print("\n".join(table(means, published)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
