"""Towels on a table and two grippers, many at once: environments of `gymnasium <https://gymnasium.farama.org>`_.

``isocloth/FoldTowel-v0``: lay one half of a flat towel onto the other. ``isocloth/FlattenTowel-v0``: spread a towel
that lies crumpled. All towels of a vector environment are one simulation.

>>> import gymnasium
>>> import isocloth.gym
>>> envs = gymnasium.make_vec("isocloth/FoldTowel-v0", num_envs=4, vectorization_mode="vector_entry_point")
>>> observations, infos = envs.reset(seed=1)
>>> observations["points"].shape, observations["grippers"].shape
((4, 169, 3), (4, 2, 4))
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
>>> rewards.shape
(4,)
"""

import abc
import typing
import warnings

import gymnasium
import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._simulation import Simulation
from .errors import SceneWarning

__all__ = ["FABRICS", "FlattenTowel", "FlattenTowels", "FoldTowel", "FoldTowels", "TowelEnv", "TowelVectorEnv"]

#: Ranges in which a reset draws the numbers of a fabric, evenly in their logarithms: thin cotton to terry.
FABRICS = {"rho": (0.1, 0.4), "kappa": (5e-6, 1e-4), "stretch_stiffness": (1000.0, 4000.0),
           "shear_stiffness": (50.0, 200.0)}

_THICKNESS = 0.002  # of the towels [m]
_REACH = 0.02  # of a gripper: the radius in which it takes hold of nodes [m]
_OPEN, _CLOSED = 0.0, 1.0


