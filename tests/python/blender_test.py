"""The add-on for Blender: what it writes for the engine, and, where bpy is, what Blender then plays.

    pip install bpy==4.5.*        # 350 MB, for the Python that it names; tests that need it are skipped without it
    pytest tests/python/blender_test.py
"""

import json
import math
import os
import pathlib
import re
import sys
import zipfile

import isocloth
import numpy
import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "host" / "blender"
sys.path.insert(0, str(FOLDER))

from isocloth_addon import engine, outlines, point_cache, scene_file  # noqa: E402
from isocloth_addon.errors import AddonError  # noqa: E402
from isocloth_addon.scene_file import Body, Cloth, Fabric, Pattern, Timing  # noqa: E402
from make_zip import make  # noqa: E402

TIMING = Timing(rate=24.0, frames=5, last=5, steps=2)
SINGLE = 2e-6  # [m], rounding of single precision at these sizes


def grid(count, size, z=0.0):
    """Vertices and quads of a square sheet, level, with its corner in the origin."""
    places = numpy.linspace(0, size, count)
    vertices = numpy.array([[x, y, z] for y in places for x in places])
    faces = [[j * count + i, j * count + i + 1, (j + 1) * count + i + 1, (j + 1) * count + i]
             for j in range(count - 1) for i in range(count - 1)]
    return vertices, faces


