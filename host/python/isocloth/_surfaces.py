"""What is written of a result: its garments and obstacles as surfaces with colours, texture coordinates and normals."""

import dataclasses
import json
import os
import pathlib
import warnings

import numpy

from ._fields import GARMENT_COLORS, PLAIN
from ._hdf5 import open_result
from ._import import require_file
from .errors import Error, SceneWarning

SOLID = (170, 166, 158)


class Surface:
    """A garment, or an obstacle that moves rigidly.

    ``name``; ``faces``: lists of nodes; ``positions`` [m], shape (frames, nodes, 3), of an obstacle (nodes, 3) with
    ``poses``, shape (frames, 7): place and quaternion x, y, z, w; ``uvs``, shape (corners, 2), of the corners of all
    faces one after another, or None; ``color``: red, green and blue, 0 to 255, of sRGB; ``is_body``: whether it is
    driven, as obstacles are; ``is_smooth``: whether its normals are those of its nodes, else those of its faces.
    """

    def __init__(self, name, faces, positions, uvs=None, poses=None, color=SOLID, is_body=False):
        self.name, self.positions, self.uvs, self.poses, self.color = name, positions, uvs, poses, color
        self.faces = [[int(node) for node in face if node >= 0] for face in faces]
        self.is_body, self.is_smooth = is_body, poses is None
        parts = [face[:1] + face[k:k + 2] for face in self.faces for k in range(1, len(face) - 1)]
        self._triangles = numpy.array(parts, dtype=numpy.uint32).reshape(-1, 3)

    def triangles(self):
        """Shape (triangles, 3); quads are split from corner 0 to corner 2."""
        return self._triangles

    def triangle_corners(self):
        """Of the triangles, shape (triangles, 3): places of their corners among those of all faces."""
        parts, first = [], 0
        for face in self.faces:
            parts += [(first, first + k, first + k + 1) for k in range(1, len(face) - 1)]
            first += len(face)
        return numpy.array(parts, dtype=int).reshape(-1, 3)

    def corners(self):
        """Nodes of the corners of all faces, shape (corners,)."""
        return numpy.array([node for face in self.faces for node in face], dtype=int)

    def frame(self, number):
        """Positions of a frame [m], shape (nodes, 3)."""
        return self.positions[number] if self.poses is None else placed(self.poses[number], self.positions)

    def normals(self, positions):
        """Unit normals of the nodes, means of those of the faces around by area, shape (nodes, 3)."""
        a, b, c = (positions[self._triangles[:, k]] for k in range(3))
        areas = numpy.tile(numpy.cross(b - a, c - a), (3, 1))
        nodes = self._triangles.T.ravel()
        sums = numpy.stack([numpy.bincount(nodes, areas[:, k], len(positions)) for k in range(3)], axis=1)
        return sums / numpy.maximum(numpy.linalg.norm(sums, axis=1, keepdims=True), 1e-30)

    def linear_color(self):
        """That of a material of USD and glTF, whose numbers are linear (IEC 61966-2-1)."""
        c = numpy.array(self.color) / 255
        return [round(float(x), 6) for x in numpy.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)]

    def thickened(self, thickness):
        """The two sides of the cloth, half of the thickness [m] on either side of it, and what joins them at its edges.
        Nodes of the back come after those of the front."""
        count = self.positions.shape[1]
        offsets = numpy.stack([0.5 * thickness * self.normals(points) for points in self.positions])
        edges, first = {}, 0
        for face in self.faces:
            for k in range(len(face)):
                a, b = face[k], face[(k + 1) % len(face)]
                if (b, a) in edges:
                    del edges[b, a]
                else:
                    edges[a, b] = (first + k, first + (k + 1) % len(face))
            first += len(face)
        rims = [[b, a, a + count, b + count] for a, b in edges]
        faces = self.faces + [[node + count for node in reversed(face)] for face in self.faces] + rims
        uvs = self.uvs
        if uvs is not None:
            ends = numpy.cumsum([len(face) for face in self.faces])
            backs = [uvs[end - len(face):end][::-1] for end, face in zip(ends, self.faces)]
            uvs = numpy.concatenate([uvs, *backs, *(uvs[[b, a, a, b]] for a, b in edges.values())])
        sides = numpy.concatenate([self.positions + offsets, self.positions - offsets], axis=1)
        return Surface(self.name, faces, sides, uvs, None, self.color)


