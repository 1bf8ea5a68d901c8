"""USD: meshes of a stage with transforms, points over time, UsdSkel and blend shapes."""

import pathlib

import numpy

from ._import import require_file, require_inside
from ._import_aside import read as read_aside
from ._import_aside import work
from ._import_mesh import Mesh
from ._import_source import Source
from ._library import library
from .errors import Error, FileError, MeshError

_SUFFIXES = (".usd", ".usda", ".usdc")


def _clips(layer):
    """Names of the layers that value clips of a layer bring, which composition does not know."""
    sdf = library("pxr.Sdf", "usd-core")
    names = []

    def look(path):
        spec = layer.GetObjectAtPath(path)
        if not isinstance(spec, sdf.PrimSpec) or not spec.HasInfo("clips"):
            return
        for clips in spec.GetInfo("clips").values():
            if clips.get("templateAssetPath"):
                raise FileError(f"{layer.realPath}: {path}: found clips by a template, expected clips by assetPaths")
            named = [*clips.get("assetPaths", ()), clips.get("manifestAssetPath")]
            names.extend(asset.path for asset in named if asset)

    layer.Traverse(sdf.Path.absoluteRootPath, look)
    return names


def _require_layers(path, allow):
    """Every layer that the file brings lies in its folder's tree: before a stage opens them."""
    sdf = library("pxr.Sdf", "usd-core")
    to_read, seen = [pathlib.Path(path)], set()
    while to_read:
        file = to_read.pop()
        if file in seen:
            continue
        seen.add(file)
        require_file(file, "a layer of USD")
        layer = sdf.Layer.FindOrOpen(str(file))
        if layer is None:
            raise FileError(f"{file}: found no layer of USD, expected one")
        named = [*layer.GetCompositionAssetDependencies(), *_clips(layer)]
        for name in filter(None, named):  # without a name it is the layer itself
            other = pathlib.Path(layer.ComputeAbsolutePath(name))
            if other.suffix.lower() not in _SUFFIXES:
                raise FileError(f"{file}: names {name}, expected a layer with the suffix {' '.join(_SUFFIXES)}")
            require_inside(other, path.parent, allow, str(file))
            to_read.append(other)


def _refusal(path, error):
    """What an exception of the library says, as a FileError."""
    try:
        what = " ".join(str(error).split())[:300]
    except UnicodeDecodeError:  # it quotes bytes of the file
        what = "found no valid USD"
    return FileError(f"{path}: {what}")


class _Skins:
    """Skinning of meshes that are bound to skeletons, by their prims."""

    def __init__(self, stage):
        skel = library("pxr.UsdSkel", "usd-core")
        usd = library("pxr.Usd", "usd-core")
        self.stage = stage  # which must outlive what is asked of its prims
        self._skel, self.cache, self.queries = skel, skel.Cache(), {}
        instances = usd.TraverseInstanceProxies()
        for prim in stage.Traverse(instances):
            if not prim.IsA(skel.Root):
                continue
            root = skel.Root(prim)
            self.cache.Populate(root, instances)
            for binding in self.cache.ComputeSkelBindings(root, instances):
                skeleton = self.cache.GetSkelQuery(binding.GetSkeleton())
                for query in binding.GetSkinningTargets():
                    self.queries[query.GetPrim().GetPath()] = (skeleton, query)

    def of(self, prim):
        return self.queries.get(prim.GetPath())

    def placing(self, prim):
        """Whose transform places the mesh: that of the skeleton where joints move it."""
        skin = self.of(prim)
        return prim if skin is None or not skin[1].HasJointInfluences() else skin[0].GetPrim()

    def moves(self, prim):
        skeleton, _ = self.of(prim)
        animation = skeleton.GetAnimQuery()
        return bool(animation) and (animation.JointTransformsMightBeTimeVarying()
                                    or animation.BlendShapeWeightsMightBeTimeVarying())

    def times(self, prim):
        skeleton, _ = self.of(prim)
        animation = skeleton.GetAnimQuery()
        if not animation:
            return []
        return [*animation.GetJointTransformTimeSamples(), *animation.GetBlendShapeWeightTimeSamples()]

    def points(self, prim, points, time):
        """In the space of the skeleton: blend shapes first, then linear blend skinning (UsdSkel's schema)."""
        skeleton, query = self.of(prim)
        animation = skeleton.GetAnimQuery()
        if query.HasBlendShapes() and animation:
            shapes = self._skel.BlendShapeQuery(self._skel.BindingAPI(prim))
            weights = animation.ComputeBlendShapeWeights(time)
            mapper = query.GetBlendShapeMapper()
            if mapper and not mapper.IsNull():
                weights = mapper.Remap(weights)
            weights, _, parts = shapes.ComputeSubShapeWeights(weights)
            offsets, nodes = shapes.ComputeSubShapePointOffsets(), shapes.ComputeBlendShapePointIndices()
            whole = [shapes.GetBlendShapeIndex(part) for part in range(shapes.GetNumSubShapes())]
            for weight, part in zip(weights, parts):
                own = numpy.array(offsets[part], dtype=float).reshape(-1, 3)
                at = numpy.array(nodes[whole[part]], dtype=int)
                if len(at):
                    numpy.add.at(points, at, weight * own)
                elif len(own):
                    points += weight * own
        if not query.HasJointInfluences():
            return None
        vt = library("pxr.Vt", "usd-core")
        moved = vt.Vec3fArray.FromNumpy(numpy.ascontiguousarray(points, dtype=numpy.float32))
        transforms = skeleton.ComputeSkinningTransforms(time)
        if not query.ComputeSkinnedPoints(transforms, moved, time):
            raise MeshError(f"{prim.GetPath()}: found joints and weights that do not belong together")
        return numpy.array(moved, dtype=float)


