"""Meshes of other programs, at rest or moving, as files that scenes name.

``python -m isocloth import FILE -o FOLDER`` does what :func:`import_meshes` does. Lengths become metres and z becomes
up, by what the file says of its units and axes or by what the caller says where it says nothing.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import stat

import numpy

from .errors import Error, FileError, MeshError

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
_UPRIGHT = {"x": [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "y": [[1, 0, 0], [0, 0, -1], [0, 1, 0]], "z": numpy.eye(3)}
MOST_BYTES = 2 << 30  # of a file that is read or written, as the engine has it
EXACT = 1e-5  # [m], distance within which vertices that a program has split are united


@dataclasses.dataclass(frozen=True)
class Imported:
    """What :func:`import_meshes` wrote. ``scene``: path of ``scene.json``; ``meshes``: a dict of each, with ``name``,
    ``role``, ``file``, ``motion`` (or None), ``nodes``, ``faces``; ``unit`` [m] and ``up`` of the file; ``notes``."""

    scene: pathlib.Path
    meshes: list
    unit: float
    up: str
    notes: list


def require_file(path, what):
    """Raises FileError unless it is a regular file of at most 2 GiB: a pipe or a device could be read forever."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise FileError(f"{path}: cannot read {what}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path}: found no regular file, expected {what}")
    if status.st_size > MOST_BYTES:
        raise FileError(f"{path}: found {status.st_size} bytes, expected at most {MOST_BYTES}")


def require_inside(path, folder, allow, source):
    """Raises FileError unless the file lies in the tree of the folder, or of one that is allowed, links followed."""
    real = os.path.realpath(path)
    for root in (folder, *allow):
        if os.path.commonpath([real, os.path.realpath(root)]) == os.path.realpath(root):
            return
    raise FileError(f"{source}: names {path}, which is {real}, expected a file in the tree of "
                    f"{os.path.realpath(folder)}; if it may be read: --allow {os.path.dirname(real)}, in Python allow=")


def _reader(path):
    suffix = path.suffix.lower()
    if suffix in (".glb", ".gltf"):
        from ._import_gltf import read
    elif suffix in (".usd", ".usda", ".usdc"):
        from ._import_usd import read
    elif suffix == ".fbx":
        from ._import_fbx import read
    elif suffix in (".obj", ".ply", ".stl"):
        raise Error(f"import: {path.name}: scenes name {suffix} files as they are; scale, axes and seams are said "
                    "there: transform.scale, transform.rotation and mesh.weld of a garment, shape.scale and "
                    "shape.weld of an obstacle")
    else:
        raise Error(f'import: {path.name}: found the suffix "{path.suffix}", expected one of .glb .gltf .usd .usda '
                    ".usdc .fbx; of others, as .usdz and .abc, make one of these")
    return read


def read_meshes(path, *, animation=None, allow=()):
    """The :class:`Source` of a file."""
    path = pathlib.Path(path)
    read = _reader(path)
    require_file(path, "a file of meshes")
    allow = [allow] if isinstance(allow, (str, os.PathLike)) else list(allow)
    source = read(path, animation, allow)
    if not source.meshes:
        raise MeshError(f"{path}: found no mesh, expected at least one; {'; '.join(source.notes) or 'it is empty'}")
    taken = set()  # in lower case: some systems tell no files apart by more
    for mesh in source.meshes:
        name = mesh.name = re.sub(r"[^A-Za-z0-9_.-]+", "_", str(mesh.name)).strip("._") or "mesh"
        number = 1
        while mesh.name.lower() in taken:
            number += 1
            mesh.name = f"{name}_{number}"
        taken.add(mesh.name.lower())
    return source