def placed(pose, vertices):
    """Vertices where a pose has them."""
    center, (x, y, z, w) = pose[:3], pose[3:]
    turn = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    return vertices @ turn.T + center


def garment_surfaces(result):
    """Garments of a result whose positions are kept: one in the colour of linen, several in colours of their own."""
    given = _given_garments(result)
    uvs_of = _file_uvs(result, given)
    bodies = [_is_driven(garment) for garment in given]
    is_known = len(bodies) >= len(result.garments)
    own = sum(1 for number in range(len(result.garments)) if not (is_known and bodies[number]))
    surfaces, taken = [], 0
    for number, (name, nodes) in enumerate(result.garments.items()):
        inside = (result.faces[:, 0] >= nodes.start) & (result.faces[:, 0] < nodes.stop)
        faces = numpy.where(result.faces[inside] >= 0, result.faces[inside] - nodes.start, -1)
        is_body = is_known and bodies[number]
        color = SOLID if is_body else PLAIN if own == 1 else tuple(GARMENT_COLORS[taken % len(GARMENT_COLORS)].tolist())
        taken += not is_body
        surface = Surface(name, faces, result.positions[:, nodes], None, None, color, is_body)
        rest, uvs = result.rest_positions[nodes], uvs_of.get(number)
        if uvs is not None and uvs.shape[:2] == faces.shape:
            surface.uvs = uvs[faces >= 0]
        elif numpy.ptp(rest[:, 2]) <= 1e-6 * numpy.ptp(rest):
            surface.uvs = rest[surface.corners(), :2]
        surfaces.append(surface)
    return surfaces


