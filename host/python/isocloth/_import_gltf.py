"""glTF 2.0 (Khronos Group, specification 2.0.1): meshes of a scene with nodes, skins, morph targets and animations."""

import base64
import bisect
import json
import os
import struct
import urllib.parse

import numpy

from ._import import require_file, require_inside
from ._import_mesh import Mesh
from ._import_source import Source
from .errors import Error, FileError, MeshError

_KINDS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_NUMBERS = {"mesh", "skin", "skeleton", "node", "nodes", "children", "joints", "scene", "buffer", "bufferView", "input",
            "output", "sampler", "indices", "inverseBindMatrices", "POSITION", "TEXCOORD_0",
            *(f"{kind}_{i}" for kind in ("JOINTS", "WEIGHTS") for i in range(8))}  # keys of places in lists
_MOST_NUMBERS = 1 << 28  # of all that a file is read for
_MOST_TRIANGLES = 10_000_000
_KNOWN = {"KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"}  # of those that a file may require


class Document:
    """The JSON of a file, its buffers, and numbers by accessors."""

    def __init__(self, path, allow):
        self.path = path
        content = path.read_bytes()
        self._chunk, self._taken = None, 0
        if content[:4] == b"glTF":
            content = self._binary(content)
        try:
            self.json = json.loads(content)
        except ValueError as error:
            raise FileError(f"{path}: {error}, expected glTF, JSON or GLB") from None
        version = self.json.get("asset", {}).get("version", "") if isinstance(self.json, dict) else ""
        if not str(version).startswith("2."):
            raise FileError(f'{path}: asset.version: found "{version}", expected glTF 2')
        unknown = sorted(set(self.json.get("extensionsRequired", [])) - _KNOWN)
        if unknown:
            raise FileError(f"{path}: requires {', '.join(str(name)[:60] for name in unknown[:5])}, which is not read; "
                            "export without it, as without compression")
        self._require_numbers(self.json, "")
        self.buffers = [self._buffer(i, buffer, allow) for i, buffer in enumerate(self.list("buffers"))]

    def _require_numbers(self, value, where):
        """To Python a place of -1 is the last one."""
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if key in ("extras", "extensions"):
                continue
            path = f"{where}[{key}]" if isinstance(value, list) else f"{where}.{key}".lstrip(".")
            own = item if isinstance(item, list) else [item]
            if key in _NUMBERS and any(isinstance(number, (int, float)) and number < 0 for number in own):
                raise FileError(f"{self.path}: {path}: found {item}, expected a number from 0")
            if isinstance(item, (dict, list)):
                self._require_numbers(item, path)

    def list(self, key):
        return self.json.get(key, [])

    def _binary(self, content):
        if len(content) < 20:
            raise FileError(f"{self.path}: found {len(content)} bytes, expected a GLB file")
        version, length = struct.unpack("<II", content[4:12])
        if version != 2 or length != len(content):
            raise FileError(f"{self.path}: found version {version} and {len(content)} bytes, expected 2 and {length}")
        at, parts = 12, []
        while at + 8 <= length:
            size, kind = struct.unpack("<I4s", content[at:at + 8])
            parts.append((kind, content[at + 8:at + 8 + size]))
            at += 8 + size
        if not parts or parts[0][0] != b"JSON":
            raise FileError(f"{self.path}: found no chunk JSON first, expected one")
        self._chunk = next((part for kind, part in parts[1:] if kind == b"BIN\0"), None)
        return parts[0][1]

    def _buffer(self, number, buffer, allow):
        uri, size = buffer.get("uri"), buffer["byteLength"]
        if uri is None:
            content = self._chunk or b""
        elif uri.startswith("data:"):
            try:
                content = base64.b64decode(uri.partition(",")[2], validate=True)
            except ValueError:
                raise FileError(f"{self.path}: buffers[{number}].uri: found data that is not base64") from None
        else:
            name = urllib.parse.unquote(uri)
            if "\0" in name or urllib.parse.urlparse(uri).scheme:
                raise FileError(f"{self.path}: buffers[{number}].uri: found \"{uri[:60]}\", expected a file beside it")
            file = self.path.parent / name
            require_inside(file, self.path.parent, allow, f"{self.path}: buffers[{number}].uri")
            require_file(file, "a buffer of glTF")
            content = file.read_bytes()
        if len(content) < size:
            raise FileError(f"{self.path}: buffers[{number}]: found {len(content)} bytes, expected {size}")
        return content

    def _numbers(self, view, offset, count, width, kind):
        view = self.list("bufferViews")[view]
        item = numpy.dtype(kind).itemsize * width
        stride = view.get("byteStride", item)
        begin = view.get("byteOffset", 0) + offset
        content = self.buffers[view["buffer"]]
        end = begin + stride * (count - 1) + item if count else begin
        if min(count, begin, offset) < 0 or stride < item or end > len(content):
            raise FileError(f"{self.path}: found {count} items that do not fit into their buffer of {len(content)} "
                            "bytes")
        return numpy.ndarray((count, width), kind, content, begin, (stride, numpy.dtype(kind).itemsize)).copy()

    def _take(self, number, count):
        """A small file may name the same bytes again and again, or none."""
        self._taken += count
        if not 0 <= count <= self._taken <= _MOST_NUMBERS:
            raise FileError(f"{self.path}: accessors[{number}]: found {count} numbers, {self._taken} with those before "
                            f"it, expected at most {_MOST_NUMBERS}")

    def numbers(self, number):
        """Items of an accessor, shape (count, width); normalized integers as float64 (specification 3.6.2.2)."""
        accessor = self.list("accessors")[number]
        kind, width, count = _KINDS[accessor["componentType"]], _WIDTHS[accessor["type"]], accessor["count"]
        if "bufferView" in accessor:
            values = self._numbers(accessor["bufferView"], accessor.get("byteOffset", 0), count, width, kind)
            self._take(number, count * width)
        else:
            self._take(number, count * width)
            values = numpy.zeros((count, width), kind)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            own = sparse["indices"]
            at = self._numbers(own["bufferView"], own.get("byteOffset", 0), sparse["count"], 1,
                               _KINDS[own["componentType"]])[:, 0]
            own = sparse["values"]
            values[at] = self._numbers(own["bufferView"], own.get("byteOffset", 0), sparse["count"], width, kind)
        if accessor.get("normalized") and values.dtype.kind in "iu":
            return numpy.maximum(values.astype(float) / numpy.iinfo(values.dtype).max, -1)
        return values if values.dtype.kind in "iu" else values.astype(float)


