"""Patterns of DXF-AAMA and ASTM D6673 files: each block is a piece of one size.

Layers: 1 boundary, 2 turn points, 3 curve points, 4 notches, 6 mirror line, 7 grain line, 8 internal lines, 11 cutouts,
14 sew lines, 15 text. Texts "Piece Name:", "Size:", "Quantity:" stand in the block, "Units:" and "Sample Size:" in the
model space.
"""

import re

import numpy

from ._curve_fit import corners_of, edges_of
from ._pattern import Panel, Pattern, Seam, Step
from .errors import Error, FileError

_UNITS = {"metric": 0.001, "english": 0.0254, "mm": 0.001, "cm": 0.01, "m": 1.0, "inch": 0.0254, "inches": 0.0254}
_NAMED = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254, "ft": 0.3048}
_INSUNITS = {1: 0.0254, 2: 0.3048, 4: 0.001, 5: 0.01, 6: 1.0}


def read(path, unit=None, size=None):
    """The :class:`Pattern` of a file; ``unit`` (mm, cm, m, in, ft) goes before what it says; ``size``: one of them."""
    try:
        import ezdxf
        from ezdxf import recover
    except ImportError:
        raise ImportError("DXF patterns need ezdxf: pip install isocloth[patterns]") from None
    try:
        document, _ = recover.readfile(path)
    except (OSError, ezdxf.DXFError, ValueError, KeyError, IndexError, TypeError) as error:
        raise FileError(f"{path}: found no DXF file ({' '.join(str(error).split())[:120]})") from None
    pattern = Pattern()
    space = document.modelspace()
    said = {}
    for entity in space.query("TEXT MTEXT"):
        _note(said, entity)
    blocks = [block for block in document.blocks
              if not block.name.startswith("*") and any(_layer(entity) in (1, 14, 84, 87) for entity in block)]
    pieces = [_piece(block.name, list(block)) for block in blocks]
    loose = [entity for entity in space if entity.dxftype() != "INSERT"]
    if not pieces and any(_layer(entity) is not None for entity in loose):
        pieces = _split_loose(loose)
    if not pieces:
        raise FileError(f"{path}: found no block with a boundary on layer 1 or a sew line on layer 14, expected pieces "
                        "as AAMA and ASTM D6673 have them")
    pattern.unit = _unit(path, document, said, pieces, unit, pattern.findings)
    chosen = _of_size(path, pieces, said, size, pattern.findings)
    for piece in chosen:
        _add(pattern, piece)
    _texts_of_seams(pattern, chosen)
    return pattern


def _layer(entity):
    try:
        return int(entity.dxf.layer)
    except ValueError:
        return None


def _note(said, entity):
    text = entity.dxf.text if entity.dxftype() == "TEXT" else entity.text
    key, colon, value = text.partition(":")
    if colon:
        said.setdefault(key.strip().lower(), []).append(value.strip())


def _points(entity):
    kind = entity.dxftype()
    if kind == "POLYLINE":
        return [(v.dxf.location.x, v.dxf.location.y) for v in entity.vertices]
    if kind == "LWPOLYLINE":
        return [(x, y) for x, y, *_ in entity.get_points()]
    if kind == "LINE":
        return [(entity.dxf.start.x, entity.dxf.start.y), (entity.dxf.end.x, entity.dxf.end.y)]
    if kind == "POINT":
        return [(entity.dxf.location.x, entity.dxf.location.y)]
    if kind in ("SPLINE", "ARC", "ELLIPSE", "CIRCLE"):
        from ezdxf import path as curves
        return [(p.x, p.y) for p in curves.make_path(entity).flattening(0.01)]
    return []


def _piece(name, entities):
    layers, said = {}, {}
    for entity in entities:
        if entity.dxftype() in ("TEXT", "MTEXT"):
            _note(said, entity)
        else:
            points = _points(entity)
            if points:
                layers.setdefault(_layer(entity), []).append(points)
    return {"name": said.get("piece name", [name])[0] or name, "block": name, "said": said, "layers": layers}


def _split_loose(entities):
    """Pieces of a file without blocks: a closed line on layer 1 each, and what lies inside of it."""
    whole = _piece("piece", entities)
    outlines = _chains(whole["layers"].get(1, []) or whole["layers"].get(14, []))
    pieces = []
    for k, outline in enumerate(outlines):
        low, high = outline.min(0), outline.max(0)
        layers = {}
        for layer, lines in whole["layers"].items():
            for line in lines:
                middle = numpy.mean(line, axis=0)
                if layer not in (1,) and (middle >= low).all() and (middle <= high).all():
                    layers.setdefault(layer, []).append(line)
        layers[1] = [outline.tolist()]
        pieces.append({"name": f"piece_{k + 1}", "block": f"piece_{k + 1}", "said": {}, "layers": layers})
    return pieces


