"""Dense polylines of pattern files as few Bezier curves."""

import numpy

from ._pattern import Edge, _bezier

WITHIN = 3e-4  # [m] of the curve from the polyline


def corners_of(points, marked=(), angle=25.0, near=1e-3):
    """Numbers of the corners of a closed polyline: points that are marked as such (turn points), or, where none are,
    those at which it turns by more than ``angle`` [degrees] within ``near`` [m] of its neighbours."""
    points = numpy.asarray(points, float)
    if len(marked):
        away = numpy.linalg.norm(points[:, None] - numpy.asarray(marked, float)[None], axis=2)
        found = sorted({int(i) for k, i in enumerate(away.argmin(0)) if away[i, k] < near})
        if len(found) > 1:
            return found
    before, after = points - numpy.roll(points, 1, axis=0), numpy.roll(points, -1, axis=0) - points
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turn = numpy.degrees(numpy.abs(numpy.arctan2(cross, (before * after).sum(1))))
    found = [int(i) for i in numpy.flatnonzero(turn > angle)]
    return found if len(found) > 1 else sorted({*found, 0, len(points) // 2})


def edges_of(points, corners, names=None, notches=()):
    """Edges of a closed polyline between its corners, as lines or cubic curves within 0.3 mm of it; one that needs
    several is named NAME.0, NAME.1, ... ``notches``: places on the outline."""
    points = numpy.asarray(points, float)
    result = []
    for k, first in enumerate(corners):
        last = corners[(k + 1) % len(corners)]
        chain = points[first:last + 1] if last > first else numpy.concatenate([points[first:], points[:last + 1]])
        pieces = fit(chain)
        name = str(k) if names is None else names[k]
        edges = [Edge(piece, name if len(pieces) == 1 else f"{name}.{i}") for i, piece in enumerate(pieces)]
        for place in notches:
            _mark(edges, numpy.asarray(place, float))
        result += edges
    return result


def _mark(edges, place, near=2e-3):
    """A notch on the edge that it lies on, not at its corners."""
    for edge in edges:
        line = edge.at_shares(numpy.linspace(0, 1, 201))
        away = numpy.linalg.norm(line - place, axis=1)
        share = away.argmin() / 200
        if away.min() < near and 0.02 < share < 0.98:
            edge.notches.append(float(share))
            return


def fit(chain):
    """Control points of the curves of an open polyline: least squares (Schneider 1990), parted where it is furthest."""
    chord = numpy.linalg.norm(chain[-1] - chain[0])
    if len(chain) == 2 or (chord > 0 and _off_line(chain).max() < WITHIN / 4):
        return [numpy.array([chain[0], chain[-1]])]
    along = numpy.concatenate([[0], numpy.cumsum(numpy.linalg.norm(numpy.diff(chain, axis=0), axis=1))])
    t = along / along[-1]
    if len(chain) < 4:  # through its middle
        s = t[1]
        control = (chain[1] - (1 - s) ** 2 * chain[0] - s**2 * chain[-1]) / (2 * s * (1 - s))
        return [numpy.array([chain[0], control, chain[-1]])]
    best = None
    for _ in range(60):
        weights = numpy.stack([3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t)], 1)
        rest = chain - (1 - t)[:, None] ** 3 * chain[0] - t[:, None] ** 3 * chain[-1]
        inner = numpy.linalg.lstsq(weights, rest, rcond=None)[0]
        control = numpy.array([chain[0], *inner, chain[-1]])
        off = numpy.linalg.norm(_bezier(control, t) - chain, axis=1)
        if best is None or off.max() < best[1].max():
            best = control, off
        if off.max() < WITHIN:
            return [control]
        slope = _bezier(3 * numpy.diff(control, axis=0), t)
        step = ((_bezier(control, t) - chain) * slope).sum(1) / numpy.maximum((slope**2).sum(1), 1e-12)
        t = numpy.clip(t - step, 0, 1)
        t[0], t[-1] = 0, 1
        if (numpy.diff(t) <= 0).any():
            break
    middle = int(numpy.clip(best[1].argmax(), 2, len(chain) - 3)) if len(chain) > 5 else len(chain) // 2
    return fit(chain[:middle + 1]) + fit(chain[middle:])


def _off_line(chain):
    way = chain[-1] - chain[0]
    way = way / numpy.linalg.norm(way)
    rest = chain - chain[0]
    return numpy.abs(rest[:, 0] * way[1] - rest[:, 1] * way[0])
