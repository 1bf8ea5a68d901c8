"""Panels find their places around a body: on cylinders about its parts, or where their file has them, bent around what
they are to hold, clear of the body and of each other.
"""

import re

import numpy

from ._dress_form import DressForm
from ._panel_mesh import coplanar_overlap, crossings, triangles_of
from ._pattern import Step, seam_gap
from .errors import Error, MeshError

APART = 0.01  # [m] between panels that were laid onto each other, and between layers
SNUG, BAND_STIFFNESS = 0.85, 20.0  # length of elastic bands over the body's girth, and their tension per strain [N]
KINDS = (("hood", "head"), ("collar", "neck"), ("neck", "neck"), ("sleeve", "arm"), ("cuff", "arm"), ("arm", "arm"),
         ("pant", "leg"), ("trouser", "leg"), ("short", "leg"), ("leg", "leg"), ("skirt", "hips"), ("waist", "waist"),
         ("belt", "waist"), ("wb", "waist"))


def arrange(pattern, body, *, places=None, anew=None, clearance=0.001):
    """Gives every panel its place.

    places: a dict of panels, each ``"surface"``, ``"surface.front"`` (or back, left, right) or a dict with ``surface``,
    ``angle`` [degrees], ``height`` [m, of the panel's middle along the surface's axis from its high end, downwards],
    ``layer`` (0 innermost). Surfaces are those of :class:`DressForm`. anew: True, all panels without an entry go where
    their names and seams say; False, none; None, those of which the file does not say where they stand. Then panels are
    bent about the axis of what they are nearest to, as far as they stay apart, and moved outwards until they are
    ``clearance`` + 5 mm clear of the body and cross no other panel.
    """
    try:
        import scipy.spatial  # noqa: F401
    except ImportError:
        raise ImportError("arranging panels needs scipy: pip install isocloth[patterns]") from None
    places = {**pattern.places, **(places or {})}
    find = pattern.findings
    for name in places:
        if name not in pattern.panels:
            raise Error(f'import: places: found "{name}", expected the name of a panel; {pattern.nearest(name)}')
    fresh = [panel for panel in pattern.panels.values()
             if panel.name in places or anew or (anew is None and not panel.is_placed)]
    if body is None:
        if fresh:
            _lay_out(fresh)
            find.note(f"{len(fresh)} panels were laid side by side: there is no body to arrange them around (--body)")
        return
    try:
        form = DressForm(body)
    except MeshError as error:
        if fresh:
            raise
        find.note(f"{error}; panels stand where their file has them, flat")
        form = None
    if fresh:
        _on_surfaces(pattern, form, fresh, places)
    _check_place(pattern, body)
    if find.faults:
        return
    _find_crossed(pattern)
    if form:
        for panel in pattern.panels.values():
            if panel not in fresh:
                _bend(panel, form, body, clearance + 0.005)
    _bulge_insets(pattern)
    if form:
        _hold_up(pattern, form)
    _clear_body(pattern, body, clearance + 0.005)
    if _part(pattern):
        _draw_near(pattern, body, clearance + 0.015)


def _lay_out(panels):
    right = 0.0
    for panel in panels:
        low, high = panel.outline().min(0), panel.outline().max(0)
        panel.rotation, panel.around = numpy.eye(3), 0.0
        panel.translation = numpy.array([right - low[0], 0, -low[1]])
        right += high[0] - low[0] + 0.05


# Where names and seams say.

def _words(name):
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return [word for word in re.split(r"[^a-z]+", text) if word]


def guess(panel):
    """Surface, and front or back, left or right or None, by the words of a panel's name."""
    words = _words(f"{panel.name}_{panel.label}")
    has = lambda *options: any(word in options for word in words)  # noqa: E731
    joined = " ".join(words)
    kinds = [surface for text in (panel.name.lower(), panel.label.lower()) for word, surface in KINDS if word in text]
    kind = kinds[0] if kinds else "torso"
    side = "left" if has("left", "l", "lf", "lb") else "right" if has("right", "r", "rf", "rb") else None
    facing = ("back" if has("back", "b", "bk", "bck", "lb", "rb") or "back" in joined or "btorso" in joined else
              "front" if has("front", "f", "fr", "frt", "lf", "rf") or "front" in joined or "ftorso" in joined
              else None)
    return kind, facing, side


