"""Patterns of other programs as garments of panels that stand around a body: a scene that is sewn when it is run.

``python -m isocloth import pattern.json -o FOLDER --body body.obj`` does what :func:`import_pattern` does.
"""

import dataclasses
import json
import pathlib

import numpy

from ._body_mesh import read_body
from .errors import Error, FileError

SUFFIXES = (".json", ".dxf", ".svg")
FABRIC = {"preset": "cotton", "thickness": 0.001}


@dataclasses.dataclass
class ImportedPattern:
    """What :func:`import_pattern` wrote. ``scene``: path of ``scene.json``; ``pattern``: the :class:`Pattern` as it was
    written; ``nodes``: about how many it will have; ``notes``: what was guessed, changed or is odd."""

    scene: pathlib.Path
    pattern: object
    nodes: int
    notes: list


def read_pattern(path, *, unit=None, size=None, pair=True):
    """The :class:`Pattern` of a GarmentCode specification (.json), a DXF-AAMA/ASTM or an SVG file, with its findings.
    ``unit`` goes before what DXF and SVG say; ``size``: one of a graded DXF; ``pair``: whether seams are proposed where
    a file has none."""
    from ._import import require_file

    path = pathlib.Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise Error(f'import: {path.name}: found the suffix "{path.suffix}", expected a pattern: .json of GarmentCode, '
                    ".dxf (AAMA or ASTM) or .svg; Seamly and Valentina export the last two")
    require_file(path, "a pattern")
    if suffix == ".json":
        from ._pattern_garmentcode import read
        return read(path)
    if suffix == ".dxf":
        from ._pattern_dxf import read
        pattern = read(path, unit=unit, size=size)
    else:
        from ._pattern_svg import read
        pattern = read(path, unit=unit)
    if pair and not pattern.seams and not pattern.findings.faults:
        from ._pattern_pairing import propose_seams
        propose_seams(pattern)
    return pattern


