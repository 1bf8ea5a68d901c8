"""What the environments have in common."""

import abc
import sys
import typing
import warnings

import gymnasium
import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .._simulation import Simulation
from ..errors import SceneWarning
from . import randomization
from .arguments import autoreset_mode as mode_of
from .arguments import camera_list, finite_array, observations_of, require_options, reset_options, seeds
from .camera import LABELS, PinholeCamera
from .scenery import Scenery, rods
from .window import Window

THICKNESS = 0.002  # of the cloth [m]
_OPEN, _CLOSED = 0.0, 1.0


class ClothVectorEnv(VectorEnv, abc.ABC):
    """Cloths of one mesh, each with two grippers, in one simulation.

    num_envs: cloths. horizon: steps of an episode. observation: one or several of ``points``, ``depth``, ``rgb`` and
    ``segmentation``. randomize: what is drawn at random (:data:`isocloth.gym.TABLE`): None: numbers of the fabric;
    ``all``; names; or a dict of ranges, ``{}``: nothing. cloth_contact: cloths meet themselves at their thickness;
    without it they are several times as fast, but pass through themselves. starts: how many states there are from which
    episodes begin; they are simulated once, at the first reset, alike for every seed, and a reset chooses among them,
    turns and shifts. cameras: a camera or several of one shape (:class:`isocloth.gym.PinholeCamera`); None: the task's
    own orthographic one, which sees no grippers. max_strain, max_force: of a cloth before it is torn, and of a gripper
    [N] (30 N: the payload of a small arm, 3 kg). render_mode: ``rgb_array``, ``human`` (needs pygame) or None.
    autoreset_mode: of gymnasium. options: as :class:`isocloth.Simulation`.

    Observations are dicts. ``points``: positions of the nodes [m], shape (nodes, 3). ``depth`` [m], float32, 0 in holes
    of a camera with noise, ``rgb``, uint8, (..., 3), and ``segmentation``, uint8, by :data:`isocloth.gym.LABELS`: what
    the cameras see, shape (rows, columns), with ``cameras`` (cameras, rows, columns). ``grippers``: place of each [m]
    and whether it is closed, shape (2, 4). All are clipped to the bounds of their spaces.

    Actions: for each gripper velocity in parts of 0.5 m/s, between -1 and 1, and whether it closes (> 0) or opens,
    shape (2, 4), held for ``frame_time``, 0.05 s. Grippers stay within ``workspace`` [m], and above a table by as far
    as what they hold reaches down.

    A reward is by how much the step made the score larger; of an episode that fails, the last reward takes back all
    others and 1 more: it earns -1 in all. ``infos``: ``score``; ``is_success``, which asks for open grippers;
    ``strain``, the largest of an edge in the step; ``force``, the larger of the grippers' at its end [N]; and what
    ends an episode (terminated): ``lost``, a step of the cloth failed; ``dropped``; ``torn``, strained by more than
    ``max_strain``; ``overloaded``, a gripper pulled by more than ``max_force``; ``pressed``, cloth forced by more than
    ``max_depth`` into what stands there. After ``horizon`` steps an episode is truncated.

    A seed is that of the first cloth, those of the others follow; or a list has one for each, None: as if none were
    given. What a cloth draws depends on its seed and on how many episodes it has begun since, and so the vector
    environment does what ``gymnasium.vector.SyncVectorEnv`` of single ones does, to the last bit. Environments may be
    pickled and copied.
    """

    metadata: typing.ClassVar = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["human", "rgb_array"],
                                 "render_fps": 20}
    frame_time = 0.05
    top_speed = 0.5
    action_shape: typing.ClassVar = (2, 4)
    failures: typing.ClassVar = ("lost", "dropped", "torn", "overloaded", "pressed")
    moving: typing.ClassVar = ()  # names of obstacles that are hands
    camera: typing.ClassVar
    render_camera: typing.ClassVar  # of pictures for people
    workspace: typing.ClassVar  # lowest and highest place of a gripper [m]
    extent: typing.ClassVar  # of the cloth [m]: points are seen so far beyond the workspace
    turn: typing.ClassVar = 0.0  # a reset turns the cloth about z by up to this [rad]
    shift: typing.ClassVar  # and moves it by up to this along each axis [m]
    gripper_radius: typing.ClassVar  # in which a gripper takes hold of nodes [m]
    starts_held: typing.ClassVar = False
    ground: typing.ClassVar = -numpy.inf  # height of the table [m]
    max_depth: typing.ClassVar = 0.006  # [m]
    may_be_scaled: typing.ClassVar = False  # whether sizes may be drawn

    def __init__(self, num_envs=1, *, horizon=60, observation="points", randomize=None, cloth_contact=False, starts=16,
                 cameras=None, max_strain=0.15, max_force=30.0, render_mode=None,
                 autoreset_mode=AutoresetMode.NEXT_STEP, **options):
        require_options(num_envs=num_envs, horizon=horizon, cloth_contact=cloth_contact, starts=starts,
                        max_strain=max_strain, max_force=max_force, render_mode=render_mode, options=options)
        self.num_envs, self.horizon, self.render_mode = int(num_envs), int(horizon), render_mode
        self.observation, self.cameras = observations_of(observation), camera_list(cameras)
        self.randomize = randomization.ranges(randomize)
        self.max_strain, self.max_force = float(max_strain), float(max_force)
        self.metadata = {**self.metadata, "autoreset_mode": mode_of(autoreset_mode)}
        self._cloth_contact, self._options, self._start_count, self._starts = cloth_contact, options, starts, None
        self.scales, self._frictions = numpy.ones(num_envs), None
        self._draw_environments()
        self.simulation = self._simulation(num_envs, is_drawn=True)
        unscaled = self._simulation(1) if "size" in self.randomize else self.simulation
        self._rest = unscaled.rest_positions(0)
        self._scenery = Scenery(self.simulation, self.moving)
        self._window = None
        self._steps_per_frame = round(self.frame_time / self._scene(1)["step"])
        self._grippers = numpy.zeros((num_envs, 2, 4))
        self._depths = numpy.zeros((num_envs, 2))  # of what grippers hold below them [m]
        self._delays = numpy.zeros(num_envs, dtype=int)
        self._waiting = numpy.zeros((1 + int(max(self.randomize.get("latency", (0, 0)))), num_envs, *self.action_shape))
        self._moves = None if self.cameras is None else numpy.zeros((num_envs, len(self.cameras), 7))
        self._ages = numpy.zeros(num_envs, dtype=int)
        self._is_over = numpy.ones(num_envs, dtype=bool)
        self._scores, self._earned = numpy.zeros(num_envs), numpy.zeros(num_envs)
        self._strains, self._forces = numpy.zeros(num_envs), numpy.zeros(num_envs)
        self._failures = {name: numpy.zeros(num_envs, dtype=bool) for name in self.failures}
        self._seeds, self._episodes = None, numpy.zeros(num_envs, dtype=int)
        self._points = self.simulation.positions(slice(None))
        self.single_observation_space = gymnasium.spaces.Dict(self._spaces())
        self.single_action_space = gymnasium.spaces.Box(-1, 1, self.action_shape, numpy.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observed = {name: numpy.zeros((num_envs, *space.shape), dtype=space.dtype)
                          for name, space in self.single_observation_space.items()}

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
    def score(self, points, envs=slice(None)):
        """What an episode is to make large, shape (envs,); a reward is by how much a step did. points [m], shape
        (envs, nodes, 3), of these environments."""

    @abc.abstractmethod
    def is_success(self, scores):
        """Whether the task is done where grippers are open, shape (envs,)."""

    def make_starts(self):
        """Positions [m] from which episodes begin, shape (starts, nodes, 3)."""
        return self._rest[None]

    def begin(self, envs, points):
        """What else an episode's start asks for; points [m], shape (len(envs), nodes, 3)."""

    def is_dropped(self, points):
        """Whether a cloth is where the grippers cannot get it, shape (envs,)."""
        return numpy.zeros(len(points), dtype=bool)

    def depth(self, points):
        """What the task's own camera sees [m], shape (envs, rows, columns), of ``points`` [m], shape (envs, nodes,
        3)."""
        return self._scenery.views([self.camera], points).depth[:, 0]

    def reset(self, *, seed=None, options=None):
        """All cloths to the start of an episode. ``options``: ``reset_mask``, shape (num_envs,): some of them;
        ``same``: all in the same place and of the same fabric, for planners that try ways on copies."""
        self._require_open("reset")
        mask, same = reset_options(options, self.num_envs)
        given = seeds(seed, self.num_envs)
        first = next((int(s) for s in given if s is not None), None)
        super().reset(seed=first)
        if self._seeds is None:
            self._seeds = self.np_random.integers(2**62, size=self.num_envs).tolist()
        for env in numpy.flatnonzero(mask):
            if given[env] is not None:
                self._seeds[env], self._episodes[env] = int(given[env]), 0
        self._begin(numpy.flatnonzero(mask), same)
        if self.render_mode == "human":
            self.render()
        return self._seen(), self._infos()

    def step(self, actions):
        self._require_open("step")
        actions = finite_array("actions", actions, (self.num_envs, *self.action_shape))
        over, going = numpy.flatnonzero(self._is_over), numpy.flatnonzero(~self._is_over)
        mode = self.metadata["autoreset_mode"]
        if len(over) and (self._seeds is None or mode is not AutoresetMode.NEXT_STEP):
            raise gymnasium.error.ResetNeeded(f"step: found environment {over[0]} at the end of an episode, expected a "
                                              "reset of it before")
        before = self._scores.copy()
        self._steer(going, self._delayed(going, actions))
        reports = self._advance()
        self._points = self.simulation.positions(slice(None))
        self._ages[going] += 1
        self._look_for_failures(going, reports)
        self._scores[going] = self.score(self._points)[going]
        terminations = numpy.any(list(self._failures.values()), axis=0)
        rewards = numpy.where(terminations, -1.0 - self._earned, self._scores - before)
        rewards[over] = 0.0
        self._earned += rewards
        truncations = (self._ages >= self.horizon) & ~terminations
        terminations[over] = truncations[over] = False
        self._is_over = terminations | truncations
        self._begin(over)
        self._observe(going)
        infos = {}
        if mode is AutoresetMode.SAME_STEP and self._is_over.any():
            infos = self._final_infos()
            self._begin(numpy.flatnonzero(self._is_over))
        if self.render_mode == "human":
            self.render()
        return self._seen(), rewards, terminations, truncations, self._infos() | infos

    def render(self):
        """Pictures of all, uint8, shape (256, 256, 3) each; with ``human`` None, and a window shows them."""
        self._require_open("render")
        if self.render_mode is None:
            gymnasium.logger.warn("render: found render_mode None, expected 'rgb_array' or 'human'")
            return None
        shown = slice(None) if self.render_mode == "rgb_array" else slice(Window.most)
        views = self._scenery.views([self.render_camera], self._points[shown], self._hands_shown(shown))
        pictures = self._scenery.colours(views, self._points[shown])[:, 0]
        if self.render_mode == "rgb_array":
            return tuple(pictures)
        self._window = self._window or Window(type(self).__name__, self.metadata["render_fps"])
        self._window.show(pictures)
        return None

    def close_extras(self, **_):
        """The simulation goes away with :meth:`close`."""
        self.simulation = None
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self):
        return self.__dict__ | {"_window": None}

    def _require_open(self, what):
        if self.simulation is None:
            raise gymnasium.error.ClosedEnvironmentError(f"{what}: found environments that were closed, expected open "
                                                         "ones; make them anew")

    def _spaces(self):
        box, low, high = gymnasium.spaces.Box, *(numpy.array(corner, dtype=float) for corner in self.workspace)
        shape = self.camera.shape if self.cameras is None else (len(self.cameras), *self.cameras[0].shape)
        far = self.camera.far if self.cameras is None else max(camera.far for camera in self.cameras)
        most = numpy.uint8(max(LABELS.values()))
        spaces = {"points": lambda: box(*(numpy.broadcast_to(corner, self._rest.shape).astype(numpy.float32)
                                          for corner in (low - self.extent, high + self.extent))),
                  "depth": lambda: box(0, far, shape, numpy.float32),
                  "rgb": lambda: box(0, 255, (*shape, 3), numpy.uint8),
                  "segmentation": lambda: box(0, most, shape, numpy.uint8)}
        return {name: spaces[name]() for name in self.observation} | self._hand_spaces()

    def _hand_spaces(self):
        spans = [numpy.broadcast_to(numpy.array([*place, closed], dtype=numpy.float32), (2, 4))
                 for place, closed in zip(self.workspace, (_OPEN, _CLOSED))]
        return {"grippers": gymnasium.spaces.Box(*spans)}

    def _look_for_failures(self, going, reports):
        strains = reports if self._options.get("measure_strain", True) else self.simulation.strains()
        self._strains = numpy.array([each.strain.max if strains is reports else each.max for each in strains])
        self._forces = numpy.linalg.norm(self.simulation.hold_forces(), axis=-1).max(-1)
        self._failures = self._more_failures() | {
            "lost": self.simulation.frozen_mask,
            "dropped": self.is_dropped(self._points),
            "torn": self._strains > self.max_strain,
            "overloaded": self._forces > self.max_force,
            "pressed": numpy.array([report.penetration for report in reports]) > self.max_depth}
        ended = numpy.ones(self.num_envs, dtype=bool)
        ended[going] = False
        for failed in self._failures.values():
            failed[ended] = False

    def _more_failures(self):
        """Of a task alone: those of ``failures`` that others do not have."""
        return {}

    def _infos(self):
        failed = numpy.any(list(self._failures.values()), axis=0)
        infos = {"score": self._scores.copy(), "strain": self._strains.copy(), "force": self._forces.copy(),
                 "is_success": self.is_success(self._scores) & self._is_let_go() & ~failed, **self._more_infos(),
                 **{name: values.copy() for name, values in self._failures.items()}}
        known = numpy.ones(self.num_envs, dtype=bool)
        return infos | {"_" + name: known.copy() for name in infos}

    def _more_infos(self):
        """Of a task alone."""
        return {}

    def _final_infos(self):
        """What observations and infos were where an episode ends."""
        over, infos = self._is_over, self._infos()
        observations = numpy.full(self.num_envs, None, dtype=object)
        for env in numpy.flatnonzero(over):
            observations[env] = {name: values[env].copy() for name, values in self._observed.items()}
        final = {name: numpy.where(over, values, numpy.zeros_like(values)) for name, values in infos.items()}
        return {"final_obs": observations, "_final_obs": over.copy(), "final_info": final, "_final_info": over.copy()}

    def _begin(self, envs, same=False):
        """Each at one of the starts, turned and shifted, of another fabric; grippers where they begin."""
        if not len(envs):
            return
        if self._starts is None:
            self._starts = self.make_starts()
        simulation, chosen = self.simulation, [int(g) for g in envs]
        count = 5 + len(self.randomize) + (0 if self.cameras is None else 7 * len(self.cameras))
        who = envs[:1] if same else envs
        drawn = randomization.shares([self._seeds[env] for env in who], self._episodes[who], count)
        drawn = numpy.broadcast_to(drawn, (len(envs), count))
        self._episodes[envs] += 1
        simulation.reset(chosen)
        points = self._starts[(drawn[:, 0] * len(self._starts)).astype(int)]
        angles = self.turn * (2 * drawn[:, 1] - 1)
        c, s = numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
        points = numpy.stack([c * points[..., 0] - s * points[..., 1], s * points[..., 0] + c * points[..., 1],
                              points[..., 2]], axis=-1)
        ground = points[..., 2].min(1)[:, None, None] * [0, 0, 1]
        points = ground + self.scales[envs, None, None] * (points - ground)
        points += (numpy.array(self.shift) * (2 * drawn[:, 2:5] - 1))[:, None]
        simulation.write("positions", points.reshape(-1, 3), chosen)
        self._points[envs] = points
        self._place_hands(envs, chosen, points)
        self._draw_episodes(envs, chosen, drawn[:, 5:])
        self.begin(envs, points)
        self._ages[envs] = 0
        self._is_over[envs] = False
        self._strains[envs] = self._forces[envs] = self._earned[envs] = 0
        for failed in self._failures.values():
            failed[envs] = False
        self._scores[envs] = self.score(points, envs)
        self._observe(envs)

    def _generator(self, env, camera):
        """Of the noise of what a camera sees of a cloth now."""
        return numpy.random.default_rng([self._seeds[env], self._episodes[env], self._ages[env], camera])

    def _draw_environments(self):
        """Sizes and frictions, which the scene has: alike for every seed."""
        random = numpy.random.default_rng(0)
        if "size" in self.randomize:
            if not self.may_be_scaled:
                raise ValueError(f"randomize: found size, expected none of it: {type(self).__name__} has one size")
            self.scales = randomization.value("size", self.randomize["size"], random.uniform(size=self.num_envs))
        if "friction" in self.randomize:
            self._frictions = randomization.value("friction", self.randomize["friction"],
                                                  random.uniform(size=self.num_envs))

    def _draw_episodes(self, envs, chosen, drawn):
        found = {name: randomization.value(name, span, drawn[:, k])
                 for k, (name, span) in enumerate(self.randomize.items())
                 if randomization.row_of(name).drawn == "episode"}
        self._delays[envs] = found.pop("latency", numpy.zeros(len(envs))).astype(int)
        self._waiting[:, envs] = self._resting(envs)
        if self.cameras is not None:
            # A number of its own for each camera and axis; ranges are those of the rows.
            shares = drawn[:, len(self.randomize):].reshape(len(envs), len(self.cameras), 7)
            spans = [self.randomize.get(name, (rest, rest)) for name, rest in (
                *[("camera_position", 0.0)] * 3, *[("camera_angle", 0.0)] * 3, ("camera_field_of_view", 1.0))]
            low, high = numpy.array(spans).T
            moves = low + (high - low) * shares
            moves[..., 3:6] = numpy.radians(moves[..., 3:6])
            self._moves[envs] = moves
        numbers = {name: values for name, values in found.items() if not name.startswith("camera_")}
        self._set_fabrics(self.simulation, chosen, numbers)

    def _set_fabrics(self, simulation, chosen, numbers):
        if "density" in numbers:
            numbers.setdefault("gravity_density", numbers["density"])  # what is heavier weighs more
        if numbers:
            simulation.set_fabrics(chosen, **numbers)

    def _place_hands(self, envs, chosen, points):
        self._grippers[envs, :, :3] = numpy.clip(self.handles(points), *self.workspace)
        self._grippers[envs, :, 3] = _CLOSED if self.starts_held else _OPEN
        for g in chosen:  # where they are they are told in each step
            for i in range(2):
                (self.simulation.close_gripper if self.starts_held else self.simulation.open_gripper)(g, i)
        self._note_depths(numpy.repeat(envs, 2), numpy.tile([0, 1], len(envs)))

    def _resting(self, envs):
        """Actions that change nothing."""
        return numpy.concatenate([numpy.zeros((len(envs), 2, 3)), self._grippers[envs, :, 3:] * 2 - 1], axis=-1)

    def _place_grippers(self, simulation, chosen, places, closed):
        for g, at in zip(chosen, places):
            for i in range(2):
                simulation.set_gripper_motion(g, i, [0.0], at[i, None])
                (simulation.close_gripper if closed else simulation.open_gripper)(g, i)

    def _delayed(self, going, actions):
        """Actions of as many steps ago as each cloth is late."""
        if len(self._waiting) == 1:
            return actions
        self._waiting[1:, going] = self._waiting[:-1, going]
        self._waiting[0, going] = actions[going]
        return self._waiting[self._delays, numpy.arange(self.num_envs)]

    def _steer(self, envs, actions):
        way = self.top_speed * self.frame_time * numpy.clip(actions[..., :3], -1, 1)
        here = self._grippers[..., :3].copy()
        closes, was_closed = actions[..., 3] > 0, self._grippers[..., 3] == _CLOSED
        self._note_depths(*numpy.nonzero(closes & ~was_closed))
        there = numpy.clip(here + way, *self.workspace)
        there[..., 2] = numpy.maximum(there[..., 2], numpy.where(closes, self.ground + self._depths, -numpy.inf))
        simulation = self.simulation
        time = simulation.time
        for g in map(int, envs):
            for i in range(2):
                simulation.set_gripper_motion(g, i, [time, time + self.frame_time], [here[g, i], there[g, i]])
                if closes[g, i] != was_closed[g, i]:
                    (simulation.close_gripper if closes[g, i] else simulation.open_gripper)(g, i)
        self._grippers[envs, :, :3] = there[envs]
        self._grippers[envs, :, 3] = numpy.where(closes[envs], _CLOSED, _OPEN)

    def _note_depths(self, envs, sides):
        """How far nodes that these grippers take hold of are below them."""
        ways = self._points[envs] - self._grippers[envs, sides, None, :3]
        held = numpy.linalg.norm(ways, axis=-1) <= self.gripper_radius
        self._depths[envs, sides] = THICKNESS / 2 - numpy.where(held, ways[..., 2], 0).min(-1, initial=0)

    def _advance(self):
        return self.simulation.advance(self._steps_per_frame)

    def _hands_shown(self, envs):
        return rods(self._grippers[envs, :, :3])

    def _is_let_go(self):
        return (self._grippers[:, :, 3] == _OPEN).all(-1)

    def _observe(self, envs):
        """Notes what is seen of some environments."""
        if not len(envs):
            return
        space, points, found = self.single_observation_space, self._points[envs], {}
        if set(self.observation) - {"points"}:
            cameras = [self.camera] if self.cameras is None else self.cameras
            hands = None if self.cameras is None else self._hands_shown(envs)
            views = self._scenery.views(cameras, points, hands, None if self._moves is None else self._moves[envs])
            if "rgb" in self.observation:
                found["rgb"] = self._scenery.colours(views, points)
            if "segmentation" in self.observation:
                found["segmentation"] = self._scenery.segmentation(views)
            if "depth" in self.observation:
                found["depth"] = numpy.stack([
                    camera.noise.apply(depth, camera, [self._generator(env, k) for env in envs])
                    if camera.noise else depth
                    for k, (camera, depth) in enumerate(zip(cameras, views.depth.swapaxes(0, 1)))], axis=1)
            if self.cameras is None:
                found = {name: values[:, 0] for name, values in found.items()}
        if "points" in self.observation:
            found["points"] = points
        for name, values in (found | self._hands_seen(envs)).items():
            if space[name].dtype == numpy.float32:
                values = numpy.clip(values.astype(numpy.float32), space[name].low, space[name].high)
            self._observed[name][envs] = values

    def _hands_seen(self, envs):
        return {"grippers": self._grippers[envs]}

    def _seen(self):
        return {name: values.copy() for name, values in self._observed.items()}

    def _simulation(self, replicas, is_drawn=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)
            return Simulation(self._scene(replicas, is_drawn), **self._options)

    def _make_starts_by(self, simulation, steps, so_far=""):
        """Takes steps from which starts come, and says so on standard error where that is a terminal: they may be
        minutes."""
        is_seen = sys.stderr is not None and sys.stderr.isatty()
        for done in range(0, steps, 50):
            if is_seen:
                sys.stderr.write(f"\r{type(self).__name__} makes its starts{so_far}: step {done} of {steps} ")
                sys.stderr.flush()
            simulation.advance(min(50, steps - done))
        if is_seen:
            sys.stderr.write("\r" + " " * 78 + "\r")
            sys.stderr.flush()

    def _start_simulation(self):
        """Cloths of various fabrics, from which the starts are made, and what else is drawn for these."""
        random = numpy.random.default_rng(0)
        simulation = self._simulation(self._start_count)
        shares = random.uniform(size=(self._start_count, len(self.randomize)))
        self._set_fabrics(simulation, list(range(self._start_count)), {
            name: randomization.value(name, span, shares[:, k]) for k, (name, span) in enumerate(self.randomize.items())
            if name in simulation.fabric(0)})
        return simulation, random

    def _scene(self, replicas, is_drawn=False):
        """is_drawn: with the sizes and frictions of the environments."""
        contact = {"tolerance": 0.0005, "margin": 0.001}
        if self._cloth_contact:
            contact |= {"cloth": True, "cloth_friction": {"static": 0.3}}
        if is_drawn and self._frictions is not None:
            contact["pairs"] = [{"garment": f"cloth[{g}]", "obstacle": obstacle["name"], "static": float(friction)}
                                for g, friction in enumerate(self._frictions) for obstacle in self.obstacles()]
        gripper = {"region": {"type": "sphere", "radius": self.gripper_radius}, "holds": []}
        cloth = {
            "name": "cloth", "replicas": replicas, **self.garment(),
            "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 2e-5, "mass_damping": 0.2,
                       "thickness": THICKNESS, "stretch_stiffness": 2000, "shear_stiffness": 100},
            "grippers": [{"name": name, **gripper} for name in ("left", "right")]}
        if is_drawn and "size" in self.randomize:
            cloth["vary"] = {"transform.scale": {"values": self.scales.tolist()}}
            cloth["transform"] = {"scale": 1.0, **cloth["transform"]}
        return {
            "recipe": "membrane", "step": 0.005, "duration": 1, "contact": contact,
            # Grippers that pull a cloth apart ask for what cannot be met: such steps end soon, and count as stalled.
            "projection": {"tolerance": 0.005, "max_iterations": 10, "max_substeps": 1, "on_violation": "continue"},
            "garments": [cloth], "obstacles": self.obstacles()}


