"""Time against accuracy: this engine, PositionBasedDynamics, Bullet, MuJoCo's flex and Newton's cloth, one ruler.

usage: pareto_peers.py [--mesh 20 50] [--rounds 3] [--budget 10] [--fine 129] [--reference FILE.npz] [--only NAME...]
                       [--join FILE] [--json FILE] [--picture FILE]
needs: pip install pypbd pybullet mujoco newton warp-lang matplotlib; engines that are not there are left out, and named

The scene is that of `isocloth-bench pareto`: a sheet of 1 m and 1 kg/m^2 without bending swings from 45 degrees, hung
by two corners 5 % nearer than at rest, under 9.81 m/s^2, with a drag of 0.5 per second; 2 s of 20 x 20 nodes, 0.5 s of
larger sheets. All is measured from positions after every 10 ms (sheet_ruler.py): strain of edges and of elements, and
the mean distance of the nodes to a membrane of 129 x 129 nodes, 25,000 N/m, at 2.5 ms. Bullet knows no drag; its
distance is to a sheet without, of 65 x 65 nodes. Times are processor time of one thread, of stepping alone; engines
take turns.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"  # before an engine is imported

import numpy
import peers
from sheet_ruler import Sheet, edge_strains, element_strains, resampled, sheet_from_45_degrees

FRAME, DRAG = 0.01, 0.5  # [s], [1/s]
LOST = 10.0  # an edge of such a strain: the sheet flew apart, as in kernels/core/divergence.hpp


def swinging_sheet(nodes, drag=DRAG):
    return Sheet(nodes, 1.0, 1.0, FRAME, drag, sheet_from_45_degrees(nodes))


def membrane(stiffness, step=FRAME, isotropic=False, limit=0.0, **projection):
    """As in bench/pareto.cpp: a shear stiffness of a twentieth, a tolerance of 5e-3 or the strain of 100 N/m;
    isotropic: with a Poisson's ratio of 0.3."""
    shear = {"shear_stiffness": stiffness / 20}
    if isotropic:
        shear = {"shear_stiffness": stiffness / 2.6, "poisson_ratio": 0.3}
    return {"step": step, "fabric": {"stretch_stiffness": stiffness, "strain_limit": limit} | shear,
            "projection": {"tolerance": min(5e-3, 100 / stiffness)} | projection}


def elasticity(stiffness, thickness=5e-4):
    """MuJoCo's: Young's modulus times thickness is the stiffness [N/m]; no bending."""
    return f'<elasticity young="{stiffness / thickness}" poisson="0.3" thickness="{thickness}" elastic2d="stretch"/>'


@dataclasses.dataclass
class Setting:
    engine: str
    curve: str
    label: str
    kind: type
    knobs: dict


