"""Meshes of USD as files of scenes: places by closed forms, written by pxr."""

import os

import isocloth
import numpy
import pytest
from import_test import SINGLE, blended, check_quietly, read_mdd, read_obj, upright

Usd, UsdGeom, UsdSkel = (pytest.importorskip(f"pxr.{name}") for name in ("Usd", "UsdGeom", "UsdSkel"))
Gf, Sdf, Vt = (pytest.importorskip(f"pxr.{name}") for name in ("Gf", "Sdf", "Vt"))

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


def stage_at(path, unit=1.0, up="Z", rate=24.0):
    stage = Usd.Stage.CreateNew(str(path))
    if unit is not None:
        UsdGeom.SetStageMetersPerUnit(stage, unit)
    if up is not None:
        UsdGeom.SetStageUpAxis(stage, up)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    return stage


def square(stage, path="/top/sheet", points=SQUARE, counts=(4,), corners=(0, 1, 2, 3)):
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*map(float, p)) for p in points]))
    mesh.CreateFaceVertexCountsAttr(list(counts))
    mesh.CreateFaceVertexIndicesAttr(list(corners))
    mesh.CreateSubdivisionSchemeAttr("none")
    return mesh


@pytest.mark.parametrize("suffix", ["usda", "usdc", "usd"])
def test_usd_is_placed_by_its_unit_and_axis(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    stage = stage_at(path, 0.01, "Y")
    UsdGeom.Xform.Define(stage, "/top").AddTranslateOp().Set((0, 100, 0))
    mesh = square(stage, points=100 * numpy.array(SQUARE))
    UsdGeom.Xformable(mesh).AddScaleOp().Set((2, 1, 1))
    st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying)
    st.Set([(0, 0), (2, 0), (2, 1), (0, 1)])
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    points, uvs, faces = read_obj(tmp_path / "out/sheet.obj")
    numpy.testing.assert_allclose(points, upright(numpy.array(SQUARE) * [2, 1, 1] + [0, 1, 0]), atol=SINGLE)
    assert faces == [[0, 1, 2, 3]] and uvs.tolist() == [[0, 0], [2, 0], [2, 1], [0, 1]]
    assert done.unit == 0.01 and done.up == "y" and not done.notes
    assert len(check_quietly(done.scene).positions()) == 4


def test_what_a_stage_does_not_say_must_be_said(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path, None, None)
    square(stage)
    stage.Save()
    with pytest.raises(isocloth.Error, match=r"a\.usda: does not say its unit, expected unit \(--unit m, cm"):
        isocloth.import_meshes(path, tmp_path / "out")
    with pytest.raises(isocloth.Error, match=r"a\.usda: does not say which axis is up, expected up \(--up y or z\)"):
        isocloth.import_meshes(path, tmp_path / "out", unit="cm")
    isocloth.import_meshes(path, tmp_path / "out", unit="cm", up="y")
    numpy.testing.assert_allclose(read_obj(tmp_path / "out/sheet.obj")[0], 0.01 * upright(SQUARE), atol=SINGLE)


def test_points_and_transforms_over_time(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path, rate=10)
    move = UsdGeom.Xform.Define(stage, "/top").AddTranslateOp()
    move.Set((0, 0, 0), 20)
    move.Set((1, 0, 0), 30)
    mesh = square(stage)
    for code in (20, 30):
        mesh.GetPointsAttr().Set([Gf.Vec3f(x, y, code / 10 - 2) for x, y, _ in SQUARE], code)
    still = square(stage, "/still")
    UsdGeom.Xformable(still).AddTranslateOp().Set((5, 0, 0))
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    times, frames = read_mdd(tmp_path / "out/sheet.mdd")
    numpy.testing.assert_allclose(times, numpy.linspace(0, 1, 11), atol=1e-7)  # begins where the animation does
    for t, frame in zip(times, frames):
        numpy.testing.assert_allclose(frame, numpy.array(SQUARE) + [t, 0, t], atol=SINGLE)
    assert [mesh["role"] for mesh in done.meshes] == ["body", "garment"]
    isocloth.import_meshes(path, tmp_path / "part", begin=2.5, end=2.75, rate=20)
    times, frames = read_mdd(tmp_path / "part/sheet.mdd")
    numpy.testing.assert_allclose(times, numpy.linspace(0, 0.25, 6), atol=1e-7)
    numpy.testing.assert_allclose(frames[-1], numpy.array(SQUARE) + [0.75, 0, 0.75], atol=SINGLE)


