"""Meshes of FBX as files of scenes: places by closed forms, from ASCII files of version 7.4."""

import subprocess
import sys

import isocloth
import numpy
import pytest
from import_test import SINGLE, blended, check_quietly, read_mdd, read_obj, upright

pytest.importorskip("ufbx")

SECOND = 46186158000  # of FBX


def array(name, values):
    values = numpy.ravel(values)
    return f"{name}: *{len(values)} {{\na: {','.join(repr(v.item()) for v in values)}\n}}\n"


def properties(*rows):
    return "Properties70: {\n" + "".join(f"P: {row}\n" for row in rows) + "}\n"


def settings(up=1, front=2, unit=1.0):
    """up, front: axes 0 to 2; unit [cm]"""
    rows = []
    if up is not None:
        coordinate, sign = 0, 1 if (up, front) == (1, 2) else -1 if front == 2 else 1
        rows += [f'"UpAxis", "int", "Integer", "",{up}', '"UpAxisSign", "int", "Integer", "",1',
                 f'"FrontAxis", "int", "Integer", "",{front}',
                 f'"FrontAxisSign", "int", "Integer", "",{1 if up == 1 else -1}',
                 f'"CoordAxis", "int", "Integer", "",{coordinate}', f'"CoordAxisSign", "int", "Integer", "",{sign}']
    if unit is not None:
        rows.append(f'"UnitScaleFactor", "double", "Number", "",{unit}')
    return "GlobalSettings: {\nVersion: 1000\n" + properties(*rows, '"TimeMode", "enum", "", "",11') + "}\n"


def document(path, objects, connections, **axes):
    links = "".join(f'C: "{"OP" if len(c) > 2 else "OO"}",{c[0]},{c[1]}' + (f', "{c[2]}"' if len(c) > 2 else "") + "\n"
                    for c in connections)
    path.write_text("; FBX 7.4.0 project file\nFBXHeaderExtension:  {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\n"
                    + settings(**axes) + "Objects:  {\n" + "".join(objects) + "}\nConnections:  {\n" + links + "}\n")
    return path


def geometry(number, points, faces, uvs=None):
    ends = [i for face in faces for i in (*face[:-1], ~face[-1])]
    text = (f'Geometry: {number}, "Geometry::mesh", "Mesh" {{\n' + array("Vertices", numpy.array(points, dtype=float))
            + array("PolygonVertexIndex", numpy.array(ends)))
    if uvs is not None:
        text += ('LayerElementUV: 0 {\nVersion: 101\nName: "map1"\nMappingInformationType: "ByPolygonVertex"\n'
                 'ReferenceInformationType: "Direct"\n' + array("UV", numpy.array(uvs, dtype=float)) + "}\n"
                 'Layer: 0 {\nVersion: 100\nLayerElement: {\nType: "LayerElementUV"\nTypedIndex: 0\n}\n}\n')
    return text + "}\n"


def model(number, name, kind="Mesh", translation=(0, 0, 0), scale=1.0):
    return (f'Model: {number}, "Model::{name}", "{kind}" {{\nVersion: 232\n' + properties(
        '"Lcl Translation", "Lcl Translation", "", "A",' + ",".join(map(str, translation)),
        f'"Lcl Scaling", "Lcl Scaling", "", "A",{scale},{scale},{scale}') + "}\n")


SQUARE = numpy.array([(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0)], dtype=float)


def square(path, **axes):
    return document(path, [geometry(1, SQUARE, [[0, 1, 2, 3]], [[0, 0], [2, 0], [2, 1], [0, 1]]),
                           model(2, "sheet", translation=(0, 50, 0), scale=2.0)], [(1, 2), (2, 0)], **axes)