def block(low, high):
    """Vertices and quads of a box."""
    vertices = numpy.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)], dtype=float)
    return vertices, [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def cloth(name="sheet", **keys):
    """A Cloth of 5 x 5 vertices."""
    return Cloth(name, *grid(5, 0.4), **({"fabric": Fabric()} | keys))


def square(y, is_turned=False, is_closed=True):
    """An upright square, as a curve of four corners."""
    corners = numpy.array([[-0.1, y, 0], [0.1, y, 0], [0.1, y, 0.2], [-0.1, y, 0.2]])
    return outlines.Curve(corners[::-1] if is_turned else corners, is_closed=is_closed)


def content(written):
    return json.loads(written.scene.read_text(encoding="utf-8"))


def test_presets_are_those_of_the_engine():
    fabric = isocloth.schema()["properties"]["garments"]["items"]["properties"]["fabric"]["properties"]
    assert set(scene_file.PRESETS) == set(fabric["preset"]["enum"]) - {"none"}


def test_a_scene_of_all_roles_is_taken_by_the_engine(tmp_path):
    box, faces = block([0, 0, -0.3], [0.4, 0.4, -0.1])
    frames = numpy.stack([box + [0, 0, 0.001 * k] for k in range(TIMING.frames)])
    moving = Body("moving?", frames + [2, 0, 0], faces, 0.2)
    open_body = Body("open", numpy.stack([grid(4, 0.4, -0.5)[0]]), grid(4, 0.4)[1], 0.4)
    pattern = Pattern("bag", [square(1.0), square(1.1, is_turned=True)], [(0, 0, 1, 2)], [(0, 2)], Fabric("denim"),
                      0.05)
    written = scene_file.write_scene(tmp_path, TIMING, [cloth(pinned=[0, 4])], [Body("box", box[None], faces, 0.5),
                                     moving, open_body], [pattern], gravity=3.0)
    scene = content(written)
    assert scene["gravity"] == 3 and scene["duration"] == pytest.approx(4 / 24)
    assert scene["frame_interval"] == pytest.approx(1 / 24) and scene["step"] == pytest.approx(1 / 48)
    assert [one["name"] for one in scene["obstacles"]] == ["box"]
    assert scene["obstacles"][0]["friction"] == {"static": 0.5}
    assert [one["name"] for one in scene["garments"]] == ["sheet", "moving?", "open", "bag"]
    assert scene["contact"]["cloth"] and {"garment": "sheet", "other_garment": "open", "static": 0.4} in \
        scene["contact"]["pairs"]
    assert scene["garments"][1]["pins"][0]["motion"]["file"] == "moving.mdd"
    assert "motion" not in scene["garments"][2]["pins"][0]
    assert written.driven == [8, 16] and len(written.panels[0]) == 2
    simulation = isocloth.Simulation(written.scene)
    assert simulation.garment_names == ["sheet", "moving?", "open", "bag"]
    simulation.advance(8)
    numpy.testing.assert_allclose(simulation.positions(1), frames[-1] + [2, 0, 0], atol=SINGLE)
    numpy.testing.assert_allclose(simulation.positions(0)[[0, 4]], cloth().vertices[[0, 4]], atol=1e-9)


def test_vertices_without_faces_are_left_out(tmp_path):
    vertices, faces = grid(3, 0.2)
    extra = Cloth("sheet", numpy.insert(vertices, 4, [9, 9, 9], axis=0),
                  [[node + (node >= 4) for node in face] for face in faces], Fabric(), pinned=[4, 9])
    written = scene_file.write_scene(tmp_path, TIMING, [extra], [], [])
    assert written.nodes[0].tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert content(written)["garments"][0]["pins"][0]["select"]["nodes"] == [8]
    assert isocloth.Simulation(written.scene).info(0).node_count == 9


def test_pins_follow_their_animation(tmp_path):
    start = grid(5, 0.4)[0]
    motion = numpy.stack([start + [0, 0.01 * k, 0] for k in range(TIMING.frames)])
    written = scene_file.write_scene(tmp_path, TIMING, [cloth(pinned=[0, 4], motion=motion)], [], [])
    simulation = isocloth.Simulation(written.scene)
    simulation.advance(8)
    numpy.testing.assert_allclose(simulation.positions(0)[[0, 4]], motion[-1, [0, 4]], atol=SINGLE)
    still = scene_file.write_scene(tmp_path, TIMING, [cloth(pinned=[0], motion=motion[:1].repeat(5, 0))], [], [])
    assert "motion" not in content(still)["garments"][0]["pins"][0]
    elsewhere = scene_file.write_scene(tmp_path, TIMING, [cloth(pinned=[0, 4], motion=motion + [0, 0, 0.01])], [], [])
    assert content(elsewhere)["garments"][0]["pins"][0]["ramp"] == pytest.approx(10 / 24)
    isocloth.Simulation(elsewhere.scene)


def test_names_of_files_are_distinct(tmp_path):
    written = scene_file.write_scene(tmp_path, TIMING, [cloth("a b"), cloth("a/b"), cloth("A_b")], [], [])
    files = [garment["mesh"]["file"] for garment in content(written)["garments"]]
    assert files == ["a_b.obj", "a_b_2.obj", "A_b_3.obj"] and all((tmp_path / file).exists() for file in files)


def test_grain_by_texture_coordinates(tmp_path):
    vertices, faces = grid(3, 0.2)
    along_y = numpy.array([[vertices[node, 1], -vertices[node, 0]] for face in faces for node in face])
    written = scene_file.write_scene(tmp_path, TIMING, [Cloth("sheet", vertices, faces, Fabric(), along_y)], [], [])
    warps = isocloth.Simulation(written.scene).warp_directions(0)
    numpy.testing.assert_allclose(numpy.abs(warps[:, 1]), 1, atol=1e-6)


@pytest.mark.parametrize("normal", [[0, -1, 0], [0, 1, 0], [0, 0, 1], [0.3, -0.5, 0.2], [1, 0, 0]])
def test_panels_stand_where_they_are_drawn(tmp_path, normal):
    normal = numpy.array(normal, float) / numpy.linalg.norm(normal)
    first = numpy.cross([0.1, 0.2, 0.97], normal)
    first /= numpy.linalg.norm(first)
    axes = numpy.array([first, numpy.cross(normal, first)])
    drawn = numpy.array([[0, 0], [0.3, 0], [0.35, 0.2], [0, 0.25]])
    place = lambda points: numpy.array([1, 2, 3]) + points @ axes  # noqa: E731
    rights, lefts = drawn + 1e-3 * (numpy.roll(drawn, -1, 0) - drawn), drawn + 1e-3 * (numpy.roll(drawn, 1, 0) - drawn)
    rights[1], lefts[2] = [0.4, 0.05], [0.45, 0.15]
    curve = outlines.Curve(place(drawn), place(rights), place(lefts))
    panel = outlines.panel("panel", curve)
    assert [one["edge"] for one in panel.keys["curves"]] == [1]
    written = scene_file.write_scene(tmp_path, TIMING, [], [], [Pattern("p", [curve], [], [], Fabric(), 0.05)])
    simulation = isocloth.Simulation(written.scene)
    nodes = simulation.positions(0)
    for corner in place(drawn):
        assert numpy.linalg.norm(nodes - corner, axis=1).min() < 1e-6
    bow = place(numpy.array([0.125 * drawn[1] + 0.375 * rights[1] + 0.375 * lefts[2] + 0.125 * drawn[2]]))
    assert numpy.linalg.norm(nodes - bow, axis=1).min() < 0.03
    a, b, c = nodes[simulation.faces(0)[0][:3]]
    assert numpy.cross(b - a, c - a) @ normal > 0  # the front is where it was drawn from
    flat = panel.pattern(nodes)
    assert numpy.linalg.norm(flat[0] - flat[1]) == pytest.approx(numpy.linalg.norm(nodes[0] - nodes[1]), abs=1e-9)


@pytest.mark.parametrize("curve, message", [
    (square(0, is_closed=False), "p 1: found an open curve"),
    (outlines.Curve(numpy.zeros((2, 3))), "p 1: found 2 control points, expected at least 3"),
    (outlines.Curve(numpy.array([[0, 0, 0], [1, 0, 0], [2, 0, 0.0]])), "p 1: found a curve without an area"),
    (outlines.Curve(numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0.5], [0, 1, 0]])), "off its plane"),
])
def test_curves_that_are_no_panel_are_refused(tmp_path, curve, message):
    with pytest.raises(AddonError, match=message):
        scene_file.write_scene(tmp_path, TIMING, [], [], [Pattern("p", [curve], [], [], Fabric(), 0.05)])


