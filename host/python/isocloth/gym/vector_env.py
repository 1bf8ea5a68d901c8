"""What the environments have in common."""

import abc
import typing
import warnings

import gymnasium
import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .._simulation import Simulation
from ..errors import SceneWarning
from .arguments import finite_array, ranges, require_options, reset_options
from .camera import SurfaceSamples

#: Ranges in which a reset draws the numbers of a fabric, evenly in their logarithms: thin cotton to terry.
FABRICS = {"density": (0.1, 0.4), "bending_stiffness": (5e-6, 1e-4), "stretch_stiffness": (1000.0, 4000.0),
           "shear_stiffness": (50.0, 200.0)}

THICKNESS = 0.002  # of the cloth [m]
_OPEN, _CLOSED = 0.0, 1.0


class ClothVectorEnv(VectorEnv, abc.ABC):
    """Cloths of one mesh, each with two grippers, in one simulation.

    num_envs: cloths. horizon: steps of an episode. observation: ``points`` or ``depth``. fabrics: ranges like
    :data:`FABRICS`; ``{}``: all cloths the same. cloth_contact: cloths meet themselves at their thickness; without it
    they are several times as fast, but pass through themselves. starts: how many states there are from which episodes
    begin; they are simulated once, at the first reset, alike for every seed, and a reset chooses among them, turns and
    shifts. render_mode: None, nothing is drawn; ``depth`` is what a camera sees. options: as
    :class:`isocloth.Simulation`.

    Observations are dicts. ``points``: positions of the nodes [m], shape (nodes, 3); or ``depth``: what an orthographic
    camera sees (``camera``) one metre away, cloth and obstacles without grippers, shape (64, 64) [m]. ``grippers``:
    place of each [m] and whether it is closed, shape (2, 4).

    Actions: for each gripper velocity in parts of 0.5 m/s, between -1 and 1, and whether it closes (> 0) or opens,
    shape (2, 4), held for ``frame_time``, 0.05 s. Grippers stay within ``workspace`` [m].

    A reward is by how much the step made the score larger. ``infos``: ``score``, ``is_success``, and ``lost``: a step
    of the cloth failed. Episodes end after ``horizon`` steps (truncated), or when a cloth is lost or dropped
    (terminated). A step after that resets the cloth (``AutoresetMode.NEXT_STEP``).
    """

    metadata: typing.ClassVar = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
    frame_time = 0.05
    top_speed = 0.5
    camera: typing.ClassVar
    workspace: typing.ClassVar  # lowest and highest place of a gripper [m]
    turn: typing.ClassVar = 0.0  # a reset turns the cloth about z by up to this [rad]
    shift: typing.ClassVar  # and moves it by up to this along each axis [m]
    gripper_radius: typing.ClassVar  # in which a gripper takes hold of nodes [m]
    starts_held: typing.ClassVar = False

    def __init__(self, num_envs=1, *, horizon=60, observation="points", fabrics=None, cloth_contact=False, starts=16,
                 render_mode=None, **options):
        require_options(num_envs=num_envs, horizon=horizon, observation=observation, cloth_contact=cloth_contact,
                        starts=starts, render_mode=render_mode, options=options)
        self.num_envs, self.horizon, self.observation = int(num_envs), int(horizon), observation
        self.render_mode = None
        self.fabrics = FABRICS if fabrics is None else ranges(fabrics)
        self._cloth_contact, self._options, self._start_count, self._starts = cloth_contact, options, starts, None
        self.simulation = self._simulation(num_envs)
        self._rest = self.simulation.positions(0)
        box, pixels = gymnasium.spaces.Box, self.camera.pixels
        spans = [numpy.broadcast_to(numpy.array([*place, closed], dtype=numpy.float32), (2, 4))
                 for place, closed in zip(self.workspace, (_OPEN, _CLOSED))]
        seen = (box(-numpy.inf, numpy.inf, self._rest.shape, numpy.float32) if observation == "points" else
                box(-numpy.inf, numpy.inf, (pixels, pixels), numpy.float32))
        self.single_observation_space = gymnasium.spaces.Dict({observation: seen, "grippers": box(*spans)})
        self.single_action_space = box(-1, 1, (2, 4), numpy.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._samples = SurfaceSamples(self._rest, self.simulation.faces(0), self.camera.pixel / 3)
        self._background = self.background()
        self._steps_per_frame = round(self.frame_time / self._scene(1)["step"])
        self._grippers = numpy.zeros((num_envs, 2, 4))
        self._ages = numpy.zeros(num_envs, dtype=int)
        self._is_over = numpy.ones(num_envs, dtype=bool)
        self._scores = numpy.zeros(num_envs)

    @abc.abstractmethod
    def garment(self):
        """Mesh and ``transform`` of the cloth, as in a scene."""

    @abc.abstractmethod
    def obstacles(self):
        """As in a scene."""

    @abc.abstractmethod
    def handles(self, points):
        """Where the grippers begin [m], shape (envs, 2, 3), with cloths at ``points`` [m], shape (envs, nodes, 3)."""

    @abc.abstractmethod
    def score(self, points):
        """What an episode is to make large, shape (envs,); a reward is by how much a step did. points [m], shape
        (envs, nodes, 3)."""

    @abc.abstractmethod
    def is_success(self, scores):
        """Whether the task is done, shape (envs,)."""

    def make_starts(self):
        """Positions [m] from which episodes begin, shape (starts, nodes, 3)."""
        return self._rest[None]

    def begin(self, envs, points):
        """What else an episode's start asks for; points [m], shape (len(envs), nodes, 3)."""

    def is_dropped(self, points):
        """Whether a cloth is where the grippers cannot get it, shape (envs,)."""
        return numpy.zeros(len(points), dtype=bool)

    def background(self):
        """What the camera sees without cloth [m], shape (pixels, pixels)."""
        return self.camera.empty()

    def depth(self, points):
        """What the camera sees [m], shape (envs, pixels, pixels), of ``points`` [m], shape (envs, nodes, 3): of points
        of cloth a third of a pixel apart, the nearest in a pixel."""
        return self.camera.depth(self._samples.of(points), self._background)

    def reset(self, *, seed=None, options=None):
        """All cloths to the start of an episode. ``options``: ``reset_mask``, shape (num_envs,): some of them;
        ``same``: all in the same place and of the same fabric, for planners that try ways on copies."""
        self._require_open("reset")
        mask, same = reset_options(options, self.num_envs)
        super().reset(seed=seed)
        self._begin(numpy.flatnonzero(mask), same)
        return self._seen(self._points()), self._infos()

    def step(self, actions):
        self._require_open("step")
        actions = finite_array("actions", actions, (self.num_envs, 2, 4))
        over, going = numpy.flatnonzero(self._is_over), numpy.flatnonzero(~self._is_over)
        before = self._scores.copy()
        if len(over):
            self._begin(over)
        self._steer(going, actions)
        self.simulation.advance(self._steps_per_frame)
        points = self._points()
        self._scores = self.score(points)
        self._ages[going] += 1
        terminations = self._lost() | self.is_dropped(points)
        truncations = self._ages >= self.horizon
        self._is_over = terminations | truncations
        rewards = numpy.where(numpy.isin(numpy.arange(self.num_envs), going), self._scores - before, 0.0)
        return self._seen(points), rewards, terminations, truncations & ~terminations, self._infos()

    def close_extras(self, **_):
        """The simulation goes away with :meth:`close`."""
        self.simulation = None

    def _require_open(self, what):
        if self.simulation is None:
            raise gymnasium.error.ClosedEnvironmentError(f"{what}: found environments that were closed, expected open "
                                                         "ones; make them anew")

    def _lost(self):
        return numpy.array([self.simulation.frozen(g) for g in range(self.num_envs)])

    def _infos(self):
        known = numpy.ones(self.num_envs, dtype=bool)
        infos = {"score": self._scores.copy(), "is_success": self.is_success(self._scores), "lost": self._lost()}
        return infos | {"_" + name: known for name in infos}

    def _begin(self, envs, same=False):
        """Each at one of the starts, turned and shifted, of another fabric; grippers where they begin."""
        if not len(envs):
            return
        if self._starts is None:
            self._starts = self.make_starts()
        simulation, chosen = self.simulation, [int(g) for g in envs]
        drawn = self.np_random.uniform(size=(1 if same else len(envs), 5 + len(self.fabrics)))
        drawn = numpy.broadcast_to(drawn, (len(envs), drawn.shape[1]))
        simulation.reset(chosen)
        points = self._starts[(drawn[:, 0] * len(self._starts)).astype(int)]
        angles = self.turn * (2 * drawn[:, 1] - 1)
        c, s = numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
        points = numpy.stack([c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1],
                              points[..., 2]], axis=-1)
        points += (numpy.array(self.shift) * (2 * drawn[:, 2:5] - 1))[:, None]
        simulation.write("positions", points.reshape(-1, 3), chosen)
        self._grippers[envs, :, :3] = self.handles(points)
        self._grippers[envs, :, 3] = _CLOSED if self.starts_held else _OPEN
        self._place_grippers(simulation, chosen, self._grippers[envs, :, :3], self.starts_held)
        self._draw_fabrics(simulation, chosen, drawn[:, 5:])
        self.begin(envs, points)
        self._ages[envs] = 0
        self._is_over[envs] = False
        self._scores = self.score(self._points())

    def _draw_fabrics(self, simulation, chosen, drawn):
        spans = numpy.array(list(self.fabrics.values())).reshape(-1, 2)
        numbers = spans[:, 0] * (spans[:, 1] / spans[:, 0]) ** drawn
        drawn = dict(zip(self.fabrics, numbers.T))
        if "density" in drawn:
            drawn.setdefault("gravity_density", drawn["density"])  # what is heavier weighs more
        simulation.set_fabrics(chosen, **drawn)

    def _place_grippers(self, simulation, chosen, places, closed):
        for g, at in zip(chosen, places):
            for i in range(2):
                simulation.set_gripper_motion(g, i, [0.0], at[i, None])
                (simulation.close_gripper if closed else simulation.open_gripper)(g, i)

    def _steer(self, envs, actions):
        way = self.top_speed * self.frame_time * numpy.clip(actions[..., :3], -1, 1)
        for g in map(int, envs):
            time = self.simulation.time
            for i in range(2):
                here = self._grippers[g, i, :3].copy()
                there = numpy.clip(here + way[g, i], *self.workspace)
                self.simulation.set_gripper_motion(g, i, [time, time + self.frame_time], numpy.stack([here, there]))
                closes = actions[g, i, 3] > 0
                if closes != (self._grippers[g, i, 3] == _CLOSED):
                    (self.simulation.close_gripper if closes else self.simulation.open_gripper)(g, i)
                self._grippers[g, i] = [*there, _CLOSED if closes else _OPEN]

    def _are_open(self):
        return (self._grippers[:, :, 3] == _OPEN).all(-1)

    def _points(self):
        return self.simulation.positions(slice(None))

    def _seen(self, points):
        seen = points if self.observation == "points" else self.depth(points)
        return {self.observation: seen.astype(numpy.float32), "grippers": self._grippers.astype(numpy.float32)}

    def _simulation(self, replicas):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)
            return Simulation(self._scene(replicas), **self._options)

    def _start_simulation(self):
        """Cloths of various fabrics, from which the starts are made, and what else is drawn for these."""
        random = numpy.random.default_rng(0)
        simulation = self._simulation(self._start_count)
        self._draw_fabrics(simulation, list(range(self._start_count)),
                           random.uniform(size=(self._start_count, len(self.fabrics))))
        return simulation, random

    def _scene(self, replicas):
        contact = {"tolerance": 0.0005, "margin": 0.001}
        if self._cloth_contact:
            contact |= {"cloth": True, "cloth_friction": {"static": 0.3}}
        gripper = {"region": {"type": "sphere", "radius": self.gripper_radius}, "holds": []}
        return {
            "recipe": "membrane", "step": 0.005, "duration": 1, "contact": contact,
            # Grippers that pull a cloth apart ask for what cannot be met: such steps end soon, and count as stalled.
            "projection": {"tolerance": 0.005, "max_iterations": 10, "max_substeps": 1, "on_violation": "continue"},
            "garments": [{
                "name": "cloth", "replicas": replicas, **self.garment(),
                "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-5, "mass_damping": 0.2,
                           "thickness": THICKNESS,
                           "stretch_stiffness": 2000, "shear_stiffness": 100},
                "grippers": [{"name": name, **gripper} for name in ("left", "right")]}],
            "obstacles": self.obstacles()}


