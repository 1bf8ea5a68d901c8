"""Results in the formats of other programs, opened with the formats' own libraries."""

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
        cache, topology = isocloth.export(result, tmp_path / f"cloth.{suffix}", garments=["sheet"])
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
    assert [path.name for path in written] == [f"frame_{i:02d}.obj" for i in range(5)]
    scene = {"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"file": str(written[3])}}]}
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
        [path, *_] = isocloth.export(result, tmp_path / name, garments=["sheet"])
        assert path.read_bytes().startswith({"PLY": b"ply", "OBJ": b"o sheet", "PC2": b"POINTCACHE2"}[name[-3:]])
    (tmp_path / "file").write_text("")
    with pytest.raises(isocloth.FileError, match="export: "):
        isocloth.export(result, tmp_path / "file" / "a.ply")
