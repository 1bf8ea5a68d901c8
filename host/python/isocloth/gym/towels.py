"""Towels on a table."""

import numpy

from .camera import LABELS, Camera
from .vector_env import THICKNESS, ClothEnv, ClothVectorEnv, looking_at, table


class TowelVectorEnv(ClothVectorEnv):
    """Square towels of ``nodes`` x ``nodes`` nodes, row by row, and edges of ``size`` [m], on a table; grippers begin
    open above two corners, and the camera looks down. Arguments, observations, actions and ends of episodes are those
    of :class:`ClothVectorEnv`."""

    camera = Camera(right=(1, 0, 0), up=(0, 1, 0), centre=(0, 0, 0), reach=0.4)
    render_camera = looking_at((0, 0, 0.05), 1.1)
    may_be_scaled = True
    ground = 0.0
    workspace = ((-0.4, -0.4, THICKNESS), (0.4, 0.4, 0.4))
    turn = 0.3
    shift = (0.05, 0.05, 0)
    gripper_radius = 0.02

    def __init__(self, num_envs=1, *, nodes=13, size=0.4, **arguments):
        if nodes < 3:
            raise ValueError(f"nodes: found {nodes}, expected at least 3")
        self.nodes, self.size, self.extent = nodes, size, 1.5 * size
        super().__init__(num_envs, **arguments)

    def garment(self):
        return {"mesh": {"generator": "quad_grid", "nodes": [self.nodes] * 2, "size": [self.size] * 2},
                "transform": {"translation": [-self.size / 2, -self.size / 2, THICKNESS * 1.1]},
                "rest_noise": {"normal_deviation": 1e-4}}

    def obstacles(self):
        return [table(1.2)]

    def handles(self, points):
        return points[:, [0, self.nodes - 1]] + [0, 0, self.gripper_radius / 2]

    def is_dropped(self, points):
        """Whether its middle is beyond the reach of the grippers."""
        middle = points.mean(1)
        return ((middle < self.workspace[0] - numpy.array([0, 0, 0.01])) | (middle > self.workspace[1])).any(-1)


class FoldTowels(TowelVectorEnv):
    """The half between the grippers is to lie on the other half, which stays where it is: the score is minus the
    mean distance of all nodes from there, in edges of the towel; success above -0.03.

    score = -sum_i |x_i - g_i| / (nodes^2 size), with g_i the start of node i, or for the half that is laid over that of
    its mirror image, one thickness higher.
    """

    def __init__(self, num_envs=1, **arguments):
        super().__init__(num_envs, **arguments)
        self._goals = numpy.zeros((num_envs, self.nodes * self.nodes, 3))

    def begin(self, envs, points):
        sheets = points.reshape(-1, self.nodes, self.nodes, 3)
        goals = sheets.copy()
        moved = self.nodes // 2
        goals[:, :moved] = sheets[:, ::-1][:, :moved] + [0, 0, THICKNESS]
        self._goals[envs] = goals.reshape(len(envs), -1, 3)

    def score(self, points, envs=slice(None)):
        return -numpy.linalg.norm(points - self._goals[envs], axis=-1).mean(-1) / (self.size * self.scales[envs])

    def is_success(self, scores):
        return scores > -0.03


class FlattenTowels(TowelVectorEnv):
    """The towel lies crumpled on the table and is to be spread: the score is the part of its area that the camera
    sees, at most 1; success above 0.95.

    score = min(1, (pixels that see the towel) (side of a pixel / size)^2). A start was lifted by a node, or two, and
    dropped; one that is spread already, with a score above 0.75, is none.
    """

    turn = numpy.pi
    most_at_start = 0.75

    def make_starts(self):
        found, rounds = numpy.empty((0, *self._rest.shape)), 20
        random = numpy.random.default_rng(0)
        while len(found) < self._start_count:
            if not rounds:
                raise RuntimeError(f"starts: found {len(found)} of {self._start_count} towels that are crumpled, "
                                   "expected all within 20 tries; draw softer fabrics or shorter edges")
            rounds -= 1
            points = self._crumpled(random, f", {len(found)} of {self._start_count} there")
            found = numpy.concatenate([found, points[self._shown(points) <= self.most_at_start]])
        return found[:self._start_count]

    def _crumpled(self, random, so_far):
        simulation, _ = self._start_simulation()
        chosen = list(range(simulation.garment_count))
        nodes = random.integers(0, self.nodes * self.nodes, (len(chosen), 2))
        places = simulation.positions(chosen)[numpy.array(chosen)[:, None], nodes]
        self._place_grippers(simulation, chosen, places, True)
        for g, place in zip(chosen, places):
            for i in range(2):
                lifted = place[i] * [0.3, 0.3, 1] + [0, 0, 0.3]
                simulation.set_gripper_motion(g, i, [0.0, 1.0], numpy.stack([place[i], lifted]))
        self._make_starts_by(simulation, 200, so_far + ", lifted")
        for g in chosen:
            for i in range(2):
                simulation.open_gripper(g, i)
        self._make_starts_by(simulation, 200, so_far + ", dropped")
        return simulation.positions(chosen)

    def handles(self, points):
        # Above two corners of the table's middle, wherever the corners of the towel are.
        places = numpy.array([[-self.size, -self.size, 0], [self.size, -self.size, 0]]) / 2
        return numpy.broadcast_to(places + [0, 0, self.gripper_radius], (len(points), 2, 3))

    def _shown(self, points):
        """Area that the camera sees, in parts of that of a towel of ``size``."""
        labels = self._scenery.segmentation(self._scenery.views([self.camera], points))
        return (labels == LABELS["cloth"]).sum((1, 2, 3)) * (self.camera.pixel / self.size) ** 2

    def score(self, points, envs=slice(None)):
        return numpy.minimum(1, self._shown(points) / self.scales[envs] ** 2)

    def is_success(self, scores):
        return scores > 0.95


class FoldTowel(ClothEnv):
    """One of :class:`FoldTowels`."""

    vector = FoldTowels


class FlattenTowel(ClothEnv):
    """One of :class:`FlattenTowels`."""

    vector = FlattenTowels
