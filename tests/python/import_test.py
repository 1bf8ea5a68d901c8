"""Meshes of glTF, USD and FBX as files of scenes: places by closed forms, written by the formats' own libraries."""

import base64
import json
import os
import struct

import isocloth
import numpy
import pytest
from isocloth._import import read_meshes

SINGLE = 1e-6  # [m], of single precision at about a metre
HALF = 2 ** -0.5


def quaternion(axis, angle):
    return [*(numpy.sin(angle / 2) * numpy.asarray(axis, dtype=float)), float(numpy.cos(angle / 2))]


class Gltf:
    """A document of pygltflib that is filled array by array."""

    def __init__(self):
        self.lib = pytest.importorskip("pygltflib")
        self.doc = self.lib.GLTF2(asset=self.lib.Asset(version="2.0"), scene=0, scenes=[self.lib.Scene(nodes=[])])
        self.bytes = b""

    def add(self, values, kind="f4", normalized=False):
        values = numpy.asarray(values, dtype="<" + kind)
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.doc.bufferViews.append(self.lib.BufferView(buffer=0, byteOffset=len(self.bytes), byteLength=values.nbytes))
        width = {(): "SCALAR", (2,): "VEC2", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}[values.shape[1:]]
        codes = {"f4": 5126, "u1": 5121, "i1": 5120, "u2": 5123, "i2": 5122, "u4": 5125}
        self.doc.accessors.append(self.lib.Accessor(bufferView=len(self.doc.bufferViews) - 1, componentType=codes[kind],
                                                    count=len(values), type=width, normalized=normalized))
        self.bytes += values.tobytes()
        return len(self.doc.accessors) - 1

    def mesh(self, primitives, **keys):
        self.doc.meshes.append(self.lib.Mesh(primitives=primitives, **keys))
        return len(self.doc.meshes) - 1

    def primitive(self, positions, faces=None, targets=(), mode=4, **attributes):
        names = {"POSITION": self.add(positions), **attributes}
        return self.lib.Primitive(
            attributes=self.lib.Attributes(**names), mode=mode, targets=[{"POSITION": self.add(t)} for t in targets],
            indices=None if faces is None else self.add(numpy.ravel(faces), "u2"))

    def node(self, root=True, **keys):
        self.doc.nodes.append(self.lib.Node(**keys))
        if root:
            self.doc.scenes[0].nodes.append(len(self.doc.nodes) - 1)
        return len(self.doc.nodes) - 1

    def animate(self, name, *channels):
        """channels: node, path, times, values, interpolation"""
        samplers, links = [], []
        for node, path, times, values, kind in channels:
            samplers.append(self.lib.AnimationSampler(input=self.add(times), output=self.add(values),
                                                      interpolation=kind))
            links.append(self.lib.AnimationChannel(sampler=len(samplers) - 1, target=self.lib.AnimationChannelTarget(
                node=node, path=path)))
        self.doc.animations.append(self.lib.Animation(name=name, samplers=samplers, channels=links))

    def save(self, path):
        self.doc.buffers = [self.lib.Buffer(byteLength=len(self.bytes))]
        self.doc.set_binary_blob(self.bytes)
        if path.suffix == ".gltf":
            self.doc.convert_buffers(self.lib.BufferFormat.DATAURI)
        self.doc.save(str(path))
        return path


SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
SQUARE_FACES = [[0, 1, 2], [0, 2, 3]]


def read_obj(path):
    lines = [line.split() for line in path.read_text().splitlines()]
    points = numpy.array([[float(x) for x in line[1:]] for line in lines if line[0] == "v"])
    uvs = numpy.array([[float(x) for x in line[1:]] for line in lines if line[0] == "vt"])
    faces = [[int(word.split("/")[0]) - 1 for word in line[1:]] for line in lines if line[0] == "f"]
    return points, uvs, faces


def read_mdd(path):
    raw = path.read_bytes()
    frames, nodes = struct.unpack(">ii", raw[:8])
    numbers = numpy.frombuffer(raw, ">f4", offset=8).astype(float)
    return numbers[:frames], numbers[frames:].reshape(frames, nodes, 3)


