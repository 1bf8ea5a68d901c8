"""A square sheet that hangs by two corners, and one ruler for its motion in any engine: positions of its nodes alone.

Nodes stand in n rows of n: node j n + i is column i of row j, at (i, j, 0) size / (n - 1) where the sheet rests;
positions have the shape (n * n, 3) [m], z is up.
"""

import dataclasses

import numpy


def grid(nodes, size=1.0):
    """The sheet at rest, shape (nodes * nodes, 3) [m]."""
    along = numpy.linspace(0, size, nodes)
    row, column = numpy.meshgrid(along, along, indexing="ij")
    return numpy.stack([column, row, numpy.zeros_like(row)], axis=-1).reshape(-1, 3)


def triangles(nodes):
    """Each quad cut from its first corner to the third, shape (2 (nodes - 1)^2, 3)."""
    first = (numpy.arange(nodes - 1)[:, None] * nodes + numpy.arange(nodes - 1)).ravel()
    cut = first[:, None] + numpy.array([0, 1, nodes + 1, 0, nodes + 1, nodes])
    return cut.reshape(-1, 3)


def sheet_from_45_degrees(nodes, ratio=0.95):
    """Where the sheet of `isocloth-bench pareto` starts, shape (nodes * nodes, 3) [m]: rows are circular arcs of edges
    of rest length whose ends are `ratio` apart, 2 / pi < ratio <= 1, and hang below them; inclined by 45 degrees."""
    places, segments = grid(nodes), nodes - 1
    low, high = 0.0, numpy.pi / segments  # angle between neighbours: sin(segments a / 2) = ratio segments sin(a / 2)
    for _ in range(100):
        angle = (low + high) / 2
        if numpy.sin(segments * angle / 2) > ratio * segments * numpy.sin(angle / 2):
            low = angle
        else:
            high = angle
    if ratio < 1:
        half, radius = segments * low / 2, 0.5 / (segments * numpy.sin(low / 2))
        at = numpy.arange(nodes * nodes) % nodes * low - half
        places[:, 0] = radius * (numpy.sin(at) + numpy.sin(half))
        places[:, 2] = -radius * (numpy.cos(at) - numpy.cos(half))
    x, y, z = places.T
    return numpy.stack([x, (y + z) * numpy.sqrt(0.5), (z - y) * numpy.sqrt(0.5)], axis=-1)


@dataclasses.dataclass(frozen=True)
class Sheet:
    """What an engine is to simulate: a sheet at rest under 9.81 m/s^2, nodes 0 and nodes - 1 held where they start."""

    nodes: int  # a side
    size: float  # [m]
    density: float  # [kg/m^2]
    frame: float  # [s], between two looks at it
    drag: float = 0.0  # force on a node over its momentum [1/s]
    start: numpy.ndarray | None = None  # shape (nodes * nodes, 3) [m]; None: at rest
    even: bool = False  # all nodes weigh the same, where an engine is told; else each a quarter of its quads
    rest: numpy.ndarray = dataclasses.field(init=False)
    masses: numpy.ndarray = dataclasses.field(init=False)  # [kg]
    pins = property(lambda self: (0, self.nodes - 1))
    gravity = 9.81  # [m/s^2]

    def __post_init__(self):
        share = numpy.full(self.nodes, 1.0)
        share[[0, -1]] = 0.5
        cell = self.size / (self.nodes - 1)
        object.__setattr__(self, "rest", grid(self.nodes, self.size))
        masses = self.density * cell**2 * numpy.outer(share, share).ravel()
        object.__setattr__(self, "masses", numpy.full_like(masses, masses.mean()) if self.even else masses)
        if self.start is None:
            object.__setattr__(self, "start", self.rest.copy())


def edge_strains(positions, nodes, size=1.0):
    """|l / l0 - 1| of the 2 nodes (nodes - 1) edges along warp and weft."""
    sheet, cell = numpy.asarray(positions, dtype=float).reshape(nodes, nodes, 3), size / (nodes - 1)
    lengths = [numpy.linalg.norm(numpy.diff(sheet, axis=axis), axis=-1).ravel() for axis in (0, 1)]
    return numpy.abs(numpy.concatenate(lengths) / cell - 1)


def element_strains(positions, nodes, size=1.0):
    """max(|s1 - 1|, |s2 - 1|) at 2 x 2 Gauss points of each bilinear quad, shape (4, nodes - 1, nodes - 1); s1^2,
    s2^2 are the eigenvalues of F^T F, F = dx / dX. `stretch_p95` of the engine is the 95th percentile of these."""
    sheet, cell = numpy.asarray(positions, dtype=float).reshape(nodes, nodes, 3), size / (nodes - 1)
    low, right, up, far = sheet[:-1, :-1], sheet[:-1, 1:], sheet[1:, :-1], sheet[1:, 1:]
    points, strains = 0.5 + numpy.array([-0.5, 0.5]) / numpy.sqrt(3), []
    for xi in points:
        for eta in points:
            u = ((1 - eta) * (right - low) + eta * (far - up)) / cell
            v = ((1 - xi) * (up - low) + xi * (far - right)) / cell
            uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
            middle, radius = (uu + vv) / 2, numpy.hypot((uu - vv) / 2, uv)
            most, least = numpy.sqrt(middle + radius), numpy.sqrt(numpy.maximum(middle - radius, 0))
            strains.append(numpy.maximum(numpy.abs(most - 1), numpy.abs(least - 1)))
    return numpy.array(strains)


def resampled(positions, nodes, to):
    """Positions at the nodes of a grid of `to` x `to` nodes on the same sheet, bilinear, shape (to * to, 3)."""
    sheet = numpy.asarray(positions, dtype=float).reshape(nodes, nodes, 3)
    at = numpy.arange(to) * ((nodes - 1) / (to - 1))
    below = numpy.minimum(at.astype(int), nodes - 2)
    part = (at - below)[:, None, None]
    rows = (1 - part) * sheet[below] + part * sheet[below + 1]
    part = (at - below)[None, :, None]
    return ((1 - part) * rows[:, below] + part * rows[:, below + 1]).reshape(-1, 3)
