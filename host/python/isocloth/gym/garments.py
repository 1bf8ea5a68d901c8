"""Garments that are put onto what stands in a room."""

import numpy

from .camera import Camera
from .vector_env import THICKNESS, ClothEnv, ClothVectorEnv, looking_at, table


class HeldVectorEnv(ClothVectorEnv):
    """Episodes begin with cloth that hangs from both grippers."""

    starts_held = True
    closer = 0.0  # up to which part of their distance grippers come nearer to each other for a start

    def make_starts(self):
        """Shapes differ by fabric and by how far rims and necks are drawn together."""
        simulation, random = self._start_simulation()
        chosen = list(range(simulation.garment_count))
        places = self.handles(simulation.positions(chosen))
        self._place_grippers(simulation, chosen, places, True)
        shares = random.uniform(0, self.closer, (len(chosen), 1, 1))
        ends = places + shares * (places.mean(1, keepdims=True) - places)
        for g in chosen:
            for i in range(2):
                simulation.set_gripper_motion(g, i, [0.0, 0.5], numpy.stack([places[g, i], ends[g, i]]))
        self._make_starts_by(simulation, 300)
        return simulation.positions(chosen)


class HangShirts(HeldVectorEnv):
    """A tank top, held by its straps, is brought onto a horizontal peg, through both arm holes, and let go.

    The score is minus the mean distance of the straps from their places on the peg, in heights of the shirt:

        score = -(|l - l*| + |r - r*|) / (2 * 0.6 m)

    with l and r the means of the nodes of the left and right shoulder seam, and l*, r* on top of the peg, as far apart
    as in the pattern. Success: the grippers are open, and the score is above -0.05. A shirt whose straps are both below
    the peg by more than 0.15 m is dropped. Grippers are hands that spread the straps: held by a point, limp cloth
    closes its arm holes. The camera looks along y. triangles: of the shirt, about.
    """

    peg = numpy.array([[-0.25, 0, 1.0], [0.2, 0, 1.0]])  # axis: from the wall to the tip [m]
    peg_radius = 0.006
    height = 0.6  # of the pattern [m]
    camera = Camera(right=(1, 0, 0), up=(0, 0, 1), centre=(0.2, 0, 0.8), reach=0.5, far=2.0)
    render_camera = looking_at((0.1, 0, 0.85), 1.6)
    extent = 0.9
    workspace = ((-0.4, -0.3, 0.6), (0.7, 0.3, 1.3))
    shift = (0.05, 0.03, 0.03)
    gripper_radius = 0.1
    closer = 0.15

    def __init__(self, num_envs=1, *, triangles=400, horizon=80, **arguments):
        self.triangles = triangles
        super().__init__(num_envs, horizon=horizon, **arguments)

    def garment(self):
        return {"mesh": {"generator": "tank_top", "triangles": self.triangles},
                "transform": {"translation": [0.42, 0, 1.02 - self.height]}, "rest_noise": {"normal_deviation": 1e-4}}

    def obstacles(self):
        return [{"name": "peg", "friction": {"static": 0.4}, "rotation_degrees": [0, 90, 0],
                 "position": self.peg.mean(0).tolist(),
                 "shape": {"type": "capsule", "radius": self.peg_radius, "length": float(numpy.ptp(self.peg[:, 0]))}}]

    def straps(self, points):
        """Means of the shoulder seams at positive and negative x [m], shape (envs, 2, 3)."""
        seam = self._rest[:, 2] > self._rest[:, 2].max() - 1e-3
        middle = self._rest[:, 0].mean()
        return numpy.stack([points[:, seam & side].mean(1) for side in
                            (self._rest[:, 0] > middle, self._rest[:, 0] < middle)], axis=1)

    def handles(self, points):
        return self.straps(points)

    def goals(self):
        """Places of the straps on the peg [m], shape (2, 3)."""
        apart = self.straps(self._rest[None])[0, :, 0]
        goals = numpy.repeat(numpy.array([[0, 0, self.peg[0, 2] + self.peg_radius + THICKNESS]]), 2, axis=0)
        goals[:, 0] = apart - apart.mean()
        return goals

    def score(self, points, envs=slice(None)):
        return -numpy.linalg.norm(self.straps(points) - self.goals(), axis=-1).mean(-1) / self.height

    def is_success(self, scores):
        return scores > -0.05

    def is_dropped(self, points):
        return (self.straps(points)[:, :, 2] < self.peg[0, 2] - 0.15).all(-1)