def upright(points):
    """From y up to z up."""
    x, y, z = numpy.moveaxis(numpy.asarray(points, dtype=float), -1, 0)
    return numpy.stack([x, -z, y], -1)


def check_quietly(path):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return isocloth.Simulation(path)


def test_gltf_is_placed_in_metres_with_z_up(tmp_path):
    gltf = Gltf()
    uv = gltf.add([[0, 0], [1, 0], [1, 1], [0, 1]])
    mesh = gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES, TEXCOORD_0=uv)])
    child = gltf.node(False, name="a sheet", mesh=mesh, scale=[2, 2, 2])
    gltf.node(name="stand", translation=[1, 2, 3], rotation=quaternion([0, 1, 0], numpy.pi / 2), children=[child])
    for suffix in ("glb", "gltf"):
        folder = tmp_path / suffix
        done = isocloth.import_meshes(gltf.save(tmp_path / f"a.{suffix}"), folder)
        points, uvs, faces = read_obj(folder / "a_sheet.obj")
        # Twice as large, about y by 90 degrees: x goes to -z; then up.
        world = [[1, 2, 3 - 2 * x] for x, _, _ in SQUARE] + numpy.array([[0, 2 * y, 0] for _, y, _ in SQUARE])
        numpy.testing.assert_allclose(points, upright(world), atol=SINGLE)
        assert faces == SQUARE_FACES and len(uvs) == 6
        numpy.testing.assert_allclose(uvs[:3], [[0, 1], [1, 1], [1, 0]])  # v of glTF goes down
        assert done.unit == 1 and done.up == "y" and done.meshes[0]["role"] == "garment" and not done.notes
        assert len(check_quietly(done.scene).positions()) == 4


def test_units_and_axes_are_said(tmp_path):
    gltf = Gltf()
    gltf.node(name="s", mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]))
    path = gltf.save(tmp_path / "a.glb")
    done = isocloth.import_meshes(path, tmp_path / "out", unit="cm", up="z")
    numpy.testing.assert_allclose(read_obj(tmp_path / "out/s.obj")[0], numpy.array(SQUARE) * 0.01)
    assert [note.split(";")[0] for note in done.notes] == [
        "the file says that its unit is 1 m", "the file says that y is up"]
    for options, message in (({"unit": "furlong"}, 'unit: found "furlong", expected one of m dm cm'),
                             ({"unit": -1}, 'unit: found "-1"'), ({"up": "w"}, 'up: found "w", expected x, y or z'),
                             ({"meshes": ["t"]}, 'found no mesh "t", expected one of s'),
                             ({"rate": 0, "overwrite": True}, None), ({}, "scene.json: found a file, expected none")):
        if message is None:
            isocloth.import_meshes(path, tmp_path / "out", **options)  # nothing moves: no rate is needed
            continue
        with pytest.raises(isocloth.Error, match=message.replace(".", "[.]")):
            isocloth.import_meshes(path, tmp_path / "out", **options)


def strip_with_skin(gltf, **options):
    """A strip along y from 0 to 2 whose upper bone, at y = 1, turns about z by 90 degrees in a second."""
    y = numpy.repeat(numpy.linspace(0, 2, 9), 2)
    points = numpy.column_stack([numpy.tile([-0.1, 0.1], 9), y, 0 * y])
    faces = [[2 * i, 2 * i + 1, 2 * i + 3] for i in range(8)] + [[2 * i, 2 * i + 3, 2 * i + 2] for i in range(8)]
    upper = numpy.clip(y - 0.5, 0, 1)
    joints = gltf.add(numpy.tile([0, 1, 0, 0], (18, 1)), "u1")
    weights = numpy.column_stack([1 - upper, upper, 0 * y, 0 * y])
    weights = gltf.add(numpy.round(weights * 255), "u1", True) if options.get("bytes") else gltf.add(weights)
    primitive = gltf.primitive(points, faces, JOINTS_0=joints, WEIGHTS_0=weights)
    inverse = numpy.stack([numpy.eye(4), numpy.eye(4)])
    inverse[1, 3, 1] = -1  # columns first: the bone stands at y = 1
    top = gltf.node(False, translation=[0, 1, 0])
    bottom = gltf.node(name="hip", children=[top])
    gltf.doc.skins.append(gltf.lib.Skin(joints=[bottom, top], inverseBindMatrices=gltf.add(inverse)))
    # The place of the node of a skinned mesh does not count.
    gltf.node(name="strip", mesh=gltf.mesh([primitive]), skin=0, translation=[5, 5, 5])
    return points, upper, bottom, top