def import_pattern(path, folder, *, body=None, nodes=4000, edge_length=None, fabric=None, unit=None, size=None,
                   body_unit=None, up=None, ease=None, places=None, arrange=None, duration=1.0, overwrite=False):
    """Reads a pattern and writes ``scene.json``, which sews it, and ``body.obj`` into a folder. Returns an
    :class:`ImportedPattern`.

    body: a file with a mesh of a person, which becomes an obstacle that the panels stand around; none: there is none,
    and panels stand where the file has them. nodes: about how many the garment gets, or edge_length [m] of its
    triangles. fabric: keys of a scene's fabric; default: cotton. unit: of DXF and SVG files, goes before what they say;
    body_unit, up: of the body. size: of a graded DXF. ease: the greatest difference of the lengths of a seam, as a
    share of the longer one; none: any. places: a dict of panels and where they go, "torso.front" or a dict with
    ``surface``, ``angle`` [degrees from the front to the wearer's left], ``height`` [m from the surface's high end down
    to the panel's middle] and ``layer`` (0 innermost). arrange: whether panels are arranged anew; default: those of
    which the file does not say where they stand. duration: [s] of draping after the sewing.

    Raises :class:`MeshError` with all faults of the pattern, each with the names of its panels and edges, and
    :class:`FileError`.
    """
    folder = pathlib.Path(folder)
    pattern = read_pattern(path, unit=unit, size=size)
    if edge_length is None:
        area = sum(abs(panel.area()) for panel in pattern.panels.values() if len(panel.edges) > 1)
        edge_length = round(float(numpy.sqrt(max(area, 1e-6) / (0.866 * nodes))), 5)
    pattern.check(ease)
    pattern.findings.raise_if_faulty(path)
    pattern.join_short(edge_length / 4)
    pattern.match_seams(near=edge_length / 4)
    mesh = None
    if body is not None:
        mesh = read_body(body, body_unit, up)
        pattern.findings.notes += mesh.notes
    from ._arrangement import arrange as arrange_panels
    fabric = dict(FABRIC if fabric is None else fabric)
    arrange_panels(pattern, mesh, places=places, anew=arrange, clearance=fabric.get("thickness", 0.001))
    pattern.findings.raise_if_faulty(path)
    written = [folder / "scene.json", *([folder / "body.obj"] if mesh else [])]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in written:
            if file.exists() and not overwrite:
                raise FileError(f"{file}: found a file, expected none; --overwrite replaces it")
        if mesh:
            mesh.write(folder / "body.obj")
        keys = _scene(pattern, mesh, pathlib.Path(path).stem, edge_length, fabric, duration)
        (folder / "scene.json").write_text(json.dumps(keys, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"import: {error.filename or folder}: {error.strerror or error}") from None
    area = sum(panel.area() for panel in pattern.panels.values())
    return ImportedPattern(folder / "scene.json", pattern, int(area / (0.866 * edge_length**2)), pattern.findings.notes)


def _scene(pattern, mesh, name, edge_length, fabric, duration):
    from ._arrangement import sewing_orders
    panels, seams = pattern.scene_keys()
    orders = sewing_orders(pattern)
    if len(set(orders)) > 1:
        for seam, order in zip(seams, orders):
            seam["order"] = order
    scene = {"recipe": "membrane", "step": 0.005, "duration": duration, "frame_interval": 0.05, "sewing": {},
             "contact": {"cloth": True, "initial": "separate", "tolerance": fabric.get("thickness", 0.001) / 5,
                         "cloth_friction": {"static": 0.3}},
             "garments": [{"name": name, "mesh": {"panels": panels, "seams": seams, "edge_length": edge_length},
                           "fabric": fabric}]}
    if pattern.bands:
        garment = scene["garments"][0]
        garment["mesh"]["bands"] = pattern.band_keys()
        garment["sewing"] = {"stiffness": 1e7}  # the ends of bands draw at single stitches
    if mesh:
        scene["obstacles"] = [{"name": "body", "shape": {"type": "mesh", "file": "body.obj"},
                               "friction": {"static": 0.3}}]
    return scene


def is_pattern(path):
    return pathlib.Path(path).suffix.lower() in SUFFIXES


def add_arguments(command):
    """Those of ``python -m isocloth import`` that patterns have."""
    group = command.add_argument_group("patterns")
    group.add_argument("--nodes", type=int, default=4000, help="about how many the garment gets; default: %(default)s")
    group.add_argument("--edge-length", type=float, metavar="METRES", help="of its triangles, in place of --nodes")
    group.add_argument("--fabric", default="cotton", help="preset; default: %(default)s")
    group.add_argument("--size", metavar="NAME", help="of a graded DXF; default: its sample size")
    group.add_argument("--body-unit", help="of the body's file; default: guessed by the size of people")
    group.add_argument("--ease", type=float, metavar="SHARE",
                       help="greatest difference of the lengths of a seam, of the longer one; default: any")
    group.add_argument("--place", action="append", default=[], metavar="PANEL=SURFACE[.front|.back][.left|.right]",
                       help="where a panel goes: torso, hips, left_arm, right_arm, left_leg, right_leg, neck or head")
    group.add_argument("--places", metavar="FILE", help="JSON with surface, angle, height and layer of panels")
    group.add_argument("--arrange", action="store_true", help="all panels anew, also those with a place in the file")


def import_from_command(options):
    """What ``python -m isocloth import`` does with a pattern."""
    if options.list:
        pattern = read_pattern(options.file, unit=options.unit, size=options.size)
        pattern.check(options.ease)
        print(f"{options.file}: {len(pattern.panels)} panels, {len(pattern.seams)} seams, unit {pattern.unit:g} m")
        for panel in pattern.panels.values():
            low, high = panel.outline().min(0), panel.outline().max(0)
            print(f"  {panel.name}: {len(panel.edges)} edges, {high[0] - low[0]:.3f} x {high[1] - low[1]:.3f} m")
        for seam in pattern.seams:
            sure = "" if seam.sure == 1 else f", {seam.sure:.0%} sure"
            print("  seam {}: {:.1f} mm with {:.1f} mm{}".format(seam.name(), *(1e3 * x for x in seam.lengths()), sure))
        _say(pattern.findings.notes)
        pattern.findings.raise_if_faulty(options.file)
        return
    if options.output is None:
        raise Error("import: found no output, expected a folder (-o FOLDER), or --list")
    if len(options.body) > 1:
        raise Error(f"import: found {len(options.body)} bodies, expected one file of a body (--body FILE)")
    places = {}
    if options.places:
        try:
            places = json.loads(pathlib.Path(options.places).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FileError(f"{options.places}: cannot read places: {' '.join(str(error).split())[:120]}") from None
    for text in options.place:
        name, separator, place = text.partition("=")
        if not separator:
            raise Error(f'--place: found "{text}", expected PANEL=SURFACE')
        places[name] = place
    done = import_pattern(options.file, options.output, body=options.body[0] if options.body else None,
                          nodes=options.nodes, edge_length=options.edge_length,
                          fabric={**FABRIC, "preset": options.fabric}, unit=options.unit, size=options.size,
                          body_unit=options.body_unit, up=options.up, ease=options.ease, places=places,
                          arrange=True if options.arrange else None, overwrite=options.overwrite)
    pattern = done.pattern
    print(f"{options.file}: {len(pattern.panels)} panels, {len(pattern.pairs())} seams of "
          f"{sum(a.edge.length for a, _, _ in pattern.pairs()):.2f} m, about {done.nodes} nodes")
    _say(done.notes)
    print(done.scene)


def _say(notes):
    for note in notes:
        print(f"  note: {note}")