class DressPosts(HeldVectorEnv):
    """A tube of cloth, held by two points of its upper rim, is pulled over a post that stands on a table.

    The score is the part of the tube that is on the post minus how far the tube is from where it is to be:

        score = (1/n) sum_i w_i - (1/n) sum_i |c_i - c_i*| / height

    over its n rings of nodes, c_i the mean of ring i, c_i* its place on the axis of the post with the lowest ring on
    the table, and w_i = 1 if the ring winds around the axis once and its mean is below the post's tip. Success: above
    0.9, with open grippers. A tube that no gripper holds, all of it below the tip and no ring on the post, is dropped.
    The camera looks along y. along, around: nodes.
    """

    post_radius, post_height = 0.05, 0.35
    radius, height = 0.075, 0.24  # of the tube [m]
    table_size = 0.8
    camera = Camera(right=(1, 0, 0), up=(0, 0, 1), centre=(0, 0, 0.35), reach=0.4, far=2.0)
    render_camera = looking_at((0, 0, 0.25), 1.3)
    extent = 0.4
    ground = 0.0
    workspace = ((-0.3, -0.3, 0.05), (0.3, 0.3, 0.75))
    turn = numpy.pi / 4
    shift = (0.06, 0.06, 0.02)
    gripper_radius = 0.035
    closer = 0.25

    def __init__(self, num_envs=1, *, along=9, around=16, horizon=60, **arguments):
        if along < 2 or around < 8:
            raise ValueError(f"along, around: found {along}, {around}, expected at least 2 and 8")
        self.along, self.around = along, around
        super().__init__(num_envs, horizon=horizon, **arguments)

    def garment(self):
        return {"mesh": {"generator": "tube", "along": self.along, "around": self.around, "radius": self.radius,
                         "height": self.height},
                "transform": {"translation": [0, 0, self.post_height + 0.05]},
                "rest_noise": {"normal_deviation": 1e-4}}

    def obstacles(self):
        length = self.post_height - self.post_radius
        return [table(self.table_size), {"name": "post", "friction": {"static": 0.3}, "position": [0, 0, length / 2],
                             "shape": {"type": "capsule", "radius": self.post_radius, "length": length}}]

    def rings(self, points):
        """Rings from the lowest to the highest [m], shape (envs, along, around, 3)."""
        return points.reshape(-1, self.along, self.around, 3)

    def handles(self, points):
        return self.rings(points)[:, -1, [0, self.around // 2]]

    def worn(self, points):
        """Whether each ring is on the post, shape (envs, along)."""
        rings = self.rings(points)
        angles = numpy.arctan2(rings[..., 1], rings[..., 0])
        turns = numpy.diff(angles, axis=-1, append=angles[..., :1])
        winding = numpy.round(((turns + numpy.pi) % (2 * numpy.pi) - numpy.pi).sum(-1) / (2 * numpy.pi))
        return (winding == 1) & (rings[..., 2].mean(-1) < self.post_height)

    def score(self, points, envs=slice(None)):
        places = numpy.zeros((self.along, 3))
        places[:, 2] = THICKNESS + numpy.linspace(0, self.height, self.along)
        distances = numpy.linalg.norm(self.rings(points).mean(2) - places, axis=-1) / self.height
        return self.worn(points).mean(-1) - distances.mean(-1)

    def is_success(self, scores):
        return scores > 0.9

    def is_dropped(self, points):
        below = (points[:, :, 2] < self.post_height).all(-1)
        return below & ~self.worn(points).any(-1) & self._is_let_go()


class HangShirt(ClothEnv):
    """One of :class:`HangShirts`."""

    vector = HangShirts


class DressPost(ClothEnv):
    """One of :class:`DressPosts`."""

    vector = DressPosts
