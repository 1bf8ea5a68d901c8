"""Writes the scenes in which cloth meets cloth hard: twist, twist_of_ten_turns, stack_of_fifty, knot,
sleeve_through_cuff, towels_and_balls, sheet_on_sheet, lift_again and sixteen_towels_folded, with the meshes that they need.

    python3 bench/scenes/make_cloth_on_cloth.py                         # bench/scenes, as they are kept
    python3 bench/scenes/make_cloth_on_cloth.py --fine 2 --triangles --only twist knot -o FOLDER

Membranes of cotton, 1 mm thick, steps of 5 ms. Needs numpy.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

COTTON = {"preset": "cotton", "thickness": 0.001, "mass_damping": 0.2}
FRICTION = {"static": 0.3}


def scene(name, duration, garments, **more):
    return {
        "name": name,
        "recipe": "membrane",
        "step": 0.005,
        "duration": duration,
        "frame_interval": 0.025,
        "seed": 1,
        "projection": {"tolerance": 0.005, "on_violation": "continue"},
        "contact": {"cloth": True, "cloth_friction": FRICTION, "tolerance": 0.00025},
        "garments": garments,
        **more,
    }


def sheet(name, nodes, size, args, translation, rotation=None, **more):
    """A grid of so many elements along each side, `args.fine` times as many."""
    counts = [(n - 1) * args.fine + 1 for n in nodes]
    mesh = {"generator": "quad_grid", "nodes": counts, "size": size}
    if args.triangles:
        mesh |= {"generator": "triangle_grid", "diagonals": "alternating"}
    transform = {"translation": [round(x, 5) for x in translation]}
    if rotation:
        transform["rotation"] = [round(x, 3) for x in rotation]
    return {
        "name": name,
        "mesh": mesh,
        "transform": transform,
        "rest_noise": {"normal_deviation": 0.0001},
        "fabric": COTTON,
        **more,
    }


def twisted(name, args, size, nodes, turns, duration, radius, gather):
    """The middle thirds of two opposite edges turn about the line between them, against each other.

    They come together by what a helix of `radius` takes up, L - (L^2 - (r angle)^2)^(1/2), and by `gather` in the first
    half turn [m].
    """
    length, width = size

    def edge(name, way):
        parts = np.linspace(0, 1, 6 * turns + 1)
        angles = 2 * math.pi * turns * parts
        nearer = length - np.sqrt(length**2 - (radius * angles) ** 2) + gather * np.minimum(1, angles / math.pi)
        turn = {
            "type": "keyframes",
            "times": [round(duration * p, 5) for p in parts],
            "rotations_degrees": [[round(way * math.degrees(a) / 2, 3), 0, 0] for a in angles],
            "translations": [[round(-way * n / 2, 5), 0, 0] for n in nearer],
            "center": [0, 0, 0],
        }
        x = way * length / 2
        low, high = [x - 0.001, -width / 6, -0.01], [x + 0.001, width / 6, 0.01]
        return {"name": name, "select": {"box": {"min": low, "max": high}}, "motion": turn}

    pins = [edge("left edge", -1), edge("right edge", 1)]
    return scene(name, duration, [sheet("cloth", nodes, size, args, [-length / 2, -width / 2, 0], pins=pins)])


def twist(args):
    name = "Square of cloth that is twisted by two turns at two opposite edges"
    return twisted(name, args, [0.5, 0.5], [25, 25], 2, 2.0, 0.016, 0.06)


def twist_of_ten_turns(args):
    """A scarf: the threads at the surface of a square would have to grow by half to be wound up so often."""
    name = "Scarf that is twisted by ten turns at its ends"
    return twisted(name, args, [1.5, 0.25], [73, 13], 10, 5.0, 0.012, 0.06)


def stack_of_fifty(args):
    layers, side = 50, 0.25
    rng = np.random.default_rng(1)
    garments = []
    for i in range(layers):
        x, y = rng.uniform(-0.01, 0.01, 2)
        garments.append(
            sheet(f"sheet {i}", [7, 7], [side, side], args, [x - side / 2, y - side / 2, 0.004 + 0.003 * i])
        )
    floor = {"name": "floor", "shape": {"type": "plane"}, "friction": FRICTION}
    return scene("Fifty sheets that fall on a floor", 0.5, garments, obstacles=[floor])


def sheet_on_sheet(args):
    net = sheet("held sheet", [21, 21], [0.5, 0.5], args, [-0.25, -0.25, 0])
    corners = [[x, y, 0] for x in (-0.25, 0.25) for y in (-0.25, 0.25)]
    net["pins"] = [{"name": "corners", "select": {"nearest": corners}}]
    other = sheet("thrown sheet", [17, 17], [0.3, 0.3], args, [-0.12, -0.16, 0.02], [3, 2, 17])
    other["initial_velocity"] = [0, 0, -5]
    return scene("Sheet that is thrown at a sheet held by its corners", 0.25, [net, other])


def sleeve_through_cuff(args):
    """Three nodes of a sleeve's upper rim are drawn up through a cuff, which is held by its upper rim."""
    around, along = 28 * args.fine, 25 * args.fine + 1
    faces = "triangles" if args.triangles else "quads"
    radius, height = 0.045, 0.25
    tip = [radius, 0, height]
    pull = {"type": "keyframes", "times": [0.05, 1.55], "translations": [[0, 0, 0], [0, 0, 0.6]]}
    sleeve = {
        "name": "sleeve",
        "mesh": {
            "generator": "tube",
            "along": along,
            "around": around,
            "radius": radius,
            "height": height,
            "faces": faces,
        },
        "rest_noise": {"normal_deviation": 0.0001},
        "fabric": COTTON,
        "pins": [{"name": "tip", "select": {"sphere": {"center": tip, "radius": 0.009}}, "motion": pull}],
    }
    wide, high = 0.035, 0.05
    cuff = {
        "name": "cuff",
        "mesh": {
            "generator": "tube",
            "along": 5 * args.fine + 1,
            "around": 24 * args.fine,
            "radius": wide,
            "height": high,
            "faces": faces,
        },
        "transform": {"translation": [radius, 0, height + 0.005]},
        "rest_noise": {"normal_deviation": 0.0001},
        "fabric": COTTON,
        "pins": [
            {
                "name": "rim",
                "select": {
                    "box": {
                        "min": [radius - 2 * wide, -2 * wide, height + high],
                        "max": [radius + 2 * wide, 2 * wide, height + high + 0.01],
                    }
                },
            }
        ],
    }
    return scene("Sleeve that is drawn through a cuff by a point of its rim", 1.6, [sleeve, cuff])


