"""Patterns for other programs: SVG and DXF (ASTM D6673) of a scene's panels, one to one."""

import json
import pathlib
import re

import numpy

from ._pattern import Edge, Panel, Pattern, Seam, Step
from .errors import Error, FileError, SceneError


def pattern_of_scene(scene, garment=None):
    """The :class:`Pattern` of a garment of panels in a scene file: the first, or the one of that name."""
    path = pathlib.Path(scene)
    try:
        keys = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot read a scene: {' '.join(str(error).split())[:120]}") from None
    garments = [g for g in keys.get("garments", []) if "panels" in g.get("mesh", {})]
    chosen = [g for g in garments if garment is None or g.get("name") == garment]
    if not chosen:
        raise SceneError(f"{path}: found no garment of panels{f' named {garment!r}' if garment else ''}, expected one "
                         f"of {', '.join(str(g.get('name')) for g in garments) or 'some'}")
    pattern = Pattern(1.0)
    mesh = chosen[0]["mesh"]
    for keys in mesh["panels"]:
        outline = numpy.array(keys["outline"], float)
        control = {curve["edge"]: curve["control"] for curve in keys.get("curves", [])}
        edges = [Edge([outline[k], *control.get(k, []), outline[(k + 1) % len(outline)]], k)
                 for k in range(len(outline))]
        pattern.panels[keys["name"]] = Panel(keys["name"], edges, grain=keys.get("grain", 90.0))
    for seam in mesh.get("seams", []):
        a, b = pattern.panels[seam["panel"]], pattern.panels[seam["other_panel"]]
        same = seam.get("direction") == "same"
        pattern.seams.append(Seam(([Step(a, a.edges[seam["edge"]])], [Step(b, b.edges[seam["other_edge"]], same)])))
    return pattern


def export_pattern(source, file, *, garment=None):
    """Writes panels one to one, side by side. Returns the path.

    file: ``.svg``, in millimetres, with seams as ``data-seams``; or ``.dxf`` as ASTM D6673 has it, a block for each
    piece (boundary on layer 1, turn and curve points on 2 and 3, notches in the middles of sewn edges on 4, grain on 7,
    internal lines on 8, sew line on 14, ``UNITS: METRIC``), with seams as texts on layer 15.
    :func:`isocloth.import_pattern` reads both.

    source: a :class:`Pattern`, or a scene file with a garment of panels; of several the first, or ``garment``.
    """
    pattern = source if isinstance(source, Pattern) else pattern_of_scene(source, garment)
    bad = [name for name in pattern.panels if not name or re.search(r"\s", name)]
    if bad:
        raise Error(f'export_pattern: found the panel "{bad[0]}", expected names without spaces: seams name them')
    file = pathlib.Path(file)
    writers = {".svg": _write_svg, ".dxf": _write_dxf}
    if file.suffix.lower() not in writers:
        raise Error(f'export_pattern: found the suffix "{file.suffix}", expected one of .svg .dxf')
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        writers[file.suffix.lower()](pattern, file)
    except OSError as error:
        raise FileError(f"{file}: cannot write: {error.strerror or error}") from None
    return file


def _layout(pattern):
    """Where each panel's origin lies, side by side, tallest first in rows of about a square [mm]."""
    outlines = {name: 1e3 * panel.outline() for name, panel in pattern.panels.items()}
    sizes = {name: (outline.min(0), outline.max(0)) for name, outline in outlines.items()}
    wide = max(numpy.sqrt(sum(float(numpy.prod(high - low + 20)) for low, high in sizes.values())) * 1.2,
               max(float(high[0] - low[0]) for low, high in sizes.values()) + 20)
    places, x, y, row = {}, 10.0, 10.0, 0.0
    for name, (low, high) in sizes.items():
        if x > 10 and x + high[0] - low[0] > wide:
            x, y, row = 10.0, y + row + 20, 0.0
        places[name] = numpy.array([x - low[0], y - low[1]])
        x, row = x + float(high[0] - low[0]) + 20, max(row, float(high[1] - low[1]))
    return places, wide + 10, y + row + 10


def _seam_words(pattern):
    for a, b, _ in pattern.pairs():
        yield a, b, "same" if a.forward == b.forward else "opposite"