class Sampler:
    """Values over time (appendix C): constant before the first key and after the last."""

    def __init__(self, document, sampler, is_rotation, width):
        self.times = document.numbers(sampler["input"])[:, 0]
        self.kind = sampler.get("interpolation", "LINEAR")
        self.is_rotation = is_rotation
        self.late = 1e-5 + 2e-7 * numpy.abs(self.times).max(initial=0)  # keys of single precision, behind their frames
        if self.kind not in ("STEP", "LINEAR", "CUBICSPLINE"):
            raise FileError(f'{document.path}: found the interpolation "{self.kind}", expected STEP, LINEAR or '
                            "CUBICSPLINE")
        if not len(self.times) or (numpy.diff(self.times) <= 0).any():
            raise FileError(f"{document.path}: found times of an animation that do not ascend")
        parts = 3 if self.kind == "CUBICSPLINE" else 1
        values = document.numbers(sampler["output"]).astype(float)
        if values.size != parts * len(self.times) * width:
            raise FileError(f"{document.path}: found {values.size} numbers of an animation, expected "
                            f"{parts * len(self.times) * width}")
        self.values = values.reshape(len(self.times), parts, width)

    def at(self, time):
        times, middle = self.times, self.values.shape[1] // 2
        if self.kind == "STEP":
            return self._unit(self.values[max(bisect.bisect_right(times, time + self.late) - 1, 0), 0])
        if time <= times[0] or len(times) == 1:
            return self._unit(self.values[0, middle])
        if time >= times[-1]:
            return self._unit(self.values[-1, middle])
        k = bisect.bisect_right(times, time) - 1
        length = times[k + 1] - times[k]
        t = (time - times[k]) / length
        if self.kind == "CUBICSPLINE":
            (_, a, out), (into, b, _) = self.values[k], self.values[k + 1]
            return self._unit((2 * t**3 - 3 * t**2 + 1) * a + length * (t**3 - 2 * t**2 + t) * out
                              + (-2 * t**3 + 3 * t**2) * b + length * (t**3 - t**2) * into)
        a, b = self.values[k, 0], self.values[k + 1, 0]
        return _slerp(self._unit(a), self._unit(b), t) if self.is_rotation else (1 - t) * a + t * b

    def _unit(self, value):
        return value / numpy.linalg.norm(value) if self.is_rotation else value


