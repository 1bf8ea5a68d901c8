"""What a page may not do: messages of strangers to the viewer, over its socket."""

import contextlib
import math
import threading
import time

import isocloth
import numpy
import pytest

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")
encode = pytest.importorskip("msgspec.msgpack").encode

from isocloth._render import Recorder  # noqa: E402
from isocloth._video import RECORDED  # noqa: E402
from isocloth._view import Viewer  # noqa: E402

NAN, INF = math.nan, math.inf
HOSTILE = (NAN, INF, -INF, 1e300, -1e300, 10**18, -1000, "", "nan", "nosuch", "/../../x.mp4", "mp4\0x", b"mp4", None,
           [], [1.0, 2.0], {}, {"a": 1}, "x" * 100_000, [[[[]]]])
CAMERA = {"type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, -1.0, 0.5), "fov": 1.0,
          "near": 0.01, "far": 100.0, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0), "image_height": 480,
          "image_width": 640}
DRAG = {"type": "SceneNodeDragMessage", "phase": "start", "name": "/cloth/plain/1", "instance_index": None,
        "start_position": (0.1, 0.1, 0.0), "start_screen_pos": (0.5, 0.5), "end_position": (0.1, 0.1, 0.0),
        "end_screen_pos": (0.5, 0.5), "button": "left", "modifier": None}


@pytest.fixture
def viewer(sheet, tmp_path):
    """Two garments with all controls that there are."""
    sheet["garments"][0]["fabric"] = {"bending_stiffness": 1e-6, "drag": {"normal": 0.5, "tangential": 0.1}}
    sheet["garments"].append({**sheet["garments"][0], "name": "other"})
    sheet["wind"] = {"velocity": [1, 0, 0]}
    viewer = Viewer(sheet, port=8950, record=tmp_path / "films", threads=1)
    yield viewer
    viewer.close()


@contextlib.contextmanager
def page(viewer):
    """A page that the server knows: a function that sends messages, or bytes, and has them obeyed."""
    address = viewer.address
    with contextlib.ExitStack() as stack:
        socket = client.connect(address.replace("http", "ws"), origin=address, max_size=None,
                                subprotocols=[f"viser-v{viser.__version__}"])
        def send(*messages):
            for message in messages:
                socket.send(message if isinstance(message, (bytes, str)) else encode(message))
            step = viewer.simulation.time
            assert socket.ping().wait(10)  # the server has read what came before
            viewer.loop(0.15)
            assert viewer.is_paused or viewer.simulation.time > step

        def drain():
            with contextlib.suppress(Exception):
                for _ in socket:
                    pass

        reader = threading.Thread(target=drain)
        reader.start()
        stack.callback(reader.join)
        stack.callback(socket.close)
        send.socket = socket
        known = len(viewer.server.get_clients())
        send(CAMERA)
        end = time.monotonic() + 10
        while len(viewer.server.get_clients()) == known and time.monotonic() < end:
            viewer.loop(0.05)
        assert len(viewer.server.get_clients()) == known + 1
        yield send


def handles(viewer):
    """Of all controls, by label."""
    return {handle.label: handle for handle in viewer.server.gui._gui_input_handle_from_uuid.values()}


def update(handle, value):
    return {"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": {"value": value}}


def state(viewer):
    """What the page can change."""
    simulation = viewer.simulation
    return (viewer.speed, viewer.color, viewer.is_paused, viewer.held, simulation.gravity(0), *simulation.wind_velocity,
            *simulation.fabric(0).values(), *simulation.fabric(1).values(),
            *(handle.value for label, handle in handles(viewer).items()
              if not handle._impl.is_button and label != "frame"))  # which follows the simulation


def said(viewer):
    return viewer.panel.message.content


def test_every_control_has_its_kind_of_value(viewer):
    all_of_them = handles(viewer)
    assert {"Pause", "Step", "Start again", "times real time", "colour by", "fixed range", "up to", "gravity [m/s²]",
            "wind [m/s]", "of garment", "film", "Record", "Picture (PNG)"} <= set(all_of_them)
    assert all(viewer.door.knows(handle) for handle in all_of_them.values())