def test_what_is_wrong_is_named(tmp_path):
    def write(*arguments, timing=TIMING):
        scene_file.write_scene(tmp_path, timing, *arguments)

    with pytest.raises(AddonError, match="found no cloth"):
        write([], [], [])
    with pytest.raises(AddonError, match="found 1 frame, expected at least 2"):
        write([cloth()], [], [], timing=Timing(24, 1, 1, 2))
    with pytest.raises(AddonError, match="empty: found no face"):
        write([Cloth("empty", numpy.zeros((3, 3)), [], Fabric())], [], [])
    with pytest.raises(AddonError, match='found the fabric "tweed", expected one of blanket, cotton'):
        write([cloth(fabric=Fabric("tweed"))], [], [])
    with pytest.raises(AddonError, match="sheet: found a vertex that is not finite"):
        write([Cloth("sheet", numpy.full((25, 3), math.nan), grid(5, 0.4)[1], Fabric())], [], [])
    for seam, found in (((0, 0, 1, 0), "edge 1 of curve 2"), ((0, 4, 0, 0), "edge 5 of curve 1")):
        with pytest.raises(AddonError, match=f"p: seam 1: found {found}, which is not there"):
            write([], [], [Pattern("p", [square(0)], [seam], [], Fabric(), 0.05)])
    with pytest.raises(AddonError, match="point 5 of curve 1 as pinned"):
        write([], [], [Pattern("p", [square(0)], [], [(0, 4)], Fabric(), 0.05)])


