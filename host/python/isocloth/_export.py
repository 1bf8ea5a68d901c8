"""Results for other programs: USD, glTF, point caches of Blender, VTKHDF of ParaView, sequences of OBJ and PLY.

``python -m isocloth export RESULT FILE ...`` does what :func:`export` does. Lengths stay metres and z stays up, which
each format is told; glTF, whose y is up, gets its nodes turned. Positions have single precision, as in the trajectory.
"""

import pathlib
import re
import warnings

import numpy

from ._arguments import shown
from ._export_alembic import write_alembic
from ._library import library
from ._results import Result
from ._surfaces import Animation, garment_surfaces, obstacle_surfaces, resampled
from .errors import Error, FileError

_ROUGHNESS = 0.85  # of woven cloth, in materials


def _identifier(name, taken):
    """A name that USD takes, distinct."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = plain if plain and not plain[0].isdigit() else "_" + plain
    while plain in taken:
        plain += "_"
    taken.add(plain)
    return plain


def _write_usd(path, animation, surfaces, obstacles):
    library("pxr.Usd", "usd-core")
    from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

    path.unlink(missing_ok=True)
    try:
        stage = Usd.Stage.CreateNew(str(path))
    except Tf.ErrorException:  # which quotes its source
        raise FileError(f"export: {path}: cannot be written, or is open as a stage in this program") from None
    UsdGeom.SetStageMetersPerUnit(stage, 1)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetTimeCodesPerSecond(animation.rate)
    stage.SetFramesPerSecond(animation.rate)
    stage.SetStartTimeCode(0)
    codes = [round(float(code), 6) for code in (animation.times - animation.times[0]) * animation.rate]
    stage.SetEndTimeCode(codes[-1])
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/scene").GetPrim())
    taken = {"materials"}
    for surface in surfaces + obstacles:
        name = _identifier(surface.name, taken)
        mesh = UsdGeom.Mesh.Define(stage, f"/scene/{name}")
        material = UsdShade.Material.Define(stage, f"/scene/materials/{name}")
        shader = UsdShade.Shader.Define(stage, f"/scene/materials/{name}/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*surface.linear_color()))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(_ROUGHNESS)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
        mesh.CreateDisplayColorAttr([Gf.Vec3f(*surface.linear_color())])
        mesh.CreateFaceVertexCountsAttr([len(face) for face in surface.faces])
        mesh.CreateFaceVertexIndicesAttr([node for face in surface.faces for node in face])
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        points, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
        if surface.poses is None:
            normals = mesh.CreateNormalsAttr()
            mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
            for frame, positions in zip(codes, surface.positions):
                normals.Set(Vt.Vec3fArray.FromNumpy(surface.normals(positions).astype(numpy.float32)), frame)
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
                                                              UsdGeom.Tokens.faceVarying)
            primvar.Set(Vt.Vec2fArray.FromNumpy(surface.uvs.astype(numpy.float32)))
    stage.GetRootLayer().Save()
    return [path]


def _write_gltf(path, animation, surfaces, obstacles):
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
    frames = len(animation.times)
    times = accessor(animation.times.astype(numpy.float32), gltf.SCALAR, bounds=True) if frames > 1 else None
    for surface in surfaces + obstacles:
        nodes, uvs, triangles = _split_vertices(surface)
        start = (surface.positions[0] if surface.poses is None else surface.positions)[nodes].astype(numpy.float32)
        attributes = gltf.Attributes(POSITION=accessor(start, gltf.VEC3, gltf.ARRAY_BUFFER, bounds=True))
        if surface.is_smooth:  # without them faces are flat (specification 3.7.2.1)
            normals = surface.normals(surface.positions[0])[nodes].astype(numpy.float32)
            attributes.NORMAL = accessor(normals, gltf.VEC3, gltf.ARRAY_BUFFER)
        if uvs is not None:  # v down (specification 3.8.4.4)
            attributes.TEXCOORD_0 = accessor((uvs * [1, -1] + [0, 1]).astype(numpy.float32), gltf.VEC2,
                                             gltf.ARRAY_BUFFER)
        document.materials.append(gltf.Material(
            name=surface.name, doubleSided=True, alphaCutoff=None, pbrMetallicRoughness=gltf.PbrMetallicRoughness(
                baseColorFactor=[*surface.linear_color(), 1.0], metallicFactor=0.0, roughnessFactor=_ROUGHNESS)))
        primitive = gltf.Primitive(attributes=attributes, material=len(document.materials) - 1,
                                   indices=accessor(triangles.astype(numpy.uint32).ravel(), gltf.SCALAR,
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
                {"POSITION": accessor(frame[nodes].astype(numpy.float32) - start, gltf.VEC3, gltf.ARRAY_BUFFER,
                                      bounds=True),
                 "NORMAL": accessor(surface.normals(frame)[nodes].astype(numpy.float32) - normals, gltf.VEC3,
                                    gltf.ARRAY_BUFFER)}
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


def _split_vertices(surface):
    """Of a format in which a vertex has one texture coordinate: the node of each vertex, uvs by vertex or None, and
    triangles of vertices."""
    if surface.uvs is None:
        return numpy.arange(surface.positions.shape[-2]), None, surface.triangles()
    rows = numpy.column_stack([surface.corners(), surface.uvs])
    vertices, vertex_of_corner = numpy.unique(rows, axis=0, return_inverse=True)
    return vertices[:, 0].astype(int), vertices[:, 1:], vertex_of_corner.reshape(-1)[surface.triangle_corners()]


def _single(surfaces, path):
    if len(surfaces) == 1:
        return surfaces[0]
    names = ", ".join(f'"{surface.name}"' for surface in surfaces)
    raise Error(f"export: {path.name}: found {len(surfaces)} garments, expected one in a point cache; choose of "
                f"{names}")


def _write_cache(path, animation, surfaces, _obstacles):
    surface = _single(surfaces, path)
    frames, nodes, _ = surface.positions.shape
    with open(path, "wb") as file:
        if path.suffix.lower() == ".pc2":
            header = numpy.array([1, nodes], dtype="<i4").tobytes() + numpy.array([0, 1], dtype="<f4").tobytes()
            file.write(b"POINTCACHE2\0" + header + numpy.array([frames], dtype="<i4").tobytes())
            file.write(surface.positions.astype("<f4").tobytes())
        else:
            file.write(numpy.array([frames, nodes], dtype=">i4").tobytes() + animation.times.astype(">f4").tobytes())
            file.write(surface.positions.astype(">f4").tobytes())
    topology = path.with_suffix(".obj")
    faces = _obj_faces([surface], with_normals=False)  # which would not follow the cache
    _write_obj(topology, [surface], 0, faces, with_normals=False)
    return [path, topology]


def _plain_name(surface):
    """A name without white space, as lines of OBJ want it."""
    return re.sub(r"\s", "_", surface.name)


def _write_materials(path, surfaces):
    lines = []
    for surface in surfaces:
        color = " ".join(f"{c / 255:.4g}" for c in surface.color)  # of sRGB, as programs read it
        lines += [f"newmtl {_plain_name(surface)}", f"Kd {color}", "Ks 0 0 0", "illum 1"]
    path.write_text("\n".join(lines) + "\n", encoding="ascii", errors="replace")


def _obj_faces(surfaces, materials=None, with_normals=True):
    """Texture coordinates and faces, which are the same in all frames. materials: name of the file that has them."""
    lines, faces, first, texture, normal = [], [], 1, 1, 1
    for surface in surfaces:
        count = surface.positions.shape[-2]
        words = [[str(first + node) for node in face] for face in surface.faces]
        places = None
        if surface.uvs is not None:
            rows, places = numpy.unique(surface.uvs, axis=0, return_inverse=True)
            lines += ["vt {:.9g} {:.9g}".format(*uv) for uv in rows]
            places = (places.reshape(-1) + texture).tolist()
            texture += len(rows)
        has_normals = with_normals and surface.is_smooth
        corner = 0
        if len(surfaces) > 1:
            faces.append("o " + _plain_name(surface))
        if materials is not None:
            faces.append("usemtl " + _plain_name(surface))
        for face, own in zip(surface.faces, words):
            for k, node in enumerate(face):
                if places is not None or has_normals:
                    own[k] += f"/{places[corner + k]}" if places is not None else "/"
                if has_normals:
                    own[k] += f"/{normal + node}"
            corner += len(face)
            faces.append("f " + " ".join(own))
        first += count
        normal += count if has_normals else 0
    return lines + faces


def _write_obj(path, surfaces, number, faces, materials=None, with_normals=True):
    """faces: of :func:`_obj_faces`."""
    lines = []
    for surface in surfaces:
        lines.append("o " + _plain_name(surface))
        if materials is not None and len(lines) == 1:
            lines.append(f"mtllib {materials}")
        points = surface.frame(number)
        lines += ["v {:.9g} {:.9g} {:.9g}".format(*p) for p in points.tolist()]
        if with_normals and surface.is_smooth:
            lines += ["vn {:.6g} {:.6g} {:.6g}".format(*n) for n in surface.normals(points).tolist()]
    path.write_text("\n".join(lines + faces) + "\n", encoding="ascii", errors="replace")


def _write_ply(path, surfaces, number):
    parts = [surface.frame(number) for surface in surfaces]
    kinds = [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("nx", "<f4"), ("ny", "<f4"), ("nz", "<f4"),
             ("red", "u1"), ("green", "u1"), ("blue", "u1")]
    vertices = numpy.empty(sum(map(len, parts)), dtype=kinds)
    faces, first = [], 0
    for surface, points in zip(surfaces, parts):
        own = vertices[first:first + len(points)]
        columns = [*points.T, *surface.normals(points).T, *numpy.array(surface.color)]
        for (name, _), column in zip(kinds, columns):
            own[name] = column
        for face in surface.faces:
            faces.append(bytes([len(face)]) + (numpy.array(face, dtype="<i4") + first).astype("<i4").tobytes())
        first += len(points)
    names = {"<f4": "float", "u1": "uchar"}
    properties = "".join(f"property {names[kind]} {name}\n" for name, kind in kinds)
    header = ("ply\nformat binary_little_endian 1.0\ncomment isocloth, metres, z up\n"
              f"element vertex {len(vertices)}\n{properties}"
              f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
    path.write_bytes(header.encode("ascii") + vertices.tobytes() + b"".join(faces))


def _write_sequence(path, animation, surfaces, obstacles):
    """A file for each frame, numbered where the name has # signs, or before its suffix; of OBJ the materials, too."""
    places = re.search("#+", path.name)
    stem = path.stem.replace(places[0], "") if places else path.stem
    materials = path.with_name((stem.strip("_-. ") or "materials") + ".mtl")
    is_ply = path.suffix.lower() == ".ply"
    faces = None if is_ply else _obj_faces(surfaces + obstacles, materials.name)
    written = []
    for number in range(len(animation.times)):
        if places:
            digits = str(number).zfill(places.end() - places.start())
            name = path.name[:places.start()] + digits + path.name[places.end():]
        else:
            name = f"{path.stem}_{number:04d}{path.suffix}"
        written.append(path.with_name(name))
        if is_ply:
            _write_ply(written[-1], surfaces + obstacles, number)
        else:
            _write_obj(written[-1], surfaces + obstacles, number, faces, materials.name)
    if not is_ply:
        _write_materials(materials, surfaces + obstacles)
        written.insert(0, materials)
    return written