class TowelVectorEnv(VectorEnv, abc.ABC):
    """Towels of ``nodes`` x ``nodes`` nodes on a table, each with two grippers, in one simulation.

    num_envs: towels. nodes: along an edge. size: of an edge [m]. horizon: steps of an episode. observation:
    ``points`` or ``depth``. fabrics: ranges like :data:`FABRICS`; ``{}``: all towels the same. cloth_contact: towels
    meet themselves at their thickness; without it they are several times as fast, but pass through themselves.
    options: as :class:`isocloth.Simulation`.

    Observations are dicts. ``points``: positions of the nodes [m], shape (nodes^2, 3), row by row; or ``depth``: what a
    camera one metre above the table sees that looks straight down at a square of 0.8 m, shape (64, 64) [m], without
    grippers. ``grippers``: place of each [m] and whether it is closed, shape (2, 4).

    Actions: for each gripper velocity in parts of 0.5 m/s, between -1 and 1, and whether it closes (> 0) or opens,
    shape (2, 4), held for ``frame_time``, 0.05 s. Grippers stay within 0.4 m of the middle of the table and above it.

    Episodes end after ``horizon`` steps (truncated), or when a step of the towel is lost (terminated,
    ``infos["lost"]``). A step after that resets the towel (``AutoresetMode.NEXT_STEP``).
    """

    metadata: typing.ClassVar = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
    frame_time = 0.05
    top_speed = 0.5
    reach = 0.4
    pixels = 64
    depth_of_table = 1.0

    def __init__(self, num_envs=1, *, nodes=13, size=0.4, horizon=60, observation="points", fabrics=None,
                 cloth_contact=False, **options):
        if num_envs < 1 or nodes < 3:
            raise ValueError(f"num_envs, nodes: found {num_envs}, {nodes}, expected at least 1 and 3")
        if observation not in ("points", "depth"):
            raise ValueError(f"observation: found {observation!r}, expected 'points' or 'depth'")
        self.num_envs, self.nodes, self.size, self.horizon = num_envs, nodes, size, horizon
        self.observation = observation
        self.fabrics = FABRICS if fabrics is None else dict(fabrics)
        box = gymnasium.spaces.Box
        low = numpy.array([[-self.reach, -self.reach, 0, 0]] * 2, dtype=numpy.float32)
        high = numpy.array([[self.reach, self.reach, self.reach, 1]] * 2, dtype=numpy.float32)
        seen = (box(-numpy.inf, numpy.inf, (nodes * nodes, 3), numpy.float32) if observation == "points" else
                box(-numpy.inf, self.depth_of_table, (self.pixels, self.pixels), numpy.float32))
        self.single_observation_space = gymnasium.spaces.Dict({observation: seen, "grippers": box(low, high)})
        self.single_action_space = box(-1, 1, (2, 4), numpy.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)
            self.simulation = Simulation(self._scene(cloth_contact), **options)
        self._flat = self.simulation.positions(0)
        self._steps_per_frame = round(self.frame_time / 0.005)
        self._grippers = numpy.zeros((num_envs, 2, 4))
        self._ages = numpy.zeros(num_envs, dtype=int)
        self._is_over = numpy.ones(num_envs, dtype=bool)
        self._scores = numpy.zeros(num_envs)

    @abc.abstractmethod
    def start(self, envs):
        """Brings towels, which lie flat, to the start of an episode."""

    @abc.abstractmethod
    def score(self, points):
        """What an episode is to make large; a reward is by how much a step did. points: shape (envs, nodes^2, 3)."""

    def reset(self, *, seed=None, options=None):
        """All towels to the start of an episode. ``options``: ``reset_mask``, shape (num_envs,): some of them;
        ``same``: all in the same place and of the same fabric, for planners that try ways on copies."""
        super().reset(seed=seed)
        options = options or {}
        mask = options.get("reset_mask", numpy.ones(self.num_envs, dtype=bool))
        self._begin(numpy.flatnonzero(mask), options.get("same", False))
        points = self._points()
        return self._seen(points), self._infos(points)

    def step(self, actions):
        actions = numpy.asarray(actions, dtype=float)
        if actions.shape != (self.num_envs, 2, 4) or not numpy.isfinite(actions).all():
            raise ValueError(f"actions: found shape {actions.shape} or values that are not finite, expected finite "
                             f"ones of shape ({self.num_envs}, 2, 4)")
        over, going = numpy.flatnonzero(self._is_over), numpy.flatnonzero(~self._is_over)
        before = self._scores.copy()
        if len(over):
            self._begin(over)
        self._steer(going, actions)
        self.simulation.advance(self._steps_per_frame)
        points = self._points()
        self._scores = self.score(points)
        self._ages[going] += 1
        lost = numpy.array([self.simulation.frozen(g) for g in range(self.num_envs)])
        truncations = self._ages >= self.horizon
        self._is_over = lost | truncations
        rewards = numpy.where(numpy.isin(numpy.arange(self.num_envs), going), self._scores - before, 0.0)
        return self._seen(points), rewards, lost, truncations & ~lost, self._infos(points)

    def _infos(self, points):
        return {"score": self._scores.copy(), "_score": numpy.ones(self.num_envs, dtype=bool)}

    def _begin(self, envs, same=False):
        self._place(envs, same)
        self.start(envs)
        self._ages[envs] = 0
        self._is_over[envs] = False
        self._scores = self.score(self._points())

    def _place(self, envs, same):
        """Flat, each turned and shifted a little on the table, of another fabric; grippers wait above two corners."""
        simulation = self.simulation
        simulation.reset([int(g) for g in envs])
        drawn = self.np_random.uniform(size=(1 if same else len(envs), 3 + len(self.fabrics)))
        drawn = numpy.broadcast_to(drawn, (len(envs), drawn.shape[1]))
        angles, shifts = 0.6 * drawn[:, 0] - 0.3, 0.1 * drawn[:, 1:3] - 0.05
        turned = numpy.repeat(self._flat[None], len(envs), axis=0)
        c, s = numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
        turned[:, :, 0] = c * self._flat[:, 0] - s * self._flat[:, 1] + shifts[:, :1]
        turned[:, :, 1] = s * self._flat[:, 0] + c * self._flat[:, 1] + shifts[:, 1:]
        simulation.write("positions", turned.reshape(-1, 3), [int(g) for g in envs])
        corners = turned[:, [0, self.nodes - 1]]
        self._grippers[envs, :, :3] = corners
        self._grippers[envs, :, 2] += _REACH / 2
        self._grippers[envs, :, 3] = _OPEN
        for g in map(int, envs):
            for i in range(2):
                simulation.open_gripper(g, i)
                simulation.set_gripper_motion(g, i, [0.0], self._grippers[g, i, None, :3])
        spans = numpy.array(list(self.fabrics.values())).reshape(-1, 2)
        numbers = spans[:, 0] * (spans[:, 1] / spans[:, 0]) ** drawn[:, 3:]
        simulation.set_fabrics([int(g) for g in envs], **dict(zip(self.fabrics, numbers.T)))

    def _steer(self, envs, actions):
        limits = numpy.array([self.reach, self.reach, self.reach])
        way = self.top_speed * self.frame_time * numpy.clip(actions[..., :3], -1, 1)
        for g in map(int, envs):
            time = self.simulation.garment_time(g)
            for i in range(2):
                here = self._grippers[g, i, :3].copy()
                there = numpy.clip(here + way[g, i], [-self.reach, -self.reach, _THICKNESS], limits)
                self.simulation.set_gripper_motion(g, i, [time, time + self.frame_time], numpy.stack([here, there]))
                closes = actions[g, i, 3] > 0
                if closes != (self._grippers[g, i, 3] == _CLOSED):
                    (self.simulation.close_gripper if closes else self.simulation.open_gripper)(g, i)
                self._grippers[g, i] = [*there, _CLOSED if closes else _OPEN]

    def _points(self):
        return self.simulation.positions(slice(None))

    def _seen(self, points):
        seen = points if self.observation == "points" else self.depth(points)
        return {self.observation: seen.astype(numpy.float32), "grippers": self._grippers.astype(numpy.float32)}

    def depth(self, points):
        """Distance from a camera above the table straight down to what it sees [m], shape (envs, pixels, pixels), of
        ``points``, shape (envs, nodes^2, 3): of points of cloth a third of a pixel apart, the highest in a pixel."""
        sheets = points.reshape(-1, self.nodes, self.nodes, 3)
        count = int(numpy.ceil(self.size / (self.nodes - 1) / (2 * self.reach / self.pixels) * 3))
        at = (numpy.arange(count) + 0.5) / count
        u, v = (w[None, None, None, ..., None] for w in numpy.meshgrid(at, at, indexing="ij"))
        a, b, c, d = (sheets[:, i:i + self.nodes - 1, j:j + self.nodes - 1, None, None]
                      for i in (0, 1) for j in (0, 1))
        dense = ((1 - u) * ((1 - v) * a + v * b) + u * ((1 - v) * c + v * d)).reshape(len(sheets), -1, 3)
        pixel = numpy.floor((dense[..., :2] / self.reach + 1) * self.pixels / 2).astype(int)
        inside = ((pixel >= 0) & (pixel < self.pixels)).all(-1)
        image = numpy.zeros((len(sheets), self.pixels, self.pixels))
        env = numpy.broadcast_to(numpy.arange(len(sheets))[:, None], inside.shape)
        numpy.maximum.at(image, (env[inside], pixel[inside][:, 1], pixel[inside][:, 0]), dense[inside][:, 2])
        return self.depth_of_table - image

    def _scene(self, cloth_contact):
        half = self.size / 2
        gripper = {"region": {"type": "sphere", "radius": _REACH}, "holds": []}
        contact = {"tolerance": 0.0005, "margin": 0.001}
        if cloth_contact:
            contact |= {"cloth": True, "cloth_friction": {"static": 0.3}}
        return {
            "recipe": "membrane", "step": 0.005, "duration": 1, "contact": contact,
            # Grippers that pull a towel apart ask for what cannot be met: such steps end soon, and count as stalled.
            "projection": {"tolerance": 0.005, "max_iterations": 10, "max_substeps": 1, "on_violation": "continue"},
            "garments": [{
                "name": "towel", "replicas": self.num_envs,
                "mesh": {"generator": "quad_grid", "nodes": [self.nodes] * 2, "size": [self.size] * 2},
                "transform": {"translation": [-half, -half, _THICKNESS * 1.1]},
                "rest_noise": {"normal_deviation": 1e-4},
                "fabric": {"rho": 0.2, "delta": 0.2, "kappa": 2e-5, "alpha": 0.2, "thickness": _THICKNESS,
                           "stretch_stiffness": 2000, "shear_stiffness": 100},
                "grippers": [{"name": name, **gripper} for name in ("left", "right")]}],
            "obstacles": [{"name": "table", "friction": {"static": 0.4},
                           "shape": {"type": "table", "size": [1.2, 1.2], "thickness": 0.04, "rounding": 0.01}}]}