def test_values_of_the_page_are_taken(viewer):
    by = handles(viewer)
    with page(viewer) as send:
        send(update(by["times real time"], 2), update(by["gravity [m/s²]"], 3.5), update(by["wind [m/s]"], 2.5),
             update(by["colour by"], "shear"), update(by["fixed range"], True), update(by["up to"], 4.0))
        assert viewer.speed == 2 and viewer.simulation.gravity(0) == 3.5
        assert numpy.linalg.norm(viewer.simulation.wind_velocity) == pytest.approx(2.5)
        assert viewer.color == "shear" and said(viewer) == ""
        send(update(by["Pause"], True))
        assert viewer.is_paused


def test_values_that_are_none_of_a_control_are_refused_and_said(viewer, capsys):
    before = state(viewer)
    with page(viewer) as send:
        for label, handle in handles(viewer).items():
            send(*(update(handle, value) for value in HOSTILE))
            assert state(viewer) == before, label
            assert f"refused: the page: {label}" in said(viewer), label
    assert "isocloth: the page: times real time: found" in capsys.readouterr().out
    assert numpy.isfinite(viewer.simulation.positions(0)).all()


def test_other_properties_of_a_control_are_not_for_the_page(viewer):
    before = state(viewer)
    slider = handles(viewer)["times real time"]
    uuid, callbacks = slider._impl.uuid, list(slider._impl.update_cb)
    updates = [{"min": -1e9}, {"max": 1e9}, {"options": ["x"]}, {"removed": True}, {"update_cb": []}, {"gui_api": 0},
               {"props": None}, {"uuid": "x"}, {"value": 2.0, "removed": True}, {}, {"value": 1.0, 3: 4}, [], None, 7,
               {"__class__": "x"}, {"sync_cb": None}, {"is_button": True}]
    with page(viewer) as send:
        send(*({"type": "GuiUpdateMessage", "uuid": uuid, "updates": changes} for changes in updates))
        assert "expected a value alone" in said(viewer)
        send({"type": "GuiUpdateMessage", "uuid": "nosuch", "updates": {"value": 1}},
             {"type": "GuiUpdateMessage", "uuid": ["a"], "updates": {"value": 1}}, {"type": "GuiUpdateMessage"})
    assert state(viewer) == before and slider._impl.update_cb == callbacks and not slider._impl.removed
    assert slider._impl.uuid == uuid and slider.min == 0.1


def test_other_messages_do_not_come_in(viewer, monkeypatch):
    """Such as the one that would open the page to the world."""
    asked = []
    monkeypatch.setattr(type(viewer.server), "request_share_url", lambda *_, **__: asked.append(True))
    uuid = handles(viewer)["Pause"]._impl.uuid
    with page(viewer) as send:
        send({"type": "ShareUrlRequest"}, {"type": "ShareUrlDisconnect"}, {"type": "GuiRemoveMessage", "uuid": uuid},
             {"type": "FileTransferStartUpload", "source_component_uuid": uuid, "transfer_uuid": "a", "filename": "x",
              "mime_type": "x", "part_count": 10**9, "size_bytes": 10**15},
             {"type": "nosuch"}, {"type": None}, {"type": ["a"]}, {}, [], 3, "text", b"", b"\xff\x00",
             b"\xdd\xff\xff\xff\xff", b"\x91" * 100_000)
        assert "refused: the page: found" in said(viewer)
    viewer.loop(0.2)
    assert asked == [] and not viewer.server.gui._current_file_upload_states