def blended(points, upper, angle, hip=(0, 0, 0)):
    """Linear blend skinning: (1 - w) p + w (c + R (p - c)), c = (0, 1, 0)."""
    turn = numpy.array([[numpy.cos(angle), -numpy.sin(angle), 0], [numpy.sin(angle), numpy.cos(angle), 0], [0, 0, 1]])
    center = numpy.array([0, 1, 0])
    turned = (points - center) @ turn.T + center
    return (1 - upper)[:, None] * points + upper[:, None] * turned + hip


@pytest.mark.parametrize("bytes_", [False, True])
def test_gltf_skins_are_blended_linearly(tmp_path, bytes_):
    gltf = Gltf()
    points, upper, hip, top = strip_with_skin(gltf, bytes=bytes_)
    gltf.animate("bend", (top, "rotation", [0.5, 1.5], [[0, 0, 0, 1], quaternion([0, 0, 1], numpy.pi / 2)], "LINEAR"),
                 (hip, "translation", [0.5, 1.5], [[0, 0, 0], [0.4, 0, 0]], "LINEAR"))
    done = isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out", rate=20)
    times, frames = read_mdd(tmp_path / "out/strip.mdd")
    numpy.testing.assert_allclose(times, numpy.linspace(0, 1, 21), atol=1e-7)
    for t, frame in zip(times, frames):  # slerp: the angle is linear in time
        numpy.testing.assert_allclose(frame, upright(blended(points, upper, t * numpy.pi / 2, [0.4 * t, 0, 0])),
                                      atol=SINGLE if not bytes_ else 2 / 255)
    assert done.meshes[0]["role"] == "body" and done.meshes[0]["frames"] == 21
    assert json.loads(done.scene.read_text())["duration"] == 1
    simulation = check_quietly(done.scene)
    simulation.advance(100)
    numpy.testing.assert_allclose(simulation.positions()[:18], frames[10], atol=SINGLE)


def test_gltf_samplers(tmp_path):
    gltf = Gltf()
    mesh = gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)])
    nodes = [gltf.node(name=name, mesh=mesh) for name in ("step", "linear", "cubic", "turn")]
    times = [0, 1, 3]
    values = numpy.array([[0, 0, 0], [1, 0, 0], [1, 2, 0]], dtype=float)
    # x = t^3 / 2 is a cubic, which Hermite's interpolation gives back: tangents are its derivatives, 1.5 t^2.
    cubic = [row for t in times for row in ([1.5 * t * t, 0, 0], [0.5 * t**3, 0, 0], [1.5 * t * t, 0, 0])]
    # 3/4 of a turn in two keys goes the shorter way round.
    turns = [quaternion([0, 0, 1], a) for a in (0, 1.5 * numpy.pi, 1.5 * numpy.pi)]
    gltf.animate("all", (nodes[0], "translation", times, values, "STEP"),
                 (nodes[1], "translation", times, values, "LINEAR"),
                 (nodes[2], "translation", times, cubic, "CUBICSPLINE"), (nodes[3], "rotation", times, turns, "LINEAR"))
    isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out", rate=10, end=4)
    step, linear, curve, turn = (read_mdd(tmp_path / f"out/{name}.mdd")[1]
                                 for name in ("step", "linear", "cubic", "turn"))
    at = numpy.linspace(0, 4, 41)
    numpy.testing.assert_allclose(step[:, 0, 0], (at >= 1 - 1e-9).astype(float))
    numpy.testing.assert_allclose(step[:, 0, 2], 2.0 * (at >= 3 - 1e-9))
    numpy.testing.assert_allclose(linear[:, 0, 0], numpy.interp(at, times, values[:, 0]), atol=SINGLE)
    numpy.testing.assert_allclose(linear[:, 0, 2], numpy.interp(at, times, values[:, 1]), atol=SINGLE)
    numpy.testing.assert_allclose(curve[:, 0, 0], 0.5 * numpy.minimum(at, 3)**3, rtol=SINGLE, atol=SINGLE)
    angle = -numpy.pi / 2 * numpy.minimum(at, 1)
    numpy.testing.assert_allclose(turn[:, 1], upright(numpy.column_stack([numpy.cos(angle), numpy.sin(angle), 0 * at])),
                                  atol=SINGLE)