def towels_and_balls(args):
    """Five towels and two balls fall into a box without a lid."""
    rng = np.random.default_rng(3)
    side, half = 0.28, 0.17
    towels = []
    for i in range(5):
        turn = rng.normal(size=3)
        turn *= rng.uniform(10, 40) / np.linalg.norm(turn)
        middle = np.array([*rng.uniform(-0.02, 0.02, 2), 0.15 + 0.16 * i])
        corner = middle - turned(turn, np.array([side / 2, side / 2, 0]))
        towels.append(sheet(f"towel {i}", [11, 11], [side, side], args, corner.tolist(), turn.tolist()))
    walls = [{"name": "floor", "shape": {"type": "plane"}, "friction": FRICTION}]
    # Far above the towels: none begins in a wall.
    for name, place, turn in (
        ("left", [-half, 0, 0], [0, 70, 0]),
        ("right", [half, 0, 0], [0, -70, 0]),
        ("front", [0, -half, 0], [-70, 0, 0]),
        ("back", [0, half, 0], [70, 0, 0]),
    ):
        walls.append(
            {
                "name": name,
                "shape": {"type": "plane"},
                "position": place,
                "rotation_degrees": turn,
                "friction": FRICTION,
            }
        )
    balls = [
        {
            "name": f"ball {i}",
            "shape": {"type": "sphere", "radius": 0.04},
            "density": 300,
            "position": [0.05 * (i - 1), 0.03 * (1 - i), 1.0 + 0.12 * i],
            "friction": FRICTION,
        }
        for i in range(2)
    ]
    return scene("Five towels and two balls that fall into a box", 1.1, towels, obstacles=walls, bodies=balls)