def _slerp(a, b, t):
    """The shorter way from a to b (appendix C.4)."""
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    angle = numpy.arccos(min(cosine, 1.0))
    if angle < 1e-6:
        value = (1 - t) * a + t * b
        return value / numpy.linalg.norm(value)
    return (numpy.sin((1 - t) * angle) * a + numpy.sin(t * angle) * b) / numpy.sin(angle)


def _matrix(translation, rotation, scale):
    x, y, z, w = rotation
    result = numpy.eye(4)
    result[:3, :3] = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]) * scale
    result[:3, 3] = translation
    return result


class Pose:
    """Transforms of nodes and weights of morph targets over time."""

    def __init__(self, document, animation):
        self.document, self.nodes = document, document.list("nodes")
        self.parents = {child: i for i, node in enumerate(self.nodes) for child in node.get("children", ())}
        self.channels, self._worlds, self._at = {}, {}, None
        for channel in (animation or {}).get("channels", ()):
            target = channel["target"]
            node, path = target.get("node"), target["path"]
            if node is None:
                continue
            width = {"translation": 3, "rotation": 4, "scale": 3}.get(path) or len(self.rest_weights(node))
            self.channels[node, path] = Sampler(document, animation["samplers"][channel["sampler"]], path == "rotation",
                                                width)
        span = self.span()
        self.still = span[0] if span and span[1] <= span[0] else None  # when one pose is all of an animation

    def rest_weights(self, number):
        node = self.nodes[number]
        mesh = self.document.list("meshes")[node["mesh"]] if "mesh" in node else {"primitives": [{}]}
        count = len(mesh["primitives"][0].get("targets", ()))
        return node.get("weights") or mesh.get("weights") or [0.0] * count

    def span(self):
        times = [sampler.times for sampler in self.channels.values()]
        return (min(t[0] for t in times), max(t[-1] for t in times)) if times else None

    def chain(self, number):
        """The node and those above it."""
        chain = [number]
        while chain[-1] in self.parents:
            chain.append(self.parents[chain[-1]])
            if len(chain) > len(self.nodes):
                raise FileError(f"{self.document.path}: nodes[{number}]: found a node below itself, expected a tree")
        return chain

    def moves(self, numbers):
        return self.still is None and any((node, path) in self.channels for number in numbers
                                          for node in self.chain(number)
                                          for path in ("translation", "rotation", "scale", "weights"))

    def _local(self, number, time):
        node = self.nodes[number]
        time = self.still if time is None else time
        if "matrix" in node:
            return numpy.array(node["matrix"], dtype=float).reshape(4, 4).T
        rest = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
        translation, rotation, scale = (
            self.channels[number, path].at(time) if time is not None and (number, path) in self.channels
            else numpy.array(node.get(path, rest[path]), dtype=float) for path in rest)
        length = numpy.linalg.norm(rotation)
        if not abs(length - 1) < 0.01:
            raise FileError(f"{self.document.path}: nodes[{number}].rotation: found a length of {length:g}, expected a "
                            "unit quaternion")
        return _matrix(translation, rotation / length, scale)

    def world(self, number, time):
        if self._at != (time,):
            self._worlds, self._at = {}, (time,)  # of all nodes at the last time that was asked for
        above = []
        for node in self.chain(number):
            if node in self._worlds:
                break
            above.append(node)
        for node in reversed(above):
            own = self._local(node, time)
            self._worlds[node] = self._worlds[self.parents[node]] @ own if node in self.parents else own
        return self._worlds[number]

    def weights(self, number, time):
        time = self.still if time is None else time
        if time is not None and (number, "weights") in self.channels:
            return self.channels[number, "weights"].at(time)
        return numpy.array(self.rest_weights(number), dtype=float)