@pytest.mark.parametrize("rate", [24, 30, 60])
def test_steps_of_gltf_begin_at_their_frames(tmp_path, rate):
    gltf = Gltf()
    node = gltf.node(mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]), name="sheet")
    keys = numpy.arange(rate + 1)  # at times that single precision rounds either way
    gltf.animate("jump", (node, "translation", keys / rate, numpy.outer(keys, [1, 0, 0]), "STEP"))
    isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out", rate=rate)
    _, frames = read_mdd(tmp_path / "out/sheet.mdd")
    numpy.testing.assert_allclose(frames[:, 0, 0], keys, atol=SINGLE)


def test_an_animation_of_one_key_is_a_pose(tmp_path):
    gltf = Gltf()
    node = gltf.node(mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]), name="sheet")
    gltf.animate("pose", (node, "translation", [0.5], [[0, 0, 2]], "LINEAR"))
    path = gltf.save(tmp_path / "a.glb")
    done = isocloth.import_meshes(path, tmp_path / "out")
    assert not done.meshes[0]["motion"] and done.notes == ["the animation is one pose, at 0.5 s, which is taken"]
    numpy.testing.assert_allclose(read_obj(tmp_path / "out/sheet.obj")[0],
                                  upright(numpy.array(SQUARE) + [0, 0, 2]), atol=SINGLE)
    done = isocloth.import_meshes(path, tmp_path / "out", rate=30, begin=0.2, overwrite=True)
    assert "nothing moves: rate and from count for nothing" in done.notes


def test_gltf_morph_targets(tmp_path):
    gltf = Gltf()
    first, second = numpy.zeros((4, 3)), numpy.zeros((4, 3))
    first[2] = [0, 0, 1]
    second[:] = [0, 0.5, 0]
    mesh = gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES, targets=[first, second])], weights=[0, 1])
    node = gltf.node(name="face", mesh=mesh, translation=[0, 0, 1])
    isocloth.import_meshes(gltf.save(tmp_path / "still.glb"), tmp_path / "still")
    numpy.testing.assert_allclose(read_obj(tmp_path / "still/face.obj")[0], upright(SQUARE + second + [0, 0, 1]),
                                  atol=SINGLE)
    gltf.animate("morph", (node, "weights", [0, 2], [0, 0, 1, 0.5], "LINEAR"))
    isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out", rate=2)
    times, frames = read_mdd(tmp_path / "out/face.mdd")
    assert len(times) == 5
    for t, frame in zip(times, frames):
        numpy.testing.assert_allclose(frame, upright(SQUARE + t / 2 * first + t / 4 * second + [0, 0, 1]), atol=SINGLE)