def _on_surfaces(pattern, form, fresh, places):
    """Lays panels around cylinders: of what shares one each has its own range of angles."""
    find = pattern.findings
    plans = {}
    arms = []
    for panel in fresh:
        kind, facing, side = guess(panel)
        said = places.get(panel.name, {})
        if isinstance(said, str):
            parts = said.split(".")
            said = {"surface": parts[0]}
            facing = next((word for word in parts[1:] if word in ("front", "back")), facing)
            side = next((word for word in parts[1:] if word in ("left", "right")), side)
        if kind in ("arm", "leg") and "surface" not in said:
            if side is None:  # one of each, in the order of the file
                arms.append(kind)
                side = ("left", "right")[arms.count(kind) % 2 - 1]
                find.note(f'panel "{panel.name}": its name does not say which side it is for; the {side} one was taken')
            kind = f"{side}_{kind}"
        surface = said.get("surface", "hips" if kind == "waist" else kind)
        if surface not in form.surfaces:
            raise Error(f'import: panel "{panel.name}": found the surface "{surface}", expected one of '
                        f"{', '.join(form.surfaces)}")
        plans[panel.name] = {"kind": kind, "facing": facing, "side": side, "surface": surface,
                             "angle": said.get("angle"), "height": said.get("height")}
        panel.layer = int(said.get("layer", panel.layer))
    _face_by_seams(pattern, plans)
    for name in dict.fromkeys(plan["surface"] for plan in plans.values()):
        group = [pattern.panels[key] for key, plan in plans.items() if plan["surface"] == name]
        _wrap(group, plans, form, form.surfaces[name])


def _face_by_seams(pattern, plans):
    """A panel whose name says neither front nor back faces away from what it is sewn to at its side, else front."""
    for name, plan in plans.items():
        if plan["facing"] is None and plan["angle"] is None:
            others = [plans[other]["facing"] for a, b, _ in pattern.pairs() for one, other in
                      ((a.panel.name, b.panel.name), (b.panel.name, a.panel.name))
                      if one == name and other in plans and other != name
                      and plans[other]["surface"] == plan["surface"]]
            if "front" in others and "back" not in others:
                plan["facing"] = "back"
            elif others or any(p is not plan and p["surface"] == plan["surface"] for p in plans.values()):
                plan["facing"] = "front"


def _wrap(group, plans, form, surface):
    """Around a surface: its circumference is at least that of the panels side by side. Front and back each share half
    of it, left ones on the wearer's left."""
    def width(panel):
        return float(numpy.ptp(panel.outline()[:, 0]))

    def halves(facing):
        return [panel for panel in group if plans[panel.name]["facing"] == facing]

    for layer in sorted({panel.layer for panel in group}):
        here = [panel for panel in group if panel.layer == layer]
        rows = {}  # panels one above the other (a bodice and its yoke) count once
        for panel in here:
            rows.setdefault((plans[panel.name]["kind"], plans[panel.name]["facing"]), []).append(width(panel) + 0.015)
        half = max((sum(row) for key, row in rows.items()), default=0)
        whole = max((sum(row) for key, row in rows.items() if key[1] is None), default=0)
        radius = max(surface.radius + 0.03, half / (0.97 * numpy.pi), whole / (1.94 * numpy.pi))
        radius += layer * APART
        for facing, middle in (("front", 0.0), ("back", 180.0), (None, 0.0)):
            for kind in dict.fromkeys(plans[panel.name]["kind"] for panel in halves(facing)):
                row = [panel for panel in here if plans[panel.name]["kind"] == kind
                       and plans[panel.name]["facing"] == facing]
                order = {"right": 0, None: 1, "left": 2}
                row.sort(key=lambda panel: order[plans[panel.name]["side"]] if surface.name.count("_") == 0 else 1)
                if facing == "back":
                    row.reverse()
                widths = [width(panel) + 0.015 for panel in row]
                start = -sum(widths) / 2
                for panel, wide in zip(row, widths):
                    plan = plans[panel.name]
                    angle = middle + numpy.degrees((start + wide / 2) / radius)
                    start += wide
                    if facing is None and kind.endswith("arm") and plan["angle"] is None:
                        angle += 90 if kind.startswith("left") else -90  # its own seam underneath
                    _lay(panel, surface, radius, angle if plan["angle"] is None else float(plan["angle"]),
                         plan["height"], _top(kind, form, surface))