def _triangles(document, primitive, count):
    """Shape (triangles, 3), of nodes of the primitive."""
    mode = primitive.get("mode", 4)
    if mode < 4:
        return None
    nodes = (document.numbers(primitive["indices"])[:, 0].astype(numpy.int64) if "indices" in primitive
             else numpy.arange(count))
    if len(nodes) and nodes.max() >= count:
        raise MeshError(f"{document.path}: found an index {nodes.max()}, expected less than {count}")
    if mode == 4:
        if len(nodes) % 3:
            raise MeshError(f"{document.path}: found {len(nodes)} indices of triangles, expected a multiple of 3")
        return nodes.reshape(-1, 3)
    rest = range(len(nodes) - 2)
    if mode == 5:  # every other triangle of a strip is turned (specification 3.7.2.1)
        turns = [(nodes[i], nodes[i + 1 + i % 2], nodes[i + 2 - i % 2]) for i in rest]
    else:
        turns = [(nodes[i + 1], nodes[i + 2], nodes[0]) for i in rest]
    return numpy.array(turns, dtype=numpy.int64).reshape(-1, 3)


class _Parts:
    """The triangles of a mesh: of all of its primitives, one after another."""

    def __init__(self, document, mesh, notes):
        positions, triangles, uvs, targets, joints, weights = [], [], [], [], [], []
        count = 0
        for primitive in mesh["primitives"]:
            attributes = primitive["attributes"]
            if "POSITION" not in attributes:
                continue
            own = document.numbers(attributes["POSITION"]).astype(float)
            faces = _triangles(document, primitive, len(own))
            if faces is None:
                notes.append(f"{mesh.get('name', 'a mesh')}: points and lines were left out")
                continue
            positions.append(own)
            triangles.append(faces + count)
            count += len(own)
            uvs.append(document.numbers(attributes["TEXCOORD_0"]).astype(float) if "TEXCOORD_0" in attributes else None)
            targets.append([document.numbers(t["POSITION"]).astype(float) if "POSITION" in t else numpy.zeros_like(own)
                            for t in primitive.get("targets", ())])
            sets = [i for i in range(8) if f"JOINTS_{i}" in attributes]
            joints.append([document.numbers(attributes[f"JOINTS_{i}"]) for i in sets])
            weights.append([document.numbers(attributes[f"WEIGHTS_{i}"]).astype(float) for i in sets])
        self.positions = numpy.concatenate(positions) if positions else numpy.zeros((0, 3))
        self.triangles = numpy.concatenate(triangles) if triangles else numpy.zeros((0, 3), dtype=int)
        # Of v down (specification 3.8.4.4), as of the formats of the engine v up.
        self.uvs = (numpy.concatenate(uvs) * [1, -1] + [0, 1]
                    if uvs and all(u is not None for u in uvs) else None)
        if len({len(t) for t in targets}) > 1 or any(len(d) != len(p) for p, t in zip(positions, targets) for d in t):
            raise MeshError(f"{document.path}: found primitives with different morph targets in one mesh")
        self.targets = [numpy.concatenate(parts) for parts in zip(*targets)]
        self.joints, self.weights = None, None
        if most := max((len(own) for own in joints), default=0):
            none = [numpy.zeros((len(p), 4)) for p in positions]
            self.joints, self.weights = (
                numpy.hstack([numpy.concatenate([own[i] if i < len(own) else zero for own, zero in zip(sets, none)])
                              for i in range(most)]) for sets in (joints, weights))
            self.joints = self.joints.astype(int)

    def morphed(self, weights):
        return self.positions + sum((w * target for w, target in zip(weights, self.targets)), numpy.zeros(3))