def test_fbx_is_placed_by_its_settings(tmp_path):
    world = 0.02 * SQUARE + [0, 0.5, 0]
    done = isocloth.import_meshes(square(tmp_path / "y.fbx"), tmp_path / "y")
    points, uvs, faces = read_obj(tmp_path / "y/sheet.obj")
    numpy.testing.assert_allclose(points, upright(world), atol=SINGLE)
    assert faces == [[0, 1, 2, 3]] and uvs.tolist() == [[0, 0], [2, 0], [2, 1], [0, 1]]
    assert done.unit == 0.01 and done.up == "y" and len(check_quietly(done.scene).positions()) == 4
    # z up with a front along -y, in inches.
    done = isocloth.import_meshes(square(tmp_path / "z.fbx", up=2, front=1, unit=2.54), tmp_path / "z")
    assert done.unit == pytest.approx(0.0254) and done.up == "z"
    numpy.testing.assert_allclose(read_obj(tmp_path / "z/sheet.obj")[0], 2.54 * world, atol=SINGLE)


def test_what_fbx_does_not_say_must_be_said(tmp_path):
    with pytest.raises(isocloth.Error, match="does not say which axis is up"):
        isocloth.import_meshes(square(tmp_path / "seven.fbx", up=7), tmp_path / "seven")
    path = square(tmp_path / "a.fbx", up=None, unit=None)
    with pytest.raises(isocloth.Error, match="does not say its unit"):
        isocloth.import_meshes(path, tmp_path / "out", up="y")
    with pytest.raises(isocloth.Error, match="does not say which axis is up"):
        isocloth.import_meshes(path, tmp_path / "out", unit="cm")
    isocloth.import_meshes(path, tmp_path / "out", unit="mm", up="y")
    numpy.testing.assert_allclose(read_obj(tmp_path / "out/sheet.obj")[0], 0.1 * upright(0.02 * SQUARE + [0, 0.5, 0]),
                                  atol=SINGLE)


def test_skins_of_fbx(tmp_path):
    y = numpy.repeat(numpy.linspace(0, 2, 9), 2)
    points = numpy.column_stack([numpy.tile([-0.1, 0.1], 9), y, 0 * y])
    upper = numpy.clip(y - 0.5, 0, 1)
    faces = [[k, k + 1, k + 3, k + 2] for k in range(0, 16, 2)]

    def cluster(number, weights, bone):
        own = numpy.flatnonzero(weights > 0)
        link, inverse = numpy.eye(4), numpy.eye(4)
        link[3, 1], inverse[3, 1] = bone, -bone  # rows of columns: the place is last
        return (f'Deformer: {number}, "SubDeformer::", "Cluster" {{\nVersion: 100\n' + array("Indexes", own)
                + array("Weights", weights[own]) + array("Transform", inverse) + array("TransformLink", link) + "}\n")

    path = document(tmp_path / "a.fbx", [
        geometry(1, 100 * points, faces), model(2, "strip"), model(3, "hip", "LimbNode"),
        model(4, "chest", "LimbNode", (0, 100, 0)),
        'Deformer: 5, "Deformer::", "Skin" {\nVersion: 101\nLink_DeformAcuracy: 50\n}\n',
        cluster(6, 1 - upper, 0.0), cluster(7, upper, 100.0),
        'AnimationStack: 8, "AnimStack::bend", "" {\n' + properties(
            '"LocalStart", "KTime", "Time", "",0', f'"LocalStop", "KTime", "Time", "",{SECOND}') + "}\n",
        'AnimationLayer: 9, "AnimLayer::base", "" {\n}\n',
        'AnimationCurveNode: 10, "AnimCurveNode::R", "" {\n' + properties(*(
            f'"d|{axis}", "Number", "", "A",0' for axis in "XYZ")) + "}\n",
        'AnimationCurve: 11, "AnimCurve::", "" {\nDefault: 0\nKeyVer: 4008\n' + array("KeyTime", [0, SECOND])
        + array("KeyValueFloat", [0.0, 90.0]) + array("KeyAttrFlags", [4]) + array("KeyAttrDataFloat", [0.0] * 4)
        + array("KeyAttrRefCount", [2]) + "}\n"],
        [(2, 0), (1, 2), (3, 0), (4, 3), (5, 1), (6, 5), (7, 5), (3, 6), (4, 7), (9, 8), (10, 9),
         (10, 4, "Lcl Rotation"), (11, 10, "d|Z")])
    done = isocloth.import_meshes(path, tmp_path / "out")
    times, frames = read_mdd(tmp_path / "out/strip.mdd")
    numpy.testing.assert_allclose(times, numpy.linspace(0, 1, 25), atol=1e-7)  # 24 frames a second, as the file says
    for t, frame in zip(times, frames):
        numpy.testing.assert_allclose(frame, upright(blended(points, upper, t * numpy.pi / 2)), atol=2 * SINGLE)
    assert done.meshes[0]["role"] == "body"


