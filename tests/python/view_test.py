"""The page of a running simulation, without a browser: what it is asked for, and who may ask."""

import isocloth
import numpy
import pytest

pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")

from isocloth._view import Viewer  # noqa: E402


@pytest.fixture
def viewer(sheet):
    sheet["garments"][0]["fabric"] = {"kappa": 1e-6}
    sheet["obstacles"] = [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1]}]
    viewer = Viewer(sheet, port=8970, threads=1)
    yield viewer
    viewer.close()


def test_it_runs_in_real_time_pauses_and_steps(viewer):
    viewer.loop(0.5)
    running = viewer.simulation.time
    assert 0 < running < 0.7
    viewer.commands.put(viewer.single_step)
    viewer.loop(0.2)
    assert viewer.is_paused and viewer.simulation.time == pytest.approx(running + 0.01)
    numpy.testing.assert_allclose(viewer._meshes[0].vertices, viewer.simulation.positions(), atol=1e-6)
    viewer.commands.put(viewer.simulation.reset)
    viewer.loop(0.1)
    assert viewer.simulation.time == 0


def test_the_cloth_follows_what_drags_it(viewer):
    before = viewer.simulation.positions()
    node = before[:, 1].argmax()
    place = before[node]
    viewer.drag(0, "start", place + [0, 0.002, 0.001], place)
    for part in range(1, 11):
        viewer.drag(0, "update", place, place + numpy.array([0.0, 0.0, -0.01 * part]) + [0, 0.002, 0.001])
        viewer.loop(0.1)
    assert viewer.simulation.holds(0).count > 0
    numpy.testing.assert_allclose(viewer.simulation.positions()[node], place + [0, 0, -0.1], atol=0.03)
    viewer.drag(0, "end", place, place)
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
    with pytest.raises(isocloth.SceneError):
        Viewer({"step": 0.01, "duration": 1, "garments": []}, port=8980)
