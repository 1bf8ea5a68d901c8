"""Closed curves as panels of a garment.

Every closed curve of an object is a panel, flat in a plane of its own. Its corners are the control points, its edge k
goes from corner k to the next and is straight, or a Bezier curve by the handles of its ends. The front of a panel is
the side from which its corners go around counter-clockwise. Its pattern stands upright: the second axis, along which
the warp runs, is the direction in its plane that is nearest to up.
"""

import dataclasses
import math

import numpy

from .errors import AddonError

FLATNESS = 0.01  # of the size of a panel, by which its corners may be off its plane


@dataclasses.dataclass
class Curve:
    """``corners`` and, of Bezier curves, ``rights`` and ``lefts``, the handles after and before each corner: in the
    world [m], shape (corners, 3); ``is_closed``."""

    corners: numpy.ndarray
    rights: numpy.ndarray = None
    lefts: numpy.ndarray = None
    is_closed: bool = True


@dataclasses.dataclass
class Panel:
    """What the scene says of it (``keys``), and the frame of its plane: ``origin`` [m] and ``axes``, shape (2, 3)."""

    keys: dict
    origin: numpy.ndarray
    axes: numpy.ndarray

    def pattern(self, positions):
        """Places in its plane [m], shape (n, 2), of positions where it stands, shape (n, 3)."""
        return (positions - self.origin) @ self.axes.T


def panel(name, curve):
    """The :class:`Panel` of a :class:`Curve`. Raises AddonError for one that is open, not flat or has no area."""
    corners = numpy.asarray(curve.corners, dtype=float)
    if not curve.is_closed:
        raise AddonError(f"{name}: found an open curve, expected a closed one; select it and toggle cyclic (Alt C)")
    if len(corners) < (2 if curve.rights is not None else 3):
        raise AddonError(f"{name}: found {len(corners)} control points, expected at least 3, of a Bezier curve 2")
    drawn = [corners] if curve.rights is None else [curve.lefts, corners, curve.rights]
    outline = numpy.stack(drawn, axis=1).reshape(-1, 3)
    origin = outline.mean(0)
    area = 0.5 * numpy.cross(outline - origin, numpy.roll(outline - origin, -1, axis=0)).sum(0)
    size = numpy.linalg.norm(numpy.ptp(outline, axis=0))
    if not numpy.linalg.norm(area) > 1e-4 * size ** 2:
        raise AddonError(f"{name}: found a curve without an area, expected one around a panel")
    normal = area / numpy.linalg.norm(area)
    off = numpy.abs((outline - origin) @ normal).max()
    if off > FLATNESS * size:
        raise AddonError(f"{name}: found a control point {off:.3g} m off its plane, expected a flat curve")
    up = numpy.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else numpy.array([0.0, 1.0, 0.0])
    y = up - (up @ normal) * normal
    y /= numpy.linalg.norm(y)
    axes = numpy.array([numpy.cross(y, normal), y])
    flat = lambda points: numpy.round((points - origin) @ axes.T, 9).tolist()  # noqa: E731
    keys = {"name": name, "outline": flat(corners), "rotation": _upright_to(axes, normal),
            "translation": origin.tolist()}
    curves = [] if curve.rights is None else _curves(corners, curve.rights, curve.lefts, flat)
    if curves:
        keys["curves"] = curves
    return Panel(keys, origin, axes)


def _curves(corners, rights, lefts, flat):
    """Edges whose handles are off the straight line between their ends."""
    found = []
    for k in range(len(corners)):
        next_corner = (k + 1) % len(corners)
        ends = corners[next_corner] - corners[k]
        length = numpy.linalg.norm(ends)
        handles = numpy.array([rights[k], lefts[next_corner]])
        off = numpy.linalg.norm(numpy.cross(handles - corners[k], ends / max(length, 1e-30)), axis=1).max()
        if length < 1e-9 or off > 1e-4 * length:
            found.append({"edge": k, "control": flat(handles)})
    return found


def _upright_to(axes, normal):
    """Rotation vector [degrees] that brings the panel of the engine, which stands upright with its front to -y, onto
    the axes: x onto the first, z onto the second, -y onto the normal."""
    turn = numpy.column_stack([axes[0], -normal, axes[1]])
    angle = math.acos(min(1.0, max(-1.0, (numpy.trace(turn) - 1) / 2)))
    if angle < 1e-9:
        return [0.0, 0.0, 0.0]
    if angle > math.pi - 1e-6:  # by R = 2 a a^T - 1
        square = (turn + numpy.eye(3)) / 2
        axis = square[numpy.argmax(numpy.diag(square))]
    else:
        axis = numpy.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return (math.degrees(angle) * axis / numpy.linalg.norm(axis)).tolist()


def selected_edges(selections):
    """Pairs (curve, edge) both of whose ends are selected. selections: of each closed curve, flags of its points."""
    return [(number, k) for number, flags in enumerate(selections) for k in range(len(flags))
            if flags[k] and flags[(k + 1) % len(flags)]]