def turned(degrees, v):
    """v turned by a rotation vector."""
    angle = math.radians(np.linalg.norm(degrees))
    axis = np.asarray(degrees) / np.linalg.norm(degrees)
    return v * math.cos(angle) + np.cross(axis, v) * math.sin(angle) + axis * axis.dot(v) * (1 - math.cos(angle))


def overhand(length, elements):
    """Nodes of the middle line of an open overhand knot (Shastri's polynomials), evenly along it, and its tangents."""
    t = np.linspace(-2.2, 2.2, 20001)
    line = np.stack([0.012 * (t**5 - 10 * t), 0.1 * (t**3 - 3 * t), 0.06 * (t**4 - 4 * t**2)], axis=1)
    s = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    line *= length / s[-1]
    s *= length / s[-1]
    at = np.linspace(0, length, elements + 1)
    nodes = np.stack([np.interp(at, s, line[:, k]) for k in range(3)], axis=1)
    tangents = np.gradient(nodes, at, axis=0)
    return at, nodes, tangents / np.linalg.norm(tangents, axis=1)[:, None]


def across(at, tangents):
    """The strip's width along a curve: turned about it so that it bends as little as possible within itself.

    Minimises the sum of k^2 (phi - theta)^2 + (c phi')^2, theta the angle of the curvature k in a frame without twist.
    """
    up = np.cross(tangents[0], [0, 1, 0])
    frames = []
    for a in tangents:
        up = up - a * a.dot(up)
        up /= np.linalg.norm(up)
        frames.append((up, np.cross(a, up)))
    bend = np.gradient(tangents, at, axis=0)
    one = np.array([b.dot(f[0]) for b, f in zip(bend, frames)])
    two = np.array([b.dot(f[1]) for b, f in zip(bend, frames)])
    k2, theta = one**2 + two**2, np.unwrap(np.arctan2(two, one), period=np.pi)
    h, c = at[1] - at[0], 0.5
    n = len(at)
    matrix = np.diag(k2 + 1e-9)
    for i in range(n - 1):
        matrix[i : i + 2, i : i + 2] += (c / h) ** 2 * np.array([[1, -1], [-1, 1]])
    phi = np.linalg.solve(matrix, k2 * theta)
    return np.array([-math.sin(p) * f[0] + math.cos(p) * f[1] for p, f in zip(phi, frames)])


def write_knot(args, length, width):
    elements, rows = 200 * args.fine, 2 * args.fine
    at, nodes, tangents = overhand(length, elements)
    sideways = across(at, tangents)
    lines = [
        "# A strip in an open overhand knot, its flat shape as texture coordinates: bench/scenes/make_cloth_on_cloth.py"
    ]
    for j in range(rows + 1):
        for x, b in zip(nodes, sideways):
            lines.append("v {:.6f} {:.6f} {:.6f}".format(*(x + (j / rows - 0.5) * width * b)))
    for j in range(rows + 1):
        for u in at:
            lines.append(f"vt {u:.6f} {j / rows * width:.6f}")
    for j in range(rows):
        for i in range(elements):
            a = 1 + j * (elements + 1) + i
            quad = [a, a + 1, a + elements + 2, a + elements + 1]
            parts = [quad]
            if args.triangles:
                parts = [
                    [quad[k] for k in part] for part in (((0, 1, 2), (0, 2, 3)), ((0, 1, 3), (1, 2, 3)))[(i + j) % 2]
                ]
            lines += ["f " + " ".join(f"{n}/{n}" for n in part) for part in parts]
    (args.output / "knot.obj").write_text("\n".join(lines) + "\n")
    return nodes


def knot(args):
    """A strip in an open overhand knot; its ends are drawn apart until the knot is tight."""
    length, width, way = 1.6, 0.012, 0.41
    nodes = write_knot(args, length, width)
    step = 0.6 * length / 200 / args.fine
    pins = []
    apart = way * (nodes[-1] - nodes[0]) / np.linalg.norm(nodes[-1] - nodes[0])
    for name, end, sign in (("one end", nodes[0], -1), ("other end", nodes[-1], 1)):
        there = [round(sign * float(x), 5) for x in apart]
        motion = {"type": "keyframes", "times": [0.2, 1.6], "translations": [[0, 0, 0], there]}
        pins.append(
            {
                "name": name,
                "select": {"sphere": {"center": [round(float(x), 5) for x in end], "radius": width / 2 + step}},
                "motion": motion,
            }
        )
    strip = {"name": "strip", "mesh": {"file": "knot.obj", "uv_scale": 1}, "fabric": COTTON, "pins": pins}
    return scene("Strip whose ends are drawn apart until its knot is tight", 1.75, [strip])