def _unit_and_up(path, source, unit, up):
    """Unit [m] and axis, and notes on where the caller knows better than the file."""
    notes = []
    if unit is not None:
        said = UNITS.get(unit, unit)
        try:
            said = float(said)
        except (TypeError, ValueError):
            said = 0.0
        if not 0 < said < numpy.inf:
            raise Error(f'import: unit: found "{unit}", expected one of {" ".join(UNITS)}, or metres as a number > 0')
        if source.unit is not None and not abs(said - source.unit) <= 1e-6 * said:
            notes.append(f"the file says that its unit is {source.unit:g} m; {said:g} m was asked for, and is taken")
        unit = said
    elif source.unit is None:
        raise Error(f"import: {path}: does not say its unit, expected unit (--unit m, cm, mm, in, ft, or metres)")
    elif not 0 < source.unit < numpy.inf:
        raise FileError(f"{path}: found a unit (metersPerUnit, UnitScaleFactor) of {source.unit:g} m, expected more "
                        "than 0; what it is may be said (--unit)")
    if up is not None:
        if up not in _UPRIGHT:
            raise Error(f'import: up: found "{up}", expected x, y or z')
        if source.up not in (None, up):
            notes.append(f"the file says that {source.up} is up; {up} was asked for, and is taken")
    elif source.up is None:
        raise Error(f"import: {path}: does not say which axis is up, expected up (--up y or z)")
    return unit or source.unit, up or source.up, notes


def _times(path, source, rate, begin, end):
    """Of the frames [s], and notes."""
    if source.span is None:
        given = [name for name, value in (("rate", rate), ("from", begin), ("to", end)) if value is not None]
        return None, [f"nothing moves: {' and '.join(given)} count for nothing"] if given else []
    first = source.span[0] if begin is None else begin
    last = source.span[1] if end is None else end
    if not last > first:
        raise Error(f"import: {path}: found the times {first:g} to {last:g} s, expected an end after the begin; its "
                    f"animation lasts from {source.span[0]:g} to {source.span[1]:g} s")
    notes = []
    if rate is None:
        rate = source.rate
        if rate is None:
            rate = 60.0
            notes.append("the file has no frame rate: its animation is sampled 60 times a second (--rate)")
    if not 0 < rate <= 1e5:
        raise Error(f"import: rate: found {rate}, expected a number of frames per second > 0")
    if not (last - first) * rate <= 1e5:
        raise Error(f"import: {path}: found {first:g} to {last:g} s at {rate:g} frames per second, expected at most "
                    "1e5 frames; take fewer (--rate, --from, --to)")
    count = int(numpy.ceil((last - first) * rate - 1e-4))  # times of files have single precision
    return numpy.append(first + numpy.arange(count) / rate, last), notes