def _write_vtk(path, animation, surfaces, obstacles):
    """VTKHDF, PolyData with steps: all surfaces in one, ``surface`` numbers them."""
    h5py = library("h5py", "h5py")
    everything = surfaces + obstacles
    faces, first = [], 0
    for surface in everything:
        faces += [[first + node for node in face] for face in surface.faces]
        first += len(surface.frame(0))
    frames, points = len(animation.times), first
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
        steps["Values"] = animation.times
        steps["PartOffsets"] = numpy.arange(frames, dtype="i8")
        steps["NumberOfParts"] = numpy.ones(frames, dtype="i8")
        steps["PointOffsets"] = points * numpy.arange(frames, dtype="i8")
        steps["CellOffsets"] = numpy.zeros((frames, 4), dtype="i8")  # faces are the same at all times
        steps["ConnectivityIdOffsets"] = numpy.zeros((frames, 4), dtype="i8")
        steps.create_group("PointDataOffsets")["surface"] = numpy.zeros(frames, dtype="i8")
    return [path]


WRITERS = {".usd": _write_usd, ".usda": _write_usd, ".usdc": _write_usd, ".glb": _write_gltf, ".gltf": _write_gltf,
            ".abc": write_alembic, ".pc2": _write_cache, ".mdd": _write_cache, ".vtkhdf": _write_vtk,
            ".obj": _write_sequence, ".ply": _write_sequence}


