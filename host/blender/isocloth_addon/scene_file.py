"""What Blender has, as a scene of isocloth: a folder with scene.json and the meshes and motions that it names.

All lengths are metres of the world, z is up, and t = 0 is the first frame of the scene.
"""

import collections
import dataclasses
import json
import pathlib
import re

import numpy

from .errors import AddonError
from .outlines import panel
from .point_cache import write_mdd

PRESETS = ("blanket", "cotton", "denim", "jersey", "lycra", "paper", "polyester", "ponte", "rib_knit", "silk",
           "stretch_denim", "tablecloth", "tricot", "trousers", "wool")
RAMP_FRAMES = 10  # in which pins are brought to a motion that starts elsewhere
STILL = 1e-6  # [m], what moves less is at rest


@dataclasses.dataclass
class Timing:
    """``rate``: frames per second; ``frames``: of the scene, the first included; ``last``: those to be simulated;
    ``steps``: of the engine in a frame."""

    rate: float
    frames: int
    last: int
    steps: int

    @property
    def times(self):
        """Of all frames [s]."""
        return numpy.arange(self.frames) / self.rate


@dataclasses.dataclass
class Fabric:
    """``thickness`` [m], 0: that of the preset; ``pressure`` [Pa] behind the cloth."""

    preset: str = "cotton"
    thickness: float = 0.001
    pressure: float = 0.0


@dataclasses.dataclass
class Cloth:
    """A mesh that is cloth. ``vertices`` [m], shape (n, 3); ``faces``: lists of three or four of them; ``uvs``: by
    corner, shape (corners, 2), along whose first axis the warp runs, or None; ``pinned``: vertices; ``motion``: where
    all are in every frame [m], shape (frames, n, 3), of which that of the pinned ones counts, or None."""

    name: str
    vertices: numpy.ndarray
    faces: list
    fabric: Fabric
    uvs: numpy.ndarray = None
    pinned: list = ()
    motion: numpy.ndarray = None


@dataclasses.dataclass
class Pattern:
    """Curves that are a garment. ``curves``: :class:`outlines.Curve`; ``seams``: (curve, edge, other curve, other
    edge); ``points``: (curve, control point) of those that stay; ``edge_length`` of its mesh [m]."""

    name: str
    curves: list
    seams: list
    points: list
    fabric: Fabric
    edge_length: float


@dataclasses.dataclass
class Body:
    """What cloth meets. ``frames`` [m], shape (1, n, 3) or (frames, n, 3); ``friction``: its coefficient."""

    name: str
    frames: numpy.ndarray
    faces: list
    friction: float


@dataclasses.dataclass
class Written:
    """What was written. ``scene``: path; ``nodes``: of each cloth, the vertices of its mesh in the order of the
    engine's nodes; ``panels``: of each pattern, its :class:`outlines.Panel`; ``driven``: numbers of nodes of bodies
    that are garments. The engine has cloths, bodies and patterns one after another."""

    scene: pathlib.Path
    nodes: list
    driven: list
    panels: list


def write_scene(folder, timing, cloths, bodies, patterns, *, name="scene", gravity=9.81, meets_itself=True,
                friction=0.3):
    """Writes a scene into a folder and returns what :class:`Written` says. gravity [m/s^2] along -z; meets_itself:
    whether cloth meets cloth; friction of cloth with cloth. Raises AddonError."""
    if not cloths and not patterns:
        raise AddonError("found no cloth, expected at least one: select a mesh and make it cloth, or a curve and make "
                         "it a pattern")
    if timing.last < 2:
        raise AddonError(f"found {timing.last} frame, expected at least 2; the last frame comes after the first")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = Names()
    step = 1 / (timing.rate * timing.steps)
    scene = {"name": name, "recipe": "membrane", "step": step, "frame_interval": step * timing.steps,
             "duration": step * timing.steps * (timing.last - 1), "gravity": gravity,
             "projection": {"on_violation": "continue"}, "garments": [], "obstacles": []}
    written = Written(folder / "scene.json", [], [], [])
    for cloth in cloths:
        garment, nodes = _cloth(folder, files.new(cloth.name), timing, cloth)
        scene["garments"].append(garment)
        written.nodes.append(nodes)
    pairs = []
    for body in bodies:
        moves = len(body.frames) > 1 and numpy.ptp(body.frames, axis=0).max() > STILL
        file = files.new(body.name)
        vertices, faces, _, nodes = _used(body.name, body.frames[0], body.faces)
        _write_obj(folder / f"{file}.obj", vertices, faces)
        if not moves and is_closed(faces):
            scene["obstacles"].append({"name": body.name, "shape": {"type": "mesh", "file": f"{file}.obj"},
                                       "friction": {"static": body.friction}})
            continue
        pin = {"name": "surface", "select": {"all": True}}
        if moves:
            write_mdd(folder / f"{file}.mdd", timing.times, body.frames[:, nodes])
            pin["motion"] = {"type": "recorded", "file": f"{file}.mdd"}
        scene["garments"].append({"name": body.name, "mesh": {"file": f"{file}.obj"}, "pins": [pin]})
        written.driven.append(len(nodes))
        pairs.append(body)
    for pattern in patterns:
        garment, panels = _pattern(pattern)
        scene["garments"].append(garment)
        written.panels.append(panels)
    _set_contact(scene, [*cloths, *patterns], pairs, meets_itself, friction)
    written.scene.write_text(json.dumps(scene, indent=1) + "\n", encoding="utf-8")
    return written


class Names:
    """Names of files, distinct in lower case: some systems tell no files apart by more."""

    def __init__(self):
        self._taken = set()

    def new(self, name):
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("._") or "object"
        number, file = 1, plain
        while file.lower() in self._taken:
            number += 1
            file = f"{plain}_{number}"
        self._taken.add(file.lower())
        return file


