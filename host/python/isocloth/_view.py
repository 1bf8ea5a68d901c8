"""A running simulation in the browser: look around, pause, step, drag the cloth, change gravity, wind and fabrics.

The page is that of viser, on this machine alone: the server listens on the loopback interface, and pages of other
origins are refused.
"""

import contextlib
import json
import os
import pathlib
import queue
import tempfile
import threading
import time
import warnings

import numpy

from ._export import library, obstacle_surfaces
from ._results import run
from ._scenes import _make_files_absolute
from ._simulation import Simulation
from .errors import Error, FileError, SceneWarning

COLORS = [(214, 104, 78), (72, 128, 176), (96, 160, 104), (196, 160, 72), (148, 112, 176), (88, 164, 168)]
HAND = "hand of the viewer"
MOST_CLOTHS = 100  # drawn


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
    for garment in content["garments"]:
        garment.setdefault("grippers", []).append(
            {"name": HAND, "region": {"type": "sphere", "radius": size}, "position": [0, 0, 0], "stiffness": 1e5})
    return content


def _quiet(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        return make()


@contextlib.contextmanager
def _origins():
    """Servers of websockets that start within refuse pages of other origins."""
    server = library("websockets.asyncio.server", "viser")
    serve = server.serve

    def guarded(handler, host, port, **options):
        names = [f"http://{name}:{port}" for name in ("localhost", "127.0.0.1")]
        return serve(handler, host, port, origins=names, **options)

    server.serve = guarded
    try:
        yield
    finally:
        server.serve = serve


class Viewer:
    """Steps a simulation and shows it. ``address`` is that of the page.

    Everything that a page asks for is done between two steps, by the thread that is in :meth:`loop`.
    """

    def __init__(self, scene, port=8080, **options):
        viser = library("viser", "viser")
        content = _content(scene)
        sizes = _quiet(lambda: Simulation(content, **options))
        for line in sizes.warnings:
            print(f"isocloth: warning: {line}", flush=True)
        reach = 1.5 * max(_element_size(sizes, g) for g in range(sizes.garment_count))
        hands = [len(garment.get("grippers", [])) for garment in content["garments"]
                 for _ in range(int(garment.get("replicas", 1)))]
        self._hands = hands  # number of the viewer's gripper in each garment
        self.simulation = _quiet(lambda: Simulation(_with_hands(content, reach), **options))
        self.commands = queue.SimpleQueue()
        self.is_paused, self.speed = False, 1.0
        self.held = None  # garment, and where its node was when it was taken [m]
        self._stop = threading.Event()
        with _origins():
            self.server = viser.ViserServer(host="127.0.0.1", port=port, label="isocloth", verbose=False)
        self.address = f"http://127.0.0.1:{self.server.get_port()}"
        self.server.scene.set_up_direction("+z")
        self._step = float(content["step"])
        self._gravity = float(content.get("gravity", 9.8))
        self._add_obstacles(content, options)
        self._meshes = [self._add_garment(g) for g in range(min(self.simulation.garment_count, MOST_CLOTHS))]
        positions = numpy.concatenate([self.simulation.positions(g) for g in range(len(self._meshes))])
        low, high = positions.min(0), positions.max(0)
        center, size = (low + high) / 2, max(float(numpy.linalg.norm(high - low)), 0.1)
        self.server.initial_camera.position = tuple(center + size * numpy.array([0.9, -1.3, 0.5]))
        self.server.initial_camera.look_at = tuple(center)
        self._add_controls(content)

    def _add_garment(self, g):
        faces = self.simulation.faces(g)
        triangles = numpy.concatenate([faces[:, :3], faces[faces[:, 3] >= 0][:, [0, 2, 3]]])
        mesh = self.server.scene.add_mesh_simple(
            f"/garments/{g}", self.simulation.positions(g).astype(numpy.float32), triangles.astype(numpy.uint32),
            color=COLORS[g % len(COLORS)], side="double")

        @mesh.on_drag
        def _(event):
            start, end, phase = numpy.array(event.start_position), numpy.array(event.end_position), event.phase
            self.commands.put(lambda: self.drag(g, phase, start, end))

        return mesh

    def _add_obstacles(self, content, options):
        if not content.get("obstacles"):
            return
        try:
            library("h5py", "h5py")
        except Error as error:
            print(f"isocloth: obstacles are not drawn: {error}", flush=True)
            return
        one = dict(content, duration=content["step"], frame_interval=0)
        with tempfile.TemporaryDirectory(prefix="isocloth-") as folder:
            surfaces = _quiet(lambda: obstacle_surfaces(run(one, os.path.join(folder, "start"), quiet=True, **options)))
        moving = {obstacle.get("name", f"obstacle {i}") for i, obstacle in enumerate(content["obstacles"])
                  if "motion" in obstacle}
        for surface in surfaces:
            if surface.name in moving:
                print(f"isocloth: \"{surface.name}\" moves and is not drawn", flush=True)
                continue
            self.server.scene.add_mesh_simple(f"/obstacles/{surface.name}", surface.frame(0).astype(numpy.float32),
                                              surface.triangles(), color=(170, 166, 158), side="double")

    def _add_controls(self, content):
        gui = self.server.gui
        self._text = gui.add_markdown("")
        pause = gui.add_button("Pause")
        step, reset = gui.add_button("Step"), gui.add_button("Start again")
        gravity = gui.add_slider("gravity [m/s^2]", 0, 20, 0.1, min(max(self._gravity, 0), 20))
        speed = gui.add_slider("times real time", 0.1, 4, 0.1, 1)
        bending = gui.add_slider("bending, power of 10", -2, 2, 0.1, 0)
        feels_air = any("drag" in garment.get("fabric", {}) for garment in content["garments"])
        wind = gui.add_vector3("wind [m/s]", (0, 0, 0), min=(-20, -20, -20), max=(20, 20, 20), step=0.5) \
            if feels_air else None
        kappas = [garment.get("fabric", {}).get("kappa") for garment in content["garments"]]

        @pause.on_click
        def _(_event):
            self.commands.put(lambda: self.pause(not self.is_paused))

        @step.on_click
        def _(_event):
            self.commands.put(self.single_step)

        @reset.on_click
        def _(_event):
            self.commands.put(self.simulation.reset)

        @gravity.on_update
        def _(_event):
            self.commands.put(lambda: [self.simulation.set_gravity(g, gravity.value)
                                       for g in range(self.simulation.garment_count)])

        @speed.on_update
        def _(_event):
            self.speed = speed.value

        @bending.on_update
        def _(_event):
            def change():
                for g, kappa in enumerate(kappas):
                    if kappa and len(kappas) == self.simulation.garment_count:
                        self.simulation.set_fabric(g, kappa=kappa * 10 ** bending.value)
            self.commands.put(change)

        bending.disabled = not any(kappas) or len(kappas) != self.simulation.garment_count
        if wind is not None:
            @wind.on_update
            def _(_event):
                self.commands.put(lambda: self.simulation.set_wind(list(wind.value)))

        self._pause_button = pause

    def pause(self, is_paused):
        """Whether the simulation stands still."""
        self.is_paused = is_paused
        self._pause_button.label = "Go on" if is_paused else "Pause"

    def single_step(self):
        """One step, after which it stands still."""
        self.pause(True)
        self._advance(1)

    def drag(self, garment, phase, start, end):
        """phase ``start`` takes hold of the node of a garment nearest to ``start`` [m], shape (3,); ``update`` leads it
        by ``end - start`` of that time; ``end`` lets go."""
        gripper = self._hands[garment]
        if phase == "start":
            positions = self.simulation.positions(garment)
            node = positions[numpy.linalg.norm(positions - start, axis=1).argmin()]
            self.held = (garment, node, numpy.array(start))
            self._lead(garment, gripper, node, node)
            self.simulation.close_gripper(garment, gripper)
            return
        if self.held is None or self.held[0] != garment:
            return
        if phase == "end":
            self.simulation.open_gripper(garment, gripper)
            self.held = None
            return
        _, node, begin = self.held
        goal = node + (numpy.array(end) - begin)
        self._lead(garment, gripper, self._at, goal)

    def _lead(self, garment, gripper, start, goal):
        """Brings a hand to a place within a twentieth of a second, at most 5 m/s."""
        now = self.simulation.garment_time(garment)
        duration = max(0.05, float(numpy.linalg.norm(goal - start)) / 5)
        self.simulation.set_gripper_motion(garment, gripper, [now, now + duration], [list(start), list(goal)])
        self._at = goal

    def _advance(self, steps):
        reports = self.simulation.advance(steps)
        self._show(reports, steps)

    def _show(self, reports, steps):
        with self.server.atomic():
            for g, mesh in enumerate(self._meshes):
                mesh.vertices = self.simulation.positions(g).astype(numpy.float32)
        strains = [report.strain for report in reports]
        openings = [measures.seam_opening for measures in self.simulation.measures()] \
            if len(reports) <= MOST_CLOTHS else [0.0]
        lines = [f"**{self.simulation.time:.2f} s**, {self._rate:.2g} times real time",
                 f"{max(report.iterations for report in reports) / steps:.1f} iterations per step",
                 f"edges: {100 * max(s.max for s in strains):.1f} %, 95 %: {100 * max(s.p95 for s in strains):.2f} %"]
        contacts = max(report.cloth_contacts for report in reports)
        if contacts:
            lines.append(f"cloth on cloth: {contacts} contacts, {max(r.cloth_loaded for r in reports)} with a force, "
                         f"{100 * min(r.cloth_gap for r in reports):.0f} % of the thickness left")
        if max(openings) > 0:
            lines.append(f"seams: {1000 * max(openings):.2g} mm")
        frozen = sum(self.simulation.frozen(g) for g in range(self.simulation.garment_count))
        if frozen:
            lines.append(f"**{frozen} frozen**: start again")
        self._text.content = "  \n".join(lines)

    def loop(self, seconds=None):
        """Runs until :meth:`close`, Ctrl-C, or for some seconds."""
        frame, began = 1 / 30, time.perf_counter()
        shown, debt = began, 0.0
        while not self._stop.is_set() and (seconds is None or time.perf_counter() - began < seconds):
            while not self.commands.empty():
                try:
                    self.commands.get()()
                except Error as error:
                    print(f"isocloth: {error}", flush=True)
            now = time.perf_counter()
            debt = min(debt + (now - shown) * self.speed, 2 * frame * self.speed + self._step)
            elapsed, shown = now - shown, now
            steps = 0 if self.is_paused else int(debt / self._step)
            if steps > 0:
                debt -= steps * self._step
                self._rate = steps * self._step / max(elapsed, 1e-9)
                self._advance(steps)
            time.sleep(max(0.0, frame - (time.perf_counter() - now)))

    def close(self):
        """Ends the page."""
        self._stop.set()
        self.server.stop()

    _rate = 0.0


def _element_size(simulation, garment):
    """Longest edge [m]."""
    faces, positions = simulation.faces(garment), simulation.positions(garment)
    return float(numpy.linalg.norm(positions[faces[:, 1]] - positions[faces[:, 0]], axis=1).max())


def view(scene, port=8080, **options):
    """Opens a scene in the browser: prints the address and runs until Ctrl-C.

    scene and options: as of :class:`Simulation`. Drag the cloth with the mouse; the rest is in the panel. Needs viser.
    """
    viewer = Viewer(scene, port, **options)
    print(f"isocloth: open {viewer.address} (this machine alone); Ctrl-C ends", flush=True)
    try:
        viewer.loop()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
