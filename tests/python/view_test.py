"""The page of a running simulation, without a browser: what it is asked for, and who may ask."""

import contextlib

import isocloth
import numpy
import pytest

pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")

from isocloth._layers import COLORS  # noqa: E402
from isocloth._view import Viewer  # noqa: E402


@pytest.fixture
def swing(sheet):
    """A sheet that swings, with a ball that moves at 0.5 m/s along x and a body that falls."""
    sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-6}
    motion = {"type": "keyframes", "times": [0, 10], "translations": [[0, 0, 0], [5, 0, 0]]}
    sheet["obstacles"] = [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1],
                           "motion": motion}]
    sheet["bodies"] = [{"name": "box", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "mass": 1,
                        "position": [3, 0, 0]}]
    return sheet


@pytest.fixture
def viewer(swing):
    viewer = Viewer(swing, port=8970, threads=1)
    yield viewer
    viewer.close()


@contextlib.contextmanager
def page(simulation, **options):
    viewer = simulation.view(port=8990, **options)
    try:
        yield viewer
    finally:
        viewer.close()


def test_it_runs_in_real_time_pauses_and_steps(viewer):
    viewer.loop(0.5)
    running = viewer.simulation.time
    assert 0 < running < 0.7
    viewer.commands.put(viewer.single_step)
    viewer.loop(0.2)
    assert viewer.is_paused and viewer.simulation.time == pytest.approx(running + 0.01)
    numpy.testing.assert_allclose(viewer._cloth.meshes[0].vertices, viewer.simulation.positions(), atol=1e-6)
    viewer.commands.put(viewer.simulation.reset)
    viewer.loop(0.1)
    assert viewer.simulation.time == 0


def test_the_cloth_follows_what_drags_it(viewer):
    before = viewer.simulation.positions()
    node = before[:, 1].argmax()
    place = before[node]
    viewer.drag("start", place + [0, 0.002, 0.001], place)
    for part in range(1, 11):
        viewer.drag("update", place, place + numpy.array([0.0, 0.0, -0.01 * part]) + [0, 0.002, 0.001])
        viewer.loop(0.1)
    assert viewer.simulation.holds(0).count > 0
    numpy.testing.assert_allclose(viewer.simulation.positions()[node], place + [0, 0, -0.1], atol=0.03)
    viewer.drag("end", place, place)
    viewer.loop(0.1)
    assert viewer.simulation.holds(0).count == 0 and viewer.held is None


def test_pages_of_other_origins_are_refused(viewer):
    port = viewer.server.get_port()
    assert viewer.address == f"http://127.0.0.1:{port}"
    address = f"ws://127.0.0.1:{port}"
    for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        client.connect(address, origin=origin, subprotocols=["viser-v0"]).close()
    for origin in ("http://example.org", f"http://example.org:{port}", None):
        with pytest.raises(Exception, match="403"):
            client.connect(address, origin=origin, subprotocols=["viser-v0"])


def test_a_taken_port_leads_to_the_next(viewer, sheet):
    other = Viewer(sheet, port=viewer.server.get_port(), threads=1)
    try:
        assert other.server.get_port() != viewer.server.get_port()
        client.connect(f"ws://127.0.0.1:{other.server.get_port()}", origin=other.address,
                       subprotocols=["viser-v0"]).close()
    finally:
        other.close()