def skinned_stage(path, points, upper, angle):
    """Two bones of which the upper one turns, at 24 time codes a second within one second, and a blend shape."""
    stage = stage_at(path, 1.0, "Y")
    UsdSkel.Root.Define(stage, "/man")
    skeleton = UsdSkel.Skeleton.Define(stage, "/man/bones")
    skeleton.CreateJointsAttr(["hip", "hip/chest"])
    rest = [Gf.Matrix4d(1), Gf.Matrix4d(1).SetTranslate((0, 1, 0))]
    skeleton.CreateBindTransformsAttr(rest)
    skeleton.CreateRestTransformsAttr(rest)
    animation = UsdSkel.Animation.Define(stage, "/man/bones/walk")
    animation.CreateJointsAttr(["hip", "hip/chest"])
    animation.CreateScalesAttr([Gf.Vec3h(1, 1, 1)] * 2)
    animation.CreateTranslationsAttr([Gf.Vec3f(0, 0, 0), Gf.Vec3f(0, 1, 0)])
    for code, a in ((0, 0.0), (24, angle)):
        turn = Gf.Quatf(float(numpy.cos(a / 2)), 0, 0, float(numpy.sin(a / 2)))
        animation.CreateRotationsAttr().Set([Gf.Quatf(1), turn], code)
    animation.CreateBlendShapesAttr(["bulge", "none"])
    for code in (0, 24):
        animation.CreateBlendShapeWeightsAttr().Set([code / 24, 0.0], code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/man/bones/walk"])
    mesh = square(stage, "/man/strip", points, [4] * 8, [i for k in range(0, 16, 2) for i in (k, k + 1, k + 3, k + 2)])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/man/bones"])
    binding.CreateJointIndicesPrimvar(False, 2).Set([0, 1] * len(points))
    binding.CreateJointWeightsPrimvar(False, 2).Set([float(w) for u in upper for w in (1 - u, u)])
    binding.CreateBlendShapesAttr(["bulge"])
    shape = UsdSkel.BlendShape.Define(stage, "/man/strip/bulge")
    shape.CreateOffsetsAttr([Gf.Vec3f(0, 0, 0.25)] * 2)
    shape.CreatePointIndicesAttr([0, 17])
    binding.CreateBlendShapeTargetsRel().SetTargets(["/man/strip/bulge"])
    UsdGeom.Xformable(stage.GetPrimAtPath("/man")).AddTranslateOp().Set((0, 0, 3))
    stage.Save()


def test_skins_and_blend_shapes(tmp_path):
    y = numpy.repeat(numpy.linspace(0, 2, 9), 2)
    points = numpy.column_stack([numpy.tile([-0.1, 0.1], 9), y, 0 * y])
    upper = numpy.clip(y - 0.5, 0, 1)
    path = tmp_path / "man.usda"
    skinned_stage(path, points, upper, numpy.pi / 2)
    done = isocloth.import_meshes(path, tmp_path / "out", rate=8)
    times, frames = read_mdd(tmp_path / "out/strip.mdd")
    assert len(times) == 9
    for t, frame in zip(times, frames):
        bulging = points.copy()
        bulging[[0, 17], 2] += 0.25 * t
        world = blended(bulging, upper, t * numpy.pi / 2) + [0, 0, 3]  # the angle of slerp is linear in time
        numpy.testing.assert_allclose(frame, upright(world), atol=2 * SINGLE)
    simulation = check_quietly(done.scene)
    simulation.advance(100)
    numpy.testing.assert_allclose(simulation.positions(), frames[4], atol=SINGLE)


def test_faces_of_usd(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path)
    left = square(stage, "/left")
    left.CreateOrientationAttr("leftHanded")
    angles = numpy.linspace(0, 2 * numpy.pi, 7)[:-1]
    square(stage, "/hexagon", numpy.column_stack([numpy.cos(angles), numpy.sin(angles), 0 * angles]), [6], range(6))
    hidden = square(stage, "/hidden")
    hidden.CreateVisibilityAttr("invisible")
    square(stage, "/smooth").CreateSubdivisionSchemeAttr("catmullClark")
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    assert read_obj(tmp_path / "out/left.obj")[2] == [[3, 2, 1, 0]]
    points, _, faces = read_obj(tmp_path / "out/hexagon.obj")
    area = sum(numpy.cross(points[b] - points[a], points[c] - points[a])[2] / 2 for a, b, c in faces)
    assert area == pytest.approx(1.5 * 3**0.5) and len(faces) == 4
    said = " | ".join(done.notes)
    for part in ("/hidden: is not drawn", "/smooth: is a subdivision surface", "hexagon: 1 faces of more than four"):
        assert part in said
    concave = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (1, 0.1, 0), (0, 2, 0)]
    stage = stage_at(tmp_path / "b.usda")
    square(stage, "/arrow", concave, [5], [2, 3, 4, 0, 1])
    stage.Save()
    isocloth.import_meshes(tmp_path / "b.usda", tmp_path / "out2")
    points, _, faces = read_obj(tmp_path / "out2/arrow.obj")
    parts = [numpy.cross(points[b] - points[a], points[c] - points[a])[2] / 2 for a, b, c in faces]
    assert len(faces) == 3 and min(parts) > 0 and sum(parts) == pytest.approx(2.1)
    stage = stage_at(tmp_path / "c.usda")
    square(stage, "/bow", [(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0), (-1, 3, 0)], [5], range(5))
    stage.Save()
    with pytest.raises(isocloth.MeshError, match="bow: face 0: found a polygon of 5 corners that crosses itself"):
        isocloth.import_meshes(tmp_path / "c.usda", tmp_path / "out3")