def test_gltf_choices_of_the_format(tmp_path):
    """Strips and fans, quantised and sparse numbers, several primitives, mirrored nodes."""
    gltf = Gltf()
    strip = gltf.primitive([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], mode=5)
    none = gltf.primitive([[0, 0, 0], [1, 0, 0]], mode=5)
    fan = gltf.primitive(numpy.array(SQUARE) + [2, 0, 0], mode=6)
    gltf.node(name="parts", mesh=gltf.mesh([strip, none, fan]))
    gltf.node(name="mirror", mesh=1, scale=[-1, 1, 1])
    quantised = gltf.primitive(SQUARE, SQUARE_FACES)
    quantised.attributes.POSITION = gltf.add(numpy.array(SQUARE) * 127, "i1", True)
    gltf.mesh([quantised])
    sparse = gltf.primitive(SQUARE, SQUARE_FACES)
    gltf.doc.accessors[sparse.attributes.POSITION].sparse = gltf.lib.Sparse(
        count=1, indices=gltf.lib.AccessorSparseIndices(bufferView=gltf.doc.accessors[gltf.add([2], "u2")].bufferView,
                                                        componentType=5123),
        values=gltf.lib.AccessorSparseValues(bufferView=gltf.doc.accessors[gltf.add([[9, 9, 9]])].bufferView))
    gltf.node(name="sparse", mesh=gltf.mesh([sparse]))
    isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out")
    points, _, faces = read_obj(tmp_path / "out/parts.obj")
    areas = [numpy.cross(points[b] - points[a], points[c] - points[a]) / 2 for a, b, c in faces]
    numpy.testing.assert_allclose(areas, [[0, -0.5, 0]] * 4, atol=SINGLE)  # z of glTF is -y: all of one side
    points, _, faces = read_obj(tmp_path / "out/mirror.obj")
    numpy.testing.assert_allclose(points, upright(numpy.array(SQUARE) * [-1, 1, 1]), atol=SINGLE)
    areas = [numpy.cross(points[b] - points[a], points[c] - points[a]) / 2 for a, b, c in faces]
    numpy.testing.assert_allclose(areas, [[0, -0.5, 0]] * 2, atol=SINGLE)
    assert read_obj(tmp_path / "out/sparse.obj")[0][2].tolist() == [9, -9, 9]


def test_split_vertices_are_welded(tmp_path):
    # A cube as programs write it: four vertices for each side.
    sides, faces = [], []
    for axis in range(3):
        for sign in (-1, 1):
            side = numpy.insert(numpy.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2, axis, sign / 2, axis=1)
            own = [[0, 1, 2], [0, 2, 3]]
            normal = numpy.cross(side[1] - side[0], side[2] - side[0])
            faces += [[4 * len(sides) + i for i in (f if normal[axis] * sign > 0 else f[::-1])] for f in own]
            sides.append(side)
    gltf = Gltf()
    uv = gltf.add(numpy.tile([[0, 0], [1, 0], [1, 1], [0, 1]], (6, 1)))
    gltf.node(name="cube", mesh=gltf.mesh([gltf.primitive(numpy.concatenate(sides), faces, TEXCOORD_0=uv)]))
    path = gltf.save(tmp_path / "a.glb")
    split = isocloth.import_meshes(path, tmp_path / "split")
    assert split.meshes[0]["nodes"] == 24 and split.meshes[0]["role"] == "garment"
    assert "16 nodes on open edges lie on others" in split.notes[0] and "--weld" in split.notes[0]
    welded = isocloth.import_meshes(path, tmp_path / "welded", weld=1e-5)
    assert welded.meshes[0]["nodes"] == 8 and welded.meshes[0]["role"] == "obstacle"
    assert len(read_obj(tmp_path / "welded/cube.obj")[1]) == 36  # texture coordinates of each corner stay
    repaired = isocloth.import_meshes(path, tmp_path / "repaired", repairs=True)
    assert repaired.meshes[0]["nodes"] == 8 and repaired.notes[0] == (
        "cube: repaired: 16 nodes on others (first node 8): united")
    assert numpy.array_equal(read_obj(tmp_path / "repaired/cube.obj")[1], read_obj(tmp_path / "welded/cube.obj")[1])
    scene = json.loads(welded.scene.read_text())
    scene["garments"] = [{"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
                          "transform": {"translation": [0, 0, 2]}, "fabric": {"thickness": 0.0015}}]
    welded.scene.write_text(json.dumps(scene))
    assert check_quietly(welded.scene).garment_count == 1
    with pytest.raises(isocloth.MeshError, match="cube: weld: found 1 m, expected 0 to 0.5"):
        isocloth.import_meshes(path, tmp_path / "far", weld=1)