class ClothEnv(gymnasium.Env):
    """One cloth of a vector environment; arguments as there, but ``num_envs`` and ``autoreset_mode``."""

    metadata: typing.ClassVar = {"render_modes": ["human", "rgb_array"], "render_fps": 20}
    vector: typing.ClassVar[type]

    def __init__(self, **arguments):
        for name in ("num_envs", "autoreset_mode"):
            if name in arguments:
                raise TypeError(f"{name}: found one for a single environment, expected none; of many: make_vec")
        self.cloths = self.vector(1, autoreset_mode=AutoresetMode.DISABLED, **arguments)
        self.render_mode = self.cloths.render_mode
        self.observation_space = self.cloths.single_observation_space
        self.action_space = self.cloths.single_action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        observations, infos = self.cloths.reset(seed=seed, options=options)
        return _first(observations), _first(infos)

    def step(self, action):
        action = finite_array("action", action, self.cloths.action_shape)
        observations, rewards, terminations, truncations, infos = self.cloths.step(action[None])
        return (_first(observations), float(rewards[0]), bool(terminations[0]), bool(truncations[0]), _first(infos))

    def render(self):
        pictures = self.cloths.render()
        return None if pictures is None else pictures[0]

    def close(self):
        self.cloths.close()


def _first(arrays):
    return {name: values[0] if values.ndim > 1 else values[0].item()
            for name, values in arrays.items() if not name.startswith("_")}


def table(size, friction=0.4):
    """Obstacle: a table ``size`` [m] wide whose top is z = 0."""
    return {"name": "table", "friction": {"static": friction},
            "shape": {"type": "table", "size": [size, size], "thickness": 0.04, "rounding": 0.01}}


def looking_at(target, distance=1.0, side=-0.6, height=0.7, field_of_view=45.0):
    """The camera of pictures for people: from the front, the side and above, so far from its target [m]."""
    way = numpy.array([side, -1.0, height])
    position = numpy.array(target) + distance * way / numpy.linalg.norm(way)
    return PinholeCamera(tuple(position), tuple(target), field_of_view=field_of_view, shape=(256, 256))