class _Shape:
    """A mesh in metres with z up: ``faces``, ``uvs`` by corner or None, ``frames`` [m], shape (frames, nodes, 3)."""

    def __init__(self, mesh, times, unit, up, weld):
        self.name, self.notes = mesh.name, []
        turn = unit * numpy.asarray(_UPRIGHT[up], dtype=float).T
        moves = mesh.moves and times is not None
        used = sorted({node for face in mesh.faces for node in face})
        if not used:
            raise MeshError(f"{mesh.name}: found no face, expected at least one")
        if moves and 12 * len(times) * len(used) > MOST_BYTES:
            raise MeshError(f"{mesh.name}: found {len(times)} frames of {len(used)} nodes, more than {MOST_BYTES} "
                            "bytes; take fewer (--rate, --from, --to)")
        self.frames = numpy.stack([mesh.points(t)[used] @ turn for t in (times if moves else [None])])
        bad = numpy.argwhere(~numpy.isfinite(self.frames).all(-1))
        if len(bad):
            raise MeshError(f"{mesh.name}: frame {bad[0][0]}: found a position of node {used[bad[0][1]]} that is not "
                            "finite")
        number = {node: i for i, node in enumerate(used)}
        self.faces = [tuple(number[node] for node in face) for face in mesh.faces]
        self.uvs = None if mesh.uvs is None else numpy.asarray(mesh.uvs, dtype=float)
        self._weld(weld)
        self._split_polygons()
        # What only rounding moves is at rest.
        if moves and numpy.ptp(self.frames, axis=0).max() <= 1e-7 * max(numpy.ptp(self.frames[0]), 1e-30):
            self.frames = self.frames[:1]

    @property
    def moves(self):
        return len(self.frames) > 1

    def _open_nodes(self):
        """Those on edges of one face, and how many edges have how many."""
        count = collections.Counter()
        for face in self.faces:
            for a, b in zip(face, face[1:] + face[:1]):
                count[min(a, b), max(a, b)] += 1
        return sorted({node for edge, n in count.items() if n == 1 for node in edge}), count

    def is_closed(self):
        return all(n == 2 for n in self._open_nodes()[1].values())

    def _weld(self, distance):
        start = self.frames[0]
        nodes, edges = self._open_nodes()
        if distance is None:
            places = {start[node].tobytes() for node in nodes}
            if len(places) < len(nodes):
                self.notes.append(f"{len(nodes) - len(places)} nodes on open edges lie on others, as where a program "
                                  "has split vertices: --weld unites them")
            return
        most = 0.5 * numpy.mean([numpy.linalg.norm(start[a] - start[b]) for a, b in edges])
        if not 0 <= distance <= most:
            raise MeshError(f"{self.name}: weld: found {distance:g} m, expected 0 to {most:.3g} m, half of the mean "
                            "edge")
        first = numpy.arange(len(start))  # the node that stands for each
        cells = collections.defaultdict(list)
        size = max(distance, 1e-12)
        for node in nodes:
            cell = numpy.floor(start[node] / size).astype(numpy.int64)
            near = [other for offset in numpy.ndindex(3, 3, 3) for other in cells[tuple(cell + offset - 1)]
                    if numpy.linalg.norm(start[node] - start[other]) <= distance]
            if near:
                first[node] = first[min(near)]
            else:
                cells[tuple(cell)].append(node)
        united = numpy.flatnonzero(first != numpy.arange(len(first)))
        if not len(united):
            return
        if self.moves:
            apart = numpy.linalg.norm(self.frames[:, united] - self.frames[:, first[united]], axis=-1)
            frame, worst = numpy.unravel_index(apart.argmax(), apart.shape)
            if apart[frame, worst] > max(2 * distance, EXACT):
                raise MeshError(f"{self.name}: weld: nodes {first[united[worst]]} and {united[worst]} lie together in "
                                f"frame 0 and {apart[frame, worst]:.3g} m apart in frame {frame}; import it without "
                                "weld")
        kept = numpy.flatnonzero(first == numpy.arange(len(first)))
        number = numpy.empty(len(first), dtype=int)
        number[kept] = numpy.arange(len(kept))
        self.frames = self.frames[:, kept]
        faces, corners, corner = [], [], 0
        for face in self.faces:
            new = tuple(int(number[first[node]]) for node in face)
            if len(set(new)) == len(new):
                faces.append(new)
                corners += range(corner, corner + len(face))
            corner += len(face)
        self.notes.append(f"{len(united)} nodes were united with others within {distance:g} m"
                          + (f"; {len(self.faces) - len(faces)} faces vanished" if len(faces) < len(self.faces)
                             else ""))
        self.faces = faces
        self.uvs = None if self.uvs is None else self.uvs[corners]

    def _split_polygons(self):
        """Triangles and quads stay; larger faces become fans of triangles, which need them convex."""
        if all(len(face) <= 4 for face in self.faces):
            return
        faces, corners, corner, count = [], [], 0, 0
        for number, face in enumerate(self.faces):
            if len(face) <= 4:
                faces.append(face)
                corners += range(corner, corner + len(face))
            else:
                count += 1
                p = self.frames[0][list(face)]
                normals = numpy.cross(p[1:-1] - p[0], p[2:] - p[0])
                if (normals @ normals.sum(0) <= 0).any():
                    raise MeshError(f"{self.name}: face {number}: found a polygon of {len(face)} corners that is not "
                                    "convex, expected triangles and quads; triangulate it in the program that made it")
                for k in range(1, len(face) - 1):
                    faces.append((face[0], face[k], face[k + 1]))
                    corners += [corner, corner + k, corner + k + 1]
            corner += len(face)
        self.notes.append(f"{count} faces of more than four corners became triangles")
        self.faces, self.uvs = faces, None if self.uvs is None else self.uvs[corners]

    def write(self, folder, times):
        """NAME.obj of the first frame and, if it moves, NAME.mdd of all."""
        lines = ["v " + " ".join(repr(float(x)) for x in p) for p in self.frames[0]]
        if self.uvs is not None:
            lines += ["vt " + " ".join(repr(float(x)) for x in uv) for uv in self.uvs]
        corner = 0
        for face in self.faces:
            words = [f"{node + 1}/{corner + k + 1}" if self.uvs is not None else str(node + 1)
                     for k, node in enumerate(face)]
            lines.append("f " + " ".join(words))
            corner += len(face)
        (folder / f"{self.name}.obj").write_text("\n".join(lines) + "\n", encoding="ascii")
        if not self.moves:
            return None
        with open(folder / f"{self.name}.mdd", "wb") as file:
            numpy.array([len(times), self.frames.shape[1]], dtype=">i4").tofile(file)
            (times - times[0]).astype(">f4").tofile(file)
            self.frames.astype(">f4").tofile(file)
        return f"{self.name}.mdd"


