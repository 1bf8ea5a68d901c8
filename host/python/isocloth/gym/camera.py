"""Cameras: what they see of many worlds at once."""

import dataclasses

import numpy

from .. import _core

#: What a pixel of a segmentation shows.
LABELS = {"nothing": 0, "cloth": 1, "obstacle": 2, "gripper": 3}


@dataclasses.dataclass(frozen=True)
class Camera:
    """An orthographic camera.

    right, up: of the image, orthogonal unit vectors; it looks against right x up. centre: of what it sees [m], and the
    camera is ``distance`` [m] from there. reach: half the side of the square that it sees [m]. far: distance of what
    stands behind everything [m]. pixels: along a side. The first row of its images is the lowest.

    >>> camera = Camera((1, 0, 0), (0, 1, 0), (0, 0, 0), reach=0.5, pixels=4)
    >>> triangle = numpy.array([[[-0.5, -0.5, 0.25], [0.5, -0.5, 0.25], [-0.5, 0.5, 0.25]]])
    >>> see([camera], triangle, numpy.array([[0, 1, 2]])).depth[0, 0]
    array([[0.75, 0.75, 0.75, 0.75],
           [0.75, 0.75, 0.75, 1.  ],
           [0.75, 0.75, 1.  , 1.  ],
           [0.75, 1.  , 1.  , 1.  ]], dtype=float32)
    """

    right: tuple
    up: tuple
    centre: tuple
    reach: float
    distance: float = 1.0
    far: float = 1.0
    pixels: int = 64
    near = 0.0
    noise = None

    @property
    def shape(self):
        """Rows and columns of its images."""
        return self.pixels, self.pixels

    @property
    def pixel(self):
        """Side of a pixel [m]."""
        return 2 * self.reach / self.pixels

    def matrices(self, _moves=None):
        """What takes (x, y, z, 1) to column w, row w, w and distance, shape (1, 4, 4); it is never moved."""
        right, up, centre = (numpy.asarray(v, dtype=float) for v in (self.right, self.up, self.centre))
        matrix = numpy.zeros((1, 4, 4))
        for row, axis in enumerate((right, up)):
            matrix[0, row] = *axis / self.pixel, (self.reach - axis @ centre) / self.pixel
        matrix[0, 2, 3] = 1
        back = numpy.cross(right, up)
        matrix[0, 3] = *-back, self.distance + back @ centre
        return matrix


@dataclasses.dataclass(frozen=True)
class PinholeCamera:
    """A perspective camera; its depth is along its axis, as depth cameras tell it, and its first row is the highest.

    position: of the pinhole [m]. target: what the middle of the image shows [m]. up: what is upwards in it.
    field_of_view: from the lowest to the highest row [degrees]. shape: rows and columns. near, far: nothing nearer is
    seen, and what is farther counts as ``far`` [m]. noise: of its depth, as :class:`StructuredLight`; None: none.
    """

    position: tuple
    target: tuple
    up: tuple = (0, 0, 1)
    field_of_view: float = 45.0
    shape: tuple = (64, 64)
    near: float = 0.05
    far: float = 3.0
    noise: "StructuredLight | None" = None

    @property
    def focal_length(self):
        """In pixels."""
        return self.shape[0] / 2 / numpy.tan(numpy.radians(self.field_of_view) / 2)

    def matrices(self, moves=None):
        """What takes (x, y, z, 1) to column w, row w, w and distance, shape (worlds, 4, 4).

        moves: of the camera in each world, shape (worlds, 7): of its position [m], turns about its axes to the right,
        down and forward [rad], and what its focal length is multiplied by; None: one world, as it stands.
        """
        moves = numpy.array([[0, 0, 0, 0, 0, 0, 1.0]]) if moves is None else moves
        position = numpy.asarray(self.position, dtype=float)
        forward = numpy.asarray(self.target, dtype=float) - position
        forward /= numpy.linalg.norm(forward)
        right = numpy.cross(forward, self.up)
        right /= numpy.linalg.norm(right)
        axes = _rotations(moves[:, 3:6]) @ numpy.stack([right, numpy.cross(forward, right), forward])
        offsets = -(axes @ (position + moves[:, :3])[:, :, None])
        rows = numpy.concatenate([axes, offsets], axis=2)  # to the right, down, forward
        focal = self.focal_length * moves[:, 6, None]
        matrices = rows[:, [0, 1, 2, 2]]
        for row, middle in ((0, self.shape[1] / 2), (1, self.shape[0] / 2)):
            matrices[:, row] = focal * rows[:, row] + middle * rows[:, 2]
        return matrices