class FoldTowels(TowelVectorEnv):
    """The half between the grippers is to lie on the other half, which stays where it is: the score is minus the
    mean distance of all nodes from there, in edges of the towel."""

    def start(self, envs):
        if not hasattr(self, "_goals"):
            self._goals = numpy.zeros((self.num_envs, self.nodes * self.nodes, 3))
        sheets = self._points()[envs].reshape(-1, self.nodes, self.nodes, 3)
        goals = sheets.copy()
        moved = self.nodes // 2
        goals[:, :moved] = sheets[:, ::-1][:, :moved] + [0, 0, _THICKNESS]
        self._goals[envs] = goals.reshape(len(envs), -1, 3)

    def score(self, points):
        return -numpy.linalg.norm(points - self._goals, axis=-1).mean(-1) / self.size


class FlattenTowels(TowelVectorEnv):
    """The towel falls crumpled onto the table and is to be spread: the score is the part of its area that the camera
    sees, between 0 and 1."""

    def start(self, envs):
        """Lifted by a node, or two, and dropped."""
        simulation, chosen = self.simulation, [int(g) for g in envs]
        picked = self.np_random.integers(0, self.nodes * self.nodes, (len(envs), 2))
        snapshot = simulation.snapshot() if len(envs) < self.num_envs else None
        places = self._points()[envs[:, None], picked]
        up = numpy.array([0, 0, 0.3])
        for g, place in zip(chosen, places):
            time = simulation.garment_time(g)
            for i in range(2):
                inwards = place[i] * [0.3, 0.3, 1]
                simulation.set_gripper_motion(g, i, [time, time + 1.0], numpy.stack([place[i], inwards + up]))
                simulation.close_gripper(g, i)
        simulation.advance(200)
        for g in chosen:
            for i in range(2):
                simulation.open_gripper(g, i)
        simulation.advance(200)
        crumpled = simulation.read("positions", chosen)
        if snapshot is not None:
            simulation.restore(snapshot)
        else:
            simulation.reset()
        simulation.write("positions", crumpled, chosen)
        for g in chosen:
            for i in range(2):
                simulation.open_gripper(g, i)
                simulation.set_gripper_motion(g, i, [0.0], self._grippers[g, i, None, :3])

    def score(self, points):
        shown = (self.depth(points) < self.depth_of_table - _THICKNESS / 4).sum((-1, -2))
        return shown * (2 * self.reach / self.pixels / self.size) ** 2