@pytest.mark.parametrize("field, values", [
    ("position", [(NAN, 0.0, 0.0), (INF, 0.0, 0.0), (1e300, 0.0, 0.0), (0.0, 0.0), (0.0, 0.0, 0.0), None, "abc"]),
    ("look_at", [(0.0, NAN, 0.0), {}]), ("fov", [NAN, 0.0, -1.0, 4.0, "1", None, True]),
    ("up_direction", [(0.0, 0.0, 0.0), (0.0, 0.0, INF)]), ("wxyz", [(NAN, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)]),
    ("image_height", [10**12, 0, NAN]), ("image_width", [1.5, -3, None]), ("near", [NAN]), ("far", [-1.0]),
    ("unheard", [NAN, "x" * 1000, "\0", {}, b"x", [[[1]]], list(range(100))])])
def test_cameras_are_places_that_see(viewer, field, values):
    with page(viewer) as send:
        before = viewer._camera()
        for value in values:
            send({**CAMERA, "position": (5.0, 5.0, 5.0), field: value})
            now = viewer._camera()
            assert f"ViewerCameraMessage: '{field}'" in said(viewer).replace("&#x27;", "'") or (
                "looks at its own place" in said(viewer)), value
            numpy.testing.assert_array_equal(now.position, before.position)
            assert now.angle == before.angle
        send({**CAMERA, "position": (5.0, 5.0, 5.0)})
        numpy.testing.assert_array_equal(viewer._camera().position, (5, 5, 5))


def test_drags_are_of_places(viewer):
    node = viewer.shown.positions()[:, 1].argmax()
    place = tuple(float(x) for x in viewer.shown.positions()[node])
    start = {**DRAG, "start_position": place, "end_position": place}
    with page(viewer) as send:
        for field, value in (("start_position", (NAN, 0.0, 0.0)), ("start_position", (1e300, 0.0, 0.0)),
                             ("start_position", "abc"), ("end_position", (0.0, 0.0)), ("end_position", [None] * 3),
                             ("phase", "stop"), ("phase", NAN), ("name", "x\0"), ("name", 5), ("name", "x" * 500),
                             ("instance_index", 10**18), ("button", "any"), ("modifier", {}),
                             ("start_screen_pos", (NAN, 0.0)), ("owner", 5)):
            send({**start, field: value})
            assert viewer.held is None and f"'{field}'" in said(viewer).replace("&#x27;", "'"), field
        send(start)
        assert viewer.held is not None
        send({**start, "phase": "update", "end_position": (NAN, 0.0, 0.0)},
             {**start, "phase": "update", "end_position": (place[0], place[1], place[2] - 0.05)})
        viewer.loop(0.3)
        assert viewer.shown.positions()[node, 2] < place[2] - 0.02
    # The page has gone away in the middle of it.
    end = time.monotonic() + 10
    while viewer.held is not None and time.monotonic() < end:
        viewer.loop(0.05)
    assert viewer.held is None and viewer.simulation.holds(0).count == viewer.simulation.holds(1).count == 0
    with pytest.raises(isocloth.Error, match="drag: found nan"):
        viewer.drag("start", numpy.array([NAN, 0, 0]), numpy.zeros(3))


def test_who_takes_hold_twice_lets_go_of_the_first(viewer):
    first, second = viewer.simulation.positions(0)[10], viewer.simulation.positions(1)[10] + 0.001
    viewer.drag("start", first, first)
    held = viewer.held[0]
    viewer.drag("start", second, second)
    viewer.drag("end", second, second)
    viewer.loop(0.1)
    assert held in (0, 1) and viewer.simulation.holds(0).count == viewer.simulation.holds(1).count == 0


def test_films_are_of_known_kinds_and_in_the_folder(viewer, tmp_path):
    precious = tmp_path / "precious.mp4"
    precious.write_text("precious")
    for kind in ("/../../precious.mp4", "/../precious.mp4", "mp4\0x", "", "exe", "mp4/x", None, ["mp4"], 3):
        with pytest.raises(isocloth.Error, match="record: found a film of the kind"):
            viewer.film(kind)
        assert not viewer.recorder.is_filming
        viewer.ask(lambda: viewer.film(kind))
        viewer.loop(0.05)
        assert "record: found a film" in said(viewer)
    assert precious.read_text() == "precious" and [p.name for p in tmp_path.iterdir()] == ["films", "precious.mp4"]
    assert list((tmp_path / "films").iterdir()) == []
    assert RECORDED == ("mp4", "webm")
    for name in ("../x", "a/b", "/x", "x\0"):
        with pytest.raises(isocloth.Error, match="record: name"):
            Recorder(tmp_path / "other", name=name)
    with pytest.raises(isocloth.Error, match="film"):
        viewer.recorder._next("/../x.mp4")


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300, 0, -1, 1e-300, "fast", None, True, [1]])
def test_a_speed_is_a_number(viewer, value):
    with pytest.raises(isocloth.Error, match="speed: found"):
        viewer.speed = value
    assert viewer.speed == 1


