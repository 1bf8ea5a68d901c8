"""A running simulation in the browser: look around, colour it, pause, step, drag the cloth, change what acts on it.

The page is that of viser, on this machine alone: the server listens on the loopback interface, and pages of other
origins are refused.
"""

import contextlib
import json
import os
import pathlib
import queue
import threading
import time
import traceback
import warnings

import numpy

from ._display import ShownSimulation
from ._door import MOST_BYTES, Door, Number, Vector, require
from ._fields import QUANTITIES, Range, quantity
from ._layers import ColoredLayers, PlainLayers, SolidLayers, legend_html, light_page
from ._library import library
from ._manipulators import ForceHand, GripperHand
from ._panel import Panel
from ._render import Recorder
from ._scenes import _make_files_absolute
from ._simulation import Simulation
from ._timeline import Timeline
from ._vtk_renderer import Camera
from .errors import Error, FileError, SceneError, SceneWarning

HAND = "hand of the viewer"
FRAME = 1 / 30  # [s]
_TEXT_EVERY = 0.25  # [s]
_MOST_WAITING = 100  # commands; what a page asks for beyond these is dropped


def _content(scene):
    """Keys of a scene, with the files that it names where they are."""
    if hasattr(scene, "to_dict"):
        scene = scene.to_dict()
    if isinstance(scene, dict):
        return json.loads(json.dumps(scene))
    path = pathlib.Path(scene)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except ValueError:
        Simulation(path)  # says what is wrong
        raise
    _make_files_absolute(content, path.parent)
    return content


def _with_hands(content, size):
    """The scene with a soft gripper in each garment, which commands close."""
    content = json.loads(json.dumps(content))
    for garment in content["garments"]:
        garment.setdefault("grippers", []).append(
            {"name": HAND, "region": {"type": "sphere", "radius": size}, "position": [0, 0, 0], "stiffness": 1e5})
    return content