def test_seams_that_open_later_are_not_welded(tmp_path):
    gltf = Gltf()
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    away = numpy.zeros((6, 3))
    away[3:, 0] = 0.2
    mesh = gltf.mesh([gltf.primitive(points, [[0, 1, 2], [3, 4, 5]], targets=[away])])
    node = gltf.node(name="bag", mesh=mesh)
    gltf.animate("open", (node, "weights", [0, 1], [0, 1], "LINEAR"))
    path = gltf.save(tmp_path / "a.glb")
    with pytest.raises(isocloth.MeshError, match="bag: weld: nodes 1 and 3 lie together in frame 0 and 0.2 m apart in "
                                                 "frame 60"):
        isocloth.import_meshes(path, tmp_path / "out", weld=1e-5)
    assert isocloth.import_meshes(path, tmp_path / "out").meshes[0]["nodes"] == 6


def test_bad_gltf_is_refused(tmp_path):
    gltf = Gltf()
    gltf.node(name="s", mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]))
    good = json.loads(gltf.save(tmp_path / "good.gltf").read_text())
    glb = gltf.save(tmp_path / "good.glb").read_bytes()

    def refused(content, message, name="bad.gltf"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        with pytest.raises(isocloth.Error) as error:
            isocloth.import_meshes(path, tmp_path / "out")
        assert message in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)

    refused(b"hello", "expected glTF, JSON or GLB")
    refused(b"[1, 2]", "expected glTF 2")
    refused(good | {"asset": {"version": "1.0"}}, 'asset.version: found "1.0"')
    refused(good | {"extensionsRequired": ["KHR_draco_mesh_compression"]}, "requires KHR_draco_mesh_compression")
    refused(glb[:-4], "expected 2 and", "bad.glb")
    refused(good | {"meshes": []}, "no valid glTF")
    refused(good | {"nodes": [{"children": [0]}]}, "found no mesh, expected at least one")
    refused(good | {"nodes": [{"children": [0], "mesh": 0}]}, "below itself")
    refused(good | {"nodes": [{"mesh": -1}]}, "nodes[0].mesh: found -1, expected a number from 0")
    refused(good | {"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 2]}]}, "nodes[0].rotation: found a length of 2")
    short = json.loads(json.dumps(good))
    short["accessors"][0]["count"] = 10**9
    refused(short, "do not fit into their buffer")
    short["bufferViews"][0]["byteStride"] = 0  # all of them would be one item
    refused(short, "do not fit into their buffer")
    del short["bufferViews"][0]["byteStride"]
    short["accessors"][0]["count"] = 3
    refused(short, "found an index 3, expected less than 3")
    nan = numpy.array(SQUARE, dtype="<f4")
    nan[1, 1] = numpy.nan
    buffer = base64.b64decode(good["buffers"][0]["uri"].partition(",")[2])
    named = json.loads(json.dumps(good))
    named["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(
        nan.tobytes() + buffer[48:]).decode()
    refused(named, "s: frame 0: found a position of node 1 that is not finite")
    two = Gltf()
    node = two.node(name="s", mesh=two.mesh([two.primitive(SQUARE, SQUARE_FACES)]))
    for name in ("walk", "run"):
        two.animate(name, (node, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]], "LINEAR"))
    path = two.save(tmp_path / "two.glb")
    with pytest.raises(isocloth.Error, match="found the animations walk, run, expected the name of one"):
        isocloth.import_meshes(path, tmp_path / "out")
    assert isocloth.import_meshes(path, tmp_path / "out", animation="run").meshes[0]["frames"] == 61


def test_every_mesh_has_files_of_its_own(tmp_path):
    gltf = Gltf()
    mesh = gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)])
    for i, name in enumerate(("a", "a", "a_2", "A", "a/2", "")):
        gltf.node(name=name, mesh=mesh, translation=[i, 0, 0])
    done = isocloth.import_meshes(gltf.save(tmp_path / "a.glb"), tmp_path / "out")
    assert len({m["name"].lower() for m in done.meshes}) == 6 and [m["name"] for m in done.meshes][:2] == ["a", "a_2"]
    lefts = [read_obj(tmp_path / "out" / m["file"])[0][:, 0].min() for m in done.meshes]
    numpy.testing.assert_allclose(lefts, range(6), atol=SINGLE)