def _set_contact(scene, cloths, driven, meets_itself, friction):
    """Contact of cloth with cloth where it is asked for, or a body is driven, with the bodies' own friction."""
    thinnest = min(cloth.fabric.thickness for cloth in cloths)
    contact = {"tolerance": thinnest / 5} if thinnest > 0 else {}
    if meets_itself or driven:
        contact |= {"cloth": True, "initial": "separate", "cloth_friction": {"static": friction}}
        pairs = [{"garment": cloth.name, "other_garment": body.name, "static": body.friction}
                 for cloth in cloths for body in driven]
        if pairs:
            contact["pairs"] = pairs
        for body in scene["garments"]:  # they have no thickness of their own
            if "fabric" not in body:
                body["fabric"] = {"thickness": thinnest or 0.001}
    if contact:
        scene["contact"] = contact


def _fabric(fabric):
    if fabric.preset not in PRESETS:
        raise AddonError(f'found the fabric "{fabric.preset}", expected one of {", ".join(PRESETS)}')
    return {"preset": fabric.preset} | ({"thickness": fabric.thickness} if fabric.thickness > 0 else {})


def _cloth(folder, file, timing, cloth):
    vertices, faces, uvs, nodes = _used(cloth.name, cloth.vertices, cloth.faces, cloth.uvs)
    _write_obj(folder / f"{file}.obj", vertices, faces, uvs)
    garment = {"name": cloth.name, "mesh": {"file": f"{file}.obj"}, "fabric": _fabric(cloth.fabric)}
    if cloth.fabric.pressure:
        garment["pressure"] = cloth.fabric.pressure
    number = numpy.full(len(cloth.vertices), -1)
    number[nodes] = numpy.arange(len(nodes))
    pinned = number[list(cloth.pinned)] if len(cloth.pinned) else numpy.zeros(0, int)
    pinned = pinned[pinned >= 0]
    if len(pinned):
        pin = {"name": "pinned", "select": {"nodes": pinned.tolist()}}
        motion = None if cloth.motion is None else cloth.motion[:, nodes]
        if motion is not None and numpy.ptp(motion[:, pinned], axis=0).max() > STILL:
            write_mdd(folder / f"{file}.mdd", timing.times, motion)
            pin["motion"] = {"type": "recorded", "file": f"{file}.mdd"}
            if numpy.abs(motion[0, pinned] - vertices[pinned]).max() > STILL:
                pin["ramp"] = RAMP_FRAMES / timing.rate
        garment["pins"] = [pin]
    return garment, nodes


def _pattern(pattern):
    if not pattern.curves:
        raise AddonError(f"{pattern.name}: found no curve, expected at least one, closed")
    names = [f"{pattern.name} {number + 1}" for number in range(len(pattern.curves))]
    panels = [panel(name, curve) for name, curve in zip(names, pattern.curves)]
    seams = []
    for number, (first, edge, other, other_edge) in enumerate(pattern.seams):
        for curve, k in ((first, edge), (other, other_edge)):
            if not 0 <= curve < len(panels) or not 0 <= k < len(panels[curve].keys["outline"]):
                raise AddonError(f"{pattern.name}: seam {number + 1}: found edge {k + 1} of curve {curve + 1}, which "
                                 "is not there; remove the seam and sew again")
        seams.append({"panel": names[first], "edge": edge, "other_panel": names[other], "other_edge": other_edge})
    mesh = {"panels": [one.keys for one in panels], "edge_length": pattern.edge_length}
    if seams:
        mesh["seams"] = seams
    garment = {"name": pattern.name, "mesh": mesh, "fabric": _fabric(pattern.fabric)}
    if pattern.fabric.pressure:
        garment["pressure"] = pattern.fabric.pressure
    if pattern.points:
        places = [_corner(pattern, *one) for one in pattern.points]
        garment["pins"] = [{"name": "points", "select": {"nearest": places}}]
    return garment, panels


def _corner(pattern, curve, point):
    if curve >= len(pattern.curves) or point >= len(pattern.curves[curve].corners):
        raise AddonError(f"{pattern.name}: found point {point + 1} of curve {curve + 1} as pinned, which is not there; "
                         "pin again")
    return pattern.curves[curve].corners[point].tolist()


def is_closed(faces):
    """Whether every edge has two faces."""
    count = collections.Counter(frozenset((face[k - 1], face[k])) for face in faces for k in range(len(face)))
    return bool(faces) and all(n == 2 for n in count.values())


def _used(name, vertices, faces, uvs=None):
    """Vertices [m] that faces have, those faces, their uvs, and the numbers that these vertices had."""
    if not faces:
        raise AddonError(f"{name}: found no face, expected a surface")
    if not numpy.isfinite(vertices).all():
        raise AddonError(f"{name}: found a vertex that is not finite")
    nodes = numpy.unique([vertex for face in faces for vertex in face])
    number = numpy.full(len(vertices), -1)
    number[nodes] = numpy.arange(len(nodes))
    return numpy.asarray(vertices, float)[nodes], [number[face].tolist() for face in faces], uvs, nodes


def _write_obj(path, vertices, faces, uvs=None):
    lines = ["v {!r} {!r} {!r}".format(*map(float, vertex)) for vertex in vertices]
    corner = 0
    if uvs is not None:
        lines += ["vt {!r} {!r}".format(*map(float, uv)) for uv in uvs]
    for face in faces:
        lines.append("f " + " ".join(f"{vertex + 1}" if uvs is None else f"{vertex + 1}/{corner + k + 1}"
                                     for k, vertex in enumerate(face)))
        corner += len(face)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