def _require_room(path, meshes, frames):
    """What moves, all together, before any of its frames is made."""
    size = sum(12 * frames * len({node for face in mesh.faces for node in face}) for mesh in meshes if mesh.moves)
    if size > MOST_BYTES:
        raise MeshError(f"{path}: found {frames} frames of what moves, {size} bytes, expected at most {MOST_BYTES}; "
                        "take fewer frames or meshes (--rate, --from, --to, --mesh)")


ROLES = ("garment", "obstacle", "body")


def _role(shape, roles):
    role = roles.get(shape.name, "body" if shape.moves else "obstacle" if shape.is_closed() else "garment")
    if role == "obstacle" and shape.moves:
        raise MeshError(f"{shape.name}: moves, expected a mesh at rest for an obstacle; make it a body (--body)")
    return role


def _scene(written, duration):
    """Keys of a scene with all of them."""
    fabric = {"preset": "cotton", "thickness": 0.0015}
    scene = {"step": 0.005, "duration": duration, "frame_interval": 0.04, "recipe": "membrane",
             "contact": {"cloth": True, "tolerance": fabric["thickness"] / 5, "cloth_friction": {"static": 0.3}},
             "garments": []}
    for mesh in written:
        if mesh["role"] == "obstacle":
            scene.setdefault("obstacles", []).append(
                {"name": mesh["name"], "shape": {"type": "mesh", "file": mesh["file"]}, "friction": {"static": 0.3}})
            continue
        garment = {"name": mesh["name"], "mesh": {"file": mesh["file"]}, "fabric": fabric}
        if mesh["role"] == "body":
            motion = {"motion": {"type": "recorded", "file": mesh["motion"]}} if mesh["motion"] else {}
            garment["pins"] = [{"name": "skin", "select": {"all": True}, **motion}]
        scene["garments"].append(garment)
    return scene