def _top(kind, form, surface):
    """How far below the high end of the surface the upper edge of a panel lies [m]."""
    if kind == "torso":
        return -0.02
    if kind == "neck":
        return surface.length - 0.02 - 0.08
    if kind == "waist":
        return -0.02
    return 0.0


def _lay(panel, surface, radius, angle, height, top):
    """Onto a cylinder, its y axis along that of the surface, its middle at the angle."""
    low, high = panel.outline().min(0), panel.outline().max(0)
    shift_frame(panel, [(low[0] + high[0]) / 2, 0])
    axis, out = surface.axis, surface.outward(angle)
    panel.rotation = numpy.stack([numpy.cross(axis, out), -out, axis], 1)
    panel.around = radius
    upper = surface.high - top * axis if height is None else (
        surface.high - height * axis + (high[1] - low[1]) / 2 * axis)
    panel.translation = upper - high[1] * axis + radius * out


def shift_frame(panel, origin, turn=0.0):
    """Gives a panel's plane another origin and turns its axes by ``turn`` [rad]; the panel, flat, stays where it is."""
    origin = numpy.asarray(origin, float)
    c, s = numpy.cos(turn), numpy.sin(turn)
    matrix = numpy.array([[c, s], [-s, c]])  # old coordinates to new ones
    panel.translation = panel.rotation @ numpy.array([origin[0], 0, origin[1]]) + panel.translation
    panel.rotation = panel.rotation @ numpy.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    for edge in panel.edges:
        edge.points = (edge.points - origin) @ matrix.T
    panel.internal = [(numpy.asarray(line) - origin) @ matrix.T for line in panel.internal]
    panel.grain -= numpy.degrees(turn)


def sewing_orders(pattern):
    """When each of ``pattern.pairs()`` is sewn: 0 darts, 1 seams of panels about one part of the body (shoulders and
    sides, a sleeve's own, a leg's own), 2 what joins parts (armholes, waists, collars, crotches)."""
    def part(panel):
        kind, _, side = guess(panel)
        return kind, side if kind in ("arm", "leg") else None

    return [0 if a.panel is b.panel else 1 if part(a.panel) == part(b.panel) else 2 for a, b, _ in pattern.pairs()]


def _hold_up(pattern, form):
    """Elastic bands along free edges that GarmentCode's simulator holds at the body by their labels: the waist of what
    has no waistband, and the upper edge of what has no straps."""
    used = pattern.sewn()
    for label, height in (("lower_interface", form.waist), ("strapless_top", None)):
        edges = [(panel, edge) for panel in pattern.panels.values() for edge in panel.edges
                 if edge.label == label and not used[id(edge)]]
        if not edges:
            continue
        if height is None:
            height = numpy.mean([panel.place(edge.at_shares(numpy.array([0.5])))[0, 2] for panel, edge in edges])
        share = min(1.0, SNUG * form.girth(height) / sum(edge.length for _, edge in edges))
        pattern.bands += [(panel, edge, share, BAND_STIFFNESS) for panel, edge in edges]
        pattern.findings.note(f'{len(edges)} free edges labelled "{label}", which nothing holds up, have elastic bands '
                              f"of {share:.2f} times their length")