def _quiet(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        return make()


@contextlib.contextmanager
def _guarded(door):
    """Servers of websockets that start within refuse pages of other origins, and let in what the door does."""
    server = library("websockets.asyncio.server", "viser")
    serve = server.serve

    def guarded(handler, host, port, **options):
        names = [f"http://{name}:{port}" for name in ("localhost", "127.0.0.1")]
        options["max_size"] = MOST_BYTES
        return serve(door.guard(handler), host, port, origins=names, **options)

    server.serve = guarded
    try:
        yield
    finally:
        server.serve = serve


class Viewer:
    """Shows a simulation in a page, and does what the page asks for. ``address`` is that of the page.

    scene: as of :class:`Simulation`, or one that runs already. record: folder for pictures and films; None: the page
    has no buttons for them. options: as of :class:`Simulation`, of a scene.

    Either :meth:`loop` steps the simulation, or the program that has it, which calls :meth:`update` after its steps.
    Everything that the page asks for is done by the thread that is in one of these.
    """

    def __init__(self, scene, port=8080, record=None, **options):
        viser = library("viser", "viser")
        if not (isinstance(port, int) and 0 <= port <= 65535):
            raise Error(f"view: port: found {port}, expected 0 to 65535")
        if isinstance(scene, Simulation):
            self.simulation, self._hands = scene, None
        else:
            self._open(scene, options)
        self.steps_by_itself = not isinstance(scene, Simulation)
        self.shown = ShownSimulation(self.simulation)
        reach = 1.5 * self.shown.cloth.longest_edge
        self._hand = ForceHand(self.simulation, self.shown, reach) if self._hands is None else GripperHand(
            self.simulation, self._hands)
        self.recorder = Recorder(record) if record is not None else None
        self.commands = queue.SimpleQueue()
        self._latest, self._lock = {}, threading.Lock()
        self.is_paused, self.speed = False, 1.0
        self.held = None  # garment, and where its node was and where the pointer when it was taken [m]
        self.color, self._range, self.range_end = self.shown.default_color(), None, 1.0
        self.timeline = Timeline()
        self._seen, self.is_looping, self._loop_time = None, False, 0.0  # number of the frame that is looked back at
        self.frames_shown = 0
        self._rate, self._shown_at, self._text_at, self._updated = 0.0, -1e9, -1e9, None
        self._stop = threading.Event()
        self.door = Door(lambda text: self.tell(Error(f"the page: {text}")))
        with _guarded(self.door):
            self.server = viser.ViserServer(host="127.0.0.1", port=port, label="isocloth", verbose=False)
        self.address = f"http://127.0.0.1:{self.server.get_port()}"
        # The button of viser for sharing would lead around the loopback interface.
        self.server.gui.configure_theme(show_share_button=False)
        self.server.scene.set_up_direction("+z")
        positions = self.shown.positions()
        low, high = positions.min(0), positions.max(0)
        center, size = (low + high) / 2, max(float(numpy.linalg.norm(high - low)), 0.1)
        self.server.initial_camera.position = tuple(center + size * numpy.array([0.9, -1.3, 0.5]))
        self.server.initial_camera.look_at = tuple(center)
        light_page(self.server, low, high)
        self._solids = SolidLayers(self.server, self.shown.solids, self.shown.poses())
        self._cloth = PlainLayers(self.server, self.shown, positions.astype(numpy.float32), self._dragged,
                                  self.color == "garment")
        self.panel = Panel(self)
        self.server.on_client_connect(lambda _client: self.ask(self.show))

    def _open(self, scene, options):
        content = _content(scene)
        plain = _quiet(lambda: Simulation(scene, **options))
        if isinstance(scene, (str, os.PathLike)):  # its files have been asked; its content is a dict from here on
            options = {name: value for name, value in options.items() if name != "allow"}
        for line in plain.warnings:
            print(f"isocloth: warning: {line}", flush=True)
        reach = 1.5 * ShownSimulation(plain).cloth.longest_edge
        self._hands = [len(garment.get("grippers", [])) for garment in content["garments"]
                       for _ in range(int(garment.get("replicas", 1)))]
        try:
            self.simulation = _quiet(lambda: Simulation(_with_hands(content, reach), **options))
        except SceneError:  # a recipe that knows no grippers
            self.simulation, self._hands = plain, None

    @property
    def speed(self):
        """Seconds of the simulation per second, from 0.001 to 1000."""
        return self._speed

    @speed.setter
    def speed(self, value):
        require("speed", value, Number(1e-3, 1e3))
        self._speed = float(value)

    def ask(self, command, key=None, must=False):
        """Has a command done between two steps; of those with one key that wait, the last alone. When many wait it is
        dropped, unless it ``must`` be done."""
        if key is None:
            if must or self.commands.qsize() < _MOST_WAITING:
                self.commands.put(command)
            return
        with self._lock:
            waits = key in self._latest
            self._latest[key] = command
        if not waits:
            self.commands.put(lambda: self._take(key)())

    def _take(self, key):
        with self._lock:
            return self._latest.pop(key)

    def tell(self, error):
        """Has an exception shown in the page, from any thread."""
        def fail():
            raise error

        self.ask(fail, key="told")

    def _obey(self):
        """What is refused is said in the page, and changes nothing."""
        was_refused = False
        for _ in range(self.commands.qsize()):
            try:
                self.commands.get()()
            except Exception as error:
                was_refused = True
                self._refuse(error)
            else:
                if not was_refused:
                    self.panel.refuse("")

    def _refuse(self, error):
        text = str(error)
        if not isinstance(error, (Error, ValueError, RuntimeError)):  # one that nobody thought of
            traceback.print_exception(error)
            text = f"{type(error).__name__}: {error}"
        print(f"isocloth: {text}", flush=True)
        self.panel.refuse(text)

    def pause(self, is_paused):
        """Whether the simulation stands still."""
        self.is_paused = is_paused
        self.panel.pause.label = "Go on" if is_paused else "Pause"
        if not is_paused and self.steps_by_itself:
            self.look_back(None)

    def look_back(self, number):
        """Shows a frame of the timeline, and has the simulation stand still; None: shows it as it is now."""
        if number is None:
            was_back, self._seen, self.is_looping = self._seen is not None, None, False
            if was_back:
                self.show()
            self.panel.show_timeline()
            return
        require("frame", number, Number(0, max(0, len(self.timeline) - 1), int))
        if not len(self.timeline):
            raise Error("timeline: found no frame yet, expected some: let it run")
        if self.color == "contact load":
            raise Error("timeline: found colours by contact load, which are known of the present alone; take others")
        if self.steps_by_itself and not self.is_paused:
            self.pause(True)
        self._seen = number
        self._show_seen()

    def play_back(self, is_looping):
        """Whether the timeline is played over and over, at the speed of the page."""
        self.is_looping = is_looping
        if is_looping:
            self.look_back(0)
            self.is_looping, self._loop_time = True, self.timeline.times[0]
        self.panel.show_timeline()

    def _play_on(self, elapsed):
        """elapsed: of the clock since it was called last [s]."""
        times = self.timeline.times
        self._loop_time += elapsed * self.speed
        if self._loop_time > times[-1] + FRAME * self.speed:
            self._loop_time = times[0]
        number = self.timeline.number_at(self._loop_time)
        if number != self._seen:
            self._seen = number
            self._show_seen()

    def _show_seen(self):
        positions, poses = self.timeline.frame(self._seen)
        self._draw(positions.astype(float), poses, time.perf_counter())
        self.panel.show_timeline()

    def single_step(self):
        """One step, after which it stands still."""
        self.pause(True)
        self._advance(1)

    def start_again(self):
        """From the start of the scene."""
        self.look_back(None)
        self.simulation.reset()
        self.show()

    def set_gravity(self, value):
        """Of all garments [m/s^2]."""
        for garment in range(self.simulation.garment_count):
            self.simulation.set_gravity(garment, value)

    def set_wind(self, velocity):
        """[m/s], shape (3,); gusts stay as they are in parts of it."""
        self.simulation.set_wind(velocity)

    def set_fabric(self, garments, term, values):
        """A number of the fabric, one for all of the garments or for each."""
        self.simulation.set_fabrics(garments, **{term: values})

    def color_by(self, color, most=None):
        """``plain``, ``garment`` or a quantity; most: upper end of its colours in its unit, None: automatic."""
        if color not in ("plain", "garment"):
            quantity(color)
            if most is not None:
                require("color: most", most, Number(1e-300, 1e300))
            self.shown.values(color, self.shown.positions())  # says what is missing
            self._range = Range(QUANTITIES[color].signed, most)
        if color != self.color:
            self._cloth.remove()
            self.color = color
            positions = self.shown.positions().astype(numpy.float32)
            self._cloth = ColoredLayers(self.server, self.shown, color, self._dragged) if color in QUANTITIES else \
                PlainLayers(self.server, self.shown, positions, self._dragged, color == "garment")
        self.panel.show_color(color, most)
        self._legend = None
        self.show()

    async def _dragged(self, event):  # as one of viser's loop, so that phases keep their order
        start, end, phase = numpy.array(event.start_position), numpy.array(event.end_position), event.phase
        self.ask(lambda: self.drag(phase, start, end), "drag" if phase == "update" else None, must=phase == "end")

    def drag(self, phase, start, end):
        """phase ``start`` takes hold of the node nearest to ``start`` [m], shape (3,); ``update`` leads it by
        ``end - start`` of that time; ``end`` lets go."""
        for place in (start, end):
            require("drag", [float(x) for x in place], Vector(3))
        if phase in ("start", "end") and self.held is not None:
            self._hand.release(self.held[0])
            self.held = None
        if phase == "start":
            self.look_back(None)  # what is dragged is there now
            positions = self.shown.positions()
            node = int(numpy.linalg.norm(positions - start, axis=1).argmin())
            garment = self.shown.garments[self.shown.garment_of_nodes[node]]
            self.held = (garment, positions[node], numpy.array(start))
            self._hand.take(garment, positions[node])
        elif phase == "update" and self.held is not None:
            garment, node, begin = self.held
            self._hand.lead(garment, node + (numpy.array(end) - begin))

    def _advance(self, steps):
        length = self.simulation.step_length
        if self.held is None or self._hands is not None:
            reports = self.simulation.advance(steps)
        else:
            for _ in range(steps):  # forces follow every step
                self._hand.pull(length)
                reports = self.simulation.advance(1)
        self.show(reports, steps)

    def _advance_or_stand(self, steps):
        try:
            self._advance(steps)
        except Exception as error:
            self.pause(True)
            self._refuse(error)

    def show(self, reports=None, steps=1):
        """Sends positions and colours; figures, if there are reports, four times a second."""
        now = time.perf_counter()
        self._shown_at = now
        positions, poses = self.shown.positions(), self.shown.poses()
        if reports is not None:
            self.timeline.add(self.simulation.time, positions.astype(numpy.float32), poses)
        ends = self._draw(positions, poses, now) if self._seen is None else None
        self.frames_shown += 1
        if self.recorder is not None and self.recorder.is_filming:
            self._film_frame(ends if self._seen is None else self._ends())
        if reports is not None and now - self._text_at > _TEXT_EVERY:
            self._text_at = now
            self._say(reports, steps)
            self.panel.show_timeline()

    def _draw(self, positions, poses, now):
        """Sends them, and returns the ends of the colours or None."""
        values = ends = None
        if self.color in QUANTITIES:
            values = self.shown.values(self.color, positions)
            ends = self._range.of(self.shown.measured(self.color, values), now)
            self.range_end = ends[1]
            values = self.shown.cloth.of_triangles(self.color, values)
        with self.server.atomic():
            self._cloth.show(positions.astype(numpy.float32), values, *(ends or (0, 1)))
            self._solids.show(poses)
            if ends is not None and ends != self._legend:
                self.panel.legend.content, self._legend = legend_html(self.color, *ends), ends
        return ends

    def _say(self, reports, steps):
        strains = [report.strain for report in reports]
        lines = [f"**{self.simulation.time:.2f} s**" + (f", {self._rate:.2g} times real time" if self._rate else ""),
                 f"{max(report.iterations for report in reports) / steps:.1f} iterations per step",
                 f"edges: {100 * max(s.max for s in strains):.1f} %, 95 %: {100 * max(s.p95 for s in strains):.2f} %"]
        contacts = max(report.cloth_contacts for report in reports)
        if contacts:
            lines.append(f"cloth on cloth: {contacts} contacts, {max(r.cloth_loaded for r in reports)} with a force, "
                         f"{100 * min(r.cloth_gap for r in reports):.0f} % of the thickness left")
        if len(reports) <= 100:
            opening = max(measures.seam_opening for measures in self.simulation.measures())
            if opening > 0:
                lines.append(f"seams: {1000 * opening:.2g} mm")
        frozen = sum(self.simulation.frozen(g) for g in range(self.simulation.garment_count))
        if frozen:
            lines.append(f"**{frozen} frozen**: start again")
        self.panel.text.content = "  \n".join(lines)

    def _camera(self):
        """Of the first page that is open; None: none is."""
        for client in self.server.get_clients().values():
            own = client.camera
            return Camera(own.position, own.look_at, own.up_direction, float(numpy.degrees(own.fov)))
        return None

    def _ends(self):
        return self._range.of(numpy.zeros(0) if self._range.fixed else self.shown.measured(
            self.color, self.shown.values(self.color, self.shown.positions()))) if self.color in QUANTITIES else None

    def take_picture(self):
        """Writes what is seen now as PNG and returns the path."""
        path = self._recorder().take_picture(self.shown, self._camera(), self.color, self._ends())
        self.panel.say_written(path)
        return path

    def film(self, kind="mp4"):
        """Begins a film, or ends the one that is made: ``mp4`` or ``webm``."""
        recorder = self._recorder()
        if recorder.is_filming:
            recorder.end()
        else:
            self.panel.say_written(recorder.begin(kind, self.simulation.time))
        self.panel.film.label = "End the film" if recorder.is_filming else "Record"

    def _recorder(self):
        if self.recorder is None:
            raise Error("record: found no folder, expected one: --record FOLDER, or record=")
        return self.recorder

    def _film_frame(self, ends):
        try:
            self.recorder.add(self.shown, self._camera(), self.color, ends, self.simulation.time, self.speed)
        except Exception as error:
            self.recorder.end()
            self.panel.film.label = "Record"
            self._refuse(Error(f"the film ended: {error}"))

    def update(self, reports=None):
        """For a program that steps the simulation itself: call it after each step, it returns at once. Does what the
        page asks for, and sends positions at most 30 times a second. reports: what the step returned; its figures are
        shown.
        """
        time_now = self.simulation.time
        self._obey()
        if self.is_looping:
            self._play_on(FRAME)
        length = time_now - self._updated if self._updated is not None else 0
        self._updated = time_now
        self._hand.pull(length if length > 0 else self.simulation.step_length)
        if time.perf_counter() - self._shown_at >= FRAME:
            self.show(reports)

    def loop(self, seconds=None):
        """Steps in real time times ``speed`` until :meth:`close`, Ctrl-C, or for some seconds. Where a step raises an
        exception the page says so, and the simulation stands still."""
        if not self.steps_by_itself:
            self.steps_by_itself = True
            self.panel.show_run(True)
        began = time.perf_counter()
        shown, debt, step, due = began, 0.0, self.simulation.step_length, began
        while not self._stop.is_set() and (seconds is None or time.perf_counter() - began < seconds):
            self._obey()
            now = time.perf_counter()
            elapsed, shown = now - shown, now
            debt = min(debt + elapsed * self.speed, 2 * FRAME * self.speed + step)
            steps = 0 if self.is_paused else int(debt / step)
            if self.is_looping:
                self._play_on(elapsed)
            if steps > 0:
                debt -= steps * step
                self._rate = steps * step / max(elapsed, 1e-9)
                self._advance_or_stand(steps)
            due = max(due + FRAME, time.perf_counter())
            time.sleep(due - time.perf_counter() if due > time.perf_counter() else 0)

    def close(self):
        """Ends the page, and a film."""
        self._stop.set()
        if self.recorder is not None:
            self.recorder.end()
        self.server.stop()

    _legend = None


def view(scene, port=8080, record=None, **options):
    """Opens a scene in the browser: prints the address and runs until Ctrl-C.

    scene and options: as of :class:`Simulation`. Drag the cloth with the mouse; the rest is in the panel. record:
    folder for pictures and films, which need vtk and imageio-ffmpeg. Needs viser.
    """
    viewer = Viewer(scene, port, record, **options)
    print(f"isocloth: open {viewer.address} (this machine alone); Ctrl-C ends", flush=True)
    try:
        viewer.loop()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
