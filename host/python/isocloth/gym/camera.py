"""Depth images."""

import dataclasses

import numpy


@dataclasses.dataclass(frozen=True)
class Camera:
    """An orthographic depth camera.

    right, up: of the image, orthogonal unit vectors; it looks against right x up. centre: of what it sees [m], and the
    camera is ``distance`` [m] from there. reach: half the side of the square that it sees [m]. far: distance of what
    stands behind everything [m]. pixels: along a side.

    >>> camera = Camera([1, 0, 0], [0, 1, 0], [0, 0, 0], reach=0.5, pixels=4)
    >>> camera.depth(numpy.array([[[0.1, -0.4, 0.3]]]), camera.empty())[0]
    array([[1. , 1. , 0.7, 1. ],
           [1. , 1. , 1. , 1. ],
           [1. , 1. , 1. , 1. ],
           [1. , 1. , 1. , 1. ]])
    """

    right: tuple
    up: tuple
    centre: tuple
    reach: float
    distance: float = 1.0
    far: float = 1.0
    pixels: int = 64

    @property
    def pixel(self):
        """Side of a pixel [m]."""
        return 2 * self.reach / self.pixels

    def project(self, points):
        """To the right, up and towards the camera from the centre [m], shape (..., 3), of ``points`` [m]."""
        axes = numpy.array([self.right, self.up, numpy.cross(self.right, self.up)], dtype=float)
        return (points - numpy.asarray(self.centre)) @ axes.T

    def empty(self):
        """An image of nothing: ``far`` everywhere, shape (pixels, pixels)."""
        return numpy.full((self.pixels, self.pixels), self.far)

    def capsule(self, start, end, radius):
        """An image of a capsule alone, around the line from ``start`` to ``end`` [m], which is parallel to the image:
        what is d from its axis in the image is sqrt(radius^2 - d^2) nearer than the axis."""
        a, b = self.project(numpy.array([start, end]))
        at = (numpy.arange(self.pixels) + 0.5) * self.pixel - self.reach
        places = numpy.stack(numpy.meshgrid(at, at), axis=-1)
        along = b[:2] - a[:2]
        share = numpy.clip((places - a[:2]) @ along / (along @ along), 0, 1)
        squares = radius**2 - ((places - a[:2] - share[..., None] * along)**2).sum(-1)
        return numpy.where(squares > 0, self.distance - a[2] - numpy.sqrt(numpy.maximum(squares, 0)), self.far)

    def depth(self, points, background):
        """Distance to the nearest of the ``points`` [m], shape (envs, points, 3), or that of ``background``, shape
        (pixels, pixels), if it is nearer; rows go up. Shape (envs, pixels, pixels). A pixel is its middle half, so that
        outlines do not grow; points of a square lattice a third of a pixel apart leave no hole in it."""
        seen = self.project(points)
        at = (seen[..., :2] + self.reach) / self.pixel
        places = numpy.floor(at).astype(int)
        inside = ((places >= 0) & (places < self.pixels) & (numpy.abs(at - places - 0.5) <= 0.25)).all(-1)
        images = numpy.repeat(background[None], len(points), axis=0)
        env = numpy.broadcast_to(numpy.arange(len(points))[:, None], inside.shape)
        numpy.minimum.at(images, (env[inside], places[inside][:, 1], places[inside][:, 0]),
                         self.distance - seen[inside][:, 2])
        return images


class SurfaceSamples:
    """Points on the faces of a mesh, at most ``spacing`` apart at rest.

    rest: positions at rest [m], shape (nodes, 3). faces: nodes, shape (faces, 4), -1 in the fourth place of a triangle.
    Weights on a quad are bilinear; a triangle is a quad of which two corners are one.

    >>> samples = SurfaceSamples(numpy.eye(3), numpy.array([[0, 1, 2, -1]]), spacing=1.0)
    >>> samples.of(numpy.eye(3)[None]).shape
    (1, 4, 3)
    """

    def __init__(self, rest, faces, spacing):
        faces = numpy.where(faces < 0, faces[:, [2]], faces)
        edges = numpy.linalg.norm(rest[numpy.roll(faces, -1, axis=1)] - rest[faces], axis=-1)
        # Opposite edges as one: quads that are long are not sampled across as along.
        counts = numpy.maximum(1, numpy.ceil(numpy.stack([edges[:, [0, 2]].max(1), edges[:, [1, 3]].max(1)], axis=-1)
                                             / spacing - 1e-9).astype(int))
        corners, weights = [], []
        for face, (n, m) in zip(faces, counts):
            u, v = ((w + 0.5).ravel() for w in numpy.meshgrid(numpy.arange(n), numpy.arange(m), indexing="ij"))
            u, v = u / n, v / m
            weights.append(numpy.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v], axis=-1))
            corners.append(numpy.broadcast_to(face, (n * m, 4)))
        self._corners, self._weights = numpy.concatenate(corners), numpy.concatenate(weights)

    def of(self, points):
        """The samples [m], shape (envs, samples, 3), of positions ``points`` [m], shape (envs, nodes, 3)."""
        return sum(self._weights[:, k, None] * points[:, self._corners[:, k]] for k in range(4))
