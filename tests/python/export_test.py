"""Results in the formats of other programs, opened with the formats' own libraries."""

import json
import os
import struct

import isocloth
import numpy
import pytest

TOLERANCE = 1e-6  # [m], of single precision


@pytest.fixture
def result(sheet, tmp_path):
    """A sheet and a second one of triangles beside a ball that moves and a box that rests."""
    sheet["garments"].append({"name": "patch 2", "transform": {"translation": [0.5, 0, 0]},
                              "mesh": {"generator": "triangle_grid", "nodes": [3, 4], "size": [0.2, 0.3]}})
    sheet["obstacles"] = [
        {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1],
         "motion": {"type": "keyframes", "times": [0, 0.2], "translations": [[0, 0, 0], [0.1, 0, 0]],
                    "rotations_degrees": [[0, 0, 0], [0, 0, 90]]}},
        {"name": "box", "shape": {"type": "box", "size": [0.1, 0.2, 0.3]}, "position": [0, 0, -2],
         "rotation_degrees": [0, 0, 30]}]
    return isocloth.run(sheet, tmp_path / "result", quiet=True)


def test_usd_has_the_points_of_every_frame(result, tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    geometry = pytest.importorskip("pxr.UsdGeom")
    validation = pytest.importorskip("pxr.UsdValidation")
    for suffix in ("usda", "usdc", "usd"):
        [path] = isocloth.export(result, tmp_path / f"scene.{suffix}")
        stage = usd.Stage.Open(str(path))
        assert geometry.GetStageMetersPerUnit(stage) == 1 and geometry.GetStageUpAxis(stage) == "Z"
        assert stage.GetEndTimeCode() == 4 and stage.GetTimeCodesPerSecond() == pytest.approx(20)
        mesh = geometry.Mesh.Get(stage, "/scene/patch_2")
        assert list(mesh.GetFaceVertexCountsAttr().Get()) == [3] * 12
        for frame in range(5):
            points = numpy.array(mesh.GetPointsAttr().Get(frame))
            numpy.testing.assert_allclose(points, result.frame(frame)[result.garments["patch 2"]], atol=TOLERANCE)
        uvs = numpy.array(geometry.PrimvarsAPI(mesh).GetPrimvar("st").Get())
        numpy.testing.assert_allclose(numpy.ptp(uvs, axis=0), [0.2, 0.3], atol=TOLERANCE)
        ball = geometry.Xformable(stage.GetPrimAtPath("/scene/ball"))
        center = ball.ComputeLocalToWorldTransform(4).Transform((0, 0, 0))
        numpy.testing.assert_allclose(center, [0.1, 0, -1], atol=TOLERANCE)
        front = ball.ComputeLocalToWorldTransform(4).Transform((1, 0, 0))
        numpy.testing.assert_allclose(front, [0.1, 1, -1], atol=TOLERANCE)
        validators = validation.ValidationRegistry().GetOrLoadAllValidators()
        assert not validation.ValidationContext(validators).Validate(stage)


def test_gltf_has_a_morph_target_for_every_frame(result, tmp_path):
    gltf = pytest.importorskip("pygltflib")
    for suffix in ("glb", "gltf"):
        [path] = isocloth.export(result, tmp_path / f"scene.{suffix}")
        document = gltf.GLTF2().load(str(path))
        blob = document.binary_blob() or document.get_data_from_buffer_uri(document.buffers[0].uri)

        def values(number, document=document, blob=blob):
            accessor = document.accessors[number]
            view = document.bufferViews[accessor.bufferView]
            width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[accessor.type]
            kind = numpy.uint32 if accessor.componentType == gltf.UNSIGNED_INT else numpy.float32
            return numpy.frombuffer(blob, kind, accessor.count * width, view.byteOffset).reshape(-1, width)

        mesh = next(mesh for mesh in document.meshes if mesh.name == "sheet")
        [primitive] = mesh.primitives
        start = values(primitive.attributes.POSITION)
        for frame in range(5):
            moved = start + (values(primitive.targets[frame - 1]["POSITION"]) if frame else 0)
            numpy.testing.assert_allclose(moved, result.frame(frame)[result.garments["sheet"]], atol=TOLERANCE)
        assert values(primitive.indices).size == 3 * 2 * 24
        across = result.rest_positions[result.garments["sheet"]][:, :2]  # v is down in glTF
        numpy.testing.assert_allclose(values(primitive.attributes.TEXCOORD_0), across * [1, -1] + [0, 1], atol=1e-6)
        [animation] = document.animations
        kinds = [channel.target.path for channel in animation.channels]
        assert sorted(kinds) == ["rotation", "translation", "weights", "weights"]  # the box rests
        weights = values(animation.samplers[kinds.index("weights")].output).reshape(5, 4)
        numpy.testing.assert_array_equal(weights, numpy.eye(5, 4, k=-1))
        # z of the engine is y here.
        x, y, z, w = document.nodes[0].rotation
        assert document.nodes[0].children == [1, 2, 3, 4]
        numpy.testing.assert_allclose([2 * (y * z - x * w), 1 - 2 * (x * x + z * z)], [1, 0], atol=1e-12)
        assert z == 0 and y == 0


def test_obstacles_of_a_result_without_a_folder_are_refused(sheet, tmp_path):
    result = isocloth.run(sheet, quiet=True)
    with pytest.raises(isocloth.FileError, match="export: obstacles: found a result that is in memory alone"):
        isocloth.export(result, tmp_path / "a.ply", obstacles=True)
    with pytest.raises(isocloth.FileError, match="render: found a result that is in memory alone"):
        isocloth.render(result, tmp_path / "a.png")
    assert isocloth.export(result, tmp_path / "a.ply")


def test_point_caches_are_read_back_by_the_engine(result, sheet, tmp_path):
    for suffix in ("pc2", "mdd"):
        cache, topology = isocloth.export(result, tmp_path / f"cloth.{suffix}", garments=["sheet"],
                                          frames_per_second=20)
        raw = cache.read_bytes()
        assert raw.startswith(b"POINTCACHE2\0") if suffix == "pc2" else struct.unpack(">ii", raw[:8]) == (5, 35)
        motion = {"type": "recorded", "file": str(cache)} | ({"frames_per_second": 20} if suffix == "pc2" else {})
        body = {"step": 0.01, "duration": 0.2, "garments": [
            {"mesh": {"file": str(topology)}, "pins": [{"select": {"all": True}, "motion": motion}]}]}
        with pytest.warns(isocloth.SceneWarning):
            simulation = isocloth.Simulation(body)
        simulation.advance(20)
        numpy.testing.assert_allclose(simulation.positions(), result.frame(-1)[:35], atol=TOLERANCE)
    with pytest.raises(isocloth.Error, match='found 2 garments, expected one in a point cache; choose of "sheet"'):
        isocloth.export(result, tmp_path / "both.pc2")


def test_a_pc2_leaves_out_a_frame_that_comes_early(sheet, tmp_path):
    sheet |= {"frame_interval": 0.06}  # of 0.2 s
    result = isocloth.run(sheet, tmp_path / "result", quiet=True)
    assert len(result.times) == 5
    with pytest.warns(UserWarning, match=r"cloth.pc2: the last frame, at 0.2 s, is left out: .* 0.06 s apart"):
        cache, _ = isocloth.export(result, tmp_path / "cloth.pc2")
    assert struct.unpack("<i", cache.read_bytes()[28:32]) == (4,)
    assert cache.stat().st_size == 32 + 4 * 35 * 12


def test_vtkhdf_has_steps(result, tmp_path):
    h5py = pytest.importorskip("h5py")
    [path] = isocloth.export(result, tmp_path / "scene.vtkhdf", obstacles=False)
    with h5py.File(path) as file:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"PolyData" and root["Steps"].attrs["NSteps"] == 5
        points = root["Points"][:].reshape(5, -1, 3)
        numpy.testing.assert_allclose(points, result.positions, atol=TOLERANCE)
        assert root["Polygons/NumberOfCells"][0] == 24 + 12
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF")
    isocloth.export(result, path)
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == 5
    for frame in (0, 4):
        reader.SetStep(frame)
        reader.Update()
        output = reader.GetOutput()
        found = numpy.array([output.GetPoint(i) for i in range(result.positions.shape[1])])
        numpy.testing.assert_allclose(found, result.frame(frame), atol=TOLERANCE)
        assert output.GetNumberOfPolys() > 36


def test_sequences_have_a_file_for_each_frame(result, tmp_path):
    written = isocloth.export(result, tmp_path / "frame_##.obj", obstacles=False)
    assert [path.name for path in written] == ["frame.mtl", *(f"frame_{i:02d}.obj" for i in range(5))]
    scene = {"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"file": str(written[4])}}]}
    with pytest.warns(isocloth.SceneWarning, match="2 parts"):
        again = isocloth.Simulation(scene)
    numpy.testing.assert_allclose(again.positions(), result.frame(3), atol=TOLERANCE)
    assert len(again.faces(0)) == 24 + 12
    written = isocloth.export(result, tmp_path / "all.ply")
    assert [path.name for path in written] == [f"all_{i:04d}.ply" for i in range(5)]
    scene["garments"][0]["mesh"]["file"] = str(written[4])
    with pytest.warns(isocloth.SceneWarning):
        again = isocloth.Simulation(scene)
    numpy.testing.assert_allclose(again.positions()[:47], result.frame(4), atol=TOLERANCE)
    assert len(again.positions()) > 47  # the ball and the box


def test_the_command_writes_and_says_what_is_wrong(result, tmp_path, capsys):
    from isocloth.__main__ import main

    assert main(["export", str(result.folder), str(tmp_path / "new" / "a.ply"), "--no-obstacles"]) == 0
    assert "a_0000.ply ... " in capsys.readouterr().out
    for arguments, message in (
            ([str(result.folder), "a.fbx"], 'a.fbx: found the suffix ".fbx", expected one of .usd .usda'),
            ([str(tmp_path / "none"), "a.ply"], "trajectory.h5"),
            ([str(result.folder), "a.ply", "--garment", "shirt"],
             'garments: found "shirt", expected one of sheet, patch 2')):
        assert main(["export", *arguments]) == 2
        assert message in capsys.readouterr().err
    for name in ("a.PLY", "a.OBJ", "b.PC2"):
        path = isocloth.export(result, tmp_path / name, garments=["sheet"], frames_per_second=20)[name == "a.OBJ"]
        assert path.read_bytes().startswith({"PLY": b"ply", "OBJ": b"o sheet", "PC2": b"POINTCACHE2"}[name[-3:]])
    (tmp_path / "file").write_text("")
    with pytest.raises(isocloth.FileError, match="export: "):
        isocloth.export(result, tmp_path / "file" / "a.ply")


def read_cache(path):
    """Positions of a .pc2, shape (samples, points, 3)."""
    raw = path.read_bytes()
    points, samples = struct.unpack("<i", raw[16:20])[0], struct.unpack("<i", raw[28:32])[0]
    return numpy.frombuffer(raw, "<f4", offset=32).reshape(samples, points, 3)


def test_a_point_cache_has_the_rate_that_is_asked_for(result, tmp_path):
    with pytest.warns(UserWarning, match="cloth.pc2: has 20 frames per second, and no time of its own"):
        isocloth.export(result, tmp_path / "cloth.pc2", garments=["sheet"])
    nodes = result.garments["sheet"]
    for rate in (20, 24, 100):
        cache, _ = isocloth.export(result, tmp_path / "cloth.pc2", garments=["sheet"], frames_per_second=rate)
        found = read_cache(cache)
        assert len(found) == int(0.2 * rate + 1e-6) + 1
        for number, points in enumerate(found):
            k = min(int(number / rate / 0.05 + 1e-9), 3)
            share = number / rate / 0.05 - k
            expected = (1 - share) * result.frame(k)[nodes] + share * result.frame(k + 1)[nodes]
            numpy.testing.assert_allclose(points, expected, atol=TOLERANCE)


def test_alembic_is_read_back(result, tmp_path):
    geometry = pytest.importorskip("alembic3d.AbcGeom")
    abc = pytest.importorskip("alembic3d.Abc")
    [path] = isocloth.export(result, tmp_path / "scene.abc", frames_per_second=40)
    top = abc.IArchive(str(path)).getTop()
    assert [child.getName() for child in top.children] == ["sheet", "patch 2", "ball", "box"]
    mesh = geometry.IPolyMesh(top, "sheet").getSchema()
    assert mesh.getNumSamples() == 9 and mesh.getTimeSampling().getSampleTime(4) == pytest.approx(0.1)
    sample = mesh.getValue(abc.ISampleSelector(0.1))  # [s]
    x, y, z = result.frame(2)[result.garments["sheet"]].T
    numpy.testing.assert_allclose([list(p) for p in sample.getPositions()], numpy.array([x, z, -y]).T, atol=TOLERANCE)
    assert list(sample.getFaceCounts()) == [4] * 24 and list(sample.getFaceIndices())[:4] == [7, 8, 1, 0]
    assert mesh.getUVsParam().valid() and mesh.getNormalsParam().valid()
    ball = geometry.IPolyMesh(top, "ball").getSchema()
    assert not ball.getNormalsParam().valid()
    middle = numpy.mean([list(p) for p in ball.getValue(abc.ISampleSelector(0.2)).getPositions()], axis=0)
    numpy.testing.assert_allclose(middle, [0.1, -1, 0], atol=1e-4)
    with pytest.raises(isocloth.FileError, match="scene.abc: cannot be written"):
        (tmp_path / "folder" / "scene.abc").mkdir(parents=True)
        isocloth.export(result, tmp_path / "folder" / "scene.abc")


def test_obstacles_are_resampled_as_they_turn(result, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    usd = pytest.importorskip("pxr.Usd")
    [path] = isocloth.export(result, tmp_path / "scene.usda", frames_per_second=40)
    stage = usd.Stage.Open(str(path))
    assert stage.GetTimeCodesPerSecond() == 40 and stage.GetEndTimeCode() == 8
    ball = geometry.Xformable(stage.GetPrimAtPath("/scene/ball"))
    front = ball.ComputeLocalToWorldTransform(3).Transform((1, 0, 0))  # 3/40 s of 90 degrees in 0.2 s
    angle = numpy.radians(90 * 0.075 / 0.2)
    numpy.testing.assert_allclose(front, [0.0375 + numpy.cos(angle), numpy.sin(angle), -1], atol=1e-5)


def test_formats_have_materials_and_normals(result, tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    shade = pytest.importorskip("pxr.UsdShade")
    geometry = pytest.importorskip("pxr.UsdGeom")
    gltf = pytest.importorskip("pygltflib")
    colors = {"sheet": "#ff0000", "ball": (0, 255, 0)}
    [path] = isocloth.export(result, tmp_path / "scene.usda", colors=colors)
    stage = usd.Stage.Open(str(path))
    found = {}
    for name in ("sheet", "patch_2", "ball", "box"):
        material, _ = shade.MaterialBindingAPI(stage.GetPrimAtPath(f"/scene/{name}")).ComputeBoundMaterial()
        shader = shade.Shader(stage.GetPrimAtPath(material.GetPath().AppendChild("surface")))
        found[name] = tuple(round(c, 3) for c in shader.GetInput("diffuseColor").Get())
    assert found["sheet"] == (1, 0, 0) and found["ball"] == (0, 1, 0) and len(set(found.values())) == 4
    mesh = geometry.Mesh.Get(stage, "/scene/sheet")
    normals = numpy.array(mesh.GetNormalsAttr().Get(4))
    points = numpy.array(mesh.GetPointsAttr().Get(4))
    numpy.testing.assert_allclose(numpy.linalg.norm(normals, axis=1), 1, atol=1e-6)
    corner = numpy.cross(points[1] - points[0], points[7] - points[0])
    assert normals[0] @ corner > 0.9 * numpy.linalg.norm(corner)
    [path] = isocloth.export(result, tmp_path / "scene.glb", colors=colors)
    document = gltf.GLTF2().load(str(path))
    factors = [material.pbrMetallicRoughness.baseColorFactor for material in document.materials]
    assert factors[0] == [1, 0, 0, 1] and factors[2] == [0, 1, 0, 1] and all(m.doubleSided for m in document.materials)
    assert [mesh.primitives[0].attributes.NORMAL is None for mesh in document.meshes] == [False, False, True, True]
    assert set(document.meshes[0].primitives[0].targets[0]) == {"POSITION", "NORMAL"}
    materials, *files = isocloth.export(result, tmp_path / "frame.obj", colors=colors)
    assert "newmtl sheet\nKd 1 0 0" in materials.read_text()
    text = files[0].read_text()
    assert text.splitlines()[1] == "mtllib frame.mtl" and "usemtl patch_2" in text and text.count("vn ") == 35 + 12
    [path, *_] = isocloth.export(result, tmp_path / "frame.ply", colors=colors)
    head, body = path.read_bytes().split(b"end_header\n", 1)
    assert b"property float nz" in head and b"property uchar blue" in head
    assert body[24:27] == bytes([255, 0, 0])


def test_texture_coordinates_of_files_are_kept(sheet, tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    geometry = pytest.importorskip("pxr.UsdGeom")
    gltf = pytest.importorskip("pygltflib")
    # A seam of texture coordinates along the edge that both triangles have.
    (tmp_path / "body.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0.2\nv 0 1 0\nvt 0 0\nvt .5 0\nvt .5 .5\nvt .6 .6\n"
                                       "vt .9 .9\nvt .6 .9\nf 1/1 2/2 3/3\nf 1/4 3/5 4/6\n")
    tetrahedron = "v 0 0 -2\nv 1 0 -2\nv 0 1 -2\nv 0 0 -1\nvt 0 0\nvt 1 0\nvt 0 1\n"
    (tmp_path / "solid.obj").write_text(tetrahedron + "f 1/1 3/2 2/3\nf 1/1 2/2 4/3\nf 2/1 3/2 4/3\nf 3/1 1/2 4/3\n")
    sheet["garments"].append({"name": "body", "mesh": {"file": str(tmp_path / "body.obj")},
                              "pins": [{"select": {"all": True}}]})
    sheet["obstacles"] = [{"name": "solid", "shape": {"type": "mesh", "file": str(tmp_path / "solid.obj")}}]
    result = isocloth.run(sheet, tmp_path / "result", quiet=True)
    [path] = isocloth.export(result, tmp_path / "scene.usda")
    stage = usd.Stage.Open(str(path))

    def uvs(name):
        primvar = geometry.PrimvarsAPI(stage.GetPrimAtPath(f"/scene/{name}")).GetPrimvar("st")
        assert primvar.GetInterpolation() == "faceVarying"
        return numpy.array(primvar.Get())

    expected = [[0, 0], [.5, 0], [.5, .5], [.6, .6], [.9, .9], [.6, .9]]
    numpy.testing.assert_allclose(uvs("body"), expected, atol=1e-6)
    numpy.testing.assert_allclose(uvs("solid"), [[0, 0], [1, 0], [0, 1]] * 4, atol=1e-6)
    grey = geometry.Mesh.Get(stage, "/scene/body").GetDisplayColorAttr().Get()
    assert grey == geometry.Mesh.Get(stage, "/scene/solid").GetDisplayColorAttr().Get()
    [path] = isocloth.export(result, tmp_path / "scene.glb")
    document = gltf.GLTF2().load(str(path))
    body = next(mesh for mesh in document.meshes if mesh.name == "body").primitives[0]
    assert document.accessors[body.attributes.POSITION].count == 6  # of 4 nodes
    assert document.accessors[body.attributes.TEXCOORD_0].count == 6
    _, frame, *_ = isocloth.export(result, tmp_path / "frame.obj", obstacles=False)
    lines = [line for line in frame.read_text().splitlines() if line.startswith("f ")]
    scene = {"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"file": str(frame)}}]}
    with pytest.warns(isocloth.SceneWarning):
        again = isocloth.Simulation(scene).corner_uvs(0)
    numpy.testing.assert_allclose(again[len(lines) - 2:, :3].reshape(-1, 2), expected, atol=1e-6)


def test_scenes_that_somebody_changed_do_no_harm(result, tmp_path):
    """What a result's scene.json says beside the trajectory only adds to what is written."""
    path = result.folder / "scene.json"
    scene = json.loads(path.read_text())
    os.mkfifo(tmp_path / "endless.obj")
    (tmp_path / "bad.obj").write_text("vt x y\nf 1/9 2/9 3/9\n")
    hostile = [[], 5, {"garments": 7, "obstacles": {}},
               {"garments": [3, {"replicas": 10**12, "pins": [4, {"select": 1}]}]},
               {"garments": [{"mesh": "file", "pins": 3, "replicas": "x"}]},
               *(scene | {"obstacles": [{"name": "ball", "shape": {"type": "mesh", "file": file}}]}
                 for file in (str(tmp_path / "endless.obj"), str(tmp_path / "bad.obj"), "none.obj", "\0.obj", 5))]
    for content in hostile:
        path.write_text(json.dumps(content))
        assert len(isocloth.export(result, tmp_path / "a.ply")) == 5
    path.write_text("{")
    assert len(isocloth.export(result, tmp_path / "a.ply")) == 5


def test_cloth_gets_a_second_side(result, tmp_path):
    geometry = pytest.importorskip("pxr.UsdGeom")
    usd = pytest.importorskip("pxr.Usd")
    validation = pytest.importorskip("pxr.UsdValidation")
    [path] = isocloth.export(result, tmp_path / "thick.usda", thickness=0.004)
    stage = usd.Stage.Open(str(path))
    mesh = geometry.Mesh.Get(stage, "/scene/sheet")
    points, flat = numpy.array(mesh.GetPointsAttr().Get(3)), result.frame(3)[result.garments["sheet"]]
    assert len(points) == 70
    numpy.testing.assert_allclose(numpy.linalg.norm(points[:35] - points[35:], axis=1), 0.004, atol=1e-6)
    numpy.testing.assert_allclose((points[:35] + points[35:]) / 2, flat, atol=TOLERANCE)
    counts, corners = list(mesh.GetFaceVertexCountsAttr().Get()), list(mesh.GetFaceVertexIndicesAttr().Get())
    assert len(counts) == 2 * 24 + 2 * (6 + 4) and len(mesh.GetPrim().GetAttribute("primvars:st").Get()) == len(corners)
    directed, first = set(), 0
    for count in counts:  # closed: every edge once in either direction
        face = corners[first:first + count]
        directed |= {(face[k - 1], face[k]) for k in range(count)}
        first += count
    assert len(directed) == len(corners) and {(b, a) for a, b in directed} == directed
    assert len(geometry.Mesh.Get(stage, "/scene/ball").GetPointsAttr().Get()) > 0
    validators = validation.ValidationRegistry().GetOrLoadAllValidators()
    assert not validation.ValidationContext(validators).Validate(stage)


def test_numbers_and_colours_of_exports_are_checked(result, tmp_path):
    for options, message in (
            ({"frames_per_second": 0}, "frames_per_second: found 0, expected a number above 0, at most 100000"),
            ({"frames_per_second": float("nan")}, "frames_per_second: found nan"),
            ({"frames_per_second": "24"}, "frames_per_second: found '24'"),
            ({"thickness": -1e-3}, "thickness: found -0.001, expected a number above 0, at most 1"),
            ({"colors": {"shirt": "#ffffff"}}, 'colors: found "shirt", expected one of sheet, patch 2, ball, box'),
            ({"colors": {"sheet": "red"}}, "colors: sheet: found 'red', expected three whole numbers"),
            ({"colors": {"sheet": (0, 0, 256)}}, "colors: sheet: found")):
        with pytest.raises(isocloth.Error, match="export: " + message.replace("(", r"\(")):
            isocloth.export(result, tmp_path / "a.ply", **options)