def _write_svg(pattern, file):
    from xml.sax.saxutils import quoteattr

    places, width, height = _layout(pattern)
    seams = {}
    for a, b, way in _seam_words(pattern):
        word = f"{a.panel.edges.index(a.edge)}:{b.panel.name}.{b.panel.edges.index(b.edge)}"
        seams.setdefault(a.panel.name, []).append(word + (":same" if way == "same" else ""))
    lines = ['<?xml version="1.0" encoding="utf-8"?>',
             f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.3f}mm" height="{height:.3f}mm" '
             f'viewBox="0 0 {width:.3f} {height:.3f}">']
    for name, panel in pattern.panels.items():
        def text(point, origin=places[name]):
            x, y = 1e3 * numpy.asarray(point) + origin
            return f"{x:.4f},{height - y:.4f}"

        parts = [f"M {text(panel.edges[0].start)}"]
        for edge in panel.edges:
            parts.append(" LQC"[len(edge.points) - 1] + " " + " ".join(text(p) for p in edge.points[1:]))
        keys = {"id": name, "d": " ".join(parts) + " Z", "fill": "none", "stroke": "black", "stroke-width": "0.5",
                "data-grain": f"{panel.grain:g}"}
        if name in seams:
            keys["data-seams"] = " ".join(seams[name])
        if panel.label:
            keys["data-label"] = panel.label
        lines.append("  <path " + " ".join(f"{key}={quoteattr(value)}" for key, value in keys.items()) + "/>")
    file.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


def _write_dxf(pattern, file):
    try:
        import ezdxf
    except ImportError:
        raise ImportError("DXF patterns need ezdxf: pip install isocloth[patterns]") from None
    document = ezdxf.new("R12")
    for layer in (1, 2, 3, 4, 7, 8, 14, 15):
        document.layers.add(str(layer))
    space = document.modelspace()
    places = _layout(pattern)[0]
    sewn = pattern.sewn()
    texts = {}
    for a, b, way in _seam_words(pattern):
        texts.setdefault(a.panel.name, []).append(f"SEAM: {a.panel.name} {a.panel.edges.index(a.edge)} {b.panel.name} "
                                                  f"{b.panel.edges.index(b.edge)} {way}")
    for k, line in enumerate(("ASTM/D13Proposal 1 Version: D 6673", "UNITS: METRIC", "SAMPLE SIZE: M")):
        space.add_text(line, dxfattribs={"layer": "1", "height": 5}).set_placement((0, -10 * (k + 1)))
    for name, panel in pattern.panels.items():
        block = document.blocks.new(name)
        points = []
        for edge in panel.edges:
            count = 1 if len(edge.points) == 2 else max(8, int(numpy.ceil(edge.length / 0.002)))
            line = 1e3 * edge.at_shares(numpy.arange(count) / count)
            block.add_point(line[0], dxfattribs={"layer": "2"})
            for p in line[1:]:
                block.add_point(p, dxfattribs={"layer": "3"})
            points += line.tolist()
            if sewn[id(edge)]:
                block.add_point(1e3 * edge.at_shares([0.5])[0], dxfattribs={"layer": "4"})
        for layer in ("1", "14"):
            block.add_polyline2d([*points, points[0]], dxfattribs={"layer": layer})
        low, high = 1e3 * panel.outline().min(0), 1e3 * panel.outline().max(0)
        middle, angle = (low + high) / 2, numpy.radians(panel.grain)
        way = 0.3 * float((high - low).max()) * numpy.array([numpy.cos(angle), numpy.sin(angle)])
        block.add_line(middle - way, middle + way, dxfattribs={"layer": "7"})
        for line in panel.internal:
            block.add_polyline2d((1e3 * numpy.asarray(line)).tolist(), dxfattribs={"layer": "8"})
        for k, line in enumerate([f"PIECE NAME: {name}", "SIZE: M", "QUANTITY: 1"]):
            block.add_text(line, dxfattribs={"layer": "1", "height": 5}).set_placement((*(middle - [0, 8 * k]),))
        for k, line in enumerate(texts.get(name, [])):
            block.add_text(line, dxfattribs={"layer": "15", "height": 3}).set_placement((*(middle - [0, 30 + 4 * k]),))
        space.add_blockref(name, (*places[name],), dxfattribs={"layer": "1"})
    document.saveas(file)