def folder(name, x, half, holds, more):
    """A gripper that drags a corner of a lying towel, carries it in an arc to the other side, and has `more` keys."""
    arc = [[0, -half * math.cos(a), 0.985 * half * math.sin(a)] for a in np.radians(np.linspace(0, 157.5, 8))]
    keys = [[0, 0, 0], [0, -half, 0], *arc, [0, half, 0.004], *[place for _, place in more]]
    times = [0.2, 1.0, *np.linspace(1.2, 2.6, 8), 2.8, *[time for time, _ in more]]
    return {
        "name": name,
        "region": {"type": "sphere", "radius": 0.02},
        "position": [x, -half, 0.0015],
        "motion": {
            "type": "keyframes",
            "times": [round(float(t), 3) for t in times],
            "translations": [[round(float(c), 4) for c in key] for key in keys],
        },
        "holds": [{"from": begin, "to": end} for begin, end in holds],
    }


def towel_on_table(name, duration, nodes, args, holds, more, **of_garment):
    """A towel of 0.4 m that two grippers drag over a table by half its length and fold onto itself."""
    half = 0.2
    grippers = [folder(name, x, half, holds, more) for name, x in (("left", -half), ("right", half))]
    towel = sheet(
        "towel", [nodes, nodes], [2 * half, 2 * half], args, [-half, -half, 0.0015], grippers=grippers, **of_garment
    )
    table = {
        "name": "table",
        "shape": {"type": "table", "size": [1.2, 1.2], "thickness": 0.03, "rounding": 0.005},
        "friction": FRICTION,
    }
    return scene(name, duration, [towel], obstacles=[table])


def lift_again(args):
    """The fold lies for a while, and both layers are then lifted by the same corners, in two seconds.

    In one, at 0.35 m/s, the layers slap together, and 6 of 1,000 steps miss their tolerance.
    """
    more = [(3.5, [0, 0.2, 0.004]), (5.5, [0, 0.2, 0.35])]
    return towel_on_table(
        "Towel that is folded, let go and lifted again", 6.0, 25, args, [(0.2, 2.9), (3.3, 5.8)], more
    )


def sixteen_towels_folded(args):
    """Their weights and the ways of their grippers differ; each is a world of its own."""
    vary = {
        "fabric.density": {"from": 0.1, "to": 0.5, "sample": "uniform"},
        "grippers[0].motion.translations[9][1]": {"from": 0.1, "to": 0.2, "sample": "uniform"},
        "grippers[1].motion.translations[9][2]": {"from": 0.05, "to": 0.1, "sample": "uniform"},
    }
    return towel_on_table(
        "Sixteen towels that two grippers fold", 3.5, 13, args, [(0.2, 2.9)], [], replicas=16, vary=vary
    )


SCENES = [
    twist,
    twist_of_ten_turns,
    stack_of_fifty,
    sheet_on_sheet,
    sleeve_through_cuff,
    towels_and_balls,
    knot,
    lift_again,
    sixteen_towels_folded,
]


def text(value):
    """JSON with one line for each entry of the scene, of its garments and of theirs."""
    lines = []
    for key, entry in value.items():
        if key in ("garments", "obstacles", "bodies"):
            items = ",\n".join("    " + json.dumps(item) for item in entry)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(entry)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(__file__).parent, help="folder; default: beside this file"
    )
    parser.add_argument("--only", nargs="+", choices=[make.__name__ for make in SCENES], help="of the scenes")
    parser.add_argument("--fine", type=int, default=1, help="so many elements in the place of one, along each side")
    parser.add_argument("--triangles", action="store_true", help="two triangles in the place of each quad")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for make in SCENES:
        if not args.only or make.__name__ in args.only:
            (args.output / f"{make.__name__}.json").write_text(text(make(args)))


if __name__ == "__main__":
    main()
