"""Results for other programs: USD, glTF, point caches of Blender, VTKHDF of ParaView, sequences of OBJ and PLY.

``python -m isocloth export RESULT FILE ...`` does what :func:`export` does. Lengths stay metres and z stays up, which
each format is told; glTF, whose y is up, gets its nodes turned. Positions have single precision, as in the trajectory.
"""

import pathlib
import re
import warnings

import numpy

from ._hdf5 import open_result
from ._library import library
from ._results import Result
from .errors import Error, FileError


class _Surface:
    """A garment, or an obstacle that moves rigidly.

    ``name``; ``faces``: lists of nodes; ``positions`` [m], shape (frames, nodes, 3), of an obstacle (nodes, 3) with
    ``poses``, shape (frames, 7): place and quaternion x, y, z, w; ``uvs``, shape (nodes, 2), of what is flat at rest
    or None.
    """

    def __init__(self, name, faces, positions, uvs=None, poses=None):
        self.name, self.positions, self.uvs, self.poses = name, positions, uvs, poses
        self.faces = [[int(node) for node in face if node >= 0] for face in faces]

    def triangles(self):
        """Shape (triangles, 3); quads are split from corner 0 to corner 2."""
        parts = [face[:1] + face[k:k + 2] for face in self.faces for k in range(1, len(face) - 1)]
        return numpy.array(parts, dtype=numpy.uint32)

    def frame(self, number):
        """Positions of a frame [m], shape (nodes, 3)."""
        return self.positions[number] if self.poses is None else _placed(self.poses[number], self.positions)


def _placed(pose, vertices):
    """Vertices where a pose has them."""
    center, (x, y, z, w) = pose[:3], pose[3:]
    turn = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    return vertices @ turn.T + center


def _surfaces(result):
    surfaces = []
    positions = result.positions
    for name, nodes in result.garments.items():
        inside = (result.faces[:, 0] >= nodes.start) & (result.faces[:, 0] < nodes.stop)
        faces = numpy.where(result.faces[inside] >= 0, result.faces[inside] - nodes.start, -1)
        rest = result.rest_positions[nodes]
        uvs = rest[:, :2] if numpy.ptp(rest[:, 2]) <= 1e-6 * numpy.ptp(rest) else None
        surfaces.append(_Surface(name, faces, positions[:, nodes], uvs))
    return surfaces


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
        return [_obstacle(file, i, name, poses[:, 0, i]) for i, name in enumerate(names)
                if file.has(f"obstacles/{i}/triangles")]


def _obstacle(file, number, name, poses):
    key = f"obstacles/{number}"
    triangles, vertices = file.read(f"{key}/triangles", "iu", 2), file.read(f"{key}/vertices", "f", 2).astype(float)
    if vertices.shape[1] != 3 or not numpy.isfinite(vertices).all():
        file.refuse(f"{key}/vertices", f"the shape {vertices.shape}", "(n, 3) finite numbers")
    if triangles.shape[1] != 3 or (triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices)):
        file.refuse(f"{key}/triangles", f"the shape {triangles.shape}", f"(n, 3) numbers from 0 to {len(vertices) - 1}")
    return _Surface(name, triangles, vertices, poses=poses)