def test_many_meshes_of_fbx_may_move(tmp_path):
    # One geometry of eleven models, ten of their own; over two seconds.
    count = 10
    objects = [geometry(1, SQUARE, [[0, 1, 2, 3]])] + [model(100 + k, f"shared{k}") for k in range(count + 1)]
    links = [(100 + k, 0) for k in range(count + 1)] + [(1, 100 + k) for k in range(count + 1)]
    for k in range(count):
        objects += [geometry(200 + k, SQUARE, [[0, 1, 2, 3]]), model(300 + k, f"own{k}")]
        links += [(200 + k, 300 + k), (300 + k, 0)]
    objects += [
        'AnimationStack: 8, "AnimStack::slide", "" {\n' + properties(
            '"LocalStart", "KTime", "Time", "",0', f'"LocalStop", "KTime", "Time", "",{2 * SECOND}') + "}\n",
        'AnimationLayer: 9, "AnimLayer::base", "" {\n}\n',
        'AnimationCurveNode: 10, "AnimCurveNode::T", "" {\n' + properties(*(
            f'"d|{axis}", "Number", "", "A",0' for axis in "XYZ")) + "}\n",
        'AnimationCurve: 11, "AnimCurve::", "" {\nDefault: 0\nKeyVer: 4008\n' + array("KeyTime", [0, 2 * SECOND])
        + array("KeyValueFloat", [0.0, 100.0]) + array("KeyAttrFlags", [4]) + array("KeyAttrDataFloat", [0.0] * 4)
        + array("KeyAttrRefCount", [2]) + "}\n"]
    path = document(tmp_path / "a.fbx", objects, links + [(9, 8), (10, 9), (10, 300, "Lcl Translation"),
                                                          (11, 10, "d|X")])
    done = isocloth.import_meshes(path, tmp_path / "out")
    assert len(done.meshes) == 2 * count + 1
    _, frames = read_mdd(tmp_path / "out/own0.mdd")
    numpy.testing.assert_allclose(frames[-1], upright(0.01 * SQUARE + [1, 0, 0]), atol=SINGLE)


def test_no_module_of_the_current_folder_is_run(tmp_path):
    (tmp_path / "here").mkdir()
    for name in ("json", "numpy", "ufbx", "isocloth"):
        (tmp_path / f"here/{name}.py").write_text("import pathlib\npathlib.Path(__file__).with_name('run').touch()\n")
    square(tmp_path / "here/a.fbx")
    (tmp_path / "tools").mkdir()
    program = tmp_path / "tools/program.py"
    program.write_text("import isocloth\nisocloth.import_meshes('a.fbx', 'out')\n")
    subprocess.run([sys.executable, program], cwd=tmp_path / "here", check=True)
    assert (tmp_path / "here/out/sheet.obj").exists() and not (tmp_path / "here/run").exists()


def test_bad_fbx_is_refused(tmp_path):
    good = square(tmp_path / "good.fbx").read_text()
    for name, content, message in (("a.fbx", "hello", "found no FBX that can be read"),
                                   ("b.fbx", good.replace("~", "").replace(",-4", ",77"), "found no FBX|found no mesh"),
                                   ("c.fbx", good[:len(good) // 2], "found no FBX|found no mesh"),
                                   ("d.fbx", good.replace("Geometry: 1", "Geometry: 5"), "found no mesh")):
        (tmp_path / name).write_text(content)
        with pytest.raises(isocloth.Error, match=message):
            isocloth.import_meshes(tmp_path / name, tmp_path / "out")