def _points(document, pose, number, parts):
    """Positions over time of the mesh at a node: morphed, then skinned or placed."""
    node = document.list("nodes")[number]
    if "skin" not in node:
        def placed(time):
            world = pose.world(number, time)
            return parts.morphed(pose.weights(number, time)) @ world[:3, :3].T + world[:3, 3]
        return placed, [number]
    skin = document.list("skins")[node["skin"]]
    bones = skin["joints"]
    if parts.joints is None:
        raise MeshError(f"{document.path}: nodes[{number}]: found a skin but no JOINTS_0, expected both")
    if parts.joints.size and parts.joints[parts.weights > 0].max(initial=0) >= len(bones):
        raise MeshError(f"{document.path}: nodes[{number}]: found a joint beyond the {len(bones)} of its skin")
    inverse = (document.numbers(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
               if "inverseBindMatrices" in skin else numpy.tile(numpy.eye(4), (len(bones), 1, 1)))
    if len(inverse) < len(bones):
        raise MeshError(f"{document.path}: found {len(inverse)} inverse bind matrices, expected {len(bones)}")
    sums = parts.weights.sum(1, keepdims=True)
    if (sums <= 0).any():
        raise MeshError(f"{document.path}: nodes[{number}]: node {int((sums <= 0).argmax())} has no weight of a joint")
    weights, joints = parts.weights / sums, numpy.clip(parts.joints, 0, len(bones) - 1)

    def skinned(time):  # specification 3.7.3.3: the node's own transform does not count
        matrices = numpy.stack([pose.world(bone, time) for bone in bones]) @ inverse[:len(bones)]
        blend = numpy.einsum("nk,nkij->nij", weights, matrices[joints])
        points = parts.morphed(pose.weights(number, time))
        return numpy.einsum("nij,nj->ni", blend[:, :3, :3], points) + blend[:, :3, 3]

    return skinned, [number, *bones]


def _animation(document, name):
    animations = document.list("animations")
    names = [animation.get("name", str(i)) for i, animation in enumerate(animations)]
    if name is not None:
        if name not in names:
            raise Error(f'{document.path}: found no animation "{name}", expected one of {", ".join(names) or "none"}')
        return animations[names.index(name)]
    if len(animations) > 1:
        raise Error(f"{document.path}: found the animations {', '.join(names)}, expected the name of one (--animation)")
    return animations[0] if animations else None


def read(path, animation, allow):
    """The :class:`Source` of a file: the meshes of its default scene. Metres, y up (specification 3.4)."""
    try:
        return _read(path, animation, allow)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, (Error, OSError)):
            raise
        raise FileError(f"{path}: found no valid glTF: {type(error).__name__}: {os.fspath(str(error))[:200]}") from None


def _read(path, animation, allow):
    document = Document(path, allow)
    notes = []
    pose = Pose(document, _animation(document, animation))
    nodes = document.list("nodes")
    scenes = document.list("scenes")
    roots = set(scenes[document.json.get("scene", 0)].get("nodes", ())) if scenes else set(range(len(nodes)))
    meshes, parts, count = [], {}, 0
    for number, node in enumerate(nodes):
        if "mesh" not in node or not roots & set(pose.chain(number)):
            continue
        own = node["mesh"]
        mesh = document.list("meshes")[own]
        if own not in parts:
            parts[own] = _Parts(document, mesh, notes)
        if not len(parts[own].triangles):
            continue
        count += len(parts[own].triangles)
        if count > _MOST_TRIANGLES:
            raise MeshError(f"{path}: found more than {_MOST_TRIANGLES} triangles in all nodes, expected fewer")
        points, movers = _points(document, pose, number, parts[own])
        triangles, uvs = parts[own].triangles, parts[own].uvs
        if "skin" not in node and numpy.linalg.det(pose.world(number, None)[:3, :3]) < 0:
            triangles = triangles[:, ::-1]  # mirrored (specification 3.7.4)
        name = node.get("name") or mesh.get("name") or f"mesh_{number}"
        meshes.append(Mesh(name, [tuple(t) for t in triangles.tolist()],
                           uvs[triangles.ravel()] if uvs is not None else None, points, pose.moves(movers)))
    if pose.still is not None:
        notes.append(f"the animation is one pose, at {pose.still:g} s, which is taken")
    return Source(meshes, 1.0, "y", pose.span() if pose.still is None else None, None, notes)