def test_bad_scenes_are_said_before_anything_opens(tmp_path, capsys):
    from isocloth.__main__ import main

    assert main(["view", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("{")
    assert main(["view", str(tmp_path / "bad.json")]) == 2
    assert "bad.json" in capsys.readouterr().err
    with pytest.raises(isocloth.Error, match="view: port: found 99999, expected 0 to 65535"):
        Viewer({}, port=99999)
    with pytest.raises(isocloth.SceneError):
        Viewer({"step": 0.01, "duration": 1, "garments": []}, port=8980)


def test_what_moves_is_drawn_where_it_is(viewer):
    ball, box = viewer._solids.meshes
    numpy.testing.assert_allclose(ball.position, [0, 0, -1])
    numpy.testing.assert_allclose(numpy.linalg.norm(ball.vertices, axis=1), 0.1, rtol=1e-6)
    for _ in range(20):
        viewer.single_step()
    time = viewer.simulation.time
    numpy.testing.assert_allclose(ball.position, [0.5 * time, 0, -1], atol=1e-6)
    fallen = 9.8 * time * (time + 0.01) / 2  # of backward Euler steps
    numpy.testing.assert_allclose(box.position, [3, 0, -fallen], atol=0.01)
    assert box.position[2] < -0.15


def test_colours_are_those_of_the_values(viewer):
    """Triangles of the mesh of each colour are those whose values it stands for."""
    for _ in range(10):
        viewer.single_step()
    viewer.ask(lambda: viewer.color_by("shear", 3.0))
    viewer.loop(0.05)
    cloth, positions = viewer.shown.cloth, viewer.shown.positions()
    values = cloth.of_triangles("shear", cloth.shear(positions))
    assert numpy.ptp(values) > 0.05
    shown = 0
    for number, mesh in viewer._cloth._meshes.items():
        triangles = mesh.vertices.reshape(-1, 3, 3)[:viewer._cloth._used[number]]
        low, high = -3 + 6 * numpy.array([number, number + 1]) / COLORS
        for triangle in triangles:
            [place] = numpy.flatnonzero(numpy.abs(positions[cloth.triangles] - triangle).max((1, 2)) < 1e-6)
            assert low - 1e-9 <= numpy.clip(values[place], -3, 3) <= high + 1e-9
        shown += len(triangles)
    assert shown == len(cloth.triangles)
    assert viewer.panel.legend.visible and "shear [°]" in viewer.panel.legend.content
    assert "<span>-3</span>" in viewer.panel.legend.content and viewer.panel.by.value == "shear"


def test_every_quantity_can_be_shown_and_left(viewer):
    offered = viewer.panel.by.options
    assert "stress" in offered and "contact load" not in offered  # a membrane; cloth that meets no cloth
    for color in (*offered, "plain"):
        viewer.color_by(color)
        viewer.single_step()
    numpy.testing.assert_allclose(viewer._cloth.meshes[0].vertices, viewer.simulation.positions(), atol=1e-6)


def test_meshes_are_not_made_anew(viewer):
    """Buffers of a coloured sheet that swings stay: positions alone are sent."""
    viewer.color_by("edge strain", 5.0)
    for _ in range(3):
        viewer.single_step()
    before = dict(viewer._cloth._meshes)
    for _ in range(10):
        viewer.single_step()
    assert all(viewer._cloth._meshes[number] is mesh for number, mesh in before.items())


def test_sliders_change_the_fabric_and_what_is_refused_is_said(viewer):
    start = viewer.simulation.fabric(0)
    assert set(viewer.panel.fabrics) == {"stretch_stiffness", "shear_stiffness", "bending_stiffness", "mass_damping"}
    viewer.panel.fabrics["stretch_stiffness"].value = 1.0
    viewer.panel.fabrics["mass_damping"].value = 2.5
    viewer.loop(0.2)
    assert viewer.simulation.fabric(0)["stretch_stiffness"] == pytest.approx(10 * start["stretch_stiffness"])
    assert viewer.simulation.fabric(0)["mass_damping"] == 2.5
    assert "10000" in viewer.panel.fabrics["stretch_stiffness"].label
    viewer.ask(lambda: viewer.set_fabric([0], "bending_stiffness", -1.0))
    before = viewer.simulation.time
    viewer.loop(0.3)
    assert "bending_stiffness" in viewer.panel.message.content and "refused" in viewer.panel.message.content
    assert viewer.simulation.time > before
    assert viewer.simulation.fabric(0)["bending_stiffness"] == start["bending_stiffness"]
    viewer.ask(lambda: viewer.set_gravity(3.0))
    viewer.loop(0.1)
    assert viewer.simulation.gravity(0) == 3 and viewer.panel.message.content == ""


def test_recipes_have_the_sliders_that_act(sheet):
    """Changing a number that has a slider changes the next steps; one that has none does not."""
    for recipe, terms in (("coltraro2022", {"bending_stiffness", "mass_damping"}),
                          ("elastic_edges", {"stretch_stiffness", "bending_stiffness", "mass_damping"}),
                          ("membrane", {"stretch_stiffness", "shear_stiffness", "bending_stiffness", "mass_damping"}),
                          ("springs", {"stretch_stiffness", "shear_stiffness", "bending_stiffness", "mass_damping"})):
        sheet["recipe"] = recipe
        sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-3, "mass_damping": 1}
        simulation = isocloth.Simulation(sheet)
        assert set(simulation.fabric_terms(0)) == terms
        start = simulation.snapshot()
        simulation.advance(5)
        as_it_is = simulation.positions()
        for term in ("stretch_stiffness", "shear_stiffness", "bending_stiffness", "mass_damping"):
            now = simulation.fabric(0)[term]
            simulation.set_fabric(0, **{term: now / 5})
            simulation.restore(start)
            simulation.advance(5)
            assert (simulation.positions() != as_it_is).any() == (term in terms), (recipe, term)
            simulation.set_fabric(0, **{term: now})


def test_wind_is_offered_where_cloth_feels_it(sheet):
    sheet["garments"][0]["fabric"] = {"drag": {"normal": 0.5, "tangential": 0.1}}
    sheet["wind"] = {"velocity": [0, -3, 0]}
    simulation = isocloth.Simulation(sheet)
    with page(simulation) as viewer:
        numpy.testing.assert_allclose(simulation.wind_velocity, [0, -3, 0])
        viewer.set_wind([1, 2, 0.5])
        numpy.testing.assert_allclose(simulation.wind_velocity, [1, 2, 0.5])


def test_a_program_steps_and_the_page_shows(sheet):
    simulation = isocloth.Simulation(sheet)
    with page(simulation) as viewer:
        assert not viewer.panel.pause.visible
        for _ in range(20):
            viewer.update(simulation.step())
        assert simulation.step_index == 20 and 0 < viewer.frames_shown <= 20
        viewer._shown_at = -1e9
        viewer.update()
        numpy.testing.assert_allclose(viewer._cloth.meshes[0].vertices, simulation.positions(), atol=1e-6)
        viewer.loop(0.2)
        assert viewer.panel.pause.visible and simulation.step_index > 20


def test_a_running_simulation_is_dragged_by_forces(sheet):
    simulation = isocloth.Simulation(sheet)
    simulation.advance(30)
    with page(simulation) as viewer:
        node = simulation.positions()[:, 2].argmin()
        place = simulation.positions()[node]
        goal = numpy.array([0.0, 0.1, 0.03])
        viewer.drag("start", place, place)
        for part in range(100):
            viewer.drag("update", place, place + goal * min(1, part / 50))
            viewer.update(simulation.step())
        pulled = numpy.linalg.norm(simulation.positions()[node] - place - goal)
        assert pulled < 0.02
        viewer.drag("end", place, place)
        for _ in range(100):
            viewer.update(simulation.step())
        assert numpy.linalg.norm(simulation.positions()[node] - place - goal) > 3 * pulled


def test_recipes_without_grippers_are_shown_too(sheet):
    sheet["recipe"] = "terzopoulos1987"
    sheet["garments"][0] |= {"fabric": {"bending_stiffness": 1e-4, "mass_damping": 1}}
    sheet["step"] = 0.0025
    viewer = Viewer(sheet, port=8970, threads=1)
    try:
        viewer.loop(0.1)
        assert viewer.simulation.time > 0
    finally:
        viewer.close()


def test_batches_are_one_mesh(batch):
    batch["garments"][0]["replicas"] = 40
    viewer = Viewer(batch, port=8970, threads=1)
    try:
        viewer.loop(0.1)
        mesh, _reverse = viewer._cloth.meshes
        numpy.testing.assert_allclose(mesh.vertices, viewer.simulation.read("positions"), atol=1e-6)
        place = viewer.simulation.positions(7)[3]
        viewer.drag("start", place, place)
        assert viewer.held[0] in range(40)
        numpy.testing.assert_allclose(viewer.held[1], place, atol=1e-6)
    finally:
        viewer.close()


def test_what_a_page_shows_is_recorded(swing, tmp_path):
    picture = pytest.importorskip("isocloth._vtk_renderer")
    pytest.importorskip("vtk")
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    if not picture.can_draw():
        pytest.skip("no OpenGL")
    viewer = Viewer(swing, port=8970, record=tmp_path / "films", threads=1)
    viewer.recorder.size = (320, 180)
    try:
        viewer.color_by("edge strain")
        png = viewer.take_picture()
        assert png == tmp_path / "films" / "isocloth-1.png" and png.read_bytes()[:4] == b"\x89PNG"
        viewer.film("mp4")
        for _ in range(20):
            viewer.single_step()
        viewer.film()
        frames, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "films" / "isocloth-2.mp4"))
        assert frames == 7 and seconds == pytest.approx(7 / 30, abs=0.01)  # of 0.2 s, both ends
    finally:
        viewer.close()
    with pytest.raises(isocloth.FileError, match="folder to record into"):
        Viewer(swing, port=8970, record=png, threads=1)