def _placed(points, transform):
    matrix = numpy.array(transform, dtype=float)  # of rows: p' = p M
    return points @ matrix[:3, :3] + matrix[3, :3]


def _mesh(path, prim, skins, rate, notes):
    geometry, usd = library("pxr.UsdGeom", "usd-core"), library("pxr.Usd", "usd-core")
    mesh = geometry.Mesh(prim)
    name = str(prim.GetPath())
    counts = numpy.array(mesh.GetFaceVertexCountsAttr().Get(usd.TimeCode.EarliestTime()) or [], dtype=int)
    corners = numpy.array(mesh.GetFaceVertexIndicesAttr().Get(usd.TimeCode.EarliestTime()) or [], dtype=int)
    for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
        if attribute.ValueMightBeTimeVarying():
            raise MeshError(f"{name}: found faces that change over time, expected the same in all frames")
    attribute = mesh.GetPointsAttr()
    start = attribute.Get(usd.TimeCode.EarliestTime())
    if not len(counts) or start is None or not len(start):
        notes.append(f"{name}: has no faces and was left out")
        return None, []
    if counts.sum() != len(corners) or counts.min() < 3 or corners.min() < 0 or corners.max() >= len(start):
        raise MeshError(f"{name}: found faces that do not fit to {len(start)} points")
    if mesh.GetHoleIndicesAttr().Get():
        raise MeshError(f"{name}: found holes (holeIndices), expected none")
    faces, at = [], 0
    turned = mesh.GetOrientationAttr().Get() == geometry.Tokens.leftHanded
    placing = geometry.Xformable(skins.placing(prim))
    if numpy.linalg.det(numpy.array(placing.ComputeLocalToWorldTransform(usd.TimeCode.EarliestTime()))[:3, :3]) < 0:
        turned = not turned
    order = []  # of the corners
    for count in counts:
        own = list(range(at, at + count))
        order += own[::-1] if turned else own
        faces.append(tuple(int(corners[i]) for i in order[-count:]))
        at += count
    if mesh.GetSubdivisionSchemeAttr().Get() not in (None, geometry.Tokens.none):
        notes.append(f"{name}: is a subdivision surface; its control mesh is taken as it is")
    skin = skins.of(prim)

    tf = library("pxr.Tf", "usd-core")

    def points(time):
        try:
            return placed_points(time)
        except tf.ErrorException as error:  # values are unpacked when they are asked for
            raise _refusal(path, error) from None

    def placed_points(time):
        code = usd.TimeCode.EarliestTime() if time is None else usd.TimeCode(time * rate)
        found = numpy.array(attribute.Get(code), dtype=float)
        if found.shape != (len(start), 3):
            raise MeshError(f"{name}: found {len(found)} points at {code}, expected {len(start)} as at first")
        if skin is not None:
            skinned = skins.points(prim, found, code)
            if skinned is not None:
                return _placed(skinned, placing.ComputeLocalToWorldTransform(code))
        return _placed(found, mesh.ComputeLocalToWorldTransform(code))

    times = list(attribute.GetTimeSamples()) + (skins.times(prim) if skin else [])
    moves = attribute.ValueMightBeTimeVarying() or (skin is not None and skins.moves(prim))
    above = skins.placing(prim)
    while above and not above.IsPseudoRoot():
        transform = geometry.Xformable(above)
        if transform:
            times += transform.GetTimeSamples()
            moves = moves or transform.TransformMightBeTimeVarying()
        above = above.GetParent()
    return Mesh(prim.GetName(), faces, _uvs(prim, corners, order, len(start), notes), points, moves), times