def test_files_that_are_there_stay(tmp_path):
    gltf = Gltf()
    node = gltf.node(name="s", mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]))
    gltf.animate("go", (node, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]], "LINEAR"))
    path = gltf.save(tmp_path / "a.glb")
    for name in ("s.obj", "s.mdd", "scene.json"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(isocloth.FileError, match=f"{name}/{name}: found a file, expected none"):
            isocloth.import_meshes(path, folder)
        assert [(p.name, p.read_text()) for p in folder.iterdir()] == [(name, "mine")]
        isocloth.import_meshes(path, folder, overwrite=True)


def test_files_that_a_file_names_are_asked(tmp_path):
    gltf = Gltf()
    gltf.node(name="s", mesh=gltf.mesh([gltf.primitive(SQUARE, SQUARE_FACES)]))
    document = json.loads(gltf.save(tmp_path / "a.gltf").read_text())
    (tmp_path / "in").mkdir()
    (tmp_path / "out.bin").write_bytes(gltf.bytes)
    (tmp_path / "in/sub").mkdir()
    (tmp_path / "in/sub/a b.bin").write_bytes(gltf.bytes)
    os.mkfifo(tmp_path / "in/pipe.bin")
    path = tmp_path / "in/a.gltf"

    def named(uri):
        document["buffers"][0]["uri"] = uri
        path.write_text(json.dumps(document))
        return read_meshes(path)

    assert len(named("sub/a%20b.bin").meshes) == 1
    for uri, message in (("../out.bin", "--allow"), (str(tmp_path / "out.bin"), "--allow"), ("/dev/zero", "--allow"),
                         ("pipe.bin", "no regular file"), ("http://example.org/a.bin", "a file beside it")):
        with pytest.raises(isocloth.FileError, match=message):
            named(uri)
    document["buffers"][0]["uri"] = "../out.bin"
    path.write_text(json.dumps(document))
    assert len(read_meshes(path, allow=tmp_path).meshes) == 1
    (tmp_path / "huge.glb").touch()
    os.truncate(tmp_path / "huge.glb", 10 << 30)  # takes no room on the disk
    for file, message in ((tmp_path / "in/pipe.glb", "No such file"), (tmp_path / "huge.glb", "expected at most"),
                          (tmp_path / "in", "suffix"), (tmp_path / "a.obj", "scenes name .obj files as they are")):
        with pytest.raises(isocloth.Error, match=message):
            isocloth.import_meshes(file, tmp_path / "none")


def test_the_command(tmp_path, capsys):
    from isocloth.__main__ import main

    gltf = Gltf()
    points, _, hip, top = strip_with_skin(gltf)
    gltf.node(name="cloth", mesh=gltf.mesh([gltf.primitive(numpy.array(SQUARE) + [2, 0, 0], SQUARE_FACES)]))
    gltf.animate("bend", (top, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, HALF, HALF]], "LINEAR"))
    path = str(gltf.save(tmp_path / "a.glb"))
    assert main(["import", path, "--list"]) == 0
    said = capsys.readouterr().out
    assert "unit 1 m, y is up, an animation from 0 to 1 s" in said
    assert "  strip: 16 faces, moving\n" in said and "  cloth: 2 faces\n" in said
    assert main(["import", path, "-o", str(tmp_path / "out"), "--weld"]) == 0
    said = capsys.readouterr().out
    assert "body strip: 18 nodes, 16 faces" in said and "61 frames" in said and "garment cloth: 4 nodes" in said
    assert "sampled 60 times a second" in said and '"select"' in said
    assert check_quietly(tmp_path / "out/scene.json").garment_count == 2
    assert main(["import", path, "-o", str(tmp_path / "open"), "--obstacle", "cloth"]) == 0
    assert "obstacle cloth: 4 nodes" in capsys.readouterr().out
    for arguments, message in ((["-o", str(tmp_path / "out")], "--overwrite replaces it"), ([], "expected a folder"),
                               (["-o", "x", "--obstacle", "strip"], "strip: moves, expected a mesh at rest"),
                               (["-o", "x", "--from", "2", "--to", "1"], "expected an end after the begin")):
        assert main(["import", path, *arguments]) == 2
        assert message in capsys.readouterr().err