def _identifier(name, taken):
    """A name that USD takes, distinct."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = plain if plain and not plain[0].isdigit() else "_" + plain
    while plain in taken:
        plain += "_"
    taken.add(plain)
    return plain


def _write_usd(path, result, surfaces, obstacles, rate):
    library("pxr.Usd", "usd-core")
    from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

    path.unlink(missing_ok=True)
    try:
        stage = Usd.Stage.CreateNew(str(path))
    except Tf.ErrorException:  # which quotes its source
        raise FileError(f"export: {path}: cannot be written, or is open as a stage in this program") from None
    UsdGeom.SetStageMetersPerUnit(stage, 1)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(0)
    codes = [round(float(code), 6) for code in (result.times - result.times[0]) * rate]
    stage.SetEndTimeCode(codes[-1])
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/scene").GetPrim())
    taken = set()
    for surface in surfaces + obstacles:
        mesh = UsdGeom.Mesh.Define(stage, f"/scene/{_identifier(surface.name, taken)}")
        mesh.CreateFaceVertexCountsAttr([len(face) for face in surface.faces])
        mesh.CreateFaceVertexIndicesAttr([node for face in surface.faces for node in face])
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        points, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
        if surface.poses is None:
            for frame, positions in zip(codes, surface.positions):
                points.Set(Vt.Vec3fArray.FromNumpy(positions.astype(numpy.float32)), frame)
                extent.Set([Gf.Vec3f(*map(float, positions.min(0))), Gf.Vec3f(*map(float, positions.max(0)))], frame)
        else:
            points.Set(Vt.Vec3fArray.FromNumpy(surface.positions.astype(numpy.float32)))
            place = mesh.AddTransformOp()
            moves = numpy.ptp(surface.poses, axis=0).any()
            for frame, (px, py, pz, x, y, z, w) in zip(codes, surface.poses if moves else surface.poses[:1]):
                matrix = Gf.Matrix4d().SetRotate(Gf.Quatd(float(w), float(x), float(y), float(z)))
                matrix.SetTranslateOnly(Gf.Vec3d(float(px), float(py), float(pz)))
                place.Set(matrix, frame if moves else Usd.TimeCode.Default())
        if surface.uvs is not None:
            primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray,
                                                              UsdGeom.Tokens.vertex)
            primvar.Set(Vt.Vec2fArray.FromNumpy(surface.uvs.astype(numpy.float32)))
    stage.GetRootLayer().Save()
    return [path]


def _write_gltf(path, result, surfaces, obstacles, _rate):
    gltf = library("pygltflib", "pygltflib")
    document = gltf.GLTF2(asset=gltf.Asset(version="2.0", generator="isocloth"), scene=0)
    data = bytearray()

    def accessor(values, kind, target=None, bounds=False):
        """Appends an array and returns the number of its accessor."""
        values = numpy.ascontiguousarray(values)
        document.bufferViews.append(gltf.BufferView(buffer=0, byteOffset=len(data), byteLength=values.nbytes,
                                                    target=target))
        data.extend(values.tobytes() + b"\0" * (-values.nbytes % 4))
        one = gltf.UNSIGNED_INT if values.dtype == numpy.uint32 else gltf.FLOAT
        limits = {"min": numpy.atleast_1d(values.min(0)).tolist(),
                  "max": numpy.atleast_1d(values.max(0)).tolist()} if bounds else {}
        count = values.size if kind == gltf.SCALAR else len(values)
        document.accessors.append(gltf.Accessor(bufferView=len(document.bufferViews) - 1, componentType=one,
                                                count=count, type=kind, **limits))
        return len(document.accessors) - 1

    half = float(numpy.sqrt(0.5))
    document.nodes.append(gltf.Node(name="z up", rotation=[-half, 0, 0, half], children=[]))
    document.scenes.append(gltf.Scene(nodes=[0]))
    channels, samplers = [], []
    frames = len(result.times)
    times = accessor(result.times.astype(numpy.float32), gltf.SCALAR, bounds=True) if frames > 1 else None
    for surface in surfaces + obstacles:
        start = (surface.positions[0] if surface.poses is None else surface.positions).astype(numpy.float32)
        attributes = gltf.Attributes(POSITION=accessor(start, gltf.VEC3, gltf.ARRAY_BUFFER, bounds=True))
        if surface.uvs is not None:  # v down (specification 3.8.4.4)
            attributes.TEXCOORD_0 = accessor((surface.uvs * [1, -1] + [0, 1]).astype(numpy.float32), gltf.VEC2,
                                             gltf.ARRAY_BUFFER)
        primitive = gltf.Primitive(attributes=attributes,
                                   indices=accessor(surface.triangles().ravel(), gltf.SCALAR,
                                                    gltf.ELEMENT_ARRAY_BUFFER), targets=None)
        mesh = gltf.Mesh(name=surface.name, primitives=[primitive])
        node = gltf.Node(name=surface.name, mesh=len(document.meshes))
        document.meshes.append(mesh)
        document.nodes[0].children.append(len(document.nodes))
        number = len(document.nodes)
        document.nodes.append(node)

        def animate(kind, output, number=number):
            samplers.append(gltf.AnimationSampler(input=times, output=output, interpolation="LINEAR"))
            channels.append(gltf.AnimationChannel(sampler=len(samplers) - 1,
                                                  target=gltf.AnimationChannelTarget(node=number, path=kind)))

        if surface.poses is not None:
            node.translation, node.rotation = surface.poses[0][:3].tolist(), surface.poses[0][3:].tolist()
            if times is not None and numpy.ptp(surface.poses, axis=0).any():
                animate("translation", accessor(surface.poses[:, :3].astype(numpy.float32), gltf.VEC3))
                animate("rotation", accessor(surface.poses[:, 3:].astype(numpy.float32), gltf.VEC4))
        elif times is not None:
            # A morph target for each frame but the first, on at its time alone.
            primitive.targets = [
                {"POSITION": accessor(frame.astype(numpy.float32) - start, gltf.VEC3, gltf.ARRAY_BUFFER, bounds=True)}
                for frame in surface.positions[1:]]
            mesh.weights = [0.0] * (frames - 1)
            weights = numpy.eye(frames, frames - 1, k=-1, dtype=numpy.float32)
            animate("weights", accessor(weights.ravel(), gltf.SCALAR))
    if channels:
        document.animations.append(gltf.Animation(name="isocloth", channels=channels, samplers=samplers))
    document.buffers.append(gltf.Buffer(byteLength=len(data)))
    document.set_binary_blob(bytes(data))
    if path.suffix.lower() == ".gltf":
        document.convert_buffers(gltf.BufferFormat.DATAURI)
        document.save_json(str(path))
    else:
        document.save_binary(str(path))
    return [path]


def _single(surfaces, path):
    if len(surfaces) == 1:
        return surfaces[0]
    names = ", ".join(f'"{surface.name}"' for surface in surfaces)
    raise Error(f"export: {path.name}: found {len(surfaces)} garments, expected one in a point cache; choose of "
                f"{names}")


def _write_cache(path, result, surfaces, _obstacles, rate):
    surface = _single(surfaces, path)
    frames, nodes, _ = surface.positions.shape
    steps = numpy.diff(result.times)
    is_even = frames < 3 or abs(steps[-1] - steps[0]) <= 1e-6 * steps[0]
    with open(path, "wb") as file:
        if path.suffix.lower() == ".pc2":
            if not is_even:
                warnings.warn(f"export: {path.name}: the last frame, at {result.times[-1]:g} s, is left out: frames of "
                              f"a .pc2 are {steps[0]:g} s apart; .mdd, .usdc and .glb have times of their own",
                              stacklevel=4)
                frames -= 1
            header = numpy.array([1, nodes], dtype="<i4").tobytes() + numpy.array([0, 1], dtype="<f4").tobytes()
            file.write(b"POINTCACHE2\0" + header + numpy.array([frames], dtype="<i4").tobytes())
            file.write(surface.positions[:frames].astype("<f4").tobytes())
        else:
            file.write(numpy.array([frames, nodes], dtype=">i4").tobytes() + result.times.astype(">f4").tobytes())
            file.write(surface.positions.astype(">f4").tobytes())
    topology = path.with_suffix(".obj")
    _write_obj(topology, [surface], 0)
    return [path, topology]


def _write_obj(path, surfaces, number):
    lines, first = [], 1
    for surface in surfaces:
        lines.append("o " + re.sub(r"\s", "_", surface.name))
        lines += ["v {:.9g} {:.9g} {:.9g}".format(*p) for p in surface.frame(number)]
    texture = 1
    for surface in surfaces:
        if surface.uvs is not None:
            lines += ["vt {:.9g} {:.9g}".format(*uv) for uv in surface.uvs]
    for surface in surfaces:
        corner = (lambda node: f"{first + node}") if surface.uvs is None else (
            lambda node: f"{first + node}/{texture + node}")
        lines.append("o " + re.sub(r"\s", "_", surface.name)) if len(surfaces) > 1 else None
        lines += ["f " + " ".join(corner(node) for node in face) for face in surface.faces]
        first += len(surface.frame(number))
        texture += 0 if surface.uvs is None else len(surface.uvs)
    path.write_text("\n".join(lines) + "\n", encoding="ascii", errors="replace")


def _write_ply(path, surfaces, number):
    nodes = numpy.concatenate([surface.frame(number) for surface in surfaces]).astype("<f4")
    faces, first = [], 0
    for surface in surfaces:
        for face in surface.faces:
            faces.append(bytes([len(face)]) + (numpy.array(face, dtype="<i4") + first).astype("<i4").tobytes())
        first += len(surface.frame(number))
    header = ("ply\nformat binary_little_endian 1.0\ncomment isocloth, metres, z up\n"
              f"element vertex {len(nodes)}\nproperty float x\nproperty float y\nproperty float z\n"
              f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
    path.write_bytes(header.encode("ascii") + nodes.tobytes() + b"".join(faces))


def _write_sequence(path, result, surfaces, obstacles, _rate):
    """A file for each frame, numbered where the name has # signs, or before its suffix."""
    write = _write_ply if path.suffix.lower() == ".ply" else _write_obj
    places = re.search("#+", path.name)
    written = []
    for number in range(len(result.times)):
        if places:
            digits = str(number).zfill(places.end() - places.start())
            name = path.name[:places.start()] + digits + path.name[places.end():]
        else:
            name = f"{path.stem}_{number:04d}{path.suffix}"
        written.append(path.with_name(name))
        write(written[-1], surfaces + obstacles, number)
    return written