def test_what_a_command_raises_is_said_and_ends_nothing(viewer, capsys):
    def fail():
        raise KeyError("nobody thought of it <script>")

    for command in (fail, lambda: 1 // 0, lambda: next(iter(())), lambda: [].x):
        viewer.ask(command)
        before = viewer.simulation.time
        viewer.loop(0.15)
        assert viewer.simulation.time > before and "refused" in said(viewer)
    viewer.ask(fail)
    viewer.loop(0.1)
    assert "&lt;script&gt;" in said(viewer) and "<script>" not in said(viewer)  # it is text for every page
    assert "Traceback" in capsys.readouterr().err
    viewer.ask(lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        viewer.loop(0.1)


def test_what_a_callback_raises_is_said(viewer, monkeypatch):
    def ask(*_, key=None, **__):
        raise OverflowError("in a callback")

    told = []
    monkeypatch.setattr(viewer, "tell", told.append)
    monkeypatch.setattr(viewer, "ask", ask)
    for label, value in (("times real time", 2.0), ("colour by", "plain"), ("fixed range", True),
                         ("gravity [m/s²]", 1.0)):
        handles(viewer)[label].value = value
    assert [str(error) for error in told][:4] == ["in a callback"] * 4


def test_a_step_that_raises_stands_still_and_is_said(viewer, monkeypatch):
    advance = viewer.simulation.advance
    monkeypatch.setattr(viewer.simulation, "advance", lambda steps: 1 // 0)
    viewer.loop(0.2)
    assert viewer.is_paused and "ZeroDivisionError" in said(viewer)
    monkeypatch.setattr(viewer.simulation, "advance", advance)
    viewer.ask(lambda: viewer.pause(False))
    before = viewer.simulation.time
    viewer.loop(0.2)
    assert viewer.simulation.time > before


def test_messages_that_are_too_long_end_their_connection_alone(viewer):
    with page(viewer) as other:
        with page(viewer) as send:
            with contextlib.suppress(Exception):
                send.socket.send(b"\0" * (2 << 20))
                while True:
                    send.socket.ping().wait(5)
            assert send.socket.protocol.close_code == 1009  # "message too big"
        other(update(handles(viewer)["gravity [m/s²]"], 1.5))
        assert viewer.simulation.gravity(0) == 1.5


def test_many_pages_come_and_go(viewer):
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(page(viewer)) for _ in range(30)]
        pages[7](update(handles(viewer)["gravity [m/s²]"], 2.5))
        assert viewer.simulation.gravity(0) == 2.5
        for send in pages[::2]:  # without a word
            send.socket.socket.close()
        pages[1](update(handles(viewer)["gravity [m/s²]"], 4.5))
        assert viewer.simulation.gravity(0) == 4.5


def test_a_page_that_floods_is_not_all_that_is_heard(viewer):
    step = handles(viewer)["Step"]
    with page(viewer) as send:
        for _ in range(20):
            send.socket.send(b"\xff" * 1000)
        for _ in range(2000):
            send.socket.send(encode(update(step, True)))
        send.socket.ping().wait(20)
        time.sleep(0.5)
        assert viewer.commands.qsize() < 200
        viewer.loop(1)
        send(update(handles(viewer)["gravity [m/s²]"], 5.5))
        assert viewer.simulation.gravity(0) == 5.5
