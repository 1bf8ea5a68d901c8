"""Dresses designs that GarmentCode's own program draws, on its body and on five made of it, without a hand on them.

    git clone https://github.com/maria-korosteleva/GarmentCode
    pip install isocloth[patterns,record] pyyaml svgpathtools svgwrite matplotlib psutil cairosvg
    python dress_designs.py GarmentCode -o results/designs --designs 40 --nodes 3000

Each seed draws random parameters (``pygarment.DesignSampler``) and a garment for the body's measurements
(``MetaGarment``); what GarmentCode itself refuses (empty, too long, crossing itself) and panels whose outlines cross
themselves are drawn again. Design i is dressed on body i mod 6: ``mean_all``, and ``mean_all`` with heights and widths
scaled: tall (1.06, 1), short (0.94, 1), wide (1, 1.07), narrow (1, 0.94), large (1.05, 1.05), measurements with them.
A design is imported, sewn and draped in a process of its own with a limit of processor time; what is there already is
kept, so that a run may be stopped and gone on with. Designs are of jersey unless ``--fabric`` says otherwise:
GarmentCode fits some parts closer than a woven cloth, which does not give, can be closed around. ``table.md`` has a
row for each, with the cause where it failed.
"""

import argparse
import contextlib
import io
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import time
import types

import isocloth

BODIES = {"mean": (1, 1), "tall": (1.06, 1), "short": (0.94, 1), "wide": (1, 1.07), "narrow": (1, 0.94),
          "large": (1.05, 1.05)}  # heights, widths and depths
HEIGHTS = ("armscye_depth", "bust_line", "crotch_hip_diff", "head_l", "height", "hips_line", "vert_bust_line",
           "waist_line", "waist_over_bust_line")
WIDTHS = ("back_width", "bum_points", "bust", "bust_points", "hip_back_width", "hips", "leg_circ", "neck_w",
          "shoulder_w", "underbust", "waist", "waist_back_width", "wrist")
SLOPES = ("shoulder_incl", "arm_pose_angle")  # angles from the horizontal [degrees]


def scaled(params, tall, wide):
    """Measurements of a body whose heights and widths are scaled."""
    result = dict(params)
    for name in HEIGHTS:
        result[name] = params[name] * tall
    for name in WIDTHS:
        result[name] = params[name] * wide
    for name in SLOPES:
        result[name] = math.degrees(math.atan(math.tan(math.radians(params[name])) * tall / wide))
    result["hip_inclination"] = math.degrees(math.atan(math.tan(math.radians(params["hip_inclination"])) * wide / tall))
    down = math.radians(params["arm_pose_angle"])
    result["arm_length"] = params["arm_length"] * math.hypot(wide * math.cos(down), tall * math.sin(down))
    return result


def make_body(source, file, tall, wide):
    """An OBJ whose y is up, scaled."""
    lines = []
    for line in source.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            x, y, z = (float(word) for word in words[1:4])
            lines.append(f"v {x * wide:.7g} {y * tall:.7g} {z * wide:.7g}")
        elif words[:1] == ["f"]:
            lines.append("f " + " ".join(word.split("/")[0] for word in words[1:]))
    file.write_text("\n".join(lines) + "\n")


def draw(program, seed, body, folder):
    """A design as GarmentCode draws it, or why it does not."""
    random.seed(seed)
    params = program.sampler(str(program.root / "assets/design_params/default.yaml")).randomize()
    measures = program.body(str(program.root / "assets/bodies/mean_all.yaml"))
    measures.load_from_dict(scaled(dict(measures.params), *BODIES[body]))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            garment = program.garment(f"design_{seed:03d}", measures, params)
            garment.assert_non_empty()
            garment.assert_total_length()
            garment.assert_skirt_waistband()
            pattern = garment.assembly()
            if garment.is_self_intersecting():
                return "crosses itself, says GarmentCode"
    except (Exception, *program.refusals) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:80]
    (folder / "pattern.json").write_text(json.dumps(pattern.spec))
    kind = " + ".join(str(params["meta"][key]["v"]) for key in ("upper", "wb", "bottom") if params["meta"][key]["v"])
    (folder / "design.json").write_text(json.dumps({"kind": kind, "seed": seed, "body": body}))
    try:
        pattern = isocloth.read_pattern(folder / "pattern.json")
        pattern.check()
        pattern.findings.raise_if_faulty("pattern")
    except isocloth.Error as error:
        return str(error).splitlines()[-1].strip()[:120]
    return None


def load_program(root):
    """GarmentCode's package and its programs of garments, from a clone."""
    sys.path.insert(0, str(root))
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):  # it draws pictures of patterns, which are not asked for
        sys.modules["cairosvg"] = types.ModuleType("cairosvg")
    here = os.getcwd()
    os.chdir(root)
    import pygarment
    from assets.bodies.body_params import BodyParameters
    from assets.garment_programs.meta_garment import IncorrectElementConfiguration, MetaGarment, TotalLengthError
    os.chdir(here)
    return types.SimpleNamespace(root=root, sampler=pygarment.DesignSampler, body=BodyParameters, garment=MetaGarment,
                                 refusals=(IncorrectElementConfiguration, TotalLengthError))