class ClothEnv(gymnasium.Env):
    """One cloth of a vector environment; arguments as there."""

    metadata: typing.ClassVar = {"render_modes": []}
    vector: typing.ClassVar[type]

    def __init__(self, **arguments):
        if "num_envs" in arguments:
            raise TypeError("num_envs: found one for a single environment, expected none; of many: make_vec")
        self.cloths = self.vector(1, **arguments)
        self.render_mode = self.cloths.render_mode
        self.observation_space = self.cloths.single_observation_space
        self.action_space = self.cloths.single_action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        observations, infos = self.cloths.reset(seed=seed, options=options)
        return _first(observations), _first(infos)

    def step(self, action):
        action = finite_array("action", action, (2, 4))
        observations, rewards, terminations, truncations, infos = self.cloths.step(action[None])
        return (_first(observations), float(rewards[0]), bool(terminations[0]), bool(truncations[0]), _first(infos))

    def close(self):
        self.cloths.close()


def _first(arrays):
    return {name: values[0] for name, values in arrays.items() if not name.startswith("_")}


def table(size, friction=0.4):
    """Obstacle: a table ``size`` [m] wide whose top is z = 0."""
    return {"name": "table", "friction": {"static": friction},
            "shape": {"type": "table", "size": [size, size], "thickness": 0.04, "rounding": 0.01}}
