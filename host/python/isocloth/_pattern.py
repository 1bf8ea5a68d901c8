"""Sewing patterns: panels whose edges are Bezier curves, and the seams between them.

Readers of pattern files make a :class:`Pattern`, :func:`arrange` places its panels, and :func:`scene_keys` writes it as
``mesh.panels`` and ``mesh.seams`` of a garment. Lengths are metres; a panel lies in its plane counter-clockwise.
"""

import collections
import dataclasses
import difflib

import numpy

from .errors import MeshError

_GAUSS = numpy.polynomial.legendre.leggauss(16)


class Edge:
    """One edge of a panel: a Bezier curve with ``points`` (2 to 4, from its start to its end), its ``name`` in the file
    and its ``label``; ``notches``: marks on it, as shares of its length."""

    def __init__(self, points, name="", label="", notches=()):
        self.points = numpy.array(points, dtype=float)
        self.name, self.label, self.notches = str(name), label, list(notches)
        self._length = None

    @property
    def start(self):
        return self.points[0]

    @property
    def end(self):
        return self.points[-1]

    @property
    def length(self):
        """Arc length [m]: Gauss-Legendre quadrature of 16 points on each half of the curve."""
        if self._length is None:
            if len(self.points) == 2:
                self._length = float(numpy.linalg.norm(self.end - self.start))
            else:
                self._length = sum(self._speed(0.25 * (_GAUSS[0] + 1) + begin) @ _GAUSS[1] / 4 for begin in (0, 0.5))
        return self._length

    def _speed(self, t):
        points, degree = self.points, len(self.points) - 1
        return numpy.linalg.norm(degree * _bezier(points[1:] - points[:-1], t), axis=-1)

    def at(self, t):
        """Points at the parameters ``t``, shape (n, 2)."""
        return _bezier(self.points, numpy.atleast_1d(t))

    def at_shares(self, shares):
        """Points at shares of the length, shape (n, 2)."""
        t = numpy.linspace(0, 1, 201)
        line = self.at(t)
        along = numpy.concatenate([[0], numpy.cumsum(numpy.linalg.norm(numpy.diff(line, axis=0), axis=1))])
        return self.at(numpy.interp(numpy.asarray(shares) * along[-1], along, t))

    def split(self, share):
        """The two edges on both sides of a share of the length, by de Casteljau."""
        t = numpy.linspace(0, 1, 801)
        line = self.at(t)
        along = numpy.concatenate([[0], numpy.cumsum(numpy.linalg.norm(numpy.diff(line, axis=0), axis=1))])
        cut = numpy.interp(share * along[-1], along, t)
        left, right, row = [], [], self.points
        while len(row):
            left.append(row[0])
            right.append(row[-1])
            row = (1 - cut) * row[:-1] + cut * row[1:]
        names = (f"{self.name}a", f"{self.name}b")
        return (Edge(left, names[0], self.label, [n / share for n in self.notches if n <= share]),
                Edge(right[::-1], names[1], self.label, [(n - share) / (1 - share) for n in self.notches if n > share]))

    def moved(self, start=None, end=None):
        """This curve between other ends: control points go with the nearer one."""
        points = self.points.copy()
        for place, first in ((start, True), (end, False)):
            if place is not None:
                shift = place - (points[0] if first else points[-1])
                weight = numpy.linspace(1, 0, len(points)) if first else numpy.linspace(0, 1, len(points))
                points = points + weight[:, None] * shift
        return Edge(points, self.name, self.label, self.notches)

    def mirrored(self):
        """With x the other way."""
        return Edge(self.points * [-1, 1], self.name, self.label, self.notches)

    def reversed(self):
        return Edge(self.points[::-1], self.name, self.label, [1 - n for n in self.notches])


def _bezier(points, t):
    row = numpy.broadcast_to(points, (len(t), *points.shape))
    t = numpy.asarray(t)[:, None, None]
    while row.shape[1] > 1:
        row = (1 - t) * row[:, :-1] + t * row[:, 1:]
    return row[:, 0]