def test_point_caches_come_back(tmp_path):
    positions = numpy.random.default_rng(1).random((3, 4, 3)).astype("f4")
    point_cache.write_pc2(tmp_path / "a.pc2", positions)
    numpy.testing.assert_array_equal(point_cache.read_pc2(tmp_path / "a.pc2"), positions)
    (tmp_path / "a.pc2").write_bytes((tmp_path / "a.pc2").read_bytes()[:-4])
    with pytest.raises(AddonError, match="found 35 numbers, expected 36"):
        point_cache.read_pc2(tmp_path / "a.pc2")
    (tmp_path / "a.pc2").write_bytes(b"no")
    with pytest.raises(AddonError, match="found no point cache"):
        point_cache.read_pc2(tmp_path / "a.pc2")


def test_pieces_are_numbered_by_their_lowest_nodes():
    assert point_cache.pieces(7, [[5, 1, 3], [0, 2, 4], [3, 5, 6]]).tolist() == [0, 1, 0, 1, 0, 1, 1]


def test_selected_edges_have_both_ends():
    assert outlines.selected_edges([[True, True, False, False], [True, False, True]]) == [(0, 0), (1, 2)]


def run(tmp_path, written, timing, **options):
    one = engine.Run(engine.find(), written.scene, tmp_path / "result", timing.last, **options)
    return one, one.wait(120)


def test_a_run_is_read_gone_on_with_and_the_same(tmp_path):
    whole = Timing(24.0, 7, 7, 2)
    written = scene_file.write_scene(tmp_path, Timing(24.0, 7, 4, 2), [cloth(pinned=[0])], [], [])
    one, code = run(tmp_path, written, Timing(24.0, 7, 4, 2))
    assert (code, one.frames_done, one.said()) == (engine.DONE, 4, [])
    written = scene_file.write_scene(tmp_path, whole, [cloth(pinned=[0])], [], [])
    one, code = run(tmp_path, written, whole, resume=True)
    assert (code, one.frames_done) == (engine.DONE, 7)
    gone_on = [point_cache.read_ply(file)[0] for file in engine.frame_files(tmp_path / "result")]
    run(tmp_path, written, whole)
    at_once = [point_cache.read_ply(file)[0] for file in engine.frame_files(tmp_path / "result")]
    numpy.testing.assert_array_equal(gone_on, at_once)
    numpy.testing.assert_allclose(at_once, isocloth.Result(tmp_path / "result").positions, atol=SINGLE)
    faces = point_cache.read_ply(engine.frame_files(tmp_path / "result")[0], with_faces=True)[1]
    assert faces == grid(5, 0.4)[1]


def test_a_run_that_is_cancelled_leaves_what_it_has(tmp_path):
    timing = Timing(24.0, 10_000, 10_000, 4)
    written = scene_file.write_scene(tmp_path, timing, [cloth(pinned=[0])], [], [])
    one = engine.Run(engine.find(), written.scene, tmp_path / "result", timing.last)
    while one.frames_done < 3 and one.wait(0.01) is None:
        pass
    one.cancel()
    assert one.wait(60) == engine.INTERRUPTED
    assert 3 <= len(engine.frame_files(tmp_path / "result")) < 10_000


def test_what_the_engine_refuses_is_said(tmp_path):
    flat = cloth()
    flat.vertices[:] = flat.vertices[0]
    written = scene_file.write_scene(tmp_path, TIMING, [flat], [], [])
    one, code = run(tmp_path, written, TIMING)
    assert code == engine.REFUSED and "sheet.obj" in one.said()[-1] and not one.said()[-1].startswith("isocloth:")
    with pytest.raises(AddonError, match="nowhere: found no program, expected the command isocloth"):
        engine.find("nowhere")


def test_the_zip_installs(tmp_path):
    with zipfile.ZipFile(make(tmp_path / "addon.zip")) as file:
        names = file.namelist()
        manifest = file.read("isocloth_addon/blender_manifest.toml").decode()
        start = file.read("isocloth_addon/__init__.py").decode()
    assert "isocloth_addon/LICENSE" in names and all(name.startswith("isocloth_addon/") for name in names)
    assert not any("__pycache__" in name for name in names)
    version = isocloth.__version__.split("+")[0]
    assert f'version = "{version}"' in manifest
    assert re.search(r'"version": \((.*)\)', start)[1].replace(", ", ".") == version