class TowelEnv(gymnasium.Env):
    """One towel of a vector environment; arguments as there."""

    metadata: typing.ClassVar = {"render_modes": []}
    vector: typing.ClassVar[type]

    def __init__(self, render_mode=None, **arguments):
        self.render_mode = render_mode
        self.towels = self.vector(1, **arguments)
        self.observation_space = self.towels.single_observation_space
        self.action_space = self.towels.single_action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        observations, infos = self.towels.reset(seed=seed)
        return _first(observations), _first(infos)

    def step(self, action):
        observations, rewards, terminations, truncations, infos = self.towels.step(numpy.asarray(action)[None])
        return (_first(observations), float(rewards[0]), bool(terminations[0]), bool(truncations[0]), _first(infos))


class FoldTowel(TowelEnv):
    """One of :class:`FoldTowels`."""

    vector = FoldTowels


class FlattenTowel(TowelEnv):
    """One of :class:`FlattenTowels`."""

    vector = FlattenTowels


def _first(arrays):
    return {name: values[0] for name, values in arrays.items() if not name.startswith("_")}


for _one, _many in ((FoldTowel, FoldTowels), (FlattenTowel, FlattenTowels)):
    gymnasium.register(id=f"isocloth/{_one.__name__}-v0", entry_point=f"{__name__}:{_one.__name__}",
                       vector_entry_point=f"{__name__}:{_many.__name__}")