def _unit(path, document, said, pieces, unit, find):
    if unit is not None:
        if unit not in _NAMED and not isinstance(unit, (int, float)):
            raise Error(f'import: unit: found "{unit}", expected one of {" ".join(_NAMED)}')
        return _NAMED.get(unit, unit)
    for text in said.get("units", []) + [u for piece in pieces for u in piece["said"].get("units", [])]:
        if text.lower() in _UNITS:
            return _UNITS[text.lower()]
    known = _INSUNITS.get(document.header.get("$INSUNITS", 0))
    if known:
        return known
    largest = max(float(numpy.ptp(numpy.concatenate([numpy.asarray(p) for p in piece["layers"].get(1, [])
                                                     or piece["layers"].get(14, [[(0, 0)]])]), axis=0).max())
                  for piece in pieces)
    best = min(("mm", "in", "cm"), key=lambda name: abs(numpy.log(max(largest, 1e-9) * _NAMED[name] / 0.7)))
    find.note(f"the file does not say its unit; {best} was guessed, with which its largest piece measures "
              f"{largest * _NAMED[best]:.2f} m (--unit)")
    return _NAMED[best]


def _of_size(path, pieces, said, size, find):
    sizes = list(dict.fromkeys(s for piece in pieces for s in piece["said"].get("size", [])))
    if size is not None and size not in sizes:
        raise Error(f'import: size: found "{size}", expected one of {", ".join(sizes) or "none, for it has one size"}')
    if len(sizes) < 2:
        return pieces
    if size is None:
        sample = (said.get("sample size") or [None])[0]
        size = sample if sample in sizes else sizes[len(sizes) // 2]
        find.note(f"found the sizes {', '.join(sizes)}; {size} was taken (--size)")
    return [piece for piece in pieces if size in piece["said"].get("size", [size])]


def _chains(lines, near=1e-6):
    """Closed polylines of pieces of lines that meet at their ends."""
    left = [numpy.asarray(line, float) for line in lines if len(line) > 1]
    loops = []
    while left:
        chain = left.pop(0)
        scale = max(float(numpy.ptp(chain, axis=0).max()), 1e-9)
        while numpy.linalg.norm(chain[0] - chain[-1]) > 1e-4 * scale and left:
            gaps = [(min(numpy.linalg.norm(chain[-1] - other[0]), numpy.linalg.norm(chain[-1] - other[-1])), k)
                    for k, other in enumerate(left)]
            gap, k = min(gaps)
            if gap > 1e-3 * scale:
                break
            other = left.pop(k)
            chain = numpy.concatenate([chain, other[1:] if numpy.linalg.norm(chain[-1] - other[0]) <= gap + near
                                       else other[::-1][1:]])
        loops.append(chain)
    return loops


def _add(pattern, piece):
    find, unit, layers = pattern.findings, pattern.unit, piece["layers"]
    name = re.sub(r"\s+", "_", piece["name"].strip()) or piece["block"]
    number = 1
    while name in pattern.panels:
        number += 1
        name = f"{re.sub(r'_[0-9]+$', '', name)}_{number}"
    sewn = _chains(layers.get(14, []) + layers.get(87, []))
    closed = [line for line in sewn if numpy.linalg.norm(line[0] - line[-1]) < 1e-3 * numpy.ptp(line, axis=0).max()]
    if closed:
        outline = max(closed, key=lambda line: abs(_area(line)))
    else:
        loops = _chains(layers.get(1, []) + layers.get(84, []))
        if not loops:
            find.fault(f'panel "{name}": found no line on layer 1, expected its boundary')
            return
        outline = max(loops, key=lambda line: abs(_area(line)))
        if sewn:
            find.note(f'panel "{name}": its sew line does not close; its boundary was taken, with its seam allowance')
    outline = unit * outline
    gap = float(numpy.linalg.norm(outline[0] - outline[-1]))
    if gap > 2e-3:
        find.fault(f'panel "{name}": its outline ends {gap * 1e3:.1f} mm from where it begins, expected a closed one')
        return
    mirror = [unit * numpy.asarray(line, float) for line in layers.get(6, []) if len(line) > 1]
    marks = [unit * numpy.asarray(p[0], float) for p in layers.get(2, [])]
    notches = [unit * numpy.asarray(p[0], float) for layer in (4, 80, 81, 82, 83) for p in layers.get(layer, [])]
    outline = _distinct(outline)
    if mirror:
        outline, marks, notches = _unfold(outline, mirror[0], marks, notches)
    if _area(outline) < 0:
        outline = outline[::-1]
    corners = corners_of(outline, marks)
    start = corners[0]
    outline = numpy.roll(outline, -start, axis=0)
    corners = sorted((i - start) % len(outline) for i in corners)
    origin = outline.min(0)
    edges = edges_of(outline - origin, corners, notches=[place - origin for place in notches])
    panel = Panel(name, edges)
    panel.internal = [unit * numpy.asarray(line, float) - origin for layer in (8, 11) for line in layers.get(layer, [])
                      if len(line) > 1]
    if layers.get(11):
        find.note(f'panel "{name}": {len(layers[11])} cutouts on layer 11 were left out: panels have no holes')
    if layers.get(7):
        way = numpy.asarray(layers[7][0][-1], float) - layers[7][0][0]
        panel.grain = float(numpy.degrees(numpy.arctan2(way[1], way[0])) % 180)
    pattern.panels[name] = panel
    _copies(pattern, panel, piece, find)


def _copies(pattern, panel, piece, find):
    numbers = [int(n) for n in re.findall(r"\d+", (piece["said"].get("quantity") or ["1"])[0])]
    count = sum(numbers[:2])
    for k in range(1, min(count, 4)):
        name = f"{panel.name}_{k + 1}"
        flip = (len(numbers) > 1 and k >= numbers[0]) or (len(numbers) == 1 and k % 2 == 1)
        edges = [edge.mirrored().reversed() for edge in panel.edges[::-1]] if flip else [
            type(edge)(edge.points, edge.name, edge.label, edge.notches) for edge in panel.edges]
        pattern.panels[name] = Panel(name, edges, grain=180 - panel.grain if flip else panel.grain)
        find.note(f'panel "{panel.name}": is cut {count} times; "{name}" is '
                  + ("its mirror image" if flip else "another of it"))


def _distinct(outline):
    keep = numpy.linalg.norm(outline - numpy.roll(outline, -1, axis=0), axis=1) > 1e-6
    return outline[keep]


def _unfold(outline, line, marks, notches):
    """A half that is drawn up to its mirror line, as a whole."""
    a, way = line[0], (line[-1] - line[0]) / numpy.linalg.norm(line[-1] - line[0])
    normal = numpy.array([-way[1], way[0]])

    def flip(points):
        points = numpy.asarray(points, float)
        return points - 2 * ((points - a) @ normal)[..., None] * normal

    on = numpy.abs((outline - a) @ normal) < 1e-3
    if on.sum() < 2:
        return outline, marks, notches
    ends = numpy.flatnonzero(on)
    start = next(int(i) for i in ends if not on[(i + 1) % len(on)])
    chain = numpy.roll(outline, -start, axis=0)
    on = numpy.roll(on, -start)
    last = next(i for i in range(1, len(on)) if on[i])
    half = chain[:last + 1]
    whole = numpy.concatenate([half, flip(half[1:-1])[::-1]])
    off = [p for p in marks if abs((p - a) @ normal) > 1e-3]
    return whole, off + [flip(p) for p in off] + [half[0], half[-1]], notches + [
        flip(p) for p in notches if abs((p - a) @ normal) > 1e-3]


def _area(line):
    x, y = numpy.asarray(line, float).T
    return 0.5 * float(numpy.sum(x * numpy.roll(y, -1) - numpy.roll(x, -1) * y))


def chain(panel, number):
    """The edges that a file counts as one."""
    return [edge for edge in panel.edges if edge.name.split(".")[0] == str(number)]


def _texts_of_seams(pattern, pieces):
    """Seams that :func:`isocloth.export_pattern` writes as texts: "SEAM: front 2 back 0 opposite"."""
    for piece in pieces:
        for text in piece["said"].get("seam", []):
            words = text.split()
            if len(words) != 5 or words[0] not in pattern.panels or words[2] not in pattern.panels:
                pattern.findings.fault(f'seam "{text}": found no such panels, expected "PANEL EDGE PANEL EDGE WAY"')
                continue
            one, other = (chain(pattern.panels[words[k]], words[k + 1]) for k in (0, 2))
            if not one or not other:
                pattern.findings.fault(f'seam "{text}": found no such edge: it is sewn to nothing')
                continue
            same = words[4] == "same"
            a, b = (pattern.panels[words[k]] for k in (0, 2))
            pattern.seams.append(Seam(([Step(a, edge) for edge in one],
                                       [Step(b, edge, same) for edge in (other if same else other[::-1])])))