def test_a_stage_may_refer_to_itself(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path)
    square(stage, "/model/sheet")
    for is_instance, name in enumerate(["/left", "/right"]):
        copy = stage.DefinePrim(name)
        copy.GetReferences().AddInternalReference("/model")
        copy.SetInstanceable(bool(is_instance))
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    assert [mesh["name"] for mesh in done.meshes] == ["sheet", "sheet_2", "sheet_3"] and not done.notes


def test_what_is_no_mesh_is_a_note(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path)
    square(stage)
    UsdGeom.Sphere.Define(stage, "/top/ball")
    UsdGeom.PointInstancer.Define(stage, "/top/many")
    square(stage, "/top/many/prototype")
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    assert [mesh["name"] for mesh in done.meshes] == ["sheet"]
    assert done.notes == ["/top/ball: is a Sphere, no mesh, and was left out",
                          "/top/many: is a PointInstancer and was left out with its prototypes"]


def test_a_range_of_no_time_leaves_the_samples(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path, rate=10)
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(1)
    move = UsdGeom.Xformable(square(stage)).AddTranslateOp()
    move.Set((0, 0, 0), 0)
    move.Set((1, 0, 0), 10)
    stage.Save()
    done = isocloth.import_meshes(path, tmp_path / "out")
    times, frames = read_mdd(tmp_path / "out/sheet.mdd")
    numpy.testing.assert_allclose(times, numpy.linspace(0, 1, 11), atol=1e-7)
    numpy.testing.assert_allclose(frames[-1], numpy.array(SQUARE) + [1, 0, 0], atol=SINGLE)
    assert "0 to 1 s" in done.notes[0]


def test_blend_shapes_without_bones_move_with_their_mesh(tmp_path):
    path = tmp_path / "a.usda"
    stage = stage_at(path, rate=10)
    UsdSkel.Root.Define(stage, "/top")
    skeleton = UsdSkel.Skeleton.Define(stage, "/top/bones")
    animation = UsdSkel.Animation.Define(stage, "/top/bones/smile")
    animation.CreateBlendShapesAttr(["bulge"])
    animation.CreateBlendShapeWeightsAttr([1.0])
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/top/bones/smile"])
    mesh = square(stage)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/top/bones"])
    binding.CreateBlendShapesAttr(["bulge"])
    UsdSkel.BlendShape.Define(stage, "/top/sheet/bulge").CreateOffsetsAttr([Gf.Vec3f(0, 0, 0.5)] * 4)
    binding.CreateBlendShapeTargetsRel().SetTargets(["/top/sheet/bulge"])
    move = UsdGeom.Xformable(mesh).AddTranslateOp()
    move.Set((0, 0, 0), 0)
    move.Set((2, 0, 0), 10)
    stage.Save()
    isocloth.import_meshes(path, tmp_path / "out")
    _, frames = read_mdd(tmp_path / "out/sheet.mdd")
    numpy.testing.assert_allclose(frames[-1], numpy.array(SQUARE) + [2, 0, 0.5], atol=SINGLE)


@pytest.mark.parametrize("unit", [0.0, -1.0])
def test_units_that_are_none_are_refused(tmp_path, unit):
    path = tmp_path / "a.usda"
    stage = stage_at(path, unit)
    square(stage)
    stage.Save()
    with pytest.raises(isocloth.FileError, match=rf"a\.usda: found a unit .* of {unit:g} m, expected more than 0"):
        isocloth.import_meshes(path, tmp_path / "out")
    isocloth.import_meshes(path, tmp_path / "out", unit="m")