def _write_vtk(path, result, surfaces, obstacles, _rate):
    """VTKHDF, PolyData with steps: all surfaces in one, ``surface`` numbers them."""
    h5py = library("h5py", "h5py")
    everything = surfaces + obstacles
    faces, first = [], 0
    for surface in everything:
        faces += [[first + node for node in face] for face in surface.faces]
        first += len(surface.frame(0))
    frames, points = len(result.times), first
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF", track_order=True)
        root.attrs["Version"] = numpy.array([2, 0], dtype="i8")
        root.attrs.create("Type", b"PolyData", dtype=h5py.string_dtype("ascii", 8))
        whole = numpy.concatenate([numpy.concatenate([s.frame(i) for s in everything]) for i in range(frames)])
        root["Points"] = whole.astype("f4")
        root["NumberOfPoints"] = numpy.full(frames, points, dtype="i8")
        for name in ("Vertices", "Lines", "Strips", "Polygons"):
            own = faces if name == "Polygons" else []
            group = root.create_group(name)
            group["Connectivity"] = numpy.array([node for face in own for node in face], dtype="i8")
            group["Offsets"] = numpy.concatenate([[0], numpy.cumsum([len(face) for face in own])]).astype("i8")
            group["NumberOfCells"] = numpy.full(frames, len(own), dtype="i8")
            group["NumberOfConnectivityIds"] = numpy.full(frames, sum(map(len, own)), dtype="i8")
        root.create_group("PointData")["surface"] = numpy.concatenate(
            [numpy.full(len(s.frame(0)), i, dtype="i4") for i, s in enumerate(everything)])
        steps = root.create_group("Steps")
        steps.attrs["NSteps"] = numpy.int64(frames)
        steps["Values"] = result.times
        steps["PartOffsets"] = numpy.arange(frames, dtype="i8")
        steps["NumberOfParts"] = numpy.ones(frames, dtype="i8")
        steps["PointOffsets"] = points * numpy.arange(frames, dtype="i8")
        steps["CellOffsets"] = numpy.zeros((frames, 4), dtype="i8")  # faces are the same at all times
        steps["ConnectivityIdOffsets"] = numpy.zeros((frames, 4), dtype="i8")
        steps.create_group("PointDataOffsets")["surface"] = numpy.zeros(frames, dtype="i8")
    return [path]