def import_meshes(path, folder, *, meshes=None, garments=(), obstacles=(), bodies=(), unit=None, up=None, weld=None,
                  rate=None, begin=None, end=None, animation=None, overwrite=False, allow=()):
    """Reads meshes of a glTF 2, USD or FBX file, and writes what scenes read into a folder: for each ``NAME.obj`` with
    texture coordinates, in metres with z up, for one that moves ``NAME.mdd`` with a frame for each time, and
    ``scene.json`` that names them. Returns an :class:`Imported`.

    meshes: names of those to take; none: all. garments, obstacles, bodies: names by what they become; others: what
    moves becomes a body (a garment all of whose nodes are driven, which other cloth meets), what is closed an obstacle,
    what is open a garment.

    unit: ``m``, ``cm``, ``mm``, ``in``, ``ft``, or metres as a number; up: ``x``, ``y`` or ``z``. glTF has metres and
    y; USD and FBX have them in the file, as a rule; where one does not say, these must. What is said here goes before
    what the file says, with a note.

    weld: [m], unites nodes on open edges that lie so near, as programs split vertices where texture coordinates or
    normals have seams (1e-5 is a good number for these); None: not.

    rate: frames per second at which an animation is sampled, between which the engine goes straight; none: that of the
    file, 60 of glTF, which has none. begin, end: [s] of the file; begin is time 0 of the scene. animation: name of one,
    where glTF or FBX have several. Moved are nodes, skins (linear blend skinning) and morph targets, with step, linear
    and cubic spline samplers of glTF; UsdSkel with blend shapes, and points with time samples; skins and blend shapes
    of FBX.

    A file may name others of its folder's tree (buffers of glTF, layers of USD), and with allow, a folder or several,
    those there. overwrite: files that are there.

    Raises :class:`FileError` and :class:`MeshError`, naming file, mesh and what was expected.
    """
    path, folder = pathlib.Path(path), pathlib.Path(folder)
    source = read_meshes(path, animation=animation, allow=allow)
    names = [mesh.name for mesh in source.meshes]
    roles = {}
    for role, given in zip(ROLES, (garments, obstacles, bodies)):
        for name in given:
            if roles.setdefault(name, role) != role:
                raise Error(f'import: {name}: found it as {roles[name]} and as {role}, expected one of them')
    for name in [*(meshes or ()), *roles]:
        if name not in names:
            raise Error(f'import: {path}: found no mesh "{name}", expected one of {", ".join(names)}')
    unit, up, notes = _unit_and_up(path, source, unit, up)
    times, more = _times(path, source, rate, begin, end)
    chosen = [mesh for mesh in source.meshes if meshes is None or mesh.name in meshes]
    if times is not None:
        _require_room(path, chosen, len(times))
        source.prepare(times)
    try:
        shapes = [_Shape(mesh, times, unit, up, weld) for mesh in chosen]
        parts = [(shape, _role(shape, roles)) for shape in shapes]
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    except (ArithmeticError, ValueError, TypeError, KeyError, IndexError) as error:  # of numbers asked for here alone
        if isinstance(error, Error):
            raise
        raise FileError(f"{path}: {type(error).__name__}: {' '.join(str(error).split())[:200]}, expected what its "
                        "format has there") from None
    notes = source.notes + notes + (more if times is None or any(shape.moves for shape in shapes) else [])
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ["scene.json", *(f"{shape.name}.obj" for shape in shapes),
                     *(f"{shape.name}.mdd" for shape in shapes if shape.moves)]:
            if (folder / name).exists() and not overwrite:
                raise FileError(f"{folder / name}: found a file, expected none; --overwrite replaces it")
        for shape, role in parts:
            motion = shape.write(folder, times)
            notes += [f"{shape.name}: {note}" for note in shape.notes]
            if role == "garment" and shape.moves:
                notes.append(f"{shape.name}: as a garment it starts as in the first frame; its motion is beside it")
            low, high = shape.frames.min((0, 1)), shape.frames.max((0, 1))
            written.append({"name": shape.name, "role": role, "file": f"{shape.name}.obj", "motion": motion,
                            "nodes": shape.frames.shape[1], "faces": len(shape.faces), "frames": len(shape.frames),
                            "size": (high - low).tolist()})
        if all(role == "obstacle" for _, role in parts):
            notes.append("scene.json has no garment yet: add one before it is run")
        duration = round(float(times[-1] - times[0]), 6) if any(shape.moves for shape in shapes) else 1
        text = json.dumps(_scene(written, duration), indent=1) + "\n"
        (folder / "scene.json").write_text(text, encoding="utf-8")
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"import: {error.filename or folder}: {error.strerror or error}") from None
    return Imported(folder / "scene.json", written, unit, up, notes)