def _uvs(prim, corners, order, nodes, notes):
    geometry = library("pxr.UsdGeom", "usd-core")
    variables = geometry.PrimvarsAPI(prim)
    for name in ("st", "UVMap", "uv", "map1", "st0"):
        variable = variables.FindPrimvarWithInheritance(name)
        values = variable.ComputeFlattened() if variable and variable.HasValue() else None
        if values is None:
            continue
        values = numpy.array(values, dtype=float)
        kind = variable.GetInterpolation()
        if values.ndim == 2 and values.shape[1] == 2:
            if kind == geometry.Tokens.faceVarying and len(values) == len(corners):
                return values[order]
            if kind in (geometry.Tokens.vertex, geometry.Tokens.varying) and len(values) == nodes:
                return values[corners[order]]
        notes.append(f"{prim.GetPath()}: primvars:{name} does not fit to the faces and was left out")
    return None


def read(path, animation, allow):
    """The :class:`Source` of a file: the meshes of its stage that are drawn. Unit and axis as authored."""
    library("pxr.Usd", "usd-core")
    return read_aside(__name__, path, animation, allow)


def _read(path, animation, allow):
    usd, geometry = library("pxr.Usd", "usd-core"), library("pxr.UsdGeom", "usd-core")
    tf = library("pxr.Tf", "usd-core")
    if animation is not None:
        raise FileError(f"{path}: a stage of USD has one animation, expected no name of one")
    try:
        _require_layers(path, allow)
        stage = usd.Stage.Open(str(path))
        notes = []
        rate = stage.GetTimeCodesPerSecond()
        if not rate > 0:
            raise FileError(f"{path}: timeCodesPerSecond: found {rate:g}, expected more than 0")
        skins = _Skins(stage)
        meshes, times = [], []
        prims = iter(stage.Traverse(usd.TraverseInstanceProxies()))
        for prim in prims:
            if prim.IsA(geometry.PointInstancer):
                notes.append(f"{prim.GetPath()}: is a PointInstancer and was left out with its prototypes")
                prims.PruneChildren()
                continue
            if not prim.IsA(geometry.Mesh):
                if prim.IsA(geometry.Gprim):
                    notes.append(f"{prim.GetPath()}: is a {prim.GetTypeName()}, no mesh, and was left out")
                continue
            drawn = geometry.Imageable(prim)
            if drawn.ComputeVisibility() == geometry.Tokens.invisible or drawn.ComputePurpose() in (
                    geometry.Tokens.guide, geometry.Tokens.proxy):
                notes.append(f"{prim.GetPath()}: is not drawn and was left out")
                continue
            mesh, own = _mesh(path, prim, skins, rate, notes)
            if mesh is not None:
                meshes.append(mesh)
                times += own if mesh.moves else []
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    except Error:
        raise
    except (tf.ErrorException, ArithmeticError, ValueError, TypeError) as error:
        raise _refusal(path, error) from None
    span = (min(times) / rate, max(times) / rate) if times else None
    if span and stage.HasAuthoredTimeCodeRange():
        said = (stage.GetStartTimeCode() / rate, stage.GetEndTimeCode() / rate)
        if said[1] > said[0]:
            span = said
        elif span[1] > span[0]:
            notes.append("startTimeCode to endTimeCode last no time: the animation is that of its samples, "
                         f"{span[0]:g} to {span[1]:g} s")
    unit = geometry.GetStageMetersPerUnit(stage) if geometry.StageHasAuthoredMetersPerUnit(stage) else None
    up = str(geometry.GetStageUpAxis(stage)).lower() if stage.HasAuthoredMetadata(geometry.Tokens.upAxis) else None
    if up not in (None, "x", "y", "z"):
        raise FileError(f'{path}: upAxis: found "{up}", expected Y or Z')
    return Source(meshes, unit, up, span if span and span[1] > span[0] else None, stage.GetFramesPerSecond(), notes)


def _answer(question):
    source = _read(pathlib.Path(question["path"]), question["animation"], question["allow"])
    arrays = {}
    for i, mesh in enumerate(source.meshes):
        if question["times"]:
            if mesh.moves:
                arrays[f"frames{i}"] = numpy.stack([mesh.points(time) for time in question["times"]])
            continue
        arrays[f"sizes{i}"] = numpy.array([len(face) for face in mesh.faces], dtype=int)
        arrays[f"corners{i}"] = numpy.array([node for face in mesh.faces for node in face], dtype=int)
        arrays[f"uvs{i}"] = numpy.zeros((0, 2)) if mesh.uvs is None else mesh.uvs
        arrays[f"points{i}"] = mesh.points(None)
    return {"names": [mesh.name for mesh in source.meshes], "moves": [mesh.moves for mesh in source.meshes],
            "unit": source.unit, "up": source.up, "span": source.span, "rate": source.rate,
            "notes": source.notes}, arrays


if __name__ == "__main__":
    work(_answer, "USD")