def make_settings():
    found = []

    def add(engine, curve, label, kind, **knobs):
        found.append(Setting(engine, curve, label, kind, knobs))

    own = peers.Isocloth
    for stiffness in (1e3, 5e3, 25e3, 125e3):
        add("isocloth", "membrane", f"{stiffness:g} N/m, 10 ms", own, **membrane(stiffness))
    for step in (5e-3, 2.5e-3):
        add("isocloth", "membrane", f"25000 N/m, {1e3 * step:g} ms", own, **membrane(25e3, step))
    for stiffness in (1e3, 5e3, 25e3):
        add("isocloth", "membrane, isotropic", f"{stiffness:g} N/m, 10 ms", own,
            **membrane(stiffness, isotropic=True))
    for stiffness in (5e3, 25e3, 125e3):
        add("isocloth", "membrane, BDF2", f"{stiffness:g} N/m, 10 ms", own, **membrane(stiffness, integrator="bdf2"))
    for stiffness, limit in ((1e3, 1e-2), (25e3, 1e-2), (25e3, 1e-3)):
        add("isocloth", "membrane, edges limited", f"{stiffness:g} N/m, limit {100 * limit:g} %, 10 ms", own,
            **membrane(stiffness, limit=limit))
    for recipe in ("coltraro2022", "inextensible_edges"):
        for tolerance, step in ((1e-2, 0.01), (1e-3, 0.01), (1e-4, 0.01), (1e-3, 0.005)):
            add("isocloth", recipe, f"tolerance {tolerance:g}, {1e3 * step:g} ms", own, recipe=recipe, step=step,
                projection={"tolerance": tolerance})
    for recipe, curve in (("bender_iterative", "impulses on edges"),
                          ("isometric_impulse", "impulses on isometry rows")):
        for parts in (5, 20, 100):
            add("isocloth", curve, f"{parts} parts of 10 ms, 1 sweep", own, recipe=recipe,
                impulse={"mode": "substeps", "substeps": parts, "max_sweeps": 1})

    # Stiffnesses of its own cloth demo: 1, and 1e5 for XPBD.
    for method, stiffness, curve in ((1, 1.0, "distances"), (2, 1.0, "FEM triangles"), (3, 1.0, "strain triangles"),
                                     (4, 1e5, "XPBD distances")):
        for substeps, iterations in ((5, 1), (20, 1), (50, 1), (200, 1), (1, 20), (5, 10)):
            add("PositionBasedDynamics", curve, f"{substeps} x {iterations}", peers.PositionBasedDynamics,
                method=method, stiffness=stiffness, substeps=substeps, iterations=iterations)
    for substeps in (1, 2, 5, 10, 20):
        add("Bullet", "soft body", f"{substeps} substeps", peers.Bullet, substeps=substeps)
    for stiffness, substeps in ((100.0, 20), (1e3, 50), (5e3, 100), (20e3, 200)):
        add("Bullet", "deformable, springs", f"{stiffness:g} N/m, {substeps} substeps", peers.Bullet, deformable=True,
            stiffness=stiffness, substeps=substeps)
    for stiffness, step in ((1e3, 0.01), (5e3, 0.01), (25e3, 0.01), (125e3, 0.01), (25e3, 0.005), (25e3, 0.0025)):
        add("MuJoCo", "elasticity, discrete", f"{stiffness:g} N/m, {1e3 * step:g} ms", peers.MujocoFlex,
            flex=elasticity(stiffness), step=step)
    for stiffness, step in ((1e3, 0.001), (1e3, 0.00025), (5e3, 0.0001)):
        add("MuJoCo", "elasticity, Euler", f"{stiffness:g} N/m, {1e3 * step:g} ms", peers.MujocoFlex,
            flex=elasticity(stiffness), step=step, integrator="Euler")
    for softness, step in ((0.02, 0.01), (0.01, 0.005), (0.004, 0.002)):  # solref: not below two steps
        add("MuJoCo", "edge equality, Euler", f"solref {softness:g} s, {1e3 * step:g} ms", peers.MujocoFlex,
            flex=f'<edge equality="true" solref="{softness} 1"/>', step=step, integrator="Euler")
    for stiffness, substeps, iterations in ((1e3, 1, 10), (1e3, 1, 50), (1e3, 5, 10), (25e3, 1, 50), (25e3, 5, 10),
                                            (25e3, 10, 5), (25e3, 10, 10)):
        add("Newton", "VBD", f"{stiffness:g} N/m, {substeps} x {iterations}", peers.NewtonVbd, stiffness=stiffness,
            substeps=substeps, iterations=iterations)
    return found


def fine_path(nodes, step, seconds, drag=DRAG, **projection):
    """Positions of a membrane of 25,000 N/m after each frame, shape (frames, nodes^2, 3), single precision [m]."""
    engine = peers.Isocloth(swinging_sheet(nodes, drag), **membrane(25e3, step, **({"tolerance": 1e-3} | projection)))
    path = []
    for _ in range(round(seconds / FRAME)):
        engine.advance()
        path.append(engine.positions().astype(numpy.float32))
    return numpy.array(path)


def references(nodes, seconds, file):
    """The fine motion; one without drag, on half the mesh; and two that differ from the first by mesh, and by mesh and
    integrator: what is known of it."""
    kept = dict(numpy.load(file)) if file and os.path.exists(file) else {}
    half = (nodes + 1) // 2
    wanted = {"fine": (nodes, DRAG, {}), "no drag": (half, 0.0, {}), f"{half} x {half}, 2.5 ms": (half, DRAG, {}),
              f"{half} x {half}, 2.5 ms, BDF2": (half, DRAG, {"integrator": "bdf2"})}
    for name, (side, drag, projection) in wanted.items():
        if name not in kept or kept[name].shape[0] < round(seconds / FRAME) or kept[name].shape[1] != side * side:
            print(f"reference: {name}", flush=True)
            kept[name] = fine_path(side, 2.5e-3, seconds, drag, **projection)
            if file:
                numpy.savez(file, **kept)
    return {name: kept[name] for name in wanted}


def on_nodes(path, nodes, frames):
    side = round(numpy.sqrt(path.shape[1]))
    return [resampled(positions, side, nodes) for positions in path[:frames]]


def mean_distance(a, b):
    return float(numpy.linalg.norm(a - b, axis=-1).mean())