def export(result, path, *, garments=None, obstacles=None, frames_per_second=None, colors=None, thickness=None):
    """Writes a result in the format that the suffix of ``path`` says, and returns the paths of what was written.

    =================  ==========================================================================================
    .usd .usda .usdc   meshes with points and normals at every frame, metres, z up, materials, ``st`` (usd-core)
    .glb .gltf         meshes with a morph target for each frame, under a node that turns z up (pygltflib)
    .pc2 .mdd          the point cache of one garment for Blender's Mesh Cache, beside an .obj with its faces
    .abc               meshes with points and normals at every frame, metres, y up (alembic3d)
    .vtkhdf            polygons in steps for ParaView 5.12 and later (h5py)
    .obj .ply          a file for each frame, numbered in the place of ``#`` signs or before the suffix
    =================  ==========================================================================================

    result: a :class:`Result` or its folder. garments: names of those to write; None: all. obstacles: whether to write
    them, too, which needs h5py; None: where the format has room for them and the result is in a folder.

    frames_per_second: of the program that reads it. Frames are those of the result where None, else at that rate, on
    the straight ways between them. A .pc2 knows no time: written at 40 frames per second it plays at 0.6 of its speed
    where there are 24.

    colors: of garments and obstacles by name, each red, green and blue from 0 to 255, or a text as ``#c9705a``; of
    others it is that of linen, where there are several garments one for each, and grey for what is driven. thickness
    [m]: garments get a second side in this distance, and edges between both; None: one side.

    Texture coordinates (``st``) are those of the file of the mesh, also of driven bodies and obstacles, else of what is
    flat at rest its pattern [m]. Normals are those of nodes, of obstacles those of faces.

    >>> sheet = {"step": 0.01, "duration": 0.05, "garments": [
    ...     {"mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.4, 0.4]}}]}
    >>> import isocloth, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = isocloth.run(sheet, folder + "/result", quiet=True)
    ...     [path.name for path in isocloth.export(result, folder + "/sheet.pc2", frames_per_second=24)]
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
    for name in garments if garments is not None else ():
        if name not in result.garments:
            raise Error(f"export: garments: found \"{name}\", expected one of {', '.join(result.garments)}")
    _require_numbers(result, frames_per_second, thickness)
    surfaces = [surface for surface in garment_surfaces(result) if garments is None or surface.name in garments]
    has_room = writer is not _write_cache
    wants = has_room and (result.folder / "trajectory.h5").exists() if obstacles is None else obstacles
    if wants and not has_room:
        raise Error(f"export: {path.name}: found obstacles, expected none in a point cache")
    if not surfaces:
        raise Error(f"export: {result.folder}: found no garment whose positions are kept, expected at least one")
    solids = obstacle_surfaces(result) if wants else []
    _set_colors(surfaces + solids, colors or {})
    animation = _animation(path, result.times, surfaces + solids, frames_per_second)
    if thickness is not None:
        surfaces = [surface if surface.is_body else surface.thickened(thickness) for surface in surfaces]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return writer(path, animation, surfaces, solids)
    except OSError as error:
        raise FileError(f"export: {error.filename or path}: {error.strerror or error}") from None


def _require_numbers(result, rate, thickness):
    for name, value, most in (("frames_per_second", rate, 1e5), ("thickness", thickness, 1.0)):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 < value <= most):
            raise Error(f"export: {name}: found {shown(value)}, expected a number above 0, at most {most:g}")
    if rate is not None and (result.times[-1] - result.times[0]) * rate > 1e5:
        raise Error(f"export: frames_per_second: found {rate:g}, more than 1e5 frames in all, expected less")


def _animation(path, times, surfaces, rate):
    if rate is not None:
        return resampled(times, surfaces, float(rate))
    own = float(1 / (times[1] - times[0])) if len(times) > 1 else 24.0
    steps = numpy.diff(times)
    if path.suffix.lower() in (".pc2", ".abc") and len(steps) > 1 and abs(steps[-1] - steps[0]) > 1e-6 * steps[0]:
        warnings.warn(f"export: {path.name}: the last frame, at {times[-1]:g} s, is left out: frames of a "
                      f"{path.suffix} are {steps[0]:g} s apart; .mdd, .usdc and .glb have times of their own",
                      stacklevel=3)
        times = times[:-1]
        for surface in surfaces:
            if surface.poses is None:
                surface.positions = surface.positions[:-1]
            else:
                surface.poses = surface.poses[:-1]
    if path.suffix.lower() == ".pc2" and len(times) > 1:
        warnings.warn(f"export: {path.name}: has {own:.6g} frames per second, and no time of its own: at another rate "
                      "it plays at another speed; frames_per_second (--fps) is that of the program that reads it",
                      stacklevel=3)
    return Animation(times, own)


def _set_colors(surfaces, colors):
    names = {surface.name: surface for surface in surfaces}
    for name, color in colors.items():
        if name not in names:
            raise Error(f"export: colors: found \"{name}\", expected one of {', '.join(names)}")
        if isinstance(color, str) and re.fullmatch("#[0-9a-fA-F]{6}", color):
            color = [int(color[k:k + 2], 16) for k in (1, 3, 5)]
        if not isinstance(color, (list, tuple)) or len(color) != 3 or not all(
                isinstance(c, int) and 0 <= c <= 255 for c in color):
            raise Error(f"export: colors: {name}: found {shown(color)}, expected three whole numbers from 0 to 255, or "
                        "a text as #c9705a")
        names[name].color = tuple(color)