def arc_edges(start, end, radius, large, left, name="", label=""):
    """A circular arc as cubic Bezier edges of at most 90 degrees each, which leave it by 2.8e-4 of the radius at most.
    ``large``: the longer way round; ``left``: turning left on the way, counter-clockwise. A radius of less than half
    of the chord is half of the chord, as in SVG."""
    start, end = numpy.asarray(start, float), numpy.asarray(end, float)
    chord = end - start
    half = numpy.linalg.norm(chord) / 2
    radius = max(abs(radius), half)
    across = numpy.array([-chord[1], chord[0]]) / (2 * half)
    height = numpy.sqrt(max(radius**2 - half**2, 0))
    centre = (start + end) / 2 + across * (height if left != bool(large) else -height)
    angle = numpy.arctan2(*(start - centre)[::-1])
    turn = 2 * numpy.arcsin(min(half / radius, 1))
    turn = (2 * numpy.pi - turn if large else turn) * (1 if left else -1)
    count = max(1, int(numpy.ceil(abs(turn) / (numpy.pi / 2) - 1e-9)))
    angles = angle + turn * numpy.arange(count + 1) / count
    reach = 4 / 3 * numpy.tan(turn / count / 4) * radius
    places = centre + radius * numpy.stack([numpy.cos(angles), numpy.sin(angles)], 1)
    places[0], places[-1] = start, end
    tangents = reach * numpy.stack([-numpy.sin(angles), numpy.cos(angles)], 1)
    return [Edge([places[i], places[i] + tangents[i], places[i + 1] - tangents[i + 1], places[i + 1]],
                 name if count == 1 else f"{name}.{i}", label) for i in range(count)]


@dataclasses.dataclass
class Panel:
    """A flat piece of cloth. ``edges``: its outline; ``rotation`` (3, 3) and ``translation`` take (x, 0, y) of its
    plane to its place, ``around`` r bends it before that (as the keys of a scene do); ``is_placed``: whether the file
    says where it stands; ``internal``: polylines drawn on it; ``layer``: 0 innermost."""

    name: str
    edges: list
    label: str = ""
    grain: float = 90.0
    rotation: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.eye(3))
    translation: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.zeros(3))
    around: float = 0.0
    is_placed: bool = False
    layer: int = 0
    internal: list = dataclasses.field(default_factory=list)

    def outline(self, spacing=0.005):
        """Points along all edges, shape (n, 2)."""
        parts = [edge.at_shares(numpy.arange(n) / n) for edge in self.edges
                 for n in [max(1, int(numpy.ceil(edge.length / spacing))) if len(edge.points) > 2 else 1]]
        return numpy.concatenate(parts)

    def place(self, points):
        """Where points of its plane stand, shape (n, 3)."""
        x, y = numpy.atleast_2d(points).T
        r = self.around
        upright = [r * numpy.sin(x / r), r - r * numpy.cos(x / r), y] if r > 0 else [x, 0 * x, y]
        return numpy.stack(upright, 1) @ self.rotation.T + self.translation

    def area(self):
        x, y = self.outline().T
        return 0.5 * float(numpy.sum(x * numpy.roll(y, -1) - numpy.roll(x, -1) * y))

    def edge_name(self, edge):
        return f"{self.name}.{edge.name}"


@dataclasses.dataclass
class Step:
    """An edge as a seam walks along it, or against it."""

    panel: Panel
    edge: Edge
    forward: bool = True

    @property
    def name(self):
        return self.panel.edge_name(self.edge)


@dataclasses.dataclass
class Seam:
    """Two chains of edges that are sewn together, from their first ends on; ``sure``: how sure a proposed one is."""

    sides: tuple
    label: str = ""
    sure: float = 1.0

    def lengths(self):
        return [sum(step.edge.length for step in side) for side in self.sides]

    def name(self):
        return " with ".join(" + ".join(step.name for step in side) for side in self.sides)


def seam_gap(a, b):
    """Mean distance of two steps from each other [m]."""
    shares = numpy.linspace(0, 1, 5)
    one, other = (step.panel.place(step.edge.at_shares(shares if step.forward else shares[::-1])) for step in (a, b))
    return float(numpy.linalg.norm(one - other, axis=1).mean())


class Findings:
    """What is wrong with a pattern, or was changed: all of it, with names of panels and edges."""

    def __init__(self):
        self.faults, self.notes = [], []

    def fault(self, text):
        self.faults.append(text)

    def note(self, text):
        self.notes.append(text)

    def raise_if_faulty(self, path):
        if self.faults:
            count = "a fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
            raise MeshError(f"{path}: found {count}, expected a pattern that can be sewn:\n"
                            + "\n".join(f"  {fault}" for fault in self.faults))