# Where a file has placed them.

def _check_place(pattern, body):
    """A garment at another place or of another size than the body."""
    find = pattern.findings
    points = numpy.concatenate([panel.place(panel.outline(0.05)) for panel in pattern.panels.values()])
    low, high = points.min(0), points.max(0)
    size, tall = high - low, body.high[2] - body.low[2]
    middle, centre = (low + high) / 2, (body.low + body.high) / 2
    if low[2] > body.high[2] or high[2] < body.low[2] or numpy.abs(middle - centre)[:2].max() > 0.5 * tall:
        find.fault(f"the panels stand between ({_numbers(low)}) and ({_numbers(high)}) m, the body between "
                   f"({_numbers(body.low)}) and ({_numbers(body.high)}) m, expected them around it; are units or axes "
                   "others? (--unit, --body-unit, --up); --arrange places them anew")
    elif size[2] > 1.5 * tall:
        find.fault(f"the panels are {size[2]:.2f} m tall, the body {tall:.2f} m, expected a body as large as what it "
                   "wears (--unit, --body-unit)")
    elif size.max() < 0.03 * tall:
        find.note(f"the panels are {size.max():.3f} m large, the body is {tall:.2f} m tall: are the units right?")


def _find_crossed(pattern):
    """Seams whose threads would be much shorter the other way round."""
    for a, b, _ in pattern.pairs():
        gap, turned = seam_gap(a, b), seam_gap(a, Step(b.panel, b.edge, not b.forward))
        if a.panel is not b.panel and gap > 1.15 * turned + 0.02:
            pattern.findings.note(f"seam {a.name} with {b.name}: do its ends meet crosswise? its threads are "
                                  f"{gap:.2f} m long, the other way round {turned:.2f} m")


def _numbers(values):
    return " ".join(f"{float(x):.3g}" for x in values)


def _nearest_surface(panel, form):
    """The surface whose part a panel stands nearest to: by its name, else by the axis that is nearest."""
    kind, _, side = guess(panel)
    middle = panel.place(panel.outline(0.03)).mean(0)
    if kind in ("arm", "leg"):
        side = side or ("left" if middle[0] > 0 else "right")
        kind = f"{side}_{kind}"
        if kind.endswith("leg"):  # the middle plane of a body parts front from back
            return form.surfaces.get(kind)
        return form.surfaces.get(kind)
    return form.surfaces.get({"waist": "hips"}.get(kind, kind))


def _bend(panel, form, body, clear):
    """Bends a flat panel about the axis of its surface, as much as it stays on its own side of the axis and clear of
    the body."""
    surface = _nearest_surface(panel, form)
    if surface is None or surface.name in ("neck", "head") or surface.name.endswith("arm"):
        return
    normal = panel.rotation @ [0, -1.0, 0]
    axis = surface.axis
    if abs(normal @ axis) > 0.05:
        return
    up = panel.rotation.T @ axis
    turn = -numpy.arctan2(up[0], up[2])
    middle = panel.place(panel.outline(0.03)).mean(0)
    distance = float((middle - surface.low) @ normal)
    if distance < 0.05:
        return
    foot = panel.rotation.T @ (surface.low + distance * normal - panel.translation)
    before = [edge.points.copy() for edge in panel.edges], panel.rotation, panel.translation, panel.grain
    internal = panel.internal
    shift_frame(panel, [foot[0], foot[2]], turn)
    wide = float(numpy.abs(panel.outline()[:, 0]).max())
    if surface.name == "hips" and wide / 1.5 > distance:  # a wide skirt hangs within the arms, not across them
        panel.translation = panel.translation + (wide / 1.5 - distance) * normal
        distance = wide / 1.5
    room = distance - 0.03
    if room > 0.02:
        radius = max(distance, wide / 1.45)
        while radius < 5 and radius * (1 - numpy.cos(wide / radius)) > room:
            radius *= 1.05
        points, _ = triangles_of(panel, 0.03)
        flat_depth = body.distance(panel.place(points)).min()
        while radius < 5:
            panel.around = radius
            if body.distance(panel.place(points)).min() > min(clear + 0.01, flat_depth):
                return
            radius *= 1.15
    panel.around = 0.0
    for edge, points in zip(panel.edges, before[0]):
        edge.points = points
    panel.rotation, panel.translation, panel.grain = before[1:]
    panel.internal = internal


