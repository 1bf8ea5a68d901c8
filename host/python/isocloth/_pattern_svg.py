"""Patterns of SVG files: each closed path is a panel, named by its id; or a group with an id whose open paths are its
edges.

Attributes say what SVG has no words for: ``data-seams="2:back.0 3:back.1:same"`` of a panel (its edge, the other panel
and edge, ``same`` where they run the same way), ``data-seam="side"`` of two single paths (sewn together),
``data-grain`` [degrees], ``data-label``, ``data-layer``,
 ``data-surface``, ``data-angle`` [degrees] and ``data-height`` [m].
"""

import re

import numpy

from ._pattern import Edge, Panel, Pattern, Seam, Step, arc_edges
from .errors import Error, FileError

_NAMED = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254, "ft": 0.3048, "px": 0.0254 / 96, "pt": 0.0254 / 72}


def read(path, unit=None):
    """The :class:`Pattern` of a file; ``unit`` is that of its user units, where width and viewBox do not say it."""
    try:
        import svgelements
    except ImportError:
        raise ImportError("SVG patterns need svgelements: pip install isocloth[patterns]") from None
    try:
        # One user unit becomes a pixel of 1/96 in, as the standard has it.
        svg = svgelements.SVG.parse(str(path), reify=True, ppi=96)
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, IndexError) as error:
        raise FileError(f"{path}: found no SVG file ({' '.join(str(error).split())[:120]})") from None
    pattern = Pattern()
    find = pattern.findings
    pattern.unit = _unit(svg, unit, find)
    panels = {}  # element -> panel
    joined = {}  # data-seam -> steps
    wanted = []  # data-seams
    for element, group in _shapes(svg):
        data = element.values or {}
        shape = element if isinstance(element, svgelements.Path) else svgelements.Path(element)
        for k, part in enumerate(shape.as_subpaths()):
            segments = [s for s in svgelements.Path(part) if not isinstance(s, (svgelements.Move))]
            edges = _edges(segments, pattern.unit)
            if not edges:
                continue
            name = _name(data, len(panels) + 1) + (f"_{k + 1}" if k else "")
            near = 1e-3 * max(float(numpy.ptp(numpy.concatenate([e.points for e in edges]), axis=0).max()), 1e-9)
            if numpy.linalg.norm(edges[-1].end - edges[0].start) > max(near, 1e-4):
                panels.setdefault(group, []).append((edges, data))
                continue
            _finish(pattern, name, edges, data, wanted)
    for name, parts in panels.items():
        if name is None:
            find.note(f"{len(parts)} open paths outside of groups were left out")
        else:
            _from_parts(pattern, name, parts, joined)
    for key, steps in joined.items():
        if len(steps) < 2:
            find.fault(f'{steps[0].name}: data-seam "{key}" is that of no other path: it is sewn to nothing')
        for other in steps[1:]:
            pattern.seams.append(Seam(([steps[0]], [Step(other.panel, other.edge, False)])))
    for panel, text in wanted:
        _seams(pattern, panel, text)
    if not pattern.panels:
        raise FileError(f"{path}: found no closed path, expected one for each panel")
    return pattern


def _unit(svg, unit, find):
    """Metres per coordinate that svgelements gives, which are pixels of 1/96 in."""
    if unit is not None:
        if unit not in _NAMED and not isinstance(unit, (int, float)):
            raise Error(f'import: unit: found "{unit}", expected one of {" ".join(_NAMED)}')
        box = svg.viewbox
        width = getattr(svg, "width", None)
        scale = float(width) / box.width if box is not None and box.width and width else 1.0
        return _NAMED.get(unit, unit) / scale
    words = (svg.values or {}).get("attributes", {})
    if not re.search(r"[a-z]", str(words.get("width", "")) + str(words.get("height", ""))):
        find.note("the file does not say the unit of its width and height; pixels of 1/96 in were taken, as SVG has it "
                  "(--unit mm, for one user unit)")
    return _NAMED["px"]


def _name(data, number):
    attributes = data.get("attributes", data)
    name = attributes.get("id") or attributes.get("{http://www.inkscape.org/namespaces/inkscape}label")
    return re.sub(r"\s+", "_", name) if name else f"panel_{number}"


def _shapes(node, group=None):
    """Shapes and the ids of the innermost groups that they are in."""
    import svgelements

    for child in node:
        if isinstance(child, svgelements.Shape):
            yield child, group
        elif isinstance(child, list):
            yield from _shapes(child, _name(child.values, 0) if getattr(child, "id", None) else group)