class Pattern:
    """A sewing pattern.

    ``panels``: a dict by name, in the order of the file, of their ``edges`` (Bezier ``points`` [m], ``length``,
    ``notches``) and their place; ``seams``: their ``sides``, ``lengths()`` and how ``sure`` they are; ``findings``:
    ``faults`` and ``notes``; ``unit`` [m] of the file; ``places``: where it says that panels go on a body.
    """

    def __init__(self, unit=0.01):
        self.panels, self.seams, self.unit, self.places = {}, [], unit, {}
        self.bands = []
        self.findings = Findings()

    def nearest(self, name):
        """" the nearest is ..." of a panel that is not there."""
        near = difflib.get_close_matches(str(name), self.panels, 1, 0)
        return f'the nearest is "{near[0]}"' if near else "there is none"

    def replace(self, panel, edge, pieces):
        """Puts pieces in the place of an edge, in its panel and in all seams."""
        i = panel.edges.index(edge)
        panel.edges[i:i + 1] = pieces
        for seam in self.seams:
            for side in seam.sides:
                for k in [k for k, step in enumerate(side) if step.edge is edge][::-1]:
                    steps = [Step(panel, piece, side[k].forward) for piece in pieces]
                    side[k:k + 1] = steps if side[k].forward else steps[::-1]

    def sewn(self):
        """Edges and how many seams hold each."""
        return collections.Counter(id(step.edge) for seam in self.seams for side in seam.sides for step in side)

    # What is checked and changed before a pattern is written.

    def check(self, ease=None):
        """Finds faults of outlines and seams. ``ease``: the greatest difference of the lengths of a seam, as a share of
        the longer one; none: any, and those above 2 % are said."""
        find = self.findings
        for panel in self.panels.values():
            if len(panel.edges) < 2:
                find.fault(f'panel "{panel.name}": found {len(panel.edges)} edges, expected at least 2')
                continue
            for k, edge in enumerate(panel.edges):
                after = panel.edges[(k + 1) % len(panel.edges)]
                gap = float(numpy.linalg.norm(edge.end - after.start))
                if gap > 1e-4:
                    find.fault(f"{panel.edge_name(edge)}: ends {gap * 1e3:.3g} mm from where "
                               f"{panel.edge_name(after)} begins, expected a closed outline")
            crossing = _crossing(panel)
            if crossing:
                find.fault(f'panel "{panel.name}": its outline crosses itself at edges {crossing[0]} and '
                           f"{crossing[1]}, expected a simple one")
        seen = {}
        for seam in self.seams:
            key = frozenset(id(step.edge) for side in seam.sides for step in side)
            if seen.setdefault(key, seam) is not seam:
                find.note(f"seam {seam.name()}: is there twice; one is left out")
            lengths = seam.lengths()
            off = abs(lengths[0] - lengths[1]) / max(*lengths, 1e-30)
            words = f"seam {seam.name()}: {lengths[0] * 1e3:.1f} mm with {lengths[1] * 1e3:.1f} mm"
            if ease is not None and off > ease:
                find.fault(f"{words}: differ by {off:.1%}, expected at most {ease:.1%}")
            elif off > 0.5:
                find.note(f"{words}: are these the edges that are meant? the longer one gathers by {off:.0%}")
            elif off > 0.02 and abs(lengths[0] - lengths[1]) > 2e-3:
                find.note(f"{words}: the longer one gathers by {off:.1%}")
        self.seams = list(seen.values())
        if len(self.panels) > 1:
            sewn = self.sewn()
            for panel in self.panels.values():
                if not any(sewn[id(edge)] for edge in panel.edges):
                    find.note(f'panel "{panel.name}": no seam holds it')

    def join_short(self, least):
        """Closes edges shorter than ``least`` [m] that are sewn to none or to others as short: triangles of that size
        would be left of them."""
        joined, moved = [], 0.0
        for panel in self.panels.values():
            for edge in list(panel.edges):
                if edge.length >= least or len(panel.edges) <= 3:
                    continue
                mine = [seam for seam in self.seams if any(s.edge is edge for side in seam.sides for s in side)]
                if edge.length > 1e-9 and any(max(seam.lengths()) >= 2 * least for seam in mine):
                    continue
                for seam in mine:  # of a chain the step, of a pair the seam
                    sides = [[s for s in side if s.edge is not edge] for side in seam.sides]
                    if all(sides):
                        seam.sides = tuple(sides)
                    else:
                        self.seams.remove(seam)
                joined.append(panel.edge_name(edge))
                moved = max(moved, edge.length)
                i = panel.edges.index(edge)
                middle = (edge.start + edge.end) / 2
                before, after = panel.edges[i - 1], panel.edges[(i + 1) % len(panel.edges)]
                self.replace(panel, before, [before.moved(end=middle)])
                self.replace(panel, after, [after.moved(start=middle)])
                panel.edges.remove(edge)
        if joined:
            self.findings.note(f"{len(joined)} edges of at most {moved * 1e3:.1f} mm, shorter than the mesh resolves, "
                               f"were closed: {', '.join(joined[:8])}{', ...' if len(joined) > 8 else ''}")

    def match_seams(self, near=2e-3):
        """Splits edges until every seam is edge to edge: where one side has a corner the other gets one, at the same
        share of the length, unless it has one within ``near`` [m] already."""
        for panel in self.panels.values():
            while len(panel.edges) < 3:
                longest = max(panel.edges, key=lambda edge: edge.length)
                self.replace(panel, longest, longest.split(0.5))
        for _ in range(1000):
            if not any(self._split_once(seam, near) for seam in self.seams):
                break
        for seam in self.seams:
            if len(seam.sides[0]) != len(seam.sides[1]):
                self.findings.fault(f"seam {seam.name()}: corners of its sides do not come to match; give it as seams "
                                    "of one edge each")

    def _split_once(self, seam, near):
        ends = [numpy.cumsum([step.edge.length for step in side]) for side in seam.sides]
        shares = [along / along[-1] for along in ends]
        close = near / max(min(seam.lengths()), 1e-12)
        i = j = 0  # corners that were met, side by side
        while i < len(shares[0]) - 1 or j < len(shares[1]) - 1:
            a, b = shares[0][i], shares[1][j]
            if i < len(shares[0]) - 1 and j < len(shares[1]) - 1 and abs(a - b) <= close:
                i, j = i + 1, j + 1
                continue
            # The nearer corner has none to meet.
            lacking, k, share = (1, j, a) if a < b else (0, i, b)
            before = shares[lacking][k - 1] if k else 0.0
            step, part = seam.sides[lacking][k], (share - before) / (shares[lacking][k] - before)
            self.replace(step.panel, step.edge, step.edge.split(part if step.forward else 1 - part))
            return True
        return False

    def pairs(self):
        """Pairs of steps, edge to edge."""
        return [(a, b, seam) for seam in self.seams for a, b in zip(*seam.sides)]

    def band_keys(self):
        """``bands`` as the keys of a garment's mesh have them."""
        return [{"panel": panel.name, "edge": panel.edges.index(edge), "share": round(share, 4), "stiffness": stiffness}
                for panel, edge, share, stiffness in self.bands]

    def scene_keys(self):
        """``panels`` and ``seams`` as the keys of a garment's mesh have them."""
        panels = []
        for panel in self.panels.values():
            keys = {"name": panel.name, "outline": _rounded([edge.start for edge in panel.edges])}
            curves = [{"edge": k, "control": _rounded(edge.points[1:-1])}
                      for k, edge in enumerate(panel.edges) if len(edge.points) > 2]
            if curves:
                keys["curves"] = curves
            if abs(panel.grain - 90) > 1e-9:
                keys["grain"] = round(panel.grain, 6)
            if panel.around > 0:
                keys["around"] = round(panel.around, 6)
            turn = rotation_vector(panel.rotation)
            if numpy.abs(turn).max() > 1e-9:
                keys["rotation"] = [round(float(x), 9) for x in numpy.degrees(turn)]
            keys["translation"] = _rounded(panel.translation)
            if panel.layer:
                keys["layer"] = panel.layer
            panels.append(keys)
        seams = [{"panel": a.panel.name, "edge": a.panel.edges.index(a.edge),
                  "other_panel": b.panel.name, "other_edge": b.panel.edges.index(b.edge),
                  "direction": "same" if a.forward == b.forward else "opposite"} for a, b, _ in self.pairs()]
        return panels, seams