def _bulge_insets(pattern):
    """Bends panels that are let into slits of one other panel and are wider than these, as godets are: about the middle
    line of the slit, before it, so that their sides begin over its sides and neighbours do not overlap."""
    shares = numpy.linspace(0.05, 0.95, 10)
    insets = []
    for panel in pattern.panels.values():
        seams = [(a, b) if a.panel is panel else (b, a) for a, b, _ in pattern.pairs() if panel in (a.panel, b.panel)]
        others = {other.panel.name for _, other in seams}
        if len(seams) < 2 or len(others) > 1 or panel.name in others:
            continue
        own, slit = (numpy.concatenate([step.edge.at_shares(shares if step.forward else 1 - shares) for step in side])
                     for side in zip(*seams))
        middle, target = own.mean(0), slit.mean(0)
        narrowing = numpy.linalg.lstsq(own - middle, slit - target, rcond=None)[0]
        u, sizes, v = numpy.linalg.svd(narrowing)
        if sizes[1] < 0.9 and sizes[0] < 2 and numpy.linalg.det(narrowing) > 0:
            sign = numpy.sign(u[0, 1] * u[1, 0] - u[1, 1] * u[0, 0])  # across and along are axes x and y
            insets.append((panel, seams[0][1].panel, middle, target, sign * u[:, 1], sign * v[1], v[0],
                           0.5 * float(numpy.ptp((slit - target) @ v[1]))))
    for panel, other, middle, target, across, slit_across, slit_along, half_slit in insets:
        shift_frame(panel, middle, numpy.arctan2(across[1], across[0]))
        half = float(numpy.abs(panel.outline()[:, 0]).max())
        foot, right, up = other.place(numpy.array([target, target + 1e-4 * slit_across, target + 1e-4 * slit_along]))
        x, z = ((point - foot) / numpy.linalg.norm(point - foot) for point in (right, up))
        spacing = min((float(numpy.linalg.norm(foot - other.place(place[3])[0])) for place in insets
                       if place[1] is other and place[0] is not panel), default=numpy.inf)
        angles = numpy.linspace(0.01, 2.7, 270)  # of the arc, from its middle to a side
        angle = angles[numpy.abs(half * numpy.sin(angles) / angles - half_slit).argmin()]
        panel.around = half / max(angle, min(2 * half / (spacing - 0.006), angles[-1]))
        out = numpy.cross(x, z)
        panel.rotation = numpy.stack([numpy.cross(z, out), -out, z], 1)
        panel.translation = foot + (panel.around * (1 - numpy.cos(half / panel.around)) + APART) * out


def _clear_body(pattern, body, clear):
    """Moves panels outwards until they are clear of the body; those of one plane alike."""
    moved = []
    for panel in pattern.panels.values():
        points, _ = triangles_of(panel)
        out = panel.rotation @ [0, -1.0, 0]
        start = panel.translation
        for step in range(120):
            nearest = float(body.distance(panel.place(points)).min())
            if nearest >= clear:
                break
            panel.translation = panel.translation + max(clear - nearest, 0.005) * out
        way = float(numpy.linalg.norm(panel.translation - start))
        if nearest < clear:
            pattern.findings.note(f'panel "{panel.name}": stands {-nearest * 1e3:.0f} mm deep in the body, and moving '
                                  "it outwards does not free it; say where it goes (--places)")
            panel.translation = start
        elif way > 1e-3:
            moved.append((way, panel.name))
    if moved:
        moved.sort(reverse=True)
        pattern.findings.note(f"{len(moved)} panels were moved outwards to be clear of the body, by up to "
                              f"{moved[0][0] * 1e3:.0f} mm (\"{moved[0][1]}\")")