def test_layers_that_a_stage_names_are_asked(tmp_path):
    (tmp_path / "in").mkdir()
    other = stage_at(tmp_path / "other.usda")
    square(other)
    other.SetDefaultPrim(other.GetPrimAtPath("/top"))
    other.Save()
    os.mkfifo(tmp_path / "in/pipe.usda")

    def referring(name):
        path = tmp_path / "in/main.usda"
        path.write_text('#usda 1.0\n(\n metersPerUnit = 1\n upAxis = "Z"\n)\ndef "all" (\n'
                        f' references = @{name}@\n)\n{{\n}}\n')
        layer = Sdf.Layer.Find(str(path))
        if layer:
            layer.Reload(True)
        return path

    with pytest.raises(isocloth.FileError, match="names .*other.usda, which is .* --allow"):
        isocloth.import_meshes(referring("../other.usda"), tmp_path / "out")
    done = isocloth.import_meshes(referring("../other.usda"), tmp_path / "out", allow=tmp_path)
    assert done.meshes[0]["name"] == "sheet"
    with pytest.raises(isocloth.FileError, match="found no regular file"):
        isocloth.import_meshes(referring("./pipe.usda"), tmp_path / "out2")
    with pytest.raises(isocloth.FileError, match="expected a layer with the suffix"):
        isocloth.import_meshes(referring("./secret.txt"), tmp_path / "out2")
    for number, content in enumerate((b"hello", b"#usda 1.0\ndef \x8d", b"PXR-USDC" + bytes(80))):
        bad = tmp_path / f"bad{number}.{'usdc' if number == 2 else 'usda'}"
        bad.write_bytes(content)
        with pytest.raises(isocloth.FileError, match=f"bad{number}.usd.: "):
            isocloth.import_meshes(bad, tmp_path / "out2")


def test_clips_that_a_stage_names_are_asked(tmp_path):
    """Value clips bring layers that composition does not know."""
    (tmp_path / "in").mkdir()
    for folder in ("in", "."):
        (tmp_path / folder / "clip.usda").write_text(
            '#usda 1.0\ndef Mesh "m"\n{\n point3f[] points.timeSamples = {\n'
            "  0: [(0, 0, 0), (1, 0, 0), (0, 1, 0)],\n  1: [(0, 0, 1), (1, 0, 1), (0, 1, 1)],\n }\n}\n")

    def clipped(number, keys):
        path = tmp_path / f"in/{number}.usda"
        path.write_text('#usda 1.0\n(\n metersPerUnit = 1\n upAxis = "Z"\n timeCodesPerSecond = 1\n'
                        ' startTimeCode = 0\n endTimeCode = 1\n)\ndef Mesh "m" (\n'
                        ' clips = {\n  dictionary default = {\n'
                        f'   string primPath = "/m"\n   {keys}\n  }}\n }}\n)\n{{\n int[] faceVertexCounts = [3]\n'
                        ' int[] faceVertexIndices = [0, 1, 2]\n point3f[] points\n}\n')
        return path

    listed = ("double2[] active = [(0, 0)]\n double2[] times = [(0, 0), (1, 1)]\n"
              "asset[] assetPaths = [@{0}@]\n asset manifestAssetPath = @{1}@")
    isocloth.import_meshes(clipped(0, listed.format("./clip.usda", "./clip.usda")), tmp_path / "out", rate=1)
    assert read_mdd(tmp_path / "out/m.mdd")[1][1].tolist() == [[0, 0, 1], [1, 0, 1], [0, 1, 1]]
    for number, names in ((1, ("../clip.usda", "./clip.usda")), (2, ("./clip.usda", "../clip.usda"))):
        path = clipped(number, listed.format(*names))
        with pytest.raises(isocloth.FileError, match="names .*/clip.usda, which is .* --allow"):
            isocloth.import_meshes(path, tmp_path / "out2")
        isocloth.import_meshes(path, tmp_path / f"out{number}", rate=1, allow=tmp_path)
    template = 'string templateAssetPath = "../clip.#.usda"\n double templateStartTime = 0\n' \
               "double templateEndTime = 1\n double templateStride = 1"
    with pytest.raises(isocloth.FileError, match="3.usda: /m: found clips by a template, expected clips by assetPaths"):
        isocloth.import_meshes(clipped(3, template), tmp_path / "out2")


def test_exports_come_back(sheet, tmp_path):
    pytest.importorskip("pygltflib")
    result = isocloth.run(sheet, tmp_path / "result", quiet=True)
    for suffix in ("usdc", "glb"):
        [path] = isocloth.export(result, tmp_path / f"sheet.{suffix}")
        isocloth.import_meshes(path, tmp_path / suffix, rate=20)
        times, frames = read_mdd(tmp_path / suffix / "sheet.mdd")
        numpy.testing.assert_allclose(times, result.times, atol=1e-6)
        for i in range(len(times)):
            numpy.testing.assert_allclose(frames[i], result.frame(i), atol=SINGLE)