def test_without_a_folder_nothing_is_recorded(viewer):
    with pytest.raises(isocloth.Error, match="--record"):
        viewer.take_picture()


def test_what_was_computed_is_looked_at_again(viewer):
    for _ in range(10):
        viewer.single_step()
    timeline, mesh = viewer.timeline, viewer._cloth.meshes[0]
    numpy.testing.assert_allclose(timeline.times, 0.01 * numpy.arange(1, 11), atol=1e-9)
    present = viewer.simulation.positions()
    viewer.look_back(3)
    numpy.testing.assert_array_equal(mesh.vertices, timeline.frame(3)[0])
    assert numpy.abs(mesh.vertices - present).max() > 1e-4
    assert viewer.panel._frame.value == 3 and viewer.panel._frame.max == 9
    assert "0.04 of 0.10 s" in viewer.panel._when.content
    viewer.color_by("edge strain")
    viewer.look_back(5)
    with pytest.raises(isocloth.Error, match="frame: found 10, expected an integer from 0 to 9"):
        viewer.look_back(10)
    viewer.color_by("plain")
    viewer.pause(False)  # goes on from where it was
    numpy.testing.assert_allclose(viewer._cloth.meshes[0].vertices, present, atol=1e-6)
    viewer.single_step()
    assert viewer.simulation.time == pytest.approx(0.11) and len(timeline) == 11
    viewer.play_back(True)
    seen = set()
    for _ in range(10):
        viewer.loop(0.05)
        seen.add(viewer._seen)
    assert viewer.is_paused and len(seen) > 3 and viewer.simulation.time == pytest.approx(0.11)
    viewer.start_again()
    assert viewer._seen is None and not viewer.is_looping and not viewer.panel._loops.value
    viewer.single_step()
    assert timeline.times == [pytest.approx(0.01)]