def _part(pattern):
    """Panels that cross each other or lie on each other: the later one of the file, or that of the higher layer, moves
    outwards until it does not. Whether that helped."""
    panels = sorted(pattern.panels.values(), key=lambda panel: panel.layer)
    meshes = {panel.name: triangles_of(panel) for panel in panels}

    def meet(a, b):
        return _meet(_placed(a, meshes), _placed(b, meshes), 0.003)

    for i, panel in enumerate(panels):  # corners that only touch are two nodes at one place otherwise
        panel.translation = panel.translation + 2e-4 * (i % 16) * (panel.rotation @ [0, -1.0, 0])
    moved = set()
    for _ in range(40):
        clean = True
        for i, b in enumerate(panels):
            for a in panels[:i]:
                if meet(a, b):
                    clean = False
                    moved.add(b.name)
                    b.translation = b.translation + APART * (b.rotation @ [0, -1.0, 0])
                    break
        if clean:
            break
    if moved:
        pattern.findings.note(f"{len(moved)} panels crossed or lay on others and were moved outwards: "
                              f"{', '.join(sorted(moved)[:6])}{', ...' if len(moved) > 6 else ''}")
    left = [(a.name, b.name) for i, b in enumerate(panels) for a in panels[:i] if not clean and meet(a, b)]
    for a, b in left:
        pattern.findings.note(f'panels "{a}" and "{b}": cross each other still; say where they go (--places)')
    return not left


def _placed(panel, meshes):
    points, triangles = meshes[panel.name]
    return panel.place(points), triangles


def _meet(one, other, near):
    """Whether two surfaces, as (points, triangles), cross or lie within ``near`` [m] of each other, side on side."""
    if ((one[0].min(0) > other[0].max(0) + near) | (one[0].max(0) < other[0].min(0) - near)).any():
        return False
    return crossings(one, other) > 0 or coplanar_overlap(one, other, near)


def _draw_near(pattern, body, clear, step=0.015, sweeps=25):
    """Draws panels nearer to what they are sewn to, a step at a time along the mean of their threads, as long as they
    stay clear of the body and of other panels. What lies side on side stays more than half a step apart, so that none
    steps through another."""
    panels = list(pattern.panels.values())
    meshes = {panel.name: triangles_of(panel) for panel in panels}
    places = {panel.name: _placed(panel, meshes) for panel in panels}
    shares = numpy.linspace(0.1, 0.9, 5)
    threads = {panel.name: [] for panel in panels}
    for a, b, _ in pattern.pairs():
        if a.panel is not b.panel:
            ends = [(s.panel, s.edge.at_shares(shares if s.forward else 1 - shares)) for s in (a, b)]
            threads[a.panel.name].append((ends[0][1], *ends[1], a.edge.length))
            threads[b.panel.name].append((ends[1][1], *ends[0], b.edge.length))
    tries = {panel.name: 3 for panel in panels}
    for _ in range(sweeps):
        for panel in panels:
            if not tries[panel.name] or not threads[panel.name]:
                continue
            ways = [(other.place(theirs) - panel.place(mine), length) for mine, other, theirs, length in
                    threads[panel.name]]
            pull = sum(way.mean(0) * length for way, length in ways) / sum(length for _, length in ways)
            size = numpy.linalg.norm(pull)
            before = panel.translation
            panel.translation = before + pull * min(step, size / 2) / max(size, 1e-12)
            here = _placed(panel, meshes)
            if size < step or body.distance(here[0]).min() < clear or any(
                    _meet(here, places[other.name], 0.6 * step) for other in panels if other is not panel):
                panel.translation = before
                tries[panel.name] -= 1
            else:
                places[panel.name] = here