def _rounded(points):
    return numpy.round(numpy.asarray(points, dtype=float), 7).tolist()


def rotation_vector(matrix):
    """Axis times angle [rad] of a rotation matrix, angles up to pi."""
    cosine = numpy.clip((numpy.trace(matrix) - 1) / 2, -1, 1)
    angle = numpy.arccos(cosine)
    skew = numpy.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]) / 2
    if angle < 1e-9:
        return skew
    if numpy.pi - angle > 1e-5:
        return angle / numpy.sin(angle) * skew
    axis = (matrix + numpy.eye(3))[:, numpy.argmax(numpy.diag(matrix))]  # R + 1 = 2 a a^T at pi
    axis = axis / numpy.linalg.norm(axis)
    return angle * axis * (1 if skew @ axis >= 0 else -1)


def _crossing(panel):
    """Names of two edges that cross, or None."""
    points, owners = [], []
    for edge in panel.edges:
        count = 1 if len(edge.points) == 2 else 24
        points.append(edge.at(numpy.arange(count) / count))
        owners += [edge] * count
    a = numpy.concatenate(points)
    b = numpy.roll(a, -1, axis=0)
    d = b - a

    def side(i, p):
        return d[i, 0] * (p[:, 1] - a[i, 1]) - d[i, 1] * (p[:, 0] - a[i, 0])

    scale = max(float(numpy.ptp(a, axis=0).max()), 1e-12)
    for i in range(len(a)):
        ahead = numpy.arange(i + 2, len(a) - (1 if i == 0 else 0))
        if not len(ahead):
            continue
        s, e = side(i, a[ahead]), side(i, b[ahead])
        across = ahead[s * e < -(1e-7 * scale) ** 4]
        for j in across:
            one, other = side(j, a[i:i + 1])[0], side(j, b[i:i + 1])[0]
            if one * other < -(1e-7 * scale) ** 4:
                return owners[i].name, owners[j].name
    return None