def test_a_timeline_keeps_within_its_memory():
    from isocloth._timeline import Timeline

    positions, poses = numpy.zeros((10, 3), numpy.float32), numpy.zeros((0, 7))
    timeline = Timeline(most=50 * positions.nbytes)
    for step in range(1000):
        timeline.add(0.01 * step, positions + step, poses)
    assert 20 < len(timeline) <= 50 and timeline.times[0] == 0 and timeline.times[-1] > 9
    assert numpy.diff(timeline.times).min() > 0.1
    for number, time in enumerate(timeline.times):
        assert timeline.frame(number)[0][0, 0] == pytest.approx(time / 0.01)
    assert timeline.number_at(-1) == 0 and timeline.number_at(1e9) == len(timeline) - 1
    timeline.add(1.0, positions, poses)  # it began again
    assert 0.5 < timeline.times[-1] <= 1.0


def test_garments_have_colours_and_a_reverse(sheet):
    sheet["garments"].append(sheet["garments"][0] | {"name": "second", "transform": {"translation": [0, 0, 0.3]}})
    with page(isocloth.Simulation(sheet, threads=1)) as viewer:
        assert viewer.color == "garment" and viewer.panel.by.value == "garment"
        fronts = [mesh for mesh in viewer._cloth.meshes if mesh.side == "front"]
        backs = [mesh for mesh in viewer._cloth.meshes if mesh.side == "back"]
        assert len(fronts) == len(backs) == 2 and len({mesh.color for mesh in fronts + backs}) == 4
        assert all(sum(back.color) < sum(front.color) for front, back in zip(fronts, backs))
