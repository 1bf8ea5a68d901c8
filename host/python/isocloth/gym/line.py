"""Towels that are hung over a line."""

import numpy

from .camera import Camera
from .garments import HeldVectorEnv
from .vector_env import THICKNESS, ClothEnv, looking_at


class HangTowels(HeldVectorEnv):
    """A towel, held by two corners of an edge, is hung over a line and let go.

    The score is minus the mean distance of the nodes of its middle, the row halfway between the held edge and the one
    below, from their places on top of the line, in edges of the towel:

        score = -(1/n) sum_i |(y_i, z_i) - (0, z_line)| / size

    Success: above -0.1, with open grippers. A towel whose upper end is below the line by more than 0.1 m is dropped.
    The camera looks along y. nodes: along an edge, an odd number.
    """

    line = numpy.array([[-0.3, 0, 0.6], [0.3, 0, 0.6]])  # axis [m]
    line_radius = 0.004
    camera = Camera(right=(1, 0, 0), up=(0, 0, 1), centre=(0, 0, 0.6), reach=0.4, far=2.0)
    render_camera = looking_at((0, 0, 0.6), 1.3)
    workspace = ((-0.3, -0.3, 0.3), (0.3, 0.3, 1.1))
    shift = (0.05, 0.03, 0.03)
    gripper_radius = 0.03
    closer = 0.1
    start_distance = 0.15  # of the towel from the line [m]

    def __init__(self, num_envs=1, *, nodes=13, size=0.3, horizon=100, **arguments):
        if nodes < 3 or nodes % 2 == 0:
            raise ValueError(f"nodes: found {nodes}, expected an odd number from 3 on")
        self.nodes, self.size, self.extent = nodes, size, 1.5 * size
        super().__init__(num_envs, horizon=horizon, **arguments)

    def garment(self):
        return {"mesh": {"generator": "quad_grid", "nodes": [self.nodes] * 2, "size": [self.size] * 2},
                "transform": {"rotation": [90, 0, 0],
                              "translation": [-self.size / 2, -self.start_distance, self.line[0, 2] - self.size / 2]},
                "rest_noise": {"normal_deviation": 1e-4}}

    def obstacles(self):
        return [{"name": "line", "friction": {"static": 0.4}, "rotation_degrees": [0, 90, 0],
                 "position": self.line.mean(0).tolist(),
                 "shape": {"type": "capsule", "radius": self.line_radius, "length": float(numpy.ptp(self.line[:, 0]))}}]

    def rows(self, points):
        """Rows of nodes from the lower to the held edge [m], shape (envs, nodes, nodes, 3)."""
        order = numpy.lexsort((self._rest[:, 0].round(6), self._rest[:, 2].round(6)))
        return points[:, order].reshape(-1, self.nodes, self.nodes, 3)

    def handles(self, points):
        return self.rows(points)[:, -1, [0, -1]]

    def score(self, points, envs=slice(None)):
        middle = self.rows(points)[:, self.nodes // 2, :, 1:]
        top = [0, self.line[0, 2] + self.line_radius + THICKNESS / 2]
        return -numpy.linalg.norm(middle - top, axis=-1).mean(-1) / self.size

    def is_success(self, scores):
        return scores > -0.1

    def is_dropped(self, points):
        return points[:, :, 2].max(1) < self.line[0, 2] - 0.1


class HangTowel(ClothEnv):
    """One of :class:`HangTowels`."""

    vector = HangTowels
