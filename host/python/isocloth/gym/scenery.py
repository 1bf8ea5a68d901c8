"""What stands around the cloth, and pictures of all of it."""

import numpy

from .camera import LABELS, see, triangles_of

_COLOURS = numpy.array([[205, 215, 225], [200, 150, 80], [120, 125, 130], [60, 60, 70]])  # by label
_LIGHT = numpy.array([0.3, -0.4, 0.866])  # where it comes from
_ROD = 0.008, 0.15  # half its width and its height [m]
_BOX = triangles_of(numpy.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]))


class Scenery:
    """Pictures of cloths of one mesh, of obstacles that stand still, and of hands.

    simulation: whose obstacles there are; all cloths have the faces of its first. moving: names of obstacles that do
    not stand still and are left out.
    """

    def __init__(self, simulation, moving=()):
        self.cloth = triangles_of(simulation.faces(0))
        poses, vertices, corners, first = simulation.obstacle_poses(), [], [numpy.empty((0, 3), dtype=int)], 0
        for (name, own, triangles), pose in zip(simulation.obstacle_surfaces(), poses):
            if name in moving:
                continue
            vertices.append(_rotated(own, pose[3:]) + pose[:3])
            corners.append(triangles + first)
            first += len(own)
        self._obstacles = numpy.concatenate([numpy.empty((0, 3)), *vertices])[None], numpy.concatenate(corners)

    def views(self, cameras, points, hands=None, moves=None):
        """:class:`isocloth.gym.camera.Views` of cloths at ``points`` [m], shape (worlds, nodes, 3), and of obstacles;
        and of hands, by vertices [m], shape (worlds, n, 3), and triangles, unless they are None."""
        return see(cameras, points, self.cloth, [self._obstacles] if hands is None else [self._obstacles, hands], moves)

    def segmentation(self, views):
        """Labels (:data:`isocloth.gym.camera.LABELS`), uint8, of the shape of the views."""
        ends = numpy.array([0, len(self.cloth), len(self.cloth) + len(self._obstacles[1])])
        return numpy.searchsorted(ends, views.faces, side="right").astype(numpy.uint8)

    def colours(self, views, points):
        """Pictures, uint8, shape (worlds, cameras, rows, columns, 3): cloth darkens as it turns from the light."""
        labels = self.segmentation(views)
        a, b, c = (points[:, self.cloth[:, k]] for k in range(3))
        normals = numpy.cross(b - a, c - a)
        lengths = numpy.maximum(numpy.linalg.norm(normals, axis=-1), 1e-300)
        brightness = numpy.concatenate([0.4 + 0.6 * numpy.abs(normals @ _LIGHT) / lengths,
                                        numpy.ones((len(points), 1))], axis=1)
        triangle = numpy.where(labels == LABELS["cloth"], views.faces, len(self.cloth))
        world = numpy.arange(len(points))[:, None, None, None]
        return (_COLOURS[labels] * brightness[world, triangle][..., None]).astype(numpy.uint8)


def rods(places):
    """Hands that are rods, upwards from where they take hold [m], shape (worlds, hands, 3)."""
    return boxes(places, [-_ROD[0], -_ROD[0], 0], [_ROD[0], _ROD[0], _ROD[1]])


def boxes(places, low, high):
    """Vertices, shape (worlds, 8 boxes, 3), and triangles of boxes from ``low`` to ``high`` [m] around ``places`` [m],
    shape (worlds, boxes, 3)."""
    corners = numpy.stack(numpy.meshgrid(*zip(low, high), indexing="ij"), axis=-1).reshape(8, 3)
    vertices = places[:, :, None] + corners
    triangles = _BOX + 8 * numpy.arange(places.shape[1])[:, None, None]
    return vertices.reshape(len(places), -1, 3), triangles.reshape(-1, 3)


def _rotated(points, quaternion):
    """Points, shape (n, 3), turned by a unit quaternion x, y, z, w."""
    axis, w = quaternion[:3].astype(float), float(quaternion[3])
    across = numpy.cross(axis, points)
    return points + 2 * (w * across + numpy.cross(axis, across))