def dress(folder, body, nodes, seconds, drape, fabric):
    """Imports, sews and drapes; its row."""
    begin = time.process_time()
    row = {**json.loads((folder / "design.json").read_text()), "nodes": 0, "seconds": 0, "opening_mm": None,
           "certified": False, "closed": False, "status": "failed", "cause": ""}
    try:
        done = isocloth.import_pattern(folder / "pattern.json", folder, body=body, nodes=nodes, duration=drape,
                                       fabric={"preset": fabric, "thickness": 0.001}, overwrite=True)
        row["panels"], row["seams"] = len(done.pattern.panels), len(done.pattern.pairs())
        scene = json.loads(done.scene.read_text())  # whatever is missed is counted, not the end
        scene["sewing"]["if_open"] = scene.setdefault("projection", {})["on_violation"] = "continue"
        done.scene.write_text(json.dumps(scene))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        result = isocloth.run(done.scene, folder / "result", threads=1, overwrite=True, certify=True, quiet=True)
        summary = result.summary
        row.update(nodes=summary["node_count"], status=summary["status"], cause=summary["message"][:300],
                   opening_mm=1e3 * summary["seam_opening"], stretch=summary["stretch_p95"],
                   missed=summary["steps_violated"],
                   certified=summary["steps_certified"] > 0 and summary["steps_intersecting"] == 0)
        row["closed"] = row["opening_mm"] < 0.5
    except isocloth.Error as error:
        row["cause"] = " ".join(str(error).split())[:300]
    row["seconds"] = round(time.process_time() - begin, 1)
    return row


def table(folder):
    """``table.md`` of all rows."""
    rows = [json.loads(file.read_text()) for file in sorted(folder.glob("design_*/row.json"))]
    lines = ["| seed | garment | body | panels | seams | nodes | s | open mm | closed | certified | missed | cause |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        opening = "" if row.get("opening_mm") is None else f"{row['opening_mm']:.2f}"
        words = [row["seed"], row["kind"], row["body"], row.get("panels", ""), row.get("seams", ""), row["nodes"],
                 row["seconds"], opening, "yes" if row["closed"] else "no", "yes" if row["certified"] else "no",
                 row.get("missed", ""), row["cause"].replace("|", "/")]
        lines.append("| " + " | ".join(map(str, words)) + " |")
    good = sum(row["closed"] and row["certified"] and row["status"] == "completed" for row in rows)
    lines += ["", f"{good} of {len(rows)} closed, certified and draped."]
    (folder / "table.md").write_text("\n".join(lines) + "\n")
    return lines[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("garmentcode", type=pathlib.Path, help="clone of GarmentCode")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--fabric", default="jersey", help="preset")
    parser.add_argument("--drape", type=float, default=0.5, help="[s] under gravity after sewing")
    parser.add_argument("--seconds", type=int, default=180, help="of processor time for each")
    parser.add_argument("--draw-only", action="store_true", help="write patterns, dress none")
    parser.add_argument("--one", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        folder = options.one
        body = json.loads((folder / "design.json").read_text())["body"]
        row = dress(folder, options.output / f"body_{body}.obj", options.nodes, options.seconds, options.drape,
                    options.fabric)
        (folder / "row.json").write_text(json.dumps(row))
        return
    options.output.mkdir(parents=True, exist_ok=True)
    root = options.garmentcode.resolve()
    for name, scales in BODIES.items():
        file = options.output / f"body_{name}.obj"
        if not file.exists():
            make_body(root / "assets/bodies/mean_all.obj", file, *scales)
    program = load_program(root)
    seed, made, refused = 0, 0, []
    while made < options.designs:
        folder = options.output / f"design_{seed:03d}"
        body = list(BODIES)[made % len(BODIES)]
        if not (folder / "pattern.json").exists() or (folder / "refused").exists():
            folder.mkdir(exist_ok=True)
            why = draw(program, seed, body, folder)
            if why:
                refused.append(f"{seed}: {why}")
                (folder / "refused").write_text(why + "\n")
                seed += 1
                continue
        made, seed = made + 1, seed + 1
        if options.draw_only or (folder / "row.json").exists():
            continue
        code = subprocess.run([sys.executable, __file__, str(root), "-o", str(options.output), "--one", str(folder),
                               "--nodes", str(options.nodes), "--seconds", str(options.seconds), "--drape",
                               str(options.drape), "--fabric", options.fabric]).returncode
        if not (folder / "row.json").exists():
            design = json.loads((folder / "design.json").read_text())
            why = f"more than {options.seconds} s" if code in (-24, -9) else f"ended with {code}"
            row = {**design, "nodes": 0, "seconds": options.seconds, "closed": False, "certified": False,
                   "status": "failed", "cause": why}
            (folder / "row.json").write_text(json.dumps(row))
        elif (folder / "result" / "trajectory.h5").exists():
            with contextlib.suppress(isocloth.Error, ImportError):
                isocloth.render(folder / "result", folder / "picture.png", size=(640, 800))
        print(folder.name, json.loads((folder / "row.json").read_text())["cause"] or "dressed", flush=True)
        print(table(options.output), flush=True)
    (options.output / "refused.txt").write_text("\n".join(refused) + "\n")


if __name__ == "__main__":
    main()