def run(setting, nodes, seconds, fine, budget):
    """One run of a setting; `fine` is what distances are taken to, positions of each frame on this mesh."""
    engine = setting.kind(swinging_sheet(nodes), **setting.knobs)
    frames, cpu, p95, edges, largest, distances = round(seconds / FRAME), 0.0, 0.0, 0.0, 0.0, []
    for frame in range(frames):
        begin = time.process_time()
        engine.advance()
        cpu += time.process_time() - begin
        engine.between_frames()
        positions = engine.positions()
        if not edge_strains(positions, nodes).max() < LOST:
            return {"lost_at_s": FRAME * (frame + 1)}
        strains = element_strains(positions, nodes)
        p95, largest = max(p95, float(numpy.percentile(strains, 95))), max(largest, float(strains.max()))
        edges = max(edges, float(edge_strains(positions, nodes).max()))
        distances.append(mean_distance(positions, fine[frame]))
        if cpu > budget:
            break
    done = FRAME * len(distances)
    return {"simulated_s": done, "whole": len(distances) == frames, "cpu_per_simulated_s": cpu / done,
            "element_p95": p95, "element_max": largest, "edge_max": edges, "distance_m": float(numpy.mean(distances))}


def measure(settings, nodes, seconds, paths, rounds, budget):
    """A row for each setting; in turns, every setting once in a round."""
    frames = round(seconds / FRAME)
    fine = {drag: on_nodes(paths[name], nodes, frames) for name, drag in (("fine", True), ("no drag", False))}
    rows, times = {}, {}
    for turn in range(rounds):
        for number, setting in enumerate(settings):
            if turn and ("cpu_per_simulated_s" not in rows[number] or times[number][0] * seconds > budget / 8):
                continue
            try:
                row = run(setting, nodes, seconds, fine[setting.kind.has_drag], budget)
            except Exception as error:
                row = {"error": f"{type(error).__name__}: {error}"}
            rows.setdefault(number, {"mesh": nodes, "engine": setting.engine, "curve": setting.curve,
                                     "setting": setting.label} | row)
            if "cpu_per_simulated_s" in row:
                times.setdefault(number, []).append(row["cpu_per_simulated_s"])
            if not turn:
                print(f"{nodes} x {nodes}, {setting.engine}, {setting.curve}, {setting.label}: {row}", flush=True)
    for number, found in times.items():
        rows[number] |= {"cpu_per_simulated_s": min(found), "cpu_of_rounds": found}
    return [rows[number] for number in range(len(settings))]


UNITS = {"element_p95": 100, "distance_m": 1000}  # both errors as they are shown: [%], [mm]


def is_beaten(row, rows, error):
    """Whether another whole run is at least as fast and as accurate, and better in one."""
    here = row["cpu_per_simulated_s"], row[error]
    others = ((other["cpu_per_simulated_s"], other[error]) for other in rows)
    return any(other[0] <= here[0] and other[1] <= here[1] and other != here for other in others)


