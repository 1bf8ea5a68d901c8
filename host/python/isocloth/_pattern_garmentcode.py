"""Pattern specifications of GarmentCode and pygarment (Korosteleva and Sorkine-Hornung 2023), JSON.

``pattern.panels`` have ``vertices``, ``edges`` of ``endpoints`` and ``curvature`` (quadratic and cubic Bezier curves in
the frame of the chord, circular arcs), ``rotation`` (Euler angles in degrees) and ``translation``; ``pattern.stitches``
join edges. Lengths are centimetres unless ``properties.units_in_meter`` says otherwise; y is up and z to the front.
"""

import json

import numpy

from ._pattern import Edge, Panel, Pattern, Seam, Step, arc_edges, seam_gap
from .errors import FileError

_TO_SCENE = numpy.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # y up, z to the front -> z up, -y to the front


def read(path):
    """The :class:`Pattern` of a specification."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            spec = json.load(file)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: found no JSON ({' '.join(str(error).split())[:120]}), expected a pattern "
                        "specification") from None
    body = spec.get("pattern") if isinstance(spec, dict) else None
    if not isinstance(body, dict) or not isinstance(body.get("panels"), dict):
        raise FileError(f"{path}: found no pattern.panels, expected a specification as GarmentCode writes it")
    properties = spec.get("properties") if isinstance(spec.get("properties"), dict) else {}
    pattern = Pattern()
    find = pattern.findings
    per_metre = properties.get("units_in_meter")
    if not isinstance(per_metre, (int, float)) or not 0 < per_metre < 1e6:
        find.note(f"properties.units_in_meter: found {json.dumps(per_metre)}; centimetres were guessed")
        per_metre = 100
    pattern.unit = 1 / per_metre
    relative = properties.get("curvature_coords", "relative") != "absolute"
    euler = {}
    for name, keys in body["panels"].items():
        try:
            pattern.panels[name] = _panel(name, keys, pattern.unit, relative, find, euler)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            find.fault(f'panel "{name}": found {type(error).__name__} {str(error)[:80]}, expected vertices, edges with '
                       "endpoints and curvature, rotation and translation")
    for i, stitch in enumerate(body.get("stitches") or []):
        _stitch(pattern, i, stitch)
    _choose_angles(pattern, euler)
    return pattern


def _panel(name, keys, unit, relative, find, euler):
    places = unit * numpy.array(keys["vertices"], dtype=float).reshape(-1, 2)
    edges = []
    for k, edge in enumerate(keys["edges"]):
        start, end = (places[int(i)] for i in edge["endpoints"])
        edges.append((k, start, end, edge.get("curvature"), str(edge.get("label", ""))))
    turned = _in_order(edges)
    parts = []
    for k, start, end, curve, label in turned:
        if numpy.linalg.norm(end - start) == 0:
            find.note(f"{name}.{k}: has no length; it is left out")
            continue
        parts += _curve(name, k, start, end, curve, label, unit, relative, find)
    x, y = numpy.concatenate([edge.at(numpy.arange(8) / 8) for edge in parts]).T
    clockwise = numpy.sum(x * numpy.roll(y, -1) - numpy.roll(x, -1) * y) < 0
    angles = numpy.array(keys.get("rotation", [0, 0, 0]), dtype=float)
    panel = Panel(name, [edge.mirrored() for edge in parts] if clockwise else parts, str(keys.get("label", "")),
                  translation=unit * (_TO_SCENE @ numpy.array(keys.get("translation", [0, 0, 0]), dtype=float)),
                  is_placed=True)
    # A clockwise panel shows its back: seen from behind it is counter-clockwise, with x the other way.
    euler[name] = angles, numpy.diag([-1.0, -1.0, 1.0]) if clockwise else numpy.eye(3)
    _turn(panel, *euler[name])
    return panel


def _in_order(edges):
    """Edges as a loop, end to start, as the file has them unless its edges are in another order."""
    if all(numpy.allclose(a[2], b[1], atol=1e-9) for a, b in zip(edges, edges[1:])):
        return edges
    left, loop = list(edges[1:]), [edges[0]]
    while left:
        following = [edge for edge in left if numpy.allclose(edge[1], loop[-1][2], atol=1e-9)]
        if not following:
            return edges
        loop.append(following[0])
        left.remove(following[0])
    return loop


def _curve(name, k, start, end, curve, label, unit, relative, find):
    def place(control):
        control = numpy.array(control, dtype=float)
        if not relative:
            return unit * control
        chord = end - start
        return start + control[0] * chord + control[1] * numpy.array([-chord[1], chord[0]])

    if not curve:
        return [Edge([start, end], k, label)]
    if isinstance(curve, list):  # of before there were types
        return [Edge([start, place(curve), end], k, label)]
    kind, numbers = curve.get("type"), curve.get("params")
    if kind == "quadratic":
        return [Edge([start, place(numbers[0]), end], k, label)]
    if kind == "cubic":
        return [Edge([start, place(numbers[0]), place(numbers[1]), end], k, label)]
    if kind == "circle":
        radius, large, left = numbers
        return arc_edges(start, end, unit * float(radius), bool(large), bool(left), k, label)
    find.fault(f'{name}.{k}: found a curve of type "{kind}", expected quadratic, cubic or circle')
    return [Edge([start, end], k, label)]


def _turn(panel, angles, mirror, written=True):
    """written: intrinsic x, y, z, as pygarment writes them; else extrinsic, as its own reader takes them."""
    x, y, z = numpy.radians(angles)
    about = [numpy.array([[1, 0, 0], [0, numpy.cos(x), -numpy.sin(x)], [0, numpy.sin(x), numpy.cos(x)]]),
             numpy.array([[numpy.cos(y), 0, numpy.sin(y)], [0, 1, 0], [-numpy.sin(y), 0, numpy.cos(y)]]),
             numpy.array([[numpy.cos(z), -numpy.sin(z), 0], [numpy.sin(z), numpy.cos(z), 0], [0, 0, 1]])]
    matrix = about[0] @ about[1] @ about[2] if written else about[2] @ about[1] @ about[0]
    panel.rotation = _TO_SCENE @ matrix @ _TO_SCENE.T @ mirror


def _choose_angles(pattern, euler):
    """pygarment 2.0 writes intrinsic angles and reads extrinsic ones. They differ where a panel turns about two axes:
    then those are taken with which the ends of its seams lie nearer to each other."""
    for name, (angles, mirror) in euler.items():
        if numpy.count_nonzero(numpy.abs(angles) > 1e-6) < 2:
            continue
        panel, gaps = pattern.panels[name], []
        for written in (True, False):
            _turn(panel, angles, mirror, written)
            gaps.append(sum(seam_gap(a, b) for a, b, _ in pattern.pairs() if panel in (a.panel, b.panel)))
        written = gaps[0] <= gaps[1] * (1 + 1e-9)
        _turn(panel, angles, mirror, written)
        if not written:
            pattern.findings.note(f'panel "{name}": its angles were taken as extrinsic ones: its seams are nearer so')


def _stitch(pattern, i, stitch):
    """Sides of a stitch are an edge or a list of edges, which follow each other. More than two are sewn to the first.
    Edges run against each other, right side to right side, unless the stitch says ``right_wrong``."""
    find = pattern.findings
    sides = [side if isinstance(side, list) else [side] for side in stitch if isinstance(side, (dict, list))]
    if len(sides) < 2:
        find.fault(f"stitches[{i}]: found {len(sides)} side, expected two; it is sewn to nothing")
        return
    along = "right_wrong" in [word for word in stitch if isinstance(word, str)]
    chains = []
    for side in sides:
        chain = []
        for place in side:
            place = place if isinstance(place, dict) else {}
            name, number = place.get("panel"), place.get("edge")
            panel = pattern.panels.get(name)
            if panel is None:
                find.fault(f'stitches[{i}]: found the panel {json.dumps(name)}, which there is not: it is sewn to '
                           f"nothing; {pattern.nearest(name)}")
                return
            edges = [edge for edge in panel.edges if edge.name.split(".")[0] == str(number)]
            if not edges:
                find.fault(f'stitches[{i}]: found edge {json.dumps(number)} of "{name}", expected one of '
                           f"{', '.join(edge.name for edge in panel.edges)}: it is sewn to nothing")
                return
            chain += [Step(panel, edge) for edge in edges]
        chains.append(chain)
    for other in chains[1:]:
        if any(a.edge is b.edge for a in chains[0] for b in other):
            find.fault(f"stitches[{i}]: found {chains[0][0].name} on both sides, expected two edges")
            continue
        turned = [Step(s.panel, s.edge, along) for s in (other if along else other[::-1])]
        pattern.seams.append(Seam((list(chains[0]), turned)))