def _edges(segments, unit):
    """Bezier edges with y upwards; of lines that a Close adds only those that have a length."""
    import svgelements

    def place(point):
        return unit * numpy.array([float(point.x), -float(point.y)])

    edges = []
    for segment in segments:
        if segment.start is None or segment.end is None:
            continue
        start, end = place(segment.start), place(segment.end)
        if isinstance(segment, svgelements.Arc):
            if abs(abs(segment.rx) - abs(segment.ry)) > 1e-6 * abs(segment.rx):
                edges += [Edge([place(c.start), place(c.control1), place(c.control2), place(c.end)])
                          for c in segment.as_cubic_curves()]
            else:
                sweep = float(segment.sweep)
                edges += arc_edges(start, end, unit * abs(segment.rx), abs(sweep) > numpy.pi, sweep < 0)
            continue
        if numpy.linalg.norm(end - start) < 1e-7:
            continue
        if isinstance(segment, svgelements.CubicBezier):
            edges.append(Edge([start, place(segment.control1), place(segment.control2), end]))
        elif isinstance(segment, svgelements.QuadraticBezier):
            edges.append(Edge([start, place(segment.control), end]))
        else:
            edges.append(Edge([start, end]))
    return edges


def _finish(pattern, name, edges, data, wanted):
    """A closed path: edges are counted as it draws them."""
    if name in pattern.panels:
        pattern.findings.fault(f'panel "{name}": is there twice, expected ids that differ')
        return
    for k, edge in enumerate(edges):
        edge.name = str(k)
    edges[-1].points[-1] = edges[0].points[0]
    if _area(edges) < 0:
        edges = [edge.reversed() for edge in edges[::-1]]
    attributes = data.get("attributes", data)
    panel = _panel(pattern, name, edges, attributes)
    text = attributes.get("data-seams")
    if text:
        wanted.append((panel, text))


def _panel(pattern, name, edges, attributes):
    low = numpy.min([edge.points.min(0) for edge in edges], axis=0)
    for edge in edges:
        edge.points -= low
    panel = Panel(name, edges, attributes.get("data-label", ""))
    find = pattern.findings
    for key, setter in (("data-grain", "grain"), ("data-layer", "layer")):
        if key in attributes:
            try:
                setattr(panel, setter, (float if setter == "grain" else int)(attributes[key]))
            except ValueError:
                find.fault(f'panel "{name}": {key}: found "{attributes[key]}", expected a number')
    if "data-surface" in attributes:
        pattern.places[name] = {"surface": attributes["data-surface"],
                                **{key: float(attributes[f"data-{key}"]) for key in ("angle", "height")
                                   if f"data-{key}" in attributes}}
    pattern.panels[name] = panel
    return panel


def _from_parts(pattern, name, parts, joined):
    """Paths of a group, end to end."""
    left = [(edges, data) for edges, data in parts]
    chain = [left.pop(0)]
    while left:
        end = chain[-1][0][-1].end
        gap, k, turned = min((float(numpy.linalg.norm((edges[-1].end if back else edges[0].start) - end)), k, back)
                             for k, (edges, _) in enumerate(left) for back in (False, True))
        if gap > 2e-3:
            pattern.findings.fault(f'panel "{name}": its edges end {gap * 1e3:.1f} mm from where the next begins, '
                                   "expected a closed outline")
            return
        edges, data = left.pop(k)
        edges = [edge.reversed() for edge in edges[::-1]] if turned else edges
        edges[0] = edges[0].moved(start=end)
        chain.append((edges, data))
    edges = [edge for part, _ in chain for edge in part]
    edges[-1] = edges[-1].moved(end=edges[0].start)
    chain[-1][0][-1] = edges[-1]
    number = 0
    for part, data in chain:
        own = data.get("attributes", {}).get("id", str(number))
        for k, edge in enumerate(part):
            edge.name = own if len(part) == 1 else f"{own}.{k}"
        number += 1
    if _area(edges) < 0:
        mirrored = {id(edge): edge.reversed() for edge in edges}
        chain = [([mirrored[id(edge)] for edge in part[::-1]], data) for part, data in chain]
        edges = [mirrored[id(edge)] for edge in edges[::-1]]
    panel = _panel(pattern, name, edges, {})
    for part, data in chain:
        key = data.get("attributes", {}).get("data-seam")
        if key and len(part) == 1:
            joined.setdefault(key, []).append(Step(panel, part[0]))


def _seams(pattern, panel, text):
    from ._pattern_dxf import chain

    for word in text.replace(";", " ").replace(",", " ").split():
        parts = word.split(":")
        name, _, number = parts[1].rpartition(".") if len(parts) > 1 else ("", "", "")
        other = pattern.panels.get(name)
        edges, others = chain(panel, parts[0]), chain(other, number) if other else []
        if not edges or not others:
            pattern.findings.fault(f'panel "{panel.name}": data-seams: found "{word}", expected EDGE:PANEL.EDGE of '
                                   f"edges that there are: it is sewn to nothing; {pattern.nearest(name)}")
            continue
        same = parts[2:3] == ["same"]
        pattern.seams.append(Seam(([Step(panel, edge) for edge in edges],
                                   [Step(other, edge, same) for edge in (others if same else others[::-1])])))


def _area(edges):
    points = numpy.concatenate([edge.at(numpy.arange(8) / 8) for edge in edges])
    x, y = points.T
    return 0.5 * float(numpy.sum(x * numpy.roll(y, -1) - numpy.roll(x, -1) * y))