# What follows needs Blender.


@pytest.fixture
def bpy(tmp_path, monkeypatch):
    """Blender with the add-on and an empty scene of frames 1 to 6, saved in a folder."""
    bpy = pytest.importorskip("bpy", reason="bpy is not there: pip install bpy, for the Python that it names")
    monkeypatch.setenv("BLENDER_USER_RESOURCES", str(tmp_path / "user"))
    import isocloth_addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    isocloth_addon.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 6, 25
    scene.isocloth.threads = 1
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "test.blend"))
    yield bpy
    isocloth_addon.unregister()


def add(bpy, name, vertices, faces, role, **keys):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, vertex)) for vertex in vertices], [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    obj.isocloth.role = role
    for key, value in keys.items():
        setattr(obj.isocloth, key, value)
    return obj


def choose(bpy, *objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def shown(bpy, obj, frame):
    """What Blender shows of an object in a frame, in the world, shape (vertices, 3)."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = numpy.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return points


def frames_of(bpy):
    [result] = pathlib.Path(bpy.data.filepath).parent.glob("isocloth/*/result")
    return [point_cache.read_ply(file)[0] for file in engine.frame_files(result)]


def test_blender_plays_the_result_at_its_own_rate(bpy):
    vertices, faces = grid(5, 40)  # [cm]
    obj = add(bpy, "sheet", vertices, faces, "CLOTH", pinned="held")
    obj.location, obj.rotation_euler, obj.scale = (10, 20, 30), (0.1, 0.2, 0.3), (1, 2, 1)
    obj.vertex_groups.new(name="held").add([0, 4], 1.0, "REPLACE")
    obj.modifiers.new("fine", "SUBSURF").levels = 0
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0, 0, -981)
    before = shown(bpy, obj, 1)
    assert bpy.ops.isocloth.simulate() == {"FINISHED"}
    frames = frames_of(bpy)
    assert len(frames) == 6 and [modifier.name for modifier in obj.modifiers] == ["isocloth", "fine"]
    numpy.testing.assert_allclose(frames[0], 0.01 * before, atol=SINGLE)
    for number, frame in enumerate(frames):
        numpy.testing.assert_allclose(0.01 * shown(bpy, obj, 1 + number), frame, atol=SINGLE)
    numpy.testing.assert_allclose(0.01 * shown(bpy, obj, 3.5), (frames[2] + frames[3]) / 2, atol=SINGLE)
    t = 0.2  # what falls freely: the corner opposite of the held ones, about
    assert 0.3 * 4.905 * t ** 2 < (frames[0] - frames[5])[24, 2] < 1.5 * 4.905 * t ** 2


def test_it_goes_on_after_the_file_was_opened_again(bpy):
    obj = add(bpy, "sheet", *grid(5, 0.4), "CLOTH", pinned="held")
    obj.vertex_groups.new(name="held").add([0], 1.0, "REPLACE")
    bpy.context.scene.isocloth.last_frame = 3
    bpy.ops.isocloth.simulate()
    assert len(frames_of(bpy)) == 3
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["sheet"]
    assert obj.modifiers["isocloth"].filepath.startswith("//")
    numpy.testing.assert_allclose(shown(bpy, obj, 3), frames_of(bpy)[2], atol=SINGLE)
    bpy.context.scene.isocloth.last_frame = 0
    bpy.ops.isocloth.simulate(resume=True)
    assert len(frames_of(bpy)) == 6
    numpy.testing.assert_allclose(shown(bpy, obj, 6), frames_of(bpy)[5], atol=SINGLE)
    gone_on = frames_of(bpy)
    bpy.ops.isocloth.simulate()
    numpy.testing.assert_array_equal(frames_of(bpy), gone_on)
    obj.isocloth.preset = "DENIM"
    with pytest.raises(RuntimeError, match="unchanged but for name, duration"):
        bpy.ops.isocloth.simulate(resume=True)


def test_bodies_and_pins_move_as_blender_has_them(bpy):
    body = add(bpy, "body", *block([0, 0, -0.3], [0.4, 0.4, -0.1]), "BODY")
    body.shape_key_add(name="Basis")
    wide = body.shape_key_add(name="wide")
    for point in wide.data:
        point.co.x += 0.05
    for frame, value in ((1, 0.0), (6, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    cloth_object = add(bpy, "sheet", *grid(5, 0.4), "CLOTH", pinned="held")
    cloth_object.vertex_groups.new(name="held").add([0, 4], 1.0, "REPLACE")
    for frame, y in ((1, 0.0), (6, 0.1)):
        cloth_object.location.y = y
        cloth_object.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(4)
    bpy.ops.isocloth.simulate()
    assert bpy.context.scene.frame_current == 4
    frames = frames_of(bpy)
    for number in range(6):
        numpy.testing.assert_allclose(shown(bpy, cloth_object, 1 + number), frames[number][:25], atol=SINGLE)
        numpy.testing.assert_allclose(shown(bpy, body, 1 + number), frames[number][25:], atol=SINGLE)
    numpy.testing.assert_allclose(frames[5][[0, 4]], frames[0][[0, 4]] + [0, 0.1, 0], atol=SINGLE)


def test_polygons_and_mirrored_objects_keep_their_fronts(bpy):
    """A prism of two concave polygons and quads, mirrored: a closed body whose faces look outwards."""
    ring = [(0, 0), (2, 0), (2, 2), (1, 0.5), (0, 2)]
    vertices = [(x, y, z) for z in (0, 1) for x, y in ring]
    faces = [[4, 3, 2, 1, 0], [5, 6, 7, 8, 9], *([k, (k + 1) % 5, (k + 1) % 5 + 5, k + 5] for k in range(5))]
    body = add(bpy, "body", vertices, faces, "BODY")
    body.scale, body.location = (-0.1, 0.1, 0.1), (0.2, 0, -1)
    obj = add(bpy, "sheet", *grid(5, 0.4), "CLOTH", use_uvs=True)
    obj.data.uv_layers.new()
    for loop in obj.data.loops:
        obj.data.uv_layers[0].data[loop.index].uv = obj.data.vertices[loop.vertex_index].co.xy
    obj.scale.x = -1
    bpy.context.scene.frame_end = 2
    bpy.ops.isocloth.simulate()
    [folder] = pathlib.Path(bpy.data.filepath).parent.glob("isocloth/*")
    scene = json.loads((folder / "scene.json").read_text())
    assert [one["name"] for one in scene["obstacles"]] == ["body"]
    lines = [line.split() for line in (folder / "body.obj").read_text().splitlines()]
    points = numpy.array([[float(x) for x in line[1:]] for line in lines if line[0] == "v"])
    volume = 0
    for line in lines:
        if line[0] == "f":
            face = points[[int(word) - 1 for word in line[1:]]]
            volume += sum(numpy.dot(face[0], numpy.cross(face[k], face[k + 1])) / 6 for k in range(1, len(face) - 1))
    assert volume == pytest.approx(2.5e-3, rel=1e-5)
    text = (folder / "sheet.obj").read_text().splitlines()
    uvs = [line for line in text if line.startswith("vt ")]
    assert len(uvs) == 64 and "f 6/1 7/2 2/3 1/4" in text
    assert uvs[2] == "vt 0.10000000149011612 0.0"  # of the vertex beside the corner
    body.hide_set(True)
    with pytest.raises(RuntimeError, match="body: is hidden, expected it to be seen"):
        bpy.ops.isocloth.simulate()


def test_it_is_baked_exported_and_removed(bpy, tmp_path):
    obj = add(bpy, "sheet", *grid(5, 0.4), "CLOTH", pinned="held")
    obj.vertex_groups.new(name="held").add([0], 1.0, "REPLACE")
    choose(bpy, obj)
    assert not bpy.ops.isocloth.bake.poll() and not bpy.ops.isocloth.clear.poll()
    bpy.ops.isocloth.simulate()
    frames = frames_of(bpy)
    if bpy.app.build_options.alembic:
        bpy.ops.isocloth.export(filepath=str(tmp_path / "cloth.abc"))
        bpy.ops.wm.alembic_import(filepath=str(tmp_path / "cloth.abc"), as_background_job=False)
        back = bpy.context.object
        assert back is not obj
        for number in (0, 3, 5):
            numpy.testing.assert_allclose(shown(bpy, back, 1 + number), frames[number], atol=SINGLE)
        bpy.data.objects.remove(back)
        choose(bpy, obj)
    bpy.ops.isocloth.bake()
    assert not obj.modifiers and len(obj.data.shape_keys.key_blocks) == 7
    for number, frame in enumerate(frames):
        numpy.testing.assert_allclose(shown(bpy, obj, 1 + number), frame, atol=SINGLE)
    numpy.testing.assert_allclose(shown(bpy, obj, 3.5), (frames[2] + frames[3]) / 2, atol=SINGLE)
    numpy.testing.assert_allclose(shown(bpy, obj, 9), frames[5], atol=SINGLE)


def test_names_that_are_alike_have_caches_of_their_own(bpy):
    first = add(bpy, "a b", *grid(3, 0.2), "CLOTH")
    second = add(bpy, "a_b", *grid(4, 0.2, z=1.0), "CLOTH")
    bpy.ops.isocloth.simulate()
    for obj, begin, count in ((first, 0, 9), (second, 9, 16)):
        numpy.testing.assert_allclose(shown(bpy, obj, 6), frames_of(bpy)[5][begin:begin + count], atol=SINGLE)


def test_removing_a_result_keeps_the_mesh(bpy):
    obj = add(bpy, "sheet", *grid(5, 0.4), "CLOTH")
    choose(bpy, obj)
    bpy.ops.isocloth.simulate()
    bpy.ops.isocloth.clear()
    assert not obj.modifiers
    numpy.testing.assert_allclose(shown(bpy, obj, 6), grid(5, 0.4)[0], atol=SINGLE)


def pattern(bpy):
    """Two upright squares, face to face."""
    curve = bpy.data.curves.new("bag", "CURVE")
    curve.dimensions = "3D"
    for y, is_turned in ((-0.02, False), (0.02, True)):
        spline = curve.splines.new("POLY" if is_turned else "BEZIER")
        points = spline.points if is_turned else spline.bezier_points
        points.add(3)
        spline.use_cyclic_u = True
        for point, corner in zip(points, square(y, is_turned).corners):
            point.co = (*corner, 1) if is_turned else corner
            if not is_turned:
                point.handle_left_type = point.handle_right_type = "VECTOR"
    obj = bpy.data.objects.new("bag", curve)
    bpy.context.collection.objects.link(obj)
    choose(bpy, obj)
    bpy.ops.isocloth.set_role(role="PATTERN")
    return obj


def test_curves_are_sewn(bpy):
    obj = pattern(bpy)
    obj.isocloth.edge_length = 0.04
    assert not bpy.ops.isocloth.sew.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    first, second = obj.data.splines[0].bezier_points, obj.data.splines[1].points

    def select(of_first, of_second):
        for k, point in enumerate(first):
            point.select_control_point = k in of_first
        for k, point in enumerate(second):
            point.select = k in of_second

    select((0, 1), (2, 3))
    bpy.ops.isocloth.sew()
    with pytest.raises(RuntimeError, match="sewn already"):
        bpy.ops.isocloth.sew()
    select((0, 1, 2), (2, 3))
    with pytest.raises(RuntimeError, match="found 3 edges with both ends selected, expected 2"):
        bpy.ops.isocloth.sew()
    select((1, 2), (1, 2))
    bpy.ops.isocloth.sew()
    select((2, 3), (0, 1))
    bpy.ops.isocloth.pin_points()
    select((3,), ())
    bpy.ops.isocloth.pin_points()
    bpy.ops.object.mode_set(mode="OBJECT")
    own = obj.isocloth
    assert [(s.curve, s.edge, s.other_curve, s.other_edge) for s in own.seams] == [(0, 0, 1, 2), (0, 1, 1, 1)]
    assert [(p.curve, p.point) for p in own.points] == [(0, 2), (1, 0), (1, 1)]
    bpy.ops.isocloth.unpick(number=1)
    assert len(own.seams) == 1
    bpy.ops.isocloth.simulate()
    sewn = obj.isocloth.result
    frames = frames_of(bpy)
    sewn.modifiers.remove(sewn.modifiers["seams"])
    for number in (0, 3, 5):
        numpy.testing.assert_allclose(shown(bpy, sewn, 1 + number), frames[number], atol=SINGLE)
    mesh = sewn.data
    edges = {edge.key for edge in mesh.edges}
    for key in edges:  # the pattern is as large as the cloth
        places = {loop.vertex_index: mesh.uv_layers["pattern"].data[loop.index].uv for loop in mesh.loops}
        length = (mesh.vertices[key[0]].co - mesh.vertices[key[1]].co).length
        assert (places[key[0]] - places[key[1]]).length == pytest.approx(length, abs=1e-5)
        break
    bpy.ops.isocloth.simulate()  # another time: the same object
    assert obj.isocloth.result == sewn and sewn.data != mesh


def test_errors_are_reported(bpy):
    scene = bpy.context.scene
    assert not bpy.ops.isocloth.simulate.poll()
    obj = add(bpy, "sheet", *grid(5, 0.4), "CLOTH", pinned="nowhere")
    assert bpy.ops.isocloth.simulate.poll()

    def refused(message):
        with pytest.raises(RuntimeError, match=message):
            bpy.ops.isocloth.simulate()
        assert bpy.ops.isocloth.simulate.poll()  # another try may follow

    refused('sheet: found no vertex group "nowhere"')
    obj.vertex_groups.new(name="nowhere")
    refused('sheet: found no vertex of a weight of half or more in "nowhere"')
    obj.isocloth.pinned = ""
    places = [vertex.co.copy() for vertex in obj.data.vertices]
    for vertex in obj.data.vertices:
        vertex.co = places[0]
    refused("sheet.obj")
    for vertex, place in zip(obj.data.vertices, places):
        vertex.co = place
    scene.gravity = (1, 0, -9.8)
    refused("gravity: found .* expected it along z")
    scene.gravity = (0, 0, -9.8)
    scene.isocloth.last_frame = 99
    refused("Simulate to: found frame 99, expected 2 to 6")
    scene.isocloth.last_frame = 0
    obj.isocloth.use_uvs = True
    refused("sheet: found no UV map")
    obj.isocloth.use_uvs = False
    with pytest.raises(RuntimeError, match="found no result, expected one to continue"):
        bpy.ops.isocloth.simulate(resume=True)
    scene.isocloth.folder = ""
    refused("Folder: found nothing")


def test_what_was_asked_for_is_undone(bpy):
    obj = add(bpy, "sheet", *grid(5, 0.4), "NONE")
    choose(bpy, obj)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.isocloth.set_role(role="CLOTH")
    bpy.ops.ed.undo_push(message="after")
    assert bpy.data.objects["sheet"].isocloth.role == "CLOTH"
    bpy.ops.ed.undo()
    assert bpy.data.objects["sheet"].isocloth.role == "NONE"


def test_the_panel_is_in_the_sidebar(bpy):
    panel = bpy.types.VIEW3D_PT_isocloth
    assert (panel.bl_space_type, panel.bl_region_type, panel.bl_category) == ("VIEW_3D", "UI", "isocloth")
    for name in ("set_role", "sew", "pin_points", "unpick", "simulate", "bake", "clear"):
        operator = getattr(bpy.types, f"ISOCLOTH_OT_{name}")
        assert "UNDO" in operator.bl_options and operator.__doc__
    assert os.path.dirname(sys.modules[panel.__module__].__file__) == str(FOLDER / "isocloth_addon")