WRITERS = {".usd": _write_usd, ".usda": _write_usd, ".usdc": _write_usd, ".glb": _write_gltf, ".gltf": _write_gltf,
            ".pc2": _write_cache, ".mdd": _write_cache, ".vtkhdf": _write_vtk, ".obj": _write_sequence,
            ".ply": _write_sequence}


def export(result, path, *, garments=None, obstacles=None):
    """Writes a result in the format that the suffix of ``path`` says, and returns the paths of what was written.

    =================  ==========================================================================================
    .usd .usda .usdc   meshes with points at every frame, metres, z up, ``st`` of what is flat at rest (usd-core)
    .glb .gltf         meshes with a morph target for each frame, under a node that turns z up (pygltflib)
    .pc2 .mdd          the point cache of one garment for Blender's Mesh Cache, beside an .obj with its faces
    .vtkhdf            polygons in steps for ParaView 5.12 and later (h5py)
    .obj .ply          a file for each frame, numbered in the place of ``#`` signs or before the suffix
    =================  ==========================================================================================

    result: a :class:`Result` or its folder. garments: names of those to write; None: all. obstacles: whether to write
    them, too, which needs h5py; None: where the format has room for them and the result is in a folder.

    >>> sheet = {"step": 0.01, "duration": 0.05, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    >>> import isocloth, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = isocloth.run(sheet, folder + "/result", quiet=True)
    ...     [path.name for path in isocloth.export(result, folder + "/sheet.pc2")]
    ['sheet.pc2', 'sheet.obj']
    """
    if not isinstance(result, Result):
        result = Result(result)
    path = pathlib.Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise Error(f"export: {path.name}: found the suffix \"{path.suffix}\", expected one of {' '.join(WRITERS)}")
    if not len(result.times):
        raise Error(f"export: {result.folder}: found no frame, expected at least one")
    surfaces = _surfaces(result)
    for name in garments if garments is not None else ():
        if name not in result.garments:
            raise Error(f"export: garments: found \"{name}\", expected one of {', '.join(result.garments)}")
    if garments is not None:
        surfaces = [surface for surface in surfaces if surface.name in garments]
    has_room = writer is not _write_cache
    wants = has_room and (result.folder / "trajectory.h5").exists() if obstacles is None else obstacles
    if wants and not has_room:
        raise Error(f"export: {path.name}: found obstacles, expected none in a point cache")
    if not surfaces:
        raise Error(f"export: {result.folder}: found no garment whose positions are kept, expected at least one")
    rate = 1 / (result.times[1] - result.times[0]) if len(result.times) > 1 else 24.0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return writer(path, result, surfaces, obstacle_surfaces(result) if wants else [], float(rate))
    except OSError as error:
        raise FileError(f"export: {error.filename or path}: {error.strerror or error}") from None