def print_table(rows):
    """In bold: what no whole run on the same mesh beats."""
    print("| mesh | engine | | setting | CPU per simulated second [s] | elements, 95 % [%] | edges, most [%] | "
          "distance [mm] |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        name = f"| {row['mesh']} | {row['engine']} | {row['curve']} | {row['setting']} |"
        if "cpu_per_simulated_s" not in row:
            why = f"flew apart at {row['lost_at_s']:.2f} s" if "lost_at_s" in row else row["error"]
            print(f"{name} {why} | | | |")
            continue
        whole = [other for other in rows if other["mesh"] == row["mesh"] and other.get("whole")]
        errors = {error: f"{unit * row[error]:.3g}" for error, unit in UNITS.items()}
        for error in UNITS:
            if row["whole"] and not is_beaten(row, whole, error):
                errors[error] = f"**{errors[error]}**"
        note = "" if row["whole"] else f" (ended at {row['simulated_s']:.2f} s)"
        print(f"{name} {row['cpu_per_simulated_s']:.3g}{note} | {errors['element_p95']} | "
              f"{100 * row['edge_max']:.3g} | {errors['distance_m']} |")


def draw(rows, file):
    """A row of panels for each mesh: time against strain of elements, and against distance. A line joins the runs of a
    curve that no other of it beats; the others are pale."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "isocloth"
    from matplotlib import pyplot, ticker

    colours = {"isocloth": "tab:blue", "PositionBasedDynamics": "tab:orange", "Bullet": "tab:green",
               "MuJoCo": "tab:red", "Newton": "tab:purple"}
    meshes = sorted({row["mesh"] for row in rows})
    figure, panels = pyplot.subplots(len(meshes), 2, figsize=(13, 5 * len(meshes)), squeeze=False)
    curves = list(dict.fromkeys((row["engine"], row["curve"]) for row in rows))
    numbers = {}
    for engine, curve in curves:
        numbers[engine, curve] = sum(1 for other, _ in numbers if other == engine)
    for line, mesh in zip(panels, meshes, strict=True):
        for panel, (error, unit), title in zip(line, UNITS.items(), (
                "strain that 95 % of the elements' points stay below, worst frame [%]",
                "mean distance of nodes to the fine mesh [mm]"), strict=True):
            for engine, curve in curves:
                whole = [row for row in rows if (row["mesh"], row["engine"], row["curve"]) == (mesh, engine, curve)
                         and row.get("whole")]
                number, colour = numbers[engine, curve], colours[engine]
                front, rest = [], []
                for row in whole:
                    point = unit * row[error], row["cpu_per_simulated_s"]
                    (rest if is_beaten(row, whole, error) else front).append(point)
                marker = "osD^vPX*"[number % 8]
                if front:
                    panel.plot(*zip(*sorted(front), strict=True), color=colour, marker=marker, linewidth=1.2,
                               linestyle=["-", "--", "-.", ":"][number % 4], label=f"{engine}: {curve}")
                if rest:
                    panel.plot(*zip(*rest, strict=True), color=colour, marker=marker, markersize=5, linewidth=0,
                               alpha=0.3)
            panel.set(xscale="log", yscale="log", xlabel=title, ylabel="processor time per simulated second [s]",
                      title=f"{mesh} x {mesh} nodes")
            panel.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            panel.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
            panel.xaxis.set_minor_formatter(ticker.NullFormatter())
            panel.grid(True, which="both", alpha=0.2)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.16 / len(meshes) + 0.02, 1, 1))
    figure.savefig(file, dpi=110, metadata={"Date": None} if str(file).endswith(".svg") else None)


def where_and_when():
    """Machine, load and commit, as the tables of isocloth-bench have them."""
    root = pathlib.Path(__file__).parent

    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False).stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    models = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")] if os.path.exists("/proc/cpuinfo") else []
    return {"command": "pareto_peers", "commit": commit + ("-dirty" if git("status", "--porcelain", "-uno") else ""),
            "load": os.getloadavg(), "machine": {"processor": models[0] if models else platform.processor(),
                                                 "cores": os.cpu_count(), "python": platform.python_version()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", type=int, nargs="+", default=[20, 50], help="nodes a side")
    parser.add_argument("--rounds", type=int, default=3, help="times are the least of so many, long runs go once")
    parser.add_argument("--budget", type=float, default=10, help="processor time after which a run ends [s]")
    parser.add_argument("--fine", type=int, default=129, help="nodes a side of the mesh that distances are taken to")
    parser.add_argument("--reference", help="keep the fine motions here, and take them from here")
    parser.add_argument("--only", nargs="+", default=[""], help="settings whose engine and curve contain one of these")
    parser.add_argument("--join", help="a file of --json whose rows are put before those of this run")
    parser.add_argument("--json", help="write the rows here, too")
    parser.add_argument("--picture", help="draw them, .svg or .png")
    arguments = parser.parse_args()
    versions = {kind.package: peers.version(kind) for kind in peers.ENGINES}
    for package in (package for package, version in versions.items() if version is None):
        print(f"left out: {package} is not installed")
    settings = [setting for setting in make_settings() if versions[setting.kind.package]
                and any(word in f"{setting.engine}, {setting.curve}" for word in arguments.only)]
    for kind in {setting.kind: setting for setting in settings}.values():
        run(kind, 5, FRAME, [swinging_sheet(5).rest], arguments.budget)  # loads what an engine loads at its first step
    lengths = {nodes: 2.0 if nodes <= 20 else 0.5 for nodes in arguments.mesh}
    document = where_and_when() | {"versions": versions, "rounds": arguments.rounds, "budget_s": arguments.budget}
    paths = references(arguments.fine, max(lengths.values()), arguments.reference)
    earlier = json.loads(pathlib.Path(arguments.join).read_text()) if arguments.join else {}
    for key in ("rows", "distances_among_fine_m"):
        document[key] = earlier.get(key, [])
    for nodes, seconds in lengths.items():
        frames = round(seconds / FRAME)
        fine = on_nodes(paths["fine"], nodes, frames)
        for name in list(paths)[2:]:
            distance = mean_distance(numpy.array(fine), numpy.array(on_nodes(paths[name], nodes, frames)))
            document["distances_among_fine_m"].append({"mesh": nodes, "fine": name, "distance_m": distance})
        document["rows"] += measure(settings, nodes, seconds, paths, arguments.rounds, arguments.budget)
    print_table(document["rows"])
    for row in document["distances_among_fine_m"]:
        mesh = f"{row['mesh']} x {row['mesh']}"
        print(f"at {mesh} nodes, a fine mesh of {row['fine']}: {1000 * row['distance_m']:.3g} mm")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")
    if arguments.picture:
        draw(document["rows"], arguments.picture)


if __name__ == "__main__":
    main()