def _content(result):
    """The scene of a result, or nothing where its file is not there or is no scene."""
    try:
        content = json.loads((pathlib.Path(result.folder) / "scene.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _given_garments(result):
    """Keys of the garments of a result, those of replicas as often; as many as it has, or fewer."""
    given, count = [], len(result.garments)
    for garment in _dicts(_content(result).get("garments")):
        replicas = garment.get("replicas", 1)
        given += [garment] * (min(replicas, count - len(given)) if isinstance(replicas, int) else 1)
    return given


def _dicts(values):
    """Those of a list, which somebody else may have written."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _is_driven(garment):
    selections = _dicts([pin.get("select") for pin in _dicts(garment.get("pins"))])
    return any(select.get("all") is True for select in selections)


def _file_uvs(result, given):
    """Texture coordinates of garments that have a mesh file, shape (faces, 4, 2), by their number. Only the engine
    knows which corner is which after seams were united."""
    from ._simulation import Simulation

    numbers = [number for number, garment in enumerate(given) if any("file" in mesh for mesh in _dicts(
        [garment.get("mesh")]))]
    if not numbers:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)
            simulation = Simulation(result.folder / "scene.json", allow="/")  # as the run was
    except Error:  # its files are gone
        return {}
    return {number: simulation.corner_uvs(number) for number in numbers}


def obstacle_surfaces(result):
    """Obstacles of a result folder, as surfaces."""
    result.require_folder("export: obstacles")
    with open_result(result.folder / "trajectory.h5") as file:
        if not file.has("obstacles/name"):
            return []
        names = file.texts("obstacles/name")
        poses = file.read("obstacles/poses", "f", 4).astype(float)
        frames = len(result.times)
        if len(poses) < frames or poses.shape[1] < 1 or poses.shape[2:] != (len(names), 7):
            file.refuse("obstacles/poses", f"the shape {poses.shape}", f"({frames}, 1 or more, {len(names)}, 7)")
        if not numpy.isfinite(poses).all():
            file.refuse("obstacles/poses", "a number that is not finite", "finite numbers")
        surfaces = [_obstacle(file, i, name, poses[:frames, 0, i]) for i, name in enumerate(names)
                    if file.has(f"obstacles/{i}/triangles")]
    files = {obstacle.get("name"): shape.get("file") for obstacle in _dicts(_content(result).get("obstacles"))
             for shape in _dicts([obstacle.get("shape")])}
    for surface in surfaces:
        if isinstance(files.get(surface.name), str):
            surface.uvs = _obj_uvs(os.path.join(result.folder, files[surface.name]), surface)
    return surfaces


def _obstacle(file, number, name, poses):
    key = f"obstacles/{number}"
    triangles, vertices = file.read(f"{key}/triangles", "iu", 2), file.read(f"{key}/vertices", "f", 2).astype(float)
    if vertices.shape[1] != 3 or not numpy.isfinite(vertices).all():
        file.refuse(f"{key}/vertices", f"the shape {vertices.shape}", "(n, 3) finite numbers")
    if triangles.shape[1] != 3 or (triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices)):
        file.refuse(f"{key}/triangles", f"the shape {triangles.shape}", f"(n, 3) numbers from 0 to {len(vertices) - 1}")
    return Surface(name, triangles, vertices, poses=poses, is_body=True)


def _obj_uvs(path, surface):
    """Texture coordinates of an OBJ file by corner, shape (corners, 2), where its triangles are those of a surface:
    None where they are not, as after vertices were united, or where a corner has none."""
    places, corners = [], []
    try:
        if not path.lower().endswith(".obj"):
            return None
        require_file(path, "a mesh")
        with open(path, encoding="utf-8-sig", errors="replace") as lines:
            for line in lines:
                words = line.split()
                if words[:1] == ["vt"]:
                    places.append([float(words[1]), float(words[2])])
                elif words[:1] == ["f"]:
                    face = [word.split("/") for word in words[1:]]
                    corners += [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
        nodes = [[int(corner[0]) for corner in triangle] for triangle in corners]
        numbers = numpy.array([int(corner[1]) for triangle in corners for corner in triangle])
        if not numpy.array_equal(numpy.array(nodes).reshape(-1, 3) - 1, surface.triangles()) or numbers.min() < 1:
            return None
        uvs = numpy.array(places)[numbers - 1]
    except (OSError, ValueError, IndexError, OverflowError):
        return None
    return uvs if numpy.isfinite(uvs).all() else None


@dataclasses.dataclass
class Animation:
    """``times`` of the frames [s], shape (frames,), and ``rate``, frames per second of those that are evenly apart."""

    times: numpy.ndarray
    rate: float


def resampled(times, surfaces, rate):
    """The :class:`Animation` at a rate, from the first time on, on the straight ways between frames; orientations of
    obstacles go with them by normalised quaternions. Changes the surfaces."""
    count = int(numpy.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    new = times[0] + numpy.arange(count) / rate
    after = numpy.clip(numpy.searchsorted(times, new), 1, max(1, len(times) - 1))
    before = after - 1
    after = numpy.minimum(after, len(times) - 1)
    span = times[after] - times[before]
    share = numpy.clip(numpy.where(span > 0, (new - times[before]) / numpy.where(span > 0, span, 1), 0), 0, 1)
    for surface in surfaces:
        if surface.poses is None:
            s = share[:, None, None]
            surface.positions = (1 - s) * surface.positions[before] + s * surface.positions[after]
            continue
        first, second = surface.poses[before], surface.poses[after].copy()
        second[(first[:, 3:] * second[:, 3:]).sum(1) < 0, 3:] *= -1  # the shorter way
        poses = (1 - share[:, None]) * first + share[:, None] * second
        poses[:, 3:] /= numpy.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        surface.poses = poses
    return Animation(new, rate)