def _rotations(vectors):
    """Rotation matrices of rotation vectors [rad], shape (n, 3, 3), by Rodrigues' formula."""
    angles = numpy.linalg.norm(vectors, axis=-1)[:, None, None]
    x, y, z = (vectors / numpy.maximum(angles[:, 0], 1e-300)).T
    cross = numpy.zeros((len(vectors), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -z, y, -x
    cross -= cross.transpose(0, 2, 1)
    return numpy.eye(3) + numpy.sin(angles) * cross + (1 - numpy.cos(angles)) * cross @ cross


@dataclasses.dataclass(frozen=True)
class StructuredLight:
    """The depth of a sensor that projects a pattern: triangulated, quantised, with holes, which are 0.

    A depth z has the disparity d = f b / z; the sensor tells z' = f b / q(d + n), q to the nearest ``step``, n normal
    with the deviation ``disparity_noise``: a step is z^2 step / (f b), 2.9 mm at 1 m, and the deviation half of that
    (Khoshelham and Elberink 2012, Sensors 12, 1437: normalised disparities of half a unit of 1/8 pixel). Pixels show
    what is ``lateral_noise`` of them aside, normally distributed and rounded, which frays edges: 0.8 pixels of 640
    (Nguyen, Izadi and Lovell 2012), and so none of few pixels. Holes are what is seen at more than ``steepest`` from
    its normal [degrees], and what an edge hides from the projector, which is to the right: pixels to the left of one
    that is nearer by more than ``edge`` [m]; both limits are our choice.
    """

    focal_length: float = 580.0
    baseline: float = 0.075
    step: float = 1 / 8
    disparity_noise: float = 1 / 16
    lateral_noise: float = 0.0
    steepest: float = 75.0
    edge: float = 0.02

    def apply(self, depth, camera, generators):
        """Measured depth [m], same shape and type, of ``depth`` [m], shape (worlds, rows, columns), seen by a
        :class:`PinholeCamera`; generators: a :class:`numpy.random.Generator` of each world."""
        holes = self._is_steep(depth, camera) | self._is_shaded(depth) | (depth >= camera.far)
        noise = numpy.stack([g.standard_normal(camera.shape, dtype=numpy.float32) for g in generators])
        if self.lateral_noise > 0:
            rows, columns = (numpy.arange(count) for count in camera.shape)
            aside = numpy.rint(self.lateral_noise * numpy.stack([g.standard_normal((2, *camera.shape))
                                                                 for g in generators])).astype(int)
            at = (numpy.arange(len(depth))[:, None, None], numpy.clip(rows[:, None] + aside[:, 0], 0, rows[-1]),
                  numpy.clip(columns + aside[:, 1], 0, columns[-1]))
            depth, holes = depth[at], holes[at]
        scale, step = numpy.float32(self.focal_length * self.baseline), numpy.float32(self.step)
        steps = numpy.rint((scale / depth + numpy.float32(self.disparity_noise) * noise) / step)
        return numpy.where(holes, numpy.float32(0), scale / (step * numpy.maximum(steps, 1)))

    def _is_steep(self, depth, camera):
        """By the slope between neighbours: dz over the width of a pixel at z, at a surface and not across an edge."""
        slope = numpy.zeros_like(depth)
        for axis in (1, 2):
            change = numpy.moveaxis(numpy.diff(depth, axis=axis) ** 2, axis, 0)
            along = numpy.moveaxis(slope, axis, 0)
            along[0] += change[0]
            along[-1] += change[-1]
            along[1:-1] += numpy.minimum(change[:-1], change[1:])
        return slope > (depth * numpy.float32(numpy.tan(numpy.radians(self.steepest)) / camera.focal_length)) ** 2

    def _is_shaded(self, depth):
        shaded = numpy.zeros(depth.shape, dtype=bool)
        shaded[:, :, :-1] = depth[:, :, :-1] - depth[:, :, 1:] > self.edge
        return shaded


@dataclasses.dataclass(frozen=True)
class Views:
    """What cameras of one shape see.

    depth: [m], float32, shape (worlds, cameras, rows, columns), without noise. faces: numbers of the triangles, int32,
    same shape, -1 where there is none.
    """

    depth: numpy.ndarray
    faces: numpy.ndarray


def see(cameras, points, triangles, others=(), moves=None):
    """:class:`Views` of surfaces.

    cameras: of one shape. points [m], shape (worlds, nodes, 3); triangles: nodes, shape (triangles, 3). others: more of
    the two, numbered on, points of one world for all. moves: of the cameras, see :meth:`PinholeCamera.matrices`, shape
    (worlds, cameras, 7). A pixel is what is at its middle.
    """
    shape = (len(points), *cameras[0].shape)
    depth = numpy.empty((len(cameras), *shape), dtype=numpy.float32)
    faces = numpy.full(depth.shape, -1, dtype=numpy.int32)
    for k, camera in enumerate(cameras):
        depth[k] = camera.far
        matrices = camera.matrices(None if moves is None else moves[:, k])
        first = 0
        for vertices, corners in ((points, triangles), *others):
            _core.rasterise(numpy.ascontiguousarray(vertices, dtype=float),
                            numpy.ascontiguousarray(corners, dtype=numpy.int32), matrices, depth[k], faces[k],
                            camera.near, first)
            first += len(corners)
    return Views(depth.swapaxes(0, 1), faces.swapaxes(0, 1))


def triangles_of(faces):
    """Triangles, shape (n, 3), of faces, shape (faces, 4), -1 in the fourth place of a triangle."""
    quads = faces[faces[:, 3] >= 0]
    return numpy.concatenate([faces[:, :3], quads[:, [0, 2, 3]]])
